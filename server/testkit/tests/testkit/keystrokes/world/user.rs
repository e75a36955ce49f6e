//! Deeds of the user and their editor: type, delete, undo, format, save, close and reopen; and
//! someone else who writes the files.

use super::*;
use ropewalk_testkit::editor::{Client, EchoShape, FileOp, ServerRequest};

impl World {
    pub(super) fn buffer(&self, doc: usize) -> Option<Vec<Cell>> {
        self.editor.with(|client| Some(client.buffer(&self.docs[doc].uri)?.cells().to_vec()))
    }

    /// Where the user types: often at the border of something pending or just published.
    pub(super) fn place(&mut self, doc: usize, cells: &[Cell]) -> usize {
        let mut at = self.random.in_range(0..cells.len() + 1);
        if self.random.chance(40) {
            let places: Vec<[Option<u32>; 2]> = self
                .sessions
                .iter()
                .flat_map(|s| &s.near)
                .filter(|((id, ..), _)| *id == self.docs[doc].id)
                .map(|(_, (_, near))| *near)
                .collect();
            if let Some(ids) = self.random.pick(&places) {
                let near = self.random.pick(ids).copied().flatten();
                if let Some(place) = cells.iter().position(|cell| Some(cell.id) == near) {
                    at = place + self.random.in_range(0..2);
                }
            }
        }
        snap(cells, at)
    }

    fn typed(&mut self, line_end: &str) -> String {
        let mut text = String::new();
        for _ in 0..self.random.in_range(1..4) {
            match self.random.in_range(0..20) {
                0..14 => text.push(self.alphabet.next()),
                14..16 => text.push_str(line_end),
                16 => text.push('\u{301}'),
                17 if self.profile != Profile::VSCODE && self.random.chance(20) => text.push('\r'),
                _ => text.push(' '),
            }
        }
        text
    }

    pub(super) fn type_something(&mut self, doc: usize) {
        let Some(cells) = self.buffer(doc) else { return };
        let at = self.place(doc, &cells);
        let text = self.typed(self.docs[doc].line_end);
        self.stats.keystrokes += text.chars().count() as u64;
        self.note(format!("user types {text:?} at {at} of {}", self.docs[doc].name));
        self.editor.with(|client| client.replace(&self.docs[doc].uri, at..at, &text));
    }

    pub(super) fn delete_something(&mut self, doc: usize) {
        let Some(cells) = self.buffer(doc) else { return };
        let start = self.place(doc, &cells);
        let most = if cells.len() > LONGEST { LONGEST / 2 } else { 4 };
        let end = snap(&cells, (start + self.random.in_range(1..most)).min(cells.len()));
        if start >= end {
            return;
        }
        self.stats.keystrokes += 1;
        if most > 4 {
            self.tells_vaguely(doc);
        }
        self.note(format!("user deletes {start}..{end} of {}", self.docs[doc].name));
        self.editor.with(|client| client.replace(&self.docs[doc].uri, start..end, ""));
    }

    pub(super) fn user_undo(&mut self, doc: usize) {
        let uri = self.docs[doc].uri.clone();
        let times = self.random.in_range(1..4);
        let again = self.random.chance(30);
        self.stats.keystrokes += times as u64;
        self.note(format!("user undoes {times} steps of {}, redo: {again}", self.docs[doc].name));
        self.editor.with(|client| {
            for _ in 0..times {
                client.undo(&uri);
            }
            if again {
                client.redo(&uri);
            }
        });
    }

    /// Notes that the next change of the buffer may be taken for a difference of texts.
    fn tells_vaguely(&mut self, doc: usize) {
        self.docs[doc].vague = self.editor.openings(&self.docs[doc].uri);
    }

    /// A formatter indents or unindents some lines, and tells it coarsely.
    pub(super) fn format(&mut self, doc: usize) {
        let Some(cells) = self.buffer(doc) else { return };
        let mut changes = Vec::new();
        for (index, cell) in cells.iter().enumerate() {
            let starts_line = index == 0 || cells[index - 1].char == '\n';
            if !starts_line || self.random.chance(70) {
                continue;
            }
            if cell.char == ' ' {
                changes.push((index..index + 1, String::new()));
            } else {
                changes.push((index..index, "  ".to_owned()));
            }
        }
        let shapes = [EchoShape::AsMade, EchoShape::Whole, EchoShape::InsertAllDeleteAll];
        let shape = *self.random.pick(&shapes).unwrap();
        self.tells_vaguely(doc);
        self.note(format!("a formatter runs over {}, told {shape:?}", self.docs[doc].name));
        self.editor.with(|client| client.replace_all(&self.docs[doc].uri, changes, shape));
    }

    /// The user sorts, reverses, moves or indents all of a text, or takes back all that was ever done to it.
    pub(super) fn deed(&mut self, doc: usize) {
        let Some(cells) = self.buffer(doc) else { return };
        let uri = self.docs[doc].uri.clone();
        let shapes =
            [EchoShape::AsMade, EchoShape::Apart, EchoShape::Whole, EchoShape::InsertAllDeleteAll];
        let shape = *self.random.pick(&shapes).unwrap();
        let count = cells.iter().filter(|cell| cell.char == '\n').count() + 1;
        let [from, to, some] = [0; 3].map(|_| self.random.in_range(0..count));
        let what = self.random.in_range(0..5);
        self.stats.keystrokes += 1;
        self.tells_vaguely(doc);
        self.note(format!("user's deed {what} with {from}, {to}, {some} in {uri}, told {shape:?}"));
        self.editor.with(|client| match what {
            0 => client.rearrange(
                &uri,
                |lines| lines.sort_by_key(|line| line.first().map(|cell| cell.char)),
                shape,
            ),
            1 => client.rearrange(&uri, |lines| lines.reverse(), shape),
            2 => client.rearrange(
                &uri,
                |lines| {
                    let end = (from + some).min(lines.len());
                    let block: Vec<_> = lines.drain(from.min(end)..end).collect();
                    let to = to.min(lines.len());
                    lines.splice(to..to, block);
                },
                shape,
            ),
            3 => {
                let starts = |at: &usize| *at == 0 || cells[at - 1].char == '\n';
                let starts = (0..cells.len()).filter(starts);
                let changes = starts.map(|at| (at..at, "  ".to_owned())).collect();
                client.replace_all(&uri, changes, shape);
            }
            _ => while client.undo(&uri) {},
        });
    }

    /// In one notification: what the user does to a whole text, the oldest edit that waits, what they do after it.
    pub(super) fn batch(&mut self) {
        let of_edit = self.editor.with(|client| match client.oldest() {
            Some(ServerRequest::Apply(ops)) => ops.iter().find_map(|op| match op {
                FileOp::Edit { uri, .. } => Some(uri.clone()),
                _ => None,
            }),
            _ => None,
        });
        let doc = of_edit.and_then(|uri| self.docs.iter().position(|doc| doc.uri == uri));
        let Some(doc) = doc else { return self.handle() };
        self.editor.with(Client::hold);
        if self.random.chance(15) {
            self.deed(doc);
        }
        self.handle_as(Handling::Usual);
        for _ in 0..self.random.in_range(0..3) {
            self.deed(doc);
        }
        self.editor.with(Client::release);
    }

    pub(super) fn save(&mut self, doc: usize) {
        let uri = self.docs[doc].uri.clone();
        let Some(text) = self.editor.with(|client| client.save(&uri)) else { return };
        std::fs::write(self.dir.path().join(&self.docs[doc].name), &text).unwrap();
        self.wrote(doc, &text);
        self.note(format!("user saves {}", self.docs[doc].name));
        // The notification is read before anyone types on, or the disk has other text than it speaks of.
        while self.deliver() {}
    }

    /// Someone else writes the file; the editor reads it anew if the buffer was clean, or does not.
    pub(super) fn change_on_disk(&mut self, doc: usize) {
        let path = self.dir.path().join(&self.docs[doc].name);
        let mut lines: Vec<String> = std::fs::read_to_string(&path)
            .unwrap()
            .split_inclusive('\n')
            .map(str::to_owned)
            .collect();
        let fresh = format!("{}{}", self.alphabet.next(), self.docs[doc].line_end);
        let at = self.random.in_range(0..lines.len() + 1);
        if self.random.chance(30) && at < lines.len() {
            lines.remove(at);
        } else {
            lines.insert(at, fresh);
        }
        let text = lines.concat();
        std::fs::write(&path, &text).unwrap();
        self.wrote(doc, &text);
        let uri = self.docs[doc].uri.clone();
        let clean = self.editor.with(|c| c.buffer(&uri).is_some_and(|buffer| !buffer.is_dirty()));
        let reloads = clean && self.random.chance(60);
        self.note(format!("{} changes on the disk, reloaded: {reloads}", self.docs[doc].name));
        if reloads {
            let shape = if self.random.chance(50) { EchoShape::Whole } else { EchoShape::AsMade };
            self.tells_vaguely(doc);
            self.editor.with(|client| client.reload(&uri, &text, shape));
        }
    }

    pub(super) fn open(&mut self, doc: usize) {
        let text = self.on_disk(doc);
        let uri = self.docs[doc].uri.clone();
        self.editor.with(|client| client.open(&uri, &text));
    }

    pub(super) fn close_or_open(&mut self, doc: usize) {
        let uri = self.docs[doc].uri.clone();
        let is_open = self.editor.with(|client| client.buffer(&uri).is_some());
        self.note(format!("user {} {}", if is_open { "closes" } else { "opens" }, uri));
        if !is_open {
            return self.open(doc);
        }
        if self.random.chance(70) {
            self.save(doc);
        }
        // Deletions that the editor knows of are forgotten with its buffer; some are not told yet.
        let mut cells = self.buffer(doc).unwrap_or_default();
        cells.extend(self.editor.delivered(&uri).unwrap_or_default());
        let wavers = self.wavers(doc, &cells);
        self.docs[doc].gone.extend(wavers);
        self.editor.with(|client| client.close(&uri));
    }
}

/// A place at or before `at` that is not inside a pair of line end bytes.
fn snap(cells: &[Cell], at: usize) -> usize {
    let char = |index: usize| cells.get(index).map(|cell| cell.char);
    let inside = char(at) == Some('\n') && at > 0 && char(at - 1) == Some('\r');
    at - usize::from(inside)
}
