//! `AGENTS.md`: read from the roots alone, cleaned, bounded.

use ropewalk_config::{Config, MAX_INSTRUCTIONS_BYTES, RealEnvironment, Sources};

use crate::world::{PROJECT, SYSTEM, World, check};

const APP: &str = "/code/app/AGENTS.md";

#[test]
fn a_root_below_the_top_of_its_repository_has_the_instructions_from_there_down() {
    let world = World::new()
        .file("/AGENTS.md", "Above the repository.")
        .file("/code/.git", "gitdir: elsewhere")
        .file("/code/AGENTS.md", "Of the top.")
        .file(APP, "Of the app.");
    let config = world.build();
    let told: Vec<&str> = config.instructions.iter().map(|one| &*one.text).collect();
    assert_eq!(told, ["Of the top.", "Of the app."]);
}

#[test]
fn each_root_has_its_own_in_the_order_of_the_roots() {
    let world = World::new()
        .file("/code/lib/AGENTS.md", "Write tests.\r\n\tAll of them.")
        .file(APP, "Use tabs.")
        .file("/code/app/sub/AGENTS.md", "Not a root's.");
    let config = world.build();
    let told: Vec<(&str, &str)> =
        config.instructions.iter().map(|told| (&*told.file, &*told.text)).collect();
    assert_eq!(told, [(APP, "Use tabs."), ("/code/lib/AGENTS.md", "Write tests.\n\tAll of them.")]);
    assert_eq!(config.problems, []);
    assert!(config.watched.iter().any(|path| path.to_str() == Some(APP)));
    let off = world.file(PROJECT, "mechanisms.instructions = false");
    let mut off = off;
    off.sources.known.mechanisms.push("instructions".to_owned());
    assert_eq!(off.build().instructions, []);
    assert_eq!(off.build().problems, []);
}

#[test]
fn what_a_reader_would_not_see_the_model_does_not_either() {
    let hidden = "a\u{1b}[2Jb\u{202e}c\u{e0041}d\0e\u{feff}f\u{2066}g\u{7}h\u{9b}i é𝄞\n";
    let config = World::new().file(APP, hidden).build();
    assert_eq!(config.instructions[0].text, "a[2Jbcdefghi é𝄞\n");
    for empty in ["", " \n\t", "\u{feff}\0"] {
        assert_eq!(World::new().file(APP, empty).build().instructions, []);
    }
    let latin = World::new().file(APP, b"caf\xe9 ok").build();
    assert_eq!(latin.instructions[0].text, "caf\u{fffd} ok");
}

#[test]
fn a_long_file_is_cut_and_says_so() {
    let most = usize::try_from(MAX_INSTRUCTIONS_BYTES).unwrap();
    let text_of = |text: String| World::new().file(APP, text).build().instructions[0].text.clone();
    assert_eq!(text_of("x".repeat(most)).len(), most);
    for long in ["x".repeat(most + 1), "x".repeat(1 << 20), format!("x{}", "𝄞".repeat(most))] {
        let told = text_of(long);
        assert!(told.ends_with("[The file is longer; the rest of it is not shown here.]"));
        assert!(told.len() < most + 100 && !told.contains('\u{fffd}'));
    }
}

#[test]
fn what_is_no_file_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let sources = Sources { roots: vec![folder.path().to_owned()], ..Sources::default() };
    let file = folder.path().join("AGENTS.md");
    let told = || {
        let config = Config::build(&sources, &RealEnvironment);
        let ours = config.problems.into_iter().filter(|p| p.source.file.as_ref() == Some(&file));
        let problems: Vec<String> = ours.map(|problem| problem.sentence).collect();
        (config.instructions.len(), problems.concat())
    };
    assert_eq!(told(), (0, String::new()));
    std::fs::create_dir(&file).unwrap();
    assert!(told().1.ends_with("can't be read: it is not a regular file; it is skipped"));
    std::fs::remove_dir(&file).unwrap();
    #[cfg(unix)]
    {
        let made = std::process::Command::new("mkfifo").arg(&file).status().unwrap();
        assert!(made.success());
        assert!(told().1.ends_with("can't be read: it is not a regular file; it is skipped"));
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
        assert!(told().1.ends_with("can't be read: it leads outside the folder; it is skipped"));
        assert_eq!(told().0, 0);
        std::fs::remove_file(&file).unwrap();
        std::fs::write(folder.path().join("CLAUDE.md"), "Be kind.").unwrap();
        std::os::unix::fs::symlink("CLAUDE.md", &file).unwrap();
        assert_eq!(told(), (1, String::new()));
    }
}

#[test]
fn a_lock_on_the_mechanism_holds() {
    let world = World::new()
        .file(SYSTEM, "mechanisms.todos = false\nlocked = ['mechanisms.todos']")
        .flag("mechanisms.todos=true");
    check(
        &world,
        &["mechanisms.todos = false < /etc/ropewalk/config.toml:1"],
        &["`mechanisms.todos` in -c is ignored: it is locked by /etc/ropewalk/config.toml:2"],
    );
}

#[test]
fn the_users_own_come_first_and_of_a_root_the_first_file_that_says_anything_counts() {
    let world = World::new()
        .file("/home/ada/.config/ropewalk/AGENTS.md", "Mine.")
        .file(APP, " \n")
        .file("/code/app/CLAUDE.md", "Of Claude.")
        .file("/code/app/.github/copilot-instructions.md", "Of Copilot.");
    let config = world.build();
    let told: Vec<(&str, bool)> =
        config.instructions.iter().map(|told| (&*told.text, told.is_users)).collect();
    assert_eq!(told, [("Mine.", true), ("Of Claude.", false)]);
    assert!(config.instructions[0].file.starts_with("~/"), "{:?}", config.instructions[0]);
    let watched = |name: &str| config.watched.iter().any(|path| path.ends_with(name));
    assert!(watched("app/.github/copilot-instructions.md") && watched("ropewalk/AGENTS.md"));
    let folders: Vec<&str> = config.user_folders.iter().filter_map(|path| path.to_str()).collect();
    assert_eq!(folders, ["/home/ada/.config/ropewalk", "/home/ada/.agents", "/home/ada/.claude"]);
}
