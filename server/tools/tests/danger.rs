//! The table of commands, and input that nobody would write.
#![expect(clippy::unwrap_used, reason = "tests may be blunt")]

use proptest::prelude::*;
use ropewalk_tools::danger::{
    Danger, MAX_COMMAND_BYTES, UnknownSyntax, dangerous, simple_commands,
};

fn section_of(danger: Option<&Danger>) -> &'static str {
    match danger {
        None => "run",
        Some(Danger::Privilege { .. }) => "privilege",
        Some(Danger::Power { .. }) => "power",
        Some(Danger::Wipe { .. }) => "wipe",
        Some(Danger::RawDevice { .. }) => "device",
        Some(Danger::ForkBomb { .. }) => "bomb",
        Some(Danger::Itself { .. }) => "itself",
        Some(Danger::Unknown(_)) => "unknown",
    }
}

#[test]
fn every_command_of_the_table() {
    let table = include_str!("danger_commands.txt");
    let mut section = "";
    let mut seen = 0;
    let mut wrong = String::new();
    for line in table.lines().skip_while(|l| !l.starts_with('[')) {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']'))
            && section_names().contains(&name)
        {
            section = section_names().into_iter().find(|s| *s == name).unwrap();
            continue;
        }
        if line.is_empty() {
            continue;
        }
        seen += 1;
        // `\n` is a line end, unless it is part of a quoted format.
        let command =
            if line.contains("printf") { line.to_owned() } else { line.replace("\\n", "\n") };
        let danger = dangerous(&command);
        let got = section_of(danger.as_ref());
        if got != section {
            wrong += &format!("{line}\n    is {got}, not {section}: {danger:?}\n");
        }
        assert_eq!(danger.is_some_and(|d| d.denies()), !matches!(got, "run" | "unknown"));
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(seen > 250, "only {seen} commands were read");
}

#[test]
fn a_danger_in_what_is_not_plain_is_asked_about() {
    let table = include_str!("danger_asked.txt");
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    let lines: Vec<&str> = lines
        .filter(|line| !section_names().iter().any(|name| *line == format!("[{name}]")))
        .collect();
    for line in &lines {
        let command =
            if line.contains("printf") { (*line).to_owned() } else { line.replace("\\n", "\n") };
        let danger = dangerous(&command);
        assert!(matches!(danger, Some(Danger::Unknown(_))), "{line}: {danger:?}");
    }
    assert!(lines.len() > 90, "only {} commands were read", lines.len());
}

fn section_names() -> [&'static str; 7] {
    ["run", "unknown", "privilege", "power", "wipe", "device", "bomb"]
}

#[test]
fn a_refusal_says_which_part_and_why() {
    let danger = dangerous("make && env A=1 rm -rf ~/ | tee log").unwrap();
    assert_eq!(
        danger.result_text(),
        "Error: Dangerous command blocked: `rm -rf ~/`: it would take away the home folder. \
         Name the exact files inside the project"
    );
    let danger = dangerous("cat x | cat > /dev/sda").unwrap();
    assert!(danger.to_string().starts_with("`cat > /dev/sda`: it writes to the raw device"));
    let long = format!("sudo {}", "x".repeat(10_000));
    assert!(dangerous(&long).unwrap().to_string().chars().count() < 400);
}

#[test]
fn signs_that_a_shell_may_take_for_blanks_or_nobody_sees_are_asked_about() {
    let signs = [
        '\u{a0}', '\u{2003}', '\u{3000}', '\u{200b}', '\u{202e}', '\u{feff}', '\r', '\u{b}',
        '\u{1b}',
    ];
    for sign in signs {
        for command in
            [format!("ls{sign}sudo x"), format!("ls {sign}sudo x"), format!("ls;{sign}sudo x")]
        {
            assert!(matches!(dangerous(&command), Some(Danger::Unknown(_))), "{command:?}");
        }
    }
}

/// The simple commands as `text > target` lines.
fn listed(command: &str) -> Vec<String> {
    simple_commands(command)
        .unwrap()
        .iter()
        .map(|c| {
            let mut line = c.assignments.join(" ");
            if !line.is_empty() && !c.words.is_empty() {
                line.push(' ');
            }
            line += &c.text();
            for r in &c.redirects {
                line += if r.writes { " > " } else { " < " };
                line += r.target.text();
            }
            line
        })
        .collect()
}

#[test]
fn simple_commands_are_listed_in_order() {
    assert_eq!(
        listed("git status -s | head -3 > out.txt && FOO=1 make 'a b' < in"),
        ["git status -s", "head -3 > out.txt", "FOO=1 make a b < in"]
    );
    assert_eq!(
        listed("env A=1 timeout 5 make x"),
        ["env A=1 timeout 5 make x", "timeout 5 make x", "make x"]
    );
    assert_eq!(listed("bash -c 'ls; pwd'"), ["bash -c ls; pwd", "ls", "pwd"]);
    assert_eq!(listed("export A=1; PATH=x; unset B"), ["export A=1", "PATH=x", "unset B"]);
    assert_eq!(listed("cat > f g\nls"), ["cat g > f", "ls"]);
    assert_eq!(listed("ls | xargs -n 1 grep x"), ["ls", "xargs -n 1 grep x", "grep x "]);
    assert_eq!(listed("> f"), [" > f"]);
    assert_eq!(listed(""), Vec::<String>::new());
    let commands = simple_commands("/usr/bin/git log; 'a b' c").unwrap();
    let programs: Vec<_> = commands.iter().map(|c| c.program()).collect();
    assert_eq!(programs, [Some("git"), Some("a b")]);
    assert!(matches!(simple_commands("ls )"), Err(UnknownSyntax::Syntax { .. })));
}

#[test]
fn nul_and_length_have_their_own_words() {
    assert_eq!(dangerous("ls\0; sudo x"), Some(Danger::Unknown(UnknownSyntax::Nul)));
    let long = "a".repeat(MAX_COMMAND_BYTES + 1);
    assert_eq!(
        dangerous(&long),
        Some(Danger::Unknown(UnknownSyntax::TooLong { bytes: MAX_COMMAND_BYTES + 1 }))
    );
    assert_eq!(dangerous(&"a".repeat(MAX_COMMAND_BYTES)), None);
}

/// Judges on the small stack of a worker thread. What would take quadratic time doesn't end here.
fn judged_on_a_small_stack(command: String) -> Option<Danger> {
    let worker = std::thread::Builder::new().stack_size(2 << 20);
    worker.spawn(move || dangerous(&command)).unwrap().join().unwrap()
}

/// Beginnings and parts of syntax, of which a command may be full.
const UNITS: &[&str] = &[
    "(",
    "((",
    "{ ",
    "$(",
    "\"$(",
    "`",
    "<(",
    "${",
    "${a:-",
    "$((",
    "if ",
    "<<A ",
    "a|",
    "a&&",
    "a ",
    "a;",
    "\\",
    "'",
    "\"",
    "[[ ",
    "case x in ",
    "f() { ",
    "! ",
    "> f ",
    "x=",
    "$'\\x",
    "{a,",
    "a\n",
    "\\\n",
    "bash -c ",
    "eval ",
    "env ",
    "echo a|sh|",
    "for ",
    "while a; do ",
    "#",
    "é",
    "\u{202e}",
    "\r\n",
    "a=$a$a;",
    "<<A\nA\n",
    "<<<a ",
    "1>&2 ",
    "a&",
    "(a);",
    "$a",
    "*?[",
    "~/",
];

#[test]
fn huge_and_deep_input_ends() {
    for unit in UNITS {
        judged_on_a_small_stack(unit.repeat(MAX_COMMAND_BYTES / unit.len()));
    }
    judged_on_a_small_stack("x".repeat(1 << 20));
    let wrapped = |n: usize| format!("{}sudo x", "nohup ".repeat(n));
    assert!(judged_on_a_small_stack(wrapped(5)).unwrap().denies());
    assert_eq!(
        judged_on_a_small_stack(wrapped(10_000)),
        Some(Danger::Unknown(UnknownSyntax::TooComplex))
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text_is_judged(text in "(?s).{0,80}") {
        let unknown = matches!(dangerous(&text), Some(Danger::Unknown(_)));
        match simple_commands(&text) {
            Ok(_) => prop_assert!(!unknown),
            Err(_) => prop_assert!(dangerous(&text).is_some()),
        }
    }

    #[test]
    fn any_shell_like_text_is_judged(parts in prop::collection::vec(
        prop::sample::select(vec!["sudo", " ", "x", ";", "|", "&", "(", ")", "{", "}", "$(", "`", "\"", "'",
            "<<E", "\n", "E", ">", "/dev/sda", "\\", "$", "[", "=", "if ", "then ", "fi", "#", "$'", "<<<"]), 0..25)) {
        let text: String = parts.concat();
        let _ = dangerous(&text);
    }

    #[test]
    fn quoting_never_hides_a_program(quotes in prop::collection::vec(0..4_u8, 4)) {
        let name: String = "sudo".chars().zip(&quotes).map(|(c, q)| match q {
            0 => c.to_string(),
            1 => format!("'{c}'"),
            2 => format!("\"{c}\""),
            _ => format!("\\{c}"),
        }).collect();
        prop_assert!(matches!(dangerous(&format!("ls; {name} x")), Some(Danger::Privilege { .. })), "{}", name);
    }
}
