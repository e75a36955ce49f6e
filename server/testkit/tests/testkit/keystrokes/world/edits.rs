//! Laws of edits that reach the editor or the disk, and of the reports about them.

use super::checks::nameless;
use super::*;
use crate::keystrokes::oracle::{Standing, made_of, text};
use crate::keystrokes::random::is_unique;
use ropewalk_testkit::editor::{Applied, AppliedChange, VersionCheck};
use std::collections::BTreeSet;

impl World {
    /// An edit reached the editor: it must be what the one who sent it was to send.
    pub(super) fn check_applied(&mut self, applied: &Applied, sending: &Sending) {
        let Some(doc) = self.docs.iter().position(|doc| doc.uri == applied.uri) else {
            panic!("an edit of {}", applied.uri);
        };
        let what: Vec<(String, String)> =
            applied.changes.iter().map(|c| (c.old_text(), c.new_text())).collect();
        self.note(format!("edit {} is made, stale: {}: {what:?}", applied.number, applied.stale));
        if what.iter().all(|(old, new)| old.is_empty() && new.is_empty()) {
            return;
        }
        self.stats.applied += 1;
        // The editor's own count: what it makes now may be of an opening that was not told of yet.
        let opening = self.opening(&self.docs[doc].id);
        // Made where nothing was checked, or in a document that was opened for it.
        let unchecked = self.profile.checks == VersionCheck::Never;
        let excused = applied.reopened || (applied.stale && unchecked);
        assert!(!applied.stale || excused, "a stale edit was made");
        self.stats.stale += u64::from(applied.stale);
        if excused {
            self.note_astray(applied, doc, opening);
        }
        let mut wavers = self.wavers(doc, &applied.before);
        // Characters that it takes out and puts back have other cells from then on.
        let new = applied.changes.iter().flat_map(|change| &change.new).map(|cell| cell.char);
        let back: Vec<char> = new.filter(|char| wavers.contains(char)).collect();
        self.docs[doc].gone.extend(back);
        wavers.extend(&self.sessions[sending.session].looked[doc].2);
        let here = Standing::new(applied.before.iter().map(|cell| cell.char), |char| {
            wavers.contains(&char)
        });
        // The rest of a hunk that was altered on its way may have landed since the undo began: it
        // has its id.
        let mut sending = sending.clone();
        sending.undoes = self.meant_by_undo(sending.session, &sending.chosen);
        let sending = &sending;
        let mut used = BTreeSet::new();
        for change in &applied.changes {
            let narrow = without_pair(change);
            let found = [change, &narrow].into_iter().find_map(|change| {
                let found = sending.means(doc, opening, (change, &applied.before), &here, &used);
                found.ok().map(|found| (found, change.clone()))
            });
            let Some((at, change)) = found else {
                let why = sending.means(doc, opening, (&narrow, &applied.before), &here, &used);
                let (old, new) = (change.old_text(), change.new_text());
                let astray = self.astray.iter().any(|(astray, _)| *astray == doc);
                let accepted = &sending.accepted;
                assert!(
                    astray,
                    "{old:?} -> {new:?} was never meant: {why:?}, of {accepted:?} and {:?}",
                    sending.undoes
                );
                continue;
            };
            used.insert(at);
            self.land(sending, at, doc, opening, &change, &applied.before);
        }
        if !self.astray.iter().any(|(astray, _)| *astray == doc) {
            self.check_once(applied, sending, doc);
        }
        let now = self.buffer(doc).unwrap_or_default();
        let texts = applied.changes.iter().map(AppliedChange::new_text).collect();
        self.made.insert(applied.number, texts);
        if let Some(char) = oracle::twice(&now, &self.agents, &self.made) {
            panic!("{char:?} stands twice in {}: an edit was made twice", applied.uri);
        }
    }

    /// An edit was made in another text than it was for.
    fn note_astray(&mut self, applied: &Applied, doc: usize, opening: u32) {
        // From here on the text is not what anyone meant: what is left to promise is that all agree on it,
        // that nothing is made twice, and that it is reported.
        self.astray.insert((doc, opening));
        self.sessions.iter_mut().for_each(|session| session.astray[doc] = true);
        let users = |cell: &&Cell| cell.by == Author::User && is_unique(cell.char);
        let gone = |c: &AppliedChange| {
            let new = c.new_text();
            c.old.iter().filter(users).filter(|cell| !new.contains(cell.char)).count()
        };
        self.stats.taken_by_stale += applied.changes.iter().map(gone).sum::<usize>() as u64;
        let atoms = applied.changes.iter().flat_map(|change| change.old.iter().chain(&change.new));
        self.docs[doc].gone.extend(atoms.map(|cell| cell.char).filter(|char| is_unique(*char)));
    }

    /// No atom is brought where it stands already; but what was accepted or is taken back may itself be one half of a
    /// move (a difference of whole lines can put a word in here that it takes out there).
    fn check_once(&self, applied: &Applied, sending: &Sending, doc: usize) {
        let stays: HashSet<char> = {
            let mut stays: HashSet<char> = applied.before.iter().map(|cell| cell.char).collect();
            let old = applied.changes.iter().flat_map(|change| &change.old);
            old.for_each(|cell| {
                stays.remove(&cell.char);
            });
            stays
        };
        for cell in applied.changes.iter().flat_map(|change| &change.new) {
            let is_move = |(at, _, shape): &&(usize, HunkId, Shape)| {
                *at == doc
                    && shape.come().any(|char| char == cell.char)
                    && shape.base.contains(cell.char)
            };
            let twice = is_unique(cell.char) && stays.contains(&cell.char);
            let has = |landed: &Landed| landed.new.iter().any(|new| new.char == cell.char);
            let brings_back = |(at, landed): &(usize, Landed)| {
                *at == doc && landed.old.contains(cell.char) && !has(landed)
            };
            // The other half was published too, and is not to be taken back.
            let stays_put = |(at, landed): &(usize, Landed)| {
                *at == doc
                    && !sending.chosen.contains(&landed.hunk)
                    && has(landed)
                    && !landed.old.contains(cell.char)
            };
            let is_move = || {
                sending.accepted.iter().any(|accepted| is_move(&accepted))
                    || (sending.undoes.iter().any(brings_back) && self.landed.iter().any(stays_put))
            };
            assert!(!twice || is_move(), "{:?} is brought where it stands already", cell.char);
        }
    }

    /// Notes that a change is in the user's text.
    fn land(
        &mut self,
        sending: &Sending,
        at: usize,
        doc: usize,
        opening: u32,
        change: &AppliedChange,
        before: &[Cell],
    ) {
        let session = &mut self.sessions[sending.session];
        let atoms = change.old.iter().chain(&change.new).map(|cell| cell.char);
        session.landed[doc].extend(atoms.filter(|char| is_unique(*char)));
        let Some((_, hunk, _)) = sending.accepted.get(at).filter(|_| !sending.is_undo()) else {
            return;
        };
        session.applied.insert((self.docs[doc].id.clone(), opening, *hunk));
        let sequence = before.iter().map(|cell| cell.char).filter(|char| is_unique(*char));
        let sequence: Arc<[char]> = sequence.collect();
        let end = change.at + change.old.len();
        self.landed.push((
            doc,
            Landed {
                session: sending.session,
                hunks: sending.hunks_of(doc),
                hunk: *hunk,
                opening,
                old: change.old_text(),
                new: change.new.clone(),
                place: Place::of(&sequence, before, change.at, end),
            },
        ));
    }

    /// After a step of a task: what it wrote to a file must be what it was to write. `before` are the files' texts.
    pub(super) fn check_disk(&mut self, before: &[String], sending: &Sending) {
        for (doc, was) in before.iter().enumerate() {
            let is = self.on_disk(doc);
            if is == *was {
                continue;
            }
            let name = self.docs[doc].name.clone();
            assert_eq!(self.opening(&self.docs[doc].id), 0, "{name} is open, and was written");
            self.note(format!("{name} is written: {is:?}"));
            let (old, new): (Vec<char>, Vec<char>) = (was.chars().collect(), is.chars().collect());
            let here = &sending.accepted;
            let shapes = || here.iter().filter(|(at, ..)| *at == doc).map(|(.., shape)| shape);
            let (mut may_go, mut may_come) = (HashSet::new(), HashSet::new());
            if sending.is_undo() {
                let undoes = self.meant_by_undo(sending.session, &sending.chosen);
                for landed in undoes.iter().filter(|(at, _)| *at == doc) {
                    may_go.extend(text(&landed.1.new).chars());
                    may_come.extend(landed.1.old.chars());
                }
            } else if shapes().all(|shape| *shape.base == **was) {
                let shapes: Vec<&Shape> = shapes().collect();
                assert!(
                    made_of(&old, &new, 0, &shapes).is_some(),
                    "{name} was written wrongly: {shapes:?}"
                );
            }
            may_go.extend(shapes().flat_map(Shape::gone));
            may_come.extend(shapes().flat_map(Shape::come));
            let (had, has): (HashSet<char>, HashSet<char>) =
                (oracle::atoms(was).collect(), oracle::atoms(&is).collect());
            let gone = had.difference(&has).find(|char| !may_go.contains(char));
            assert!(gone.is_none(), "{gone:?} of {name} was lost");
            let come = has.difference(&had).find(|char| !may_come.contains(char));
            assert!(come.is_none(), "{come:?} in {name} was never meant");
            // One that stands twice says nothing of an order (an unchecking client has made an edit astray).
            let once =
                |char: &char| was.matches(*char).count() == 1 && is.matches(*char).count() == 1;
            // Accepted changes may move text.
            let stays = |char: &char| !may_go.contains(char) || !may_come.contains(char);
            let kept = |text: &str, other: &HashSet<char>| -> String {
                let both = oracle::atoms(text).filter(|char| other.contains(char));
                both.filter(once).filter(stays).collect()
            };
            assert_eq!(kept(was, &has), kept(&is, &had), "{name} was mixed up");
            self.wrote(doc, &is);
            if sending.is_undo() {
                continue;
            }
            let session = &mut self.sessions[sending.session];
            session.landed[doc].extend(may_go.into_iter().chain(may_come));
            let own = here.iter().filter(|(at, ..)| *at == doc);
            let own = own.map(|(_, hunk, shape)| sending.as_accepted(doc, *hunk, shape));
            self.landed.extend(own.map(|landed| (doc, landed)));
        }
    }

    /// Checks a report against the edits: one reported as done was done, and any other is reported.
    pub(super) fn check_report(&mut self, task: &Task, report: &PublishReport) {
        let index = task.sending.session;
        self.note(format!("session {index}: {report:?}"));
        self.stats.confirmed += report.done.len() as u64;
        self.stats.failed += report.failed.len() as u64;
        if task.sending.is_undo() {
            return;
        }
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
            let doc = self.docs.iter().position(|doc| doc.id == key.0).unwrap();
            let same_opening = key.1 != 0 && self.opening(&key.0) == key.1;
            if !same_opening || self.astray.contains(&(doc, key.1)) {
                continue;
            }
            let seen = self.sessions[index].applied.contains(key);
            assert!(seen || self.made_by_user(task, doc, *hunk), "{hunk:?} is said to be done");
            if !seen {
                // Both did it, and it can be taken back as if we had.
                let own = task.sending.accepted.iter().filter(|(_, id, _)| id == hunk);
                let own = own
                    .map(|(doc, hunk, shape)| (*doc, task.sending.as_accepted(*doc, *hunk, shape)));
                self.landed.extend(own);
            }
        }
    }

    /// True if the user may have made all of the hunk themselves: it brings no atom, and the text
    /// it takes away was deleted.
    fn made_by_user(&self, task: &Task, doc: usize, hunk: HunkId) -> bool {
        let own = task.sending.accepted.iter().filter(|(_, id, _)| *id == hunk);
        let Doc { uri, id, vague, .. } = &self.docs[doc];
        let told_vaguely = self.profile.minimises
            || self.profile.checks == VersionCheck::Never
            || *vague == self.opening(id);
        self.editor.with(|client| {
            // A plain one that they typed beside it and deleted again reads the same where nobody tells which it was.
            let deleted = |cell: &Cell| {
                (told_vaguely && !is_unique(cell.char))
                    || client.buffer(uri).is_none_or(|buffer| buffer.was_deleted(cell.id))
            };
            own.map(|(.., shape)| shape).any(|shape| {
                oracle::atoms(&shape.new).next().is_none() && shape.old.iter().all(deleted)
            })
        })
    }
}

impl Sending {
    fn is_undo(&self) -> bool {
        !self.chosen.is_empty()
    }

    /// The hunks of a document that were to be sent.
    fn hunks_of(&self, doc: usize) -> Arc<[HunkId]> {
        self.accepted.iter().filter(|(at, ..)| *at == doc).map(|(_, hunk, _)| *hunk).collect()
    }

    /// A hunk that is in the text without an edit of the editor's, as it was accepted.
    fn as_accepted(&self, doc: usize, hunk: HunkId, shape: &Shape) -> Landed {
        Landed {
            session: self.session,
            hunks: self.hunks_of(doc),
            hunk,
            opening: 0,
            old: text(&shape.old),
            new: nameless(&shape.new),
            place: shape.place.clone(),
        }
    }

    /// Which of what was to be sent a change is; each is made once. Else why it is none.
    fn means(
        &self,
        doc: usize,
        opening: u32,
        (change, before): (&AppliedChange, &[Cell]),
        here: &Standing,
        used: &BTreeSet<usize>,
    ) -> Result<usize, Vec<String>> {
        let new = change.new_text();
        let stands = (before, opening);
        let what = (change.at, change.old.len(), new.as_str());
        let mut why = Vec::new();
        let accepted =
            self.accepted.iter().map(|(at, _, shape)| (*at, shape.objection(stands, what, here)));
        let undone =
            self.undoes.iter().map(|(at, landed)| (*at, landed.objection(stands, what, here)));
        for (index, (_, objection)) in accepted
            .chain(undone)
            .enumerate()
            .filter(|(index, (at, _))| *at == doc && !used.contains(index))
        {
            match objection {
                None => return Ok(index),
                Some(objection) => why.push(objection),
            }
        }
        Err(why)
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
