//! How much context a server on this machine gives, found out by asking it: the answers of each kind of server, those
//! that make no sense, and what a model knows then.

use ropewalk_model::{Http, Model, Protocol, ServerConfig, ServerModel};
use ropewalk_protocol::ModelLimits;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// Answer to a path and a body: a body, or 404.
type Answers = fn(path: &str, body: &str, asked: usize) -> Option<String>;

/// A server, and the lines of the requests that came.
fn server(answers: Answers) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = asked.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut first, mut length) = (String::new(), 0);
            reader.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                let line = line.trim().to_ascii_lowercase();
                assert!(!line.contains("authorization"), "no key is sent");
                if let Some(value) = line.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
            let before = seen.lock().unwrap().len();
            seen.lock().unwrap().push(first);
            let answer = answers(&path, std::str::from_utf8(&body).unwrap(), before);
            let (status, body) =
                answer.map_or(("404 Not Found", "no".to_owned()), |body| ("200 OK", body));
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    (url, asked)
}

fn model(base_url: &str, name: &str, change: impl FnOnce(&mut ServerConfig)) -> ServerModel {
    let mut config = ServerConfig::new(Protocol::Chat, name);
    config.provider = "local".to_owned();
    config.base_url = base_url.to_owned();
    config.key_var = None;
    change(&mut config);
    ServerModel::new(config, Http::new()).unwrap()
}

/// The context and how to get more, after one look.
async fn found(answers: Answers, name: &str) -> (Option<u32>, Option<String>) {
    let (url, _) = server(answers);
    let model = model(&url, name, |_| {});
    assert_eq!((model.limits().context, model.is_lean()), (None, false));
    model.find_context().await;
    (model.limits().context, model.more_context())
}

fn ollama(path: &str, body: &str, _: usize) -> Option<String> {
    let answer = match path {
        "/v1/models" => r#"{"data":[{"id":"qwen3:8b"},{"id":"gemma3:latest"},{"id":"own"}]}"#,
        "/api/ps" => r#"{"models":[{"name":"gemma3:latest","context_length":4096}]}"#,
        "/api/show" if body == r#"{"model":"own"}"# => {
            r#"{"parameters":"stop    \"<|x|>\"\nnum_ctx    8192\ntemperature 1"}"#
        }
        "/api/show" => r#"{"model_info":{"qwen3.context_length":40960}}"#,
        _ => return None,
    };
    Some(answer.to_owned())
}

#[tokio::test]
async fn ollama_is_asked_what_it_gives() {
    let (context, more) = found(ollama, "gemma3").await;
    assert_eq!(context, Some(4096));
    assert_eq!(more.unwrap(), "start Ollama with `OLLAMA_CONTEXT_LENGTH=32768 ollama serve`");

    // The model's own word counts before the variable.
    let (context, more) = found(ollama, "own").await;
    assert_eq!(context, Some(8192));
    let more = more.unwrap();
    for part in ["`FROM own`", "`PARAMETER num_ctx 32768`", "ollama create"] {
        assert!(more.contains(part), "{more}");
    }

    // Not loaded: what the model could take at most is not what it is given.
    assert_eq!(found(ollama, "qwen3:8b").await, (None, None));
    assert_eq!(found(ollama, "other").await, (None, None));
}

#[tokio::test]
async fn what_is_known_only_after_loading_is_asked_for_once_more_and_never_again() {
    fn loads(path: &str, body: &str, asked: usize) -> Option<String> {
        match path {
            "/api/ps" if asked < 4 => Some(r#"{"models":[]}"#.to_owned()),
            "/api/ps" => {
                Some(r#"{"models":[{"name":"qwen3:8b","context_length":16384}]}"#.to_owned())
            }
            _ => ollama(path, body, asked),
        }
    }
    let (url, asked) = server(loads);
    let small = model(&url, "qwen3:8b", |_| {});
    small.find_context().await;
    assert_eq!(small.limits().context, None);
    assert_eq!(asked.lock().unwrap().len(), 4, "{asked:?}");
    small.find_context().await;
    assert_eq!((small.limits().context, small.is_lean()), (Some(16_384), false));
    let requests = asked.lock().unwrap().len();
    for _ in 0..3 {
        small.find_context().await;
    }
    assert_eq!(asked.lock().unwrap().len(), requests);

    // A server that never says it is left in peace as well.
    let (url, asked) =
        server(|path, _, _| (path == "/v1/models").then(|| r#"{"data":[{"id":"m"}]}"#.to_owned()));
    let silent = model(&url, "m", |_| {});
    silent.find_context().await;
    let requests = asked.lock().unwrap().len();
    silent.find_context().await;
    assert_eq!(asked.lock().unwrap().len(), requests);
    assert_eq!(silent.limits().context, None);
}

#[tokio::test]
async fn little_context_is_asked_for_again_since_who_is_told_gives_more() {
    fn restarted(path: &str, body: &str, asked: usize) -> Option<String> {
        match path {
            // Nothing is loaded for a while after the restart.
            "/api/ps" if (4..12).contains(&asked) => Some(r#"{"models":[]}"#.to_owned()),
            "/api/ps" if asked >= 12 => {
                Some(r#"{"models":[{"name":"gemma3:latest","context_length":32768}]}"#.to_owned())
            }
            _ => ollama(path, body, asked),
        }
    }
    let (url, asked) = server(restarted);
    let model = model(&url, "gemma3", |_| {});
    let mut seen = Vec::new();
    for _ in 0..9 {
        model.find_context().await;
        seen.push((model.limits().context.unwrap(), model.is_lean()));
    }
    seen.dedup();
    assert_eq!(seen, [(4096, true), (32_768, false)]);
    // Enough is enough.
    let requests = asked.lock().unwrap().len();
    model.find_context().await;
    assert_eq!(asked.lock().unwrap().len(), requests);
}

#[tokio::test]
async fn other_servers_say_it_their_way() {
    fn llama(path: &str, _: &str, _: usize) -> Option<String> {
        match path {
            "/v1/models" => Some(r#"{"data":[{"id":"any.gguf"}]}"#.to_owned()),
            "/props" => Some(r#"{"default_generation_settings":{"n_ctx":8192}}"#.to_owned()),
            _ => None,
        }
    }
    let (context, more) = found(llama, "whatever").await;
    assert_eq!(context, Some(8192));
    assert!(more.unwrap().contains("llama-server --ctx-size 32768"));

    // No more is advised than the model was trained with, wherever the server says it.
    fn trained(path: &str, _: &str, _: usize) -> Option<String> {
        match path {
            "/v1/models" => {
                Some(r#"{"data":[{"id":"any.gguf","meta":{"n_ctx_train":16000}}]}"#.to_owned())
            }
            "/props" => Some(r#"{"default_generation_settings":{"n_ctx":8192}}"#.to_owned()),
            _ => None,
        }
    }
    let (context, more) = found(trained, "whatever").await;
    assert_eq!(context, Some(8192));
    assert!(more.unwrap().contains("llama-server --ctx-size 16000`"));
    fn in_props(path: &str, _: &str, _: usize) -> Option<String> {
        match path {
            "/v1/models" => Some(r#"{"data":[{"id":"any.gguf"}]}"#.to_owned()),
            "/props" => Some(
                r#"{"n_ctx_train":2048,"default_generation_settings":{"n_ctx":2048}}"#.to_owned(),
            ),
            _ => None,
        }
    }
    let more = found(in_props, "small").await.1.unwrap();
    assert_eq!(more, "choose another model: small was trained with 2048 tokens");

    fn studio(path: &str, _: &str, _: usize) -> Option<String> {
        match path {
            "/v1/models" => Some(r#"{"data":[{"id":"q"}]}"#.to_owned()),
            "/api/v0/models" => Some(
                r#"{"data":[{"id":"q","loaded_context_length":4096,"max_context_length":131072}]}"#
                    .to_owned(),
            ),
            _ => None,
        }
    }
    let (context, more) = found(studio, "q").await;
    assert_eq!(context, Some(4096));
    assert!(more.unwrap().contains("lms load q --context-length 32768"));

    fn vllm(path: &str, _: &str, _: usize) -> Option<String> {
        (path == "/v1/models")
            .then(|| r#"{"data":[{"id":"q/7b","max_model_len":16384}]}"#.to_owned())
    }
    assert_eq!(found(vllm, "q/7b").await.0, Some(16384));
}

#[tokio::test]
async fn a_template_without_tools_is_told_and_what_to_do() {
    fn props(caps: &str) -> Option<String> {
        Some(format!(r#"{{"default_generation_settings":{{"n_ctx":8192}},{caps}}}"#))
    }
    fn without(path: &str, _: &str, _: usize) -> Option<String> {
        match path {
            "/v1/models" => Some(r#"{"data":[{"id":"any.gguf"}]}"#.to_owned()),
            "/props" => props(r#""chat_template_caps":{"supports_tools":false}"#),
            _ => None,
        }
    }
    fn with(path: &str, body: &str, asked: usize) -> Option<String> {
        match path {
            "/props" => props(r#""chat_template_caps":{"supports_tools":true}"#),
            _ => without(path, body, asked),
        }
    }
    fn silent(path: &str, body: &str, asked: usize) -> Option<String> {
        match path {
            "/props" => props(r#""chat_template_caps":{"supports_tools":"no"}"#),
            _ => without(path, body, asked),
        }
    }
    for (answers, lacks) in [(without as Answers, true), (with, false), (silent, false)] {
        let model = model(&server(answers).0, "m", |_| {});
        assert_eq!(model.lacks_tools(), None, "nobody was asked yet");
        model.find_context().await;
        let words = model.lacks_tools();
        assert_eq!(words.is_some(), lacks, "{words:?}");
        let has = |part: &str| words.as_ref().is_none_or(|words| words.contains(part));
        assert!(has("local/m does not support tools") && has("`--jinja`"), "{words:?}");
    }
}

#[tokio::test]
async fn what_makes_a_server_read_calls_is_known_by_its_kind() {
    for (provider, words) in [
        ("llamacpp", Some("start `llama-server` with `--jinja`")),
        ("ollama", Some("`ollama show m`")),
        ("vllm", Some("--enable-auto-tool-choice --tool-call-parser")),
        ("lmstudio", Some("LM Studio")),
        ("own", None),
    ] {
        let set = |config: &mut ServerConfig| config.provider = provider.to_owned();
        let told = model("http://127.0.0.1:9/v1", "m", set).reads_calls_when();
        let is_right = match (&told, words) {
            (Some(told), Some(words)) => told.contains(words),
            (told, words) => told.is_none() && words.is_none(),
        };
        assert!(is_right, "{provider}: {told:?}");
    }
}

#[tokio::test]
async fn nonsense_is_no_context() {
    for answers in [
        (|_, _, _| Some("{}".to_owned())) as Answers,
        |_, _, _| Some("[[[".to_owned()),
        |_, _, _| Some(r#"{"data":[{"id":"m","max_model_len":-1}],"parameters":7}"#.to_owned()),
        |_, _, _| {
            Some(r#"{"data":[{"id":"m","max_model_len":1e300}],"parameters":"num_ctx 0\nnum_ctx é"}"#.to_owned())
        },
        |_, _, _| None,
    ] {
        assert_eq!(found(answers, "m").await, (None, None));
    }
    let gone = model("http://127.0.0.1:9/v1", "m", |_| {});
    gone.find_context().await;
    assert_eq!(gone.limits().context, None);
}

#[tokio::test]
async fn the_configuration_counts_but_for_a_server_that_gives_less() {
    let (url, _) = server(ollama);
    let limits = |context| ModelLimits { context: Some(context), max_output: None };
    let more = model(&url, "gemma3", |config| config.limits = limits(32_768));
    assert!(!more.is_lean());
    more.find_context().await;
    assert_eq!((more.limits().context, more.is_lean()), (Some(4096), true));
    let less = model(&url, "gemma3", |config| config.limits = limits(2048));
    less.find_context().await;
    assert_eq!(less.limits().context, Some(2048));
    // The lean set is forced and forbidden whatever the context is.
    let forbidden = model(&url, "gemma3", |config| config.lean = Some(false));
    forbidden.find_context().await;
    assert_eq!((forbidden.limits().context, forbidden.is_lean()), (Some(4096), false));
    assert!(model(&url, "m", |config| config.lean = Some(true)).is_lean());

    // A server elsewhere is not asked.
    let far = model("http://192.0.2.1/v1", "gemma3", |config| config.limits = limits(16_383));
    far.find_context().await;
    assert_eq!((far.limits().context, far.is_lean()), (Some(16_383), true));
    assert!(!model("http://192.0.2.1/v1", "m", |config| config.limits = limits(16_384)).is_lean());
}

#[tokio::test]
async fn the_longest_reply_is_what_the_server_says_where_nobody_knows_better() {
    const LIST: &str = r#"{"data":[{"id":"plain","max_output_tokens":4096},
        {"id":"routed","top_provider":{"max_completion_tokens":9000}},
        {"id":"odd","max_output_tokens":-1,"max_completion_tokens":0}]}"#;
    let (url, _) = server(|path, _, _| (path == "/v1/models").then(|| LIST.to_owned()));
    for (name, own, most) in [
        ("plain", None, Some(4_096)),
        ("routed", None, Some(9_000)),
        ("plain", Some(1_000), Some(1_000)),
        ("odd", None, None),
        ("not listed", None, None),
    ] {
        let model = model(&url, name, |config| config.limits.max_output = own);
        model.find_context().await;
        assert_eq!(model.limits().max_output, most, "{name}");
    }
}
