//! The clock by which a member waits. It is handed in: a test moves it by hand, while the database's thread works.

use futures::future::BoxFuture;
use std::time::{Duration, Instant};

/// A clock that only goes forward.
pub trait Clock: Send + Sync {
    /// Time since some moment before the first call.
    fn now(&self) -> Duration;

    /// Ends when `time` has passed.
    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()>;
}

/// The clock of the machine.
#[derive(Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}
