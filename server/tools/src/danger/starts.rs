//! Programs that start other programs or read scripts: the few that are followed, and those at which reading ends.

use super::reader::Script;
use super::table;
use super::words::{SimpleCommand, Word, is_in};

/// Programs whose arguments are a command. For each its name; its options of one letter as for `getopt`, where a `:`
/// says that a value is glued to them or the next word; its long options, where a `=` says that; and how many operands
/// stand before the command. From the manuals of coreutils, util-linux, findutils and bash. An option that is not here
/// ends the reading.
const WRAPPERS: &[(&str, &str, &str, usize)] = &[
    ("builtin", "", "", 0),
    ("command", "p", "", 0),
    ("env", "i0vu:C:", "ignore-environment unset= chdir=", 0),
    ("exec", "cla:", "", 0),
    ("ionice", "tc:n:", "", 0),
    ("nice", "n:", "adjustment=", 0),
    ("nohup", "", "", 0),
    ("setsid", "cfw", "", 0),
    ("stdbuf", "i:o:e:", "", 0),
    ("time", "pvf:o:", "", 0),
    ("timeout", "vk:s:", "foreground preserve-status kill-after= signal=", 1),
    ("xargs", "0rtxpa:d:E:n:P:L:s:", "null no-run-if-empty max-args=", 0),
];

/// Shells whose `-c` is followed.
const SHELLS: &str = "ash bash dash sh";

/// Programs that run what they are given in ways that are not followed.
const RUNNERS: &str = "busybox caffeinate chroot chrt csh dbus-run-session fakeroot faketime fish \
    flock ksh ltrace mksh nsenter parallel rbash script setarch strace systemd-run taskset tcsh toybox \
    unbuffer unshare valgrind watch xvfb-run yash zsh";

/// Adds to `script` all that `command` starts.
pub(super) fn follow(script: &mut Script, command: &SimpleCommand, depth: usize) {
    let (Some(name), rest) = (command.program(), command.arguments()) else { return };
    // `command -v` only looks.
    if name == "command" && rest.first().is_some_and(|word| is_in("-v -V", word.text())) {
        return;
    }
    if is_in(SHELLS, name) {
        match script_of(rest) {
            Some(text) => script.read(text, depth),
            None => script.not_plain(&command.text()),
        }
    } else if name == "find" {
        for words in found(rest) {
            script.add(SimpleCommand::of(words.to_vec()), depth);
        }
    } else if is_wrapper(name) {
        match wrapped(name, rest).map(<[Word]>::to_vec) {
            Some(words) if words.is_empty() => {}
            Some(words) if name == "xargs" => feed(script, command, words, depth),
            Some(words) => script.add(SimpleCommand::of(words), depth),
            None => script.not_plain(&command.text()),
        }
    } else if is_in(RUNNERS, name) || is_in("fd fdfind", name) && rest.iter().any(runs_found) {
        script.not_plain(&command.text());
    }
}

fn is_wrapper(name: &str) -> bool {
    WRAPPERS.iter().any(|(wrapper, ..)| *wrapper == name)
}

/// Adds the command that `xargs` starts, with words that nobody knows behind it.
fn feed(script: &mut Script, xargs: &SimpleCommand, mut words: Vec<Word>, depth: usize) {
    let name = words.first().map(|word| word.name().to_owned()).unwrap_or_default();
    words.push(Word { text: String::new(), open_at: Some(0) });
    script.add(SimpleCommand::of(words), depth);
    if is_in(SHELLS, &name) || is_wrapper(&name) || table::minds_arguments(&name) {
        script.not_plain(&xargs.text());
    }
}

/// True for the options by which `fd` runs a command, and those that begin like them.
fn runs_found(word: &Word) -> bool {
    let text = word.text();
    let is_short = text.starts_with('-') && !text.starts_with("--");
    text.starts_with("--ex") || is_short && text.contains(['x', 'X'])
}

/// The words after a wrapper's options and operands; None where they are not all known.
fn wrapped<'a>(name: &str, words: &'a [Word]) -> Option<&'a [Word]> {
    let (_, letters, long, operands) = WRAPPERS.iter().find(|(wrapper, ..)| *wrapper == name)?;
    let is_env = name == "env";
    let mut at = 0;
    while let Some(text) = words.get(at).map(Word::text) {
        at += match text.strip_prefix('-') {
            Some("-") => break,
            Some("") if is_env => 1,
            Some(option) => words_of(option, letters, long)?,
            None if is_env && text.contains('=') => 1,
            None => break,
        };
    }
    at += operands + usize::from(words.get(at).is_some_and(|word| word.text() == "--"));
    // A pattern among the options may become any of them.
    let are_sure = words.iter().take(at).all(|word| word.open_at.is_none());
    let rest = words.get(at..).unwrap_or_default();
    let has_assignment = rest.first().is_some_and(|word| word.text().contains('='));
    (are_sure && !has_assignment).then_some(rest)
}

/// How many words an option takes, written without its first dash; None for one that is not known.
fn words_of(option: &str, letters: &str, long: &str) -> Option<usize> {
    if let Some(option) = option.strip_prefix('-') {
        let with_value = |name: &str| is_in(long, &format!("{name}="));
        return match option.split_once('=') {
            Some((name, _)) => with_value(name).then_some(1),
            None if with_value(option) => Some(2),
            None => is_in(long, option).then_some(1),
        };
    }
    for (at, letter) in option.char_indices() {
        let (_, behind) = letters.split_once(letter).filter(|_| letter != ':')?;
        if behind.starts_with(':') {
            return Some(if at + 1 == option.len() { 2 } else { 1 });
        }
    }
    (!option.is_empty()).then_some(1)
}

/// The script behind a shell's `-c`, and no text for a script in a file; None where it is the shell's input, or
/// can't be told.
fn script_of(words: &[Word]) -> Option<&str> {
    let mut words = words.iter();
    let mut has_script = false;
    loop {
        let text = words.next().filter(|word| word.open_at.is_none())?.text();
        match text.strip_prefix('-') {
            Some("-login" | "-norc" | "-noprofile" | "-posix") => {}
            Some(letters)
                if !letters.is_empty() && letters.chars().all(|c| "celuvxo".contains(c)) =>
            {
                has_script |= letters.contains('c');
                letters.matches('o').try_for_each(|_| words.next().map(drop))?;
            }
            None if has_script && !text.starts_with('+') => return Some(text),
            None if !["+", "/dev/", "/proc/"].iter().any(|start| text.starts_with(start)) => {
                return Some("");
            }
            _ => return None,
        }
    }
}

/// The commands that `find` starts.
pub(super) fn found(rest: &[Word]) -> Vec<&[Word]> {
    let commands = rest.split(|word| is_in("-exec -execdir -ok -okdir", word.text())).skip(1);
    let ends = |word: &Word| is_in("; +", word.text());
    commands.filter_map(|words| words.split(ends).next()).collect()
}
