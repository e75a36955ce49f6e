//! System prompt and tools as they go over the wire, serialised once and kept until something in them changes.

use crate::prompt::{PromptFacts, system_prompt};
use crate::session::Settings;
use ropewalk_model::{Model, Prelude, ToolSpec};
use ropewalk_tools::{Tier, ToolInfo};
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
    pub(crate) fn prelude(
        &mut self,
        settings: &Arc<Settings>,
        model: &dyn Model,
        tier: Tier,
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
        let registry = if lean { settings.registry.lean() } else { settings.registry.clone() };
        let infos = registry.infos(tier);
        let tools = infos.iter().map(|info| info.effect).collect();
        let facts = PromptFacts { tools, commands: tier, lean, ..settings.facts.clone() };
        let system = system_prompt(&facts, roots);
        let spec = |info: ToolInfo| ToolSpec {
            name: info.name.to_owned(),
            description: info.description.to_owned(),
            input_schema: info.schema,
        };
        let specs: Vec<ToolSpec> = infos.into_iter().map(spec).collect();
        let prelude = model.encode_prelude(&model.keys().strike(&system), &specs);
        let (settings, model) = (settings.clone(), model.name().to_owned());
        self.0 = Some(Kept { settings, facts, model, system, prelude: prelude.clone() });
        prelude
    }
}
