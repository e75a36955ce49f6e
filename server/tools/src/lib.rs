//! The tools an agent calls, their registry, effects and policy.
//!
//! Reading order: [`tool`] (what a tool is), [`registry`], [`input`] (from the model's JSON to a tool's own
//! type), [`policy`], then the tools themselves, one file each. [`bounds`] is the one place where what the
//! model sees is cut to size.

pub mod bash;
pub mod blocking;
pub mod bounds;
pub mod danger;
pub mod delete_file;
pub mod diagnostics;
pub mod edit_file;
pub mod escapes;
mod files;
pub mod glob;
pub mod grep;
pub mod input;
pub mod knowledge;
mod lines;
pub mod list_dir;
pub mod move_file;
mod names;
pub mod policy;
pub mod private;
pub mod read_file;
pub mod registry;
pub mod runner;
pub mod secrets;
pub mod tool;
pub mod walk;
pub mod write_file;

pub use bounds::Bounds;
pub use policy::{
    Access, Decision, DecisionSource, GrantOffer, List, NamedPath, Rule, Rules, Ruling,
    WrittenRule, decide, named_paths,
};
pub use registry::{CallError, Registry};
pub use runner::{CommandMode, CommandRunner, NoCommands, RunnerInfo};
pub use tool::{
    Call, CallSummary, Context, Effect, Grant, Progress, Subject, Tool, ToolOutput, ToolSpec,
    TypedTool,
};
