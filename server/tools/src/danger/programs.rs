//! Programs that start other programs or read scripts, as data, and what the plain printers print.
//!
//! Only what the words of one command and its visible input show; deciding what is dangerous is
//! for [`super::rules`].

use super::words::{SimpleCommand, Word, ansi_c};

/// Something a command starts.
pub(super) enum Start {
    /// A simple command of these words.
    Command(Vec<Word>),
    /// A script for a shell.
    Script(String),
}

/// A program whose arguments are a command, after its own options and operands.
struct Wrapper {
    name: &'static str,
    /// Options that take the next word as their value.
    valued: &'static [&'static str],
    /// Operands before the command.
    operands: usize,
}

const fn wrapper(name: &'static str, valued: &'static [&'static str], operands: usize) -> Wrapper {
    Wrapper { name, valued, operands }
}

/// From the programs' manuals (coreutils, util-linux, bash builtins, moreutils).
const WRAPPERS: &[Wrapper] = &[
    wrapper("!", &[], 0),
    wrapper("builtin", &[], 0),
    wrapper("busybox", &[], 0),
    wrapper("caffeinate", &["-t", "-w"], 0),
    wrapper("chroot", &[], 1),
    wrapper("chrt", &["-T", "-P", "-D"], 1),
    wrapper("command", &[], 0),
    wrapper("coproc", &[], 0),
    wrapper("dbus-run-session", &["--config-file", "--dbus-daemon"], 0),
    wrapper("env", &["-u", "--unset", "-C", "--chdir", "-a", "--argv0"], 0),
    wrapper("exec", &["-a"], 0),
    wrapper("faketime", &["-f"], 1),
    wrapper("fakeroot", &["-l", "-s", "-i", "-b"], 0),
    wrapper("flock", &["-w", "--timeout", "-E"], 1),
    wrapper("ionice", &["-c", "-n", "-p", "-P", "-u"], 0),
    wrapper("ltrace", &["-e", "-o", "-p", "-s", "-u"], 0),
    wrapper("nice", &["-n", "--adjustment"], 0),
    wrapper("nohup", &[], 0),
    wrapper("nsenter", &["-t", "--target"], 0),
    wrapper("parallel", &["-j", "--jobs", "-a", "-I", "-N", "-n", "-P", "--delay"], 0),
    wrapper("setarch", &[], 1),
    wrapper("setsid", &[], 0),
    wrapper("stdbuf", &["-i", "-o", "-e"], 0),
    wrapper("strace", &["-e", "-o", "-p", "-s", "-u", "-E", "-P"], 0),
    wrapper("systemd-run", &["-u", "-p", "-E", "-M", "-H", "-d"], 0),
    wrapper("taskset", &[], 1),
    wrapper("time", &["-f", "-o"], 0),
    wrapper("timeout", &["-k", "--kill-after", "-s", "--signal"], 1),
    wrapper("toybox", &[], 0),
    wrapper("unbuffer", &[], 0),
    wrapper("unshare", &["-S", "-G", "-R", "-w"], 0),
    wrapper("valgrind", &[], 0),
    wrapper("xargs", &["-a", "-d", "-E", "-I", "-L", "-n", "-P", "-s", "--max-args"], 0),
    wrapper("xvfb-run", &["-e", "-f", "-n", "-p", "-s", "-w"], 0),
];

const SHELLS: &[&str] =
    &["ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "rbash", "sh", "tcsh", "yash", "zsh"];

/// Programs that hand on, of what they read, all or some lines.
const FILTERS: &[&str] =
    &["awk", "cat", "grep", "head", "sed", "sort", "tac", "tail", "tee", "uniq"];

/// Builtins that print nothing.
const SILENT: &[&str] =
    &[":", "cd", "export", "false", "local", "readonly", "set", "true", "unset"];

/// The most words that `xargs` is given from a visible input.
const MAX_FED_WORDS: usize = 1000;

/// What `command` starts, as far as its words and its visible input show.
pub(super) fn starts(command: &SimpleCommand, stdin: Option<&str>) -> Vec<Start> {
    let Some(name) = command.program() else { return Vec::new() };
    let rest = command.words.get(1..).unwrap_or_default();
    if SHELLS.contains(&name) {
        return shell_script(rest, stdin).into_iter().map(Start::Script).collect();
    }
    match name {
        "eval" => vec![Start::Script(joined(rest))],
        "source" | "." => match rest.first() {
            Some(file) if is_stdin(file) => script(stdin),
            _ => Vec::new(),
        },
        "trap" => match rest.iter().find(|w| w.text() != "--") {
            Some(action) if !action.text().starts_with('-') => {
                vec![Start::Script(action.text().to_owned())]
            }
            _ => Vec::new(),
        },
        "watch" => {
            vec![Start::Script(joined(after_options(rest, &["-n", "--interval"], false)))]
        }
        "script" => value_of(rest, 'c', "--command").map(Start::Script).into_iter().collect(),
        "find" => find_commands(rest),
        "fd" | "fdfind" => rest
            .iter()
            .position(|w| matches!(w.text(), "-x" | "-X" | "--exec" | "--exec-batch"))
            .and_then(|at| rest.get(at + 1..))
            .map(|words| vec![Start::Command(words.to_vec())])
            .unwrap_or_default(),
        _ => match WRAPPERS.iter().find(|w| w.name == name) {
            Some(wrapper) => wrapped(wrapper, rest, stdin),
            None => Vec::new(),
        },
    }
}

/// True if the input that is given to a command is that of all that follow: `exec <file`.
pub(super) fn keeps_input(command: &SimpleCommand) -> bool {
    command.program() == Some("exec") && command.words.len() == 1
}

/// True if a shell runs something of which the text is not seen here: its input, or a part of its script that is known
/// only when it runs. `is_unseen`: something comes in on its standard input that is not seen.
pub(super) fn runs_unseen(command: &SimpleCommand, is_unseen: bool) -> bool {
    let Some(name) = command.program() else { return false };
    let rest = command.words.get(1..).unwrap_or_default();
    let has_gaps = |words: &[Word]| !words.iter().all(Word::is_literal);
    if SHELLS.contains(&name) {
        return match shell_reads(rest) {
            Reads::Script(script) => !script.is_literal(),
            Reads::Input => is_unseen,
            Reads::File => false,
        };
    }
    match name {
        "eval" | "trap" | "watch" => has_gaps(rest),
        // What it starts reads from a pipe that others write to.
        "coproc" => rest.iter().any(|word| {
            let name = word.text().rsplit('/').next().unwrap_or_default();
            SHELLS.contains(&name)
        }),
        "source" | "." => rest.first().is_some_and(is_stdin) && is_unseen,
        "script" | "env" | "flock" => {
            let is_script = |word: &Word| {
                let text = word.text();
                text.starts_with("--split-string")
                    || text.starts_with("--command")
                    || text.starts_with('-') && !text.starts_with("--") && text.contains(['c', 'S'])
            };
            rest.iter().any(is_script) && has_gaps(rest)
        }
        // What comes in becomes the script, or a part of it.
        "xargs" | "parallel" => {
            let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name);
            let valued = wrapper.map_or(&[][..], |wrapper| wrapper.valued);
            let runs = after_options(rest, valued, false);
            let program = runs.first().and_then(|word| word.text().rsplit('/').next());
            let is_script = match program {
                Some(program) => {
                    SHELLS.contains(&program) || matches!(program, "eval" | "env" | "busybox")
                }
                None => name == "parallel",
            };
            is_unseen && is_script
        }
        _ => false,
    }
}

/// What `command` prints where the text shows it, and whether that is certain.
pub(super) fn prints(command: &SimpleCommand, stdin: Option<&str>) -> Option<(String, bool)> {
    if command.words.is_empty() {
        return Some((String::new(), true));
    }
    let name = command.program()?;
    let rest = command.words.get(1..).unwrap_or_default();
    let certain = rest.iter().all(Word::is_literal) && command.redirects.is_empty();
    match name {
        "echo" => {
            let flags = rest.iter().take_while(|w| is_echo_flag(w.text())).count();
            let (flags, words) = rest.split_at_checked(flags)?;
            let text = joined(words);
            let escapes = flags.iter().any(|w| w.text().contains('e'));
            let text = if escapes { ansi_c(&text) } else { text };
            Some((text + "\n", certain))
        }
        "printf" => {
            let (format, values) = rest.split_first()?;
            match (format.text(), values) {
                (text, []) if !text.contains('%') => Some((ansi_c(text), certain)),
                ("%s" | "%s\\n" | "%s\n", [value]) => {
                    Some((format!("{}\n", value.text()), certain))
                }
                (text, values) => {
                    let lines: Vec<&str> = values.iter().map(Word::text).collect();
                    Some((format!("{}\n{}\n", ansi_c(text), ansi_c(&lines.join("\n"))), false))
                }
            }
        }
        _ if SILENT.contains(&name) => Some((String::new(), true)),
        _ if FILTERS.contains(&name) => {
            stdin.map(|text| (text.to_owned(), name == "cat" && rest.is_empty() && certain))
        }
        _ => None,
    }
}

/// The words after a program's options; `assignments` are skipped as `env` does.
pub(super) fn after_options<'a>(
    words: &'a [Word],
    valued: &[&str],
    assignments: bool,
) -> &'a [Word] {
    let mut at = 0;
    while let Some(word) = words.get(at).map(Word::text) {
        if word == "--" {
            at += 1;
            break;
        } else if valued.contains(&word) {
            at += 2;
        } else if (word.starts_with('-') && word.len() > 1) || (assignments && word.contains('=')) {
            at += 1;
        } else {
            break;
        }
    }
    words.get(at..).unwrap_or_default()
}

fn wrapped(wrapper: &Wrapper, rest: &[Word], stdin: Option<&str>) -> Vec<Start> {
    match wrapper.name {
        "command" if rest.first().is_some_and(|w| matches!(w.text(), "-v" | "-V")) => {
            return Vec::new();
        }
        "env" => {
            if let Some(text) = value_of(rest, 'S', "--split-string") {
                return vec![Start::Script(text)];
            }
        }
        "flock" => {
            if let Some(text) = value_of(rest, 'c', "--command") {
                return vec![Start::Script(text)];
            }
        }
        _ => {}
    }
    let command = after_options(rest, wrapper.valued, wrapper.name == "env");
    let mut words = command.get(wrapper.operands..).unwrap_or_default().to_vec();
    if let ("xargs" | "parallel", Some(text)) = (wrapper.name, stdin) {
        words.extend(text.split_whitespace().take(MAX_FED_WORDS).map(Word::bare));
    }
    if words.is_empty() { Vec::new() } else { vec![Start::Command(words)] }
}

/// Where a shell has its script from.
enum Reads<'a> {
    /// The word after `-c`.
    Script(&'a Word),
    /// Its standard input.
    Input,
    /// A file.
    File,
}

fn shell_reads(rest: &[Word]) -> Reads<'_> {
    let valued = ["-o", "+o", "-O", "+O", "--rcfile", "--init-file"];
    let operands = after_options(rest, &valued, false);
    let options = rest.get(..rest.len() - operands.len()).unwrap_or_default();
    let has = |flag: char| {
        options
            .iter()
            .map(Word::text)
            .any(|o| o.starts_with('-') && !o.starts_with("--") && o.len() > 1 && o.contains(flag))
    };
    match operands.first() {
        Some(script) if has('c') => Reads::Script(script),
        Some(file) if !has('s') && !is_stdin(file) => Reads::File,
        _ => Reads::Input,
    }
}

/// The script that a shell is given with `-c`, or reads from its input.
fn shell_script(rest: &[Word], stdin: Option<&str>) -> Option<String> {
    match shell_reads(rest) {
        Reads::Script(script) => Some(script.text().to_owned()),
        Reads::Input => stdin.map(str::to_owned),
        Reads::File => None,
    }
}

fn script(text: Option<&str>) -> Vec<Start> {
    text.map(|t| Start::Script(t.to_owned())).into_iter().collect()
}

/// Whether a shell that is given this file reads what is known of its standard input.
fn is_stdin(file: &Word) -> bool {
    let text = file.text();
    matches!(text, "-" | "/dev/stdin")
        || ["/dev/fd/", "/proc/self/fd/", "<("].iter().any(|start| text.starts_with(start))
}

/// The value of an option that is given as `-c X`, `-qc X`, `--command X` or `--command=X`, with
/// the words after it.
fn value_of(rest: &[Word], short: char, long: &str) -> Option<String> {
    let at = rest.iter().position(|w| {
        let text = w.text();
        text.starts_with(long)
            || (text.starts_with('-') && !text.starts_with("--") && text.contains(short))
    })?;
    if let Some((_, value)) = rest.get(at)?.text().split_once('=') {
        return Some(value.to_owned());
    }
    Some(joined(rest.get(at + 1..)?))
}

fn find_commands(rest: &[Word]) -> Vec<Start> {
    let mut commands = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if matches!(word.text(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            let command: Vec<Word> =
                words.by_ref().take_while(|w| !matches!(w.text(), ";" | "+")).cloned().collect();
            commands.push(Start::Command(command));
        }
    }
    commands
}

fn is_echo_flag(text: &str) -> bool {
    text.strip_prefix('-')
        .is_some_and(|f| !f.is_empty() && f.chars().all(|c| matches!(c, 'n' | 'e' | 'E')))
}

fn joined(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(Word::text).collect();
    texts.join(" ")
}
