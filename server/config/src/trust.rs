//! Trust in folders: what a project's configuration asks for beyond strictness, and the store of the
//! user's answers. Nothing is asked here, and what is trusted is laid over the layers elsewhere.
//!
//! An answer is to a folder *and* to exactly what its configuration would enable, by a hash. Another
//! word in it is another question; a comment, or a key that only makes things stricter, is not.

use std::io;
use std::path::{Path, PathBuf};

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table};

use crate::private_file;
use crate::problem::plainly;
use crate::sources::{Environment, MAX_FILE_BYTES, state_folder};

/// Answers kept; past it the oldest is forgotten, and that folder asked about again.
const MOST_ANSWERS: usize = 1_000;

/// Settings that a project's configuration would enable, if the user trusted its folder. Until then it
/// is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustQuestion {
    /// The folder, links resolved: what an answer is remembered for.
    pub root: PathBuf,
    /// The file that asks.
    pub file: PathBuf,
    /// Its wishes in words, one line each and fit to be shown: control characters and those
    /// that turn the direction of text are escaped, long text is cut and says so.
    pub enables: Vec<String>,
    /// SHA-256, in hexadecimal, of the keys and values asked for in a canonical form.
    pub hash: String,
}

impl TrustQuestion {
    /// The question for the user, one paragraph. What comes from outside, the folder's name and the
    /// values, stands in back quotes, which it can't close.
    #[must_use]
    pub fn question(&self) -> String {
        let items = self.enables.iter().enumerate();
        let items: Vec<String> = items.map(|(n, item)| format!("({}) {item}", n + 1)).collect();
        format!(
            "The folder `{}` brings a configuration, `.ropewalk/config.toml`, that asks to {}. Do you trust this folder with that? Until you do, it is ignored; you are asked again if it ever asks for something else.",
            plainly(&self.root.to_string_lossy(), usize::MAX),
            items.join("; ")
        )
    }
}

/// The user's answer to one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It counts.
    Trust,
    /// It doesn't, and isn't asked about again until it asks for something else.
    Never,
}

impl Answer {
    fn as_str(self) -> &'static str {
        match self {
            Answer::Trust => "trust",
            Answer::Never => "never",
        }
    }
}

/// One remembered answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustRecord {
    /// The folder, links resolved.
    pub root: PathBuf,
    /// [`TrustQuestion::hash`].
    pub hash: String,
    /// The user's answer.
    pub answer: Answer,
}

/// All remembered answers, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Store {
    answers: Vec<TrustRecord>,
}

impl Store {
    /// Reads the store. No file is an empty store.
    ///
    /// # Errors
    /// When it can't be read or is no TOML: then nothing is trusted.
    pub fn load(environment: &dyn Environment) -> io::Result<Store> {
        let Some(file) = file(environment) else { return Ok(Store::default()) };
        let bytes = match environment.read(&file, MAX_FILE_BYTES + 1) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Store::default()),
            Err(error) => return Err(error),
        };
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(invalid("it is too long"));
        }
        let text = String::from_utf8(bytes).map_err(|_| invalid("it is not UTF-8 text"))?;
        Ok(Store { answers: read(&document(&text)?) })
    }

    /// The user's answer to this folder (links resolved) asking for this.
    #[must_use]
    pub fn answer(&self, root: &Path, hash: &str) -> Option<Answer> {
        let found = self.answers.iter().find(|known| known.root == root && known.hash == hash);
        found.map(|known| known.answer)
    }

    /// True if the user trusts this folder (links resolved) with this.
    #[must_use]
    pub fn trusted(&self, root: &Path, hash: &str) -> bool {
        self.answer(root, hash) == Some(Answer::Trust)
    }

    /// All answers, the oldest first.
    #[must_use]
    pub fn list(&self) -> &[TrustRecord] {
        &self.answers
    }
}

/// Where answers are kept: `trust.toml` in the state folder; `None` without a home.
#[must_use]
pub fn file(environment: &dyn Environment) -> Option<PathBuf> {
    Some(state_folder(environment)?.join("trust.toml"))
}

/// Remembers an answer to [`TrustQuestion::root`] and [`TrustQuestion::hash`], in place of an earlier one.
/// The file is replaced in one step and readable for its owner only; the next
/// [`Config::build`](crate::Config::build) knows.
///
/// # Errors
/// `InvalidData` when the store is broken, `InvalidInput` when the folder's name is not Unicode and
/// so can't be told from others, else what the disk says.
pub fn remember(
    environment: &dyn Environment,
    root: &Path,
    hash: &str,
    answer: Answer,
) -> io::Result<()> {
    let Some(name) = root.to_str() else {
        let words = "the folder's name is not Unicode: it can't be remembered";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
    };
    change(environment, |folders| {
        folders.retain(|table| !(says(table, "root", name) && says(table, "hash", hash)));
        let mut table = Table::new();
        for (key, value) in [("root", name), ("hash", hash), ("answer", answer.as_str())] {
            table.insert(key, toml_edit::value(value));
        }
        folders.push(table);
        while folders.len() > MOST_ANSWERS {
            folders.remove(0);
        }
    })
}

/// Forgets every answer to a folder (links resolved), which is then asked about again. Gives how many
/// there were.
///
/// # Errors
/// As for [`remember`].
pub fn forget(environment: &dyn Environment, root: &Path) -> io::Result<usize> {
    let Some(name) = root.to_str() else { return Ok(0) };
    let mut forgotten = 0;
    change(environment, |folders| {
        let before = folders.len();
        folders.retain(|table| !says(table, "root", name));
        forgotten = before - folders.len();
    })?;
    Ok(forgotten)
}

fn change(
    environment: &dyn Environment,
    change: impl FnOnce(&mut ArrayOfTables),
) -> io::Result<()> {
    let file = file(environment).ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, "there is no home folder to remember it in")
    })?;
    private_file::update(&file, |text| {
        let mut document = document(text.unwrap_or_default())?;
        let folders = document
            .entry("folder")
            .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()))
            .as_array_of_tables_mut()
            .ok_or_else(|| invalid("`folder` in it is not a list of tables"))?;
        change(folders);
        Ok(Some(document.to_string()))
    })
}

/// The whole answers in it: half an answer is none.
fn read(document: &DocumentMut) -> Vec<TrustRecord> {
    let Some(folders) = document.get("folder").and_then(Item::as_array_of_tables) else {
        return Vec::new();
    };
    let whole = |table: &Table| {
        let text = |key| table.get(key).and_then(Item::as_str);
        let answer = [Answer::Trust, Answer::Never].into_iter();
        Some(TrustRecord {
            root: PathBuf::from(text("root")?),
            hash: text("hash")?.to_owned(),
            answer: answer.into_iter().find(|answer| Some(answer.as_str()) == text("answer"))?,
        })
    };
    folders.iter().filter_map(whole).collect()
}

fn document(text: &str) -> io::Result<DocumentMut> {
    text.parse().map_err(|_| invalid("it holds broken TOML; fix or remove it"))
}

fn says(table: &Table, key: &str, value: &str) -> bool {
    table.get(key).and_then(Item::as_str) == Some(value)
}

fn invalid(words: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, words)
}
