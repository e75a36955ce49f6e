//! Harness of the benches: rows with bars, wall time, counts of instructions by callgrind, and
//! texts.
//!
//! Instructions are counted by running the bench itself again under valgrind, with one named piece of work
//! done n times and then 2n times; the difference is free of start-up. Counts hardly vary between runs, so
//! they can carry a bar where wall time on a shared machine can't. There are no statistics here.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A piece of work that callgrind can count: its name, and a function that does it so many times.
pub(crate) struct Work {
    pub(crate) name: &'static str,
    pub(crate) run: fn(u64),
}

/// Bar that a value is held against.
#[derive(Clone, Copy)]
pub(crate) enum Bar {
    AtMost(f64),
    AtLeast(f64),
    /// Worth knowing, held against nothing.
    Shown,
}

/// The rows printed so far.
pub(crate) struct Report {
    works: &'static [Work],
    filter: Option<String>,
    over: usize,
}

/// Runs the bench: `report` prints the rows, unless this is the run that callgrind counts. The arguments may
/// have a part of a row's name: other rows are left out. Ends with code 1 when a value is over its bar.
pub(crate) fn main(works: &'static [Work], report: impl FnOnce(&mut Report)) {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [flag, name, times] = args.as_slice()
        && flag == "--work"
    {
        let work = works.iter().find(|work| work.name == *name).expect("a known piece of work");
        return (work.run)(times.parse().expect("a number of times"));
    }
    println!("{:<44} {:>12} {:<13} {:>12}", "name", "value", "unit", "bar");
    let mut rows = Report { works, filter: args.into_iter().next(), over: 0 };
    report(&mut rows);
    if rows.over > 0 {
        println!("{} over the bar", rows.over);
        std::process::exit(1);
    }
}

impl Report {
    /// True if the row is asked for: its work need not be done otherwise.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|part| name.contains(part.as_str()))
    }

    /// Prints one row.
    pub(crate) fn row(&mut self, name: &str, value: f64, unit: &str, bar: Bar) {
        if !self.wants(name) {
            return;
        }
        let (bar, ok) = match bar {
            Bar::AtMost(most) => (format!("<= {most}"), value <= most),
            Bar::AtLeast(least) => (format!(">= {least}"), value >= least),
            Bar::Shown => (String::new(), true),
        };
        self.over += usize::from(!ok);
        let verdict = if bar.is_empty() {
            ""
        } else if ok {
            "ok"
        } else {
            "OVER"
        };
        let value = if value < 100.0 { format!("{value:.2}") } else { format!("{value:.0}") };
        println!("{name:<44} {value:>12} {unit:<13} {bar:>12} {verdict}");
    }

    /// A row with the instructions that one round of `work` costs, from rounds of `times` and twice as many. Gives them.
    pub(crate) fn instructions(&mut self, work: &str, times: u64, bar: Bar) -> Option<f64> {
        if !self.wants(work) {
            return None;
        }
        assert!(self.works.iter().any(|known| known.name == work), "no work is called {work}");
        let this = std::env::current_exe().expect("this program's path");
        self.counted(work, times, bar, |times| {
            let mut command = Command::new(&this);
            command.args(["--work", work, &times.to_string()]);
            callgrind(&command, |mut counted| {
                let status = counted.stdout(Stdio::null()).status().expect("valgrind starts");
                assert!(status.success(), "{work} under valgrind: {status}");
            })
        })
    }

    /// A row with the instructions of one round of what `count` counts, which is told how many rounds to do.
    pub(crate) fn counted(
        &mut self,
        name: &str,
        times: u64,
        bar: Bar,
        count: impl Fn(u64) -> Option<u64>,
    ) -> Option<f64> {
        if !self.wants(name) {
            return None;
        }
        let (Some(once), Some(twice)) = (count(times), count(2 * times)) else {
            println!("{name:<44} skipped: valgrind is not installed");
            return None;
        };
        let each = twice.saturating_sub(once) as f64 / times as f64;
        self.row(name, each, "instructions", bar);
        Some(each)
    }
}

/// The instructions that `command` takes, which `run` is given so as to be counted, to start it and to wait
/// for its end; None when there is no valgrind.
pub(crate) fn callgrind(command: &Command, run: impl FnOnce(Command)) -> Option<u64> {
    let found = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    if found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return None;
    }
    let log = tempfile::NamedTempFile::new().expect("a file");
    let variables = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let mut counted = Command::new("valgrind");
    counted
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--log-file={}", log.path().display()))
        .arg(command.get_program())
        .args(command.get_args())
        .envs(variables);
    run(counted);
    let words = std::fs::read_to_string(log.path()).expect("valgrind's words");
    let count = words.lines().find_map(|line| line.split_once("Collected :"));
    Some(count.and_then(|(_, n)| n.trim().parse().ok()).expect("callgrind's count"))
}

/// The shortest of some runs of `work`: on a shared machine the others measure the neighbours.
pub(crate) fn shortest<T>(runs: u32, mut work: impl FnMut() -> T) -> Duration {
    let time = |_| {
        let start = Instant::now();
        std::hint::black_box(work());
        start.elapsed()
    };
    (0..runs).map(time).min().unwrap_or_default()
}

/// Gigabytes per second.
pub(crate) fn rate(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64() / 1e9
}

pub(crate) const MEGABYTE: usize = 1 << 20;

/// About what code looks like: lines of 4 to 74 bytes.
pub(crate) fn code(bytes: usize, line_end: &str) -> String {
    let mut out = String::with_capacity(bytes + 100);
    let mut n = 0usize;
    while out.len() < bytes {
        n += 1;
        match n % 5 {
            0 => out.push_str("    }"),
            1 => out.push_str("    if self.window.len() >= size && !open {"),
            2 => out.push_str(&format!("        let value_{n} = compute(input, {});", n * 31 % 97)),
            3 => {
                out.push_str("        // The usual case costs one walk down the tree and one scan.")
            }
            _ => out.push_str("        self.total += value.len();"),
        }
        out.push_str(line_end);
    }
    out
}

/// Places all over a text, the same ones for the same seed.
pub(crate) struct Places(pub(crate) u64);

impl Places {
    pub(crate) fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % below
    }
}
