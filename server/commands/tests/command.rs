//! Commands run for real: ends, order, bounds, interrupts. No sleep decides a test: what must come
//! about is polled for, with a bound.
//!
//! This program is its commands' keeper, so it has a `main` of its own, which asks first whether it was started as
//! that.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may be blunt")]

use std::ffi::OsString;
use std::future::pending;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};
use ropewalk_commands::command::{
    CommandError, CommandOutcome, CommandSpec, Exit, command_environment, result_text, run,
};
use ropewalk_tools::bounds::Bounds;
use ropewalk_tools::escapes::strip_escapes;
use ropewalk_tools::secrets::{Redaction, Secrets};
use rustix::process::{Pid, test_kill_process};

/// The tests, by their names.
macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        vec![$(Trial::test(stringify!($name), || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on($name());
            Ok(())
        })),*]
    };
}

fn main() -> ExitCode {
    if let Some(code) = ropewalk_sandbox::helper() {
        return code;
    }
    let trials = trials![
        ends_are_told_apart,
        both_streams_keep_their_order,
        a_timeout_kills_grandchildren,
        dropping_the_future_kills_the_command,
        an_interrupt_keeps_what_was_printed,
        what_a_command_leaves_running_is_ended_and_said,
        a_command_that_ends_what_keeps_it_is_ended_and_said,
        long_output_keeps_its_ends_and_is_whole_in_the_file,
        output_without_end_is_bounded,
        binary_and_coloured_output_is_readable,
        the_sink_gets_text_as_it_comes,
        what_cannot_be_run_is_said,
        without_bash_there_is_sh_and_without_both_words,
        what_the_user_named_is_given_but_for_the_models_keys_and_ways_out,
        secrets_do_not_reach_a_command,
        what_is_redacted_is_in_no_chunk_no_file_and_no_result,
        a_variable_that_holds_a_secret_is_left_out_whatever_its_name,
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn spec(command: &str, cwd: &Path) -> CommandSpec {
    CommandSpec {
        command: command.to_owned(),
        cwd: cwd.to_owned(),
        env: command_environment(std::env::vars_os(), &[], &Secrets::default()),
        timeout: Duration::from_secs(60),
        output_file: None,
        secrets: Secrets::default(),
    }
}

async fn ran(command: &str) -> CommandOutcome {
    let dir = tempfile::tempdir().unwrap();
    run(spec(command, dir.path()), None, pending()).await.unwrap()
}

fn text(outcome: &CommandOutcome) -> String {
    result_text(outcome, Bounds::default())
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(60), "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The process whose id a command wrote to `file`.
async fn pid_in(file: &Path) -> Pid {
    let read = || std::fs::read_to_string(file).ok().filter(|t| t.ends_with('\n'));
    until("a process id is written", || read().is_some()).await;
    Pid::from_raw(read().unwrap().trim().parse().unwrap()).unwrap()
}

/// Gone, or a zombie that nobody in this test's reach reaps.
fn is_dead(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    test_kill_process(pid).is_err() || stat.is_ok_and(|s| s.contains(") Z "))
}

async fn ends_are_told_apart() {
    let outcome = ran("echo hi").await;
    assert_eq!((outcome.exit, text(&outcome).as_str()), (Exit::Exited(0), "hi\n"));
    let outcome = ran("true").await;
    assert_eq!(text(&outcome), "(no output)");
    let outcome = ran("echo oops >&2; exit 3").await;
    assert_eq!((outcome.exit, text(&outcome).as_str()), (Exit::Exited(3), "oops\n(exit code 3)"));
    let outcome = ran("kill -TERM $$").await;
    assert_eq!(outcome.exit, Exit::Signalled(15));
    assert_eq!(text(&outcome), "(no output)\n(ended by signal 15)");
    assert_eq!(text(&ran("cat; echo end").await), "end\n");
    assert!(text(&ran("no_such_program_x").await).ends_with("(exit code 127)"));
    assert!(text(&ran("echo \"unclosed").await).contains("(exit code"));
}

async fn both_streams_keep_their_order() {
    let outcome = ran("for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done").await;
    let expected: String = (1..=5).map(|i| format!("out{i}\nerr{i}\n")).collect();
    assert_eq!(text(&outcome), expected);
}

async fn a_timeout_kills_grandchildren() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = spec(
        "echo begun; bash -c 'sleep 1000 & echo $! > pid; trap \"\" TERM; wait' & wait",
        dir.path(),
    );
    spec.timeout = Duration::from_millis(1500);
    let outcome = run(spec, None, pending()).await.unwrap();
    assert_eq!(outcome.exit, Exit::TimedOut(Duration::from_millis(1500)));
    let text = text(&outcome);
    assert!(text.starts_with("Error: Timeout (1.5s)"), "{text}");
    assert!(text.contains("begun"), "{text}");
    let pid = pid_in(&dir.path().join("pid")).await;
    until("the grandchild is dead", || is_dead(pid)).await;
}

async fn dropping_the_future_kills_the_command() {
    let dir = tempfile::tempdir().unwrap();
    let running = tokio::spawn(run(
        spec("bash -c 'echo $$ > pid; sleep 1000; true'; true", dir.path()),
        None,
        pending(),
    ));
    let pid = pid_in(&dir.path().join("pid")).await;
    assert!(!is_dead(pid));
    running.abort();
    until("the command is dead", || is_dead(pid)).await;
}

async fn an_interrupt_keeps_what_was_printed() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pid");
    let interrupt = async {
        pid_in(&file).await;
    };
    let command = "echo before; sleep 1000 & echo $! > pid; wait";
    let outcome = run(spec(command, dir.path()), None, interrupt).await.unwrap();
    assert_eq!(outcome.exit, Exit::Interrupted);
    assert!(text(&outcome).starts_with("Error: Interrupted"));
    assert!(text(&outcome).ends_with("before\n"));
    let pid = pid_in(&file).await;
    until("its child is dead", || is_dead(pid)).await;
}

async fn what_a_command_leaves_running_is_ended_and_said() {
    const WORDS: &str =
        "(processes that it left running were ended with it: use background to let one run on)";
    // The last is a daemon as programs become one: in no group and of no parent of the command's.
    for left in [
        "sleep 1000 & echo $! > pid",
        "sleep 1000 >/dev/null 2>&1 & echo $! > pid",
        "setsid sh -c 'setsid sh -c \"echo \\$\\$ > pid; exec sleep 1000\" >/dev/null 2>&1 &'; until [ -s pid ]; do :; done",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let command = format!("{left}; echo started");
        let outcome = run(spec(&command, dir.path()), None, pending()).await.unwrap();
        assert_eq!(outcome.exit, Exit::Exited(0));
        assert_eq!(text(&outcome), format!("started\n{WORDS}"));
        assert!(outcome.left_running && is_dead(pid_in(&dir.path().join("pid")).await));
    }
    // A process that only waits for a pipe's end is waited for.
    assert_eq!(text(&ran("echo late > >(sleep 0.1; cat)").await), "late\n");
}

async fn a_command_that_ends_what_keeps_it_is_ended_and_said() {
    const WORDS: &str = "Error: the process that keeps the command was stopped or killed, so the command and all it had started were ended. Its exit code is lost; what it had printed:\n";
    for hostile in [
        "kill -STOP $PPID; exec sleep 1000",
        "setsid -f sh -c 'echo $$ > pid; exec sleep 1000'; until [ -s pid ]; do :; done; kill -9 $PPID; sleep 1000",
    ] {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("pid"), "").unwrap();
        let command = format!("echo begun; {hostile}");
        let outcome = run(spec(&command, dir.path()), None, pending()).await.unwrap();
        assert!(outcome.lost.is_some(), "{outcome:?}");
        assert_eq!(text(&outcome), format!("{WORDS}begun\n"));
        if hostile.contains("setsid") {
            assert!(is_dead(pid_in(&dir.path().join("pid")).await));
        }
    }
}

async fn long_output_keeps_its_ends_and_is_whole_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("out.txt");
    let mut spec = spec("seq -f 'line number %.0f' 1 100000", dir.path());
    spec.output_file = Some(file.clone());
    let outcome = run(spec, None, pending()).await.unwrap();
    let text = text(&outcome);
    assert!(text.starts_with("line number 1\n") && text.ends_with("line number 100000\n"));
    assert!(text.contains("characters left out; the whole is in "));
    assert!(text.chars().count() < 51_300);
    let whole = std::fs::read_to_string(&file).unwrap();
    assert_eq!(whole.lines().count(), 100_000);
    assert_eq!(outcome.output.total(), whole.len() as u64);
}

async fn output_without_end_is_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = spec("yes", dir.path());
    spec.timeout = Duration::from_millis(500);
    let outcome = run(spec, None, pending()).await.unwrap();
    assert!(matches!(outcome.exit, Exit::TimedOut(_)));
    assert!(outcome.output.head.len() + outcome.output.tail.len() < 1 << 20);
    assert!(outcome.output.left_out > 0);
    assert!(text(&outcome).chars().count() < 52_000);
}

async fn binary_and_coloured_output_is_readable() {
    assert_eq!(text(&ran(r"printf 'a\377\200b\0c\n'").await), "a\u{fffd}\u{fffd}bc\n");
    assert_eq!(text(&ran(r"printf '\033[1;31mred\033[0m \033]0;title\007ok\n'").await), "red ok\n");
    let outcome = ran("head -c 300000 /dev/urandom").await;
    assert!(text(&outcome).chars().count() < 52_000);
    assert_eq!(strip_escapes("10%\r50%\r100%\r\nend\r\n\tx\u{8}y\u{7f}"), "100%\nend\n\txy");
}

async fn the_sink_gets_text_as_it_comes() {
    let dir = tempfile::tempdir().unwrap();
    let got = Arc::new(Mutex::new(String::new()));
    let sink = {
        let got = Arc::clone(&got);
        Box::new(move |text: &str| got.lock().unwrap().push_str(text))
    };
    // The command only goes on when what it printed was seen; the letter comes in two halves.
    let command =
        r"printf 'one \303'; until [ -e go ]; do read -t 0.01 < /dev/zero; done; printf '\251 two'";
    let running = tokio::spawn(run(spec(command, dir.path()), Some(sink), pending()));
    until("the first half is seen", || *got.lock().unwrap() == "one ").await;
    std::fs::write(dir.path().join("go"), "").unwrap();
    let outcome = running.await.unwrap().unwrap();
    assert_eq!(*got.lock().unwrap(), "one é two");
    assert_eq!(text(&outcome), "one é two");
}

async fn what_cannot_be_run_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let missing = spec("ls", &dir.path().join("none"));
    let error = run(missing, None, pending()).await.unwrap_err();
    assert!(matches!(error, CommandError::NoFolder(_)));
    assert!(error.to_string().starts_with("Error: the folder "));
    let error = run(spec("a\0b", dir.path()), None, pending()).await.unwrap_err();
    assert!(matches!(error, CommandError::Nul));
    let long = format!(": {}", "x".repeat(1 << 20));
    let error = run(spec(&long, dir.path()), None, pending()).await.unwrap_err();
    assert!(matches!(error, CommandError::TooLong(_)), "{error}");
    let mut no_file = spec("ls", dir.path());
    no_file.output_file = Some(dir.path().join("no/such/file"));
    let error = run(no_file, None, pending()).await.unwrap_err();
    assert!(matches!(error, CommandError::OutputFile(..)));
}

async fn without_bash_there_is_sh_and_without_both_words() {
    let dir = tempfile::tempdir().unwrap();
    let mut only_sh = spec("echo $0", dir.path());
    std::os::unix::fs::symlink("/bin/sh", dir.path().join("sh")).unwrap();
    only_sh.env = vec![("PATH".into(), dir.path().into())];
    let outcome = run(only_sh.clone(), None, pending()).await.unwrap();
    assert_eq!(text(&outcome), format!("{}\n", dir.path().join("sh").display()));
    only_sh.env = vec![("PATH".into(), PathBuf::from("/nowhere").into())];
    let error = run(only_sh, None, pending()).await.unwrap_err();
    assert!(matches!(error, CommandError::NoShell));
}

async fn what_the_user_named_is_given_but_for_the_models_keys_and_ways_out() {
    let names = [
        "NPM_TOKEN",
        "npm_token",
        "STRIPE_KEY",
        "AWS_PROFILE",
        "DATABASE_PASSWORD",
        "ACME_KEY",
        "COPY",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "OPENROUTER_X",
        "ROPEWALK_X",
        "SSH_AUTH_SOCK",
        "DBUS_SESSION_BUS_ADDRESS",
        "VSCODE_IPC_HOOK_CLI",
        "NVIM",
        "BASH_ENV",
    ];
    let value = |name: &str| if name == "COPY" { "a key: k-123" } else { "value" };
    let ours = || names.map(|name| (OsString::from(name), OsString::from(value(name))));
    let redact = || -> Redaction { Box::new(|bytes, _| bytes.retain(|byte| *byte != b'k')) };
    let secrets =
        Secrets { variables: ["ACME_KEY".to_owned()].into(), redact: Some(Arc::new(redact)) };
    let given = |named: &[&str]| {
        let named: Vec<String> = named.iter().copied().map(str::to_owned).collect();
        let set = command_environment([], &[], &Secrets::default());
        let given = command_environment(ours(), &named, &secrets).into_iter();
        let given = given.filter(|variable| !set.contains(variable));
        given.map(|(name, _)| name.into_string().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(given(&[]), ["STRIPE_KEY"]);
    assert_eq!(given(&["NPM_TOKEN"]), ["NPM_TOKEN", "STRIPE_KEY"]);
    let all = ["NPM_TOKEN", "npm_token", "STRIPE_KEY", "AWS_PROFILE", "DATABASE_PASSWORD"];
    assert_eq!(given(&names), all);
}

async fn secrets_do_not_reach_a_command() {
    let given = [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/home/x"),
        ("ANTHROPIC_API_KEY", "secret"),
        ("Anthropic_Base_Url", "secret"),
        ("MY_TOKEN", "secret"),
        ("db_password", "secret"),
        ("AWS_PROFILE", "secret"),
        ("SSH_AUTH_SOCK", "secret"),
        ("TERM", "xterm-256color"),
        ("TOKENIZERS_PARALLELISM", "false"),
        ("LANG", "C.UTF-8"),
    ];
    let given = given.map(|(k, v)| (OsString::from(k), OsString::from(v)));
    let env = command_environment(given, &[], &Secrets::default());
    let dir = tempfile::tempdir().unwrap();
    let spec = CommandSpec { env, ..spec("env", dir.path()) };
    let printed = text(&run(spec, None, pending()).await.unwrap());
    let names: Vec<&str> = printed.lines().filter_map(|l| Some(l.split_once('=')?.0)).collect();
    for kept in ["PATH", "HOME", "LANG", "TOKENIZERS_PARALLELISM", "GIT_TERMINAL_PROMPT"] {
        assert!(names.contains(&kept), "{kept} is missing: {printed}");
    }
    assert!(!printed.contains("secret"), "{printed}");
    assert!(printed.contains("TERM=dumb\n") && !printed.contains("xterm"));
}

/// Redacts the word `hush`, however it is cut.
fn hush() -> Secrets {
    let redact = || {
        let mut held = Vec::new();
        let redact: Redaction = Box::new(move |piece, last| {
            held.append(piece);
            let text = String::from_utf8(std::mem::take(&mut held)).unwrap().replace("hush", "*");
            let starts = ["hus", "hu", "h"].iter().find(|start| text.ends_with(**start));
            let at = text.len() - starts.filter(|_| !last).map_or(0, |start| start.len());
            let (now, later) = text.split_at(at);
            piece.extend_from_slice(now.as_bytes());
            held.extend_from_slice(later.as_bytes());
        });
        redact
    };
    Secrets { variables: ["ACME".to_owned()].into(), redact: Some(Arc::new(redact)) }
}

async fn what_is_redacted_is_in_no_chunk_no_file_and_no_result() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("all.txt");
    let shown = Arc::new(Mutex::new(String::new()));
    let sink = {
        let shown = shown.clone();
        Box::new(move |text: &str| shown.lock().unwrap().push_str(text))
    };
    // The shell's two writes may come in two reads or in one; the end is half a word.
    let command =
        "printf 'a hu'; printf 'sh b'; sleep 0.05; printf ' hus'; sleep 0.05; printf 'h c hu'";
    let spec = CommandSpec {
        output_file: Some(file.clone()),
        secrets: hush(),
        ..spec(command, dir.path())
    };
    let outcome = run(spec, Some(sink), pending()).await.unwrap();
    assert_eq!(String::from_utf8(outcome.output.head.clone()).unwrap(), "a * b * c hu");
    assert_eq!(*shown.lock().unwrap(), "a * b * c hu");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "a * b * c hu");
}

async fn a_variable_that_holds_a_secret_is_left_out_whatever_its_name() {
    let given = [("PATH", "/bin"), ("COPY", "to hush up"), ("ACME", "x"), ("LANG", "C")];
    let given = given.map(|(k, v)| (OsString::from(k), OsString::from(v)));
    let env = command_environment(given, &[], &hush());
    let names: Vec<_> = env.iter().map(|(name, _)| name.to_str().unwrap()).collect();
    assert_eq!(names[..2], ["PATH", "LANG"]);
    assert!(!names.contains(&"COPY") && !names.contains(&"ACME"), "{names:?}");
}
