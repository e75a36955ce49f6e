//! From the configuration to a session's settings.

use ropewalk_agent::prompt::PromptFacts;
use ropewalk_agent::session::{KeepRule, Limits, Settings};
use ropewalk_agent::tools::registry;
use ropewalk_config::{Config, add_rule};
use ropewalk_model::{Model, Money};
use ropewalk_tools::commands::{CommandSettings, OverFork};
use ropewalk_tools::{List, Mode, Rules, Tier, Written};
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
    let registry = registry();
    let mut rules = Rules::default();
    let mut wrong = Vec::new();
    let lists =
        [(List::Allow, &config.allow), (List::Ask, &config.ask), (List::Deny, &config.deny)];
    for (list, texts) in lists {
        for text in texts {
            let (matches, refuses) = (&text.matches, &text.refuses);
            let from = text.source.to_string();
            let written = Written { rule: &text.rule, matches, refuses, from: &from };
            wrong.extend(rules.read(list, written, &registry));
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
        registry: registry.only(|name| config.tool_enabled(name)),
        mode: mode_of(config.mode),
        rules,
        always: None,
        limits: Limits {
            steps: config.limits.steps,
            output_tokens: config.limits.output_tokens,
            tool_output: config.limits.tool_output as usize,
            command_seconds: u64::from(config.limits.command_seconds),
            identical_failures: config.limits.identical_failures,
            turn_tokens: tokens(config.limits.turn_tokens),
            session_tokens: tokens(config.limits.session_tokens),
            turn_money: money(config.limits.turn_cents),
            session_money: money(config.limits.session_cents),
        },
        commands: commands_of(config),
        facts: PromptFacts {
            tools: Vec::new(),
            commands: Tier::default(),
            lean: false,
            date: ropewalk_agent::time::today(),
            platform: std::env::consts::OS.to_owned(),
            replace,
            instructions: config
                .instructions
                .iter()
                .map(|told| (told.file.clone(), told.text.clone()))
                .collect(),
            append: config.system_prompt_append.clone(),
        },
        interactive,
        secrets: config.key_variables.iter().cloned().collect(),
    };
    (settings, problems)
}

/// A budget in tokens.
fn tokens(bound: u32) -> u64 {
    if bound < ropewalk_config::Limits::NO_TOKENS { bound.into() } else { u64::MAX }
}

/// A budget in money.
fn money(cents: u32) -> Money {
    if cents < ropewalk_config::Limits::NO_CENTS {
        Money::from_cents(cents.into())
    } else {
        Money(u64::MAX)
    }
}

/// How commands run.
fn commands_of(config: &Config) -> CommandSettings {
    let megabytes = |number: u32| u64::from(number) << 20;
    let set = |number: u32| (number > 0).then(|| megabytes(number));
    let bounds = config.commands.bounds;
    let environment = &ropewalk_config::RealEnvironment;
    let own =
        [ropewalk_config::own_folder(environment), ropewalk_config::state_folder(environment)];
    CommandSettings {
        over_fork: match config.commands.over_fork {
            ropewalk_config::OverFork::Auto => OverFork::Auto,
            ropewalk_config::OverFork::Copy => OverFork::Copy,
            ropewalk_config::OverFork::Off => OverFork::Off,
        },
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
pub(crate) fn keep_rules_in(file: PathBuf) -> KeepRule {
    Arc::new(move |rule| {
        let added = add_rule(&file, "allow", &rule.to_string());
        added.map_err(|error| format!("{}: {error}", file.display()))
    })
}

/// The same word in the other room.
pub fn mode_of(mode: ropewalk_config::Mode) -> Mode {
    match mode {
        ropewalk_config::Mode::Auto => Mode::Auto,
        ropewalk_config::Mode::Review => Mode::Review,
        ropewalk_config::Mode::Plan => Mode::Plan,
    }
}
