//! Files that are broken, huge or meant to do harm: the rest still counts, nothing panics.

use proptest::prelude::*;
use ropewalk_config::{Config, Environment, MAX_FILE_BYTES, RealEnvironment, Sources};

use crate::world::{PROJECT, USER, World, check};

const AT: &str = "~/.config/ropewalk/config.toml";

#[test]
fn around_a_syntax_error_the_rest_counts() {
    let text = "limits.steps = 5\nmode = plan\nlimits.idle_seconds = 7\n";
    let config = World::new().file(USER, text).build();
    assert_eq!((config.limits.steps, config.limits.idle_seconds), (5, 7));
    assert_eq!(config.mode.as_str(), "review");
    assert_eq!(config.problems.len(), 1, "{:?}", config.problems);
    let problem = &config.problems[0];
    assert_eq!(problem.source.line, Some(2));
    assert!(problem.sentence.starts_with(&format!("broken TOML in {AT}:2: ")), "{problem}");
    assert!(problem.sentence.ends_with("; this line is skipped"), "{problem}");
}

#[test]
fn after_a_broken_header_nothing_lands_in_the_table_before() {
    for header in [
        "[provider.other",
        "[provider other]",
        "[provider.]",
        "[]",
        "[provider.other]]",
        "[[provider.other",
        "[provider.anthropic]",
    ] {
        let text = format!(
            "mode = 'plan'\n[provider.anthropic]\nprotocol = 'anthropic'\n{header}\nbase_url = 'http://localhost:6'\n[limits]\nsteps = 1"
        );
        let config = World::new().file(USER, &text).build();
        assert_eq!(config.providers["anthropic"].base_url, "https://api.anthropic.com", "{header}");
        assert_eq!(config.mode.as_str(), "plan", "{header}");
        assert_eq!(config.problems.len(), 1, "{header}: {:?}", config.problems);
        assert_eq!(config.problems[0].source.line, Some(4), "{header}");
        assert!(config.problems[0].sentence.ends_with("everything from this line on is skipped"));
    }
}

/// Every slip of one character in a file of three providers: deleted, replaced, inserted.
#[test]
fn after_a_slip_no_provider_gets_the_url_of_another() {
    let whole = "[provider.aa]\nprotocol = 'openai'\napi_key_env = 'A'\n\n[provider.bb]\nbase_url = 'https://bb'\nprotocol = \"\"\"openai\"\"\"\n\n[limits]\nsteps = 5\n\n[provider.cc]\nprotocol = 'openai'\nbase_url = 'https://cc'\n";
    let slips =
        ["[", "]", "=", "'", "\"", "\"\"\"", "'''", "{", "}", "\n", ".", " ", "x", "\\", "\0"];
    let mut broken = 0;
    for at in 0..whole.len() {
        let (before, after) = whole.split_at(at);
        let rest = after.get(1..).unwrap();
        let mut texts = vec![format!("{before}{rest}")];
        for slip in slips {
            texts.push(format!("{before}{slip}{after}"));
            texts.push(format!("{before}{slip}{rest}"));
        }
        for text in texts {
            let config = World::new().file(USER, &text).build();
            // A file that is still TOML means what it says.
            if !config.problems.iter().any(|p| p.sentence.starts_with("broken TOML")) {
                continue;
            }
            broken += 1;
            for (name, provider) in &config.providers {
                let mut others = ["aa", "bb", "cc"].iter().filter(|other| *other != name);
                let foreign = others.any(|other| provider.base_url == format!("https://{other}"));
                assert!(!foreign, "{name} has {} in\n{text}", provider.base_url);
            }
        }
    }
    assert!(broken > 1_000, "only {broken} of the slips break the file");
}

#[test]
fn a_key_given_twice_is_said() {
    let config = World::new().file(USER, "mode = 'plan'\nmode = 'auto'").build();
    assert_eq!(config.mode.as_str(), "plan");
    assert_eq!(config.problems.len(), 1, "{:?}", config.problems);
    assert_eq!(config.problems[0].source.line, Some(2));
}

#[test]
fn files_that_are_no_text() {
    check(
        &World::new().file(USER, b"mode = 'plan'\nlog = '\xff'"),
        &["mode = \"review\" < built in"],
        &[
            "~/.config/ropewalk/config.toml:2 is not UTF-8 text; the file is skipped, save it as UTF-8",
        ],
    );
    let longest = usize::try_from(MAX_FILE_BYTES).unwrap();
    check(
        &World::new().file(USER, "#".repeat(longest + 1)),
        &[],
        &["~/.config/ropewalk/config.toml is longer than 1048576 bytes; it is skipped"],
    );
    check(&World::new().file(USER, "#".repeat(longest)), &[], &[]);
    check(&World::new().file(USER, ""), &[], &[]);
    check(
        &World::new().file(USER, "\u{feff}mode = 'plan'\r\n[limits]\r\nsteps = 2\r\n"),
        &[
            "mode = \"plan\" < ~/.config/ropewalk/config.toml:1",
            "limits.steps = 2 < ~/.config/ropewalk/config.toml:3",
        ],
        &[],
    );
    let nul = World::new().file(USER, "mode = 'pl\0an'\nlimits.steps = 2").build();
    assert_eq!((nul.mode.as_str(), nul.limits.steps), ("review", 2));
    assert_eq!(nul.problems.len(), 1, "{:?}", nul.problems);
}

#[test]
fn names_that_would_disturb_a_terminal_are_escaped_and_shortened() {
    let text = format!("\"a\\u001b[31m\\n\\u202e\" = 1\n\"{}\" = 1", "x".repeat(100_000));
    let config = World::new().file(USER, text).build();
    assert_eq!(config.problems.len(), 2);
    for problem in &config.problems {
        assert!(problem.sentence.len() < 200, "{problem}");
        assert!(!problem.sentence.contains(['\u{1b}', '\n', '\u{202e}']), "{problem}");
    }
}

#[test]
fn floods_are_bounded() {
    let mebibyte = usize::try_from(MAX_FILE_BYTES).unwrap();
    let unknown: String = (0..60_000).map(|n| format!("key{n} = 1\n")).collect();
    let tools = format!("tools = [{}]", "'bsh',".repeat(900));
    let texts = [
        unknown,
        tools,
        "a".repeat(mebibyte),
        "=\n".repeat(mebibyte / 2),
        "[".repeat(mebibyte),
        format!("a = {}", "[".repeat(mebibyte - 4)),
        format!("a = {}", "{a=".repeat(mebibyte / 3 - 4)),
        "a.".repeat(mebibyte / 2),
        "[a]\n".repeat(mebibyte / 4),
        format!("a = \"{}", "\n".repeat(mebibyte - 5)),
        format!("a = \"\"\"{}", "\\".repeat(mebibyte - 7)),
    ];
    for text in texts {
        let config = World::new().file(USER, &text).file(PROJECT, &text).build();
        assert!((1..=42).contains(&config.problems.len()), "{}", config.problems.len());
    }
}

#[test]
fn deeply_nested_settings() {
    let deep = (0..100).fold(serde_json::json!(1), |inner, _| serde_json::json!({ "mode": inner }));
    let config = World::new().settings(deep).flag(&format!("{}=1", "a.".repeat(500_000))).build();
    assert_eq!(config.mode.as_str(), "review");
    assert_eq!(config.problems.len(), 2);
}

#[test]
fn the_real_disk_is_read_but_no_folder_or_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(".ropewalk").join("config.toml");
    let sources = Sources { roots: vec![folder.path().to_owned()], ..Sources::default() };
    let ours = |config: Config| -> Vec<String> {
        let found = config.problems.into_iter().filter(|p| p.source.file.as_ref() == Some(&file));
        found.map(|problem| problem.sentence).collect()
    };
    let build = || Config::build(&sources, &RealEnvironment);

    assert_eq!(ours(build()), [""; 0], "no file, no problem");
    std::fs::create_dir_all(&file).unwrap();
    assert!(ours(build())[0].ends_with("can't be read: it is not a regular file; it is skipped"));
    std::fs::remove_dir(&file).unwrap();
    std::fs::write(&file, "mode = 'plan'\nlimits.steps = 1").unwrap();
    assert_eq!((build().mode.as_str(), build().limits.steps), ("plan", 1));
    assert_eq!(RealEnvironment.read(&file, 4).unwrap(), b"mode");
    #[cfg(unix)]
    assert!(RealEnvironment.read(std::path::Path::new("/dev/zero"), 4).is_err());
}

/// Pieces that mean something to TOML or to a key, mixed with anything.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        proptest::sample::select(vec![
            "mode",
            "model",
            "limits",
            "provider",
            "tools",
            "mechanisms",
            "steps",
            "base_url",
            ".",
            "*",
            "=",
            "[",
            "]",
            "[[",
            "{",
            "}",
            "\"",
            "'",
            "\"\"\"",
            "\n",
            "\r\n",
            ",",
            "#",
            " ",
            "1",
            "-9",
            "1e9",
            "true",
            "\0",
            "\\",
            "\u{feff}",
            "é",
            "𝄞",
            "http://[",
            "~/",
            "/",
        ])
        .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_it_panic_or_makes_a_project_loosen_anything(
        user in text(), project in text(), flags in proptest::collection::vec(text(), 0..4), json in text(),
    ) {
        let quiet = World::new().file(USER, &user);
        let before = quiet.build();
        let with_project = quiet.clone().file(PROJECT, &project).build();
        prop_assert!(with_project.mode >= before.mode);
        prop_assert!(with_project.limits.steps <= before.limits.steps);
        prop_assert_eq!(&with_project.providers, &before.providers);
        prop_assert_eq!(&with_project.model, &before.model);
        prop_assert_eq!(&with_project.allow, &before.allow);

        let mut world = quiet.file(PROJECT, &project).settings(serde_json::json!({ &json: { &json: json } }));
        world.sources.flags = flags;
        let config = world.build();
        for problem in &config.problems {
            prop_assert!(!problem.sentence.contains(['\n', '\0']), "{}", problem);
        }
    }

    #[test]
    fn any_bytes_will_do(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        World::new().file(USER, bytes).build();
    }
}
