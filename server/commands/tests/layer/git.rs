//! Commands that use git: reading works, changes of files are proposed, and changes that would only
//! make sense along with a changed repository is not.

use crate::real::{can_mount, run};
use crate::support::{Bench, put, said};
use ropewalk_commands::layer::file_time;
use ropewalk_text::Text;
use ropewalk_workspace::ProposedChange;
use std::path::Path;

/// How it begins that the repository is as it was, and how that nothing is kept.
const KEPT: &str = "version control changes are not kept (commit after accepting): .git";
const ELSEWHERE: &str = "git went to another branch or commit, or moved this one";

const GIT: &str = "git -c user.name=n -c user.email=e@example.invalid -c safe.directory=* -c maintenance.auto=false";

/// How a repository keeps its refs.
const FORMATS: [&str; 2] = ["files", "reftable"];

/// A repository with two branches; over it unsaved text and a file of the fork's.
fn bench(format: &str) -> Bench {
    let mut bench = Bench::new(&[("a.txt", "committed\n"), ("b.txt", "b\n")]);
    let lines = format!(
        "set -e; G=\"{GIT}\"; git init -q -b main --ref-format={format}; $G add .; $G commit -qm first; \
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

/// Checks the proposals after these lines, however refs are kept, and the first words that are said.
fn check(lines: &str, proposed: &[&str], words: &str) {
    for format in FORMATS {
        check_with(format, lines, proposed, words);
    }
}

fn check_with(format: &str, lines: &str, proposed: &[&str], words: &str) {
    for on_a_copy in [true, false] {
        let mut bench = bench(format);
        if on_a_copy {
            bench = bench.on_a_copy(1 << 20);
        } else if !can_mount() {
            continue;
        }
        let (view, _) = bench.materialise();
        let started = file_time();
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
    for lines in [
        "echo more >> b.txt; $G commit -qam more",
        "echo more >> b.txt; $G commit -qam more; $G commit -q --amend -m again",
        "echo more >> b.txt; $G commit -qam more; $G pack-refs --all",
    ] {
        check_with("files", lines, &["write b.txt \"b\\nmore\\n\""], KEPT);
        check_with("reftable", lines, &[], ELSEWHERE);
    }
    check_with("files", "$G gc -q", &[], KEPT);
    check_with("files", "$G cherry-pick other", &["write b.txt \"other\\n\""], KEPT);
    check_with("files", "echo x > x.txt; $G tag v1", &["write x.txt \"x\\n\""], KEPT);
}

#[test]
fn what_is_staged_and_taken_out_again_stays_in_the_files() {
    check("echo x > x.txt; $G add x.txt", &["write x.txt \"x\\n\""], KEPT);
    let lines = "echo x > x.txt; $G add x.txt; $G reset -q";
    check_with("files", lines, &["write x.txt \"x\\n\""], KEPT);
    // Text that the user has not saved, and that the command changed.
    let lines = "sed -i s/un// a.txt; $G add a.txt; $G status";
    check(lines, &["write a.txt \"saved\\n\""], KEPT);
}

#[test]
fn text_that_is_not_saved_is_not_put_back() {
    let words =
        "not put back, because it has unsaved text in the editor, which would be lost: a.txt";
    for lines in
        ["$G checkout -q -- .", "$G checkout -q -- a.txt", "$G restore .", "$G restore a.txt"]
    {
        check(lines, &[], words);
    }
    check_with("files", "$G reset -q --hard", &[], words);
    check_with("reftable", "$G reset -q --hard", &[], ELSEWHERE);
    // A file without unsaved text is put back like any other change.
    let other = "write b.txt \"other\\n\"";
    check("$G checkout -q other -- .", &[other], words);
    check("$G restore --source other b.txt", &[other], "");
    check("$G restore --source other --staged --worktree .", &[other], words);
    check("echo x > x.txt; $G checkout -q -- a.txt", &["write x.txt \"x\\n\""], words);
    check("echo more >> b.txt; $G checkout -q -- b.txt", &[], "");
}

#[test]
fn an_empty_folder_of_a_commands_is_told() {
    let words = "empty folders are not kept: the user gets a folder with its first file";
    check("mkdir -p made/in", &[], words);
    check("mkdir made && echo x > made/x.txt", &["write made/x.txt \"x\\n\""], "");
}

#[test]
fn what_was_put_away_and_taken_back_is_as_it_was() {
    let lines = "$G stash -q && $G stash pop -q; echo x > x.txt";
    check_with("files", lines, &["write x.txt \"x\\n\""], KEPT);
    check_with("reftable", lines, &[], ELSEWHERE);
}

#[test]
fn nothing_is_kept_of_a_command_that_went_elsewhere() {
    for lines in [
        "$G stash -q",
        "$G stash -q -u",
        "$G checkout -q -b new",
        "$G checkout -q -f other",
        "$G checkout -q --detach; echo x > x.txt",
        "$G switch -q -f other",
        "$G reset -q --hard other",
        "$G reset -q --soft other; echo x > x.txt",
        "$G merge -q other; echo x > x.txt",
        "$G pull -q . other",
        "$G rebase -q --autostash other",
        "$G update-ref refs/heads/main other; $G checkout -q -f",
        "$G -c core.logAllRefUpdates=false reset -q --hard other",
    ] {
        check(lines, &[], ELSEWHERE);
    }
}
