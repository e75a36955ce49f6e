//! The client: buffers, a user, and the habits of a profile. It decides what is answered and what is told,
//! and in which order; a transport carries it.
//!
//! Everything happens when it is asked for: requests wait until [`Client::handle`], changes that the profile
//! holds back until [`Client::flush`], what is to be written until [`Client::next_outgoing`]. A client that
//! is dropped with requests nobody handled fails the test.

use super::buffer::{Author, Buffer, Cell, EchoShape, text_of};
use super::profile::{Flush, Profile, StaleAnswer, VersionCheck};
use ropewalk_text::{Coordinates, Position};
use ropewalk_workspace::ContentChange;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::path::PathBuf;

/// Names a request of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// One entry of a workspace edit's `documentChanges`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileOp {
    /// Edits of one document.
    Edit {
        /// The document.
        uri: String,
        /// The version they are for; None for null.
        version: Option<i32>,
        /// The ranges and their new text, in any order.
        edits: Vec<(Position, Position, String)>,
        /// True if the user is to confirm them.
        needs_confirmation: bool,
    },
    /// A new file.
    Create {
        /// Its URI.
        uri: String,
        /// Replace what is there.
        overwrite: bool,
        /// Leave what is there.
        ignore_if_exists: bool,
    },
    /// Another name.
    Rename {
        /// The URI before.
        from: String,
        /// The URI after.
        to: String,
    },
    /// A deleted file.
    Delete {
        /// Its URI.
        uri: String,
    },
}

/// Request of the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerRequest {
    /// `workspace/applyEdit`.
    Apply(Vec<FileOp>),
    /// `workspace/semanticTokens/refresh`.
    Barrier,
}

/// How a request is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handling {
    /// As the profile does it.
    Usual,
    /// As the profile does it, but answer and echo in the other order.
    OtherOrder,
    /// The edit is made, and no answer comes, ever.
    MadeInSilence,
    /// Nothing is done, and no answer comes, ever.
    Ignored,
    /// Nothing is done, and the answer is no.
    Refused,
}

/// Message that a client writes.
#[derive(Clone, Debug, PartialEq)]
pub enum Outgoing {
    /// didOpen.
    Open {
        /// The document.
        uri: String,
        /// Its version.
        version: i32,
        /// Its text.
        text: String,
        /// The characters of the text.
        cells: Vec<Cell>,
    },
    /// didChange.
    Change {
        /// The document.
        uri: String,
        /// Its version after the changes.
        version: i32,
        /// The changes.
        changes: Vec<ContentChange>,
        /// The characters after them.
        cells: Vec<Cell>,
    },
    /// didSave.
    Save {
        /// The document.
        uri: String,
    },
    /// didClose.
    Close {
        /// The document.
        uri: String,
    },
    /// The answer to a request: whether the edit was applied, or an error.
    Answer(RequestId, Result<bool, String>),
}

/// One range that an edit of the server's replaced.
#[derive(Clone, Debug)]
pub struct AppliedChange {
    /// Where it began, in the text before the edit.
    pub at: usize,
    /// Cells that stood there.
    pub old: Vec<Cell>,
    /// Cells that stand there now.
    pub new: Vec<Cell>,
}

/// An edit of the server's that a client made.
#[derive(Clone, Debug)]
pub struct Applied {
    /// Counts them; the same number as in [`Author::Server`].
    pub number: u32,
    /// The document.
    pub uri: String,
    /// True if it was made for another version than the buffer's.
    pub stale: bool,
    /// True if the document was not open, and was opened for it.
    pub reopened: bool,
    /// The characters before it.
    pub before: Vec<Cell>,
    /// Changes of the text, in order.
    pub changes: Vec<AppliedChange>,
}

/// See the module.
#[derive(Debug)]
pub struct Client {
    /// Its habits.
    pub profile: Profile,
    /// How it counts.
    pub coordinates: Coordinates,
    buffers: BTreeMap<String, Buffer>,
    requests: VecDeque<(RequestId, ServerRequest)>,
    outgoing: VecDeque<Outgoing>,
    /// Edits of the server's, until someone takes them.
    applied: Vec<Applied>,
    /// Edits that wait for the user's confirmation.
    previews: Vec<(RequestId, Vec<FileOp>)>,
    /// True while changes are told together, whatever the profile says.
    holds: bool,
    next_cell: u32,
    next_edit: u32,
    next_request: u64,
}

impl Client {
    /// A client with no document.
    pub fn new(profile: Profile) -> Self {
        let coordinates =
            Coordinates { encoding: profile.encoding(), line_ends: profile.line_ends };
        Self {
            profile,
            coordinates,
            buffers: BTreeMap::new(),
            requests: VecDeque::new(),
            outgoing: VecDeque::new(),
            applied: Vec::new(),
            previews: Vec::new(),
            holds: false,
            next_cell: 0,
            next_edit: 0,
            next_request: 0,
        }
    }

    /// The buffer of an open document.
    pub fn buffer(&self, uri: &str) -> Option<&Buffer> {
        self.buffers.get(uri)
    }

    /// The URIs of the open documents.
    pub fn open_uris(&self) -> Vec<String> {
        self.buffers.keys().cloned().collect()
    }

    fn cells(&mut self, text: &str, by: Author) -> Vec<Cell> {
        let new = |char| {
            self.next_cell += 1;
            Cell { char, id: self.next_cell, by }
        };
        text.chars().map(new).collect()
    }

    /// Opens a document with this text, as the disk has it.
    pub fn open(&mut self, uri: &str, text: &str) {
        self.close(uri);
        let cells = self.cells(text, Author::Disk);
        let version = self.profile.first_version;
        let buffer = Buffer::new(cells.clone(), version, self.profile.tells_each);
        self.buffers.insert(uri.to_owned(), buffer);
        let (uri, text) = (uri.to_owned(), text.to_owned());
        self.outgoing.push_back(Outgoing::Open { uri, version, text, cells });
    }

    /// Closes a document; unsaved text is gone, by the user's will. What was held back is told first.
    pub fn close(&mut self, uri: &str) {
        self.flush(uri);
        if self.buffers.remove(uri).is_some() {
            self.outgoing.push_back(Outgoing::Close { uri: uri.to_owned() });
        }
    }

    /// Marks a document as saved and tells it. Gives the text that is to be written; None if it is not open.
    pub fn save(&mut self, uri: &str) -> Option<String> {
        self.flush(uri);
        let buffer = self.buffers.get_mut(uri)?;
        buffer.saved();
        let text = buffer.text();
        self.outgoing.push_back(Outgoing::Save { uri: uri.to_owned() });
        Some(text)
    }

    /// The user replaces a range of characters, clamped to the text.
    pub fn replace(&mut self, uri: &str, range: Range<usize>, text: &str) {
        self.replace_all(uri, vec![(range, text.to_owned())], EchoShape::AsMade);
    }

    /// The user, or a formatter they ran, replaces several ranges (sorted, disjoint) in one step.
    pub fn replace_all(
        &mut self,
        uri: &str,
        changes: Vec<(Range<usize>, String)>,
        shape: EchoShape,
    ) {
        let changes: Vec<_> = changes
            .into_iter()
            .map(|(range, text)| (range, self.cells(&text, Author::User)))
            .collect();
        self.change(uri, |buffer, coordinates| {
            let len = buffer.cells().len();
            let clamp = |range: Range<usize>| {
                let start = range.start.min(len);
                start..range.end.clamp(start, len)
            };
            let changes = changes.into_iter().map(|(range, cells)| (clamp(range), cells)).collect();
            buffer.edit(changes, Author::User, shape, coordinates);
        });
    }

    /// The user reorders the lines of a document: sorts, reverses, moves some. The characters stay who they are.
    pub fn rearrange(
        &mut self,
        uri: &str,
        arrange: impl FnOnce(&mut Vec<Vec<Cell>>),
        shape: EchoShape,
    ) {
        self.change(uri, |buffer, coordinates| {
            let old = buffer.cells();
            let lines = old.split_inclusive(|cell| cell.char == '\n');
            let mut lines: Vec<Vec<Cell>> = lines.map(<[Cell]>::to_vec).collect();
            arrange(&mut lines);
            let new = lines.concat();
            let prefix = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
            let most = old.len().min(new.len()) - prefix;
            let ends = old.iter().rev().zip(new.iter().rev()).take(most);
            let suffix = ends.take_while(|(a, b)| a == b).count();
            let range = prefix..old.len() - suffix;
            let cells = new.get(prefix..new.len() - suffix).unwrap_or_default().to_vec();
            if !range.is_empty() {
                buffer.edit(vec![(range, cells)], Author::User, shape, coordinates);
            }
        });
    }

    /// Holds all changes back until [`Client::release`], however the profile tells them.
    pub fn hold(&mut self) {
        self.holds = true;
    }

    /// Tells in one notification for each document what was held back.
    pub fn release(&mut self) {
        self.holds = false;
        self.flush_all();
    }

    /// The editor reads a document anew from the disk: what differs is replaced.
    pub fn reload(&mut self, uri: &str, text: &str, shape: EchoShape) {
        let Some(buffer) = self.buffers.get(uri) else {
            return;
        };
        let same = |(cell, char): &(&Cell, char)| cell.char == *char;
        let chars: Vec<char> = text.chars().collect();
        let old = buffer.cells();
        let prefix = old.iter().zip(chars.iter().copied()).take_while(same).count();
        let most = old.len().min(chars.len()) - prefix;
        let suffix =
            old.iter().rev().zip(chars.iter().rev().copied()).take(most).take_while(same).count();
        let range = prefix..old.len() - suffix;
        let middle: String =
            chars.get(prefix..chars.len() - suffix).unwrap_or_default().iter().collect();
        let cells = self.cells(&middle, Author::Disk);
        self.change(uri, |buffer, coordinates| {
            buffer.edit(vec![(range, cells)], Author::Disk, shape, coordinates);
            buffer.saved();
        });
    }

    /// The user takes back the last step, whoever made it. False when there is none.
    pub fn undo(&mut self, uri: &str) -> bool {
        self.change(uri, |buffer, coordinates| buffer.undo(coordinates)).unwrap_or(false)
    }

    /// The user makes the step last taken back once more.
    pub fn redo(&mut self, uri: &str) -> bool {
        self.change(uri, |buffer, coordinates| buffer.redo(coordinates)).unwrap_or(false)
    }

    fn change<T>(&mut self, uri: &str, f: impl FnOnce(&mut Buffer, Coordinates) -> T) -> Option<T> {
        let out = f(self.buffers.get_mut(uri)?, self.coordinates);
        if self.profile.flush == Flush::AtOnce && !self.holds {
            self.flush(uri);
        }
        Some(out)
    }

    /// Tells what was held back of one document.
    pub fn flush(&mut self, uri: &str) {
        let (profile, coordinates) = (self.profile, self.coordinates);
        let Some(buffer) = self.buffers.get_mut(uri) else {
            return;
        };
        for (version, changes, cells) in buffer.flush(&profile, coordinates) {
            let uri = uri.to_owned();
            self.outgoing.push_back(Outgoing::Change { uri, version, changes, cells });
        }
    }

    /// Tells all that was held back.
    pub fn flush_all(&mut self) {
        for uri in self.open_uris() {
            self.flush(&uri);
        }
    }

    /// A request has come from the server; it waits until it is handled.
    pub fn receive(&mut self, request: ServerRequest) -> RequestId {
        self.next_request += 1;
        let id = RequestId(self.next_request);
        self.requests.push_back((id, request));
        id
    }

    /// How many requests wait.
    pub fn waiting(&self) -> usize {
        self.requests.len()
    }

    /// The oldest request that waits.
    pub fn oldest(&self) -> Option<&ServerRequest> {
        self.requests.front().map(|(_, request)| request)
    }

    /// Handles the oldest request. False when none waits.
    pub fn handle(&mut self, how: Handling) -> bool {
        let Some((id, request)) = self.requests.pop_front() else {
            return false;
        };
        match (request, how) {
            (_, Handling::Ignored) => {}
            (ServerRequest::Barrier, _) => {
                if self.profile.barrier {
                    self.flush_all();
                }
                self.answer(id, Ok(true));
            }
            (ServerRequest::Apply(_), Handling::Refused) => self.answer(id, Ok(false)),
            (ServerRequest::Apply(ops), how) => {
                let wants =
                    |op: &FileOp| matches!(op, FileOp::Edit { needs_confirmation: true, .. });
                if self.profile.confirmation == super::Confirmation::Preview
                    && ops.iter().any(wants)
                {
                    self.previews.push((id, ops));
                } else {
                    self.apply(id, &ops, how);
                }
            }
        }
        true
    }

    /// The user acts on the oldest preview: takes the edit (true) or leaves all of it off (the answer is yes
    /// all the same). False when there is none.
    pub fn confirm(&mut self, take: bool) -> bool {
        if self.previews.is_empty() {
            return false;
        }
        let (id, ops) = self.previews.remove(0);
        if take {
            self.apply(id, &ops, Handling::Usual);
        } else {
            self.answer(id, Ok(true));
        }
        true
    }

    fn answer(&mut self, id: RequestId, answer: Result<bool, String>) {
        self.outgoing.push_back(Outgoing::Answer(id, answer));
    }

    fn apply(&mut self, id: RequestId, ops: &[FileOp], how: Handling) {
        let stale = |index: usize, op: &FileOp| self.refuses(index, op);
        let refused = ops.iter().enumerate().any(|(index, op)| stale(index, op));
        if refused && self.profile.stale != StaleAnswer::ClaimsApplied {
            let answer = match self.profile.stale {
                StaleAnswer::Error => Err("the document has changed since".to_owned()),
                _ => Ok(false),
            };
            if how != Handling::MadeInSilence {
                self.answer(id, answer);
            }
            return;
        }
        let answers_first = self.profile.answers_first != (how == Handling::OtherOrder);
        let silent = how == Handling::MadeInSilence;
        // Where the echo waits for a debounce it comes after the answer anyhow.
        let place = self.outgoing.len();
        let mut result = Ok(true);
        for (index, op) in ops.iter().enumerate() {
            if self.refuses(index, op) {
                continue;
            }
            if let Err(why) = self.perform(op) {
                result = if why.is_empty() { Ok(false) } else { Err(why) };
                break;
            }
        }
        if silent {
            return;
        }
        let answer = Outgoing::Answer(id, result);
        if answers_first {
            self.outgoing.insert(place, answer);
        } else {
            self.outgoing.push_back(answer);
        }
    }

    /// True if the client leaves an entry out for its version.
    fn refuses(&self, index: usize, op: &FileOp) -> bool {
        let FileOp::Edit { uri, version, .. } = op else {
            return false;
        };
        // A document that is not open is opened for the edit, with its first version.
        let now = self.buffers.get(uri).map_or(self.profile.first_version, Buffer::version);
        let is_stale = version.is_some_and(|version| version != now);
        match self.profile.checks {
            VersionCheck::All => is_stale,
            VersionCheck::FirstButNeverZero => is_stale && index == 0 && *version != Some(0),
            VersionCheck::Never => false,
        }
    }

    /// Makes one entry. An empty error is a plain no.
    fn perform(&mut self, op: &FileOp) -> Result<(), String> {
        match op {
            FileOp::Edit { uri, version, edits, .. } => {
                let reopened = !self.buffers.contains_key(uri);
                if reopened {
                    let text = read(uri).unwrap_or_default();
                    self.open(uri, &text);
                }
                self.edit(uri, *version, edits, reopened);
                Ok(())
            }
            FileOp::Create { uri, overwrite, ignore_if_exists } => {
                let path = path_of(uri).ok_or("only files can be created")?;
                let exists = path.exists();
                if exists && *ignore_if_exists {
                    return Ok(());
                }
                if exists && !overwrite && !self.profile.create_truncates {
                    return Err(String::new());
                }
                if !exists && *ignore_if_exists && !self.profile.creates_if_absent {
                    return Ok(());
                }
                std::fs::write(path, "").map_err(|error| error.to_string())
            }
            FileOp::Rename { from, to } => {
                let (old, new) =
                    path_of(from).zip(path_of(to)).ok_or("only files can be renamed")?;
                let text = self.buffers.get(from).map(Buffer::text);
                if self.profile.rename_writes
                    && let Some(text) = &text
                {
                    std::fs::write(&old, text).map_err(|error| error.to_string())?;
                }
                if new.exists() {
                    return Err(String::new());
                }
                if let Some(folder) = new.parent() {
                    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
                }
                std::fs::rename(old, new).map_err(|error| error.to_string())?;
                if let Some(text) = text {
                    self.close(from);
                    self.open(to, &text);
                }
                Ok(())
            }
            FileOp::Delete { uri } => {
                let path = path_of(uri).ok_or("only files can be deleted")?;
                std::fs::remove_file(path).map_err(|_| String::new())?;
                self.close(uri);
                Ok(())
            }
        }
    }

    fn edit(
        &mut self,
        uri: &str,
        version: Option<i32>,
        edits: &[(Position, Position, String)],
        reopened: bool,
    ) {
        self.next_edit += 1;
        let (number, coordinates) = (self.next_edit, self.coordinates);
        let by = Author::Server(number);
        let Some(buffer) = self.buffers.get(uri) else {
            return;
        };
        let stale = version.is_some_and(|version| version != buffer.version());
        let before = buffer.cells().to_vec();
        let mut ranges: Vec<(Range<usize>, &str)> = edits
            .iter()
            .map(|(start, end, text)| {
                let start = buffer.index(coordinates, *start);
                (start..buffer.index(coordinates, *end).max(start), text.as_str())
            })
            .collect();
        // Stable, so that insertions at one place keep their order.
        ranges.sort_by_key(|(range, _)| (range.start, range.end));
        let changes: Vec<_> =
            ranges.into_iter().map(|(range, text)| (range, self.cells(text, by))).collect();
        let made = self.change(uri, |buffer, coordinates| {
            buffer.edit(changes, by, EchoShape::AsMade, coordinates)
        });
        let changes = made.unwrap_or_default().into_iter();
        let changes = changes
            .map(|splice| AppliedChange { at: splice.at, old: splice.old, new: splice.new })
            .collect();
        self.applied.push(Applied {
            number,
            uri: uri.to_owned(),
            stale,
            reopened,
            before,
            changes,
        });
    }

    /// Takes the record of the server's edits since the last time.
    pub fn take_applied(&mut self) -> Vec<Applied> {
        std::mem::take(&mut self.applied)
    }

    /// The next thing to write, in order.
    pub fn next_outgoing(&mut self) -> Option<Outgoing> {
        self.outgoing.pop_front()
    }

    /// True if something is to be written.
    pub fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(
                self.requests.is_empty(),
                "the server's requests were not handled: {:?}",
                self.requests
            );
        }
    }
}

/// The path of a file URI.
fn path_of(uri: &str) -> Option<PathBuf> {
    ropewalk_workspace::DocId::from_uri(uri).path()
}

fn read(uri: &str) -> Option<String> {
    std::fs::read_to_string(path_of(uri)?).ok()
}

impl AppliedChange {
    /// Text that stood there.
    pub fn old_text(&self) -> String {
        text_of(&self.old)
    }

    /// Text that stands there now.
    pub fn new_text(&self) -> String {
        text_of(&self.new)
    }
}
