//! `references`: where a symbol is used.

use super::{SharedEditor, SymbolInput, places};
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
        Box::pin(places(input, context, move |spot| editor.references(spot)))
    }
}
