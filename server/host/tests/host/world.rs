//! A home, a folder, a scripted model for each session, and the hosts that stand on them.

use ropewalk_host::{Environment, Host, HostOptions, ModelFactory, Sessions};
use ropewalk_model::{Http, Model, ServerModel};
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use ropewalk_workspace::{NoEditor, Roots, Workspace};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    models: Arc<[(String, ScriptedModel)]>,
}

impl World {
    /// A world with these models, by the names that the configuration may give them. The first is the usual one.
    pub(crate) fn new<const N: usize>(models: [(&str, Vec<ScriptedReply>); N]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("w")).unwrap();
        let start = |(name, replies): (&str, Vec<ScriptedReply>)| {
            (name.to_owned(), ScriptedModel::start(replies).unwrap())
        };
        Self { dir, models: models.into_iter().map(start).collect() }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join("w").join(name)
    }

    /// A process of ours, with an environment of the test's.
    pub(crate) fn host_in(&self, environment: Arc<dyn Environment + Send + Sync>) -> Arc<Host> {
        let models = self.models.clone();
        let factory: ModelFactory = Arc::new(move |config| {
            let name = config.model.as_ref().map(|model| &*model.name);
            let named = models.iter().find(|(known, _)| Some(&**known) == name);
            let (known, server) = named.or(models.first()).ok_or("there is no model")?;
            let mut config = server.config();
            (config.provider, config.model) = ("any".to_owned(), known.clone());
            let model = ServerModel::new(config, Http::new()).unwrap();
            Ok(Arc::new(model) as Arc<dyn Model>)
        });
        let options = HostOptions {
            flags: vec!["commands.over_fork=off".to_owned()],
            sessions: Some(Sessions::new(&self.dir.path().join("state"))),
            ..HostOptions::new(factory, environment)
        };
        let host = Host::new(options, Arc::new(Workspace::new(Roots::none())), Arc::new(NoEditor));
        host.meet(vec![("w".to_owned(), self.dir.path().join("w"))], None, Vec::new());
        host
    }

    pub(crate) fn host(&self) -> Arc<Host> {
        self.host_in(Arc::new(Home(self.dir.path().join("home"))))
    }
}

/// A machine on which nothing is configured but by files in this home.
pub(crate) struct Home(pub(crate) PathBuf);

impl Environment for Home {
    fn home(&self) -> Option<PathBuf> {
        Some(self.0.clone())
    }
    fn var(&self, _: &str) -> Option<String> {
        None
    }
    fn read(&self, path: &Path, _: u64) -> io::Result<Vec<u8>> {
        match path.starts_with(&self.0) {
            true => std::fs::read(path),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }
}
