//! The words in which the model is told what a check has found.

use super::errors::ErrorLine;
use ropewalk_protocol::{TodoList, TodoStatus};

/// The most errors that are told at a time.
const ERRORS: usize = 20;

const SELF: &str = "Is all done that was asked for? Read the request again: if something is missing, do it; else say \
                    in one line that all is done.";

const MEND: &str = "Fix it, or say why not.";

/// Todos that are left.
pub(super) fn todos(list: &TodoList) -> String {
    let open = list.0.iter().filter(|todo| todo.status != TodoStatus::Completed);
    let lines: Vec<String> = open.map(|todo| format!("- {}", todo.content)).collect();
    format!("These todos are open:\n{}", lines.join("\n"))
}

/// Errors that came with the changes.
pub(super) fn errors(errors: &[ErrorLine]) -> String {
    let lines: Vec<String> = errors.iter().take(ERRORS).map(ToString::to_string).collect();
    let more = match errors.len().saturating_sub(ERRORS) {
        0 => String::new(),
        more => format!("\nand {more} more"),
    };
    format!("The editor shows errors that were not there before:\n{}{more}", lines.join("\n"))
}

/// A command that failed.
pub(super) fn verify(command: &str, printed: &str, failed_before: bool) -> String {
    let before = if failed_before { ", as it did before this turn" } else { "" };
    format!("`{command}` fails{before}:\n{printed}")
}

/// All of it in one message; none where nothing is to be said.
pub(super) fn message(found: &[String], asks_self: bool) -> Option<String> {
    let mut parts = found.to_vec();
    parts.extend(asks_self.then(|| SELF.to_owned()));
    parts.extend((!found.is_empty()).then(|| MEND.to_owned()));
    (!parts.is_empty()).then(|| format!("<check>\n{}\n</check>", parts.join("\n\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_says_all_that_was_found() {
        assert_eq!(message(&[], false), None);
        let alone = message(&[], true).unwrap();
        assert!(alone.starts_with("<check>\nIs all done") && !alone.contains(MEND), "{alone}");
        let both = message(&[verify("make", "no\n(exit code 2)", true)], true).unwrap();
        let start =
            "<check>\n`make` fails, as it did before this turn:\nno\n(exit code 2)\n\nIs all done";
        assert!(
            both.starts_with(start) && both.ends_with("Fix it, or say why not.\n</check>"),
            "{both}"
        );
    }
}
