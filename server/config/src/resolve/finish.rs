//! Checks that need all layers: which providers are complete, which model is
//! used, and whether the two fit. It reads no layer.

use super::{ConfigBuilder, Draft};
use crate::instructions::{self, InstructionText};
use crate::problem::{ConfigLayer, ValueSource, plainly, shown};
use crate::sources::{own_folder, user_folders};
use crate::trust;
use crate::{Config, ModelName, Provider};
use std::path::{Path, PathBuf};

/// Variables of keys that are named to somebody who has set none.
const NAMED_VARIABLES: usize = 3;

impl ConfigBuilder<'_> {
    pub(super) fn finish(mut self) -> Config {
        self.told = 0;
        self.providers();
        self.model();
        self.instructions();
        self.config.user_folders = user_folders(self.environment);
        self.config.watched.extend(trust::file(self.environment));
        self.config.watched.extend(self.config.system_prompt_file.clone());
        self.config
    }

    /// Reads what the user's own folder, the roots and the repositories around them tell the model, if that is on. The files are watched in either
    /// case.
    fn instructions(&mut self) {
        if let Some(folder) = own_folder(self.environment) {
            let file = instructions::own_file(&folder);
            self.config.watched.push(file.clone());
            self.instruction(None, file);
        }
        let mut folders: Vec<PathBuf> = Vec::new();
        for (root, _) in self.sources.projects(self.environment) {
            let around = instructions::folders(self.environment, &root);
            folders.extend(
                around.into_iter().filter(|folder| !folders.contains(folder)).collect::<Vec<_>>(),
            );
        }
        for folder in folders {
            let files = instructions::files(&folder);
            self.config.watched.extend(files.clone());
            for file in files {
                if self.instruction(Some(&folder), file) {
                    break;
                }
            }
        }
    }

    /// Reads one file: the user's own, or of a root. True if there is one.
    fn instruction(&mut self, root: Option<&Path>, file: PathBuf) -> bool {
        if !self.config.mechanism_enabled("instructions") {
            return false;
        }
        let layer = if root.is_some() { ConfigLayer::Project } else { ConfigLayer::User };
        let source = ValueSource::of_file(layer, file.clone(), self.environment);
        match instructions::read(self.environment, root, &file) {
            Ok(None) => return false,
            Ok(Some(text)) => {
                let file = plainly(&source.to_string(), usize::MAX);
                let is_users = root.is_none();
                self.config.instructions.push(InstructionText { file, text, is_users });
            }
            Err(error) => {
                let sentence = format!("{source} can't be read: {error}; it is skipped");
                self.problem(&source, None, sentence);
            }
        }
        true
    }

    fn providers(&mut self) {
        for (name, draft) in std::mem::take(&mut self.drafts) {
            let key = format!("provider.{name}");
            match draft {
                Draft { protocol: Some(protocol), base_url: Some(base_url), provider } => {
                    let Provider { api_key_env, api_key_command, .. } = &provider;
                    let has_key = api_key_env.is_some() || api_key_command.is_some();
                    if has_key && travels_in_the_clear(&base_url) {
                        let source = self.config.provenance(&format!("{key}.base_url"));
                        let sentence = format!(
                            "`{key}.base_url` in {source} sends the key unencrypted over the network: use `https://`"
                        );
                        self.problem(&source, Some(key), sentence);
                    }
                    let provider = Provider { protocol, base_url, ..provider };
                    self.config.providers.insert(name, provider);
                }
                Draft { protocol, base_url, .. } => {
                    let missing = match (protocol, base_url) {
                        (None, None) => "`protocol` and `base_url`",
                        (None, _) => "`protocol`",
                        _ => "`base_url`",
                    };
                    let fields = ["protocol", "base_url", "api_key_env"];
                    let set = fields.iter().find_map(|field| {
                        self.config.provenance.get(&format!("{key}.{field}")).cloned()
                    });
                    let source = set.unwrap_or_else(ValueSource::built_in);
                    let sentence =
                        format!("`{key}` in {source} is not usable: {missing} must be set too");
                    self.problem(&source, Some(key), sentence);
                }
            }
        }
    }

    fn model(&mut self) {
        let is_set = |variable: &str| {
            self.environment.var(variable).is_some_and(|value| !value.trim().is_empty())
        };
        let mut defaults = Vec::new();
        if self.config.model.is_none() {
            defaults = self.sources.known.default_models.map(|models| models()).unwrap_or_default();
            if let Some((variable, model)) = defaults.iter().find(|(name, _)| is_set(name)) {
                self.config.model = ModelName::parse(model);
                let source = ValueSource::named(ConfigLayer::Environment, variable);
                self.config.provenance.insert("model".to_owned(), source);
            }
        }
        let key = Some("model".to_owned());
        let Some(model) = self.config.model.clone() else {
            let variables = defaults.iter().take(NAMED_VARIABLES);
            let variables: Vec<String> =
                variables.map(|(variable, _)| format!("`{variable}`")).collect();
            let example = defaults.first().map_or("PROVIDER/NAME", |(_, model)| model);
            let sentence = format!(
                "no model is set: put `model = \"{example}\"` into {}, or set {} in the environment of the editor (`ropewalk models` lists others), or start Ollama: `ollama serve`, with `model = \"ollama/NAME\"`",
                self.own_file(),
                variables.join(" or ")
            );
            return self.problem(&ValueSource::built_in(), key, sentence);
        };
        let source = self.config.provenance("model");
        let provider = shown(&model.provider);
        let Some(found) = self.config.model_provider() else {
            let names: Vec<String> =
                self.config.providers.keys().map(|name| format!("`{}`", shown(name))).collect();
            let sentence = format!(
                "`model` in {source} names the provider `{provider}`, which is not set up: add `[provider.{provider}]` with `protocol` and `base_url` to {}, or use one of {}",
                self.own_file(),
                names.join(", ")
            );
            return self.problem(&source, key, sentence);
        };
        let is_asked = found.api_key_command.is_some();
        if let Some(variable) =
            found.api_key_env.clone().filter(|variable| !is_asked && !is_set(variable))
        {
            let sentence = format!(
                "the provider `{provider}` needs a key: set `{variable}` in the environment of the editor"
            );
            self.problem(&source, key, sentence);
        }
    }
}

/// True if a key sent there could be read on the way.
fn travels_in_the_clear(base_url: &str) -> bool {
    let Some(rest) = base_url.strip_prefix("http://") else { return false };
    let authority = rest.split('/').next().unwrap_or(rest);
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => authority.split(':').next().unwrap_or(authority),
    };
    let local = host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    !local
}
