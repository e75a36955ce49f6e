//! Messages about input that can't be used: the place, the expected form, and never a secret.

use serde_json::json;

use crate::world::{USER, World, check};

const U: &str = "~/.config/ropewalk/config.toml";

/// The user's file, and the problems with it; `U` stands for the file.
const CASES: &[(&str, &[&str])] = &[
    ("\n\nmodle = 'a/b'", &["unknown key `modle` in U:3: did you mean `model`?"]),
    ("modeel = 'a/b'", &["unknown key `modeel` in U:1: did you mean `model`?"]),
    ("temperature = 1", &["unknown key `temperature` in U:1: it is ignored"]),
    (
        "[limts]\nsteps = 1\noutput_tokens = 2",
        &["unknown key `limts` in U:1: did you mean `limits`?"],
    ),
    ("[limits]\nstepz = 1", &["unknown key `limits.stepz` in U:2: did you mean `limits.steps`?"]),
    ("steps = 1", &["unknown key `steps` in U:1: did you mean `limits.steps`?"]),
    (
        "provider.anthropic.baseurl = 'x'",
        &[
            "unknown key `provider.anthropic.baseurl` in U:1: did you mean `provider.anthropic.base_url`?",
        ],
    ),
    (
        "mode = 'Plan'",
        &["`mode` in U:1 must be one of `auto`, `review`, `plan`, not `Plan`; it is ignored"],
    ),
    (
        "mode = 1",
        &[
            "`mode` in U:1 must be one of `auto`, `review`, `plan`, not a whole number; it is ignored",
        ],
    ),
    (
        "mode = {a = 1}",
        &["`mode` in U:1 must be one of `auto`, `review`, `plan`, not a table; it is ignored"],
    ),
    (
        "model = 'claude'",
        &["`model` in U:1 must be text of the form `PROVIDER/NAME`; it is ignored"],
    ),
    (
        "limits.steps = 99_999",
        &["`limits.steps` in U:1 must be a whole number from 1 to 10000, not 99999; it is ignored"],
    ),
    (
        "limits.steps = -1",
        &["`limits.steps` in U:1 must be a whole number from 1 to 10000, not -1; it is ignored"],
    ),
    (
        "limits.steps = 1.5",
        &[
            "`limits.steps` in U:1 must be a whole number from 1 to 10000, not a number that is not whole; it is ignored",
        ],
    ),
    (
        "limits.steps = 99999999999999999999",
        &[
            "`limits.steps` in U:1 must be a whole number from 1 to 10000, not a number that can't be read; it is ignored",
        ],
    ),
    (
        "limits.steps = 2020-01-01",
        &[
            "`limits.steps` in U:1 must be a whole number from 1 to 10000, not a date or time; it is ignored",
        ],
    ),
    (
        "limits = 5",
        &["`limits` in U:1 should be a table of keys, not a whole number; it is ignored"],
    ),
    (
        "mechanisms.todos = 'no'",
        &["`mechanisms.todos` in U:1 must be `true` or `false`, not text; it is ignored"],
    ),
    (
        "mechanisms.todo = false",
        &[
            "`mechanisms.todo` in U:1 names an unknown mechanism, `todo`, which is ignored: did you mean `todos`?",
        ],
    ),
    (
        "tools = ['bsh', 'bash', 3, '']",
        &[
            "`tools` in U:1 names an unknown tool, `bsh`, which is ignored: did you mean `bash`?",
            "`tools` in U:1 may only list text, not a whole number; that entry is ignored",
            "`tools` in U:1 lists an empty text; that entry is ignored",
        ],
    ),
    (
        "tools = ['teleport']",
        &[
            "`tools` in U:1 names an unknown tool, `teleport`, which is ignored: there are bash, read_file, edit_file",
        ],
    ),
    ("log = ''", &["`log` in U:1 must be text; it is ignored"]),
    (
        "[provider.local]\nprotocol = 'smtp'\nbase_url = 'http://localhost:1'",
        &[
            "`provider.local.protocol` in U:2 names an unknown protocol, `smtp`, which is ignored: there are anthropic, openai",
            "`provider.local` in U:3 is not usable: `protocol` must be set too",
        ],
    ),
    (
        "[provider.'a/b']\nprotocol = 'openai'",
        &[
            "`provider.a/b.protocol` in U:2 is ignored: the name of a provider may hold letters, digits, `-` and `_` only",
        ],
    ),
    (
        "[provider.local]\nprotocol = 'openai'",
        &["`provider.local` in U:2 is not usable: `base_url` must be set too"],
    ),
    (
        "[provider.local]\nprotocol = 'openai'\nbase_url = 'http://[::1]:5/v1'\napi_key_env = 'K'",
        &[],
    ),
    (
        "[provider.local]\nprotocol = 'openai'\nbase_url = 'http://10.0.0.2/v1'\napi_key_env = 'K'",
        &[
            "`provider.local.base_url` in U:3 sends the key unencrypted over the network: use `https://`",
        ],
    ),
    (
        "model = 'locl/x'",
        &[
            "`model` in U:1 names the provider `locl`, which is not set up: add `[provider.locl]` with `protocol` and `base_url` to U, or use one of `anthropic`, `deepseek`, `gemini`, `groq`, `llamacpp`, `lmstudio`, `minimax`, `mistral`, `moonshot`, `ollama`, `openai`, `openrouter`, `vllm`, `xai`, `zai`",
        ],
    ),
    (
        "model = 'x/y'\nprovider.x.protocol = 'openai'\nprovider.x.base_url = 'https://x.example'\nprovider.x.api_key_env = 'X_KEY'",
        &["the provider `x` needs a key: set `X_KEY` in the environment of the editor"],
    ),
];

#[test]
fn words() {
    for (text, problems) in CASES {
        let problems: Vec<String> = problems
            .iter()
            .map(|words| {
                words.replace("in U:", &format!("in {U}:")).replace("to U,", &format!("to {U},"))
            })
            .collect();
        let problems: Vec<&str> = problems.iter().map(String::as_str).collect();
        check(&World::new().file(USER, text), &[], &problems);
    }
}

#[test]
fn a_value_that_will_not_do_leaves_the_layer_below() {
    let world = World::new()
        .file(crate::world::SYSTEM, "limits.steps = 90")
        .file(USER, "limits.steps = 0\nmode = 'plan'");
    check(
        &world,
        &[
            "limits.steps = 90 < /etc/ropewalk/config.toml:1",
            "mode = \"plan\" < ~/.config/ropewalk/config.toml:2",
        ],
        &[
            "`limits.steps` in ~/.config/ropewalk/config.toml:1 must be a whole number from 1 to 10000, not 0; it is ignored",
        ],
    );
}

#[test]
fn without_a_model_or_a_key_it_says_what_to_set() {
    for empty in [None, Some(""), Some("  ")] {
        let mut world = World::new();
        world.vars.clear();
        if let Some(empty) = empty {
            world = world.var("ANTHROPIC_API_KEY", empty);
        }
        check(
            &world,
            &["model = none < built in"],
            &[
                "no model is set: put `model = \"anthropic/claude-sonnet-5-5\"` into ~/.config/ropewalk/config.toml, or set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` or `GROQ_API_KEY` in the environment of the editor (`ropewalk models` lists others), or start Ollama: `ollama serve`, with `model = \"ollama/NAME\"`",
            ],
        );
    }
}

#[test]
fn a_secret_is_refused_and_never_repeated() {
    const SECRET: &str = "sk-ant-s3cr3t";
    let files = [
        format!("api_key = '{SECRET}'"),
        format!("[provider.anthropic]\napi_key = '{SECRET}'"),
        format!("[provider.anthropic]\nkey = '{SECRET}'\ntoken = '{SECRET}'"),
        format!("ANTHROPIC_API_KEY = '{SECRET}'"),
        format!("[provider.anthropic]\napi_key_env = '{SECRET}'"),
        format!("provider.x.base_url = 'https://user:{SECRET}@example.com'"),
        format!("provider.x.base_url = 'https://example.com?key={SECRET}'"),
        format!("model = '{SECRET}'"),
        format!("api_key = '{SECRET}"),
        format!("api_key = {SECRET}"),
    ];
    for text in files {
        let config = World::new().file(USER, &text).build();
        assert!(!config.problems.is_empty(), "nothing is said of {text}");
        assert!(!format!("{config:?}").contains("s3cr3t"), "{text} leaks into {config:?}");
    }
    let json = json!({"provider": {"anthropic": {"apiKey": SECRET}}});
    let config =
        World::new().settings(json).flag(&format!("api_key={SECRET}")).flag(SECRET).build();
    assert_eq!(config.problems.len(), 3);
    assert!(config.problems[0].sentence.starts_with("`provider.anthropic.apiKey` in the editor's settings is ignored: a configuration holds no keys"));
    assert!(!format!("{config:?}").contains("s3cr3t"));
}

#[test]
fn settings_of_another_shape_are_skipped_in_words() {
    for (settings, what) in
        [(json!([1]), "a list"), (json!("x"), "text"), (json!({"ropewalk": 1}), "a whole number")]
    {
        let problem = format!(
            "the editor's settings should be an object of keys and values, not {what}; it is skipped"
        );
        check(&World::new().settings(settings), &[], &[&problem]);
    }
    check(
        &World::new().settings(json!({"limits": {"outputToken": 1}, "events2": true})),
        &[],
        &[
            "unknown key `limits.outputToken` in the editor's settings: did you mean `limits.outputTokens`?",
            "unknown key `events2` in the editor's settings: it is ignored",
        ],
    );
}
