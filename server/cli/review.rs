//! `ropewalk diff`, `accept` and `reject`: the review of what a session proposes, without an editor.
//!
//! Accepting is done as behind an editor for files that are not open: with ledger and journal, so that it can be undone
//! later. A session that another Ropewalk has open is reviewed there.

use crate::exit::{CliExit, UsageError};
use crate::in_words::runtime;
use crate::patch::{printed, say_left_out};
use crate::plain::{plain_line, say};
use crate::sessions::{find, here, in_words};
use crate::terminal::{OutputLook, above};
use crate::{models, setup};
use anyhow::{Context, bail};
use clap::Args;
use ropewalk_agent::journal::store::SessionListing;
use ropewalk_config::RealEnvironment;
use ropewalk_host::time::ago;
use ropewalk_host::{Host, HostOptions, ReviewSnapshot, Sessions};
use ropewalk_protocol::{Event, Op, Refusal, Reply, Request, Selection, SessionEvent};
use ropewalk_workspace::{DocId, Hunk, HunkId, HunkKind, Roots, Workspace};
use std::collections::{BTreeSet, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Arguments of `ropewalk diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    which: WhichArgs,
}

/// Arguments of `ropewalk accept`.
#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    #[command(flatten)]
    which: WhichArgs,
}

/// Arguments of `ropewalk reject`.
#[derive(Debug, Args)]
pub(crate) struct RejectArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// Why; the model is told.
    #[arg(long, value_name = "WORDS")]
    reason: Option<String>,
}

/// Which changes are meant.
#[derive(Debug, Args)]
struct WhichArgs {
    /// Only those of these files, or of the files in these folders.
    files: Vec<PathBuf>,
    /// Changes of this session: its number in `ropewalk sessions`, or the start of its id. Without it the last session
    /// of the current folder is meant.
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

/// How long the rest of a session may take to end.
const LEAVE: Duration = Duration::from_millis(500);

/// Prints the diff.
pub(crate) fn diff(args: DiffArgs) -> anyhow::Result<CliExit> {
    let sessions = setup::sessions().context(setup::NO_HOME)?;
    let Some(meant) = meant(&sessions, &args.which)? else { return Ok(CliExit::Done) };
    let past = sessions.read(&meant.id).map_err(in_words)?;
    let root = |folder| (String::new(), folder);
    let roots = folders_of(&past.head.roots)?.into_iter().map(root).collect();
    let workspace = Workspace::new(Roots::new(roots));
    let fork = past.fork(&workspace);
    say_not_restored(&past.not_restored(&workspace));
    let mut patch = fork.patch(&workspace);
    if !args.which.files.is_empty() {
        chosen(fork.hunks().iter(), &args.which.files)?;
        let wanted = names(&args.which.files)?;
        let is_in = |path: &PathBuf| wanted.iter().any(|name| path.starts_with(name));
        patch.files.retain(|file| file.paths.iter().any(is_in));
    }
    if fork.hunks().is_empty() {
        say_nothing_waits(&sessions, &meant);
    }
    // One that is closed has seen enough.
    let _ = above(|| {
        let mut out = std::io::stdout();
        out.write_all(&printed(&patch, OutputLook::of_output())).and_then(|()| out.flush())
    });
    say_left_out(&patch);
    Ok(CliExit::Done)
}

/// Writes the changes. `flags` are those of `-c`.
pub(crate) fn accept(args: AcceptArgs, flags: Vec<String>) -> anyhow::Result<CliExit> {
    review(args.which, flags, "accept", Op::Accept)
}

/// Drops the changes. `flags` are those of `-c`.
pub(crate) fn reject(args: RejectArgs, flags: Vec<String>) -> anyhow::Result<CliExit> {
    let RejectArgs { which, reason } = args;
    review(which, flags, "reject", |selection| Op::Reject(selection, reason))
}

/// Writes all changes of a session into the files.
pub(crate) fn accept_all(session: String, flags: Vec<String>) -> anyhow::Result<CliExit> {
    accept(AcceptArgs { which: WhichArgs::all_of(session) }, flags)
}

/// Drops all changes of a session.
pub(crate) fn reject_all(
    session: String,
    reason: Option<String>,
    flags: Vec<String>,
) -> anyhow::Result<CliExit> {
    reject(RejectArgs { which: WhichArgs::all_of(session), reason }, flags)
}

impl WhichArgs {
    fn all_of(session: String) -> Self {
        Self { files: Vec::new(), session: Some(session) }
    }
}

fn review(
    which: WhichArgs,
    flags: Vec<String>,
    verb: &str,
    op: impl FnOnce(Selection) -> Op,
) -> anyhow::Result<CliExit> {
    let sessions = setup::sessions().context(setup::NO_HOME)?;
    let Some(meant) = meant(&sessions, &which)? else { return Ok(CliExit::Done) };
    let folders = folders_of(&meant.roots)?;
    let environment = Arc::new(RealEnvironment);
    // Nothing is prompted, so nobody is asked, and no team goes on.
    let own = HostOptions::new(models::factory(environment.clone()), environment);
    let options = HostOptions { flags, interactive: false, leads: false, ..own };
    let host = setup::host(options, folders);
    let runtime =
        runtime(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all())?;
    let done = runtime.block_on(async {
        let events = host.subscribe();
        resume(&host, &meant, verb).await?;
        let before = host.snapshot(None);
        let selection = chosen(before.review.hunks(), &which.files)?;
        if before.review.pending() == 0 {
            say_nothing_waits(&sessions, &meant);
            return Ok(CliExit::Done);
        }
        let failed = reviewed(&host, events, op(selection)).await;
        let left = host.snapshot(None);
        // From then on the journal has it all.
        let _ = host.handle(Op::Close.into()).await;
        Ok(told(verb, &before.review, &left.review, failed))
    });
    runtime.shutdown_timeout(LEAVE);
    done
}

/// Opens the session, and says what of it can't be brought back.
async fn resume(host: &Arc<Host>, meant: &SessionListing, verb: &str) -> anyhow::Result<()> {
    let request = Request::to(Some(meant.id.as_str()), Op::Resume { beside: false });
    match host.handle(request).await {
        Ok(Reply::Resumed(session)) => say_not_restored(&session.lost),
        Err(Refusal { in_use: true, .. }) => bail!(
            "{} is open in an editor or another Ropewalk: {verb} there, or close it first.",
            named(meant)
        ),
        Err(refusal) => bail!("{}.", refusal.words),
        Ok(_) => bail!("the session was not opened"),
    }
    Ok(())
}

/// Does it, and gives what could not be done.
async fn reviewed(
    host: &Arc<Host>,
    mut events: mpsc::UnboundedReceiver<SessionEvent>,
    op: Op,
) -> Vec<String> {
    if let Err(refusal) = host.handle(op.into()).await {
        return vec![refusal.words];
    }
    loop {
        let Some(SessionEvent { session, event, .. }) = events.recv().await else {
            return vec!["the session has broken down; the log has the details".to_owned()];
        };
        match (session, event) {
            (Some(_), Event::Reviewed { failed, .. }) => return failed,
            (Some(_), Event::Notice { message, .. }) => say(&message),
            _ => {}
        }
    }
}

/// Says what was done.
fn told(
    verb: &str,
    before: &ReviewSnapshot,
    left: &ReviewSnapshot,
    failed: Vec<String>,
) -> CliExit {
    let ids: HashSet<HunkId> = left.hunks().map(|hunk| hunk.id).collect();
    let done = Counts::of(before.hunks().filter(|hunk| !ids.contains(&hunk.id)));
    for why in &failed {
        say(&format!("Not done: {why}."));
    }
    if done.changes > 0 {
        say(&match verb {
            "accept" => format!("{done} accepted and written."),
            _ => format!("{done} rejected."),
        });
    }
    let left = Counts::of(left.hunks());
    if left.changes > 0 {
        say(&format!("{}.", left.waiting()));
    }
    if failed.is_empty() { CliExit::Done } else { CliExit::Error }
}

/// How many changes in how many files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) changes: usize,
    pub(crate) files: usize,
}

impl Counts {
    pub(crate) fn of<'a>(hunks: impl IntoIterator<Item = &'a Hunk>) -> Self {
        let files: Vec<&DocId> = hunks.into_iter().map(|hunk| &hunk.doc).collect();
        Self { changes: files.len(), files: files.iter().collect::<BTreeSet<_>>().len() }
    }

    /// As in `3 changes in 2 files wait for review`.
    pub(crate) fn waiting(self) -> String {
        format!("{self} {} for review", if self.changes == 1 { "waits" } else { "wait" })
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let s = |count| if count == 1 { "" } else { "s" };
        let Self { changes, files } = *self;
        write!(f, "{changes} change{} in {files} file{}", s(changes), s(files))
    }
}

/// The session that is meant; none, and said so, where there is none at all.
fn meant(sessions: &Sessions, which: &WhichArgs) -> anyhow::Result<Option<SessionListing>> {
    let folders = setup::current_name();
    if let Some(text) = &which.session {
        let id = find(sessions, text)?;
        let listed = sessions.listed(&id);
        return match listed {
            Some(listed) => Ok(Some(listed)),
            // The error says why it can't be read.
            None => Err(sessions.read(&id).map_or_else(in_words, |_| anyhow::anyhow!("{id}"))),
        };
    }
    let last = here(sessions.list(), &folders).into_iter().next();
    if last.is_none() {
        say(&format!("There is no session of {} yet.", folders.join(", ")));
    }
    Ok(last)
}

/// Says that nothing waits, and where something does.
fn say_nothing_waits(sessions: &Sessions, meant: &SessionListing) {
    say(&format!("Nothing waits for review in {}.", named(meant)));
    let all = here(sessions.list(), &meant.roots);
    let others = (1..).zip(&all).filter(|(_, one)| one.id != meant.id && one.summary.pending > 0);
    for (number, other) in others.take(3) {
        let changes = match other.summary.pending {
            1 => "1 change waits".to_owned(),
            count => format!("{count} changes wait"),
        };
        say(&format!("{changes} in {}: `ropewalk diff --session {number}`.", named(other)));
    }
}

/// Says what is not among the changes any more, although it waited.
pub(crate) fn say_not_restored(changes: &[String]) {
    for change in changes {
        say(&format!("A change could not be brought back: {change}"));
    }
}

/// A session by its title, for people.
fn named(one: &SessionListing) -> String {
    let title = match plain_line(&one.summary.title) {
        empty if empty.trim().is_empty() => "the session".to_owned(),
        title => format!("“{}”", crate::terminal::cut(&title, 60)),
    };
    format!("{title} ({})", ago(one.summary.at))
}

/// The folders of a session, which must still be there.
fn folders_of(folders: &[String]) -> anyhow::Result<Vec<PathBuf>> {
    for folder in folders {
        if !Path::new(folder).is_dir() {
            bail!("The session works in {folder}, which is not there any more.");
        }
    }
    Ok(folders.iter().map(PathBuf::from).collect())
}

/// The changes of these files, all if none is named.
fn chosen<'a>(
    hunks: impl Iterator<Item = &'a Hunk> + Clone,
    files: &[PathBuf],
) -> anyhow::Result<Selection> {
    if files.is_empty() {
        return Ok(Selection::All);
    }
    let mut ids = Vec::new();
    for file in files {
        let wanted = names(std::slice::from_ref(file))?;
        let is_in = |doc: &DocId| {
            doc.path().is_some_and(|path| wanted.iter().any(|name| path.starts_with(name)))
        };
        let is_meant = |hunk: &&Hunk| match &hunk.kind {
            HunkKind::Rename { from } => is_in(&hunk.doc) || is_in(&DocId::from_uri(from)),
            _ => is_in(&hunk.doc),
        };
        let before = ids.len();
        ids.extend(hunks.clone().filter(is_meant).map(|hunk| hunk.id.0));
        if ids.len() == before {
            let shown = file.display();
            bail!(UsageError(format!(
                "Nothing waits for review in {shown}: `ropewalk diff` shows all that does."
            )));
        }
    }
    Ok(Selection::Hunks(ids))
}

/// Paths of these names: with links resolved, and with those resolved that lead to them. They need not exist.
fn names(files: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut out = Vec::new();
    for file in files {
        let file = std::path::absolute(file)
            .with_context(|| format!("{} is not the name of a file", file.display()))?;
        out.extend(file.canonicalize());
        let existing = file.ancestors().skip(1).find_map(|above| {
            let rest = file.strip_prefix(above).ok()?;
            Some(above.canonicalize().ok()?.join(rest))
        });
        out.extend(existing);
    }
    Ok(out)
}
