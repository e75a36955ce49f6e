//! Search for skills: the folders of the roots, as the view has them, then the user's own, as the disk has them.
//!
//! A file that is not open and as it was is not read again. Links that lead out of the roots are refused; in the user's
//! own folders links are the user's.

use crate::front_matter::{self, FrontMatter};
use crate::stamp::FileStamp;
use ropewalk_text::plain::plain_line;
use ropewalk_tools::bounds::preview;
use ropewalk_tools::walk::is_store_name;
use ropewalk_workspace::{DocId, FileState, Place, View};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folders of a root, and of the user's home, that may hold a folder of skills.
pub const PLACES: [&str; 3] = [".ropewalk", ".agents", ".claude"];

/// The file that makes a folder a skill.
pub(crate) const FILE: &str = "SKILL.md";

/// How deep below a folder of skills a skill may lie.
const DEEPEST: usize = 4;

/// The most skills.
const MOST: usize = 2_000;

/// The most folders that are looked into.
const MOST_FOLDERS: usize = 20_000;

/// The largest file, in bytes.
pub const LARGEST: u64 = 1 << 20;

/// The longest name, in characters.
const LONGEST_NAME: usize = 64;

/// The longest description, in characters.
pub(crate) const LONGEST_DESCRIPTION: usize = 1_024;

/// A skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// The name by which it is loaded.
    pub name: String,
    /// Description on one line: the tasks that it is for.
    pub description: String,
    /// Its folder, links resolved.
    pub folder: PathBuf,
    /// Its file as the model can name it.
    pub shown: String,
    /// Its place in a root; None for the user's own.
    pub place: Option<Place>,
}

/// All skills, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundSkills {
    /// The first of each name.
    pub skills: BTreeMap<String, Arc<Skill>>,
    /// Faults, in sentences for the user.
    pub faults: Vec<String>,
}

/// Heads of files that were read before, by path.
#[derive(Debug, Default)]
pub struct SkillCache(HashMap<PathBuf, (FileStamp, SkillHead)>);

/// A file's head, or what is wrong with it.
type SkillHead = Result<Arc<FrontMatter>, String>;

/// A file that may be a skill.
struct SkillCandidate {
    /// Links resolved.
    file: PathBuf,
    folder: PathBuf,
    /// The name of its folder, as it is in the folder above.
    named: String,
    place: Option<Place>,
    /// None where an open document or the fork has the text.
    stamp: Option<FileStamp>,
}

/// Finds all skills. `user`: the user's folders that may hold a folder of skills, the first before the others. Blocking.
pub fn find(view: &View, user: &[PathBuf], cache: &mut SkillCache) -> FoundSkills {
    let mut search = SkillSearch::new(view);
    for root in view.roots().iter() {
        for name in PLACES {
            search.in_root(&root.path().join(name).join("skills"));
        }
    }
    user.iter().for_each(|folder| search.of_user(&folder.join("skills")));
    let SkillSearch { candidates, faults, .. } = search;
    let mut found = FoundSkills { faults, ..FoundSkills::default() };
    let mut heads = HashMap::new();
    for candidate in candidates {
        let head = head(view, &candidate, cache);
        if let Some(stamp) = candidate.stamp.filter(FileStamp::is_settled) {
            heads.insert(candidate.file.clone(), (stamp, head.clone()));
        }
        take(&mut found, candidate, head);
    }
    cache.0 = heads;
    found
}

/// Takes in one of them, unless it is none, or a skill of that name came before.
fn take(found: &mut FoundSkills, candidate: SkillCandidate, head: SkillHead) {
    let SkillCandidate { file, folder, named, place, .. } = candidate;
    let shown = match &place {
        Some(place) => place.shown.clone(),
        None => file.to_string_lossy().into_owned(),
    };
    let mut say = |words: String| found.faults.push(plain_line(&words));
    let head = match head {
        Ok(head) => head,
        Err(why) => return say(format!("The skill {shown} is skipped: {why}.")),
    };
    let Some(description) = &head.description else {
        return say(format!("The skill {shown} is skipped: its head has no `description`."));
    };
    let given = head.name.clone().unwrap_or_else(|| named.clone());
    let name = match [&given, &named].into_iter().find(|name| is_name(name)) {
        Some(name) => name.clone(),
        None => {
            return say(format!(
                "The skill {shown} is skipped: its name has other characters than letters, digits, - and _."
            ));
        }
    };
    if given != named {
        let given = preview(&given, LONGEST_NAME);
        say(format!(
            "The skill {shown} names itself {given}, unlike its folder; its name is {name}."
        ));
    }
    if let Some(first) = found.skills.get(&name) {
        let first = &first.shown;
        return found.faults.push(plain_line(&format!(
            "The skill {shown} is not used: {first} has the same name and comes first."
        )));
    }
    let description = preview(description, LONGEST_DESCRIPTION);
    let skill = Skill { name: name.clone(), description, folder, shown, place };
    found.skills.insert(name, Arc::new(skill));
}

/// True if it can be a name: it stands in the prompt, between marks, and behind a slash.
pub fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    !name.is_empty()
        && name.chars().count() <= LONGEST_NAME
        && name.chars().all(is_plain)
        && name.chars().any(char::is_alphanumeric)
}

fn head(view: &View, candidate: &SkillCandidate, cache: &SkillCache) -> SkillHead {
    if let (Some(stamp), Some((known, head))) = (candidate.stamp, cache.0.get(&candidate.file))
        && stamp == *known
    {
        return head.clone();
    }
    if candidate.stamp.is_some_and(|stamp| stamp.len() > LARGEST) {
        return Err(too_large());
    }
    let text = text(view, &candidate.file, candidate.place.as_ref())?;
    match front_matter::parted(&text).0 {
        Some(head) => front_matter::read(head).map(Arc::new),
        None => Err("it does not begin with a head between two lines `---`".to_owned()),
    }
}

/// The text of a file of a skill.
///
/// # Errors
/// Why there is none, in words.
pub fn text(view: &View, file: &Path, place: Option<&Place>) -> Result<String, String> {
    let Some(place) = place else {
        let len = file.metadata().map_err(|error| error.to_string())?.len();
        if len > LARGEST {
            return Err(too_large());
        }
        let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    };
    match view.read(place).map_err(|error| error.to_string())? {
        FileState::Text { text, .. } if text.len() as u64 > LARGEST => Err(too_large()),
        FileState::Text { text, .. } => Ok(text.to_string()),
        FileState::Binary { .. } => Err("it is no text".to_owned()),
        FileState::Missing => Err("it is gone".to_owned()),
    }
}

fn too_large() -> String {
    format!("it is larger than {} MB", LARGEST >> 20)
}

/// A search under way.
struct SkillSearch<'a> {
    view: &'a View,
    /// Files of the fork and open documents that are named like a skill's.
    overlay: BTreeMap<PathBuf, (Place, bool)>,
    candidates: Vec<SkillCandidate>,
    faults: Vec<String>,
    /// Folders looked into, and files taken, by their real paths: two names of one are one.
    seen: HashSet<PathBuf>,
    folders: usize,
    is_full: bool,
}

impl<'a> SkillSearch<'a> {
    fn new(view: &'a View) -> Self {
        Self {
            view,
            overlay: overlay(view),
            candidates: Vec::new(),
            faults: Vec::new(),
            seen: HashSet::new(),
            folders: 0,
            is_full: false,
        }
    }

    fn in_root(&mut self, folder: &Path) {
        let roots = self.view.roots();
        let resolve = |path: &Path| Some(roots.place_of(path).ok()?.path);
        match resolve(folder) {
            Some(real) => {
                self.look(&real, 0, true, &resolve);
                self.lying_over(&real);
            }
            None => self.leads_out(folder, true),
        }
    }

    fn of_user(&mut self, folder: &Path) {
        let resolve = |path: &Path| path.canonicalize().ok();
        if let Some(real) = resolve(folder) {
            self.look(&real, 0, false, &resolve);
        }
    }

    /// Tells of a link out of the roots. The user's own may lead nowhere.
    fn leads_out(&mut self, path: &Path, in_root: bool) {
        if in_root && path.symlink_metadata().is_ok() {
            let words = format!("{} leads out of the open folders and is skipped.", path.display());
            self.faults.push(plain_line(&words));
        }
    }

    /// Looks into a real folder, so many folders below the one of all skills.
    fn look(
        &mut self,
        folder: &Path,
        depth: usize,
        in_root: bool,
        resolve: &dyn Fn(&Path) -> Option<PathBuf>,
    ) {
        if self.is_full || !self.seen.insert(folder.to_owned()) {
            return;
        }
        self.folders += 1;
        if self.folders > MOST_FOLDERS {
            return self.is_too_much(&format!("{MOST_FOLDERS} folders"));
        }
        let Ok(all) = std::fs::read_dir(folder) else { return };
        let mut names: Vec<_> =
            all.flatten().map(|entry| (entry.file_name(), entry.file_type())).collect();
        names.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, kind) in names {
            let path = folder.join(&name);
            let Ok(kind) = kind else { continue };
            let real = match kind.is_symlink() {
                true => match resolve(&path) {
                    Some(real) if real.is_dir() => real,
                    Some(_) => continue,
                    None => {
                        self.leads_out(&path, in_root);
                        continue;
                    }
                },
                false if kind.is_dir() => path,
                false => continue,
            };
            if !is_store_name(&name)
                && !self.is_skill(&real, &name.to_string_lossy(), in_root, resolve)
                && depth + 1 < DEEPEST
            {
                self.look(&real, depth + 1, in_root, resolve);
            }
        }
    }

    /// True if the folder is a skill, which is taken.
    fn is_skill(
        &mut self,
        folder: &Path,
        named: &str,
        in_root: bool,
        resolve: &dyn Fn(&Path) -> Option<PathBuf>,
    ) -> bool {
        let mut file = folder.join(FILE);
        if let Some((_, is_there)) = self.overlay.get(&file) {
            // Taken with all that lies over the disk.
            return *is_there;
        }
        let Ok(mut meta) = file.symlink_metadata() else { return false };
        if meta.is_symlink() {
            let Some(real) = resolve(&file) else {
                self.leads_out(&file, in_root);
                return false;
            };
            let Ok(there) = real.metadata() else { return false };
            (file, meta) = (real, there);
        }
        if !meta.is_file() {
            return false;
        }
        let place = match in_root {
            true => match self.view.roots().place(file.clone()) {
                Some(place) => Some(place),
                None => return false,
            },
            false => None,
        };
        let (folder, named, stamp) =
            (folder.to_owned(), named.to_owned(), Some(FileStamp::of(&meta)));
        self.add(SkillCandidate { file, folder, named, place, stamp });
        true
    }

    /// Skills below a folder that the fork or an open document has.
    fn lying_over(&mut self, folder: &Path) {
        let over: Vec<(PathBuf, Place)> = self
            .overlay
            .range(folder.to_owned()..)
            .take_while(|(file, _)| file.starts_with(folder))
            .filter(|(_, (_, is_there))| *is_there)
            .map(|(file, (place, _))| (file.clone(), place.clone()))
            .collect();
        for (file, place) in over {
            let below = file.strip_prefix(folder).map_or(0, |path| path.components().count());
            let named = file.parent().and_then(Path::file_name);
            let named = named.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if (2..=DEEPEST + 1).contains(&below) {
                let folder = file.parent().map(Path::to_owned).unwrap_or_default();
                self.add(SkillCandidate { file, folder, named, place: Some(place), stamp: None });
            }
        }
    }

    fn add(&mut self, candidate: SkillCandidate) {
        if self.is_full || !self.seen.insert(candidate.file.clone()) {
            return;
        }
        if self.candidates.len() >= MOST {
            return self.is_too_much(&format!("{MOST} skills"));
        }
        self.candidates.push(candidate);
    }

    fn is_too_much(&mut self, most: &str) {
        self.is_full = true;
        self.faults.push(format!("There are more than {most}; the rest is skipped."));
    }
}

/// Files of the fork and open documents that are named like a skill's, and whether they are there.
fn overlay(view: &View) -> BTreeMap<PathBuf, (Place, bool)> {
    let is_named = |path: &Path| path.file_name().is_some_and(|name| name == FILE);
    let place = |id: &DocId| view.roots().place_of(&id.path()?).ok();
    let ids: BTreeSet<&DocId> = view.buffers().keys().collect();
    let buffers = ids.into_iter().filter(|id| id.path().is_some_and(|path| is_named(&path)));
    let open = buffers.filter_map(place).map(|place| (place, true));
    let forked =
        view.entries().values().filter_map(|entry| Some((entry.place.clone()?, entry.is_file())));
    let all = open.chain(forked).filter(|(place, _)| is_named(&place.path));
    all.map(|(place, is_there)| (place.path.clone(), (place, is_there))).collect()
}

#[cfg(test)]
mod tests;
