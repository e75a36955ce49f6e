//! Which layer wins, what is built in, and what is watched.

use serde_json::json;

use crate::world::{PROJECT, RULES, SECOND, SYSTEM, TRUST, USER, World, check};

#[test]
fn built_in() {
    check(
        &World::new(),
        &[
            "model = \"anthropic/claude-sonnet-5-5\" < ANTHROPIC_API_KEY",
            "mode = \"review\" < built in",
            "tools = none < built in",
            "mechanisms.todos = true < built in",
            "allow = [] < built in",
            "log = \"info\" < built in",
            "system_prompt_file = none < built in",
            "system_prompt_append = none < built in",
            "limits.steps = 50 < built in",
            "limits.output_tokens = 1000000 < built in",
            "limits.tool_output = 50000 < built in",
            "limits.command_seconds = 120 < built in",
            "limits.identical_failures = 3 < built in",
            "limits.idle_seconds = 60 < built in",
            "limits.first_byte_seconds = 120 < built in",
            "limits.retry_seconds = 60 < built in",
            "provider.anthropic.protocol = \"anthropic\" < built in",
            "provider.anthropic.base_url = \"https://api.anthropic.com\" < built in",
            "provider.anthropic.api_key_env = \"ANTHROPIC_API_KEY\" < built in",
        ],
        &[],
    );
}

#[test]
fn each_layer_overrides_the_one_below() {
    let mut world = World::new().file(SYSTEM, "limits.steps = 90");
    check(&world, &["limits.steps = 90 < /etc/ropewalk/config.toml:1"], &[]);
    world = world.file(USER, "\n[limits]\nsteps = 80");
    check(&world, &["limits.steps = 80 < ~/.config/ropewalk/config.toml:3"], &[]);
    world = world.file(PROJECT, "limits.steps = 70");
    check(&world, &["limits.steps = 70 < /code/app/.ropewalk/config.toml:1"], &[]);
    world = world.initialization(json!({"limits": {"steps": 75}}));
    check(&world, &["limits.steps = 75 < initializationOptions"], &[]);
    world = world.settings(json!({"limits": {"steps": 76}}));
    check(&world, &["limits.steps = 76 < the editor's settings"], &[]);
    world = world.flag("limits.steps=77").flag("limits.steps=78");
    check(&world, &["limits.steps = 78 < -c"], &[]);
}

#[test]
fn fields_of_a_provider_come_from_different_layers() {
    let world = World::new()
        .file(
            SYSTEM,
            "[provider.local]\nprotocol = \"openai\"\nbase_url = \"http://localhost:1/v1/\"",
        )
        .flag("provider.local.base_url=http://127.0.0.1:8080")
        .flag("model=local/org/qwen");
    check(
        &world,
        &[
            "model = \"local/org/qwen\" < -c",
            "provider.local.protocol = \"openai\" < /etc/ropewalk/config.toml:2",
            "provider.local.base_url = \"http://127.0.0.1:8080\" < -c",
            "provider.local.api_key_env = none < built in",
        ],
        &[],
    );
    let config = world.build();
    assert_eq!(config.model.as_ref().unwrap().name, "org/qwen");
    assert_eq!(config.model_provider().unwrap().base_url, "http://127.0.0.1:8080");
}

#[test]
fn a_preset_is_overridden_field_by_field() {
    let world = World::new()
        .file(USER, "[provider.anthropic]\nbase_url = \"http://localhost:9\"\napi_key_env = \"\"");
    check(
        &world,
        &[
            "provider.anthropic.protocol = \"anthropic\" < built in",
            "provider.anthropic.base_url = \"http://localhost:9\" < ~/.config/ropewalk/config.toml:2",
            "provider.anthropic.api_key_env = none < ~/.config/ropewalk/config.toml:3",
        ],
        &[],
    );
}

#[test]
fn the_user_file_follows_xdg() {
    let world = World::new()
        .file("/cfg/ropewalk/config.toml", "mode = \"plan\"")
        .file(USER, "mode = \"auto\"");
    let absolute = world.clone().var("XDG_CONFIG_HOME", "/cfg");
    check(&absolute, &["mode = \"plan\" < /cfg/ropewalk/config.toml:1"], &[]);
    for ignored in ["cfg", ""] {
        let relative = world.clone().var("XDG_CONFIG_HOME", ignored);
        check(&relative, &["mode = \"auto\" < ~/.config/ropewalk/config.toml:1"], &[]);
    }
}

#[test]
fn without_a_home_the_rest_still_counts() {
    let mut world = World::new().file(USER, "mode = \"auto\"").flag("system_prompt_file=~/p.md");
    world.home = None;
    check(
        &world,
        &["mode = \"review\" < built in", "system_prompt_file = none < built in"],
        &["`system_prompt_file` in -c is ignored: the home folder for `~` is not known"],
    );
}

#[test]
fn a_path_starts_at_the_file_that_names_it() {
    let from = |text: &str| World::new().file(USER, format!("system_prompt_file = \"{text}\""));
    let place = "< ~/.config/ropewalk/config.toml:1";
    for (written, found) in [
        ("prompt.md", "/home/ada/.config/ropewalk/prompt.md"),
        ("~/prompt.md", "/home/ada/prompt.md"),
        ("/srv/prompt.md", "/srv/prompt.md"),
    ] {
        let world = from(written);
        check(&world, &[&format!("system_prompt_file = \"{found}\" {place}")], &[]);
        assert_eq!(world.build().watched.last().unwrap().to_str().unwrap(), found);
    }
    let flag = World::new().flag("system_prompt_file=prompt.md");
    check(&flag, &["system_prompt_file = \"prompt.md\" < -c"], &[]);
    check(
        &World::new().settings(json!({"systemPromptFile": "prompt.md"})),
        &["system_prompt_file = none < built in"],
        &[
            "`system_prompt_file` in the editor's settings is ignored: in an editor's settings a path must be absolute or begin with `~/`",
        ],
    );
}

#[test]
fn watched_are_the_files_of_all_layers_whether_they_exist_or_not() {
    let watched = World::new().build().watched;
    let watched: Vec<_> = watched.iter().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(
        watched,
        [
            SYSTEM,
            USER,
            RULES,
            PROJECT,
            SECOND,
            "/home/ada/.config/ropewalk/AGENTS.md",
            "/code/app/AGENTS.md",
            "/code/app/CLAUDE.md",
            "/code/app/.github/copilot-instructions.md",
            "/code/lib/AGENTS.md",
            "/code/lib/CLAUDE.md",
            "/code/lib/.github/copilot-instructions.md",
            TRUST
        ],
        "in the order of the layers"
    );
}

#[test]
fn building_again_applies_an_edit_and_its_removal() {
    let world = World::new();
    let before = world.build();
    let edited = world.clone().file(USER, "mode = \"plan\"");
    assert_ne!(edited.build(), before);
    assert_eq!(edited.build(), edited.build());
    assert_eq!(world.build(), before);
}
