//! Named gates at which a reply stops until the test lets it go on, so that no test needs to sleep.
//!
//! A gate is only a name: it need not be declared, and once open it stays open.

use std::{collections::HashSet, future::Future, time::Duration};
use tokio::sync::watch;

/// After this long a test is wrong, not slow.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
struct GateProgress {
    reached: HashSet<String>,
    open: HashSet<String>,
    abandoned: usize,
}

#[derive(Debug)]
pub(super) struct Gates(watch::Sender<GateProgress>);

impl Gates {
    pub(super) fn new() -> Gates {
        Gates(watch::Sender::new(GateProgress::default()))
    }

    pub(super) fn open(&self, name: &str) {
        self.0.send_modify(|progress| progress.open.extend([name.to_owned()]));
    }

    /// A reply has come to the gate: says so, and waits until it is open.
    pub(super) async fn pass(&self, name: &str) {
        let mut changes = self.0.subscribe();
        self.0.send_modify(|progress| progress.reached.extend([name.to_owned()]));
        // It fails only when the sender is gone, and that is `self`.
        let _ = changes.wait_for(|progress| progress.open.contains(name)).await;
    }

    /// A client has left before the reply's end.
    pub(super) fn abandon(&self) {
        self.0.send_modify(|progress| progress.abandoned = progress.abandoned.saturating_add(1));
    }

    pub(super) async fn reached(&self, name: &str) {
        self.until(&format!("gate {name:?} was not reached"), |p| p.reached.contains(name)).await;
    }

    pub(super) async fn abandoned(&self, replies: usize) {
        let complaint = format!("clients have not left {replies} replies");
        self.until(&complaint, |progress| progress.abandoned >= replies).await;
    }

    #[expect(clippy::panic, reason = "a test that waits in vain has failed")]
    async fn until(&self, complaint: &str, is_so: impl FnMut(&GateProgress) -> bool) {
        let mut changes = self.0.subscribe();
        let waited = tokio::time::timeout(PATIENCE, changes.wait_for(is_so)).await;
        if waited.is_err() {
            panic!("{complaint} within {} s", PATIENCE.as_secs());
        }
    }

    /// Runs a wait on a runtime of its own: the caller has none.
    #[expect(clippy::panic, reason = "without a timer the test cannot go on")]
    pub(super) fn block_on(&self, wait: impl Future<Output = ()>) {
        match tokio::runtime::Builder::new_current_thread().enable_time().build() {
            Ok(runtime) => runtime.block_on(wait),
            Err(error) => panic!("no runtime to wait on: {error}"),
        }
    }
}
