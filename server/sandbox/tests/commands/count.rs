//! How many of the dearest system calls a command costs, counted by `strace` where that is installed: the same on a
//! busy machine, which times are not.

use crate::skip::skip;
use crate::world::{World, finish};
use std::process::Command;

/// With this argument, and a number, this program runs so many commands in a sandbox.
pub(crate) const COUNTED: &str = "--commands-of-a-test-that-counts";

/// The most that a command may cost, once the session's first has run.
const MOST: usize = 100;

/// Toolchains of a developer's home that a command needs to see.
const TOOLCHAINS: &[&str] = &[
    ".cargo/bin",
    ".cargo/registry/src",
    ".rustup/toolchains/stable",
    ".pyenv/shims",
    ".pyenv/versions/3",
    ".nvm/versions/node",
    "go/bin",
    "go/pkg/mod",
    ".gradle/caches",
    ".m2/repository",
    ".dotnet/tools",
    ".npm/_cacache",
    ".local/bin",
    ".local/lib",
    ".local/share/uv/python",
    ".local/share/pnpm",
    ".cache/pip",
    ".cache/uv",
    ".cache/go-build",
    ".config/git",
];

/// Runs the commands: over a home with toolchains, three build caches, and files that are hidden.
pub(crate) fn counted() {
    let count: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let mut world = World::new();
    let home = world.home().to_owned();
    for name in TOOLCHAINS {
        std::fs::create_dir_all(home.join(name)).unwrap();
    }
    for name in [".cargo/credentials.toml", ".gradle/gradle.properties", ".gitconfig"] {
        std::fs::write(home.join(name), "x\n").unwrap();
    }
    let path = format!("{0}/.cargo/bin:{0}/.local/bin:/usr/bin:/bin", home.display());
    let cargo = home.join(".cargo").into();
    world.plan.environment = vec![("PATH".into(), path.into()), ("CARGO_HOME".into(), cargo)];
    for number in 0..3 {
        let cache = home.parent().unwrap().join(format!("caches/{number}"));
        std::fs::create_dir_all(&cache).unwrap();
        world.plan.caches.push(cache);
    }
    for name in [".env", "a/.env.local", "b/id_rsa"] {
        world.write(name, "x\n");
    }
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        for _ in 0..count {
            let (mut spec, output) = world.spec("true");
            spec.hidden =
                [".env", "a/.env.local", "b/id_rsa"].map(|name| world.root().join(name)).to_vec();
            let (_, said) = finish(&sandbox, spec, output).await;
            assert_eq!(said, "");
        }
    });
}

pub(crate) fn a_command_costs_few_look_ups() {
    let calls = |commands: usize| {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        let traced = Command::new("strace")
            .args(["-f", "-qq", "-e", "trace=openat2", "-e", "signal=none", "-o"])
            .arg(&list)
            .arg(std::env::current_exe().unwrap())
            .args([COUNTED, &commands.to_string()])
            .output();
        let Ok(traced) = traced else {
            skip("there is no strace to count with");
            return None;
        };
        assert!(traced.status.success(), "{traced:?}");
        let list = std::fs::read_to_string(&list).unwrap();
        // One that another process interrupts takes two lines.
        Some(list.lines().filter(|line| line.contains("openat2(")).count())
    };
    let (Some(few), Some(more)) = (calls(2), calls(6)) else { return };
    let each = (more - few) / 4;
    assert!(each > 0 && each <= MOST, "a command costs {each} calls of openat2");
}
