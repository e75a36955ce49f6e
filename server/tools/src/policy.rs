//! Policy: may this call run? A pure function of the call, the mode and the allow rules.
//!
//! Deny comes first, then what must be asked, then what is allowed. It decides nothing about containment:
//! paths outside the roots are refused where they are resolved.

use crate::danger::{self, dangerous};
use crate::tool::{Effect, Prepared};

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

/// Decides on one call. `allow` are the user's rules, such as `bash(git status*)`.
pub fn decide(call: &Prepared, mode: Mode, allow: &[Rule]) -> Decision {
    if call.effect == Effect::Write && mode == Mode::Plan {
        return Decision::Deny(
            "Error: Refused in plan mode: nothing is changed. Describe the change as a step of the plan instead.".to_owned(),
        );
    }
    let mut ask = None;
    if let Some(command) = &call.subject.command {
        if mode == Mode::Plan {
            return Decision::Deny(
                "Error: Refused in plan mode: commands can change files. Look with the reading tools instead."
                    .to_owned(),
            );
        }
        match dangerous(command) {
            Some(danger) if danger.denies() => return Decision::Deny(danger.result_text()),
            Some(unknown) => ask = Some(unknown.to_string()),
            None => {}
        }
        if let Some(word) = sensitive_word(command) {
            ask = Some(format!("it names {word}, which may hold secrets"));
        }
    }
    if let Some(path) = call.subject.paths.iter().find(|path| is_sensitive(path)) {
        ask = Some(format!("{path} may hold secrets"));
    }
    if let Some(why) = ask {
        return Decision::Ask(why);
    }
    if call.effect != Effect::Execute || allow.iter().any(|rule| rule.allows(call)) {
        return Decision::Allow;
    }
    Decision::Ask("commands run on the disk and change it at once".to_owned())
}

/// An allow rule: `tool`, or `tool(pattern)` where `*` in the pattern stands for anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    tool: String,
    pattern: Option<String>,
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.pattern {
            Some(pattern) => write!(f, "{}({pattern})", self.tool),
            None => f.write_str(&self.tool),
        }
    }
}

impl std::str::FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let wrong =
            || format!("{text:?} is no rule: write tool or tool(pattern), as in bash(git status*)");
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        let (tool, pattern) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')').ok_or_else(wrong)?)),
        };
        if !is_name(tool) || pattern == Some("") {
            return Err(wrong());
        }
        Ok(Self { tool: tool.to_owned(), pattern: pattern.map(str::to_owned) })
    }
}

impl Rule {
    /// A rule that allows the same kind of call for the rest of a session: the command's program and, where
    /// it has one, its subcommand.
    pub fn generalised(call: &Prepared) -> Self {
        let pattern = call.subject.command.as_ref().map(|command| {
            let parsed = danger::simple_commands(command).ok();
            match parsed.as_deref() {
                Some([only]) if only.redirects.iter().all(|redirect| !redirect.writes) => {
                    let words: Vec<&str> = only
                        .words
                        .iter()
                        .take(2)
                        .filter(|word| word.is_literal())
                        .map(|word| word.text())
                        .collect();
                    match words.as_slice() {
                        [program, sub]
                            if !sub.starts_with('-')
                                && !sub.contains('/')
                                && !sub.contains('.') =>
                        {
                            format!("{program} {sub}*")
                        }
                        [program, ..] => format!("{program}*"),
                        [] => command.clone(),
                    }
                }
                _ => command.clone(),
            }
        });
        Self { tool: call.tool.to_owned(), pattern }
    }

    /// Whether it lets `call` run. A command passes only if each simple command in it does and nothing in it
    /// is unknown syntax; `bash(*)` lets everything pass that isn't dangerous.
    pub fn allows(&self, call: &Prepared) -> bool {
        if self.tool != call.tool {
            return false;
        }
        let (Some(pattern), Some(command)) = (&self.pattern, &call.subject.command) else {
            return self.pattern.as_deref().is_none_or(|p| glob(p, &call.subject.title));
        };
        if pattern == "*" || pattern == command {
            return true;
        }
        match danger::simple_commands(command) {
            Ok(parts) if !parts.is_empty() => parts.iter().all(|part| {
                part.redirects
                    .iter()
                    .all(|redirect| !redirect.writes || redirect.target.text() == "/dev/null")
                    && part.assignments.is_empty()
                    && part.words.iter().all(|word| word.is_literal())
                    && glob(pattern, &part.text())
            }),
            _ => false,
        }
    }
}

/// Whether `text` matches `pattern`, in which `*` stands for any text. O(both lengths multiplied).
fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Names of files and folders that hold secrets. Matched against each component, `*` for anything.
const SENSITIVE: &[&str] = &[
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    "credentials.json",
    ".docker",
    "gcloud",
    "*.keystore",
    ".password-store",
];

/// Ends of names that look like [`SENSITIVE`] and are meant to be read.
const HARMLESS: &[&str] = &[".env.example", ".env.sample", ".env.template", ".env.dist", "*.pub"];

/// Whether a path may hold secrets, by its name alone.
pub fn is_sensitive(path: &str) -> bool {
    path.split(['/', '\\']).any(|part| {
        let part = part.to_ascii_lowercase();
        SENSITIVE.iter().any(|name| glob(name, &part))
            && !HARMLESS.iter().any(|name| glob(name, &part))
    })
}

/// The first word of a command that names something sensitive.
fn sensitive_word(command: &str) -> Option<String> {
    let words = |text: &str| {
        let cut = |c: char| c.is_whitespace() || "'\"=;|&<>(){}$`,".contains(c);
        text.split(cut).find(|word| is_sensitive(word)).map(str::to_owned)
    };
    words(command)
}
