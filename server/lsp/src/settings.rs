//! From the configuration to a session's settings.

use ropewalk_agent::prompt::PromptFacts;
use ropewalk_agent::session::{KeepRule, Limits, Settings};
use ropewalk_config::{Config, add_rule};
use ropewalk_model::Model;
use ropewalk_tools::{List, Mode, Registry, Rules, Written};
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
    let registry = Registry::standard();
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
        },
        facts: PromptFacts {
            tools: Vec::new(),
            date: today(),
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
        secrets: config
            .providers
            .values()
            .filter_map(|provider| provider.api_key_env.clone())
            .collect(),
    };
    (settings, problems)
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

/// Today's date (UTC) as YYYY-MM-DD, by the civil-from-days algorithm (Hinnant, "chrono-Compatible Low-Level
/// Date Algorithms").
fn today() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let days = now.map_or(0, |since| since.as_secs() / 86_400) + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
