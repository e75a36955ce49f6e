//! The question for a server's models: one request or a few, without spending tokens. A server that is not there is a usual
//! answer.

use super::{
    Listing, ModelListing, ServerKind,
    forms::{listed, models, next_page, tokens},
};
use crate::{Http, ModelError, catalogue::is_known_server, exchange::host_of, http::is_loopback};
use futures::future::BoxFuture;
use reqwest::{
    Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;

/// How long an answer of this machine may take.
const PATIENCE_HERE: Duration = Duration::from_secs(2);
/// How long an answer from elsewhere may take.
const PATIENCE_ELSEWHERE: Duration = Duration::from_secs(10);
/// The longest answer that is read, in bytes.
const MOST_BYTES: usize = 8 << 20;
/// The most pages of a list that are read.
const MOST_PAGES: usize = 20;
/// The models of Ollama that are asked, each by itself, which context they set.
const MOST_SHOWN: usize = 50;
/// Gemini's header for a key, at its own addresses.
const GEMINI_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// Words on a server that answers, and has no list.
pub(super) const NO_LIST: &str = "it has no list of models";

/// The server to ask, and how.
#[derive(Clone)]
pub(crate) struct ListQuestion {
    pub(crate) http: Http,
    /// The address of its list, which ends in `/models`.
    pub(crate) url: Url,
    /// The headers of a request to a model, with its key.
    pub(crate) headers: HeaderMap,
}

impl ListQuestion {
    /// An address beside the version: `/v1/models` and `/props` give `/props`.
    fn beside(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        let base = url.path().strip_suffix("/models").unwrap_or(url.path()).trim_end_matches('/');
        let root = format!("{}{path}", base.strip_suffix("/v1").unwrap_or(base));
        url.set_path(&root);
        url
    }

    /// The server's models, in its order. With a `model`, no other one is asked for what only it can tell.
    ///
    /// # Errors
    /// [`ModelError::Unreachable`], [`ModelError::BadKey`], [`ModelError::NotAModelServer`], [`ModelError::BadUrl`].
    pub(crate) fn ask<'a>(
        &'a self,
        model: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Listing, ModelError>> {
        Box::pin(async move {
            let mut listing = self.ask_for_names().await?;
            let is_told = listing.models.iter().any(|model| model.context.is_some());
            if !is_known_server(self.url.as_str())
                && (!is_told || listing.kind == ServerKind::LlamaCpp)
            {
                self.ask_for_contexts(&mut listing).await;
            }
            if listing.kind == ServerKind::Ollama {
                self.ask_ollama(&mut listing, model).await;
            }
            Ok(listing)
        })
    }

    /// All pages of the list.
    async fn ask_for_names(&self) -> Result<Listing, ModelError> {
        let (mut kind, mut found) = (ServerKind::Other, Vec::new());
        let (mut url, headers) = self.first_page();
        for _ in 0..MOST_PAGES {
            let answer = match self.get(url.clone(), &headers, None).await {
                Ok(answer) => answer,
                // Older Ollamas have only their own list.
                Err(ModelError::NotAModelServer { host, why })
                    if found.is_empty() && why == NO_LIST =>
                {
                    kind = ServerKind::Ollama;
                    let tags = self.at("/api/tags").await;
                    tags.map_err(|_| ModelError::NotAModelServer { host, why })?
                }
                Err(error) => return Err(error),
            };
            let list = models(&answer);
            if list.iter().any(|model| model.pointer("/meta/n_ctx_train").is_some()) {
                kind = ServerKind::LlamaCpp;
            }
            found.extend(list.into_iter().filter_map(listed));
            match next_page(&url, &answer) {
                Some(next) => url = next,
                None => break,
            }
        }
        Ok(Listing { kind, models: found, supports_tools: None })
    }

    /// The first page, and the headers to ask with. Gemini tells the limits of its models at its own address alone.
    fn first_page(&self) -> (Url, HeaderMap) {
        let (mut url, mut headers) = (self.url.clone(), self.headers.clone());
        headers.remove(CONTENT_TYPE);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if headers.contains_key("anthropic-version") {
            url.query_pairs_mut().append_pair("limit", "1000");
        }
        let key =
            headers.get(AUTHORIZATION).and_then(|it| it.to_str().ok()?.strip_prefix("Bearer "));
        let is_gemini = url.host_str() == Some("generativelanguage.googleapis.com");
        let base = url.path().strip_suffix("/openai/models").map(str::to_owned);
        if let (true, Some(base), Some(key)) = (is_gemini, base, key)
            && let Ok(mut key) = HeaderValue::from_str(key)
        {
            key.set_sensitive(true);
            headers.insert(GEMINI_KEY, key);
            headers.remove(AUTHORIZATION);
            url.set_path(&format!("{base}/models"));
            url.query_pairs_mut().append_pair("pageSize", "1000");
        }
        (url, headers)
    }

    /// Asks for contexts where the kind of the server has an address for them.
    async fn ask_for_contexts(&self, listing: &mut Listing) {
        // A loaded model has a context: llama.cpp says it for all, the others for each.
        let props = self.at("/props").await.unwrap_or_default();
        let number = |place: &str| props.pointer(place).and_then(tokens);
        let whole = number("/default_generation_settings/n_ctx").or_else(|| number("/n_ctx"));
        if listing.kind == ServerKind::LlamaCpp || whole.is_some() {
            listing.kind = ServerKind::LlamaCpp;
            listing.supports_tools =
                props.pointer("/chat_template_caps/supports_tools").and_then(Value::as_bool);
            let trained = number("/n_ctx_train")
                .or_else(|| number("/default_generation_settings/n_ctx_train"));
            for model in &mut listing.models {
                model.trained = model.trained.or(trained);
                model.context = model.context.or(whole);
            }
            return;
        }
        let others = [
            ("/api/ps", ServerKind::Ollama),
            ("/api/v0/models", ServerKind::LmStudio),
            // LiteLLM's.
            ("/model/info", ServerKind::Other),
        ];
        for (path, kind) in others {
            let Ok(answer) = self.at(path).await else { continue };
            listing.kind = kind;
            for other in models(&answer).into_iter().filter_map(listed) {
                if let Some(model) = listing.models.iter_mut().find(|it| it.name == other.name) {
                    let ModelListing { context, trained, output, images, .. } = other;
                    model.context = context.or(model.context);
                    model.trained = trained.or(model.trained);
                    model.output = output.or(model.output);
                    model.images = images.or(model.images);
                }
            }
            break;
        }
    }

    /// Asks Ollama's models which context they set themselves, whatever the server's default is.
    async fn ask_ollama(&self, listing: &mut Listing, model: Option<&str>) {
        let wanted = model.and_then(|model| listing.find(model)).map(|it| it.name.clone());
        let is_wanted =
            |it: &&mut ModelListing| wanted.as_ref().is_none_or(|name| it.name == *name);
        let unknown = listing.models.iter_mut().filter(|it| it.context.is_none()).filter(is_wanted);
        let asking = unknown.take(MOST_SHOWN).map(async |model| {
            let body = serde_json::json!({ "model": model.name });
            let Ok(shown) = self.ask_at("/api/show", Some(body)).await else { return };
            // A line for each parameter: its name, spaces, its value.
            let lines = shown.get("parameters").and_then(Value::as_str).unwrap_or_default().lines();
            let mut values = lines
                .filter_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse::<u32>().ok());
            model.context = values.find(|tokens| *tokens > 0);
            model.sets_context = model.context.is_some();
        });
        futures::future::join_all(asking).await;
    }

    /// Asks by GET for a path behind the address without the version.
    async fn at(&self, path: &str) -> Result<Value, ModelError> {
        self.ask_at(path, None).await
    }

    async fn ask_at(&self, path: &str, body: Option<Value>) -> Result<Value, ModelError> {
        self.get(self.beside(path), &self.headers, body).await
    }

    /// Asks by GET, or by POST with a body.
    async fn get(
        &self,
        url: Url,
        headers: &HeaderMap,
        body: Option<Value>,
    ) -> Result<Value, ModelError> {
        let host = host_of(&url);
        let stranger =
            |why: &str| ModelError::NotAModelServer { host: host.clone(), why: why.to_owned() };
        let unreachable =
            |why: &str| ModelError::Unreachable { host: host.clone(), why: why.to_owned() };
        let (patience, no_connection) = match is_loopback(&url) {
            true => (PATIENCE_HERE, "nothing listens there"),
            false => (PATIENCE_ELSEWHERE, "no connection"),
        };
        let client = self.http.client(&url)?;
        let request = match body {
            Some(body) => client.post(url).body(body.to_string()),
            None => client.get(url),
        };
        let request = request.headers(headers.clone());
        let asking = async {
            let mut response = request.send().await.map_err(|error| {
                unreachable(if error.is_connect() { no_connection } else { "no answer" })
            })?;
            match response.status().as_u16() {
                200..=299 => {}
                401 | 403 => return Err(ModelError::BadKey { host: host.clone() }),
                404 | 405 | 501 => return Err(stranger(NO_LIST)),
                status => return Err(unreachable(&format!("it answers {status}"))),
            }
            let mut body = Vec::new();
            while let Some(chunk) =
                response.chunk().await.map_err(|_| stranger("its list is cut off"))?
            {
                body.extend_from_slice(&chunk);
                if body.len() > MOST_BYTES {
                    return Err(stranger("its list of models has no end"));
                }
            }
            serde_json::from_slice(&body).map_err(|_| stranger("its list of models is no JSON"))
        };
        let no_answer = format!("no answer within {} s", patience.as_secs());
        timeout(patience, asking).await.unwrap_or_else(|_| Err(unreachable(&no_answer)))
    }
}
