//! A key that a program prints: asked for once, sent, and in nothing that is shown or kept.

use crate::world::World;
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use serde_json::json;

const PRINTED: &str = "sk-printed-0123456789abcdef";

/// A configuration whose key is printed by this.
fn config(base_url: &str, command: &str) -> String {
    format!(
        "model = \"scripted/scripted\"\n[provider.scripted]\nprotocol = \"anthropic\"\n\
         base_url = \"{base_url}\"\napi_key_command = {command}\n"
    )
}

#[test]
fn it_is_asked_for_once_and_is_a_secret() {
    let shell = r#""echo x >> asked; printf '  sk-printed-%s\\n' 0123456789abcdef""#;
    let program = r#"["sh", "-c", "echo x >> asked; printf 'sk-printed-%s' 0123456789abcdef"]"#;
    for command in [shell, program] {
        let model = ScriptedModel::start_with_key(
            [
                ScriptedReply::new().call("list_dir", json!({})),
                ScriptedReply::new().text(format!("It is {PRINTED}, isn't it?")),
            ],
            PRINTED,
        )
        .unwrap();
        let world = World::with(&model);
        world.configure(&config(&model.base_url(), command));
        let tape = world.home("tape.jsonl");
        let record = ["run", "--json", "--record", tape.to_str().unwrap()];
        // The first words of all hold it, before anything was sent.
        let prompt = format!("go with {PRINTED}");
        let ran = world.run(&[&record[..], &[&prompt]].concat()).ended(0);
        assert!(std::fs::read_to_string(tape).unwrap().contains("go with [key]"));
        assert_eq!(world.read("asked"), "x\n", "once for two requests");
        assert!(ran.out.contains("[key], isn"), "{ran:?}");
        assert!(!format!("{ran:?}").contains(PRINTED), "{ran:?}");
        let kept = std::process::Command::new("grep")
            .args(["-r", PRINTED])
            .arg(world.home(""))
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&kept.stdout), "", "the key is kept somewhere");
    }
}

#[test]
fn what_goes_wrong_is_said_without_what_it_printed() {
    for (command, words) in [
        (r#""echo hidden-word; exit 3""#, "it ended with exit status: 3"),
        (r#""true""#, "it printed nothing"),
        (r#"["/nowhere/to/be/found"]"#, "it can't be started"),
        (r#""printf 'hidden-word and more'""#, "has spaces, line breaks or non-ASCII characters"),
        (r#""yes hidden-word""#, "it printed more than 65536 bytes"),
    ] {
        let world = World::new("http://127.0.0.1:9");
        world.configure(&config("http://127.0.0.1:9", command));
        let ran = world.run(&["run", "go"]).ended(1);
        assert!(ran.err.contains(words), "{command}: {ran:?}");
        assert!(!format!("{ran:?}").contains("hidden-word"), "{ran:?}");
    }
}
