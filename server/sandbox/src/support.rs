//! Abilities of this machine, found by trying, and remedies where it lacks one.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// Where layers lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Upper {
    /// In memory: quick.
    #[default]
    Memory,
    /// In a folder on a disk.
    Disk,
}

/// How a failure says that layers would lie on an overlay, which the kernel refuses.
#[cfg(target_os = "linux")]
pub(crate) const ON_AN_OVERLAY: &str = "what commands write would lie on an overlay itself";

/// Abilities found by trying.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Abilities {
    pub(crate) upper: Upper,
    pub(crate) landlock: u32,
}

/// Abilities that commands over the fork have on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Support {
    /// Where layers lie.
    pub upper: Upper,
    /// The version of Landlock's interface, 0 for none. From 2 on, writes are confined a second time,
    /// independently of the mounts.
    pub landlock: u32,
}

impl Support {
    /// True if a command that has the machine's network is kept from sockets that lie in no folder, such as those
    /// of X11 and D-Bus. Without the network it never reaches them.
    pub fn keeps_abstract_sockets(&self) -> bool {
        // The version that brought scopes.
        self.landlock >= 6
    }
}

/// Why commands can't run over the fork on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// The step that failed.
    pub why: String,
    /// Remedy, for a person.
    pub mend: String,
}

/// Tries, once per process, whether commands can run over the fork here. Takes some milliseconds the first time.
///
/// # Errors
/// The failure and its remedy.
pub fn probe() -> BoxFuture<'static, &'static Result<Support, Unsupported>> {
    Box::pin(async move {
        static FOUND: tokio::sync::OnceCell<Result<Support, Unsupported>> =
            tokio::sync::OnceCell::const_new();
        FOUND.get_or_init(attempt).await
    })
}

#[cfg(not(target_os = "linux"))]
async fn attempt() -> Result<Support, Unsupported> {
    Err(Unsupported {
        why: "commands run in a sandbox only on Linux".to_owned(),
        mend: "Elsewhere, commands run on a copy of the files or in place.".to_owned(),
    })
}

#[cfg(target_os = "linux")]
async fn attempt() -> Result<Support, Unsupported> {
    match crate::server::trial::run().await {
        Ok(found) => Ok(Support { upper: found.upper, landlock: found.landlock }),
        Err(error) => {
            let errno = match &error {
                crate::SandboxError::Failed { errno, .. } => *errno,
                crate::SandboxError::Unfit(_) | crate::SandboxError::Ended => None,
            };
            let why = error.to_string();
            let mend = mend(&why, errno, &Machine::read());
            Err(Unsupported { why, mend })
        }
    }
}

/// Settings of the machine that bear on the matter.
#[cfg(target_os = "linux")]
#[derive(Debug, Default)]
struct Machine {
    /// `kernel.apparmor_restrict_unprivileged_userns` is 1.
    apparmor: bool,
    /// `kernel.unprivileged_userns_clone` is 0.
    clone_forbidden: bool,
    /// `user.max_user_namespaces` is 0.
    no_namespaces: bool,
    /// This is a container.
    container: bool,
    /// This executable.
    executable: String,
}

#[cfg(target_os = "linux")]
impl Machine {
    fn read() -> Machine {
        let is = |path: &str, value: &str| {
            std::fs::read_to_string(path).is_ok_and(|text| text.trim() == value)
        };
        let container = ["/.dockerenv", "/run/.containerenv"];
        let executable = std::env::current_exe();
        Machine {
            apparmor: is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
            clone_forbidden: is("/proc/sys/kernel/unprivileged_userns_clone", "0"),
            no_namespaces: is("/proc/sys/user/max_user_namespaces", "0"),
            container: container.iter().any(|path| std::path::Path::new(path).exists()),
            executable: executable
                .map_or_else(|_| "ropewalk".to_owned(), |path| path.display().to_string()),
        }
    }
}

/// Remedy for a failure, for a person.
#[cfg(target_os = "linux")]
fn mend(why: &str, errno: Option<i32>, machine: &Machine) -> String {
    if machine.no_namespaces || errno == Some(libc::ENOSPC) {
        return "User namespaces are switched off. Allow them: \
                sudo sysctl user.max_user_namespaces=15000 \
                (and put the line user.max_user_namespaces=15000 into /etc/sysctl.d/60-ropewalk.conf)."
            .to_owned();
    }
    if machine.clone_forbidden {
        return "User namespaces are for root alone. Allow them: \
                sudo sysctl kernel.unprivileged_userns_clone=1 \
                (and put the line kernel.unprivileged_userns_clone=1 into /etc/sysctl.d/60-ropewalk.conf)."
            .to_owned();
    }
    if machine.apparmor {
        return format!(
            "AppArmor restricts user namespaces. Allow them to this program: write the following to \
             /etc/apparmor.d/ropewalk and run \"sudo apparmor_parser -r /etc/apparmor.d/ropewalk\".\n\
             abi <abi/4.0>,\n\
             include <tunables/global>\n\
             profile ropewalk \"{}\" flags=(unconfined) {{\n  userns,\n}}",
            machine.executable
        );
    }
    if machine.container && matches!(errno, Some(libc::EPERM | libc::EACCES)) {
        return "The container forbids namespaces. Start it with --security-opt seccomp=unconfined \
                --security-opt apparmor=unconfined --security-opt systempaths=unconfined \
                (in devcontainer.json: \"runArgs\")."
            .to_owned();
    }
    if why.contains(ON_AN_OVERLAY) {
        return "Before Linux 6.6, what commands write is kept on a disk, and that disk can't be an overlay, as a \
                container's is. Set XDG_CACHE_HOME (or, where that is no folder, TMPDIR) to a folder on another file \
                system, such as a volume of the container; or use Linux 6.6 or newer, which keeps it in memory."
            .to_owned();
    }
    if why.contains("overlay") {
        return match errno {
            Some(libc::ENODEV) => "The kernel has no overlay file system: try \"sudo modprobe overlay\" (for a \
                                   container, on its host)."
                .to_owned(),
            _ => "Overlays without privileges need Linux 5.13 or newer, and folders on a file system that can lie \
                  under one."
                .to_owned(),
        };
    }
    "Commands run on a copy of the files or in place instead.".to_owned()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn each_hindrance_has_its_mend() {
        const NAMESPACE: &str = "making a user namespace: no";
        const OVERLAY: &str =
            "mounting the overlay over /a: making it: Invalid argument (os error 22)";
        let on_an_overlay = format!("{OVERLAY} ({ON_AN_OVERLAY})");
        let plain = Machine::default;
        let rows = [
            (NAMESPACE, libc::ENOSPC, plain(), "sysctl user.max_user_namespaces=15000"),
            (
                NAMESPACE,
                libc::EPERM,
                Machine { no_namespaces: true, ..plain() },
                "sysctl user.max_user_namespaces=15000",
            ),
            (
                NAMESPACE,
                libc::EPERM,
                Machine { clone_forbidden: true, ..plain() },
                "sysctl kernel.unprivileged_userns_clone=1",
            ),
            (
                NAMESPACE,
                libc::EPERM,
                Machine { apparmor: true, executable: "/opt/a b/ropewalk".to_owned(), ..plain() },
                "profile ropewalk \"/opt/a b/ropewalk\" flags=(unconfined)",
            ),
            (NAMESPACE, libc::EPERM, Machine { container: true, ..plain() }, "seccomp=unconfined"),
            ("opening the overlay file system: no", libc::ENODEV, plain(), "modprobe overlay"),
            (&on_an_overlay, libc::EINVAL, plain(), "Set XDG_CACHE_HOME"),
            (
                &on_an_overlay,
                libc::EINVAL,
                Machine { container: true, ..plain() },
                "Set XDG_CACHE_HOME",
            ),
            (OVERLAY, libc::EINVAL, plain(), "Linux 5.13"),
            (OVERLAY, libc::EPERM, plain(), "Linux 5.13"),
            ("anything", 0, plain(), "on a copy"),
        ];
        for (why, errno, machine, words) in rows {
            let mend = mend(why, Some(errno).filter(|errno| *errno != 0), &machine);
            assert!(mend.contains(words), "{why}: {mend}");
            // Each of these mends one failure alone.
            for other in ["modprobe", "XDG_CACHE_HOME", "5.13", "sysctl", "profile", "seccomp"] {
                assert_eq!(mend.contains(other), words.contains(other), "{why}: {mend}");
            }
        }
    }
}
