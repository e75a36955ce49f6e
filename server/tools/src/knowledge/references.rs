//! `references`: where a symbol is used.

use super::{SharedEditor, SymbolInput, refused, shown, spot};
use crate::tool::{Context, Effect, Subject, ToolOutput, TypedTool};
use futures::future::BoxFuture;

/// See the module.
pub struct References {
    editor: SharedEditor,
}

impl References {
    /// The tool that asks this editor.
    pub fn new(editor: SharedEditor) -> Self {
        Self { editor }
    }
}

impl TypedTool for References {
    type Input = SymbolInput;
    const NAME: &'static str = "references";
    const DESCRIPTION: &'static str =
        "All places where a symbol is used, as the editor's language server knows them.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, input: &SymbolInput) -> Subject {
        Subject {
            title: format!("{} in {}", input.symbol, input.path),
            ..Subject::path(&input.path)
        }
    }

    fn run(&self, input: SymbolInput, context: Context) -> BoxFuture<'static, ToolOutput> {
        let editor = self.editor.clone();
        Box::pin(async move {
            let asked = async {
                let spot = spot(input, &context).await?;
                let found = editor.references(spot).await.map_err(|error| refused(&error))?;
                shown(found, &context).await
            };
            asked.await.unwrap_or_else(|failure| failure)
        })
    }
}
