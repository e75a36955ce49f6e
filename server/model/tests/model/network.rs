//! The way to a server: certificates, proxies, HTTP/2. Nothing here leaves this machine: a proxy takes
//! every name to the same server.

use crate::loopback::*;
use bytes::Bytes;
use http_body_util::Full;
use hyper::{Response, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
use ropewalk_model::{
    Delta, Http, LocalServer, ModelError, Network, Protocol, ServerConfig, ServerModel,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex, atomic::Ordering},
    time::Duration,
};
use tokio::{io::AsyncWriteExt, net::TcpListener};
use tokio_rustls::TlsAcceptor;

const PROTOCOL: Protocol = Protocol::Responses;

/// A server behind TLS with a certificate of its own making.
struct Secure {
    address: SocketAddr,
    seen: Arc<Seen>,
    folder: tempfile::TempDir,
}

impl Secure {
    /// With a certificate for this name; speaks HTTP/2 to those who can, if `h2`.
    async fn start(name: &str, h2: bool, answers: Vec<Vec<Act>>) -> Secure {
        Secure::with(|_| {}, name, h2, answers).await
    }

    /// With such a certificate.
    async fn with(
        change: impl FnOnce(&mut CertificateParams),
        name: &str,
        h2: bool,
        answers: Vec<Vec<Act>>,
    ) -> Secure {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let made = params.self_signed(&key).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), made.pem()).unwrap();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.der().clone()], key.into())
            .unwrap();
        if h2 {
            tls.alpn_protocols = vec![b"h2".to_vec()];
        }
        let acceptor = TlsAcceptor::from(Arc::new(tls));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::with(answers));
        let shared = seen.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                shared.accepted.fetch_add(1, Ordering::SeqCst);
                let (acceptor, shared) = (acceptor.clone(), shared.clone());
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(socket).await else { return };
                    if h2 { say_good(stream, shared).await } else { answer(stream, shared).await }
                });
            }
        });
        Secure { address, seen, folder }
    }

    fn ca_file(&self) -> Option<PathBuf> {
        Some(self.folder.path().join("ca.pem"))
    }

    fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    fn requests(&self) -> Vec<String> {
        self.seen.requests.lock().unwrap().clone()
    }
}

/// Answers every request of an HTTP/2 connection.
async fn say_good(stream: tokio_rustls::server::TlsStream<tokio::net::TcpStream>, seen: Arc<Seen>) {
    let service = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
        seen.requests.lock().unwrap().push(format!("{:?}", request.version()));
        let body = says(PROTOCOL, "good") + last(PROTOCOL);
        let response = Response::builder().header("content-type", "text/event-stream");
        async move { response.body(Full::new(Bytes::from(body))) }
    });
    let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

fn model(base_url: &str, network: Network) -> ServerModel {
    let mut config = ServerConfig::new(PROTOCOL, "m");
    config.base_url = base_url.to_owned();
    config.key = ropewalk_model::ApiKey::new(KEY, "KEY").ok();
    config.retry.tries = 2;
    config.retry.first_wait = Duration::from_millis(1);
    config.retry.reach = Duration::from_millis(5);
    ServerModel::new(config, Http::over(network)).unwrap()
}

async fn say(base_url: &str, network: Network) -> Result<String, ModelError> {
    let model = model(base_url, network);
    let mut stream = ask(&model);
    let mut builder = ropewalk_model::ReplyBuilder::new();
    while let Some(delta) = futures::StreamExt::next(&mut stream).await {
        builder.push(&delta?);
    }
    Ok(builder.finish().text())
}

#[tokio::test]
async fn a_certificate_of_nobody_is_refused_in_words_and_taken_when_its_file_is_named() {
    let server = Secure::start("127.0.0.1", false, vec![good(PROTOCOL)]).await;
    let error = say(&server.url(), Network::default()).await.unwrap_err();
    assert!(matches!(&error, ModelError::Untrusted { .. }), "{error:?}");
    assert!(error.to_string().contains("SSL_CERT_FILE"), "{error}");
    assert_eq!(server.seen.accepted.load(Ordering::SeqCst), 1, "it is not tried again");

    let file = server.ca_file().unwrap().display().to_string();
    let network = Network::from_env(|name| (name == "SSL_CERT_FILE").then(|| file.clone()));
    assert_eq!(say(&server.url(), network).await.unwrap(), "good");
    assert!(server.requests()[0].contains(KEY));
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused_whoever_signed_it() {
    let server = Secure::start("other.test", false, vec![good(PROTOCOL)]).await;
    let network = Network { ca_file: server.ca_file(), ..Network::default() };
    let error = say(&server.url(), network).await.unwrap_err();
    assert!(matches!(&error, ModelError::CertificateHost { .. }), "{error:?}");
    let words = error.to_string();
    assert!(words.contains("is for another host (other.test): write the name"), "{words}");
    assert_eq!(server.requests().len(), 0, "nothing is sent to it");
}

/// Words of certificates on being an authority's: openssl says that it is one, where it is not asked.
fn kinds() -> [IsCa; 3] {
    [IsCa::NoCa, IsCa::ExplicitNoCa, IsCa::Ca(BasicConstraints::Unconstrained)]
}

#[tokio::test]
async fn a_servers_own_certificate_counts_where_its_file_is_named_and_no_other_does() {
    for kind in kinds() {
        let start = async || {
            let good = vec![good(PROTOCOL)];
            Secure::with(move |params| params.is_ca = kind, "127.0.0.1", false, good).await
        };
        let (server, other) = (start().await, start().await);
        let network = Network { ca_file: other.ca_file(), ..Network::default() };
        let error = say(&server.url(), network).await.unwrap_err();
        assert!(matches!(&error, ModelError::Untrusted { .. }), "{kind:?}: {error:?}");
        assert_eq!(server.requests().len(), 0, "nothing is sent to it");

        let network = Network { ca_file: server.ca_file(), ..Network::default() };
        assert_eq!(say(&server.url(), network).await.unwrap(), "good", "{kind:?}");
    }
}

#[tokio::test]
async fn a_certificate_out_of_its_time_or_for_another_host_is_refused_in_its_own_words() {
    for kind in kinds() {
        for (name, years, words) in [
            ("127.0.0.1", (2000, 2001), "has expired on 01 Jan 2001: whoever runs the server"),
            ("127.0.0.1", (2990, 2999), "is not valid before 01 Jan 2990"),
            ("other.test", (2000, 2999), "is for another host (other.test)"),
        ] {
            let (kind, (from, to)) = (kind, years);
            let change = move |params: &mut CertificateParams| {
                params.is_ca = kind;
                params.not_before = date_time_ymd(from, 1, 1);
                params.not_after = date_time_ymd(to, 1, 1);
            };
            let server = Secure::with(change, name, false, vec![good(PROTOCOL)]).await;
            let network = Network { ca_file: server.ca_file(), ..Network::default() };
            let error = say(&server.url(), network).await.unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
            assert_eq!(server.seen.accepted.load(Ordering::SeqCst), 1, "it is not tried again");
            assert_eq!(server.requests().len(), 0, "nothing is sent to it");
        }
    }
}

/// Reads a reply to its end on a stopped clock, which goes on by a second when nothing else does.
async fn played(model: &ServerModel) -> (Vec<Delta>, Result<(), ModelError>) {
    let (mut stream, mut deltas) = (ask(model), Vec::new());
    let mut idle = 0;
    loop {
        match futures::poll!(futures::StreamExt::next(&mut stream)) {
            std::task::Poll::Ready(None) => return (deltas, Ok(())),
            std::task::Poll::Ready(Some(Err(error))) => return (deltas, Err(error)),
            std::task::Poll::Ready(Some(Ok(delta))) => deltas.push(delta),
            std::task::Poll::Pending if idle < 200 => {
                idle += 1;
                tokio::task::yield_now().await;
            }
            std::task::Poll::Pending => {
                idle = 0;
                advance(SECOND).await;
            }
        }
    }
}

#[tokio::test]
async fn a_handshake_without_an_answer_ends_and_is_tried_again_for_a_minute() {
    let _clock = Clock::stop();
    // It waits for the end of a request that never comes.
    let server = Loopback::start([]).await;
    let mut config = server.config(PROTOCOL);
    config.base_url = format!("https://{}", server.address);
    let model = ServerModel::new(config, Http::new()).unwrap();
    let begun = tokio::time::Instant::now();
    let (deltas, end) = played(&model).await;
    let error = end.unwrap_err();
    assert!(error.to_string().contains("no secure connection within 15 s"), "{error}");
    let retries = deltas.iter().filter(|delta| matches!(delta, Delta::Retrying { .. })).count();
    assert!((2..=4).contains(&retries), "each wait is told: {deltas:?}");
    let seconds = begun.elapsed().as_secs();
    assert!((58..=78).contains(&seconds), "{seconds}");
}

/// The address of a port that was free a moment ago, and that nobody listens on.
fn closed() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[tokio::test]
async fn a_server_elsewhere_is_tried_for_a_minute_and_each_wait_is_told() {
    let _clock = Clock::stop();
    let network = Network { http_proxy: Some(closed().to_string()), ..Network::default() };
    let mut config = ServerConfig::new(PROTOCOL, "m");
    config.base_url = "http://models.invalid".to_owned();
    config.key_var = None;
    for (reach, tries, least, most) in [(60, 6, 59, 61), (5, 6, 4, 6), (60, 1, 0, 0)] {
        let mut config = config.clone();
        (config.retry.reach, config.retry.tries) = (reach * SECOND, tries);
        let model = ServerModel::new(config, Http::over(network.clone())).unwrap();
        let (deltas, reply) = read(ask(&model)).await;
        assert!(matches!(reply.unwrap_err(), ModelError::Unreachable { .. }));
        let total =
            crate::faults::waits(&deltas).iter().sum::<Duration>().as_secs_f64().round() as u64;
        assert!((least..=most).contains(&total), "{reach} {total}: {deltas:?}");
    }
}

#[tokio::test]
async fn a_closed_port_on_this_machine_fails_at_once_and_says_what_starts_the_server() {
    let port = closed().port();
    for (provider, host, words) in [
        (
            "ollama",
            "127.0.0.1",
            format!(
                "Ollama isn't running at 127.0.0.1:{port}: start it with `OLLAMA_HOST=127.0.0.1:{port} ollama serve`"
            ),
        ),
        (
            "llamacpp",
            "localhost",
            format!(
                "llama-server isn't running at localhost:{port}: start it with `llama-server --jinja -m MODEL.gguf --port {port}`"
            ),
        ),
        (
            "vllm",
            "127.0.0.1",
            format!(
                "vLLM isn't running at 127.0.0.1:{port}: start it with `vllm serve m --port {port}`"
            ),
        ),
        (
            "lmstudio",
            "127.0.0.1",
            format!(
                "LM Studio isn't running at 127.0.0.1:{port}: start it with `lms server start --port {port}`"
            ),
        ),
        (
            "own",
            "127.0.0.1",
            format!(
                "127.0.0.1:{port} cannot be reached, because nothing listens there: start the model server, or correct its `base_url`"
            ),
        ),
    ] {
        for &protocol in Protocol::ALL {
            let mut config = ServerConfig::new(protocol, "m");
            config.provider = provider.to_owned();
            config.base_url = format!("http://{host}:{port}/v1");
            config.key_var = None;
            let (deltas, reply) = read(ask(&ServerModel::new(config, Http::new()).unwrap())).await;
            assert_eq!(reply.unwrap_err().to_string(), words);
            assert_eq!(deltas, [], "it is not tried again");
        }
    }
}

#[test]
fn the_kind_of_a_server_on_this_machine_is_known_by_its_name_or_its_port() {
    let command = |provider: &str, url: &str| {
        let url = url.parse().unwrap();
        LocalServer::of(provider, &url).map(|server| server.start_command(&url, "q/m"))
    };
    for (provider, url, start) in [
        ("ollama", "http://127.0.0.1:11434/v1", Some("ollama serve")),
        ("x", "http://localhost:11434", Some("ollama serve")),
        ("x", "http://[::1]:8080", Some("llama-server --jinja -m MODEL.gguf")),
        ("x", "http://127.0.0.1:8000/v1", Some("vllm serve q/m")),
        ("x", "http://127.0.0.1:1234/v1", Some("lms server start")),
        ("x", "http://127.0.0.1:9/v1", None),
        ("ollama", "http://192.0.2.1:11434/v1", None),
    ] {
        assert_eq!(command(provider, url).as_deref(), start, "{provider} {url}");
    }
}

#[tokio::test]
async fn a_proxy_that_wants_a_login_is_asked_once_and_named() {
    let refusal = || whole(407, "proxy-authenticate: Basic\r\n", "who are you?");
    let proxy = Loopback::start([refusal(), refusal()]).await;
    for variable in ["HTTP_PROXY", "ALL_PROXY"] {
        let address = proxy.address.to_string();
        let network = Network::from_env(|name| (name == variable).then(|| address.clone()));
        let words = say("http://model.test/v1", network).await.unwrap_err().to_string();
        let expected = format!("the proxy that {variable} names wants a user and a password (407)");
        assert!(words.starts_with(&expected), "{words}");
    }
    assert_eq!(proxy.requests().len(), 2);
}

#[tokio::test]
async fn the_cache_key_is_sent_only_to_whom_it_is_known_to_be_known() {
    let proxy = Loopback::start((0..8).map(|_| whole(400, "", "no"))).await;
    for protocol in [Protocol::Chat, Protocol::Responses] {
        for (url, takes) in [
            ("http://api.openai.com/v1", true),
            ("http://own.openai.azure.com/openai/v1", true),
            ("http://gateway.test/v1", false),
            ("http://notopenai.com/v1", false),
        ] {
            let mut config = ServerConfig::new(protocol, "gpt-5");
            config.base_url = url.to_owned();
            config.key_var = None;
            let network =
                Network { http_proxy: Some(proxy.address.to_string()), ..Network::default() };
            let model = ServerModel::new(config, Http::over(network)).unwrap();
            read(ask(&model)).await.1.unwrap_err();
            let request = proxy.requests().pop().unwrap();
            assert_eq!(request.contains("\"prompt_cache_key\":\"ropewalk-"), takes, "{url}");
        }
    }
}

#[tokio::test]
async fn a_file_of_certificates_that_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let (empty, broken) = (folder.path().join("empty"), folder.path().join("broken"));
    std::fs::write(&empty, "no certificate\n").unwrap();
    std::fs::write(&broken, "-----BEGIN CERTIFICATE-----\nü\n-----END CERTIFICATE-----\n").unwrap();
    for (file, expected) in [
        (empty, "holds no certificate"),
        (broken, "broken: "),
        (folder.path().join("none"), "No such file"),
    ] {
        let network = Network { ca_file: Some(file), ..Network::default() };
        let words = say("https://127.0.0.1:1", network).await.unwrap_err().to_string();
        assert!(words.contains(expected) && words.contains("correct it"), "{words}");
    }
}

#[tokio::test]
async fn http2_takes_all_requests_over_one_connection() {
    let server = Secure::start("127.0.0.1", true, Vec::new()).await;
    let network = Network { ca_file: server.ca_file(), ..Network::default() };
    let mut config = ServerConfig::new(PROTOCOL, "m");
    config.base_url = server.url();
    config.parallel = Some(8);
    let model = ServerModel::new(config, Http::over(network)).unwrap();
    assert_eq!(read(ask(&model)).await.1.unwrap().text(), "good");
    let all = futures::future::join_all((0..8).map(|_| read(ask(&model)))).await;
    assert!(all.into_iter().all(|(_, reply)| reply.unwrap().text() == "good"));
    assert_eq!(server.requests(), ["HTTP/2.0"; 9]);
    assert_eq!(server.seen.accepted.load(Ordering::SeqCst), 1);
}

/// A proxy that takes every tunnel to `target`; with `login`, only those who know it.
struct Tunnel {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

async fn tunnel(target: SocketAddr, login: Option<&'static str>) -> Tunnel {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let shared = heads.clone();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let shared = shared.clone();
            tokio::spawn(async move {
                let Some(head) = read_request(&mut socket).await else { return };
                let known = login.is_none_or(|login| head.contains(login));
                shared.lock().unwrap().push(head);
                if !known {
                    let refusal =
                        b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
                    let _ = socket.write_all(refusal).await;
                    return;
                }
                let mut target = tokio::net::TcpStream::connect(target).await.unwrap();
                socket.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut socket, &mut target).await;
            });
        }
    });
    Tunnel { address, heads }
}

#[tokio::test]
async fn https_goes_through_a_tunnel_that_sees_no_key() {
    let server = Secure::start("model.test", false, vec![good(PROTOCOL)]).await;
    // `user:hidden`, as it is sent.
    let proxy = tunnel(server.address, Some("dXNlcjpoaWRkZW4=")).await;
    let named = |login: &str| Network {
        https_proxy: Some(format!("http://{login}{}", proxy.address)),
        ca_file: server.ca_file(),
        ..Network::default()
    };
    let network = named("user:hidden@");
    assert!(!format!("{network:?}").contains("hidden"));
    assert_eq!(say("https://model.test", network).await.unwrap(), "good");
    let head = proxy.heads.lock().unwrap()[0].clone();
    assert!(head.starts_with("CONNECT model.test:443 ") && !head.contains(KEY), "{head}");

    let words = say("https://model.test", named("user:wrong@")).await.unwrap_err().to_string();
    let expected = "the proxy that HTTPS_PROXY names wants a user and a password (407)";
    assert!(words.starts_with(expected) && !words.contains("wrong"), "{words}");
    assert_eq!(proxy.heads.lock().unwrap().len(), 2, "it is not tried again");
}

#[tokio::test]
async fn http_goes_through_its_proxy_and_this_machine_through_none() {
    let proxy = Loopback::start([good(PROTOCOL), good(PROTOCOL)]).await;
    let env = |name: &str| match name {
        "http_proxy" => Some(proxy.address.to_string()),
        "HTTP_PROXY" => Some("http://127.0.0.1:1".to_owned()),
        "HTTPS_PROXY" => Some(" ".to_owned()),
        "NO_PROXY" => Some(format!("other.test,{}.test", "x".repeat(64))),
        _ => None,
    };
    assert_eq!(say("http://model.test/v1", Network::from_env(env)).await.unwrap(), "good");
    let request = &proxy.requests()[0];
    assert!(request.starts_with("POST http://model.test/v1/responses HTTP/1.1\r\n"), "{request}");

    // Too long a name to be looked up: only a proxy could know it.
    let unproxied = say(&format!("http://{}.test", "x".repeat(64)), Network::from_env(env)).await;
    assert!(matches!(&unproxied, Err(ModelError::Unreachable { .. })), "{unproxied:?}");

    let here = Loopback::start([good(PROTOCOL), good(PROTOCOL)]).await;
    for url in [here.url(), format!("http://localhost:{}", here.address.port())] {
        assert_eq!(say(&url, Network::from_env(env)).await.unwrap(), "good");
    }
    assert_eq!(proxy.requests().len(), 1);
}

#[tokio::test]
async fn proxies_that_are_none() {
    let network =
        |proxy: &str| Network { https_proxy: Some(proxy.to_owned()), ..Network::default() };
    for proxy in ["socks5://me:hidden@127.0.0.1:1", "http://", "http://me:hidden@:99999", "ftp://x"]
    {
        let error = say("https://model.test", network(proxy)).await.unwrap_err();
        let words = error.to_string();
        assert!(words.starts_with("HTTPS_PROXY cannot be used ("), "{proxy}: {words}");
        assert!(!words.contains("hidden"), "{words}");
    }
    let gone =
        say("https://model.test", network("http://me:hidden@127.0.0.1:1")).await.unwrap_err();
    let words = gone.to_string();
    assert!(
        words.starts_with("model.test cannot be reached (") && words.contains("HTTPS_PROXY"),
        "{words}"
    );
    assert!(!words.contains("hidden"), "{words}");
}

#[test]
fn the_environment_is_read_as_everywhere() {
    let network = Network::from_env(|name| {
        matches!(name, "ALL_PROXY" | "no_proxy" | "http_proxy").then(|| name.to_owned())
    });
    assert_eq!(network.https_proxy.as_deref(), Some("ALL_PROXY"));
    assert_eq!(network.http_proxy.as_deref(), Some("http_proxy"));
    assert_eq!(network.no_proxy.as_deref(), Some("no_proxy"));
    assert_eq!(Network::from_env(|_| None), Network::default());
}
