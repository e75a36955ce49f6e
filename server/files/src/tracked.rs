//! Which files git tracks, by the index of their repository: an ignored name that is tracked is not ignored.
//!
//! The index is read without git, which would run programs that its configuration names and refuses repositories of
//! other owners. Versions 2 to 4, split ones, and object names of SHA-1 and SHA-256 are known.

use crate::disk::read_plain;
use crate::repository::git_folders;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// The longest index that is looked into, in bytes.
pub const LONGEST_INDEX: u64 = 256 << 20;

/// The longest path in an index, in bytes: Linux opens none that is longer.
const LONGEST_PATH: usize = 4_096;

/// The most repositories whose names are kept.
const MOST_KEPT: usize = 16;

/// An entry of an index.
#[derive(Debug)]
pub struct IndexEntry<'a> {
    /// Mode, and the name of its object.
    pub what: (&'a [u8], &'a [u8]),
    /// Flags, as they are written.
    pub flags: &'a [u8],
    /// The path from the top of the work tree, with `/`. In a split index it may be empty.
    pub name: Vec<u8>,
    /// Time of the file (seconds and nanoseconds since 1970) and the lower 32 bits of its length, when it was as the
    /// index has it.
    pub written: Option<((u32, u32), u32)>,
}

impl PartialEq for IndexEntry<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.what, self.flags, &self.name) == (other.what, other.flags, &other.name)
    }
}

/// The other index that a split one goes on from.
struct IndexBase<'a> {
    /// The name of the file behind `sharedindex.`.
    id: String,
    /// A bitmap of the places of entries there that don't count, as it is written.
    deleted: &'a [u8],
}

/// The entries of an index, but for those that it shares with others. None for what is no index.
pub fn index_entries(bytes: &[u8]) -> Option<Vec<IndexEntry<'_>>> {
    parse(bytes).map(|(entries, _)| entries)
}

fn parse(bytes: &[u8]) -> Option<(Vec<IndexEntry<'_>>, Option<IndexBase<'_>>)> {
    [20, 32].into_iter().find_map(|id_len| parse_with(bytes, id_len))
}

/// Parses an index with object names of so many bytes. Its paths together are at most as long as an index may be.
fn parse_with(bytes: &[u8], id_len: usize) -> Option<(Vec<IndexEntry<'_>>, Option<IndexBase<'_>>)> {
    let mut rest = bytes.strip_prefix(b"DIRC")?;
    let version = number(&mut rest)?;
    let count = number(&mut rest)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut entries: Vec<IndexEntry<'_>> = Vec::new();
    let mut room = LONGEST_INDEX as usize;
    for _ in 0..count {
        let before = rest.len();
        let stat = take(&mut rest, 40)?;
        let mode = stat.get(24..28)?;
        let len = number(&mut stat.get(36..)?)?;
        let time = (number(&mut stat.get(8..)?)?, number(&mut stat.get(12..)?)?);
        let id = take(&mut rest, id_len)?;
        let extended = rest.first()? & 0x40 != 0;
        let flags = take(&mut rest, if extended { 4 } else { 2 })?;
        let mut name = Vec::new();
        if version == 4 {
            // The name goes on where the one before it, cut by so many bytes, ends.
            let cut = offset(&mut rest)?;
            let last = entries.last().map_or(&[][..], |last| &last.name);
            name.extend_from_slice(last.get(..last.len().checked_sub(cut)?)?);
        }
        let end = rest.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(take(&mut rest, end)?);
        room = room.checked_sub(name.len()).filter(|_| name.len() <= LONGEST_PATH)?;
        // One NUL at least, and in the older versions as many as make eights.
        let used = before - rest.len();
        take(&mut rest, if version == 4 { 1 } else { 8 - used % 8 })?;
        // Without a time it says nothing of the file.
        let written = Some((time, len)).filter(|(time, _)| *time != (0, 0));
        entries.push(IndexEntry { what: (mode, id), flags, name, written });
    }
    let mut base = None;
    while rest.len() > id_len {
        let signature = take(&mut rest, 4)?;
        let len = number(&mut rest)? as usize;
        let mut extension = take(&mut rest, len)?;
        if signature == b"link" {
            let id = take(&mut extension, id_len)?;
            let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
            base = Some(IndexBase { id, deleted: extension });
        }
    }
    (rest.len() == id_len).then_some((entries, base))
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(len)?;
    *rest = tail;
    Some(head)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(take(rest, 4)?.try_into().ok()?))
}

/// A number in git's offset encoding: seven bits a byte, each continued byte one more.
fn offset(rest: &mut &[u8]) -> Option<usize> {
    let mut byte = *take(rest, 1)?.first()?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = *take(rest, 1)?.first()?;
        value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    Some(value)
}

/// The places below `count` of the ones in a bitmap, which git packs as EWAH: runs of equal words, each followed by words as
/// they are. O(`count` + the bitmap's length).
fn places(mut rest: &[u8], count: usize) -> Option<HashSet<usize>> {
    let rest = &mut rest;
    let bits = count.min(number(rest)? as usize);
    let mut words = number(rest)?;
    let (mut ones, mut at) = (HashSet::new(), 0_usize);
    let mut word = |rest: &mut &[u8]| {
        words = words.checked_sub(1)?;
        Some(u64::from_be_bytes(take(rest, 8)?.try_into().ok()?))
    };
    while let Some(run) = word(rest) {
        let end = at.checked_add(usize::try_from(run >> 1 & 0xffff_ffff).ok()?.checked_mul(64)?)?;
        if run & 1 == 1 {
            ones.extend(at..end.min(bits));
        }
        at = end;
        for _ in 0..run >> 33 {
            let word = word(rest)?;
            let set = (0..64).filter(|bit| word >> bit & 1 == 1).map(|bit| at + bit);
            ones.extend(set.filter(|place| *place < bits));
            at += 64;
        }
    }
    Some(ones)
}

/// The files that git tracks in one work tree.
#[derive(Debug, Default)]
pub struct TrackedFiles {
    /// Their paths from its top, sorted.
    names: Vec<Box<str>>,
}

/// An index that was read: its path, and what the system said of it.
type ReadIndex = ((PathBuf, SystemTime, u64, u64), Arc<TrackedFiles>);

static READ: Mutex<Vec<ReadIndex>> = Mutex::new(Vec::new());

impl TrackedFiles {
    /// Files that are tracked below a folder that has a `.git`; none where there is no index that can be read. It is read
    /// again only when it has changed. Blocking.
    pub fn of(top: &Path) -> Arc<Self> {
        let Some((git, common)) = git_folders(top) else { return Arc::default() };
        let index = git.join("index");
        let Some(found) = fs::metadata(&index).ok().filter(fs::Metadata::is_file) else {
            return Arc::default();
        };
        let changed = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let key = (index, changed, found.len(), inode(&found));
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, tracked)) = read.iter().find(|(known, _)| *known == key) {
            return tracked.clone();
        }
        let tracked = Arc::new(Self::read(&key.0, [&git, &common]).unwrap_or_default());
        read.retain(|((path, ..), _)| *path != key.0);
        read.truncate(MOST_KEPT - 1);
        read.insert(0, (key, tracked.clone()));
        tracked
    }

    fn read(index: &Path, folders: [&Path; 2]) -> Option<Self> {
        let bytes = |path: &Path| read_plain(path, LONGEST_INDEX).ok();
        let own = bytes(index)?;
        let (entries, base) = parse(&own)?;
        let shared = base.and_then(|base| {
            let name = format!("sharedindex.{}", base.id);
            Some((folders.iter().find_map(|folder| bytes(&folder.join(&name)))?, base.deleted))
        });
        let mut names: Vec<Box<str>> = Vec::new();
        let mut add = |entry: IndexEntry<'_>| {
            names.extend(
                String::from_utf8(entry.name).ok().filter(|name| !name.is_empty()).map(Into::into),
            );
        };
        entries.into_iter().for_each(&mut add);
        if let Some((bytes, deleted)) = &shared {
            let all = index_entries(bytes).unwrap_or_default();
            let deleted = places(deleted, all.len()).unwrap_or_default();
            all.into_iter()
                .enumerate()
                .filter(|(place, _)| !deleted.contains(place))
                .for_each(|(_, entry)| add(entry));
        }
        names.sort_unstable();
        names.dedup();
        Some(Self { names })
    }

    /// The tracked files in the folder at a path from the top, which is empty for the top itself.
    pub fn below(&self, folder: &Path) -> impl Iterator<Item = &Path> {
        // No name begins with a NUL.
        let inside = folder.join("").to_str().unwrap_or("\0").to_owned();
        let start = self.names.partition_point(|name| **name < *inside);
        let from = self.names.get(start..).unwrap_or_default().iter();
        let inside = from.take_while(move |name| name.starts_with(&inside));
        inside.map(|name| Path::new(&**name))
    }

    /// True if a path from the top is a tracked file's, or a folder's that holds one.
    pub fn holds(&self, path: &Path) -> bool {
        let own = path
            .to_str()
            .is_some_and(|path| self.names.binary_search_by(|name| (**name).cmp(path)).is_ok());
        own || self.below(path).next().is_some()
    }
}

#[cfg(unix)]
fn inode(found: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

#[cfg(not(unix))]
fn inode(_: &fs::Metadata) -> u64 {
    0
}
