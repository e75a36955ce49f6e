//! The toy: a server with one document and commands that wait, ask, talk and panic as a test wants.

use std::sync::{Arc, Mutex};

use ropewalk_lsp::serve::Documents;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::request::WorkspaceConfiguration;
use tower_lsp::lsp_types::*;
use tower_lsp::{Client, LanguageServer};

/// Params that can't be read without a panic.
pub(crate) struct Bomb;

impl<'de> serde::Deserialize<'de> for Bomb {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> std::result::Result<Self, D::Error> {
        panic!("reading params panics, as the test wants");
    }
}

/// State of the toy that a test sees and steers.
#[derive(Default)]
pub(crate) struct Shared {
    /// The one document, ASCII in one line but where a test says otherwise.
    pub(crate) text: Mutex<Vec<u16>>,
    /// The text at each save.
    pub(crate) saved: Mutex<Vec<Vec<u16>>>,
    /// The documents of notifications that could not be read, as far as they are known.
    pub(crate) unread: Mutex<Vec<Option<String>>>,
    /// Progress tokens the client has cancelled.
    pub(crate) cancelled: Mutex<Vec<ProgressToken>>,
    /// How many log messages were sent, or are on their way.
    pub(crate) said: Mutex<usize>,
}

pub(crate) struct Toy {
    pub(crate) client: Client,
    pub(crate) shared: Arc<Shared>,
    /// Gets the command of each handler that begins to wait.
    pub(crate) waiting: mpsc::UnboundedSender<String>,
    /// A waiting handler goes on when there is a permit.
    pub(crate) gate: Arc<Semaphore>,
}

impl Toy {
    async fn pass_gate(&self, command: &str) {
        self.waiting.send(command.to_owned()).unwrap();
        self.gate.acquire().await.unwrap().forget();
    }

    async fn say(&self, text: impl Into<String>) {
        *self.shared.said.lock().unwrap() += 1;
        self.client.log_message(MessageType::LOG, text.into()).await;
    }

    pub(crate) async fn cancel_progress(&self, params: WorkDoneProgressCancelParams) {
        self.shared.cancelled.lock().unwrap().push(params.token);
    }

    pub(crate) async fn explode(&self, _: Bomb) -> Result<()> {
        Ok(())
    }

    pub(crate) async fn panic_notified(&self, _: Value) {
        panic!("a notification's handler panics, as the test wants");
    }
}

#[tower_lsp::async_trait]
impl LanguageServer for Toy {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        if params.initialization_options == Some(json!("wait")) {
            self.pass_gate("initialize").await;
        }
        Ok(InitializeResult::default())
    }

    async fn initialized(&self, _: InitializedParams) {
        self.say("initialized").await;
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        let number = params.arguments.first().and_then(Value::as_u64).unwrap_or(0);
        match params.command.as_str() {
            "text" => {
                Ok(Some(json!(String::from_utf16(&self.shared.text.lock().unwrap()).unwrap())))
            }
            "length" => Ok(Some(json!(self.shared.text.lock().unwrap().len()))),
            "wait" => {
                self.pass_gate("wait").await;
                Ok(Some(json!(number)))
            }
            "ask" => {
                let items =
                    vec![ConfigurationItem { scope_uri: None, section: Some(number.to_string()) }];
                self.waiting.send("ask".into()).unwrap();
                let params = ConfigurationParams { items };
                let answers = self.client.send_request::<WorkspaceConfiguration>(params).await?;
                Ok(answers.into_iter().next())
            }
            "say" => {
                for count in 0..number {
                    self.say(count.to_string()).await;
                }
                Ok(None)
            }
            "long" => {
                tokio::task::yield_now().await;
                Ok(Some(json!("é".repeat(number as usize))))
            }
            "panic" => panic!("a handler panics, as the test wants"),
            "panic later" => {
                tokio::task::yield_now().await;
                panic!("a handler panics later, as the test wants");
            }
            "echo" => Ok(params.arguments.into_iter().next()),
            other => panic!("the toy knows no command {other}"),
        }
    }
}

impl Documents for Toy {
    fn opened(&self, params: DidOpenTextDocumentParams, _: &str) {
        assert_ne!(params.text_document.language_id, "panic", "as the test wants");
        *self.shared.text.lock().unwrap() = params.text_document.text.encode_utf16().collect();
    }

    fn changed(&self, params: DidChangeTextDocumentParams) {
        for change in params.content_changes {
            let mut text = self.shared.text.lock().unwrap();
            let range = change.range.map_or(0..text.len(), |range| {
                range.start.character as usize..range.end.character as usize
            });
            text.splice(range, change.text.encode_utf16());
        }
    }

    fn saved(&self, _: DidSaveTextDocumentParams) {
        let text = self.shared.text.lock().unwrap().clone();
        self.shared.saved.lock().unwrap().push(text);
    }

    fn closed(&self, _: DidCloseTextDocumentParams) {
        self.shared.text.lock().unwrap().clear();
    }

    fn unread(&self, uri: Option<&str>) {
        self.shared.unread.lock().unwrap().push(uri.map(str::to_owned));
    }
}
