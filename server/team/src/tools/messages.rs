//! `send_message`, `broadcast` and `read_inbox`: members write to each other.

use super::{titled, told};
use crate::owner::ToolOwner;
use crate::words::{LETTER, message};
use futures::future::BoxFuture;
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

/// Writes to one member.
pub(crate) struct SendMessage(pub(crate) ToolOwner);

/// A message.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct Letter {
    /// A name; `lead` is the lead.
    to: String,
    content: String,
    #[serde(default)]
    msg_type: Option<String>,
}

impl TypedTool for SendMessage {
    type Input = Letter;
    const NAME: &'static str = "send_message";
    const DESCRIPTION: &'static str = "Writes to a member, who reads it before its next step.";
    const EFFECT: Effect = Effect::Session;

    fn subject(&self, input: &Letter) -> Subject {
        titled(format!("to {}", input.to))
    }

    fn run(&self, input: Letter, _: Context) -> BoxFuture<'static, ToolOutput> {
        let owner = self.0.clone();
        told(async move {
            if let Some(kind) = input.msg_type.filter(|kind| kind != LETTER) {
                return Err(format!("msg_type {kind:?} can't be sent by this tool: requests and answers have tools of their own").into());
            }
            let station = owner.station().await?;
            station.membership.send(&input.to, LETTER, &input.content).await?;
            Ok(ToolOutput::text(format!("Sent {LETTER} to {}", input.to)))
        })
    }
}

/// Writes to all.
pub(crate) struct Broadcast(pub(crate) ToolOwner);

/// A text for all.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct Circular {
    content: String,
}

impl TypedTool for Broadcast {
    type Input = Circular;
    const NAME: &'static str = "broadcast";
    const DESCRIPTION: &'static str = "Writes to all members.";
    const EFFECT: Effect = Effect::Session;

    fn subject(&self, _: &Circular) -> Subject {
        titled("to all")
    }

    fn run(&self, input: Circular, _: Context) -> BoxFuture<'static, ToolOutput> {
        let owner = self.0.clone();
        told(async move {
            let station = owner.station().await?;
            let told = station.membership.broadcast(&input.content).await?;
            Ok(ToolOutput::text(format!("Broadcast to {} teammates", told.len())))
        })
    }
}

/// Shows messages that have not been read.
pub(crate) struct ReadInbox(pub(crate) ToolOwner);

/// Nothing is given.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct Nothing {}

impl TypedTool for ReadInbox {
    type Input = Nothing;
    const NAME: &'static str = "read_inbox";
    const DESCRIPTION: &'static str = "Shows unread messages. They also come by themselves.";
    const EFFECT: Effect = Effect::Session;

    fn subject(&self, _: &Nothing) -> Subject {
        titled("")
    }

    fn run(&self, _: Nothing, _: Context) -> BoxFuture<'static, ToolOutput> {
        let owner = self.0.clone();
        told(async move {
            let station = owner.station().await?;
            let given = station.given();
            let unread = station.membership.inbox(100).await?;
            let new: Vec<_> =
                unread.iter().filter(|one| !given.contains(&one.number)).take(20).collect();
            if new.is_empty() {
                return Ok(ToolOutput::text("[]\nNo unread messages."));
            }
            // They count as read once this result is in the journal: before the next request.
            station.give(new.iter().map(|one| one.number));
            let lines: Vec<String> = new.into_iter().map(message).collect();
            Ok(ToolOutput::text(lines.join("\n")))
        })
    }
}
