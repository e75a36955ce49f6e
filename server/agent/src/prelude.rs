//! Opening of a session: its system prompt and its tools, as they were first sent.
//!
//! A session keeps its opening while settings and files are edited, and in the next process, for two reasons. A server
//! accepts a model's thoughts only in a request with the same opening as the request that produced them. A prompt cache
//! compares requests byte by byte. The next prompt tells the model which instructions, skills, subagent types and tools of the opening have changed. Another model, other folders and
//! a compaction make a new opening, and the history drops its thoughts.

use crate::journal::opening::{OpeningText, SessionOpening};
use crate::prompt::{PromptFacts, folders, system_prompt};
use crate::settings::Settings;
use crate::tools::load_skill::LoadSkill;
use crate::tools::task::{TaskTool, offers};
use crate::tools::todo_write::TodoWrite;
use ropewalk_guidance::instructions::Instructions;
use ropewalk_guidance::section::section;
use ropewalk_guidance::skills::FoundSkills;
use ropewalk_guidance::type_files::FoundTypes;
use ropewalk_model::{Model, Prelude, ToolDeclaration};
use ropewalk_tools::{CommandMode, Registry, TypedTool as _};
use ropewalk_workspace::Roots;
use std::sync::Arc;

impl SessionOpening {
    fn of(inputs: &PreludeInputs, settings: &Settings, model: &dyn Model) -> Self {
        let PreludeInputs { tools, commands, roots, .. } = inputs;
        let lean = model.is_lean();
        let described = |all: &[(String, String)]| -> Vec<OpeningText> {
            all.iter().map(|(name, said)| OpeningText::of(name, said)).collect()
        };
        let offered = inputs.skills.skills.values();
        let offered: Vec<(String, String)> =
            offered.map(|skill| (skill.name.clone(), skill.description.clone())).collect();
        let skills = match !lean && settings.offers_skills() {
            true => section(&offered.iter().map(|(n, said)| (&**n, &**said)).collect::<Vec<_>>()),
            false => String::new(),
        };
        let tools = if lean { tools.lean() } else { tools.clone() };
        let tools = tools.only(|name| name != LoadSkill::NAME || !skills.is_empty());
        let starts_subagents = tools.names().any(|name| name == TaskTool::NAME);
        let types = offers(&inputs.types);
        let tools = match starts_subagents {
            true => tools.with(TaskTool::offering(types.clone())),
            false => tools,
        };
        let texts = instructions(settings);
        let facts = PromptFacts {
            commands: tools.has_commands().then_some(*commands),
            has_file_tools: tools.has_file_tools(),
            has_todos: tools.names().any(|name| name == TodoWrite::NAME),
            lean,
            context: model.limits().context,
            skills,
            instructions: match settings.mechanisms.instructions {
                true => settings.facts.instructions.clone(),
                false => Vec::new(),
            },
            ..settings.facts.clone()
        };
        let specs = tools.specs().into_iter().map(|spec| ToolDeclaration {
            name: spec.name,
            description: spec.description,
            input_schema: spec.schema,
        });
        Self {
            model: model.name().to_owned(),
            lean,
            folders: match facts.replace {
                Some(_) => String::new(),
                None => folders(&facts, roots),
            },
            system: model.keys().redact(&system_prompt(&facts, roots)).into_owned(),
            tools: specs.collect(),
            instructions: texts.iter().map(|one| OpeningText::of(&one.file, &one.text)).collect(),
            skills: described(&offered),
            types: described(&types),
        }
    }
}

/// Instructions of the user and the repository as they are now: those of files such as AGENTS.md, and those of the keys
/// `system_prompt` and `system_prompt_append`, each under the key's name.
pub(crate) fn instructions(settings: &Settings) -> Vec<Instructions> {
    let facts = &settings.facts;
    let of_files = settings.mechanisms.instructions.then_some(&facts.instructions);
    let keys = [("system_prompt", &facts.replace), ("system_prompt_append", &facts.append)];
    let of_keys = keys.into_iter().filter_map(|(key, text)| {
        let (file, text) = (key.to_owned(), text.clone()?);
        Some(Instructions { file, text, is_users: true })
    });
    of_files.into_iter().flatten().cloned().chain(of_keys).collect()
}

/// Facts of a session that an opening is made of, as they are now.
pub(crate) struct PreludeInputs {
    pub(crate) tools: Registry,
    /// Where commands run.
    pub(crate) commands: CommandMode,
    pub(crate) roots: Roots,
    pub(crate) skills: Arc<FoundSkills>,
    pub(crate) types: Arc<FoundTypes>,
}

/// The opening of a conversation, and how it goes over the wire.
#[derive(Default)]
pub(crate) struct PreludeCache {
    opening: Option<Arc<SessionOpening>>,
    /// The opening as it goes over the wire to the model of this name.
    encoded: Option<(String, Prelude)>,
}

impl PreludeCache {
    /// One that a journal has.
    pub(crate) fn kept(opening: Option<SessionOpening>) -> Self {
        Self { opening: opening.map(Arc::new), encoded: None }
    }

    /// The opening, if one was sent and holds.
    pub(crate) fn opening(&self) -> Option<&Arc<SessionOpening>> {
        self.opening.as_ref()
    }

    /// Drops the opening: the next request makes another from the settings and files of that moment.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Makes the opening, if there is none that holds; gives the new one then.
    pub(crate) fn open(
        &mut self,
        inputs: &PreludeInputs,
        settings: &Settings,
        model: &dyn Model,
    ) -> Option<&SessionOpening> {
        let folders_are = |folders: &str| folders == self::folders(&settings.facts, &inputs.roots);
        let holds = self.opening.as_ref().is_some_and(|opening| {
            opening.model == model.name()
                && opening.lean == model.is_lean()
                && (opening.folders.is_empty() || folders_are(&opening.folders))
        });
        if holds {
            return None;
        }
        self.encoded = None;
        Some(self.opening.insert(Arc::new(SessionOpening::of(inputs, settings, model))))
    }

    /// The opening as it goes over the wire; empty before there is one.
    pub(crate) fn prelude(&mut self, model: &dyn Model) -> Prelude {
        if let Some((_, prelude)) = self.encoded.as_ref().filter(|(name, _)| name == model.name()) {
            return prelude.clone();
        }
        let nothing = SessionOpening::default();
        let opening = self.opening.as_deref().unwrap_or(&nothing);
        let prelude = model.encode_prelude(&opening.system, &opening.tools);
        self.encoded = Some((model.name().to_owned(), prelude.clone()));
        prelude
    }
}
