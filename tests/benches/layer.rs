//! What a command's layer costs: writing it from a view, and collecting what a command left in it. Bars are in the
//! README.
#![expect(clippy::expect_used, reason = "a bench that can't run may say so bluntly")]

#[expect(dead_code, reason = "the other benches use the rest of it")]
mod harness;

use harness::{Bar, Report, Work, shortest};
use ropewalk_tools::layer::{EverDirty, Layer};
use ropewalk_workspace::{Fork, Roots, View, Workspace};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

const WORKS: &[Work] = &[];

const CHANGES: usize = 5_000;

/// A root with 5,000 files in 50 folders, and a layer over it, in memory if the system has a folder there.
struct Bench {
    dir: tempfile::TempDir,
    workspace: Workspace,
}

impl Bench {
    fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let dir = dir.expect("a folder");
        let root = dir.path().join("w");
        for number in 0..CHANGES {
            put(&root, number, "fn before() -> usize { 1 }\n");
        }
        let root = root.canonicalize().expect("the root");
        let workspace = Workspace::new(Roots::new(vec![("w".into(), root)]));
        Self { dir, workspace }
    }

    fn layer(&self) -> Layer {
        let root = self.dir.path().join("w").canonicalize().expect("the root");
        Layer::open(&self.dir.path().join("layer"), &[root]).expect("a layer")
    }

    fn view(&self) -> View {
        Fork::new("s".into()).view(self.workspace.snapshot())
    }

    /// The time that collecting takes after a command wrote files under a folder of the layer.
    fn collect(&self, below: &str, text: &str) -> Duration {
        let runs = (0..5).map(|_| {
            let (mut layer, mut ever, view) = (self.layer(), EverDirty::default(), self.view());
            layer.materialise(&view, &mut ever).expect("the layer can be written");
            let started = SystemTime::now();
            for number in 0..CHANGES {
                put(&self.dir.path().join("layer/0/up").join(below), number, text);
            }
            let start = Instant::now();
            let collected = layer.collect(&view, started, &mut ever).expect("it can be read");
            let took = start.elapsed();
            assert_eq!((collected.proposals.len(), collected.told.len()), (CHANGES, 0));
            took
        });
        runs.min().unwrap_or_default()
    }
}

fn put(folder: &Path, number: usize, text: &str) {
    let path: PathBuf = folder.join(format!("folder{}/file{number}.rs", number % 50));
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).expect("a folder");
    }
    fs::write(path, text).expect("a file");
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn main() {
    harness::main(WORKS, |report: &mut Report| {
        let bench = Bench::new();
        let made = bench.collect("made", "fn made() -> usize { 2 }\n");
        report.row("collect 5,000 new files", milliseconds(made), "ms", Bar::AtMost(30.0));
        let changed = bench.collect("", "fn after() -> usize { 22 }\n");
        report.row("collect 5,000 changed files", milliseconds(changed), "ms", Bar::AtMost(60.0));
        let (mut layer, mut ever) = (bench.layer(), EverDirty::default());
        for number in 0..10 {
            let path = bench.dir.path().join(format!("w/folder{number}/file{number}.rs"));
            let uri = format!("file://{}", path.display());
            bench.workspace.open(&uri, "rust", 1, &harness::code(10_000, "\n"));
        }
        let view = bench.view();
        let first = shortest(5, || {
            layer = bench.layer();
            layer.materialise(&view, &mut ever).expect("the layer can be written")
        });
        report.row("a new layer with 10 dirty files", milliseconds(first), "ms", Bar::AtMost(2.0));
        let again = shortest(20, || layer.materialise(&view, &mut ever).expect("it stands"));
        report.row("the same when it stands", milliseconds(again), "ms", Bar::AtMost(1.0));
    });
}
