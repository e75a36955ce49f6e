//! Laying the layers over each other: reads each, finds its keys, checks and sets the values, and
//! writes down what could not be used. Lookups of keys are in `keys`, checks of values in `check`,
//! the rule for projects in `project`, and what needs all layers in `finish`.

mod check;
mod enables;
mod finish;
mod locks;
mod project;
mod rules;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;

use crate::keys::{self, Key, KeyPath, ProjectRule};
use crate::problem::{ConfigLayer, Problem, ValueSource, shown};
use crate::sources::{self, Environment, MAX_FILE_BYTES, Sources};
use crate::value::{TableEntry, Value};
use crate::{BOARD_VARIABLE, ModelFacts, Provider, TeamConfig};
use crate::{CommandConfig, Config, DEFAULT_LOG, PROVIDER_PRESETS, SessionRetention, toml_text};
use project::{Project, Wish};
use ropewalk_protocol::{Mode, SessionLimits};

use check::{ProviderField, ProviderSetting, Setting, ValueRefusal};

/// Problems told of one layer; a file full of nonsense must not become a flood.
const MOST_PROBLEMS: usize = 20;

pub(crate) fn build(sources: &Sources, environment: &dyn Environment) -> Config {
    let mut builder = ConfigBuilder::new(sources, environment);
    for file in Sources::files(environment) {
        builder.file(file, None);
    }
    builder.projects();
    let clients = [
        (
            ConfigLayer::InitializationOptions,
            "initializationOptions",
            &sources.initialization_options,
        ),
        (ConfigLayer::Settings, "the editor's settings", &sources.settings),
    ];
    for (layer, name, json) in clients {
        if let Some(json) = json {
            builder.client(ValueSource::named(layer, name), json);
        }
    }
    builder.variables();
    builder.flags(&sources.flags);
    builder.finish()
}

/// A provider while the layers are being read: its protocol and its URL may still be missing.
#[derive(Default)]
struct Draft {
    protocol: Option<String>,
    base_url: Option<String>,
    /// All else.
    provider: Provider,
}

impl Draft {
    /// The facts that a key is about: those of the model it names, or of all.
    fn facts(&mut self, path: &[String]) -> &mut ModelFacts {
        match (path.get(2).map(String::as_str), path.get(3)) {
            (Some("models"), Some(model)) => self.provider.models.entry(model.clone()).or_default(),
            _ => &mut self.provider.facts,
        }
    }

    fn set(&mut self, path: &[String], setting: ProviderSetting) {
        let member = path.get(3).cloned().unwrap_or_default();
        let provider = &mut self.provider;
        match setting {
            ProviderSetting::KeyCommand(command) => provider.api_key_command = command,
            ProviderSetting::Header(text) => drop(provider.headers.insert(member, text)),
            ProviderSetting::Query(text) => drop(provider.query.insert(member, text)),
            ProviderSetting::Body(value) => drop(provider.body.insert(member, value)),
            ProviderSetting::Switch(field, on) => *field(provider) = on,
            ProviderSetting::Cache(life) => provider.cache = life,
            ProviderSetting::Parallel(most) => provider.parallel = Some(most),
            ProviderSetting::Fact(field, on) => *field(self.facts(path)) = Some(on),
            ProviderSetting::Thinking(level) => self.facts(path).thinking = Some(level),
            ProviderSetting::Tokens(field, number) => *field(self.facts(path)) = Some(number),
            ProviderSetting::Price(price) => self.facts(path).price = Some(price),
        }
    }
}

struct ConfigBuilder<'a> {
    sources: &'a Sources,
    environment: &'a dyn Environment,
    config: Config,
    drafts: BTreeMap<String, Draft>,
    /// Settings of the layers below the projects, against which each project is measured.
    own: Option<Config>,
    /// The project whose file is being read.
    project: Option<Project>,
    /// How many problems the current layer has had.
    told: usize,
}

impl<'a> ConfigBuilder<'a> {
    fn new(sources: &'a Sources, environment: &'a dyn Environment) -> Self {
        let config = Config {
            model: None,
            mode: Mode::default(),
            providers: BTreeMap::new(),
            key_variables: PROVIDER_PRESETS
                .iter()
                .map(|preset| preset.3.to_owned())
                .filter(|variable| !variable.is_empty())
                .collect(),
            headers: BTreeSet::new(),
            tools: None,
            mechanisms: BTreeMap::new(),
            limits: SessionLimits::DEFAULT,
            keep: SessionRetention::DEFAULT,
            commands: CommandConfig::default(),
            team: TeamConfig::DEFAULT,
            boards: Vec::new(),
            allow: Vec::new(),
            ask: Vec::new(),
            deny: Vec::new(),
            system_prompt_file: None,
            ca_file: None,
            system_prompt_append: None,
            verify: None,
            check_self: false,
            log: DEFAULT_LOG.to_owned(),
            problems: Vec::new(),
            watched: Vec::new(),
            untrusted: Vec::new(),
            instructions: Vec::new(),
            user_folders: Vec::new(),
            locks: Vec::new(),
            provenance: BTreeMap::new(),
        };
        let drafts = PROVIDER_PRESETS
            .iter()
            .map(|(name, protocol, base_url, api_key_env)| {
                let draft = Draft {
                    protocol: Some((*protocol).to_owned()),
                    base_url: Some((*base_url).to_owned()),
                    provider: Provider {
                        api_key_env: Some((*api_key_env).to_owned())
                            .filter(|name| !name.is_empty()),
                        ..Provider::default()
                    },
                };
                ((*name).to_owned(), draft)
            })
            .collect();
        ConfigBuilder { sources, environment, config, drafts, own: None, project: None, told: 0 }
    }

    fn problem(&mut self, source: &ValueSource, key: Option<String>, sentence: String) {
        self.told += 1;
        if self.told <= MOST_PROBLEMS {
            self.config.problems.push(Problem { source: source.clone(), key, sentence });
        } else if self.told == MOST_PROBLEMS + 1 {
            let source = source.at(None);
            let sentence = format!("there are more problems in {source} than are listed");
            self.config.problems.push(Problem { source, key: None, sentence });
        }
    }

    /// The user's file for a sentence.
    fn own_file(&self) -> String {
        sources::user_file(self.environment).map_or_else(
            || "your own configuration".to_owned(),
            |file| sources::abbreviated(&file, self.environment.home().as_deref()),
        )
    }

    // Layers.

    /// Reads one file; with a root, only if it lies in it.
    fn file(&mut self, source: ValueSource, root: Option<&Path>) {
        self.told = 0;
        let Some(path) = source.file.clone() else { return };
        self.config.watched.push(path.clone());
        let bytes = match root {
            Some(root) => self.environment.read_inside(root, &path, MAX_FILE_BYTES + 1),
            None if source.layer == ConfigLayer::System => {
                self.environment.read_system(&path, MAX_FILE_BYTES + 1)
            }
            None => self.environment.read(&path, MAX_FILE_BYTES + 1),
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return;
            }
            Err(error) => {
                let sentence = format!("{source} can't be read: {error}; it is skipped");
                return self.problem(&source, None, sentence);
            }
        };
        if bytes.len() as u64 > MAX_FILE_BYTES {
            let sentence = format!("{source} is longer than {MAX_FILE_BYTES} bytes; it is skipped");
            return self.problem(&source, None, sentence);
        }
        match String::from_utf8(bytes) {
            Ok(text) => {
                let (entries, errors) = toml_text::parse(&text);
                for error in errors {
                    let source = source.at(Some(error.line));
                    let sentence = format!("broken TOML in {source}: {}", error.words);
                    self.problem(&source, None, sentence);
                }
                self.table(&source, &mut Vec::new(), entries);
            }
            Err(error) => {
                let valid = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
                let line = 1 + valid.filter(|byte| **byte == b'\n').count();
                let source = source.at(Some(line));
                let sentence =
                    format!("{source} is not UTF-8 text; the file is skipped, save it as UTF-8");
                self.problem(&source, None, sentence);
            }
        }
    }

    fn client(&mut self, source: ValueSource, json: &serde_json::Value) {
        self.told = 0;
        match Value::from_json(&section(json), 0) {
            Value::Table(entries) => self.table(&source, &mut Vec::new(), entries),
            Value::Null => {}
            other => {
                let sentence = format!(
                    "{source} should be an object of keys and values, not {}; it is skipped",
                    other.describe()
                );
                self.problem(&source, None, sentence);
            }
        }
    }

    /// Reads the variables that stand for a key.
    fn variables(&mut self) {
        self.told = 0;
        let Some(text) = self.environment.var(BOARD_VARIABLE).filter(|text| !text.is_empty())
        else {
            return;
        };
        let path = ["team", "board"].map(str::to_owned);
        if let KeyPath::Key(key) = keys::find(&path) {
            let source = ValueSource::named(ConfigLayer::Environment, BOARD_VARIABLE);
            self.key(&source, key, &path, Value::Text(text));
        }
    }

    fn flags(&mut self, flags: &[String]) {
        self.told = 0;
        let source = ValueSource::named(ConfigLayer::Flag, "-c");
        for flag in flags {
            // The whole argument is never repeated: it may hold what was meant to stay secret.
            let Some((key, text)) = flag.split_once('=') else {
                let sentence =
                    "`-c` takes `key=value`, as in `-c mode=plan`; one without `=` is ignored"
                        .to_owned();
                self.problem(&source, None, sentence);
                continue;
            };
            let text = text.trim();
            let parts = keys::segments(&[], key.trim(), text.starts_with('{'));
            let path: Vec<String> = parts.iter().map(|part| part.trim().to_owned()).collect();
            let wants_text = matches!(keys::find(&path), KeyPath::Key(key) if key.is_text());
            let value = match toml_text::parse_value(text) {
                Some(value @ Value::Text(_)) => value,
                Some(value) if !wants_text => value,
                None if text.starts_with(['"', '\'', '[', '{']) => Value::Other("broken TOML"),
                _ => Value::Text(text.to_owned()),
            };
            let segments: Vec<&str> = path.iter().map(String::as_str).collect();
            match Value::nested(&segments, value) {
                Value::Table(entries) => self.table(&source, &mut Vec::new(), entries),
                _ => continue, // Splitting gives at least one segment, so there is a table.
            }
        }
    }

    // Keys.

    /// Goes through a table; `path` leads to it. As deep as the known keys are, no deeper.
    fn table(&mut self, source: &ValueSource, path: &mut Vec<String>, entries: Vec<TableEntry>) {
        let client = source.layer.is_client();
        for TableEntry { key: written, line, value } in entries {
            let source = source.at(line);
            let key_of_client =
                |known: &String| *known == written || *known == keys::snake(&written);
            // A key of the client's own may be a table's too, told apart by its value.
            let is_keys = matches!(value, Value::Table(_))
                && matches!(keys::find(&[keys::snake(&written)]), KeyPath::Table);
            let is_own = self.sources.known.client_keys.iter().any(key_of_client);
            if client && path.is_empty() && is_own && !is_keys {
                continue;
            }
            // The names of providers are the user's; everything else is snake_case.
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            if client && written.contains('.') {
                let is_table = matches!(value, Value::Table(_));
                let segments = keys::segments(&names, &written, is_table);
                if segments.len() > 1 {
                    if let Value::Table(entries) = Value::nested(&segments, value) {
                        self.table(&source, path, entries);
                    }
                    continue;
                }
            }
            let own_name = keys::holds_own_names(&names);
            path.push(if client && !own_name { keys::snake(&written) } else { written });
            match (keys::find(path), value) {
                (KeyPath::Key(_) | KeyPath::Table, Value::Null) => {}
                (KeyPath::Key(key), value) => self.key(&source, key, path, value),
                (KeyPath::Table, Value::Table(entries)) => self.table(&source, path, entries),
                (KeyPath::Table, other) => {
                    let key = shown(&path.join("."));
                    let sentence = format!(
                        "`{key}` in {source} should be a table of keys, not {}; it is ignored",
                        other.describe()
                    );
                    self.problem(&source, Some(key), sentence);
                }
                (KeyPath::Unknown, _) => self.unknown(&source, path),
            }
            path.pop();
        }
    }

    fn unknown(&mut self, source: &ValueSource, path: &[String]) {
        // A suggestion takes time, and past the bound nobody reads it.
        if self.told > MOST_PROBLEMS {
            return;
        }
        let spelled = |name: &str| {
            if source.layer.is_client() { keys::camel(name) } else { name.to_owned() }
        };
        let key = shown(&spelled(&path.join(".")));
        let last = path.last().map_or("", String::as_str);
        let sentence = if names_a_secret(last) {
            format!(
                "`{key}` in {source} is ignored: a configuration holds no keys or passwords; put the key into an environment variable, name that with `api_key_env`, and remove it here"
            )
        } else if !source.layer.is_client()
            && matches!(path, [provider, _, models, _, rest, ..]
                if provider == "provider" && models == "models" && rest.starts_with(|c: char| c.is_ascii_digit()))
        {
            format!(
                "unknown key `{key}` in {source}: a model's name with a dot in it stands in quotes, as in `[provider.NAME.models.\"gpt-4.1\"]`"
            )
        } else {
            match keys::nearest(path) {
                Some(nearest) => {
                    let nearest = shown(&spelled(&nearest));
                    format!("unknown key `{key}` in {source}: did you mean `{nearest}`?")
                }
                None => format!("unknown key `{key}` in {source}: it is ignored"),
            }
        };
        self.problem(source, Some(key), sentence);
    }

    /// Sets one key, if the layer may and the value will do.
    fn key(&mut self, source: &ValueSource, key: &Key, path: &[String], value: Value) {
        let dotted = path.join(".");
        let name = shown(&dotted);
        if source.layer != ConfigLayer::System {
            let why = if key.locks_keys() {
                Some("only /etc/ropewalk/config.toml locks keys".to_owned())
            } else if source.layer == ConfigLayer::Project && key.project == ProjectRule::Ignored {
                let own = self.own_file();
                Some(format!("it is about more than this project; put it into {own}"))
            } else if let Some(why) = key.not_for_editors().filter(|_| source.layer.is_client()) {
                // An editor's settings may come from the folder that is open in it.
                let own = self.own_file();
                Some(format!("{why}; put it into {own}"))
            } else {
                self.config.is_locked(&dotted).map(|lock| format!("it is locked by {lock}"))
            };
            if let Some(why) = why {
                let sentence = format!("`{name}` in {source} is ignored: {why}");
                return self.problem(source, Some(name), sentence);
            }
        }
        if source.layer == ConfigLayer::Rules && !key.is_rules() {
            let own = self.own_file();
            let sentence = format!(
                "`{name}` in {source} is ignored: that file holds only `allow`, `ask` and `deny`; put it into {own}"
            );
            return self.problem(source, Some(name), sentence);
        }
        // An empty text is how editors write that a setting is not set.
        if source.layer.is_client() && key.is_text() && value == Value::Text(String::new()) {
            return;
        }
        let context = check::CheckContext {
            name: path.get(1).map_or("", String::as_str),
            member: path.get(3).map_or("", String::as_str),
            source,
            known: &self.sources.known,
            environment: self.environment,
        };
        let (setting, mut refusals) = check::check(key, value, &context);
        if let Some(setting) = setting {
            if source.layer == ConfigLayer::Project {
                let wish = Wish { path: path.to_vec(), setting, source: source.clone() };
                refusals.extend(self.wish(wish).err());
            } else {
                self.set(path, setting, source);
            }
        }
        for ValueRefusal(words) in refusals {
            let sentence = format!("`{name}` in {source} {words}");
            self.problem(source, Some(name.clone()), sentence);
        }
    }

    /// Sets a key, and says where its value came from.
    fn set(&mut self, path: &[String], setting: Setting, source: &ValueSource) {
        self.assign(path, setting);
        self.config.provenance.insert(path.join("."), source.clone());
    }

    fn assign(&mut self, path: &[String], setting: Setting) {
        let config = &mut self.config;
        let name = path.get(1).cloned().unwrap_or_default();
        match setting {
            Setting::Model(model) => config.model = Some(model),
            Setting::Mode(mode) => config.mode = mode,
            Setting::Tools(names) => config.tools = Some(names),
            Setting::Switch(on) => drop(config.mechanisms.insert(name, on)),
            Setting::Locks(locks) => config.locks = locks,
            Setting::Rules(list, rules) => list.add(config, rules),
            Setting::PromptFile(path) => config.system_prompt_file = Some(path),
            Setting::PromptAppend(text) => config.system_prompt_append = Some(text),
            Setting::Verify(command) => {
                config.verify = Some(command).filter(|command| !command.is_empty());
            }
            Setting::SelfCheck(on) => config.check_self = on,
            Setting::Log(filter) => config.log = filter,
            Setting::Limit(field, number) => *field(&mut config.limits) = number,
            Setting::Keep(field, number) => *field(&mut config.keep) = number,
            Setting::OverFork(over_fork) => config.commands.over_fork = over_fork,
            Setting::CommandBound(field, number) => *field(&mut config.commands.bounds) = number,
            Setting::Variables(names) => config.commands.environment = names,
            Setting::Team(on) => config.team.enabled = on,
            Setting::TeamBound(field, number) => *field(&mut config.team.bounds) = number,
            Setting::Board(address) => config.name_board(address),
            Setting::Private(setting) => {
                if let ProviderSetting::Header(text) | ProviderSetting::Query(text) = &setting {
                    let member = path.get(3).cloned().unwrap_or_default();
                    config.headers.insert((member, text.clone()));
                }
                self.drafts.entry(name).or_default().set(path, setting);
            }
            Setting::CaFile(path) => config.ca_file = Some(path),
            Setting::Provider(field, text) => {
                if let (ProviderField::KeyVariable, Some(variable)) = (&field, &text) {
                    config.key_variables.insert(variable.clone());
                }
                let draft = self.drafts.entry(name).or_default();
                match field {
                    ProviderField::Protocol => draft.protocol = text,
                    ProviderField::BaseUrl => draft.base_url = text,
                    ProviderField::KeyVariable => draft.provider.api_key_env = text,
                }
            }
        }
    }
}

/// Settings as editors send them: the section itself, an object with the section below its name, or keys that begin
/// with the name of the section, as `"ropewalk.model"`.
fn section(json: &serde_json::Value) -> Cow<'_, serde_json::Value> {
    const PREFIX: &str = "ropewalk.";
    let whole = json.get("ropewalk");
    let is_prefixed = |key: &String| key.starts_with(PREFIX);
    let Some(map) = json.as_object().filter(|map| map.keys().any(is_prefixed)) else {
        return Cow::Borrowed(whole.unwrap_or(json));
    };
    let mut section = match whole {
        Some(whole) => whole.as_object().cloned().unwrap_or_default(),
        None => map.iter().filter(|(key, _)| !is_prefixed(key)).map(owned).collect(),
    };
    let keys = map.iter().filter_map(|(key, value)| Some((key.strip_prefix(PREFIX)?, value)));
    section.extend(keys.map(|(key, value)| (key.to_owned(), value.clone())));
    Cow::Owned(serde_json::Value::Object(section))
}

fn owned((key, value): (&String, &serde_json::Value)) -> (String, serde_json::Value) {
    (key.clone(), value.clone())
}

/// True if a key that doesn't exist looks as if its value were a secret.
fn names_a_secret(key: &str) -> bool {
    let key: String =
        key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    key.ends_with("apikey")
        || [
            "key",
            "token",
            "apitoken",
            "authtoken",
            "accesstoken",
            "bearertoken",
            "secret",
            "apisecret",
            "secretkey",
            "password",
            "authorization",
            "credentials",
        ]
        .contains(&key.as_str())
}
