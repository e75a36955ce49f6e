//! Cost of a command over a plain one, in a sandbox and kept without one, in median milliseconds, and how soon a
//! killed one is gone. Bars are in tests/benches/README.md.
//!
//! `cargo bench -p ropewalk-sandbox`; the numbers of an unoptimised build (`--profile dev`) differ little, because
//! nearly all of it is the kernel's time.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "benchmarks may be blunt")]

#[path = "../../../tests/benches/harness.rs"]
#[expect(dead_code, reason = "the other benches use the rest of it")]
mod harness;

use harness::{Bar, Report};
use ropewalk_sandbox::{KeptCommand, Outside, Plan, Sandbox, Spec, Upper};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::time::Instant;

const RUNS: usize = 200;

/// As many folders as a session has for its commands: three for those one after the other, and for each of eight in
/// the background.
const CACHES: usize = 27;

fn main() -> ExitCode {
    if let Some(code) = ropewalk_sandbox::helper() {
        return code;
    }
    harness::main(&[], |report| {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap().block_on(all(report));
    });
    ExitCode::SUCCESS
}

async fn all(report: &mut Report) {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let root = home.join("project");
    std::fs::create_dir_all(root.join("src")).unwrap();
    std::fs::create_dir_all(home.join("layers")).unwrap();
    let plan = Plan {
        roots: vec![root.clone()],
        home: Some(home.clone()),
        environment: std::env::vars_os().collect(),
        disk_layers: home.join("layers"),
        ..Plan::default()
    };
    let plain = median(async || {
        tokio::process::Command::new("/bin/true").status().await.unwrap();
    })
    .await;
    report.row("plain spawn", plain, "ms", Bar::Shown);
    let (kept, worst) = measure_kept().await;
    report.row("a kept command over plain", kept - plain, "ms", Bar::AtMost(6.0));
    report.row("killing a kept command, worst", worst, "ms", Bar::AtMost(100.0));
    let mut starting = Vec::new();
    for _ in 0..20 {
        let began = Instant::now();
        drop(Sandbox::start(plan.clone()).await.unwrap());
        starting.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    report.row("starting a sandbox, once per session", middle(starting), "ms", Bar::Shown);
    let (light, worst) = measure(&plan).await;
    report.row("a command over plain, 10 dirty files", light - plain, "ms", Bar::AtMost(6.0));
    report.row("killing a command, worst", worst, "ms", Bar::AtMost(100.0));
    let (disk, _) = measure(&Plan { upper: Upper::Disk, ..plan.clone() }).await;
    report.row("the same with the layer on a disk", disk - plain, "ms", Bar::Shown);
    let caches =
        (0..CACHES).map(|number| home.join(format!("caches/{number}"))).collect::<Vec<_>>();
    for cache in &caches {
        std::fs::create_dir_all(cache).unwrap();
    }
    let more = more(&plan, &Plan { caches, ..plan.clone() }).await;
    report.row("what build caches add", more, "ms", Bar::AtMost(0.3));
    let ballast = vec![1_u8; 1 << 30];
    let (heavy, worst) = measure(&plan).await;
    assert_eq!(std::hint::black_box(&ballast).len(), 1 << 30);
    // A fork of the server itself would cost 20 ms of this.
    report.row("what 1 GiB in the server adds", heavy - light, "ms", Bar::AtMost(2.0));
    report.row("killing a command then, worst", worst, "ms", Bar::AtMost(100.0));
}

/// A sandbox with 10 dirty files in its layer.
async fn started(plan: &Plan) -> Sandbox {
    let sandbox = Sandbox::start(plan.clone()).await.unwrap();
    for part in ["up/src", "work"] {
        std::fs::create_dir_all(sandbox.layers().join("main/0").join(part)).unwrap();
    }
    for index in 0..10 {
        let file = sandbox.layers().join(format!("main/0/up/src/{index}.rs"));
        std::fs::write(file, "fn main() {}\n".repeat(100)).unwrap();
    }
    sandbox
}

fn spec(plan: &Plan, program: &[&str]) -> Spec {
    Spec {
        argv: program.iter().map(Into::into).collect(),
        cwd: plan.roots.first().unwrap().clone(),
        env: Vec::new(),
        output: OwnedFd::from(File::create("/dev/null").unwrap()),
        layer: "main".to_owned(),
        network: false,
        shown: Vec::new(),
        hidden: Vec::new(),
        unhidden: Vec::new(),
        laid: Vec::new(),
        replaced: Vec::new(),
    }
}

/// How much longer `true` takes with the second plan: both in turns, so that what else goes on counts for both.
async fn more(plan: &Plan, other: &Plan) -> f64 {
    let both = [(plan, started(plan).await), (other, started(other).await)];
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        for ((plan, sandbox), times) in both.iter().zip(&mut times) {
            let began = Instant::now();
            sandbox.run(spec(plan, &["/bin/true"])).await.unwrap().wait().await;
            times.push(began.elapsed().as_secs_f64() * 1000.0);
        }
    }
    let [without, with] = times.map(middle);
    with - without
}

/// Runs `true` again and again, and `sleep` to be killed: the median of the first, the worst of the second.
async fn measure(plan: &Plan) -> (f64, f64) {
    let sandbox = started(plan).await;
    let ran = median(async || {
        sandbox.run(spec(plan, &["/bin/true"])).await.unwrap().wait().await;
    })
    .await;
    let mut kills = Vec::new();
    for _ in 0..20 {
        let mut running = sandbox.run(spec(plan, &["/bin/sleep", "1000"])).await.unwrap();
        let began = Instant::now();
        running.kill();
        running.wait().await;
        kills.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    (ran, kills.into_iter().fold(0.0, f64::max))
}

/// The same of commands on the machine itself.
async fn measure_kept() -> (f64, f64) {
    let start = async |program: &[&str]| {
        let command = Outside {
            argv: program.iter().map(Into::into).collect(),
            cwd: "/".into(),
            env: Vec::new(),
            output: OwnedFd::from(File::create("/dev/null").unwrap()),
        };
        KeptCommand::start(command).await.unwrap()
    };
    let ran = median(async || {
        start(&["/bin/true"]).await.wait().await;
    })
    .await;
    let mut kills = Vec::new();
    for _ in 0..20 {
        let mut kept = start(&["/bin/sleep", "1000"]).await;
        let began = Instant::now();
        kept.kill();
        kept.wait().await;
        kills.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    (ran, kills.into_iter().fold(0.0, f64::max))
}

async fn median(work: impl AsyncFn()) -> f64 {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let began = Instant::now();
        work().await;
        times.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    middle(times)
}

fn middle(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}
