//! `ropewalk.send`: the draft of the conversation, or a selection in it, becomes a request.

use super::inbox::ChatEntry;
use super::page;
use crate::commands::{answer, read, run_slash};
use crate::convert::{invalid, range_to_lsp};
use crate::lock;
use crate::show::tell;
use crate::state::State;
use futures::future::BoxFuture;
use ropewalk_host::slash::Slash;
use ropewalk_protocol::command::{PromptTurn, SendArgument};
use ropewalk_protocol::{Content, Op, Prompt, Reply};
use ropewalk_workspace::DocId;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::MessageType;

/// Words to send, and what is put into the document for them.
struct ChatLetter {
    words: String,
    entry: ChatEntry,
}

/// See the module.
pub(crate) fn send(state: Arc<State>, argument: Value) -> BoxFuture<'static, Result<Value>> {
    Box::pin(async move {
        let wanted = "{ textDocument?: { uri, version? }, range?, queue? }";
        let SendArgument { text_document, range, queue } = read(argument, "", wanted)?;
        let id = match &text_document {
            Some(document) => Some(DocId::from_uri(&document.uri)).filter(DocId::is_conversation),
            None => state.chat_document(),
        };
        let Some(id) = id else {
            return Err(invalid("The conversation is not open: ropewalk.prompt opens it"));
        };
        state.chat.note_place(&id);
        let version = text_document.and_then(|document| document.version);
        let letter = match range.map(range_to_lsp) {
            Some(range) => selected(&state, &id, version, range)?,
            None => drafted(&state, &id)?,
        };
        let ChatLetter { words, entry } = letter;
        if words.is_empty() {
            return Err(invalid(
                "There is nothing to send: write below the last \"## You\", or select a text",
            ));
        }
        *lock(&state.chat.sent_from) = Some(id);
        state.chat.append(entry);
        match Slash::read(&words) {
            Some(slash) => run_slash(state, slash).await,
            None => ask(&state, words, queue).await,
        }
    })
}

/// The draft as it stands now.
fn drafted(state: &State, id: &DocId) -> Result<ChatLetter> {
    let found = state.workspace.with_document(id, |document| {
        let text = document.text().to_string();
        let draft = page::draft(&text)?;
        let words = text.get(draft.clone()).unwrap_or_default().to_owned();
        Ok(ChatLetter { words, entry: ChatEntry::Sent(draft.end, document.cursor()) })
    });
    found.unwrap_or_else(|| Err("The conversation is not open".to_owned())).map_err(invalid)
}

/// A selection, of which the page gets a copy; or the draft, if it is all of that.
fn selected(
    state: &State,
    id: &DocId,
    version: Option<i32>,
    range: tower_lsp::lsp_types::Range,
) -> Result<ChatLetter> {
    let Some((text, bytes)) = state.anchors.locate(id, version, range) else {
        return Err(invalid("The conversation is not open"));
    };
    let words = text.slice(bytes).trim().to_owned();
    match drafted(state, id) {
        Ok(draft) if draft.words == words => Ok(draft),
        _ => Ok(ChatLetter { entry: ChatEntry::Block(page::request(&words)), words }),
    }
}

/// Asks, or tells the running turn. A refusal stands on the page, since some clients show no answers.
async fn ask(state: &Arc<State>, words: String, queue: bool) -> Result<Value> {
    let content = vec![Content::text(words.clone())];
    let joins = !queue && state.chat.is_running.load(Ordering::Relaxed);
    if joins {
        lock(&state.chat.joined).push(words.clone());
        if state.ask(None, Op::Steer(content.clone())).await.is_ok() {
            return answer(PromptTurn::default());
        }
        lock(&state.chat.joined).pop();
    }
    lock(&state.chat.sent).push_back(words);
    state.desk.note_asked(None);
    match state.ask(None, Op::Prompt(Prompt { content, selection: None })).await {
        Ok(Reply::Turn(session, turn)) => {
            answer(PromptTurn { session: Some(session), turn: Some(turn), said: None })
        }
        Ok(_) => Ok(Value::Null),
        Err(error) => {
            lock(&state.chat.sent).pop_back();
            let said = error.message.into_owned();
            tell(state, MessageType::WARNING, said.clone());
            answer(PromptTurn { said: Some(said), ..PromptTurn::default() })
        }
    }
}
