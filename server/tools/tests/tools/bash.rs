//! `bash`, as far as it needs no commands; the runner has tests of its own.

use crate::support::Bench;
use ropewalk_tools::NoCommands;
use ropewalk_tools::bash::unseen_files;
use ropewalk_tools::runner::Stop;
use serde_json::json;
use std::sync::Arc;

#[test]
fn without_commands_it_says_so() {
    let mut bench = Bench::new(&[]);
    bench.run_by(Arc::new(NoCommands));
    assert_eq!((bench.runner.background(), bench.runner.stop(Stop::Since(0))), (Vec::new(), 0));
    for in_background in [false, true] {
        let input = json!({"command": "true", "background": in_background});
        assert_eq!(bench.say("bash", input), "Error: there are no commands here");
    }
    let outside = json!({"command": "true", "cwd": ".."});
    assert_eq!(
        bench.say("bash", outside).split(" (").next(),
        Some("Error: Path escapes workspace: ..")
    );
}

#[test]
fn what_a_command_will_not_see_is_named() {
    let mut bench = Bench::new(&[("a", b"a"), ("b", b"b"), ("c", b"c")]);
    bench.open("a", "unsaved");
    bench.open("b", "b");
    bench.say("write_file", json!({"path": "new/d", "content": "d"}));
    let context = bench.context();
    assert_eq!(unseen_files(&context.view), ["a", "new/d"]);
}
