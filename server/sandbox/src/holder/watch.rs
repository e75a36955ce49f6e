//! The first process of a command's namespace, while the command runs: it reaps, and counts memory.

use crate::plan::{End, Limits};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, WaitOptions, WaitStatus};
use std::fs;
use std::os::fd::BorrowedFd;

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

/// What the namespace's processes use, in bytes: of each what is its own, and what they share once.
fn memory(page: u64) -> u64 {
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let mut used: u64 = 0;
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !name.to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit())) {
            continue;
        }
        let Ok(text) = fs::read_to_string(entry.path().join("statm")) else { continue };
        let mut numbers = text.split(' ').skip(1).map_while(|number| number.parse::<u64>().ok());
        if let (Some(resident), Some(shared)) = (numbers.next(), numbers.next()) {
            used = used.saturating_add(resident.saturating_sub(shared).saturating_mul(page));
        }
    }
    used
}
