//! A project's configuration: what makes things stricter counts, what else it asks for counts only
//! if the user trusts the folder with exactly that. How the asking is worded is in `enables`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::check::{Setting, ValueRefusal};
use super::{ConfigBuilder, enables};
use crate::problem::{ValueSource, plainly};
use crate::rules::RuleList;
use crate::sources::MAX_FILE_BYTES;
use crate::trust::{self, Answer, Store};
use crate::{Config, TrustQuestion};

/// Things that one project may ask for: as many as somebody reads before they answer.
const MOST_ENABLES: usize = 40;

/// One key that a project sets.
pub(super) struct Wish {
    pub(super) path: Vec<String>,
    pub(super) setting: Setting,
    pub(super) source: ValueSource,
}

/// A project whose file is being read.
pub(super) struct Project {
    /// The root as it was opened.
    opened: PathBuf,
    /// The root, links resolved.
    root: PathBuf,
    /// Settings as strict as the user's, or stricter.
    stricter: Vec<Wish>,
    /// Everything else.
    asked: Vec<AskedWish>,
}

struct AskedWish {
    wish: Wish,
    /// In words.
    lines: Vec<String>,
    /// For the hash: the key and the value, one line.
    canonical: String,
}

impl ConfigBuilder<'_> {
    /// Reads the projects' files, and sets what of them counts. What is trusted comes first, so that
    /// one project's strictness holds against what another is trusted with.
    pub(super) fn projects(&mut self) {
        let mut stricter = Vec::new();
        let mut store = None;
        self.own = Some(self.config.clone());
        for (root, source) in self.sources.projects(self.environment) {
            let resolved = self.environment.canonical(&root);
            self.project = Some(Project {
                opened: root.clone(),
                root: resolved.unwrap_or_else(|_| root.clone()),
                stricter: Vec::new(),
                asked: Vec::new(),
            });
            self.file(source.clone(), Some(&root));
            let Some(project) = self.project.take() else { continue };
            stricter.extend(project.stricter);
            if !project.asked.is_empty() {
                self.answer(&source, project.root, project.asked, &mut store);
            }
        }
        for Wish { path, setting, source } in stricter {
            if let Some(setting) = self.tightened(&path, setting) {
                self.set(&path, setting, &source);
            }
        }
    }

    /// Takes one key of the project that is being read.
    pub(super) fn wish(&mut self, wish: Wish) -> Result<(), ValueRefusal> {
        let own = self.own.as_ref().unwrap_or(&self.config);
        let loosens = loosens(own, &wish.path, &wish.setting);
        let asked = match (&self.project, loosens) {
            (Some(project), true) => {
                let root = &project.opened;
                let mut canonical = enables::canonical(&wish.path, &wish.setting, root);
                if let Setting::PromptFile(file) = &wish.setting {
                    canonical += &self.content_hash(root, file)?;
                }
                let lines = enables::lines(&wish.path, &wish.setting, root)?;
                Some((lines, canonical))
            }
            _ => None,
        };
        let Some(project) = &mut self.project else { return Ok(()) };
        match asked {
            Some((lines, canonical)) => project.asked.push(AskedWish { wish, lines, canonical }),
            None => project.stricter.push(wish),
        }
        Ok(())
    }

    /// A file that a project brings is trusted with its text, all of it.
    fn content_hash(&self, root: &Path, file: &Path) -> Result<String, ValueRefusal> {
        let bytes =
            self.environment.read_inside(root, file, MAX_FILE_BYTES + 1).map_err(|error| {
                ValueRefusal(format!("is ignored: the file can't be read: {error}"))
            })?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            let words = format!("is ignored: the file is longer than {MAX_FILE_BYTES} bytes");
            return Err(ValueRefusal(words));
        }
        Ok(hex(&Sha256::digest(bytes)))
    }

    /// Sets what the user trusts the folder with, and says what waits for an answer.
    fn answer(
        &mut self,
        source: &ValueSource,
        root: PathBuf,
        asked: Vec<AskedWish>,
        store: &mut Option<Store>,
    ) {
        let keys: Vec<String> = asked
            .iter()
            .map(|asked| format!("`{}`", plainly(&asked.wish.path.join("."), 60)))
            .collect();
        let (keys, are) = (keys.join(", "), if asked.len() == 1 { "is" } else { "are" });
        let count: usize = asked.iter().map(|asked| asked.lines.len()).sum();
        if count > MOST_ENABLES {
            let own = self.own_file();
            let sentence = format!(
                "what {source} asks for is ignored: it is {count} things, and more than {MOST_ENABLES} are not read before they are trusted; put what you want of it into {own}"
            );
            return self.problem(source, None, sentence);
        }
        let canonical: BTreeSet<&str> = asked.iter().map(|asked| &*asked.canonical).collect();
        let mut text = String::from("ropewalk trust 1\n");
        for line in canonical {
            text.push_str(line);
            text.push('\n');
        }
        let hash = hex(&Sha256::digest(text));
        let store = match store {
            Some(store) => store,
            None => store.insert(self.load_store()),
        };
        match store.answer(&root, &hash) {
            Some(Answer::Trust) => {
                for AskedWish { wish: Wish { path, setting, source }, .. } in asked {
                    self.set(&path, setting, &source);
                }
            }
            Some(Answer::Never) => {}
            None => {
                let sentence = format!(
                    "{keys} in {source} {are} ignored unless you trust that folder, which `ropewalk trust` asks: a project's configuration may only make things stricter by itself"
                );
                self.problem(source, None, sentence);
                let file = source.file.clone().unwrap_or_default();
                let enables = asked.into_iter().flat_map(|asked| asked.lines).collect();
                self.config.untrusted.push(TrustQuestion { root, file, enables, hash });
            }
        }
    }

    fn load_store(&mut self) -> Store {
        Store::load(self.environment).unwrap_or_else(|error| {
            let source = self.store_source();
            let sentence = format!("{source} can't be read: {error}; no folder is trusted");
            self.problem(&source, None, sentence);
            Store::default()
        })
    }

    fn store_source(&self) -> ValueSource {
        let file = trust::file(self.environment).unwrap_or_default();
        ValueSource::of_file(crate::ConfigLayer::User, file, self.environment)
    }

    /// The stricter part of a project's setting: `None`
    /// when it says what holds already or another project is stricter still.
    fn tightened(&self, path: &[String], setting: Setting) -> Option<Setting> {
        let now = &self.config;
        let name = path.get(1).map_or("", String::as_str);
        let counts = match &setting {
            Setting::Mode(mode) => *mode > now.mode,
            Setting::Limit(field, number) => {
                let mut now = now.limits;
                number < field(&mut now)
            }
            Setting::Switch(on) => !on && now.mechanism_enabled(name),
            Setting::Team(on) => !on && now.team.enabled,
            Setting::TeamBound(field, number) => {
                let mut now = now.team.bounds;
                number < field(&mut now)
            }
            Setting::Rules(..) => true,
            Setting::Tools(names) => {
                let left: Vec<String> =
                    names.iter().filter(|name| now.tool_enabled(name)).cloned().collect();
                return (now.tools.as_ref() != Some(&left)).then_some(Setting::Tools(left));
            }
            // These are never stricter.
            Setting::Model(_)
            | Setting::PromptFile(_)
            | Setting::PromptAppend(_)
            | Setting::Verify(_)
            | Setting::SelfCheck(_)
            | Setting::Log(_)
            | Setting::Locks(_)
            | Setting::Private(_)
            | Setting::CaFile(_)
            | Setting::Keep(..)
            | Setting::OverFork(_)
            | Setting::CommandBound(..)
            | Setting::Variables(_)
            | Setting::Board(_)
            | Setting::Provider(..) => false,
        };
        counts.then_some(setting)
    }
}

/// True if a project that sets this would do more than make stricter what the user set.
fn loosens(own: &Config, path: &[String], setting: &Setting) -> bool {
    let name = path.get(1).map_or("", String::as_str);
    match setting {
        Setting::Mode(mode) => *mode < own.mode,
        Setting::Limit(field, number) => {
            let mut own = own.limits;
            number > field(&mut own)
        }
        Setting::Switch(on) => *on && !own.mechanism_enabled(name),
        Setting::Team(on) => *on && !own.team.enabled,
        Setting::TeamBound(field, number) => {
            let mut own = own.team.bounds;
            number > field(&mut own)
        }
        Setting::Tools(names) => names.iter().any(|name| !own.tool_enabled(name)),
        Setting::Rules(list, _) => *list == RuleList::Allow,
        Setting::Model(_)
        | Setting::PromptFile(_)
        | Setting::PromptAppend(_)
        | Setting::Verify(_)
        | Setting::SelfCheck(_)
        | Setting::Log(_)
        | Setting::Locks(_)
        | Setting::Private(_)
        | Setting::CaFile(_)
        | Setting::Keep(..)
        | Setting::OverFork(_)
        | Setting::CommandBound(..)
        | Setting::Variables(_)
        | Setting::Board(_)
        | Setting::Provider(..) => true,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
