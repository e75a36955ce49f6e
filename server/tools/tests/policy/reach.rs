//! How far a command reaches decides whether the user is asked.

use ropewalk_tools::{
    Decision, Ground, Mode, Prepared, Reach, Registry, Rule, Rules, Tier, decide,
};
use ropewalk_workspace::{Fork, Roots, Workspace};
use serde_json::json;
use std::path::Path;

struct World {
    workspace: Workspace,
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("w/src")).unwrap();
        std::fs::write(dir.path().join("w/src/a.rs"), "a\n").unwrap();
        let roots = Roots::new(vec![("w".into(), dir.path().join("w"))]);
        Self { workspace: Workspace::new(roots), dir }
    }

    fn reach(&self, call: &Prepared, tier: Tier) -> Reach {
        let view = Fork::new("s".into()).view(self.workspace.snapshot());
        Reach::of(&call.subject, &view, &Ground { tier, ..Ground::default() })
    }

    fn decided(&self, command: &str, network: bool, tier: Tier, allow: &[Rule]) -> Decision {
        let call = bash(command, network);
        let rules = Rules { allow: allow.to_vec(), ..Rules::default() };
        let reach = self.reach(&call, tier);
        decide(&call, &[], &reach, Mode::Review, &rules, &[]).decision
    }
}

fn bash(command: &str, network: bool) -> Prepared {
    let input = json!({"command": command, "network": network});
    Registry::standard().prepare("bash", input).unwrap()
}

fn asks(decision: &Decision, words: &str) -> bool {
    matches!(decision, Decision::Ask(why) if why.contains(words))
}

#[test]
fn over_the_fork_only_what_reaches_beyond_it_is_asked() {
    let world = World::new();
    let inside = [
        "ls",
        "cat src/a.rs > b",
        "cargo test",
        "rm -r src",
        "cat /etc/hostname",
        "ls /",
        "cat src/../src/a.rs",
    ];
    for command in inside {
        assert_eq!(
            world.decided(command, false, Tier::OverFork, &[]),
            Decision::Allow,
            "{command}"
        );
        assert!(
            asks(&world.decided(command, true, Tier::OverFork, &[]), "the network"),
            "{command}"
        );
        assert!(asks(&world.decided(command, false, Tier::Copy, &[]), "a copy"), "{command}");
        assert!(
            asks(&world.decided(command, false, Tier::InPlace, &[]), "on the disk"),
            "{command}"
        );
    }
    let all: Vec<Rule> = vec!["bash(*)".parse().unwrap()];
    for tier in [Tier::OverFork, Tier::Copy, Tier::InPlace] {
        assert_eq!(world.decided("ls", true, tier, &all), Decision::Allow);
    }
}

#[test]
fn what_is_denied_asked_or_secret_is_so_over_the_fork_too() {
    let world = World::new();
    let denied = world.decided("sudo ls", false, Tier::OverFork, &[]);
    assert!(matches!(&denied, Decision::Deny(text) if text.starts_with("Error: Dangerous")));
    assert!(asks(&world.decided("cat .env", false, Tier::OverFork, &[]), "secrets"));
    assert!(asks(&world.decided("echo $((", false, Tier::OverFork, &[]), "not understood"));
    let call = bash("git push origin", false);
    let reach = world.reach(&call, Tier::OverFork);
    let rule = || vec!["bash(git push *)".parse().unwrap()];
    let deny = Rules { deny: rule(), ..Rules::default() };
    let ask = Rules { ask: rule(), ..Rules::default() };
    let word = |mode, rules: &Rules| decide(&call, &[], &reach, mode, rules, &[]).decision.word();
    assert_eq!(word(Mode::Auto, &deny), "deny");
    assert_eq!(word(Mode::Auto, &ask), "ask");
    assert_eq!(word(Mode::Auto, &Rules::default()), "allow");
    assert_eq!(word(Mode::Plan, &Rules::default()), "deny");
}

#[cfg(unix)]
#[test]
fn paths_outside_are_named_and_the_offer_is_for_that_very_command() {
    let world = World::new();
    // Everything below /var but /var/tmp is neither open, nor the system's to read, nor a toolchain.
    let outside = Path::new("/var").canonicalize().unwrap();
    let here = world.dir.path().canonicalize().unwrap();
    let up = "../".repeat(here.components().count() + 1);
    let commands = [
        "ls /var".to_owned(),
        "cat < /var/".to_owned(),
        "env DIR=/var make".to_owned(),
        "grep -r x --include=/var".to_owned(),
        "ls /var/*".to_owned(),
        format!("ls {up}var"),
        "cd / && ls ./var/../var".to_owned(),
        "sh -c 'ls /var'".to_owned(),
        "cc -I/var x.c".to_owned(),
        "PATH=/usr/bin:/var ls".to_owned(),
        "ls /var | xargs echo; echo \"/var\"".to_owned(),
    ];
    for command in &commands {
        let call = bash(command, false);
        let reach = world.reach(&call, Tier::OverFork);
        assert_eq!(reach.outside, std::slice::from_ref(&outside), "{command}");
        let ruling = decide(&call, &[], &reach, Mode::Review, &Rules::default(), &[]);
        let Decision::Ask(why) = &ruling.decision else { panic!("{command}: {ruling:?}") };
        assert!(why.contains("outside the open folders"), "{why}");
        let offer = ruling.offer.map(|offer| offer.rule);
        assert!(offer.is_none_or(|rule| rule.in_words().starts_with("exactly")), "{command}");
    }
    let inside = [
        "ls /there/is/no/such/folder",
        "sed -n '/var x/p' src/a.rs",
        "echo a/var",
        "ls /tmp /usr/lib",
        "curl http://localhost/var",
        "cat \"$HOME_OF_NOBODY\"/x",
    ];
    for command in inside {
        let reach = world.reach(&bash(command, false), Tier::OverFork);
        assert_eq!(reach.outside, Vec::<std::path::PathBuf>::new(), "{command}");
    }
    let many = "/var ".repeat(5_000);
    assert_eq!(world.reach(&bash(&format!("ls {many}"), false), Tier::OverFork).outside.len(), 1);
}

#[test]
fn ropewalk_inside_of_a_command_is_refused_in_words_that_say_what_to_do() {
    let world = World::new();
    for command in [
        "ropewalk run hi",
        "/usr/bin/ropewalk",
        "cd src; env -i A=1 ./ropewalk lsp",
        "echo hi | xargs -n1 ropewalk run",
        "bash -c 'nohup ropewalk demo &'",
        "timeout 5 ropewalk doctor",
        "find . -exec ropewalk run {} \\;",
    ] {
        for tier in [Tier::OverFork, Tier::InPlace] {
            let allow = ["bash(*)".parse().unwrap()];
            let decided = world.decided(command, false, tier, &allow);
            let Decision::Deny(text) = decided else { panic!("{command}: {decided:?}") };
            assert!(text.starts_with("Error: Refused: ") && text.contains("tool task"), "{text}");
        }
    }
    for command in
        ["ropewalk --version", "ropewalk run --help", "grep ropewalk src/a.rs", "cat ropewalk"]
    {
        assert_eq!(
            world.decided(command, false, Tier::OverFork, &[]),
            Decision::Allow,
            "{command}"
        );
    }
}

#[cfg(unix)]
#[test]
fn what_cargo_prints_of_the_build_cache_may_be_named() {
    let world = World::new();
    let view = Fork::new("s".into()).view(world.workspace.snapshot());
    // Folders that are there and neither temporary nor the system's to read stand for the cache and for another.
    let builds = Path::new("/var/log").canonicalize().unwrap();
    let ground = Ground { tier: Tier::OverFork, builds: Some(builds), open_sockets: false };
    let outside = |command: &str| Reach::of(&bash(command, false).subject, &view, &ground).outside;
    assert_eq!(outside("/var/log/../log/; ls /var/log"), Vec::<std::path::PathBuf>::new());
    assert_eq!(outside("ls /var/log/.. /var/log"), [Path::new("/var").canonicalize().unwrap()]);
}

#[test]
fn an_old_kernels_open_sockets_are_said_where_the_network_is_asked_for() {
    let world = World::new();
    let view = Fork::new("s".into()).view(world.workspace.snapshot());
    for (open_sockets, network, said) in
        [(true, true, true), (true, false, false), (false, true, false)]
    {
        let call = bash("ls", network);
        let ground = Ground { tier: Tier::OverFork, open_sockets, ..Ground::default() };
        let reach = Reach::of(&call.subject, &view, &ground);
        let decision = decide(&call, &[], &reach, Mode::Review, &Rules::default(), &[]).decision;
        assert_eq!(asks(&decision, "sockets such as the desktop's"), said, "{decision:?}");
    }
}
