//! The table of dangerous commands.
//!
//! Programs are known by their own names, so a copy under another name is not seen.

use super::paths::Path;
use super::words::{SimpleCommand, Word};
use super::{Danger, Excerpt};

/// Programs that act with another user's rights.
const PRIVILEGE: &[&str] = &[
    "doas", "gksu", "gksudo", "gosu", "kdesu", "kdesudo", "pkexec", "run0", "runuser", "su",
    "su-exec", "sudo", "sudoedit", "visudo",
];

/// Programs that stop the machine or every process.
const POWER: &[&str] = &["halt", "killall5", "poweroff", "reboot", "shutdown"];

/// The verbs by which `systemctl` and `loginctl` stop the machine or suspend it.
const POWER_VERBS: &[&str] = &[
    "emergency",
    "exit",
    "halt",
    "hibernate",
    "hybrid-sleep",
    "kexec",
    "poweroff",
    "reboot",
    "rescue",
    "sleep",
    "soft-reboot",
    "suspend",
    "suspend-then-hibernate",
    "switch-root",
];

/// Programs that remove the paths they are given.
const REMOVERS: &[&str] = &["rimraf", "rm", "shred", "srm", "trash", "trash-put", "unlink"];

/// Programs that change the rights of the paths they are given, with all below by `-R`.
const RIGHTS: &[&str] = &["chattr", "chgrp", "chmod", "chown", "setfacl"];

/// Programs that write to the devices they are given.
const DEVICE_WRITERS: &[&str] = &[
    "badblocks",
    "blkdiscard",
    "cfdisk",
    "cryptsetup",
    "debugfs",
    "fdisk",
    "gdisk",
    "hdparm",
    "mdadm",
    "nvme",
    "parted",
    "pvcreate",
    "rm",
    "sfdisk",
    "sgdisk",
    "shred",
    "tee",
    "truncate",
    "vgcreate",
    "zpool",
];

/// Devices that are safe to write to: they keep nothing, or belong to the process.
const SAFE_DEVICES: &[&str] =
    &["full", "null", "ptmx", "random", "stderr", "stdin", "stdout", "urandom", "zero"];

/// Folders of such devices, and names that begin like terminals.
const SAFE_DEVICE_STARTS: &[&str] = &["fd/", "mqueue/", "pts/", "shm/", "tcp/", "tty", "udp/"];

/// The first danger among commands that run one after the other.
pub(super) fn judge(commands: &[SimpleCommand]) -> Option<Danger> {
    let mut cwd: Option<Path> = None;
    for command in commands {
        if let Some(danger) = danger_of(command, cwd.as_ref()) {
            return Some(danger);
        }
        if let Some("cd" | "pushd") = command.program() {
            cwd = match operands(command.arguments()).next() {
                Some(word) => Path::of(word, cwd.as_ref()),
                None => Some(Path::home()),
            };
        }
    }
    None
}

/// True if a word of the text, quoted or not, is a program that asks for rights or stops the machine.
pub(super) fn names_danger(text: &str) -> bool {
    let plain = text.replace(['\'', '"', '\\'], "");
    let mut words = plain.split(|c: char| !c.is_alphanumeric() && !"-_.".contains(c));
    words.any(|word| PRIVILEGE.contains(&word) || POWER.contains(&word))
}

/// True if more arguments could make this program dangerous.
pub(super) fn minds_arguments(name: &str) -> bool {
    let others = [
        "cp",
        "dd",
        "init",
        "install",
        "kill",
        "loginctl",
        "mkswap",
        "mke2fs",
        "mv",
        "ropewalk",
        "rsync",
        "systemctl",
        "telinit",
        "wipefs",
    ];
    [REMOVERS, RIGHTS, DEVICE_WRITERS, &others].iter().any(|names| names.contains(&name))
        || name.starts_with("mkfs")
}

fn danger_of(command: &SimpleCommand, cwd: Option<&Path>) -> Option<Danger> {
    let part = || Excerpt::new(&command.shown());
    for redirect in command.redirects.iter().filter(|r| r.writes) {
        if redirect.target.text() == "/proc/sysrq-trigger" {
            return Some(Danger::Power { part: part() });
        }
        if let Some(device) = raw_device(&redirect.target) {
            return Some(Danger::RawDevice { part: part(), device });
        }
    }
    let name = command.program()?;
    let rest = command.arguments();
    if PRIVILEGE.contains(&name) {
        return Some(Danger::Privilege { part: part() });
    }
    if name == "ropewalk" && !only_asks(rest) {
        return Some(Danger::Itself { part: part() });
    }
    if POWER.contains(&name) || stops_by_argument(name, rest) {
        return Some(Danger::Power { part: part() });
    }
    if let Some(device) = written_device(name, rest) {
        return Some(Danger::RawDevice { part: part(), device });
    }
    lost(name, rest, cwd).map(|target| Danger::Wipe { part: part(), target })
}

/// True if the program is only asked for its version or help.
fn only_asks(rest: &[Word]) -> bool {
    let asks = |word: &Word| matches!(word.text(), "--version" | "-V" | "--help" | "-h" | "help");
    rest.iter().any(asks)
}

fn stops_by_argument(name: &str, rest: &[Word]) -> bool {
    match name {
        "systemctl" | "loginctl" => {
            let mut words = operands(rest).map(Word::text);
            match words.next() {
                Some("start" | "isolate" | "restart") => words.any(|unit| {
                    unit.strip_suffix(".target").is_some_and(|u| POWER_VERBS.contains(&u))
                }),
                Some(verb) => POWER_VERBS.contains(&verb),
                None => false,
            }
        }
        "init" | "telinit" => {
            rest.iter().any(|w| matches!(w.text(), "0" | "1" | "6" | "s" | "S" | "u" | "U"))
        }
        // `kill -9 -1` is every process of the user; the first word of a kill is its signal.
        "kill" => {
            let targets = match rest.first().map(Word::text) {
                Some("-s" | "-n") => rest.get(2..),
                Some(first) if first.starts_with('-') => rest.get(1..),
                _ => Some(rest),
            };
            targets.unwrap_or_default().iter().any(|w| w.text() == "-1")
        }
        _ => false,
    }
}

/// The raw device that a program would write to.
fn written_device(name: &str, rest: &[Word]) -> Option<String> {
    match name {
        "dd" => rest.iter().find_map(|w| {
            let target = w.text().strip_prefix("of=")?;
            raw_device(&Word::literal(target))
        }),
        "wipefs" => Some(match operands(rest).last() {
            Some(device) => device.text().to_owned(),
            None => "it is given".to_owned(),
        }),
        "mkswap" | "mke2fs" | "mkfs" => operands(rest).find_map(raw_device),
        _ if name.starts_with("mkfs.") => operands(rest).find_map(raw_device),
        "cp" | "install" | "mv" | "rsync" => {
            let target = rest.iter().find_map(|w| w.text().strip_prefix("--target-directory="));
            match target {
                Some(target) => raw_device(&Word::literal(target)),
                None => raw_device(operands(rest).last()?),
            }
        }
        _ if DEVICE_WRITERS.contains(&name) => {
            let only_lists = rest.iter().any(|w| matches!(w.text(), "-l" | "--list"));
            if only_lists { None } else { operands(rest).find_map(raw_device) }
        }
        _ => None,
    }
}

/// The loss that a program would cause, in words.
fn lost(name: &str, rest: &[Word], cwd: Option<&Path>) -> Option<String> {
    let loss = |word: &Word| Path::of(word, cwd)?.loss();
    let recursive = || {
        rest.iter().map(Word::text).any(|w| {
            w == "--recursive" || (w.starts_with('-') && !w.starts_with("--") && w.contains('R'))
        })
    };
    match name {
        "rm" if rest.iter().any(|w| w.text() == "--no-preserve-root") => {
            Some("the whole file system".to_owned())
        }
        _ if REMOVERS.contains(&name) => operands(rest).find_map(loss),
        _ if RIGHTS.contains(&name) && recursive() => operands(rest).find_map(loss),
        "mv" => {
            let sources: Vec<&Word> = operands(rest).collect();
            let into = rest
                .iter()
                .any(|w| matches!(w.text(), "-t") || w.text().starts_with("--target-directory"));
            let count = if into { sources.len() } else { sources.len().saturating_sub(1) };
            sources.into_iter().take(count).find_map(loss)
        }
        "rsync" if rest.iter().any(|w| w.text().starts_with("--del")) => {
            operands(rest).last().and_then(loss)
        }
        "find" => {
            let deletes = rest.iter().any(|w| w.text() == "-delete");
            let runs = rest.windows(2).any(|pair| match pair {
                [exec, program] => {
                    matches!(exec.text(), "-exec" | "-execdir" | "-ok" | "-okdir")
                        && takes_away(program.text())
                }
                _ => false,
            });
            if !deletes && !runs {
                return None;
            }
            let roots = rest
                .iter()
                .skip_while(|w| matches!(w.text(), "-H" | "-L" | "-P"))
                .take_while(|w| !w.text().starts_with(['-', '(', '!']));
            let found = roots.clone().find_map(loss);
            match roots.count() {
                0 => cwd.and_then(Path::loss),
                _ => found,
            }
        }
        _ => None,
    }
}

/// True if a program that `find` starts removes, moves or overwrites what is found.
fn takes_away(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    REMOVERS.contains(&name)
        || RIGHTS.contains(&name)
        || matches!(name, "mv" | "truncate" | "dd" | "rmdir" | "busybox" | "toybox")
}

/// The words that are not options, and all after `--`.
fn operands(rest: &[Word]) -> impl Iterator<Item = &Word> + Clone {
    let end = rest.iter().position(|w| w.text() == "--").unwrap_or(rest.len());
    rest.iter().enumerate().filter_map(move |(at, word)| {
        let option = word.text().starts_with('-') && word.text().len() > 1;
        (at > end || (at < end && !option)).then_some(word)
    })
}

/// The name of the device, if `word` is one that holds a disk, memory or the like.
fn raw_device(word: &Word) -> Option<String> {
    let text = word.text();
    let mut parts: Vec<&str> = Vec::new();
    for part in text.strip_prefix('/')?.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let name = parts.join("/");
    let device = name.strip_prefix("dev/")?;
    let safe =
        SAFE_DEVICES.contains(&device) || SAFE_DEVICE_STARTS.iter().any(|s| device.starts_with(s));
    (!safe).then(|| format!("`{}`", super::preview(text, super::PREVIEW_CHARS)))
}
