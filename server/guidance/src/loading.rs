//! A skill as the model is given it: its text between marks, its folder and the files in it.

use crate::front_matter::parted;
use crate::marks::{said, unmarked};
use crate::skills::{FILE, Skill, text};
use ropewalk_protocol::Content;
use ropewalk_protocol::content::briefly;
use ropewalk_tools::walk::is_store_name;
use ropewalk_workspace::{ContentHash, View};
use std::path::Path;

/// The name of the marks.
const MARK: &str = "skill-loaded";

/// A skill whose text the model has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedSkill {
    /// Its name.
    pub name: String,
    /// The hash of its file.
    pub hash: ContentHash,
}

impl LoadedSkill {
    /// True if the text of a skill of this name stands there.
    pub fn is_in(&self, content: &[Content]) -> bool {
        briefly(content).contains(&format!("<{MARK} name=\"{}\">", self.name))
    }
}

/// The most characters of its text.
const MOST: usize = 20_000;

/// The most names of files.
const NAMED: usize = 50;

/// The most names that are looked at.
const COUNTED: usize = 1_000;

/// How deep in its folder names are looked for.
const DEEPEST: usize = 4;

/// A skill that is about to be given to the model.
#[derive(Debug)]
pub struct Loading {
    /// Its name, and the text that it has now.
    pub skill: LoadedSkill,
    /// The message that gives it.
    pub words: String,
}

impl Loading {
    /// Reads a skill. Blocking.
    ///
    /// # Errors
    /// Why it can't be read, in words for the model.
    pub fn read(view: &View, skill: &Skill) -> Result<Self, String> {
        let Skill { name, folder, shown, place, .. } = skill;
        let whole = text(view, &folder.join(FILE), place.as_ref())
            .map_err(|why| format!("The skill {name} can't be loaded: {why} ({shown})"))?;
        let hash = ContentHash::of(whole.as_bytes());
        let body = unmarked(&said(parted(&whole).1.trim()), MARK);
        let end = body.char_indices().nth(MOST).map_or(body.len(), |(at, _)| at);
        let more = body.get(end..).unwrap_or_default().chars().count();
        let cut = match more {
            0 => String::new(),
            more => format!("\n(cut here: {more} more characters; read {shown} for the rest)"),
        };
        let body = body.get(..end).unwrap_or_default();
        let shown_folder = match shown.rsplit_once('/') {
            Some((folder, _)) => folder,
            None => ".",
        };
        let words = format!(
            "<{MARK} name=\"{name}\">\n{body}{cut}\n</{MARK}>\nFollow this skill for the task at hand. Paths in it \
             start in its folder, {shown_folder}.{}",
            files(folder)
        );
        Ok(Self { skill: LoadedSkill { name: name.clone(), hash }, words })
    }
}

/// The names of the files in a skill's folder, in words.
fn files(folder: &Path) -> String {
    let mut names = Vec::new();
    names_in(folder, "", 0, &mut names);
    names.retain(|name| name != FILE);
    names.sort_unstable();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    match (names.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!(" Files in it:\n{}", names.join("\n")),
        (false, more) => format!(" Files in it:\n{}\n... ({more} more)", names.join("\n")),
    }
}

/// No link is followed: it could lead anywhere.
fn names_in(folder: &Path, above: &str, depth: usize, names: &mut Vec<String>) {
    let Ok(all) = std::fs::read_dir(folder) else { return };
    for entry in all.flatten() {
        if names.len() >= COUNTED {
            return;
        }
        let Ok(kind) = entry.file_type() else { continue };
        let name = said(&entry.file_name().to_string_lossy()).replace('\n', " ");
        let below = format!("{above}{name}");
        match kind.is_dir() {
            true if depth + 1 < DEEPEST && !is_store_name(&entry.file_name()) => {
                names_in(&entry.path(), &format!("{below}/"), depth + 1, names);
            }
            true => {}
            false => names.push(below),
        }
    }
}
