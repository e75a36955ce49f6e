//! Folders beside and above the roots, as commands see them.

use crate::world::{World, finish};
use ropewalk_sandbox::End;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

const OK: End = End::Exited { code: 0, left_running: false };

/// Writes a file of the machine, that may be run.
fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn a_folder_above_a_root_covers_nothing_of_the_fork() {
    let mut world = World::new();
    let home = world.home().to_owned();
    let cache = home.join(".cache/builds/1");
    std::fs::create_dir_all(&cache).unwrap();
    put(&home.join("notes.txt"), "notes");
    put(&home.join(".cargo/bin/tool"), "#!/bin/sh\necho tool\n");
    world.write("a.txt", "disk");
    world.write(".env", "SECRET");
    world.plan.caches = vec![cache.clone()];
    world.plan.hidden = vec![world.root().join(".env")];
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        let (end, _) = world.sh(&sandbox, "echo layer > a.txt; echo kept > ~/.cargo/kept").await;
        assert_eq!(end, OK);
        let above = [vec![home.clone()], vec![home.parent().unwrap().to_owned(), home.clone()]];
        for shown in above {
            let (mut spec, output) = world.spec(
                "cat a.txt .env; echo x > new && cat new ~/notes.txt && echo && echo x > ~/.cache/builds/1/b && \
                 ~/.cargo/bin/tool && cat ~/.cargo/kept && echo y > ~/.cargo/kept2; echo x > ~/evil",
            );
            spec.shown.clone_from(&shown);
            let (_, said) = finish(&sandbox, spec, output).await;
            assert!(!said.contains("SECRET"), "{said}");
            let said = said.replace("cat: .env: Permission denied\n", "");
            assert!(said.starts_with("layer\nx\nnotes\ntool\nkept\n"), "{shown:?}: {said}");
            assert!(said.contains("Read-only file system"), "{said}");
            assert_eq!(std::fs::read_to_string(cache.join("b")).unwrap(), "x\n");
            std::fs::remove_file(cache.join("b")).unwrap();
        }
        // A cache that is named as well stays what it is, and so does a toolchain.
        let (mut spec, output) = world.spec("echo x > ~/.cache/builds/1/c && echo z > ~/.cargo/z");
        spec.shown = vec![cache.clone(), home.join(".cargo/bin")];
        assert_eq!(finish(&sandbox, spec, output).await, (OK, String::new()));
        assert!(cache.join("c").exists());
    });
    assert!(!home.join("evil").exists() && !home.join(".cargo/kept").exists());
    assert_eq!(world.read("a.txt"), "disk");
    assert!(!world.root().join("new").exists());
}

pub(crate) fn what_is_installed_meanwhile_is_the_next_commands() {
    let mut world = World::new();
    let home = world.home().to_owned();
    let script =
        |name: &str, says: &str| put(&home.join(name), &format!("#!/bin/sh\necho {says}\n"));
    for name in
        [".cargo/bin/replaced", ".cargo/bin/rewritten", ".rustup/toolchains/stable/bin/rustc"]
    {
        script(name, "old");
    }
    put(&home.join(".gitconfig"), "[user]\n\tname = Old\n");
    let ask = "cd ~; .cargo/bin/replaced; .cargo/bin/rewritten; .rustup/toolchains/stable/bin/rustc; \
                   .cargo/bin/new; .nvm/bin/node; git config user.name; ls .cargo/bin | wc -l; cat .cargo/kept";
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        let (_, said) = world.sh(&sandbox, &format!("echo kept > ~/.cargo/kept; {ask}")).await;
        let said: Vec<&str> = said.lines().filter(|line| !line.contains("not found")).collect();
        assert_eq!(said, ["old", "old", "old", "Old", "2", "kept"]);
        // One that still runs keeps none of it from the next.
        world.layer(&sandbox, "b1");
        let (mut spec, output) = world.spec(&format!("{ask}; echo up; exec sleep 1000"));
        spec.layer = "b1".to_owned();
        let mut output = BufReader::new(output);
        let running = sandbox.run(spec).await.unwrap();
        let mut line = String::new();
        while !line.ends_with("up\n") {
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "{line}");
        }
        script(".cargo/bin/beside", "new");
        std::fs::rename(home.join(".cargo/bin/beside"), home.join(".cargo/bin/replaced")).unwrap();
        script(".cargo/bin/rewritten", "new");
        script(".cargo/bin/new", "new");
        std::fs::rename(home.join(".rustup"), home.join("aside")).unwrap();
        script(".rustup/toolchains/stable/bin/rustc", "new");
        script(".nvm/bin/node", "new");
        put(&home.join("beside"), "[user]\n\tname = New\n");
        std::fs::rename(home.join("beside"), home.join(".gitconfig")).unwrap();
        let said = world.sh(&sandbox, ask).await.1;
        assert_eq!(said, "new\nnew\nnew\nnew\nnew\nNew\n3\nkept\n");
        drop(running);
        // Files of the first layer's commands are what others begin with, and not the other way
        // round.
        world.layer(&sandbox, "b2");
        let (mut spec, output) = world.spec(&format!(
            "{ask}; rm ~/.cargo/kept ~/.cargo/bin/new; ls ~/.cargo; ls ~/.cargo/bin | wc -l"
        ));
        spec.layer = "b2".to_owned();
        let said = finish(&sandbox, spec, output).await.1;
        assert_eq!(said, "new\nnew\nnew\nnew\nnew\nNew\n3\nkept\nbin\n2\n");
        assert_eq!(world.sh(&sandbox, "cat ~/.cargo/kept").await, (OK, "kept\n".to_owned()));
    });
    assert!(home.join(".cargo/bin/new").exists() && !home.join(".cargo/kept").exists());
}

pub(crate) fn a_link_in_the_home_leads_no_mount_outside() {
    let mut world = World::new();
    let home = world.home().to_owned();
    put(&home.join("tools/sub/a.txt"), "a");
    put(&home.join("one.txt"), "one");
    std::fs::create_dir_all(home.join("other")).unwrap();
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        // It leads nowhere for a command, but there is something while mounts are laid.
        let script = "ln -s /.ropewalk/outside$HOME/other ~/tools; ln -s /.ropewalk/outside$HOME/other/made ~/one.txt; \
                      ln -s /.ropewalk/outside$HOME/other ~/.nvm; mkdir ~/.local && ln -s /.ropewalk/outside$HOME/other ~/.local/share";
        assert_eq!(world.sh(&sandbox, script).await, (OK, String::new()));
        put(&home.join(".nvm/bin/node"), "");
        put(&home.join(".local/share/uv/bin/x"), "");
        for shown in ["tools/sub", "one.txt"] {
            let (mut spec, _output) = world.spec("true");
            spec.shown = vec![home.join(shown)];
            let error = sandbox.run(spec).await.unwrap_err().to_string();
            assert!(error.contains("Too many levels of symbolic links"), "{error}");
        }
        // A place that is shown unasked is left out where it has no folder.
        assert_eq!(world.sh(&sandbox, "ls -A ~/.nvm/ ~/.local/share/; echo on").await.1.lines().last(), Some("on"));
    });
    assert_eq!(std::fs::read_dir(home.join("other")).unwrap().count(), 0);
}

pub(crate) fn a_root_is_there_again_when_the_folders_around_it_were_moved() {
    let mut world = World::named("repository/part");
    let other = world.home().join("other");
    std::fs::create_dir_all(&other).unwrap();
    world.run(async |world| {
        world.write("a.txt", "old");
        let sandbox = world.sandbox().await;
        assert_eq!(world.sh(&sandbox, "mv ~/repository ~/gone; ls ~").await, (OK, "gone\n".to_owned()));
        let script = "cat a.txt; rm -r ~/repository; mv ~/repository ~/again; ln -s /.ropewalk/outside$HOME/other ~/repository";
        let (_, said) = world.sh(&sandbox, script).await;
        assert!(said.starts_with("old"), "{said}");
        let (spec, _output) = world.spec("true");
        let error = sandbox.run(spec).await.unwrap_err().to_string();
        assert!(error.contains("Too many levels of symbolic links"), "{error}");
    });
    assert_eq!(world.read("a.txt"), "old");
    assert_eq!(std::fs::read_dir(other).unwrap().count(), 0);
}

/// Where programs keep a person's secrets, below a home.
const SECRETS: &[&str] = &[
    ".ssh/id_ed25519",
    ".gnupg/private-keys-v1.d/a.key",
    ".aws/credentials",
    ".azure/accessTokens.json",
    ".kube/config",
    ".docker/config.json",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".password-store/a.gpg",
    ".config/gcloud/credentials.db",
    ".config/gh/hosts.yml",
    ".config/git/credentials",
    ".config/ropewalk/config.toml",
    ".local/state/ropewalk/sessions/1/journal",
    ".local/share/keyrings/login.keyring",
    ".local/share/kwalletd/kdewallet.kwl",
    ".config/keepassxc/keepassxc.ini",
    ".mozilla/firefox/x.default/logins.json",
    ".thunderbird/x.default/logins.json",
    ".config/google-chrome/Default/Cookies",
    ".config/chromium/Default/Login Data",
    ".config/BraveSoftware/Brave-Browser/Default/Cookies",
    ".config/microsoft-edge/Default/Cookies",
    ".config/vivaldi/Default/Cookies",
    ".config/opera/Cookies",
    "snap/firefox/common/.mozilla/firefox/x/logins.json",
    "snap/chromium/common/chromium/Default/Cookies",
    ".var/app/org.mozilla.firefox/.mozilla/firefox/x/logins.json",
    ".cargo/credentials.toml",
    ".bash_history",
    ".local/share/fish/fish_history",
];

/// Where people's toolchains keep keys and accounts.
const IN_TOOLCHAINS: &[&str] = &[
    ".local/share/uv/credentials/credentials.toml",
    ".local/share/pnpm/rc",
    ".dotnet/corefx/cryptography/x509stores/my/1.pfx",
    ".dotnet/https/dev.pfx",
    ".stack/upload/credentials.json",
    ".gradle/init.gradle",
    ".gradle/init.d/company.gradle",
    ".gradle/signing.key",
    ".sbt/.credentials",
    ".sbt/1.0/credentials.sbt",
    ".sbt/1.0/plugins/company.sbt",
    ".sbt/repositories",
    ".pub-cache/credentials.json",
    "go/.netrc",
    ".local/bin/server.KEY",
];

pub(crate) fn keys_in_toolchains_are_empty_and_the_toolchains_work() {
    let mut world = World::new();
    let home = world.home().to_owned();
    let fill = |name: &&str| {
        put(
            &home.join(name),
            "SECRET credentials += Credentials(Path.userHome) https://a:SECRET@b/\n",
        );
    };
    // Some come while the session lives.
    let (before, after) = IN_TOOLCHAINS.split_at(7);
    before.iter().for_each(fill);
    for name in [
        ".sbt/1.0/global.sbt",
        "go/bin/tool",
        ".gradle/caches/x",
        ".dotnet/sdk/x.rs",
        ".stack/config.yaml",
    ] {
        put(&home.join(name), "plain\n");
    }
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        let search = "cd ~ && grep -rl SECRET . ; grep -rl plain . | LC_ALL=C sort | tr '\\n' ' '";
        let plain = "./.dotnet/sdk/x.rs ./.gradle/caches/x ./.sbt/1.0/global.sbt ./.stack/config.yaml ./go/bin/tool ";
        assert_eq!(world.sh(&sandbox, search).await, (OK, plain.to_owned()));
        after.iter().for_each(fill);
        assert_eq!(world.sh(&sandbox, search).await, (OK, plain.to_owned()));
        // A tool that reads its settings finds none, and goes on.
        let read = "cat ~/.gradle/init.gradle ~/.local/share/pnpm/rc ~/.gradle/signing.key ~/.sbt/1.0/*.sbt && ls ~/.gradle/init.d && cat ~/.pub-cache/credentials.json";
        assert_eq!(world.sh(&sandbox, read).await, (OK, "plain\n{}\n".to_owned()));
        // One that the user allowed by its name is seen.
        let (mut spec, output) = world.spec("cat ~/.gradle/signing.key | cut -c 1-6");
        spec.shown.push(home.join(".gradle/signing.key"));
        spec.unhidden.push(home.join(".gradle/signing.key"));
        assert_eq!(finish(&sandbox, spec, output).await, (OK, "SECRET\n".to_owned()));
        // Settings that change in place are looked into again.
        put(&home.join(".sbt/1.0/global.sbt"), "SECRET credentials += Credentials(a)\n");
        let again = "grep -rl SECRET ~ | wc -l";
        assert_eq!(world.sh(&sandbox, again).await, (OK, "0\n".to_owned()));
    });
}

/// Finds whatever a command sees of what [`fill`] has written.
const SEARCH: &str = "cd ~ && grep -rs SECRET . ; grep -rsc plain . | grep :1";

fn fill(home: &Path) {
    SECRETS.iter().for_each(|name| put(&home.join(name), "SECRET\n"));
    put(&home.join(".config/other/plain.txt"), "plain\n");
}

pub(crate) fn secrets_of_a_home_are_shown_by_nothing() {
    // A folder of a toolchain's that a variable names keeps its secrets too.
    let mut world = World::new();
    let home = world.home().to_owned();
    let outputs = home.join(".local/state/ropewalk/outputs/1");
    put(&outputs.join("a"), "plain\n");
    put(&home.join("sdk/credentials"), "SECRET\n");
    fill(&home);
    world.plan.environment = vec![("JAVA_HOME".into(), home.join("sdk").into())];
    world.plan.shown = vec![outputs.clone()];
    world.plan.hidden = vec![home.join("state of ours")];
    put(&home.join("state of ours/journal"), "SECRET\n");
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        let sort = format!("({SEARCH}) | LC_ALL=C sort");
        let (mut spec, output) = world.spec(&sort);
        spec.shown.push(home.clone());
        let (_, said) = finish(&sandbox, spec, output).await;
        let outputs = "./.local/state/ropewalk/outputs/1/a:1\n";
        assert_eq!(said, format!("./.config/other/plain.txt:1\n{outputs}"));
        assert_eq!(world.sh(&sandbox, &sort).await, (OK, outputs.to_owned()));
        for name in [".ssh", ".mozilla/firefox", ".local/state/ropewalk/sessions"] {
            let (mut spec, _output) = world.spec("true");
            spec.shown.push(home.join(name));
            let words = sandbox.run(spec).await.unwrap_err().to_string();
            assert!(words.contains("is hidden from commands"), "{name}: {words}");
        }
        // One that the user allowed by its name is seen, and nothing beside it.
        for name in [".ssh/id_ed25519", ".netrc", ".cargo/credentials.toml"] {
            let (mut spec, output) = world.spec("cat $0; grep -rs SECRET ~ | wc -l");
            spec.argv.push(home.join(name).into());
            spec.shown.push(home.join(name));
            spec.unhidden.push(home.join(name));
            let (_, said) = finish(&sandbox, spec, output).await;
            assert!(said.starts_with("SECRET\n1\n"), "{name}: {said}");
            let (mut spec, output) = world.spec("cat $0; grep -rs SECRET ~ | wc -l");
            spec.argv.push(home.join(name).into());
            spec.shown = vec![home.join(name), home.clone()];
            spec.unhidden.push(home.join(name));
            assert_eq!(finish(&sandbox, spec, output).await, (OK, "SECRET\n1\n".to_owned()));
        }
        assert_eq!(world.sh(&sandbox, "grep -rs SECRET ~ | wc -l").await, (OK, "0\n".to_owned()));
    });
}

pub(crate) fn secrets_of_a_home_that_is_the_root_are_shown_by_nothing() {
    let mut world = World::new();
    fill(world.home());
    world.plan.roots = vec![world.home().to_owned()];
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        let (_, said) = world.sh(&sandbox, SEARCH).await;
        assert_eq!(said, "./.config/other/plain.txt:1\n");
    });
}

pub(crate) fn what_is_hidden_elsewhere_is_seen_where_it_is_the_root_or_holds_it() {
    for (root, hidden) in [(".config/ropewalk", "config.toml"), (".ssh/sub", "../id_ed25519")] {
        let mut world = World::named(root);
        fill(world.home());
        world.write("own", "plain\n");
        world.run(async |world| {
            let sandbox = world.sandbox().await;
            let (_, said) =
                world.sh(&sandbox, &format!("cat own; cat {hidden}; echo x > new")).await;
            let seen = if hidden.starts_with("..") { "No such file" } else { "SECRET" };
            assert!(said.starts_with("plain\n") && said.contains(seen), "{root}: {said}");
            assert!(!world.root().join("new").exists());
        });
    }
}

pub(crate) fn sockets_beside_the_roots_lead_nowhere() {
    let mut world = World::named("repository/part");
    let home = world.home().to_owned();
    let (around, other) = (home.join("repository"), home.join("other"));
    put(&around.join("sibling"), "old");
    put(&other.join("a"), "a");
    put(&home.join(".cargo/bin/tool"), "");
    let at = |folder: &Path| folder.join("listens.sock");
    let places = [at(&around), at(&other), at(&home.join(".cargo")), home.join("named.sock")];
    let listeners: Vec<_> = places
        .iter()
        .map(|path| {
            let listener = UnixListener::bind(path).unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
            listener.set_nonblocking(true).unwrap();
            listener
        })
        .collect();
    let fifo = around.join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::from_raw_mode(0o666)).unwrap();
    let read = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK;
    let _reader = rustix::fs::open(&fifo, read, rustix::fs::Mode::empty()).unwrap();
    world.plan.shown.push(around.clone());
    let mut script = "import os,socket\n".to_owned();
    for path in &places {
        script.push_str(&format!(
            "try: socket.socket(socket.AF_UNIX).connect({path:?}); print('reached')\nexcept OSError as e: print(type(e).__name__)\n"
        ));
    }
    script.push_str(&format!(
        "try: os.open({fifo:?}, os.O_WRONLY | os.O_NONBLOCK); print('reached')\nexcept OSError as e: print(e.strerror)\n"
    ));
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        let (mut spec, output) = world.spec("");
        spec.argv = vec!["python3".into(), "-c".into(), script.into()];
        spec.shown = vec![other.clone(), home.join("named.sock")];
        let (_, said) = finish(&sandbox, spec, output).await;
        let refused = "ConnectionRefusedError\n".repeat(3);
        assert_eq!(said, format!("{refused}FileNotFoundError\nNo such device or address\n"));
        for listener in listeners {
            let error = listener.accept().unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
        }
        // A shown file is live all the same: another file by that name, and one that was not there.
        let script = "cat ../sibling ../new; true";
        assert!(world.sh(&sandbox, script).await.1.starts_with("old"), "nothing is new yet");
        std::fs::write(around.join("beside"), "replaced").unwrap();
        std::fs::rename(around.join("beside"), around.join("sibling")).unwrap();
        std::fs::write(around.join("new"), " and new").unwrap();
        assert_eq!(world.sh(&sandbox, script).await, (OK, "replaced and new".to_owned()));
    });
}

pub(crate) fn a_replaced_file_is_read_in_other_words() {
    let mut world = World::named("repository/part");
    let home = world.home().to_owned();
    let around = home.join("repository");
    put(&around.join("settings"), "SECRET\n");
    put(&around.join("hidden"), "SECRET\n");
    put(&around.join("folder/a"), "a\n");
    put(&home.join("unseen"), "SECRET\n");
    world.plan.shown.push(around.clone());
    world.run(async |world| {
        world.write("own", "mine\n");
        let sandbox = world.sandbox().await;
        let script = "cat ../settings own ../folder/a; cat ../hidden; ls ~; echo x > ../settings; cat ../gone";
        let (mut spec, output) = world.spec(script);
        spec.hidden.push(around.join("hidden"));
        spec.replaced = ["settings", "hidden", "gone", "folder", "folder/a/b", "part/own"]
            .map(|name| around.join(name))
            .into_iter()
            .chain([home.join("unseen")])
            .map(|path| (path, b"\xff\0struck\n".to_vec()))
            .collect();
        let (_, said) = finish(&sandbox, spec, output).await;
        assert!(said.starts_with("\u{fffd}\0struck\nmine\na\n"), "{said}");
        assert_eq!(said.matches("struck").count(), 1, "{said}");
        assert!(said.contains("\nrepository\n") && said.contains("ead-only file system"), "{said}");
        assert!(said.contains("gone: No such file") && !said.contains("SECRET"), "{said}");
        // Of nothing of that the next command knows, and one that is larger than a packet goes as well.
        assert_eq!(world.sh(&sandbox, "cat ../settings").await, (OK, "SECRET\n".to_owned()));
        let (mut spec, output) = world.spec("wc -c < ../settings; cp ../settings . && wc -c < settings");
        spec.replaced = vec![(around.join("settings"), vec![b'a'; 1 << 20])];
        assert_eq!(finish(&sandbox, spec, output).await.1, "1048576\n1048576\n");
        let (mut spec, _output) = world.spec("true");
        spec.replaced = vec![("relative".into(), Vec::new())];
        assert!(sandbox.run(spec).await.unwrap_err().to_string().contains("must be absolute"));
    });
    assert_eq!(std::fs::read_to_string(around.join("settings")).unwrap(), "SECRET\n");
}
