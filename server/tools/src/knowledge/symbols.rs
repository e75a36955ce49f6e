//! `symbols`: functions, types and the like by their names.

use super::{SharedEditor, refused, shown};
use crate::blocking::on_thread;
use crate::tool::{Context, Effect, Subject, ToolOutput, TypedTool};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;

/// See the module.
pub struct Symbols {
    editor: SharedEditor,
}

impl Symbols {
    /// The tool that asks this editor.
    pub fn new(editor: SharedEditor) -> Self {
        Self { editor }
    }
}

/// Input that the model gives.
#[derive(Deserialize, JsonSchema, Debug)]
pub struct SymbolsInput {
    /// A part of the names; empty for all of a file.
    query: String,
    /// The file to look in; everywhere if left out.
    path: Option<String>,
}

impl TypedTool for Symbols {
    type Input = SymbolsInput;
    const NAME: &'static str = "symbols";
    const DESCRIPTION: &'static str =
        "Functions, types and variables by name, as the editor's language server knows them.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, input: &SymbolsInput) -> Subject {
        Subject::search(&input.query, input.path.as_deref())
    }

    fn run(&self, input: SymbolsInput, context: Context) -> BoxFuture<'static, ToolOutput> {
        let editor = self.editor.clone();
        Box::pin(async move {
            let asked = async {
                let SymbolsInput { query, path } = input;
                let doc = match path {
                    None if query.trim().is_empty() => {
                        return Err(ToolOutput::error("name a part of a name, or a path"));
                    }
                    None => None,
                    Some(path) => {
                        let view = context.view.clone();
                        let id = on_thread(move |_| {
                            let place = view.named(&path).map_err(ToolOutput::error)?;
                            crate::files::no_disguise(&place, &path)?;
                            Ok(view.id_of(&place, view.roots()))
                        });
                        Some(id.await?)
                    }
                };
                let found = editor.symbols(query, doc).await.map_err(|error| refused(&error))?;
                shown(found, &context).await
            };
            asked.await.unwrap_or_else(|failure| failure)
        })
    }
}
