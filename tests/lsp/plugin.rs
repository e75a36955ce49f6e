//! Messages to a plugin and its requests: hunks with their places, published changes, changes that
//! typing displaced, texts, documents as they are proposed, a session's past words, completion.

use crate::support::stage::{Stage, edit, edit_input, say, turn, wait_for_reviews};
use ropewalk_testkit::editor::{FakeEditor, Kind, Profile, StaleAnswer, VersionCheck};
use ropewalk_testkit::model::{ReplyPlace, ScriptedReply};
use serde_json::{Value, json};

/// Neovim with our plugin, which refuses every edit for a version that it has left behind.
const PLUGIN: Profile =
    Profile { checks: VersionCheck::All, stale: StaleAnswer::Refused, ..Profile::NEOVIM_PLUGIN };

fn options() -> Value {
    json!({ "events": true, "approvals": true, "drawsHunks": true, "checkedEdits": true })
}

fn editor(stage: &Stage, profile: Profile) -> FakeEditor {
    let editor = stage.editor_with(profile, options());
    editor.ignore(&[Kind::Progress, Kind::Event, Kind::Log]);
    editor
}

fn of_type(editor: &FakeEditor, kind: &str) -> Vec<Value> {
    editor.events().into_iter().filter(|event| event["type"] == kind).collect()
}

/// The hunks as they were told last, once they are as they should be.
fn hunks_when(editor: &FakeEditor, what: &str, is_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    editor.wait_for(what, |seen| {
        let last = seen.events().into_iter().rfind(|event| event["type"] == "hunks")?;
        let hunks = last["hunks"].as_array()?.clone();
        is_so(&hunks).then_some(hunks)
    })
}

fn range(hunk: &Value) -> [u64; 4] {
    ["/start/line", "/start/character", "/end/line", "/end/character"]
        .map(|at| hunk["range"].pointer(at).unwrap().as_u64().unwrap())
}

#[test]
fn a_plugin_that_checks_versions_is_asked_for_nothing_before_an_edit() {
    for profile in [PLUGIN, Profile::VSCODE] {
        let stage = Stage::new(
            "auto",
            &[("a.txt", "one\ntwo\n")],
            [edit("a.txt", "two", "TWO"), say("ok")],
        );
        let editor = editor(&stage, profile);
        assert!(editor.capabilities()["semanticTokensProvider"].is_null());
        editor.open("a.txt");
        assert_eq!(turn(&editor, "go"), "end_turn");
        editor.wait_for_text("a.txt", "one\nTWO\n");
        let applied = editor.with(|seen| seen.client().take_applied());
        let changes: usize = applied.iter().map(|edit| edit.changes.len()).sum();
        assert_eq!((applied.len(), changes), (1, 1), "{applied:?}");
        assert!(!applied[0].stale);
        stage.end(editor);
    }
}

#[test]
fn a_plugin_that_shows_all_is_sent_no_message() {
    let stage = Stage::new(
        "review",
        &[("a.txt", "one\ntwo\n")],
        [
            ScriptedReply::new().call("bash", json!({ "command": "echo ran" })),
            edit("a.txt", "two", "TWO"),
            say("Done."),
        ],
    );
    stage.write(".ropewalk.toml", "nonsense = 1\n");
    let editor = editor(&stage, PLUGIN);
    editor.open("a.txt");
    editor.prompt("go");
    editor.wait_for("the approval", |seen| {
        seen.events().iter().any(|e| e["type"] == "approval_requested").then_some(())
    });
    editor.execute("ropewalk.approve", Value::Null).unwrap();
    editor.wait_for_turn_end();
    let run = |commands: &[&str]| {
        for command in commands {
            let _ = editor.execute(&format!("ropewalk.{command}"), Value::Null);
        }
    };
    run(&["status", "sessions", "accept", "undo"]);
    wait_for_reviews(&editor, 2);
    // Nothing waits any more, so that no file is shown.
    run(&["show", "next"]);
    for words in ["/help", "/status", "/mode", "/todos", "/mode sideways"] {
        editor.execute("ropewalk.prompt", json!({ "prompt": words })).unwrap();
    }
    editor.wait_for("the help", |seen| {
        let notices = seen.events().into_iter().filter(|event| event["type"] == "notice");
        let said = |part: &str| {
            notices.clone().any(|event| event["message"].as_str().unwrap().contains(part))
        };
        (said("/rewind") && said("/mode takes") && said("Nothing waits")).then_some(())
    });
    let shown = editor.messages().into_iter().filter(|message| !message.logged);
    assert_eq!(shown.collect::<Vec<_>>(), [], "a message was shown");
    stage.end(editor);
}

#[test]
fn hunks_carry_their_place_in_the_version_that_the_client_has() {
    let text = "a 😀\r\nb\r\nc\r\nd\r\n";
    for profile in [PLUGIN, Profile::VSCODE] {
        let stage = Stage::new(
            "review",
            &[("a.txt", text), ("b.txt", "x\ny\n")],
            [
                ScriptedReply::new()
                    .call("edit_file", edit_input("a.txt", "c", "C 😀"))
                    .call("edit_file", edit_input("b.txt", "y", "Y")),
                say("ok"),
            ],
        );
        let editor = editor(&stage, profile);
        editor.open("a.txt");
        assert_eq!(turn(&editor, "go"), "end_turn");
        let hunks = hunks_when(&editor, "both", |hunks| hunks.len() == 2);
        let start = if profile.name == "vscode" { 1 } else { 0 };
        // Neovim leaves the carriage return in its line.
        let end = if profile.name == "vscode" { 1 } else { 2 };
        assert_eq!(hunks[0]["version"], start, "{hunks:?}");
        assert_eq!(range(&hunks[0]), [2, 0, 2, end], "{hunks:?}");
        assert_eq!((&hunks[1]["version"], range(&hunks[1])), (&Value::Null, [1, 0, 1, 1]));
        editor.type_at("a.txt", 0, 0, "😀");
        editor.insert("a.txt", 1, 0, "new\n");
        let hunks = hunks_when(&editor, "moved", |hunks| hunks[0]["version"] == start + 2);
        assert_eq!(range(&hunks[0]), [3, 0, 3, end], "{hunks:?}");
        editor.open("b.txt");
        let hunks = hunks_when(&editor, "open", |hunks| !hunks[1]["version"].is_null());
        assert_eq!(range(&hunks[1]), [1, 0, 1, 1]);
        let told = of_type(&editor, "hunks").len();
        editor.execute("ropewalk.status", Value::Null).unwrap();
        assert_eq!(of_type(&editor, "hunks").len(), told, "told without a change");
        stage.end(editor);
    }
}

#[test]
fn long_texts_are_left_out_and_given_on_request() {
    let long = "y".repeat(40_000);
    let stage = Stage::new(
        "review",
        &[("a.txt", "one\n")],
        [
            ScriptedReply::new()
                .call("edit_file", edit_input("a.txt", "one", &long))
                .call("write_file", json!({ "path": "new.txt", "content": "short\n" })),
            say("ok"),
        ],
    );
    let editor = editor(&stage, PLUGIN);
    assert_eq!(turn(&editor, "go"), "end_turn");
    let hunks = hunks_when(&editor, "both", |hunks| hunks.len() == 2);
    assert_eq!((&hunks[0]["old"], &hunks[0]["new"]), (&json!("one\n"), &Value::Null));
    assert_eq!(hunks[0]["diff"], Value::Null);
    assert_eq!(hunks[1]["new"], "short\n");
    let texts = editor.request("ropewalk/hunk", &json!({ "hunk": hunks[0]["id"] })).unwrap();
    assert_eq!((&texts["old"], &texts["new"]), (&json!("one\n"), &json!(format!("{long}\n"))));
    assert!(texts["diff"].as_str().unwrap().contains(&long));
    let refused = editor.request("ropewalk/hunk", &json!({ "hunk": 999 })).unwrap_err();
    assert!(refused.message.contains("does not wait"), "{refused:?}");
    let text = |name: &str| {
        let asked = json!({ "uri": editor.uri(name) });
        editor.request("ropewalk/document", &asked).unwrap()["text"].clone()
    };
    assert_eq!(text("a.txt"), format!("{long}\n"));
    assert_eq!(text("new.txt"), "short\n");
    assert_eq!(text("none.txt"), Value::Null);
    let outside = json!({ "uri": "file:///etc/passwd" });
    assert!(editor.request("ropewalk/document", &outside).is_err());
    stage.end(editor);
}

#[test]
fn thousands_of_changes_are_told_in_one_event_of_a_bounded_size() {
    let lines: Vec<String> = (0..10_000).map(|line| format!("line {line}")).collect();
    let old = lines.join("\n") + "\n";
    let every_other = |(at, line): (usize, &String)| match at % 2 {
        0 => line.to_uppercase(),
        _ => line.clone(),
    };
    let new: Vec<String> = lines.iter().enumerate().map(every_other).collect();
    let content = new.join("\n") + "\n";
    let stage = Stage::new(
        "review",
        &[("a.txt", &old), ("b.txt", "b\n")],
        [
            ScriptedReply::new().call("write_file", json!({ "path": "a.txt", "content": content })),
            say("ok"),
            say("ok"),
        ],
    );
    let editor = editor(&stage, PLUGIN);
    editor.open("a.txt");
    editor.open("b.txt");
    assert_eq!(turn(&editor, "go"), "end_turn");
    hunks_when(&editor, "all", |hunks| hunks.len() == 5_000);
    let events = of_type(&editor, "hunks");
    let longest = events.iter().map(|event| event.to_string().len()).max().unwrap();
    assert!(longest < 4_000_000, "{longest}");
    editor.type_at("b.txt", 0, 0, "typed elsewhere");
    turn(&editor, "again");
    assert_eq!(of_type(&editor, "hunks").len(), events.len(), "told without a change");
    stage.end(editor);
}

#[test]
fn published_changes_are_told_in_every_mode_and_undone_one_by_one() {
    for mode in ["review", "auto"] {
        let stage = Stage::new(
            mode,
            &[("a.txt", "one\ntwo\nthree\nfour\nfive\n"), ("b.txt", "b one\n")],
            [
                ScriptedReply::new()
                    .call("edit_file", edit_input("a.txt", "two", "TWO 😀\nand more"))
                    .call("edit_file", edit_input("a.txt", "five", "FIVE"))
                    .call("edit_file", edit_input("b.txt", "b one", "b ONE")),
                say("ok"),
            ],
        );
        let editor = editor(&stage, PLUGIN);
        editor.open("a.txt");
        assert_eq!(turn(&editor, "go"), "end_turn");
        if mode == "review" {
            assert_eq!(of_type(&editor, "published"), [] as [Value; 0]);
            editor.execute("ropewalk.accept", Value::Null).unwrap();
            wait_for_reviews(&editor, 1);
        }
        let changes: Vec<Value> = editor.wait_for("all published changes", |seen| {
            let published = seen.events().into_iter().filter(|event| event["type"] == "published");
            let changes = published.flat_map(|event| {
                assert_eq!(event["turn"], 1);
                event["changes"].as_array().unwrap().clone()
            });
            let changes: Vec<Value> = changes.collect();
            (changes.len() >= 3).then_some(changes)
        });
        assert_eq!(changes.len(), 3, "{mode}: {changes:?}");
        let of = |file: &str, old: &str| {
            let is_it = |one: &&Value| one["file"] == file && one["old"] == old;
            changes.iter().find(is_it).unwrap_or_else(|| panic!("{file} {old}: {changes:?}"))
        };
        let (two, five) = (of("a.txt", "two\n"), of("a.txt", "five\n"));
        assert_eq!(range(two)[0], 1, "{two}");
        assert_eq!(two["kind"], "text");
        assert!(two["version"].is_i64());
        assert_eq!(of("b.txt", "b one\n")["version"], Value::Null);
        editor.execute("ropewalk.undo", json!({ "hunk": two["hunk"] })).unwrap();
        editor.wait_for_text("a.txt", "one\ntwo\nthree\nfour\nFIVE\n");
        editor.execute("ropewalk.undo", json!({ "hunk": five["hunk"] })).unwrap();
        editor.wait_for_text("a.txt", "one\ntwo\nthree\nfour\nfive\n");
        assert_eq!(stage.disk("b.txt"), "b ONE\n");
        stage.end(editor);
    }
}

#[test]
fn a_change_that_typing_displaces_is_told_with_all_its_texts() {
    let stage = Stage::new(
        "review",
        &[("a.txt", "one\ntwo\nthree\n")],
        [edit("a.txt", "two", "TWO"), say("ok")],
    );
    let editor = editor(&stage, PLUGIN);
    editor.open("a.txt");
    assert_eq!(turn(&editor, "go"), "end_turn");
    hunks_when(&editor, "one", |hunks| hunks.len() == 1);
    editor.type_at("a.txt", 1, 1, "mine");
    hunks_when(&editor, "none", <[Value]>::is_empty);
    let aside = of_type(&editor, "set_aside");
    assert_eq!(aside.len(), 1, "{aside:?}");
    let told = ["file", "uri", "old", "new", "now"].map(|field| aside[0][field].as_str().unwrap());
    assert_eq!(told, ["a.txt", &editor.uri("a.txt"), "two\n", "TWO\n", "tminewo\n"]);
    assert_eq!(editor.text("a.txt"), "one\ntminewo\nthree\n");
    stage.end(editor);
}

#[test]
fn a_prompt_that_waits_can_be_taken_back() {
    let stage =
        Stage::new("review", &[], [say("held").gate(ReplyPlace::Answer, "gate"), say("third")]);
    let editor = editor(&stage, PLUGIN);
    editor.prompt("first");
    editor.prompt("second 😀");
    editor.prompt("third");
    let taken = editor.execute("ropewalk.unqueue", json!({ "turn": 2 })).unwrap();
    assert_eq!(taken, json!({ "prompt": "second 😀" }));
    let refused = editor.execute("ropewalk.unqueue", json!({ "turn": 2 })).unwrap_err();
    assert!(refused.message.contains("does not wait"), "{refused:?}");
    stage.agent.model.open_gate("gate");
    editor.wait_for_turn_end();
    editor.wait_for_turn_end();
    let began: Vec<Value> =
        of_type(&editor, "turn_started").iter().map(|event| event["prompt"].clone()).collect();
    assert_eq!(began, ["first", "third"]);
    stage.end(editor);
}

#[test]
fn files_are_attached_where_a_prompt_names_them_and_the_cursor_is_named() {
    let many: String = (1..=300).map(|line| format!("line {line}\n")).collect();
    let stage = Stage::new(
        "review",
        &[("a b.txt", "one\ntwo\nthree\n"), ("long.txt", &many), (".env", "SECRET=1\n")],
        [say("ok")
            .expect_text("<attached file=\"a b.txt\" lines=\"2-3\">\ntwo\nthree\n</attached>")
            .expect_text("line 200\n(of 300 lines")
            .expect_text("@.env is not attached")
            .expect_text("<cursor file=\"a b.txt\" line=\"2\"/>")],
    );
    let editor = editor(&stage, PLUGIN);
    editor.open("a b.txt");
    let at = editor.range("a b.txt", (1, 1), (1, 1));
    let prompt = "Compare @\"a b.txt\":2-3 with @long.txt, @.env and @nobody.";
    let asked = json!({
        "prompt": prompt, "textDocument": { "uri": editor.uri("a b.txt") }, "range": at,
    });
    editor.execute("ropewalk.prompt", asked).unwrap();
    editor.wait_for_turn_end();
    let bodies = stage.agent.model.recorded();
    assert!(!bodies[0].raw.contains("line 201\\n"), "more than was named");
    assert!(!bodies[0].raw.contains("SECRET"), "a secret was attached");
    stage.end(editor);
}

#[test]
fn files_and_commands_are_completed() {
    let stage = Stage::new(
        "review",
        &[
            ("src/main.rs", "x"),
            ("src/mäin two.rs", "x"),
            ("ignored/main.rs", "x"),
            (".gitignore", "ignored\n"),
            (".claude/commands/mend.md", "Mend it."),
            (".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDFs.\n---\nRead."),
        ],
        [],
    );
    let editor = editor(&stage, PLUGIN);
    editor.open("src/mäin two.rs");
    let complete = |text: &str, offset: usize| {
        let asked = json!({ "text": text, "offset": offset });
        let found = editor.request("ropewalk/complete", &asked).unwrap();
        let texts = found["items"].as_array().unwrap().iter();
        let texts: Vec<String> =
            texts.map(|item| item["text"].as_str().unwrap().to_owned()).collect();
        (found["start"].as_u64().unwrap(), texts)
    };
    // This client counts bytes.
    let (start, files) = complete("ä see @m and", 9);
    assert_eq!(start, 7);
    assert_eq!(
        files,
        [
            "@\"src/mäin two.rs\"",
            "@src/main.rs",
            "@.claude/commands/mend.md",
            "@.claude/skills/pdf/SKILL.md"
        ]
    );
    let (start, all) = complete("/m", 2);
    assert_eq!((start, all), (0, ["/mode", "/model", "/mend"].map(str::to_owned).to_vec()));
    assert_eq!(complete("/pd", 3).1, ["/pdf"]);
    assert_eq!(complete("mail me@x", 9).1, [] as [&str; 0]);
    stage.end(editor);
}

/// An event as a history has it: a step's words in one, and nothing that tells how things stand at the moment.
fn as_kept(events: Vec<Value>) -> Vec<Value> {
    let passing =
        ["hunks", "tool_output", "waiting", "session_started", "queued", "trust_requested"];
    let mut out: Vec<Value> = Vec::new();
    for event in events {
        let kind = event["type"].as_str().unwrap().to_owned();
        if passing.contains(&&*kind) {
            continue;
        }
        let same = |one: &Value| {
            kind.ends_with("_delta") && one["type"] == *kind && one["message"] == event["message"]
        };
        match out.iter_mut().find(|one| same(one)) {
            Some(one) => {
                let text =
                    one["text"].as_str().unwrap().to_owned() + event["text"].as_str().unwrap();
                one["text"] = text.into();
            }
            None => out.push(event),
        }
    }
    out
}

/// The whole result of a call that wrote two thousand bytes, and of no other, can be had.
fn has_result(editor: &FakeEditor, call: &Value) {
    let result = editor.request("ropewalk/result", &json!({ "call": call })).unwrap();
    assert!(result["text"].as_str().unwrap().contains("Wrote 2000 bytes"), "{result}");
    assert_eq!(result["isError"], false);
    assert!(editor.request("ropewalk/result", &json!({ "call": "none" })).is_err());
}

#[test]
fn a_history_is_what_was_told_also_after_the_server_was_killed() {
    let long = "x".repeat(2_000);
    let stage = Stage::new(
        "review",
        &[("a.txt", "one\n")],
        [
            ScriptedReply::new()
                .thinking("hm", "signed")
                .text("I look. ")
                .text("And write.")
                .call("read_file", json!({ "path": "a.txt" }))
                .call("write_file", json!({ "path": "b.txt", "content": long })),
            say("Done."),
            say("Second."),
            say("cut off").gate(ReplyPlace::Answer, "never"),
        ],
    );
    let editor = editor(&stage, PLUGIN);
    editor.open("a.txt");
    assert_eq!(turn(&editor, "first 😀"), "end_turn");
    editor.execute("ropewalk.accept", Value::Null).unwrap();
    wait_for_reviews(&editor, 1);
    assert_eq!(turn(&editor, "second"), "end_turn");
    let asked = json!({});
    let history = editor.request("ropewalk/history", &asked).unwrap();
    let turns = history["turns"].as_array().unwrap().clone();
    assert_eq!((turns.len(), &history["more"]), (2, &json!(false)));
    assert_eq!((&turns[0]["turn"], &turns[0]["prompt"]), (&json!(1), &json!("first 😀")));
    assert_eq!(turns[0]["stopReason"], "end_turn");
    let kept: Vec<Value> =
        turns.iter().flat_map(|turn| turn["events"].as_array().unwrap().clone()).collect();
    let live: Vec<Value> = as_kept(editor.events())
        .into_iter()
        .skip_while(|event| event["type"] != "turn_started")
        .collect();
    assert_eq!(kept.len(), live.len(), "{kept:#?}\n{live:#?}");
    for (kept, live) in kept.iter().zip(&live) {
        assert_eq!(kept, live);
    }
    let part = json!({ "before": 2, "turns": 1 });
    let part = editor.request("ropewalk/history", &part).unwrap();
    assert_eq!(part["turns"], json!([turns[0]]));
    let part = editor.request("ropewalk/history", &json!({ "turns": 1 })).unwrap();
    assert_eq!((&part["turns"], &part["more"]), (&json!([turns[1]]), &json!(true)));
    let mut calls = live.iter().filter(|event| event["type"] == "tool_call");
    has_result(&editor, &calls.next_back().unwrap()["call"]);
    // Killed amid a turn, the finished ones are there as they were, and that one has an end.
    editor.prompt("third");
    stage.agent.model.wait_until_reached_blocking("never");
    let session = history["session"].clone();
    editor.kill_server();
    let again = self::editor(&stage, PLUGIN);
    again.execute("ropewalk.resume", json!({ "session": session })).unwrap();
    let after = again.request("ropewalk/history", &asked).unwrap();
    let all = after["turns"].as_array().unwrap();
    assert_eq!(all[..2], turns[..], "what had ended is as it was");
    let last = all[2]["events"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["type"], &last["stopReason"]), (&json!("turn_ended"), &json!("error")));
    again.shutdown();
}

#[test]
fn a_client_that_leaves_adds_nothing_to_the_history() {
    let stage = Stage::new("review", &[("a.txt", "one\n")], [say("Done.")]);
    let editor = editor(&stage, PLUGIN);
    assert_eq!(turn(&editor, "go"), "end_turn");
    let before = editor.request("ropewalk/history", &json!({})).unwrap();
    editor.shutdown();
    let again = self::editor(&stage, PLUGIN);
    again.execute("ropewalk.resume", json!({ "session": before["session"] })).unwrap();
    let after = again.request("ropewalk/history", &json!({})).unwrap();
    assert_eq!(after["turns"], before["turns"]);
    stage.end(again);
}

#[test]
fn the_model_asks_what_the_editor_knows_of_the_code() {
    let symbol = |path: &str, line: u32, symbol: &str| json!({ "path": path, "line": line, "symbol": symbol });
    let stage = Stage::new(
        "review",
        &[("a.rs", "fn one() {}\nfn two() {\n    one();\n}\n"), ("b.rs", "use a;\n")],
        [
            ScriptedReply::new()
                .call("symbols", json!({ "query": "on" }))
                .call("definition", symbol("a.rs", 3, "one"))
                .call("references", symbol("a.rs", 1, "one"))
                .call("definition", symbol("a.rs", 3, "nobody")),
            edit("a.rs", "fn one() {}", "// first\nfn one(x: u8) {}")
                .expect_text("a.rs:1: function one: fn one() {}")
                .expect_text("a.rs:1: fn one() {}")
                .expect_text("b.rs:1: use a;")
                .expect_text("does not stand in line 3 of a.rs"),
            ScriptedReply::new()
                .call("definition", symbol("a.rs", 4, "one"))
                .call("definition", symbol("a.rs", 2, "one")),
            say("ok").expect_text("pending may count others").expect_text("is in a pending change"),
        ],
    );
    let mut options = options();
    options["knowledge"] = true.into();
    let editor = stage.editor_with(PLUGIN, options);
    editor.ignore(&[Kind::Progress, Kind::Event, Kind::Log]);
    let at = |file: &str| {
        let range = json!({
            "start": { "line": 0, "character": 3 }, "end": { "line": 0, "character": 6 },
        });
        json!({ "uri": editor.uri(file), "range": range })
    };
    let mut named = at("a.rs");
    (named["name"], named["kind"]) = ("one".into(), "function".into());
    editor.set_plugin_answer("ropewalk/symbols", json!([named]));
    editor.set_plugin_answer("ropewalk/definition", json!([at("a.rs")]));
    editor.set_plugin_answer("ropewalk/references", json!([at("a.rs"), at("b.rs")]));
    editor.open("a.rs");
    assert_eq!(turn(&editor, "look"), "end_turn");
    stage.end(editor);
}

#[test]
fn what_an_editor_does_not_know_is_not_offered() {
    let stage = Stage::new("review", &[], [say("ok")]);
    let editor = editor(&stage, PLUGIN);
    assert_eq!(turn(&editor, "hello"), "end_turn");
    let tools = stage.agent.model.requests()[0]["tools"].to_string();
    for tool in ["symbols", "definition", "references", "diagnostics"] {
        assert!(!tools.contains(&format!("\"name\":\"{tool}\"")), "{tool}: {tools}");
    }
    stage.end(editor);
}

#[test]
fn an_answer_is_no_notice_too() {
    let stage = Stage::new("review", &[], [say("ok")]);
    let editor = editor(&stage, PLUGIN);
    assert_eq!(turn(&editor, "hello"), "end_turn");
    for command in ["ropewalk.sessions", "ropewalk.status", "ropewalk.mode", "ropewalk.models"] {
        editor.execute(command, Value::Null).unwrap();
    }
    // Typed as a prompt it is read by a person; it is told after all that came before.
    editor.execute("ropewalk.prompt", json!("/sessions")).unwrap();
    editor.wait_for("the words", |seen| {
        seen.events().iter().any(|event| event["type"] == "notice").then_some(())
    });
    let notices = of_type(&editor, "notice");
    let words = |notice: &Value| notice["message"].as_str().unwrap().to_owned();
    let said: Vec<String> = notices.iter().map(words).collect();
    assert!(said.len() == 1 && said[0].starts_with("1 session"), "{said:?}");
    stage.end(editor);
}

#[test]
fn models_are_listed_with_what_is_missing() {
    let stage = Stage::new("review", &[], []);
    let editor = editor(&stage, PLUGIN);
    let models = editor.execute("ropewalk.models", Value::Null).unwrap();
    let models = models.as_array().unwrap();
    let own = models.iter().find(|model| model["model"] == "scripted/scripted").unwrap();
    assert_eq!((&own["usable"], &own["missing"]), (&json!(true), &Value::Null), "{own}");
    for model in models {
        assert_eq!(model["usable"], json!(model["missing"].is_null()), "{model}");
    }
    stage.end(editor);
}

#[test]
fn a_session_says_how_it_begins_and_each_step_how_full_the_context_is() {
    let stage = Stage::new(
        "auto",
        &[],
        [ScriptedReply::new().call("bash", json!({ "command": "echo ran" })), say("ok")],
    );
    let editor = editor(&stage, PLUGIN);
    editor.prompt("go");
    editor.wait_for("the approval", |seen| {
        seen.events().iter().any(|e| e["type"] == "approval_requested").then_some(())
    });
    editor.execute("ropewalk.approve", Value::Null).unwrap();
    editor.wait_for_turn_end();
    let began = &of_type(&editor, "session_started")[0];
    assert_eq!((&began["mode"], &began["model"]), (&json!("auto"), &json!("scripted/scripted")));
    let ran = of_type(&editor, "tool_result")[0]["ran"].clone();
    assert!(["fork", "copy", "place"].contains(&ran.as_str().unwrap()), "{ran}");
    let usage = of_type(&editor, "usage");
    assert!(usage[0]["context"]["used"].as_u64().unwrap() > 0, "{usage:?}");
    stage.end(editor);
}
