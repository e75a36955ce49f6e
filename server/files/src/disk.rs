//! Reading and writing files at places that [`Roots`] found to be inside.
//!
//! A place has no link left in it, so none is followed here: the root is opened, then each
//! directory from its parent's handle, and the file by its name in the last one. A component that
//! has become a link since it was checked is refused by the system call itself, wherever the link
//! leads. (`cap-std` makes these calls on every platform; its own rule, that links may lead inside,
//! is wider than what is needed here.) Only plain files are opened: a device, a pipe or a socket is
//! an error at once, never a wait.
//!
//! Calls block, so async code makes them on a blocking thread. What the bytes mean is not looked
//! at, nothing is flushed to the platter, and nothing here knows which files an editor has open.

use std::fmt;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use cap_fs_ext::{
    FileTypeExt as _, MetadataExt as _, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _,
};
use cap_std::fs::{File, Metadata, OpenOptions};
use ropewalk_text::ContentHash;
use thiserror::Error;

use crate::paths::{Place, Roots};

mod folders;
mod handle;
mod link;
mod write;

pub use folders::{folders_of_its_own, missing_folders, remove_folders, set_folder_modes};
use handle::{NameSpot, plain};
pub use link::{link, link_hash, write_link};
pub use write::{create_parents, remove, rename, set_mode, write};

/// A file's bytes and what they were at the time.
#[derive(Clone, PartialEq, Eq)]
pub struct FileRead {
    /// The whole content.
    pub bytes: Vec<u8>,
    /// The hash of `bytes`.
    pub hash: ContentHash,
    /// The file's metadata, taken from the handle the bytes were read from.
    pub meta: FileMeta,
}

impl fmt::Debug for FileRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileRead").field("hash", &self.hash).field("meta", &self.meta).finish()
    }
}

/// Metadata of a file, as the file system has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMeta {
    /// Length in bytes.
    pub len: u64,
    /// Permission bits, such as `0o755`. Where there are none, `0o444` or `0o644`.
    pub mode: u32,
    /// When the content was last changed, where the file system keeps it.
    pub mtime: Option<SystemTime>,
    /// When anything of the file was last changed, in seconds and nanoseconds, where it can't be set back: on
    /// Unix.
    pub ctime: Option<(i64, i64)>,
    /// Which file it is, whatever its names.
    pub identity: FileIdentity,
    /// How many names (hard links) it has.
    pub links: u64,
}

/// Bytes of a plain file at a path that nobody has checked, at most `most` of them. Waits for no pipe and reads no device.
/// Blocking.
///
/// # Errors
/// What the system says; [`io::ErrorKind::InvalidInput`] for what is no plain file, [`io::ErrorKind::FileTooLarge`] for one that
/// is longer.
pub fn read_plain(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let no_wait = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, no_wait);
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// How long a file must have been left alone for its metadata to stand for its content: times are kept in
/// steps, of two seconds on FAT, and a second change within one step does not show.
const SETTLED: Duration = Duration::from_secs(2);

impl FileMeta {
    /// True if another look at the file that gives the same metadata proves the same content.
    pub fn is_settled(&self) -> bool {
        self.mtime.and_then(|mtime| mtime.elapsed().ok()).is_some_and(|age| age > SETTLED)
    }
}

/// Device and inode: equal for two paths that are one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileIdentity {
    /// The device's number.
    pub device: u64,
    /// The inode's number on it.
    pub inode: u64,
}

/// Condition on the disk without which a file is not written, moved or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// No file.
    Absent,
    /// A file with this content.
    Hash(ContentHash),
    /// A symbolic link whose target has this [`link_hash`].
    Link(ContentHash),
    /// Whatever is there, or nothing.
    Anything,
}

/// Kind of thing that is there instead of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A directory.
    Folder,
    /// A device, such as /dev/null.
    Device,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// Something else the system knows.
    Other,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Folder => "a folder",
            Self::Device => "a device",
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::Other => "no ordinary file",
        })
    }
}

/// Why a file could not be read or changed. `path` is as [`Place::shown`] has it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FileError {
    /// Nothing is there.
    #[error("There is no file {path}")]
    NotFound {
        /// The file.
        path: String,
    },
    /// The root itself is gone, or is no folder any more.
    #[error("The folder {root} is not there any more, so {path} can't be reached")]
    RootGone {
        /// The file.
        path: String,
        /// The root's path.
        root: String,
    },
    /// It is open, and the editor told of a change of it that could not be read.
    #[error(
        "{path} is open in the editor, and a change of it there could not be read: what it holds now is known again once \
         the user saves it, or closes it and opens it again"
    )]
    OutOfStep {
        /// The file.
        path: String,
    },
    /// It is longer than the reader takes.
    #[error("{path} has {len} bytes, more than the {limit} that are read at once")]
    TooLarge {
        /// The file.
        path: String,
        /// Its length, or as much of it as was seen.
        len: u64,
        /// The limit it passes.
        limit: u64,
    },
    /// It is something else than a file.
    #[error("{path} is {kind}, not a file")]
    NotAFile {
        /// The path.
        path: String,
        /// Its kind.
        kind: FileKind,
    },
    /// A part of its path is a file.
    #[error("{path} can't be there: {file} is a file, not a folder")]
    ThroughFile {
        /// The path.
        path: String,
        /// The part that is a file, relative to the root.
        file: String,
    },
    /// A part of its path became a link after it was checked.
    #[error("{path} was refused: {link} became a link while it was in use; name the file again")]
    BecameLink {
        /// The path.
        path: String,
        /// The part that became a link, relative to the root.
        link: String,
    },
    /// The place does not belong to these roots.
    #[error("{path} is not in the folders that are open now; name the file again")]
    NotInside {
        /// The path.
        path: String,
    },
    /// The system forbids it.
    #[error("The system doesn't allow this for {path}: permission denied")]
    Denied {
        /// The path.
        path: String,
    },
    /// The file's own mode forbids writing.
    #[error("{path} is read-only; make it writable first if it should be changed")]
    ReadOnly {
        /// The file.
        path: String,
    },
    /// The file system is mounted read-only.
    #[error("{path} is on a file system that is mounted read-only")]
    ReadOnlyDisk {
        /// The file.
        path: String,
    },
    /// No space is left, or a quota is used up. What was there is unchanged.
    #[error("There is no space left for {path}; what was there is unchanged")]
    Full {
        /// The file.
        path: String,
    },
    /// Its content is not what was expected.
    #[error("{path} has changed on disk since it was read; read it again")]
    Changed {
        /// The file.
        path: String,
    },
    /// Something is there already.
    #[error("{path} exists already")]
    Exists {
        /// The file.
        path: String,
    },
    /// The system has no symbolic links that could be made.
    #[error(
        "{path} is to be a symbolic link, and those are not made on this system; make a file in its place"
    )]
    NoLinks {
        /// The path.
        path: String,
    },
    /// A symbolic link of the fork's leads where nothing may be read.
    #[error("{path} is a link to {target}, which can't be read: {reason}")]
    Leads {
        /// The path.
        path: String,
        /// Target of the link, as it is written there.
        target: String,
        /// Why.
        reason: String,
    },
    /// It is of version control's own, which no tool changes.
    #[error(
        "{path} is version control's own data, which no tool changes in any mode, because it names programs that are run, and a part of it is of no use. Leave it as it is, and tell the user what to change there"
    )]
    OfStore {
        /// The file.
        path: String,
    },
    /// It is a notebook that is open in the editor, whose cells alone are changed.
    #[error(
        "{path} is a notebook that is open in the editor, where only its cells are changed: edit those under their own names, which are among the open files; else tell the user what to change in it"
    )]
    OfNotebook {
        /// The file.
        path: String,
    },
    /// It is the conversation with the user, in which no tool writes.
    #[error(
        "{path} is the user's conversation with you, in which no tool writes. What is to stand there, say in your answer"
    )]
    OfConversation {
        /// The file.
        path: String,
    },
    /// Anything else the system says.
    #[error("{path}: {reason}")]
    Io {
        /// The path.
        path: String,
        /// The system's words.
        reason: String,
    },
}

/// Reads a whole file of at most `limit` bytes.
///
/// # Errors
/// [`FileError`]; `TooLarge` is found before anything is read where the length is known.
pub fn read(roots: &Roots, place: &Place, limit: u64) -> Result<FileRead, FileError> {
    let spot = NameSpot::open(roots, place)?;
    read_at(&spot, limit)
}

/// The metadata of a plain file, without reading it.
///
/// # Errors
/// [`FileError`].
pub fn stat(roots: &Roots, place: &Place) -> Result<FileMeta, FileError> {
    let spot = NameSpot::open(roots, place)?;
    Ok(meta(&spot.plain_file()?))
}

/// Which file a place is, for telling that two names are one file.
///
/// # Errors
/// [`FileError`].
pub fn identity(roots: &Roots, place: &Place) -> Result<FileIdentity, FileError> {
    stat(roots, place).map(|meta| meta.identity)
}

fn read_at(spot: &NameSpot<'_>, limit: u64) -> Result<FileRead, FileError> {
    let (file, found) = open(spot)?;
    let too_large = |len| FileError::TooLarge { path: spot.shown(), len, limit };
    if found.len() > limit {
        return Err(too_large(found.len()));
    }
    // A sparse file can claim any length, so its word is taken only so far.
    let mut bytes = Vec::with_capacity(found.len().min(1 << 23) as usize);
    // One more than the limit: it may be growing.
    let mut some = file.take(limit.saturating_add(1));
    some.read_to_end(&mut bytes).map_err(|e| spot.fail(e))?;
    let len = bytes.len() as u64;
    if len > limit {
        return Err(too_large(len));
    }
    let hash = ContentHash::of(&bytes);
    Ok(FileRead { bytes, hash, meta: FileMeta { len, ..meta(&found) } })
}

/// The hash of a file of any length, without holding it.
fn hash_at(spot: &NameSpot<'_>) -> Result<ContentHash, FileError> {
    let (file, _) = open(spot)?;
    let mut file = BufReader::with_capacity(1 << 16, file);
    let mut hasher = xxhash_rust::xxh3::Xxh3Default::new();
    loop {
        let len = match file.fill_buf() {
            Ok([]) => return Ok(ContentHash(hasher.digest128())),
            Ok(some) => {
                hasher.update(some);
                some.len()
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => 0,
            Err(error) => return Err(spot.fail(error)),
        };
        file.consume(len);
    }
}

/// Opens a plain file for reading, through no link and without waiting.
fn open(spot: &NameSpot<'_>) -> Result<(File, Metadata), FileError> {
    // Looked at before it is opened, because opening a device or a pipe can already do something.
    spot.plain_file()?;
    let mut options = OpenOptions::new();
    options.read(true).follow(cap_fs_ext::FollowSymlinks::No).nonblock(true);
    let file = spot.dir.open_with(spot.name, &options).map_err(|e| spot.fail(e))?;
    let found = file.metadata().map_err(|e| spot.fail(e))?;
    plain(&found, spot)?;
    Ok((file, found))
}

fn meta(found: &Metadata) -> FileMeta {
    FileMeta {
        len: found.len(),
        mode: mode(found),
        mtime: found.modified().ok().map(cap_std::time::SystemTime::into_std),
        ctime: ctime(found),
        identity: FileIdentity { device: found.dev(), inode: found.ino() },
        links: found.nlink(),
    }
}

#[cfg(unix)]
fn ctime(found: &Metadata) -> Option<(i64, i64)> {
    use cap_std::fs::MetadataExt as _;
    Some((found.ctime(), found.ctime_nsec()))
}

#[cfg(not(unix))]
fn ctime(_: &Metadata) -> Option<(i64, i64)> {
    None
}

#[cfg(unix)]
fn mode(found: &Metadata) -> u32 {
    cap_std::fs::MetadataExt::mode(found) & 0o7777
}

#[cfg(not(unix))]
fn mode(found: &Metadata) -> u32 {
    if found.permissions().readonly() { 0o444 } else { 0o644 }
}

/// Tells the kind of something that is no plain file.
fn kind(found: &Metadata) -> FileKind {
    let kind = found.file_type();
    if kind.is_dir() {
        FileKind::Folder
    } else if kind.is_block_device() || kind.is_char_device() {
        FileKind::Device
    } else if kind.is_fifo() {
        FileKind::Pipe
    } else if kind.is_socket() {
        FileKind::Socket
    } else {
        FileKind::Other
    }
}
