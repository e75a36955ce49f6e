//! Commands over the fork as a user without rights: where the tests run as root, theirs are run once more as somebody
//! else, because a sandbox of root's is another one.

use crate::support::home::Searched;
use crate::support::skip;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The number of a user that nobody is.
const ORDINARY_USER: u32 = 23_456;

/// This command as the user without rights, whose files are in `home`.
fn as_an_ordinary_user(program: &Path, home: &Path) -> Command {
    let mut command = Command::new("setpriv");
    let id = ORDINARY_USER.to_string();
    command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"]).arg(program);
    command.env("HOME", home).env("TMPDIR", home).env("USER", "ordinary").current_dir("/");
    command
}

/// A program under a path that everybody may go.
fn reachable(program: &Path, home: &Path, name: &str) -> PathBuf {
    let tried = as_an_ordinary_user(Path::new("test"), home).arg("-x").arg(program).status();
    if tried.unwrap().success() {
        return program.to_owned();
    }
    let copy = home.join(name);
    std::fs::copy(program, &copy).unwrap();
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).unwrap();
    copy
}

#[test]
fn commands_run_over_the_fork_for_an_ordinary_user_too() {
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        // All tests are an ordinary user's.
        return;
    }
    let home = Searched::new();
    chown(home.path(), Some(ORDINARY_USER), Some(ORDINARY_USER)).unwrap();
    let tried =
        as_an_ordinary_user(Path::new("unshare"), home.path()).args(["-Urm", "true"]).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        return skip("there is no setpriv here, or no user namespace for others than root");
    }
    let tests = reachable(&std::env::current_exe().unwrap(), home.path(), "tests");
    let server = Path::new(env!("CARGO_BIN_EXE_ropewalk"));
    let server = reachable(server, home.path(), "ropewalk");
    let logs = home.path().join("logs");
    std::fs::create_dir(&logs).unwrap();
    chown(&logs, Some(ORDINARY_USER), Some(ORDINARY_USER)).unwrap();
    let output = as_an_ordinary_user(&tests, home.path())
        // Large tests that look the same to everybody are left out. One at a time: other tests run
        // beside them.
        .args(["over_fork", "--skip", "fifty_thousand", "--test-threads", "1"])
        .env("ROPEWALK_TEST_SERVER", server)
        .env("ROPEWALK_TEST_LOGS", &logs)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("a_turn_works_under_every_name_a_folder_can_have ... ok"), "{said}");
}
