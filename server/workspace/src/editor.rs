//! The editor as the workspace needs it, and what is known of each editor's habits.
//!
//! The trait only does; it never asks the user anything. The habits are one table of data, by the name a
//! client gives in `clientInfo`; they were observed in the editors named (see ARCHITECTURE.md, "Clients").

use crate::{DocId, PublishId};
use futures::future::BoxFuture;
use ropewalk_text::{LineEnds, Position, Text};

/// How a client takes edits of its documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditForm {
    /// Not at all: it has no `workspace/applyEdit`.
    None,
    /// As `changes`, which carry no version: nothing can be checked.
    Plain,
    /// As `documentChanges`, each for a version of its document.
    Versioned,
}

/// Abilities to take edits that a client declares in `initialize`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// True if it has `workspace/applyEdit`.
    pub apply_edit: bool,
    /// True if it takes `documentChanges`.
    pub document_changes: bool,
    /// True if it has the resource operation `rename`.
    pub renames: bool,
}

/// Habits of one editor with our edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Habits {
    /// The start of the name in `clientInfo`, in lower case.
    pub name: &'static str,
    /// Which strings end a line in its positions.
    pub line_ends: LineEnds,
    /// The form in which it takes edits.
    pub edits: EditForm,
    /// True if it honours `documentChanges` without declaring them.
    pub undeclared_versions: bool,
    /// True if `RenameFile` takes an open buffer along: the client declares it, and is not known to write the buffer.
    pub renames_files: bool,
    /// True if `RenameFile` writes the open buffer to the disk on the way.
    pub rename_writes: bool,
    /// True if it skips an edit whose version it has left behind.
    pub checks_versions: bool,
    /// True if its `applied: true` can be trusted. Where it can't, a later notification without the
    /// edit shows that it was skipped.
    pub answers_truly: bool,
    /// True if a document at version 0 must be moved off it first, because version 0 is never
    /// checked.
    pub primes_version_zero: bool,
    /// True if `workspace/semanticTokens/refresh` makes it send the changes it holds back.
    pub barrier: bool,
    /// True if it tells what was typed only in a pause, and can't be asked for it.
    pub holds_changes_back: bool,
    /// True if it draws code lenses.
    pub lenses: bool,
    /// True if a message with buttons waits for a click. Where it reads keys, typing would answer
    /// it.
    pub safe_dialogs: bool,
    /// True if showing a message takes keys. Neovim prompts at every `window/showMessage` but a
    /// short error of one line, and swallows the next Enter or Space.
    pub messages_take_keys: bool,
}

const VS_CODE: Habits = Habits {
    name: "visual studio code",
    checks_versions: true,
    answers_truly: true,
    lenses: true,
    safe_dialogs: true,
    ..Habits::UNKNOWN
};

const NEOVIM: Habits = Habits {
    name: "neovim",
    line_ends: LineEnds::Newline,
    undeclared_versions: true,
    rename_writes: true,
    checks_versions: true,
    primes_version_zero: true,
    barrier: true,
    messages_take_keys: true,
    ..Habits::UNKNOWN
};

/// The known clients. The first whose name starts the client's own, ASCII case aside, counts.
const KNOWN: &[Habits] = &[
    NEOVIM,
    VS_CODE,
    Habits { name: "code - oss", ..VS_CODE },
    Habits { name: "vscodium", ..VS_CODE },
    Habits { name: "code-server", ..VS_CODE },
    Habits {
        name: "emacs",
        line_ends: LineEnds::Newline,
        checks_versions: true,
        answers_truly: true,
        holds_changes_back: true,
        lenses: false,
        ..Habits::UNKNOWN
    },
    Habits {
        name: "helix",
        checks_versions: true,
        answers_truly: true,
        lenses: false,
        ..Habits::UNKNOWN
    },
];

impl Habits {
    /// A client of which nothing is known: it counts as one that checks nothing.
    pub const UNKNOWN: Habits = Habits {
        name: "",
        line_ends: LineEnds::Lsp,
        edits: EditForm::Versioned,
        undeclared_versions: false,
        renames_files: false,
        rename_writes: false,
        checks_versions: false,
        answers_truly: false,
        primes_version_zero: false,
        barrier: false,
        holds_changes_back: false,
        lenses: true,
        safe_dialogs: false,
        messages_take_keys: false,
    };

    /// The habits of the client that calls itself `name`.
    pub fn of(name: Option<&str>) -> Habits {
        let name = name.unwrap_or_default().to_ascii_lowercase();
        KNOWN.iter().find(|known| name.starts_with(known.name)).copied().unwrap_or(Habits::UNKNOWN)
    }

    /// These habits where the client declares this in `initialize`: what it has not declared is not asked of it,
    /// and where edits carry no version none is checked.
    #[must_use]
    pub fn declaring(self, declared: Declared) -> Habits {
        let edits = if !declared.apply_edit {
            EditForm::None
        } else if declared.document_changes || self.undeclared_versions {
            EditForm::Versioned
        } else {
            EditForm::Plain
        };
        let is_versioned = edits == EditForm::Versioned;
        Habits {
            edits,
            checks_versions: self.checks_versions && is_versioned,
            primes_version_zero: self.primes_version_zero && is_versioned,
            renames_files: is_versioned && declared.renames && !self.rename_writes,
            ..self
        }
    }

    /// These habits where the client vouches for versions: it makes no edit for a version it has left behind, and says so.
    /// Where edits carry no version it can't.
    #[must_use]
    pub fn vouching(self) -> Habits {
        if self.edits != EditForm::Versioned {
            return self;
        }
        Habits {
            checks_versions: true,
            answers_truly: true,
            primes_version_zero: false,
            barrier: false,
            holds_changes_back: false,
            ..self
        }
    }

    /// True if a notification after our edit, and without it, proves that it was skipped. So it is
    /// where versions are checked and `applied: true` is said of skipped edits.
    pub fn trusts_versions(&self) -> bool {
        self.checks_versions && !self.answers_truly
    }
}

/// An edit of one open document, for one `workspace/applyEdit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentEdit {
    /// The document, in the client's own spelling.
    pub uri: String,
    /// The version the edit is for.
    pub version: i32,
    /// The publish that it belongs to, for [`crate::Workspace::answered`]; None if it changes nothing.
    pub publish: Option<PublishId>,
    /// Replaced ranges and their text, sorted, disjoint, all in the coordinates of that version.
    pub edits: Vec<(Position, Position, String)>,
    /// Name of the edit in the editor's undo list; empty where it needs none.
    pub label: String,
}

/// Another name for a file that is open, for one `workspace/applyEdit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRename {
    /// The document, in the client's own spelling.
    pub from: String,
    /// The URI it is to have.
    pub to: String,
    /// Name of the change in the editor's undo list.
    pub label: String,
}

/// Why the editor could not be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditorError {
    /// The client has not answered within the bound for technical requests.
    #[error("the editor did not answer in time")]
    NoAnswer,
    /// The client answered with an error, or the connection is closed.
    #[error("the editor refused: {0}")]
    Refused(String),
    /// The client has not made the edit. Its reason is one plain line, empty where it gave none.
    #[error("{}", declined(.0))]
    Declined(String),
    /// There is no editor, or it cannot do this.
    #[error("the editor cannot do this: {0}")]
    Unsupported(&'static str),
}

fn declined(reason: &str) -> &str {
    if reason.is_empty() { "it said no" } else { reason }
}

/// Editor, as far as the workspace asks anything of it. Every request but an edit has a bound; none waits for
/// the user.
pub trait Editor: Send + Sync + 'static {
    /// Habits of this client.
    fn habits(&self) -> Habits;

    /// Asks for an edit of one document. The answer is the client's claim; it has no bound. Where nobody waits for it any
    /// more, the editor hands it to [`crate::Workspace::answered`].
    fn apply(&self, edit: DocumentEdit) -> BoxFuture<'static, Result<(), EditorError>>;

    /// Asks for another name of a file that is open, so that its buffer follows. The answer is the client's
    /// claim. Asked only where [`Habits::renames_files`].
    fn rename(&self, _: FileRename) -> BoxFuture<'static, Result<(), EditorError>> {
        Box::pin(async { Err(EditorError::Unsupported("it renames no files")) })
    }

    /// Makes the client send the changes it holds back, where that is possible, and waits for its answer. Where
    /// versions are not checked, at least what is on its way already has come when this is done.
    fn barrier(&self) -> BoxFuture<'static, ()>;

    /// Asks a client with our plugin to save a document.
    fn save(&self, doc: DocId) -> BoxFuture<'static, Result<(), EditorError>>;

    /// True if [`Editor::diagnostics`] are given.
    fn gives_diagnostics(&self) -> bool {
        false
    }

    /// Asks a client with our plugin for the diagnostics of a document, or of all.
    fn diagnostics(&self, doc: Option<DocId>) -> BoxFuture<'static, Result<String, EditorError>>;

    /// True if symbols, definitions and references are given.
    fn gives_knowledge(&self) -> bool {
        false
    }

    /// Asks a client with our plugin for symbols with this in their names, of a document or of all.
    fn symbols(&self, _: String, _: Option<DocId>) -> BoxFuture<'static, Places> {
        Box::pin(async { Err(NO_KNOWLEDGE) })
    }

    /// Asks a client with our plugin where a symbol is defined.
    fn definition(&self, _: SymbolSpot) -> BoxFuture<'static, Places> {
        Box::pin(async { Err(NO_KNOWLEDGE) })
    }

    /// Asks a client with our plugin where a symbol is used.
    fn references(&self, _: SymbolSpot) -> BoxFuture<'static, Places> {
        Box::pin(async { Err(NO_KNOWLEDGE) })
    }
}

const NO_KNOWLEDGE: EditorError = EditorError::Unsupported("it needs Ropewalk's plugin for it");

/// Places in documents, or why there are none.
pub type Places = Result<Vec<EditorPlace>, EditorError>;

/// A symbol in the user's text.
#[derive(Clone, Debug)]
pub struct SymbolSpot {
    /// The document.
    pub doc: DocId,
    /// Its text as it was looked at.
    pub text: Text,
    /// A byte in the symbol's name.
    pub byte: usize,
}

/// A place in a document that the editor has told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditorPlace {
    /// The document.
    pub doc: DocId,
    /// Where it begins.
    pub start: Position,
    /// A few words on the place, if they were told.
    pub about: Option<String>,
}

/// No editor at all: the agent works on the disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEditor;

impl Editor for NoEditor {
    fn habits(&self) -> Habits {
        Habits::UNKNOWN
    }

    fn apply(&self, _: DocumentEdit) -> BoxFuture<'static, Result<(), EditorError>> {
        Box::pin(async { Err(EditorError::Unsupported("there is no editor")) })
    }

    fn barrier(&self) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }

    fn save(&self, _: DocId) -> BoxFuture<'static, Result<(), EditorError>> {
        Box::pin(async { Err(EditorError::Unsupported("there is no editor")) })
    }

    fn diagnostics(&self, _: Option<DocId>) -> BoxFuture<'static, Result<String, EditorError>> {
        Box::pin(async { Err(EditorError::Unsupported("there is no editor")) })
    }
}
