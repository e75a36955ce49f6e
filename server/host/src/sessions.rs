//! The sessions that are open: which one is current, and how another takes its place.
//!
//! One is current: what is asked without a name goes to it. When another takes its place it is left: its turn is
//! interrupted, and what is pending in it stays in its journal. Others may be open beside it. What a session is, and how
//! it is kept, is the agent's.

use crate::host::Host;
use crate::map::{OpenSessions, SwitchRequest};
use crate::seat::{OpQueue, Seat};
use crate::serve::{serve, tell};
use crate::settings::{StartSettings, problem};
use crate::teams::MemberPart;
use crate::words::{count, named};
use crate::{blocking, lock};
use futures::FutureExt;
use futures::future::{BoxFuture, join_all, ready};
use ropewalk_agent::journal::store::make_private_folder;
use ropewalk_agent::session::SessionConfig;
use ropewalk_agent::tools::registry;
use ropewalk_agent::{Journal, Past, Session, Sessions};
use ropewalk_commands::Commands;
use ropewalk_protocol::{LeftSession, Op, Refusal, Reply, SessionEvent, SessionId};
use ropewalk_tools::diagnostics::Diagnostics;
use ropewalk_tools::knowledge;
use ropewalk_tools::{CommandRunner, TypedTool as _};
use ropewalk_workspace::Roots;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

/// An answer to a request.
pub(crate) type SessionAnswer = Result<Reply, Refusal>;

/// How long is waited for a session that was left to write its last lines.
const END_BOUND: Duration = Duration::from_secs(5);

/// Beginning of a session.
pub(crate) enum SessionOrigin {
    /// A new one.
    New,
    /// A new one of a team's member, with its id and the member's name.
    OfMember(Arc<str>, String),
    /// One that goes on from its journal.
    Kept(Arc<str>, Journal, Box<Past>),
}

/// Parts of a session that its origin decides.
struct OriginParts {
    id: Arc<str>,
    journal: Journal,
    past: Option<Past>,
}

impl Host {
    /// Puts a request in line for its session. What names none and comes after a request for another one is for that one:
    /// the session that is there is left, and a turn that it began would end with it.
    pub(crate) fn ask(
        self: &Arc<Self>,
        session: Option<&str>,
        op: Op,
    ) -> BoxFuture<'static, SessionAnswer> {
        if session.is_some() || matches!(op, Op::Interrupt(_)) || !self.map.is_switching() {
            return self.ask_now(session, op);
        }
        let host = self.clone();
        // Held until this request is in line: what comes later would pass it once the other session is there.
        let waits = self.map.note_switch();
        Box::pin(async move {
            // The mutex serves its waiters in their order.
            let came = host.map.changing.lock().await;
            let answer = host.ask_now(None, op);
            drop((came, waits));
            answer.await
        })
    }

    fn ask_now(
        self: &Arc<Self>,
        session: Option<&str>,
        op: Op,
    ) -> BoxFuture<'static, SessionAnswer> {
        match self.seat_for(session, &op) {
            Ok(seat) => seat.enqueue(op).boxed(),
            Err(refusal) => ready(Err(refusal)).boxed(),
        }
    }

    /// The seat that a request is for, the current one if none is named. One is begun for what begins a conversation.
    fn seat_for(self: &Arc<Self>, session: Option<&str>, op: &Op) -> Result<Arc<Seat>, Refusal> {
        let mut open = lock(&self.map.open);
        open.current.take_if(|seat| seat.is_broken());
        if let Op::Prompt(_) = op {
            let mut offered = lock(&self.map.offered);
            self.map.was_asked.store(true, Ordering::Relaxed);
            offered.clear();
        }
        match (session, open.current.clone(), op) {
            (Some(id), ..) => {
                let other =
                    "That is of another session than the current one; /resume brings it back";
                open.find(id).cloned().ok_or_else(|| other.into())
            }
            (None, Some(current), _) => Ok(current),
            (None, None, Op::Prompt(_) | Op::Mode(_) | Op::SetModel(_) | Op::Status) => {
                let seat = self.begin_seat(&mut open);
                open.current = Some(seat.clone());
                Ok(seat)
            }
            (None, None, _) => Err("Nothing was asked yet".into()),
        }
    }

    /// An open session's seat, the current one's if none is named.
    pub(crate) fn seat(&self, session: Option<&str>) -> Option<Arc<Seat>> {
        let open = lock(&self.map.open);
        match session {
            Some(id) => open.find(id).cloned(),
            None => open.current.clone(),
        }
    }

    /// A running session, the current one if none is named.
    pub(crate) fn running(&self, session: Option<&str>) -> Option<Session> {
        self.seat(session).and_then(|seat| seat.session().cloned())
    }

    /// True if this is the current session's id.
    pub fn is_current(&self, id: &str) -> bool {
        self.running(None).is_some_and(|session| **session.id() == *id)
    }

    /// Does something with each running session.
    pub(crate) fn each(&self, act: impl FnMut(Session)) {
        let open = lock(&self.map.open);
        let running: Vec<Session> =
            open.seats.iter().filter_map(|seat| seat.session().cloned()).collect();
        drop(open);
        running.into_iter().for_each(act);
    }

    /// A new session, which starts where it blocks nobody. It leaves nothing behind on the disk until it is prompted.
    fn begin_seat(self: &Arc<Self>, open: &mut OpenSessions) -> Arc<Seat> {
        let (seat, queue) = Seat::new();
        let (host, cell) = (self.clone(), seat.session_cell());
        seat.serve_by(async move {
            let weak = Arc::downgrade(&host);
            let started = blocking(move || host.start(&cell, SessionOrigin::New, None)).await;
            // A panic has been logged, and those who wait hear that it has broken down.
            let Ok((session, events)) = started else { return };
            serve_all(weak, session, events, queue).await;
        });
        open.add(seat.clone());
        seat
    }

    /// Starts a session with the configuration as it is now, and says and asks what is new in that. Blocking.
    pub(crate) fn start(
        self: &Arc<Self>,
        cell: &OnceLock<Session>,
        origin: SessionOrigin,
        member: Option<MemberPart>,
    ) -> (Session, UnboundedReceiver<SessionEvent>) {
        let OriginParts { id, journal, past } = match origin {
            SessionOrigin::Kept(id, journal, past) => {
                OriginParts { id, journal, past: Some(*past) }
            }
            SessionOrigin::New => self.new_journal(self.free_id(), None),
            SessionOrigin::OfMember(id, name) => self.new_journal(id, Some(name)),
        };
        let outputs = self.options.sessions.as_ref().map(|sessions| sessions.outputs(&id));
        let (sender, events) = tokio::sync::mpsc::unbounded_channel();
        // Until it is where others find it, so that no edit of the configuration passes it by.
        let mut marks = self.configuration.hold();
        let StartSettings { mut settings, takes_choice, commands, news } =
            self.read_and_apply(&mut marks);
        let choice = past.as_ref().filter(|_| takes_choice).and_then(Past::model_choice).cloned();
        let why = choice.and_then(|choice| self.choose_again(choice, &mut settings));
        let publish = self.options.publish;
        let approvals = self.approvals.clone();
        let (workspace, editor) = (self.workspace.clone(), self.editor.clone());
        let runner: Arc<dyn CommandRunner> = Arc::new(Commands::new(commands));
        let mut tools = registry(runner.clone(), editor.clone());
        if !editor.gives_diagnostics() {
            tools = tools.only(|name| name != Diagnostics::NAME);
        }
        if !editor.gives_knowledge() {
            tools = tools.only(|name| !knowledge::NAMES.contains(&name));
        }
        let team = self.team_part(&id, member, &mut settings, tools);
        let config = SessionConfig {
            id,
            settings,
            tools: team.tools,
            runner,
            outputs,
            publish,
            journal,
            past,
            approvals,
        };
        let session = Session::start_with(config, workspace, editor, sender, team.hooks);
        let session = cell.get_or_init(|| session).clone();
        drop(marks);
        self.tell_all(news);
        self.tell_all(why.map(crate::settings::problem).into_iter().collect());
        (session, events)
    }

    /// An id that no session has.
    pub(crate) fn free_id(&self) -> Arc<str> {
        let kept = self.options.sessions.as_ref();
        kept.map_or_else(Sessions::new_id, Sessions::free_id).into()
    }

    fn new_journal(&self, id: Arc<str>, member: Option<String>) -> OriginParts {
        let kept = self.options.sessions.as_ref();
        let journal = kept.map(|sessions| sessions.begin_for(&id, self.root_paths(), member));
        OriginParts { id, journal: journal.unwrap_or_default(), past: None }
    }

    /// Makes the folder for the whole outputs of a session's calls, and lets them be read. Only a folder that exists is a
    /// root; until then there is nothing in it to read. Blocking.
    pub(crate) fn make_outputs(&self, id: &str) {
        if let Some(sessions) = &self.options.sessions {
            let _ = make_private_folder(&sessions.outputs(id));
            self.read_outputs();
        }
    }

    /// Lets the outputs of all sessions be read that have any. Blocking.
    fn read_outputs(&self) {
        let mut folders = Vec::new();
        self.each(|session| {
            let folder = self.options.sessions.as_ref().map(|kept| kept.outputs(session.id()));
            folders.extend(folder.filter(|folder| folder.is_dir()));
        });
        let named = folders.into_iter().map(|folder| ("outputs".to_owned(), folder)).collect();
        self.workspace.set_outputs(Some(Roots::new(named)));
    }

    /// Puts a session where it can be asked, in the place of the current one unless `beside`. Gives what was left. Refused
    /// if the current one may not be left. Blocking.
    pub(crate) fn install(
        self: &Arc<Self>,
        new: (Arc<Seat>, OpQueue),
        events: UnboundedReceiver<SessionEvent>,
        beside: bool,
        may_leave: impl FnOnce(&Seat) -> bool,
    ) -> Result<Option<LeftSession>, Refusal> {
        let (seat, queue) = new;
        let mut open = lock(&self.map.open);
        let Some(session) = seat.session().cloned() else { return Err(crate::seat::BROKEN.into()) };
        let old = open.current.clone().filter(|_| !beside);
        if old.as_ref().is_some_and(|current| !may_leave(current)) {
            open.take(&seat);
            // The team that it might have led ends with it, which takes the lock.
            drop(open);
            self.teams.end(session.id());
            return Err(busy());
        }
        let id = session.id().clone();
        lock(&self.map.left).remove(&*id);
        lock(&self.map.offered).retain(|info| *info.session != *id);
        if !beside {
            open.current = Some(seat.clone());
        }
        seat.serve_by(serve_all(Arc::downgrade(self), session, events, queue));
        drop(open);
        self.read_outputs();
        Ok(old.and_then(|old| self.leave(&old)))
    }

    /// Lets a session end. Gives what is to be said of it. Blocking.
    fn leave(&self, seat: &Arc<Seat>) -> Option<LeftSession> {
        lock(&self.map.open).take(seat);
        let mut ending = lock(&self.map.ending);
        ending.retain(|service| !service.is_finished());
        ending.extend(seat.take_service());
        drop(ending);
        let session = seat.session()?;
        self.teams.end(session.id());
        lock(&self.map.left).insert(session.id().to_string());
        let left = LeftSession { title: session.title(), pending: session.review().pending() };
        if !session.is_lost() {
            return Some(left);
        }
        let title = named(&left.title);
        let changes = count(left.pending, "unreviewed change", "unreviewed changes");
        let with = if left.pending > 0 { format!(", with {changes}") } else { String::new() };
        let words = format!("The journal of {title} was deleted, so it can't be resumed{with}.");
        self.tell_all(vec![problem(words)]);
        None
    }

    /// Waits until the sessions that were left have written their last lines, within a bound.
    pub(crate) async fn left_ones_end(&self) {
        let ending = std::mem::take(&mut *lock(&self.map.ending));
        if tokio::time::timeout(END_BOUND, join_all(ending)).await.is_err() {
            tracing::warn!("a session that was left has not ended yet");
        }
    }

    /// Begins a session, in the place of the current one unless `beside`. Nothing happens then if nothing was asked there
    /// yet.
    pub(crate) async fn begin(
        self: Arc<Self>,
        beside: bool,
        _switch: Option<SwitchRequest>,
    ) -> SessionAnswer {
        let _changing = self.map.changing.lock().await;
        let host = self.clone();
        let begun = blocking(move || {
            let current = lock(&host.map.open).current.clone();
            if !beside {
                lock(&host.map.offered).clear();
                if let Some(fresh) = current.as_ref().filter(|seat| seat.is_fresh())
                    && let Some(session) = fresh.session()
                {
                    return Ok(Reply::Begun(session.id().clone().into(), None));
                }
            }
            let (seat, queue) = Seat::new();
            lock(&host.map.open).add(seat.clone());
            let (session, events) = host.start(&seat.session_cell(), SessionOrigin::New, None);
            let id: SessionId = session.id().clone().into();
            let left = host.install((seat, queue), events, beside, |_| true)?;
            Ok(Reply::Begun(id, left))
        });
        begun.await?
    }

    /// Leaves a session, the current one if none is named; at once, so that nothing reaches it any more. The answer comes when
    /// it has written its last lines.
    pub(crate) fn close(
        self: Arc<Self>,
        session: Option<&str>,
    ) -> BoxFuture<'static, SessionAnswer> {
        let Some(seat) = self.seat(session) else {
            return ready(Err("There is no such session open".into())).boxed();
        };
        lock(&self.map.open).take(&seat);
        Box::pin(async move {
            let host = self.clone();
            let left = blocking(move || host.leave(&seat)).await?;
            self.left_ones_end().await;
            Ok(Reply::Closed(left))
        })
    }

    /// The folders that its sessions work in, as journals have them.
    pub(crate) fn root_paths(&self) -> Vec<String> {
        let roots = self.workspace.roots();
        roots.iter().map(|root| root.path().to_string_lossy().into_owned()).collect()
    }
}

/// Serves a session and tells what happens in it, until it has ended.
async fn serve_all(
    host: Weak<Host>,
    session: Session,
    events: UnboundedReceiver<SessionEvent>,
    queue: OpQueue,
) {
    let told = tokio::spawn(tell(host.clone(), events).boxed());
    serve(host, session, queue).await;
    // A panic there has been logged.
    let _ = told.await;
}

pub(crate) fn busy() -> Refusal {
    "Your request came first; /resume brings them back".into()
}
