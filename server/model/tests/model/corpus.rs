//! Inputs kept by fuzzing: each that reached code which no other did is read again, the way the fuzz targets
//! read it. How to look for more is in `fuzz/README.md`.

#[path = "../../fuzz/fuzz_targets/events.rs"]
mod events;
#[path = "../../fuzz/fuzz_targets/reply.rs"]
#[expect(clippy::expect_used, reason = "a fuzz target may be blunt too")]
mod reply;

use ropewalk_model::Protocol;
use std::{fs, path::Path};

fn each(target: &str, read: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        // Printed only when the test fails: which input it was.
        println!("{}", path.display());
        read(&fs::read(&path).unwrap());
        count += 1;
    }
    assert!(count > 10, "{} has inputs", folder.display());
}

#[test]
fn event_streams() {
    each("sse", events::read);
}

#[test]
fn replies_of_messages() {
    each("anthropic", |input| reply::read(Protocol::Anthropic, input));
}

#[test]
fn replies_of_chat_completions() {
    each("chat", |input| reply::read(Protocol::Chat, input));
}

#[test]
fn replies_of_responses() {
    each("responses", |input| reply::read(Protocol::Responses, input));
}
