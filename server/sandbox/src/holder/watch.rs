//! The first process of a command's namespace, while the command runs: it reaps, and counts memory.

use crate::plan::{End, Limits};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, WaitOptions, WaitStatus};
use std::fs;
use std::os::fd::BorrowedFd;
use std::path::Path;

/// How often memory is counted.
const INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// From how many shared bytes on it is worth asking what they are.
const LOOK_CLOSER: u64 = 32 << 20;

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
            let bytes = memory(page);
            if bytes > limits.memory_bytes {
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

/// What the namespace's processes use, in bytes: of each what is its own, and of memory that processes share (of
/// which each may have all) what the largest of them has. Files that are mapped can be given back at any time and
/// are not counted.
fn memory(page: u64) -> u64 {
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let (mut own, mut most_shared): (u64, u64) = (0, 0);
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !name.to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit())) {
            continue;
        }
        let Ok(text) = fs::read_to_string(entry.path().join("statm")) else { continue };
        let mut numbers = text.split(' ').skip(1).map_while(|number| number.parse::<u64>().ok());
        let (Some(resident), Some(shared)) = (numbers.next(), numbers.next()) else { continue };
        own = own.saturating_add(resident.saturating_sub(shared).saturating_mul(page));
        // Files count as shared here; the longer text tells them apart.
        if shared.saturating_mul(page) > LOOK_CLOSER {
            most_shared = most_shared.max(shared_memory(&entry.path()));
        }
    }
    own.saturating_add(most_shared)
}

/// The memory without a file behind it that a process shares, in bytes.
fn shared_memory(process: &Path) -> u64 {
    let text = fs::read_to_string(process.join("status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("RssShmem:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0).saturating_mul(1024)
}
