//! The way of a member's changes from its fork to the board: with the task they were made for, or without one.

use crate::error::TeamError;
use crate::station::Station;
use crate::words::not_completed;
use ropewalk_agent::Session;
use ropewalk_agent::bundles::{BundleId, TaskStart};
use ropewalk_board::{BoardError, ReturnReason, Task};
use ropewalk_workspace::Bundle;
use std::time::Duration;

/// Writes the session's changes since its start as the board keeps them; None if there are none.
/// Gives the files that were left out, too.
async fn written(session: &Session) -> Result<(Option<Vec<u8>>, Vec<String>), TeamError> {
    let (bundle, left_out) = session.bundle().await.map_err(|refusal| refusal.to_string())?;
    if bundle.is_empty() {
        return Ok((None, left_out));
    }
    let content = bundle.write().map_err(|error| error.to_string())?;
    Ok((Some(content), left_out))
}

/// Completes a task with all that was changed for it. Waits while the board can't be reached. Gives words for the member
/// if it came to nothing.
pub(crate) async fn complete(
    station: &Station,
    session: &Session,
    task: &Task,
    summary: &str,
) -> Option<String> {
    let number = task.number;
    let content = match written(session).await {
        Ok((content, left_out)) if left_out.is_empty() => content,
        Ok((content, left_out)) => {
            let files = left_out.join(", ");
            let words = format!("These files may hold keys, and were left out: {files}");
            if let Err(error) = station.team().note(station.name(), number, &words).await {
                tracing::info!(%error, "a note was not written");
            }
            content
        }
        Err(error) => {
            let words = error.to_string();
            give_back(station, &ReturnReason::Failed(words.clone())).await;
            return Some(not_completed(number, &words));
        }
    };
    let claim = task.claim();
    let done =
        until_reached(station, || station.membership.complete(claim, summary, content.as_deref()));
    let done = done.await;
    station.set_task(None);
    done.err().map(|error| not_completed(number, &error.to_string()))
}

/// Hands over what was changed without a task, if that is anything. Gives words for the member about what could not be.
pub(crate) async fn hand_over(station: &Station, session: &Session) -> Option<String> {
    let content = match written(session).await {
        Ok((Some(content), _)) => content,
        Ok((None, _)) => return None,
        Err(error) => return Some(format!("Your changes can't be handed over: {error}.")),
    };
    let title = session.title();
    let done = until_reached(station, || station.membership.hand_over(&title, &content));
    done.await.err().map(|error| format!("Your changes were not handed over: {error}"))
}

/// Returns the member's task, if it has one.
pub(crate) async fn give_back(station: &Station, reason: &ReturnReason) {
    let Some(task) = station.task() else { return };
    let done = until_reached(station, || station.membership.give_back(task.claim(), reason));
    if let Err(error) = done.await {
        tracing::info!(%error, task = task.number, "a task was not returned");
    }
    station.set_task(None);
}

/// Returns all that the board says is the member's, uncounted: a claim that no work has begun on, too.
pub(crate) async fn give_all_back(station: &Station) {
    let held = match until_reached(station, || station.membership.held()).await {
        Ok(held) => held,
        Err(error) => return tracing::info!(%error, "a member's tasks were not returned"),
    };
    for task in held {
        station.set_task(Some(task));
        give_back(station, &ReturnReason::Leaving).await;
    }
}

/// Asks the board for something that may be asked twice, until it has answered. A member that is stopped waits for nothing.
async fn until_reached<T, F>(station: &Station, ask: impl Fn() -> F) -> Result<T, BoardError>
where
    F: Future<Output = Result<T, BoardError>>,
{
    loop {
        match ask().await {
            Err(BoardError::Unreachable { retry_in, reason }) => {
                tracing::info!(reason, "the board can't be reached");
                tokio::select! {
                    () = station.clock.sleep(retry_in.max(Duration::from_secs(1))) => {}
                    () = station.stopped() => {
                        return Err(BoardError::Unreachable { retry_in, reason });
                    }
                }
            }
            answer => return answer,
        }
    }
}

/// The name of a board's bundle, as sessions know it.
pub(crate) fn id_of(bundle: &ropewalk_board::BundleRecord) -> BundleId {
    let number = |count: i64| u64::try_from(count).unwrap_or(0);
    BundleId {
        member: bundle.member.as_str().into(),
        task: bundle.claim.map(|claim| number(claim.task)),
        attempt: bundle.claim.map_or(number(bundle.number), |claim| number(claim.attempt)),
    }
}

/// The files that work on a task starts from, or work without one: the lead's, if it is in this process, and what the tasks
/// that it waited for have brought.
///
/// # Errors
/// When the board can't be reached, or a bundle can't be read.
pub(crate) async fn start_of(
    station: &Station,
    lead: Option<Session>,
    task: Option<i64>,
) -> Result<TaskStart, TeamError> {
    // Asked before the files: one that is taken in between is in both, and melts; the other way round it would be in neither.
    let taken = lead.as_ref().map(Session::taken_bundles).unwrap_or_default();
    let fork = match lead {
        Some(session) => Some(session.fork().await),
        None => None,
    };
    let mut bundles = Vec::new();
    let before = match task {
        Some(number) => station.team().bundles_before(number).await?,
        None => Vec::new(),
    };
    for one in before {
        let id = id_of(&one);
        if !taken.contains(&id) {
            let content = station.team().bundle_content(one.number).await?;
            let bundle = Bundle::read(&content).map_err(|error| error.to_string())?;
            bundles.push((id, bundle));
        }
    }
    Ok(TaskStart { lead: fork, bundles })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::{Identity, TeamOptions};
    use futures::future::{BoxFuture, pending, ready};
    use ropewalk_board::{Board, BoardOptions, BoardPlace, NewMember};
    use std::sync::Arc;

    /// A clock that stands still.
    struct StoppedClock;

    impl Clock for StoppedClock {
        fn now(&self) -> Duration {
            Duration::ZERO
        }

        fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
            Box::pin(pending())
        }
    }

    #[tokio::test]
    async fn a_member_that_is_stopped_waits_for_no_board() {
        let dir = tempfile::tempdir().unwrap();
        let place = BoardPlace::File(dir.path().join("board.sqlite"));
        let board = Board::open(place.clone(), BoardOptions::default()).await.unwrap();
        let team = board.team("T", "s", "w").await.unwrap();
        let new = NewMember { name: "alice".to_owned(), ..NewMember::default() };
        let membership = team.join(&new).await.unwrap();
        let (name, team) = ("alice".to_owned(), "T".to_owned());
        let identity = Identity { name, role: String::new(), team };
        let clock = Arc::new(StoppedClock);
        let station = Station::new(identity, membership, TeamOptions::at(place), clock);
        let is_away = || {
            let (reason, retry_in) = ("it is away".to_owned(), Duration::from_secs(1));
            ready(Err::<(), _>(BoardError::Unreachable { reason, retry_in }))
        };
        let mut asking = std::pin::pin!(until_reached(&station, is_away));
        assert!(futures::poll!(&mut asking).is_pending());
        station.stop();
        let answer = tokio::time::timeout(Duration::from_secs(30), asking).await.unwrap();
        assert!(matches!(answer, Err(BoardError::Unreachable { .. })), "{answer:?}");
    }
}
