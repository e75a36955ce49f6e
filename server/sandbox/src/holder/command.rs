//! One command: from the holder's fork to the program's start.
//!
//! The first process of its PID namespace lays the overlays, starts the command, and watches it; when it ends,
//! the kernel ends all that are left in the namespace, and the mounts go with them.

use super::mounts::{
    During, HARMLESS, attach, attach_over, copy_of, detach, open_inside, overlay, set_flags,
    special,
};
use super::places::{self, OUTSIDE, PathDisplay, ShownPath};
use super::session::Holder;
use super::{calls, limits, namespaces, root, shown, tools, watch};
use crate::plan::End;
use crate::support::ON_AN_OVERLAY;
use crate::wire::{StepFailure, WireSpec};
use crate::wire_text::WireText;
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, sigprocmask};
use rustix::fs::{Mode, OFlags, ResolveFlags, mkdirat, open, openat2};
use rustix::io::Errno;
use rustix::mount::MountAttrFlags;
use rustix::process::{Pid, set_parent_process_death_signal};
use serde::{Deserialize, Serialize};
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Messages of a command's first process to the holder, a line each.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum CommandMessage {
    /// The program runs.
    Started,
    /// It does not.
    NotStarted(StepFailure),
    /// It ran and ended.
    Ended(End),
}

/// Starts a command's first process.
pub(super) fn start(
    holder: &Holder,
    spec: WireSpec,
    output: &OwnedFd,
    tell: &OwnedFd,
    lifeline: BorrowedFd<'_>,
) -> Result<Pid, StepFailure> {
    namespaces::fork_first(|| first_process(holder, &spec, output, tell, lifeline))
}

/// All that the first process does; gives its exit code.
fn first_process(
    holder: &Holder,
    spec: &WireSpec,
    output: &OwnedFd,
    tell: &OwnedFd,
    lifeline: BorrowedFd<'_>,
) -> i32 {
    crate::orphans::mark();
    let _ = set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    namespaces::close_all_but(&[
        0,
        1,
        2,
        holder.loopback.as_raw_fd(),
        output.as_raw_fd(),
        tell.as_raw_fd(),
        lifeline.as_raw_fd(),
    ]);
    let say = |message: &CommandMessage| {
        let mut line = serde_json::to_vec(message).unwrap_or_default();
        line.push(b'\n');
        tell.try_clone().map(File::from).and_then(|mut tell| tell.write_all(&line)).is_ok()
    };
    let started = prepare(holder, spec).and_then(|laid| begin(holder, spec, &laid, output));
    let end = match started {
        Ok(program) => {
            say(&CommandMessage::Started);
            CommandMessage::Ended(watch::until_end(program, lifeline, &holder.plan.limits))
        }
        Err(failure) => CommandMessage::NotStarted(failure),
    };
    i32::from(!say(&end))
}

/// Makes of the holder's mounts those of the command; gives those outside of roots that may be written.
fn prepare(holder: &Holder, spec: &WireSpec) -> Result<Vec<ShownPath>, StepFailure> {
    // Of its own, so that shared segments go with the command.
    unshare(CloneFlags::CLONE_NEWIPC).during("making an IPC namespace")?;
    if !spec.network {
        setns(&holder.loopback, CloneFlags::CLONE_NEWNET)
            .during("leaving the machine's network")?;
    }
    let outside = root::open_place(OUTSIDE)?;
    let mut laid = holder.root.laid.clone();
    laid.extend(tools::lay_for(holder, spec)?);
    let unhidden = |path: &Path| spec.unhidden.iter().any(|known| path == Path::new(known));
    for path in holder.root.hidden.iter().filter(|path| unhidden(path)) {
        // Paths inside roots were never covered, and neither was what does not exist.
        if !holder.root.inside.iter().any(|place| place.path == *path) {
            let _ = detach(path);
        }
    }
    // A shown folder may hold roots: they come after.
    shown::lay(holder, spec, &laid, &outside)?;
    for (index, root) in holder.plan.roots.iter().enumerate() {
        lay_root(holder, &spec.layer, &outside, index, root)?;
    }
    for (cache, place) in &spec.laid {
        lay_cache(holder, &outside, Path::new(cache), Path::new(place))?;
    }
    let kept = places::kept(&holder.plan);
    for place in &places::inside(&holder.plan.roots, &holder.root.inside, spec) {
        // A root is the command's to write: what is shown or thrown away outside is simply there.
        let wanted = match place.show {
            PathDisplay::Hidden => !unhidden(&place.path),
            PathDisplay::Writable => true,
            PathDisplay::Empty | PathDisplay::ReadOnly | PathDisplay::Throwaway => false,
        };
        if wanted {
            root::lay(place, &kept, &outside)?;
        }
    }
    let top = root::open_place("/")?;
    set_flags(&top, MountAttrFlags::MOUNT_ATTR_RDONLY, false).during("closing the root")?;
    let proc =
        special("proc", &[], MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV)?;
    attach(&proc, Path::new("/proc")).during("mounting /proc")?;
    limit_processes(holder.plan.limits.processes);
    set_flags(&proc, MountAttrFlags::MOUNT_ATTR_RDONLY, true).during("closing /proc")?;
    drop(outside);
    root::leave_private()?;
    Ok(laid)
}

/// Lays one root's overlay at its own path.
pub(super) fn lay_root(
    holder: &Holder,
    layer: &str,
    outside: &OwnedFd,
    index: usize,
    root: &Path,
) -> Result<(), StepFailure> {
    let what = format!("mounting the overlay over {}", root.display());
    let folder = holder.root.layers_path.join(layer).join(index.to_string());
    let opened = |name: &str| {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        open(folder.join(name), flags, Mode::empty())
            .during(format!("{what}: opening {name:?} of the layer {layer:?}"))
    };
    let (up, work) = (opened("up")?, opened("work")?);
    let lower = open_inside(outside.as_fd(), root).during(format!("{what}: opening it"))?;
    let mount = overlay(&lower, &up, &work).map_err(|failure| {
        let hint = if lies_on_an_overlay(&up) {
            format!(" ({ON_AN_OVERLAY})")
        } else {
            let words =
                |path: PathBuf| format!(" (something is mounted inside it, at {})", path.display());
            mounted_inside(root).map_or_else(String::new, words)
        };
        let words = format!("{what}: {}{hint}", failure.words);
        StepFailure { words, ..failure }
    })?;
    // A command may have moved what it is in.
    let place = root::place_for(root, true).during(&what)?;
    attach_over(&mount, &place).during(what)
}

/// Lays a cache over a folder in a root.
fn lay_cache(
    holder: &Holder,
    outside: &OwnedFd,
    cache: &Path,
    place: &Path,
) -> Result<(), StepFailure> {
    let what = format!("laying {} over {}", cache.display(), place.display());
    let inside = |root: &PathBuf| Some((root.clone(), place.strip_prefix(root).ok()?.to_owned()));
    let known = holder.plan.caches.iter().any(|known| known == cache);
    let Some((root, inside)) = holder.plan.roots.iter().find_map(inside).filter(|_| known) else {
        let words = format!("{what}: it is no cache, or that is in no root");
        return Err(StepFailure { words, errno: None });
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = open(&root, flags, Mode::empty()).during(&what)?;
    // A folder that a command left may be a link to anywhere, and the machine's tree is still here.
    let enter = |inside: &Path| {
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        openat2(&root, inside, flags, Mode::empty(), how)
    };
    let folder = match (enter(&inside), inside.parent(), inside.file_name()) {
        (Err(Errno::NOENT), Some(parent), Some(name)) => {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            let made =
                enter(parent).and_then(|parent| mkdirat(&parent, name, Mode::from_raw_mode(0o755)));
            made.and_then(|()| enter(&inside))
        }
        (opened, ..) => opened,
    };
    let Ok(folder) = folder else { return Ok(()) };
    let Ok(source) = open_inside(outside.as_fd(), cache) else { return Ok(()) };
    let copy = copy_of(source.as_fd()).during(&what)?;
    set_flags(&copy, HARMLESS, true).during(&what)?;
    attach_over(&copy, &folder).during(&what)
}

/// True if a layer lies on an overlay: the kernel takes none that does, and its error does not tell.
fn lies_on_an_overlay(layer: &OwnedFd) -> bool {
    rustix::fs::fstatfs(layer).is_ok_and(|found| found.f_type == libc::OVERLAYFS_SUPER_MAGIC)
}

/// Path of a mount inside a folder of the machine, if any: an overlay can't be laid over that.
fn mounted_inside(root: &Path) -> Option<PathBuf> {
    let text = std::fs::read("/proc/self/mountinfo").ok()?;
    let root = places::outside_path(root);
    text.split(|byte| *byte == b'\n').find_map(|line| {
        // The fifth word is the mount point, with odd characters as octal numbers.
        let point = unescape(line.split(|byte| *byte == b' ').nth(4)?);
        let path = Path::new(OsStr::from_bytes(&point));
        let inside = path.starts_with(&root) && path != root;
        inside.then(|| Path::new("/").join(path.strip_prefix(OUTSIDE).unwrap_or(path)))
    })
}

/// A word of `mountinfo` as it is meant.
fn unescape(word: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let code = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|code| u8::from_str_radix(code, 8).ok()) {
            Some(byte) => {
                plain.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                plain.push(*first);
                rest = after;
            }
        }
    }
    plain
}

/// Limits the numbers of the namespace's processes, where the kernel keeps them apart (since Linux 6.14).
fn limit_processes(most: u64) {
    let _ = std::fs::write("/proc/sys/kernel/pid_max", most.max(400).to_string());
}

/// Starts the program; the first process goes on as its parent.
fn begin(
    holder: &Holder,
    spec: &WireSpec,
    laid: &[ShownPath],
    output: &OwnedFd,
) -> Result<Pid, StepFailure> {
    let (mut failed, mut tell) = std::io::pipe().during("making a pipe")?;
    let program = namespaces::fork(move || {
        let failure = become_program(holder, spec, laid, output);
        let _ = tell.write_all(&serde_json::to_vec(&failure).unwrap_or_default());
        127
    })?;
    let mut words = Vec::new();
    failed.read_to_end(&mut words).during("waiting for the program to start")?;
    if words.is_empty() {
        return Ok(program);
    }
    Err(serde_json::from_slice(&words).unwrap_or_else(|_| StepFailure {
        words: "starting the program failed".to_owned(),
        errno: None,
    }))
}

/// Gives up what is not the command's and becomes its program. Returns only if that failed.
fn become_program(
    holder: &Holder,
    spec: &WireSpec,
    laid: &[ShownPath],
    output: &OwnedFd,
) -> StepFailure {
    let ready = || -> Result<(), StepFailure> {
        rustix::process::setsid().during("starting a session")?;
        let nothing = open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .during("opening /dev/null")?;
        rustix::stdio::dup2_stdin(&nothing).during("closing standard input")?;
        rustix::stdio::dup2_stdout(output).during("connecting the output")?;
        rustix::stdio::dup2_stderr(output).during("connecting the output")?;
        rustix::process::umask(holder.umask);
        default_signals();
        let cwd = Path::new(&spec.cwd);
        rustix::process::chdir(cwd).during(format!("entering {}", cwd.display()))?;
        limits::set(&holder.plan.limits)?;
        limits::give_up_rights()?;
        let devices = Path::new("/dev");
        let laid = laid.iter().map(|place| place.path.as_path());
        let roots = holder.plan.roots.iter().map(PathBuf::as_path);
        limits::confine(roots.chain(laid).chain([devices]))?;
        calls::refuse()
    };
    if let Err(failure) = ready() {
        return failure;
    }
    execute(spec)
}

/// Gives signals the meaning that programs expect; this program ignores some.
fn default_signals() {
    for signal in Signal::iterator() {
        #[expect(unsafe_code, reason = "setting a handler is unsafe where it is a function")]
        // SAFETY: the default is no function.
        let _ = unsafe { nix::sys::signal::signal(signal, SigHandler::SigDfl) };
    }
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None);
}

/// Replaces this process by the program, which is looked for as a shell does.
fn execute(spec: &WireSpec) -> StepFailure {
    let unfit =
        |what: &str| StepFailure { words: format!("{what} has a zero byte in it"), errno: None };
    let text = |text: &WireText| CString::new(text.as_bytes());
    let Ok(argv) = spec.argv.iter().map(text).collect::<Result<Vec<_>, _>>() else {
        return unfit("the command");
    };
    let joined = |(name, value): &(WireText, WireText)| {
        CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())
    };
    let Ok(env) = spec.env.iter().map(joined).collect::<Result<Vec<_>, _>>() else {
        return unfit("the environment");
    };
    let Some(program) = spec.argv.first() else { return unfit("the command") };
    let mut reason = nix::errno::Errno::ENOENT;
    for candidate in candidates(program, &spec.env) {
        let Ok(path) = CString::new(candidate.into_os_string().into_vec()) else { continue };
        let Err(errno) = nix::unistd::execve(&path, &argv, &env);
        if errno != nix::errno::Errno::ENOENT && errno != nix::errno::Errno::ENOTDIR {
            reason = errno;
        }
    }
    let failed: Result<(), _> = Err(reason);
    match failed.during(format!("starting {}", Path::new(program).display())) {
        Ok(()) => unfit("the command"),
        Err(failure) => failure,
    }
}

/// The paths under which a program may be.
fn candidates(program: &OsStr, env: &[(WireText, WireText)]) -> Vec<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return vec![PathBuf::from(program)];
    }
    let path = env.iter().find(|(name, _)| **name == *"PATH").map(|(_, value)| &**value);
    let path = path.unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    std::env::split_paths(path).map(|folder| folder.join(program)).collect()
}
