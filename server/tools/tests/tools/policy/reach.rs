//! How far a command reaches decides whether the user is asked.

use ropewalk_protocol::Mode;
use ropewalk_tools::{Access, Call, CommandMode, Decision, Rule, Rules, RunnerInfo, decide};
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

    fn reach(&self, call: &Call, mode: CommandMode) -> Access {
        let view = Fork::new("s".into()).view(self.workspace.snapshot());
        Access::of(&call.subject, &view, &runner(mode))
    }

    fn decided(&self, command: &str, network: bool, mode: CommandMode, allow: &[Rule]) -> Decision {
        let call = bash(command, network);
        let rules = Rules { allow: allow.to_vec(), ..Rules::default() };
        let reach = self.reach(&call, mode);
        decide(&call, &[], &reach, Mode::Review, &rules, &[]).decision
    }
}

/// A runner whose commands see the system's folders.
fn runner(mode: CommandMode) -> RunnerInfo {
    let shows = |path: &Path| {
        let folders = ["/bin", "/dev", "/etc", "/lib", "/proc", "/tmp", "/usr", "/var/tmp"];
        path.parent().is_none() || folders.iter().any(|folder| path.starts_with(folder))
    };
    RunnerInfo { mode, shows, ..RunnerInfo::default() }
}

fn bash(command: &str, network: bool) -> Call {
    let input = json!({"command": command, "network": network});
    super::prepared("bash", input)
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
            world.decided(command, false, CommandMode::OverFork, &[]),
            Decision::Allow,
            "{command}"
        );
        assert!(
            asks(&world.decided(command, true, CommandMode::OverFork, &[]), "network access"),
            "{command}"
        );
        assert!(
            asks(&world.decided(command, false, CommandMode::Copy, &[]), "a copy"),
            "{command}"
        );
        assert!(
            asks(&world.decided(command, false, CommandMode::InPlace, &[]), "on the disk"),
            "{command}"
        );
    }
}

#[test]
fn a_rule_gives_the_network_and_what_is_outside_where_it_says_so() {
    let world = World::new();
    let var = Path::new("/var").canonicalize().unwrap().display().to_string();
    let reads = format!("cat {var} src/a.rs");
    let decided = |command: &str, network, mode, rule: &str| {
        world.decided(command, network, mode, &[rule.parse().unwrap()])
    };
    for plain in ["bash(cat *)", "bash(*)", "bash", "*"] {
        let over = |command: &str, network| decided(command, network, CommandMode::OverFork, plain);
        assert_eq!(over("cat src/a.rs", false), Decision::Allow, "{plain}");
        assert!(asks(&over("cat src/a.rs", true), "network access"), "{plain}");
        assert!(asks(&over(&reads, false), "outside the open folders"), "{plain}");
        // Elsewhere nothing keeps a command from either, and the rule says that it may run.
        for mode in [CommandMode::Copy, CommandMode::InPlace] {
            assert_eq!(decided(&reads, true, mode, plain), Decision::Allow, "{plain}");
        }
        let network = format!("{plain} with network");
        let over = |command: &str, network_wanted| {
            decided(command, network_wanted, CommandMode::OverFork, &network)
        };
        assert_eq!(over("cat src/a.rs", false), Decision::Allow, "{network}");
        assert_eq!(over("cat src/a.rs", true), Decision::Allow, "{network}");
        assert!(asks(&over(&reads, true), "outside the open folders"), "{network}");
        for outside in [var.as_str(), "/"] {
            let both = format!("{plain} with {outside}, network");
            assert_eq!(
                decided(&reads, true, CommandMode::OverFork, &both),
                Decision::Allow,
                "{both}"
            );
            // It speaks of commands over the fork alone.
            for (mode, why) in
                [(CommandMode::Copy, "a copy"), (CommandMode::InPlace, "on the disk")]
            {
                assert!(asks(&decided(&reads, true, mode, &both), why), "{both}");
            }
        }
        let other = format!("{plain} with network, {var}x, {var}/x");
        assert!(asks(
            &decided(&reads, true, CommandMode::OverFork, &other),
            "outside the open folders"
        ));
    }
    // Where several rules let a command pass, each of its parts has what the whole has.
    let two = |one: &str, other: &str| {
        let allow = [one.parse().unwrap(), other.parse().unwrap()];
        world.decided("cat src/a.rs && make", true, CommandMode::OverFork, &allow)
    };
    assert!(asks(&two("bash(make) with network", "bash(cat *)"), "network access"));
    assert_eq!(two("bash(make) with network", "bash(cat *) with network"), Decision::Allow);
    // The names of secrets are asked about as ever.
    assert!(asks(
        &decided("cat .env", true, CommandMode::OverFork, "bash with network"),
        ".env may hold"
    ));
}

#[test]
fn a_grant_keeps_what_it_was_asked_for() {
    let world = World::new();
    let var = Path::new("/var").canonicalize().unwrap().display().to_string();
    let ruling = |command: &str, network, mode, granted: &[Rule]| {
        let call = bash(command, network);
        let reach = world.reach(&call, mode);
        decide(&call, &[], &reach, Mode::Review, &Rules::default(), granted)
    };
    let over = CommandMode::OverFork;
    let granted = |command: &str, network, mode, text: &str| {
        let offer = ruling(command, network, mode, &[]).offer.unwrap();
        assert_eq!((offer.rule.to_string().as_str(), offer.always), (text, true));
        // As it is when it was kept and read again.
        let rule: Rule = text.parse().unwrap();
        assert_eq!(rule, offer.rule);
        assert_eq!(ruling(command, network, mode, &[rule]).decision, Decision::Allow, "{text}");
        vec![offer.rule]
    };
    let outside = format!("cat {var}; make");
    let grant = granted(&outside, false, over, &format!("bash({outside}) with {var}"));
    let asked = ruling(&outside, true, over, &grant).decision;
    assert!(asks(&asked, "network access"), "{asked:?}");
    let both = format!("bash({outside}) with network, {var}");
    granted(&outside, true, over, &both);
    // The same words lead elsewhere from elsewhere.
    let here = world.dir.path().canonicalize().unwrap();
    let up = "../".repeat(here.components().count() + 1);
    let grant = ["bash(ls *) with /home".parse().unwrap()];
    assert!(asks(&ruling(&format!("ls {up}var"), false, over, &grant).decision, "outside"));
    let grant = granted("npm install x", true, over, "bash(npm install *) with network");
    assert_eq!(ruling("npm install y", true, over, &grant).decision, Decision::Allow);
    assert_eq!(ruling("npm install y", false, over, &grant).decision, Decision::Allow);
    // A request over the fork is no word about the disk.
    for mode in [CommandMode::InPlace, CommandMode::Copy] {
        assert_eq!(ruling("npm install x", true, mode, &grant).decision.word(), "ask");
    }
    let grant = granted("cat .env", false, over, "bash(cat .env) with nothing");
    assert!(asks(&ruling("cat .env", true, over, &grant).decision, "network access"));
    assert_eq!(ruling("cat .env", false, CommandMode::InPlace, &grant).decision.word(), "ask");
    // A request there is about the command, wherever it runs, with nothing more than it had to ask
    // for.
    let grant = granted("npm install x", true, CommandMode::InPlace, "bash(npm install *)");
    assert_eq!(ruling("npm install x", false, over, &grant).decision, Decision::Allow);
    assert!(asks(&ruling("npm install x", true, over, &grant).decision, "network access"));
}

#[test]
fn all_that_is_asked_for_is_in_the_reason() {
    let world = World::new();
    let why = |command: &str| match world.decided(command, true, CommandMode::OverFork, &[]) {
        Decision::Ask(why) => why,
        other => panic!("{other:?}"),
    };
    let secret = why("cat .env /var");
    let parts =
        [".env may hold secrets", "it asks for network access", "/var, outside the open folders"];
    assert!(parts.iter().all(|part| secret.contains(part)), "{secret}");
    assert!(why("echo $((").contains("it asks for network access"));
    let call = bash("git push origin", true);
    let reach = world.reach(&call, CommandMode::OverFork);
    let ask = Rules { ask: vec!["bash(git push *)".parse().unwrap()], ..Rules::default() };
    let decision = decide(&call, &[], &reach, Mode::Review, &ask, &[]).decision;
    assert!(asks(
        &decision,
        "the rule bash(git push *) asks about it, and it asks for network access"
    ));
}

#[test]
fn what_is_denied_asked_or_secret_is_so_over_the_fork_too() {
    let world = World::new();
    let denied = world.decided("sudo ls", false, CommandMode::OverFork, &[]);
    assert!(matches!(&denied, Decision::Deny(text) if text.starts_with("Error: Dangerous")));
    assert!(asks(&world.decided("cat .env", false, CommandMode::OverFork, &[]), "secrets"));
    // It can do no harm there, unless it reaches beyond.
    let unread = |network| world.decided("echo $((", network, CommandMode::OverFork, &[]);
    assert_eq!(unread(false).word(), "allow");
    assert!(asks(&unread(true), "no plain command"));
    let call = bash("git push origin", false);
    let reach = world.reach(&call, CommandMode::OverFork);
    let rule = || vec!["bash(git push *)".parse().unwrap()];
    let deny = Rules { deny: rule(), ..Rules::default() };
    let ask = Rules { ask: rule(), ..Rules::default() };
    let word = |mode, rules: &Rules| decide(&call, &[], &reach, mode, rules, &[]).decision.word();
    assert_eq!(word(Mode::Auto, &deny), "deny");
    assert_eq!(word(Mode::Auto, &ask), "ask");
    assert_eq!(word(Mode::Auto, &Rules::default()), "allow");
    assert_eq!(word(Mode::Plan, &Rules::default()), "allow", "what it writes is dropped");
    assert_eq!(word(Mode::Plan, &deny), "deny");
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
        let reach = world.reach(&call, CommandMode::OverFork);
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
        let reach = world.reach(&bash(command, false), CommandMode::OverFork);
        assert_eq!(reach.outside, Vec::<std::path::PathBuf>::new(), "{command}");
    }
    let many = "/var ".repeat(5_000);
    assert_eq!(
        world.reach(&bash(&format!("ls {many}"), false), CommandMode::OverFork).outside.len(),
        1
    );
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
        for mode in [CommandMode::OverFork, CommandMode::InPlace] {
            let allow = ["bash(*)".parse().unwrap()];
            let decided = world.decided(command, false, mode, &allow);
            let Decision::Deny(text) = decided else { panic!("{command}: {decided:?}") };
            assert!(text.starts_with("Error: Refused: ") && text.contains("tool task"), "{text}");
        }
    }
    for command in
        ["ropewalk --version", "ropewalk run --help", "grep ropewalk src/a.rs", "cat ropewalk"]
    {
        assert_eq!(
            world.decided(command, false, CommandMode::OverFork, &[]),
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
    let runner = RunnerInfo { builds: Some(builds), ..runner(CommandMode::OverFork) };
    let outside = |command: &str| Access::of(&bash(command, false).subject, &view, &runner).outside;
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
        let runner = RunnerInfo { open_sockets, ..runner(CommandMode::OverFork) };
        let reach = Access::of(&call.subject, &view, &runner);
        let decision = decide(&call, &[], &reach, Mode::Review, &Rules::default(), &[]).decision;
        assert_eq!(asks(&decision, "sockets such as the desktop's"), said, "{decision:?}");
    }
}
