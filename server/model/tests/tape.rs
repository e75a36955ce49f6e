//! Recordings: what is played is what was recorded, and what is no recording is refused in words.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests and their helpers may be blunt"
)]

use futures::{FutureExt, StreamExt, future::BoxFuture, stream::BoxStream};
use ropewalk_model::tape::{Head, Player, Recorder, Tape};
use ropewalk_model::{
    Delta, Http, Keys, Limits, Message, Model, ModelError, Piece, Prelude, Protocol, Request,
    ServerConfig, ServerModel, StopReason, ToolSpec,
};
use std::io::Write;
use std::sync::{Arc, Mutex};

type Replies = Vec<Result<Delta, ModelError>>;

/// A model that says this, whatever it is asked; it serialises as `model` does.
struct Says {
    model: ServerModel,
    replies: Mutex<Vec<Replies>>,
}

impl Model for Says {
    fn name(&self) -> &str {
        self.model.name()
    }
    fn limits(&self) -> Limits {
        self.model.limits()
    }
    fn keys(&self) -> Keys {
        Keys::new(["sk-secret-0123456789"])
    }
    fn encode(&self, message: &Message) -> Piece {
        self.model.encode(message)
    }
    fn encode_prelude(&self, system: &str, tools: &[ToolSpec]) -> Prelude {
        self.model.encode_prelude(system, tools)
    }
    fn stream(&self, _: Request) -> BoxStream<'static, Result<Delta, ModelError>> {
        futures::stream::iter(self.replies.lock().unwrap().remove(0)).boxed()
    }
    fn probe(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        async { Ok(()) }.boxed()
    }
}

fn server() -> ServerModel {
    ServerModel::new(ServerConfig::new(Protocol::Anthropic, "m"), Http::new()).unwrap()
}

fn head() -> Head {
    Head { model: "m".into(), protocol: "anthropic".into(), ..Head::default() }
}

fn text(text: &str) -> Result<Delta, ModelError> {
    Ok(Delta::Text { index: 0, text: text.to_owned() })
}

fn request(system: &str, messages: &[&str], max_tokens: u32) -> Request {
    let model = server();
    let pieces = messages.iter().map(|text| model.encode(&Message::user(*text))).collect();
    Request { prelude: model.encode_prelude(system, &[]), pieces, max_tokens }
}

fn ask(model: &dyn Model, request: Request) -> Replies {
    model.stream(request).collect::<Vec<_>>().now_or_never().unwrap()
}

#[derive(Clone, Default)]
struct File(Arc<Mutex<Vec<u8>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Three exchanges, the second of which fails; with their recording.
fn recorded() -> (Vec<Replies>, String) {
    let stop = || Ok(Delta::Stop(StopReason::EndTurn));
    let stalled =
        ModelError::Stalled { after: std::time::Duration::from_millis(1500), begun: true };
    let replies: Vec<Replies> = vec![
        vec![text("Héllo 𝄞 \u{2028}\u{1b}"), text(""), stop()],
        vec![text("half"), Err(stalled)],
        vec![stop()],
    ];
    let file = File::default();
    let recorder = Recorder::begin(Box::new(file.clone()), head());
    let model =
        recorder.of(Arc::new(Says { model: server(), replies: Mutex::new(replies.clone()) }));
    assert_eq!(ask(&model, request("s", &["one"], 9)), replies[0]);
    assert_eq!(ask(&model, request("s", &["one", "sk-secret-0123456789"], 9)), replies[1]);
    assert_eq!(ask(&model, request("t", &["other"], 9)), replies[2]);
    assert_eq!(recorder.failure(), None);
    let bytes = file.0.lock().unwrap().clone();
    (replies, String::from_utf8(bytes).unwrap())
}

fn player(recording: &str, is_exact: bool) -> Player {
    Player::new(Tape::read(recording.as_bytes()).unwrap(), Arc::new(server()), is_exact)
}

fn sentence(replies: &Replies) -> String {
    replies.last().unwrap().as_ref().unwrap_err().to_string()
}

#[test]
fn what_is_played_is_what_was_recorded() {
    let (replies, recording) = recorded();
    assert!(recording.contains("[key]") && !recording.contains("sk-secret"), "{recording}");
    assert_eq!(recording.matches("one").count(), 1, "what was sent is not written again");
    let exact = player(&recording, true);
    assert_eq!(ask(&exact, request("s", &["one"], 9)), replies[0]);
    assert_eq!(ask(&exact, request("s", &["one", "[key]"], 9)), replies[1]);
    assert_eq!(ask(&exact, request("t", &["other"], 9)), replies[2]);
    assert!(sentence(&ask(&exact, request("t", &["other"], 9))).contains("it has no request 4"));
    let loose = player(&recording, false);
    for reply in &replies {
        assert_eq!(ask(&loose, request("another", &["é"], 1)), *reply);
    }
}

#[test]
fn the_first_difference_is_shown() {
    let (_, recording) = recorded();
    for (asked, told) in [
        (request("s2", &["one"], 9), "request 1 is another: system prompt and tools, byte "),
        (request("s", &["only 𝄞"], 9), "message 1, byte "),
        (request("s", &["one", "two"], 9), "recorded with 1 messages, now 2"),
        (request("s", &["one"], 8), "recorded with max_tokens 9, now 8"),
    ] {
        let said = sentence(&ask(&player(&recording, true), asked));
        assert!(said.contains(told) && said.contains("--replay-loose"), "{said}");
    }
    let said = sentence(&ask(&player(&recording, true), request("s", &["only 𝄞"], 9)));
    assert!(said.contains("recorded \"e\\\"") && said.contains("now \"ly 𝄞"), "{said}");
}

#[test]
fn what_is_no_recording_is_refused() {
    let (replies, whole) = recorded();
    let lines: Vec<&str> = whole.lines().collect();
    let read = |text: &str| Tape::read(text.as_bytes()).map(|tape| tape.head);
    assert!(read(&whole).is_ok());
    for (text, why) in [
        (String::new(), "it is empty"),
        ("\n".to_owned(), "line 1 can't be read"),
        ("{}".to_owned(), "line 1 can't be read"),
        ("\u{0}\u{ffff}".to_owned(), "line 1 can't be read"),
        (lines[1].to_owned(), "line 1 is not the head"),
        (whole.replacen("\"version\":1", "\"version\":2", 1), "a later version"),
        ([lines[0], lines[0]].join("\n"), "line 2 is a second head"),
        ([lines[0], lines[2]].join("\n"), "line 2 answers no request"),
        (whole.replacen("\"kept\":1", "\"kept\":18446744073709551615", 1), "shares more messages"),
        (whole.replacen("\"kept\":0", "\"kept\":-1", 1), "line 2 can't be read"),
        (format!("{}\n{}", whole.trim_end(), lines[2]), "comes after the end"),
        (format!("{}\n{}", lines[0], "[".repeat(100_000)), "line 2 can't be read"),
    ] {
        let said = read(&text).unwrap_err();
        assert!(said.contains(why), "{said} is not {why}");
    }
    // Cut anywhere it is refused, or plays as far as it goes and says that this is not the end.
    for cut in (0..whole.len()).filter(|at| whole.is_char_boundary(*at)) {
        let Ok(tape) = Tape::read(&whole.as_bytes()[..cut]) else { continue };
        let model = Player::new(tape, Arc::new(server()), true);
        let heard = ask(&model, request("s", &["one"], 9));
        let (last, said) = heard.split_last().unwrap();
        assert_eq!(said, &replies[0][..said.len()]);
        assert!(last.is_err() || heard == replies[0], "{heard:?}");
    }
    let endless = std::io::BufReader::new(std::io::repeat(b'x'));
    assert!(Tape::read(endless).unwrap_err().contains("longer than"));
}

#[test]
fn a_full_disk_is_told_and_the_reply_comes_all_the_same() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is full"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let recorder = Recorder::begin(Box::new(Full), head());
    let says = Says { model: server(), replies: Mutex::new(vec![vec![text("a")]]) };
    assert_eq!(ask(&recorder.of(Arc::new(says)), request("s", &["one"], 9)), [text("a")]);
    assert!(recorder.failure().unwrap().contains("the disk is full"));
}
