//! Policy: may this call run? A pure function of the call, the mode and the allow rules.
//!
//! Deny comes first, then what must be asked, then what is allowed. It decides nothing about containment:
//! paths outside the roots are refused where they are resolved.

mod rule;
mod secrets;

use crate::danger::dangerous;
use crate::tool::{Effect, Prepared};
pub use rule::Rule;
pub use secrets::is_sensitive;

/// When changes reach the editor, and so what a call may do.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// After each tool call.
    Auto,
    /// When the user accepts.
    #[default]
    Review,
    /// Never: writes are refused.
    Plan,
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Mode::Auto => "auto",
            Mode::Review => "review",
            Mode::Plan => "plan",
        })
    }
}

impl std::str::FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Mode::Auto),
            "review" => Ok(Mode::Review),
            "plan" => Ok(Mode::Plan),
            _ => Err(format!("{text:?} is no mode: it is auto, review or plan")),
        }
    }
}

/// What policy says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Run it.
    Allow,
    /// Ask the user first; why.
    Ask(String),
    /// Don't; the result for the model.
    Deny(String),
}

/// Decides on one call. `allow` are the user's rules, such as `bash(git status *)`.
///
/// What may hold secrets is asked about unless a rule names it; so is a command that can't be read, unless a
/// rule allows it as it is or allows every command.
pub fn decide(call: &Prepared, mode: Mode, allow: &[Rule]) -> Decision {
    let command = call.subject.command.as_deref();
    if mode == Mode::Plan && call.effect == Effect::Write {
        return Decision::Deny(
            "Error: Refused in plan mode: nothing is changed. Describe the change as a step of the plan instead.".to_owned(),
        );
    }
    let danger = command.and_then(dangerous);
    if let Some(danger) = danger.as_ref().filter(|danger| danger.denies()) {
        return Decision::Deny(danger.result_text());
    }
    if mode == Mode::Plan && call.effect == Effect::Execute {
        return Decision::Deny(
            "Error: Refused in plan mode: commands can change files. Look with the reading tools instead."
                .to_owned(),
        );
    }
    let rules: Vec<&Rule> = allow.iter().filter(|rule| rule.allows(call)).collect();
    let secret = command
        .and_then(secrets::in_command)
        .or_else(|| call.subject.paths.iter().find(|path| is_sensitive(path)).cloned());
    if let Some(name) = secret
        && !rules.iter().any(|rule| rule.names_secrets())
    {
        return Decision::Ask(format!("{name} may hold secrets"));
    }
    if call.effect != Effect::Execute || !rules.is_empty() {
        return Decision::Allow;
    }
    Decision::Ask(match danger {
        Some(unknown) => unknown.to_string(),
        None => "commands run on the disk and change it at once".to_owned(),
    })
}
