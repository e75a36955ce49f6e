//! Tests of how sessions start: requests that wait for another session, and one that may not take another's place.

use crate::host::{Host, HostOptions};
use crate::seat::Seat;
use crate::sessions::SessionOrigin;
use crate::{ModelFactory, blocking, lock};
use ropewalk_agent::Sessions;
use ropewalk_config::Environment;
use ropewalk_model::{Http, Model, ServerModel};
use ropewalk_protocol::{Event, Op, Prompt, Reply};
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use ropewalk_workspace::{NoEditor, Roots, Workspace};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A machine on which nothing is configured.
struct Bare(PathBuf);

impl Environment for Bare {
    fn home(&self) -> Option<PathBuf> {
        Some(self.0.clone())
    }
    fn var(&self, _: &str) -> Option<String> {
        None
    }
    fn read(&self, _: &Path, _: u64) -> std::io::Result<Vec<u8>> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

/// A host whose models have the names that are asked for, and its home.
fn host(model: &ScriptedModel, flags: &[&str]) -> (Arc<Host>, tempfile::TempDir) {
    host_that_breaks(model, flags, 0)
}

/// The same, with so many starts that break down.
fn host_that_breaks(
    model: &ScriptedModel,
    flags: &[&str],
    breaks: usize,
) -> (Arc<Host>, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let config = model.config();
    let left = AtomicUsize::new(breaks);
    let models: ModelFactory = Arc::new(move |asked| {
        let has_one = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        assert!(has_one.is_err(), "this start breaks down");
        let name = asked.model.as_ref().map(|model| model.name.to_string());
        let mut config = config.clone();
        config.model = name.unwrap_or(config.model);
        Ok(Arc::new(ServerModel::new(config, Http::new()).unwrap()) as Arc<dyn Model>)
    });
    let mut options = HostOptions::new(models, Arc::new(Bare(home.path().to_owned())));
    options.sessions = Some(Sessions::new(&home.path().join("state")));
    options.flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let workspace = Arc::new(Workspace::new(Roots::none()));
    let host = Host::new(options, workspace, Arc::new(NoEditor));
    host.meet(Vec::new(), None, Vec::new());
    (host, home)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_may_not_take_the_place_of_another_leads_no_team() {
    let model = ScriptedModel::start(Vec::new()).unwrap();
    let (host, _home) = host(&model, &["team.enabled=true"]);
    host.clone().begin(false, None).await.unwrap();
    let leads = || lock(&host.teams.leads).len();
    assert_eq!(leads(), 1);
    let coming = host.clone();
    let refused = blocking(move || {
        let (seat, inputs) = Seat::new();
        lock(&coming.map.open).add(seat.clone());
        let (_, events) = coming.start(&seat.session_cell(), SessionOrigin::New, None);
        coming.install((seat, inputs), events, false, |_| false)
    });
    assert!(refused.await.unwrap().is_err());
    assert_eq!(leads(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_whose_start_breaks_down_is_not_among_those_that_are_open() {
    let model = ScriptedModel::start(Vec::new()).unwrap();
    let (host, _home) = host_that_breaks(&model, &[], 1);
    assert!(host.clone().begin(false, None).await.is_err());
    host.clone().begin(false, None).await.unwrap();
    assert_eq!(lock(&host.map.open).seats.len(), 1);
}

#[tokio::test]
async fn prompts_that_wait_for_another_session_keep_their_order() {
    let replies = [ScriptedReply::new().text("Well.").forever()];
    let model = ScriptedModel::start(replies).unwrap();
    let (host, _home) = host(&model, &[]);
    let ask = |op: Op| host.handle(op.into());
    // Another change of sessions is under way, so that this one can't be over before it is looked at.
    let changing = host.map.changing.lock().await;
    let mut new = ask(Op::New { beside: false });
    assert!(futures::poll!(&mut new).is_pending());
    let mut first = ask(Op::Prompt(Prompt::new("one")));
    assert!(futures::poll!(&mut first).is_pending());
    drop(changing);
    // The session is there, and the first prompt is woken but not polled.
    new.await.unwrap();
    let mut second = ask(Op::Prompt(Prompt::new("two")));
    let early = futures::poll!(&mut second);
    assert!(early.is_pending());
    let Ok(Reply::Turn(_, one)) = first.await else { panic!() };
    let Ok(Reply::Turn(_, two)) = second.await else { panic!() };
    assert_eq!((one, two), (1, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_whose_journal_is_gone_is_not_promised_again() {
    let model = ScriptedModel::start([ScriptedReply::new().text("Well.").forever()]).unwrap();
    let (host, home) = host(&model, &[]);
    let mut events = host.subscribe();
    for is_deleted in [false, true] {
        host.handle(Op::New { beside: false }.into()).await.unwrap();
        host.handle(Op::Prompt(Prompt::new("one")).into()).await.unwrap();
        while !matches!(events.recv().await.unwrap().event, Event::TurnEnded { .. }) {}
        if is_deleted {
            std::fs::remove_dir_all(home.path().join("state")).unwrap();
        }
        let begun = host.handle(Op::New { beside: false }.into()).await;
        let Ok(Reply::Begun(_, left)) = begun else { panic!("{begun:?}") };
        assert_eq!(left.is_some(), !is_deleted);
    }
}
