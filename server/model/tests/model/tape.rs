//! Recordings: what is played is what was recorded, and what is no recording is refused in words.

#![expect(clippy::indexing_slicing, clippy::panic, reason = "tests and their helpers may be blunt")]

use crate::loopback;
use futures::{FutureExt, StreamExt, future::BoxFuture, stream::BoxStream};
use ropewalk_model::listing::Listing;
use ropewalk_model::tape::{Player, Recorder, Tape, TapeHead};
use ropewalk_model::{
    ApiKey, AskedModel, Delta, Http, Keys, LazyKey, Message, Model, ModelError, ModelRequest,
    ModelStop, Piece, Prelude, Protocol, ReplyBuilder, ServerConfig, ServerModel, ToolDeclaration,
    ToolInput,
};
use ropewalk_protocol::{ModelLimits, Price};
use std::io::Write;
use std::sync::{Arc, Mutex};

const KEY: &str = "sk-secret-0123456789";

type Replies = Vec<Result<Delta, ModelError>>;

/// A model that says this, whatever it is asked; it serialises as `model` does.
struct Says {
    model: ServerModel,
    replies: Mutex<Vec<Replies>>,
    key: &'static str,
}

impl Says {
    fn new(replies: Vec<Replies>) -> Arc<Says> {
        Arc::new(Says { model: server(), replies: Mutex::new(replies), key: KEY })
    }
}

impl Model for Says {
    fn name(&self) -> &str {
        self.model.name()
    }
    fn limits(&self) -> ModelLimits {
        self.model.limits()
    }
    fn keys(&self) -> Keys {
        Keys::new([self.key])
    }
    fn encode(&self, message: &Message) -> Piece {
        self.model.encode(message)
    }
    fn encode_prelude(&self, system: &str, tools: &[ToolDeclaration]) -> Prelude {
        self.model.encode_prelude(system, tools)
    }
    fn stream(&self, _: ModelRequest) -> BoxStream<'static, Result<Delta, ModelError>> {
        futures::stream::iter(self.replies.lock().unwrap().remove(0)).boxed()
    }
    fn probe(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        async { Ok(()) }.boxed()
    }
}

fn server() -> ServerModel {
    ServerModel::new(ServerConfig::new(Protocol::Anthropic, "m"), Http::new()).unwrap()
}

fn head() -> TapeHead {
    TapeHead { model: "m".into(), protocol: "anthropic".into(), ..TapeHead::default() }
}

fn text(text: &str) -> Result<Delta, ModelError> {
    Ok(Delta::Text { index: 0, text: text.to_owned() })
}

fn request(system: &str, messages: &[&str], max_tokens: u32) -> ModelRequest {
    let model = server();
    let pieces = messages.iter().map(|text| model.encode(&Message::user(*text))).collect();
    ModelRequest { prelude: model.encode_prelude(system, &[]), pieces, max_tokens }
}

fn ask(model: &dyn Model, request: ModelRequest) -> Replies {
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
    let stop = || Ok(Delta::Stop(ModelStop::EndTurn));
    let stalled =
        ModelError::Stalled { after: std::time::Duration::from_millis(1500), begun: true };
    let replies: Vec<Replies> = vec![
        vec![text("Héllo 𝄞 \u{2028}\u{1b}"), text(""), stop()],
        vec![text("half"), Err(stalled)],
        vec![stop()],
    ];
    let file = File::default();
    let recorder = Recorder::begin(Box::new(file.clone()), head());
    let model = recorder.of(Says::new(replies.clone()));
    assert_eq!(ask(&model, request("s", &["one"], 9)), replies[0]);
    assert_eq!(ask(&model, request("s", &["one", KEY], 9)), replies[1]);
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
fn loosely_the_answer_to_the_same_last_message_is_given_whatever_came_before() {
    let (replies, recording) = recorded();
    let loose = player(&recording, false);
    assert_eq!(ask(&loose, request("another", &["é", "other"], 1)), replies[2]);
    assert_eq!(ask(&loose, request("s", &["quite", "another", "[key]"], 9)), replies[1]);
    // A skipped reply is not lost, and nothing is given twice.
    assert_eq!(ask(&loose, request("t", &["other"], 9)), replies[0]);
    assert!(sentence(&ask(&loose, request("t", &["other"], 9))).contains("it has no request 4"));
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
    let model = recorder.of(Says::new(vec![vec![text("a")]]));
    assert_eq!(ask(&model, request("s", &["one"], 9)), [text("a")]);
    assert!(recorder.failure().unwrap().contains("the disk is full"));
}

/// The cuts of a text in two, with the whole one.
fn cuts(text: &str) -> impl Iterator<Item = (&str, &str)> {
    (0..=text.len()).filter_map(|at| text.split_at_checked(at))
}

#[test]
fn a_key_cut_anywhere_is_in_no_recording() {
    for key in [KEY, "quote\"back\\slash/0123456789"] {
        let spelled = serde_json::to_string(key).unwrap();
        let spelled = spelled.trim_matches('"');
        for (at, (head, tail)) in cuts(spelled).enumerate() {
            // The words are cut at about the same place as the arguments, which spell the key as JSON.
            let (said, rest) = cuts(key).nth(at.min(key.len())).unwrap();
            let (said, rest) = (format!("a {said}"), format!("{rest} z"));
            let input = |partial_json: String| Ok(Delta::ToolInput { index: 2, partial_json });
            let replies: Replies = vec![
                Ok(Delta::Thinking { index: 1, text: said.clone() }),
                Ok(Delta::Text { index: 0, text: said }),
                Ok(Delta::ToolUse { index: 2, id: "c".into(), name: "t".into() }),
                input(format!("{{\"k\": \"{head}")),
                Ok(Delta::Thinking { index: 1, text: rest.clone() }),
                Ok(Delta::Text { index: 0, text: rest }),
                Ok(Delta::BlockEnd { index: 0 }),
                input(format!("{tail}\"}}")),
                Ok(Delta::BlockEnd { index: 2 }),
                // A last block is cut with the connection.
                Ok(Delta::Text { index: 3, text: key.split_at(key.len() - 1).0.to_owned() }),
                Err(ModelError::Cut { why: format!("gone with {key}") }),
            ];
            let file = File::default();
            let recorder = Recorder::begin(Box::new(file.clone()), head_of_all());
            let says = Says { model: server(), replies: Mutex::new(vec![replies]), key };
            ask(&recorder.of(Arc::new(says)), request(key, &[key, "b"], 9));
            assert_eq!(recorder.failure(), None);
            let recording = String::from_utf8(file.0.lock().unwrap().clone()).unwrap();
            assert!(!recording.contains("hidden"), "{recording}");

            // The request is found again with the key redacted, which shows that nothing else was changed.
            let mut heard = ask(&player(&recording, true), request("[key]", &["[key]", "b"], 9));
            let error = heard.pop().unwrap().unwrap_err();
            assert_eq!(error, ModelError::Cut { why: "gone with [key]".into() });
            let mut builder = ReplyBuilder::new();
            heard.iter().for_each(|delta| builder.push(delta.as_ref().unwrap()));
            let reply = builder.finish();
            assert_eq!(reply.text(), "a [key] z\n[key]", "{head}|{tail}");
            let Some(("c", "t", ToolInput::Json(input))) = reply.tool_calls().next() else {
                panic!("{reply:?}")
            };
            assert_eq!(input["k"], "[key]", "{head}|{tail}");
            let thoughts = serde_json::to_string(&reply.blocks[0]).unwrap();
            assert!(thoughts.contains("a [key] z"), "{thoughts}");
        }
    }
}

fn head_of_all() -> TapeHead {
    TapeHead { base_url: "https://me:hidden@x.test/v1".into(), ..head() }
}

#[tokio::test]
async fn a_key_that_is_asked_for_is_known_before_the_first_line() {
    let server = loopback::Loopback::start([loopback::good(Protocol::Anthropic)]).await;
    let lazy = LazyKey::new(|| async { ApiKey::new(KEY, "KEY") }.boxed());
    let config = ServerConfig { key: None, ..server.config(Protocol::Anthropic) };
    let model = AskedModel::new(config, lazy, Http::new()).unwrap();
    assert_eq!(model.keys().redact(KEY), KEY, "not asked for yet");
    let file = File::default();
    let recorder = Recorder::begin(Box::new(file.clone()), head());
    let replies: Replies =
        recorder.of(Arc::new(model)).stream(request(KEY, &[KEY], 9)).collect().await;
    assert!(matches!(replies.last(), Some(Ok(Delta::Stop(_)))), "{replies:?}");
    let recording = String::from_utf8(file.0.lock().unwrap().clone()).unwrap();
    assert!(recording.contains("[key]") && !recording.contains(KEY), "{recording}");
    assert!(server.requests()[0].contains(KEY));
}

/// A model that says in another way whatever has a default.
struct Odd(ServerModel);

// Wrappers of a model have the same lint: nothing is left to a default.
#[deny(clippy::missing_trait_methods)]
impl Model for Odd {
    fn name(&self) -> &str {
        "odd/one"
    }
    fn limits(&self) -> ModelLimits {
        ModelLimits { context: Some(7), max_output: Some(8) }
    }
    fn learn_output(&self, most: Option<u32>) {
        self.0.learn_output(most);
    }
    fn thinking_tokens(&self) -> u32 {
        9
    }
    fn price(&self) -> Option<Price> {
        Some(Price { input: 1, output: 2, cache_read: 3, cache_write: 4, above: None })
    }
    fn takes_printed_calls(&self) -> bool {
        true
    }
    fn reads_calls_when(&self) -> Option<String> {
        Some("when".into())
    }
    fn lacks_tools(&self) -> Option<String> {
        Some("lacks".into())
    }
    fn end_in_words(&self, today: &str) -> Option<String> {
        Some(format!("ends after {today}"))
    }
    fn is_lean(&self) -> bool {
        // By its context it would get it.
        false
    }
    fn find_context(&self) -> BoxFuture<'static, ()> {
        panic!("a recording has no place for what is found out on the way")
    }
    fn more_context(&self) -> Option<String> {
        Some("more".into())
    }
    fn list(&self) -> BoxFuture<'static, Result<Arc<Listing>, ModelError>> {
        async { Err(ModelError::MissingKey { var: "LISTED".into() }) }.boxed()
    }
    fn known_list(&self) -> Option<Arc<Listing>> {
        Some(Arc::new(Listing { supports_tools: Some(true), ..Listing::default() }))
    }
    fn keys(&self) -> Keys {
        Keys::new([KEY])
    }
    fn ready(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        async { Err(ModelError::MissingKey { var: "ODD".into() }) }.boxed()
    }
    fn encode(&self, message: &Message) -> Piece {
        self.0.encode(message)
    }
    fn encode_prelude(&self, system: &str, tools: &[ToolDeclaration]) -> Prelude {
        self.0.encode_prelude(system, tools)
    }
    fn stream(&self, _: ModelRequest) -> BoxStream<'static, Result<Delta, ModelError>> {
        futures::stream::empty().boxed()
    }
    fn probe(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        async { Err(ModelError::MissingKey { var: "PROBED".into() }) }.boxed()
    }
}

#[test]
fn all_that_a_model_says_of_itself_goes_through() {
    let odd = Arc::new(Odd(server()));
    let file = File::default();
    let recorder = Recorder::begin(Box::new(file.clone()), head());
    let recorded = recorder.of(odd.clone());
    let (_, recording) = self::recorded();
    let player = Player::new(Tape::read(recording.as_bytes()).unwrap(), odd.clone(), true);
    for model in [&recorded as &dyn Model, &player] {
        assert_eq!(model.name(), odd.name());
        assert_eq!(model.limits(), odd.limits());
        assert_eq!(model.thinking_tokens(), odd.thinking_tokens());
        assert_eq!(model.price(), odd.price());
        assert_eq!(model.takes_printed_calls(), odd.takes_printed_calls());
        assert_eq!(model.reads_calls_when(), odd.reads_calls_when());
        assert_eq!(model.lacks_tools(), odd.lacks_tools());
        assert_eq!((model.is_lean(), model.more_context()), (false, odd.more_context()));
        assert_eq!(model.find_context().now_or_never(), Some(()));
        assert_eq!(model.keys().redact(KEY), "[key]");
        assert_eq!(model.ready().now_or_never(), odd.ready().now_or_never());
        let message = Message::user("hi");
        assert_eq!(model.encode(&message), odd.encode(&message));
        assert_eq!(model.encode_prelude("s", &[]), odd.encode_prelude("s", &[]));
    }
    assert_eq!(recorded.probe().now_or_never(), odd.probe().now_or_never());
    for model in [&recorded as &dyn Model, &player] {
        model.learn_output(Some(5));
        assert_eq!(odd.0.limits().max_output, Some(5));
        model.learn_output(None);
    }
    assert_eq!(recorded.list().now_or_never(), odd.list().now_or_never());
    assert_eq!(recorded.known_list(), odd.known_list());
    assert_eq!(player.list().now_or_never(), Some(Ok(Arc::default())), "nobody is asked");
    // A request whose key is not known is neither written nor sent.
    let begun = file.0.lock().unwrap().len();
    assert!(sentence(&ask(&recorded, request("s", &["one"], 9))).contains("ODD"));
    assert_eq!(file.0.lock().unwrap().len(), begun);
}
