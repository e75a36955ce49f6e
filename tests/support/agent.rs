//! Our own server for tests in real editors: the binary, a scripted model in this process, and a
//! configuration of the test's own that leads from one to the other.
//!
//! Nothing of the user's configuration, state or keys is seen by the server.

use super::home::Searched;
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use ropewalk_testkit::planted;
use std::sync::LazyLock;

/// A scripted model, and the environment in which `ropewalk lsp` finds it.
pub struct Agent {
    /// The model; its script ends the test's questions about what was sent.
    pub model: ScriptedModel,
    home: Searched,
}

impl Agent {
    /// A model with these replies, and sessions that begin in `mode` (`auto`, `review`, `plan`). Commands run in
    /// place, where they ask and change the disk; over the fork they have pages of their own in tests/scenarios.
    pub fn new(mode: &str, replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        Self::with_model(mode, ScriptedModel::start(replies).unwrap())
    }

    /// The same with a model that runs already, which speaks Anthropic's Messages.
    pub fn with_model(mode: &str, model: ScriptedModel) -> Self {
        let home = Searched::new();
        let folder = home.path().join("config/ropewalk");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::create_dir(home.path().join("home")).unwrap();
        let config = format!(
            "model = \"scripted/scripted\"\n\
             mode = \"{mode}\"\n\
             commands.over_fork = \"off\"\n\
             [provider.scripted]\n\
             protocol = \"anthropic\"\n\
             base_url = \"{}\"\n\
             api_key_env = \"{}\"\n",
            model.base_url(),
            planted::VARIABLE
        );
        std::fs::write(folder.join("config.toml"), config).unwrap();
        Self { model, home }
    }

    /// Another text of the user's configuration file.
    pub fn configure(&self, text: &str) {
        std::fs::write(self.home.path().join("config/ropewalk/config.toml"), text).unwrap();
    }

    /// Changes the text of the user's configuration file.
    pub fn reconfigure(&self, change: impl FnOnce(&str) -> String) {
        let file = self.home.path().join("config/ropewalk/config.toml");
        self.configure(&change(&std::fs::read_to_string(file).unwrap()));
    }

    /// Adds a rule to those that are always allowed.
    pub fn allow(&self, rule: &str) {
        let file = self.home.path().join("config/ropewalk/rules.toml");
        std::fs::write(file, format!("allow = [{rule:?}]\n")).unwrap();
    }

    /// The files with whole outputs of calls.
    pub fn outputs(&self) -> Vec<String> {
        let sessions = std::fs::read_dir(self.home.path().join("state/ropewalk/outputs")).unwrap();
        let folders = sessions.map(|entry| entry.unwrap().path());
        let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap());
        files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
    }

    /// One of the folders that stand for those of the user: `home`, `config`, `state`, `data` or `cache`.
    pub fn folder(&self, name: &str) -> std::path::PathBuf {
        self.home.path().join(name)
    }

    /// The command line of the server: of this build, or a copy where the user of the tests can't reach that.
    pub fn command() -> [&'static str; 2] {
        static COPY: LazyLock<Option<String>> =
            LazyLock::new(|| std::env::var("ROPEWALK_TEST_SERVER").ok());
        [COPY.as_deref().unwrap_or(env!("CARGO_BIN_EXE_ropewalk")), "lsp"]
    }

    /// The variables that the server needs, for the editor that starts it.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let folder = |name: &str| self.folder(name).display().to_string();
        vec![
            ("HOME", folder("home")),
            ("XDG_CONFIG_HOME", folder("config")),
            ("XDG_STATE_HOME", folder("state")),
            ("XDG_DATA_HOME", folder("data")),
            ("XDG_CACHE_HOME", folder("cache")),
            ("ANTHROPIC_API_KEY", planted::KEY.to_owned()),
            (planted::VARIABLE, planted::OTHER_KEY.to_owned()),
        ]
    }
}
