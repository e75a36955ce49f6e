//! Events of a page's sessions and requests to their models, without the parts that differ from run
//! to run. So two runs can be compared, whatever protocol the model spoke.
//!
//! Folders, addresses and ids of sessions get names; pieces of words are put together; times and waits are left
//! out. So is thinking in what the model was asked, since not every protocol takes it back. Nothing here judges.

use crate::model::RecordedRequest;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

/// Has the server log its sessions' events, and nothing else.
pub(super) const FILTER: &str = "off,ropewalk::events=trace";

/// Has it log the events, and all else.
pub(super) const WITH_ALL: &str = "trace,ropewalk::events=trace";

/// Events that answer the user, at whatever moment of the turn they act, or that are told beside it.
const ANSWERS: &[&str] = &[
    "notice",
    "queued",
    "steered",
    "approval_resolved",
    "published",
    "reviewed",
    "set_aside",
    "rewound",
    "mode_changed",
    "model_changed",
    "session_renamed",
];

/// Words on a command that had begun when it was stopped.
const KILLED: &str = "The command was killed, and what it had changed was dropped.";

/// Events of calls, in the order in which one call has them.
const CALLS: &[&str] = &["tool_call", "approval_requested", "tool_result"];

/// The last bytes of a folder's name, by which the folders of a run differ.
const CUT: usize = 5;

/// Characters that are compared of a text behind a layer's folder where it was cut off.
const SHOWN: usize = 16;

/// Placeholders for an answer that has no words, or none that a protocol takes back.
const NO_WORDS: &[&str] = &["", "(no answer)", "(empty)"];

/// Log of one server.
#[derive(Debug)]
pub(super) struct ServerLog {
    pub(super) file: PathBuf,
    /// True if the server was killed in the midst of what it did.
    pub(super) is_killed: bool,
}

/// See the module.
#[derive(Debug)]
pub struct PageAccount {
    parts: Vec<Value>,
    bodies: Vec<String>,
    events: Vec<Value>,
}

impl PageAccount {
    /// Reads the logs of servers that have ended. `names` are texts that differ from run to run, and what to put
    /// in their place.
    pub(super) fn read(
        logs: &[ServerLog],
        names: &[(String, &str)],
        requests: &[RecordedRequest],
    ) -> std::io::Result<PageAccount> {
        let (mut names, mut all, mut events) = (names.to_vec(), Vec::new(), Vec::new());
        for log in logs {
            // A server that was killed may have left half a character.
            let ServerLog { file, is_killed } = log;
            let log = String::from_utf8_lossy(&std::fs::read(file)?).into_owned();
            // Ids of sessions are in the paths of their outputs.
            for line in log.lines() {
                let session =
                    line.split_once("session=\"").and_then(|(_, rest)| rest.split_once('"'));
                if let Some((session, _)) = session
                    && names.iter().all(|(name, _)| name != session)
                {
                    names.push((session.to_owned(), "SESSION"));
                }
            }
            events.extend(log.lines().filter_map(event).map(|(_, event)| event));
            all.extend(sessions(&named(&log, &names), *is_killed));
        }
        let said = |request: &RecordedRequest| {
            let (beginning, asked) = (beginning(&request.said), asked(&request.said).to_string());
            let asked = named(&asked, &names);
            match beginning.is_empty() {
                true => (beginning, asked),
                false => (beginning, without_requests(&asked, "\"call_")),
            }
        };
        let mut all_asked: Vec<(String, String)> = requests.iter().map(said).collect();
        all_asked.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (_, asked) in all_asked {
            all.push(serde_json::from_str(&asked).unwrap_or_default());
        }
        let bodies = requests.iter().map(|request| request.raw.clone()).collect();
        Ok(PageAccount { parts: all, bodies, events })
    }

    /// The bodies of all requests, as they were sent.
    pub fn bodies(&self) -> &[String] {
        &self.bodies
    }

    /// All events of all sessions, as they were told.
    pub fn events(&self) -> &[Value] {
        &self.events
    }

    /// Where another run has told or asked something else, in words; none where they are the same.
    pub fn difference(&self, other: &PageAccount) -> Option<String> {
        let parts = self.parts.iter().map(Some).chain(std::iter::repeat(None));
        let others = other.parts.iter().map(Some).chain(std::iter::repeat(None));
        let (most, mut both) = (self.parts.len().max(other.parts.len()), parts.zip(others));
        let differs = |(_, (one, two)): &(usize, (Option<&Value>, Option<&Value>))| one != two;
        let (at, (one, two)) = both.by_ref().take(most).enumerate().find(differs)?;
        let shown = |part: Option<&Value>| {
            part.map_or_else(|| "nothing more".to_owned(), |part| format!("{part:#}"))
        };
        let (one, two) = (shown(one), shown(two));
        let same = one.lines().zip(two.lines()).take_while(|(one, two)| one == two).count();
        let rest = |text: &str| text.lines().skip(same).take(12).collect::<Vec<_>>().join("\n");
        let (all, others) = (self.parts.len(), other.parts.len());
        let place = format!("in part {at} of {all}, against {others} parts,");
        Some(format!("{place}\n{}\nis not\n{}", rest(&one), rest(&two)))
    }
}

fn named(text: &str, names: &[(String, &str)]) -> String {
    let mut text = names.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    // The end of a name may have been cut off with the text that it stands in.
    for (from, to) in names.iter().filter(|(_, to)| *to == "HOME") {
        for cut in (1..=CUT).filter_map(|cut| from.get(..from.len().checked_sub(cut)?)) {
            text = text.replace(&format!("{cut}…"), &format!("{to}…"));
        }
    }
    // A command that is stopped may not have begun, or have begun just then.
    for between in [" ", "\\n"] {
        text = text.replace(&format!("{between}{KILLED}"), "");
    }
    text = text.replace("Error: Not run: interrupted by the user", "(interrupted by the user)");
    // The session's name for a call of a subagent ends in the server's.
    let text = without_requests(&text, "-call_");
    // The folders of layers have the numbers of their processes.
    let mut parts = text.split("ropewalk/layers/");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("ropewalk/layers/LAYER");
        let part = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
        match part.split_once('…') {
            // Where a text was cut off depends on the number's length.
            Some((shown, rest)) if !shown.contains('"') => {
                let shown: String = shown.chars().take(SHOWN).collect();
                out.push_str(without_cut_escape(&shown));
                out.push('…');
                out.push_str(rest);
            }
            _ => out.push_str(part),
        }
    }
    out
}

/// The start of a JSON string's text, without an escape at its end that may have been cut in two.
fn without_cut_escape(text: &str) -> &str {
    let last = text.rfind('\\').filter(|at| text.len() - at < "\\u0000".len());
    last.and_then(|at| text.get(..at)).map_or(text, |whole| whole.trim_end_matches('\\'))
}

/// The text, in which ids of calls behind a mark lack the number of their request: subagents ask in any order.
fn without_requests(text: &str, mark: &str) -> String {
    let mut parts = text.split(mark);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(mark);
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

/// The sessions of one server, in the order of their first events, each in streams: what is told of turns, what
/// commands print, what answers the user, and the pending hunks as they were told last, since they follow the
/// user's keys when they will. How many events of a running turn a killed server had logged depends on the moment of the
/// kill, so a session of such a server keeps its events up to its last `turn_ended` only.
fn sessions(log: &str, is_killed: bool) -> Vec<Value> {
    let mut told: Vec<(String, Value)> = log.lines().filter_map(event).collect();
    if is_killed {
        let ends = told.iter().enumerate().filter(|(_, (_, event))| kind(event) == "turn_ended");
        let last: HashMap<String, usize> = ends.map(|(at, (id, _))| (id.clone(), at)).collect();
        let mut at = 0..;
        told.retain(|(id, _)| last.get(id).zip(at.next()).is_some_and(|(last, at)| at <= *last));
    }
    let (mut order, mut sessions) = (HashMap::new(), Vec::<([Vec<Value>; 4], String)>::new());
    for (session, event) in told {
        let (_, thread) = session.split_once(" thread=").unwrap_or_default();
        let thread = thread.to_owned();
        let at = *order.entry(session).or_insert(sessions.len());
        if at == sessions.len() {
            sessions.push((Default::default(), thread));
        }
        let Some(([turns, outputs, answers, hunks], _)) = sessions.get_mut(at) else { continue };
        match kind(&event) {
            // None at the end is the same as none ever told: the moment between them may have been missed.
            "hunks" if event.get("hunks") == Some(&json!([])) => hunks.clear(),
            "hunks" => *hunks = vec![event],
            // How long it takes is the machine's affair.
            "waiting" => {}
            // A prompt right behind the words that a compaction has ended may come while that still holds the line.
            "queued" if turns.last().map(kind) == Some("compacted") => {}
            // Notices and words that are left when the server ends.
            "notice" if event.get("message") == Some(&json!("Nothing is running.")) => {}
            "text_delta" | "thinking_delta" => {
                let left = add(turns.last_mut(), event);
                turns.extend(left);
            }
            "tool_output" => {
                let of_call = |last: &&mut Value| last.get("call") == event.get("call");
                let left = add(outputs.iter_mut().find(of_call), event);
                outputs.extend(left);
            }
            kind if ANSWERS.contains(&kind) => answers.push(event),
            _ => turns.push(event),
        }
    }
    for ([turns, _, answers, _], _) in &mut sessions {
        *turns = in_order(std::mem::take(turns));
        // Proof comes from the editor, before or after the review that it belongs to is over, at once or in parts.
        answers.sort_by_key(|event| kind(event) == "published");
        answers.dedup_by(|next, proof| is_more_proof(proof, next));
        for proof in answers.iter_mut().filter(|event| kind(event) == "published") {
            if let Some(Value::Array(changes)) = proof.get_mut("changes") {
                changes.sort_by_key(|change| change.get("hunk").and_then(Value::as_u64));
            }
        }
    }
    // Subagents that work side by side begin in any order.
    sessions.sort_by(|(_, one), (_, other)| one.cmp(other));
    sessions.into_iter().map(|(streams, _)| json!(streams)).collect()
}

/// The event that a line of a log is, if it is one, behind the session it is of.
fn event(line: &str) -> Option<(String, Value)> {
    let (_, told) = line.split_once(" ropewalk::events: ")?;
    let (head, event) = told.split_once(" event=")?;
    let (_, session) = head.split_once("session=")?;
    Some((session.to_owned(), serde_json::from_str(event).ok()?))
}

/// Adds the changes of another `published` of the same turn to the first. False if it is something else.
fn is_more_proof(first: &mut Value, next: &mut Value) -> bool {
    let is_of_it = kind(first) == "published" && kind(next) == "published";
    if !is_of_it || turn(first) != turn(next) {
        return false;
    }
    let (Some(Value::Array(all)), Some(Value::Array(more))) =
        (first.get_mut("changes"), next.get_mut("changes"))
    else {
        return false;
    };
    all.append(more);
    true
}

/// The events of turns without what depends on the moment.
fn in_order(mut events: Vec<Value>) -> Vec<Value> {
    // Events after the last turn come as the server ends.
    let last = events.iter().rposition(|event| kind(event) == "turn_ended");
    events.truncate(last.map_or(events.len(), |last| last.saturating_add(1)));
    let with = |wanted: &dyn Fn(&Value) -> bool| -> HashSet<u64> {
        events.iter().filter(|event| wanted(event)).filter_map(turn).collect()
    };
    let is_stopped =
        |event: &Value| event.get("stopReason").and_then(Value::as_str) == Some("interrupted");
    let stopped = with(&is_stopped);
    let broken = with(&|event| kind(event) == "retrying" || is_stopped(event));
    events.retain(|event| {
        let is_in = |turns: &HashSet<u64>| turn(event).is_some_and(|turn| turns.contains(&turn));
        match kind(event) {
            // How much of it had come.
            "text_delta" | "thinking_delta" => !is_in(&stopped),
            // Some protocols say what a reply costs at its start, others at its end, which never came.
            "usage" => !is_in(&broken),
            _ => true,
        }
    });
    for event in &mut events {
        if let Some(event) = event.as_object_mut() {
            event.remove("waitMs");
            // A call that was stopped may not have begun to run.
            if event.get("turn").and_then(Value::as_u64).is_some_and(|turn| stopped.contains(&turn))
            {
                event.remove("ran");
            }
            if event.get("type") == Some(&json!("compacted")) {
                // Protocols need more or fewer bytes for the same words.
                event.retain(|name, _| ["type", "turn", "by"].contains(&name.as_str()));
            }
            if event.get("type") == Some(&json!("usage")) {
                event.retain(|name, _| ["type", "turn", "step"].contains(&name.as_str()));
            }
        }
    }
    // Calls that only read run side by side, and a command in the background says things when it will.
    let place = |event: &Value| CALLS.iter().position(|name| *name == kind(event));
    for run in events.chunk_by_mut(|a, b| place(a).is_some() && place(b).is_some()) {
        run.sort_by_key(|event| (event.get("call").map(Value::to_string), place(event)));
    }
    events
}

fn turn(event: &Value) -> Option<u64> {
    event.get("turn").and_then(Value::as_u64)
}

/// Adds a piece of words to those before it, if they are of the same kind; else gives it back.
fn add(last: Option<&mut Value>, event: Value) -> Option<Value> {
    let last = last.filter(|last| {
        ["type", "turn", "call"].iter().all(|member| last.get(member) == event.get(member))
    });
    let held = last.and_then(|last| last.get_mut("text"));
    let (Some(Value::String(held)), Some(more)) = (held, event.get("text").and_then(Value::as_str))
    else {
        return Some(event);
    };
    held.push_str(more);
    None
}

/// The beginning of a subagent's conversation; nothing for the session's own. Those at work side by side ask in any order.
fn beginning(said: &Value) -> String {
    let is_subagents =
        said.get("system").is_some_and(|system| system.to_string().contains(" subagent. "));
    let first = said.pointer("/messages/0/content").filter(|_| is_subagents);
    first.map(Value::to_string).unwrap_or_default()
}

/// Reduces a request to the parts that all protocols have.
fn asked(said: &Value) -> Value {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let system = match said.get("system") {
        Some(Value::Array(blocks)) => blocks.first().and_then(|block| block.get("text")).cloned(),
        text => text.cloned(),
    };
    let tools: Vec<_> = list(said.get("tools")).iter().map(without_markers).collect();
    let mut messages: Vec<(Value, Vec<String>, Vec<Value>)> = Vec::new();
    for message in list(said.get("messages")) {
        let role = message.get("role").cloned().unwrap_or_default();
        let (mut words, mut rest) = (Vec::new(), Vec::new());
        for block in list(message.get("content")) {
            match kind(&block) {
                "text" => {
                    words.extend(block.get("text").and_then(Value::as_str).map(in_any_order));
                }
                "thinking" => {}
                "tool_result" => {
                    // Some protocols can't say that a result is an error.
                    rest.push(json!([block.get("tool_use_id"), block.get("content")]));
                }
                _ => rest.push(without_markers(&block)),
            }
        }
        let is_silent = words.iter().all(|words| NO_WORDS.contains(&words.as_str()));
        match messages.last_mut() {
            // A thought alone is no answer where thinking is not taken back.
            _ if role == "assistant" && is_silent && rest.is_empty() => {}
            Some((last, said, more)) if *last == role => {
                said.extend(words);
                more.extend(rest);
            }
            _ => messages.push((role, words, rest)),
        }
    }
    let message = |(role, words, rest): (Value, Vec<String>, Vec<Value>)| json!({"role": role, "says": words.join("\n\n"), "rest": rest});
    let messages: Vec<_> = messages.into_iter().map(message).collect();
    // How much is left of a context that a server has refused is an estimate, by bytes on the wire.
    let text = json!(messages).to_string();
    let is_estimate =
        ["<compaction>", "[Conversation compressed"].iter().any(|mark| text.contains(mark));
    let most = said.get("max_tokens").filter(|_| !is_estimate);
    json!({"system": system, "tools": tools, "messages": messages, "max_tokens": most})
}

/// The words with their news sorted: an editor may show an undone change before or after a file is written.
fn in_any_order(words: &str) -> String {
    let parts = words.split_once("<news>\n").and_then(|(before, rest)| {
        let (news, after) = rest.split_once("\n</news>")?;
        Some((before, news, after))
    });
    let Some((before, news, after)) = parts else { return words.to_owned() };
    let mut news: Vec<&str> = news.split("\n\n").collect();
    news.sort_unstable();
    format!("{before}<news>\n{}\n</news>{after}", news.join("\n\n"))
}

fn without_markers(block: &Value) -> Value {
    let members = block.as_object().into_iter().flatten();
    let members = members.filter(|(name, _)| *name != "cache_control");
    members
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect::<BTreeMap<_, _>>()
        .into_iter()
        .collect()
}

fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(event: &str) -> String {
        format!("T TRACE ropewalk::events: session=\"s\" thread=\"\" event={event}\n")
    }

    #[test]
    fn a_kill_at_any_moment_of_a_turn_leaves_the_same_sessions() {
        let ended = line(r#"{"type":"turn_started","turn":1}"#)
            + &line(r#"{"type":"turn_ended","turn":1,"stopReason":"end_turn"}"#);
        let running = [
            r#"{"type":"turn_started","turn":2}"#,
            r#"{"type":"hunks","hunks":[{"id":2}]}"#,
            r#"{"type":"queued","turn":3}"#,
            r#"{"type":"tool_output","turn":2,"call":"c","text":"half"}"#,
        ]
        .map(line)
        .concat();
        let whole = sessions(&ended, true);
        assert_eq!(whole.len(), 1);
        for at in 0..=running.len() {
            let logged: String = running.chars().take(at).collect();
            assert_eq!(sessions(&format!("{ended}{logged}"), true), whole, "{at}");
        }
        assert_ne!(
            sessions(&format!("{ended}{running}"), false),
            whole,
            "one that lives tells all"
        );
        assert!(sessions(&running, true).is_empty(), "no turn of it has ended");
    }

    #[test]
    fn proof_that_comes_in_parts_is_as_if_it_had_come_at_once() {
        let proof = |hunks: &[u64], turn: u64| {
            let changes: Vec<Value> = hunks.iter().map(|hunk| json!({"hunk": hunk})).collect();
            line(&json!({"type": "published", "turn": turn, "changes": changes}).to_string())
        };
        let at_once = sessions(&proof(&[3, 1, 2], 1), false);
        assert_eq!(sessions(&(proof(&[2], 1) + &proof(&[1, 3], 1)), false), at_once);
        assert_ne!(sessions(&proof(&[1, 2], 1), false), at_once, "one is missing");
        assert_ne!(sessions(&(proof(&[2], 1) + &proof(&[1, 3], 2)), false), at_once);
    }

    #[test]
    fn a_cut_text_is_the_same_whatever_the_digits_of_a_process() {
        let shown = |process: u32| {
            let text = format!(
                "(a copy: /ropewalk/layers/{process}-0/up/ stands for /home/work) (what it wrote is dropped)"
            );
            let cut: String = text.chars().take(75).collect();
            named(&format!("\"{cut}…\""), &[])
        };
        assert_eq!(shown(9_999), shown(10_000));
        assert_eq!(shown(7), shown(32_767));
    }
}
