//! The table of dangerous commands.
//!
//! Programs are known by their own names, so a copy under another name is not seen.

use super::places::{PathParts, is_raw_device, is_vital, place};
use super::starts::found;
use super::words::{SimpleCommand, Word, is_in};
use super::{Danger, DangerKind};

/// Programs that act with another user's rights.
const PRIVILEGE: &str =
    "doas gksu gksudo gosu kdesu kdesudo pkexec run0 runuser su su-exec sudo sudoedit visudo";

/// Programs that stop the machine or every process.
const POWER: &str = "halt killall5 poweroff reboot shutdown";

/// The verbs, and names of targets, by which `systemctl` and `loginctl` stop the machine or suspend it.
const POWER_VERBS: &str = "emergency exit halt hibernate hybrid-sleep kexec poweroff reboot rescue \
    sleep soft-reboot suspend suspend-then-hibernate switch-root";

/// Programs that remove the paths they are given.
const REMOVERS: &str = "rimraf rm shred srm trash trash-put unlink";

/// Programs that change the rights of the paths they are given, with all below by `-R`.
const RIGHTS: &str = "chattr chgrp chmod chown setfacl";

/// Programs that write to the devices they are given.
const DEVICE_WRITERS: &str = "badblocks blkdiscard cfdisk cryptsetup debugfs fdisk gdisk hdparm \
    mdadm mke2fs mkswap nvme parted pvcreate rm sfdisk sgdisk shred tee truncate vgcreate zpool";

/// Programs that write to the last path they are given, or to one behind an option.
const COPIERS: &str = "cp dd install mv rsync";

/// Other programs that some arguments make dangerous.
const OTHERS: &str = "find init kill loginctl ropewalk systemctl telinit wipefs";

/// The folder that `find` begins in when it is given none.
static HERE: Word = Word { text: String::new(), open_at: None };

/// The first danger among commands that run one after the other.
pub(super) fn judge(commands: &[SimpleCommand]) -> Option<Danger> {
    let mut cwd: Option<PathParts> = None;
    for command in commands {
        if let Some(kind) = kind_of(command, cwd.as_ref()) {
            return Some(Danger::new(kind, &command.text()));
        }
        if let Some("cd" | "pushd") = command.program() {
            let to = paths(command.arguments()).first().map_or("~", |word| word.text());
            cwd = place(to, cwd.as_ref());
        }
    }
    None
}

/// True if a word of the text, quoted or not, is a program that asks for rights or stops the machine.
pub(super) fn names_danger(text: &str) -> bool {
    let plain = text.replace(['\'', '"', '\\'], "");
    let mut words = plain.split(|c: char| !c.is_alphanumeric() && !"-_.".contains(c));
    words.any(|word| is_in(PRIVILEGE, word) || is_in(POWER, word))
}

/// True if more arguments could make this program dangerous.
pub(super) fn minds_arguments(name: &str) -> bool {
    let lists = [REMOVERS, RIGHTS, DEVICE_WRITERS, COPIERS, OTHERS];
    lists.iter().any(|names| is_in(names, name)) || name.starts_with("mkfs")
}

fn kind_of(command: &SimpleCommand, cwd: Option<&PathParts>) -> Option<DangerKind> {
    for file in command.redirects.iter().filter(|file| file.writes) {
        match file.target.text() {
            "/proc/sysrq-trigger" => return Some(DangerKind::Power),
            device if is_raw_device(device) => return Some(DangerKind::RawDevice),
            _ => {}
        }
    }
    let (name, rest) = (command.program()?, command.arguments());
    let has = |names: &str| rest.iter().any(|word| is_in(names, word.text()));
    let is_power = |word: &Word| is_in(POWER_VERBS, word.text().trim_end_matches(".target"));
    let looks = || paths(rest).first().is_some_and(|verb| is_in("cat show status", verb.text()));
    match name {
        _ if is_in(PRIVILEGE, name) => Some(DangerKind::Privilege),
        "ropewalk" if !has("--version -V --help -h help") => Some(DangerKind::Itself),
        _ if is_in(POWER, name) => Some(DangerKind::Power),
        "init" | "telinit" if has("0 1 6 s S u U") => Some(DangerKind::Power),
        "systemctl" | "loginctl" if !looks() && rest.iter().any(is_power) => {
            Some(DangerKind::Power)
        }
        // The first word is a signal or one process; `-1` behind it is every process of the user.
        "kill" if rest.iter().skip(1).any(|word| word.text() == "-1") => Some(DangerKind::Power),
        "rm" if has("--no-preserve-root") => Some(DangerKind::Wipe),
        "wipefs" => Some(DangerKind::RawDevice),
        _ if written(name, rest).into_iter().any(is_raw_device) => Some(DangerKind::RawDevice),
        _ => lost(name, rest).iter().any(|word| is_vital(word, cwd)).then_some(DangerKind::Wipe),
    }
}

/// The paths that a program writes to, if it may write to devices.
fn written<'a>(name: &str, rest: &'a [Word]) -> Vec<&'a str> {
    let mut paths = paths(rest).into_iter().map(Word::text);
    if is_in(COPIERS, name) {
        let option = |word: &'a Word| {
            let text = word.text();
            text.strip_prefix("of=").or_else(|| text.strip_prefix("--target-directory="))
        };
        rest.iter().filter_map(option).chain(paths.next_back()).collect()
    } else if is_in(DEVICE_WRITERS, name) || name.starts_with("mkfs") {
        paths.collect()
    } else {
        Vec::new()
    }
}

/// The paths that a program removes, moves away, or gives other rights with all that is below.
fn lost<'a>(name: &str, rest: &'a [Word]) -> Vec<&'a Word> {
    let has = |test: fn(&str) -> bool| rest.iter().any(|word| test(word.text()));
    let mut paths = paths(rest);
    match name {
        _ if is_in(REMOVERS, name) => paths,
        _ if is_in(RIGHTS, name) => {
            let is_deep =
                |word: &str| word == "--recursive" || word.starts_with('-') && word.contains('R');
            if has(is_deep) { paths } else { Vec::new() }
        }
        "mv" => {
            if !has(|word| word == "-t" || word.starts_with("--target-directory")) {
                paths.pop();
            }
            paths
        }
        "rsync" if has(|word| word.starts_with("--del")) => paths.pop().into_iter().collect(),
        "find" if has(|word| word == "-delete") || found(rest).into_iter().any(removes) => {
            let roots = rest.iter().skip_while(|word| is_in("-H -L -P", word.text()));
            let roots = roots.take_while(|word| !word.text().starts_with(['-', '(', '!']));
            let roots: Vec<&Word> = roots.collect();
            if roots.is_empty() { vec![&HERE] } else { roots }
        }
        _ => Vec::new(),
    }
}

/// True if a command that `find` starts removes, moves or changes what is found.
fn removes(words: &[Word]) -> bool {
    let name = words.first().map(Word::name).unwrap_or_default();
    [REMOVERS, RIGHTS, "busybox dd mv rmdir toybox truncate"].iter().any(|names| is_in(names, name))
}

/// The words that are not options, and all after `--`.
fn paths(rest: &[Word]) -> Vec<&Word> {
    let end = rest.iter().position(|word| word.text() == "--").unwrap_or(rest.len());
    let (before, after) = rest.split_at_checked(end).unwrap_or_default();
    let is_path = |word: &&Word| !word.text().starts_with('-') || word.text() == "-";
    before.iter().filter(is_path).chain(after.iter().skip(1)).collect()
}
