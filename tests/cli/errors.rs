//! Errors on the command line are said in one sentence, with an exit code, and never with the key.

use crate::world::{KEY, KEY_VARIABLE, Ran, World};
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};

fn refused(reply: ScriptedReply) -> Ran {
    let model = ScriptedModel::start([reply]).unwrap();
    let world = World::with(&model);
    world.run(&["run", "hello"]).ended(1)
}

/// The lines of standard error but for the tokens that were used.
fn sentences(ran: &Ran) -> Vec<&str> {
    ran.err.lines().filter(|line| !line.contains(" tokens in")).collect()
}

#[track_caller]
fn one_sentence(ran: &Ran, words: &str) {
    let right = |sentence: &&str| sentence.starts_with("ropewalk: ") && sentence.contains(words);
    let sentences = sentences(ran);
    assert!(sentences.len() == 1 && sentences.iter().all(right), "no {words:?} in {ran:#?}");
}

#[test]
fn a_missing_key_names_its_variable() {
    let world = World::new("https://models.invalid");
    let mut command = world.ropewalk(&["run", "hello"]);
    let ran: Ran = command.env_remove(KEY_VARIABLE).output().unwrap().into();
    one_sentence(&ran.ended(1), &format!("set {KEY_VARIABLE} in the environment"));
}

#[test]
fn no_model_at_all_says_how_to_set_one_up() {
    let world = World::new("http://127.0.0.1:9");
    world.configure("");
    let mut command = world.ropewalk(&["run", "hello"]);
    let ran: Ran = command.env_remove("ANTHROPIC_API_KEY").output().unwrap().into();
    one_sentence(&ran.ended(1), "No model is set up: put a key into ANTHROPIC_API_KEY");
}

#[test]
fn a_key_that_is_refused() {
    let message = format!("invalid x-api-key {KEY}");
    let ran = refused(ScriptedReply::refusal(401, "authentication_error", &message));
    one_sentence(&ran, "refuses the API key");
}

#[test]
fn a_model_that_is_not_known() {
    let ran = refused(ScriptedReply::refusal(404, "not_found_error", "model: scripted"));
    one_sentence(&ran, "knows no model \"scripted\": choose another model, or correct its name");
}

#[test]
fn a_server_that_is_something_else() {
    one_sentence(&refused(ScriptedReply::status(404, "<html>")), "check the base URL");
}

#[test]
fn a_server_that_quotes_the_key() {
    let message = format!("the request with {KEY} is wrong");
    let ran = refused(ScriptedReply::refusal(400, "invalid_request_error", &message));
    one_sentence(&ran, "the request with [key] is wrong");
}

#[test]
fn a_server_that_is_not_there() {
    // Bound and let go: nobody listens there.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let world = World::new(&format!("http://127.0.0.1:{port}"));
    let ran = world.run(&["run", "hello"]).ended(1);
    one_sentence(&ran, "cannot be reached, because nothing listens there: start the model server");
    assert!(!ran.out.contains("; try 2 in "), "it ends at once: {ran:#?}");

    let flags = ["-cmodel=ollama/m", "-cprovider.ollama.base_url=http://127.0.0.1:1/v1"];
    let ran = world.run(&[flags[0], flags[1], "run", "hello"]).ended(1);
    one_sentence(
        &ran,
        "Ollama isn't running at 127.0.0.1:1: start it with `OLLAMA_HOST=127.0.0.1:1 ",
    );

    // Elsewhere it may come back. This address is no loopback address, and is refused at once.
    let flags = ["-cprovider.scripted.base_url=https://0.0.0.0:1", "-climits.retry_seconds=1"];
    let ran = world.run(&[flags[0], flags[1], "run", "hello"]).ended(1);
    one_sentence(&ran, "cannot be reached");
    assert!(ran.out.contains("; try 2 in "), "each try is shown: {ran:#?}");
}

#[test]
fn a_wrong_command_line_says_what_to_do_and_sends_nothing() {
    let world = World::new("http://127.0.0.1:9");
    world.write("file", "");
    let cases: [(&[&str], &str); 12] = [
        (&["run", "--mode", "atuo", "x"], "[possible values: auto, review, plan]"),
        (&["run", "--allow", "bash(", "x"], "is not a rule: write tool or tool(pattern)"),
        (&["run", "-c", "limits.stpes=3", "x"], "did you mean `limits.steps`?"),
        (&["run", "-c", "limits.steps=0", "x"], "`limits.steps` in -c"),
        (&["run", "-c", "mode", "x"], "`-c` takes `key=value`"),
        (
            &["run", "--model", "scripted", "x"],
            "--model must look like PROVIDER/NAME, for example anthropic/",
        ),
        (&["run", "--model", "nobody/x", "x"], "names the provider `nobody`"),
        (&["run", "--root", "nowhere", "x"], "--root nowhere can't be worked in"),
        (&["run", "--root", "file", "x"], "file is not a folder"),
        (&["run", " "], "The request is empty"),
        (&["run", "--log", "/nowhere/at/all", "x"], "The log /nowhere/at/all can't be opened"),
        (&["walk"], "unrecognized subcommand"),
    ];
    for (args, words) in cases {
        let ran = world.run(args).ended(2);
        assert!(ran.err.contains(words), "{args:?}: {ran:#?}");
        assert_eq!(ran.out, "");
    }
}

#[test]
fn standard_input_that_is_no_request() {
    let world = World::new("http://127.0.0.1:9");
    let long = vec![b'a'; (1 << 20) + 1];
    for (input, words) in
        [(&b"\xff\xfe"[..], "not UTF-8"), (&b""[..], "empty"), (&long[..], "longer than 1048576")]
    {
        let ran = world.run_with_input(&["run", "-"], input).ended(2);
        one_sentence(&ran, words);
    }
}

#[test]
fn a_wrong_file_is_said_and_the_run_goes_on() {
    let model = ScriptedModel::start([ScriptedReply::new().text("Hello.")]).unwrap();
    let world = World::with(&model);
    world.write(".ropewalk/config.toml", "allow = [\"bash(*)\"]\nnonsense = 1\n\u{1b} = 2\n");
    let ran = world.run(&["run", "hello"]).ended(0);
    assert_eq!(ran.out, "Hello.\n");
    assert!(ran.err.contains("`allow` in ") && ran.err.contains("is ignored"), "{ran:#?}");
    assert!(ran.err.contains("unknown key `nonsense`"), "{ran:#?}");
    assert!(!ran.err.contains('\u{1b}'), "{ran:#?}");
}

#[test]
fn help_and_version_are_there() {
    let world = World::new("http://127.0.0.1:9");
    let version = world.run(&["--version"]).ended(0);
    assert_eq!(version.out, format!("ropewalk {}\n", env!("CARGO_PKG_VERSION")));
    let help = world.run(&["run", "--help"]).ended(0);
    for line in ["  6  done, with changes proposed and not written", "130  interrupted"] {
        assert!(help.out.contains(line), "{help:?}");
    }
    assert!(!help.out.contains("end_turn") && !help.out.contains("fork"), "{help:?}");
}

#[cfg(unix)]
#[test]
fn a_system_without_free_files_is_said_in_words() {
    let world = World::new("http://127.0.0.1:9");
    world.configure("");
    let binary = env!("CARGO_BIN_EXE_ropewalk");
    for files in 4..14 {
        for command in ["run hello", "lsp", "doctor", "sessions", "trust"] {
            let environment = world.ropewalk(&[]);
            let kept = environment.get_envs().filter_map(|(name, value)| Some((name, value?)));
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", &format!("ulimit -n {files}; exec \"{binary}\" {command}")]);
            shell.env_clear().envs(kept).env_remove("ANTHROPIC_API_KEY").current_dir(world.root());
            // Made only from output without a panic.
            let ran: Ran = shell.stdin(std::process::Stdio::null()).output().unwrap().into();
            assert!(ran.code.is_some_and(|code| code < 3), "{files} files, {command}: {ran:#?}");
        }
    }
}

#[test]
fn inside_of_a_command_of_its_own_it_does_not_start() {
    let world = World::new("http://127.0.0.1:9");
    for args in [&["run", "hello"][..], &["lsp"], &["demo"], &["doctor"], &[]] {
        let mut command = world.ropewalk(args);
        let ran: Ran = command.env("ROPEWALK_COMMAND", "1").output().unwrap().into();
        one_sentence(&ran.ended(2), "use the tool task");
    }
    for args in ["--version", "--help"] {
        let mut command = world.ropewalk(&[args]);
        let ran: Ran = command.env("ROPEWALK_COMMAND", "1").output().unwrap().into();
        ran.ended(0);
    }
}
