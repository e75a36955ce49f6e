//! Files that commands see, write and reach.

use crate::world::{World, finish};
use ropewalk_sandbox::{End, Sandbox, Upper};
use std::ffi::OsStr;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

const OK: End = End::Exited { code: 0, left_running: false };

pub(crate) fn writes_to_its_layer_alone() {
    World::new().run(async |world| {
        world.write("kept.txt", "old");
        world.write("gone/a.txt", "a");
        let sandbox = world.sandbox().await;
        let script = "pwd; cat kept.txt; echo; echo new > kept.txt; rm -r gone; mkdir gone; ls gone; cat kept.txt; exit 3";
        let (end, said) = world.sh(&sandbox, script).await;
        assert_eq!(said, format!("{}\nold\nnew\n", world.root().display()));
        assert_eq!(end, End::Exited { code: 3, left_running: false });
        assert_eq!(world.read("kept.txt"), "old");
        assert_eq!(world.read("gone/a.txt"), "a");
        let up = sandbox.layers().join("main/0/up");
        assert_eq!(std::fs::read_to_string(up.join("kept.txt")).unwrap(), "new\n");
        // The next command finds what this one left; another layer has nothing of it.
        assert_eq!(world.sh(&sandbox, "cat kept.txt; ls gone").await, (OK, "new\n".to_owned()));
        world.layer(&sandbox, "b1");
        let (mut spec, output) = world.spec("cat kept.txt; ls gone");
        spec.layer = "b1".to_owned();
        assert_eq!(finish(&sandbox, spec, output).await, (OK, "olda.txt\n".to_owned()));
    });
}

pub(crate) fn layers_on_a_disk() {
    let mut world = World::new();
    world.plan.upper = Upper::Disk;
    world.run(async |world| {
        world.write("kept.txt", "old");
        world.write("gone/a.txt", "a");
        let sandbox = world.sandbox().await;
        assert_eq!(sandbox.upper(), Upper::Disk);
        let script = "rm -r gone; mkdir gone; ls gone; echo new > kept.txt; ls -A ~ | tr '\\n' ' '";
        assert_eq!(world.sh(&sandbox, script).await, (OK, "project ".to_owned()));
        let up = world.plan.disk_layers.join("main/0/up");
        assert_eq!(std::fs::read_to_string(up.join("kept.txt")).unwrap(), "new\n");
        assert_eq!(world.read("kept.txt"), "old");
        let (end, _) = world.sh(&sandbox, "head -c 200M /dev/zero > big; sleep 1000").await;
        assert!(matches!(end, End::LayerFull { bytes } if bytes > 64 << 20), "{end:?}");
        assert!(sandbox.is_alive());
    });
}

pub(crate) fn roots_of_any_name() {
    for name in [
        "a b",
        "a,b",
        "a:b",
        "a\\b",
        "a\\,b:c",
        "日本 é",
        "new\nline",
        "\"'$x",
        "%20",
        "ümlaut/tief",
    ] {
        odd_root(OsStr::new(name));
    }
    odd_root(OsStr::from_bytes(b"not \xff utf-8"));
}

fn odd_root(name: &OsStr) {
    World::named(name).run(async |world| {
        world.write("a.txt", "old");
        let sandbox = world.sandbox().await;
        let (end, said) = world.sh(&sandbox, "cat a.txt; echo new > a.txt; pwd | wc -c").await;
        assert_eq!(end, OK, "{name:?}: {said}");
        assert_eq!(said, format!("old{}\n", world.root().as_os_str().len() + 1));
        assert_eq!(world.read("a.txt"), "old");
        let up = sandbox.layers().join("main/0/up/a.txt");
        assert_eq!(std::fs::read_to_string(up).unwrap(), "new\n");
    });
}

pub(crate) fn several_roots() {
    let mut world = World::new();
    let second = world.home().join("second");
    let far = world.home().parent().unwrap().join("far/away");
    for root in [&second, &far] {
        std::fs::create_dir_all(root).unwrap();
        std::fs::write(root.join("a.txt"), "old").unwrap();
        world.plan.roots.push(root.clone());
    }
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        let script = "for f in ../second/a.txt ../../far/away/a.txt; do cat $f; echo new > $f; done; echo x > own";
        assert_eq!(world.sh(&sandbox, script).await, (OK, "oldold".to_owned()));
        for (index, file) in [(0, "own"), (1, "a.txt"), (2, "a.txt")] {
            let path = sandbox.layers().join(format!("main/{index}/up/{file}"));
            assert!(path.exists(), "{index}");
        }
        assert_eq!(std::fs::read_to_string(far.join("a.txt")).unwrap(), "old");
    });
}

pub(crate) fn a_root_is_there_under_its_links_name_too() {
    let mut world = World::new();
    let far = world.home().parent().unwrap().join("far");
    std::fs::create_dir(&far).unwrap();
    let links = [world.home().join("link"), far.join("lïnk"), far.join("through/project")];
    std::os::unix::fs::symlink(world.root(), &links[0]).unwrap();
    std::os::unix::fs::symlink(world.root(), &links[1]).unwrap();
    std::os::unix::fs::symlink(world.home(), far.join("through")).unwrap();
    let root = world.root().to_owned();
    world.plan.links = links.iter().map(|link| (link.clone(), root.clone())).collect();
    world.plan.links.push(("/etc/link".into(), root.clone()));
    world.plan.links.push((root.join("inner"), root.clone()));
    world.run(async |world| {
        world.write("a.txt", "old");
        let sandbox = world.sandbox().await;
        for (number, link) in links.iter().enumerate() {
            for shown in [vec![], vec![world.home().to_owned()], vec![far.clone()]] {
                let (mut spec, output) =
                    world.spec("cat $0/a.txt; echo x > $0/new$1; ls new$1; cd $0; pwd -P");
                spec.argv.extend([link.into(), number.to_string().into()]);
                spec.shown = shown;
                let (end, said) = finish(&sandbox, spec, output).await;
                let expected = format!("oldnew{number}\n{}\n", root.display());
                assert_eq!((end, said), (OK, expected), "{}", link.display());
            }
        }
        assert_eq!(world.sh(&sandbox, "ls -A /etc/link inner 2>&1 | wc -l").await.1, "2\n");
    });
    assert!(!root.join("new0").exists());
}

pub(crate) fn a_root_in_memory_and_inside_a_shown_folder() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let root = folder.join("repository/part");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::create_dir_all(folder.join("repository/.git")).unwrap();
    std::fs::write(folder.join("repository/.git/HEAD"), "ref").unwrap();
    std::fs::write(folder.join("repository/sibling"), "sibling").unwrap();
    let mut world = World::new();
    world.plan.roots.push(root.clone());
    world.plan.shown.push(folder.join("repository"));
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        let (mut spec, output) =
            world.spec("cat ../.git/HEAD ../sibling; echo x > new; echo x > ../evil; ls");
        spec.cwd.clone_from(&root);
        let (_, said) = finish(&sandbox, spec, output).await;
        assert!(
            said.contains("refsibling") && said.contains("Read-only") && said.ends_with("new\n"),
            "{said}"
        );
        assert!(!root.join("new").exists() && !folder.join("repository/evil").exists());
    });
}

pub(crate) fn a_home_that_is_the_root() {
    let mut world = World::new();
    world.plan.roots = vec![world.home().to_owned()];
    world.plan.hidden = vec![world.home().join(".ssh")];
    std::fs::create_dir_all(world.home().join(".ssh")).unwrap();
    std::fs::write(world.home().join(".ssh/key"), "SECRET").unwrap();
    world.run(async |world| {
        world.write("a.txt", "old");
        let sandbox = world.sandbox().await;
        let (_, said) = world
            .sh(&sandbox, "cat a.txt ~/.ssh/key; echo x > ~/new; ls -A ~ | tr '\\n' ' '")
            .await;
        assert!(said.starts_with("old") && said.ends_with(".ssh new project "), "{said}");
        assert!(!said.contains("SECRET") && !world.home().join("new").exists());
    });
}

pub(crate) fn toolchains_are_seen_and_not_written() {
    let mut world = World::new();
    let home = world.home().to_owned();
    let elsewhere = home.parent().unwrap().join("sdk");
    for (path, text) in [
        (home.join(".cargo/bin/tool"), "#!/bin/sh\necho tool\n"),
        (home.join(".cargo/credentials.toml"), "SECRET"),
        (home.join(".gitconfig"), "[user]\n\tname = A B\n"),
        (home.join(".config/other"), "SECRET"),
        (elsewhere.join("bin/javac"), "#!/bin/sh\necho javac\n"),
        (elsewhere.join("credentials"), "SECRET"),
    ] {
        use std::os::unix::fs::PermissionsExt;
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    world.plan.environment = vec![
        ("JAVA_HOME".into(), elsewhere.clone().into()),
        (
            "PATH".into(),
            format!(
                "/usr/bin:{0}/.cargo/bin:{1}:relative:/:{0}",
                home.display(),
                elsewhere.join("bin").display()
            )
            .into(),
        ),
        ("GOPATH".into(), home.parent().unwrap().into()),
    ];
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        let script = "~/.cargo/bin/tool; ../../sdk/bin/javac; git config user.name; echo new > ~/.cargo/bin/tool; \
                      python3 -c 'import os; os.rename(os.path.expanduser(\"~/.cargo/bin/tool\"), os.path.expanduser(\"~/.cargo/tool\"))'; mv ~/.cargo/tool ~/.cargo/bin; echo more > ~/.cargo/more; echo x > ../../sdk/x; cat ~/.cargo/bin/tool; \
                      cat ~/.cargo/credentials.toml ../../sdk/credentials ~/.config/other; ls ../..";
        let (_, said) = world.sh(&sandbox, script).await;
        assert!(said.starts_with("tool\njavac\nA B\nnew\n") && !said.contains("SECRET"), "{said}");
        // A variable must name a toolchain, not the folder that everything is in.
        assert!(said.ends_with("home\nsdk\n"), "{said}");
        assert!(!elsewhere.join("x").exists() && !home.join(".cargo/more").exists());
        assert!(std::fs::read_to_string(home.join(".cargo/bin/tool")).unwrap().contains("echo tool"));
    });
}

pub(crate) fn a_root_inside_a_toolchain_hides_nothing_of_it() {
    let mut world = World::named("go/src/p");
    let go = world.home().join("go");
    for (path, text) in
        [("pkg/mod/dep.go", "dep\n"), ("src/p/a.go", "one\n"), ("src/q/b.go", "q\n")]
    {
        std::fs::create_dir_all(go.join(path).parent().unwrap()).unwrap();
        std::fs::write(go.join(path), text).unwrap();
    }
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        let script = "cat ~/go/pkg/mod/dep.go ~/go/src/q/b.go; echo two >> ~/go/src/p/a.go; echo x > ~/go/src/q/b.go; rm -rf ~/go; cat a.go; ls ~/go/src";
        let (_, said) = world.sh(&sandbox, script).await;
        assert!(said.starts_with("dep\nq\n"), "{said}");
        world.write("a.go", "three\n");
        let (_, said) = world.sh(&sandbox, "pwd; ls -A ~/go/src; echo four > a.go; cat ~/go/src/p/a.go").await;
        assert!(said.ends_with("/go/src/p\np\nfour\n"), "{said}");
        assert_eq!(world.read("a.go"), "three\n");
        assert_eq!(std::fs::read_to_string(go.join("src/q/b.go")).unwrap(), "q\n");
    });
}

pub(crate) fn caches_are_written_in_earnest() {
    let mut world = World::new();
    let cache = world.home().join(".cache/builds/1");
    std::fs::create_dir_all(&cache).unwrap();
    std::fs::write(world.home().join(".cache/other"), "SECRET").unwrap();
    world.plan.caches = vec![cache.clone(), world.home().join("missing")];
    world.plan.hidden = vec![world.home().join(".cache")];
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        let (_, said) = world
            .sh(&sandbox, "echo x > ~/.cache/builds/1/a; cat ~/.cache/other; echo x > ~/.cache/b")
            .await;
        assert!(!said.contains("SECRET"), "{said}");
        assert_eq!(std::fs::read_to_string(cache.join("a")).unwrap(), "x\n");
        assert!(!world.home().join(".cache/b").exists());
    });
}

pub(crate) fn what_is_written_in_earnest_or_to_toolchains_on_a_disk_is_bounded() {
    let mut world = World::new();
    let caches = ["one", "two"].map(|name| world.home().parent().unwrap().join(name));
    for cache in &caches {
        std::fs::create_dir_all(cache).unwrap();
    }
    std::fs::create_dir_all(world.home().join(".cargo/bin")).unwrap();
    world.plan.caches = caches.to_vec();
    world.plan.upper = Upper::Disk;
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        let [one, two] = caches.map(|cache| cache.display().to_string());
        let script =
            format!("for f in {one} {two}; do head -c 10M /dev/zero > $f/x; done; sleep 1000");
        let (end, _) = world.sh(&sandbox, &script).await;
        assert!(matches!(end, End::CacheFull { bytes } if bytes > 16 << 20), "{end:?}");
        let (end, _) = world.sh(&sandbox, &format!("rm {one}/x; sleep 1")).await;
        assert_eq!(end, OK);
        // Room can't be reserved at once, beyond what is ever measured in time; what is written for it counts.
        let script = format!("fallocate -l 20M {two}/y; stat -c %b {two}/y; python3 -c 'import os; os.posix_fallocate(os.open(\"{two}/z\", os.O_CREAT | os.O_RDWR), 0, 9000)'; stat -c %s {two}/z; rm {two}/[yz]");
        let (end, said) = world.sh(&sandbox, &script).await;
        assert_eq!(end, OK);
        assert!(said.contains("not supported\n0\n9000\n"), "{said}");
        // Neither deeper than a path can name, nor without a byte.
        for fill in [
            "for (1..2100) { mkdir \"d\"; chdir \"d\" or die } open F, \">x\"; print F \"x\" x 20_000_000",
            "for (1..6_000) { open F, \">$_\" }",
        ] {
            let script = format!("cd {one} && perl -e '{fill}'; sleep 1000");
            let (end, _) = world.sh(&sandbox, &script).await;
            assert!(matches!(end, End::CacheFull { bytes } if bytes > 16 << 20), "{fill} {end:?}");
            let empty = format!("find {one} -mindepth 1 -delete");
            let done = std::process::Command::new("sh").args(["-c", &empty]).status();
            assert!(done.unwrap().success());
        }
        let script = "head -c 100M /dev/zero > ~/.cargo/x; sleep 1000";
        let (end, _) = world.sh(&sandbox, script).await;
        assert!(matches!(end, End::LayerFull { bytes } if bytes > 64 << 20), "{end:?}");
    });
}

pub(crate) fn a_cache_lies_over_a_folder_of_a_root() {
    let mut world = World::new();
    let cache = world.home().parent().unwrap().join("builds/cargo");
    std::fs::create_dir_all(cache.join("debug")).unwrap();
    std::fs::write(cache.join("debug/x"), "built").unwrap();
    world.plan.caches.push(cache.clone());
    world.write("target/debug/x", "old");
    world.write("file", "file");
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        let at = |name: &str| (cache.clone(), world.root().join(name));
        let (mut spec, output) = world.spec("cat target/debug/x new/debug/x; echo n > target/n");
        spec.laid = vec![at("target"), at("new")];
        assert_eq!(finish(&sandbox, spec, output).await, (OK, "builtbuilt".to_owned()));
        assert_eq!(std::fs::read_to_string(cache.join("n")).unwrap(), "n\n");
        assert!(!world.root().join("target/n").exists() && !world.root().join("new").exists());
        // Where there is no folder, nothing is laid; and a link of a command's leads nothing anywhere.
        let outside = world.home().parent().unwrap().join("outside");
        let script = format!("ln -s /.ropewalk/outside{0} link; ln -s {0} sub", outside.display());
        assert_eq!(world.sh(&sandbox, &script).await.0, OK);
        let (mut spec, output) = world.spec("cat file target/debug/x");
        spec.laid = vec![at("file"), at("link"), at("link/deep"), at("sub/deep"), at("no/deep")];
        assert_eq!(finish(&sandbox, spec, output).await, (OK, "fileold".to_owned()));
        assert!(!outside.exists());
        for (source, place) in [(outside, world.root().join("target")), (cache, "/etc".into())] {
            let (mut spec, _output) = world.spec(":");
            spec.laid = vec![(source, place)];
            let error = sandbox.run(spec).await.unwrap_err().to_string();
            assert!(error.contains("no cache"), "{error}");
        }
    });
}

pub(crate) fn shown_and_unhidden_for_one_command() {
    let mut world = World::new();
    let other = world.home().join("other");
    std::fs::create_dir_all(other.join("inner")).unwrap();
    std::fs::write(other.join("a"), "other").unwrap();
    std::fs::write(other.join("inner/key"), "SECRET").unwrap();
    let own = world.root().join(".env");
    world.plan.hidden = vec![other.join("inner"), own.clone()];
    world.run(async |world| {
        world.write(".env", "dotenv");
        let sandbox = world.sandbox().await;
        let script = "cat ../other/a .env; echo x > ../other/a; cat ../other/inner/key; true";
        let (_, said) = world.sh(&sandbox, script).await;
        assert!(
            !said.contains("dotenv") && !said.contains("SECRET") && said.contains("No such file"),
            "{said}"
        );
        let (mut spec, output) = world.spec(script);
        spec.shown.push(other.clone());
        spec.unhidden.push(own);
        let (_, said) = finish(&sandbox, spec, output).await;
        assert!(said.starts_with("otherdotenv") && said.contains("Read-only"), "{said}");
        assert!(!said.contains("SECRET"), "{said}");
        let (mut spec, _output) = world.spec("true");
        spec.shown.push(other.join("inner/key"));
        let words = sandbox.run(spec).await.unwrap_err().to_string();
        assert!(words.contains("is hidden from commands"), "{words}");
        let (mut spec, output) = world.spec("cat ../other/inner/key");
        spec.shown.push(other.join("inner"));
        spec.unhidden.push(other.join("inner"));
        assert_eq!(finish(&sandbox, spec, output).await, (OK, "SECRET".to_owned()));
        // A file hidden from one command alone is so in roots, in the layer too, and beside them.
        world.write("sub/late", "SECRET");
        world.write("sub/a", "seen");
        let (mut spec, output) =
            world.spec("cat sub/* new/deep/x; wc -c < ../other/a; echo x > sub/late; true");
        let layer = sandbox.layers().join("main/0/up/new/deep");
        std::fs::create_dir_all(&layer).unwrap();
        std::fs::write(layer.join("x"), "SECRET").unwrap();
        let hidden = ["sub/late", "new", "is/not/there"].map(|name| world.root().join(name));
        spec.hidden =
            hidden.into_iter().chain([other.join("a"), world.root().to_owned()]).collect();
        spec.shown.push(other.clone());
        let (end, said) = finish(&sandbox, spec, output).await;
        assert!(end == OK && said.starts_with("seen") && !said.contains("SECRET"), "{said}");
        assert!(!said.contains('5'), "the five bytes of the other folder's file: {said}");
        assert_eq!(
            world.sh(&sandbox, "cat sub/late new/deep/x").await,
            (OK, "SECRETSECRET".into())
        );
        // The next one is as the first.
        let (_, said) = world.sh(&sandbox, script).await;
        assert!(!said.contains("dotenv") && !said.contains("SECRET"), "{said}");
    });
}

pub(crate) fn the_network_is_the_machines_only_if_asked_for() {
    World::new().run(async |world| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = format!("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 9)' 2>&1 | tail -1");
        let sandbox = world.sandbox().await;
        let (_, said) = world.sh(&sandbox, &script).await;
        assert!(said.contains("refused"), "{said}");
        let (mut spec, output) = world.spec(&script);
        spec.network = true;
        assert_eq!(finish(&sandbox, spec, output).await, (OK, String::new()));
        listener.accept().unwrap();
    });
}

pub(crate) fn commands_reach_each_other_over_the_loopback() {
    World::new().run(async |world| {
        let sandbox = world.sandbox().await;
        world.layer(&sandbox, "b1");
        let (mut spec, mut output) = world.spec(
            "exec python3 -c 'import socket; l=socket.create_server((\"127.0.0.1\", 8080)); print(\"up\", flush=True); c,_=l.accept(); c.sendall(b\"hello\"); c.close(); input()'",
        );
        spec.layer = "b1".to_owned();
        let mut serving = sandbox.run(spec).await.unwrap();
        let mut up = [0; 3];
        std::io::Read::read_exact(&mut output, &mut up).unwrap();
        let ask = "python3 -c 'import socket; print(socket.create_connection((\"127.0.0.1\", 8080)).recv(9))'";
        assert_eq!(world.sh(&sandbox, ask).await, (OK, "b'hello'\n".to_owned()));
        drop(output);
        serving.wait().await;
    });
}

pub(crate) fn the_usual_things_work() {
    World::new().run(async |world| {
        let sandbox = world.sandbox().await;
        // Devices, pipes, temporary files, terminals, locks, renames across folders, links, a repository.
        let script = "set -e; echo a > /dev/null; echo b > /dev/stderr; echo c > /dev/stdout; \
            t=$(mktemp); echo d > $t; cat $t; mkdir x y; echo e > x/f; mv x/f y/g; mv y z; cat z/g; \
            ln -s z/g l; ln z/g h; cat l h; chmod +x h; python3 -c 'import os,pty; pty.openpty(); open(\"/dev/shm/s\",\"w\")'; \
            flock z/g true; git init -q .; git add .; git -c user.name=a -c user.email=a@b commit -qm m; git status --short; \
            sleep 0.1 & wait; ps >/dev/null 2>&1 || ls /proc/self > /dev/null; echo done";
        let (end, said) = world.sh(&sandbox, script).await;
        assert_eq!((end, said.as_str()), (OK, "b\nc\nd\ne\ne\ne\ndone\n"));
        assert_eq!(std::fs::read_dir(world.root()).unwrap().count(), 0);
    });
}

pub(crate) fn what_an_overlay_does_otherwise_tools_can_do_with() {
    World::new().run(async |world| {
        let root = world.root().to_owned();
        world.write("below/in/a.txt", "a");
        world.write("one", "x\n");
        std::fs::hard_link(root.join("one"), root.join("other")).unwrap();
        let outside = std::fs::File::open(root.join("one")).unwrap();
        outside.lock().unwrap();
        let git = |arguments: &[&str]| {
            let own = ["-c", "user.name=a", "-c", "user.email=a@b"];
            let done = std::process::Command::new("git").arg("-C").arg(&root).args(own).args(arguments).output();
            assert!(done.as_ref().is_ok_and(|done| done.status.success()), "{done:?}");
        };
        git(&["init", "-q", "."]);
        git(&["add", "."]);
        git(&["commit", "-qm", "first"]);
        let sandbox = world.sandbox().await;
        // A folder from below can't be renamed, of two hard links one is written, and locks are not those of outside.
        let script = "python3 -c 'import os; os.rename(\"below\", \"above\")' 2>&1 | grep -c 'cross-device'; \
            mv below above; cat above/in/a.txt; echo; ls below 2>&1 | grep -c 'No such'; \
            echo y >> one; cat other; flock -n one echo free";
        let said = world.sh(&sandbox, script).await;
        assert_eq!(said, (OK, "1\na\n1\nx\nfree\n".to_owned()));
        let script = "set -e; mv above below; git config user.name a; git config user.email a@b; git stash -q; cat one; \
            git stash pop -q; cat one; git commit -qam second; git checkout -q HEAD~1; cat one; git checkout -q -; \
            git gc -q; git fsck --strict --no-dangling; git log --format=%s; sed -i s/y/z/ one; cat one; \
            python3 -c 'import mmap; f=open(\"one\",\"r+b\"); m=mmap.mmap(f.fileno(),0); m[0:1]=b\"M\"; m.flush()'; cat one";
        let said = world.sh(&sandbox, script).await;
        let expected = "x\nx\ny\nx\nsecond\nfirst\nx\nz\nM\nz\n";
        assert_eq!(said, (OK, expected.to_owned()));
        assert_eq!((world.read("one"), world.read("other")), ("x\n".to_owned(), "x\n".to_owned()));
        git(&["diff", "--exit-code", "--quiet"]);
        assert!(root.join("below/in/a.txt").exists());
    });
}

pub(crate) fn a_file_saved_outside_shows_through() {
    World::new().run(async |world| {
        let sandbox = world.sandbox().await;
        assert_eq!(world.sh(&sandbox, "ls").await, (OK, String::new()));
        world.write("new.txt", "saved");
        assert_eq!(world.sh(&sandbox, "cat new.txt").await, (OK, "saved".to_owned()));
    });
}

pub(crate) fn plans_that_cannot_be_run_are_refused_in_words() {
    World::new().run(async |world| {
        let link = world.home().join("link");
        std::os::unix::fs::symlink(world.root(), &link).unwrap();
        let root = world.root().to_owned();
        let refused = [
            (vec![], "at least one root"),
            (vec!["/".into()], "when the root is \"/\""),
            (vec![link], "must be given as"),
            (vec![root.join("missing")], "can't be opened"),
            (vec![root.clone(), root.join("inner")], "is inside the root"),
            (vec!["relative".into()], "can't be opened"),
        ];
        std::fs::create_dir(root.join("inner")).unwrap();
        for (roots, words) in refused {
            let plan = ropewalk_sandbox::Plan { roots, ..world.plan.clone() };
            let error = Sandbox::start(plan).await.unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        for bad in ["relative", "/a/../b"] {
            let plan = ropewalk_sandbox::Plan { shown: vec![bad.into()], ..world.plan.clone() };
            let error = Sandbox::start(plan).await.unwrap_err().to_string();
            assert!(error.contains("must be absolute"), "{error}");
        }
    });
}

pub(crate) fn an_abstract_socket_is_out_of_reach_even_with_the_network() {
    World::new().run(async |world| {
        let support = ropewalk_sandbox::probe().await.as_ref().unwrap();
        let name = format!("ropewalk-test-network-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
        let listener = UnixListener::bind_addr(&address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let sandbox = world.sandbox().await;
        let (mut spec, output) = world.spec(&format!(
            "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(chr(0)+\"{name}\")' 2>&1 | tail -1"
        ));
        spec.network = true;
        let (end, said) = finish(&sandbox, spec, output).await;
        if support.keeps_abstract_sockets() {
            assert_eq!(said, "PermissionError: [Errno 1] Operation not permitted\n");
            assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
        } else {
            assert_eq!((end, said), (OK, String::new()), "what is said of this kernel is so");
        }
    });
}
