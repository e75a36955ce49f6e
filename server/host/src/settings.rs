//! From the configuration to the settings of sessions.
//!
//! The configuration is read where that blocks nobody, and only if something of it may have changed: its files, or what the
//! client says.

use crate::configuration::{ConfigMarks, ModelFactory, tool_names};
use crate::host::Host;
use crate::lock;
use crate::watch::ConfigWatch;
use ropewalk_agent::prompt::PromptFacts;
use ropewalk_agent::session::{KeepRule, ModelChoice, ModelSource, Settings};
use ropewalk_commands::CommandSettings;
use ropewalk_config::{Config, ConfigLayer, add_rule, rules_file};
use ropewalk_guidance::instructions::Instructions;
use ropewalk_model::Model;
use ropewalk_protocol::{Event, Level, Mechanisms};
use ropewalk_tools::{List, Rules, WrittenRule};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Tells what is wrong with the configuration.
pub(crate) fn problem(message: String) -> Event {
    Event::Notice { level: Level::Warning, message }
}

/// Problems with rules that are told one by one.
const MOST_PROBLEMS: usize = 20;

/// Parts of the configuration that a session needs to start.
pub(crate) struct StartSettings {
    pub(crate) settings: Settings,
    /// True if a model that was chosen in the session goes on.
    pub(crate) takes_choice: bool,
    pub(crate) commands: CommandSettings,
    /// News of the configuration, to be told.
    pub(crate) news: Vec<Event>,
}

impl Host {
    /// Reads the configuration if it may have changed, and hands it to all sessions. Gives what is new in it. Blocking.
    pub(crate) fn read_if_changed(&self) -> Vec<Event> {
        let mut marks = self.configuration.hold();
        let is_stale = self.configuration.is_stale();
        match is_stale || marks.has_changed() {
            true => self.read_and_apply(&mut marks).news,
            false => Vec::new(),
        }
    }

    /// Reads the configuration, and hands it to all sessions if it has changed. Blocking.
    pub(crate) fn read_and_apply(&self, marks: &mut ConfigMarks) -> StartSettings {
        let was_stale = self.configuration.take_stale();
        let sources = self.configuration.sources();
        let mut config = Config::build(&sources, &*self.options.environment);
        let watch = ConfigWatch::of(&config);
        let has_changed = was_stale || marks.differ_from(&watch);
        let mut news = match self.options.headless {
            true => Vec::new(),
            false => self.take_questions(&mut config),
        };
        let config = Arc::new(config);
        self.configuration.put_in_force(config.clone());
        let (settings, mut problems) = self.settings(&config);
        let mode = marks.replace(watch, settings.mode);
        if has_changed {
            // If the mode was not what changed, what the user chose by command stays.
            let keeps_mode = mode == settings.mode && config.is_locked("mode").is_none();
            self.each(|session| {
                let mut settings = settings.clone();
                let is_member = self.teams.is_member(session.id());
                if keeps_mode || is_member {
                    settings.mode = session.mode();
                }
                if is_member {
                    settings.limits.steps = settings.limits.steps.min(crate::team::STEPS);
                }
                let choice = session.model_choice();
                problems.extend(choice.and_then(|choice| self.choose_again(choice, &mut settings)));
                session.configure(settings);
            });
            news.extend(problems.into_iter().map(problem));
        }
        let is_named = config.provenance("model").layer == ConfigLayer::Flag;
        let takes_choice = !(self.options.headless && is_named);
        StartSettings { settings, takes_choice, commands: commands_of(&config), news }
    }

    /// The settings of a configuration, and what is wrong with it. What the user is asked to trust is no problem.
    fn settings(&self, config: &Config) -> (Settings, Vec<String>) {
        let options = &self.options;
        let (mut settings, problems) = settings_of(config, &options.models, options.interactive);
        // With locked rules there is none to keep, and without anybody who answers none is given.
        if options.interactive && config.is_locked("allow").is_none() {
            settings.always = rules_file(&*options.environment).map(keep_rules_in);
        }
        settings.models = Some(self.model_source());
        settings.rules.allow.extend(options.allow.iter().cloned());
        settings.facts.headless = options.headless;
        if let Some(date) = &options.date {
            settings.facts.date.clone_from(date);
        }
        (settings, problems)
    }

    /// A model by the name `provider/name`, set up as the configuration says. Blocking.
    pub(crate) fn model_named(&self, name: &str) -> Result<Arc<dyn Model>, String> {
        self.model_source()(name)
    }

    /// Models by their names, as the configuration is now. One that was made is not made again: its server counts the
    /// requests that run side by side.
    fn model_source(&self) -> ModelSource {
        let sources = self.configuration.sources();
        let (environment, factory) =
            (self.options.environment.clone(), self.options.models.clone());
        let known = Mutex::<HashMap<String, Arc<dyn Model>>>::default();
        Arc::new(move |name| {
            if let Some(model) = lock(&known).get(name) {
                return Ok(model.clone());
            }
            let mut sources = sources.clone();
            sources.flags.push(format!("model={name}"));
            let model = model_of(&Config::build(&sources, &*environment), &factory)?;
            lock(&known).insert(name.to_owned(), model.clone());
            Ok(model)
        })
    }

    /// Puts the user's choice of a model in the place of the configured one, if it still holds. It is made anew, since how
    /// it is reached may have changed. Gives what prevents it, in a sentence. Blocking.
    pub(crate) fn choose_again(
        &self,
        choice: ModelChoice,
        settings: &mut Settings,
    ) -> Option<String> {
        if choice.instead_of != settings.configured_model {
            return None;
        }
        match self.model_named(&choice.name) {
            Ok(model) => {
                settings.model = Ok(model);
                settings.model_choice = Some(choice);
                None
            }
            Err(why) => Some(format!("{} is no longer used here: {why}.", choice.name)),
        }
    }
}

/// The settings of a session, and what is wrong with the configuration, in sentences.
pub fn settings_of(
    config: &Config,
    factory: &ModelFactory,
    interactive: bool,
) -> (Settings, Vec<String>) {
    let mut problems: Vec<String> = config.problems.iter().map(ToString::to_string).collect();
    let known = tool_names();
    let mut rules = Rules::default();
    let mut wrong = Vec::new();
    let lists =
        [(List::Allow, &config.allow), (List::Ask, &config.ask), (List::Deny, &config.deny)];
    for (list, texts) in lists {
        for text in texts {
            let (matches, refuses) = (&text.matches, &text.refuses);
            let from = text.source.to_string();
            let written = WrittenRule { rule: &text.rule, matches, refuses, from: &from };
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
        models: None,
        tools: config.tools.clone(),
        mode: config.mode,
        rules,
        always: None,
        limits: config.limits,
        mechanisms: Mechanisms::named(|name| config.mechanism_enabled(name)),
        verify: config.verify.clone(),
        check_self: config.check_self,
        user_folders: config.user_folders.clone().into(),
        facts: PromptFacts {
            date: ropewalk_agent::time::today(),
            platform: std::env::consts::OS.to_owned(),
            replace,
            instructions: config.instructions.iter().map(instructions).collect(),
            append: config.system_prompt_append.clone(),
            ..PromptFacts::default()
        },
        interactive,
        secrets: config.key_variables.iter().cloned().collect(),
    };
    (settings, problems)
}

fn instructions(told: &ropewalk_config::InstructionText) -> Instructions {
    let (file, text) = (told.file.clone(), told.text.clone());
    Instructions { file, text, is_users: told.is_users }
}

/// The model that the command line of a configuration names; the error is a sentence.
fn model_of(config: &Config, factory: &ModelFactory) -> Result<Arc<dyn Model>, String> {
    match config.is_locked("model") {
        Some(lock) => Err(format!("The model can't be changed: it is locked by {lock}")),
        None => factory(config),
    }
}

/// How the commands of a session run that starts now.
fn commands_of(config: &Config) -> CommandSettings {
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
fn keep_rules_in(file: PathBuf) -> KeepRule {
    Arc::new(move |rule| {
        let added = add_rule(&file, "allow", &rule.to_string());
        added.map_err(|error| format!("{}: {error}", file.display()))
    })
}
