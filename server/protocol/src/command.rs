//! Commands of editors (`ropewalk.*`): the argument that each takes, and its answer.

mod answers;
mod arguments;
mod team;

pub use answers::{
    CommandFile, CommandModel, CommandSession, DeletedSession, HunkDiff, ModelInfo, ModelPrice,
    NextHunk, PromptTurn, RewoundTurn, SessionMode, SessionName, SessionSummary, TrustOutcome,
    UnqueuedPrompt,
};
pub use arguments::{
    ApprovalAnswer, ApprovalArgument, CompactArgument, DeleteArgument, DocumentVersion,
    EditArgument, ExportArgument, HunkArgument, HunkChoice, HunkIds, InterruptArgument,
    ModeArgument, ModelArgument, NextArgument, NoArgument, PromptArgument, RenameArgument,
    ResumeArgument, RewindArgument, SendArgument, SessionsArgument, StatusArgument, SteerArgument,
    TrustArgument, UnqueueArgument,
};
pub use team::{PlanAnswer, TaskPage, TasksArgument, TeamArgument};
