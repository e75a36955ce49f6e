//! The requests and notifications of LSP, each handed on and answered.
//!
//! `initialize` completes in its first poll, and no request waits for the client.

use crate::client::{ClientFacts, read_options};
use crate::commands;
use crate::convert::{
    change_from_lsp, coordinates, declared_by, encoding_of, encoding_to_lsp, root_from_folder,
    roots_of,
};
use crate::requests;
use crate::serve::Documents;
use crate::state::State;
use futures::FutureExt;
use ropewalk_host::HostOptions;
use ropewalk_protocol::Op;
use ropewalk_workspace::{DocId, Habits};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types as lsp;
use tower_lsp::{Client, ClientSocket, LanguageServer, LspService};

/// See the module.
pub struct Backend {
    pub(crate) state: Arc<State>,
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Backend")
    }
}

/// The service for [`serve`](crate::serve::serve).
pub fn service(options: HostOptions) -> (LspService<Backend>, ClientSocket) {
    LspService::build(|client| Backend::new(client, options))
        .custom_method("window/workDoneProgress/cancel", Backend::cancel_progress)
        .custom_method("ropewalk/hunk", Backend::hunk)
        .custom_method("ropewalk/document", Backend::document)
        .custom_method("ropewalk/history", Backend::history)
        .custom_method("ropewalk/result", Backend::result)
        .custom_method("ropewalk/complete", Backend::complete)
        .finish()
}

impl Backend {
    fn new(client: Client, options: HostOptions) -> Self {
        Self { state: Arc::new(State::new(client, options)) }
    }

    /// The cancel button of a turn's progress is an interrupt.
    async fn cancel_progress(&self, params: lsp::WorkDoneProgressCancelParams) {
        let lsp::ProgressToken::String(token) = params.token else { return };
        let is_of = |session: &String| token.starts_with(&format!("ropewalk/{session}/"));
        let own = self.state.current().filter(is_of);
        if let Some(session) = own.or_else(|| self.state.teammates.session_of_token(&token)) {
            // One that was left meanwhile is stopped already.
            let _ = self.state.ask(Some(session), Op::Interrupt(None)).await;
        }
    }

    async fn hunk(&self, argument: Value) -> Result<Value> {
        requests::hunk(&self.state, argument)
    }

    async fn document(&self, argument: Value) -> Result<Value> {
        requests::document(&self.state, argument).await
    }

    async fn history(&self, argument: Value) -> Result<Value> {
        requests::history(&self.state, argument).await
    }

    async fn result(&self, argument: Value) -> Result<Value> {
        requests::result(&self.state, argument).await
    }

    async fn complete(&self, argument: Value) -> Result<Value> {
        requests::complete(&self.state, argument).await
    }

    /// Has what is shown follow a document that was opened or closed.
    fn follow(&self) {
        self.state.reopened.store(true, Ordering::Relaxed);
        self.state.moved.notify_one();
    }

    /// Has the host read the configuration, beside the handlers, and tells what is new in it.
    fn configure(&self) {
        let state = self.state.clone();
        tokio::spawn(
            async move {
                let news = state.host.configure().await;
                crate::show::tell_news(&state, news);
            }
            .boxed(),
        );
    }

    /// Says that nobody knows any more what a document holds, and how that ends.
    fn tell_lost(&self, uri: &str) {
        let file = self.state.workspace.name(&DocId::from_uri(uri));
        let words = format!(
            "Ropewalk: a change of {file} could not be read, so it is left alone. Save it, or close it and open it again."
        );
        crate::show::tell(&self.state, lsp::MessageType::WARNING, words);
    }

    /// Compares a document with the disk, beside the handlers.
    fn look(&self, id: DocId, saved: bool) {
        let state = self.state.clone();
        tokio::task::spawn_blocking(move || {
            if !saved {
                state.workspace.look_at_disk(&id);
            } else if state.workspace.look_after_save(&id) {
                tracing::warn!(
                    document = id.as_str(),
                    "saved, but the disk does not hold what we know: desync alarm"
                );
            }
            if saved {
                state.host.saved();
            }
        });
    }
}

#[tower_lsp::async_trait]
impl LanguageServer for Backend {
    async fn initialize(&self, params: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
        let habits = Habits::of(params.client_info.as_ref().map(|client| client.name.as_str()));
        let (options, problems) = read_options(params.initialization_options.as_ref());
        let mut declared = declared_by(&params.capabilities);
        declared.apply_edit |= options.edits;
        let habits = habits.declaring(declared);
        let habits = if options.checked_edits { habits.vouching() } else { habits };
        let encoding = encoding_of(&params.capabilities);
        self.state.workspace.set_client(coordinates(encoding, habits.line_ends), habits);
        let window = params.capabilities.window.as_ref();
        let workspace = params.capabilities.workspace.as_ref();
        let documents = params.capabilities.text_document.as_ref();
        let facts = ClientFacts {
            options,
            habits: Some(habits),
            progress: window.and_then(|window| window.work_done_progress).unwrap_or(false),
            shows_documents: window
                .and_then(|window| window.show_document.as_ref())
                .is_some_and(|it| it.support),
            configuration: workspace.and_then(|workspace| workspace.configuration).unwrap_or(false),
            lens_refresh: workspace
                .and_then(|workspace| workspace.code_lens.as_ref()?.refresh_support)
                .unwrap_or(false),
            code_action_literals: documents
                .and_then(|documents| documents.code_action.as_ref())
                .is_some_and(|it| it.code_action_literal_support.is_some()),
        };
        let roots = roots_of(&params);
        self.state.set_facts(facts, problems, params.initialization_options, roots);
        let events = self.state.host.subscribe();
        tokio::spawn(crate::show::show_events(self.state.clone(), events).boxed());
        tokio::spawn(crate::show::follow_moves(self.state.clone()).boxed());
        tokio::spawn(crate::chat::keep(self.state.clone()).boxed());
        Ok(lsp::InitializeResult {
            capabilities: lsp::ServerCapabilities {
                completion_provider: self.state.has_chat().then(crate::chat::completion_provider),
                ..capabilities(encoding_to_lsp(encoding), &facts, habits)
            },
            server_info: Some(lsp::ServerInfo {
                name: "ropewalk".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        })
    }

    async fn initialized(&self, _: lsp::InitializedParams) {
        tokio::spawn(crate::greet::greet(self.state.clone()).boxed());
    }

    async fn shutdown(&self) -> Result<()> {
        self.state.leave();
        // Without a session there is nothing to stop.
        let _ = self.state.ask(None, Op::Interrupt(None)).await;
        Ok(())
    }

    async fn did_change_workspace_folders(&self, params: lsp::DidChangeWorkspaceFoldersParams) {
        let roots = self.state.workspace.roots();
        let removed: Vec<_> = params.event.removed.iter().filter_map(root_from_folder).collect();
        let mut now: Vec<_> = roots
            .iter()
            .map(|root| (root.name().to_owned(), root.given().to_owned()))
            .filter(|(_, path)| !removed.iter().any(|(_, gone)| gone == path))
            .collect();
        now.extend(params.event.added.iter().filter_map(root_from_folder));
        self.state.host.set_folders(now);
        // Another root may bring a configuration of its own.
        self.configure();
    }

    async fn did_change_configuration(&self, params: lsp::DidChangeConfigurationParams) {
        self.state.host.set_client_settings(params.settings);
        self.configure();
    }

    async fn execute_command(&self, params: lsp::ExecuteCommandParams) -> Result<Option<Value>> {
        commands::execute(&self.state, params).await.map(Some)
    }

    async fn code_action(
        &self,
        params: lsp::CodeActionParams,
    ) -> Result<Option<lsp::CodeActionResponse>> {
        let literals = self.state.facts().code_action_literals;
        let offered = |action: lsp::CodeAction| match literals {
            true => Some(lsp::CodeActionOrCommand::CodeAction(action)),
            false => action.command.map(lsp::CodeActionOrCommand::Command),
        };
        Ok(Some(self.state.actions(&params).into_iter().filter_map(offered).collect()))
    }

    async fn completion(
        &self,
        params: lsp::CompletionParams,
    ) -> Result<Option<lsp::CompletionResponse>> {
        crate::chat::complete(&self.state, params).await
    }

    async fn code_lens(&self, params: lsp::CodeLensParams) -> Result<Option<Vec<lsp::CodeLens>>> {
        Ok(Some(self.state.lenses(&params.text_document.uri)))
    }

    /// Empty: the provider is there for the flush that a refresh brings about (see `Habits::barrier`).
    async fn semantic_tokens_full(
        &self,
        _: lsp::SemanticTokensParams,
    ) -> Result<Option<lsp::SemanticTokensResult>> {
        Ok(Some(lsp::SemanticTokensResult::Tokens(lsp::SemanticTokens {
            result_id: None,
            data: Vec::new(),
        })))
    }
}

impl Documents for Backend {
    fn opened(&self, params: lsp::DidOpenTextDocumentParams, spelling: &str) {
        let document = params.text_document;
        let id = self.state.workspace.open_as(
            DocId::from_uri(document.uri.as_str()),
            spelling,
            &document.language_id,
            document.version,
            &document.text,
        );
        self.state.desk.note_looked(&id);
        self.state.chat.note_opened(&id);
        self.follow();
        self.look(id, false);
    }

    fn changed(&self, params: lsp::DidChangeTextDocumentParams) {
        let document = params.text_document;
        let changes: Vec<_> = params.content_changes.into_iter().map(change_from_lsp).collect();
        match self.state.workspace.change(document.uri.as_str(), document.version, &changes) {
            Some(changed) if changed.desync_alarms > 0 => {
                tracing::warn!(document = %document.uri, "a position outside the text or a reversed range: desync alarm");
                if changed.lost {
                    self.tell_lost(document.uri.as_str());
                }
            }
            Some(_) => {}
            None => {
                tracing::warn!(document = %document.uri, "didChange of a document that is not open")
            }
        }
        self.state.moved.notify_one();
    }

    fn unread(&self, uri: Option<&str>) {
        if self.state.workspace.lose_track(uri)
            && let Some(uri) = uri
        {
            self.tell_lost(uri);
        }
        self.state.moved.notify_one();
    }

    fn saved(&self, params: lsp::DidSaveTextDocumentParams) {
        let id = DocId::from_uri(params.text_document.uri.as_str());
        self.state.workspace.written(&id);
        if self.state.workspace.is_in_doubt(&id) {
            // Before anything else is heard of it, which would be of the text that the editor has; it may wait for 150 ms.
            self.state.workspace.look_after_save(&id);
            self.state.moved.notify_one();
        }
        self.look(id, true);
    }

    fn closed(&self, params: lsp::DidCloseTextDocumentParams) {
        self.state.workspace.close(params.text_document.uri.as_str());
        self.follow();
    }
}

/// Capabilities of this server, and nothing else.
fn capabilities(
    encoding: lsp::PositionEncodingKind,
    facts: &ClientFacts,
    habits: Habits,
) -> lsp::ServerCapabilities {
    lsp::ServerCapabilities {
        position_encoding: Some(encoding),
        text_document_sync: Some(lsp::TextDocumentSyncCapability::Options(
            lsp::TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(lsp::TextDocumentSyncKind::INCREMENTAL),
                save: Some(lsp::TextDocumentSyncSaveOptions::SaveOptions(lsp::SaveOptions {
                    include_text: Some(false),
                })),
                ..lsp::TextDocumentSyncOptions::default()
            },
        )),
        execute_command_provider: Some(lsp::ExecuteCommandOptions {
            commands: commands::names(),
            ..lsp::ExecuteCommandOptions::default()
        }),
        code_action_provider: Some(lsp::CodeActionProviderCapability::Options(
            lsp::CodeActionOptions {
                code_action_kinds: Some(vec![
                    lsp::CodeActionKind::QUICKFIX,
                    lsp::CodeActionKind::REFACTOR,
                ]),
                ..lsp::CodeActionOptions::default()
            },
        )),
        code_lens_provider: (habits.lenses && !facts.options.draws_hunks)
            .then_some(lsp::CodeLensOptions { resolve_provider: Some(false) }),
        semantic_tokens_provider: habits.barrier.then(|| {
            lsp::SemanticTokensServerCapabilities::SemanticTokensOptions(
                lsp::SemanticTokensOptions {
                    legend: lsp::SemanticTokensLegend {
                        token_types: Vec::new(),
                        token_modifiers: Vec::new(),
                    },
                    full: Some(lsp::SemanticTokensFullOptions::Bool(true)),
                    ..lsp::SemanticTokensOptions::default()
                },
            )
        }),
        workspace: Some(lsp::WorkspaceServerCapabilities {
            workspace_folders: Some(lsp::WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(lsp::OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        ..lsp::ServerCapabilities::default()
    }
}
