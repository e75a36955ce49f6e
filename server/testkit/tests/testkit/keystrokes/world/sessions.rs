//! Deeds of the sessions: look, merge the result of a call, publish, undo; and the user's review of
//! it.

use super::*;
use futures::task::noop_waker;
use ropewalk_text::{Change, ChangeSet};
use ropewalk_workspace::publish::{PublishBounds, publish};
use ropewalk_workspace::undo::undo;
use ropewalk_workspace::{FileState, HunkKind, HunkSelection, HunkState, Proposal, ProposedChange};
use std::task::{Context, Poll};

impl World {
    pub(super) fn poll(&mut self) {
        if self.tasks.is_empty() {
            return;
        }
        let index = self.random.in_range(0..self.tasks.len());
        self.poll_task(index);
    }

    pub(super) fn poll_task(&mut self, index: usize) -> bool {
        let waker = noop_waker();
        let guard = self.runtime.enter();
        let files: Vec<String> = (0..self.docs.len()).map(|doc| self.on_disk(doc)).collect();
        let waiting = self.editor.with(|client| client.waiting());
        let task = &mut self.tasks[index];
        let sending = task.sending.clone();
        let polled = task.future.as_mut().poll(&mut Context::from_waker(&waker));
        drop(guard);
        let asked = self.editor.with(|client| client.waiting()) - waiting;
        self.senders.extend(std::iter::repeat_n(sending.clone(), asked));
        self.check_disk(&files, &sending);
        let Poll::Ready(report) = polled else { return false };
        let task = self.tasks.swap_remove(index);
        self.check_report(&task, &report);
        true
    }

    pub(super) fn call(&mut self, index: usize) {
        if self.sessions[index].call.is_some() {
            return;
        }
        self.workspace.look_at_disks();
        let view = {
            let mut fork = self.sessions[index].fork.lock().unwrap();
            fork.sync_now(&self.workspace);
            fork.view(self.workspace.snapshot())
        };
        self.note(format!("session {index} starts a call"));
        self.check_fork(index, &[], &[]);
        let saw = (0..self.docs.len()).map(|doc| self.now(doc).saw()).collect();
        self.sessions[index].call = Some(Call { view, saw });
    }

    /// Makes a call's proposals for one document or two.
    fn proposals(&mut self, index: usize, view: &View) -> Vec<(Proposal, ChangeSet)> {
        let mut proposals = Vec::new();
        for _ in 0..self.random.in_range(1..3) {
            let doc = self.random.in_range(0..self.docs.len());
            if let Some(proposal) = self.proposal(view, doc) {
                proposals.push(proposal);
            }
        }
        // One change of a document per call: a second would be made on another text than the view's.
        proposals.dedup_by(|(a, _), (b, _)| a.place.path == b.place.path);
        self.stats.proposals += proposals.len() as u64;
        let what: Vec<String> = proposals
            .iter()
            .map(|(proposal, set)| {
                let whole = matches!(proposal.change, ProposedChange::Write(_));
                format!("{} {set:?}, whole: {whole}", proposal.place.shown)
            })
            .collect();
        self.note(format!("session {index} merges {what:?}"));
        proposals
    }

    pub(super) fn merge(&mut self, index: usize) {
        let Some(Call { view, saw }) = self.sessions[index].call.take() else { return };
        let proposals = self.proposals(index, &view);
        let mut unmoved = Vec::new();
        for (proposal, set) in &proposals {
            let Ok(FileState::Text { text, .. }) = view.read(&proposal.place) else { continue };
            let (text, proposed) = (text.to_string(), set.apply(&text).unwrap().to_string());
            let doc = self.docs.iter().position(|doc| doc.name == proposal.place.shown).unwrap();
            let saw = &saw[doc];
            if *text != *saw.text && self.sessions[index].shapes[doc].is_empty() {
                // Changes pending when the call looked are gone, and with them the steps from then
                // to now.
                self.sessions[index].looked[doc].2.extend(oracle::atoms(&text));
            }
            // Where nothing has moved since, what was proposed is what is pending then.
            let now = self.now(doc);
            if now.moves == saw.moves && now.text == saw.text && self.fork_text(index, doc) == text
            {
                unmoved.push((doc, proposed.clone()));
            }
            let what = self.sessions[index].licences[doc].grant(&text, &proposed, saw);
            self.note(format!("licensed in {}: {what}", self.docs[doc].name));
        }
        let maker = Maker::Call("call".into());
        let report = {
            let session = &mut self.sessions[index];
            session.turn += 1;
            let mut fork = session.fork.lock().unwrap();
            let proposals = proposals.into_iter().map(|(proposal, _)| proposal).collect();
            let report = fork.merge(&self.workspace, &view, session.turn, &maker, proposals);
            fork.sync_now(&self.workspace);
            report
        };
        self.stats.conflicts += report.conflicts.len() as u64;
        let before = self.sessions[index].shapes.clone();
        let told = self.check_fork(index, &report.hunks, &report.conflicts);
        for (doc, proposed) in unmoved {
            if told.contains(&self.docs[doc].name) {
                continue;
            }
            let (was, is) = (&before[doc], &self.sessions[index].shapes[doc]);
            let now = self.fork_text(index, doc);
            // Changes that the disk has brought come and go with the sync.
            if was.iter().chain(is).any(|(_, shape)| shape.disk) {
                continue;
            }
            assert_eq!(now, proposed, "a merge into the text that was seen: {was:?}, {is:?}");
        }
        if self.random.chance(40) {
            self.publish_selected(index, &HunkSelection::All);
        }
    }

    /// Makes a call's proposal for a file, with the changes of the text that it sees.
    fn proposal(&mut self, view: &View, doc: usize) -> Option<(Proposal, ChangeSet)> {
        let place = view.contain(&self.docs[doc].name).ok()?;
        let FileState::Text { text, .. } = view.read(&place).ok()? else { return None };
        let string = text.to_string();
        let chars: Vec<(usize, char)> = string.char_indices().collect();
        let byte = |index: usize| chars.get(index).map_or(string.len(), |(at, _)| *at);
        let line_end = self.docs[doc].line_end;
        let mut token = || {
            let char = self.alphabet.next();
            self.agents.insert(char);
            char
        };
        let mut changes: Vec<Change> = Vec::new();
        for _ in 0..self.random.in_range(1..4) {
            let mut start = self.random.in_range(0..chars.len() + 1);
            let mut end = (start + self.random.in_range(0..10)).min(chars.len());
            let mut new = String::new();
            match self.random.in_range(0..5) {
                // A line more.
                0 => {
                    while start > 0 && chars.get(start - 1).is_some_and(|(_, c)| *c != '\n') {
                        start -= 1;
                    }
                    end = start;
                    new = format!("{}new{line_end}", token());
                }
                // Only a deletion.
                1 => {}
                // Only an insertion.
                2 => {
                    end = start;
                    new = format!("+{}", token());
                }
                _ => {
                    new.push(token());
                    if self.random.chance(30) {
                        new.push_str(line_end);
                        new.push(token());
                    }
                }
            }
            let (start, end) = (snap_chars(&chars, start), snap_chars(&chars, end));
            let change = Change::new(byte(start)..byte(end).max(byte(start)), new);
            let apart =
                |c: &Change| change.range.start > c.range.end || c.range.start > change.range.end;
            if changes.iter().all(apart) {
                changes.push(change);
            }
        }
        let set = ChangeSet::new(text.len(), changes)?;
        let change = if self.random.chance(40) {
            ProposedChange::Write(set.apply(&text).ok()?)
        } else {
            ProposedChange::Edit(set.clone())
        };
        Some((Proposal { place, change }, set))
    }

    pub(super) fn publish(&mut self, index: usize) {
        let (hunks, turn) = {
            let session = &self.sessions[index];
            (session.fork.lock().unwrap().hunks(), session.turn)
        };
        let selection = match self.random.in_range(0..4) {
            0 => HunkSelection::All,
            1 => HunkSelection::Turn(turn),
            2 => {
                let doc = self.random.in_range(0..self.docs.len());
                HunkSelection::File(self.docs[doc].id.clone())
            }
            _ => match self.random.pick(&hunks) {
                Some(hunk) => HunkSelection::Hunks(vec![hunk.id]),
                None => return,
            },
        };
        self.publish_selected(index, &selection);
    }

    fn publish_selected(&mut self, index: usize, selection: &HunkSelection) {
        if self.tasks.len() > 4 {
            return;
        }
        self.sync(index);
        let fork = self.sessions[index].fork.clone();
        let (ids, wanted) = {
            let fork = fork.lock().unwrap();
            let ids = fork.select(selection);
            let hunks = fork.hunks();
            let wanted = hunks
                .iter()
                .filter(|hunk| hunk.state == HunkState::Pending)
                .flat_map(|hunk| hunk.parts.iter().map(|part| (&hunk.doc, *part)))
                .filter(|(_, part)| ids.contains(part))
                .map(|(doc, part)| (doc.clone(), self.opening(doc), part))
                .collect();
            (ids, wanted)
        };
        let shapes = self.sessions[index].shapes.iter().enumerate();
        let shapes = shapes.flat_map(|(doc, all)| all.iter().map(move |(id, s)| (doc, *id, s)));
        let accepted = shapes
            .filter(|(_, id, _)| ids.contains(id))
            .map(|(doc, id, shape)| (doc, id, shape.clone()))
            .collect();
        let sending = Sending { session: index, accepted, ..Sending::default() };
        self.stats.publishes += 1;
        self.note(format!("session {index} publishes {selection:?}: {wanted:?}"));
        let (workspace, editor, selection) =
            (self.workspace.clone(), self.editor.clone(), selection.clone());
        let future = Box::pin(async move {
            let bounds = PublishBounds { echo: BOUND };
            publish(&workspace, &*editor, &*fork, &selection, bounds).await
        });
        self.tasks.push(Task { sending: Arc::new(sending), wanted, future });
        self.poll_task(self.tasks.len() - 1);
    }

    /// The user rejects a hunk or writes their own version of it.
    pub(super) fn review(&mut self, index: usize) {
        self.sync(index);
        let fork = self.sessions[index].fork.clone();
        let mut fork = fork.lock().unwrap();
        let hunks = fork.hunks();
        let Some(hunk) = self.random.pick(&hunks) else { return };
        let doc = self.docs.iter().position(|doc| doc.id == hunk.doc).unwrap();
        let mut touched = hunk.parts.clone();
        let before = text_of(&fork, &self.docs[doc].id);
        if self.random.chance(50) || hunk.kind != HunkKind::Text {
            let count =
                fork.reject(&self.workspace, &HunkSelection::Hunks(vec![hunk.id]), Some("no"));
            self.note(format!("user rejects {:?} of session {index}: {count}", hunk.id));
            if count > 0 {
                let session = &mut self.sessions[index];
                let gone = |(id, _): &&(HunkId, Shape)| hunk.parts.contains(id);
                for (_, shape) in session.shapes[doc].iter().filter(gone) {
                    session.licences[doc].reject(shape);
                }
            }
        } else {
            let own = self.alphabet.next();
            let mut text = hunk.new.clone();
            text.insert(0, own);
            let before_ids: HashSet<HunkId> =
                fork.files().flat_map(|(_, f)| f.entry.marks().iter().map(|m| m.id)).collect();
            fork.edit(&self.workspace, hunk.id, &text);
            let all = fork.files().flat_map(|(_, f)| f.entry.marks().iter().map(|m| m.id));
            touched.extend(all.filter(|id| !before_ids.contains(id)));
            self.note(format!("user edits {:?} of session {index}: {text:?}", hunk.id));
            if let (Some(before), Some(after)) = (before, text_of(&fork, &self.docs[doc].id))
                && before != after
            {
                let at = after.find(&text).unwrap();
                let mut without = after.clone();
                without.replace_range(at..at + own.len_utf8(), "");
                assert_eq!(without, before);
                let saw = self.now(doc).saw();
                self.sessions[index].licences[doc].grant(&before, &after, &saw);
            }
        }
        drop(fork);
        self.check_fork(index, &touched, &[]);
    }

    /// Text of a document with all pending changes.
    fn fork_text(&self, index: usize, doc: usize) -> String {
        let fork = self.sessions[index].fork.lock().unwrap();
        text_of(&fork, &self.docs[doc].id).unwrap_or_else(|| self.now(doc).text.to_string())
    }

    pub(super) fn undo(&mut self, index: usize) {
        let name = self.sessions[index].name.clone();
        let ids: Vec<(HunkId, u64)> = {
            let ledger = self.workspace.ledger();
            let own = ledger.texts.iter().filter(|hunk| hunk.session == name);
            own.map(|hunk| (hunk.id, hunk.turn)).collect()
        };
        let Some((id, turn)) = self.random.pick(&ids).copied() else { return };
        let selection = if self.random.chance(60) {
            HunkSelection::Hunks(vec![id])
        } else {
            HunkSelection::Turn(turn)
        };
        self.note(format!("session {index} undoes {selection:?}"));
        let chosen: Vec<HunkId> = match &selection {
            HunkSelection::Hunks(ids) => ids.clone(),
            _ => ids.iter().filter(|(_, of)| *of == turn).map(|(id, _)| *id).collect(),
        };
        let sending = Sending { session: index, chosen, ..Sending::default() };
        let (workspace, editor) = (self.workspace.clone(), self.editor.clone());
        let fork = self.sessions[index].fork.clone();
        let future = Box::pin(async move {
            let bounds = PublishBounds { echo: BOUND };
            undo(&workspace, &*editor, &*fork, &selection, bounds).await
        });
        self.tasks.push(Task { sending: Arc::new(sending), wanted: Vec::new(), future });
        self.poll_task(self.tasks.len() - 1);
    }

    /// Changes of the session that were published under these hunks so far. One altered on its way
    /// can't be told from others sent with it: the ledger keeps it under one of their hunks.
    pub(super) fn meant_by_undo(&self, index: usize, chosen: &[HunkId]) -> Vec<(usize, Landed)> {
        let altered = &self.sessions[index].altered;
        let own = |(doc, landed): &&(usize, Landed)| {
            let is_altered = |hunk: &HunkId| altered.contains(&(*doc, *hunk));
            let with_it = landed.hunks.iter().any(|hunk| chosen.contains(hunk));
            landed.session == index
                && (chosen.contains(&landed.hunk)
                    || (with_it && landed.hunks.iter().any(is_altered)))
        };
        self.landed.iter().filter(own).cloned().collect()
    }

    pub(super) fn sync(&mut self, index: usize) {
        self.workspace.look_at_disks();
        self.sessions[index].fork.lock().unwrap().sync_now(&self.workspace);
        self.check_fork(index, &[], &[]);
    }
}

/// Text of a document with all pending changes. None when nothing is pending.
fn text_of(fork: &Fork, id: &DocId) -> Option<String> {
    fork.files().find(|(own, _)| *own == id).map(|(_, file)| file.entry.text().to_string())
}

fn snap_chars(chars: &[(usize, char)], at: usize) -> usize {
    let char = |index: usize| chars.get(index).map(|(_, char)| *char);
    let inside = char(at) == Some('\n') && at > 0 && char(at - 1) == Some('\r');
    at - usize::from(inside)
}
