//! `verify`: one line that only the user gives, or a folder that they trust.

use crate::world::{PROJECT, SYSTEM, USER, World};
use serde_json::json;

#[test]
fn a_command_is_the_users_and_no_editors() {
    let said = "verify = ' make test '";
    for (world, command) in [
        (World::new().file(USER, said), Some("make test")),
        (World::new().file(SYSTEM, said), Some("make test")),
        (World::new().flag("verify=make test"), Some("make test")),
        (World::new().file(USER, said).flag("verify="), None),
        (World::new(), None),
    ] {
        let config = world.build();
        assert_eq!(config.verify.as_deref(), command, "{:?}", config.problems);
    }
    let json = json!({ "verify": "id" });
    for refused in [
        World::new().initialization(json.clone()),
        World::new().settings(json),
        World::new().settings(json!({ "ropewalk.verify": "id" })),
        World::new().file(PROJECT, said),
        World::new().file(USER, "verify = \"one\\ntwo\""),
        World::new().file(USER, "verify = ['make', 'test']"),
        World::new().file(USER, "verify = true"),
    ] {
        let config = refused.build();
        assert_eq!(config.verify, None);
        assert_eq!(config.problems.len(), 1, "{:?}", config.problems);
    }
}

#[test]
fn one_project_is_not_asked_twice_for_the_same_command() {
    let asks = |text: &str| World::new().file(PROJECT, text).build().untrusted.remove(0).hash;
    assert_eq!(asks("verify = 'make'"), asks("verify = ' make'"));
    assert_ne!(asks("verify = 'make'"), asks("verify = 'make all'"));
    let long = format!("verify = '{}'", "x".repeat(301));
    let config = World::new().file(PROJECT, &long).build();
    assert_eq!((config.untrusted.len(), config.problems.len()), (0, 1), "not all could be shown");
}
