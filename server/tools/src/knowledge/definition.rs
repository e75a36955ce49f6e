//! `definition`: where a symbol is defined.

use super::{SharedEditor, SymbolInput, places};
use crate::tool::{Context, Effect, Subject, ToolOutput, TypedTool};
use futures::future::BoxFuture;

/// See the module.
pub struct Definition {
    editor: SharedEditor,
}

impl Definition {
    /// The tool that asks this editor.
    pub fn new(editor: SharedEditor) -> Self {
        Self { editor }
    }
}

impl TypedTool for Definition {
    type Input = SymbolInput;
    const NAME: &'static str = "definition";
    const DESCRIPTION: &'static str =
        "Where a symbol is defined, as the editor's language server knows it.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, input: &SymbolInput) -> Subject {
        Subject {
            title: format!("{} in {}", input.symbol, input.path),
            ..Subject::path(&input.path)
        }
    }

    fn run(&self, input: SymbolInput, context: Context) -> BoxFuture<'static, ToolOutput> {
        let editor = self.editor.clone();
        Box::pin(places(input, context, move |spot| editor.definition(spot)))
    }
}
