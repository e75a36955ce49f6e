//! A lead's server behind an editor, its board, and workers in processes of their own with a checkout of their own.

use crate::story;
use crate::support::agent::Agent;
use crate::support::home::Searched;
use crate::support::stage::Stage;
use crate::team_board::{ATTEMPTS, TeamBoard};
use ropewalk_testkit::editor::{FakeEditor, Kind, Profile};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// The team's name: that of the lead's folder is another each time.
const TEAM: &str = "crew";

/// See the module.
pub(crate) struct Crew {
    pub(crate) stage: Stage,
    pub(crate) board: TeamBoard,
    checkout: Searched,
    place: String,
}

impl Crew {
    /// A crew with no lead yet, on a board of SQLite, over a file with so many lines. The lead's replies come first.
    pub(crate) fn new(lines: usize, replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        Self::on(None, lines, replies)
    }

    /// The same on a board at this URL, if one is given.
    pub(crate) fn on(
        url: Option<String>,
        lines: usize,
        replies: impl IntoIterator<Item = ScriptedReply>,
    ) -> Self {
        let text = story::text(lines);
        let replies = [story::lead()].into_iter().chain(replies);
        let stage = Stage::new("review", &[(story::FILE, &text)], replies);
        let checkout = Searched::new();
        std::fs::write(checkout.path().join(story::FILE), &text).unwrap();
        let file = || stage.agent.folder("board.sqlite").display().to_string();
        let place = url.unwrap_or_else(file);
        stage.agent.reconfigure(|config| {
            format!(
                "{config}parallel = 8\n[team]\nenabled = true\nboard = \"{place}\"\nlease = 8\nattempts = {ATTEMPTS}\npoll = 1\nwake = 0\n"
            )
        });
        let roots = stage.folder.path().file_name().unwrap().to_str().unwrap();
        let board = TeamBoard::new(&place, TEAM, roots);
        Self { stage, board, checkout, place }
    }

    /// The lead behind an editor that has the file open, at its first start.
    pub(crate) fn lead(&self) -> FakeEditor {
        let editor = self.editor();
        editor.open(story::FILE);
        editor.prompt("Lead the team.");
        editor.wait_for_turn_end();
        // The team is the test's, so that its name and place are known.
        editor.execute("ropewalk.team", json!({ "adopt": TEAM })).unwrap();
        editor
    }

    /// An editor with a server that has been started just now.
    pub(crate) fn editor(&self) -> FakeEditor {
        let options = json!({ "events": true, "team": true });
        let editor = self.stage.editor_with(Profile::VSCODE, options);
        editor.ignore(&[Kind::Progress, Kind::Diagnostics, Kind::Message, Kind::Log, Kind::Event]);
        editor
    }

    /// A worker of this name, which takes tasks of this role and stays.
    pub(crate) fn worker(&self, name: &str, role: &str) -> Child {
        self.command(name, role).spawn().unwrap()
    }

    fn command(&self, name: &str, role: &str) -> Command {
        let [program, _] = Agent::command();
        let mut command = Command::new(program);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
            .args(["worker", "--team", TEAM, "--board", &self.place, "--stay"])
            .args(["--name", name, "--role", role])
            .envs(self.stage.agent.environment())
            .current_dir(self.checkout.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// The same, once it has said these words.
    pub(crate) fn worker_at(&self, name: &str, role: &str, words: &str) -> Child {
        let mut child = self.command(name, role).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            assert_ne!(said.read_line(&mut line).unwrap(), 0, "{name} ended before {words:?}");
        }
        // Its later words are read by nobody, and must not stop it.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        child
    }

    /// Waits until all tasks so far are completed and all bundles in the review.
    pub(crate) fn wait_taken(&self) {
        self.board.wait("the bundles to be taken", |board| {
            board.ask(board.team().waiting_bundles(1)).is_empty()
        });
    }

    /// True if a session's journal has these words.
    pub(crate) fn is_in_journals(&self, words: &str) -> bool {
        let folder = self.stage.agent.folder("state/ropewalk/sessions");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut texts = files.filter_map(|file| std::fs::read(file).ok());
        texts.any(|text| String::from_utf8_lossy(&text).contains(words))
    }

    /// Accepts all that waits, and saves.
    pub(crate) fn accept(&self, editor: &FakeEditor) {
        editor.execute("ropewalk.accept", json!({ "all": true })).unwrap();
        let failed = editor.wait_for("the review", |seen| {
            let events = seen.events();
            let event = events.iter().find(|event| event["type"] == "reviewed")?;
            Some(event["failed"].clone())
        });
        assert_eq!(failed, json!([]));
    }

    /// Checks that each of so many tasks, `Line K` in the order of K, has come into the text and the review once.
    pub(crate) fn check(self, editor: FakeEditor, tasks: usize) {
        self.wait_taken();
        let files = tasks + 1;
        editor.wait_for("the hunks", |seen| {
            let events = seen.events();
            let hunks = hunks_of(&events);
            let of_files: BTreeSet<_> = hunks.iter().map(|hunk| hunk["uri"].as_str()).collect();
            (of_files.len() == files && hunks.len() == 2 * tasks).then_some(())
        });
        let hunks = hunks_of(&editor.events());
        for number in 1..=tasks {
            let of_task = hunks.iter().filter(|hunk| {
                let makers = hunk["members"].as_array().unwrap();
                makers.len() == 1 && makers[0]["task"] == number
            });
            assert_eq!(of_task.count(), 2, "task {number}: {hunks:#?}");
        }
        self.accept(&editor);
        assert_eq!(editor.text(story::FILE), story::done_text(tasks));
        for line in 0..tasks {
            assert_eq!(self.stage.disk(&format!("new/{line}.txt")), story::new_text(line));
        }
        self.stage.end(editor);
    }
}

/// The pending hunks as an editor was told last.
pub(crate) fn hunks_of(events: &[Value]) -> Vec<Value> {
    let last = events.iter().rev().find(|event| event["type"] == "hunks");
    last.and_then(|event| event["hunks"].as_array()).cloned().unwrap_or_default()
}

/// Kills a process as the system does when memory runs out.
pub(crate) fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Sends a signal.
pub(crate) fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-s", name, &pid]).status().unwrap();
    assert!(sent.success());
}
