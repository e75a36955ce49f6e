//! The registry: the one list of tools there is.
//!
//! Request, policy, progress and transcript all take a tool's name, schema and effect from here.

use crate::commands::Tier;
use crate::tool::{AnyTool, Effect, Prepared, Tool};
use serde_json::Value;
use std::sync::Arc;

/// A tool as the model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolInfo {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// The schema of its input.
    pub schema: Value,
    /// What a call can do.
    pub effect: Effect,
}

/// Why a call can't be prepared. Each is a result for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// There is no such tool.
    #[error("Unknown tool: {name}. The tools are: {known}")]
    Unknown {
        /// What was called.
        name: String,
        /// What there is.
        known: String,
    },
    /// The input can't be understood.
    #[error("Error: {0}")]
    Input(String),
}

/// The tools that most work needs.
const LEAN: [&str; 4] = [
    crate::bash::Bash::NAME,
    crate::read_file::ReadFile::NAME,
    crate::write_file::WriteFile::NAME,
    crate::edit_file::EditFile::NAME,
];

/// Tools by name, in the order they are shown to the model.
#[derive(Clone, Default)]
pub struct Registry {
    tools: Vec<Arc<dyn AnyTool>>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Registry {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// The tools that need only a view, in the order in which the model is told of them.
    pub fn standard() -> Self {
        Self::new()
            .with(crate::bash::Bash)
            .with(crate::read_file::ReadFile)
            .with(crate::write_file::WriteFile)
            .with(crate::edit_file::EditFile)
            .with(crate::delete_file::DeleteFile)
            .with(crate::move_file::MoveFile)
            .with(crate::grep::Grep)
            .with(crate::glob::Glob)
            .with(crate::list_dir::ListDir)
            .with(crate::diagnostics::Diagnostics)
    }

    /// The same with one more. A tool of the same name is replaced.
    #[must_use]
    pub fn with<T: Tool>(mut self, tool: T) -> Self {
        self.tools.retain(|known| known.name() != T::NAME);
        self.tools.push(Arc::new(tool));
        self
    }

    /// The same with only those tools that `keep` says.
    #[must_use]
    pub fn only(mut self, keep: impl Fn(&str) -> bool) -> Self {
        self.tools.retain(|tool| keep(tool.name()));
        self
    }

    /// The same with only those of [`LEAN`], or all where it has none of them: what a model with a small context is
    /// told of.
    #[must_use]
    pub fn lean(&self) -> Self {
        let lean = self.clone().only(|name| LEAN.contains(&name));
        if lean.tools.is_empty() { self.clone() } else { lean }
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.tools.iter().map(|tool| tool.name())
    }

    /// What the model is told, where commands run like this.
    pub fn infos(&self, tier: Tier) -> Vec<ToolInfo> {
        let info = |tool: &Arc<dyn AnyTool>| ToolInfo {
            name: tool.name(),
            description: tool.description(tier),
            schema: tool.schema(),
            effect: tool.effect(),
        };
        self.tools.iter().map(info).collect()
    }

    /// Finds the tool, and reads and validates the input.
    pub fn prepare(&self, name: &str, input: Value) -> Result<Prepared, CallError> {
        let tool = self.tools.iter().find(|tool| tool.name() == name);
        let Some(tool) = tool.cloned() else {
            let known = self.names().collect::<Vec<_>>().join(", ");
            return Err(CallError::Unknown { name: name.to_owned(), known });
        };
        tool.prepare(input).map_err(CallError::Input)
    }
}
