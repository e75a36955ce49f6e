//! The log: where it goes, who can read it, and that the key is not in it. And how the server is started.

use crate::world::{KEY, Ran, World};
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};

#[test]
fn a_log_of_everything_holds_no_key_and_is_for_its_owner() {
    let message = format!("invalid x-api-key {KEY}");
    let model = ScriptedModel::start([
        ScriptedReply::refusal(529, "overloaded_error", &message).header("retry-after", "0"),
        ScriptedReply::refusal(401, "authentication_error", &message),
    ])
    .unwrap();
    let world = World::with(&model);
    let log = world.home("log.txt");
    std::fs::write(&log, "before\n").unwrap();
    let mut command = world.ropewalk(&["run", "--log", log.to_str().unwrap(), "hello"]);
    let ran: Ran = command.env("ROPEWALK_LOG", "trace").output().unwrap().into();
    ran.ended(1);
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.starts_with("before\n"), "it is appended to");
    assert!(text.contains("ropewalk_agent") && text.contains("TRACE"), "{text}");
    assert!(!text.contains(KEY), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(log.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_filter_that_can_not_be_read_is_said() {
    let model = ScriptedModel::start([ScriptedReply::new().text("Hello.")]).unwrap();
    let world = World::with(&model);
    let log = world.home("log.txt");
    let mut command = world.ropewalk(&["run", "--log", log.to_str().unwrap(), "hello"]);
    let ran: Ran = command.env("ROPEWALK_LOG", "a=b=c=loud").output().unwrap().into();
    assert!(ran.ended(0).err.contains("The log filter \"a=b=c=loud\" can't be read"));
}

fn framed(message: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{message}", message.len())
}

#[test]
fn without_a_terminal_the_bare_command_is_the_server() {
    let world = World::new("http://127.0.0.1:9");
    let input = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#,
        r#"{"jsonrpc":"2.0","method":"exit"}"#,
    ]
    .map(framed)
    .concat();
    for args in [&[][..], &["lsp"][..], &["lsp", "--stdio"][..], &["--log", "/dev/null"][..]] {
        let ran = world.run_with_input(args, input.as_bytes()).ended(0);
        assert!(ran.out.starts_with("Content-Length: "), "{ran:?}");
        assert!(ran.out.contains("\"positionEncoding\""), "{ran:?}");
    }
}
