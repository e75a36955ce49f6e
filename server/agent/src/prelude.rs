//! System prompt and tools as they go over the wire, serialised once and kept until something in them changes.
//!
//! Files that go into the system prompt do so as they are when it is first made: an edit of one must not change what was
//! sent.

use crate::prompt::{PromptFacts, system_prompt};
use crate::settings::Settings;
use crate::tools::load_skill::LoadSkill;
use crate::tools::task::{TaskTool, offers};
use crate::tools::todo_write::TodoWrite;
use ropewalk_guidance::instructions::Instructions;
use ropewalk_guidance::section::section;
use ropewalk_guidance::skills::{FoundSkills, Skill};
use ropewalk_guidance::type_files::FoundTypes;
use ropewalk_model::{Model, Prelude, ToolDeclaration};
use ropewalk_tools::{CommandMode, Registry, TypedTool as _};
use ropewalk_workspace::Roots;
use std::sync::Arc;

/// See the module.
#[derive(Default)]
pub(crate) struct PreludeCache {
    kept: Option<CachedPrelude>,
    material: Option<Arc<PreludeMaterial>>,
}

/// Facts of a session that a prelude is made of, as they are now.
pub(crate) struct PreludeInputs {
    pub(crate) tools: Registry,
    /// Where commands run.
    pub(crate) commands: CommandMode,
    pub(crate) roots: Roots,
    pub(crate) skills: Arc<FoundSkills>,
    pub(crate) types: Arc<FoundTypes>,
}

/// Texts of files in the system prompt.
pub(crate) struct PreludeMaterial {
    pub(crate) instructions: Vec<Instructions>,
    /// Names and descriptions.
    pub(crate) skills: Vec<(String, String)>,
    /// The same of subagent types.
    pub(crate) types: Vec<(String, String)>,
}

/// A prelude and what it was made of.
struct CachedPrelude {
    settings: Arc<Settings>,
    facts: PromptFacts,
    model: String,
    roots: Roots,
    system: String,
    prelude: Prelude,
}

impl PreludeMaterial {
    fn of(settings: &Settings, inputs: &PreludeInputs) -> Self {
        let offer = |skill: &Arc<Skill>| (skill.name.clone(), skill.description.clone());
        let instructions = settings.facts.instructions.clone();
        let skills = inputs.skills.skills.values().map(offer).collect();
        Self { instructions, skills, types: offers(&inputs.types) }
    }

    /// The list of skills for the system prompt.
    fn offers(&self) -> String {
        let skills = self.skills.iter().map(|(name, said)| (&**name, &**said));
        section(&skills.collect::<Vec<_>>())
    }
}

impl PreludeCache {
    /// The texts of files that the prelude has, if there is one.
    pub(crate) fn material(&self) -> Option<&Arc<PreludeMaterial>> {
        self.material.as_ref()
    }

    /// Has it made anew, by the files as they are then.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn prelude(
        &mut self,
        inputs: PreludeInputs,
        settings: &Arc<Settings>,
        model: &dyn Model,
    ) -> Prelude {
        let PreludeInputs { tools, commands, roots, .. } = &inputs;
        let lean = model.is_lean();
        if let Some(kept) = &self.kept
            && Arc::ptr_eq(&kept.settings, settings)
            && kept.model == model.name()
            && kept.facts.lean == lean
            && (kept.roots == *roots || kept.system == system_prompt(&kept.facts, roots))
        {
            return kept.prelude.clone();
        }
        let material =
            self.material.get_or_insert_with(|| PreludeMaterial::of(settings, &inputs).into());
        let skills = match !lean && settings.offers_skills() {
            true => material.offers(),
            false => String::new(),
        };
        let instructions = match settings.mechanisms.instructions {
            true => material.instructions.clone(),
            false => Vec::new(),
        };
        let tools = if lean { tools.lean() } else { tools.clone() };
        let tools = tools.only(|name| name != LoadSkill::NAME || !skills.is_empty());
        let starts_subagents = tools.names().any(|name| name == TaskTool::NAME);
        let tools = match starts_subagents {
            true => tools.with(TaskTool::offering(material.types.clone())),
            false => tools,
        };
        let facts = PromptFacts {
            commands: tools.has_commands().then_some(*commands),
            has_file_tools: tools.has_file_tools(),
            has_todos: tools.names().any(|name| name == TodoWrite::NAME),
            lean,
            skills,
            instructions,
            ..settings.facts.clone()
        };
        let system = system_prompt(&facts, roots);
        let specs = tools.specs().into_iter().map(|spec| ToolDeclaration {
            name: spec.name,
            description: spec.description,
            input_schema: spec.schema,
        });
        let specs: Vec<ToolDeclaration> = specs.collect();
        let prelude = model.encode_prelude(&model.keys().redact(&system), &specs);
        self.kept = Some(CachedPrelude {
            settings: settings.clone(),
            facts,
            model: model.name().to_owned(),
            roots: roots.clone(),
            system,
            prelude: prelude.clone(),
        });
        prelude
    }
}
