//! Costs of a command's layer: writing it from a view, and collecting the changes that a command
//! left in it. Bars are in the README.
#![expect(clippy::expect_used, reason = "a bench that can't run may say so bluntly")]

#[expect(dead_code, reason = "the other benches use the rest of it")]
mod harness;

use harness::{Bar, Report, Work, shortest};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use ropewalk_commands::layer::{BuildInputs, Layer};
use ropewalk_workspace::{Fork, Roots, View, Workspace};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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

    /// The time that collecting takes after a command wrote files under a folder of the layer: by the clock, and of
    /// the processors. On a busy machine the second says more.
    fn collect(&self, below: &str, text: &str) -> (Duration, Duration) {
        let runs = (0..10).map(|_| {
            let (mut layer, mut ever, view) = (self.layer(), BuildInputs::default(), self.view());
            layer.materialise(&view, &mut ever).expect("the layer can be written");
            let started = ropewalk_commands::layer::file_time();
            for number in 0..CHANGES {
                put(&self.dir.path().join("layer/0/up").join(below), number, text);
            }
            let (start, processors) = (Instant::now(), processor_time());
            let collected = layer.collect(&view, started, &mut ever).expect("it can be read");
            let took = (start.elapsed(), processor_time() - processors);
            assert_eq!((collected.proposals.len(), collected.told.len()), (CHANGES, 0));
            took
        });
        runs.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1))).unwrap_or_default()
    }
}

/// Time that this process has had of the processors.
fn processor_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the system's count");
    let all = usage.user_time() + usage.system_time();
    Duration::from_micros(all.num_microseconds().unsigned_abs())
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
        let made = ("made", "collect 5,000 new files");
        let changed = ("", "collect 5,000 changed files");
        for (below, name) in [made, changed] {
            if report.wants(name) {
                let (took, processors) = bench.collect(below, "fn after() -> usize { 22 }\n");
                report.row(name, milliseconds(took), "ms", Bar::AtMost(30.0));
                let name = format!("{name}, of the processors");
                report.row(&name, milliseconds(processors), "ms", Bar::Shown);
            }
        }
        let (mut layer, mut ever) = (bench.layer(), BuildInputs::default());
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
