//! Projects of a team: files of another group than the user's first.

use crate::world::World;
use ropewalk_sandbox::Sandbox;
use std::os::unix::fs::{MetadataExt, chown};
use std::process::Command;

/// The argument by which this program is a member of a team.
pub(crate) const MEMBER: &str = "--member-of-a-team";
/// The number of a group that nobody else is in.
const TEAM: u32 = 23_457;

/// Starts a sandbox over a project of the team's, and one over a project that only has a link and a file that the
/// user can't write of somebody else's.
pub(crate) fn member() {
    World::new().run(async |world| {
        world.write("a.txt", "one\n");
        std::os::unix::fs::symlink("/etc/passwd", world.root().join("link")).unwrap();
        let own = world.sandbox().await;
        let (_, said) = world.sh(&own, "echo two >> a.txt && cat a.txt").await;
        println!("{said}");
        chown(world.root().join("a.txt"), None, Some(TEAM)).unwrap();
        println!("{}", Sandbox::start(world.plan.clone()).await.unwrap_err());
        std::fs::remove_file(world.root().join("a.txt")).unwrap();
        chown(world.root(), None, Some(TEAM)).unwrap();
        println!("{}", Sandbox::start(world.plan.clone()).await.unwrap_err());
    });
}

/// Only root may put itself into a group.
pub(crate) fn a_project_of_another_group_is_refused_in_words() {
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    chown(folder.path(), Some(crate::ORDINARY_USER), Some(crate::ORDINARY_USER)).unwrap();
    let (user, team) = (crate::ORDINARY_USER.to_string(), TEAM.to_string());
    let output = Command::new("setpriv")
        .args(["--reuid", &user, "--regid", &user, "--groups", &team, "--"])
        .arg(std::env::current_exe().unwrap())
        .arg(MEMBER)
        .env("TMPDIR", folder.path())
        .env("HOME", folder.path())
        .current_dir("/")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.starts_with("one\ntwo\n"), "{output:?}");
    assert!(said.contains("/home/project/a.txt is of another group, and an overlay"), "{output:?}");
    assert!(said.contains("/home/project is of another group, and an overlay"), "{output:?}");
}
