//! `ropewalk diff`, `accept` and `reject`: the review of what a session proposes, without an editor.
//!
//! Accepting is done as behind an editor for files that are not open: with ledger and journal, so that it can be undone
//! later. A session that another Ropewalk has open is reviewed there.

use crate::exit::{Exit, Usage};
use crate::in_words::runtime;
use crate::patch::{printed, say_left_out};
use crate::plain::{plain_line, say};
use crate::sessions::{find, here, in_words};
use crate::terminal::{Look, above};
use crate::{models, setup};
use anyhow::{Context, bail};
use clap::Args;
use ropewalk_agent::journal::store::Listed;
use ropewalk_agent::session::SessionConfig;
use ropewalk_agent::time::ago;
use ropewalk_agent::{Session, SessionError, Sessions};
use ropewalk_config::RealEnvironment;
use ropewalk_protocol::{Event, Op, Selection};
use ropewalk_tools::{NoCommands, Registry};
use ropewalk_workspace::publish::Bounds;
use ropewalk_workspace::{DocId, Hunk, HunkKind, NoEditor, Roots, Workspace};
use std::collections::BTreeSet;
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
pub(crate) fn diff(args: DiffArgs) -> anyhow::Result<Exit> {
    let sessions = setup::sessions().context(setup::NO_HOME)?;
    let Some(meant) = meant(&sessions, &args.which)? else { return Ok(Exit::Done) };
    let past = sessions.read(&meant.id).map_err(in_words)?;
    let workspace = Workspace::new(roots_of(&past.head.roots)?);
    let fork = past.fork(&workspace);
    say_not_restored(&past.not_restored(&workspace));
    let mut patch = fork.patch(&workspace);
    if !args.which.files.is_empty() {
        chosen(&fork.hunks(), &args.which.files)?;
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
        out.write_all(&printed(&patch, Look::of_output())).and_then(|()| out.flush())
    });
    say_left_out(&patch);
    Ok(Exit::Done)
}

/// Writes the changes. `flags` are those of `-c`.
pub(crate) fn accept(args: AcceptArgs, flags: Vec<String>) -> anyhow::Result<Exit> {
    review(args.which, flags, "accept", Op::Accept)
}

/// Drops the changes. `flags` are those of `-c`.
pub(crate) fn reject(args: RejectArgs, flags: Vec<String>) -> anyhow::Result<Exit> {
    let RejectArgs { which, reason } = args;
    review(which, flags, "reject", |selection| Op::Reject(selection, reason))
}

fn review(
    which: WhichArgs,
    flags: Vec<String>,
    verb: &str,
    op: impl FnOnce(Selection) -> Op,
) -> anyhow::Result<Exit> {
    let sessions = setup::sessions().context(setup::NO_HOME)?;
    let Some(meant) = meant(&sessions, &which)? else { return Ok(Exit::Done) };
    let (journal, past) = sessions.open(&meant.id).map_err(|error| match error {
        SessionError::InUse(_) => anyhow::anyhow!(
            "{} is open in an editor or another Ropewalk: {verb} there, or close it first.",
            named(&meant)
        ),
        other => in_words(other),
    })?;
    let roots = roots_of(&past.head.roots)?;
    let folders: Vec<PathBuf> = roots.iter().map(|root| root.path().to_owned()).collect();
    let config = setup::config(folders, flags);
    let (settings, _) = ropewalk_host::settings::settings_of(
        &config,
        &models::factory(Arc::new(RealEnvironment)),
        false,
    );
    let id: Arc<str> = meant.id.as_str().into();
    let outputs = Some(sessions.outputs(&id)).filter(|folder| folder.exists());
    let publish = Bounds::default();
    let config = SessionConfig {
        id,
        settings,
        // Nothing is prompted, so nothing is called.
        tools: Registry::new(),
        runner: Arc::new(NoCommands),
        outputs,
        publish,
        journal,
        past: Some(past),
        approvals: Arc::default(),
    };
    let runtime =
        runtime(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all())?;
    let done = runtime.block_on(async {
        let (sender, events) = mpsc::unbounded_channel();
        let workspace = Arc::new(Workspace::new(roots));
        let session = Session::start(config, workspace, Arc::new(NoEditor), sender);
        say_not_restored(session.not_restored());
        let before = session.hunks();
        let selection = chosen(&before, &which.files)?;
        if before.is_empty() {
            say_nothing_waits(&sessions, &meant);
            return Ok(Exit::Done);
        }
        let failed = reviewed(&session, events, op(selection)).await;
        Ok(told(verb, &before, &session.hunks(), failed))
    });
    runtime.shutdown_timeout(LEAVE);
    done
}

/// Does it, and gives what could not be done, once the journal has it all.
async fn reviewed(
    session: &Session,
    mut events: mpsc::UnboundedReceiver<Event>,
    op: Op,
) -> Vec<String> {
    session.send(op);
    let failed = loop {
        match events.recv().await {
            Some(Event::Reviewed { failed, .. }) => break failed,
            Some(Event::Notice { message, .. }) => say(&message),
            Some(_) => {}
            None => break vec!["the session has broken down; the log has the details".to_owned()],
        }
    };
    session.settle().await;
    failed
}

/// Says what was done.
fn told(verb: &str, before: &[Hunk], left: &[Hunk], failed: Vec<String>) -> Exit {
    let is_left = |hunk: &&Hunk| left.iter().any(|own| own.id == hunk.id);
    let done = Counts::of(before.iter().filter(|hunk| !is_left(hunk)));
    for why in &failed {
        say(&format!("Not done: {why}."));
    }
    if done.changes > 0 {
        say(&match verb {
            "accept" => format!("{done} accepted and written."),
            _ => format!("{done} rejected."),
        });
    }
    let left = Counts::of(left);
    if left.changes > 0 {
        say(&format!("{}.", left.waiting()));
    }
    if failed.is_empty() { Exit::Done } else { Exit::Error }
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
fn meant(sessions: &Sessions, which: &WhichArgs) -> anyhow::Result<Option<Listed>> {
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
fn say_nothing_waits(sessions: &Sessions, meant: &Listed) {
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
fn named(one: &Listed) -> String {
    let title = match plain_line(&one.summary.title) {
        empty if empty.trim().is_empty() => "the session".to_owned(),
        title => format!("“{}”", crate::terminal::cut(&title, 60)),
    };
    format!("{title} ({})", ago(one.summary.at))
}

/// The folders of a session, which must still be there.
fn roots_of(folders: &[String]) -> anyhow::Result<Roots> {
    for folder in folders {
        if !Path::new(folder).is_dir() {
            bail!("The session works in {folder}, which is not there any more.");
        }
    }
    let root = |folder: &String| (String::new(), PathBuf::from(folder));
    Ok(Roots::new(folders.iter().map(root).collect()))
}

/// The changes of these files, all if none is named.
fn chosen(hunks: &[Hunk], files: &[PathBuf]) -> anyhow::Result<Selection> {
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
        ids.extend(hunks.iter().filter(is_meant).map(|hunk| hunk.id.0));
        if ids.len() == before {
            let shown = file.display();
            bail!(Usage(format!(
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
            .with_context(|| format!("{} is no name of a file", file.display()))?;
        out.extend(file.canonicalize());
        let existing = file.ancestors().skip(1).find_map(|above| {
            let rest = file.strip_prefix(above).ok()?;
            Some(above.canonicalize().ok()?.join(rest))
        });
        out.extend(existing);
    }
    Ok(out)
}
