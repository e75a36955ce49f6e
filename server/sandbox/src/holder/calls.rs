//! System calls that commands are refused: doors that no namespace closes, and that tools don't need.
//!
//! Sockets of families that know no network namespaces lead out of the machine or to its host however little network
//! a command has; a ring of calls makes sockets unseen; programs for the kernel, faults handled outside it and its
//! counters are ways to attack it. Files in memory that have no name take memory that no process maps and no mount
//! bounds, so that nothing can count it; `/dev/shm` is there. What sockets hold is not counted either, so the buffers
//! of a socket stay as the kernel makes them: a command that asks for larger ones is told that it has them. With these,
//! 1,024 descriptors were seen to hold 227 MiB, with the largest 8 GiB. Room on a disk is taken by writing alone, which
//! takes time, so that build caches can be measured meanwhile: it is not reserved in one call, and `posix_fallocate`
//! writes instead, as where a file system can't. Everything else is allowed: this is no list of what tools may do.

use super::mounts::last_errno;
use crate::wire::StepFailure;
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

/// Calls that fail, and how. Programs go on without a ring of calls or room that is reserved, and take a file of
/// `/dev/shm` or `/tmp` for one without a name, where the kernel has none.
const REFUSED: &[(c_long, i32)] = &[
    (libc::SYS_io_uring_setup, libc::ENOSYS),
    (libc::SYS_memfd_create, libc::ENOSYS),
    (libc::SYS_memfd_secret, libc::ENOSYS),
    (libc::SYS_fallocate, libc::EOPNOTSUPP),
    (libc::SYS_bpf, libc::EPERM),
    (libc::SYS_perf_event_open, libc::EPERM),
    (libc::SYS_userfaultfd, libc::EPERM),
];

/// An architecture whose programs run here, as the kernel names it to a filter.
struct Architecture {
    /// `AUDIT_ARCH_…` of linux/audit.h: the machine's number in an ELF file, marked for 64 bits and little ends.
    number: u32,
    /// System calls that fail for programs of its older sibling.
    sibling: Sibling,
}

/// The calls of an older set that a processor can run beside its own.
enum Sibling {
    /// All fail.
    Refused,
    /// These fail.
    Without(&'static [u32]),
}

/// How the number of an architecture of 64 bits and little ends is marked.
const MARKS: u32 = 0xc000_0000;

/// By the numbers of the 32-bit set. Sockets are made and set by `socketcall` there, whose arguments a filter can't see,
/// or by calls of their own: they fail altogether. The rest is as in [`REFUSED`].
const X86_64: Architecture = Architecture {
    number: libc::EM_X86_64 as u32 | MARKS,
    sibling: Sibling::Without(&[
        102, // socketcall
        359, // socket
        366, // setsockopt
        425, // io_uring_setup
        356, // memfd_create
        447, // memfd_secret
        324, // fallocate
        357, // bpf
        336, // perf_event_open
        374, // userfaultfd
    ]),
};

const AARCH64: Architecture =
    Architecture { number: libc::EM_AARCH64 as u32 | MARKS, sibling: Sibling::Refused };

/// The one that this program is built for; none where no filter is known.
const OWN: Option<&Architecture> = if cfg!(target_arch = "x86_64") {
    Some(&X86_64)
} else if cfg!(target_arch = "aarch64") {
    Some(&AARCH64)
} else {
    None
};

/// From this number on, calls are those of a third set that x86 has.
const THIRD_SET: u32 = 0x4000_0000;

/// Where the kernel hands over a call's number, its architecture, and the lower halves of its first three arguments.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST: u32 = if cfg!(target_endian = "big") { 20 } else { 16 };
const SECOND: u32 = FIRST + 8;
const THIRD: u32 = FIRST + 16;

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const IS: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const IS_AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

fn step(code: u32, value: u32, yes: usize, no: usize) -> sock_filter {
    let jump = |steps: usize| u8::try_from(steps).unwrap_or(u8::MAX);
    sock_filter { code: code as u16, jt: jump(yes), jf: jump(no), k: value }
}

/// The call is not made. With 0, whoever makes it is told that it was.
fn fail(errno: i32) -> sock_filter {
    let errno = errno.unsigned_abs() & libc::SECCOMP_RET_DATA;
    step(RETURN, libc::SECCOMP_RET_ERRNO | errno, 0, 0)
}

fn allow() -> sock_filter {
    step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0)
}

/// The filter for programs of an architecture, in the kernel's language; none if a number is out of its range.
fn filter(own: &Architecture) -> Option<Vec<sock_filter>> {
    let mut foreign = vec![step(LOAD, NUMBER, 0, 0)];
    match own.sibling {
        Sibling::Refused => foreign.push(fail(libc::ENOSYS)),
        Sibling::Without(numbers) => {
            for number in numbers {
                foreign.extend([step(IS, *number, 0, 1), fail(libc::ENOSYS)]);
            }
            foreign.push(allow());
        }
    }

    let mut steps = vec![step(LOAD, ARCHITECTURE, 0, 0), step(IS, own.number, foreign.len(), 0)];
    steps.append(&mut foreign);
    steps.push(step(LOAD, NUMBER, 0, 0));
    steps.extend([step(IS_AT_LEAST, THIRD_SET, 0, 1), fail(libc::ENOSYS)]);
    for (number, errno) in REFUSED {
        steps.extend([step(IS, u32::try_from(*number).ok()?, 0, 1), fail(*errno)]);
    }
    let buffer = [
        step(LOAD, SECOND, 0, 0),
        step(IS, libc::SOL_SOCKET.cast_unsigned(), 0, 3),
        step(LOAD, THIRD, 0, 0),
        step(IS, libc::SO_SNDBUF.cast_unsigned(), 0, 1),
        fail(0),
        allow(),
    ];
    let set = u32::try_from(libc::SYS_setsockopt).ok()?;
    steps.push(step(IS, set, 0, buffer.len()));
    steps.extend(buffer);
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
pub(super) fn refuse() -> Result<(), StepFailure> {
    let Some(mut steps) = OWN.and_then(filter) else { return Ok(()) };
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
        errno => Err(StepFailure {
            words: format!("refusing system calls: {errno}"),
            errno: Some(errno.raw_os_error()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answer that the kernel would give: the errno; none where the call is made.
    fn answer(
        filter: &[sock_filter],
        architecture: u32,
        number: c_long,
        arguments: [i32; 3],
    ) -> Option<i32> {
        let [first, second, third] = arguments.map(i32::cast_unsigned);
        let (mut at, mut held) = (0, 0);
        loop {
            let sock_filter { code, jt, jf, k } = filter[at];
            at += 1;
            match u32::from(code) {
                LOAD if k == NUMBER => held = u32::try_from(number).unwrap(),
                LOAD if k == ARCHITECTURE => held = architecture,
                LOAD if k == FIRST => held = first,
                LOAD if k == SECOND => held = second,
                LOAD if k == THIRD => held = third,
                IS => at += usize::from(if held == k { jt } else { jf }),
                IS_AT_LEAST => at += usize::from(if held >= k { jt } else { jf }),
                RETURN if k == libc::SECCOMP_RET_ALLOW => return None,
                RETURN => {
                    assert_eq!(k & !libc::SECCOMP_RET_DATA, libc::SECCOMP_RET_ERRNO);
                    return Some(i32::try_from(k & libc::SECCOMP_RET_DATA).unwrap());
                }
                _ => panic!("no step of ours: {code:#x} {k:#x}"),
            }
        }
    }

    // As linux/audit.h has them.
    const X86_64_IN_AUDIT: u32 = 0xc000_003e;
    const I386_IN_AUDIT: u32 = 0x4000_0003;
    const AARCH64_IN_AUDIT: u32 = 0xc000_00b7;
    const ARM_IN_AUDIT: u32 = 0x4000_0028;

    #[test]
    fn each_architecture_has_its_filter() {
        for (own, number) in [(&X86_64, X86_64_IN_AUDIT), (&AARCH64, AARCH64_IN_AUDIT)] {
            let filter = filter(own).unwrap();
            // A jump is no longer than 255 steps.
            assert!(filter.len() < 255);
            let own = |call, first| answer(&filter, number, call, [first, 0, 0]);
            for (call, errno) in REFUSED {
                assert_eq!(own(*call, 0), Some(*errno), "{call}");
            }
            for family in FAMILIES {
                assert_eq!(own(libc::SYS_socket, *family), None, "{family}");
            }
            for (level, option, made) in [
                (libc::SOL_SOCKET, libc::SO_SNDBUF, Some(0)),
                (libc::SOL_SOCKET, libc::SO_REUSEADDR, None),
                (libc::IPPROTO_TCP, libc::SO_SNDBUF, None),
            ] {
                let set = answer(&filter, number, libc::SYS_setsockopt, [3, level, option]);
                assert_eq!(set, made, "{level} {option}");
            }
            let outside = [libc::AF_VSOCK, libc::AF_BLUETOOTH, libc::AF_TIPC, -1, 1 << 16];
            for family in outside {
                assert_eq!(own(libc::SYS_socket, family), Some(libc::EAFNOSUPPORT), "{family}");
            }
            let usual = [libc::SYS_read, libc::SYS_openat, libc::SYS_execve, libc::SYS_clone3];
            for call in usual {
                assert_eq!(own(call, 0), None, "{call}");
                // A third set of calls has the same numbers, marked.
                assert_eq!(own(call | c_long::from(THIRD_SET), 0), Some(libc::ENOSYS), "{call}");
            }
        }
        // By the numbers of the 32-bit sets: exit, read and getpid, and those that are refused.
        const REFUSAL: Option<i32> = Some(libc::ENOSYS);
        let (of_x86, of_arm) = (filter(&X86_64).unwrap(), filter(&AARCH64).unwrap());
        for call in [1, 3, 20] {
            assert_eq!(answer(&of_x86, I386_IN_AUDIT, call, [0; 3]), None, "{call}");
            assert_eq!(answer(&of_arm, ARM_IN_AUDIT, call, [0; 3]), REFUSAL, "{call}");
        }
        for call in [102, 359, 366, 425, 356, 447, 324, 357, 336, 374] {
            assert_eq!(answer(&of_x86, I386_IN_AUDIT, call, [1; 3]), REFUSAL, "{call}");
            assert_eq!(answer(&of_arm, ARM_IN_AUDIT, call, [1; 3]), REFUSAL, "{call}");
        }
    }

    #[test]
    fn the_own_architecture_is_known() {
        let number = OWN.map(|own| own.number);
        let known = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
        assert_eq!(number.is_some(), known);
        // As this program's file says it.
        let own = std::fs::read("/proc/self/exe").unwrap();
        let machine = u32::from(u16::from_le_bytes([own[18], own[19]]));
        assert!(number.is_none_or(|number| number == machine | MARKS), "{machine}");
    }
}
