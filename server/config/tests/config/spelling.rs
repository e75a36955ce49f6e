//! How keys and values may be written: editors' camelCase, dotted keys, flags.

use serde_json::json;

use crate::world::{World, check};

#[test]
fn editors_may_write_camel_case_or_snake_case() {
    let values: &[&str] = &[
        "limits.output_tokens = 9 < initializationOptions",
        "mechanisms.self_check = false < initializationOptions",
        "system_prompt_append = \"Be brief.\" < initializationOptions",
        "provider.myOwn.base_url = \"http://localhost:1\" < initializationOptions",
        "provider.myOwn.api_key_env = \"MY_KEY\" < initializationOptions",
    ];
    let camel = json!({
        "limits": {"outputTokens": 9}, "mechanisms": {"selfCheck": false},
        "systemPromptAppend": "Be brief.", "events": true,
        "provider": {"myOwn": {"protocol": "openai", "baseUrl": "http://localhost:1", "apiKeyEnv": "MY_KEY"}},
    });
    let snake = json!({
        "limits.output_tokens": 9, "mechanisms": {"self_check": false},
        "system_prompt_append": "Be brief.",
        "provider.myOwn": {"protocol": "openai", "base_url": "http://localhost:1", "api_key_env": "MY_KEY"},
    });
    for options in [camel.clone(), snake, json!({"ropewalk": camel})] {
        check(&World::new().initialization(options), values, &[]);
    }
}

#[test]
fn what_an_editor_sends_for_unset_is_unset() {
    let unset =
        json!({"mode": null, "model": "", "limits": null, "tools": null, "systemPromptFile": ""});
    check(&World::new().settings(unset), &["mode = \"review\" < built in"], &[]);
    check(&World::new().settings(json!(null)), &[], &[]);
    check(
        &World::new().settings(json!({"limits": {"steps": 10.0}})),
        &["limits.steps = 10 < the editor's settings"],
        &[],
    );
}

#[test]
fn camel_case_is_not_for_files() {
    check(
        &World::new().file(crate::world::USER, "systemPromptAppend = 'x'"),
        &["system_prompt_append = none < built in"],
        &[
            "unknown key `systemPromptAppend` in ~/.config/ropewalk/config.toml:1: did you mean `system_prompt_append`?",
        ],
    );
}

#[test]
fn flags() {
    for (flag, value) in [
        ("limits.steps=10", "limits.steps = 10 < -c"),
        ("limits.tool_output = 60_000", "limits.tool_output = 60000 < -c"),
        ("model=anthropic/x", "model = \"anthropic/x\" < -c"),
        ("model=\"anthropic/x\"", "model = \"anthropic/x\" < -c"),
        ("mode=plan", "mode = \"plan\" < -c"),
        ("mode = 'plan' ", "mode = \"plan\" < -c"),
        ("tools=[\"bash\"]", "tools = [\"bash\"] < -c"),
        ("mechanisms.todos=false", "mechanisms.todos = false < -c"),
        (
            "provider.anthropic.base_url=http://127.0.0.1:1",
            "provider.anthropic.base_url = \"http://127.0.0.1:1\" < -c",
        ),
        ("log=ropewalk=debug", "log = \"ropewalk=debug\" < -c"),
        // Text stays text, whatever TOML would make of it.
        ("system_prompt_append=42", "system_prompt_append = \"42\" < -c"),
        ("system_prompt_append=true", "system_prompt_append = \"true\" < -c"),
        ("system_prompt_append=grüß # dich", "system_prompt_append = \"grüß # dich\" < -c"),
    ] {
        check(&World::new().flag(flag), &[value], &[]);
    }
}

#[test]
fn flags_that_will_not_do() {
    for (flag, problem) in [
        ("mode", "`-c` takes `key=value`, as in `-c mode=plan`; one without `=` is ignored"),
        ("=plan", "unknown key `` in -c: it is ignored"),
        ("modle=x", "unknown key `modle` in -c: did you mean `model`?"),
        (
            "limits.steps=ten",
            "`limits.steps` in -c must be a whole number from 1 to 10000, not text; it is ignored",
        ),
        ("limits=5", "`limits` in -c should be a table of keys, not a whole number; it is ignored"),
        ("tools=bash", "`tools` in -c must be a list of names, not text; it is ignored"),
        (
            "tools=[\"bash\"",
            "`tools` in -c must be a list of names, not broken TOML; it is ignored",
        ),
        (
            "api_key=hunter2",
            "`api_key` in -c is ignored: a configuration holds no keys or passwords; put the key into an environment variable, name that with `api_key_env`, and remove it here",
        ),
    ] {
        check(&World::new().flag(flag), &[], &[problem]);
    }
}
