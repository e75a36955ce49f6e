//! A machine in small, for tests: a home, a root in it, and commands run over the root.

use ropewalk_sandbox::{End, Limits, Plan, Sandbox, Spec};
use std::ffi::OsString;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A home with a project in it.
pub(crate) struct World {
    _folder: Option<TempDir>,
    home: PathBuf,
    root: PathBuf,
    /// The plan; tests change it before they start a sandbox.
    pub(crate) plan: Plan,
}

impl World {
    /// A project `project` in a home.
    pub(crate) fn new() -> World {
        World::named("project")
    }

    /// A project of any name in a home.
    pub(crate) fn named(name: impl AsRef<Path>) -> World {
        let folder = tempfile::tempdir().unwrap();
        let world = World::in_folder(folder.path(), name);
        World { _folder: Some(folder), ..world }
    }

    /// The same in a folder that is somebody else's.
    pub(crate) fn in_folder(folder: &Path, name: impl AsRef<Path>) -> World {
        let folder = folder.canonicalize().unwrap();
        let home = folder.join("home");
        let root = home.join(name);
        let disk_layers = folder.join("layers");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::create_dir_all(&disk_layers).unwrap();
        let limits = Limits {
            layer_bytes: 64 << 20,
            cache_bytes: 16 << 20,
            memory_bytes: 512 << 20,
            processes: 400,
            file_bytes: 1 << 30,
        };
        let plan = Plan {
            roots: vec![root.clone()],
            home: Some(home.clone()),
            disk_layers,
            limits,
            ..Plan::default()
        };
        World { _folder: None, home, root, plan }
    }

    /// Runs a test in a runtime of its own.
    pub(crate) fn run(&mut self, test: impl AsyncFnOnce(&mut World)) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(test(self));
    }

    /// The project.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The home.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Writes a file of the project, on the machine.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Reads a file of the project, on the machine.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.root.join(name)).unwrap()
    }

    /// A sandbox by the plan, with the layer `main`.
    pub(crate) async fn sandbox(&self) -> Sandbox {
        let sandbox = Sandbox::start(self.plan.clone()).await.unwrap();
        self.layer(&sandbox, "main");
        sandbox
    }

    /// Makes a layer.
    pub(crate) fn layer(&self, sandbox: &Sandbox, name: &str) {
        for index in 0..self.plan.roots.len() {
            for part in ["up", "work"] {
                let folder = sandbox.layers().join(name).join(index.to_string()).join(part);
                std::fs::create_dir_all(folder).unwrap();
            }
        }
    }

    /// A command of the shell, in the first root, and where its output can be read.
    pub(crate) fn spec(&self, script: &str) -> (Spec, std::io::PipeReader) {
        let (output, theirs) = std::io::pipe().unwrap();
        let env = [("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"), ("LC_ALL", "C.UTF-8")];
        let mut env: Vec<(OsString, OsString)> =
            env.iter().map(|(name, value)| (name.into(), value.into())).collect();
        env.push(("HOME".into(), self.home.clone().into()));
        let spec = Spec {
            argv: vec!["sh".into(), "-c".into(), script.into()],
            cwd: self.root.clone(),
            env,
            output: OwnedFd::from(theirs),
            layer: "main".to_owned(),
            network: false,
            shown: Vec::new(),
            hidden: Vec::new(),
            unhidden: Vec::new(),
            laid: Vec::new(),
            replaced: Vec::new(),
        };
        (spec, output)
    }

    /// Runs a command of the shell to its end; gives that and what it said.
    pub(crate) async fn sh(&self, sandbox: &Sandbox, script: &str) -> (End, String) {
        let (spec, output) = self.spec(script);
        finish(sandbox, spec, output).await
    }
}

/// Runs a command to its end; gives that and what it said.
pub(crate) async fn finish(
    sandbox: &Sandbox,
    spec: Spec,
    mut output: std::io::PipeReader,
) -> (End, String) {
    let mut running = sandbox.run(spec).await.unwrap();
    let reading = tokio::task::spawn_blocking(move || {
        let mut said = Vec::new();
        output.read_to_end(&mut said).unwrap();
        String::from_utf8_lossy(&said).into_owned()
    });
    let end = running.wait().await;
    (end, reading.await.unwrap())
}
