//! A world without a disk, and `check`, which compares all of what a configuration says about it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's own helper may be blunt")]

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use ropewalk_config::{Config, Environment, KnownNames, RuleText, Sources};
use serde_json::Value;

pub(crate) const SYSTEM: &str = "/etc/ropewalk/config.toml";
pub(crate) const USER: &str = "/home/ada/.config/ropewalk/config.toml";
pub(crate) const RULES: &str = "/home/ada/.config/ropewalk/rules.toml";
pub(crate) const PROJECT: &str = "/code/app/.ropewalk/config.toml";
pub(crate) const TRUST: &str = "/home/ada/.local/state/ropewalk/trust.toml";
pub(crate) const SECOND: &str = "/code/lib/.ropewalk/config.toml";

/// Files, variables and sources. The roots are `/code/app` and `/code/lib`; a key for Anthropic is
/// set, so that a world without a model has no problem.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) files: BTreeMap<PathBuf, Vec<u8>>,
    pub(crate) vars: BTreeMap<String, String>,
    pub(crate) home: Option<PathBuf>,
    /// True if others can write the system's file.
    pub(crate) system_is_open: bool,
    pub(crate) sources: Sources,
}

impl World {
    pub(crate) fn new() -> Self {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        World {
            files: BTreeMap::new(),
            vars: [("ANTHROPIC_API_KEY".to_owned(), "not-a-real-key".to_owned())].into(),
            home: Some("/home/ada".into()),
            system_is_open: false,
            sources: Sources {
                roots: vec!["/code/app".into(), "/code/lib".into()],
                known: KnownNames {
                    tools: names(&["bash", "read_file", "edit_file"]),
                    mechanisms: names(&["todos", "self_check"]),
                    protocols: names(&["anthropic", "openai"]),
                    default_models: Some(default_models),
                    client_keys: names(&["events", "team"]),
                },
                ..Sources::default()
            },
        }
    }

    pub(crate) fn file(mut self, path: &str, text: impl AsRef<[u8]>) -> Self {
        self.files.insert(path.into(), text.as_ref().to_vec());
        self
    }

    pub(crate) fn var(mut self, name: &str, value: &str) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    pub(crate) fn initialization(mut self, json: Value) -> Self {
        self.sources.initialization_options = Some(json);
        self
    }

    pub(crate) fn settings(mut self, json: Value) -> Self {
        self.sources.settings = Some(json);
        self
    }

    pub(crate) fn flag(mut self, flag: &str) -> Self {
        self.sources.flags.push(flag.into());
        self
    }

    pub(crate) fn build(&self) -> Config {
        Config::build(&self.sources, self)
    }
}

impl Environment for World {
    fn home(&self) -> Option<PathBuf> {
        self.home.clone()
    }

    fn var(&self, name: &str) -> Option<String> {
        self.vars.get(name).cloned()
    }

    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let bytes = self.files.get(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(bytes.iter().copied().take(usize::try_from(limit).unwrap()).collect())
    }

    fn read_system(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        if self.system_is_open {
            return Err(io::Error::other("others can write it"));
        }
        self.read(path, limit)
    }
}

/// Expects values, each as `key = value < where it came from`, and exactly these problems.
#[track_caller]
pub(crate) fn check(world: &World, values: &[&str], problems: &[&str]) {
    let config = world.build();
    for expected in values {
        let key = expected.split(" = ").next().unwrap();
        let found = format!("{key} = {} < {}", value(&config, key), config.provenance(key));
        assert_eq!(&found, expected);
    }
    let found: Vec<String> = config.problems.iter().map(ToString::to_string).collect();
    assert_eq!(found, problems, "problems differ");
}

/// The value of a key as TOML would write it, `none` when there is none.
pub(crate) fn value(config: &Config, key: &str) -> String {
    let rules = |rules: &[RuleText]| {
        format!("{:?}", rules.iter().map(|rule| &rule.rule).collect::<Vec<_>>())
    };
    let text = |text: Option<String>| text.map_or("none".to_owned(), |text| format!("{text:?}"));
    match key.split('.').collect::<Vec<_>>()[..] {
        ["model"] => text(config.model.as_ref().map(ToString::to_string)),
        ["mode"] => text(Some(config.mode.as_str().to_owned())),
        ["tools"] => config.tools.as_ref().map_or("none".to_owned(), |list| format!("{list:?}")),
        ["allow"] => rules(&config.allow),
        ["ask"] => rules(&config.ask),
        ["deny"] => rules(&config.deny),
        ["locked"] => {
            format!("{:?}", config.locks().map(|(pattern, _)| pattern).collect::<Vec<_>>())
        }
        ["log"] => text(Some(config.log.clone())),
        ["system_prompt_file"] => {
            text(config.system_prompt_file.as_ref().map(|path| path.display().to_string()))
        }
        ["system_prompt_append"] => text(config.system_prompt_append.clone()),
        ["check", "self"] => config.check_self.to_string(),
        ["verify"] => text(config.verify.clone()),
        ["mechanisms", name] => config.mechanism_enabled(name).to_string(),
        ["commands", "over_fork"] => text(Some(config.commands.over_fork.as_str().to_owned())),
        ["commands", "environment"] => format!("{:?}", config.commands.environment),
        ["team", "enabled"] => config.team.enabled.to_string(),
        ["team", "board"] => text(config.team.board.as_ref().map(ToString::to_string)),
        ["provider", name, field] => of_provider(config, name, field),
        ref path => number(config, path).unwrap_or_else(|| panic!("no key {key}")),
    }
}

/// A number that always has a value.
fn number(config: &Config, path: &[&str]) -> Option<String> {
    let (limits, bounds) = (&config.limits, &config.commands.bounds);
    let mechanisms = &limits.mechanisms;
    Some(match path {
        ["limits", "steps"] => limits.steps.to_string(),
        ["limits", "output_tokens"] => limits.output_tokens.to_string(),
        ["limits", "tool_output"] => limits.tool_output.to_string(),
        ["limits", "command_seconds"] => limits.command_seconds.to_string(),
        ["limits", "identical_failures"] => limits.identical_failures.to_string(),
        ["limits", "idle_seconds"] => limits.idle_seconds.to_string(),
        ["limits", "first_byte_seconds"] => limits.first_byte_seconds.to_string(),
        ["limits", "retry_seconds"] => limits.retry_seconds.to_string(),
        ["limits", "turn_tokens"] => limits.turn_tokens.to_string(),
        ["limits", "session_tokens"] => limits.session_tokens.to_string(),
        ["limits", "turn_cents"] => limits.turn_cents.to_string(),
        ["limits", "session_cents"] => limits.session_cents.to_string(),
        ["compaction", "percent"] => mechanisms.compaction_percent.to_string(),
        ["todos", "remind_after"] => mechanisms.remind_after.to_string(),
        ["subagents", "steps"] => mechanisms.subagent_steps.to_string(),
        ["subagents", "parallel"] => mechanisms.subagents_parallel.to_string(),
        ["subagents", "per_turn"] => mechanisms.subagents_per_turn.to_string(),
        ["subagents", "tokens"] => mechanisms.subagent_tokens.to_string(),
        ["subagents", "result"] => mechanisms.subagent_result.to_string(),
        ["check", "rounds"] => mechanisms.check_rounds.to_string(),
        ["verify_seconds"] => mechanisms.verify_seconds.to_string(),
        ["sessions", "keep_days"] => config.keep.days.to_string(),
        ["sessions", "keep_megabytes"] => config.keep.megabytes.to_string(),
        ["commands", "layer_megabytes"] => bounds.layer_megabytes.to_string(),
        ["commands", "memory_megabytes"] => bounds.memory_megabytes.to_string(),
        ["commands", "cache_megabytes"] => bounds.cache_megabytes.to_string(),
        ["team", "teammates"] => config.team.bounds.teammates.to_string(),
        ["team", "lease"] => config.team.bounds.lease.to_string(),
        ["team", "poll"] => config.team.bounds.poll.to_string(),
        ["team", "idle"] => config.team.bounds.idle.to_string(),
        ["team", "attempts"] => config.team.bounds.attempts.to_string(),
        ["team", "wake"] => config.team.bounds.wake.to_string(),
        ["team", "tokens"] => config.team.bounds.tokens.to_string(),
        ["team", "cents"] => config.team.bounds.cents.to_string(),
        _ => return None,
    })
}

/// The value of a field of a provider.
fn of_provider(config: &Config, name: &str, field: &str) -> String {
    let quoted = |text: String| format!("{text:?}");
    let value = config.providers.get(name).and_then(|provider| match field {
        "url_exact" => Some(provider.url_exact.to_string()),
        "cache" => Some(quoted(provider.cache.as_str().to_owned())),
        "printed_calls" => Some(provider.printed_calls.to_string()),
        "parallel" => provider.parallel.map(|most| quoted(most.to_string())),
        "protocol" => Some(quoted(provider.protocol.clone())),
        "base_url" => Some(quoted(provider.base_url.clone())),
        "api_key_env" => provider.api_key_env.clone().map(quoted),
        other => panic!("no field {other}"),
    });
    value.unwrap_or_else(|| "none".to_owned())
}

fn default_models() -> Vec<(String, String)> {
    let models = [
        ("ANTHROPIC_API_KEY", "anthropic/claude-sonnet-5-5"),
        ("OPENAI_API_KEY", "openai/gpt-6.1-sol"),
        ("GROQ_API_KEY", "groq/openai/gpt-oss-120b"),
        ("GEMINI_API_KEY", "gemini/gemini-3.8-flash"),
    ];
    models.map(|(variable, model)| (variable.to_owned(), model.to_owned())).to_vec()
}
