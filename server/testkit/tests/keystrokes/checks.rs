//! What must hold in a world at any moment: of the forks, of edits that reach the editor, of reports, and when
//! all has settled.

use super::*;
use crate::oracle;
use crate::random::is_unique;
use ropewalk_testkit::editor::{Applied, AppliedChange, VersionCheck};
use ropewalk_workspace::Note;

impl World {
    /// Which opening of the document the workspace knows; 0 when it is not open there.
    pub(super) fn opening(&self, doc: &DocId) -> u32 {
        let uri = doc.to_uri();
        self.editor.delivered(&uri).map_or(0, |_| self.editor.openings(&uri))
    }

    // What must hold.

    /// After a sync: the base is the user's text, and each pending change still stands where and for what it
    /// was made. `touched` were made anew just now.
    pub(super) fn check_fork(&mut self, index: usize, touched: &[HunkId]) {
        let session = &mut self.sessions[index];
        for note in self.workspace.take_news(&session.name) {
            self.stats.conflicts += u64::from(matches!(note, Note::Conflict { .. }));
            self.stats.undone += u64::from(matches!(note, Note::Undone { .. }));
        }
        let fork = session.fork.clone();
        let fork = fork.lock().unwrap();
        for (id, file) in fork.files() {
            let Some(doc) = self.docs.iter().find(|doc| doc.id == *id) else { continue };
            let base = file.entry.base.text();
            for change in file.entry.set().changes() {
                session.meant.insert((base.slice(change.range.clone()), change.text.clone()));
            }
            let Some(cells) = self.editor.delivered(&doc.uri) else {
                // Not open: the characters have no identity until it is.
                continue;
            };
            let opening = self.editor.openings(&doc.uri);
            let was_deleted = deleted(&self.editor, &doc.uri);
            let text: String = cells.iter().map(|cell| cell.char).collect();
            assert_eq!(base.to_string(), text, "the base of {} is not the user's text", doc.name);
            assert_eq!(file.entry.set().apply(&base).unwrap(), *file.entry.text(), "{}", doc.name);
            assert_eq!(file.entry.set().changes().len(), file.entry.marks().len());
            for (change, mark) in file.entry.set().changes().iter().zip(file.entry.marks()) {
                let start = char_index(&text, change.range.start);
                let end = char_index(&text, change.range.end);
                let key = (id.clone(), opening, mark.id);
                let fresh = Licence::new(&cells, start, end, &change.text);
                let known = session.licences.entry(key).or_default();
                let Some(last) = known.last() else {
                    known.push(fresh);
                    continue;
                };
                // The disk's own changes come and go without a call.
                if touched.contains(&mark.id) || mark.makers.contains(&Maker::Disk) {
                    known.push(fresh);
                    continue;
                }
                // A hunk altered while it was sent stays on top of what was sent: then it replaces ours, and what
                // the altering call replaced. Of that, nobody has looked at more than its unique characters. What it
                // puts back where it was is not taken.
                let known_to_it = |cell: &Cell| {
                    is_ours(cell)
                        || last.owns(cell.id)
                        || !is_unique(cell.char)
                        || fresh.new.contains(cell.char)
                        || session.taken.contains(&cell.char)
                };
                let on_top = fresh.old.iter().all(known_to_it);
                let astray = self.altered.contains(&(id.clone(), opening));
                let objection = last.objection(&cells, start, end, &was_deleted);
                if let Some(why) = objection.filter(|_| !on_top && !astray) {
                    panic!("a pending change of {} has lost its place: {why}", doc.name);
                }
                if last.new != fresh.new {
                    assert!(on_top || astray, "a pending change of {} became another", doc.name);
                    known.push(fresh);
                }
            }
        }
    }

    /// An edit reached the editor: it must be one that was meant.
    pub(super) fn check_applied(&mut self, applied: &Applied) {
        let Some(doc) = self.docs.iter().position(|doc| doc.uri == applied.uri) else {
            panic!("an edit of {}", applied.uri);
        };
        let id = self.docs[doc].id.clone();
        let what: Vec<(String, String)> =
            applied.changes.iter().map(|c| (c.old_text(), c.new_text())).collect();
        self.note(format!("edit {} is made, stale: {}: {what:?}", applied.number, applied.stale));
        if what.iter().all(|(old, new)| old.is_empty() && new.is_empty()) {
            return;
        }
        self.stats.applied += 1;
        let opening = self.opening(&id);
        let was_deleted = deleted(&self.editor, &applied.uri);
        // Made where nothing was checked, or in a document that was opened for it.
        let unchecked = self.profile.checks == VersionCheck::Never;
        let excused = applied.reopened || (applied.stale && unchecked);
        assert!(!applied.stale || excused, "a stale edit was made");
        self.stats.stale += u64::from(applied.stale);
        if excused {
            // From here on the text is not what anyone meant: what is left to promise is that all agree on it,
            // that nothing is made twice, and that it is reported.
            self.altered.insert((id.clone(), opening));
        }
        for change in &applied.changes {
            let change = &without_pair(change);
            let mut permitted = false;
            for session in &mut self.sessions {
                for (key, all) in session.licences.iter().filter(|((doc, ..), _)| *doc == id) {
                    let permits = |licence: &Licence| {
                        let old = key.1 != opening && licence.reads_like(change);
                        old || licence.permits(change, &applied.before, &was_deleted)
                    };
                    if all.iter().any(permits) {
                        permitted = true;
                        session.applied.insert((id.clone(), opening, key.2));
                    }
                }
            }
            let inverse = (change.new_text(), change.old_text());
            let is_undo = self.sessions.iter().any(|session| session.meant.contains(&inverse));
            let new = change.new_text();
            let users = oracle::users(&change.old).filter(|cell| !new.contains(cell.char)).count();
            // Made while the file was closed, and sent before anyone looked again: only its texts are known.
            let as_meant = (change.old_text(), change.new_text());
            let looked = |session: &Session| {
                let mut own = session
                    .licences
                    .iter()
                    .filter(|((doc, at, _), _)| *doc == id && *at == opening);
                own.any(|(_, all)| all.iter().any(|licence| licence.new == as_meant.1))
            };
            permitted |= self.sessions.iter().any(|s| s.meant.contains(&as_meant) && !looked(s));
            if permitted {
                continue;
            }
            if excused {
                self.stats.taken_by_stale += users as u64;
                continue;
            }
            let near = self.sessions.iter().flat_map(|session| &session.licences);
            let near = near.filter(|((doc, at, _), _)| *doc == id && *at == opening);
            let why: Vec<String> = near
                .flat_map(|(_, all)| all)
                .filter(|licence| licence.new == change.new_text())
                .filter_map(|l| {
                    l.objection(
                        &applied.before,
                        change.at,
                        change.at + change.old.len(),
                        &was_deleted,
                    )
                })
                .collect();
            // A hunk that was altered before anyone looked has no licence of its own shape. What holds for it all
            // the same: whatever of the user's it takes away, some call saw and meant to take away, and what it
            // leaves stays in its order.
            let meant_to_go = |cell: &Cell| {
                let licences = self.sessions.iter().flat_map(|session| &session.licences);
                let mut here = licences.filter(|((doc, at, _), _)| *doc == id && *at == opening);
                here.any(|(_, all)| all.iter().any(|licence| licence.took(cell.char)))
                    || self.sessions.iter().any(|session| session.taken.contains(&cell.char))
            };
            let mut gone = oracle::users(&change.old).filter(|cell| !new.contains(cell.char));
            let stay: String = oracle::users(&change.old)
                .map(|cell| cell.char)
                .filter(|char| new.contains(*char))
                .collect();
            let kept: String = new.chars().filter(|char| stay.contains(*char)).collect();
            let altered = why.is_empty() && kept == stay && gone.all(meant_to_go);
            if altered {
                self.altered.insert((id.clone(), opening));
            }
            assert!(
                is_undo || altered,
                "{:?} -> {:?} was never meant: {why:?}",
                change.old_text(),
                change.new_text()
            );
            let own = change.old.iter().filter(|cell| is_unique(cell.char)).all(is_ours);
            assert!(
                own || altered || users == 0,
                "an undo took what the user typed: {:?}",
                change.old_text()
            );
        }
        let now = self.buffer(doc).unwrap_or_default();
        let texts = applied.changes.iter().map(AppliedChange::new_text).collect();
        self.made.insert(applied.number, texts);
        if let Some(char) = oracle::twice(&now, &self.agents, &self.made) {
            panic!("{char:?} stands twice in {}: an edit was made twice", applied.uri);
        }
    }

    /// What is reported as done was done; what was not is reported.
    pub(super) fn check_report(&mut self, task: &Task, report: &PublishReport) {
        self.note(format!("session {}: {report:?}", task.session));
        self.stats.confirmed += report.done.len() as u64;
        self.stats.failed += report.failed.len() as u64;
        if task.is_undo {
            return;
        }
        let session = &self.sessions[task.session];
        for (id, _, hunk) in &task.wanted {
            let doc = self.docs.iter().find(|doc| doc.id == *id).unwrap();
            let failed = report.failed.iter().any(|(file, _)| file.contains(&doc.name));
            let done = report.done.contains(hunk);
            assert!(done || failed, "nothing is said of {hunk:?} in {}", doc.name);
        }
        for hunk in &report.done {
            let Some(key) = task.wanted.iter().find(|(.., wanted)| wanted == hunk) else {
                continue;
            };
            let same_opening = key.1 != 0 && self.opening(&key.0) == key.1;
            let seen = session.applied.contains(key)
                || self.altered.contains(&(key.0.clone(), key.1))
                || self.only_deletes(task.session, key);
            assert!(!same_opening || seen, "{hunk:?} is said to be done, and was not");
        }
    }

    /// Whether the hunk only deletes: then the user may have done the same themselves.
    fn only_deletes(&self, session: usize, key: &Key) -> bool {
        let licences = self.sessions[session].licences.get(key);
        licences.into_iter().flatten().any(|licence| !licence.new.chars().any(is_unique))
    }

    /// All is handled, told, delivered and waited for; then everyone agrees on every text.
    pub(super) fn settle(&mut self) {
        self.note("all settles".to_owned());
        let mut rounds = 0;
        loop {
            while self.editor.with(|client| client.waiting()) > 0 {
                self.handle_as(Handling::Usual);
            }
            self.editor.with(|client| client.flush_all());
            while self.deliver() {}
            for index in (0..self.tasks.len()).rev() {
                self.poll_task(index);
            }
            if self.tasks.is_empty() && self.editor.with(|client| client.waiting()) == 0 {
                break;
            }
            rounds += 1;
            assert!(rounds < 3_000, "something never ends");
            if rounds % 20 == 0 {
                self.editor.time_out();
                self.advance();
            }
        }
        self.editor.with(|client| client.flush_all());
        while self.deliver() {}
        for index in 0..self.sessions.len() {
            self.sync(index);
        }
        for hunk in &self.workspace.ledger().texts {
            let text = |d: &mut ropewalk_workspace::Document| d.text().slice(hunk.range.clone());
            if let Some(text) = self.workspace.with_document(&hunk.doc, text)
                && hunk.anchored
            {
                assert_eq!(text, hunk.new, "the ledger has lost a hunk of {}", hunk.file);
            }
        }
        for session in &mut self.sessions {
            let fork = session.fork.lock().unwrap();
            let alive: HashSet<HunkId> =
                fork.files().flat_map(|(_, file)| file.entry.marks()).map(|mark| mark.id).collect();
            session.licences.retain(|(.., hunk), _| alive.contains(hunk));
        }
    }
}

/// The change without the line end that it took along because no position is inside one.
fn without_pair(change: &AppliedChange) -> AppliedChange {
    let mut change = change.clone();
    let char = |cell: Option<&Cell>| cell.map(|cell| cell.char);
    if char(change.old.first()) == Some('\r')
        && char(change.old.get(1)) == Some('\n')
        && char(change.new.first()) == Some('\r')
    {
        change.at += 1;
        change.old.remove(0);
        change.new.remove(0);
    }
    if char(change.old.last()) == Some('\n') && char(change.new.last()) == Some('\n') {
        let before_last = change.old.len().checked_sub(2).and_then(|at| char(change.old.get(at)));
        if before_last == Some('\r') || (change.old.len() == 1 && change.at > 0) {
            change.old.pop();
            change.new.pop();
        }
    }
    change
}

/// Tells of a document's characters whether they were deleted at any time.
fn deleted(editor: &Direct, uri: &str) -> impl Fn(u32) -> bool + use<> {
    let buffer = editor.with(|client| client.buffer(uri).cloned());
    move |id| buffer.as_ref().is_none_or(|buffer| buffer.was_deleted(id))
}

fn is_ours(cell: &Cell) -> bool {
    matches!(cell.by, ropewalk_testkit::editor::Author::Server(_))
}
