//! The client as the workspace's [`Editor`].
//!
//! Each request runs in a task of its own, so that a late answer finds the task that sent it. All but edits are waited
//! for within a bound.

use crate::client::ClientFacts;
use crate::convert::{edit_to_lsp, position_to_lsp, rename_to_lsp, text_position};
use futures::FutureExt;
use futures::future::BoxFuture;
use ropewalk_protocol::TextRange;
use ropewalk_protocol::plugin::{
    DiagnosticLine, DiagnosticsRequest, DocumentName, DocumentPlace, PlaceRequest, SymbolPlace,
    SymbolsRequest,
};
use ropewalk_text::Position;
use ropewalk_text::plain::plain_line;
use ropewalk_workspace::editor::{EditorPlace, Places, SymbolSpot};
use ropewalk_workspace::{DocId, DocumentEdit, Editor, EditorError, FileRename, Habits, Workspace};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::oneshot;
use tower_lsp::Client;
use tower_lsp::lsp_types::request::{Request, SemanticTokensRefresh, WorkspaceConfiguration};
use tower_lsp::lsp_types::{ApplyWorkspaceEditResponse, ConfigurationParams};

/// How long a technical request may take.
const ANSWER: Duration = Duration::from_secs(10);
/// How long the flush barrier may take: a client that is slower is asked again before the next edit.
const BARRIER: Duration = Duration::from_secs(1);

/// `workspace/applyEdit`, whose URIs are spelled as the client does.
enum ApplyEdit {}

impl Request for ApplyEdit {
    type Params = serde_json::Value;
    type Result = ApplyWorkspaceEditResponse;
    const METHOD: &'static str = "workspace/applyEdit";
}

/// `ropewalk/save`: our plugins save a document.
pub(crate) enum Save {}

impl Request for Save {
    type Params = DocumentName;
    type Result = serde_json::Value;
    const METHOD: &'static str = "ropewalk/save";
}

/// `ropewalk/diagnostics`: our plugins give the diagnostics they show.
pub(crate) enum PluginDiagnostics {}

impl Request for PluginDiagnostics {
    type Params = DiagnosticsRequest;
    type Result = Vec<DiagnosticLine>;
    const METHOD: &'static str = "ropewalk/diagnostics";
}

/// `ropewalk/symbols`: our plugins ask their language servers.
pub(crate) enum PluginSymbols {}

impl Request for PluginSymbols {
    type Params = SymbolsRequest;
    type Result = Vec<SymbolPlace>;
    const METHOD: &'static str = "ropewalk/symbols";
}

/// `ropewalk/definition`.
pub(crate) enum PluginDefinition {}

impl Request for PluginDefinition {
    type Params = PlaceRequest;
    type Result = Vec<DocumentPlace>;
    const METHOD: &'static str = "ropewalk/definition";
}

/// `ropewalk/references`.
pub(crate) enum PluginReferences {}

impl Request for PluginReferences {
    type Params = PlaceRequest;
    type Result = Vec<DocumentPlace>;
    const METHOD: &'static str = "ropewalk/references";
}

fn symbol_place(symbol: SymbolPlace) -> EditorPlace {
    let SymbolPlace { uri, range, name, kind, container } = symbol;
    let container = container.map(|inside| format!(" in {inside}")).unwrap_or_default();
    let about = Some(format!("{kind} {name}{container}:"));
    EditorPlace { about, ..place(&uri, range) }
}

fn place(uri: &str, range: TextRange) -> EditorPlace {
    let start = Position::new(range.start.line, range.start.character);
    EditorPlace { doc: DocId::from_uri(uri), start, about: None }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct LspEditor {
    pub(crate) client: Client,
    /// For the client's spelling of documents.
    pub(crate) workspace: Arc<Workspace>,
    /// Facts that `initialize` has told.
    pub(crate) facts: Arc<OnceLock<ClientFacts>>,
}

impl LspEditor {
    fn facts(&self) -> ClientFacts {
        self.facts.get().copied().unwrap_or_default()
    }

    /// Asks about a symbol, in the text that the client has.
    fn places<R>(&self, spot: SymbolSpot) -> BoxFuture<'static, Places>
    where
        R: Request<Params = PlaceRequest, Result = Vec<DocumentPlace>> + 'static,
    {
        if !self.gives_knowledge() {
            return Box::pin(async { Err(NO_PLUGIN) });
        }
        let SymbolSpot { doc, text, byte } = spot;
        let open = self
            .workspace
            .with_document(&doc, |document| (document.text() == &text).then_some(document.version));
        let Some(version) = open.map_or(Some(None), |version| version.map(Some)) else {
            let why = "the user has changed the text meanwhile; read it again".to_owned();
            return Box::pin(async { Err(EditorError::Refused(why)) });
        };
        let position = self.workspace.coordinates().byte_to_position(&text, byte);
        let position = text_position(position_to_lsp(position));
        let uri = self.workspace.spelling(&doc);
        let answer = self.request::<R>(PlaceRequest { uri, version, position }, ANSWER);
        Box::pin(async move {
            Ok(answer.await?.into_iter().map(|found| place(&found.uri, found.range)).collect())
        })
    }

    fn request<R>(
        &self,
        params: R::Params,
        bound: Duration,
    ) -> BoxFuture<'static, Result<R::Result, EditorError>>
    where
        R: Request + 'static,
        R::Params: Send + 'static,
        R::Result: Send + 'static,
    {
        let client = self.client.clone();
        let asked = tokio::spawn(async move { client.send_request::<R>(params).await }.boxed());
        Box::pin(async move {
            match tokio::time::timeout(bound, asked).await {
                Err(_) => Err(EditorError::NoAnswer),
                Ok(Ok(Ok(answer))) => Ok(answer),
                Ok(Ok(Err(error))) => Err(EditorError::Refused(error.message.into_owned())),
                Ok(Err(error)) => Err(EditorError::Refused(error.to_string())),
            }
        })
    }
}

/// The most characters of a client's reason that are shown.
const REASON: usize = 200;

/// The client's answer to an edit. Its reason comes from outside: one plain line of it is kept.
fn made(answer: ApplyWorkspaceEditResponse) -> Result<(), EditorError> {
    if answer.applied {
        return Ok(());
    }
    let reason = plain_line(&answer.failure_reason.unwrap_or_default());
    Err(EditorError::Declined(reason.chars().take(REASON).collect()))
}

const NO_PLUGIN: EditorError =
    EditorError::Unsupported("it needs Ropewalk's plugin for this editor");

impl Editor for LspEditor {
    fn habits(&self) -> Habits {
        self.facts().habits.unwrap_or(Habits::UNKNOWN)
    }

    fn apply(&self, edit: DocumentEdit) -> BoxFuture<'static, Result<(), EditorError>> {
        let publish = edit.publish;
        let Some(params) = edit_to_lsp(edit, self.habits().edits) else {
            return Box::pin(async { Err(EditorError::Unsupported("it takes no edits")) });
        };
        let (client, workspace) = (self.client.clone(), self.workspace.clone());
        let (tell, answer) = oneshot::channel();
        let asked = async move {
            let answer = match client.send_request::<ApplyEdit>(params).await {
                Ok(answer) => made(answer),
                Err(error) => Err(EditorError::Refused(error.message.into_owned())),
            };
            // First, since who waits for it may have given up.
            if let Some(publish) = publish {
                workspace.answered(publish, answer.clone());
            }
            drop(tell.send(answer));
        };
        tokio::spawn(asked.boxed());
        Box::pin(async { answer.await.unwrap_or(Err(EditorError::NoAnswer)) })
    }

    fn rename(&self, rename: FileRename) -> BoxFuture<'static, Result<(), EditorError>> {
        let answer = self.request::<ApplyEdit>(rename_to_lsp(&rename), ANSWER);
        Box::pin(async move { made(answer.await?) })
    }

    fn barrier(&self) -> BoxFuture<'static, ()> {
        // Its help is seen by the changes that come; the edit is proved by its echo either way.
        if self.habits().barrier {
            let answer = self.request::<SemanticTokensRefresh>((), BARRIER);
            return Box::pin(async move { drop(answer.await) });
        }
        if !self.habits().checks_versions && self.facts().configuration {
            // Asks for nothing: the answer comes after every change that was sent before it.
            let nothing = ConfigurationParams { items: Vec::new() };
            let answer = self.request::<WorkspaceConfiguration>(nothing, BARRIER);
            return Box::pin(async move { drop(answer.await) });
        }
        Box::pin(async {})
    }

    fn save(&self, doc: DocId) -> BoxFuture<'static, Result<(), EditorError>> {
        if !self.facts().options.plugin {
            return Box::pin(async { Err(NO_PLUGIN) });
        }
        let uri = self.workspace.spelling(&doc);
        let answer = self.request::<Save>(DocumentName { uri }, ANSWER);
        Box::pin(async move { answer.await.map(drop) })
    }

    fn gives_knowledge(&self) -> bool {
        self.facts().options.knowledge
    }

    fn symbols(&self, query: String, doc: Option<DocId>) -> BoxFuture<'static, Places> {
        if !self.gives_knowledge() {
            return Box::pin(async { Err(NO_PLUGIN) });
        }
        let uri = doc.map(|doc| self.workspace.spelling(&doc));
        let answer = self.request::<PluginSymbols>(SymbolsRequest { query, uri }, ANSWER);
        Box::pin(async move { Ok(answer.await?.into_iter().map(symbol_place).collect()) })
    }

    fn definition(&self, spot: SymbolSpot) -> BoxFuture<'static, Places> {
        self.places::<PluginDefinition>(spot)
    }

    fn references(&self, spot: SymbolSpot) -> BoxFuture<'static, Places> {
        self.places::<PluginReferences>(spot)
    }

    fn gives_diagnostics(&self) -> bool {
        self.facts().options.plugin
    }

    fn diagnostics(&self, doc: Option<DocId>) -> BoxFuture<'static, Result<String, EditorError>> {
        if !self.facts().options.plugin {
            return Box::pin(async { Err(NO_PLUGIN) });
        }
        let uri = doc.map(|doc| self.workspace.spelling(&doc));
        let answer = self.request::<PluginDiagnostics>(DiagnosticsRequest { uri }, ANSWER);
        Box::pin(async move {
            let lines = answer.await?.into_iter().map(|line| {
                let source = line.source.map(|source| format!(" [{source}]")).unwrap_or_default();
                format!(
                    "{}:{}: {}: {}{source}",
                    line.uri,
                    line.line + 1,
                    line.severity,
                    line.message
                )
            });
            Ok(lines.collect::<Vec<_>>().join("\n"))
        })
    }
}
