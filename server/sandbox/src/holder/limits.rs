//! Bounds of what a process may do once the command runs: rights given up, and limits set.
//!
//! Visibility is not decided here: the mounts say that. Landlock says again, independently of them, where
//! it may write.

use super::mounts::During;
use crate::plan::Limits;
use crate::wire::StepFailure;
use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};
use std::path::Path;

/// Rights of root's that stay where the server runs as root: those by which files of others behave as they do
/// outside. None goes beyond the files that are shown.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID);

/// Makes the kernel, when memory runs out, end commands before anything of the user's.
pub(super) fn be_expendable() {
    // Where it may not be said, the kernel's own choice stands.
    let _ = std::fs::write("/proc/self/oom_score_adj", "800");
}

/// Sets limits on this process and what it starts.
pub(super) fn set(limits: &Limits) -> Result<(), StepFailure> {
    // Address space and data are not limited: programs reserve far more than they use. The watch counts what
    // they use.
    lower(Resource::Nproc, limits.processes).during("limiting processes")?;
    lower(Resource::Fsize, limits.file_bytes).during("limiting files")?;
    // One, not zero: with zero, the kernel still hands a crashed process to the machine's crash handler.
    lower(Resource::Core, 1).during("limiting core dumps")
}

fn lower(resource: Resource, to: u64) -> rustix::io::Result<()> {
    let now = getrlimit(resource);
    let to = Some(now.maximum.map_or(to, |maximum| maximum.min(to)));
    setrlimit(resource, Rlimit { current: to, maximum: to })
}

/// Gives up every right that a command has no use for, for good.
pub(super) fn give_up_rights() -> Result<(), StepFailure> {
    let _ = clear_ambient_capability_set();
    let kept = if rustix::process::geteuid().is_root() { KEPT } else { CapabilitySet::empty() };
    for number in 0..63 {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        if kept.contains(capability) {
            continue;
        }
        // The kernel knows no further ones.
        if remove_capability_from_bounding_set(capability).is_err() {
            break;
        }
    }
    let sets =
        CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).during("giving up capabilities")?;
    set_no_new_privs(true).during("giving up setuid programs")
}

/// Which Landlock the kernel has; 0 is none.
pub(super) fn landlock_abi() -> u32 {
    const VERSION: libc::c_uint = 1;
    #[expect(unsafe_code, reason = "the library does not tell the number")]
    // SAFETY: with this flag the call takes a null pointer and a size of zero, and only answers.
    let abi = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            VERSION,
        )
    };
    u32::try_from(abi).unwrap_or(0)
}

/// Lets this process and what it starts write below `writable` alone, and keeps its signals and its abstract
/// sockets inside. Where the kernel has less of Landlock, that much less is enforced.
pub(super) fn confine<'a>(writable: impl Iterator<Item = &'a Path>) -> Result<(), StepFailure> {
    if landlock_abi() < 2 {
        // The first version forbids every rename from one folder to another.
        return Ok(());
    }
    let failed = |error: &dyn std::fmt::Display| StepFailure {
        words: format!("confining writes by Landlock: {error}"),
        errno: None,
    };
    let write = AccessFs::from_write(ABI::V6);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(write)
        .map_err(|error| failed(&error))?
        .scope(Scope::from_all(ABI::V6))
        .map_err(|error| failed(&error))?
        .create()
        .map_err(|error| failed(&error))?;
    for path in writable {
        let Ok(fd) = PathFd::new(path) else { continue };
        rules = rules.add_rule(PathBeneath::new(fd, write)).map_err(|error| failed(&error))?;
    }
    rules.restrict_self().map_err(|error| failed(&error)).map(|_| ())
}
