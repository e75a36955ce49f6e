//! `plan_approval`: a teammate submits its plan and waits; the lead approves it or sends it back.

use super::{ending, titled, told};
use crate::owner::ToolOwner;
use futures::future::BoxFuture;
use ropewalk_board::{LEAD, RequestKind};
use ropewalk_tools::{Context, Effect, Subject, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;

/// The teammate's side.
pub(crate) struct SubmitPlan(pub(crate) ToolOwner);

/// A plan.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct MemberPlan {
    /// All of it: steps, and the files each changes.
    plan: String,
}

impl TypedTool for SubmitPlan {
    type Input = MemberPlan;
    const NAME: &'static str = "plan_approval";
    const DESCRIPTION: &'static str =
        "Submits your plan to the lead and waits. Until it is approved you can change nothing.";
    const EFFECT: Effect = Effect::Session;

    fn subject(&self, _: &MemberPlan) -> Subject {
        titled("")
    }

    fn run(&self, input: MemberPlan, _: Context) -> BoxFuture<'static, ToolOutput> {
        let owner = self.0.clone();
        told(async move {
            let station = owner.station().await?;
            let id = station.membership.ask(RequestKind::Plan, LEAD, &input.plan).await?;
            station.set_plan(Some(id));
            Ok(ending(format!("Plan submitted (request_id={id}). Waiting for lead approval.")))
        })
    }
}

/// The lead's side.
pub(crate) struct ApprovePlan(pub(crate) ToolOwner);

/// An answer to a plan.
#[derive(Deserialize, JsonSchema, Debug)]
pub(crate) struct PlanVerdict {
    request_id: i64,
    approve: bool,
    #[serde(default)]
    feedback: Option<String>,
}

impl TypedTool for ApprovePlan {
    type Input = PlanVerdict;
    const NAME: &'static str = "plan_approval";
    const DESCRIPTION: &'static str = "Approves a teammate's plan, or sends it back.";
    const EFFECT: Effect = Effect::Session;

    fn subject(&self, input: &PlanVerdict) -> Subject {
        titled(if input.approve { "approve" } else { "send back" })
    }

    fn run(&self, input: PlanVerdict, _: Context) -> BoxFuture<'static, ToolOutput> {
        let owner = self.0.clone();
        told(async move {
            let station = owner.station().await?;
            let PlanVerdict { request_id, approve, feedback } = input;
            let request = station.team().request(request_id).await?;
            if request.kind != RequestKind::Plan {
                return Err(format!("request {request_id} is not a plan").into());
            }
            let words = feedback.unwrap_or_default();
            station.membership.answer(request_id, approve, &words).await?;
            let state = if approve { "approved" } else { "rejected" };
            Ok(ToolOutput::text(format!("Plan {state} for '{}'", request.from)))
        })
    }
}
