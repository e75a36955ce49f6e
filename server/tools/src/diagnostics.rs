//! `diagnostics`: what the editor's own language servers say.

use crate::blocking::on_thread;
use crate::tool::{Context, Effect, Subject, ToolOutput, TypedTool};
use futures::future::BoxFuture;
use ropewalk_workspace::{Editor, EditorError};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

/// See the module.
pub struct Diagnostics {
    editor: Arc<dyn Editor>,
}

impl Diagnostics {
    /// The tool that asks this editor.
    pub fn new(editor: Arc<dyn Editor>) -> Self {
        Self { editor }
    }
}

/// Input of a call.
#[derive(Deserialize, JsonSchema, Debug)]
pub struct DiagnosticsInput {
    /// A file; all files if left out.
    path: Option<String>,
}

impl TypedTool for Diagnostics {
    type Input = DiagnosticsInput;
    const NAME: &'static str = "diagnostics";
    const DESCRIPTION: &'static str = "The editor's errors and warnings: for the user's text as it is, without your pending changes.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, input: &DiagnosticsInput) -> Subject {
        input.path.as_deref().map(Subject::path).unwrap_or_default()
    }

    fn run(&self, input: DiagnosticsInput, context: Context) -> BoxFuture<'static, ToolOutput> {
        let editor = self.editor.clone();
        Box::pin(
            async move { ask(&*editor, input, context).await.unwrap_or_else(|failure| failure) },
        )
    }
}

async fn ask(
    editor: &dyn Editor,
    input: DiagnosticsInput,
    context: Context,
) -> Result<ToolOutput, ToolOutput> {
    let doc = match input.path {
        None => None,
        Some(path) => {
            let view = context.view.clone();
            let id = on_thread(move |_| {
                let place = view.named(&path).map_err(ToolOutput::error)?;
                Ok(view.id_of(&place, view.roots()))
            });
            Some(id.await?)
        }
    };
    let found = editor.diagnostics(doc).await.map_err(|error| {
        let help = match &error {
            EditorError::Unsupported(_) => "Run the project's own check by a command instead",
            _ => "Try again, or run the project's own check by a command",
        };
        ToolOutput::error(format_args!("no diagnostics, because {error}. {help}"))
    })?;
    let found = match found.trim() {
        "" => "(no diagnostics)".to_owned(),
        found => found.to_owned(),
    };
    let pending = if context.view.entries().is_empty() {
        ""
    } else {
        "\n(of the user's text; your pending changes are not in it)"
    };
    Ok(ToolOutput::text(format!("{found}{pending}")))
}
