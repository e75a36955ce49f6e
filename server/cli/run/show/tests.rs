//! Output of a run, byte for byte.

use super::lines::LONGEST_TITLE;
use super::*;
use crate::plain::is_control;
use ropewalk_protocol::Spent;
use ropewalk_workspace::PatchFile;

const PIPE: OutputForm = OutputForm::People(OutputLook { is_terminal: false, colours: false });
const SCREEN: OutputForm = OutputForm::People(OutputLook { is_terminal: true, colours: false });
const COLOURS: OutputForm = OutputForm::People(OutputLook { is_terminal: true, colours: true });

/// A change of one file with this body.
fn patch(body: &str) -> Patch {
    let file = PatchFile {
        header: b"diff --git a/x b/x\n".to_vec(),
        body: body.as_bytes().to_vec(),
        binary: None,
        paths: Vec::new(),
    };
    Patch { files: vec![file], left_out: Vec::new() }
}

fn end(patch: &Patch) -> TurnEnding<'_> {
    let waiting = Counts { changes: 3, files: 2 };
    TurnEnding { stop: StopReason::EndTurn, message: None, patch, waiting, review: None }
}

fn shown(form: OutputForm, events: &[Event], patch: &Patch) -> String {
    let mut out = Vec::new();
    let mut show = TurnPrinter::new(&mut out, form, "s".into());
    events.iter().for_each(|event| show.event(event).unwrap());
    show.end(&end(patch)).unwrap();
    String::from_utf8(out).unwrap()
}

fn for_people(events: &[Event]) -> String {
    shown(PIPE, events, &Patch::default())
}

fn text(text: &str) -> Event {
    Event::TextDelta { turn: 1, message: "1.1".into(), text: text.to_owned() }
}

fn call(id: &str, tool: &str, title: &str) -> Event {
    let (tool, title) = (tool.to_owned(), title.to_owned());
    Event::ToolCall { turn: 1, call: id.into(), tool, title, input: serde_json::json!({}) }
}

fn result(id: &str, preview: &str) -> Event {
    Event::ToolResult {
        turn: 1,
        call: id.into(),
        is_error: false,
        preview: preview.to_owned(),
        secret: None,
        ran: None,
    }
}

#[test]
fn a_call_stands_above_the_start_of_its_result() {
    let events = [
        text("I look"),
        text(" first."),
        call("a", "read_file", "greet.py"),
        result("a", "1 def greet():"),
        text("Done.\n"),
    ];
    assert_eq!(
        for_people(&events),
        "I look first.\n> read_file: greet.py\n  1 def greet():\nDone.\n"
    );
}

#[test]
fn results_of_calls_side_by_side_say_which_they_are() {
    let events = [
        call("a", "read_file", "a.py"),
        call("b", "read_file", "b.py"),
        result("b", "of b"),
        result("a", "of a"),
    ];
    assert_eq!(
        for_people(&events),
        "> read_file: a.py\n> read_file: b.py\n  of b\n< read_file: a.py\n  of a\n"
    );
}

#[test]
fn nothing_from_outside_drives_the_terminal() {
    let evil = "\u{1b}]0;owned\u{7}\u{9b}2J\u{1b}[31m\u{202e}";
    let events = [
        text("\u{1b}"),
        text("[2J"),
        call("a", evil, evil),
        Event::ToolResult {
            turn: 1,
            call: "a".into(),
            is_error: true,
            preview: evil.to_owned(),
            secret: None,
            ran: None,
        },
        Event::Retrying { turn: 1, attempt: 2, wait_ms: 0, reason: evil.to_owned() },
    ];
    let obeyed = |c: char| (c.is_control() && c != '\n') || is_control(c);
    let people = shown(SCREEN, &events, &patch(&format!("+{evil}\n")));
    assert!(!people.contains(obeyed), "{people:?}");
    let json = shown(OutputForm::Json, &events, &Patch::default());
    assert!(!json.contains(obeyed), "{json:?}");
    let titles: Vec<_> = json
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter_map(|event| event.get("title").cloned())
        .collect();
    assert_eq!(titles, [evil], "a program gets the characters as they were");
}

#[test]
fn colours_are_there_only_where_asked_for() {
    let events = [call("a", "bash", "ls"), result("a", "x")];
    let patch = patch("@@ -1 +1 @@\n-old\n+new\n");
    assert!(!shown(PIPE, &events, &patch).contains('\u{1b}'));
    let coloured = shown(COLOURS, &events, &patch);
    assert!(coloured.contains("\u{1b}[36m> bash: ls\u{1b}[0m\n"), "{coloured:?}");
    let lines = "\u{1b}[31m-old\u{1b}[0m\n\u{1b}[32m+new\u{1b}[0m\n";
    assert!(coloured.contains(lines), "{coloured:?}");
}

#[test]
fn in_a_pipe_the_diff_is_as_it_is_and_no_words_pass_for_one() {
    let events = [text("See:\n--- a/y"), text("\n+++ b/y\n@@ -1 +1 @@\n-a\n+b")];
    assert_eq!(
        shown(PIPE, &events, &patch("+\u{1b}[2J\r\n")),
        "See:\n --- a/y\n+++ b/y\n @@ -1 +1 @@\n-a\n+b\n\ndiff --git a/x b/x\n+\u{1b}[2J\r\n"
    );
}

#[test]
fn the_end_is_told_in_one_line() {
    let usage = ropewalk_protocol::Usage { input: 33_364, output: 594, ..Default::default() };
    let spent = Spent::of(usage, None).into();
    let usage = Event::Usage {
        turn: 1,
        step: spent,
        in_turn: spent,
        total: spent,
        context: Default::default(),
    };
    let mut show = TurnPrinter::new(Vec::new(), PIPE, "s".into());
    show.event(&usage).unwrap();
    let patch = patch("");
    assert_eq!(
        show.summary(&end(&patch)),
        "Done · 33k tokens in, 594 out · 3 changes in 2 files wait for review"
    );
    let one = TurnEnding {
        stop: StopReason::MaxSteps,
        waiting: Counts { changes: 1, files: 1 },
        ..end(&patch)
    };
    assert_eq!(show.summary(&one), "33k tokens in, 594 out · 1 change in 1 file waits for review");
}

#[test]
fn a_retry_says_that_what_was_said_is_void() {
    let retry = Event::Retrying { turn: 1, attempt: 2, wait_ms: 1_500, reason: "cut".to_owned() };
    let step = Event::StepStarted { turn: 1, step: 1, message: "1.1".into() };
    let waiting = |is_queued| Event::Waiting { turn: 1, waited_ms: 10_400, is_queued };
    assert_eq!(
        for_people(&[waiting(true), waiting(false)]),
        "(waits for its turn at the model, 10 s so far)\n(waits for the model, 10 s so far)\n"
    );
    assert_eq!(
        for_people(&[step.clone(), text("Half"), retry.clone()]),
        "Half\n(cut; try 2 in 1.5 s; the answer starts over)\n"
    );
    let later = Event::Retrying { turn: 1, attempt: 2, wait_ms: 1_000, reason: "cut".to_owned() };
    assert_eq!(for_people(&[step, retry, later]), "(cut; try 2 in 1.5 s)\n");
}

#[test]
fn a_long_command_is_shown_to_a_bound_and_indented() {
    let command = format!("echo a\necho b\n{}", "é".repeat(5_000));
    let shown = for_people(&[call("a", "bash", &command)]);
    assert!(shown.starts_with("> bash: echo a\n  echo b\n  é"), "{shown}");
    assert!(shown.chars().count() < LONGEST_TITLE + 50);
}

struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_output_is_said_once() {
    let mut show = TurnPrinter::new(Closed, OutputForm::Json, "s".into());
    assert!(show.event(&text("a")).is_err());
    assert!(show.event(&text("b")).is_ok());
    assert!(show.end(&end(&patch("+x\n"))).is_ok());
}
