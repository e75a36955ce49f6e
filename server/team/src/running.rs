//! A teammate that lives beside the lead.

use crate::session_host::SessionHost;
use crate::station::Station;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// A teammate that lives beside the lead. Dropped, it stops where it is: its task stays its own until its lease ends.
pub(crate) struct RunningTeammate {
    pub(crate) session: Arc<str>,
    pub(crate) station: Arc<Station>,
    pub(crate) life: JoinHandle<()>,
    pub(crate) host: Arc<dyn SessionHost>,
}

impl Drop for RunningTeammate {
    fn drop(&mut self) {
        self.life.abort();
        self.host.end(&self.session);
    }
}
