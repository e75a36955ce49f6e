//! How far a command would reach: where it would run, with which network, and which paths outside it names.
//!
//! Looking paths up is done here, once, before policy decides. A path is taken for outside only when something is
//! there: what a command names and the machine doesn't have may as well be a pattern or a route of a server.

use crate::danger::{self, SimpleCommand};
use crate::runner::{CommandMode, RunnerInfo};
use crate::tool::Subject;
use ropewalk_workspace::View;
use std::path::{Component, Path, PathBuf};

/// The most words of a command that are looked up as paths.
const MOST_LOOKED_UP: usize = 500;

/// How many paths are named in a reason.
const NAMED: usize = 5;

/// See the module. Of a call that runs no command it says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Where commands run.
    pub mode: CommandMode,
    /// True if it wants the network, or what listens on this machine.
    pub network: bool,
    /// True if with the network it reaches sockets of other programs that lie in no folder.
    pub open_sockets: bool,
    /// Existing paths that it names outside of the open folders, the system's folders, toolchains, build caches and
    /// temporary folders, and what may hold secrets in a toolchain; absolute, links resolved, each once.
    pub outside: Vec<PathBuf>,
    /// True if it was allowed although it names files that may hold secrets.
    pub secrets: bool,
}

impl Access {
    /// The access a call would need. A few system calls per word that looks like a path.
    pub fn of(subject: &Subject, view: &View, runner: &RunnerInfo) -> Self {
        let outside = match (&subject.command, runner.mode) {
            (Some(command), CommandMode::OverFork) => outside(command, subject, view, runner),
            _ => Vec::new(),
        };
        let RunnerInfo { mode, open_sockets, .. } = *runner;
        Self { mode, network: subject.network, open_sockets, outside, secrets: false }
    }

    /// Why the user is asked though no rule and no secret asks; None when nothing it does reaches beyond the fork.
    pub(super) fn why_ask(&self) -> Option<String> {
        match self.mode {
            CommandMode::InPlace => {
                return Some("commands run on the disk and change it at once".to_owned());
            }
            CommandMode::Copy => {
                let why = "it runs on a copy of the open folders, but nothing keeps it from the rest of the disk or the network";
                return Some(why.to_owned());
            }
            CommandMode::OverFork => {}
        }
        let mut why = Vec::new();
        if self.network {
            why.push("it asks for network access".to_owned());
            if self.open_sockets {
                // Landlock has kept from them since its sixth version.
                let words = "could use sockets such as the desktop's with it, from which this kernel (before Linux 6.12) can't keep it";
                why.push(words.to_owned());
            }
        }
        if !self.outside.is_empty() {
            let more = self.outside.len().saturating_sub(NAMED);
            let shown = self.outside.iter().take(NAMED).map(|path| path.display().to_string());
            let mut named = shown.collect::<Vec<_>>().join(", ");
            if more > 0 {
                named.push_str(&format!(" and {more} more"));
            }
            why.push(format!("it names {named}, outside the open folders"));
        }
        (!why.is_empty()).then(|| why.join(", and "))
    }
}

/// The paths of a command that lead outside.
fn outside(command: &str, subject: &Subject, view: &View, runner: &RunnerInfo) -> Vec<PathBuf> {
    let home = std::env::home_dir();
    let start =
        subject.paths.first().and_then(|cwd| view.contain(cwd).ok()).map(|place| place.path);
    let Some(mut cwd) = start.or_else(|| Some(view.roots().first()?.path().to_owned())) else {
        return Vec::new();
    };
    let is_open = |path: &Path| {
        let outputs = view.outputs().into_iter().chain([view.readable()]);
        view.roots()
            .iter()
            .chain(outputs.flat_map(|roots| roots.iter()))
            .any(|root| path.starts_with(root.path()))
            || runner.builds.as_ref().is_some_and(|builds| path.starts_with(builds))
    };
    let mut found: Vec<PathBuf> = Vec::new();
    let mut looked_up = 0;
    for part in danger::readable_commands(command).0 {
        for text in candidates(&part) {
            let Some(path) = absolute(text, &cwd, home.as_deref()) else { continue };
            looked_up += 1;
            if looked_up > MOST_LOOKED_UP {
                return found;
            }
            // A folder of the system's may be reached by a link of another name, and the other way round.
            let Ok(real) = path.canonicalize() else { continue };
            let is_known =
                [&path, &real].into_iter().all(|path| is_open(path) || (runner.shows)(path));
            if !is_known && !is_open(&real) && !found.contains(&real) {
                found.push(real);
            }
        }
        if let Some("cd" | "pushd") = part.program()
            && let Some(to) = part.words.get(1).filter(|word| word.sure_start().is_none())
        {
            cwd = absolute_or_below(to.text(), &cwd, home.as_deref());
        }
    }
    found
}

/// The texts of a simple command that may be paths: words, values behind `=`, and the parts of lists with `:`.
fn candidates(part: &SimpleCommand) -> impl Iterator<Item = &str> {
    let words = part.words.iter().map(|word| word.text());
    let targets = part.redirects.iter().map(|redirect| redirect.target.text());
    let texts = words.chain(targets).chain(part.assignments.iter().map(String::as_str));
    let texts = texts.filter(|text| !text.contains(char::is_whitespace) && text.len() < 4_096);
    texts.flat_map(|text| {
        let value = text.split_once('=').map(|(_, value)| value);
        let parts = text.contains(':').then(|| text.split([':', '='])).into_iter().flatten();
        // `-I/usr/include` and the like.
        let glued = text.strip_prefix('-').and_then(|rest| rest.get(rest.find('/')?..));
        std::iter::once(text).chain(value).chain(parts).chain(glued)
    })
}

/// A text as a path, if it may lead out of the folder it is used in. What a pattern or an expansion stands in is
/// known up to the folder before it.
fn absolute(text: &str, cwd: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let sure = match text.find(['*', '?', '[', '{', '$']) {
        Some(at) => text.get(..at)?.rsplit_once('/').map(|(folder, _)| folder)?,
        None => text,
    };
    let leads_out = sure.starts_with(['/', '~']) || sure.split('/').any(|part| part == "..");
    leads_out.then(|| absolute_or_below(sure, cwd, home))
}

/// A path from a folder, without `.` and `..`.
fn absolute_or_below(text: &str, cwd: &Path, home: Option<&Path>) -> PathBuf {
    let path = match (text.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => cwd.join(text),
    };
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}
