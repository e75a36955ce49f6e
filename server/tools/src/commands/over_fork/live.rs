//! The sandbox of a session with its layer: started by what is open, tried out, shown a view, collected.

use crate::blocking::on_thread;
use crate::commands::folders::{LayerFolder, Unfinished, roots_of};
use crate::commands::hidden::{Hidden, hidden, named_by};
use crate::commands::{CommandSettings, repository};
use crate::layer::{BuildCaches, Collected, EverDirty, Layer, LayerError};
use crate::tool::{Context, Hides, Output};
use ropewalk_sandbox::{End, Limits, Plan, Sandbox, Spec, Upper};
use ropewalk_workspace::View;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) sandbox: Arc<Sandbox>,
    /// What no command sees unless it is allowed to by name.
    pub(super) hidden: Hidden,
    /// The command whose changes nobody has collected yet.
    pub(super) unfinished: Option<Unfinished>,
    layer: Layer,
    ever: EverDirty,
    /// Where builds go; without, they go into the layer.
    caches: Option<BuildCaches>,
    roots: Vec<PathBuf>,
    _disk: LayerFolder,
}

/// What is known before a sandbox is started.
struct Planned {
    plan: Plan,
    hidden: Hidden,
    caches: Option<BuildCaches>,
    ever: EverDirty,
    disk: LayerFolder,
}

impl Live {
    /// Starts a sandbox over what is open. The error says what failed.
    pub(super) async fn start(
        settings: &Arc<CommandSettings>,
        view: &Arc<View>,
        hides: &Arc<Hides>,
    ) -> Result<Self, String> {
        let (settings, view, hides) = (settings.clone(), view.clone(), hides.clone());
        let planned = on_thread(move |_| plan(&settings, &view, &*hides).map_err(Output::error));
        let Planned { plan, hidden, caches, ever, disk } = planned.await.map_err(words)?;
        let roots = plan.roots.clone();
        let sandbox = Sandbox::start(plan).await.map_err(|error| error.to_string())?;
        let (folder, over) = (sandbox.layers().join(super::MAIN), roots.clone());
        let opened = on_thread(move |_| Layer::open(&folder, &over).map_err(Output::error));
        let layer = opened.await.map_err(words)?;
        Ok(Self {
            sandbox: Arc::new(sandbox),
            hidden,
            unfinished: None,
            layer,
            ever,
            caches,
            roots,
            _disk: disk,
        })
    }

    /// Runs a command that does nothing.
    pub(super) async fn try_out(&self) -> Result<(), String> {
        let output = std::fs::OpenOptions::new().write(true).open("/dev/null");
        let spec = Spec {
            argv: ["/bin/sh", "-c", ":"].map(Into::into).to_vec(),
            cwd: self.roots.first().cloned().unwrap_or_default(),
            env: Vec::new(),
            output: output.map_err(|error| format!("/dev/null can't be opened: {error}"))?.into(),
            layer: super::MAIN.to_owned(),
            network: false,
            shown: Vec::new(),
            unhidden: Vec::new(),
            laid: Vec::new(),
        };
        let mut running = self.sandbox.run(spec).await.map_err(|error| error.to_string())?;
        match running.wait().await {
            End::Exited { code: 0, .. } => Ok(()),
            end => Err(format!("a trial command ended with {end:?}")),
        }
    }

    /// Whether it is for what is open now and, with `hides`, hides all that is to be hidden.
    pub(super) async fn fits(&self, view: &Arc<View>, hides: Option<&Arc<Hides>>) -> bool {
        if self.roots != roots_of(view) {
            return false;
        }
        let Some(hides) = hides else { return true };
        let (view, hides, known) = (view.clone(), hides.clone(), self.hidden.clone());
        let looked = on_thread(move |_| {
            let found = hidden(&view, &around(&roots_of(&view)), &*hides);
            let is_known = |path: &PathBuf| known.paths.iter().any(|known| path.starts_with(known));
            // What a rule keeps from readers since then can't be allowed any more.
            let stays =
                |path: &PathBuf| found.secrets.contains(path) || !found.paths.contains(path);
            Ok(found.paths.iter().all(is_known) && known.secrets.iter().all(stays))
        });
        // What can't be looked for is no reason to show more.
        looked.await.unwrap_or(false)
    }

    /// Makes the layer show a view, without what an interrupted command left. Gives what it can't show, in words.
    /// Blocking.
    pub(super) fn show(&mut self, view: &View) -> Result<Vec<String>, LayerError> {
        if self.unfinished.is_some() {
            // What is collected and never merged is taken away by the next line.
            self.collect()?;
        }
        let told = self.layer.materialise(view, &mut self.ever)?.told;
        self.keep();
        Ok(told)
    }

    /// What a command that the user allowed to see secrets is shown of what is hidden.
    pub(super) fn unhidden_for(&self, command: &str, context: &Context) -> Vec<PathBuf> {
        if !context.reach.secrets {
            return Vec::new();
        }
        named_by(command, &self.hidden.secrets)
    }

    /// What the unfinished command changed. Blocking.
    pub(super) fn collect(&mut self) -> Result<Collected, LayerError> {
        match self.unfinished.take() {
            Some(Unfinished { view, started }) => {
                let collected = self.layer.collect(&view, started, &mut self.ever);
                self.keep();
                collected
            }
            None => Ok(Collected::default()),
        }
    }

    /// Keeps what builds have seen beside what they built. Without it they would take stale output for fresh, so
    /// there is no build cache any more when that fails.
    fn keep(&mut self) {
        let Some(caches) = &self.caches else { return };
        if let Err(error) = caches.keep(&mut self.ever) {
            tracing::warn!(%error, "the session goes on without build caches");
            self.caches = None;
        }
    }

    /// The variables that point tools to the build caches.
    pub(super) fn cache_variables(&self) -> Vec<(OsString, OsString)> {
        self.caches.as_ref().map(BuildCaches::environment).unwrap_or_default()
    }

    /// Where build caches are seen besides, for what the layer shows now. Blocking.
    pub(super) fn caches_seen_at(&self) -> Vec<(PathBuf, PathBuf)> {
        self.caches.as_ref().map(|caches| caches.seen_at(&self.layer)).unwrap_or_default()
    }

    /// A layer for a command in the background, with what is ignored in ours. Blocking.
    pub(super) fn another_layer(&self, folder: &Path) -> io::Result<Layer> {
        self.layer.fork_to(folder)
    }
}

/// What the commands of a session may see and write, and the folder for layers on a disk. Blocking.
fn plan(settings: &CommandSettings, view: &View, hides: &Hides) -> io::Result<Planned> {
    let disk = LayerFolder::make(settings)?;
    let roots = roots_of(view);
    let around = around(&roots);
    let hidden = hidden(view, &around, hides);
    let outputs = view.outputs().into_iter().flat_map(|outputs| outputs.iter());
    let shown = around.into_iter().chain(outputs.map(|root| root.path().to_owned())).collect();
    let mut limits = Limits::default();
    limits.layer_bytes = settings.layer_bytes.unwrap_or(limits.layer_bytes);
    limits.memory_bytes = settings.memory_bytes.unwrap_or(limits.memory_bytes);
    let (caches, ever) = caches(settings, &roots);
    let plan = Plan {
        roots,
        shown,
        hidden: hidden.paths.clone(),
        caches: caches.as_ref().map(BuildCaches::paths).unwrap_or_default(),
        home: std::env::home_dir(),
        environment: std::env::vars_os().collect(),
        upper: Upper::Memory,
        disk_layers: disk.path().to_owned(),
        limits,
    };
    Ok(Planned { plan, hidden, caches, ever, disk })
}

/// The build caches of these roots, and what builds in them have seen. Without them commands run all the same.
fn caches(settings: &CommandSettings, roots: &[PathBuf]) -> (Option<BuildCaches>, EverDirty) {
    let Some(folder) = &settings.cache_folder else { return (None, EverDirty::default()) };
    let opened = BuildCaches::open(&folder.join("builds"), roots, settings.cache_bytes);
    match opened.and_then(|caches| Ok((caches.ever_dirty()?, caches))) {
        Ok((ever, caches)) => (Some(caches), ever),
        Err(error) => {
            tracing::warn!(%error, "there are no build caches for this session");
            (None, EverDirty::default())
        }
    }
}

/// What lies around the roots and is shown with them.
fn around(roots: &[PathBuf]) -> Vec<PathBuf> {
    let home = std::env::home_dir();
    let all = roots.iter().flat_map(|root| repository::around(root, home.as_deref()));
    let mut outside: Vec<PathBuf> = Vec::new();
    for folder in all {
        if !outside.contains(&folder) {
            outside.push(folder);
        }
    }
    outside
}

/// The words of a failure.
fn words(output: Output) -> String {
    output.text.strip_prefix("Error: ").unwrap_or(&output.text).to_owned()
}
