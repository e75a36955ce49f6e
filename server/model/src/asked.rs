//! A model at a server whose key must be asked for first.
//!
//! It is a [`ServerModel`] that gets its key when it is first used. Who is asked, and how, is the business of
//! whoever made the [`LazyKey`].

use crate::{
    Delta, Http, Keys, LazyKey, Message, Model, ModelError, ModelRequest, Piece, Prelude,
    ServerConfig, ServerModel, ToolDeclaration,
};
use futures::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use ropewalk_protocol::{ModelLimits, Price};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// See the module. Cloning shares it.
#[derive(Clone)]
pub struct AskedModel(Arc<KeyedModel>);

struct KeyedModel {
    key: LazyKey,
    config: ServerConfig,
    http: Http,
    /// Without a key: it says what needs none.
    bare: ServerModel,
    keyed: OnceCell<ServerModel>,
}

impl AskedModel {
    /// A model whose key `key` will give; one in `config` is not used. Nothing is asked yet.
    ///
    /// # Errors
    /// Errors of [`ServerModel::new`].
    pub fn new(config: ServerConfig, key: LazyKey, http: Http) -> Result<AskedModel, ModelError> {
        let bare = ServerModel::new(ServerConfig { key: None, ..config.clone() }, http.clone())?;
        Ok(AskedModel(Arc::new(KeyedModel { key, config, http, bare, keyed: OnceCell::new() })))
    }
}

impl KeyedModel {
    async fn model(&self) -> Result<&ServerModel, ModelError> {
        let make = || async {
            let key = Some(self.key.get().await?.clone());
            ServerModel::new(ServerConfig { key, ..self.config.clone() }, self.http.clone())
        };
        self.keyed.get_or_try_init(make).await
    }
}

#[deny(clippy::missing_trait_methods)]
impl Model for AskedModel {
    fn name(&self) -> &str {
        self.0.bare.name()
    }

    fn limits(&self) -> ModelLimits {
        self.0.bare.limits()
    }

    fn thinking_tokens(&self) -> u32 {
        self.0.bare.thinking_tokens()
    }

    fn price(&self) -> Option<Price> {
        self.0.bare.price()
    }

    fn takes_printed_calls(&self) -> bool {
        self.0.bare.takes_printed_calls()
    }

    fn reads_calls_when(&self) -> Option<String> {
        self.0.bare.reads_calls_when()
    }

    fn lacks_tools(&self) -> Option<String> {
        self.0.bare.lacks_tools()
    }

    fn end_in_words(&self, today: &str) -> Option<String> {
        self.0.bare.end_in_words(today)
    }

    fn is_lean(&self) -> bool {
        self.0.bare.is_lean()
    }

    fn find_context(&self) -> BoxFuture<'static, ()> {
        self.0.bare.find_context()
    }

    fn more_context(&self) -> Option<String> {
        self.0.bare.more_context()
    }

    /// With the key itself once it is known.
    fn keys(&self) -> Keys {
        let known = self.0.key.known().map(|key| key.text());
        self.0.bare.keys().and(known)
    }

    fn ready(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        let asked = self.0.clone();
        async move { asked.key.get().await.map(|_| ()) }.boxed()
    }

    fn encode(&self, message: &Message) -> Piece {
        self.0.bare.encode(message)
    }

    fn encode_prelude(&self, system: &str, tools: &[ToolDeclaration]) -> Prelude {
        self.0.bare.encode_prelude(system, tools)
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Delta, ModelError>> {
        let asked = self.0.clone();
        stream::once(async move {
            match asked.model().await {
                Ok(model) => model.stream(request),
                Err(error) => stream::once(async { Err(error) }).boxed(),
            }
        })
        .flatten()
        .boxed()
    }

    fn probe(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        let asked = self.0.clone();
        async move { asked.model().await?.probe().await }.boxed()
    }
}
