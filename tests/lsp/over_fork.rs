//! Commands over the fork through the protocol: real commands of a real shell, in folders of every sort.
//!
//! Bounds of a sandbox are tested in its own room; here is the part that the user and the model see.

use crate::support::agent::Agent;
use crate::support::home::Searched;
use crate::support::skip;
use crate::support::stage::{QUIET, Stage, bash, edit, say, turn, until};
use ropewalk_testkit::editor::{Dialog, FakeEditor, Profile};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A tier on which commands see the fork.
struct Tier {
    /// Word for it in the settings.
    word: &'static str,
    /// True if the user is asked about each command.
    asks: bool,
}

/// In place a command sees neither unsaved text nor pending changes: that has a test of its own.
const TIERS: [Tier; 2] = [Tier { word: "auto", asks: false }, Tier { word: "copy", asks: true }];

impl Tier {
    /// Allows the command that runs next.
    fn allow(&self, editor: &FakeEditor) {
        if self.asks {
            let Dialog { message, .. } = editor.answer_dialog("Allow once");
            assert!(message.contains("it runs on a copy of the open folders"), "{message}");
        }
    }
}

/// A stage, and a folder of this name in `parent` as the only root of an editor.
struct Rooted {
    stage: Stage,
    root: PathBuf,
    _parent: Searched,
}

impl Rooted {
    fn new(name: &str, replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        Self::below(Searched::new(), name, replies)
    }

    fn below(
        parent: Searched,
        name: &str,
        replies: impl IntoIterator<Item = ScriptedReply>,
    ) -> Self {
        let root = parent.path().canonicalize().unwrap().join(name);
        std::fs::create_dir_all(&root).unwrap();
        Self { stage: Stage::new("review", &[], replies), root, _parent: parent }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn disk(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(name)).ok()
    }

    fn editor(&self) -> FakeEditor {
        self.editor_at(&self.root)
    }

    fn editor_at(&self, root: &Path) -> FakeEditor {
        self.editor_on("auto", root)
    }

    /// An editor whose settings say this of where commands run.
    fn editor_on(&self, tier: &str, root: &Path) -> FakeEditor {
        let options = json!({ "commands": { "overFork": tier } });
        let editor = self.stage.editor_in(Profile::VSCODE, &[root], options, &[]);
        editor.ignore(crate::support::stage::QUIET);
        editor
    }
}

/// A whole turn: unsaved text and a pending change are seen, what is written is reviewed, taken and taken back.
fn a_turn_works_in(rooted: Rooted, editor: FakeEditor, tier: &Tier) {
    rooted.write("a.txt", "one\ntwo\n");
    rooted.write("b.txt", "bee\n");
    rooted.write("d.txt", "gone\n");
    rooted.write("e.sh", "#!/bin/sh\n");
    editor.open("a.txt");
    editor.type_at("a.txt", 0, 0, "unsaved ünï😀 ");
    editor.prompt("Try");
    tier.allow(&editor);
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    assert_eq!(editor.text("a.txt"), "unsaved ünï😀 one\ntwo\n");
    assert_eq!(rooted.disk("a.txt").unwrap(), "one\ntwo\n");
    assert_eq!(rooted.disk("b.txt").unwrap(), "bee\n");
    assert_eq!(rooted.disk("c/c.txt"), None);
    assert_eq!(rooted.disk("d.txt").unwrap(), "gone\n");
    editor.execute("ropewalk.accept", json!({ "all": true })).unwrap();
    editor.wait_for_text("a.txt", "unsaved ünï😀 one\nTWO\n");
    until("everything is accepted", || {
        rooted.disk("c/c.txt").as_deref() == Some("new\n")
            && rooted.disk("b.txt").as_deref() == Some("changed\n")
            && rooted.disk("d.txt").is_none()
    });
    editor.execute("ropewalk.undo", json!({ "all": true })).unwrap();
    editor.wait_for_text("a.txt", "unsaved ünï😀 one\ntwo\n");
    until("everything is taken back", || {
        rooted.disk("c/c.txt").is_none()
            && rooted.disk("b.txt").as_deref() == Some("bee\n")
            && rooted.disk("d.txt").as_deref() == Some("gone\n")
    });
    editor.shutdown();
    rooted.stage.agent.model.finish().unwrap();
}

fn replies() -> Vec<ScriptedReply> {
    vec![
        edit("b.txt", "bee", "changed"),
        bash(
            "cat a.txt b.txt && mkdir c && echo new > c/c.txt && rm d.txt && sed -i s/two/TWO/ a.txt && ls",
        ),
        say("Done.").expect_text("unsaved ünï😀 one\ntwo\nchanged\na.txt\nb.txt\nc\ne.sh"),
    ]
}

#[test]
fn a_turn_works_under_every_name_a_folder_can_have() {
    for tier in &TIERS {
        for name in [
            "plain",
            "with space",
            "comma,and:colon",
            "ünï 𝄞",
            "quote'\"and$dollar",
            "back\\slash",
            "per%20cent",
        ] {
            let rooted = Rooted::new(name, replies());
            let editor = rooted.editor_on(tier.word, &rooted.root);
            a_turn_works_in(rooted, editor, tier);
        }
    }
}

#[test]
fn in_place_a_command_changes_the_disk_and_nothing_of_what_is_open() {
    let rooted = Rooted::new(
        "here",
        [
            edit("b.txt", "bee", "changed"),
            bash("cat a.txt b.txt && echo new > c.txt && rm d.txt"),
            say("Done.").expect_text("one\ntwo\nbee\n"),
        ],
    );
    for (name, text) in [("a.txt", "one\ntwo\n"), ("b.txt", "bee\n"), ("d.txt", "gone\n")] {
        rooted.write(name, text);
    }
    let editor = rooted.editor_on("off", &rooted.root);
    editor.open("a.txt");
    editor.type_at("a.txt", 0, 0, "unsaved ");
    editor.prompt("Try");
    editor.answer_dialog("Allow once");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    assert_eq!(editor.text("a.txt"), "unsaved one\ntwo\n");
    assert_eq!(rooted.disk("a.txt").unwrap(), "one\ntwo\n");
    assert_eq!(rooted.disk("b.txt").unwrap(), "bee\n");
    assert_eq!((rooted.disk("c.txt").unwrap(), rooted.disk("d.txt")), ("new\n".into(), None));
    editor.execute("ropewalk.accept", json!({ "all": true })).unwrap();
    until("it is accepted", || rooted.disk("b.txt").as_deref() == Some("changed\n"));
    editor.shutdown();
    rooted.stage.agent.model.finish().unwrap();
}

#[test]
fn a_turn_works_in_a_linked_root_and_on_a_tmpfs() {
    for tier in &TIERS {
        let rooted = Rooted::new("real", replies());
        let link = rooted.root.with_file_name("link");
        std::os::unix::fs::symlink(&rooted.root, &link).unwrap();
        let editor = rooted.editor_on(tier.word, &link);
        a_turn_works_in(rooted, editor, tier);

        let memory = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut rooted = Rooted::new("unused", replies());
        rooted.root = memory.path().canonicalize().unwrap();
        let editor = rooted.editor_on(tier.word, &rooted.root);
        a_turn_works_in(rooted, editor, tier);
    }
}

#[test]
fn fifty_thousand_files_are_no_hindrance() {
    let rooted = Rooted::new(
        "many",
        [
            bash("find . -name '*.txt' | wc -l; git status --short | head -3; echo x >> 7/7.txt"),
            say("Done.").expect_text("50000"),
        ],
    );
    for folder in 0..50 {
        let folder = rooted.root.join(folder.to_string());
        std::fs::create_dir(&folder).unwrap();
        for file in 0..1000 {
            std::fs::write(folder.join(format!("{file}.txt")), "text\n").unwrap();
        }
    }
    let editor = rooted.editor();
    assert_eq!(turn(&editor, "Try"), "end_turn");
    editor.execute("ropewalk.accept", json!({ "all": true })).unwrap();
    until("it is accepted", || rooted.disk("7/7.txt").as_deref() == Some("text\nx\n"));
    editor.shutdown();
    rooted.stage.agent.model.finish().unwrap();
}

#[test]
fn the_user_types_and_saves_while_a_command_runs() {
    for tier in &TIERS {
        // A command over the fork shares the build cache with the outside; on a copy they share
        // everything.
        let shared = tempfile::tempdir().unwrap();
        let place = match tier.asks {
            false => "\"$CARGO_TARGET_DIR\"".to_owned(),
            true => format!("'{}'", shared.path().display()),
        };
        let meet = format!("touch {place}/ready; while [ ! -e {place}/go ]; do sleep 0.01; done");
        let rooted = Rooted::new(
            "busy",
            [
                bash(&format!(
                    "sed -i s/three/THREE/ a.txt; echo command >> b.txt; {meet}; cat a.txt"
                )),
                say("Done.").expect_text("one\ntwo\nTHREE\n").expect_text("b.txt"),
            ],
        );
        rooted.write("a.txt", "one\ntwo\nthree\n");
        rooted.write("b.txt", "bee\n");
        let editor = rooted.editor_on(tier.word, &rooted.root);
        editor.open("a.txt");
        editor.prompt("Try");
        tier.allow(&editor);
        let cache = rooted.stage.agent.folder("cache");
        let mut ready = None;
        until("the command has come half way", || {
            ready = find(&cache, "ready").or_else(|| find(shared.path(), "ready"));
            ready.is_some()
        });
        editor.type_at("a.txt", 0, 0, "typed ");
        editor.save("a.txt");
        rooted.write("b.txt", "changed outside\n");
        std::fs::write(ready.unwrap().with_file_name("go"), "").unwrap();
        assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
        editor.execute("ropewalk.accept", json!({ "all": true })).unwrap();
        editor.wait_for_text("a.txt", "typed one\ntwo\nTHREE\n");
        assert_eq!(rooted.disk("a.txt").unwrap(), "typed one\ntwo\nthree\n");
        assert_eq!(
            rooted.disk("b.txt").unwrap(),
            "changed outside\n",
            "what moved outside is a conflict"
        );
        editor.shutdown();
        rooted.stage.agent.model.finish().unwrap();
    }
}

#[test]
fn what_a_command_runs_from_the_build_folder_is_what_it_built() {
    let build = "mkdir -p \"$CARGO_TARGET_DIR/debug\"; echo new > \"$CARGO_TARGET_DIR/debug/x\"";
    let rooted = Rooted::new(
        "crate",
        [bash(&format!("{build}; cat target/debug/x")), say("Done.").expect_text("new\n")],
    );
    rooted.write("Cargo.toml", "[package]\n");
    rooted.write(".gitignore", "/target\n");
    rooted.write("target/debug/x", "old\n");
    let editor = rooted.editor();
    assert_eq!(turn(&editor, "Try"), "end_turn");
    assert_eq!(rooted.disk("target/debug/x").unwrap(), "old\n");
    editor.shutdown();
    rooted.stage.agent.model.finish().unwrap();
}

#[test]
fn where_user_namespaces_are_switched_off_commands_run_on_a_copy() {
    let off = "echo 0 > /proc/sys/user/max_user_namespaces";
    let tried = std::process::Command::new("unshare").args(["-Ur", "sh", "-c", off]).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        return skip("there is no unshare here that can switch user namespaces off");
    }
    let rooted = Rooted::new(
        "here",
        [
            edit("b.txt", "bee", "changed"),
            bash("cat a.txt b.txt && sed -i s/two/TWO/ a.txt && rm d.txt && echo new > c.txt"),
            say("Done.")
                .expect_text("unsaved ünï one\ntwo\nchanged\n")
                .expect_text("changed: ")
                .expect_text("it ran on a copy: ")
                .expect_text("commands run on a copy here: "),
        ],
    );
    rooted.write("a.txt", "one\ntwo\n");
    rooted.write("b.txt", "bee\n");
    rooted.write("d.txt", "gone\n");
    let [program, argument] = Agent::command();
    // A program of its own, to which more arguments can be given.
    let folder = tempfile::tempdir().unwrap();
    let start = folder.path().join("start");
    let inside = format!("{off} && exec \"$0\" \"$@\"");
    let script = format!("#!/bin/sh\nexec unshare -Ur sh -c '{inside}' '{program}' \"$@\"\n");
    std::fs::write(&start, script).unwrap();
    std::fs::set_permissions(&start, std::fs::Permissions::from_mode(0o755)).unwrap();
    let editor = FakeEditor::spawn(
        start.to_str().unwrap(),
        &[argument],
        &rooted.stage.agent.environment(),
        Profile::VSCODE,
        &[&rooted.root],
        json!({ "commands": { "overFork": "auto" } }),
    )
    .unwrap();
    editor.ignore(QUIET);
    editor.open("a.txt");
    editor.type_at("a.txt", 0, 0, "unsaved ünï ");
    editor.prompt("Try");
    let Dialog { message, .. } = editor.answer_dialog("Allow once");
    assert!(message.contains("it runs on a copy of the open folders"), "{message}");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    assert_eq!(editor.text("a.txt"), "unsaved ünï one\ntwo\n");
    assert_eq!(rooted.disk("a.txt").unwrap(), "one\ntwo\n");
    assert_eq!(rooted.disk("c.txt"), None);
    assert_eq!(rooted.disk("d.txt").unwrap(), "gone\n");
    editor.execute("ropewalk.accept", json!({ "all": true })).unwrap();
    editor.wait_for_text("a.txt", "unsaved ünï one\nTWO\n");
    until("everything is accepted", || {
        rooted.disk("b.txt").as_deref() == Some("changed\n")
            && rooted.disk("c.txt").as_deref() == Some("new\n")
            && rooted.disk("d.txt").is_none()
    });
    let cache = rooted.stage.agent.folder("cache");
    assert!(find(&cache, "c.txt").is_some(), "the copy lies in the cache folder");
    editor.shutdown();
    assert_eq!(find(&cache, "c.txt"), None, "the copy goes with the session");
    rooted.stage.agent.model.finish().unwrap();
}

/// The file of this name somewhere below a folder.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let all = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = all.partition(|path| path.is_dir());
    let here = files.into_iter().find(|file| file.file_name().is_some_and(|own| own == name));
    here.or_else(|| folders.iter().find_map(|folder| find(folder, name)))
}

#[test]
fn a_linked_root_is_there_under_the_links_path_too() {
    // A tool may have written the link's path down.
    let parent = Searched::new();
    let link = parent.path().canonicalize().unwrap().join("link");
    let replies = [
        bash(&format!("cat {0}/a.txt; echo new > {0}/b.txt", link.display())),
        say("Done.").expect_text("unsaved one\n").expect_text("b.txt"),
    ];
    let rooted = Rooted::below(parent, "real", replies);
    std::os::unix::fs::symlink(&rooted.root, &link).unwrap();
    rooted.write("a.txt", "one\n");
    let editor = rooted.editor_at(&link);
    editor.open("a.txt");
    editor.type_at("a.txt", 0, 0, "unsaved ");
    assert_eq!(turn(&editor, "Try"), "end_turn");
    editor.shutdown();
    rooted.stage.agent.model.finish().unwrap();
}

#[test]
fn our_own_folders_are_seen_by_no_command() {
    let look = "cat a.txt; ls -A config/ropewalk 2>/dev/null | wc -l; ls -A state/ropewalk | tr '\\n' ' '; cat config/ropewalk/config.toml";
    let mut rooted = Rooted::new(
        "unused",
        [bash("seq 100000"), bash(look), say("Done.").expect_text("unsaved one\n0\noutputs cat: ")],
    );
    // They lie in the root here, as they do in a home that is open.
    rooted.root = rooted.stage.agent.folder(".").canonicalize().unwrap();
    rooted.write("a.txt", "one\n");
    let editor = rooted.editor();
    editor.open("a.txt");
    editor.type_at("a.txt", 0, 0, "unsaved ");
    assert_eq!(turn(&editor, "Try"), "end_turn");
    let own = rooted.stage.agent.folder("state/ropewalk");
    assert!(own.read_dir().unwrap().count() > 1, "there is more than the command saw");
    editor.shutdown();
    rooted.stage.agent.model.finish().unwrap();
}
