//! Processes that a killed keeper has left: the server adopts them, ends them, and waits for each by its number.
//!
//! The server has children of other kinds, which others wait for, and theirs may go on as daemons: neither is touched.
//! A process that some command has started is told by its mark, which it can't take off: a limit that no kernel looks
//! at since Linux 2.4, set one lower than the server's own. The same mark tells what a sandbox's holder has left.

use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, getpgid, getpgrp, getrlimit, kill_process,
    kill_process_group, setrlimit, waitpid,
};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

/// How often it is looked whether somebody is left.
const LOOK: Duration = Duration::from_millis(5);
/// The mark of the server's commands where the server itself has no limit.
const HIGHEST: u64 = 1 << 62;

/// Held while orphans are looked for, so that a number can't become another's between two steps.
static LOOKING: Mutex<()> = Mutex::new(());

/// Makes this process the one that adopts what keepers leave; done once.
pub(crate) fn adopt() {
    static ADOPTING: Once = Once::new();
    ADOPTING.call_once(|| {
        if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
            tracing::warn!(%error, "what a command leaves when its keeper is killed is out of reach");
        }
    });
}

/// Marks this process, and all it will start, as a command's. Between fork and exec: two system calls and nothing else.
pub(crate) fn mark() {
    let limit = getrlimit(Resource::Locks).maximum.unwrap_or(HIGHEST).saturating_sub(1);
    let _ = setrlimit(Resource::Locks, Rlimit { current: Some(limit), maximum: Some(limit) });
}

/// Ends what killed keepers have left, within `patience`. False when some of it is still there.
pub(crate) async fn end_all(patience: Duration) -> bool {
    let gone = async {
        while end_those_now() {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(patience, gone).await.is_ok()
}

/// Kills the orphans there are now and waits for those that have ended. True when some were there: their children are
/// adopted next.
pub(crate) fn end_those_now() -> bool {
    let _looking = LOOKING.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(own) = limit_of("self") else { return false };
    let is_marked = |child: &Pid| {
        limit_of(&child.as_raw_nonzero().to_string()).is_some_and(|limit| limit < own)
    };
    let orphans: Vec<Pid> = children().unwrap_or_default().into_iter().filter(is_marked).collect();
    for orphan in &orphans {
        // A child's number, and that of its group, stay its own until it is waited for, which only the next lines do.
        if let Ok(group) = getpgid(Some(*orphan))
            && group != getpgrp()
        {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = kill_process(*orphan, Signal::KILL);
        let _ = waitpid(Some(*orphan), WaitOptions::NOHANG);
    }
    !orphans.is_empty()
}

/// The limit by which a process is marked, also of one that has ended and was not waited for.
fn limit_of(process: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/limits")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
    match line.split_whitespace().nth(1)? {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    }
}

/// The children of all threads of this process; None when the system does not tell.
pub(crate) fn children() -> Option<Vec<Pid>> {
    // Not every kernel has these lists; all have the longer way.
    listed().or_else(searched)
}

fn listed() -> Option<Vec<Pid>> {
    let mut found = Vec::new();
    for thread in std::fs::read_dir("/proc/self/task").ok()?.flatten() {
        match std::fs::read_to_string(thread.path().join("children")) {
            Ok(list) => found.extend(list.split_whitespace().filter_map(number)),
            // A thread that has ended since has left its children to another.
            Err(_) if !thread.path().exists() => return searched(),
            Err(_) => return None,
        }
    }
    Some(found)
}

fn searched() -> Option<Vec<Pid>> {
    let own = rustix::process::getpid().as_raw_nonzero();
    let is_child = |id: &Pid| {
        let stat = std::fs::read(format!("/proc/{}/stat", id.as_raw_nonzero())).unwrap_or_default();
        // The program's name, in parentheses, may hold anything; then come the state and the parent.
        let end = stat.iter().rposition(|byte| *byte == b')');
        let rest = end.and_then(|end| stat.get(end + 1..)).unwrap_or_default();
        let parent = rest.split(|byte| *byte == b' ').nth(2);
        parent == Some(own.to_string().as_bytes())
    };
    let entries = std::fs::read_dir("/proc").ok()?.flatten();
    let ids = entries.filter_map(|entry| number(entry.file_name().to_str()?));
    Some(ids.filter(is_child).collect())
}

fn number(text: &str) -> Option<Pid> {
    text.parse().ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_found_both_ways() {
        let started = std::thread::spawn(|| {
            let child =
                std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn();
            let mut child = child.unwrap();
            let id = number(&child.id().to_string()).unwrap();
            assert!(children().unwrap().contains(&id));
            assert!(searched().unwrap().contains(&id));
            // It is no command's, so nobody else ends it or waits for it.
            end_those_now();
            assert_eq!(child.try_wait().unwrap(), None);
            drop(child.stdin.take());
            assert!(child.wait().unwrap().success());
        });
        started.join().unwrap();
    }
}
