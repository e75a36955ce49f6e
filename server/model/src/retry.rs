//! How often and after how long a failed exchange is tried again.
//!
//! A pure function of the failure and the number of tries; the waiting itself happens in the
//! exchange, and is shown as [`crate::Delta::Retrying`].

use crate::ModelError;
use std::time::Duration;

/// The bounds on trying again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Tries in all, the first included; 1 never tries again.
    pub tries: u32,
    /// The wait before the second try; it doubles from try to try.
    pub first_wait: Duration,
    /// The longest of these waits.
    pub longest_wait: Duration,
    /// The longest wait that is obeyed when the server names one; beyond it the error is reported.
    pub longest_asked: Duration,
    /// How long a server that can't be reached is asked again, however many tries that takes. A network may be gone for
    /// a while.
    pub reach: Duration,
    /// The same of a server that is overloaded, or whose rate limit is reached. Zero counts tries.
    pub overload: Duration,
}

impl Default for Retry {
    /// Six tries: 15 seconds of waiting when the server names no time.
    fn default() -> Retry {
        Retry {
            tries: 6,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(30),
            longest_asked: Duration::from_secs(300),
            reach: Duration::from_secs(60),
            overload: Duration::from_secs(300),
        }
    }
}

impl Retry {
    /// As [`Retry::wait`], of a request that has failed for `lasting` with errors like this one. Where such errors are
    /// bounded by a time, the last wait ends with it; a wait that the server asks for, and that is longer, ends all tries.
    pub fn wait_after(
        &self,
        failed: u32,
        lasting: Duration,
        error: &ModelError,
        chance: u16,
    ) -> Option<Duration> {
        let bound = self.bound_of(error).filter(|bound| !bound.is_zero() && self.tries > 1);
        let Some(bound) = bound else { return self.wait(failed, error, chance) };
        let left = bound.checked_sub(lasting).filter(|left| !left.is_zero())?;
        match error {
            ModelError::RateLimited { retry_after: Some(asked), .. }
            | ModelError::Overloaded { retry_after: Some(asked), .. } => {
                // A server that asks for no time at all, time and again, would be asked without end.
                let asked = (*asked).max(if failed < self.tries {
                    Duration::ZERO
                } else {
                    self.first_wait
                });
                (asked <= left).then_some(asked)
            }
            _ => Some(self.doubled(failed, chance).min(left)),
        }
    }

    /// The time for which errors like this one are tried again, whatever the number of tries.
    pub(crate) fn bound_of(&self, error: &ModelError) -> Option<Duration> {
        match error {
            ModelError::Unreachable { .. } => Some(self.reach),
            ModelError::RateLimited { .. } | ModelError::Overloaded { .. } => Some(self.overload),
            _ => None,
        }
    }

    /// How long to wait before trying again after `failed` tries, the last with `error`; none to
    /// give up. The first retry of a cut stream comes at once: the server is there. `chance`, any number,
    /// shortens a wait that the server did not name by up to a half, so that those who failed together do
    /// not come back together.
    pub fn wait(&self, failed: u32, error: &ModelError, chance: u16) -> Option<Duration> {
        if failed >= self.tries || !error.is_passing() {
            return None;
        }
        match error {
            ModelError::RateLimited { retry_after: Some(asked), .. }
            | ModelError::Overloaded { retry_after: Some(asked), .. }
            | ModelError::Server { retry_after: Some(asked), .. } => {
                (*asked <= self.longest_asked).then_some(*asked)
            }
            ModelError::Cut { .. } | ModelError::Stalled { .. } if failed <= 1 => {
                Some(Duration::ZERO)
            }
            _ => Some(self.doubled(failed, chance)),
        }
    }

    fn doubled(&self, failed: u32, chance: u16) -> Duration {
        let doubled = 1_u32.checked_shl(failed.saturating_sub(1)).unwrap_or(u32::MAX);
        let wait = self.first_wait.saturating_mul(doubled).min(self.longest_wait);
        let most = wait / 2;
        let less = most.saturating_mul(chance.into()) / u16::MAX.into();
        wait.saturating_sub(less)
    }
}
