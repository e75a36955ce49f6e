//! A project's configuration may make things stricter, nothing else.

use proptest::prelude::*;
use proptest::sample;
use serde_json::json;

use crate::world::{PROJECT, SECOND, USER, World, check, value};

/// The user's text, the project's, the values that hold, the words of the refusal.
struct Case(&'static str, &'static str, &'static str, &'static [&'static str]);

const PROMPT: &str = "/code/app/.ropewalk/prompt.md";
const AT: &str = "/code/app/.ropewalk/config.toml:1";

const CASES: &[Case] = &[
    // Stricter: taken.
    Case("", "mode = 'plan'", "mode = \"plan\" < P", &[]),
    Case("mode = 'auto'", "mode = 'review'", "mode = \"review\" < P", &[]),
    Case("", "limits.steps = 10", "limits.steps = 10 < P", &[]),
    Case("", "mechanisms.todos = false", "mechanisms.todos = false < P", &[]),
    Case("", "tools = ['bash']", "tools = [\"bash\"] < P", &[]),
    Case("", "tools = []", "tools = [] < P", &[]),
    Case(
        "tools = ['bash', 'read_file']",
        "tools = ['read_file']",
        "tools = [\"read_file\"] < P",
        &[],
    ),
    // Values that hold anyway get no word.
    Case("mode = 'plan'", "mode = 'plan'", "mode = \"plan\" < U", &[]),
    Case("", "limits.steps = 50", "limits.steps = 50 < built in", &[]),
    Case("", "mechanisms.todos = true", "mechanisms.todos = true < built in", &[]),
    // Looser: ignored unless trusted.
    Case("", "mode = 'auto'", "mode = \"review\" < built in", UNTRUSTED),
    Case("mode = 'plan'", "mode = 'review'", "mode = \"plan\" < U", UNTRUSTED),
    Case("", "limits.steps = 51", "limits.steps = 50 < built in", UNTRUSTED),
    Case("limits.steps = 5", "limits.steps = 6", "limits.steps = 5 < U", UNTRUSTED),
    Case(
        "mechanisms.todos = false",
        "mechanisms.todos = true",
        "mechanisms.todos = false < U",
        UNTRUSTED,
    ),
    Case("tools = ['bash']", "tools = ['bash', 'edit_file']", "tools = [\"bash\"] < U", UNTRUSTED),
    // Not a project's business unless trusted.
    Case(
        "",
        "model = 'anthropic/other'",
        "model = \"anthropic/claude-sonnet-5-5\" < ANTHROPIC_API_KEY",
        UNTRUSTED,
    ),
    Case("", "allow = ['bash(*)']", "allow = [] < built in", UNTRUSTED),
    Case("", "log = 'trace'", "log = \"info\" < built in", UNTRUSTED),
    Case("", "system_prompt_append = '1'", "system_prompt_append = none < built in", UNTRUSTED),
    Case("", "system_prompt_file = 'prompt.md'", "system_prompt_file = none < built in", UNTRUSTED),
    Case(
        "",
        "provider.anthropic.base_url = 'http://localhost:6'",
        "provider.anthropic.base_url = \"https://api.anthropic.com\" < built in",
        UNTRUSTED,
    ),
    Case(
        "",
        "provider.anthropic.api_key_env = 'HOME'",
        "provider.anthropic.api_key_env = \"ANTHROPIC_API_KEY\" < built in",
        UNTRUSTED,
    ),
    Case(
        "",
        "provider.anthropic.protocol = 'openai'",
        "provider.anthropic.protocol = \"anthropic\" < built in",
        UNTRUSTED,
    ),
    // Wrong values are told as anywhere.
    Case(
        "",
        "limits.steps = 0",
        "limits.steps = 50 < built in",
        &["`limits.steps` in P must be a whole number from 1 to 10000, not 0; it is ignored"],
    ),
];

/// One sentence that names the key, and the question.
const UNTRUSTED: &[&str] = &["untrusted"];

#[test]
fn stricter_only() {
    for Case(user, project, value, problems) in CASES {
        let world = World::new().file(USER, user).file(PROJECT, project).file(PROMPT, "Be brief.");
        let place = |text: &str| {
            let key = value.split(" = ").next().unwrap();
            let untrusted = format!(
                "`{key}` in /code/app/.ropewalk/config.toml is ignored unless you trust that folder, which `ropewalk trust` asks: a project's configuration may only make things stricter by itself"
            );
            let text =
                text.replace("< P", &format!("< {AT}")).replace("in P ", &format!("in {AT} "));
            text.replace("< U", "< ~/.config/ropewalk/config.toml:1")
                .replace("untrusted", &untrusted)
        };
        let problems: Vec<String> = problems.iter().map(|text| place(text)).collect();
        let problems: Vec<&str> = problems.iter().map(String::as_str).collect();
        check(&world, &[&place(value)], &problems);
        let asked = usize::from(problems.first().is_some_and(|text| text.contains("trust")));
        assert_eq!(world.build().untrusted.len(), asked, "{project}");
    }
}

#[test]
fn of_several_roots_the_strictest_holds_in_either_order() {
    let strict = "mode = 'plan'\nlimits.steps = 5\ntools = ['bash', 'read_file']\n[mechanisms]\ntodos = false";
    let less = "mode = 'review'\nlimits.steps = 6\ntools = ['read_file', 'edit_file']\n[mechanisms]\ntodos = true";
    for (first, second) in [(strict, less), (less, strict)] {
        let world = World::new().file(PROJECT, first).file(SECOND, second);
        let config = world.build();
        assert_eq!(config.problems, []);
        assert_eq!(config.mode.as_str(), "plan");
        assert_eq!(config.limits.steps, 5);
        assert_eq!(config.tools, Some(vec!["read_file".to_owned()]));
        assert!(!config.mechanism_enabled("todos"));
    }
}

#[test]
fn only_the_user_s_explicit_choice_goes_past_a_project() {
    let world = World::new().file(USER, "mode = 'auto'").file(PROJECT, "mode = 'plan'");
    check(&world, &["mode = \"plan\" < /code/app/.ropewalk/config.toml:1"], &[]);
    let chosen = world.clone().settings(json!({"mode": "review"}));
    check(&chosen, &["mode = \"review\" < the editor's settings"], &[]);
    check(&chosen.flag("mode=auto"), &["mode = \"auto\" < -c"], &[]);
}

#[test]
fn how_long_sessions_are_kept_is_no_business_of_a_projects() {
    let wishes = "sessions.keep_days = 1\n[sessions]\nkeep_megabytes = 1_000_000\n";
    let config = World::new().file(PROJECT, wishes).build();
    assert!(config.untrusted.is_empty(), "it can't be trusted with it either");
    check(
        &World::new()
            .file(USER, "sessions.keep_days = 7\nsessions.keep_megabytes = 0")
            .file(PROJECT, "sessions.keep_days = 1")
            .flag("sessions.keep_megabytes=64"),
        &[
            "sessions.keep_days = 7 < ~/.config/ropewalk/config.toml:1",
            "sessions.keep_megabytes = 64 < -c",
        ],
        &[
            "`sessions.keep_megabytes` in ~/.config/ropewalk/config.toml:2 must be a whole number from 1 to 1000000, not 0; it is ignored",
            "`sessions.keep_days` in /code/app/.ropewalk/config.toml:1 is ignored: it is about more than this project; put it into ~/.config/ropewalk/config.toml",
        ],
    );
}

/// Lines that are right, or nearly, in any number and order.
fn lines() -> impl Strategy<Value = String> {
    let names = sample::subsequence(vec!["bash", "read_file", "edit_file"], 0..=3);
    let line = prop_oneof![
        sample::select(vec!["auto", "review", "plan"]).prop_map(|mode| format!("mode = '{mode}'")),
        (sample::select(LIMITS), 0..200_000).prop_map(|(limit, n)| format!("limits.{limit} = {n}")),
        (sample::select(vec!["todos", "self_check"]), any::<bool>())
            .prop_map(|(name, on)| format!("mechanisms.{name} = {on}")),
        names.prop_map(|names| format!("tools = {names:?}")),
        sample::select(vec![
            "model = 'anthropic/x'",
            "allow = ['bash(*)']",
            "log = 'trace'",
            "system_prompt_file = 'p'",
            "system_prompt_append = 'p'",
            "provider.anthropic.base_url = 'https://x'",
            "provider.anthropic.api_key_env = 'X'",
            "provider.x.protocol = 'openai'",
            "provider.x.base_url = 'https://x'",
        ])
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"))
}

const LIMITS: &[&str] = &[
    "steps",
    "output_tokens",
    "tool_output",
    "command_seconds",
    "identical_failures",
    "idle_seconds",
    "first_byte_seconds",
    "retry_seconds",
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn no_project_loosens_anything(user in lines(), first in lines(), second in lines()) {
        let world = World::new().file(USER, &user);
        let own = world.build();
        let with = world.file(PROJECT, &first).file(SECOND, &second).build();
        prop_assert!(with.mode >= own.mode);
        for limit in LIMITS {
            let bound = |config| value(config, &format!("limits.{limit}")).parse::<u32>().unwrap();
            prop_assert!(bound(&with) <= bound(&own), "{}", limit);
        }
        for tool in ["bash", "read_file", "edit_file"] {
            prop_assert!(own.tool_enabled(tool) || !with.tool_enabled(tool), "{}", tool);
        }
        for mechanism in ["todos", "self_check"] {
            prop_assert!(own.mechanism_enabled(mechanism) || !with.mechanism_enabled(mechanism));
        }
        prop_assert_eq!(&with.providers, &own.providers);
        prop_assert_eq!(&with.model, &own.model);
        prop_assert_eq!(&with.allow, &own.allow);
        prop_assert_eq!(&with.log, &own.log);
        prop_assert_eq!(&with.system_prompt_file, &own.system_prompt_file);
        prop_assert_eq!(&with.system_prompt_append, &own.system_prompt_append);
    }
}
