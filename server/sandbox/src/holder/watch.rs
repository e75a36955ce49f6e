//! The first process of a command's namespace, while the command runs: it reaps, and counts memory.

use crate::plan::{End, Limits};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, WaitOptions, WaitStatus};
use std::fs;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::str::SplitWhitespace;

/// How often memory is counted.
const INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Waits for the program's end, and ends whatever else there is in the namespace. The holder's end is this
/// process's end too.
pub(super) fn until_end(program: Pid, lifeline: BorrowedFd<'_>, limits: &Limits) -> End {
    let mut children = SigSet::empty();
    children.add(Signal::SIGCHLD);
    let _ = sigprocmask(SigmaskHow::SIG_BLOCK, Some(&children), None);
    let Ok(ended) = SignalFd::with_flags(&children, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
    else {
        return End::Lost("the command could not be watched".to_owned());
    };
    let page = rustix::param::page_size() as u64;
    let end = loop {
        // First, because the program may have ended before anybody listened.
        if let Some(status) = reap(program) {
            break of(status);
        }
        let mut fds = [PollFd::new(&ended, PollFlags::IN), PollFd::new(&lifeline, PollFlags::IN)];
        if poll(&mut fds, Some(&INTERVAL)) == Ok(0) {
            let limit = limits.memory_bytes;
            let too_much = || Some(memory(page, limit)).filter(|bytes| *bytes > limit);
            // Twice, because processes come and go while they are counted.
            if let Some(bytes) = too_much().and_then(|_| too_much()) {
                break End::Memory { bytes };
            }
        }
        if fds.last().is_some_and(|fd| !fd.revents().is_empty()) {
            break End::Lost("the server has ended".to_owned());
        }
        while ended.read_signal().is_ok_and(|signal| signal.is_some()) {}
    };
    // To all but this process. They are gone before the holder learns that this one is.
    let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(-1), Signal::SIGKILL);
    end
}

/// Takes note of ended processes; the program's status, if it is among them.
fn reap(program: Pid) -> Option<WaitStatus> {
    let mut found = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if pid == program {
            found = Some(status);
        }
    }
    found
}

fn of(status: WaitStatus) -> End {
    let left_running = nix::sys::signal::kill(nix::unistd::Pid::from_raw(-1), None).is_ok();
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => End::Exited { code, left_running },
        (_, Some(signal)) => End::Signalled { signal, left_running },
        _ => End::Lost("the program ended in no known way".to_owned()),
    }
}

/// Memory of the namespace's processes, in bytes: what is their own, what they share, and the segments of their IPC
/// namespace, mapped or not. Files in memory without a name are refused to commands, and those with one lie in folders
/// of a bounded size. What the kernel keeps for descriptors is not seen: sockets and pipes hold 0.2 MB each (see
/// `calls.rs`). When the machine's memory runs out of that, the kernel ends commands first (see `limits.rs`).
///
/// Shared memory is counted in steps, each finer than the one before and dearer: the next is taken only if the
/// last says that it is too much. The first counts files that are mapped, which can be given back at any time, and
/// counts shared memory for each that has it; the last counts it once.
fn memory(page: u64, limit: u64) -> u64 {
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let mut own = segments();
    let mut sharing = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !name.to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit())) {
            continue;
        }
        let Some((resident, shared)) = resident(&entry.path(), page) else { continue };
        own = own.saturating_add(resident.saturating_sub(shared));
        sharing.push((entry.path(), shared));
    }
    let sum = |sharing: &[(PathBuf, u64)]| {
        sharing.iter().fold(own, |sum, (_, shared)| sum.saturating_add(*shared))
    };
    // Without files; then of what several map, to each its part.
    for (file, line) in [("status", "RssShmem:"), ("smaps_rollup", "Pss_Shmem:")] {
        if sum(&sharing) <= limit {
            break;
        }
        for (process, shared) in &mut sharing {
            // A number that this kernel does not give counts as before, unless the process is gone.
            *shared = said(&process.join(file), line)
                .unwrap_or_else(|| resident(process, page).map_or(0, |(_, now)| now.min(*shared)));
        }
    }
    sum(&sharing)
}

/// Bytes that a process has in memory, and how much of that is shared or of files, in bytes; None when it is gone.
fn resident(process: &Path, page: u64) -> Option<(u64, u64)> {
    let text = fs::read_to_string(process.join("statm")).ok()?;
    let mut numbers = text.split(' ').skip(1).map_while(|number| number.parse::<u64>().ok());
    let (resident, shared) = (numbers.next()?, numbers.next()?);
    Some((resident.saturating_mul(page), shared.saturating_mul(page)))
}

/// A number of bytes in one of the kernel's lists, which says it in units of 1,024.
fn said(file: &Path, line: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let number = text.lines().find_map(|found| found.strip_prefix(line))?;
    let kib = number.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    Some(kib.saturating_mul(1024))
}

/// Bytes that the shared segments of the IPC namespace hold, in memory and swapped out.
fn segments() -> u64 {
    let text = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let mut lines = text.lines().map(str::split_whitespace);
    let Some(head) = lines.next() else { return 0 };
    let columns: Vec<bool> = head.map(|name| matches!(name, "rss" | "swap")).collect();
    let of = |line: SplitWhitespace<'_>| {
        let numbers = line.zip(&columns).filter(|(_, counts)| **counts);
        numbers.filter_map(|(number, _)| number.parse().ok()).fold(0, u64::saturating_add)
    };
    lines.map(of).fold(0, u64::saturating_add)
}
