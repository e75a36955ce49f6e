//! `ropewalk demo --editor nvim` in a real Neovim: it tells the same as the demo in the fake editor, nothing
//! of it stays behind, and the user's own Neovim has no part in it.

use std::path::Path;
use std::process::{Command, Output};

/// The demo, with a folder of its own for what it makes and a user whose configuration is a trap.
fn demo(temporary: &Path, args: &[&str]) -> Output {
    let config = temporary.join("user/nvim");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("init.lua"), "vim.cmd('cquit 7')").unwrap();
    let made = temporary.join("made");
    std::fs::create_dir_all(&made).unwrap();
    Command::new(env!("CARGO_BIN_EXE_ropewalk"))
        .arg("demo")
        .args(args)
        .current_dir(temporary)
        .env("TMPDIR", &made)
        .env("XDG_CONFIG_HOME", temporary.join("user"))
        .env("VIMINIT", "cquit 8")
        .env("NVIM_BIN", crate::support::editors().join("nvim/bin/nvim"))
        .output()
        .unwrap()
}

/// The command lines of running processes that have `text` in them.
#[cfg(target_os = "linux")]
fn processes_with(text: &str) -> Vec<String> {
    let of_process = |entry: std::fs::DirEntry| {
        let environment = std::fs::read(entry.path().join("environ")).ok()?;
        let command = std::fs::read(entry.path().join("cmdline")).ok()?;
        let has_it = String::from_utf8_lossy(&environment).contains(text);
        has_it.then(|| String::from_utf8_lossy(&command).replace('\0', " "))
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(of_process).collect()
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn the_demo_in_neovim_is_that_of_the_fake_editor_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let output = demo(folder.path(), &["--editor", "nvim"]);
    let page = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{page}\n{errors}");
    assert_eq!(errors, "");
    assert!(page.contains("HTTP to the model, Neovim 0."), "{page}");
    assert!(page.lines().count() <= 60, "{} lines:\n{page}", page.lines().count());
    for line in page.lines() {
        assert!(line.chars().count() <= 80, "too wide: {line}");
        assert!(!line.contains('\x1b'), "colours without a terminal: {line}");
    }
    let of_fake = demo(folder.path(), &[]);
    let of_fake = String::from_utf8(of_fake.stdout).unwrap();
    let names_apart = |page: &str| -> Vec<String> {
        page.lines().filter(|line| !line.starts_with("server in")).map(str::to_owned).collect()
    };
    assert_eq!(names_apart(&page), names_apart(&of_fake), "one story in two editors");

    let left = std::fs::read_dir(folder.path().join("made")).unwrap().count();
    assert_eq!(left, 0, "files are left behind");
    #[cfg(target_os = "linux")]
    assert_eq!(processes_with(&folder.path().display().to_string()), Vec::<String>::new());
}
