//! `ropewalk doctor`: what is said of good and of broken set-ups, and that the key is never in it.

use crate::world::{KEY, KEY_VARIABLE, Ran, World};
use ropewalk_model::catalogue::{catalogue_day, model_at, models_at};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

/// A server that answers one request with `answer`, and gives the request.
fn server(answer: &'static str) -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            request.extend(byte);
        }
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8(request).unwrap()
    });
    (url, served)
}

const FINE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

/// Asserts a line with this mark, about this, that holds these words.
#[track_caller]
fn found(ran: &Ran, mark: &str, about: &str, words: &str) {
    let is = |line: &str| {
        let mut parts = line.split_whitespace();
        parts.next() == Some(mark) && parts.next() == Some(about) && line.contains(words)
    };
    assert!(ran.out.lines().any(is), "no {mark} {about} {words:?} in {ran:#?}");
}

#[test]
fn a_good_set_up() {
    let (url, served) = server(FINE);
    let world = World::new(&url);
    let ran = world.run(&["doctor"]).ended(0);
    found(&ran, "ok", "ropewalk", env!("CARGO_PKG_VERSION"));
    found(&ran, "ok", "config", "config/ropewalk/config.toml (read)");
    found(&ran, "ok", "model", &format!("scripted/scripted at {url} (set by "));
    found(&ran, "ok", "key", &format!("{KEY_VARIABLE} is set"));
    found(&ran, "ok", "server", "it answers and takes the key");
    found(&ran, "ok", "bash", "bash");
    found(&ran, "ok", "state", "can be written");
    found(&ran, "ok", "root", "can be worked in");
    found(&ran, "ok", "editors", "README.md");
    assert!(ran.out.ends_with("Ropewalk can be used.\n"));
    // One question, which costs nothing.
    let request = served.join().unwrap();
    assert!(request.starts_with("GET /v1/models HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("x-api-key: {KEY}\r\n")), "{request}");
    assert_eq!(std::fs::read_dir(world.home("state/ropewalk")).unwrap().count(), 0);
}

#[test]
fn answers_that_are_no_welcome() {
    let cases = [
        ("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n", "refuses the API key"),
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "it has nothing at /v1/models"),
        ("HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n", "redirects"),
        ("HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n", "the model server failed"),
        ("SSH-2.0-OpenSSH\r\n\r\n", "the reply was cut off"),
    ];
    for (answer, words) in cases {
        let (url, served) = server(answer);
        let ran = World::new(&url).run(&["doctor"]).ended(1);
        found(&ran, "FAIL", "server", words);
        assert!(ran.out.ends_with("fix what is marked FAIL.\n"), "{ran:?}");
        served.join().unwrap();
    }
}

#[test]
fn a_server_with_too_much_to_do_is_there() {
    let (url, served) = server("HTTP/1.1 429 Slow down\r\ncontent-length: 0\r\n\r\n");
    let ran = World::new(&url).run(&["doctor"]).ended(0);
    found(&ran, "note", "server", "rate limit");
    served.join().unwrap();
}

#[test]
fn a_server_that_is_not_there() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let ran = World::new(&format!("http://127.0.0.1:{port}")).run(&["doctor"]).ended(1);
    found(&ran, "FAIL", "server", "cannot be reached");
    let ran = World::new("http://models.invalid").run(&["doctor"]).ended(1);
    found(&ran, "FAIL", "server", "models.invalid cannot be reached");
}

#[test]
fn nothing_set_up() {
    let world = World::new("http://127.0.0.1:9");
    world.configure("mode = \"plan\"\nmod = 3\n");
    let mut command = world.ropewalk(&["doctor"]);
    let ran: Ran = command
        .env("PATH", "")
        .env_remove("ANTHROPIC_API_KEY")
        .env("HOME", "/nowhere")
        .env("XDG_STATE_HOME", "/dev/null/x")
        .output()
        .unwrap()
        .into();
    let ran = ran.ended(1);
    found(&ran, "note", "config", "unknown key `mod`");
    found(&ran, "FAIL", "model", "no model is set");
    found(&ran, "FAIL", "model", "or start Ollama: `ollama serve`");
    found(&ran, "FAIL", "bash", "install bash");
    found(&ran, "note", "git", "not found");
    found(&ran, "FAIL", "state", "can't be written");
}

#[test]
fn a_model_that_is_served_no_more_is_said_with_what_to_set() {
    let is_over = |name: &&str| {
        let known = model_at("https://api.openai.com", name);
        known.is_some_and(|known| known.ends.as_deref().is_some_and(|day| day < catalogue_day()))
    };
    let name = models_at("https://api.openai.com").find(is_over).unwrap();
    let ran =
        World::new("http://models.invalid").run(&["doctor", &format!("-cmodel=openai/{name}")]);
    found(&ran, "note", "model", &format!("openai/{name} was served until"));
}

#[test]
fn a_missing_key_is_the_servers_word() {
    let world = World::new("https://models.invalid");
    let mut command = world.ropewalk(&["doctor"]);
    let ran: Ran = command.env_remove(KEY_VARIABLE).output().unwrap().into();
    let ran = ran.ended(1);
    found(&ran, "note", "key", &format!("{KEY_VARIABLE} is not set"));
    found(&ran, "FAIL", "server", &format!("set {KEY_VARIABLE} in the environment"));
}

#[test]
fn a_server_that_wants_no_key_is_asked_without_one() {
    let world = World::new("https://models.invalid");
    world.configure(
        "model = \"lan/llama\"\n[provider.lan]\nprotocol = \"anthropic\"\n\
         base_url = \"http://models.invalid\"\n",
    );
    let ran = world.run(&["doctor"]).ended(1);
    found(&ran, "ok", "key", "none is needed");
    found(&ran, "FAIL", "server", "models.invalid cannot be reached");
}

#[test]
fn how_commands_run_is_said_once_and_why_no_better() {
    let world = World::new("http://127.0.0.1:1");
    let ways = [
        ("auto", "they run in a sandbox: no network, and your files change only when you accept"),
        ("copy", "they run on a copy of the open folders (in place where it would be too large)"),
        ("off", "they run in place, on the files as saved, each after an approval: "),
    ];
    for (way, words) in ways {
        world.configure(&format!("commands.over_fork = \"{way}\"\n"));
        let ran = world.run(&["doctor"]);
        found(&ran, "ok", "commands", words);
        let why = format!("`commands.over_fork` is `{way}` (set by ");
        assert_eq!(ran.out.contains(&why), way != "auto", "{ran:#?}");
        let is_of_it = |line: &&str| line.split_whitespace().nth(1) == Some("commands");
        assert_eq!(ran.out.lines().filter(is_of_it).count(), 1, "{ran:#?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn where_user_namespaces_are_switched_off_it_says_how_to_allow_them() {
    let world = World::new("http://127.0.0.1:1");
    world.configure("commands.over_fork = \"auto\"\n");
    let inside = |script: &str| {
        let doctor = world.ropewalk(&["doctor"]);
        let mut inside = std::process::Command::new("unshare");
        let off = "echo 0 > /proc/sys/user/max_user_namespaces";
        inside.args(["-Ur", "sh", "-c", &format!("{off} && {script}")]);
        inside.arg(doctor.get_program()).current_dir(world.root()).env_clear();
        inside.envs(doctor.get_envs().filter_map(|(name, value)| Some((name, value?))));
        inside.output()
    };
    if !inside(":").is_ok_and(|output| output.status.success()) {
        let why = "there is no unshare here that can switch user namespaces off";
        return crate::support::skip(why);
    }
    let ran = Ran::from(inside("exec \"$0\" doctor").unwrap());
    let way = "they run on a copy of the open folders (in place where it would be too large), each after an approval: ";
    found(&ran, "note", "commands", way);
    let mend = ran.out.lines().skip_while(|line| !line.contains(way)).nth(1).unwrap();
    assert!(mend.starts_with("                User namespaces are switched off."), "{ran:#?}");
    assert!(mend.contains("sudo sysctl user.max_user_namespaces=15000"), "{ran:#?}");
}

#[test]
fn home_and_the_whole_disk_are_no_projects() {
    for folder in ["home", "/"] {
        let (url, served) = server(FINE);
        let world = World::new(&url);
        let path = if folder == "/" { "/".into() } else { world.home("") };
        let mut command = world.ropewalk(&["doctor"]);
        let home = path.components().as_path().to_owned();
        if folder == "home" {
            command.env("HOME", &home);
        }
        let ran: Ran = command.current_dir(&home).output().unwrap().into();
        found(&ran.ended(0), "note", "root", "go to a project's folder");
        served.join().unwrap();
    }
}

#[cfg(unix)]
#[test]
fn what_is_kept_and_what_waits() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new("http://models.invalid");
    world.write(".ropewalk/config.toml", "allow = [\"bash(make *)\"]\n");
    let rules = world.home("config/ropewalk/rules.toml");
    std::fs::write(&rules, "deny = [\"bash(\", \"bash(git push *)\"]\n").unwrap();
    let state = world.home("state/ropewalk");
    let folder = state.join("sessions");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::set_permissions(&state, PermissionsExt::from_mode(0o755)).unwrap();
    let head = "{\"journal\":{\"version\":1,\"session\":\"abc\",\"at\":1,\"roots\":[]}}";
    let end = "{\"summary\":{\"title\":\"t\",\"at\":1,\"turns\":1,\"pending\":2}}";
    std::fs::write(folder.join("abc.jsonl"), format!("{head}\n{end}\n")).unwrap();
    std::fs::write(folder.join("bad.jsonl"), "bad").unwrap();
    let ran = world.run(&["doctor"]).ended(1);
    found(&ran, "note", "state", "is open to others, and sessions are in it");
    found(&ran, "ok", "sessions", "1 session, ");
    found(&ran, "ok", "sessions", "1 with changes that wait for you: abc");
    found(&ran, "note", "sessions", "1 file can't be read as a session: ");
    found(&ran, "note", "rules", "bash(");
    found(&ran, "ok", "rules", "those that always hold are in ");
    found(&ran, "note", "trust", "asks to run without asking what fits `bash(make *)`");
    std::fs::set_permissions(&state, PermissionsExt::from_mode(0o700)).unwrap();
    found(&world.run(&["doctor"]).ended(1), "ok", "state", "can be written");
}

#[test]
fn a_file_of_certificates_that_is_none_is_named() {
    let world = World::new("https://127.0.0.1:9");
    let folder = world.home("config/ropewalk");
    let config = std::fs::read_to_string(folder.join("config.toml")).unwrap();
    world.configure(&format!("ca_file = 'certs/own.pem'\n{config}"));
    let file = folder.join("certs/own.pem");
    let shown = file.display().to_string();
    let ran = world.run(&["doctor"]).ended(1);
    found(&ran, "FAIL", "server", &shown);
    found(&ran, "FAIL", "server", "`ca_file`");
    std::fs::create_dir(folder.join("certs")).unwrap();
    for (text, words) in [
        ("", "it holds no certificate in PEM form"),
        ("Not a certificate: é𝄞\n", "it holds no certificate in PEM form"),
        ("-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n", "certs/own.pem: "),
    ] {
        std::fs::write(&file, text).unwrap();
        let ran = world.run(&["doctor"]).ended(1);
        found(&ran, "FAIL", "server", words);
        assert!(!ran.out.contains("nothing listens there"), "{ran:?}");
    }
    // The variable does the same, and does not count beside the key.
    let mut doctor = world.ropewalk(&["doctor"]);
    let ran = Ran::from(doctor.env("SSL_CERT_FILE", "/nowhere/else.pem").output().unwrap());
    found(&ran, "FAIL", "server", &shown);
    world.configure(&config);
    let mut doctor = world.ropewalk(&["doctor"]);
    let ran = Ran::from(doctor.env("SSL_CERT_FILE", "/nowhere/else.pem").output().unwrap());
    found(&ran, "FAIL", "server", "/nowhere/else.pem");
}

#[test]
fn a_board_is_named_without_its_password() {
    let world = World::new("http://127.0.0.1:9");
    let on = "team.enabled=true";
    let ran = world.run(&["-c", on, "-c", "team.tokens=5000", "doctor"]).ended(1);
    let words = "up to 4 teammates; the board is a file in the state folder; 5000 tokens together (set by -c)";
    found(&ran, "ok", "team", words);
    let mut command = world.ropewalk(&["-c", on, "doctor"]);
    command.env("ROPEWALK_BOARD", "postgres://ada:correct-horse-battery@db.example/team");
    let ran = Ran::from(command.output().unwrap()).ended(1);
    let shown = "the board is postgres://ada:[key]@db.example/team (set by ROPEWALK_BOARD)";
    found(&ran, "ok", "team", shown);
    assert!(!format!("{ran:?}").contains("correct-horse"), "{ran:?}");
    let ran = world.run(&["-c", "team.enabled=false", "doctor"]).ended(1);
    found(&ran, "ok", "team", "teams are off (set by -c)");
}
