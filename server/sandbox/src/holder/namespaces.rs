//! The holder's own namespaces: user, mount and IPC, and the network that commands share.
//!
//! Numbers of users and groups mean the same inside as outside.

use super::mounts::{During, last_errno};
use crate::wire::StepFailure;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::ForkResult;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::net::{AddressFamily, SocketType, socket};
use rustix::process::{
    Pid, Signal, WaitOptions, kill_process, set_parent_process_death_signal, waitpid,
};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};

/// Leaves the machine's user, mount and IPC namespaces. The caller is single-threaded.
pub(super) fn enter() -> Result<(), StepFailure> {
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    if uid.is_root() && map_everybody().is_ok() {
        // Files of others behave as they do for root outside.
    } else {
        unshare(CloneFlags::CLONE_NEWUSER).during("making a user namespace")?;
        // Otherwise a process could leave groups that a file's mode shuts out.
        write("/proc/self/setgroups", "deny")?;
        write("/proc/self/uid_map", &format!("{0} {0} 1", uid.as_raw()))?;
        write("/proc/self/gid_map", &format!("{0} {0} 1", gid.as_raw()))?;
    }
    unshare(CloneFlags::CLONE_NEWNS).during("making a mount namespace")?;
    unshare(CloneFlags::CLONE_NEWIPC).during("making an IPC namespace")?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .during("taking the mounts apart from those outside")
}

fn write(path: &str, text: &str) -> Result<(), StepFailure> {
    std::fs::write(path, text).during(format!("writing {path}"))
}

/// A user namespace in which every number is itself. Only root may, and only from outside: so a child that
/// stays outside writes the maps. Fails before anything is unshared, or not at all.
fn map_everybody() -> Result<(), StepFailure> {
    let users = same_numbers("/proc/self/uid_map")?;
    let groups = same_numbers("/proc/self/gid_map")?;
    let capabilities = rustix::thread::capabilities(None).during("reading capabilities")?.effective;
    let needed = rustix::thread::CapabilitySet::SETUID | rustix::thread::CapabilitySet::SETGID;
    if !capabilities.contains(needed) {
        return Err(StepFailure { words: "no right to map users".to_owned(), errno: None });
    }
    let (mut ready, mut tell) = std::io::pipe().during("making a pipe")?;
    let parent = rustix::process::getpid().as_raw_nonzero();
    let child = fork(move || {
        let mut byte = [0];
        let written = ready.read_exact(&mut byte).is_ok()
            && std::fs::write(format!("/proc/{parent}/uid_map"), &users).is_ok()
            && std::fs::write(format!("/proc/{parent}/gid_map"), &groups).is_ok();
        i32::from(!written)
    })?;
    unshare(CloneFlags::CLONE_NEWUSER).during("making a user namespace")?;
    tell.write_all(b"x").during("telling the child to map users")?;
    match waitpid(Some(child), WaitOptions::empty()).during("waiting for the maps")? {
        Some((_, status)) if status.exit_status() == Some(0) => Ok(()),
        _ => Err(StepFailure { words: "mapping users: not permitted".to_owned(), errno: None }),
    }
}

/// The lines of a map, each of whose numbers is itself on both sides.
fn same_numbers(path: &str) -> Result<String, StepFailure> {
    let text = std::fs::read_to_string(path).during(format!("reading {path}"))?;
    let mut lines = String::new();
    for line in text.lines() {
        let mut numbers = line.split_whitespace();
        if let (Some(inside), Some(_), Some(count)) =
            (numbers.next(), numbers.next(), numbers.next())
        {
            lines.push_str(&format!("{inside} {inside} {count}\n"));
        }
    }
    Ok(lines)
}

/// Runs `work` in a child, which ends with the code that it gives.
pub(super) fn fork(work: impl FnOnce() -> i32) -> Result<Pid, StepFailure> {
    #[expect(
        unsafe_code,
        reason = "a child that goes on with this program's state is what is wanted"
    )]
    // SAFETY: the holder has one thread, so no lock is held by another at the time of the fork, and the child
    // may do whatever the parent may.
    let forked = unsafe { nix::unistd::fork() }.during("starting a process")?;
    match forked {
        ForkResult::Child => end_with(work()),
        ForkResult::Parent { child } => Pid::from_raw(child.as_raw()).ok_or_else(no_number),
    }
}

/// Runs `work` in a child that is the first process of a PID namespace and has a copy of the mounts, and ends
/// with the code that it gives.
pub(super) fn fork_first(work: impl FnOnce() -> i32) -> Result<Pid, StepFailure> {
    // Its last fields are for newer kernels; the size says which there are.
    let arguments: [u64; 8] =
        [(libc::CLONE_NEWPID | libc::CLONE_NEWNS) as u64, 0, 0, 0, libc::SIGCHLD as u64, 0, 0, 0];
    #[expect(
        unsafe_code,
        reason = "who unshares a PID namespace for its children has no way back from it"
    )]
    // SAFETY: the arguments outlive the call and their size is told. They ask for a copy of the address space and
    // no stack, which is a fork; that is sound as in `fork`.
    let pid =
        unsafe { libc::syscall(libc::SYS_clone3, arguments.as_ptr(), size_of_val(&arguments)) };
    match pid {
        0 => end_with(work()),
        1.. => i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(no_number),
        _ => Err(last_errno()).during("making a PID namespace"),
    }
}

fn end_with(code: i32) -> ! {
    #[expect(unsafe_code, reason = "the parent's exit handlers are not the child's to run")]
    // SAFETY: `_exit` has no conditions.
    unsafe {
        libc::_exit(code)
    }
}

fn no_number() -> StepFailure {
    StepFailure { words: "starting a process: no number".to_owned(), errno: None }
}

/// A network namespace with a loopback that is up and nothing else. A child makes it, because who leaves the
/// machine's network has no way back.
pub(super) fn loopback() -> Result<OwnedFd, StepFailure> {
    let (mut made, mut tell) = std::io::pipe().during("making a pipe")?;
    let child = fork(move || {
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        let words = unshare(CloneFlags::CLONE_NEWNET)
            .during("making a network namespace")
            .and_then(|()| raise_loopback())
            .err()
            .map_or_else(|| "ok".to_owned(), |failure| failure.words);
        let _ = tell.write_all(words.as_bytes());
        drop(tell);
        // The parent ends this process once it has hold of the namespace.
        loop {
            nix::unistd::pause();
        }
    })?;
    let mut words = String::new();
    let read = made.read_to_string(&mut words).during("asking for the network namespace");
    let path = format!("/proc/{}/ns/net", child.as_raw_nonzero());
    let namespace = read.and_then(|_| match words.as_str() {
        "ok" => File::open(path).during("opening the network namespace"),
        _ => Err(StepFailure { words, errno: None }),
    });
    let _ = kill_process(child, Signal::KILL);
    let _ = waitpid(Some(child), WaitOptions::empty());
    Ok(OwnedFd::from(namespace?))
}

fn raise_loopback() -> Result<(), StepFailure> {
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None).during("opening a socket")?;
    #[expect(unsafe_code, reason = "no library raises an interface")]
    // SAFETY: an `ifreq` of zeroes is a valid one; its name is shorter than its place and ends with a zero; the
    // call reads it, and it outlives the call.
    let done = unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = *from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request)
    };
    if done == 0 { Ok(()) } else { Err(last_errno()).during("raising the loopback") }
}

/// Gives up the user's keys: the kernel's keyrings are no files, and no namespace covers the session's.
pub(super) fn leave_keyrings() {
    const JOIN_SESSION_KEYRING: libc::c_long = 1;
    #[expect(unsafe_code, reason = "no library has keyctl")]
    // SAFETY: the call takes a null name, which asks for a new keyring without one. A kernel without keyrings
    // says no, and has no keys.
    unsafe {
        libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, std::ptr::null::<libc::c_char>());
    }
}

/// Closes what the server's own parent may have left open, or what is not a command's business.
pub(super) fn close_all_but(kept: &[i32]) {
    let mut kept: Vec<u32> = kept.iter().filter_map(|fd| u32::try_from(*fd).ok()).collect();
    kept.sort_unstable();
    let mut next = 0;
    for fd in kept {
        if fd > next {
            close_range(next, fd - 1);
        }
        next = fd + 1;
    }
    close_range(next, u32::MAX);
}

fn close_range(first: u32, last: u32) {
    #[expect(unsafe_code, reason = "what a parent left open has no owner in this program")]
    // SAFETY: called before anything is opened that is used later, or in a child that uses none of what it
    // closes and never runs its owners' drops.
    unsafe {
        libc::syscall(libc::SYS_close_range, first, last, 0);
    }
}
