//! The settings of a session as they are now, and what follows from them.

use crate::session::Settings;
use ropewalk_model::Keys;
use ropewalk_tools::Rules;
use ropewalk_tools::secrets::{Secrets, Strike};
use ropewalk_tools::tool::Hides;
use std::sync::{Arc, PoisonError, RwLock};

/// See the module.
pub(crate) struct CurrentSettings(RwLock<Current>);

#[derive(Clone)]
struct Current {
    settings: Arc<Settings>,
    hides: Arc<Hides>,
}

impl CurrentSettings {
    pub(crate) fn new(settings: Settings) -> Self {
        let hides = hides(&settings.rules);
        Self(RwLock::new(Current { settings: Arc::new(settings), hides }))
    }

    pub(crate) fn get(&self) -> Arc<Settings> {
        self.current().settings
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Settings)) {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let mut new = Settings::clone(&current.settings);
        change(&mut new);
        if new.rules != current.settings.rules {
            current.hides = hides(&new.rules);
        }
        current.settings = Arc::new(new);
    }

    /// The user's rules for those who read; the same one for as long as the rules are the same.
    pub(crate) fn hides(&self) -> Arc<Hides> {
        self.current().hides
    }

    /// The keys that are in no text of the session.
    pub(crate) fn keys(&self) -> Keys {
        self.get().model.as_ref().map(|model| model.keys()).unwrap_or_default()
    }

    /// Secrets that commands are kept from.
    pub(crate) fn secrets(&self) -> Secrets {
        let keys = self.keys();
        let strike = move || {
            let mut striker = keys.striker();
            let strike: Strike = Box::new(move |piece, last| {
                striker.strike(piece, last);
            });
            strike
        };
        Secrets { variables: self.get().secrets.clone(), strike: Some(Arc::new(strike)) }
    }

    fn current(&self) -> Current {
        // A panic while the lock was held leaves plain data behind, which stays usable.
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn hides(rules: &Rules) -> Arc<Hides> {
    let rules = rules.clone();
    Arc::new(move |file, start| rules.hides(file, start))
}
