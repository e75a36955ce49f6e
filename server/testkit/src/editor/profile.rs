//! Client profiles: what real editors were seen to do, as data.
//!
//! The rows come from Neovim 0.11.4, VS Code 1.100 and 1.139, Emacs 28.2 with eglot 1.9, and from Helix's
//! source. A profile says nothing of what the server should do about it: that is the server's own table.

use ropewalk_text::{LineEnds, PositionEncoding};
use serde_json::{Value, json};

/// Which edits a client refuses for their version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionCheck {
    /// Every edit whose version is not the buffer's.
    All,
    /// Only the first of `documentChanges`, and never version 0.
    FirstButNeverZero,
    /// None at all: an edit is made wherever its positions point by then.
    Never,
}

/// Answer of a client that did not make a stale edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleAnswer {
    /// `applied: false`.
    Refused,
    /// `applied: true`, although it was skipped.
    ClaimsApplied,
    /// A JSON-RPC error.
    Error,
}

/// When a client tells of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// With every change.
    AtOnce,
    /// After a pause in typing; what happened until then comes together.
    Debounced,
}

/// Treatment of an edit that wants the user's confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// A preview is shown; there is no answer until the user acts.
    Preview,
    /// The wish is ignored and the edit made.
    Ignored,
}

/// The habits of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Name of the profile in tests.
    pub name: &'static str,
    /// The name it gives in `clientInfo`, if it gives any.
    pub client_name: Option<&'static str>,
    /// The version of a document in didOpen.
    pub first_version: i32,
    /// Which stale edits it refuses.
    pub checks: VersionCheck,
    /// Answer to an edit that it left out as stale.
    pub stale: StaleAnswer,
    /// When it tells of changes.
    pub flush: Flush,
    /// True if it tells one change for all between two flushes: the difference of the text last
    /// sent and the text now. Else every change is told as it was made.
    pub minimises: bool,
    /// True if each edit of several is told by itself, with a version of its own.
    pub tells_each: bool,
    /// True if the answer to an edit is written before the change it made.
    pub answers_first: bool,
    /// True if `workspace/semanticTokens/refresh` makes it send the changes it holds back.
    pub barrier: bool,
    /// Which strings end a line in its positions.
    pub line_ends: LineEnds,
    /// The position encodings it offers, best first; empty: it says nothing and means UTF-16.
    pub encodings: &'static [PositionEncoding],
    /// Treatment of edits that want a confirmation.
    pub confirmation: Confirmation,
    /// True if CreateFile without options empties a file that is there. Else it answers `applied:
    /// false`.
    pub create_truncates: bool,
    /// True if CreateFile with `ignoreIfExists` makes a file that is not there.
    pub creates_if_absent: bool,
    /// True if RenameFile writes a modified buffer to the disk on the way.
    pub rename_writes: bool,
    /// Capability `workspace/applyEdit` as it declares it; None if it declares nothing.
    pub apply_edit: Option<bool>,
    /// True if it declares `documentChanges`.
    pub declares_versions: bool,
    /// True if it honours `documentChanges`.
    pub takes_versions: bool,
    /// The resource operations it declares.
    pub operations: &'static [&'static str],
    /// True if it takes code actions, and not commands alone.
    pub code_action_literals: bool,
    /// True if it draws code lenses.
    pub lenses: bool,
    /// True if it has dialogs and progress (the `window` capabilities).
    pub window: bool,
}

impl Profile {
    /// VS Code.
    pub const VSCODE: Profile = Profile {
        name: "vscode",
        client_name: Some("Visual Studio Code"),
        first_version: 1,
        checks: VersionCheck::All,
        stale: StaleAnswer::Refused,
        flush: Flush::AtOnce,
        minimises: false,
        tells_each: false,
        answers_first: true,
        barrier: false,
        line_ends: LineEnds::Lsp,
        encodings: &[PositionEncoding::Utf16],
        confirmation: Confirmation::Preview,
        create_truncates: false,
        creates_if_absent: true,
        rename_writes: false,
        apply_edit: Some(true),
        declares_versions: true,
        takes_versions: true,
        operations: &["create", "rename", "delete"],
        code_action_literals: true,
        lenses: true,
        window: true,
    };

    /// Neovim as it comes: 150 ms of debounce.
    pub const NEOVIM: Profile = Profile {
        name: "neovim",
        client_name: Some("Neovim"),
        first_version: 0,
        checks: VersionCheck::FirstButNeverZero,
        stale: StaleAnswer::ClaimsApplied,
        flush: Flush::Debounced,
        minimises: true,
        tells_each: false,
        answers_first: true,
        barrier: true,
        line_ends: LineEnds::Newline,
        encodings: &[PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32],
        confirmation: Confirmation::Ignored,
        create_truncates: true,
        creates_if_absent: false,
        rename_writes: true,
        apply_edit: Some(true),
        declares_versions: false,
        takes_versions: true,
        operations: &["create", "rename", "delete"],
        code_action_literals: true,
        lenses: true,
        window: true,
    };

    /// Neovim with our plugin, which sets the debounce to 0.
    pub const NEOVIM_PLUGIN: Profile =
        Profile { name: "neovim-plugin", flush: Flush::AtOnce, ..Profile::NEOVIM };

    /// Neovim by itself with a debounce of 0: each place that an edit changes is told by itself.
    pub const NEOVIM_AT_ONCE: Profile =
        Profile { name: "neovim-at-once", tells_each: true, ..Profile::NEOVIM_PLUGIN };

    /// Emacs with eglot.
    pub const EMACS: Profile = Profile {
        name: "emacs",
        client_name: Some("Emacs"),
        first_version: 0,
        checks: VersionCheck::All,
        stale: StaleAnswer::Error,
        flush: Flush::Debounced,
        minimises: false,
        tells_each: false,
        answers_first: true,
        barrier: false,
        line_ends: LineEnds::Newline,
        encodings: &[],
        confirmation: Confirmation::Preview,
        create_truncates: false,
        creates_if_absent: false,
        rename_writes: false,
        apply_edit: Some(true),
        declares_versions: true,
        takes_versions: true,
        operations: &[],
        code_action_literals: true,
        lenses: false,
        window: false,
    };

    /// Helix.
    pub const HELIX: Profile = Profile {
        name: "helix",
        client_name: Some("helix"),
        first_version: 0,
        checks: VersionCheck::All,
        stale: StaleAnswer::Refused,
        flush: Flush::AtOnce,
        minimises: false,
        tells_each: false,
        answers_first: false,
        barrier: false,
        line_ends: LineEnds::Lsp,
        encodings: &[PositionEncoding::Utf8, PositionEncoding::Utf32, PositionEncoding::Utf16],
        confirmation: Confirmation::Ignored,
        create_truncates: true,
        creates_if_absent: true,
        rename_writes: false,
        apply_edit: Some(true),
        declares_versions: true,
        takes_versions: true,
        operations: &["create", "rename", "delete"],
        code_action_literals: true,
        lenses: false,
        window: true,
    };

    /// A client of which nothing is known, at its worst: it checks nothing and claims everything.
    pub const UNKNOWN: Profile = Profile {
        name: "unknown",
        client_name: None,
        first_version: 7,
        checks: VersionCheck::Never,
        stale: StaleAnswer::ClaimsApplied,
        flush: Flush::Debounced,
        minimises: false,
        tells_each: false,
        answers_first: false,
        barrier: false,
        line_ends: LineEnds::Lsp,
        encodings: &[],
        confirmation: Confirmation::Ignored,
        create_truncates: true,
        creates_if_absent: false,
        rename_writes: true,
        apply_edit: Some(true),
        declares_versions: true,
        takes_versions: true,
        operations: &[],
        code_action_literals: true,
        lenses: true,
        window: true,
    };

    /// A client that does little: its edits carry no version, and it has no code actions but commands.
    pub const PLAIN: Profile = Profile {
        name: "plain",
        declares_versions: false,
        takes_versions: false,
        code_action_literals: false,
        ..Profile::UNKNOWN
    };

    /// A client that takes no edits, and says so.
    pub const WITHOUT_EDITS: Profile =
        Profile { name: "without-edits", apply_edit: Some(false), ..Profile::UNKNOWN };

    /// All that stand for real editors, and the unknown one.
    pub const ALL: [Profile; 7] = [
        Profile::VSCODE,
        Profile::NEOVIM,
        Profile::NEOVIM_PLUGIN,
        Profile::NEOVIM_AT_ONCE,
        Profile::EMACS,
        Profile::HELIX,
        Profile::UNKNOWN,
    ];

    /// The profile that tests call `name`.
    pub fn named(name: &str) -> Option<Profile> {
        let mut all = Profile::ALL.into_iter().chain([Profile::PLAIN, Profile::WITHOUT_EDITS]);
        all.find(|profile| profile.name == name)
    }

    /// The encoding used with a server that takes the client's first choice.
    pub fn encoding(&self) -> PositionEncoding {
        if self.encodings.contains(&PositionEncoding::Utf8) {
            PositionEncoding::Utf8
        } else {
            self.encodings.first().copied().unwrap_or_default()
        }
    }

    /// The parameters of `initialize`, without the roots.
    pub fn initialize(&self) -> Value {
        let encodings: Vec<&str> = self.encodings.iter().map(|it| encoding_name(*it)).collect();
        let mut general = json!({});
        if !encodings.is_empty() {
            general = json!({ "positionEncodings": encodings });
        }
        let window = if self.window {
            json!({ "workDoneProgress": true, "showMessage": {}, "showDocument": { "support": true } })
        } else {
            json!({})
        };
        let mut edit = json!({ "resourceOperations": self.operations });
        if let (true, Some(edit)) = (self.declares_versions, edit.as_object_mut()) {
            edit.insert("documentChanges".to_owned(), json!(true));
        }
        let mut code_action = json!({});
        if self.code_action_literals {
            let kinds = json!({ "valueSet": ["", "quickfix", "refactor"] });
            code_action = json!({ "codeActionLiteralSupport": { "codeActionKind": kinds } });
        }
        let mut params = json!({
            "processId": std::process::id(),
            "capabilities": {
                "general": general,
                "window": window,
                "workspace": {
                    "applyEdit": self.apply_edit,
                    "workspaceEdit": edit,
                    "configuration": true,
                    "semanticTokens": { "refreshSupport": self.barrier },
                    "codeLens": { "refreshSupport": self.lenses },
                    "executeCommand": {},
                },
                "textDocument": {
                    "synchronization": { "didSave": true },
                    "codeAction": code_action,
                    "publishDiagnostics": { "versionSupport": true },
                    "codeLens": {},
                    "semanticTokens": {
                        "requests": { "full": true },
                        "tokenTypes": [],
                        "tokenModifiers": [],
                        "formats": ["relative"],
                    },
                },
            },
        });
        if let (Some(name), Some(object)) = (self.client_name, params.as_object_mut()) {
            object.insert("clientInfo".to_owned(), json!({ "name": name, "version": "1" }));
        }
        params
    }
}

/// The protocol's word for an encoding.
pub(super) fn encoding_name(encoding: PositionEncoding) -> &'static str {
    match encoding {
        PositionEncoding::Utf8 => "utf-8",
        PositionEncoding::Utf16 => "utf-16",
        PositionEncoding::Utf32 => "utf-32",
    }
}

/// The encoding of the protocol's word; UTF-16 for any other.
pub(super) fn encoding_of(name: Option<&str>) -> PositionEncoding {
    match name {
        Some("utf-8") => PositionEncoding::Utf8,
        Some("utf-32") => PositionEncoding::Utf32,
        _ => PositionEncoding::Utf16,
    }
}
