//! The map of the sessions that are open, and what is remembered beside it.

use crate::seat::Seat;
use ropewalk_protocol::SessionInfo;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::task::JoinHandle;

/// The sessions of a host, and what changing them needs.
#[derive(Default)]
pub(crate) struct SessionMap {
    pub(crate) open: Mutex<OpenSessions>,
    /// Held while another session takes the place of the current one. The disk is waited for, never the client.
    pub(crate) changing: tokio::sync::Mutex<()>,
    /// Requests for another current session that are under way, and requests that wait for that session.
    switches: Arc<AtomicUsize>,
    /// Tasks that serve sessions that were left, until those have ended.
    pub(crate) ending: Mutex<Vec<JoinHandle<()>>>,
    /// The ids of sessions that were left: a lock of theirs that is still held is our own.
    pub(crate) left: Mutex<BTreeSet<String>>,
    /// The sessions that are offered to be resumed, until something is asked.
    pub(crate) offered: Mutex<Vec<SessionInfo>>,
    /// Set once something was asked.
    pub(crate) was_asked: AtomicBool,
    /// The ids of the sessions that were listed last, which the user names by their numbers.
    pub(crate) listed: Mutex<Vec<String>>,
}

/// A request for another current session, or one that waits for that session. It is under way until this is dropped.
pub(crate) struct SwitchRequest(Arc<AtomicUsize>);

impl Drop for SwitchRequest {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SessionMap {
    /// Notes a request for another current session, or one that waits for that session.
    pub(crate) fn note_switch(&self) -> SwitchRequest {
        self.switches.fetch_add(1, Ordering::Relaxed);
        SwitchRequest(self.switches.clone())
    }

    /// True while another session was asked for and has not come, or requests to it are not in line yet.
    pub(crate) fn is_switching(&self) -> bool {
        self.switches.load(Ordering::Relaxed) > 0
    }
}

/// The sessions that are open.
#[derive(Default)]
pub(crate) struct OpenSessions {
    pub(crate) seats: Vec<Arc<Seat>>,
    pub(crate) current: Option<Arc<Seat>>,
}

impl OpenSessions {
    pub(crate) fn find(&self, id: &str) -> Option<&Arc<Seat>> {
        self.seats.iter().find(|seat| seat.session().is_some_and(|it| **it.id() == *id))
    }

    /// Puts one in. Those whose start has broken down meanwhile go.
    pub(crate) fn add(&mut self, seat: Arc<Seat>) {
        self.seats.retain(|own| !own.is_broken());
        self.seats.push(seat);
    }

    /// Takes one out, which ends it.
    pub(crate) fn take(&mut self, seat: &Arc<Seat>) {
        self.seats.retain(|own| !Arc::ptr_eq(own, seat));
        self.current.take_if(|current| Arc::ptr_eq(current, seat));
    }
}
