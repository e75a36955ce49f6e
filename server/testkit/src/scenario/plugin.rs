//! A client with our plugin: what it would show of the events, in the words of a page.

use ropewalk_protocol::CheckReport;
use serde_json::{Value, json};

/// Options by which it gets events and shows changes and approvals itself.
pub(super) fn options() -> Value {
    json!({ "events": true, "drawsHunks": true, "approvals": true, "threads": true })
}

/// Texts that its user reads, in order. A later call gives the same and more.
pub(super) fn words(events: &[Value]) -> Vec<String> {
    let (mut words, mut said, mut found) = (Vec::new(), String::new(), None);
    let mut is_running = false;
    for event in events {
        let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
        let is_of_thread = event.get("thread").is_some_and(Value::is_string);
        match text("type") {
            "approval_requested" => words.push(question(event)),
            _ if is_of_thread => {}
            "turn_started" => (is_running, said, found) = (true, String::new(), None),
            "step_started" => said.clear(),
            "text_delta" => said.push_str(text("text")),
            "check" => found = report(event).and_then(|report| report.in_words()),
            "notice" => words.push(text("message").to_owned()),
            "rewound" => {
                words.push(format!(
                    "Turn {} is taken back",
                    event.get("turn").unwrap_or(&Value::Null)
                ));
            }
            "compacted" if !is_running => words.push("The conversation was summed up".to_owned()),
            "reviewed" => words.extend(strings(event.get("failed"))),
            "turn_ended" => {
                is_running = false;
                words.push(std::mem::take(&mut said));
                words.extend(found.take());
                words.push(text("message").to_owned());
            }
            _ => {}
        }
    }
    words
}

/// Approvals that were asked for so far.
pub(super) fn questions(events: &[Value]) -> usize {
    let is_question = |event: &&Value| event.get("type") == Some(&json!("approval_requested"));
    events.iter().filter(is_question).count()
}

/// The pending hunks of the last event about them.
pub(super) fn hunks(events: &[Value]) -> Vec<Value> {
    let told = events.iter().rev().find(|event| event.get("type") == Some(&json!("hunks")));
    let hunks = told.and_then(|event| event.get("hunks")?.as_array().cloned());
    hunks.unwrap_or_default()
}

fn question(event: &Value) -> String {
    let text = |name: &str| event.get(name).and_then(Value::as_str);
    let of = text("agent").map(|agent| format!(" ({agent})")).unwrap_or_default();
    let (tool, detail) = (text("tool").unwrap_or_default(), text("detail").unwrap_or_default());
    format!("Ropewalk{of} asks to run {tool}: {detail}")
}

fn report(event: &Value) -> Option<CheckReport> {
    serde_json::from_value(event.clone()).ok()
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let values = value.and_then(Value::as_array).into_iter().flatten();
    values.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_reads_the_last_words_of_a_turn_and_none_of_a_subagent() {
        let told = |kind: &str, more: Value| {
            let mut event = json!({ "type": kind, "turn": 1 });
            let members = more.as_object().cloned().unwrap_or_default();
            event.as_object_mut().expect("it is one").extend(members);
            event
        };
        let events = [
            told("turn_started", json!({})),
            told("text_delta", json!({ "text": "I look." })),
            told("compacted", json!({})),
            told("text_delta", json!({ "thread": "1.1", "text": "In the subagent." })),
            told(
                "approval_requested",
                json!({ "thread": "1.1", "agent": "code, do it", "tool": "bash", "detail": "ls" }),
            ),
            told("step_started", json!({})),
            told("text_delta", json!({ "text": "Do" })),
            told("text_delta", json!({ "text": "ne." })),
            told("turn_ended", json!({ "message": "Stopped." })),
            told("compacted", json!({})),
        ];
        let all = [
            "Ropewalk (code, do it) asks to run bash: ls",
            "Done.",
            "Stopped.",
            "The conversation was summed up",
        ];
        assert_eq!(words(&events), all);
        assert_eq!(words(&events[..8]), all[..1], "nothing before its end");
        assert_eq!(questions(&events), 1);
    }

    #[test]
    fn the_hunks_are_those_that_were_told_last() {
        let told = |hunks: Value| json!({ "type": "hunks", "hunks": hunks });
        let events = [told(json!([1])), told(json!([2, 3])), json!({ "type": "notice" })];
        assert_eq!(hunks(&events), [json!(2), json!(3)]);
        assert!(hunks(&[]).is_empty());
    }
}
