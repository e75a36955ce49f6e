//! The session of a run: a new one, or an earlier one to go on with. What is refused is refused in words,
//! before anything is sent.

use crate::plain::say;
use crate::review::say_not_restored;
use crate::sessions::{find, in_words};
use crate::setup;
use anyhow::{Context, bail};
use ropewalk_agent::journal::store::make_private_folder;
use ropewalk_agent::time::ago;
use ropewalk_agent::{Journal, Past, Session, SessionError, Sessions};
use ropewalk_protocol::Mode;
use ropewalk_workspace::Roots;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Which session is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// A new one.
    New,
    /// The last one of these roots.
    Last,
    /// The one of this number in the list, or whose id begins so.
    Named(String),
}

/// Start of a session that is kept.
pub(super) struct Kept {
    pub(super) id: Arc<str>,
    pub(super) journal: Journal,
    pub(super) past: Option<Past>,
    /// Where whole outputs go.
    pub(super) outputs: Option<PathBuf>,
}

/// Opens the session, and says what the user should know of one that goes on.
pub(super) fn open(which: Which, roots: &Roots) -> anyhow::Result<Kept> {
    let names = setup::names(roots);
    let sessions = setup::sessions();
    let Some(start) = (match (&which, &sessions) {
        (Which::New, _) => None,
        (_, None) => bail!(
            "There is no home folder, so no session is kept: set HOME or XDG_STATE_HOME to go on with one."
        ),
        (Which::Last, Some(sessions)) => Some(last(sessions, &names)?),
        (Which::Named(text), Some(sessions)) => Some(find(sessions, text)?),
    }) else {
        let id = sessions.as_ref().map_or_else(Sessions::new_id, Sessions::free_id);
        let journal = match &sessions {
            Some(sessions) => sessions.begin(&id, names),
            None => Journal::none(),
        };
        return Ok(Kept { outputs: outputs(sessions, &id), id: id.into(), journal, past: None });
    };
    let (journal, past) = sessions.as_ref().context("sessions are kept")?.open(&start).map_err(
        |error| match error {
            SessionError::InUse(id) => anyhow::anyhow!(
                "Session {id} is open in another Ropewalk, and only one at a time can have it: end that one, or name another with --session (`ropewalk sessions` lists them)."
            ),
            other => in_words(other),
        },
    )?;
    let id = past.head.session.clone();
    if !past.head.is_of(&names) {
        bail!(
            "Session {id} works in {}, not in {}: go there, or name its folders with --root.",
            past.head.roots.join(", "),
            names.join(", ")
        );
    }
    let turns = match past.turns.len() {
        1 => "1 turn".to_owned(),
        turns => format!("{turns} turns"),
    };
    say(&format!("Going on with “{}” ({}), {turns}.", past.shown_title(), ago(past.at)));
    for problem in &past.problems {
        say(problem);
    }
    for words in &past.waiting {
        say(&format!(
            "It had not taken up when it ended: {words:?}. Say it again if it still holds."
        ));
    }
    Ok(Kept { outputs: outputs(sessions, &id), id: id.into(), journal, past: Some(past) })
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

/// The folder of whole outputs, made now.
fn outputs(sessions: Option<Sessions>, id: &str) -> Option<PathBuf> {
    let folder = sessions?.outputs(id);
    make_private_folder(&folder)
        .inspect_err(|error| tracing::warn!(%error, "whole outputs can't be kept"))
        .is_ok()
        .then_some(folder)
}

/// Says what of earlier runs waits for the user, and what becomes of it in this mode.
pub(super) fn say_pending(session: &Session, mode: Mode) {
    say_not_restored(session.not_restored());
    let mut files: BTreeMap<String, usize> = BTreeMap::new();
    for hunk in session.hunks() {
        *files.entry(hunk.file).or_default() += 1;
    }
    let changes = match files.values().sum() {
        0 => return,
        1 => "1 change from before waits".to_owned(),
        count => format!("{count} changes from before wait"),
    };
    let files: Vec<String> = files.into_keys().collect();
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
