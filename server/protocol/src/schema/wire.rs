//! The names of all commands and requests of editors, with the types of what goes in and what comes back.

use super::{Schemas, object};
use crate::command::*;
use crate::plugin::*;
use crate::reply::{SessionInfo, Status};
use crate::{TeamMessage, TeamRoster};
use serde_json::Value;

/// The commands, each with `argument` and `answer`.
pub(super) fn commands(schemas: &mut Schemas) -> Value {
    macro_rules! commands {
        ($($name:literal: $argument:ty => $answer:ty,)*) => {
            object([$((
                concat!("ropewalk.", $name).to_owned(),
                object([
                    ("argument".to_owned(), schemas.asked::<$argument>()),
                    ("answer".to_owned(), schemas.told::<$answer>()),
                ]),
            )),*])
        };
    }
    commands! {
        "prompt": PromptArgument => PromptTurn,
        "send": SendArgument => PromptTurn,
        "steer": SteerArgument => (),
        "unqueue": UnqueueArgument => UnqueuedPrompt,
        "interrupt": InterruptArgument => (),
        "accept": HunkChoice => (),
        "reject": HunkChoice => (),
        "edit": EditArgument => (),
        "undo": HunkChoice => (),
        "show": HunkArgument => HunkDiff,
        "next": NextArgument => Option<NextHunk>,
        "approve": ApprovalArgument => (),
        "rules": NoArgument => CommandFile,
        "mode": ModeArgument => SessionMode,
        "model": ModelArgument => CommandModel,
        "models": NoArgument => Vec<ModelInfo>,
        "status": StatusArgument => Status,
        "new": NoArgument => CommandSession,
        "sessions": SessionsArgument => Vec<SessionInfo>,
        "resume": ResumeArgument => SessionSummary,
        "rewind": RewindArgument => RewoundTurn,
        "compact": CompactArgument => (),
        "rename": RenameArgument => SessionName,
        "delete": DeleteArgument => DeletedSession,
        "export": ExportArgument => CommandFile,
        "tasks": TasksArgument => TaskPage,
        "team": TeamArgument => Option<TeamRoster>,
        "inbox": NoArgument => Vec<TeamMessage>,
        "trust": TrustArgument => TrustOutcome,
    }
}

/// The requests that a plugin makes, each with `params` and `result`.
pub(super) fn requests(schemas: &mut Schemas) -> Value {
    macro_rules! requests {
        ($($name:literal: $params:ty => $result:ty,)*) => {
            object([$((
                concat!("ropewalk/", $name).to_owned(),
                object([
                    ("params".to_owned(), schemas.asked::<$params>()),
                    ("result".to_owned(), schemas.told::<$result>()),
                ]),
            )),*])
        };
    }
    requests! {
        "hunk": HunkArgument => HunkTexts,
        "document": DocumentName => ProposedDocument,
        "history": HistoryRequest => SessionHistory,
        "result": ResultRequest => CallResult,
        "complete": CompletionRequest => Completions,
    }
}

/// The requests that a plugin answers, each with `params` and `result`.
pub(super) fn client_requests(schemas: &mut Schemas) -> Value {
    macro_rules! requests {
        ($($name:literal: $params:ty => $result:ty,)*) => {
            object([$((
                concat!("ropewalk/", $name).to_owned(),
                object([
                    ("params".to_owned(), schemas.told::<$params>()),
                    ("result".to_owned(), schemas.asked::<$result>()),
                ]),
            )),*])
        };
    }
    requests! {
        "save": DocumentName => (),
        "diagnostics": DiagnosticsRequest => Vec<DiagnosticLine>,
        "symbols": SymbolsRequest => Vec<SymbolPlace>,
        "definition": PlaceRequest => Vec<DocumentPlace>,
        "references": PlaceRequest => Vec<DocumentPlace>,
    }
}
