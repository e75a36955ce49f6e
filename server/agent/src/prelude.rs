//! System prompt and tools as they go over the wire, serialised once and kept until something in them changes.

use crate::prompt::{PromptFacts, system_prompt};
use crate::settings::Settings;
use ropewalk_model::{Model, Prelude, ToolSpec};
use ropewalk_tools::{CommandMode, Registry};
use ropewalk_workspace::Roots;
use std::sync::Arc;

/// See the module.
#[derive(Default)]
pub(crate) struct PreludeCache(Option<Kept>);

/// A prelude and what it was made of.
struct Kept {
    settings: Arc<Settings>,
    facts: PromptFacts,
    model: String,
    system: String,
    prelude: Prelude,
}

impl PreludeCache {
    /// It is made anew with the next request.
    pub(crate) fn forget(&mut self) {
        self.0 = None;
    }

    pub(crate) fn prelude(
        &mut self,
        settings: &Arc<Settings>,
        model: &dyn Model,
        (tools, commands): (Registry, CommandMode),
        roots: &Roots,
    ) -> Prelude {
        let lean = model.is_lean();
        if let Some(kept) = &self.0
            && Arc::ptr_eq(&kept.settings, settings)
            && kept.model == model.name()
            && kept.facts.lean == lean
            && kept.system == system_prompt(&kept.facts, roots)
        {
            return kept.prelude.clone();
        }
        let tools = if lean { tools.lean() } else { tools };
        let facts = PromptFacts {
            commands: tools.has_commands().then_some(commands),
            has_file_tools: tools.has_file_tools(),
            lean,
            ..settings.facts.clone()
        };
        let system = system_prompt(&facts, roots);
        let specs = tools.specs().into_iter().map(|spec| ToolSpec {
            name: spec.name,
            description: spec.description,
            input_schema: spec.schema,
        });
        let specs: Vec<ToolSpec> = specs.collect();
        let prelude = model.encode_prelude(&model.keys().redact(&system), &specs);
        let (settings, model) = (settings.clone(), model.name().to_owned());
        self.0 = Some(Kept { settings, facts, model, system, prelude: prelude.clone() });
        prelude
    }
}
