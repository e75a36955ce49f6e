//! The configuration of a host: its sources, and what is remembered of how it was read last.

use crate::lock;
use crate::watch::ConfigWatch;
use ropewalk_config::{Config, KnownNames, Sources};
use ropewalk_model::catalogue::default_models;
use ropewalk_model::{Model, Protocol};
use ropewalk_protocol::{Lock, Mechanisms, Mode};
use ropewalk_team::Lead;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Makes the model a configuration names, or says in a sentence what to set up. The binary gives it: no
/// other room names a concrete model.
pub type ModelFactory = Arc<dyn Fn(&Config) -> Result<Arc<dyn Model>, String> + Send + Sync>;

/// The names that a configuration may use: tools, mechanisms, protocols and models.
pub fn known() -> KnownNames {
    KnownNames {
        tools: tool_names(),
        mechanisms: Mechanisms::NAMES.map(str::to_owned).to_vec(),
        protocols: Protocol::ALL.iter().map(|p| p.name().to_owned()).collect(),
        default_models: Some(default_models),
        client_keys: Vec::new(),
    }
}

/// The names of the tools that a session may have.
pub(crate) fn tool_names() -> Vec<String> {
    ropewalk_agent::tools::names().into_iter().chain(Lead::tool_names()).collect()
}

/// The configuration of a host: what it is built from, and what is remembered of how it was built last.
pub(crate) struct Configuration {
    sources: Mutex<Sources>,
    /// Set when the sources may say something else than when they were read last.
    is_stale: AtomicBool,
    /// Held while the configuration is read, so that the last reading counts. Nobody waits for it who must not wait for the
    /// disk.
    marks: Mutex<ConfigMarks>,
    /// The configuration in force.
    config: Mutex<Option<Arc<Config>>>,
}

/// Marks of the configuration in force, by which a change is seen.
#[derive(Default)]
pub(crate) struct ConfigMarks {
    watch: ConfigWatch,
    mode: Mode,
}

impl ConfigMarks {
    /// True if a file of the configuration has changed since it was read. Blocking.
    pub(crate) fn has_changed(&self) -> bool {
        self.watch.has_changed()
    }

    /// True if the configuration was read from other files than these, or from other versions of them.
    pub(crate) fn differ_from(&self, watch: &ConfigWatch) -> bool {
        self.watch != *watch
    }

    /// Remembers the files and the mode of a reading. Gives the mode that the configuration had before.
    pub(crate) fn replace(&mut self, watch: ConfigWatch, mode: Mode) -> Mode {
        std::mem::replace(self, Self { watch, mode }).mode
    }
}

impl Configuration {
    pub(crate) fn new(flags: Vec<String>) -> Self {
        let sources = Sources { flags, known: known(), ..Sources::default() };
        Self {
            sources: Mutex::new(sources),
            is_stale: AtomicBool::new(true),
            marks: Mutex::default(),
            config: Mutex::default(),
        }
    }

    /// Changes the sources. It counts from the next reading on.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Sources)) {
        change(&mut lock(&self.sources));
        self.is_stale.store(true, Ordering::Release);
    }

    /// The sources of the configuration as they are now.
    pub(crate) fn sources(&self) -> Sources {
        lock(&self.sources).clone()
    }

    /// True if the sources may say something else than when they were read last.
    pub(crate) fn is_stale(&self) -> bool {
        self.is_stale.load(Ordering::Acquire)
    }

    /// True as in [`Configuration::is_stale`]; from now on they count as read.
    pub(crate) fn take_stale(&self) -> bool {
        self.is_stale.swap(false, Ordering::AcqRel)
    }

    /// Another configuration is in force from now on.
    pub(crate) fn put_in_force(&self, config: Arc<Config>) {
        *lock(&self.config) = Some(config);
    }

    /// The configuration in force.
    pub(crate) fn config(&self) -> Option<Arc<Config>> {
        lock(&self.config).clone()
    }

    /// The keys that are locked, as the configuration was read last.
    pub(crate) fn locks(&self) -> Vec<Lock> {
        let config = lock(&self.config).clone();
        let locks = config.iter().flat_map(|config| config.locks());
        locks.map(|(key, by)| Lock { key: key.to_owned(), by: by.to_string() }).collect()
    }

    /// The place that locks the mode, as the configuration was read last.
    pub(crate) fn mode_lock(&self) -> Option<String> {
        let config = lock(&self.config).clone();
        config.and_then(|config| config.is_locked("mode").map(ToString::to_string))
    }

    /// Keeps others from reading the configuration until it is dropped. Blocking.
    pub(crate) fn hold(&self) -> MutexGuard<'_, ConfigMarks> {
        lock(&self.marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_config::{ModelName, PROVIDER_PRESETS};

    #[test]
    fn each_default_model_is_of_a_preset_with_the_same_key() {
        for (variable, model) in default_models() {
            let model = ModelName::parse(&model).unwrap();
            let preset = PROVIDER_PRESETS.iter().find(|(name, ..)| *name == model.provider);
            assert_eq!(preset.map(|preset| preset.3), Some(&*variable), "{model}");
        }
    }
}
