//! `ropewalk run` at a terminal, which `script` makes: colours, what runs now, questions and their answers.

use crate::world::World;
use ropewalk_testkit::model::{ReplyPlace, ScriptedModel, ScriptedReply};
use serde_json::json;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

fn reply() -> ScriptedReply {
    ScriptedReply::new()
}

fn bash(command: &str) -> ScriptedReply {
    reply().call("bash", json!({"command": command}))
}

fn world(replies: impl IntoIterator<Item = ScriptedReply>) -> (World, ScriptedModel) {
    let model = ScriptedModel::start(replies).unwrap();
    (World::with(&model), model)
}

/// A command at a terminal of its own.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: ChildStdout,
    /// All that was written to the screen.
    seen: String,
}

impl Terminal {
    fn open(world: &World, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
        let words = std::iter::once(env!("CARGO_BIN_EXE_ropewalk")).chain(args.iter().copied());
        let line = words.map(quoted).collect::<Vec<_>>().join(" ");
        let own = world.ropewalk(args);
        let kept = own.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let mut child = Command::new("script")
            .args(["-q", "-e", "-f", "-c", &line, "/dev/null"])
            .env_clear()
            .envs(kept)
            .envs([("SHELL", "/bin/sh"), ("TERM", "xterm")])
            .envs(variables.iter().copied())
            .current_dir(world.root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (keys, screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, keys, screen, seen: String::new() }
    }

    /// Types this.
    fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until these words are on the screen, behind what was waited for before.
    fn until(&mut self, words: &str) {
        let from = self.seen.len();
        let mut bytes = Vec::new();
        while !String::from_utf8_lossy(&bytes).contains(words) {
            let mut byte = [0];
            let read = self.screen.read(&mut byte).unwrap();
            let more = || String::from_utf8_lossy(&bytes);
            assert_ne!(read, 0, "no {words:?} in {}{}", self.seen, more());
            bytes.push(byte[0]);
        }
        self.seen.push_str(&String::from_utf8_lossy(&bytes));
        assert!(from < self.seen.len());
    }

    /// The exit code, and all that was on the screen.
    fn ended(mut self) -> (i32, String) {
        let mut rest = Vec::new();
        // A terminal that is gone is an error on some systems, and the end.
        let _ = self.screen.read_to_end(&mut rest);
        let seen = self.seen + &String::from_utf8_lossy(&rest);
        (self.child.wait().unwrap().code().unwrap(), seen)
    }
}

#[test]
fn a_yes_runs_it_once_and_nothing_else_does() {
    let (world, model) = world([
        bash("touch asked"),
        bash("touch again").expect_no_text("Refused"),
        bash("touch third").expect_text("The user refused this call"),
        reply().expect_text("The user refused this call: use ls").text("As you say."),
    ]);
    let mut terminal = Terminal::open(&world, &["run", "go"], &[]);
    terminal.until("waits for your approval");
    terminal.until("[y]es once, [s]ession, [a]lways, [N]o");
    terminal.types("maybe\n");
    terminal.until("none of the answers");
    terminal.types("y\n");
    terminal.until("waits for your approval");
    terminal.until("[N]o");
    terminal.types("\n");
    terminal.until("waits for your approval");
    terminal.until("[N]o");
    terminal.types("n use ls\n");
    let (code, screen) = terminal.ended();
    assert_eq!(code, 0, "{screen}");
    let made = |name: &str| world.root().join(name).exists();
    assert!(made("asked") && !made("again") && !made("third"), "{screen}");
    model.finish().unwrap();
}

#[test]
fn what_was_typed_ahead_is_no_answer() {
    let (world, model) = world([
        bash("touch evil").gate(ReplyPlace::End, "typed"),
        reply().expect_text("The user refused this call").text("No, then."),
    ]);
    let mut terminal = Terminal::open(&world, &["run", "go"], &[]);
    terminal.types("y\ny\n");
    // The terminal has shown the keys, so they lie in its queue.
    terminal.until("y\r\ny\r\n");
    model.open_gate("typed");
    terminal.until("[N]o");
    terminal.types("\n");
    let (code, screen) = terminal.ended();
    assert_eq!(code, 0, "{screen}");
    assert!(!world.root().join("evil").exists(), "{screen}");
}

#[test]
fn session_and_always_hold_as_long_as_they_say() {
    let (world, _model) = world([
        bash("touch one"),
        bash("touch one"),
        bash("ls -a"),
        reply().text("Done."),
        bash("ls -a").conversation("next"),
        bash("touch one").conversation("next"),
        reply().expect_text("The user refused").text("Done.").conversation("next"),
    ]);
    let mut terminal = Terminal::open(&world, &["run", "go"], &[]);
    terminal.until("[N]o");
    terminal.types("s\n");
    terminal.until("ls -a");
    terminal.until("[N]o");
    terminal.types("always\n");
    let (code, screen) = terminal.ended();
    assert_eq!((code, screen.matches("waits for your approval").count()), (0, 2), "{screen}");
    let rules = std::fs::read_to_string(world.home("config/ropewalk/rules.toml")).unwrap();
    assert!(rules.contains("ls") && !rules.contains("touch"), "{rules}");
    let mut next = Terminal::open(&world, &["run", "go"], &[]);
    next.until("touch one");
    next.until("[N]o");
    next.types("n\n");
    let (code, screen) = next.ended();
    assert_eq!((code, screen.matches("waits for your approval").count()), (0, 1), "{screen}");
}

#[test]
fn a_key_press_interrupts_a_question() {
    let (world, _model) = world([bash("touch evil")]);
    let mut terminal = Terminal::open(&world, &["run", "go"], &[]);
    terminal.until("[N]o");
    terminal.types("\u{3}");
    let (code, screen) = terminal.ended();
    assert_eq!(code, 130, "{screen}");
    assert!(!world.root().join("evil").exists());
}

#[test]
fn programs_and_pipes_are_never_asked() {
    let (world, _model) = world([
        bash("touch evil"),
        reply().expect_text("not allowed without a terminal to ask in").text("No."),
    ]);
    let terminal = Terminal::open(&world, &["run", "--json", "go"], &[]);
    let (code, screen) = terminal.ended();
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains("[N]o"), "{screen}");
}

#[test]
fn a_line_says_what_runs_now_and_goes() {
    let (world, _model) = world([
        bash("until [ -e go ]; do sleep 0.02; done; echo went"),
        reply().expect_text("went").text("Done."),
    ]);
    let mut terminal = Terminal::open(&world, &["run", "--allow", "bash(*)", "go"], &[]);
    terminal.until("\r… bash: until [ -e go ]");
    terminal.until(" s\u{1b}[K");
    world.write("go", "");
    let (code, screen) = terminal.ended();
    assert_eq!(code, 0, "{screen}");
    // It is taken away before anything else is written.
    assert!(screen.contains("s\u{1b}[K\r\u{1b}[K"), "{screen:?}");
}

#[test]
fn a_screen_has_colours_unless_it_should_not_and_obeys_nobody() {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J";
    for (variables, colours) in
        [(&[][..], true), (&[("NO_COLOR", "1")][..], false), (&[("TERM", "dumb")][..], false)]
    {
        let (world, _model) = world([
            reply().call("write_file", json!({"path": "a.txt", "content": format!("{evil}\n")})),
            reply().text(format!("Done {evil}.")),
        ]);
        let terminal = Terminal::open(&world, &["run", "go"], variables);
        let (code, screen) = terminal.ended();
        assert_eq!(code, 6, "{screen}");
        assert_eq!(screen.contains("\u{1b}[32m+␛]0;owned␇␛[2J\u{1b}[0m"), colours, "{screen:?}");
        assert_eq!(screen.contains("\u{1b}[36m> write_file: a.txt"), colours, "{screen:?}");
        assert!(screen.contains("+␛]0;owned␇␛[2J"), "{screen:?}");
        assert!(!screen.contains("\u{1b}]") && !screen.contains("\u{1b}[2J"), "{screen:?}");
        assert!(screen.contains("1 change in 1 file waits for review"), "{screen:?}");
        assert!(screen.contains("Next: `ropewalk diff`, `ropewalk accept`, or open"), "{screen:?}");
        let terminal = Terminal::open(&world, &["diff"], variables);
        let (code, screen) = terminal.ended();
        assert_eq!(code, 0, "{screen}");
        assert!(!screen.contains("\u{1b}]") && !screen.contains("\u{1b}[2J"), "{screen:?}");
        assert!(!screen.contains("index "), "no ids on a screen: {screen:?}");
    }
}
