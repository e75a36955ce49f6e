//! The life of a teammate or worker: it works until its turn ends, waits for something to do, and leaves when there was
//! nothing for too long.
//!
//! Its session is driven as by a front end: prompts in, events out. What its tools have asked for that a running turn
//! can't have (its task completed, another begun) is done here, between two turns.

mod turn_end;

use crate::error::TeamError;
use crate::handover::{give_all_back, give_back, start_of};
use crate::idle::{Circumstances, NextDeed, next};
use crate::plan;
use crate::session_host::SessionLink;
use crate::station::Station;
use crate::turns::Turns;
use crate::words;
use ropewalk_agent::Session;
use ropewalk_board::{BoardError, LEAD, MemberState, MemberWatch, RequestKind, ReturnReason, Task};
use ropewalk_protocol::{Op, Prompt};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// See the module.
pub(crate) struct Teammate {
    station: Arc<Station>,
    session: Session,
    lead: SessionLink,
    turns: watch::Receiver<Turns>,
    signals: MemberWatch,
    /// Number of the last turn whose end was seen to.
    settled: u64,
    /// Turns that have worked on its task.
    tries: u32,
    /// True once the user has stopped it, until somebody writes.
    is_paused: bool,
    /// Words for its next prompt.
    news: Vec<String>,
}

/// Reason for which a member has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// There was nothing to do for long enough.
    Idle,
    /// It was asked to, or stopped.
    Shutdown,
    /// The team's budget is used up.
    Budget,
    /// Its name belongs to another start by now.
    Superseded,
    /// Its session has ended.
    Ended,
}

impl Departure {
    fn in_words(self) -> &'static str {
        match self {
            Self::Idle => "there was nothing to do",
            Self::Shutdown => "it was asked to",
            Self::Budget => "the team's budget is used up",
            Self::Superseded => "its name was taken anew",
            Self::Ended => "its session has ended",
        }
    }
}

/// Result of a deed.
enum Outcome {
    /// A turn's work.
    Work(TurnWork),
    /// Nothing.
    Nothing,
    /// The board has not answered.
    Unanswered,
}

/// A turn's work.
enum TurnWork {
    /// Words for a member without a task.
    Words(String),
    /// A task that it has claimed.
    Begin(Box<Task>),
    /// The task that it has.
    Resume(Box<Task>),
    /// A turn that somebody else has begun.
    Running,
}

impl Teammate {
    pub(crate) fn new(
        station: Arc<Station>,
        session: Session,
        lead: SessionLink,
        turns: watch::Receiver<Turns>,
    ) -> Self {
        let signals = station.membership.watch();
        let news = Vec::new();
        Self {
            station,
            session,
            lead,
            turns,
            signals,
            settled: 0,
            tries: 0,
            is_paused: false,
            news,
        }
    }

    /// Works and waits until it leaves. `first`: what it does first, for one that is new.
    pub(crate) async fn live(mut self, first: Option<String>) -> Departure {
        let mut work = first.map(TurnWork::Words);
        let departure = loop {
            if let Some(now) = work.take()
                && let Err(departure) = self.work(now).await
            {
                break departure;
            }
            match self.wait().await {
                Ok(next) => work = Some(next),
                Err(departure) => break departure,
            }
        };
        self.leave(departure).await;
        departure
    }

    /// One turn, and what comes after it.
    async fn work(&mut self, work: TurnWork) -> Result<(), Departure> {
        let text = match &work {
            TurnWork::Running => None,
            TurnWork::Words(text) => {
                self.start(None).await;
                Some(text.clone())
            }
            TurnWork::Begin(task) => {
                self.station.set_task(Some((**task).clone()));
                self.tries = 0;
                if !self.start(Some(task)).await {
                    return Ok(());
                }
                Some(words::claimed(task))
            }
            TurnWork::Resume(task) => Some(words::unfinished(task)),
        };
        let had = self.station.task();
        // 0 waits for no certain turn.
        let mut turn = 0;
        if let Some(text) = text {
            self.news.push(text);
            let words = std::mem::take(&mut self.news).join("\n\n");
            turn = self.session.prompt(Prompt::new(words));
        }
        // Told beside the turn, which waits for no commit.
        if let Err(error) = self.station.membership.set_state(MemberState::Working).await {
            tracing::info!(%error, "a state was not told");
        }
        self.end_of(turn).await?;
        // Turns that others have begun meanwhile end first.
        self.end_of(0).await?;
        self.settle(had).await
    }

    /// Lays out the files that work starts from. False if that is not to be had, and the task was returned.
    async fn start(&mut self, task: Option<&Task>) -> bool {
        let number = task.map(|task| task.number);
        let start = match start_of(&self.station, self.lead.get(), number).await {
            Ok(start) => {
                let started = self.session.start_task(start).await;
                started.map_err(|refusal| TeamError::from(refusal.to_string()))
            }
            Err(error) => Err(error),
        };
        let Err(error) = start else { return true };
        tracing::info!(%error, ?number, "the files of a task could not be laid out");
        if task.is_some() {
            let reason = format!("what it builds on could not be laid out: {error}");
            give_back(&self.station, &ReturnReason::Failed(reason)).await;
        }
        false
    }

    /// Waits until a turn has ended and none runs. Stopped meanwhile, the turn is interrupted.
    async fn end_of(&mut self, turn: u64) -> Result<(), Departure> {
        let mut is_stopped = false;
        loop {
            let ended = self.turns.wait_for(|turns| turns.ended >= turn && !turns.is_running);
            tokio::select! {
                ended = ended => return ended.map(drop).map_err(|_| Departure::Ended),
                () = self.station.stopped(), if !is_stopped => {
                    self.session.send(Op::Interrupt(None));
                    is_stopped = true;
                }
            }
        }
    }

    /// Waits for something to do, and gives it. `waited` does not grow while the board gives no answer, nor while the
    /// member's plan waits for one.
    async fn wait(&mut self) -> Result<TurnWork, Departure> {
        let clock = self.station.clock.clone();
        // Runs from before the look, so that no time is lost that passes during it.
        let (mut before, mut poll) = (clock.now(), clock.sleep(self.station.options.poll));
        if let Err(error) = self.station.membership.set_state(MemberState::Idle).await {
            tracing::info!(%error, "a state was not told");
        }
        let mut waited = Duration::ZERO;
        loop {
            if self.turns.borrow().goes_beyond(self.settled) {
                // Nobody but the user begins one. It may be over already.
                self.is_paused = false;
                return Ok(TurnWork::Running);
            }
            if let Some(task) = self.station.take_lost() {
                self.lose(&task).await;
            }
            let time_counts = match self.look(waited).await {
                Ok((now, held)) => match self.go_on(next(&now), held).await? {
                    Outcome::Work(work) => return Ok(work),
                    Outcome::Nothing => !now.waits_for_plan,
                    Outcome::Unanswered => false,
                },
                Err(BoardError::Superseded(_)) => return Err(Departure::Superseded),
                Err(error) => {
                    tracing::info!(%error, "the board could not be looked at");
                    false
                }
            };
            tokio::select! {
                () = self.signals.changed() => {}
                () = &mut poll => {}
                changed = self.turns.changed() => changed.map_err(|_| Departure::Ended)?,
                () = self.station.stopped() => return Err(Departure::Shutdown),
            }
            let now = clock.now();
            if time_counts {
                waited += now.saturating_sub(before);
            }
            (before, poll) = (now, clock.sleep(self.station.options.poll));
        }
    }

    /// The circumstances as the board has them, and the task that is its own.
    async fn look(
        &mut self,
        waited: Duration,
    ) -> Result<(Circumstances, Option<Task>), BoardError> {
        let station = &self.station;
        let given = station.given();
        let limit = i64::try_from(given.len()).unwrap_or(i64::MAX).saturating_add(1);
        let agenda = station.membership.agenda(limit).await?;
        let shutdown = agenda.requests.iter().find(|one| one.kind == RequestKind::Shutdown);
        // After the messages: an answer that is among them is known here, too.
        let waits_for_plan = plan::waits(station, &self.session).await?;
        let held = agenda.held.into_iter().next();
        let now = Circumstances {
            shutdown: shutdown.map(|request| request.id),
            has_mail: (!self.news.is_empty() && !self.is_paused)
                || agenda.unread.iter().any(|m| !given.contains(&m.number)),
            has_task: held.is_some(),
            tries: self.tries,
            waits_for_plan,
            is_paused: self.is_paused,
            waited,
            patience: station.options.idle,
        };
        Ok((now, held))
    }

    /// Does what comes next.
    async fn go_on(&mut self, deed: NextDeed, held: Option<Task>) -> Result<Outcome, Departure> {
        let begin = |task| Outcome::Work(TurnWork::Begin(Box::new(task)));
        let resume = |task| Outcome::Work(TurnWork::Resume(Box::new(task)));
        match deed {
            NextDeed::ShutDown(request) => {
                let answered = self.station.membership.answer(request, true, "").await;
                if let Err(error) = answered {
                    tracing::info!(%error, "a request to shut down was not answered");
                    return Ok(Outcome::Unanswered);
                }
                Err(Departure::Shutdown)
            }
            NextDeed::Read => {
                self.is_paused = false;
                let words = || TurnWork::Words("Messages have come for you.".to_owned());
                let held = held.filter(|task| self.works_on(task));
                Ok(held.map_or_else(|| Outcome::Work(words()), resume))
            }
            NextDeed::Resume => Ok(held.map_or(Outcome::Nothing, |task| {
                if self.works_on(&task) { resume(task) } else { begin(task) }
            })),
            NextDeed::GiveBack => {
                let words = "its turns have ended without completing it".to_owned();
                self.station.set_task(held);
                give_back(&self.station, &ReturnReason::Failed(words)).await;
                self.tries = 0;
                Ok(Outcome::Nothing)
            }
            NextDeed::Claim | NextDeed::ClaimOrLeave => {
                match self.station.membership.claim().await {
                    Ok(Some(task)) => Ok(begin(task)),
                    Ok(None) if deed == NextDeed::ClaimOrLeave => Err(Departure::Idle),
                    Ok(None) => Ok(Outcome::Nothing),
                    Err(BoardError::Superseded(_)) => Err(Departure::Superseded),
                    Err(error) => {
                        tracing::info!(%error, "no task could be claimed");
                        let is_lasting = matches!(
                            error,
                            BoardError::ReadOnly(_)
                                | BoardError::DiskFull(_)
                                | BoardError::Damaged(_)
                        );
                        match deed {
                            _ if !is_lasting => Ok(Outcome::Unanswered),
                            NextDeed::ClaimOrLeave => Err(Departure::Idle),
                            _ => Ok(Outcome::Nothing),
                        }
                    }
                }
            }
            NextDeed::Wait => Ok(Outcome::Nothing),
            NextDeed::Leave => Err(Departure::Idle),
        }
    }

    /// True if the fork has the work on this task so far.
    fn works_on(&self, task: &Task) -> bool {
        self.station.claim_of(task.number) == Some(task.claim())
    }

    async fn leave(&self, departure: Departure) {
        if matches!(departure, Departure::Superseded | Departure::Ended) {
            return;
        }
        let (station, name) = (&self.station, self.station.name());
        give_all_back(station).await;
        let words = format!("{name} has shut down: {}.", departure.in_words());
        let told = station.membership.send(LEAD, "left", &words).await;
        let left = station.membership.set_state(MemberState::Shutdown).await;
        for error in [told.map(drop), left].into_iter().filter_map(Result::err) {
            tracing::info!(%error, "a departure was not told");
        }
    }
}
