//! Folders of the machine that a command needs to see to build and test: data.
//!
//! Which paths exist is found out by the holder; what a user allows beyond this is in the plan.

use std::ffi::OsStr;
use std::path::Path;

/// System folders, shown read-only. Those that are links (`/bin` to `usr/bin`) are made as links.
pub(crate) const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/gnu",
    "/etc",
    "/sys",
    "/snap",
    // Parts of folders that hold other people's things too.
    "/var/lib/dpkg",
    "/var/lib/rpm",
    "/var/lib/pacman",
    "/var/db/pkg",
    "/var/lib/ca-certificates",
    "/var/cache/fontconfig",
    "/var/guix",
    "/run/current-system",
    "/run/opengl-driver",
];

/// Folders of programs that keep more beside themselves than programs, such as the socket of a database: shown
/// like the plan's own, through which no socket can be reached. In the folders of [`SYSTEM`] nothing listens, but
/// for what [`SYSTEM_SECRETS`] has; they are bound, because every program is started from there.
pub(crate) const SOFTWARE: &[&str] = &["/opt", "/home/linuxbrew/.linuxbrew"];

/// Folders that every program may write to: a command has its own, empty at first.
pub(crate) const TEMPORARY: &[&str] = &["/tmp", "/var/tmp", "/run", "/dev/shm"];

/// Devices that are let through.
pub(crate) const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// Links of the device folder.
pub(crate) const DEVICE_LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Files of the system that hold secrets. Where a name ends with `*`, all that begin so.
pub(crate) const SYSTEM_SECRETS: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/ssh/ssh_host_*",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/NetworkManager/system-connections",
    "/etc/wireguard",
    "/etc/krb5.keytab",
    "/etc/docker",
    "/etc/rancher",
    "/etc/kubernetes",
    // Daemons that write to their stores for whoever asks.
    "/nix/var/nix/daemon-socket",
    "/var/guix/daemon-socket",
    "/sys/firmware",
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
    "/sys/kernel/security",
];

/// Toolchains in the home folder: shown, and written to without anything being kept.
pub(crate) const HOME_TOOLCHAINS: &[&str] = &[
    ".cargo",
    ".rustup",
    ".pyenv",
    ".rbenv",
    ".nvm",
    ".nodenv",
    ".fnm",
    ".local/share/fnm",
    ".volta",
    ".bun",
    ".deno",
    ".asdf",
    ".local/share/mise",
    ".local/share/rtx",
    ".sdkman",
    ".jenv",
    ".goenv",
    ".gvm",
    "go",
    ".gradle",
    ".m2/wrapper",
    ".m2/repository",
    ".ivy2",
    ".sbt",
    ".coursier",
    ".cache/coursier",
    ".ghcup",
    ".cabal",
    ".stack",
    ".opam",
    ".elan",
    ".juliaup",
    ".julia",
    ".mix",
    ".hex",
    ".pub-cache",
    "flutter",
    ".dotnet",
    ".nuget/packages",
    ".composer/vendor",
    ".config/composer/vendor",
    ".rvm",
    ".gem",
    ".conan2",
    ".nix-profile",
    ".local/state/nix",
    ".swiftly",
    ".local/share/swiftly",
    ".zvm",
    ".cache/zig",
    ".foundry",
    ".local/bin",
    "bin",
    ".local/lib",
    ".local/share/pipx",
    ".local/pipx",
    ".local/share/uv",
    ".local/share/pnpm",
    ".local/share/virtualenv",
    ".virtualenvs",
    "miniconda3",
    "anaconda3",
    "miniforge3",
    ".conda",
    ".npm",
    ".cache/pip",
    ".cache/uv",
    ".cache/yarn",
    ".cache/go-build",
    ".cache/pre-commit",
    ".cache/ms-playwright",
    ".cache/bazelisk",
    ".yarn",
    ".pnpm-store",
];

/// Settings in the home folder that tools need and that hold no secrets: shown read-only.
pub(crate) const HOME_SETTINGS: &[&str] =
    &[".gitconfig", ".config/git", ".gitignore", ".gitignore_global", ".editorconfig"];

/// Paths in the home folder that hold secrets: of toolchains, which are shown, and of everything else, for when a folder
/// around it is shown or is a root.
pub(crate) const HOME_SECRETS: &[&str] = &[
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/git/credentials",
    ".gem/credentials",
    ".gradle/gradle.properties",
    // Where the accounts of a company's repositories are, and keys of build servers.
    ".gradle/init.gradle",
    ".gradle/init.gradle.kts",
    ".gradle/init.d",
    ".gradle/enterprise",
    ".gradle/develocity",
    ".local/share/uv/credentials",
    // Certificates with their private keys.
    ".dotnet/corefx",
    ".stack/upload",
    ".sbt/gpg",
    ".local/share/pnpm/rc",
    ".config/pnpm/rc",
    ".config/pnpm/auth.ini",
    "go/.netrc",
    ".aspnet",
    ".microsoft/usersecrets",
    ".nuget/NuGet",
    ".config/NuGet",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".sbt/credentials",
    ".sbt/.credentials",
    ".ivy2/.credentials",
    ".ivy2/credentials",
    ".coursier/credentials.properties",
    ".cabal/config",
    ".hex/hex.config",
    ".pub-cache/credentials.json",
    ".pub-cache/pub-credentials.json",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".conan2/credentials.json",
    ".conda/.condarc",
    ".foundry/keystores",
    ".npm/_logs",
    ".julia/servers",
    ".opam/config.secret",
    // Keys, and what opens accounts.
    ".ssh",
    ".gnupg",
    ".pki",
    ".aws",
    ".azure",
    ".kube",
    ".docker/config.json",
    ".docker/contexts",
    ".config/containers/auth.json",
    ".netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".s3cfg",
    ".boto",
    ".vault-token",
    ".terraformrc",
    ".terraform.d/credentials.tfrc.json",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/doctl",
    ".config/rclone",
    ".config/op",
    ".config/sops",
    // Keyrings and stores of passwords.
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".config/keepassxc",
    ".config/Bitwarden",
    ".config/1Password",
    ".var/app/org.keepassxc.KeePassXC",
    ".var/app/com.bitwarden.desktop",
    // Browsers and mail, whose profiles open every account that one has signed in to.
    ".mozilla",
    ".librewolf",
    ".zen",
    ".thunderbird",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/google-chrome-unstable",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/microsoft-edge-beta",
    ".config/microsoft-edge-dev",
    ".config/vivaldi",
    ".config/opera",
    ".config/Signal",
    ".config/Slack",
    ".config/discord",
    ".config/Element",
    "snap/firefox",
    "snap/chromium",
    "snap/brave",
    "snap/thunderbird",
    ".var/app/org.mozilla.firefox",
    ".var/app/org.mozilla.Thunderbird",
    ".var/app/com.google.Chrome",
    ".var/app/org.chromium.Chromium",
    ".var/app/com.brave.Browser",
    ".var/app/com.microsoft.Edge",
    // Lines that were typed to shells, keys among them.
    ".bash_history",
    ".zsh_history",
    ".local/share/fish/fish_history",
    ".python_history",
    ".psql_history",
    // Our own: keys, and what was said in other sessions. Where they are elsewhere, the plan hides them.
    ".config/ropewalk",
    ".local/state/ropewalk",
];

/// Variables whose value is a toolchain's folder.
pub(crate) const VARIABLES: &[&str] = &[
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "GOMODCACHE",
    "JAVA_HOME",
    "JDK_HOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "NVM_DIR",
    "FNM_DIR",
    "VOLTA_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "SDKMAN_DIR",
    "GRADLE_HOME",
    "GRADLE_USER_HOME",
    "MAVEN_HOME",
    "M2_HOME",
    "DOTNET_ROOT",
    "NUGET_PACKAGES",
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "GHCUP_INSTALL_BASE_PREFIX",
    "OPAMROOT",
    "OPAM_SWITCH_PREFIX",
    "ELAN_HOME",
    "JULIA_DEPOT_PATH",
    "FLUTTER_ROOT",
    "PUB_CACHE",
    "GEM_HOME",
    "PNPM_HOME",
    "UV_CACHE_DIR",
    "PIP_CACHE_DIR",
    "npm_config_cache",
    "HOMEBREW_PREFIX",
    "CUDA_HOME",
    "CUDA_PATH",
    "EMSDK",
    "ZIG_GLOBAL_CACHE_DIR",
    "VCPKG_ROOT",
];

/// Secrets inside the folders that variables name, by the names in them.
pub(crate) const VARIABLE_SECRETS: &[&str] = &[
    "credentials",
    "credentials.toml",
    "credentials.json",
    "gradle.properties",
    "init.gradle",
    "init.gradle.kts",
    "init.d",
    "pub-credentials.json",
    "rc",
    "upload",
];

/// How the names of keys end, wherever they lie in a toolchain.
const KEY_ENDS: &[&str] = &[".key", ".pfx", ".p12", ".ppk"];

/// Names of files with accounts, wherever they lie in a toolchain.
const ACCOUNTS: &[&str] = &[".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials"];

/// True if a file of a toolchain's holds a key or an account by its name.
pub(crate) fn is_key(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let name = name.to_ascii_lowercase();
    ACCOUNTS.contains(&name.as_str()) || KEY_ENDS.iter().any(|end| name.ends_with(end))
}

/// True if a file of a toolchain's is one of settings that may name accounts: those of sbt, beside other things.
pub(crate) fn may_name_accounts(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.ends_with(".sbt") || name == "repositories")
}

/// True if such settings name an account: by sbt's own word, or in an address.
pub(crate) fn names_accounts(settings: &[u8]) -> bool {
    let text = String::from_utf8_lossy(settings);
    let in_address = |rest: &str| {
        let end =
            rest.find(|c: char| c.is_whitespace() || "/\"'".contains(c)).unwrap_or(rest.len());
        rest.get(..end).is_some_and(|host| host.contains('@'))
    };
    text.contains("Credentials(") || text.split("://").skip(1).any(in_address)
}

/// True if a variable tells where a toolchain is.
pub(crate) fn names_a_toolchain(name: &OsStr) -> bool {
    name == "PATH" || VARIABLES.iter().any(|known| name == *known)
}

/// True if what a variable names may be a toolchain: a folder of its own, not one that holds the home or what everybody
/// writes to. No file is looked at.
pub(crate) fn is_one(folder: &Path, home: Option<&Path>) -> bool {
    let holds = |other: &Path| other.starts_with(folder);
    folder.is_absolute()
        && folder.components().count() > 2
        && !folder.components().any(|part| part == std::path::Component::ParentDir)
        && !home.is_some_and(holds)
        && !TEMPORARY.iter().chain(&["/dev", "/proc", "/var/run"]).any(|own| holds(own.as_ref()))
}

/// True if a path is the top of the file tree, lies in a folder of the system's that every command is shown, or in
/// one of which a command has its own. No file is looked at.
pub fn is_of_the_system(path: &Path) -> bool {
    let own = ["/dev", "/proc"].iter().chain(TEMPORARY);
    path.parent().is_none()
        || SYSTEM.iter().chain(SOFTWARE).chain(own).any(|folder| path.starts_with(folder))
}

/// True if a path lies in a toolchain that commands are shown: in this home, in a folder that a variable of ours
/// names, or in one of our `PATH`. No file is looked at.
pub fn is_of_a_toolchain(path: &Path, home: Option<&Path>) -> bool {
    let in_home = home
        .is_some_and(|home| HOME_TOOLCHAINS.iter().any(|name| path.starts_with(home.join(name))));
    let inside = |folder: &Path| is_one(folder, home) && path.starts_with(folder);
    let named =
        || VARIABLES.iter().filter_map(std::env::var_os).any(|folder| inside(folder.as_ref()));
    let in_path = || {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).any(|folder| inside(&folder))
    };
    in_home || named() || in_path()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_no_asking_is_what_is_shown() {
        for path in
            ["/", "/usr/bin/cc", "/snap/go/current", "/opt/x", "/tmp/a", "/proc/1", "/dev/null"]
        {
            assert!(is_of_the_system(path.as_ref()), "{path}");
        }
        assert!(is_of_the_system("/var/lib/ca-certificates/ca-bundle.pem".as_ref()));
        for path in ["/var/lib/mysql", "/home/a", "/root", "/usrlocal", "/mnt"] {
            assert!(!is_of_the_system(path.as_ref()), "{path}");
        }
        let home = Some(Path::new("/home/a"));
        for name in HOME_TOOLCHAINS {
            let path = Path::new("/home/a").join(name).join("bin/x");
            assert!(is_of_a_toolchain(&path, home), "{name}");
            assert!(!is_of_a_toolchain(&path, None), "{name}");
        }
        for folder in ["/home/a/sdk", "/srv/java", "/tmp/venv", "/home/b"] {
            assert!(is_one(folder.as_ref(), home), "{folder}");
        }
        for folder in ["/", "/home", "/srv", "/tmp", "/var/tmp", "/home/a", "/a/../b/c", "bin"] {
            assert!(!is_one(folder.as_ref(), home), "{folder}");
        }
        for path in ["/home/a/.swiftly/bin/swift", "/home/a/go/bin/x"] {
            assert!(is_of_a_toolchain(path.as_ref(), home), "{path}");
        }
        for path in ["/home/a", "/home/a/.ssh", "/home/a/project", "/home/b/.cargo"] {
            assert!(!is_of_a_toolchain(path.as_ref(), home), "{path}");
        }
        for (name, key) in [
            ("a.KEY", true),
            ("dev.pfx", true),
            (".netrc", true),
            ("key", false),
            ("keys.rs", false),
            ("a.key.rs", false),
        ] {
            assert_eq!(is_key(name.as_ref()), key, "{name}");
        }
        for (text, names) in [
            ("credentials += Credentials(\"r\", \"h\", \"me\", \"pw\")", true),
            ("company: https://me:pw@repo.example.com/maven\n", true),
            ("addSbtPlugin(\"a\" % \"b@c\" % \"1\") // https://example.com/a@b", false),
        ] {
            assert_eq!(names_accounts(text.as_bytes()), names, "{text}");
        }
        // No secret of a home's holds a whole toolchain: it would be gone.
        for secret in HOME_SECRETS {
            let holds = |name: &&str| Path::new(name).starts_with(secret);
            assert_eq!(HOME_TOOLCHAINS.iter().find(|name| holds(name)), None, "{secret}");
        }
    }
}
