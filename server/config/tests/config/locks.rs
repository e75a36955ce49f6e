//! Locks: what the system's file locks, no other layer sets, and each that tries is told.

use serde_json::json;

use crate::world::{PROJECT, RULES, SYSTEM, USER, World, check};

#[test]
fn a_locked_key_keeps_the_system_s_value_or_the_default_whoever_sets_it() {
    let world = World::new()
        .file(SYSTEM, "mode = 'review'\nlocked = ['mode',\n  'limits.*', 'allow', 'provider.*.base_url']\nallow = ['bash(ls *)']\nlimits.steps = 9")
        .file(USER, "mode = 'auto'\nlimits.idle_seconds = 7\nallow = ['bash(*)']\nlog = 'debug'")
        .file(RULES, "allow = ['bash(rm *)']\ndeny = ['bash(ssh *)']")
        .file(PROJECT, "mode = 'plan'\nlimits.steps = 1")
        .initialization(json!({"mode": "auto"}))
        .settings(json!({"limits": {"steps": 99}}))
        .flag("provider.anthropic.base_url=http://localhost:6");
    check(
        &world,
        &[
            "mode = \"review\" < /etc/ropewalk/config.toml:1",
            "limits.steps = 9 < /etc/ropewalk/config.toml:5",
            "limits.idle_seconds = 60 < built in",
            "allow = [\"bash(ls *)\"] < /etc/ropewalk/config.toml:4",
            "deny = [\"bash(ssh *)\"] < ~/.config/ropewalk/rules.toml:2",
            "log = \"debug\" < ~/.config/ropewalk/config.toml:4",
            "provider.anthropic.base_url = \"https://api.anthropic.com\" < built in",
        ],
        &[
            "`mode` in ~/.config/ropewalk/config.toml:1 is ignored: it is locked by /etc/ropewalk/config.toml:2",
            "`limits.idle_seconds` in ~/.config/ropewalk/config.toml:2 is ignored: it is locked by /etc/ropewalk/config.toml:3",
            "`allow` in ~/.config/ropewalk/config.toml:3 is ignored: it is locked by /etc/ropewalk/config.toml:3",
            "`allow` in ~/.config/ropewalk/rules.toml:1 is ignored: it is locked by /etc/ropewalk/config.toml:3",
            "`mode` in /code/app/.ropewalk/config.toml:1 is ignored: it is locked by /etc/ropewalk/config.toml:2",
            "`limits.steps` in /code/app/.ropewalk/config.toml:2 is ignored: it is locked by /etc/ropewalk/config.toml:3",
            "`mode` in initializationOptions is ignored: it is locked by /etc/ropewalk/config.toml:2",
            "`limits.steps` in the editor's settings is ignored: it is locked by /etc/ropewalk/config.toml:3",
            "`provider.anthropic.base_url` in -c is ignored: it is locked by /etc/ropewalk/config.toml:3",
        ],
    );
    let config = world.build();
    for key in ["mode", "limits.steps", "allow", "provider.x.base_url"] {
        assert!(config.is_locked(key).is_some(), "{key}");
    }
    for key in ["model", "deny", "provider.x.protocol", "limits", ""] {
        assert!(config.is_locked(key).is_none(), "{key}");
    }
}

#[test]
fn patterns() {
    for (pattern, locked) in [
        ("limits", "limits.steps"),
        ("limits.*", "limits.steps"),
        ("provider.*", "provider.local.base_url"),
        ("provider.local", "provider.local.base_url"),
        ("provider.local.api_key_env", "provider.local.api_key_env"),
        ("mechanisms.instructions", "mechanisms.instructions"),
        ("*", "mode"),
        ("locked", "locked"),
    ] {
        let config = World::new().file(SYSTEM, format!("locked = ['{pattern}']")).build();
        assert_eq!(config.problems, [], "{pattern}");
        let source = config.is_locked(locked).unwrap();
        assert_eq!(source.to_string(), "/etc/ropewalk/config.toml:1");
    }
    check(
        &World::new()
            .file(SYSTEM, "locked = ['mod', '', 'mode.x', 'provider..base_url', 1, 'log']"),
        &["locked = [\"log\"] < /etc/ropewalk/config.toml:1"],
        &[
            "`locked` in /etc/ropewalk/config.toml:1 names no key with `mod`, which locks nothing: did you mean `mode`?",
            "`locked` in /etc/ropewalk/config.toml:1 names no key with ``, which locks nothing",
            "`locked` in /etc/ropewalk/config.toml:1 names no key with `mode.x`, which locks nothing: did you mean `model`?",
            "`locked` in /etc/ropewalk/config.toml:1 names no key with `provider..base_url`, which locks nothing",
            "`locked` in /etc/ropewalk/config.toml:1 may only list text, not a whole number; that entry is ignored",
        ],
    );
}

#[test]
fn only_the_system_locks() {
    let world = World::new()
        .file(USER, "locked = ['mode']\nmode = 'plan'")
        .file(PROJECT, "locked = ['model']")
        .flag("locked=['log']");
    let ignored = |place: &str| {
        format!("`locked` in {place} is ignored: only /etc/ropewalk/config.toml locks keys")
    };
    check(
        &world,
        &["locked = [] < built in", "mode = \"plan\" < ~/.config/ropewalk/config.toml:2"],
        &[
            &ignored("~/.config/ropewalk/config.toml:1"),
            &ignored("/code/app/.ropewalk/config.toml:1"),
            &ignored("-c"),
        ],
    );
    assert_eq!(world.build().untrusted, []);
}

#[test]
fn a_system_file_that_others_can_write_says_nothing() {
    let mut world = World::new().file(SYSTEM, "allow = ['bash(*)']\nlocked = ['mode']");
    world.system_is_open = true;
    check(
        &world,
        &["allow = [] < built in", "locked = [] < built in"],
        &["/etc/ropewalk/config.toml can't be read: others can write it; it is skipped"],
    );
}

#[cfg(unix)]
#[test]
fn on_the_real_disk_the_owner_and_the_rights_decide() {
    use ropewalk_config::{Environment, RealEnvironment};
    use std::os::unix::fs::PermissionsExt;
    let read = |path: &std::path::Path| RealEnvironment.read_system(path, 4);
    assert_eq!(read("/etc/passwd".as_ref()).unwrap().len(), 4);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    assert_eq!(read(&file).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    std::fs::write(&file, "mode").unwrap();
    for (of_folder, of_file) in [(0o755, 0o666), (0o755, 0o664), (0o777, 0o644)] {
        for (path, mode) in [(folder.path(), of_folder), (&file, of_file)] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let error = read(&file).unwrap_err().to_string();
        assert!(error.contains("must belong to root and be writable for nobody else"), "{error}");
    }
}
