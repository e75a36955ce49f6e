//! The way of bundles from the board into the lead's review: in their order, each whole or not at all.

use crate::error::TeamError;
use crate::handover::id_of;
use crate::station::Station;
use ropewalk_agent::Session;
use ropewalk_agent::bundles::{BundleNews, BundleRefusal, IncomingBundle};
use ropewalk_board::{BundleRecord, LEAD, Team};
use ropewalk_workspace::TakeError;

/// Most bundles that are taken in at one look.
const AT_ONCE: i64 = 16;

/// Most characters of a refusal that go into a task's notes.
const NOTE: usize = 4_000;

/// Takes in what waits. `is_own` says of a member whether it is a teammate of this process, whose changes mode `auto`
/// may publish.
///
/// # Errors
/// When the board can't be reached.
pub(crate) async fn take_all(
    station: &Station,
    session: &Session,
    is_own: impl Fn(&str) -> bool,
) -> Result<(), TeamError> {
    let team = station.team();
    for waiting in team.waiting_bundles(AT_ONCE).await? {
        let content = team.bundle_content(waiting.number).await?;
        let bundle = match ropewalk_workspace::Bundle::read(&content) {
            Ok(bundle) => bundle,
            Err(error) => {
                refuse(team, &waiting, &error.to_string()).await?;
                continue;
            }
        };
        let may_publish = is_own(&waiting.member);
        let incoming = IncomingBundle { id: id_of(&waiting), bundle, may_publish };
        match session.take_bundle(incoming).await {
            Ok(_) => drop(team.take_bundle(waiting.number).await?),
            // It waits for the session that goes on.
            Err(BundleRefusal::Ended) => return Ok(()),
            Err(BundleRefusal::Take(error)) => {
                refuse(team, &waiting, &refusal(&error)).await?;
            }
        }
    }
    Ok(())
}

/// Refuses a bundle. Its task goes back to the board with the reason; where there is none, the maker is told.
async fn refuse(team: &Team, bundle: &BundleRecord, words: &str) -> Result<(), TeamError> {
    let note: String = words.chars().take(NOTE).collect();
    let status = team.refuse_bundle(bundle.number, &note).await?;
    tracing::info!(bundle = bundle.number, ?status, "a bundle was refused");
    if status.is_none()
        && let Err(error) = team.post(LEAD, &bundle.member, "bundle_refused", &note).await
    {
        tracing::info!(%error, member = bundle.member, "a refusal was not told");
    }
    Ok(())
}

fn refusal(error: &TakeError) -> String {
    let mut words = error.to_string();
    if let TakeError::Conflict(conflicts) = error {
        for one in conflicts {
            words.push_str(&format!(
                "\n{}: wanted in the place of\n{}\nthis:\n{}\nbut there is now:\n{}",
                one.path, one.old, one.new, one.now
            ));
        }
    }
    words
}

/// Tells the makers and the board what becomes of changes. What could not be told stays among the news, to be told again.
pub(crate) async fn pass_on(team: &Team, news: &mut Vec<BundleNews>) {
    for told in std::mem::take(news) {
        if let Err(error) = pass_one_on(team, &told).await {
            tracing::info!(%error, "news of changes were not passed on");
            news.push(told);
        }
    }
}

async fn pass_one_on(team: &Team, news: &BundleNews) -> Result<(), TeamError> {
    match news {
        BundleNews::Rejected { member, words, .. } => {
            if let Err(error) = team.post(LEAD, member, "rejected", words).await {
                tracing::info!(%error, member = &**member, "a rejection was not told");
            }
        }
        BundleNews::TakenBack(ids) => {
            for id in ids {
                let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
                let task = id.task.map(number);
                team.offer_again(&id.member, task, number(id.attempt)).await?;
            }
        }
    }
    Ok(())
}
