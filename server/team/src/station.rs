//! A member's station: who it is, its membership on the board, and what its tools and its loop tell each other.

use crate::budget::cents;
use crate::clock::Clock;
use crate::identity::Identity;
use crate::lock;
use crate::options::TeamOptions;
use ropewalk_board::{BoardError, Claim, Membership, Task, Team};
use ropewalk_protocol::Spent;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;

/// See the module. It outlives no membership: a new start has another one.
pub struct Station {
    pub(crate) identity: Identity,
    pub(crate) membership: Membership,
    pub(crate) options: TeamOptions,
    pub(crate) clock: Arc<dyn Clock>,
    state: Mutex<StationState>,
    stop: watch::Sender<bool>,
}

/// A step of a task, asked for by a tool, that the loop takes once the turn has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TaskStep {
    /// The task is to be completed, with this summary.
    Complete(String),
    /// A task was claimed, and work on it begins.
    Begin(Box<Task>),
}

#[derive(Default)]
struct StationState {
    /// Time of the last answer of the board that renewed the lease.
    renewed: Duration,
    /// The task it works on.
    task: Option<Task>,
    /// The task that it had until the board said that it has it no more, as long as nothing has come of that.
    lost: Option<Task>,
    step: Option<TaskStep>,
    /// The plan that waits for an answer.
    plan: Option<i64>,
    /// True once it was agreed that it leaves.
    is_leaving: bool,
    /// Messages in the last request or result, which count as read once that is kept.
    given: BTreeSet<i64>,
    /// The part of what it has spent that the board knows.
    told: Spent,
    /// Tokens and cents of all members, by the board's last word.
    spent_by_all: (u64, u64),
}

impl Station {
    /// A station of a membership that has just begun.
    pub fn new(
        identity: Identity,
        membership: Membership,
        options: TeamOptions,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let state = StationState { renewed: clock.now(), ..StationState::default() };
        let stop = watch::Sender::new(false);
        Self { identity, membership, options, clock, state: Mutex::new(state), stop }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.identity.name
    }

    /// Its team on the board.
    pub fn team(&self) -> &Team {
        self.membership.team()
    }

    /// Number of its start under its name; a later start has a greater one.
    pub fn epoch(&self) -> i64 {
        self.membership.epoch()
    }

    pub(crate) fn task(&self) -> Option<Task> {
        lock(&self.state).task.clone()
    }

    /// Begins a task, or ends the one that there was: none is lost then.
    pub(crate) fn set_task(&self, task: Option<Task>) {
        let mut state = lock(&self.state);
        (state.task, state.lost) = (task, None);
    }

    /// The task that the board has taken away from it, until that is taken up.
    pub(crate) fn lost(&self) -> Option<Task> {
        lock(&self.state).lost.clone()
    }

    /// Takes up that a task was lost.
    pub(crate) fn take_lost(&self) -> Option<Task> {
        lock(&self.state).lost.take()
    }

    /// The claim by which it holds this task.
    pub(crate) fn claim_of(&self, number: i64) -> Option<Claim> {
        lock(&self.state).task.as_ref().filter(|task| task.number == number).map(Task::claim)
    }

    pub(crate) fn note_step(&self, step: TaskStep) {
        lock(&self.state).step = Some(step);
    }

    pub(crate) fn take_step(&self) -> Option<TaskStep> {
        lock(&self.state).step.take()
    }

    pub(crate) fn has_step(&self) -> bool {
        lock(&self.state).step.is_some()
    }

    pub(crate) fn plan(&self) -> Option<i64> {
        lock(&self.state).plan
    }

    pub(crate) fn set_plan(&self, request: Option<i64>) {
        lock(&self.state).plan = request;
    }

    /// Notes that this plan is answered, unless another has been submitted since.
    pub(crate) fn forget_plan(&self, request: i64) {
        lock(&self.state).plan.take_if(|plan| *plan == request);
    }

    pub(crate) fn is_leaving(&self) -> bool {
        lock(&self.state).is_leaving
    }

    pub(crate) fn mark_leaving(&self) {
        lock(&self.state).is_leaving = true;
    }

    /// Stops the member: its turn is interrupted, its task returned without counting, and it leaves.
    pub fn stop(&self) {
        self.mark_leaving();
        self.stop.send_replace(true);
    }

    /// Ends once it is stopped.
    pub(crate) async fn stopped(&self) {
        // The sender lives as long as this.
        let _ = self.stop.subscribe().wait_for(|is_stopped| *is_stopped).await;
    }

    /// Notes messages that the model is given.
    pub(crate) fn give(&self, numbers: impl IntoIterator<Item = i64>) {
        lock(&self.state).given.extend(numbers);
    }

    pub(crate) fn given(&self) -> BTreeSet<i64> {
        lock(&self.state).given.clone()
    }

    pub(crate) fn forget_given(&self, numbers: &BTreeSet<i64>) {
        lock(&self.state).given.retain(|number| !numbers.contains(number));
    }

    /// Renews the lease, and lets go of the task if it was taken back: it is lost then.
    ///
    /// # Errors
    /// As [`Membership::renew`].
    pub(crate) async fn renew(&self) -> Result<(), BoardError> {
        // The board's answer says nothing of a task that is claimed meanwhile.
        let asked = self.task().map(|task| task.claim());
        let claims = self.membership.renew().await?;
        let now = self.clock.now();
        let mut state = lock(&self.state);
        state.renewed = now;
        let is_gone = |claim: Claim| asked == Some(claim) && !claims.contains(&claim);
        if let Some(task) = state.task.take_if(|task| is_gone(task.claim())) {
            state.lost = Some(task);
        }
        Ok(())
    }

    /// True if a whole lease has passed since the board answered: somebody else may have its task.
    pub(crate) fn is_stale(&self) -> bool {
        let renewed = lock(&self.state).renewed;
        self.clock.now().saturating_sub(renewed) >= self.options.lease
    }

    /// Tells the board what the session has spent, and learns what all have.
    ///
    /// # Errors
    /// As [`Membership::spend`].
    pub(crate) async fn spend(&self, spent: Spent) -> Result<(), BoardError> {
        let told = std::mem::replace(&mut lock(&self.state).told, spent);
        let tokens = spent.since(told).usage.total();
        // Parts of a cent add up over the turns.
        let cents = cents(spent.money).saturating_sub(cents(told.money));
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        if tokens > 0
            && let Err(error) = self.membership.spend(number(tokens), number(cents)).await
        {
            lock(&self.state).told = told;
            return Err(error);
        }
        let members = self.team().members().await?;
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        let tokens = members.iter().map(|member| count(member.tokens)).sum();
        let cents = members.iter().map(|member| count(member.cents)).sum();
        lock(&self.state).spent_by_all = (tokens, cents);
        Ok(())
    }

    pub(crate) fn spent_by_all(&self) -> (u64, u64) {
        lock(&self.state).spent_by_all
    }
}

impl std::fmt::Debug for Station {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Station").field("identity", &self.identity).finish_non_exhaustive()
    }
}
