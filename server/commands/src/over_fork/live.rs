//! The sandbox of a session with its layer: started by what is open, tried out, shown a view, collected.

use crate::folders::{LayerFolder, UncollectedCommand, roots_of};
use crate::hidden::{HiddenFiles, Hiding};
use crate::layer::{
    BuildCaches, BuildInputs, Layer, LayerChanges, LayerError, file_time, redacted_outside,
};
use crate::over_fork::attended::MaskedPaths;
use crate::{BUILDS, CommandSettings, repository};
use ropewalk_sandbox::{End, LayerRoom, Limits, Plan, Sandbox, Spec, Upper};
use ropewalk_tools::blocking::on_thread;
use ropewalk_tools::policy::is_sensitive;
use ropewalk_tools::tool::{Context, ToolOutput};
use ropewalk_workspace::View;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest that build caches are not looked at.
const HOUR: Duration = Duration::from_secs(3600);

/// See the module.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) sandbox: Arc<Sandbox>,
    /// Files that were hidden from the last command, unless it was allowed to see them by name.
    pub(super) hidden: HiddenFiles,
    hiding: Hiding,
    /// Words already said about files that could not be hidden.
    said: Vec<String>,
    pub(super) has_run: bool,
    /// The command whose changes nobody has collected yet.
    pub(super) unfinished: Option<UncollectedCommand>,
    layer: Layer,
    built: BuildState,
    /// When to look at the size of build caches again.
    measure: Option<Instant>,
    roots: Vec<PathBuf>,
    /// Folders around the roots that are shown with them.
    around: Vec<PathBuf>,
    /// Our own folders.
    private: Vec<PathBuf>,
    /// True if a command was ended because layers on a disk hold too much: the next one would be, too.
    pub(super) is_full: bool,
    /// The most bytes that layers may hold.
    layer_bytes: u64,
    /// Where layers lie if they are on a disk.
    disk: Arc<LayerFolder>,
}

struct SandboxSetup {
    plan: Plan,
    around: Vec<PathBuf>,
    built: BuildState,
    disk: LayerFolder,
}

impl Live {
    /// Starts a sandbox over what is open. The error says what failed.
    pub(super) async fn start(
        settings: &Arc<CommandSettings>,
        view: &Arc<View>,
    ) -> Result<Self, String> {
        let (settings, view) = (settings.clone(), view.clone());
        let private = settings.private.clone();
        let planned = on_thread(move |_| plan(&settings, &view).map_err(ToolOutput::error));
        let SandboxSetup { plan, around, built, disk } = planned.await.map_err(words)?;
        let (roots, layer_bytes) = (plan.roots.clone(), plan.limits.layer_bytes);
        let sandbox = Sandbox::start(plan).await.map_err(|error| error.to_string())?;
        let (folder, over) = (sandbox.layers().join(super::MAIN), roots.clone());
        let opened = on_thread(move |_| Layer::open(&folder, &over).map_err(ToolOutput::error));
        let mut layer = opened.await.map_err(words)?;
        layer.look_outside(sandbox.scratch());
        Ok(Self {
            sandbox: Arc::new(sandbox),
            hidden: HiddenFiles::default(),
            hiding: Hiding::default(),
            said: Vec::new(),
            has_run: false,
            unfinished: None,
            layer,
            built,
            measure: None,
            roots,
            around,
            private,
            is_full: false,
            layer_bytes,
            disk: Arc::new(disk),
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
            hidden: Vec::new(),
            unhidden: Vec::new(),
            laid: Vec::new(),
            replaced: Vec::new(),
        };
        let mut running = self.sandbox.run(spec).await.map_err(|error| error.to_string())?;
        match running.wait().await {
            End::Exited { code: 0, .. } => Ok(()),
            end => Err(format!("a trial command ended with {end:?}")),
        }
    }

    /// True if its roots are the folders that are open now.
    pub(super) fn fits(&self, view: &View) -> bool {
        self.roots == roots_of(view)
    }

    /// Makes the layer show a view to a command, without what an interrupted one left. Blocking.
    pub(super) fn show(
        &mut self,
        command: &str,
        context: &Context,
    ) -> Result<ShownView, LayerError> {
        if self.unfinished.is_some() {
            // Changes that are collected and never merged are taken away by the next line.
            self.collect()?;
        }
        let mut shown = self.hide(command, context);
        self.layer.veil(&shown.veil.hidden);
        self.layer.redact_accounts(&self.hidden.repositories);
        shown.told.extend(self.layer.materialise(&context.view, &mut self.built.ever)?.told);
        self.built.begins();
        Ok(shown)
    }

    /// Finds out what a command is not to see. One that the user allowed to see secrets is shown those that it names,
    /// in the open folders and outside. Our own folders are not to be seen by any.
    fn hide(&mut self, command: &str, context: &Context) -> ShownView {
        self.has_run = true;
        self.hidden = self.hiding.now(&context.view, &self.around, &context.grant.hides);
        let mut told = self.hidden.told.clone();
        told.retain(|words| !self.said.contains(words));
        self.said.clone_from(&self.hidden.told);
        let is_ours = |path: &Path| self.private.iter().any(|private| path.starts_with(private));
        let is_allowed = |path: &&PathBuf| {
            context.grant.reach.secrets && is_sensitive(&path.to_string_lossy()) && !is_ours(path)
        };
        let unhidden = context.grant.reach.outside.iter().filter(is_allowed).cloned().collect();
        let hidden = self.hidden.for_command(command, &context.grant.reach);
        let replaced = self.without_accounts(&context.grant.reach.outside);
        ShownView { veil: MaskedPaths { hidden, unhidden, replaced }, told }
    }

    /// The settings of repositories around the roots, and of those that a command names, without what opens accounts.
    fn without_accounts(&self, named: &[PathBuf]) -> Vec<(PathBuf, Vec<u8>)> {
        let in_root = |path: &Path| self.roots.iter().any(|root| path.starts_with(root));
        let mut folders = self.around.clone();
        folders.extend(self.hidden.repositories.iter().filter(|git| !in_root(git)).cloned());
        folders.extend(named.iter().map(|path| path.join(".git")));
        folders.extend(named.iter().flat_map(|path| path.ancestors()).map(Path::to_owned));
        let mut found = redacted_outside(folders);
        found.retain(|(path, _)| !in_root(path));
        found
    }

    /// The command that was to run next never did.
    pub(super) fn never_ran(&mut self) {
        self.unfinished = None;
        self.built.ended();
    }

    /// Collects the unfinished command's changes. If that fails, its builds go when the caches are opened
    /// again. Blocking.
    pub(super) fn collect(&mut self) -> Result<LayerChanges, LayerError> {
        match self.unfinished.take() {
            Some(UncollectedCommand { view, started }) => {
                let collected = self.layer.collect(&view, started, &mut self.built.ever)?;
                self.built.ended();
                Ok(collected)
            }
            None => Ok(LayerChanges::default()),
        }
    }

    /// Where builds go. Blocking.
    pub(super) fn builds(&self) -> Builds {
        self.built.builds(&self.layer, &self.hidden)
    }

    /// Empties build caches that have grown beyond their bound; at once if that was seen. Not while another command
    /// of the session may be building. Blocking.
    pub(super) fn keep_caches_within(&mut self, was_seen: bool) {
        let Some(caches) = &self.built.caches else { return };
        let began = Instant::now();
        let is_due = was_seen || self.measure.is_none_or(|due| due <= began);
        if !is_due || Arc::strong_count(&self.sandbox) > 1 {
            return;
        }
        if let Err(error) = caches.keep_within() {
            tracing::warn!(%error, "build caches may be larger than they should be");
        }
        // Looking costs a twentieth of the time at most.
        self.measure = Some(Instant::now() + began.elapsed().saturating_mul(20).min(HOUR));
    }

    /// Makes a layer for a command in the background, with the ignored files of ours, and caches that no
    /// other command has. Shows the view. Blocking.
    pub(super) fn beside(
        &mut self,
        folder: &Path,
        command: &str,
        context: &Context,
    ) -> Result<BackgroundLayer, LayerError> {
        let mut shown = self.hide(command, context);
        let view = &context.view;
        let own = LayerFolder::at(folder.to_owned());
        // Files that come along leave room for the command's own.
        let most = room_of(&self.sandbox).map_or(self.layer_bytes / 4, |room| room.free / 2);
        let mut layer = self.layer.fork_to(folder, most).map_err(LayerError::at(folder))?;
        let mut built = BuildState::of(self.built.caches.as_ref().and_then(BuildCaches::another));
        // Ignored files of the layer were built from files that our commands have seen.
        built.ever.take_in(&self.built.ever);
        layer.veil(&shown.veil.hidden);
        layer.redact_accounts(&self.hidden.repositories);
        shown.told.extend(layer.materialise(view, &mut built.ever)?.told);
        built.begins();
        let builds = built.builds(&layer, &self.hidden);
        let unfinished = Some(UncollectedCommand { view: view.clone(), started: file_time() });
        let (sandbox, disk) = (self.sandbox.clone(), self.disk.clone());
        Ok(BackgroundLayer {
            sandbox,
            builds,
            shown,
            layer,
            built,
            unfinished,
            _folder: own,
            _disk: disk,
        })
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // Changes of an interrupted command are dropped, but its builds are known by them.
        if let Err(error) = self.collect() {
            tracing::debug!(%error, "what an interrupted command changed is not known");
        }
    }
}

/// How a view is shown to a command.
#[derive(Debug, Default)]
pub(super) struct ShownView {
    pub(super) veil: MaskedPaths,
    /// Files it can't show, and files that could not be hidden, in words.
    pub(super) told: Vec<String>,
}

/// Layer and caches of a command in the background.
pub(super) struct BackgroundLayer {
    pub(super) sandbox: Arc<Sandbox>,
    /// Where builds go.
    pub(super) builds: Builds,
    pub(super) shown: ShownView,
    layer: Layer,
    built: BuildState,
    /// The command, until it was collected.
    unfinished: Option<UncollectedCommand>,
    _folder: LayerFolder,
    /// Where that lies, also when the session has left it.
    _disk: Arc<LayerFolder>,
}

impl BackgroundLayer {
    /// The command never ran.
    pub(super) fn never_ran(&mut self) {
        self.unfinished = None;
        self.built.ended();
    }

    /// Collects the command's changes. Blocking.
    pub(super) fn collect(&mut self) -> Result<LayerChanges, LayerError> {
        let Some(UncollectedCommand { view, started }) = self.unfinished.take() else {
            return Ok(LayerChanges::default());
        };
        let collected = self.layer.collect(&view, started, &mut self.built.ever)?;
        self.built.ended();
        Ok(collected)
    }
}

impl Drop for BackgroundLayer {
    fn drop(&mut self) {
        if let Err(error) = self.collect() {
            tracing::debug!(%error, "what a command that was stopped changed is not known");
        }
    }
}

/// The room for layers. What a disk has is everybody's, and says nothing of them.
pub(super) fn room_of(sandbox: &Sandbox) -> Option<LayerRoom> {
    (sandbox.upper() == Upper::Memory).then(|| sandbox.room())
}

/// Where the builds of a command go.
#[derive(Debug, Default)]
pub(super) struct Builds {
    /// The variables that point tools there.
    pub(super) variables: Vec<(OsString, OsString)>,
    /// Which folders are seen at which places besides.
    pub(super) laid: Vec<(PathBuf, PathBuf)>,
}

/// Build caches, and what builds in them have seen.
#[derive(Debug)]
struct BuildState {
    /// Without, builds go into the layer.
    caches: Option<BuildCaches>,
    ever: BuildInputs,
}

impl BuildState {
    fn of(caches: Option<BuildCaches>) -> Self {
        let Some(caches) = caches else { return Self { caches, ever: BuildInputs::default() } };
        match caches.ever_dirty() {
            Ok(ever) => Self { caches: Some(caches), ever },
            Err(error) => {
                tracing::warn!(%error, "a build cache can't be used");
                Self::of(None)
            }
        }
    }

    /// A command is about to run.
    fn begins(&mut self) {
        self.keep(BuildCaches::begins);
    }

    /// It was collected, or never ran.
    fn ended(&mut self) {
        self.keep(BuildCaches::ended);
    }

    /// Keeps what builds have seen beside what they built. Without it they would take stale output for fresh, so
    /// there is no build cache any more when that fails.
    fn keep(&mut self, how: impl FnOnce(&BuildCaches, &mut BuildInputs) -> io::Result<()>) {
        let Some(caches) = &self.caches else { return };
        if let Err(error) = how(caches, &mut self.ever) {
            tracing::warn!(%error, "commands go on without a build cache");
            self.caches = None;
        }
    }

    fn builds(&self, layer: &Layer, hidden: &HiddenFiles) -> Builds {
        let Some(caches) = &self.caches else { return Builds::default() };
        let laid = caches.seen_at(layer, &hidden.projects);
        Builds { variables: caches.environment(), laid }
    }
}

/// Plans what the commands of a session may see and write, and the folder for layers on a disk. Blocking.
fn plan(settings: &CommandSettings, view: &View) -> io::Result<SandboxSetup> {
    let disk = LayerFolder::make(settings)?;
    let roots = roots_of(view);
    let around = around(&roots);
    let outputs = view.outputs().into_iter().flat_map(|outputs| outputs.iter());
    let shown = around.iter().cloned().chain(outputs.map(|root| root.path().to_owned())).collect();
    let mut limits = Limits::default();
    limits.layer_bytes = settings.layer_bytes.unwrap_or(limits.layer_bytes);
    limits.memory_bytes = settings.memory_bytes.unwrap_or(limits.memory_bytes);
    limits.cache_bytes = settings.cache_bytes;
    let mut built = BuildState::of(caches(settings, &roots));
    built.ever.forget_saved(&roots);
    let paths = built.caches.as_ref().map(BuildCaches::paths).unwrap_or_default();
    // A user who works on our own files has them as a root.
    let private = settings.private.iter().filter(|path| !roots.contains(path)).cloned();
    let plan = Plan {
        hidden: private.collect(),
        links: links(view),
        roots,
        shown,
        caches: paths,
        home: std::env::home_dir(),
        environment: std::env::vars_os().collect(),
        upper: settings.upper,
        disk_layers: disk.path().to_owned(),
        limits,
    };
    Ok(SandboxSetup { plan, around, built, disk })
}

/// The paths under which roots were opened through links, as the user's tools may have written them down.
fn links(view: &View) -> Vec<(PathBuf, PathBuf)> {
    let is_plain = |path: &Path| {
        path.is_absolute() && !path.components().any(|part| part == Component::ParentDir)
    };
    let linked = view.roots().iter().filter(|root| root.given() != root.path());
    let linked = linked.filter(|root| is_plain(root.given()));
    linked.map(|root| (root.given().to_owned(), root.path().to_owned())).collect()
}

/// The build caches of these roots. Without them commands run all the same.
fn caches(settings: &CommandSettings, roots: &[PathBuf]) -> Option<BuildCaches> {
    let folder = settings.cache_folder.as_ref()?.join(BUILDS);
    let opened = BuildCaches::open(&folder, roots, settings.cache_bytes);
    let warn = |error| tracing::warn!(%error, "there are no build caches for this session");
    opened.map_err(warn).ok()
}

/// Folders around the roots that are shown with them.
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
fn words(output: ToolOutput) -> String {
    output.words().trim_start_matches("Error: ").to_owned()
}
