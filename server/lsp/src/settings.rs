//! From the configuration to a session's settings.

use ropewalk_agent::prompt::PromptFacts;
use ropewalk_agent::session::{KeepRule, ModelChoice, Settings};
use ropewalk_commands::CommandSettings;
use ropewalk_config::{Config, add_rule};
use ropewalk_model::Model;
use ropewalk_tools::{List, Rules, Written};
use std::path::PathBuf;
use std::sync::Arc;

/// Makes the model a configuration names, or says in a sentence what to set up. The binary gives it: no
/// other room names a concrete model.
pub type ModelFactory = Arc<dyn Fn(&Config) -> Result<Arc<dyn Model>, String> + Send + Sync>;

/// Problems with rules that are told one by one.
const MOST_PROBLEMS: usize = 20;

/// The settings of a session, and what is wrong with the configuration, in sentences.
pub fn settings_of(
    config: &Config,
    factory: &ModelFactory,
    interactive: bool,
) -> (Settings, Vec<String>) {
    let mut problems: Vec<String> = config.problems.iter().map(ToString::to_string).collect();
    let known = crate::known().tools;
    let mut rules = Rules::default();
    let mut wrong = Vec::new();
    let lists =
        [(List::Allow, &config.allow), (List::Ask, &config.ask), (List::Deny, &config.deny)];
    for (list, texts) in lists {
        for text in texts {
            let (matches, refuses) = (&text.matches, &text.refuses);
            let from = text.source.to_string();
            let written = Written { rule: &text.rule, matches, refuses, from: &from };
            wrong.extend(rules.read(list, written, &known));
        }
    }
    // A repository may bring any number of them.
    let more = wrong.len().saturating_sub(MOST_PROBLEMS);
    problems.extend(wrong.into_iter().take(MOST_PROBLEMS));
    if more > 0 {
        problems.push(format!("There are {more} more problems with rules."));
    }
    let replace =
        config.system_prompt_file.as_ref().and_then(|path| match std::fs::read_to_string(path) {
            Ok(text) => Some(text),
            Err(error) => {
                problems
                    .push(format!("The system prompt {} can't be read: {error}", path.display()));
                None
            }
        });
    let settings = Settings {
        model: factory(config),
        configured_model: config.model.as_ref().map(ToString::to_string),
        model_choice: None,
        tools: config.tools.clone(),
        mode: config.mode,
        rules,
        always: None,
        limits: config.limits,
        facts: PromptFacts {
            date: ropewalk_agent::time::today(),
            platform: std::env::consts::OS.to_owned(),
            replace,
            instructions: config
                .instructions
                .iter()
                .map(|told| (told.file.clone(), told.text.clone()))
                .collect(),
            append: config.system_prompt_append.clone(),
            ..PromptFacts::default()
        },
        interactive,
        secrets: config.key_variables.iter().cloned().collect(),
    };
    (settings, problems)
}

/// The model that the command line of a configuration names; the error is a sentence.
pub fn model_of(config: &Config, factory: &ModelFactory) -> Result<Arc<dyn Model>, String> {
    match config.is_locked("model") {
        Some(lock) => Err(format!("The model can't be changed: it is locked by {lock}")),
        None => factory(config),
    }
}

/// Puts the user's choice of a model in the place of the configured one, if it still holds. It is made anew by `named`,
/// since how it is reached may have changed. Gives what prevents it, in a sentence.
pub fn choose_again(
    choice: ModelChoice,
    settings: &mut Settings,
    named: impl FnOnce(&str) -> Result<Arc<dyn Model>, String>,
) -> Option<String> {
    if choice.instead_of != settings.configured_model {
        return None;
    }
    match named(&choice.name) {
        Ok(model) => {
            settings.model = Ok(model);
            settings.model_choice = Some(choice);
            None
        }
        Err(why) => Some(format!("{} is no longer used here: {why}", choice.name)),
    }
}

/// How the commands of a session run that starts now.
pub fn commands_of(config: &Config) -> CommandSettings {
    let megabytes = |number: u32| u64::from(number) << 20;
    let set = |number: u32| (number > 0).then(|| megabytes(number));
    let bounds = config.commands.bounds;
    let environment = &ropewalk_config::RealEnvironment;
    let own =
        [ropewalk_config::own_folder(environment), ropewalk_config::state_folder(environment)];
    CommandSettings {
        over_fork: config.commands.over_fork,
        layer_bytes: set(bounds.layer_megabytes),
        memory_bytes: set(bounds.memory_megabytes),
        cache_bytes: megabytes(bounds.cache_megabytes),
        environment: config.commands.environment.clone(),
        cache_folder: ropewalk_config::cache_folder(environment),
        private: own
            .into_iter()
            .flatten()
            .map(|folder| folder.canonicalize().unwrap_or(folder))
            .collect(),
        ..CommandSettings::default()
    }
}

/// Keeps the rules that are allowed for always in this file.
pub fn keep_rules_in(file: PathBuf) -> KeepRule {
    Arc::new(move |rule| {
        let added = add_rule(&file, "allow", &rule.to_string());
        added.map_err(|error| format!("{}: {error}", file.display()))
    })
}
