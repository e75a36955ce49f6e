//! Pruning: deletes sessions that are too old or too many, by command or while something else is done.
//!
//! Which those are is the journal's to say. Sessions in use or with changes that wait for the user, to be accepted or saved, stay.

use super::{in_words, print};
use crate::plain::{plain_line, say};
use clap::Args;
use ropewalk_agent::Sessions;
use ropewalk_agent::journal::store;
use ropewalk_config::SessionRetention;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Arguments of `ropewalk sessions prune`.
#[derive(Args)]
pub(super) struct PruneArgs {
    /// Keep the sessions that were used in the last N days, instead of `sessions.keep_days`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=36_500))]
    days: Option<u32>,
    /// Keep N megabytes of sessions, the newest first, instead of `sessions.keep_megabytes`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    megabytes: Option<u32>,
    /// Say what would be removed, and remove nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Prunes, and says of each session that goes why it does.
pub(super) fn prune(sessions: &Sessions, args: PruneArgs, keep: SessionRetention) {
    let keep = SessionRetention {
        days: args.days.unwrap_or(keep.days),
        megabytes: args.megabytes.unwrap_or(keep.megabytes),
    };
    let (mut count, mut bytes) = (0_u64, 0_u64);
    for pruned in sessions.to_prune(bounds(keep)) {
        let id = &pruned.session.id;
        let size = pruned.session.bytes + size_of(&sessions.outputs(id));
        if !args.dry_run
            && let Err(error) = sessions.delete(id)
        {
            say(&format!("{:#}", in_words(error)));
            continue;
        }
        let title = plain_line(&pruned.session.summary.title);
        print(&format!("{id} ({title}): {}, {}\n", plain_line(&pruned.why), in_units(size)));
        count += 1;
        bytes += size;
    }
    for folder in orphans(sessions, keep.days) {
        let size = size_of(&folder);
        if !args.dry_run
            && let Err(error) = std::fs::remove_dir_all(&folder)
        {
            say(&format!("{} can't be removed: {error}.", folder.display()));
            continue;
        }
        print(&format!(
            "{}: outputs of a session that is gone, {}\n",
            folder.display(),
            in_units(size)
        ));
        bytes += size;
    }
    let sessions_in_words =
        if count == 1 { "1 session".to_owned() } else { format!("{count} sessions") };
    let verb = if args.dry_run { "would be" } else { if count == 1 { "is" } else { "are" } };
    print(&format!("{sessions_in_words} {verb} removed, {}.\n", in_units(bytes)));
    let left = sessions.list();
    let waiting = left.iter().filter(|one| one.summary.waits() > 0).count();
    let in_use = left.iter().filter(|one| one.in_use && one.summary.waits() == 0).count();
    if waiting + in_use > 0 {
        print(&format!(
            "{waiting} with changes that wait for you and {in_use} in use stay, whatever their age.\n"
        ));
    }
}

/// Prunes on a thread of its own, and logs what goes. Nobody waits for it; what a process's end cuts off is done
/// by the next.
pub(crate) fn prune_in_background(sessions: Option<Sessions>, keep: SessionRetention) {
    let Some(sessions) = sessions else { return };
    let pruning = move || {
        for pruned in sessions.to_prune(bounds(keep)) {
            let (session, why, bytes) = (&pruned.session.id, &pruned.why, pruned.session.bytes);
            match sessions.delete(session) {
                Ok(_) => tracing::info!(%session, why, bytes, "a session is pruned"),
                Err(error) => tracing::warn!(%error, "a session can't be pruned"),
            }
        }
        for folder in orphans(&sessions, keep.days) {
            match std::fs::remove_dir_all(&folder) {
                Ok(()) => tracing::info!(folder = %folder.display(), "old outputs are removed"),
                Err(error) => tracing::warn!(%error, "old outputs can't be removed"),
            }
        }
    };
    if let Err(error) = std::thread::Builder::new().name("prune".to_owned()).spawn(pruning) {
        tracing::warn!(%error, "sessions can't be pruned");
    }
}

fn bounds(keep: SessionRetention) -> store::PruneBounds {
    store::PruneBounds { days: keep.days, bytes: u64::from(keep.megabytes) << 20 }
}

/// Folders of outputs whose session has no journal, untouched for so many days.
fn orphans(sessions: &Sessions, days: u32) -> Vec<PathBuf> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    // A session makes its journal when it is first asked something, so the youngest may be without one.
    let age = DAY * days.max(1);
    let folder = sessions.outputs("x");
    let entries = folder.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let is_orphan = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        let modified = entry.metadata().and_then(|found| found.modified());
        entry.file_type().is_ok_and(|kind| kind.is_dir())
            && modified
                .is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|old| old > age))
            && name.to_str().is_some_and(|name| !sessions.find(name).is_ok_and(|id| id == name))
    };
    let orphans = entries.into_iter().flatten().flatten().filter(is_orphan);
    orphans.map(|entry| entry.path()).collect()
}

/// The bytes of the files in a folder; of none, where there is none.
fn size_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size_of(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

/// A number of bytes for people.
pub(crate) fn in_units(bytes: u64) -> String {
    const KB: u64 = 1 << 10;
    const MB: u64 = 1 << 20;
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        ..KB => format!("{bytes} bytes"),
        KB..MB => format!("{} KB", tenths(KB)),
        _ => format!("{} MB", tenths(MB)),
    }
}
