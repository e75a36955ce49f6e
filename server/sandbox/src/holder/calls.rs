//! System calls that commands are refused: doors that no namespace closes, and that tools don't need.
//!
//! Sockets of families that know no network namespaces lead out of the machine or to its host however little network
//! a command has; a ring of calls makes sockets unseen; programs for the kernel, faults handled outside it and its
//! counters are ways to attack it. Files in memory that have no name take memory that no process maps and no mount
//! bounds, so that nothing can count it; `/dev/shm` is there. Everything else is allowed: this is no list of what tools may do.

use super::mounts::last_errno;
use crate::wire::Failure;
use libc::{c_long, sock_filter, sock_fprog};
use rustix::io::Errno;

/// The families of sockets that there are: all of them are held by a namespace, or by nothing outside a process.
const FAMILIES: &[i32] = &[
    libc::AF_UNIX,
    libc::AF_INET,
    libc::AF_INET6,
    libc::AF_NETLINK,
    libc::AF_PACKET,
    libc::AF_ALG,
];

/// Calls that fail, and how. Programs go on without a ring of calls, and take a file of `/dev/shm` or `/tmp` for one
/// without a name, where the kernel has none.
const REFUSED: &[(c_long, i32)] = &[
    (libc::SYS_io_uring_setup, libc::ENOSYS),
    (libc::SYS_memfd_create, libc::ENOSYS),
    (libc::SYS_memfd_secret, libc::ENOSYS),
    (libc::SYS_bpf, libc::EPERM),
    (libc::SYS_perf_event_open, libc::EPERM),
    (libc::SYS_userfaultfd, libc::EPERM),
];

/// What the kernel calls this architecture, and the calls that fail for programs of its older sibling; None: all do.
#[cfg(target_arch = "x86_64")]
const OWN: Option<(u32, Option<&[u32]>)> =
    // Sockets are made by socketcall there, whose arguments can't be seen, or by socket; then as above.
    Some((0xc000_003e, Some(&[102, 359, 425, 356, 447, 357, 336, 374])));
#[cfg(target_arch = "aarch64")]
const OWN: Option<(u32, Option<&[u32]>)> = Some((0xc000_00b7, None));
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const OWN: Option<(u32, Option<&[u32]>)> = None;

/// From this number on, calls are those of a third set that x86 has.
const THIRD_SET: u32 = 0x4000_0000;

/// Where the kernel hands over a call's number, its architecture, and the lower half of its first argument.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST: u32 = if cfg!(target_endian = "big") { 20 } else { 16 };

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const IS: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const IS_AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

fn step(code: u32, value: u32, yes: usize, no: usize) -> sock_filter {
    let jump = |steps: usize| u8::try_from(steps).unwrap_or(u8::MAX);
    sock_filter { code: code as u16, jt: jump(yes), jf: jump(no), k: value }
}

fn fail(errno: i32) -> sock_filter {
    let errno = errno.unsigned_abs() & libc::SECCOMP_RET_DATA;
    step(RETURN, libc::SECCOMP_RET_ERRNO | errno, 0, 0)
}

fn allow() -> sock_filter {
    step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0)
}

/// The filter, in the kernel's language; none for an architecture that is not known.
fn filter() -> Option<Vec<sock_filter>> {
    let (own, sibling) = OWN?;
    let mut foreign = vec![step(LOAD, NUMBER, 0, 0)];
    for number in sibling.unwrap_or_default() {
        foreign.extend([step(IS, *number, 0, 1), fail(libc::ENOSYS)]);
    }
    foreign.push(if sibling.is_some() { allow() } else { fail(libc::ENOSYS) });

    let mut steps = vec![step(LOAD, ARCHITECTURE, 0, 0), step(IS, own, foreign.len(), 0)];
    steps.append(&mut foreign);
    steps.push(step(LOAD, NUMBER, 0, 0));
    steps.extend([step(IS_AT_LEAST, THIRD_SET, 0, 1), fail(libc::ENOSYS)]);
    for (number, errno) in REFUSED {
        steps.extend([step(IS, u32::try_from(*number).ok()?, 0, 1), fail(*errno)]);
    }
    let socket = u32::try_from(libc::SYS_socket).ok()?;
    steps.extend([step(IS, socket, 1, 0), allow(), step(LOAD, FIRST, 0, 0)]);
    for family in FAMILIES {
        steps.extend([step(IS, family.unsigned_abs(), 0, 1), allow()]);
    }
    steps.push(fail(libc::EAFNOSUPPORT));
    Some(steps)
}

/// Refuses them to this process and what it starts, for good. It must have given up setuid programs. A kernel that
/// can't is as it is.
pub(super) fn refuse() -> Result<(), Failure> {
    let Some(mut steps) = filter() else { return Ok(()) };
    let program = sock_fprog {
        len: u16::try_from(steps.len()).unwrap_or_default(),
        filter: steps.as_mut_ptr(),
    };
    #[expect(unsafe_code, reason = "no library that is here sets a filter")]
    // SAFETY: the call reads `program` and the steps it points to, as many as it says; both outlive it.
    let done =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    match last_errno() {
        _ if done == 0 => Ok(()),
        Errno::INVAL | Errno::NOSYS => Ok(()),
        errno => Err(Failure {
            words: format!("refusing system calls: {errno}"),
            errno: Some(errno.raw_os_error()),
        }),
    }
}
