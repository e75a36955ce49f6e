//! Whole outputs of a session's calls: how much they take, and which go when that is too much.

use std::path::Path;
use std::time::SystemTime;

/// The most bytes of whole outputs that one session keeps; the newest stays in any case.
pub(crate) const MOST: u64 = 256 << 20;

/// The bytes of the files in a folder and below; 0 where there is none. Blocking.
pub(crate) fn size_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size_of(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.map(size).fold(0, u64::saturating_add)
}

/// Removes the outputs that were written longest ago until the rest takes no more than `most` bytes. Blocking.
pub(crate) fn keep_within(folder: &Path, most: u64) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .filter_map(|entry| {
            let found = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            let written = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            Some((written, entry.path(), found.len()))
        })
        .collect();
    files.sort();
    let mut sum = files.iter().fold(0_u64, |sum, (.., len)| sum.saturating_add(*len));
    files.pop();
    for (_, path, len) in files {
        if sum <= most {
            break;
        }
        match std::fs::remove_file(&path) {
            Ok(()) => sum = sum.saturating_sub(len),
            Err(error) => tracing::warn!(%error, "an old output can't be removed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::record::{JournalHead, JournalSummary, Record, VERSION, now};
    use crate::journal::store::{PruneBounds, Sessions};
    use std::time::Duration;

    #[test]
    fn the_oldest_go_first_and_the_newest_never() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, bytes: usize, age: u64| {
            let path = dir.path().join(name);
            std::fs::write(&path, vec![b'x'; bytes]).unwrap();
            let file = std::fs::File::options().append(true).open(path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 - age)).unwrap();
        };
        let names = || {
            let mut names: Vec<_> = std::fs::read_dir(dir.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names.concat()
        };
        for (name, bytes, age) in [("a", 10, 3), ("b", 10, 9), ("c", 10, 1), ("ü", 10, 5)] {
            put(name, bytes, age);
        }
        assert_eq!(size_of(dir.path()), 40);
        keep_within(dir.path(), 40);
        assert_eq!(names(), "abcü");
        keep_within(dir.path(), 25);
        assert_eq!(names(), "ac");
        keep_within(dir.path(), 0);
        assert_eq!(names(), "c");
        keep_within(&dir.path().join("none"), 0);
        assert_eq!(size_of(&dir.path().join("none")), 0);
    }

    #[test]
    fn whole_outputs_count_in_what_sessions_may_take() {
        let dir = tempfile::tempdir().unwrap();
        let sessions = Sessions::new(dir.path());
        for (id, at) in [("old", now() - 2), ("new", now() - 1)] {
            let session = id.to_owned();
            let head = Record::Journal(JournalHead {
                version: VERSION,
                session,
                at,
                ..JournalHead::default()
            });
            let summary = Record::Summary(JournalSummary { at, ..JournalSummary::default() });
            let lines = [head, summary].map(|record| serde_json::to_string(&record).unwrap());
            std::fs::create_dir_all(dir.path().join("sessions")).unwrap();
            let path = dir.path().join(format!("sessions/{id}.jsonl"));
            std::fs::write(path, lines.join("\n") + "\n").unwrap();
            std::fs::create_dir_all(sessions.outputs(id)).unwrap();
        }
        let pruned = || {
            let keep = PruneBounds { days: 1, bytes: 1 << 20 };
            let pruned = sessions.to_prune(keep).into_iter();
            pruned.map(|pruned| (pruned.session.id, pruned.why)).collect::<Vec<_>>()
        };
        assert_eq!(sessions.list().len(), 2);
        assert_eq!(pruned(), []);
        std::fs::write(sessions.outputs("old").join("c.txt"), vec![b'x'; 1 << 20]).unwrap();
        let why = "all sessions together are over 1 MB".to_owned();
        assert_eq!(pruned(), [("old".to_owned(), why)]);
    }
}
