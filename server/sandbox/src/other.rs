//! Where there are no namespaces: nothing starts, and the words say so.

use crate::plan::{End, LayerRoom, Plan, SandboxError, Spec};
use std::path::Path;

/// A session's sandbox; here there is none.
#[derive(Debug)]
pub enum Sandbox {}

/// A command that runs; here there is none.
#[derive(Debug)]
pub enum Running {}

impl Sandbox {
    /// Says that commands run in a sandbox only on Linux.
    ///
    /// # Errors
    /// Always.
    pub async fn start(_plan: Plan) -> Result<Sandbox, SandboxError> {
        Err(SandboxError::Unfit("commands run in a sandbox only on Linux".to_owned()))
    }

    /// The folder of the layers.
    pub fn layers(&self) -> &Path {
        match *self {}
    }

    /// The folder of what commands have outside the roots.
    pub fn scratch(&self) -> &Path {
        match *self {}
    }

    /// Where the layers lie.
    pub fn upper(&self) -> crate::Upper {
        match *self {}
    }

    /// The room in the layer folder.
    pub fn room(&self) -> LayerRoom {
        match *self {}
    }

    /// True if the holder still serves.
    pub fn is_alive(&self) -> bool {
        match *self {}
    }

    /// Starts a command.
    ///
    /// # Errors
    /// Never comes to be.
    pub async fn run(&self, _spec: Spec) -> Result<Running, SandboxError> {
        match *self {}
    }
}

impl Running {
    /// Waits for the command's end.
    pub async fn wait(&mut self) -> End {
        match *self {}
    }

    /// Ends the command.
    pub fn kill(&self) {
        match *self {}
    }
}
