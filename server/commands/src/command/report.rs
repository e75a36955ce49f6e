//! The words in which the model is told what a command did.

use std::fmt::Write as _;

use super::{CommandOutcome, Exit};
use ropewalk_tools::bounds::{Bounds, bound_parts};
use ropewalk_tools::escapes::strip_escapes;

/// Words about a command that left something running.
pub(crate) const LEFT_RUNNING: &str =
    "processes that it left running were ended with it: use background to let one run on";

/// The result for the model: how the command ended if not well, then what it printed, bounded.
///
/// `Error: Timeout (120s)` stands first when its time was over, `(no output)` where nothing was
/// printed. Bytes that are no UTF-8 are shown as `�`, escape sequences are taken out.
#[must_use]
pub fn result_text(outcome: &CommandOutcome, bounds: Bounds) -> String {
    let mut text = String::new();
    match outcome.exit {
        Exit::Exited(_) | Exit::Signalled(_) => {
            if let Some(why) = &outcome.lost {
                let _infallible =
                    writeln!(text, "Error: {why}. Its exit code is lost; what it had printed:");
            }
        }
        Exit::TimedOut(after) => {
            let _infallible = writeln!(
                text,
                "Error: Timeout ({}s). The command and all it started were killed; what it had printed:",
                after.as_secs_f64()
            );
        }
        Exit::Interrupted => {
            text.push_str("Error: Interrupted. The command was killed; what it had printed:\n");
        }
    }
    let output = &outcome.output;
    let shown = if output.left_out == 0 {
        let whole = [output.head.as_slice(), output.tail.as_slice()].concat();
        bound_parts(&clean(&whole), 0, "", bounds, outcome.output_file.as_deref())
    } else {
        let (head, tail) = (clean(&output.head), clean(&output.tail));
        bound_parts(&head, output.left_out_chars, &tail, bounds, outcome.output_file.as_deref())
    };
    let shown = shown.to_string();
    text.push_str(if shown.trim().is_empty() { "(no output)" } else { &shown });
    let mut note = |words: &str| {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(words);
    };
    match outcome.exit {
        Exit::Exited(0) | Exit::TimedOut(_) | Exit::Interrupted => {}
        _ if outcome.lost.is_some() => {}
        Exit::Exited(code) => note(&format!("(exit code {code})")),
        Exit::Signalled(signal) => note(&format!("(ended by signal {signal})")),
    }
    if let (Exit::TimedOut(_) | Exit::Interrupted, Some(why)) = (outcome.exit, &outcome.lost) {
        note(&format!("({why})"));
    }
    if outcome.left_running {
        note(&format!("({LEFT_RUNNING})"));
    }
    text
}

fn clean(bytes: &[u8]) -> String {
    strip_escapes(&String::from_utf8_lossy(bytes))
}
