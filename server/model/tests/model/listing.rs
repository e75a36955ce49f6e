//! The list of models of a server elsewhere: what a model knows by it, how long it is kept, and that nobody waits for it. A proxy
//! on this machine stands for the server.

use crate::loopback::{Act, KEY, Loopback, whole};
use futures::FutureExt;
use ropewalk_model::{Http, Model, ModelError, Network, Protocol, ServerConfig, ServerModel};
use ropewalk_protocol::ModelLimits;
use std::path::Path;

const LIST: &str = r#"{"data":[{"id":"m","context_length":50000,"max_completion_tokens":9000,"shutdown_date":"2027-01-31",
    "deprecation_replacement_model":"n","supports_image_in":true},{"id":"n"}]}"#;

fn listed() -> Vec<Act> {
    whole(200, "", LIST)
}

/// A model at a server elsewhere, behind `proxy`, whose list is kept in `folder`.
fn far(proxy: &Loopback, folder: &Path, change: impl FnOnce(&mut ServerConfig)) -> ServerModel {
    let mut config = proxy.config(Protocol::Chat);
    config.base_url = "http://models.test/v1".to_owned();
    config.lists = Some(folder.to_owned());
    change(&mut config);
    let network = Network { http_proxy: Some(proxy.address.to_string()), ..Network::default() };
    ServerModel::new(config, Http::over(network)).unwrap()
}

/// The file of the only list in a folder.
fn file(folder: &Path) -> std::path::PathBuf {
    let mut files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let file = files.next().unwrap();
    assert_eq!(files.next(), None, "one file for a server, and no draft");
    file
}

#[tokio::test]
async fn a_list_says_what_the_models_of_a_server_elsewhere_are_and_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let proxy = Loopback::start([listed()]).await;
    let model = far(&proxy, &state, |_| {});
    assert_eq!(model.limits(), ModelLimits::default(), "nothing is known yet");
    model.list().await.unwrap();
    let request = proxy.requests().remove(0);
    assert!(request.starts_with("GET http://models.test/v1/models HTTP/1.1"), "{request}");
    assert!(request.contains(KEY), "the key is sent");
    let limits = ModelLimits { context: Some(50_000), max_output: Some(9_000) };
    // Another process reads the file, and asks nobody.
    let later = far(&proxy, &state, |_| {});
    later.find_context().await;
    for model in [&model, &later] {
        assert_eq!(model.limits(), limits);
        let end = model.end_in_words("2027-01-01").unwrap();
        assert_eq!(end, "openai/m is served until 2027-01-31: set `model = \"openai/n\"`");
    }
    // The configuration counts before the list.
    let set = far(&proxy, &state, |config| config.limits.context = Some(60_000));
    assert_eq!(set.limits(), ModelLimits { context: Some(60_000), ..limits });
    assert_eq!(proxy.requests().len(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&state), mode(&file(&state))), (0o700, 0o600));
    }
}

#[tokio::test]
async fn nobody_waits_for_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let proxy = Loopback::start([]).await;
    let model = far(&proxy, folder.path(), |_| {});
    assert!(model.find_context().now_or_never().is_some());
    proxy.seen.hung.notified().await;
    assert_eq!(model.limits(), ModelLimits::default());
}

#[tokio::test]
async fn a_list_that_is_old_broken_or_another_servers_is_asked_for_anew() {
    let folder = tempfile::tempdir().unwrap();
    let proxy = Loopback::start((0..6).map(|_| listed())).await;
    far(&proxy, folder.path(), |_| {}).list().await.unwrap();
    let file = file(folder.path());
    let good: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let now = good["at"].as_u64().unwrap();
    let with = |name: &str, value: serde_json::Value| {
        let mut changed = good.clone();
        changed[name] = value;
        changed.to_string().into_bytes()
    };
    let day = 24 * 60 * 60;
    for (text, is_asked) in [
        (with("at", (now - day + 600).into()), false),
        (with("at", (now - day).into()), true),
        // Another clock's.
        (with("at", (now + day).into()), true),
        (with("at", u64::MAX.into()), true),
        (with("url", "other.test/v1/models".into()), true),
        (b"\xff{".to_vec(), true),
    ] {
        std::fs::write(&file, &text).unwrap();
        let before = proxy.requests().len();
        let list = far(&proxy, folder.path(), |_| {}).list().await.unwrap();
        assert_eq!(list.models.len(), 2);
        let text = String::from_utf8_lossy(&text).into_owned();
        assert_eq!(proxy.requests().len() - before, usize::from(is_asked), "{text}");
    }
}

#[tokio::test]
async fn a_server_without_a_list_is_asked_once_a_day_and_a_refused_key_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let proxy = Loopback::start([whole(404, "", "no"), whole(404, "", "no")]).await;
    for _ in 0..2 {
        let list = far(&proxy, folder.path(), |_| {}).list().await.unwrap();
        assert_eq!(list.models, []);
    }
    assert_eq!(proxy.requests().len(), 2, "the list, and that of an older Ollama");
    let folder = tempfile::tempdir().unwrap();
    let proxy = Loopback::start([whole(401, "", "no"), listed()]).await;
    let model = far(&proxy, folder.path(), |_| {});
    let refused = model.list().await;
    assert!(matches!(refused, Err(ModelError::BadKey { .. })), "{refused:?}");
    assert_eq!(model.list().await.unwrap().models.len(), 2);
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_costs_nothing_but_the_next_question() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let proxy = Loopback::start([listed(), listed()]).await;
    for _ in 0..2 {
        let model = far(&proxy, &blocked, |_| {});
        assert_eq!(model.list().await.unwrap().models.len(), 2);
        assert_eq!(model.limits().context, Some(50_000));
    }
    assert_eq!(proxy.requests().len(), 2);
}

#[tokio::test]
async fn all_pages_are_read_from_the_same_server() {
    let folder = tempfile::tempdir().unwrap();
    let page = |body: &str| whole(200, "", body);
    let proxy = Loopback::start([
        page(r#"{"data":[{"id":"a","context_length":9}],"links":{"next":"/v1/models?offset=1"}}"#),
        page(r#"{"data":[{"id":"b"}],"links":{"next":"http://other.test/v1/models"}}"#),
        page(r#"{"data":[{"id":"c","context_length":9}],"has_more":true,"last_id":"c"}"#),
        page(r#"{"data":[{"id":"d"}],"has_more":false,"last_id":"d"}"#),
    ])
    .await;
    let names = async |change: fn(&mut ServerConfig)| {
        let list = far(&proxy, folder.path(), change).list().await.unwrap();
        list.models.iter().map(|model| model.name.clone()).collect::<Vec<_>>()
    };
    let plain = |config: &mut ServerConfig| config.limits.context = Some(1);
    assert_eq!(names(plain).await, ["a", "b"]);
    let anthropic = |config: &mut ServerConfig| {
        config.protocol = Protocol::Anthropic;
        config.base_url = "http://claude.test".to_owned();
    };
    assert_eq!(names(anthropic).await, ["c", "d"]);
    let asked: Vec<String> =
        proxy.requests().iter().map(|it| it.lines().next().unwrap().to_owned()).collect();
    let line = |url: &str| format!("GET {url} HTTP/1.1");
    assert!(asked.contains(&line("http://models.test/v1/models?offset=1")), "{asked:?}");
    let second = "http://claude.test/v1/models?limit=1000&after_id=c";
    assert!(asked.contains(&line(second)), "{asked:?}");
}

#[tokio::test]
async fn a_failure_takes_no_list_away() {
    let folder = tempfile::tempdir().unwrap();
    let broken = whole(200, "", "{\"data\":[");
    let faults = [whole(503, "", "busy"), whole(429, "", "slow"), whole(400, "", "bad"), broken];
    let proxy = Loopback::start([vec![listed()], faults.to_vec()].concat()).await;
    far(&proxy, folder.path(), |_| {}).list().await.unwrap();
    let file = file(folder.path());
    let mut old: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    old["at"] = 1_000.into();
    for _ in faults {
        std::fs::write(&file, old.to_string()).unwrap();
        let model = far(&proxy, folder.path(), |_| {});
        assert!(model.list().await.is_err());
        assert_eq!(model.limits().context, Some(50_000), "yesterday's holds");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), old.to_string());
    }
    let keyless = far(&proxy, folder.path(), |config| config.key = None);
    assert!(matches!(keyless.list().await, Err(ModelError::MissingKey { .. })));
    assert_eq!(proxy.requests().len(), 5);
}

#[tokio::test]
async fn what_only_some_kinds_of_servers_tell_is_asked_for_beside_the_version() {
    let folder = tempfile::tempdir().unwrap();
    let proxy = Loopback::start([
        whole(200, "", r#"{"data":[{"id":"/models/any.gguf"}]}"#),
        whole(200, "", r#"{"default_generation_settings":{"n_ctx":8192}}"#),
    ])
    .await;
    let change = |config: &mut ServerConfig| {
        let (name, value) = ("api-version".to_owned(), "2026-10-01".to_owned());
        config.query = vec![ropewalk_model::Header { name, value }];
        config.model = "box".to_owned();
    };
    far(&proxy, folder.path(), change).list().await.unwrap();
    let asked: Vec<String> =
        proxy.requests().iter().map(|it| it.lines().next().unwrap().to_owned()).collect();
    let line = |path: &str| format!("GET http://models.test{path}?api-version=2026-10-01 HTTP/1.1");
    assert_eq!(asked, [line("/v1/models"), line("/props")]);
    // llama.cpp means its model by any name, in the next process too.
    assert_eq!(far(&proxy, folder.path(), change).limits().context, Some(8_192));
}
