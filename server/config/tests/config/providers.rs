//! Settings of providers and their models: keys by command, headers, bounds and prices, and who may say it.

use crate::world::{PROJECT, SYSTEM, USER, World};
use ropewalk_config::{Config, KeyCommand, ModelFacts, PROVIDER_PRESETS, Provider};
use ropewalk_protocol::{CacheLife, Price, Thinking};
use serde_json::json;

#[expect(clippy::unwrap_used, reason = "helpers of tests may be blunt, as tests are")]
fn provider(config: &Config, name: &str) -> Provider {
    config.providers.get(name).unwrap().clone()
}

fn problems(config: &Config) -> Vec<String> {
    config.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn a_provider_is_a_few_lines() {
    let text = r#"
        model = "home/qwen3:8b"
        [provider.home]
        protocol = "openai"
        base_url = "https://models.example/v1/"
        api_key_command = ["pass", "show", "models"]
        headers = { "X-Title" = "é aside, plain" }
        context = 32768
        price = [0.28, 0.42, 0.028]
        parallel = 3
        [provider.home.models."qwen3:8b"]
        context = 8192
        output = 2048
        [provider.home.models."gpt-4.1"]
        price = [2, 8, 0.5, 2.5]
    "#;
    let config = World::new().file(USER, text).build();
    let found = provider(&config, "home");
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    assert_eq!(
        found.api_key_command,
        Some(KeyCommand::Program(words(&["pass", "show", "models"])))
    );
    assert_eq!(problems(&config).len(), 1, "{:?}", config.problems);
    assert!(problems(&config)[0].contains("must be text without line breaks"));
    let price = Price {
        input: 280_000,
        output: 420_000,
        cache_read: 28_000,
        cache_write: 280_000,
        above: None,
    };
    let facts = ModelFacts {
        context: Some(8192),
        output: Some(2048),
        price: Some(price),
        ..ModelFacts::default()
    };
    assert_eq!(found.facts_of("qwen3:8b"), facts);
    let own = Price {
        input: 2_000_000,
        output: 8_000_000,
        cache_read: 500_000,
        cache_write: 2_500_000,
        above: None,
    };
    assert_eq!(found.facts_of("gpt-4.1").price, Some(own));
    assert_eq!(found.facts_of("gpt-4.1").context, Some(32768));
    assert_eq!(found.parallel, Some(3));
    assert_eq!(found.facts_of("𝄞").price, Some(price));
    let source = config.provenance("provider.home.models.qwen3:8b.context");
    assert_eq!(source.to_string(), "~/.config/ropewalk/config.toml:12");
}

#[test]
fn a_program_is_started_for_nobody_but_the_user() {
    let theirs = |layer: World| provider(&layer.build(), "anthropic").api_key_command;
    let shell = || Some(KeyCommand::Shell("pass show a".to_owned()));
    let said = "provider.anthropic.api_key_command = 'pass show a'";
    for allowed in [
        World::new().file(USER, said),
        World::new().file(SYSTEM, said),
        World::new().flag("provider.anthropic.api_key_command=pass show a"),
    ] {
        assert_eq!(theirs(allowed.clone()), shell(), "{:?}", allowed.build().problems);
    }
    let json = json!({ "provider": { "anthropic": { "apiKeyCommand": "id" } } });
    for refused in [
        World::new().file(PROJECT, said),
        World::new().initialization(json.clone()),
        World::new().initialization(json!({ "ropewalk": json.clone() })),
        World::new().settings(json.clone()),
        World::new().settings(json!({ "provider.anthropic.api_key_command": ["sh", "-c", "id"] })),
    ] {
        let config = refused.build();
        assert_eq!(theirs(refused), None);
        let told = problems(&config);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("put it into ~/.config/ropewalk/config.toml"), "{told:?}");
        assert_eq!(config.untrusted, [], "and nobody is asked to trust it");
    }
    // Values from elsewhere stand.
    let both = World::new().file(USER, said).initialization(json);
    assert_eq!(theirs(both), shell());
}

#[test]
fn a_project_says_nothing_of_headers_bounds_and_prices() {
    for text in [
        "provider.anthropic.headers.Cookie = 'a'",
        "provider.anthropic.context = 4096",
        "provider.anthropic.price = [0, 0]",
        "provider.anthropic.parallel = 9",
        "provider.anthropic.models.m.price = [0, 0]",
    ] {
        let config = World::new().file(PROJECT, text).build();
        assert_eq!(provider(&config, "anthropic"), provider(&World::new().build(), "anthropic"));
        assert_eq!((config.problems.len(), config.untrusted.len()), (1, 0), "{text}");
    }
}

#[test]
fn what_will_not_do_is_said_and_left_out() {
    for text in [
        "api_key_command = 1",
        "api_key_command = ['']",
        "api_key_command = ['a', 2]",
        "headers.X = \"a\\nb\"",
        "headers.X = 'né'",
        "context = 255",
        "context = -1",
        "output = 100000001",
        "output = 1.5",
        "parallel = 0",
        "parallel = 1001",
        "parallel = 'many'",
        "models.m.parallel = 2",
        "price = [1]",
        "price = [1, 2, 3, 4, 5]",
        "price = [-1, 2]",
        "price = [inf, 2]",
        "price = [nan, 2]",
        "price = [1e9, 2]",
        "price = [99999999999999999999, 2]",
        "price = ['1', 2]",
        "price = 'free'",
        "price = []",
        "models.m.price = 3",
        "models.m.wrong = 3",
        "models.m = 3",
    ] {
        let config = World::new().file(USER, format!("[provider.anthropic]\n{text}")).build();
        let told = problems(&config);
        assert_eq!(told.len(), 1, "{text}: {told:?}");
        let found = provider(&config, "anthropic");
        assert_eq!(found.facts_of("m"), ModelFacts::default(), "{text}");
        assert_eq!((found.api_key_command, found.headers.len()), (None, 0), "{text}");
        assert_eq!(found.parallel, None, "{text}");
    }
}

#[test]
fn servers_on_this_machine_want_no_key() {
    let config = World::new().build();
    for (name, _, base_url, variable) in PROVIDER_PRESETS {
        let found = provider(&config, name);
        assert_eq!(found.api_key_env.as_deref().unwrap_or_default(), *variable);
        assert_eq!(base_url.starts_with("http://127.0.0.1:"), variable.is_empty(), "{name}");
    }
    assert!(!config.key_variables.contains(""));
    let local = World::new().file(USER, "model = 'ollama/qwen3:8b'").build();
    assert_eq!(problems(&local), Vec::<String>::new());
}

#[test]
fn a_key_that_is_printed_is_not_missing() {
    let text = "model = 'openai/gpt-6.1-sol'\nprovider.openai.api_key_command = 'pass show o'";
    assert_eq!(problems(&World::new().file(USER, text).build()), Vec::<String>::new());
    let config = World::new().file(USER, "model = 'openai/gpt-6.1-sol'").build();
    assert!(problems(&config)[0].contains("set `OPENAI_API_KEY`"), "{:?}", config.problems);
}

#[test]
fn thinking_is_configured_for_a_provider_or_a_model() {
    let text = "[provider.anthropic]\nthinking = 'high'\nmodels.\"quick.1\".thinking = 'off'\nmodels.m.lean = true";
    let config = World::new().file(USER, text).build();
    let found = provider(&config, "anthropic");
    assert_eq!(found.facts_of("m").thinking, Some(Thinking::High));
    assert_eq!(found.facts_of("quick.1").thinking, Some(Thinking::Off));
    assert_eq!(provider(&World::new().build(), "anthropic").facts_of("m").thinking, None);
    for level in Thinking::ALL {
        let text = format!("provider.anthropic.thinking = '{}'", level.as_str());
        let config = World::new().file(USER, text).build();
        assert_eq!(provider(&config, "anthropic").facts_of("m").thinking, Some(*level));
    }
    for wrong in ["'most'", "true", "4096", "''", "'High'"] {
        let text = format!("provider.anthropic.thinking = {wrong}");
        let config = World::new().file(USER, &text).build();
        let said = problems(&config).join("\n");
        assert!(said.contains("must be one of `off`, `minimal`, `low`, "), "{said}");
        assert_eq!(provider(&config, "anthropic").facts_of("m").thinking, None);
    }
}

#[test]
fn requests_get_parts_of_a_query_and_members_of_any_form() {
    let text = "[provider.anthropic]\nquery.api-version = '2026-10-01'\nurl_exact = true\ncache = '1h'\n\
                [provider.anthropic.body]\ntopK = 1.5\nlist = [1, 'é', { deep = false }]\nreasoning.effort = 'max'";
    let config = World::new().file(USER, text).flag("provider.anthropic.body.top_p=0.5").build();
    assert_eq!(problems(&config), Vec::<String>::new());
    let found = provider(&config, "anthropic");
    assert_eq!(found.query["api-version"], "2026-10-01");
    let body: serde_json::Map<_, _> = found.body.clone().into_iter().collect();
    let expected = json!({"topK": 1.5, "list": [1, "é", {"deep": false}], "reasoning": {"effort": "max"}, "top_p": 0.5});
    assert_eq!(serde_json::Value::from(body), expected);
    assert!(found.url_exact && found.cache == CacheLife::Hour);
    // A part of a query may be secret, and is known as such.
    assert!(config.headers.iter().any(|(name, _)| name == "api-version"));
    // An editor's names of members are the server's.
    let body = json!({"provider": {"anthropic": {"body": {"topK": 3, "removed": null}}}});
    let found = provider(&World::new().initialization(body).build(), "anthropic");
    assert_eq!(found.body.keys().collect::<Vec<_>>(), ["topK"]);
    for wrong in [
        "cache = '5 minutes'",
        "cache = 5",
        "url_exact = 'yes'",
        "query.v = 1",
        "body = 1",
        "body.x = 2020-01-01",
        "body.messages = []",
        "body.stream = false",
        "body.tools = []",
    ] {
        let config = World::new().file(USER, format!("[provider.anthropic]\n{wrong}")).build();
        assert_eq!(problems(&config).len(), 1, "{wrong}: {:?}", config.problems);
        assert_eq!(provider(&config, "anthropic").body.len(), 0, "{wrong}");
    }
}

#[test]
fn every_header_that_counts_is_known_also_of_half_a_provider() {
    let text =
        "[provider.anthropic.headers]\nX-Api-Key = 'one'\n[provider.half.headers]\nCookie = 'two'";
    let flag = "provider.anthropic.headers.X-Api-Key=three";
    let config = World::new().file(USER, text).flag(flag).build();
    let found: Vec<_> =
        config.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    assert_eq!(found, ["Cookie: two", "X-Api-Key: one", "X-Api-Key: three"]);
}

#[test]
fn the_lean_set_is_configured_for_a_provider_or_a_model() {
    let text = "[provider.anthropic]\nlean = true\nimages = true\nmodels.\"big.1\".lean = false";
    let config = World::new().file(USER, text).build();
    assert_eq!(problems(&config), Vec::<String>::new());
    let found = provider(&config, "anthropic");
    assert_eq!((found.facts_of("m").lean, found.facts_of("big.1").lean), (Some(true), Some(false)));
    assert_eq!(found.facts_of("big.1").images, Some(true));
    assert_eq!(provider(&World::new().build(), "anthropic").facts_of("m").lean, None);
    let wrong = World::new().file(USER, "provider.anthropic.lean = 'auto'").build();
    assert!(problems(&wrong)[0].contains("must be `true` or `false`"), "{:?}", wrong.problems);
    assert_eq!(provider(&wrong, "anthropic").facts_of("m").lean, None);
}

#[test]
fn what_commands_are_given_is_for_nobody_but_the_user_to_say() {
    let said = "commands.environment = ['NPM_TOKEN', 'MY_TOOL']";
    let named = |world: World| world.build().commands.environment;
    let both = ["NPM_TOKEN", "MY_TOOL"];
    assert_eq!(named(World::new().file(USER, said)), both);
    assert_eq!(named(World::new().file(SYSTEM, said)), both);
    assert_eq!(named(World::new().flag("commands.environment=['NPM_TOKEN', 'MY_TOOL']")), both);
    for refused in [
        World::new().file(PROJECT, said),
        World::new().initialization(json!({"commands": {"environment": both}})),
        World::new().settings(json!({"ropewalk.commands.environment": both})),
    ] {
        let config = refused.build();
        assert!(config.commands.environment.is_empty());
        let told = problems(&config);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("put it into ~/.config/ropewalk/config.toml"), "{told:?}");
        // It is nothing that trust in a folder gives.
        assert_eq!(config.untrusted, []);
    }
}

#[test]
fn whom_to_trust_is_for_nobody_but_the_user_to_say() {
    let said = "ca_file = 'certs/own.pem'";
    let file = |world: World| world.build().ca_file;
    let folder = |path: &str| Some(std::path::PathBuf::from(path));
    assert_eq!(
        file(World::new().file(USER, said)),
        folder("/home/ada/.config/ropewalk/certs/own.pem")
    );
    assert_eq!(file(World::new().file(SYSTEM, said)), folder("/etc/ropewalk/certs/own.pem"));
    assert_eq!(file(World::new().file(USER, "ca_file = '~/own.pem'")), folder("/home/ada/own.pem"));
    assert_eq!(file(World::new().flag("ca_file=own.pem")), folder("own.pem"));
    for refused in [
        World::new().file(PROJECT, said),
        World::new().initialization(json!({"caFile": "/code/app/evil.pem"})),
        World::new().settings(json!({"ropewalk.ca_file": "/code/app/evil.pem"})),
    ] {
        let config = refused.build();
        assert_eq!(config.ca_file, None);
        let told = problems(&config);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("put it into ~/.config/ropewalk/config.toml"), "{told:?}");
        assert_eq!(config.untrusted, []);
    }
    for wrong in ["ca_file = ''", "ca_file = 3", "ca_file = \"a\\u0000\""] {
        let config = World::new().file(USER, wrong).build();
        assert_eq!((problems(&config).len(), config.ca_file), (1, None), "{wrong}");
    }
}
