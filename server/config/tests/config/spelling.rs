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

/// Every way in which an editor may write a name with a dot in it, and what is then known of that model.
#[test]
fn a_model_s_name_may_have_dots_wherever_it_is_written() {
    let base =
        json!({"provider.home.protocol": "openai", "provider.home.base_url": "http://localhost:1"});
    let with = |more: serde_json::Value| {
        let mut all = base.clone();
        let all_map = all.as_object_mut().unwrap();
        all_map.extend(more.as_object().unwrap().clone());
        all
    };
    for options in [
        json!({"provider": {"home": {"protocol": "openai", "baseUrl": "http://localhost:1",
            "models": {"gpt-4.1": {"context": 8192}}}}}),
        json!({"provider": {"home": {"protocol": "openai", "baseUrl": "http://localhost:1",
            "models": {"gpt-4.1.context": 8192}}}}),
        with(json!({"provider.home.models": {"gpt-4.1": {"context": 8192}}})),
        with(json!({"provider.home.models.gpt-4.1": {"context": 8192}})),
        with(json!({"provider.home.models.gpt-4.1.context": 8192})),
        with(json!({"provider.home": {"models.gpt-4.1": {"context": 8192}}})),
        with(json!({"ropewalk": {"provider.home.models.gpt-4.1.context": 8192}})),
    ] {
        // An object with the section below its name holds nothing else that counts.
        let is_section = options.get("ropewalk").is_some();
        let mut world = World::new().settings(options.clone());
        if is_section {
            world = world.initialization(base.clone());
        }
        let config = world.build();
        assert_eq!(config.problems, [], "{options}");
        let home = &config.providers["home"];
        assert_eq!(home.models.keys().collect::<Vec<_>>(), ["gpt-4.1"], "{options}");
        assert_eq!(home.facts_of("gpt-4.1").context, Some(8192), "{options}");
        let source = config.provenance("provider.home.models.gpt-4.1.context");
        assert_eq!(source.to_string(), "the editor's settings", "{options}");
    }
    let flag = World::new().flag("provider.openai.models.gpt-4.1.price=[2, 8]").build();
    assert_eq!(flag.problems, []);
    assert!(flag.providers["openai"].facts_of("gpt-4.1").price.is_some());
    let header = World::new().settings(json!({"provider.openai.headers.x.y-z": "1"})).build();
    assert_eq!(header.providers["openai"].headers["x.y-z"], "1");
    let name = World::new().settings(json!({"model": "openrouter/openai/gpt-4.1"})).build();
    assert_eq!(name.model.unwrap().name, "openai/gpt-4.1");
}

#[test]
fn an_editor_may_put_the_section_s_name_before_each_key() {
    let values: &[&str] = &[
        "model = \"openai/gpt-4.1\" < the editor's settings",
        "limits.steps = 7 < the editor's settings",
        "mode = \"plan\" < the editor's settings",
    ];
    let wants_key = &[
        "the provider `openai` needs a key: set `OPENAI_API_KEY` in the environment of the editor",
    ];
    for settings in [
        json!({"ropewalk.model": "openai/gpt-4.1", "ropewalk.limits.steps": 7, "ropewalk.mode": "plan"}),
        json!({"ropewalk": {"mode": "plan", "limits": {"steps": 7}}, "ropewalk.model": "openai/gpt-4.1",
            "other.model": "x"}),
        json!({"ropewalk.limits": {"steps": 7}, "ropewalk.model": "openai/gpt-4.1", "mode": "plan"}),
    ] {
        check(&World::new().settings(settings), values, wants_key);
    }
}

#[test]
fn names_with_dots_that_will_not_do() {
    let deep = vec!["a"; 100_000].join(".");
    for (json, problem) in [
        (json!({"provider.home.models.gpt-4.1.contxt": 1}), "did you mean"),
        (json!({"provider.openai.models.gpt-4.1": 3}), "unknown key"),
        (json!({"provider.openai.models": {"é.𝄞.context": "8192"}}), "must be a whole number"),
        (json!({"..": 1}), "unknown key"),
        (json!({ deep: 1 }), "unknown key"),
        (json!({"ropewalk.": 1}), "unknown key"),
        (json!({"ropewalk": 7, "ropewalk.modle": "x"}), "did you mean `model`"),
    ] {
        let told: Vec<String> = World::new()
            .settings(json.clone())
            .build()
            .problems
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains(problem), "{told:?}");
    }
    check(
        &World::new().file(crate::world::USER, "[provider.openai.models.gpt-4.1]\ncontext = 8192"),
        &[],
        &[
            "unknown key `provider.openai.models.gpt-4.1` in ~/.config/ropewalk/config.toml:1: a model's name with a dot in it stands in quotes, as in `[provider.NAME.models.\"gpt-4.1\"]`",
        ],
    );
}
