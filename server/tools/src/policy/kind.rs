//! The rule that more calls of the same kind pass by: what an approval offers for later.

use super::command::is_plain;
use super::pattern::RulePattern;
use super::rule::{CallFacts, Rule};
use crate::danger;

/// Programs whose first argument says what is done: a rule for more of the same keeps both.
const WITH_SUBCOMMANDS: &[&str] = &[
    "bundle",
    "cargo",
    "composer",
    "deno",
    "docker",
    "dotnet",
    "gh",
    "git",
    "go",
    "gradle",
    "just",
    "kubectl",
    "make",
    "mix",
    "mvn",
    "npm",
    "pip",
    "pip3",
    "pnpm",
    "podman",
    "poetry",
    "rake",
    "rustup",
    "swift",
    "terraform",
    "uv",
    "yarn",
    "zig",
];

/// Subcommands after which anything may stand: they run it, or set what is run later. More of the same kind is
/// any command, so only the same one will do.
const RUNNERS: &[&str] = &[
    "api",
    "bisect",
    "cmd",
    "compose",
    "config",
    "dlx",
    "eval",
    "exec",
    "node",
    "rebase",
    "run",
    "run-script",
    "shell",
    "submodule",
    "tool",
    "workspace",
    "x",
];

/// Programs whose `run` takes the name of a script of the repository's.
const WITH_SCRIPTS: &[&str] = &["npm", "pnpm", "yarn"];

/// Programs that only look, whatever their arguments.
const LOOKING: &[&str] = &[
    "basename", "cat", "df", "diff", "dirname", "du", "echo", "false", "file", "grep", "head",
    "ls", "nl", "pwd", "readlink", "realpath", "stat", "tail", "true", "uname", "wc", "which",
];

impl Rule {
    /// The rule for calls of the same kind: the program and its subcommand, or script, with any arguments where that
    /// is the same kind of thing, else this very call.
    pub(super) fn generalised(seen: &CallFacts<'_>) -> Option<Self> {
        let kind = seen.command.as_ref().and_then(|command| kind_of(command.text));
        match kind {
            Some(pattern) => Some(Self::of(seen.tool, RulePattern::new(&pattern))),
            None => Self::exactly(seen),
        }
    }

    /// The rule for this very call alone; None where no rule can say that.
    pub(super) fn exactly(seen: &CallFacts<'_>) -> Option<Self> {
        let text = match (&seen.command, seen.paths) {
            (Some(command), _) => command.text,
            (None, [path]) => path.names().next()?,
            (None, _) => seen.title,
        };
        let rule = (!text.is_empty()).then(|| Self::of(seen.tool, RulePattern::exactly(text)));
        rule.filter(|rule| rule.is_exactly(seen))
    }
}

/// The pattern for more commands of the same kind; None where only the same one will do.
fn kind_of(command: &str) -> Option<String> {
    let (parts, None) = danger::readable_commands(command) else { return None };
    let [part] = parts.as_slice() else { return None };
    if !is_plain(part) || super::secrets::in_command(command).is_some() {
        return None;
    }
    let program = part.words.first()?.text();
    if LOOKING.contains(&program) {
        return Some(format!("{program} *"));
    }
    if !WITH_SUBCOMMANDS.contains(&program) {
        return None;
    }
    let name = |at: usize| part.words.get(at).map(|word| word.text()).filter(|word| is_name(word));
    let sub = name(1)?;
    // `exec:java` is as much `exec`.
    if !RUNNERS.contains(&sub.split(':').next().unwrap_or_default()) {
        return Some(format!("{program} {sub} *"));
    }
    let script = name(2).filter(|_| sub == "run" && WITH_SCRIPTS.contains(&program))?;
    Some(format!("{program} {sub} {script} *"))
}

/// True if a word names something, and is no option and no path.
fn is_name(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_:".contains(c);
    word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(is_plain)
}
