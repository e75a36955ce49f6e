//! Test that an overlay can write what the user can: it copies a file with its owner and group, and those that the
//! namespace doesn't know can't be given (`EOVERFLOW`). A user's own namespace knows them and their first group alone.

use crate::wire::StepFailure;
use rustix::fs::{Access, access};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// How many entries of a root are looked at: a project of a team is one from its top on.
const LOOKED_AT: usize = 1_000;

/// Refuses a root of which something, at its top, may be written outside and can't be through an overlay. To be called
/// inside the user namespace, where the machine's tree still is in its place.
pub(super) fn check(root: &Path) -> Result<(), StepFailure> {
    let unknown = UnknownOwners::read();
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let entries = entries.take(LOOKED_AT).map(|entry| entry.path());
    for path in std::iter::once(root.to_owned()).chain(entries) {
        let Ok(metadata) = std::fs::symlink_metadata(&path) else { continue };
        if metadata.is_symlink() || access(&path, Access::WRITE_OK).is_err() {
            continue;
        }
        if let Some(what) = unknown.one_of(&metadata) {
            let words = format!(
                "{} is of {what}, and an overlay can't write what is not of the user and the user's first group",
                path.display()
            );
            return Err(StepFailure { words, errno: None });
        }
    }
    Ok(())
}

/// The numbers that stand for those that the namespace doesn't know, where it doesn't know some.
struct UnknownOwners {
    user: Option<u32>,
    group: Option<u32>,
}

impl UnknownOwners {
    fn read() -> UnknownOwners {
        let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse().ok();
        let unknown = |map: &str, number: Option<u32>| {
            let text = std::fs::read_to_string(map).unwrap_or_default();
            number.filter(|number| !is_mapped(&text, *number))
        };
        UnknownOwners {
            user: unknown("/proc/self/uid_map", number("/proc/sys/kernel/overflowuid")),
            group: unknown("/proc/self/gid_map", number("/proc/sys/kernel/overflowgid")),
        }
    }

    /// Names the unknown owner of a file, in words.
    fn one_of(&self, metadata: &Metadata) -> Option<&'static str> {
        if self.user == Some(metadata.uid()) {
            Some("another user")
        } else if self.group == Some(metadata.gid()) {
            Some("another group")
        } else {
            None
        }
    }
}

/// True if a map knows a number inside.
fn is_mapped(map: &str, number: u32) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(|word| word.parse::<u64>().unwrap_or(0));
        let (first, count) = (numbers.next().unwrap_or(0), numbers.nth(1).unwrap_or(0));
        (first..first.saturating_add(count)).contains(&u64::from(number))
    })
}
