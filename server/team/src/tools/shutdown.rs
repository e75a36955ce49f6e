//! `shutdown_request` and `shutdown_response`: the lead asks a teammate to stop, who agrees or says why not.

use super::{ending, titled, told};
use crate::owner::ToolOwner;
use futures::future::BoxFuture;
use ropewalk_board::{RequestKind, RequestState as State};
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// The lead asks.
pub(crate) struct ShutdownRequest(pub(crate) ToolOwner);

/// A teammate's name.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct Name {
    teammate: String,
}

impl TypedTool for ShutdownRequest {
    type Input = Name;
    const NAME: &'static str = "shutdown_request";
    const DESCRIPTION: &'static str =
        "Asks a teammate to shut down. It may refuse; the answer comes as a message.";
    const EFFECT: Effect = Effect::Session;

    fn subject(&self, input: &Name) -> Subject {
        titled(&input.teammate)
    }

    fn run(&self, input: Name, _: Context) -> BoxFuture<'static, ToolOutput> {
        let owner = self.0.clone();
        told(async move {
            let station = owner.station().await?;
            let name = input.teammate;
            if name == station.name() {
                return Err("the lead can't be shut down: the user ends its session".into());
            }
            let words = "Please shut down gracefully.";
            let id = station.membership.ask(RequestKind::Shutdown, &name, words).await?;
            let text = format!("Shutdown request {id} sent to '{name}' (status: pending)");
            Ok(ToolOutput::text(text))
        })
    }
}

/// The lead looks at what became of a request.
pub(crate) struct RequestQuery(pub(crate) ToolOwner);

/// A request's number.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct RequestNumber {
    request_id: i64,
}

impl TypedTool for RequestQuery {
    type Input = RequestNumber;
    const NAME: &'static str = "shutdown_response";
    const DESCRIPTION: &'static str = "Shows the state of a shutdown request.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, input: &RequestNumber) -> Subject {
        titled(input.request_id.to_string())
    }

    fn run(&self, input: RequestNumber, _: Context) -> BoxFuture<'static, ToolOutput> {
        let owner = self.0.clone();
        told(async move {
            let request = owner.station().await?.team().request(input.request_id).await?;
            let status = match request.state {
                State::Open => "pending",
                State::Approved => "approved",
                State::Refused => "rejected",
            };
            let state = json!({ "target": request.to, "status": status, "reason": request.answer });
            Ok(ToolOutput::text(state.to_string()))
        })
    }
}

/// The teammate answers.
pub(crate) struct AnswerShutdown(pub(crate) ToolOwner);

/// An answer.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct ShutdownAnswer {
    request_id: i64,
    approve: bool,
    #[serde(default)]
    reason: Option<String>,
}

impl TypedTool for AnswerShutdown {
    type Input = ShutdownAnswer;
    const NAME: &'static str = "shutdown_response";
    const DESCRIPTION: &'static str =
        "Answers a shutdown request: approve to stop now, or refuse with a reason.";
    const EFFECT: Effect = Effect::Session;

    fn subject(&self, input: &ShutdownAnswer) -> Subject {
        titled(if input.approve { "approve" } else { "refuse" })
    }

    fn run(&self, input: ShutdownAnswer, _: Context) -> BoxFuture<'static, ToolOutput> {
        let owner = self.0.clone();
        told(async move {
            let station = owner.station().await?;
            let ShutdownAnswer { request_id, approve, reason } = input;
            let request = station.team().request(request_id).await?;
            if request.kind != RequestKind::Shutdown {
                return Err(format!("request {request_id} asks for no shutdown").into());
            }
            let words = reason.unwrap_or_default();
            station.membership.answer(request_id, approve, &words).await?;
            if !approve {
                return Ok(ToolOutput::text("Shutdown rejected"));
            }
            station.mark_leaving();
            Ok(ending("Shutdown approved"))
        })
    }
}
