//! Folders that nobody wants to lose as a whole, and devices that nobody wants to write to.
//!
//! Paths are taken by their letters alone; links are not followed and the disk is not asked.

use super::words::{Word, is_in};

/// Folders at the root that a system or its users need (Filesystem Hierarchy Standard 3.0, macOS).
const TOP: &str = "Applications Library System Users Volumes bin boot dev etc home lib lib32 lib64 \
    libx32 media mnt nix opt private proc root run sbin srv sys usr var";

/// Folders below `/usr` and `/var` that are needed as much.
const SECOND: &str = "bin include lib lib64 libexec local log sbin share spool";

/// Devices that keep nothing or belong to the process, and folders of such.
const SAFE_DEVICES: &str =
    "fd/ full mqueue/ null ptmx pts/ random shm/ stderr stdin stdout tcp/ udp/ urandom zero";

/// An absolute path in cleaned components, with the home folder as `/home/~`.
pub(super) type PathParts = Vec<String>;

/// The place of a word when the shell is in `cwd`; None when its start is not known.
pub(super) fn place(text: &str, cwd: Option<&PathParts>) -> Option<PathParts> {
    let mut parts = match text.chars().next() {
        Some('/') => Vec::new(),
        Some('~') => vec!["home".to_owned()],
        _ => cwd?.clone(),
    };
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            _ => parts.push(part.to_owned()),
        }
    }
    Some(parts)
}

/// True if `word` means the root, or all of a system or home folder.
pub(super) fn is_vital(word: &Word, cwd: Option<&PathParts>) -> bool {
    let Some(place) = place(word.text(), cwd) else { return false };
    let is_open = word.open_at.is_some();
    let mut parts: Vec<&str> = place.iter().map(String::as_str).collect();
    // All in a folder is as much as the folder.
    let is_star = |part: &&str| part.contains('*') && part.chars().all(|c| "*?.[]!^".contains(c));
    while is_open && parts.last().is_some_and(is_star) {
        parts.pop();
    }
    match parts.as_slice() {
        [] => true,
        [top] => is_in(TOP, top) || is_open && top.contains(['*', '?', '[']),
        ["home" | "Users", _] => true,
        ["usr" | "var", name] => is_in(SECOND, name),
        _ => false,
    }
}

/// True if `text` is the path of a device that holds a disk, memory or the like.
pub(super) fn is_raw_device(text: &str) -> bool {
    let path = place(text, None).unwrap_or_default().join("/");
    let Some(device) = path.strip_prefix("dev/") else { return false };
    let first = device.split_inclusive('/').next().unwrap_or_default();
    !is_in(SAFE_DEVICES, first) && !first.starts_with("tty")
}
