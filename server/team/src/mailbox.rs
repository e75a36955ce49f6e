//! A member's inbox, read before each request to its model. A message counts as read once it is in the journal: a crash
//! repeats one, and loses none.

use crate::owner::ToolOwner;
use crate::station::Station;
use crate::words::message;
use futures::FutureExt;
use futures::future::BoxFuture;
use ropewalk_agent::StepHook;
use ropewalk_protocol::Content;
use std::collections::BTreeSet;
use std::time::Duration;

/// Most messages that join one request.
const MOST: usize = 20;

/// Longest time for which a step waits for its messages.
const PATIENCE: Duration = Duration::from_secs(1);

/// See the module.
pub(crate) struct Mailbox(pub(crate) ToolOwner);

impl Mailbox {
    async fn unread(&self) -> Vec<Content> {
        let Some(station) = self.0.known() else { return Vec::new() };
        // The results that had these are in the journal by now.
        let given = station.given();
        if !given.is_empty() {
            mark(&station, &given).await;
        }
        let limit = i64::try_from(MOST + given.len()).unwrap_or(i64::MAX);
        let messages = match station.membership.inbox(limit).await {
            Ok(messages) => messages,
            Err(error) => {
                tracing::info!(%error, "messages could not be read");
                return Vec::new();
            }
        };
        let new: Vec<_> =
            messages.iter().filter(|one| !given.contains(&one.number)).take(MOST).collect();
        station.give(new.iter().map(|one| one.number));
        new.into_iter().map(|one| Content::text(message(one) + "\n")).collect()
    }
}

async fn mark(station: &Station, numbers: &BTreeSet<i64>) {
    let list: Vec<i64> = numbers.iter().copied().collect();
    match station.membership.mark_read(&list).await {
        Ok(()) => station.forget_given(numbers),
        // They stay noted, and are marked before the next request.
        Err(error) => tracing::info!(%error, "messages could not be marked as read"),
    }
}

impl StepHook for Mailbox {
    fn mail(&self) -> BoxFuture<'_, Vec<Content>> {
        Box::pin(async { tokio::time::timeout(PATIENCE, self.unread()).await.unwrap_or_default() })
    }

    fn mail_kept(&self) -> BoxFuture<'_, ()> {
        let Some(station) = self.0.known() else { return Box::pin(async {}) };
        // Beside the request, which waits for no commit. What can't be marked now is marked before the next request.
        let given = station.given();
        tokio::spawn(
            async move {
                let _ = tokio::time::timeout(PATIENCE, mark(&station, &given)).await;
            }
            .boxed(),
        );
        Box::pin(async {})
    }
}
