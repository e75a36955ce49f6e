//! The session of a run: a new one, or an earlier one to go on with. What is refused is refused in words,
//! before anything is sent.

use crate::plain::say;
use crate::review::{Counts, say_not_restored};
use crate::sessions::{find, in_words};
use crate::setup;
use anyhow::{Context, anyhow, bail};
use ropewalk_host::time::ago;
use ropewalk_host::{Host, ReviewSnapshot, Sessions};
use ropewalk_protocol::{Mode, Op, Refusal, Reply, Request, ResumedSession, SessionId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Which session is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SessionChoice {
    /// A new one.
    New,
    /// The last one of these roots.
    Last,
    /// The one of this number in the list, or whose id begins so.
    Named(String),
}

/// The id of the session to go on with, which must be of these folders. None for a new one.
pub(super) fn choose(which: SessionChoice, folders: &[String]) -> anyhow::Result<Option<String>> {
    let sessions = setup::sessions();
    let id = match (which, &sessions) {
        (SessionChoice::New, _) => return Ok(None),
        (_, None) => bail!(
            "There is no home folder, so no session is kept: set HOME or XDG_STATE_HOME to go on with one."
        ),
        (SessionChoice::Last, Some(sessions)) => last(sessions, folders)?,
        (SessionChoice::Named(text), Some(sessions)) => find(sessions, &text)?,
    };
    let sessions = sessions.context("sessions are kept")?;
    let Some(listed) = sessions.listed(&id) else {
        // The error says why it can't be read.
        return Err(sessions.read(&id).map_or_else(in_words, |_| anyhow!("{id}")));
    };
    let (own, named): (BTreeSet<_>, BTreeSet<_>) =
        (listed.roots.iter().collect(), folders.iter().collect());
    if own != named {
        bail!(
            "Session {id} works in {}, not in {}: go there, or name its folders with --root.",
            listed.roots.join(", "),
            folders.join(", ")
        );
    }
    Ok(Some(id))
}

/// The last used session of these roots, also if it is in use: another one would be a surprise.
fn last(sessions: &Sessions, roots: &[String]) -> anyhow::Result<String> {
    let found = sessions.of_roots(roots).into_iter().find(|one| one.summary.turns > 0);
    found.map(|one| one.id).with_context(|| {
        format!(
            "There is no session of {} to go on with; `ropewalk sessions --all` lists those of other folders.",
            roots.join(", ")
        )
    })
}

/// Begins a session, or goes on with one; that one is given too.
pub(super) async fn begin(
    host: &Arc<Host>,
    start: Option<String>,
) -> anyhow::Result<(SessionId, Option<ResumedSession>)> {
    let request = match &start {
        None => Op::New { beside: false }.into(),
        Some(id) => Request::to(Some(id.as_str()), Op::Resume { beside: false }),
    };
    match (host.handle(request).await, start) {
        (Ok(Reply::Begun(id, _)), _) => Ok((id, None)),
        (Ok(Reply::Resumed(session)), _) => Ok((session.session.clone(), Some(session))),
        (Err(Refusal { in_use: true, .. }), Some(id)) => bail!(
            "Session {id} is open in another Ropewalk, and only one at a time can have it: end that one, or name another with --session (`ropewalk sessions` lists them)."
        ),
        (Err(refusal), _) => bail!("{}.", refusal.words),
        (Ok(_), _) => bail!("the session did not begin"),
    }
}

/// Says what the user should know of a session that goes on.
pub(super) fn say_resumed(session: &ResumedSession) {
    let turns = match session.turns {
        1 => "1 turn".to_owned(),
        turns => format!("{turns} turns"),
    };
    say(&format!("Going on with “{}” ({}), {turns}.", session.title, ago(session.at)));
    for problem in &session.problems {
        say(problem);
    }
    for words in &session.waiting {
        say(&format!(
            "It ended before it had read this: {words:?}. Say it again if you still want it."
        ));
    }
}

/// Says what of earlier runs waits for the user, and what becomes of it in this mode.
pub(super) fn say_pending(session: &ResumedSession, review: &ReviewSnapshot, mode: Mode) {
    say_not_restored(&session.lost);
    let changes = match Counts::of(review.hunks()).changes {
        0 => return,
        1 => "1 change from before waits".to_owned(),
        count => format!("{count} changes from before wait"),
    };
    let files: BTreeSet<&str> = review.hunks().map(|hunk| &*hunk.file).collect();
    let files: Vec<&str> = files.into_iter().collect();
    let then = match mode {
        Mode::Review => "the diff at the end has all that is proposed",
        // A change shown to the user as a proposal is written when they say so, not because a later run may write.
        Mode::Auto => {
            "they stay proposed, and only what is changed from now on is written; `ropewalk accept` writes them"
        }
        Mode::Plan => "they stay proposed",
    };
    say(&format!("{changes} for review, in {}: {then}.", files.join(", ")));
}
