//! `list_teammates`: who is in the team, and what each does.

use super::{titled, told};
use crate::owner::ToolOwner;
use crate::words::shown_member;
use futures::future::BoxFuture;
use ropewalk_board::LEAD;
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

/// See the module.
pub(crate) struct ListTeammates(pub(crate) ToolOwner);

/// Nothing is given.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct ListTeammatesInput {}

impl TypedTool for ListTeammates {
    type Input = ListTeammatesInput;
    const NAME: &'static str = "list_teammates";
    const DESCRIPTION: &'static str = "Lists the team: roles, states, tasks.";
    const EFFECT: Effect = Effect::Read;

    fn subject(&self, _: &ListTeammatesInput) -> Subject {
        titled("")
    }

    fn run(&self, _: ListTeammatesInput, _: Context) -> BoxFuture<'static, ToolOutput> {
        let owner = self.0.clone();
        told(async move {
            let station = owner.station().await?;
            let members = station.team().members().await?;
            if members.iter().all(|member| member.name == LEAD) {
                return Ok(ToolOutput::text("No teammates."));
            }
            let lines: Vec<String> =
                members.iter().map(|member| format!("  {}", shown_member(member))).collect();
            let team = &station.identity.team;
            Ok(ToolOutput::text(format!("Team: {team}\n{}", lines.join("\n"))))
        })
    }
}
