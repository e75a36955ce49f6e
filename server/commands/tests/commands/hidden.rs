//! Files that policy hides from commands: on the disk, in the fork or in a buffer alone, and whenever they come
//! to be hidden.

use crate::support::Bench;
use crate::{begun, says, says_in_background};
use ropewalk_protocol::OverFork;
use ropewalk_tools::runner::{BackgroundState, Stop};
use ropewalk_workspace::{Place, Roots};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

const MODES: [OverFork; 2] = [OverFork::Auto, OverFork::Copy];

/// A command that finds all text in all files.
const ALL: &str = "grep -rs . . | sort";

/// A rule that keeps what is in these folders from readers.
fn hide(bench: &mut Bench, folders: &'static [&'static str]) {
    let is_in = |place: &Place, folder: &&str| place.shown.starts_with(&format!("{folder}/"));
    bench.hides = Arc::new(move |place, _| folders.iter().any(|folder| is_in(place, folder)));
}

/// Output of a command that the user allowed although it names secrets.
fn says_allowed(bench: &mut Bench, command: &str) -> String {
    let mut context = bench.context();
    context.grant.reach.secrets = true;
    let running = bench.begin("bash", json!({ "command": command }), context);
    bench.wait(running).words().to_owned()
}

/// The lines of an output, without what is said of it.
fn lines(said: &str) -> Vec<&str> {
    said.lines().filter(|line| !line.starts_with('(')).collect()
}

pub(crate) fn what_the_fork_or_a_buffer_has_is_hidden() {
    for mode in MODES {
        let files: [(&str, &[u8]); 4] = [
            (".gitignore", b".env*\n"),
            ("plain", b"disk\n"),
            ("private/old.txt", b"HIDDEN before\n"),
            ("private/gone.txt", b"HIDDEN gone\n"),
        ];
        let (mut bench, _) = begun(mode, &files);
        hide(&mut bench, &["private"]);
        bench.open(".env", "TOKEN=HIDDEN 1\n");
        bench.open("deep/er/.aws/credentials", "HIDDEN 2\n");
        bench.open("private/new/x.txt", "HIDDEN 3\n");
        bench.open("private/old.txt", "HIDDEN 4\n");
        bench.open("private/gone.txt", "HIDDEN gone\n");
        std::fs::remove_file(bench.path("private/gone.txt")).unwrap();
        bench.say("write_file", json!({ "path": "private/y.txt", "content": "HIDDEN 5\n" }));
        bench.say("write_file", json!({ "path": ".env.local", "content": "HIDDEN 6\n" }));
        bench.open("plain", "unsaved\n");
        let found = ["./.gitignore:.env*", "./plain:unsaved"];
        assert_eq!(lines(&says(&mut bench, ALL)), found, "{mode:?}");
        let said = says_in_background(&mut bench, json!({ "command": ALL }));
        assert_eq!(lines(&said), found, "{mode:?}");
        // A file that the user allowed by its name is seen, and by that command alone.
        let command = "cat .env; cat private/*.txt deep/er/.aws/credentials; cat .env.local";
        let said = says_allowed(&mut bench, command);
        let seen = ["TOKEN=HIDDEN 1", "HIDDEN 2", "HIDDEN 6"];
        let found: Vec<&str> =
            lines(&said).into_iter().filter(|line| line.contains("HIDDEN")).collect();
        assert_eq!(found, seen, "{mode:?}: {said}");
        assert!(!says(&mut bench, ALL).contains("HIDDEN"), "{mode:?}");
    }
}

pub(crate) fn what_comes_to_be_hidden_is_so_for_the_next_command() {
    for mode in MODES {
        let (mut bench, _) =
            begun(mode, &[(".gitignore", b"*.o\n"), ("notes/plan", b"HIDDEN 1\n")]);
        let said = says(&mut bench, "cat notes/plan; echo built > x.o; echo kept > /tmp/kept");
        assert_eq!(lines(&said), ["HIDDEN 1"], "{mode:?}");
        // Saved in the editor or by anybody, in the middle of a turn.
        bench.put(".env.local", b"HIDDEN 2\n");
        bench.put("sub/deep/id_rsa", b"HIDDEN 3\n");
        bench.open("sub/.env", "HIDDEN 4\n");
        assert!(!says(&mut bench, &format!("{ALL} | grep -v plan")).contains("HIDDEN"), "{mode:?}");
        hide(&mut bench, &["notes"]);
        assert!(!says(&mut bench, ALL).contains("HIDDEN"), "{mode:?}");
        hide(&mut bench, &[]);
        assert_eq!(lines(&says(&mut bench, "cat notes/plan")), ["HIDDEN 1"], "{mode:?}");
        // For none of that a sandbox was left, with what commands had made in it.
        assert_eq!(lines(&says(&mut bench, "cat x.o")), ["built"], "{mode:?}");
        if mode == OverFork::Auto {
            assert_eq!(says(&mut bench, "cat /tmp/kept"), "kept\n");
        }
        let said = says_allowed(&mut bench, "cat .env.local");
        // Nothing ignores it, so a copy has it too.
        assert_eq!(lines(&said), ["HIDDEN 2"], "{mode:?}");
    }
}

pub(crate) fn what_is_written_blindly_is_dropped_in_words() {
    for mode in MODES {
        let (mut bench, _) = begun(mode, &[]);
        hide(&mut bench, &["private"]);
        bench.open("private/x.txt", "mine\n");
        let said = says(
            &mut bench,
            "echo made > new; mkdir -p private; echo theirs >> private/x.txt; ls private",
        );
        assert!(said.contains("changed: new"), "{said}");
        assert!(
            said.contains("may hold secrets: private/x.txt; what this one made there was dropped"),
            "{said}"
        );
        assert_eq!(bench.text("private/x.txt"), "mine\n");
        // Nothing of it is left for the next one either.
        assert!(!says(&mut bench, "cat private/x.txt").contains("theirs"), "{mode:?}");
    }
}

pub(crate) fn what_is_lost_with_other_folders_is_said() {
    const GONE: &str = "ignored files that commands had made are gone";
    for mode in MODES {
        let (mut bench, _) = begun(mode, &[(".gitignore", b"*.o\n")]);
        assert!(!says(&mut bench, "echo built > x.o").contains(GONE));
        let mut background = json!({ "command": "touch up; sleep 1000", "background": true });
        background["timeout"] = 1000.into();
        let started = bench.say("bash", background);
        assert!(started.starts_with("Started"), "{started}");
        let folder = |bench: &Bench, name: &str| (name.to_owned(), bench.beside(name));
        let roots = vec![folder(&bench, "w"), folder(&bench, "outside")];
        bench.workspace.set_roots(Roots::new(roots));
        let said = says(&mut bench, "ls x.o; true");
        assert!(said.contains(GONE), "{mode:?}: {said}");
        assert!(!says(&mut bench, "true").contains(GONE), "{mode:?}");
        // One that runs in the background goes on in its own.
        let all = bench.runner.background();
        let is_running = matches!(all[0].state, BackgroundState::Running { .. });
        assert_eq!((all.len(), all[0].id, is_running), (1, 1, true), "{mode:?}");
        assert_eq!(bench.runner.stop(Stop::One(1)), 1);
        let said = bench.wait(bench.runner.finished()).output.words().to_owned();
        assert!(said.contains("changed: up"), "{mode:?}: {said}");
    }
}

/// Settings of repositories that open accounts.
const SETTINGS: &str = "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = https://me:HIDDEN@example.com/a.git\n[http \"https://example.com\"]\n\textraheader = AUTHORIZATION: basic HIDDEN\n[user]\n\tname = A B\n\temail = a@example.com\n";

pub(crate) fn what_opens_accounts_is_redacted_from_repositories_and_git_works() {
    for mode in MODES {
        let files: [(&str, &[u8]); 2] = [("a.txt", b"plain\n"), (".gitignore", b"sub\n")];
        let (mut bench, _) = begun(mode, &files);
        let git = |folder: &str| {
            let done = std::process::Command::new("git").args(["init", "-q", folder]).status();
            assert!(done.unwrap().success());
            std::fs::write(format!("{folder}/.git/config"), SETTINGS).unwrap();
        };
        let root = bench.path("");
        git(root.to_str().unwrap());
        let module = bench.path(".git/modules/deep/er");
        std::fs::create_dir_all(&module).unwrap();
        std::fs::write(module.join("config"), SETTINGS).unwrap();
        std::fs::write(module.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        if mode == OverFork::Auto {
            git(bench.path("sub").to_str().unwrap());
        }
        for command in [
            "grep -rl HIDDEN . ; git remote get-url origin; git config user.name",
            "grep -rl HIDDEN .; git status --short | wc -l; git remote get-url origin",
        ] {
            let said = says(&mut bench, command);
            assert!(said.contains("https://example.com/a.git\n"), "{mode:?}: {said}");
            assert!(!said.contains("./") && !said.contains(".git was"), "{mode:?}: {said}");
            // Nothing of that is a change of the command's.
            assert!(lines(&said).len() == 2 && !said.contains("changed"), "{mode:?}: {said}");
        }
        let said =
            says_in_background(&mut bench, json!({ "command": "grep -rl HIDDEN .; echo end" }));
        assert_eq!(lines(&said), ["end"], "{mode:?}: {said}");
        // Settings can be written, and what is written is dropped as ever.
        let said = says(
            &mut bench,
            "git remote add other https://example.com/b && git remote | tr '\\n' ' ' && git add a.txt && git commit -qm one && git log --format=%s && grep -c HIDDEN .git/config",
        );
        assert!(said.starts_with("origin other one\n0\n"), "{mode:?}: {said}");
        assert_eq!(std::fs::read_to_string(bench.path(".git/config")).unwrap(), SETTINGS);
        // A token that comes meanwhile is redacted, too.
        std::fs::write(bench.path(".git/config"), SETTINGS.replace("HIDDEN@", "HIDDEN2@")).unwrap();
        let said = says(&mut bench, "grep -rh HIDDEN .; git remote");
        assert_eq!(lines(&said), ["origin"], "{mode:?}: {said}");
    }
}

/// Runs git on the machine, as the user.
fn git(folder: &Path, arguments: &[&str]) {
    let who = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    let mut command = std::process::Command::new("git");
    let done = command.args(who).args(arguments).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
}

pub(crate) fn what_opens_accounts_is_redacted_from_repositories_around_the_roots() {
    const TOKEN: &str = "https://me:HIDDEN@example.com/a.git";
    let (mut bench, _) = begun(OverFork::Auto, &[]);
    let repo = bench.beside("repo").canonicalize().unwrap_or_else(|_| bench.beside("repo"));
    std::fs::create_dir_all(repo.join("part")).unwrap();
    std::fs::write(repo.join("part/a.txt"), "one\n").unwrap();
    git(&repo, &["init", "-q"]);
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "first"]);
    git(&repo, &["remote", "add", "origin", TOKEN]);
    git(&repo, &["config", "extensions.worktreeConfig", "true"]);
    git(&repo, &["worktree", "add", "-q", "../tree"]);
    git(&bench.beside("tree"), &["config", "--worktree", "remote.other.url", TOKEN]);
    // A repository whose settings lie elsewhere, as a submodule's do.
    let apart = bench.beside("apart");
    std::fs::create_dir(bench.beside("gits")).unwrap();
    git(&bench.beside(""), &["init", "-q", "--separate-git-dir", "gits/x", "apart"]);
    std::fs::write(apart.join("a.txt"), "one\n").unwrap();
    git(&apart, &["add", "."]);
    git(&apart, &["commit", "-qm", "first"]);
    git(&apart, &["remote", "add", "origin", TOKEN]);
    let config = repo.join(".git/config");
    for root in ["repo/part", "tree", "apart"] {
        let folder = bench.beside(root).canonicalize().unwrap();
        bench.workspace.set_roots(Roots::new(vec![("r".into(), folder.clone())]));
        let common = "$(git rev-parse --git-common-dir)";
        for settings in ["", "more = https://u:HIDDEN@h\n"] {
            // The settings may change between two commands.
            let text = std::fs::read_to_string(&config).unwrap();
            std::fs::write(&config, text.replace("[core]\n", &format!("[core]\n\t{settings}")))
                .unwrap();
            let said = says(
                &mut bench,
                &format!(
                    "git log --format=%s; git status --short; git remote -v; git config -l; \
                     cat {common}/config; grep -rl HIDDEN {common} $(git rev-parse --git-dir)"
                ),
            );
            assert!(said.starts_with("first\n"), "{root}: {said}");
            assert!(said.contains("https://example.com/a.git (fetch)\n"), "{root}: {said}");
            assert!(!said.contains("HIDDEN"), "{root}: {said}");
        }
        let command = format!("cat {common}/config; git remote; grep -rl HIDDEN {common}");
        let said = says_in_background(&mut bench, json!({ "command": command }));
        assert!(said.contains("\norigin\n") && !said.contains("HIDDEN"), "{root}: {said}");
        // Git writes nothing there, as ever, and says so.
        let said = says(&mut bench, "git config user.name Z; git commit -qm x --allow-empty");
        assert!(said.contains("ead-only file system"), "{root}: {said}");
    }
    assert!(std::fs::read_to_string(&config).unwrap().contains(TOKEN));
}

pub(crate) fn what_opens_accounts_is_redacted_from_a_repository_that_a_command_names() {
    let (mut bench, _) = begun(OverFork::Auto, &[]);
    let outside = bench.beside("outside").canonicalize().unwrap();
    git(&outside, &["init", "-q", "repo"]);
    let config = outside.join("repo/.git/config");
    std::fs::write(&config, SETTINGS).unwrap();
    for shown in ["repo", "repo/.git", "repo/.git/config"] {
        let mut context = bench.context();
        context.grant.reach.outside = vec![outside.join(shown)];
        let command =
            format!("git -C {0}/repo remote -v; cat {0}/repo/.git/config", outside.display());
        let running = bench.begin("bash", json!({ "command": command }), context);
        let said = bench.wait(running).words().to_owned();
        assert!(said.contains("https://example.com/a.git"), "{shown}: {said}");
        assert!(!said.contains("HIDDEN"), "{shown}: {said}");
    }
}
