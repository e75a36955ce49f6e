//! What becomes of a command that uses git: reading works, what it changes of files is proposed, and what would only
//! make sense along with a changed repository is not.

use crate::real::{can_mount, run};
use crate::support::{Bench, put, said};
use ropewalk_text::Text;
use ropewalk_workspace::ProposedChange;
use std::path::Path;
use std::time::SystemTime;

const GIT: &str = "git -c user.name=n -c user.email=e@example.invalid -c safe.directory=* -c maintenance.auto=false";

/// A repository with two branches; over it unsaved text and a file of the fork's.
fn bench() -> Bench {
    let mut bench = Bench::new(&[("a.txt", "committed\n"), ("b.txt", "b\n")]);
    let lines = format!(
        "set -e; G=\"{GIT}\"; git init -q -b main; $G add .; $G commit -qm first; \
         $G checkout -q -b other; echo other > b.txt; $G commit -qam second; $G checkout -q main"
    );
    assert!(shell(&bench.disk(""), &lines), "git can be run");
    bench.open("a.txt", "unsaved\n");
    bench.change("made.txt", ProposedChange::Write(Text::from("made\n")));
    bench
}

fn shell(folder: &Path, lines: &str) -> bool {
    let done = std::process::Command::new("sh").current_dir(folder).args(["-c", lines]).status();
    done.is_ok_and(|done| done.success())
}

/// What is proposed after these lines, and the first words that are said.
fn check(lines: &str, proposed: &[&str], words: &str) {
    for on_a_copy in [true, false] {
        let mut bench = bench();
        if on_a_copy {
            bench = bench.on_a_copy(1 << 20);
        } else if !can_mount() {
            continue;
        }
        let (view, _) = bench.materialise();
        let started = SystemTime::now();
        let lines = [format!("G=\"{GIT}\"; {lines}")];
        if on_a_copy {
            assert!(shell(&bench.up(""), &lines[0]), "{}", lines[0]);
        } else {
            let layer = bench.dir.path().join("layer/0");
            assert!(run(&bench.disk(""), Some(&layer), &lines), "{lines:?}");
        }
        let collected = bench.layer.collect(&view, started, &mut bench.ever).unwrap();
        assert_eq!(said(&collected), proposed, "{lines:?} {:?}", collected.told);
        let told = collected.told.first().map_or("", String::as_str);
        assert!(
            told.starts_with(words) && words.is_empty() == told.is_empty(),
            "{lines:?}: {told}"
        );
        // The next command sees what the user has and what is pending, and the repository as it was.
        bench.materialise();
        for (name, text) in [("a.txt", "unsaved\n"), ("made.txt", "made\n")] {
            assert_eq!(std::fs::read_to_string(bench.up(name)).unwrap(), text, "{lines:?}: {name}");
        }
        let again = ["test \"$(git -c safe.directory=* log --oneline | wc -l)\" -eq 1 && test -z \"$(git -c safe.directory=* stash list)\" && cat b.txt > b.now".to_owned()];
        if on_a_copy {
            assert!(shell(&bench.up(""), &again[0]), "{lines:?}");
        } else {
            assert!(run(&bench.disk(""), Some(&bench.dir.path().join("layer/0")), &again));
        }
        assert_eq!(std::fs::read_to_string(bench.up("b.now")).unwrap(), "b\n", "{lines:?}");
        put(&bench.up("b.now"), b"");
    }
}

#[test]
fn reading_changes_nothing() {
    check("$G status -s; $G log -p; $G diff; $G blame b.txt; $G grep b; true", &[], "");
}

#[test]
fn a_commit_is_not_kept_but_what_it_committed_is_proposed() {
    let words = "git changes are not kept (commit after accepting): .git";
    check("echo more >> b.txt; $G commit -qam more", &["write b.txt \"b\\nmore\\n\""], words);
    check("$G gc -q", &[], words);
}

#[test]
fn what_was_put_away_and_taken_back_is_as_it_was() {
    let words = "git changes are not kept (commit after accepting): .git";
    check("$G stash -q && $G stash pop -q; echo x > x.txt", &["write x.txt \"x\\n\""], words);
}

#[test]
fn nothing_is_kept_of_a_command_that_went_elsewhere() {
    let words = "git went to another branch or commit";
    for lines in [
        "$G stash -q",
        "$G stash -q -u",
        "$G checkout -q -b new",
        "$G checkout -q -f other",
        "$G checkout -q --detach; echo x > x.txt",
        "$G switch -q -f other",
    ] {
        check(lines, &[], words);
    }
}
