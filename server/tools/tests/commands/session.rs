//! The commands of one session: what they see of each other, and what is said of where they run.

use crate::{begun, says};
use futures::future::join;
use ropewalk_tools::Tier;
use ropewalk_tools::commands::{Chosen, OverFork};
use serde_json::json;

pub(crate) fn what_one_leaves_the_next_finds() {
    let (mut bench, chosen) = begun(OverFork::Auto, &[("a", b"disk\n"), (".gitignore", b"*.o\n")]);
    assert_eq!(chosen, Chosen { tier: Tier::OverFork, why: None });
    bench.open("a", "unsaved\n");
    let said = says(&mut bench, "cat a; echo more >> a; echo made > b; echo built > b.o");
    assert_eq!(said, "unsaved\n(changed: a, b)");
    assert_eq!(says(&mut bench, "cat a b b.o"), "unsaved\nmore\nmade\nbuilt\n");
    assert_eq!(std::fs::read_to_string(bench.path("a")).unwrap(), "disk\n");
    assert!(!bench.path("b").exists() && !bench.path("b.o").exists());
}

pub(crate) fn one_runs_at_a_time() {
    let (mut bench, _) = begun(OverFork::Auto, &[]);
    let command = "for i in $(seq 100); do mkdir $CARGO_TARGET_DIR/one || exit 1; rmdir $CARGO_TARGET_DIR/one; done; \
         echo n >> count";
    let mut run = || {
        let mut context = bench.context();
        context.outputs = None;
        bench.registry.prepare("bash", json!({ "command": command })).unwrap().run(context)
    };
    let both = join(run(), run());
    let (one, two) = bench.wait(both);
    // Both began on the same view, in which there was no such file.
    for output in [one, two] {
        assert_eq!(
            (output.text.as_str(), output.proposals.len()),
            ("(no output)\n(changed: count)", 1)
        );
    }
}

pub(crate) fn the_want_of_a_network_is_said() {
    let (mut bench, _) = begun(OverFork::Auto, &[]);
    const WORDS: &str = "call again with network: true";
    let refused = "exec 3<>/dev/tcp/127.0.0.1/1";
    let said = says(&mut bench, refused);
    assert!(said.contains("(exit code 1)") && said.contains(WORDS), "{said}");
    let said = says(&mut bench, &format!("({refused}); true"));
    assert!(said.contains("refused") && !said.contains(WORDS), "it did not fail: {said}");
    let mut context = bench.context();
    context.reach.network = true;
    let prepared = bench.registry.prepare("bash", json!({ "command": refused })).unwrap();
    let said = bench.wait(prepared.run(context)).text;
    assert!(said.contains("refused") && !said.contains(WORDS), "it had the network: {said}");
}

pub(crate) fn each_tier_is_told_of_as_it_is() {
    let rows = [
        (OverFork::Auto, Tier::OverFork, "w\nunsaved\n(changed: b)", false),
        (OverFork::Copy, Tier::Copy, "unsaved\n(changed: b)\n(it ran on a copy: ", false),
        (OverFork::Off, Tier::InPlace, "w\ndisk\n", true),
    ];
    for (over_fork, tier, words, on_disk) in rows {
        let (mut bench, chosen) = begun(over_fork, &[("a", b"disk\n")]);
        assert_eq!(chosen, Chosen { tier, why: None });
        bench.open("a", "unsaved\n");
        let said = says(&mut bench, "basename \"$PWD\"; cat a; echo new > b");
        assert!(said.contains(words), "{said}");
        assert_eq!(said.contains("it ran on a copy: "), tier == Tier::Copy, "{said}");
        assert_eq!(bench.path("b").exists(), on_disk, "{tier:?}");
    }
}
