//! The check: a look at what is done before a turn ends.

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Findings of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct CheckReport {
    /// Its number in the turn, from one.
    pub round: u32,
    /// How many todos are open that the turn has changed.
    pub todos: usize,
    /// New errors in the editor, one a line, in files that the turn has changed there.
    pub errors: Vec<String>,
    /// The end of what `verify` printed, if it failed; else null.
    pub verify: Option<String>,
    /// True if nothing was found.
    pub passed: bool,
}

/// How many errors are shown with a report.
const ERRORS: usize = 3;

/// How many of the last lines of `verify` are shown with a report.
const LINES: usize = 5;

impl CheckReport {
    /// The findings for people; nothing if it passed.
    pub fn in_words(&self) -> Option<String> {
        let mut parts = Vec::new();
        match self.todos {
            0 => {}
            1 => parts.push("1 step is not done.".to_owned()),
            more => parts.push(format!("{more} steps are not done.")),
        }
        if !self.errors.is_empty() {
            let shown: Vec<&str> = self.errors.iter().take(ERRORS).map(String::as_str).collect();
            let more = match self.errors.len().saturating_sub(ERRORS) {
                0 => String::new(),
                more => format!("\n(and {more} more)"),
            };
            parts.push(format!("New errors:\n{}{more}", shown.join("\n")));
        }
        if let Some(printed) = &self.verify {
            let lines: Vec<&str> = printed.trim_end().lines().collect();
            let last = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default();
            parts.push(format!("`verify` failed:\n{}", last.join("\n")));
        }
        (!self.passed && !parts.is_empty()).then(|| parts.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_said_in_short() {
        let passed = CheckReport { round: 1, passed: true, ..CheckReport::default() };
        assert_eq!(passed.in_words(), None);
        let found = CheckReport {
            todos: 2,
            errors: (1..=5).map(|n| format!("a.rs:{n}: wrong")).collect(),
            verify: Some("1\n2\n3\n4\n5\n6\n(exit code 1)\n".to_owned()),
            ..CheckReport::default()
        };
        assert_eq!(
            found.in_words().unwrap(),
            "2 steps are not done.\nNew errors:\na.rs:1: wrong\na.rs:2: wrong\na.rs:3: wrong\n(and 2 more)\n\
             `verify` failed:\n3\n4\n5\n6\n(exit code 1)"
        );
    }
}
