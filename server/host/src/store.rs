//! The sessions that are kept: listed, renamed, deleted, exported; and the file of the rules that hold for always.

use crate::host::Host;
use crate::resume::{NOT_KEPT, refused};
use crate::sessions::SessionAnswer;
use crate::words::{count, named, shortened};
use crate::{blocking, lock};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use ropewalk_agent::Sessions;
use ropewalk_agent::journal::store::{SessionListing, make_private_folder};
use ropewalk_config::rules_file;
use ropewalk_protocol::plugin::{CallResult, SessionHistory};
use ropewalk_protocol::{CallId, Op, Refusal, Reply, SessionId, SessionInfo};
use ropewalk_workspace::DocId;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most characters of a title.
const MOST_TITLE: usize = 200;

/// Words of the file of rules when it is made.
const ABOUT_RULES: &str = "\
# Ropewalk's rules that always hold, in every project. What you always allow is added to `allow`.
# `deny` comes before `ask`, and `ask` before `allow`. `*` stands for any text. For example:
#   deny = [\"bash(git push *)\", \"read_file(secrets/*)\"]
#   ask = [\"edit_file(*.lock)\"]
#   allow = [{ rule = \"bash(git status *)\", matches = [\"git status -s\"], refuses = [\"git push\"] }]
# A command in the sandbox has the network, or a path outside, where its rule says so:
#   allow = [\"bash(npm install *) with network\", \"bash(cat *) with ~/notes\"]
";

/// Outcome of renaming a session that the user has named; the title is the new one.
enum RenameOutcome {
    Renamed(SessionId, String),
    /// It is open here, which showed once its number in the list was looked up.
    IsOpen(SessionId, String),
}

impl Host {
    /// Where sessions are kept.
    fn kept(&self) -> Result<Sessions, Refusal> {
        self.options.sessions.clone().ok_or_else(|| NOT_KEPT.into())
    }

    /// Lists the sessions of these folders, or of all.
    pub(crate) async fn list(self: Arc<Self>, all: bool) -> SessionAnswer {
        let sessions = self.kept()?;
        blocking(move || self.list_now(&sessions, all)).await.map(Reply::Sessions)
    }

    /// The sessions of these folders, or of all, the last used first. From now on their numbers count. Blocking.
    pub(crate) fn list_now(&self, sessions: &Sessions, all: bool) -> Vec<SessionInfo> {
        let list = match all {
            true => sessions.list(),
            false => sessions.of_roots(&self.root_paths()),
        };
        *lock(&self.map.listed) = list.iter().map(|listed| listed.id.clone()).collect();
        self.infos(list)
    }

    pub(crate) fn infos(&self, list: Vec<SessionListing>) -> Vec<SessionInfo> {
        list.into_iter().map(|listed| self.info(listed)).collect()
    }

    fn info(&self, listed: SessionListing) -> SessionInfo {
        let SessionListing { id, roots, began, summary, bytes, in_use, .. } = listed;
        SessionInfo {
            title: summary.title,
            began,
            at: summary.at,
            roots,
            turns: summary.turns,
            pending: summary.pending,
            unsaved: summary.unsaved,
            bytes,
            in_use: in_use && self.running(Some(&id)).is_none(),
            current: self.is_current(&id),
            session: id.into(),
        }
    }

    /// Gives a session a name: an open one in line with what else is asked of it, else one that is kept.
    pub(crate) fn rename(
        self: Arc<Self>,
        session: Option<SessionId>,
        title: &str,
    ) -> BoxFuture<'static, SessionAnswer> {
        let title = shortened(title.trim(), MOST_TITLE);
        let named = match session {
            _ if title.is_empty() => return ready(Err("The name is empty".into())).boxed(),
            Some(named) if self.running(Some(&named)).is_none() => named,
            open => return self.ask(open.as_deref(), Op::Rename(title)),
        };
        Box::pin(async move {
            let sessions = self.kept()?;
            let host = self.clone();
            let renamed = blocking(move || {
                let id = host.find(&sessions, &named)?;
                if host.running(Some(&id)).is_some() {
                    return Ok(RenameOutcome::IsOpen(id, title));
                }
                sessions.rename(&id, &title).map_err(refused)?;
                Ok::<_, Refusal>(RenameOutcome::Renamed(id, title))
            });
            match renamed.await?? {
                RenameOutcome::Renamed(id, title) => Ok(Reply::Renamed(id, title)),
                RenameOutcome::IsOpen(id, title) => self.ask(Some(&id), Op::Rename(title)).await,
            }
        })
    }

    /// Deletes a session that is not open here; one in which something waits only by force.
    pub(crate) async fn delete(
        self: Arc<Self>,
        session: Option<SessionId>,
        force: bool,
    ) -> SessionAnswer {
        let sessions = self.kept()?;
        let named = session.ok_or("Say which session is to be deleted")?;
        blocking(move || {
            let id = self.find(&sessions, &named)?;
            if self.is_current(&id) {
                return Err("That is the current session: begin another with /new first".into());
            }
            if !force {
                may_be_deleted(sessions.listed(&id))?;
            }
            let deleted = sessions.delete(&id).map_err(refused)?;
            Ok(Reply::Deleted(self.info(deleted)))
        })
        .await?
    }

    /// Writes a session as Markdown into a new file of the user's, or into one of our own.
    pub(crate) async fn export(
        self: Arc<Self>,
        session: Option<SessionId>,
        path: Option<String>,
    ) -> SessionAnswer {
        let session = match session {
            Some(named) => named,
            None => self.snapshot(None).session.clone().ok_or("Nothing was asked yet")?,
        };
        let sessions = self.kept()?;
        let given = path.map(|path| self.place(&path)).transpose()?;
        blocking(move || {
            let id = self.find(&sessions, &session)?;
            let is_given = given.is_some();
            let file = given.unwrap_or_else(|| sessions.exports().join(format!("{id}.md")));
            let text = sessions.export(&id).map_err(refused)?;
            let written = if is_given { write_new(&file, &text) } else { write_own(&file, &text) };
            let shown = file.display();
            written.map_err(|error| format!("{shown} can't be written: {error}"))?;
            Ok(Reply::File(file.to_string_lossy().into_owned()))
        })
        .await?
    }

    /// The last turns of a session that have ended before this one, so many at most. None means the current session.
    ///
    /// # Errors
    /// When there is no such session, it is not kept, or it can't be read, in words.
    pub fn history(
        self: &Arc<Self>,
        session: Option<String>,
        before: Option<u64>,
        most: usize,
    ) -> BoxFuture<'_, Result<SessionHistory, Refusal>> {
        Box::pin(async move {
            let (host, sessions) = (self.clone(), self.kept()?);
            blocking(move || {
                let Some(id) = host.named_or_current(&sessions, session)? else {
                    return Err("Nothing was asked yet".into());
                };
                // One that was only just begun has no journal yet.
                let is_new =
                    host.running(Some(&id)).is_some_and(|session| session.turns().is_empty());
                let read = sessions.history(&id, before, most);
                let (turns, more) = match read {
                    Err(_) if is_new => (Vec::new(), false),
                    read => read.map_err(refused)?,
                };
                Ok(SessionHistory { session: id, turns, more })
            })
            .await?
        })
    }

    /// Result that the model got for a call of a session. None means the current session.
    ///
    /// # Errors
    /// When there is no such session or call, or it is not kept, in words.
    pub fn call_result(
        self: &Arc<Self>,
        session: Option<String>,
        call: CallId,
    ) -> BoxFuture<'_, Result<CallResult, Refusal>> {
        Box::pin(async move {
            let (host, sessions) = (self.clone(), self.kept()?);
            blocking(move || {
                let id =
                    host.named_or_current(&sessions, session)?.ok_or("Nothing was asked yet")?;
                let found = sessions.result(&id, &call).map_err(refused)?;
                found.ok_or_else(|| format!("There is no result of the call {call}").into())
            })
            .await?
        })
    }

    /// The session that is named, or the current one if there is one.
    fn named_or_current(
        &self,
        sessions: &Sessions,
        named: Option<String>,
    ) -> Result<Option<SessionId>, Refusal> {
        match named {
            Some(named) => self.find(sessions, &named).map(Some),
            None => Ok(self.snapshot(None).session.clone()),
        }
    }

    /// Where an export goes: a whole path, or one from the first folder.
    fn place(&self, given: &str) -> Result<PathBuf, String> {
        let path = if given.starts_with("file:") {
            DocId::from_uri(given).path()
        } else {
            Some(PathBuf::from(given)).filter(|_| !given.trim().is_empty() && !given.contains('\0'))
        };
        let path = path.ok_or("An export needs a path that names a file")?;
        if path.is_absolute() {
            return Ok(path);
        }
        let roots = self.workspace.roots();
        let root = roots.first().map(|root| root.path().join(&path));
        root.ok_or_else(|| "Without a folder an export needs a whole path".to_owned())
    }

    /// The file of the rules that hold for always, made for its owner alone unless it is there.
    pub(crate) async fn rules(self: Arc<Self>) -> SessionAnswer {
        let file = rules_file(&*self.options.environment)
            .ok_or("There is no home folder, so there is no place for rules that always hold")?;
        blocking(move || {
            let folder = file.parent().map_or(Ok(()), make_private_folder);
            let made = folder.and_then(|()| write_new(&file, ABOUT_RULES));
            let shown = file.display();
            match made {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    Err(format!("The rules can't be opened: {shown}: {error}").into())
                }
                _ => Ok(Reply::File(file.to_string_lossy().into_owned())),
            }
        })
        .await?
    }
}

/// Refuses what would lose work of the user's, or may do so. One that is in use is refused for that.
fn may_be_deleted(listed: Option<SessionListing>) -> Result<(), String> {
    let lost = match listed {
        Some(listed) if listed.in_use || listed.summary.waits() == 0 => return Ok(()),
        Some(SessionListing { summary, .. }) => {
            let waits = count(summary.waits(), "change waits", "changes wait");
            format!("{waits} to be accepted or saved in {}", named(&summary.title))
        }
        None => "It can't be read, so what waits in it is not known".to_owned(),
    };
    Err(format!("{lost}; with {{ session, force: true }} it is deleted all the same"))
}

/// Writes a file of the user's, if there is none.
fn write_new(file: &Path, text: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())
}

/// Writes a file in our own folder, in the place of an earlier one.
fn write_own(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        make_private_folder(folder)?;
    }
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => write_new(file, text),
    }
}
