//! Keys that every server under test is given, and a search for them in whatever it leaves behind.
//!
//! They look like keys and open nothing. A test that finds one, in whatever spelling, has found a leak: the
//! search knows a key as it is and as JSON, a URL, base64, hex and a mirror would show it, and the first half
//! of one.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The key in the variable that everybody knows, `ANTHROPIC_API_KEY`.
pub const KEY: &str = "sk-planted-one-4fK2mX9qLw7+RzT5vB8/nYc3HdJ6s==";

/// The key in [`VARIABLE`].
pub const OTHER_KEY: &str = "sk-planted-two-Q8eN5uGa1Zd+xWkVt7/PbLr0MjCyD4==";

/// A variable that no list of names that hold keys has: only the configuration leads to it.
pub const VARIABLE: &str = "ACME_ENTRY";

/// Start of both keys, and of nothing else.
pub const MARK: &str = "sk-planted-";

/// Both variables, for a process.
pub fn environment() -> [(&'static str, &'static str); 2] {
    [("ANTHROPIC_API_KEY", KEY), (VARIABLE, OTHER_KEY)]
}

/// A variable of the tests' own environment: the folder where servers under test log everything, for a search
/// of all logs at the end.
pub const LOGS: &str = "ROPEWALK_TEST_LOGS";

/// Has a command of `ropewalk` log everything into a file of its own, if [`LOGS`] names a folder. To be called
/// before its other arguments are added.
pub fn log_everything(command: &mut Command) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    if let Some(folder) = std::env::var_os(LOGS) {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let file = Path::new(&folder).join(format!("{}-{number}.log", std::process::id()));
        command.env("ROPEWALK_LOG", "trace").arg("--log").arg(file);
    }
}

/// Finds a planted key in `bytes`, and gives a sentence with a little of the text around it.
pub fn find(bytes: &[u8]) -> Option<String> {
    for (name, key) in [("the planted key", KEY), ("the other planted key", OTHER_KEY)] {
        for (spelling, needle) in spellings(key) {
            if let Some(at) = position(bytes, needle.as_bytes()) {
                let from = at.saturating_sub(200);
                let to = bytes.len().min(at + needle.len() + 200);
                let around = String::from_utf8_lossy(bytes.get(from..to).unwrap_or_default());
                return Some(format!("{name} ({spelling}) in: {around}"));
            }
        }
    }
    None
}

/// As [`find`], in all files under a folder, and in their names; links are not followed.
pub fn find_in(folder: &Path) -> Option<String> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            let found = find(path.as_os_str().as_encoded_bytes());
            // A file that is gone meanwhile, or is not ours to read, has told nobody.
            let held = || std::fs::read(&path).ok().and_then(|bytes| find(&bytes));
            if let Some(words) = found.or_else(|| kind.is_file().then(held).flatten()) {
                return Some(format!("{}: {words}", path.display()));
            }
            if kind.is_dir() {
                folders.push(path);
            }
        }
    }
    None
}

/// Fails the test when a planted key is in `bytes`; `what` says where they are from.
///
/// # Panics
/// Then.
#[expect(clippy::panic, reason = "a leak fails the test")]
pub fn assert_absent(what: &str, bytes: impl AsRef<[u8]>) {
    if let Some(words) = find(bytes.as_ref()) {
        panic!("{what} shows {words}");
    }
}

/// Fails the test when a planted key is in a file under `folder`, unless it is failing already.
///
/// # Panics
/// Then.
#[expect(clippy::panic, reason = "a leak fails the test")]
pub fn assert_absent_in(folder: &Path) {
    if !std::thread::panicking()
        && let Some(words) = find_in(folder)
    {
        panic!("a file shows {words}");
    }
}

/// A stream of pieces, searched also where two of them meet.
#[derive(Debug, Default)]
pub struct KeyWatch {
    tail: Vec<u8>,
}

impl KeyWatch {
    /// Finds a planted key in the next piece, or one that began in the piece before.
    pub fn find(&mut self, piece: &str) -> Option<String> {
        let longest = 3 * KEY.len().max(OTHER_KEY.len());
        self.tail.extend_from_slice(piece.as_bytes());
        let found = find(&self.tail);
        let done = self.tail.len().saturating_sub(longest);
        self.tail.drain(..done);
        found
    }
}

/// How a key may be written down.
fn spellings(key: &str) -> Vec<(&'static str, String)> {
    let hex = key.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let half = key.get(..key.len() / 2).unwrap_or(key);
    let mut all = vec![
        ("its first half", half.to_owned()),
        ("as JSON", key.replace('/', "\\/")),
        ("in a URL", percent(key)),
        ("in hex", hex),
        ("reversed", key.chars().rev().collect()),
    ];
    // Base64 shows three bytes in four letters, so what stands before shifts all letters.
    all.extend((0..3).map(|skip| ("in base64", base64(key.as_bytes(), skip))));
    all
}

fn percent(key: &str) -> String {
    key.bytes()
        .map(|b| {
            if b.is_ascii_alphanumeric() || b == b'-' {
                char::from(b).to_string()
            } else {
                format!("%{b:02X}")
            }
        })
        .collect()
}

/// The letters that all of `bytes` behind the first `skip` have in base64, whatever stands around them.
fn base64(bytes: &[u8], skip: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let whole = bytes.get(skip..).unwrap_or_default().chunks_exact(3);
    let letters = whole.flat_map(|three| {
        let number = three.iter().fold(0_usize, |number, byte| number << 8 | usize::from(*byte));
        [18, 12, 6, 0].map(|shift| LETTERS.get(number >> shift & 63).copied().unwrap_or_default())
    });
    letters.map(char::from).collect()
}

fn position(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, needle)
}
