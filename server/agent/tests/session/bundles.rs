//! Bundles of a team: taken in whole or not at all, kept over a crash, taken back by a rewind; and a member's own.

use crate::bench::*;
use ropewalk_agent::bundles::{BundleId, BundleNews, BundleRefusal, IncomingBundle, TaskStart};
use ropewalk_protocol::{Event, Mode, Op, Selection};
use ropewalk_text::Text;
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::{
    Branch, Bundle, BundleGuard, Fork, Proposal, ProposedChange, TakeError, Workspace,
};
use serde_json::json;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

fn id(task: u64) -> BundleId {
    BundleId { member: "bob".into(), task: Some(task), attempt: 1 }
}

/// The work of a member on the checkout: each file gets a text.
fn bundle(workspace: &Workspace, files: &[(&str, &str)]) -> Bundle {
    let mut branch = Branch::of(&Fork::new("".into()), 1, Maker::User);
    let view = branch.fork().view(workspace.snapshot());
    let propose = |(name, text): &(&str, &str)| Proposal {
        place: view.roots().contain(name).unwrap(),
        change: ProposedChange::Write(Text::from(*text)),
    };
    let proposals = files.iter().map(propose).collect();
    branch.fork().merge(workspace, &view, 1, &Maker::Call("c".into()), proposals);
    branch.bundle(workspace, BundleGuard::NONE).unwrap().0
}

async fn take(
    bench: &Bench,
    task: u64,
    bundle: Bundle,
    may_publish: bool,
) -> Result<usize, BundleRefusal> {
    bench.session.take_bundle(IncomingBundle { id: id(task), bundle, may_publish }).await
}

fn makers(bench: &Bench) -> Vec<(String, Vec<Maker>)> {
    let hunks = bench.session.hunks();
    hunks.iter().map(|hunk| (hunk.file.clone(), hunk.makers.clone())).collect()
}

#[tokio::test]
async fn a_bundle_waits_for_review_under_its_makers_name_and_outlives_a_crash() {
    let mut bench = start_kept([says("ok")]);
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    bench.run("go").await;
    let work = bundle(&bench.workspace, &[("a.txt", &TEXT.replace("two", "2")), ("b.txt", "b\n")]);
    assert_eq!(take(&bench, 3, work.clone(), true).await, Ok(2));
    let shown = bench.until(|event| match event {
        Event::Hunks { hunks } if !hunks.is_empty() => Some(hunks.clone()),
        _ => None,
    });
    let shown = shown.await;
    let named: Vec<_> = shown.iter().flat_map(|hunk| &hunk.members).collect();
    assert!(named.iter().all(|m| (&*m.member, m.task) == ("bob", Some(3))), "{named:?}");
    assert_eq!(named.len(), 2);
    assert_eq!(bench.buffer(&uri), TEXT, "nothing is published in mode review");
    let want =
        vec![("a.txt".to_owned(), vec![id(3).maker()]), ("b.txt".to_owned(), vec![id(3).maker()])];
    assert_eq!(makers(&bench), want);
    let mut bench = resume(bench.dies().await, [says("ok")]);
    bench.open("a.txt", TEXT);
    assert_eq!(makers(&bench), want);
    assert_eq!(bench.session.taken_bundles(), [id(3)]);
    assert_eq!(take(&bench, 3, work, true).await, Ok(0), "it is taken once");
    bench.run("again").await;
    bench.session.send(Op::Accept(Selection::All));
    assert_eq!(bench.reviewed().await, ("accept", 2, vec![]));
    assert_eq!(bench.disk("b.txt"), "b\n");
}

#[tokio::test]
async fn a_crash_between_the_fork_and_the_note_of_it_takes_nothing_twice() {
    let mut bench = start_kept([says("ok")]);
    bench.file("a.txt", TEXT);
    bench.run("go").await;
    let work = bundle(&bench.workspace, &[("a.txt", &TEXT.replace("two", "2\n2"))]);
    take(&bench, 3, work.clone(), false).await.unwrap();
    let before = makers(&bench);
    let dir = bench.dies().await;
    let past = sessions(&dir).begin("s", Vec::new()).path().unwrap();
    let text = std::fs::read_to_string(&past).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with(r#"{"taken""#));
    let without: String = lines.map(|line| format!("{line}\n")).collect();
    assert!(without.len() < text.len());
    std::fs::write(&past, without).unwrap();
    let bench = resume(dir, []);
    assert_eq!(bench.session.taken_bundles(), []);
    assert_eq!(take(&bench, 3, work, false).await, Ok(0));
    assert_eq!((makers(&bench), bench.session.taken_bundles()), (before, vec![id(3)]));
}

#[tokio::test]
async fn a_bundle_that_lost_its_place_changes_nothing() {
    let edit = json!({"path": "a.txt", "old_text": "two", "new_text": "zwei"});
    let mut bench = start_kept([calls("edit_file", edit), says("ok")]);
    bench.file("a.txt", TEXT);
    bench.open("a.txt", TEXT);
    let work = bundle(&bench.workspace, &[("a.txt", &TEXT.replace("two", "2")), ("b.txt", "b\n")]);
    bench.run("go").await;
    let before = makers(&bench);
    let refused = take(&bench, 3, work, true).await;
    let Err(BundleRefusal::Take(TakeError::Conflict(conflicts))) = refused else {
        panic!("{refused:?}")
    };
    let told: Vec<_> = conflicts.iter().map(|one| (&*one.path, &*one.new, &*one.now)).collect();
    assert_eq!(told, [("a.txt", "2\n", "zwei\n")]);
    assert_eq!((makers(&bench), bench.session.taken_bundles()), (before, vec![]));
}

#[tokio::test]
async fn a_rewind_takes_back_what_was_taken_since_and_tells() {
    let mut bench = start_kept([says("one"), says("two")]);
    bench.file("a.txt", TEXT);
    bench.run("go").await;
    let mut news = bench.session.watch_bundles();
    let first = bundle(&bench.workspace, &[("a.txt", &TEXT.replace("two", "2"))]);
    take(&bench, 1, first, true).await.unwrap();
    bench.run("and on").await;
    let second = bundle(&bench.workspace, &[("a.txt", &TEXT.replace("six", "6"))]);
    take(&bench, 2, second.clone(), true).await.unwrap();
    assert_eq!(makers(&bench).len(), 2);
    bench.session.send(Op::Rewind(2));
    bench.reviewed().await;
    assert_eq!(news.recv().await, Some(BundleNews::TakenBack(vec![id(2)])));
    assert_eq!(makers(&bench), [("a.txt".to_owned(), vec![id(1).maker()])]);
    let bench = resume(bench.dies().await, []);
    assert_eq!(bench.session.taken_bundles(), [id(1)]);
    // The process may have ended before anybody could do something about it.
    let mut news = bench.session.watch_bundles();
    assert_eq!(news.recv().await, Some(BundleNews::TakenBack(vec![id(2)])));
    assert_eq!(take(&bench, 2, second, true).await, Ok(1), "it can be taken again");
    assert!(bench.session.watch_bundles().try_recv().is_err(), "it has come again");
    let bench = resume(bench.dies().await, []);
    assert!(bench.session.watch_bundles().try_recv().is_err());
}

#[tokio::test]
async fn a_rejection_is_told_to_the_maker_alone() {
    let mut bench = start_kept([says("ok"), says("ok").expect_text("go on")]);
    bench.file("a.txt", TEXT);
    bench.run("go").await;
    let mut news = bench.session.watch_bundles();
    let work = bundle(&bench.workspace, &[("a.txt", &TEXT.replace("two", "2"))]);
    take(&bench, 3, work, false).await.unwrap();
    bench.session.send(Op::Reject(Selection::All, Some("not so".to_owned())));
    assert_eq!(bench.reviewed().await, ("reject", 1, vec![]));
    let Some(BundleNews::Rejected { member, task, words }) = news.recv().await else { panic!() };
    assert_eq!((&*member, task), ("bob", Some(3)));
    assert!(words.contains("a.txt") && words.contains("Their reason: not so"), "{words}");
    bench.run("go on").await;
    let requests = bench.model.requests();
    assert!(!requests[1].to_string().contains("not so"), "the lead did not make it");
}

#[tokio::test]
async fn mode_auto_publishes_what_may_be() {
    let mut bench = start_kept([says("ok")]);
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    bench.run("go").await;
    bench.session.send(Op::Mode(Mode::Auto));
    let first = bundle(&bench.workspace, &[("a.txt", &TEXT.replace("two", "2"))]);
    let second = bundle(&bench.workspace, &[("a.txt", &TEXT.replace("six", "6"))]);
    take(&bench, 1, first, true).await.unwrap();
    assert_eq!(bench.buffer(&uri), TEXT.replace("two", "2"));
    take(&bench, 2, second, false).await.unwrap();
    assert_eq!(bench.buffer(&uri), TEXT.replace("two", "2"), "a worker's waits");
    assert_eq!(makers(&bench), [("a.txt".to_owned(), vec![id(2).maker()])]);
}

#[tokio::test]
async fn a_member_hands_on_its_own_work_alone_also_after_a_crash() {
    let edit = json!({"path": "a.txt", "old_text": "four", "new_text": "4"});
    let mut bench = start_kept([says("ready"), calls("edit_file", edit), says("ok")]);
    bench.file("a.txt", TEXT);
    let uri = bench.open("a.txt", TEXT);
    let (lead, _events) = bench.another("lead");
    let of_lead = bundle(&bench.workspace, &[("a.txt", &TEXT.replace("one", "1"))]);
    let taken = IncomingBundle { id: id(1), bundle: of_lead, may_publish: true };
    lead.take_bundle(taken).await.unwrap();
    let waited = bundle(&bench.workspace, &[("a.txt", &TEXT.replace("two", "2"))]);
    bench.run("get ready").await;
    let start = TaskStart { lead: Some(lead.fork().await), bundles: vec![(id(2), waited)] };
    bench.session.start_task(start).await.unwrap();
    bench.run("go").await;
    bench.types(&uri, &format!("zero\n{TEXT}"));
    let (own, left_out) = bench.session.bundle().await.unwrap();
    let written = String::from_utf8(own.write().unwrap()).unwrap();
    assert!(written.contains(r#""change":{"edits":[[15,19,"4"]]}"#), "{written}");
    assert_eq!(left_out, Vec::<String>::new());
    let dir = bench.dies().await;
    drop(lead);
    std::fs::write(dir.path().join("w/a.txt"), format!("zero\n{TEXT}")).unwrap();
    let mut bench = resume(dir, []);
    let again = bench.session.bundle().await.unwrap().0;
    let written = String::from_utf8(again.write().unwrap()).unwrap();
    assert!(written.contains(r#""edits":[[15,19,"4"]]"#), "{written}");
    // Changes from before its task are not its to take back.
    bench.session.send(Op::Rewind(1));
    let (_, done, failed) = bench.reviewed().await;
    assert_eq!((done, failed.len()), (0, 1), "{failed:?}");
}
