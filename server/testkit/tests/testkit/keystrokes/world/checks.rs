//! Laws of the forks at any moment, and of everything when all has settled.

use super::*;
use crate::keystrokes::oracle::{Plain, Standing, Texts};
use crate::keystrokes::random::is_unique;
use ropewalk_text::Change;
use ropewalk_workspace::Note;
use ropewalk_workspace::entry::Mark;

/// A document as the user has it, by the workspace's knowledge.
pub(super) struct Now {
    pub(super) cells: Vec<Cell>,
    pub(super) text: Arc<str>,
    /// Which opening it is; 0 when it is not open: then its characters have no ids.
    pub(super) opening: u32,
    /// How often it was seen to move.
    pub(super) moves: u64,
    /// Atoms that were gone at any time: where they stand tells nothing.
    wavers: HashSet<char>,
}

impl Now {
    /// Where its atoms stand.
    pub(super) fn standing(&self) -> Standing {
        let chars = self.cells.iter().map(|cell| cell.char);
        Standing::new(chars, |char| self.wavers.contains(&char))
    }
}

impl Now {
    /// Takes the look of a call that looks now.
    pub(super) fn saw(&self) -> Saw {
        let cells = self.cells.iter().map(|cell| cell.id).collect();
        let (text, opening, moves) = (self.text.clone(), self.opening, self.moves);
        Saw { text, cells: Arc::new(cells), opening, moves }
    }
}

/// The characters of a text that is not open.
pub(super) fn nameless(text: &str) -> Vec<Cell> {
    text.chars().map(|char| Cell { char, id: 0, by: Author::Disk }).collect()
}

impl World {
    /// Which opening of the document the workspace knows; 0 when it is not open there.
    pub(super) fn opening(&self, doc: &DocId) -> u32 {
        let uri = doc.to_uri();
        self.editor.delivered(&uri).map_or(0, |_| self.editor.openings(&uri))
    }

    /// A document as the workspace knows it.
    pub(super) fn now(&self, doc: usize) -> Now {
        let Doc { uri, id, moves, .. } = &self.docs[doc];
        let opening = self.opening(id);
        let cells = self.editor.delivered(uri).unwrap_or_else(|| nameless(&self.on_disk(doc)));
        let text: String = cells.iter().map(|cell| cell.char).collect();
        let wavers = self.wavers(doc, &cells);
        Now { text: text.into(), opening, moves: *moves, wavers, cells }
    }

    /// Which atoms of a document were gone at any time.
    pub(super) fn wavers(&self, doc: usize, cells: &[Cell]) -> HashSet<char> {
        let Doc { uri, gone, .. } = &self.docs[doc];
        let atoms = cells.iter().filter(|cell| is_unique(cell.char));
        let mut wavers: HashSet<char> = self.editor.with(|client| {
            let was_deleted =
                |cell: &&Cell| client.buffer(uri).is_some_and(|buffer| buffer.was_deleted(cell.id));
            atoms.filter(was_deleted).map(|cell| cell.char).collect()
        });
        wavers.extend(gone);
        wavers
    }

    /// After a sync: the base is the user's text, each pending change stands where and for what it was made, and
    /// what was licensed is pending, published, or was told to have lost its place. `touched` were made anew just
    /// now; `told` are files of which conflicts were reported. Gives all such files.
    pub(super) fn check_fork(
        &mut self,
        index: usize,
        touched: &[HunkId],
        told: &[String],
    ) -> Vec<String> {
        let mut told = told.to_vec();
        for note in self.workspace.take_news(&self.sessions[index].name) {
            self.stats.undone += u64::from(matches!(note, Note::Undone { .. }));
            if let Note::Conflict { file, .. } = note {
                self.stats.conflicts += 1;
                told.push(file);
            }
        }
        let fork = self.sessions[index].fork.clone();
        let fork = fork.lock().unwrap();
        for doc in 0..self.docs.len() {
            let mut now = self.now(doc);
            let (opening, text, moved) = &mut self.sessions[index].looked[doc];
            if *opening != now.opening {
                moved.extend(oracle::atoms(text));
            }
            (*opening, *text) = (now.opening, now.text.clone());
            now.wavers.extend(moved.iter());
            let entry = fork.files().find(|(id, _)| **id == self.docs[doc].id);
            let entry = entry.map(|(_, file)| &file.entry);
            let conflict = told.contains(&self.docs[doc].name);
            self.check_entry(index, doc, &now, entry, touched, conflict);
        }
        told
    }

    fn check_entry(
        &mut self,
        index: usize,
        doc: usize,
        now: &Now,
        entry: Option<&Entry>,
        touched: &[HunkId],
        conflict: bool,
    ) {
        // Changes pending then are what nobody meant, too, until they are gone; so is the text that
        // a call saw then.
        let session = &self.sessions[index];
        let still = entry.is_some() || session.call.is_some();
        let astray = self.astray.contains(&(doc, now.opening)) || (session.astray[doc] && still);
        let was_astray = std::mem::replace(&mut self.sessions[index].astray[doc], astray);
        if was_astray && !astray {
            // Nobody knows what of it was made: it went with the text that it was made in.
            self.sessions[index].licences[doc].forget();
        }
        let Doc { name, id, .. } = &self.docs[doc];
        let here = now.standing();
        let mut shapes = entry.map_or_else(Vec::new, |entry| {
            assert_eq!(
                entry.base.text().to_string(),
                *now.text,
                "the base of {name} is not the user's text"
            );
            assert_eq!(entry.set().apply(&entry.base.text()).unwrap(), *entry.text(), "{name}");
            assert_eq!(entry.set().changes().len(), entry.marks().len());
            shapes_of(entry, now)
        });
        let session = &self.sessions[index];
        let last = &session.shapes[doc];
        // Restated: what a call altered while it was on its way stays pending on top of what has arrived, and an
        // editor that reads the disk's text that was pending leaves the rest. Then licences alone say what may be.
        let restated = last.iter().any(|(_, shape)| shape.altered || shape.disk);
        let mut anew: HashSet<usize> = HashSet::new();
        let (mut fresh, mut altered) = (Vec::new(), Vec::new());
        for (hunk, shape) in &mut shapes {
            let hunk = *hunk;
            let earlier = || last.iter().filter(|(id, _)| *id == hunk).map(|(_, shape)| shape);
            let is_touched = touched.contains(&hunk);
            shape.altered = shape.sent && (is_touched || earlier().any(|e| e.altered));
            altered.extend(shape.altered.then_some((doc, hunk)));
            let stands = (now.cells.as_slice(), now.opening);
            let what = (shape.start, shape.old.len(), shape.new.as_str());
            let objections: Vec<String> =
                earlier().map_while(|e| e.objection(stands, what, &here)).collect();
            let as_it_was = objections.len() < earlier().count();
            if !as_it_was && !astray {
                let may = is_touched || shape.disk || restated;
                let text = &now.text;
                assert!(
                    may,
                    "{hunk:?} of {name} has changed: {objections:?}: {shape:?}, was {last:?}, in {text:?}"
                );
                anew.extend(shape.start..shape.start + shape.old.len());
            }
            let key = (id.clone(), now.opening, hunk);
            let known = session.near.get(&key);
            if now.opening != 0
                && (known.is_none_or(|(new, _)| *new != shape.new) || is_touched || shape.disk)
            {
                fresh.push((key, (shape.new.clone(), nearest(&now.cells, shape))));
            }
        }
        let session = &mut self.sessions[index];
        session.near.extend(fresh);
        session.altered.extend(altered);
        self.check_licences(index, doc, now, entry, (conflict, astray), &anew);
        self.sessions[index].shapes[doc] = shapes;
    }

    /// Checks the pending changes as a whole against the licences.
    fn check_licences(
        &mut self,
        index: usize,
        doc: usize,
        now: &Now,
        entry: Option<&Entry>,
        (conflict, astray): (bool, bool),
        anew: &HashSet<usize>,
    ) {
        let name = &self.docs[doc].name;
        let fork_text: Vec<char> = match entry {
            Some(entry) => entry.text().to_string().chars().collect(),
            None => now.text.chars().collect(),
        };
        let base: HashSet<char> = oracle::atoms(&now.text).collect();
        let unique = |char: &&char| is_unique(**char);
        let fork: HashSet<char> = fork_text.iter().filter(unique).copied().collect();
        let waver = |char: char| now.wavers.contains(&char);
        let fork_standing = &Standing::new(fork_text.iter().copied(), waver);
        let texts = Texts { base: &base, fork: &fork, fork_standing, fork_text: &fork_text };
        let of_disk =
            entry.is_some_and(|e| e.marks().iter().any(|m| m.makers.contains(&Maker::Disk)));
        let disk = |char: char, comes: bool| {
            of_disk && self.docs[doc].disk.iter().any(|held| held.contains(&char) == comes)
        };
        let session = &self.sessions[index];
        let licences = &session.licences[doc];
        // The user has put it there twice, by taking back one half of a move: one of the two goes still.
        let one_of_two = |char: char| {
            let many = |text: &mut dyn Iterator<Item = char>| text.filter(|c| *c == char).count();
            many(&mut fork_text.iter().copied()) < many(&mut now.text.chars())
        };
        if !astray {
            let twice = oracle::more_than_once(&fork_text);
            let stood = oracle::more_than_once(&now.text.chars().collect::<Vec<_>>());
            if let Some(char) =
                twice.difference(&stood).find(|char| !licences.halves.contains(char))
            {
                let is = entry.map(|entry| shapes_of(entry, now));
                let was = &session.shapes[doc];
                panic!(
                    "session {index}, {name}: {char:?} would stand twice; was {was:?}, is {is:?}"
                );
            }
            if let Some(why) = licences.objection(&texts, disk) {
                let is = entry.map(|entry| shapes_of(entry, now));
                let text: String = fork_text.iter().collect();
                let was = &session.shapes[doc];
                panic!("session {index}, {name}: {why}; was {was:?}, is {is:?} in {text:?}");
            }
            // A client that tells only of the difference names another of several in a row.
            if !of_disk && !self.profile.minimises {
                self.check_plain(index, doc, now, entry, &texts, anew);
            }
            let excused = |char: char| {
                session.landed[doc].contains(&char)
                    || self.both_deleted(index, doc, char)
                    || one_of_two(char)
            };
            let lost = licences.lost(&texts, excused).filter(|_| !conflict);
            assert!(
                lost.is_none(),
                "session {index}, {name}: {lost:?} was dropped in silence; pending was {:?}, is {:?}",
                session.shapes[doc],
                entry.map(|entry| shapes_of(entry, now))
            );
        }
        let is_pending = entry.is_some_and(|entry| !entry.set().is_empty());
        self.sessions[index].licences[doc].withdraw(&texts, one_of_two, is_pending);
    }

    /// Characters that are no atoms, and what is deleted, against what was licensed.
    fn check_plain(
        &self,
        index: usize,
        doc: usize,
        now: &Now,
        entry: Option<&Entry>,
        texts: &Texts<'_>,
        anew: &HashSet<usize>,
    ) {
        let session = &self.sessions[index];
        let Doc { uri, vague, first, .. } = &self.docs[doc];
        let shapes = entry.map_or_else(Vec::new, |entry| shapes_of(entry, now));
        let changes = shapes
            .iter()
            .map(|(_, shape)| (shape.start..shape.start + shape.old.len(), shape.new.is_empty()));
        let told_anew =
            |cell: u32| self.editor.with(|c| c.buffer(uri).is_some_and(|b| b.was_deleted(cell)));
        let plain = Plain {
            cells: &now.cells,
            changes: changes.collect(),
            anew,
            first: &|cell| first.get(&cell).copied(),
            told_anew: &told_anew,
            told_vaguely: now.opening != 0 && *vague == now.opening,
        };
        let why = session.licences[doc].plain_objection(&plain, texts);
        let was = &session.shapes[doc];
        assert!(
            why.is_none(),
            "session {index}, {}: {why:?}; was {was:?}, is {shapes:?} in {:?}",
            self.docs[doc].name,
            now.text
        );
    }

    /// True if a character was to be deleted, and no more, and the user deleted it too. Then it is
    /// done, and not pending if they took it back before anyone looked.
    fn both_deleted(&self, index: usize, doc: usize, char: char) -> bool {
        let uri = &self.docs[doc].uri;
        let was_deleted = |cell: &Cell| {
            self.editor.with(|c| c.buffer(uri).is_none_or(|buffer| buffer.was_deleted(cell.id)))
        };
        self.sessions[index].shapes[doc].iter().any(|(_, shape)| {
            let known = || shape.old.iter().filter(|cell| is_unique(cell.char));
            shape.new.is_empty()
                && known().any(|cell| cell.char == char)
                && known().all(was_deleted)
        })
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
        let ledger = self.workspace.ledger();
        for hunk in &ledger.texts {
            let text = |d: &mut ropewalk_workspace::Document| d.text().slice(hunk.range.clone());
            if let Some(text) = self.workspace.with_document(&hunk.doc, text)
                && hunk.anchored
            {
                assert_eq!(text, hunk.new, "the ledger has lost a hunk of {}", hunk.file);
            }
        }
        drop(ledger);
        for session in &mut self.sessions {
            let fork = session.fork.lock().unwrap();
            let alive: HashSet<HunkId> =
                fork.files().flat_map(|(_, file)| file.entry.marks()).map(|mark| mark.id).collect();
            session.near.retain(|(.., hunk), _| alive.contains(hunk));
        }
    }
}

/// The pending changes of an entry, on the user's text.
fn shapes_of(entry: &Entry, now: &Now) -> Vec<(HunkId, Shape)> {
    let sequence: Arc<[char]> = oracle::atoms(&now.text).collect();
    let changes = entry.set().changes().iter().zip(entry.marks());
    let shape = |(change, mark): (&Change, &Mark)| {
        let start = char_index(&now.text, change.range.start);
        let end = char_index(&now.text, change.range.end);
        let shape = Shape {
            opening: now.opening,
            base: now.text.clone(),
            start,
            old: now.cells[start..end].to_vec(),
            new: change.text.clone(),
            place: Place::of(&sequence, &now.cells, start, end),
            sent: mark.sent.is_some(),
            altered: false,
            disk: mark.makers.contains(&Maker::Disk),
        };
        (mark.id, shape)
    };
    changes.map(shape).collect()
}

/// The atoms next to a change, by cell.
fn nearest(cells: &[Cell], shape: &Shape) -> [Option<u32>; 2] {
    let known = |cell: &&Cell| is_unique(cell.char);
    let left = cells[..shape.start].iter().rev().find(known);
    let right = cells[shape.start + shape.old.len()..].iter().find(known);
    [left.map(|cell| cell.id), right.map(|cell| cell.id)]
}

pub(super) fn char_index(text: &str, byte: usize) -> usize {
    text.char_indices().take_while(|(at, _)| *at < byte).count()
}
