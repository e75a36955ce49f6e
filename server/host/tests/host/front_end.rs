//! A whole front end: it asks, shows what it is told, answers approvals, reviews, and goes on after a restart.

use crate::world::World;
use ropewalk_host::Host;
use ropewalk_protocol::{
    Event, HunkInfo, Op, Prompt, Reply, Request, Selection, SessionEvent, SessionId, StopReason,
    Verdict,
};
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;

pub(crate) struct FrontEnd {
    pub(crate) host: Arc<Host>,
    events: UnboundedReceiver<SessionEvent>,
    /// The session that it shows.
    pub(crate) session: Option<SessionId>,
    /// Pending changes as they were told last.
    pub(crate) hunks: Vec<HunkInfo>,
}

impl FrontEnd {
    pub(crate) fn new(host: Arc<Host>) -> Self {
        let events = host.subscribe();
        Self { host, events, session: None, hunks: Vec::new() }
    }

    pub(crate) async fn ask(&self, op: Op) -> Reply {
        self.host.handle(Request::to(self.session.clone(), op)).await.unwrap()
    }

    /// Prompts, and shows that session from then on.
    pub(crate) async fn prompt(&mut self, words: &str) {
        match self.ask(Op::Prompt(Prompt::new(words))).await {
            Reply::Turn(session, _) => self.session = Some(session),
            other => panic!("{other:?}"),
        }
    }

    /// Waits until a teammate is heard of, and gives its session.
    pub(crate) async fn member(&mut self, name: &str) -> SessionId {
        loop {
            let told = self.events.recv().await.unwrap();
            if told.member.as_deref() == Some(name) {
                return told.session.unwrap();
            }
        }
    }

    /// Follows the session up to an event.
    pub(crate) async fn until(&mut self, is_meant: impl Fn(&Event) -> bool) -> Event {
        loop {
            let told = self.events.recv().await.unwrap();
            if told.session.is_some() && told.session == self.session {
                if let Event::Hunks { hunks } = &told.event {
                    self.hunks.clone_from(hunks);
                }
                if is_meant(&told.event) {
                    return told.event;
                }
            }
        }
    }

    pub(crate) async fn turn(&mut self) -> StopReason {
        match self.until(|event| matches!(event, Event::TurnEnded { .. })).await {
            Event::TurnEnded { stop_reason, .. } => stop_reason,
            other => panic!("{other:?}"),
        }
    }

    /// Waits for a call that asks, and gives the approval's number.
    pub(crate) async fn asked(&mut self) -> u64 {
        match self.until(|event| matches!(event, Event::ApprovalRequested { .. })).await {
            Event::ApprovalRequested { approval, .. } => approval.id,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_prompts_approves_reviews_and_resumes() {
    let write = |path: &str| json!({ "path": path, "content": "hello\n" });
    let world = World::new([(
        "first",
        vec![
            ScriptedReply::new().call("bash", json!({ "command": "echo looked" })),
            ScriptedReply::new().expect_text("looked").call("write_file", write("a.txt")),
            ScriptedReply::new().call("write_file", write("b.txt")),
            ScriptedReply::new().text("Done."),
            ScriptedReply::new().expect_text("too short").text("I see."),
        ],
    )]);
    let mut front = FrontEnd::new(world.host());
    front.prompt("Make two files").await;
    let approval = front.asked().await;
    front.ask(Op::Approve(Some(approval), Verdict::Once)).await;
    assert_eq!(front.turn().await, StopReason::EndTurn);
    let files: Vec<&str> = front.hunks.iter().map(|hunk| &*hunk.file).collect();
    assert_eq!(files, ["a.txt", "b.txt"]);
    front.ask(Op::Accept(Selection::Hunks(vec![front.hunks[0].id]))).await;
    front.until(|event| matches!(event, Event::Reviewed { done: 1, .. })).await;
    assert_eq!(std::fs::read_to_string(world.file("a.txt")).unwrap(), "hello\n");
    // The process ends, and another goes on with what waits.
    front.ask(Op::Close).await;
    let session = front.session;
    let mut front = FrontEnd { session, ..FrontEnd::new(world.host()) };
    let Reply::Resumed(resumed) = front.ask(Op::Resume { beside: false }).await else { panic!() };
    assert_eq!((resumed.turns, resumed.pending), (1, 1));
    front.ask(Op::Reject(Selection::All, Some("too short".to_owned()))).await;
    front.until(|event| matches!(event, Event::Reviewed { done: 1, .. })).await;
    front.prompt("Look again").await;
    assert_eq!(front.turn().await, StopReason::EndTurn);
    assert!(front.hunks.is_empty() && !world.file("b.txt").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_right_after_a_resume_is_for_the_resumed_session() {
    let write = json!({ "path": "a.txt", "content": "hello\n" });
    for greets in [false, true] {
        let world = World::new([(
            "first",
            vec![
                ScriptedReply::new().call("write_file", write.clone()),
                ScriptedReply::new().text("Done."),
                ScriptedReply::new().expect_text("And now").text("I go on."),
            ],
        )]);
        let mut front = FrontEnd::new(world.host());
        front.prompt("Make a file").await;
        assert_eq!(front.turn().await, StopReason::EndTurn);
        front.ask(Op::Close).await;
        let session = front.session.take();
        // Another process, which may be about to go on with it by itself. Nobody waits for an answer.
        let host = world.host();
        let mut front = FrontEnd { session, ..FrontEnd::new(host.clone()) };
        let looking = async {
            if greets {
                host.look_back(async {}).await.unwrap();
            }
        };
        let resumed = host.handle(Request::to(front.session.clone(), Op::Resume { beside: false }));
        let asked = async {
            let prompt = Request::to(None::<SessionId>, Op::Prompt(Prompt::new("And now")));
            host.handle(prompt).await.unwrap()
        };
        let (_, _, asked) = tokio::join!(looking, resumed, asked);
        let Reply::Turn(session, turn) = asked else { panic!("{asked:?}") };
        assert_eq!((Some(session), turn), (front.session.clone(), 2));
        assert_eq!(front.turn().await, StopReason::EndTurn);
    }
}
