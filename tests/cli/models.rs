//! `ropewalk models`: servers on this machine, played here, and what is said of each.

use crate::world::{KEY_VARIABLE, World};
use ropewalk_model::catalogue::default_models;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

/// A server that gives these bodies for these paths and 404 for others, as long as the test runs.
fn server(answers: &'static [(&'static str, &'static str)]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut first, mut length) = (String::new(), 0);
            reader.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                match line.trim().to_ascii_lowercase().strip_prefix("content-length:") {
                    Some(value) => length = value.trim().parse().unwrap(),
                    None if line.trim().is_empty() => break,
                    None => {}
                }
            }
            let mut asked = vec![0; length];
            reader.read_exact(&mut asked).unwrap();
            let mut path = first.split(' ').nth(1).unwrap_or_default().to_owned();
            if let Ok(asked) = serde_json::from_slice::<serde_json::Value>(&asked) {
                path = format!(
                    "{path} {}",
                    asked.get("model").and_then(|name| name.as_str()).unwrap_or_default()
                );
            }
            let body = answers.iter().find(|(at, _)| *at == path).map(|(_, body)| *body);
            let (status, body) = body.map_or(("404 Not Found", "no"), |body| ("200 OK", body));
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
            );
        }
    });
    url
}

const OLLAMA: &[(&str, &str)] = &[
    (
        "/v1/models",
        r#"{"object":"list","data":[{"id":"qwen3:8b"},{"id":"gemma3"},{"id":"big"},{"id":"own"}]}"#,
    ),
    (
        "/api/ps",
        r#"{"models":[{"name":"qwen3:8b","context_length":4096},{"name":"big","context_length":65536}]}"#,
    ),
    // Asked about each model that is not loaded.
    ("/api/show own", r#"{"parameters":"num_ctx 2048"}"#),
];
const OLD_OLLAMA: &[(&str, &str)] = &[("/api/tags", r#"{"models":[{"name":"old"}]}"#)];
const LLAMA: &[(&str, &str)] = &[
    ("/v1/models", r#"{"data":[{"id":"any.gguf","meta":{"n_ctx_train":40960}}]}"#),
    ("/props", r#"{"default_generation_settings":{"n_ctx":8192}}"#),
];
const VLLM: &[(&str, &str)] =
    &[("/v1/models", r#"{"data":[{"id":"q/7b","max_model_len":32768}]}"#)];
const HOSTILE: &[(&str, &str)] = &[(
    "/v1/models",
    r#"{"data":[{"id":"\u001b]0;evil\u0007","max_model_len":-1},{"id":7},null,[]]}"#,
)];

#[test]
fn servers_on_this_machine_are_found_and_what_is_wrong_is_said() {
    let world = World::new("http://127.0.0.1:9");
    let at = |name: &str, url: String| format!("-cprovider.{name}.base_url={url}/v1");
    let (ollama, llama, vllm) = (server(OLLAMA), server(LLAMA), server(VLLM));
    let flags = [
        at("ollama", ollama.clone()),
        at("llamacpp", llama),
        at("vllm", vllm),
        at("lmstudio", server(HOSTILE)),
        "-cprovider.scripted.base_url=https://models.example".to_owned(),
    ];
    let mut args = vec!["models"];
    args.extend(flags.iter().map(String::as_str));
    let ran = world.run(&args).ended(0);
    for line in [
        &*format!("ollama: {ollama}/v1 answers"),
        "  ollama/qwen3:8b, context 4096",
        "    below 16384: four tools and a short system prompt are sent to it",
        "    too small; for more: start Ollama with `OLLAMA_CONTEXT_LENGTH=32768 ollama serve`",
        "  ollama/gemma3",
        "    its context is known only once it is loaded, and may be 4096, which is too small; for more: start Ollama with `OLLAMA_CONTEXT_LENGTH=32768 ollama serve`, and set `provider.ollama.context = 32768`",
        "  ollama/own, context 2048",
        "    too small; for more: its own `num_ctx` says so: write the two lines `FROM own` and `PARAMETER num_ctx 32768` into a file Modelfile, run `ollama create NAME -f Modelfile`, and use the model NAME",
        "  ollama/big, context 65536",
        "  llamacpp/any.gguf, context 8192",
        "    too small; for more: start it with `llama-server --ctx-size 32768`",
        "  vllm/q/7b, context 32768",
        &format!("scripted: https://models.example, key from {KEY_VARIABLE}"),
        "groq: https://api.groq.com/openai/v1, no key: set GROQ_API_KEY",
    ] {
        assert!(ran.out.lines().any(|found| found == line), "no {line:?} in {ran:#?}");
    }
    assert!(!ran.out.contains('\u{1b}') && ran.out.contains("lmstudio/"), "{ran:?}");
    let default = default_models().remove(0).1;
    let line = ran.out.lines().find(|line| line.starts_with(&format!("  {default}, context ")));
    assert!(line.is_some_and(|line| line.contains(" per million tokens")), "{ran:?}");
    args[0] = "doctor";
    let ran = world.run(&args);
    assert!(ran.out.contains("OLLAMA_CONTEXT_LENGTH=32768 ollama serve"), "{ran:?}");
}

#[test]
fn what_is_configured_of_a_model_counts_and_an_older_server_is_understood() {
    let world = World::new("http://127.0.0.1:9");
    let base = format!("-cprovider.ollama.base_url={}", server(OLD_OLLAMA));
    let ran = world.run(&["models", &base, "-cprovider.ollama.context=32768"]).ended(0);
    assert!(
        ran.out.contains("\n  ollama/old, context 32768\n")
            || ran.out.contains("  ollama/old, context 32768\n"),
        "{ran:?}"
    );
    assert!(!ran.out.contains("OLLAMA_CONTEXT_LENGTH"), "{ran:?}");
}

#[test]
fn servers_are_asked_with_the_certificates_of_the_configuration_and_one_alone_is_listed_whole() {
    let world = World::new("http://127.0.0.1:9");
    let ran = world.run(&[
        "models",
        "here",
        "-cca_file=/nowhere/own.pem",
        "-cprovider.here.protocol=chat",
        "-cprovider.here.base_url=https://127.0.0.1:9/v1",
    ]);
    assert!(ran.out.starts_with("here: ") && ran.out.contains("/nowhere/own.pem"), "{ran:?}");
    assert!(!ran.out.contains("scripted"), "{ran:?}");
    const MANY: usize = 60;
    let list: Vec<String> =
        (0..MANY).map(|n| format!(r#"{{"id":"m{n}","max_model_len":32768}}"#)).collect();
    let body: &'static str = format!(r#"{{"data":[{}]}}"#, list.join(",")).leak();
    let base = format!("-cprovider.vllm.base_url={}/v1", server(vec![("/v1/models", body)].leak()));
    let listed = |args: &[&str]| {
        let ran = world.run(args).ended(0);
        ran.out.lines().filter(|line| line.starts_with("  vllm/m")).count()
    };
    assert_eq!(listed(&["models", "vllm", &base]), MANY);
    assert_eq!(listed(&["models", &base]), 50);
    let ran = world.run(&["models", &base]);
    assert!(ran.out.contains("and 10 more: `ropewalk models vllm` lists them"), "{ran:?}");
    let ran = world.run(&["models", "nobody"]).ended(2);
    assert!(ran.err.contains("no provider nobody") && ran.err.contains("scripted"), "{ran:?}");
}

#[test]
fn without_anything_it_says_what_to_do() {
    let world = World::new("http://127.0.0.1:9");
    world.configure("");
    let closed: Vec<String> = ["ollama", "llamacpp", "lmstudio", "vllm"]
        .map(|name| format!("-cprovider.{name}.base_url=http://127.0.0.1:9"))
        .into();
    let mut args = vec!["models"];
    args.extend(closed.iter().map(String::as_str));
    let ran = world.run(&args);
    for start in ["OLLAMA_HOST=127.0.0.1:9 ollama serve", "lms server start --port 9"] {
        assert!(ran.out.contains(&format!("start it with `{start}`")), "{ran:?}");
    }
}

#[test]
fn what_is_configured_small_is_said_to_get_the_lean_set() {
    let world = World::new("https://models.example");
    let args = |flag| ["models", "-c", flag];
    let lean = "    below 16384: four tools and a short system prompt are sent to it";
    let ran = world.run(&args("provider.scripted.context=8192")).ended(0);
    assert!(ran.out.lines().any(|line| line == lean), "{ran:?}");
    let ran = world.run(&args("provider.scripted.lean=true")).ended(0);
    let forced =
        "    four tools and a short system prompt are sent to it: `provider.scripted.lean` says so";
    assert!(ran.out.lines().any(|line| line == forced), "{ran:?}");
    let never = ["models", "-cprovider.scripted.context=8192", "-cprovider.scripted.lean=false"];
    assert!(!world.run(&never).ended(0).out.contains("four tools"));
    let doctor = world.run(&["doctor", "-cprovider.scripted.context=8192"]);
    assert!(doctor.out.contains("note  context   8192 tokens: below 16384"), "{doctor:?}");
}
