//! A model at a server whose key must be asked for first.
//!
//! It is a [`ServerModel`] that gets its key when it is first used, and anew when the server refuses it. Who is asked, and how, is the business of
//! whoever made the [`LazyKey`].

use crate::{
    ApiKey, Delta, Http, Keys, LazyKey, Message, Model, ModelError, ModelRequest, Piece, Prelude,
    ServerConfig, ServerModel, ToolDeclaration, listing::Listing,
};
use futures::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use ropewalk_protocol::{ModelLimits, Price};
use std::sync::{Arc, Mutex, PoisonError};

/// A model at a server with a key that is asked for. Cloning shares it.
#[derive(Clone)]
pub struct AskedModel(Arc<KeyedModel>);

struct KeyedModel {
    key: LazyKey,
    /// Without a key: it says what needs none.
    bare: ServerModel,
    /// The model with the key that was given last.
    keyed: Mutex<Option<(ApiKey, ServerModel)>>,
}

impl AskedModel {
    /// A model whose key `key` will give; one in `config` is not used. Nothing is asked yet.
    ///
    /// # Errors
    /// Errors of [`ServerModel::new`].
    pub fn new(config: ServerConfig, key: LazyKey, http: Http) -> Result<AskedModel, ModelError> {
        let bare = ServerModel::new(ServerConfig { key: None, ..config }, http)?;
        Ok(AskedModel(Arc::new(KeyedModel { key, bare, keyed: Mutex::default() })))
    }
}

impl KeyedModel {
    /// The model with this key.
    fn with(&self, key: &ApiKey) -> Result<ServerModel, ModelError> {
        let mut keyed = self.keyed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, model)) = keyed.as_ref().filter(|(known, _)| known == key) {
            return Ok(model.clone());
        }
        let model = self.bare.with_key(key, "api_key_command")?;
        *keyed = Some((key.clone(), model.clone()));
        Ok(model)
    }

    /// The model with the key that is known, if any.
    fn known(&self) -> ServerModel {
        let key = self.key.known();
        key.and_then(|key| self.with(&key).ok()).unwrap_or_else(|| self.bare.clone())
    }

    /// The reply to a request.
    async fn ask(self: Arc<Self>, request: ModelRequest) -> Result<AskedReply, ModelError> {
        let key = self.key.get().await?;
        let stream = self.with(&key)?.stream(request.clone());
        Ok(AskedReply { asked: self, stream, again: Some((key, request)) })
    }
}

/// A reply that may be asked for once more with another key.
struct AskedReply {
    asked: Arc<KeyedModel>,
    stream: BoxStream<'static, Result<Delta, ModelError>>,
    /// The key and the request, until the reply has begun or was asked for again.
    again: Option<(ApiKey, ModelRequest)>,
}

impl AskedReply {
    /// The next delta. A server that refuses the key is asked once more if the key is another by now: tokens end.
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        loop {
            let next = self.stream.next().await;
            match &next {
                Some(Ok(Delta::Waiting { .. } | Delta::Retrying { .. })) => return next,
                Some(Err(ModelError::BadKey { .. } | ModelError::NotPermitted { .. })) => {}
                _ => self.again = None,
            }
            let Some((refused, request)) = self.again.take() else { return next };
            let key = match self.asked.key.renew(&refused).await {
                Ok(Some(key)) => key,
                Ok(None) => return next,
                Err(error) => return Some(Err(error)),
            };
            tracing::info!("the key was refused, and its command gives another");
            match self.asked.with(&key) {
                Ok(model) => self.stream = model.stream(request),
                Err(error) => return Some(Err(error)),
            }
        }
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

    fn learn_output(&self, most: Option<u32>) {
        self.0.bare.learn_output(most);
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

    /// It does not ask for the key.
    fn find_context(&self) -> BoxFuture<'static, ()> {
        self.0.known().find_context()
    }

    fn more_context(&self) -> Option<String> {
        self.0.bare.more_context()
    }

    /// It does not ask for the key: a server that wants one says so.
    fn list(&self) -> BoxFuture<'static, Result<Arc<Listing>, ModelError>> {
        self.0.known().list()
    }

    fn known_list(&self) -> Option<Arc<Listing>> {
        self.0.bare.known_list()
    }

    /// With the keys themselves once they are known.
    fn keys(&self) -> Keys {
        self.0.bare.keys().and_known(&self.0.key)
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
            match asked.ask(request).await {
                Ok(reply) => stream::unfold(reply, async |mut reply| {
                    reply.next().await.map(|delta| (delta, reply))
                })
                .boxed(),
                Err(error) => stream::once(async { Err(error) }).boxed(),
            }
        })
        .flatten()
        .boxed()
    }

    fn probe(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        let asked = self.0.clone();
        async move {
            let key = asked.key.get().await?;
            match asked.with(&key)?.probe().await {
                Err(refused @ ModelError::BadKey { .. }) => match asked.key.renew(&key).await? {
                    Some(key) => asked.with(&key)?.probe().await,
                    None => Err(refused),
                },
                answer => answer,
            }
        }
        .boxed()
    }
}
