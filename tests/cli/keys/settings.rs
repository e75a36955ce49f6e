//! Keys in places where a configuration is written, and keys as people paste them.

use crate::world::{KEY, KEY_VARIABLE, Ran, World};
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use serde_json::json;

#[test]
fn a_key_in_the_place_of_its_variable_is_refused_unsaid() {
    let world = World::new("http://127.0.0.1:9");
    for flag in [
        format!("provider.scripted.api_key_env={KEY}"),
        format!("provider.scripted.api_key={KEY}"),
        format!("api_key={KEY}"),
    ] {
        for args in [&["-c", &flag, "run", "hello"][..], &["-c", &flag, "doctor"][..]] {
            let ran = world.run(args);
            assert_ne!(ran.code, Some(0), "{flag}: {ran:?}");
        }
    }
}

#[test]
fn a_key_in_the_place_of_another_value_is_not_repeated() {
    let world = World::new("http://127.0.0.1:9");
    for flag in [
        format!("mode={KEY}"),
        format!("model={KEY}/{KEY}"),
        format!("limits.steps={KEY}"),
        format!("allow=[\"{KEY}\"]"),
        format!("{KEY}={KEY}"),
        KEY.to_owned(),
    ] {
        // It searches what is said for the key.
        world.run(&["-c", &flag, "doctor"]);
    }
}

#[test]
fn a_key_in_a_configuration_file_is_not_repeated() {
    let model = ScriptedModel::start([]).unwrap();
    for line in [
        "api_key = 'KEY'",
        "[provider.scripted]\napi_key = 'KEY'",
        "[provider.scripted]\napi_key_env = 'KEY'",
        "[provider.scripted]\napi_key_env = KEY",
        "KEY",
        "KEY = 1",
    ] {
        let text = line.replace("KEY", KEY);
        let world = World::with(&model);
        let good = std::fs::read_to_string(world.home("config/ropewalk/config.toml")).unwrap();
        world.configure(&text);
        for args in [&["doctor"][..], &["run", "--json", "hello"][..]] {
            // Without a model of its own it must lead to nobody.
            let mut run = world.ropewalk(args);
            drop(Ran::from(run.env_remove("ANTHROPIC_API_KEY").output().unwrap()));
        }
        // A repository's is as little repeated.
        world.configure(&good);
        world.write(".ropewalk/config.toml", &text);
        world.run(&["doctor"]);
        world.write(".ropewalk/config.toml", "");
    }
    let _ = model.finish();
}

/// Prints the configuration, without its name, which a rule would know.
const PRINT: &str =
    "f=$(printf '%s/con%s' \"$HOME\" fig/ropewalk/config.toml); tr '\\0' '\\n' < $f 2>&1";

/// Whatever the headers of other providers hold, complete ones or not, no request repeats.
#[test]
fn secret_headers_of_other_providers_are_redacted() {
    const OTHERS: [&str; 3] =
        ["sk-elsewhere-0123456789", "sk-unfinished-0123456789", "sk-replaced-0123456789"];
    let model = ScriptedModel::start([
        ScriptedReply::new().call("bash", json!({ "command": PRINT })),
        ScriptedReply::new()
            .expect_text("X-Api-Key = '[key]'")
            .expect_text("not-secret")
            .text("Done."),
    ])
    .unwrap();
    let world = World::with(&model);
    let file = world.home("config/ropewalk/config.toml");
    let [whole, unfinished, replaced] = OTHERS;
    let more = format!(
        "[provider.whole]\nprotocol = 'chat'\nbase_url = 'https://models.invalid'\n\
         [provider.whole.headers]\nAuthorization = 'Bearer {whole}'\nX-Api-Key = '{replaced}'\n\
         X-Team = 'not-secret-0123456789'\n\
         [provider.unfinished.headers]\nCookie = 'session={unfinished}'\n"
    );
    world.configure(&(std::fs::read_to_string(file).unwrap() + &more));
    let log = world.home("log.txt");
    let flag = "provider.whole.headers.X-Api-Key=sk-replacing-0123456789";
    let args = ["-c", flag, "run", "--json", "--log", log.to_str().unwrap()];
    let mut run =
        world.ropewalk(&[&args[..], &["--mode", "auto", "--allow", "bash(*)", "go"]].concat());
    let ran = Ran::from(run.env("ROPEWALK_LOG", "trace").output().unwrap()).ended(0);
    let sent: String = model.recorded().into_iter().map(|request| request.raw).collect();
    model.finish().unwrap();
    for text in [sent, ran.out, ran.err, std::fs::read_to_string(log).unwrap()] {
        for other in OTHERS {
            assert!(!text.contains(other), "{other}: {text}");
        }
    }
}

#[test]
fn a_key_is_taken_without_the_line_end_that_was_copied_along() {
    for text in [format!("{KEY}\n"), format!(" {KEY}\r\n"), format!("\t{KEY} ")] {
        let model =
            ScriptedModel::start_with_key([ScriptedReply::new().text("Hello.")], KEY).unwrap();
        let world = World::with(&model);
        let mut run = world.ropewalk(&["run", "hello"]);
        let ran: Ran = run.env(KEY_VARIABLE, text).output().unwrap().into();
        assert_eq!(ran.ended(0).out, "Hello.\n");
    }
    // A key that no header can carry is said by its variable.
    for text in [format!("{KEY}\n{KEY}"), format!("{KEY}é"), format!("a {KEY}")] {
        let world = World::new("http://127.0.0.1:9");
        for args in [&["run", "hello"][..], &["doctor"][..]] {
            let mut run = world.ropewalk(args);
            let ran: Ran = run.env(KEY_VARIABLE, &text).output().unwrap().into();
            let ran = ran.ended(1);
            assert!(format!("{}{}", ran.out, ran.err).contains(KEY_VARIABLE), "{ran:?}");
        }
    }
}
