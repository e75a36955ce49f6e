//! Commands on the machine itself: how they end, and that nothing is left of them, whatever they do to be left.

use ropewalk_sandbox::{End, KEEPER, KeptCommand, Outside};
use std::io::{BufRead, BufReader, PipeReader, Read};
use std::process::{Command, Stdio};

/// With this argument, this program is a server that is killed.
pub(crate) const VICTIM: &str = "--victim-of-a-test-that-keeps";

/// Things that stay when only their group, or only those that have a parent of theirs, are ended. Each of their
/// processes holds the output, and the whole says `up` when all of it runs.
const STUBBORN: &str = r#"
    export S=1000.$$
    hold='trap "" TERM INT HUP QUIT; sleep $S; sleep $S'
    sh -c "$hold" &
    setsid sh -c "$hold" &
    (setsid sh -c "setsid sh -c '$hold' & sleep $S" &)
    set -m; sh -c "$hold" & set +m
    nohup setsid sh -c "(setsid sh -c '(setsid sh -c \"sleep $S; sleep $S\" &) ; sleep $S' &)" &
    until [ "$(ps -eo args | grep -c "^sleep $S\$")" -ge 7 ]; do :; done
    echo up
"#;

fn run(test: impl AsyncFnOnce()) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(test());
}

/// A script for `bash`, and the end of its output.
fn script(text: &str) -> (Outside, BufReader<PipeReader>) {
    let (read, write) = std::io::pipe().unwrap();
    let command = Outside {
        argv: ["bash", "-c", text].map(Into::into).into(),
        cwd: "/".into(),
        env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        output: write.into(),
    };
    (command, BufReader::new(read))
}

async fn started(text: &str) -> (KeptCommand, BufReader<PipeReader>) {
    let (command, output) = script(text);
    (KeptCommand::start(command).await.unwrap(), output)
}

/// Until nobody holds the output any more; what was said.
async fn said(mut output: BufReader<PipeReader>) -> String {
    let read = move || {
        let mut said = String::new();
        output.read_to_string(&mut said).unwrap();
        said
    };
    tokio::task::spawn_blocking(read).await.unwrap()
}

fn line(output: &mut BufReader<PipeReader>) -> String {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    line
}

pub(crate) fn ends_are_told_apart() {
    run(async || {
        for (text, end, words) in [
            ("echo hi", exited(0), "hi\n"),
            ("echo out; echo err >&2; exit 255", exited(255), "out\nerr\n"),
            ("kill -SEGV $$", End::Signalled { signal: 11, left_running: false }, ""),
            // Its own group is all that these reach.
            ("kill -TERM 0; echo on", End::Signalled { signal: 15, left_running: false }, ""),
            ("kill -KILL -- -$$; echo on", End::Signalled { signal: 9, left_running: false }, ""),
            ("cat; echo $0 $#", exited(0), "bash 0\n"),
            // Processes that need but a moment have it.
            ("(sleep 0.1; echo late) & true", exited(0), "late\n"),
            ("(setsid sh -c 'sleep 0.1; echo late' &)", exited(0), "late\n"),
            ("sleep 1000 & exit 4", End::Exited { code: 4, left_running: true }, ""),
            ("sleep 1000 & kill -9 $$", End::Signalled { signal: 9, left_running: true }, ""),
            ("(setsid nohup sleep 1000 &)", End::Exited { code: 0, left_running: true }, ""),
        ] {
            let (mut kept, output) = started(text).await;
            assert_eq!(kept.wait().await, end, "{text}");
            assert_eq!(kept.wait().await, end, "{text}");
            // The output ends, because nobody holds it any more.
            assert_eq!(said(output).await, words, "{text}");
        }
    });
}

fn exited(code: i32) -> End {
    End::Exited { code, left_running: false }
}

pub(crate) fn a_kill_ends_everything() {
    run(async || {
        let (mut kept, mut output) = started(&format!("{STUBBORN}\nwait")).await;
        assert_eq!(line(&mut output), "up\n");
        kept.kill();
        assert_eq!(kept.wait().await, End::Killed);
        said(output).await;
        // The same when the command ends by itself.
        let (mut kept, output) = started(STUBBORN).await;
        assert_eq!(kept.wait().await, End::Exited { code: 0, left_running: true });
        assert_eq!(said(output).await, "up\n");
        // And when nobody wants it any more, before or after it has started.
        let (kept, mut output) = started(&format!("{STUBBORN}\nwait")).await;
        assert_eq!(line(&mut output), "up\n");
        drop(kept);
        said(output).await;
        let (command, output) = script("sleep 1000");
        drop(KeptCommand::start(command));
        said(output).await;
    });
}

/// Each process of this chain has a group of its own, starts the next and is gone.
const CHAIN: &str = r#"use POSIX;
$| = 1; print "up\n";
for (;;) { my $next = fork; exit if $next; POSIX::setsid(); select(undef, undef, undef, 0.0005); }"#;

pub(crate) fn what_runs_from_its_end_is_caught() {
    run(async || {
        let (mut command, mut output) = script("");
        command.argv = ["perl", "-e", CHAIN].map(Into::into).into();
        let mut kept = KeptCommand::start(command).await.unwrap();
        assert_eq!(line(&mut output), "up\n");
        kept.kill();
        kept.wait().await;
        said(output).await;
        // So are those that become more.
        let (mut kept, mut output) = started(
            "echo up; f() { [ $1 = 7 ] && sleep 1000; f $(($1 + 1)) & f $(($1 + 1)); }; f 0",
        )
        .await;
        assert_eq!(line(&mut output), "up\n");
        kept.kill();
        assert_eq!(kept.wait().await, End::Killed);
        said(output).await;
    });
}

pub(crate) fn what_cannot_be_started_is_said() {
    run(async || {
        let starts = async |change: &dyn Fn(&mut Outside)| {
            let (mut command, _output) = script("true");
            change(&mut command);
            KeptCommand::start(command).await.unwrap_err().kind()
        };
        use std::io::ErrorKind;
        let missing = starts(&|command| command.argv = vec!["no-such-program".into()]).await;
        assert_eq!(missing, ErrorKind::NotFound);
        let closed = starts(&|command| command.argv = vec!["/dev/null".into()]).await;
        assert_eq!(closed, ErrorKind::PermissionDenied);
        let nowhere = starts(&|command| command.cwd = "/no/such/folder".into()).await;
        assert_eq!(nowhere, ErrorKind::NotFound);
        let long = starts(&|command| command.argv.push("x".repeat(1 << 20).into())).await;
        assert_eq!(long, ErrorKind::ArgumentListTooLong);
        for hostile in [vec![], vec!["sh".into(), "a\0b".into()]] {
            starts(&|command| command.argv.clone_from(&hostile)).await;
        }
        // Long and odd values can be started.
        let (mut command, output) = script("printf %s \"$LONG\" | wc -c; pwd");
        let odd: std::ffi::OsString =
            std::os::unix::ffi::OsStringExt::from_vec(b"no utf-8: \xff\n".to_vec());
        let folder = tempfile::tempdir().unwrap();
        command.cwd = folder.path().join(odd);
        std::fs::create_dir(&command.cwd).unwrap();
        command.env.push(("LONG".into(), "é".repeat(50_000).into()));
        assert_eq!(KeptCommand::start(command).await.unwrap().wait().await, exited(0));
        let bytes = tokio::task::spawn_blocking(move || {
            let (mut output, mut bytes) = (output, Vec::new());
            output.read_to_end(&mut bytes).unwrap();
            bytes
        });
        let bytes = bytes.await.unwrap();
        assert!(bytes.starts_with(b"100000\n/") && bytes.ends_with(b"no utf-8: \xff\n\n"));
    });
}

pub(crate) fn a_command_holds_nothing_of_its_keepers() {
    run(async || {
        let (mut first, _output) = started("sleep 1000").await;
        let (mut kept, output) = started("ls -l /proc/$$/fd; echo; cat /proc/$PPID/cmdline").await;
        assert_eq!(kept.wait().await, exited(0));
        let said = said(output).await;
        assert!(said.ends_with(&format!("{KEEPER}\0")), "{said}");
        assert!(!said.contains("socket") && said.contains("0 -> /dev/null"), "{said}");
        let output = said.lines().find_map(|line| line.split_once(" 1 -> ")).unwrap().1;
        assert_eq!(said.matches(output).count(), 2, "{said}");
        first.kill();
        assert_eq!(first.wait().await, End::Killed);
    });
}

pub(crate) fn a_keeper_that_is_killed_takes_the_command_along() {
    run(async || {
        for signal in ["TERM", "KILL"] {
            let (mut kept, mut output) = started("echo $PPID; (sleep 1000; true) & wait").await;
            let keeper = line(&mut output);
            let sent = Command::new("kill").args(["-s", signal, keeper.trim()]).status().unwrap();
            assert!(sent.success());
            assert!(matches!(kept.wait().await, End::Lost(_)));
            said(output).await;
        }
    });
}

/// Attacks of commands on their keeper, with something left behind that only its unlike number tells. Some of it has
/// neither its parent, nor its session, nor its environment, nor its output.
const AGAINST_THE_KEEPER: &[&str] = &[
    "kill -STOP $PPID; exec sleep $N",
    "kill -STOP $PPID; sleep $N & echo on",
    "while kill -STOP $PPID; do :; done; sleep $N",
    "setsid -f sleep $N; kill -9 $PPID",
    "setsid -f sleep $N; kill -9 $PPID; exec sleep $N",
    "env -i setsid -f sleep $N </dev/null >/dev/null 2>&1; kill -9 $PPID",
    "(setsid sh -c 'ulimit -S -x 100; setsid -f sh -c \"sleep $N; sleep $N\"; sleep $N' &); kill -STOP $PPID; kill -9 $PPID",
    "(trap '' TERM HUP INT; setsid sh -c 'while :; do setsid -f sleep $N; done' &); kill -9 $PPID",
    "kill -STOP $PPID $$",
];

pub(crate) fn a_command_that_ends_its_keeper_leaves_nothing() {
    run(async || {
        // Processes that others have started are theirs to wait for, and nobody's to end.
        let mut own = tokio::process::Command::new("sh")
            .args(["-c", "read line; exit 7"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        for (row, text) in AGAINST_THE_KEEPER.iter().enumerate() {
            let number = format!("{}0{row}", 10_000_000 + std::process::id());
            let (mut command, output) = script(text);
            command.env.push(("N".into(), number.clone().into()));
            let mut kept = KeptCommand::start(command).await.unwrap();
            let end = kept.wait().await;
            let is_told = matches!(&end, End::Lost(words) if words.ends_with("were ended"));
            assert!(is_told, "{text}: {end:?}");
            assert_eq!(named(&number), Vec::<String>::new(), "{text}");
            said(output).await;
        }
        // One that is stopped is killed all the same when nobody wants the command.
        let (mut kept, mut output) = started("echo up; kill -STOP $PPID; sleep 1000").await;
        assert_eq!(line(&mut output), "up\n");
        kept.kill();
        assert!(matches!(kept.wait().await, End::Lost(_) | End::Killed));
        said(output).await;
        drop(own.stdin.take());
        assert_eq!(own.wait().await.unwrap().code(), Some(7));
    });
}

/// The processes that have this in their command line.
fn named(part: &str) -> Vec<String> {
    let lines = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = lines.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(part)).collect()
}

/// The server that is to be killed: it starts a command and waits for it.
pub(crate) fn victim() {
    run(async || {
        let (mut command, _output) = script(&format!("{STUBBORN}\nwait"));
        // The command holds this program's own output open, and is asked by that whether it is gone.
        command.output = std::os::fd::AsFd::as_fd(&std::io::stdout()).try_clone_to_owned().unwrap();
        KeptCommand::start(command).await.unwrap().wait().await;
    });
}

pub(crate) fn a_killed_server_leaves_nothing() {
    let mut server =
        Command::new("/proc/self/exe").arg(VICTIM).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut up = String::new();
    output.read_line(&mut up).unwrap();
    assert_eq!(up, "up\n");
    let keeper = keeper_of(server.id());
    server.kill().unwrap();
    server.wait().unwrap();
    // Whoever lives on holds the output. It ends when nobody does.
    output.read_to_end(&mut Vec::new()).unwrap();
    // The keeper has no output; it goes when all others have.
    let gone = (0..2000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        // This program adopts it where another test has run kept commands.
        let own = i32::try_from(keeper).ok().and_then(rustix::process::Pid::from_raw);
        let _ = rustix::process::waitpid(own, rustix::process::WaitOptions::NOHANG);
        !std::path::Path::new(&format!("/proc/{keeper}")).exists()
    });
    assert!(gone);
}

/// The keeper whose parent is this process.
fn keeper_of(parent: u32) -> u32 {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let mut ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_keeper = |id: &u32| {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{id}/{name}"));
        read("status").is_ok_and(|text| text.contains(&format!("\nPPid:\t{parent}\n")))
            && read("cmdline").is_ok_and(|text| text.contains(KEEPER))
    };
    ids.find(is_keeper).unwrap()
}
