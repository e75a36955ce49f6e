//! The way to a server: certificates, proxies, HTTP/2. Nothing here leaves this machine: a proxy takes
//! every name to the same server.
#![expect(clippy::unwrap_used, reason = "helpers of tests may be blunt, as tests are")]

mod loopback;

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Response, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use loopback::*;
use ropewalk_model::{Http, ModelError, Network, Protocol, ServerConfig, ServerModel};
use rustls::pki_types::PrivatePkcs8KeyDer;
use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex, atomic::Ordering},
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
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), made.cert.pem()).unwrap();
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key.into())
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
    config.retry.first_wait = std::time::Duration::from_millis(1);
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
    assert!(matches!(&error, ModelError::Untrusted { .. }), "{error:?}");
    assert_eq!(server.requests().len(), 0, "nothing is sent to it");
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
    assert!(words.contains("HTTPS_PROXY names a proxy") && !words.contains("wrong@"), "{words}");
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
