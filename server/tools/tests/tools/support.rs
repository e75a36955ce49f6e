//! A session's end of a tool call: a workspace over a temporary folder, a fork, and calls that are prepared,
//! run over a view and merged.

use ropewalk_text::decode::encode;
use ropewalk_tools::tool::ReadFilter;
use ropewalk_tools::{
    Bounds, CommandRunner, Context, Grant, NoCommands, Progress, Registry, ToolOutput,
};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::{FileState, Fork, NoEditor, Roots, Workspace};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

pub(crate) struct Bench {
    dir: tempfile::TempDir,
    pub(crate) workspace: Workspace,
    pub(crate) fork: Fork,
    pub(crate) registry: Registry,
    pub(crate) runner: Arc<dyn CommandRunner>,
    pub(crate) bounds: Bounds,
    pub(crate) hides: Arc<ReadFilter>,
    pub(crate) printed: Arc<Mutex<String>>,
    runtime: tokio::runtime::Runtime,
}

impl Bench {
    /// Two roots, `w` with these files and `other`, and beside them a folder that is outside.
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["w", "other", "outside", "outputs"] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
        }
        std::fs::write(dir.path().join("outside/secret.txt"), "outside\n").unwrap();
        let at = |name: &str| dir.path().join(name);
        let roots = Roots::new(vec![("w".into(), at("w")), ("other".into(), at("other"))]);
        let workspace = Workspace::new(roots);
        workspace.set_outputs(Some(Roots::new(vec![("outputs".into(), at("outputs"))])));
        let runner = Arc::new(NoCommands);
        let bench = Self {
            workspace,
            fork: Fork::new("s".into()),
            registry: Registry::standard(runner.clone(), Arc::new(NoEditor)),
            runner,
            bounds: Bounds::default(),
            hides: Arc::new(|_, _| false),
            printed: Arc::default(),
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
            dir,
        };
        for (name, bytes) in files {
            bench.put(name, bytes);
        }
        bench
    }

    /// A path in the first root.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("w").join(name)
    }

    /// A path beside the roots.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Puts a file on the disk.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// The editor opens a file with this text.
    pub(crate) fn open(&self, name: &str, text: &str) {
        let uri = format!("file://{}", self.path(name).display());
        self.workspace.open(&uri, "plain", 1, text);
    }

    /// The editor opens a notebook, of which it tells the cells alone.
    pub(crate) fn open_notebook(&self, name: &str) {
        let uri = format!("vscode-notebook-cell:{}#W0sZmlsZQ%3D%3D", self.path(name).display());
        self.workspace.open(&uri, "python", 1, "1 + 1");
    }

    /// A context over a view of now.
    pub(crate) fn context(&mut self) -> Context {
        self.workspace.look_at_disks();
        self.fork.sync_now(&self.workspace);
        let printed = self.printed.clone();
        let view = Arc::new(self.fork.view(self.workspace.snapshot()));
        Context {
            bounds: self.bounds,
            outputs: Some(self.dir.path().join("outputs")),
            grant: Grant { hides: self.hides.clone(), ..Grant::default() },
            progress: Progress::new(move |text| printed.lock().unwrap().push_str(text)),
            ..Context::new("toolu_01/../x", 1, view)
        }
    }

    /// Waits for a future's result.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Its commands are run by this one.
    pub(crate) fn run_by(&mut self, runner: Arc<dyn CommandRunner>) {
        self.registry = Registry::standard(runner.clone(), Arc::new(NoEditor));
        self.runner = runner;
    }

    /// A call that begins.
    pub(crate) fn begin(
        &self,
        tool: &str,
        input: Value,
        context: Context,
    ) -> impl Future<Output = ToolOutput> + use<> {
        let (tool, call) = self.registry.parse(tool, input).unwrap();
        async move { tool.run_and_tell(call, context).await }
    }

    /// One call, as a session makes it; what it proposes is in the fork afterwards.
    pub(crate) fn call(&mut self, tool: &str, input: Value) -> ToolOutput {
        let context = self.context();
        let view = context.view.clone();
        let output = self.wait(self.begin(tool, input, context));
        assert_eq!(output.is_error, output.words().starts_with("Error: "), "{}", output.words());
        assert!(!output.is_error || output.proposals.is_empty(), "a failure changes nothing");
        let merged = self.fork.merge(
            &self.workspace,
            &view,
            1,
            &Maker::Call("c".into()),
            output.proposals.clone(),
        );
        assert_eq!(merged.refused, []);
        output
    }

    /// Words of a call's result.
    pub(crate) fn say(&mut self, tool: &str, input: Value) -> String {
        self.call(tool, input).words().to_owned()
    }

    /// A file as the next call would see it, in the bytes it would have on the disk.
    pub(crate) fn bytes(&mut self, name: &str) -> Option<Vec<u8>> {
        let context = self.context();
        let place = context.view.contain(name).unwrap();
        match context.view.read(&place).unwrap() {
            FileState::Text { text, format, .. } => Some(encode(&text, format).unwrap()),
            FileState::Binary { len } => Some(format!("{len} bytes").into_bytes()),
            FileState::Missing => None,
        }
    }

    /// The same as text.
    pub(crate) fn text(&mut self, name: &str) -> String {
        String::from_utf8(self.bytes(name).unwrap()).unwrap()
    }
}
