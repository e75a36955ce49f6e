//! Commands of editors (`ropewalk.*`): the argument that each takes, and its answer.

mod answers;
mod arguments;

pub use answers::{
    CommandFile, CommandMode, CommandModel, CommandSession, DeletedSession, HunkDiff, ModelInfo,
    ModelPrice, NextHunk, PromptTurn, RewoundTurn, SessionName, SessionSummary, TrustOutcome,
    UnqueuedPrompt,
};
pub use arguments::{
    ApprovalAnswer, ApprovalArgument, CompactArgument, DeleteArgument, DocumentVersion,
    EditArgument, ExportArgument, HunkArgument, HunkChoice, HunkIds, InterruptArgument,
    ModeArgument, ModelArgument, NextArgument, NoArgument, PromptArgument, RenameArgument,
    ResumeArgument, RewindArgument, SessionsArgument, SteerArgument, TrustArgument,
    UnqueueArgument,
};
