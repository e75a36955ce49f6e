//! Commands typed as the request of `ropewalk run`, such as `/todos`. Those that need no editor are done, on the session that
//! is named or else the last one; the others are refused with the way to what they do.

use super::feed::Feed;
use super::show::{OutputForm, TurnPrinter};
use super::{kept, signals};
use crate::exit::{CliExit, UsageError};
use crate::plain::{plain, say};
use crate::review::{self, Counts};
use kept::SessionChoice;
use ropewalk_host::Host;
use ropewalk_host::slash::Slash;
use ropewalk_host::team_words;
use ropewalk_host::words::status_in_words;
use ropewalk_protocol::{Event, Level, Op, Reply, Status, TeamOp};
use std::io::Write;
use std::sync::Arc;

/// The command that a request is; None for a request to the model.
///
/// # Errors
/// Words on how to get at it, when it is not one of a run.
pub(super) fn read(prompt: &str) -> Result<Option<Slash>, UsageError> {
    let Some(slash) = Slash::read(prompt) else { return Ok(None) };
    let slash = slash.map_err(UsageError)?;
    match elsewhere(&slash) {
        None => Ok(Some(slash)),
        Some(way) => {
            let prompt: String = prompt.chars().take(40).collect();
            Err(UsageError(format!(
                "{way} For the model, put a blank before it: “ {}”.",
                prompt.trim()
            )))
        }
    }
}

/// The way to what a run does not do; None for what it does.
fn elsewhere(slash: &Slash) -> Option<&'static str> {
    Some(match slash {
        Slash::Stop => "Nothing is running here. Ctrl-C stops a run.",
        Slash::New => {
            "Every run begins another conversation, unless you add --continue or --session."
        }
        Slash::Mode(_) => "Give the mode as --mode auto, --mode review or --mode plan.",
        Slash::Model(_) => "Give the model as --model PROVIDER/NAME; `ropewalk models` lists them.",
        Slash::Next => "`ropewalk diff` shows all changes that wait.",
        Slash::Undo => {
            "Only an editor can take back what was accepted: the files are yours since then."
        }
        Slash::Sessions => "`ropewalk sessions` lists them.",
        Slash::Resume(_) => "--continue goes on with the last session, --session with another.",
        Slash::Allow | Slash::Refuse(_) => {
            "A run asks at the terminal; --allow 'RULE' says beforehand what may run."
        }
        Slash::Accept
        | Slash::Reject(_)
        | Slash::Rewind(_)
        | Slash::Compact(_)
        | Slash::Context
        | Slash::Status
        | Slash::Todos
        | Slash::Tasks(_)
        | Slash::Team(_)
        | Slash::Inbox
        | Slash::Help => return None,
    })
}

/// The session that is meant by a command, or by a request to the model: there is nothing to say of a new one, and nothing
/// to choose for the list of commands.
pub(super) fn meant(which: SessionChoice, slash: Option<&Slash>) -> SessionChoice {
    match (which, slash) {
        (_, Some(Slash::Help)) => SessionChoice::New,
        (SessionChoice::New, Some(_)) => SessionChoice::Last,
        (which, _) => which,
    }
}

/// Does one that other subcommands do as well, or gives it back.
pub(super) fn at_once(
    slash: Slash,
    session: Option<&String>,
    flags: &[String],
) -> Result<anyhow::Result<CliExit>, Slash> {
    match (slash, session) {
        (Slash::Help, _) => {
            print(&Slash::help());
            Ok(Ok(CliExit::Done))
        }
        (Slash::Accept, Some(session)) => Ok(review::accept_all(session.clone(), flags.to_vec())),
        (Slash::Reject(why), Some(session)) => {
            Ok(review::reject_all(session.clone(), why, flags.to_vec()))
        }
        (slash, _) => Err(slash),
    }
}

/// Shows words. Standard output that is closed wants none.
fn print(words: &str) {
    let _ = writeln!(std::io::stdout(), "{}", plain(words));
}

/// Does one on a session that goes on.
pub(super) async fn act(
    host: Arc<Host>,
    session: String,
    slash: Slash,
    form: OutputForm,
) -> anyhow::Result<CliExit> {
    let events = host.subscribe();
    let (id, _) = kept::begin(&host, Some(session)).await?;
    let mut feed = Feed::new(events, id.clone(), Vec::new());
    let mut show = TurnPrinter::new(std::io::stdout(), form, id.to_string().into());
    let said = match slash {
        Slash::Todos => host.snapshot(None).todos.to_string(),
        Slash::Context => status(&host).await?.context.in_words(),
        Slash::Status => {
            let waiting = Counts::of(host.snapshot(None).review.hunks());
            let waiting = (waiting.changes > 0).then(|| waiting.waiting());
            status_in_words(waiting, &status(&host).await?)
        }
        Slash::Tasks(page) => about_team(&host, Op::Tasks { page }).await?,
        Slash::Team(about) => about_team(&host, Op::Team(about)).await?,
        Slash::Inbox => about_team(&host, Op::Inbox).await?,
        slash => {
            drop(signals::interrupt_on_signal(&host));
            let op = match slash {
                Slash::Rewind(turn) => {
                    let last = || host.snapshot(None).turns.last().copied().unwrap_or_default();
                    Op::Rewind(turn.unwrap_or_else(last))
                }
                Slash::Compact(focus) => Op::Compact(focus),
                other => anyhow::bail!("{other:?} is no command of a run"),
            };
            ask(&host, op).await?;
            return Ok(until_done(&mut feed, &mut show).await);
        }
    };
    print(&said);
    Ok(CliExit::Done)
}

async fn ask(host: &Arc<Host>, op: Op) -> anyhow::Result<Reply> {
    host.handle(op.into()).await.map_err(|refusal| anyhow::anyhow!("{}.", refusal.words))
}

/// The reply about the team in words.
async fn about_team(host: &Arc<Host>, op: Op) -> anyhow::Result<String> {
    let page = if let Op::Tasks { page } = op { page } else { None };
    let about = if let Op::Team(about) = &op { about.clone() } else { TeamOp::Show };
    let reply = ask(host, op).await?;
    Ok(team_words::in_words(&reply, page, &about).unwrap_or_default())
}

async fn status(host: &Arc<Host>) -> anyhow::Result<Status> {
    match ask(host, Op::Status).await? {
        Reply::Status(status) => Ok(status),
        _ => anyhow::bail!("the session does not say how it stands"),
    }
}

/// Shows what comes until it is done, or said why it is not.
async fn until_done(feed: &mut Feed, show: &mut TurnPrinter<impl Write>) -> CliExit {
    while let Some(told) = feed.next().await {
        // Standard output that is closed changes nothing of what is done.
        let _ = show.event(&told.event);
        match told.event {
            Event::Compacted { .. } => return CliExit::Done,
            Event::Rewound { turn, prompt } => {
                say(&format!("Request {turn} and what came after it are taken back: {prompt}"));
                return CliExit::Done;
            }
            Event::Notice { level: Level::Info, .. } => return CliExit::Done,
            Event::Notice { .. } => return CliExit::Error,
            _ => {}
        }
    }
    CliExit::Error
}
