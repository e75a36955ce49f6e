//! `verify`: the user's own command over the fork, once more for each change. What it writes is dropped.

use crate::calls::Printed;
use crate::session::parts::SessionParts;
use ropewalk_protocol::{CallId, Event, Level};
use ropewalk_tools::bounds::{PREVIEW_CHARS, preview};
use ropewalk_tools::runner::Command;
use ropewalk_tools::{Access, Bounds, Context, Grant, Progress, ToolOutput};
use std::sync::Arc;
use std::time::Duration;

/// The name under which the user sees it run.
const NAME: &str = "verify";

/// The most characters of its end that are told.
const TOLD: usize = 4_000;

/// The most characters that are taken from it.
const TAKEN: usize = 50_000;

/// Exit codes by which a shell says that there is no such program, or none that it may run.
const NO_PROGRAM: [i32; 2] = [126, 127];

/// How it went.
pub(super) enum Verified {
    Passed,
    Failed {
        command: String,
        /// The end of what it printed.
        printed: String,
    },
    /// It could not tell; the user knows why.
    Unknown,
}

impl Verified {
    pub(super) fn failure(&self) -> Option<String> {
        match self {
            Verified::Failed { printed, .. } => Some(printed.clone()),
            Verified::Passed | Verified::Unknown => None,
        }
    }
}

/// Runs it over what `turn` has made, unless there is none, or commands would change the disk. `run` tells its runs apart.
pub(super) async fn verify(parts: &SessionParts, turn: u64, run: u32) -> Option<Verified> {
    let settings = parts.settings.get();
    let command = settings.verify.clone()?;
    let view = Arc::new(parts.changes.view().await);
    let runner = &parts.runner;
    runner.begin(&view, &parts.settings.hides()).await;
    let cwd = view.roots().first()?.path().to_owned();
    let mode = runner.info().mode;
    if !mode.sees_fork() {
        return None;
    }
    let time = settings.limits.mechanisms.verify_seconds;
    let call = CallId::from(format!("{NAME}-{turn}.{run}"));
    let printed = shown_output(parts, turn, &call);
    let showing = printed.clone();
    let (hides, secrets) = (parts.settings.hides(), parts.settings.secrets());
    let context = Context {
        bounds: Bounds { max_chars: TAKEN },
        grant: Grant { reach: Access { mode, ..Access::default() }, hides, secrets, drops: false },
        progress: Progress::new(move |text| showing.push(text)),
        ..Context::new(call.clone(), turn, view)
    };
    parts.events.tell(Event::ToolCall {
        turn,
        call: call.clone(),
        tool: NAME.to_owned(),
        title: command.clone(),
        input: serde_json::json!({ "command": command }),
    });
    let timeout = Duration::from_secs(time.into());
    let asked = Command { command: command.clone(), cwd, timeout, output_file: None };
    let mut output = runner.run(asked, context).await;
    let writes = !std::mem::take(&mut output.proposals).is_empty();
    if writes {
        output.say("\n(what it wrote is dropped)");
    }
    printed.flush();
    let verified = judged(parts, command, &output);
    parts.events.tell(Event::ToolResult {
        turn,
        call,
        is_error: !matches!(verified, Verified::Passed),
        preview: preview(&parts.settings.keys().redact(output.words()), PREVIEW_CHARS),
        secret: None,
        ran: Some(mode.place()),
    });
    Some(verified)
}

fn judged(parts: &SessionParts, command: String, output: &ToolOutput) -> Verified {
    let unknown = |why: &str| {
        let message = format!("`verify` says nothing about these changes: {why} (`{command}`).");
        parts.changes.notice_once(Level::Warning, NAME, message);
        Verified::Unknown
    };
    match output.exit_code {
        _ if output.is_error => {
            let first = output.words().lines().next().unwrap_or_default();
            let first = first.split(". ").next().unwrap_or_default();
            unknown(first.trim_start_matches("Error: ").trim_end_matches('.'))
        }
        Some(0) => Verified::Passed,
        Some(code) if NO_PROGRAM.contains(&code) => unknown("its program was not found"),
        _ => {
            let printed = parts.settings.keys().redact(output.words()).into_owned();
            Verified::Failed { command, printed: end_of(&printed) }
        }
    }
}

fn shown_output(parts: &SessionParts, turn: u64, call: &CallId) -> Arc<Printed> {
    let (events, call) = (parts.events.clone(), call.clone());
    Arc::new(Printed::new(move |text| {
        events.tell(Event::ToolOutput { turn, call: call.clone(), text });
    }))
}

/// The last of it, from the start of a line if it is cut.
fn end_of(printed: &str) -> String {
    let printed = printed.trim_end();
    let Some((at, _)) = printed.char_indices().rev().nth(TOLD - 1).filter(|(at, _)| *at > 0) else {
        return printed.to_owned();
    };
    let end = printed.get(at..).unwrap_or_default();
    let end = end.split_once('\n').map_or(end, |(_, whole)| whole);
    format!("(its end)\n{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_what_it_printed_begins_with_a_whole_line() {
        assert_eq!(end_of("short\n"), "short");
        let exact = "é".repeat(TOLD);
        assert_eq!(end_of(&exact), exact);
        let long = (0..2_000).map(|n| format!("line {n}\n")).collect::<String>();
        let end = end_of(&long);
        assert!(end.starts_with("(its end)\nline ") && end.ends_with("line 1999"), "{end}");
        assert!(end.chars().count() <= TOLD + 10);
        assert_eq!(end_of(&"é".repeat(TOLD + 1)).chars().count(), TOLD + 10);
    }
}
