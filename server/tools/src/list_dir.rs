//! `list_dir`: what is in one folder of the view.

use crate::blocking::blocking;
use crate::files::{missing, no_disguise};
use crate::tool::{Context, Effect, Subject, ToolOutput, TypedTool};
use crate::walk::{tracked_besides, walker};
use futures::future::BoxFuture;
use ignore::DirEntry;
use ropewalk_files::repository::is_store_name;
use ropewalk_workspace::conversation::CONVERSATION;
use ropewalk_workspace::view::FrozenContent;
use ropewalk_workspace::{Place, View};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListDir;

/// The most names that are listed.
const MOST_NAMES: usize = 1_000;

/// Input of a call.
#[derive(Deserialize, JsonSchema, Debug)]
pub struct ListDirInput {
    /// The folder; the first root if left out.
    path: Option<String>,
}

impl TypedTool for ListDir {
    type Input = ListDirInput;
    const NAME: &'static str = "list_dir";
    const DESCRIPTION: &'static str = "Lists a folder; folders end in /.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, input: &ListDirInput) -> Subject {
        Subject::path(input.path.as_deref().unwrap_or("."))
    }

    fn run(&self, input: ListDirInput, context: Context) -> BoxFuture<'static, ToolOutput> {
        blocking(move |_| list(&input, &context))
    }
}

fn list(input: &ListDirInput, context: &Context) -> Result<ToolOutput, ToolOutput> {
    let view = &context.view;
    let path = input.path.as_deref().unwrap_or(".");
    let place = match view.contain(path) {
        // As the folder of a loaded skill.
        Err(_) if Path::new(path).is_absolute() => {
            view.contain_readable(path).map(|(place, _)| place)
        }
        found => found,
    };
    let place = place.map_err(ToolOutput::error)?;
    no_disguise(&place, path)?;
    let made = view.entries().get(&place.doc()).is_some_and(|entry| entry.content.is_some());
    if made || place.path.is_file() {
        return Err(ToolOutput::error(format_args!(
            "{} is a file, not a folder. Read it instead",
            place.shown
        )));
    }
    let (mut names, on_disk) = on_disk(&place);
    let found = overlay(view, &place, &mut names);
    if !on_disk && !found {
        return Err(missing(view, &place));
    }
    let mut ignored = Vec::new();
    let mut lines = Vec::new();
    for (name, entry) in &names {
        if entry.ignored { &mut ignored } else { &mut lines }
            .push(format!("{name}{}", entry.after));
    }
    let more = lines.len().saturating_sub(MOST_NAMES);
    lines.truncate(MOST_NAMES);
    if more > 0 {
        lines.push(format!("... ({more} more)"));
    }
    if lines.is_empty() {
        lines.push("(empty folder)".to_owned());
    }
    if !ignored.is_empty() {
        let more = ignored.len().saturating_sub(20);
        ignored.truncate(20);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        lines.push(format!("(ignored: {}{more})", ignored.join(", ")));
    }
    let others: Vec<String> =
        view.roots().iter().skip(1).map(|root| format!("{}/", root.name())).collect();
    if place.shown == "." && !others.is_empty() {
        lines.push(format!("(other roots: {})", others.join(", ")));
    }
    Ok(ToolOutput::text(lines.join("\n")))
}

/// A name in a folder.
struct FolderEntry {
    /// Text after the name.
    after: String,
    ignored: bool,
}

/// The names that the disk has, and whether it has the folder.
fn on_disk(place: &Place) -> (BTreeMap<String, FolderEntry>, bool) {
    let Ok(all) = std::fs::read_dir(&place.path) else { return (BTreeMap::new(), false) };
    let mut walker = walker(&place.path);
    let walked = walker.max_depth(Some(1)).build().flatten();
    let mut kept: BTreeSet<_> = walked.map(DirEntry::into_path).collect();
    kept.remove(&place.path);
    let tracked =
        tracked_besides(&place.path, true, |path| path.ancestors().any(|at| kept.contains(at)));
    kept.extend(tracked.into_iter().map(DirEntry::into_path));
    let shown = all
        .flatten()
        .filter(|entry| !is_store_name(&entry.file_name()) && entry.file_name() != CONVERSATION);
    let names = shown.map(|entry| {
        let after = match entry.file_type() {
            Ok(kind) if kind.is_dir() => "/".to_owned(),
            Ok(kind) if kind.is_symlink() => match std::fs::read_link(entry.path()) {
                Ok(to) => format!(" -> {}", to.display()),
                Err(_) => " (a link)".to_owned(),
            },
            Ok(kind) if kind.is_file() => String::new(),
            _ => " (no ordinary file)".to_owned(),
        };
        let ignored = !kept.contains(&entry.path());
        (entry.file_name().to_string_lossy().into_owned(), FolderEntry { after, ignored })
    });
    (names.collect(), true)
}

/// Lays buffers and the fork over the names; whether they have anything in the folder.
fn overlay(view: &View, folder: &Place, names: &mut BTreeMap<String, FolderEntry>) -> bool {
    let mut any = false;
    let ids = view.buffers().keys().chain(view.entries().keys());
    let paths: BTreeSet<_> = ids.filter_map(|id| Some((id.path()?, id))).collect();
    for (path, id) in paths {
        let Ok(below) = path.strip_prefix(&folder.path) else { continue };
        let mut parts = below.components();
        let Some(first) = parts.next() else { continue };
        let name = first.as_os_str().to_string_lossy().into_owned();
        let deeper = parts.next().is_some();
        let entry = view.entries().get(id);
        if entry.is_some_and(|entry| entry.content.is_none()) {
            if !deeper {
                names.remove(&name);
            }
            continue;
        }
        any = true;
        if deeper {
            let shown = names
                .entry(name)
                .or_insert_with(|| FolderEntry { after: "/".to_owned(), ignored: false });
            shown.ignored &= entry.is_none();
            continue;
        }
        let unsaved = view.buffers().get(id).is_some_and(|seen| seen.dirty);
        let after = match (entry.map(|entry| &entry.content), unsaved) {
            (Some(Some(FrozenContent::Link(to))), _) => {
                format!(" -> {} (pending)", to.display())
            }
            (Some(_), _) => " (with pending changes)".to_owned(),
            (None, true) => " (unsaved in the editor)".to_owned(),
            (None, false) => continue,
        };
        names.insert(name, FolderEntry { after, ignored: false });
    }
    any
}
