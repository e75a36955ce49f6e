//! Programs that start other programs or read scripts: the few that are followed, and those at which reading ends.

use super::reader::Script;
use super::rules;
use super::words::{SimpleCommand, Word};

/// A program whose arguments are a command, after its own options and operands.
struct Wrapper {
    name: &'static str,
    /// Options of one letter without a value.
    flags: &'static str,
    /// Options of one letter whose value is glued to them or the next word.
    valued: &'static str,
    /// Long options without a value, and those with one, which end in `=`.
    long: &'static [&'static str],
    /// Operands before the command.
    operands: usize,
}

const fn wrapper(
    name: &'static str,
    flags: &'static str,
    valued: &'static str,
    long: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper { name, flags, valued, long, operands }
}

/// From the programs' manuals (coreutils, util-linux, findutils, bash). An option that is not here ends the reading.
const WRAPPERS: &[Wrapper] = &[
    wrapper("builtin", "", "", &[], 0),
    wrapper("command", "p", "", &[], 0),
    wrapper("env", "i0v", "uC", &["ignore-environment", "unset=", "chdir="], 0),
    wrapper("exec", "cl", "a", &[], 0),
    wrapper("ionice", "t", "cn", &[], 0),
    wrapper("nice", "", "n", &["adjustment="], 0),
    wrapper("nohup", "", "", &[], 0),
    wrapper("setsid", "cfw", "", &[], 0),
    wrapper("stdbuf", "", "ioe", &[], 0),
    wrapper("time", "pv", "fo", &[], 0),
    wrapper("timeout", "v", "ks", &["foreground", "preserve-status", "kill-after=", "signal="], 1),
    wrapper("xargs", "0rtxp", "adEnPLs", &["null", "no-run-if-empty", "max-args="], 0),
];

/// Shells whose `-c` is followed.
const SHELLS: &[&str] = &["ash", "bash", "dash", "sh"];

/// Programs that run what they are given in ways that are not followed.
const RUNNERS: &[&str] = &[
    "busybox",
    "caffeinate",
    "chroot",
    "chrt",
    "csh",
    "dbus-run-session",
    "fakeroot",
    "faketime",
    "fish",
    "flock",
    "ksh",
    "ltrace",
    "mksh",
    "nsenter",
    "parallel",
    "rbash",
    "script",
    "setarch",
    "strace",
    "systemd-run",
    "taskset",
    "tcsh",
    "toybox",
    "unbuffer",
    "unshare",
    "valgrind",
    "watch",
    "xvfb-run",
    "yash",
    "zsh",
];

/// Adds to `script` all that `command` starts.
pub(super) fn follow(script: &mut Script, command: &SimpleCommand, depth: usize) {
    let Some(name) = command.program() else { return };
    let rest = command.arguments();
    if SHELLS.contains(&name) {
        return match script_of(rest) {
            Some(ShellInput::Script(text)) => script.read(text, depth),
            Some(ShellInput::File) => {}
            None => script.not_plain(&command.shown()),
        };
    }
    let is_asked_only =
        name == "command" && rest.first().is_some_and(|word| matches!(word.text(), "-v" | "-V"));
    if let Some(wrapper) =
        WRAPPERS.iter().find(|wrapper| wrapper.name == name).filter(|_| !is_asked_only)
    {
        let Some(mut words) = after_options(wrapper, rest).map(<[Word]>::to_vec) else {
            return script.not_plain(&command.shown());
        };
        let Some(program) = words.first().map(|word| word.name().to_owned()) else { return };
        let is_fed = name == "xargs";
        if is_fed {
            words.push(Word::unknown());
        }
        script.add(SimpleCommand { words, ..SimpleCommand::default() }, depth);
        if is_fed && (is_followed(&program) || rules::minds_arguments(&program)) {
            script.not_plain(&command.shown());
        }
    } else if name == "find" {
        for words in found_commands(rest) {
            script.add(SimpleCommand { words, ..SimpleCommand::default() }, depth);
        }
    } else if RUNNERS.contains(&name)
        || matches!(name, "fd" | "fdfind") && rest.iter().any(runs_found)
    {
        script.not_plain(&command.shown());
    }
}

fn is_followed(program: &str) -> bool {
    SHELLS.contains(&program)
        || program == "find"
        || WRAPPERS.iter().any(|wrapper| wrapper.name == program)
}

fn runs_found(word: &Word) -> bool {
    let text = word.text();
    text.starts_with("--ex")
        || !text.starts_with("--") && text.starts_with('-') && text.contains(['x', 'X'])
}

/// The words after a wrapper's options and operands; None where they are not all known.
fn after_options<'a>(wrapper: &Wrapper, words: &'a [Word]) -> Option<&'a [Word]> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let text = word.text();
        let is_assignment = wrapper.name == "env" && text.contains('=') && !text.starts_with('-');
        if text == "--" {
            at += 1;
            break;
        } else if is_assignment || text == "-" && wrapper.name == "env" {
            at += 1;
        } else if let Some(long) = text.strip_prefix("--") {
            let (name, has_value) =
                long.split_once('=').map_or((long, false), |(name, _)| (name, true));
            let is_valued = wrapper.long.contains(&format!("{name}=").as_str());
            (is_valued || wrapper.long.contains(&name) && !has_value).then_some(())?;
            at += if is_valued && !has_value { 2 } else { 1 };
        } else if let Some(letters) = text.strip_prefix('-') {
            let first = letters.find(|c| !wrapper.flags.contains(c));
            let valued = first.and_then(|first| letters.get(first..)).unwrap_or_default();
            let is_known = valued.chars().next().is_none_or(|c| wrapper.valued.contains(c));
            (is_known && !letters.is_empty()).then_some(())?;
            at += if valued.chars().count() == 1 { 2 } else { 1 };
        } else {
            break;
        }
    }
    // A pattern among the options may become any of them.
    let command = at + wrapper.operands;
    let are_sure = words.iter().take(command).all(|word| word.open_at.is_none());
    let has_assignments = words.get(command).is_some_and(|word| word.text().contains('='));
    (are_sure && !has_assignments).then(|| words.get(command..).unwrap_or_default())
}

/// Where a shell has its script from.
enum ShellInput<'a> {
    /// The word after `-c`.
    Script(&'a str),
    /// A file.
    File,
}

/// A shell's script; None where it is its input, or can't be told.
fn script_of(words: &[Word]) -> Option<ShellInput<'_>> {
    let (mut at, mut has_script) = (0, false);
    while let Some(text) = words.get(at).filter(|word| word.open_at.is_none()).map(Word::text) {
        match text.strip_prefix('-') {
            Some("-login" | "-norc" | "-noprofile" | "-posix") => at += 1,
            Some(letters)
                if !letters.is_empty() && letters.chars().all(|c| "celuvxo".contains(c)) =>
            {
                has_script |= letters.contains('c');
                at += 1 + letters.matches('o').count();
            }
            Some(_) => return None,
            None if text.starts_with('+') => return None,
            None if has_script => return Some(ShellInput::Script(text)),
            None if text.starts_with("/dev/") || text.starts_with("/proc/") => return None,
            None => return Some(ShellInput::File),
        }
    }
    None
}

/// The commands that `find` starts.
fn found_commands(rest: &[Word]) -> Vec<Vec<Word>> {
    let mut commands = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if matches!(word.text(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            commands.push(
                words
                    .by_ref()
                    .take_while(|word| !matches!(word.text(), ";" | "+"))
                    .cloned()
                    .collect(),
            );
        }
    }
    commands
}
