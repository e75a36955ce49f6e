//! The registry: the one list of tools there is, made for each session of what the session has.
//!
//! Request, policy, progress and transcript all take a tool's name, schema and effect from here.

use crate::bash::Bash;
use crate::delete_file::DeleteFile;
use crate::diagnostics::Diagnostics;
use crate::edit_file::EditFile;
use crate::glob::Glob;
use crate::grep::Grep;
use crate::knowledge::{Definition, References, Symbols};
use crate::list_dir::ListDir;
use crate::move_file::MoveFile;
use crate::read_file::ReadFile;
use crate::runner::CommandRunner;
use crate::tool::{Call, Tool, ToolSpec, TypedTool};
use crate::write_file::WriteFile;
use ropewalk_workspace::Editor;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Why a call can't be read. Each is a result for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// There is no such tool.
    #[error("Unknown tool: {name}. The tools are: {known}")]
    Unknown {
        /// The name in the call.
        name: String,
        /// The names of all tools.
        known: String,
    },
    /// The input can't be understood.
    #[error("Error: {0}")]
    Input(String),
}

/// The tools that most work needs.
const LEAN: [&str; 4] = [Bash::NAME, ReadFile::NAME, WriteFile::NAME, EditFile::NAME];

/// Tools that show or change the files of the project.
const OF_FILES: [&str; 8] = [
    ReadFile::NAME,
    WriteFile::NAME,
    EditFile::NAME,
    DeleteFile::NAME,
    MoveFile::NAME,
    Grep::NAME,
    Glob::NAME,
    ListDir::NAME,
];

/// Tools by name, in the order they are shown to the model.
#[derive(Clone, Default)]
pub struct Registry {
    tools: Vec<(Arc<str>, Arc<dyn Tool>)>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Registry {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// The tools of every session, in the order in which the model is told of them.
    pub fn standard(runner: Arc<dyn CommandRunner>, editor: Arc<dyn Editor>) -> Self {
        Self::new()
            .with(Bash::new(runner))
            .with(ReadFile)
            .with(WriteFile)
            .with(EditFile)
            .with(DeleteFile)
            .with(MoveFile)
            .with(Grep)
            .with(Glob)
            .with(ListDir)
            .with(Diagnostics::new(editor.clone()))
            .with(Symbols::new(editor.clone()))
            .with(Definition::new(editor.clone()))
            .with(References::new(editor))
    }

    /// The same with one more. A tool of the same name is replaced.
    #[must_use]
    pub fn with(mut self, tool: impl Tool + 'static) -> Self {
        let name = tool.name();
        self.tools.retain(|(known, _)| **known != *name);
        self.tools.push((name.into(), Arc::new(tool)));
        self
    }

    /// The same with only those tools that `keep` says.
    #[must_use]
    pub fn only(mut self, keep: impl Fn(&str) -> bool) -> Self {
        self.tools.retain(|(name, _)| keep(name));
        self
    }

    /// The same with only those of `LEAN`, or all where it has none of them: what a model with a small context is
    /// told of.
    #[must_use]
    pub fn lean(&self) -> Self {
        let lean = self.clone().only(|name| LEAN.contains(&name));
        if lean.tools.is_empty() { self.clone() } else { lean }
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|(name, _)| &**name)
    }

    /// True if there is a tool that runs commands.
    pub fn has_commands(&self) -> bool {
        self.names().any(|name| name == Bash::NAME)
    }

    /// True if there is a tool that shows or changes the files of the project.
    pub fn has_file_tools(&self) -> bool {
        self.names().any(|name| OF_FILES.contains(&name))
    }

    /// The tools as requests list them.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|(_, tool)| tool.spec()).collect()
    }

    /// The tool of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn tool(&self, name: &str) -> Result<Arc<dyn Tool>, CallError> {
        let found = self.tools.iter().find(|(known, _)| **known == *name);
        found.map(|(_, tool)| tool.clone()).ok_or_else(|| {
            let known = self.names().collect::<Vec<_>>().join(", ");
            CallError::Unknown { name: name.to_owned(), known }
        })
    }

    /// Finds the tool, and reads and validates the input.
    ///
    /// # Errors
    /// When there is no such tool, or the input can't be understood.
    pub fn parse(&self, name: &str, input: Value) -> Result<(Arc<dyn Tool>, Call), CallError> {
        let tool = self.tool(name)?;
        let call = tool.parse(input).map_err(CallError::Input)?;
        Ok((tool, call))
    }
}
