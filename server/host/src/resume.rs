//! Sessions that go on: the one that the user names, or the last of these folders in which something waits.

use crate::host::Host;
use crate::map::SwitchRequest;
use crate::seat::Seat;
use crate::sessions::{SessionAnswer, SessionOrigin, busy};
use crate::words::{named, sentence};
use crate::{blocking, lock};
use ropewalk_agent::{Past, SessionError, Sessions};
use ropewalk_protocol::{Refusal, Reply, ResumedSession, SessionId, SessionInfo};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The most digits of a number in a list; what is longer is an id.
const MOST_DIGITS: usize = 3;

/// The refusal where there is no place for sessions.
pub(crate) const NOT_KEPT: &str = "There is no home folder, so sessions are not kept";

/// Earlier sessions of these folders, as they were found.
#[derive(Debug)]
pub struct EarlierSessions {
    /// The last one.
    pub last: SessionInfo,
    /// Outcome of going on with it, if something waits in it.
    pub resumed: Option<Result<ResumedSession, Refusal>>,
    /// Older ones in which something waits.
    pub older: Vec<SessionInfo>,
}

impl Host {
    /// Looks for earlier sessions of these folders when a client has started and `opened` its documents. The last one goes on if something waits in it
    /// and nothing was asked yet; what does not is offered until something is asked. None without a folder: another window
    /// may have other files open.
    pub async fn look_back(
        self: &Arc<Self>,
        opened: impl Future<Output = ()>,
    ) -> Result<Option<EarlierSessions>, Refusal> {
        let Some(sessions) = self.options.sessions.clone() else { return Ok(None) };
        if self.root_paths().is_empty() {
            return Ok(None);
        }
        opened.await;
        let _changing = self.map.changing.lock().await;
        let host = self.clone();
        blocking(move || {
            let list = host.list_now(&sessions, false);
            let mut others = host.others(list).into_iter();
            let last = others.next()?;
            let older: Vec<_> = others.filter(|info| info.waits() > 0).collect();
            let resumed = (last.waits() > 0)
                .then(|| host.resume_now(&sessions, &last.session, false, Seat::is_fresh));
            // Another window that was quicker has it.
            let is_offered = match &resumed {
                None => true,
                Some(Ok(_)) => false,
                Some(Err(refusal)) => !refusal.in_use,
            };
            let last_one = is_offered.then(|| last.clone());
            let offered = last_one.into_iter().chain(older.iter().cloned());
            host.offer(offered.collect());
            Some(EarlierSessions { last, resumed, older })
        })
        .await
    }

    /// Offers sessions to be resumed, unless something was asked already.
    fn offer(&self, sessions: Vec<SessionInfo>) {
        let mut offered = lock(&self.map.offered);
        if !self.map.was_asked.load(Ordering::Relaxed) {
            *offered = sessions;
        }
    }

    /// The sessions that are offered to be resumed.
    pub fn offered(&self) -> Vec<SessionInfo> {
        lock(&self.map.offered).clone()
    }

    /// Goes on with a session: the one of this number in the list, or whose id begins so, or the last one of these
    /// folders.
    pub(crate) async fn resume(
        self: Arc<Self>,
        named: Option<SessionId>,
        beside: bool,
        _switch: Option<SwitchRequest>,
    ) -> SessionAnswer {
        let sessions = self.options.sessions.clone().ok_or(NOT_KEPT)?;
        let _changing = self.map.changing.lock().await;
        self.left_ones_end().await;
        let host = self.clone();
        let resumed = blocking(move || {
            let id = match named {
                Some(named) => host.find(&sessions, &named)?,
                None => {
                    let list = host.infos(sessions.of_roots(&host.root_paths()));
                    let last = host.others(list).into_iter().next();
                    last.map(|info| info.session).ok_or_else(|| host.nothing_to_resume())?
                }
            };
            host.resume_now(&sessions, &id, beside, |_| true).map(Reply::Resumed)
        });
        resumed.await?
    }

    /// The sessions of a list that are not open here and that nobody else has.
    fn others(&self, mut list: Vec<SessionInfo>) -> Vec<SessionInfo> {
        let left = lock(&self.map.left).clone();
        list.retain(|info| {
            let is_free = !info.in_use || left.contains(&*info.session);
            is_free && info.turns > 0 && self.running(Some(&info.session)).is_none()
        });
        list
    }

    /// The whole id of a session that the user names: by its number in the last list, or by how its id begins. An open one
    /// has an id before it has a file. Blocking.
    pub(crate) fn find(&self, sessions: &Sessions, named: &str) -> Result<SessionId, Refusal> {
        if let Some(open) = self.running(Some(named)) {
            return Ok(open.id().clone().into());
        }
        let number = Some(named).filter(|named| named.len() <= MOST_DIGITS);
        if let Some(number) = number.and_then(|named| named.parse::<usize>().ok()) {
            if lock(&self.map.listed).is_empty() {
                self.list_now(sessions, false);
            }
            let listed = lock(&self.map.listed);
            if let Some(id) = number.checked_sub(1).and_then(|at| listed.get(at)) {
                return Ok(id.as_str().into());
            }
        }
        Ok(sessions.find(named).map_err(refused)?.into())
    }

    fn nothing_to_resume(&self) -> String {
        let roots = self.root_paths();
        let of = if roots.is_empty() {
            "without a folder".to_owned()
        } else {
            format!("of {}", roots.join(", "))
        };
        format!(
            "There is no other session {of} to resume; `ropewalk sessions --all` in a terminal lists those of other folders"
        )
    }

    /// Opens a session and makes it the current one unless `beside`, if the one there may be left. Blocking.
    fn resume_now(
        self: &Arc<Self>,
        sessions: &Sessions,
        id: &str,
        beside: bool,
        may_leave: impl Fn(&Seat) -> bool,
    ) -> Result<ResumedSession, Refusal> {
        if let Some(session) = self.running(Some(id)) {
            let (title, is_current) = (named(&session.title()), self.is_current(id));
            let what = if is_current { "the current one" } else { "open" };
            return Err(format!("The session {title} is {what} already").into());
        }
        let current = lock(&self.map.open).current.clone();
        if !beside && current.is_some_and(|seat| !may_leave(&seat)) {
            return Err(busy());
        }
        let (journal, mut past) = sessions.open(id).map_err(refused)?;
        self.may_go_on(&past)?;
        let summary = past.summary();
        let waiting = std::mem::take(&mut past.waiting);
        let problems = std::mem::take(&mut past.problems);
        let (seat, inputs) = Seat::new();
        lock(&self.map.open).add(seat.clone());
        let (session, events) = self.start(
            &seat.session_cell(),
            SessionOrigin::Kept(id.into(), journal, past.into()),
            None,
        );
        // Asked again there: a prompt may have come while the disk was read.
        let left = self.install((seat, inputs), events, beside, may_leave)?;
        self.bring_team_back(id);
        Ok(ResumedSession {
            session: id.into(),
            title: summary.title,
            at: summary.at,
            turns: summary.turns,
            pending: session.review().pending(),
            lost: session.not_restored().to_vec(),
            waiting,
            problems,
            left,
        })
    }

    /// Refuses a session of other folders, and without a folder one of files that are not open.
    fn may_go_on(&self, past: &Past) -> Result<(), String> {
        let title = named(&past.shown_title());
        if !past.head.is_of(&self.root_paths()) {
            let of = match past.head.roots.join(", ") {
                none if none.is_empty() => "works without a folder".to_owned(),
                roots => format!("is of {roots}"),
            };
            return Err(format!("The session {title} {of}; other folders are open here"));
        }
        let closed = self.closed_documents(past);
        if closed.is_empty() {
            return Ok(());
        }
        Err(format!(
            "Without a folder only open files can be changed: open {} first, where changes wait in {title}",
            closed.join(", ")
        ))
    }

    /// Without a folder, only what is open is inside: the documents that are not, and in which something waits.
    fn closed_documents(&self, past: &Past) -> Vec<String> {
        if !self.root_paths().is_empty() {
            return Vec::new();
        }
        let open = self.workspace.open_documents();
        let closed = past.pending_documents().filter(|document| !open.contains(document));
        closed.map(|document| document.as_str().to_owned()).collect()
    }
}

/// An error of the journals' as a refusal.
pub(crate) fn refused(error: SessionError) -> Refusal {
    Refusal { words: sentence(&error), in_use: matches!(error, SessionError::InUse(_)) }
}
