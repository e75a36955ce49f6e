//! Deny, ask and allow together: one table, each line some rules, a call, and what is decided by what.

use ropewalk_protocol::Mode;
use ropewalk_tools::{Access, Call, DecisionSource, List, NamedPath, Rules, Ruling, decide};
use serde_json::json;

use super::prepared;

/// Rules as lines of `LIST RULE`; `session` is what was granted.
pub(crate) fn rules(text: &str) -> (Rules, Vec<ropewalk_tools::Rule>) {
    let (mut rules, mut granted) = (Rules::default(), Vec::new());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (list, rule) = line.split_once(' ').unwrap();
        let rule = rule.parse().unwrap();
        match list {
            "allow" => rules.allow.push(rule),
            "ask" => rules.ask.push(rule),
            "deny" => rules.deny.push(rule),
            "session" => granted.push(rule),
            other => panic!("{other} is no list"),
        }
    }
    (rules, granted)
}

/// A call of a tool with a command or with paths, several of them parted by ` -> `.
pub(crate) fn call(tool: &str, subject: &str) -> Call {
    let input = match tool {
        "bash" => json!({"command": subject}),
        "move_file" => {
            let (path, to) = subject.split_once(" -> ").unwrap();
            json!({"path": path, "to": to})
        }
        "grep" => match subject.split_once(" in ") {
            Some((pattern, path)) => json!({"pattern": pattern, "path": path}),
            None => json!({"pattern": subject}),
        },
        "write_file" => json!({"path": subject, "content": ""}),
        "edit_file" => json!({"path": subject, "old_text": "a", "new_text": "b"}),
        _ => json!({"path": subject}),
    };
    prepared(tool, input)
}

pub(crate) fn rule_on(text: &str, call: &Call) -> Ruling {
    let (rules, granted) = rules(text);
    let paths: Vec<NamedPath> =
        call.subject.paths.iter().map(|path| NamedPath::written(path)).collect();
    decide(call, &paths, &Access::default(), Mode::Review, &rules, &granted)
}

fn check(table: &[(&str, &str, &str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(rules, tool, subject, expected)| {
            let Ruling { decision, by, .. } = rule_on(rules, &call(tool, subject));
            let decided = format!("{} by {by}", decision.word());
            (decided != *expected)
                .then(|| format!("{tool} {subject:?} under {rules:?}: {decided}, not {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn deny_comes_before_ask_and_ask_before_allow() {
    check(&[
        ("", "bash", "ls", "ask by effect"),
        ("", "read_file", "a", "allow by effect"),
        ("allow bash(ls *)", "bash", "ls -l", "allow by allow bash(ls *)"),
        ("ask bash(ls *)\nallow bash(*)", "bash", "ls -l", "ask by ask bash(ls *)"),
        ("deny bash(ls)\nask bash(ls)\nallow bash(ls)", "bash", "ls", "deny by deny bash(ls)"),
        ("deny bash(ls)\nsession bash(ls)", "bash", "ls", "deny by deny bash(ls)"),
        ("deny edit_file", "edit_file", "a", "deny by deny edit_file"),
        ("deny edit_file", "write_file", "a", "allow by effect"),
        ("deny *", "read_file", "a", "deny by deny *"),
        ("deny *\nallow *", "bash", "ls", "deny by deny *"),
        ("ask *", "list_dir", "src", "ask by ask *"),
        ("allow *", "bash", "make", "allow by allow *"),
        ("allow *", "bash", "sudo make", "deny by danger"),
        ("allow *(make *)", "bash", "make x", "allow by allow *(make *)"),
        // An ask rule is answered for the session by this very call, not by its kind.
        (
            "ask bash(git push *)\nsession bash(git push *)",
            "bash",
            "git push",
            "ask by ask bash(git push *)",
        ),
        (
            "ask bash(git push *)\nsession bash(git push)",
            "bash",
            "git push",
            "allow by session bash(git push)",
        ),
        (
            "ask bash(git push *)\nsession bash(git push)\nallow bash(git *)",
            "bash",
            "git push -f",
            "ask by ask bash(git push *)",
        ),
        ("ask read_file(a/*)\nsession read_file(a/x)", "read_file", "a/x", "allow by effect"),
        (
            "ask read_file(a/*)\nsession read_file(a/x)",
            "read_file",
            "a/y",
            "ask by ask read_file(a/*)",
        ),
    ]);
}

#[test]
fn each_simple_command_passes_by_one_of_the_rules() {
    let two = "allow bash(git status *)\nallow bash(grep *)";
    check(&[
        (two, "bash", "git status | grep x", "allow by allow bash(git status *) and bash(grep *)"),
        (
            two,
            "bash",
            "grep x && git status; grep y",
            "allow by allow bash(grep *) and bash(git status *)",
        ),
        (two, "bash", "git status | grep x | tee y", "ask by effect"),
        (two, "bash", "git status | grep x > y", "ask by effect"),
        (two, "bash", "X=1 git status", "ask by effect"),
        (two, "bash", "git status '", "ask by syntax"),
        (
            "allow bash(ls *)\nsession bash(wc *)",
            "bash",
            "ls | wc -l",
            "allow by session bash(ls *) and bash(wc *)",
        ),
        (
            "allow bash(git status; })",
            "bash",
            "git status; }",
            "allow by allow bash(git status; })",
        ),
        ("allow bash(git status *)", "bash", "git status '", "ask by syntax"),
    ]);
}

/// Commands that push, however they are written.
const PUSHING: &[&str] = &[
    "git push",
    "git push origin main",
    "  git   push  ",
    "git \\\n push",
    "\"git\" 'push'",
    "g''it pu\"\"sh",
    "g\\it push",
    "/usr/bin/git push",
    "./git push",
    "GIT push",
    "git -C . push",
    "git --no-pager push",
    "git -c a=b -C x push origin",
    "git --git-dir=x push",
    "A=1 git push",
    "git push > log 2>&1",
    "true && git push",
    "false || git push",
    "ls; git push &",
    "ls | git push",
    "echo $(git push)",
    "echo `git push`",
    "echo \"$(git push)\"",
    "cat <(git push)",
    "x=$(git push)",
    "(git push)",
    "{ git push; }",
    "if true; then git push; fi",
    "for x in a; do git push; done",
    "f() { git push; }; f",
    "bash -c 'git push'",
    "sh -ec \"git push\"",
    "bash -c \"bash -c 'git push'\"",
    "eval git push",
    "bash <<E\ngit push\nE",
    "env git push",
    "env A=1 git push",
    "command git push",
    "exec git push",
    "nohup git push",
    "timeout 5 git push",
    "nice -n 5 git push",
    "xargs git push",
    "find . -exec git push \\;",
    "git push $X",
    "! git push",
    "time git push",
    "git push '",
];

/// Commands that speak of pushing, or of what only begins so.
const NOT_PUSHING: &[&str] = &[
    "git status",
    "git pushed",
    "git stash push",
    "echo git push",
    "echo 'git push'",
    "git commit -m 'git push'",
    "git log push",
    "grep push .git/config",
    "ls *.rs",
];

#[test]
fn a_denied_command_is_found_wherever_it_hides() {
    let push = "allow bash(*)\ndeny bash(git push *)";
    let denied = "deny by deny bash(git push *)";
    for command in PUSHING {
        check(&[(push, "bash", command, denied)]);
        let ask = "allow bash(*)\nask bash(git push *)";
        check(&[(ask, "bash", command, "ask by ask bash(git push *)")]);
    }
    for command in NOT_PUSHING {
        check(&[(push, "bash", command, "allow by allow bash(*)")]);
    }
}

#[test]
fn what_may_be_denied_is_asked_for() {
    let push = "allow bash(*)\ndeny bash(git push *)";
    for command in [
        "git $X",
        "$X push",
        "git pus?",
        "{git,push}",
        "gi[t] push",
        "git $(cat x)",
        "ls '",
        "echo git push | sh",
        "bash <<< 'git push'",
        "env -S 'git push'",
        "echo push | xargs git",
        "trap 'git push' EXIT",
        "g=git; $g push",
        "p=push; git $p",
        "ls # git push",
        "eval \"$(echo git push)\"",
        "echo $HOME",
        "cat $X",
    ] {
        check(&[(push, "bash", command, "ask by deny bash(git push *)")]);
        let and_exactly = format!("{push}\nsession bash({})", command.replace('*', "\\*"));
        let ruling = rule_on(&and_exactly, &call("bash", command));
        assert_eq!(ruling.decision.word(), "allow", "{command}: {ruling:?}");
    }
    check(&[(push, "bash", "git $'pu\\x73h'", "ask by secrets")]);
    // Rules about other things leave it alone.
    check(&[("allow bash(*)\ndeny read_file(x)", "bash", "git $X", "allow by allow bash(*)")]);
}

#[test]
fn a_likely_danger_is_asked_about_though_a_rule_allows_every_command() {
    for command in [
        "echo $(sudo x)",
        "for i in a; do sudo $i; done",
        "echo 'sudo x' | sh",
        "D=x; rm -rf / $D",
        "(reboot)",
    ] {
        let ruling = rule_on("allow bash(*)", &call("bash", command));
        assert_ne!(ruling.decision.word(), "allow", "{command}: {ruling:?}");
    }
    check(&[("allow bash(*)", "bash", "for i in a; do echo $i; done", "allow by allow bash(*)")]);
}

/// A shell whose text is known only when it runs.
const UNSEEN: &[&str] = &[
    "curl x | sh",
    "cat f | bash",
    "cat f | tee log | sh",
    "base64 -d f | sh",
    "echo cm0gLXJmIHNyYwo= | base64 -d | sh",
    "sh < f",
    "sh <f -s",
    "bash <(curl x)",
    "source <(curl x)",
    ". /dev/stdin < f",
    "sh /dev/fd/3 3< f",
    "bash <<< \"$X\"",
    "echo \"$X\" | sh",
    "cat <<E | sh\n$X\nE",
    "sh <<E\n$(cat f)\nE",
    "eval \"$(curl x)\"",
    "eval \"echo $(curl x)\"",
    "bash -c \"echo $X\"",
    "curl x | env sh",
    "curl x | timeout 5 bash -s",
    "curl x | busybox sh",
    "cat f | xargs sh -c",
    "cat f | xargs -I{} bash -c '{}'",
    "cat f | parallel",
    "cat f | while read l; do eval \"$l\"; done",
    "cat f | (cd src; sh)",
    "f() { sh; }; cat x | f",
    "tee >(sh) < f",
    "cat f > >(bash)",
    "watch \"ls $X\"",
    "trap \"echo $X\" EXIT",
    "bash -c 'curl x | sh'",
    "sh 3<f <&3",
    "exec 3<f; sh <&3",
    "exec <f; sh",
    "exec < f\nbash -s",
    "sh <> f",
    "sh <<E <f\nls\nE",
    "coproc sh; cat f >&${COPROC[1]}",
];

/// Commands that can be seen in full: a rule against others does not make them ask.
const SEEN: &[&str] = &[
    "bash -c 'ls'",
    "sh build.sh",
    "cat f | grep x",
    "curl x | python3 -",
    "cat f | xargs ls",
    "find . -name x | xargs grep sh",
    "bash -c 'ls' 2>&1",
];

#[test]
fn a_shell_that_is_given_what_nobody_sees_asks_where_commands_are_denied() {
    let decided = |deny: &[&str], command: &str| {
        let parse = |rule: &&str| rule.parse().unwrap();
        let rules = Rules { deny: deny.iter().map(parse).collect(), ..Rules::default() };
        let reach = Access { mode: ropewalk_tools::CommandMode::OverFork, ..Access::default() };
        let call = super::bash(command);
        ropewalk_tools::decide(&call, &[], &reach, Mode::Auto, &rules, &[]).decision
    };
    for command in UNSEEN {
        for deny in ["bash(rm*)", "*(rm *)"] {
            assert_eq!(decided(&[deny], command).word(), "ask", "{deny}: {command}");
        }
        for deny in [&[][..], &["read_file(private/*)"]] {
            assert_ne!(decided(deny, command).word(), "deny", "{deny:?}: {command}");
        }
    }
    for command in SEEN {
        assert_eq!(decided(&["bash(rm*)"], command).word(), "allow", "{command}");
    }
    assert_eq!(decided(&[], "curl x | sh").word(), "allow", "without such a rule");
    assert_eq!(decided(&["bash(rm*)"], "sh -c 'rm x'").word(), "deny", "what is seen is judged");
}

#[test]
fn rules_for_paths_hold_however_a_path_is_written() {
    let secrets = "deny read_file(Secrets/*)\ndeny edit_file(src/gen/**)\nask write_file(*.lock)";
    check(&[
        (secrets, "read_file", "Secrets/a", "deny by deny read_file(Secrets/*)"),
        (secrets, "read_file", "secrets/a/b", "deny by deny read_file(Secrets/*)"),
        (secrets, "read_file", "./Secrets/a", "deny by deny read_file(Secrets/*)"),
        (secrets, "read_file", "src/../Secrets/a", "deny by deny read_file(Secrets/*)"),
        (secrets, "read_file", "Secrets//a", "deny by deny read_file(Secrets/*)"),
        (secrets, "read_file", "Secrets/./a", "deny by deny read_file(Secrets/*)"),
        (secrets, "read_file", "SECRETS/A", "deny by deny read_file(Secrets/*)"),
        (secrets, "read_file", "Secrets/a\nb", "deny by deny read_file(Secrets/*)"),
        (secrets, "grep", "x in Secrets", "deny by deny read_file(Secrets/*)"),
        (secrets, "grep", "x in Secrets/a", "deny by deny read_file(Secrets/*)"),
        (secrets, "grep", "Secrets/a", "allow by effect"),
        (secrets, "list_dir", "Secrets", "allow by effect"),
        (secrets, "read_file", "Secrets.md", "allow by effect"),
        (secrets, "read_file", "Secrets/../a", "allow by effect"),
        (secrets, "edit_file", "src/gen/x/y.rs", "deny by deny edit_file(src/gen/**)"),
        (secrets, "edit_file", "src/general.rs", "allow by effect"),
        (secrets, "write_file", "a/b/Cargo.lock", "ask by ask write_file(*.lock)"),
        ("deny read_file(./a/*)", "read_file", "a/b", "deny by deny read_file(./a/*)"),
        ("deny read_file(Ä/*)", "read_file", "A\u{308}/x", "deny by deny read_file(Ä/*)"),
        ("deny read_file(ä)", "read_file", "Ä", "deny by deny read_file(ä)"),
        ("deny move_file(a/*)", "move_file", "x -> a/y", "deny by deny move_file(a/*)"),
        ("deny move_file(a/*)", "move_file", "a/y -> x", "deny by deny move_file(a/*)"),
        ("deny move_file(a/*)", "move_file", "b -> c", "allow by effect"),
        ("deny *(a/*)", "write_file", "a/y", "deny by deny *(a/*)"),
        // A rule for a tool with paths says nothing of what commands do.
        ("deny read_file(a)\nallow bash(cat *)", "bash", "cat a", "allow by allow bash(cat *)"),
        ("deny bash(* a)\nallow bash(cat *)", "bash", "cat a", "deny by deny bash(* a)"),
        // All paths must pass, and secrets must be named by the rule.
        ("allow move_file(.env)", "move_file", ".env -> x", "ask by secrets"),
        ("allow move_file(.env*)", "move_file", ".env -> .env.bak", "allow by effect"),
        ("allow read_file(.env)", "read_file", "./.env", "ask by secrets"),
        ("allow read_file(.env)", "read_file", ".ENV", "ask by secrets"),
    ]);
}

#[test]
fn names_that_look_like_rules_are_names() {
    for path in [
        "bash(*)",
        "*",
        "a\\*",
        "read_file(x)",
        "x)",
        "(",
        "a\nb",
        " a ",
        "allow = [\"*\"]",
        "ü\u{202e}",
    ] {
        let ask = "ask read_file";
        let ruling = rule_on(ask, &call("read_file", path));
        let Some(offer) = ruling.offer else { continue };
        let rule = offer.rule;
        assert!(!offer.always, "a rule that asks comes before one that allows");
        assert_eq!(rule, rule.to_string().parse().unwrap(), "{path:?}");
        let granted = format!("{ask}\nsession {rule}");
        if !path.contains('\n') {
            assert_eq!(
                rule_on(&granted, &call("read_file", path)).decision.word(),
                "allow",
                "{path:?}"
            );
        }
        for other in ["other", "x", "ab", "a\\b", "bash(x)"] {
            let (rules, _) = rules(ask);
            let paths = [NamedPath::written(other)];
            let decided = decide(
                &call("read_file", other),
                &paths,
                &Access::default(),
                Mode::Review,
                &rules,
                std::slice::from_ref(&rule),
            );
            assert_eq!(decided.decision.word(), "ask", "{rule} lets {other} pass");
        }
        assert!(!rule.in_words().contains('\n'), "{}", rule.in_words());
    }
}

#[test]
fn an_offer_is_for_what_was_asked() {
    for (rules, tool, subject, rule, always) in [
        ("", "bash", "git status -s", Some("bash(git status *)"), true),
        ("", "bash", "rm a.o", Some("bash(rm a.o)"), true),
        ("", "bash", "rm a.o\nrm b.o", Some("bash(rm a.o\nrm b.o)"), false),
        ("", "bash", "cat .env", Some("bash(cat .env)"), true),
        ("", "bash", "git status; }", Some("bash(git status; })"), true),
        ("", "bash", "sudo ls", None, false),
        ("", "bash", "", None, false),
        ("", "read_file", "a/.env", Some("read_file(a/.env)"), true),
        ("", "move_file", ".env -> b", Some("move_file(.env → b)"), true),
        ("", "move_file", ".env → a -> b", None, false),
        ("ask bash(git *)", "bash", "git status", Some("bash(git status)"), false),
        ("deny bash(git push *)", "bash", "git $X", Some("bash(git $X)"), true),
        ("allow bash(ls *)", "bash", "ls", None, false),
        ("deny bash(ls *)", "bash", "ls", None, false),
    ] {
        let offer = rule_on(rules, &call(tool, subject)).offer;
        let shown = offer.as_ref().map(|offer| (offer.rule.to_string(), offer.always));
        assert_eq!(shown, rule.map(|rule| (rule.to_owned(), always)), "{rules} {subject}");
    }
    let long = format!("python3 -c '{}'", "x".repeat(2_000));
    assert!(!rule_on("", &call("bash", &long)).offer.unwrap().always);
}

#[test]
fn rules_are_said_in_words() {
    for (rule, words) in [
        ("bash(git status *)", "`git status` with any arguments"),
        ("bash(make)", "exactly this command"),
        ("bash(rm \\*.o)", "exactly this command"),
        ("bash(cargo * --lib)", "commands of the form `cargo * --lib`"),
        ("bash(git status*)", "commands of the form `git status*`"),
        ("bash", "every command"),
        ("bash(*)", "every command"),
        ("*", "every call of every tool"),
        ("read_file(src/**)", "reading all files under src/"),
        ("read_file(src/*)", "reading all files under src/"),
        ("read_file(.env)", "reading .env"),
        ("write_file(*.md)", "writing files named *.md"),
        ("edit_file", "every call of edit_file"),
        ("*(secrets/*)", "calls of every tool for secrets/*"),
        ("grep(src)", "grep of src"),
        ("bash(a\nb)", "exactly this command"),
        ("bash(git fetch *) with network", "`git fetch` with any arguments, with network access"),
        ("bash with /srv/a b, network", "every command, with network access and /srv/a b"),
        ("* with /a, /b", "every call of every tool, with /a and /b"),
        ("bash(cat .env) with nothing", "exactly this command, in the sandbox"),
    ] {
        assert_eq!(rule.parse::<ropewalk_tools::Rule>().unwrap().in_words(), words, "{rule}");
    }
}

#[test]
fn what_a_rule_gives_is_read_as_it_is_written() {
    let read = |text: &str| text.parse::<ropewalk_tools::Rule>();
    for text in [
        "bash with network",
        "bash(a) with network, /srv/ü (x) y/z",
        "bash(echo ') with network') with /",
        "* with nothing",
        "bash(ls) with network)",
    ] {
        assert_eq!(read(text).unwrap().to_string(), text);
    }
    let home = std::env::home_dir().unwrap();
    let written = format!("bash with {}", home.join("notes").display());
    assert_eq!(read("bash with ~/notes").unwrap().to_string(), written);
    for (text, why) in [
        ("bash(ls) with", "is not a rule"),
        ("bash(ls) with ", "is not a rule"),
        ("bash(ls)with network", "is not a rule"),
        ("bash(ls) with networks", "\"networks\" is neither network nor an absolute path"),
        ("bash with network,/x", "\"network,/x\" is neither"),
        ("bash with notes/x", "\"notes/x\" is neither"),
        ("bash with /a/../b", "\"/a/../b\" is neither"),
        ("bash with nothing, network", "\"nothing\" is neither"),
        ("read_file(x) with /y", "only rules for bash"),
    ] {
        let wrong = read(text).unwrap_err();
        assert!(wrong.contains(why), "{text}: {wrong}");
    }
}

#[test]
fn what_decided_is_told_apart() {
    let by = |rules: &str, command: &str| rule_on(rules, &call("bash", command)).by;
    assert_eq!(by("deny bash(ls)", "ls"), DecisionSource::Rule(List::Deny, "bash(ls)".to_owned()));
    assert_eq!(by("session bash(ls)", "ls"), DecisionSource::Session("bash(ls)".to_owned()));
    assert_eq!(
        rule_on("allow bash(*)\nallow bash(cat .env)", &call("bash", "cat .env")).secret.as_deref(),
        Some(".env")
    );
}
