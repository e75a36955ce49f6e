//! Words on a command over the fork that comes to a bound, leaves files that can't be kept, or
//! wants more than a sandbox has. Real commands in a server of their own each, with the plan that
//! the server makes.
//!
//! Bounds of a sandbox are tested in its own room, row by row.

use crate::support::agent::Agent;
use crate::support::skip;
use crate::support::stage::{QUIET, Stage, bash, edit, say, turn, until};
use ropewalk_testkit::editor::{Dialog, FakeEditor, Profile};
use ropewalk_testkit::planted;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;

/// An editor whose server runs commands over the fork, with more settings of commands.
fn editor(stage: &Stage, settings: &Value, env: &[(&str, String)]) -> FakeEditor {
    let mut commands = json!({ "overFork": "auto" });
    let more = settings.as_object().cloned().unwrap_or_default();
    commands.as_object_mut().unwrap().extend(more);
    let options = json!({ "events": true, "commands": commands });
    let editor = stage.editor_in(Profile::VSCODE, &[stage.folder.path()], options, env);
    editor.ignore(QUIET);
    editor
}

/// A command, the settings it runs under, and what its result says and doesn't.
struct Row {
    command: &'static str,
    settings: Value,
    says: &'static [&'static str],
    lacks: &'static [&'static str],
}

fn row(command: &'static str, says: &'static [&'static str]) -> Row {
    Row { command, settings: Value::Null, says, lacks: &[] }
}

/// The files that the commands of the table find.
const FILES: &[(&str, &str)] = &[
    (".gitignore", "*.bin\n"),
    ("folder/inside.txt", "inside\n"),
    (
        "home.sh",
        "ls -A \"$HOME\"; cat \"$HOME/.ssh/id_ed25519\" \"$HOME/notes.txt\"; echo looked\n",
    ),
    (
        "refused.py",
        "import socket\nhere = \".\".join([\"127\", \"0\", \"0\", \"1\"])\nsocket.create_connection((here, 9))\n",
    ),
];

fn rows() -> Vec<Row> {
    vec![
        Row {
            settings: json!({ "layerMegabytes": 16 }),
            ..row(
                "head -c 40000000 /dev/zero > x.bin",
                &[
                    "No space left on device",
                    "fills the sandbox (16 MB)",
                    "commands.layer_megabytes",
                ],
            )
        },
        Row {
            settings: json!({ "memoryMegabytes": 64 }),
            ..row(
                "perl -e '$x = \"x\" x 300_000_000; sleep 1000'",
                &[
                    "(ended by signal 9)",
                    "it was ended because it used ",
                    "commands.memory_megabytes",
                ],
            )
        },
        Row {
            settings: json!({ "cacheMegabytes": 16 }),
            ..row(
                "head -c 40000000 /dev/zero > \"$CARGO_TARGET_DIR/x\"; echo filled; sleep 1000",
                &["filled", "it was ended because build caches ", "commands.cache_megabytes"],
            )
        },
        row(
            "sleep 1000 & echo up",
            &["up\n", "processes that it left running were ended with it: use background"],
        ),
        row("mkfifo p && echo made", &["made\n", "a pipe, socket or device can't be kept", ": p)"]),
        row(
            "printf x > \"$(printf 'b\\377d')\" && echo made",
            &["made\n", "a name that is not UTF-8 can't be proposed"],
        ),
        Row {
            lacks: &["exit code", "the sandbox"],
            ..row("kill -KILL $PPID; kill -KILL 1; echo still here", &["still here\n"])
        },
        Row {
            lacks: &["planted-secret", "id_ed25519\n", "notes.txt\n"],
            ..row("sh home.sh 2>/dev/null", &["looked\n"])
        },
        row("python3 refused.py", &["refused", "this command had no network", "network: true"]),
        row(
            "python3 -c 'import os; os.rename(\"folder\", \"other\")'",
            &["cross-device link", "`mv` works"],
        ),
        Row { lacks: &["cross-device"], ..row("mv folder other && cat other/*", &["inside\n"]) },
    ]
}

#[test]
fn the_result_says_what_happened() {
    for Row { command, settings, says, lacks } in rows() {
        let heard = says.iter().fold(say("Done."), |reply, words| reply.expect_text(*words));
        let heard = lacks.iter().fold(heard, |reply, words| reply.expect_no_text(*words));
        let stage = Stage::new("review", FILES, [bash(command), heard]);
        let home = stage.agent.folder("home");
        std::fs::create_dir_all(home.join(".ssh")).unwrap();
        for name in [".ssh/id_ed25519", "notes.txt"] {
            std::fs::write(home.join(name), "planted-secret\n").unwrap();
        }
        // The home of the tests lacks the toolchains of the user's, which other rows may need.
        let machines = std::env::home_dir().filter(|_| !command.contains("home.sh"));
        let env = [("HOME", machines.unwrap_or(home).display().to_string())];
        let editor = editor(&stage, &settings, &env);
        assert_eq!(turn(&editor, "Try"), "end_turn", "{command}");
        editor.shutdown();
        let unmet = stage.agent.model.finish();
        assert!(unmet.is_ok(), "{command}: {unmet:?}");
    }
}

#[test]
fn a_full_layer_is_emptied_and_that_is_said() {
    let stage = Stage::new(
        "review",
        &[(".gitignore", "*.bin\n"), ("a.txt", "one\n")],
        [
            bash("head -c 40000000 /dev/zero > x.bin"),
            bash("ls; echo one more"),
            edit("a.txt", "one", "two").expect_text("one more\n").expect_text("x.bin"),
            bash("ls; cat a.txt"),
            bash("echo new > new.txt; ls")
                .expect_text("a.txt\ntwo\n")
                .expect_text(
                    "was full and was emptied: ignored files that commands had made are gone",
                )
                .expect_no_text("x.bin"),
            say("Done.").expect_text("new.txt").expect_no_text("was emptied"),
        ],
    );
    let editor = editor(&stage, &json!({ "layerMegabytes": 16 }), &[]);
    assert_eq!(turn(&editor, "Try"), "end_turn");
    editor.execute("ropewalk.accept", json!({ "all": true })).unwrap();
    until("it is accepted", || stage.path("new.txt").exists() && stage.disk("a.txt") == "two\n");
    stage.end(editor);
}

#[test]
fn what_is_open_and_larger_than_the_layer_is_said() {
    let stage = Stage::new(
        "review",
        &[("large.txt", "")],
        [
            bash("ls"),
            say("Done.")
                .expect_text("Error: what is open and not accepted yet takes more room than")
                .expect_text("commands.layer_megabytes"),
        ],
    );
    stage.write("large.txt", &"0123456789abcde\n".repeat(17 << 16));
    let editor = editor(&stage, &json!({ "layerMegabytes": 16 }), &[]);
    editor.open("large.txt");
    assert_eq!(turn(&editor, "Try"), "end_turn");
    stage.end(editor);
}

#[test]
fn build_caches_are_emptied_after_a_command_that_overfilled_them() {
    let stage = Stage::new(
        "review",
        &[],
        [
            bash(
                "head -c 40000000 /dev/zero > \"$CARGO_TARGET_DIR/large\"; echo kept > \"$XDG_CACHE_HOME/small\"",
            ),
            bash(
                "ls \"$CARGO_TARGET_DIR\"; cat \"$XDG_CACHE_HOME/small\"; echo again > \"$CARGO_TARGET_DIR/again\" && ls \"$CARGO_TARGET_DIR\"",
            ),
            say("Done.").expect_text("kept\nagain\n").expect_no_text("large"),
        ],
    );
    let editor = editor(&stage, &json!({ "cacheMegabytes": 16 }), &[]);
    assert_eq!(turn(&editor, "Try"), "end_turn");
    stage.end(editor);
}

/// Variables of the server that commands are given.
const GIVEN: &[&str] = &[
    "CARGO_TERM_VERBOSE",
    "GOFLAGS",
    "HOME",
    "LANG",
    "LC_TIME",
    "LOGNAME",
    "MY_TOKEN",
    "MY_TOOL",
    "PATH",
    "RUST_BACKTRACE",
    "SHELL",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
];

/// Variables of the server that they are not given.
const WITHHELD: &[&str] = &[
    "AWS_PROFILE",
    "BASH_ENV",
    "CARGO_REGISTRY_TOKEN",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "FOO",
    "GPG_AGENT_INFO",
    "MY_KEY",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "STY",
    "TMUX",
    "UV_PUBLISH_PASSWORD",
    "VSCODE_IPC_HOOK_CLI",
    "VSCODE_X",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
];

/// Variables that every command has besides: set for it, or by the shell.
const SET: &[&str] = &[
    "CARGO_TARGET_DIR",
    "CI",
    "DEBIAN_FRONTEND",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EDITOR",
    "GIT_OPTIONAL_LOCKS",
    "GIT_PAGER",
    "GIT_TERMINAL_PROMPT",
    "MANPAGER",
    "NO_COLOR",
    "PAGER",
    "PWD",
    "PYTHONPYCACHEPREFIX",
    "ROPEWALK_COMMAND",
    "SHLVL",
    "TERM",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "_",
];

/// Set where a command has no network, so that package managers say so at once.
const SET_WITHOUT_NETWORK: &[&str] = &[
    "BUN_CONFIG_HTTP_RETRY_COUNT",
    "BUNDLE_RETRY",
    "CARGO_NET_RETRY",
    "COMPOSER_DISABLE_NETWORK",
    "CONDA_REMOTE_MAX_RETRIES",
    "MAVEN_ARGS",
    "NUGET_ENHANCED_MAX_NETWORK_TRY_COUNT",
    "PIP_DISABLE_PIP_VERSION_CHECK",
    "PIP_RETRIES",
    "POETRY_REQUESTS_MAX_RETRIES",
    "RUSTUP_MAX_RETRIES",
    "UV_HTTP_RETRIES",
    "YARN_HTTP_RETRY",
    "npm_config_fetch_retries",
    "pnpm_config_fetch_retries",
];

#[test]
fn commands_are_given_the_variables_on_the_list_and_no_others() {
    let names = |said: &Value| {
        let last = said["messages"].as_array().and_then(|all| all.last()).unwrap().to_string();
        let names = last.split_once("NAMES ")?.1.split_once(" END")?.0.to_owned();
        Some(names.split(' ').map(str::to_owned).collect::<Vec<String>>())
    };
    let mut expected: Vec<&str> = [GIVEN, SET, SET_WITHOUT_NETWORK].concat();
    expected.sort_unstable();
    let holds = move |said: &Value| {
        let names = names(said).ok_or("there are no names")?;
        if names == expected { Ok(()) } else { Err(format!("{names:?}, and not {expected:?}")) }
    };
    let command = "echo NAMES $(env -0 | tr '\\n' ' ' | tr '\\0' '\\n' | sed 's/=.*//' | LC_ALL=C sort) END; env | grep -c planted-";
    let stage = Stage::new(
        "review",
        &[],
        [bash(command), say("Done.").expect(holds).expect_text(" END\n0\n")],
    );
    let mut script = "exec env -i".to_owned();
    let mut give = |name: &str, value: &str| script.push_str(&format!(" '{name}={value}'"));
    for name in GIVEN {
        match *name {
            "PATH" => give(name, &std::env::var("PATH").unwrap()),
            "HOME" => give(name, stage.agent.folder("home").to_str().unwrap()),
            "SHELL" => give(name, "/bin/bash"),
            name => give(name, "C"),
        }
    }
    WITHHELD.iter().for_each(|name| give(name, "planted-value"));
    stage.agent.environment().iter().for_each(|(name, value)| give(name, value));
    // A variable that leads to an editor or holds the model's key is not given, whoever asks for
    // it.
    let named = ["MY_TOOL", "MY_TOKEN", "NVIM", "ANTHROPIC_API_KEY", planted::VARIABLE];
    let file = stage.agent.folder("config").join("ropewalk/config.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    stage.agent.configure(&format!("commands.environment = {named:?}\n{config}"));
    // Names in an editor's settings may come from the folder that is open in it.
    let more = json!(["FOO", "MY_KEY", "CARGO_REGISTRY_TOKEN"]);
    let options = json!({ "commands": { "overFork": "auto", "environment": more } });
    let (editor, _script) = started_by(&stage, &script, options);
    assert_eq!(turn(&editor, "Try"), "end_turn");
    stage.end(editor);
}

/// True if a process has this text in its command line.
fn runs(text: &str) -> bool {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let mut lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(&line).contains(text))
}

#[test]
fn nothing_of_a_command_is_left_when_the_end_of_an_interrupted_turn_is_told() {
    let sleep = format!("{}.16", 200_000 + std::process::id());
    let stubborn = format!("trap '' TERM INT HUP; while :; do sleep {sleep}; done");
    let command = format!(
        "for i in 1 2 3 4 5 6 7 8; do setsid nohup sh -c \"{stubborn}\" & done; echo up; wait"
    );
    let stage = Stage::new("review", &[], [bash(&command)]);
    let editor = editor(&stage, &Value::Null, &[]);
    editor.prompt("Try");
    let is_up = |event: &Value| {
        event["type"] == "tool_output" && event["text"].as_str().unwrap().contains("up")
    };
    editor.wait_for("the output", |seen| seen.events().iter().any(is_up).then_some(()));
    until("it sleeps", || runs(&format!("sleep\0{sleep}")));
    editor.execute("ropewalk.interrupt", Value::Null).unwrap();
    assert_eq!(editor.wait_for_turn_end().stop_reason, "interrupted");
    assert!(!runs(&sleep), "something of the command is still there");
    stage.end(editor);
}

/// A server that is started by a script: by its last line, which becomes the server.
fn started_by(stage: &Stage, script: &str, options: Value) -> (FakeEditor, tempfile::TempDir) {
    let [program, argument] = Agent::command();
    let folder = tempfile::tempdir().unwrap();
    let start = folder.path().join("start");
    std::fs::write(&start, format!("#!/bin/sh\n{script} '{program}' \"$@\"\n")).unwrap();
    std::fs::set_permissions(&start, std::fs::Permissions::from_mode(0o755)).unwrap();
    let editor = FakeEditor::spawn(
        start.to_str().unwrap(),
        &[argument],
        &stage.agent.environment(),
        Profile::VSCODE,
        &[stage.folder.path()],
        options,
    )
    .unwrap();
    editor.ignore(QUIET);
    (editor, folder)
}

#[test]
fn a_folder_with_something_mounted_in_it_is_copied_and_the_result_says_why() {
    let tried = std::process::Command::new("unshare").args(["-Urm", "true"]).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        return skip("there is no unshare here that lets a test mount something");
    }
    let stage = Stage::new(
        "review",
        &[("a.txt", "one\n"), ("inner/hidden.txt", "below the mount\n")],
        [
            edit("a.txt", "one", "two"),
            bash("cat a.txt; ls inner; echo new > c.txt"),
            say("Done.")
                .expect_text("two\nmounted.txt\n")
                .expect_text("changed: c.txt")
                .expect_text("it ran on a copy: ")
                .expect_text("commands run on a copy here: ")
                .expect_text("something is mounted inside it, at ")
                .expect_text("/inner)"),
        ],
    );
    let inner = stage.path("inner").canonicalize().unwrap();
    let inside = format!(
        "mount -t tmpfs none {0} && echo there > {0}/mounted.txt && exec \"$0\" \"$@\"",
        inner.display()
    );
    let script = format!("exec unshare -Urm sh -c '{inside}'");
    let options = json!({ "commands": { "overFork": "auto" } });
    let (editor, _script) = started_by(&stage, &script, options);
    editor.prompt("Try");
    let Dialog { message, .. } = editor.answer_dialog("Allow once");
    assert!(message.contains("it runs on a copy of the open folders"), "{message}");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    assert!(!stage.path("c.txt").exists());
    stage.end(editor);
}

#[test]
fn more_than_may_be_copied_runs_in_place_and_the_result_says_why() {
    let stage = Stage::new(
        "review",
        &[("a.txt", "one\n")],
        [
            bash("cat a.txt; echo new > c.txt"),
            say("Done.").expect_text("one\n").expect_text(
                "commands run in place here: the open folders hold more than 2048 MB beside what is ignored",
            ),
        ],
    );
    // A hole takes no room.
    let large = std::fs::File::create(stage.path("large.dat")).unwrap();
    large.set_len(3 << 30).unwrap();
    let editor = editor(&stage, &json!({ "overFork": "copy" }), &[]);
    editor.prompt("Try");
    let Dialog { message, .. } = editor.answer_dialog("Allow once");
    assert!(!message.contains("copy"), "{message}");
    assert_eq!(editor.wait_for_turn_end().stop_reason, "end_turn");
    assert_eq!(stage.disk("c.txt"), "new\n", "it ran on the disk itself");
    stage.end(editor);
}
