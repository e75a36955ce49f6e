//! What policy hides from commands: wherever it is, on the disk, in the fork or in a buffer alone, and whenever it comes
//! to be hidden.

use crate::support::Bench;
use crate::{begun, says, says_in_background};
use ropewalk_tools::commands::OverFork;
use ropewalk_workspace::{Place, Roots};
use serde_json::json;
use std::sync::Arc;

const TIERS: [OverFork; 2] = [OverFork::Auto, OverFork::Copy];

/// What a command finds in all files.
const ALL: &str = "grep -rs . . | sort";

/// A rule that keeps what is in these folders from readers.
fn hide(bench: &mut Bench, folders: &'static [&'static str]) {
    let is_in = |place: &Place, folder: &&str| place.shown.starts_with(&format!("{folder}/"));
    bench.hides = Arc::new(move |place, _| folders.iter().any(|folder| is_in(place, folder)));
}

/// What a command says that the user allowed although it names what may hold secrets.
fn says_allowed(bench: &mut Bench, command: &str) -> String {
    let mut context = bench.context();
    context.reach.secrets = true;
    let prepared = bench.registry.prepare("bash", json!({ "command": command })).unwrap();
    bench.wait(prepared.run(context)).text
}

/// The lines of an output, without what is said of it.
fn lines(said: &str) -> Vec<&str> {
    said.lines().filter(|line| !line.starts_with('(')).collect()
}

pub(crate) fn what_the_fork_or_a_buffer_has_is_hidden() {
    for tier in TIERS {
        let files: [(&str, &[u8]); 4] = [
            (".gitignore", b".env*\n"),
            ("plain", b"disk\n"),
            ("private/old.txt", b"HIDDEN before\n"),
            ("private/gone.txt", b"HIDDEN gone\n"),
        ];
        let (mut bench, _) = begun(tier, &files);
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
        assert_eq!(lines(&says(&mut bench, ALL)), found, "{tier:?}");
        let said = says_in_background(&mut bench, json!({ "command": ALL }));
        assert_eq!(lines(&said), found, "{tier:?}");
        // What the user allowed by its name is seen, and by that command alone.
        let command = "cat .env; cat private/*.txt deep/er/.aws/credentials; cat .env.local";
        let said = says_allowed(&mut bench, command);
        let seen = ["TOKEN=HIDDEN 1", "HIDDEN 2", "HIDDEN 6"];
        let found: Vec<&str> =
            lines(&said).into_iter().filter(|line| line.contains("HIDDEN")).collect();
        assert_eq!(found, seen, "{tier:?}: {said}");
        assert!(!says(&mut bench, ALL).contains("HIDDEN"), "{tier:?}");
    }
}

pub(crate) fn what_comes_to_be_hidden_is_so_for_the_next_command() {
    for tier in TIERS {
        let (mut bench, _) =
            begun(tier, &[(".gitignore", b"*.o\n"), ("notes/plan", b"HIDDEN 1\n")]);
        let said = says(&mut bench, "cat notes/plan; echo built > x.o; echo kept > /tmp/kept");
        assert_eq!(lines(&said), ["HIDDEN 1"], "{tier:?}");
        // Saved in the editor or by anybody, in the middle of a turn.
        bench.put(".env.local", b"HIDDEN 2\n");
        bench.put("sub/deep/id_rsa", b"HIDDEN 3\n");
        bench.open("sub/.env", "HIDDEN 4\n");
        assert!(!says(&mut bench, &format!("{ALL} | grep -v plan")).contains("HIDDEN"), "{tier:?}");
        hide(&mut bench, &["notes"]);
        assert!(!says(&mut bench, ALL).contains("HIDDEN"), "{tier:?}");
        hide(&mut bench, &[]);
        assert_eq!(lines(&says(&mut bench, "cat notes/plan")), ["HIDDEN 1"], "{tier:?}");
        // For none of that a sandbox was left, with what commands had made in it.
        assert_eq!(lines(&says(&mut bench, "cat x.o")), ["built"], "{tier:?}");
        if tier == OverFork::Auto {
            assert_eq!(says(&mut bench, "cat /tmp/kept"), "kept\n");
        }
        let said = says_allowed(&mut bench, "cat .env.local");
        // Nothing ignores it, so a copy has it too.
        assert_eq!(lines(&said), ["HIDDEN 2"], "{tier:?}");
    }
}

pub(crate) fn what_is_written_blindly_is_dropped_in_words() {
    for tier in TIERS {
        let (mut bench, _) = begun(tier, &[]);
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
        assert!(!says(&mut bench, "cat private/x.txt").contains("theirs"), "{tier:?}");
    }
}

pub(crate) fn what_is_lost_with_other_folders_is_said() {
    const GONE: &str = "ignored files that commands had made are gone";
    for tier in TIERS {
        let (mut bench, _) = begun(tier, &[(".gitignore", b"*.o\n")]);
        assert!(!says(&mut bench, "echo built > x.o").contains(GONE));
        let mut background = json!({ "command": "touch up; sleep 1000", "background": true });
        background["timeout"] = 1000.into();
        let started = bench.say("bash", background);
        assert!(started.starts_with("Started"), "{started}");
        let folder = |bench: &Bench, name: &str| (name.to_owned(), bench.beside(name));
        let roots = vec![folder(&bench, "w"), folder(&bench, "outside")];
        bench.workspace.set_roots(Roots::new(roots));
        let said = says(&mut bench, "ls x.o; true");
        assert!(said.contains(GONE), "{tier:?}: {said}");
        assert!(!says(&mut bench, "true").contains(GONE), "{tier:?}");
        // One that runs in the background goes on in its own.
        assert!(bench.commands.background_in_words().starts_with("1: runs"), "{tier:?}");
        bench.commands.stop_background("1").unwrap();
        let said = bench.wait(bench.commands.next_finished()).output.text;
        assert!(said.contains("changed: up"), "{tier:?}: {said}");
    }
}
