//! What is shown, byte for byte.

use super::*;
use crate::plain::is_control;

fn shown(form: Form, events: &[Event], diff: &str) -> String {
    let mut out = Vec::new();
    let mut show = Show::new(&mut out, form, "s".into());
    events.iter().for_each(|event| show.event(event).unwrap());
    show.end(diff, None).unwrap();
    String::from_utf8(out).unwrap()
}

fn for_people(events: &[Event]) -> String {
    shown(Form::People { colours: false }, events, "")
}

fn text(text: &str) -> Event {
    Event::TextDelta { turn: 1, text: text.to_owned() }
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
        },
        Event::Retrying { turn: 1, attempt: 2, wait_ms: 0, reason: evil.to_owned() },
    ];
    let obeyed = |c: char| (c.is_control() && c != '\n') || is_control(c);
    let people = shown(Form::People { colours: false }, &events, &format!("+{evil}\n"));
    assert!(!people.contains(obeyed), "{people:?}");
    let json = shown(Form::Json, &events, "");
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
    let diff = "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n";
    assert!(!shown(Form::People { colours: false }, &events, diff).contains('\u{1b}'));
    let coloured = shown(Form::People { colours: true }, &events, diff);
    assert!(coloured.contains("\u{1b}[36m> bash: ls\u{1b}[0m\n"), "{coloured:?}");
    let lines = "\u{1b}[31m-old\u{1b}[0m\n\u{1b}[32m+new\u{1b}[0m\n";
    assert!(coloured.contains(lines), "{coloured:?}");
}

#[test]
fn a_retry_says_that_what_was_said_is_void() {
    let retry = Event::Retrying { turn: 1, attempt: 2, wait_ms: 1_500, reason: "cut".to_owned() };
    let step = Event::StepStarted { turn: 1, step: 1 };
    let waiting = |is_queued| Event::Waiting { turn: 1, waited_ms: 10_400, is_queued };
    assert_eq!(
        for_people(&[waiting(true), waiting(false)]),
        "(waits for its turn at the model since 10 s)\n(waits for the model since 10 s)\n"
    );
    assert_eq!(
        for_people(&[step.clone(), text("Half"), retry.clone()]),
        "Half\n(cut; try 2 in 1.5 s; the answer starts over)\n"
    );
    assert_eq!(for_people(&[step, retry]), "(cut; try 2 in 1.5 s)\n");
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
    let mut show = Show::new(Closed, Form::Json, "s".into());
    assert!(show.event(&text("a")).is_err());
    assert!(show.event(&text("b")).is_ok());
    assert!(show.end("+x\n", None).is_ok());
}
