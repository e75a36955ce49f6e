//! How commands begin and end, and that nothing is left of them.

use crate::world::{World, finish};
use ropewalk_sandbox::{End, SandboxError};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

/// With this argument, this program is a server that is killed.
pub(crate) const VICTIM: &str = "--victim-of-a-test";

pub(crate) fn a_kill_ends_everything() {
    World::new().run(async |world| {
        let sandbox = world.sandbox().await;
        let script = "for i in 1 2 3; do setsid sh -c 'trap \"\" TERM INT HUP; sleep 1000; sleep 1000' & done; echo up; wait";
        let (spec, output) = world.spec(script);
        let mut output = BufReader::new(output);
        let mut running = sandbox.run(spec).await.unwrap();
        output.read_line(&mut String::new()).unwrap();
        running.kill();
        assert_eq!(running.wait().await, End::Killed);
        // The output ends, because nobody holds it any more.
        output.read_to_end(&mut Vec::new()).unwrap();
        assert_eq!(running.wait().await, End::Killed);
        running.kill();
        assert_eq!(world.sh(&sandbox, "echo on").await.1, "on\n");
    });
}

pub(crate) fn a_dropped_command_is_ended() {
    World::new().run(async |world| {
        let sandbox = world.sandbox().await;
        let (spec, mut output) = world.spec("sleep 1000");
        drop(sandbox.run(spec).await.unwrap());
        tokio::task::spawn_blocking(move || output.read_to_end(&mut Vec::new()).unwrap())
            .await
            .unwrap();
        // So is one whose start nobody waits for, and all of them when the sandbox goes.
        let (spec, mut output) = world.spec("sleep 1000");
        drop(sandbox.run(spec));
        output.read_to_end(&mut Vec::new()).unwrap();
        let (spec, mut output) = world.spec("sleep 1000");
        let mut running = sandbox.run(spec).await.unwrap();
        drop(sandbox);
        assert!(matches!(running.wait().await, End::Lost(_)));
        output.read_to_end(&mut Vec::new()).unwrap();
    });
}

pub(crate) fn ends_are_told_apart() {
    World::new().run(async |world| {
        let sandbox = world.sandbox().await;
        let left_running = false;
        for (script, end) in [
            ("exit 0", End::Exited { code: 0, left_running }),
            ("exit 255", End::Exited { code: 255, left_running }),
            ("kill -SEGV $$", End::Signalled { signal: 11, left_running }),
            ("sleep 1000 & kill -KILL $$", End::Signalled { signal: 9, left_running: true }),
            ("(sleep 0.1; true) & wait", End::Exited { code: 0, left_running }),
            (
                "sleep 1000 & disown 2>/dev/null; exit 4",
                End::Exited { code: 4, left_running: true },
            ),
        ] {
            assert_eq!(world.sh(&sandbox, script).await.0, end, "{script}");
        }
    });
}

pub(crate) fn a_shared_segment_goes_with_its_command() {
    World::new().run(async |world| {
        let sandbox = world.sandbox().await;
        let make = "python3 -c 'import ctypes; print(ctypes.CDLL(None).shmget(77, ctypes.c_size_t(4096), 0o1600))'; wc -l < /proc/sysvipc/shm";
        assert_eq!(world.sh(&sandbox, make).await.1, "0\n2\n");
        assert_eq!(world.sh(&sandbox, "wc -l < /proc/sysvipc/shm").await.1, "1\n");
    });
}

/// Change that makes a good command a bad one.
type Change<'a> = &'a dyn Fn(&mut ropewalk_sandbox::Spec);

pub(crate) fn what_cannot_be_started_is_said() {
    World::new().run(async |world| {
        let sandbox = world.sandbox().await;
        world.write("text", "no program");
        let starts = async |change: Change<'_>| {
            let (mut spec, _output) = world.spec("true");
            change(&mut spec);
            sandbox.run(spec).await.unwrap_err().to_string()
        };
        let cases: [(Change<'_>, &str); 8] = [
            (
                &|spec| spec.argv = vec!["no-such-program".into()],
                "starting no-such-program: No such file",
            ),
            (&|spec| spec.argv = vec!["./text".into()], "starting ./text: Permission denied"),
            (&|spec| spec.argv = vec![], "a command needs a program"),
            (&|spec| spec.argv = vec!["sh".into(), "a\0b".into()], "zero byte"),
            (&|spec| spec.cwd = "/no/such/folder".into(), "entering /no/such/folder"),
            (&|spec| spec.layer = "missing".to_owned(), "opening \"up\" of the layer \"missing\""),
            (&|spec| spec.layer = "../main".to_owned(), "can't be the name of a layer"),
            (&|spec| spec.cwd = "relative".into(), "must be absolute"),
        ];
        for (change, words) in cases {
            let error = starts(change).await;
            assert!(error.contains(words), "{error}");
        }
        assert_eq!(world.sh(&sandbox, "echo on").await.1, "on\n");
    });
}

pub(crate) fn long_commands_and_environments() {
    World::new().run(async |world| {
        let sandbox = world.sandbox().await;
        let (mut spec, output) =
            world.spec("printf %s \"$LONG\" | wc -c; printf %s \"$1\" | wc -c");
        spec.argv.extend(["sh".into(), "x".repeat(100_000).into()]);
        spec.env.push(("LONG".into(), "é".repeat(50_000).into()));
        let (_, said) = finish(&sandbox, spec, output).await;
        assert_eq!(said, "100000\n100000\n");
    });
}

pub(crate) fn many_commands_at_a_time() {
    World::new().run(async |world| {
        let sandbox = world.sandbox().await;
        let mut running = Vec::new();
        for index in 0..20 {
            let name = format!("b{index}");
            world.layer(&sandbox, &name);
            let (mut spec, output) = world.spec(&format!("echo {index} > own; cat own"));
            spec.layer = name;
            running.push((index, sandbox.run(spec).await.unwrap(), output));
        }
        for (index, mut running, mut output) in running {
            assert_eq!(running.wait().await, End::Exited { code: 0, left_running: false });
            let mut said = String::new();
            output.read_to_string(&mut said).unwrap();
            assert_eq!(said, format!("{index}\n"));
        }
    });
}

pub(crate) fn a_dead_holder_is_noticed() {
    World::new().run(async |world| {
        let sandbox = world.sandbox().await;
        let (spec, mut output) = world.spec("sleep 1000");
        let mut running = sandbox.run(spec).await.unwrap();
        let holder = child_of(std::process::id(), world.root());
        assert!(Command::new("kill").args(["-KILL", &holder]).status().unwrap().success());
        assert!(matches!(running.wait().await, End::Lost(_)));
        output.read_to_end(&mut Vec::new()).unwrap();
        let (spec, _output) = world.spec("true");
        assert!(matches!(sandbox.run(spec).await, Err(SandboxError::Ended)));
        assert!(!sandbox.is_alive());
    });
}

/// The child of a process that is a holder whose mounts are beneath `root`'s world.
fn child_of(parent: u32, root: &std::path::Path) -> String {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(status) = std::fs::read_to_string(entry.path().join("status")) else { continue };
        let is_child = status.lines().any(|line| line == format!("PPid:\t{parent}"));
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        // Other tests have holders of their own; this one's shows its home.
        let mounts = std::fs::read_to_string(entry.path().join("mountinfo")).unwrap_or_default();
        let home = root.parent().unwrap().to_str().unwrap().to_owned();
        if is_child
            && String::from_utf8_lossy(&line).contains(ropewalk_sandbox::HELPER)
            && mounts.contains(&home)
        {
            found.push(entry.file_name().into_string().unwrap());
        }
    }
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// With this argument, this program may mount things, and tells what becomes of a root that holds a mount.
pub(crate) const MOUNTED: &str = "--something-is-mounted";

pub(crate) fn mounted() {
    World::new().run(async |world| {
        let inner = world.root().join("in side");
        std::fs::create_dir(&inner).unwrap();
        let done =
            Command::new("mount").args(["-t", "tmpfs", "none"]).arg(&inner).status().unwrap();
        assert!(done.success());
        let sandbox = world.sandbox().await;
        let (spec, _output) = world.spec("true");
        println!("{}", sandbox.run(spec).await.unwrap_err());
    });
}

pub(crate) fn a_root_with_a_mount_in_it_is_told() {
    let own = std::env::current_exe().unwrap();
    let output = Command::new("unshare").arg("-Urm").arg(own).arg(MOUNTED).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("something is mounted inside it, at /"), "{output:?}");
    assert!(said.trim_end().ends_with("/home/project/in side)"), "{output:?}");
}

/// With this argument, this program may mount things, and tells how commands run where all folders lie on an overlay.
pub(crate) const ON_AN_OVERLAY: &str = "--all-on-an-overlay";

pub(crate) fn on_an_overlay() {
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs none \"$0\" && cd \"$0\" && mkdir low up work here && \
                  mount -t overlay none -o userxattr,lowerdir=low,upperdir=up,workdir=work here";
    let done = Command::new("sh").args(["-c", script]).arg(folder.path()).status().unwrap();
    assert!(done.success());
    let mut world = World::in_folder(&folder.path().join("here"), "project");
    world.write("a.txt", "old");
    let script = "cat a.txt; rm a.txt; echo new > a.txt; cat a.txt";
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        println!("{:?}", world.sh(&sandbox, script).await);
        println!("{:?}", world.read("a.txt"));
        world.plan.upper = ropewalk_sandbox::Upper::Disk;
        let sandbox = world.sandbox().await;
        let (spec, _output) = world.spec("true");
        println!("{}", sandbox.run(spec).await.unwrap_err());
    });
}

pub(crate) fn a_layer_that_lies_on_an_overlay_is_told() {
    let own = std::env::current_exe().unwrap();
    let output = Command::new("unshare").arg("-Urm").arg(own).arg(ON_AN_OVERLAY).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = said.lines().collect();
    let [ran, left, refused] = <[&str; 3]>::try_from(lines).unwrap();
    // In memory, the layers are fine, and the roots may lie where they like.
    assert_eq!(ran, "(Exited { code: 0, left_running: false }, \"oldnew\\n\")");
    assert_eq!(left, "\"old\"");
    assert!(refused.starts_with("mounting the overlay over /"), "{said}");
    assert!(refused.ends_with("(what commands write would lie on an overlay itself)"), "{said}");
}

pub(crate) fn a_sandbox_outlives_the_thread_that_started_it() {
    let world = World::new();
    world.write("a.txt", "old");
    let (runtime, sandbox, mut world) = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let sandbox = runtime.block_on(world.sandbox());
        (runtime, sandbox, world)
    })
    .join()
    .unwrap();
    let ran = runtime.block_on(world.sh(&sandbox, "cat a.txt; sleep 0.3; echo on"));
    assert_eq!(ran, (End::Exited { code: 0, left_running: false }, "oldon\n".to_owned()));
    // With its runtime it ends, and says so.
    drop(runtime);
    world.run(async |world| {
        let (spec, _output) = world.spec("true");
        assert!(matches!(sandbox.run(spec).await, Err(SandboxError::Ended)));
    });
}

/// The server that is to be killed: it starts a command and waits for it.
pub(crate) fn victim() {
    World::new().run(async |world| {
        let sandbox = world.sandbox().await;
        let (mut spec, output) = world.spec("setsid sh -c 'sleep 1000' & sleep 1000");
        // The command holds this program's own output open, and is asked by that whether it is gone.
        drop(output);
        spec.output = std::os::fd::AsFd::as_fd(&std::io::stdout()).try_clone_to_owned().unwrap();
        let mut running = sandbox.run(spec).await.unwrap();
        println!("{}", world.home().display());
        running.wait().await;
    });
}

pub(crate) fn a_killed_server_leaves_nothing() {
    let mut server =
        Command::new("/proc/self/exe").arg(VICTIM).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut home = String::new();
    output.read_line(&mut home).unwrap();
    let home = home.trim();
    assert!(!processes_that_see(home).is_empty());
    server.kill().unwrap();
    server.wait().unwrap();
    // Whoever lives on holds the output. It ends when nobody does.
    output.read_to_end(&mut Vec::new()).unwrap();
    // The holder has no output; it goes when it sees that the server is gone.
    let left = (0..500).find_map(|_| {
        let left = processes_that_see(home);
        std::thread::sleep(std::time::Duration::from_millis(10));
        left.is_empty().then_some(left)
    });
    assert_eq!(left, Some(Vec::new()));
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(home));
    std::fs::remove_dir_all(std::path::Path::new(home).parent().unwrap()).unwrap();
}

/// The processes in whose mounts a folder is.
fn processes_that_see(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(mounts) = std::fs::read_to_string(entry.path().join("mountinfo")) else { continue };
        if mounts.contains(folder) {
            found.push(entry.file_name().into_string().unwrap());
        }
    }
    found
}

pub(crate) fn this_machine_is_found_fit() {
    World::new().run(async |_| {
        let support = ropewalk_sandbox::probe().await;
        assert!(support.is_ok(), "{support:?}");
        assert!(std::ptr::eq(support, ropewalk_sandbox::probe().await));
    });
}
