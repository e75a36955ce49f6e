//! The same tests as a user without rights: to root nothing is shut, so that faults with what is don't show.

use crate::support::is_root;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// The number of a user that nobody is.
const ORDINARY_USER: u32 = 23_456;

#[test]
fn layers_are_an_ordinary_users_too() {
    if !is_root() {
        // All tests are.
        return;
    }
    let home = tempfile::tempdir().unwrap();
    chown(home.path(), Some(ORDINARY_USER), Some(ORDINARY_USER)).unwrap();
    // Others may not go where this program lies.
    let tests = home.path().join("tests");
    std::fs::copy(std::env::current_exe().unwrap(), &tests).unwrap();
    std::fs::set_permissions(&tests, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = Command::new(&tests)
        // Large tests, or ones that ask other programs many times, are left out where all users see
        // the same.
        .args(["--skip", "real::", "--skip", "git::", "--skip", "many"])
        .env("HOME", home.path())
        .env("TMPDIR", home.path())
        .current_dir("/")
        .uid(ORDINARY_USER)
        .gid(ORDINARY_USER)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("a_file_that_only_others_may_read_stays_alone_too ... ok"), "{said}");
}
