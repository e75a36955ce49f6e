//! Messages to a member that waits: from the call that sends one until it stands in a request to the member's model.

use crate::harness::{Bar, Report};
use crate::lead_process::{self, calls, says, spawn};
use crate::swarm::Outcome;
use ropewalk_board::{Board, BoardOptions, BoardPlace, MemberState, Team};
use ropewalk_protocol::{Event, SessionEvent};
use ropewalk_testkit::model::ScriptedReply;
use ropewalk_testkit::postgres::Postgres;
use serde_json::Value;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

/// Messages in one conversation; a longer one would show what long requests cost.
const MESSAGES: u64 = 40;
/// Conversations.
const ROUNDS: u64 = 5;
/// Time after which a message is lost.
const PATIENCE: Duration = Duration::from_secs(20);

/// Senders of the messages.
#[derive(Clone, Copy, PartialEq)]
enum MailWay {
    /// The lead, in the same process.
    Process,
    /// Another opening of the same file, which knows nothing of this one's signals.
    Sqlite,
    /// Another opening of the same database.
    Postgres,
}

pub(crate) fn to_idle_member(report: &mut Report) {
    for (way, name, bar) in [
        (MailWay::Process, "message: in the process", 5.0),
        (MailWay::Sqlite, "message: over SQLite", 300.0),
        (MailWay::Postgres, "message: over PostgreSQL", 50.0),
    ] {
        let (half, most) = (format!("{name}, half of them"), format!("{name}, 99 of 100"));
        if !report.wants(&half) && !report.wants(&most) {
            continue;
        }
        let cluster = match (way == MailWay::Postgres).then(cluster).transpose() {
            Ok(cluster) => cluster,
            Err(why) => {
                println!("{name}: skipped: {why}");
                continue;
            }
        };
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let mut times: Vec<u64> = (0..ROUNDS)
            .flat_map(|round| {
                let place = cluster.as_ref().map(|one| one.database().expect("a database"));
                runtime.block_on(conversation(way, place, round))
            })
            .collect();
        times.sort_unstable();
        report.row(&half, Outcome::share(&times, 50), "ms", Bar::Shown);
        report.row(&most, Outcome::share(&times, 99), "ms", Bar::AtMost(bar));
    }
}

fn cluster() -> Result<Postgres, String> {
    let folder = format!("{}/postgres-mail-{}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    Postgres::start(Path::new(&folder), true)
}

/// Microseconds that each message took.
async fn conversation(way: MailWay, place: Option<String>, round: u64) -> Vec<u64> {
    let (read, reads) = mpsc::channel();
    let replies = [calls("spawn_teammate", spawn("alice")), says("It waits."), reader(read)];
    let mut board = None;
    let mut bench = lead_process::start_with(replies, |options| {
        if let Some(url) = &place {
            options.board = url.parse().expect("a board's URL");
        }
        // The bench's clock stands still, so that nothing is renewed and nothing found by looking now and then.
        options.lease = Duration::from_secs(3_600);
        board = Some(options.board.clone());
    });
    bench.ask("Spawn alice").await;
    let ended = |one: &SessionEvent| {
        let is_end = one.member.is_some() && matches!(one.event, Event::TurnEnded { .. });
        is_end.then_some(())
    };
    bench.until("that the member has begun", ended).await;
    let other = elsewhere(board.expect("a board")).await;
    let sender = match way {
        MailWay::Process => bench.lead.known().expect("a team").team().clone(),
        MailWay::Sqlite | MailWay::Postgres => other.clone(),
    };
    let mut sent = Vec::new();
    for number in 0..MESSAGES {
        at_rest(&other, round * MESSAGES + number).await;
        sent.push(Instant::now());
        sender.post("lead", "alice", "message", &body(number)).await.expect("it is sent");
        wait_for(&reads, number);
    }
    let requests = bench.model.recorded();
    let arrival = |number: u64| requests.iter().find(|one| number_in(&one.said) == Some(number));
    let time = |(number, start): (u64, Instant)| {
        let took = arrival(number).expect("a request has it").at - start;
        u64::try_from(took.as_micros()).unwrap_or(u64::MAX)
    };
    (0..).zip(sent).map(time).collect()
}

/// The team as another process would open it.
async fn elsewhere(place: BoardPlace) -> Team {
    let board = Board::open(place, BoardOptions::default()).await.expect("the board");
    board.find_team("w").await.expect("the board").expect("the team")
}

fn body(number: u64) -> String {
    format!("Message {number:03}.")
}

/// Replies of the member. `read` is told when a request ends with a message.
fn reader(read: Sender<u64>) -> ScriptedReply {
    let reply = move |said: &Value| {
        if let Some(number) = number_in(said) {
            // The bench may have ended.
            let _ = read.send(number);
        }
        says("I see.")
    };
    ScriptedReply::from_fn(reply).when("You are 'alice'").by_beginning().forever()
}

/// The message that a request ends with.
fn number_in(said: &Value) -> Option<u64> {
    let last = said["messages"].as_array()?.last()?.to_string();
    let (_, rest) = last.split_once("Message ")?;
    rest.get(..3)?.parse().ok()
}

fn wait_for(reads: &Receiver<u64>, wanted: u64) {
    while reads.recv_timeout(PATIENCE).expect("the message is read") != wanted {}
}

/// Waits until the member waits, and then for some part of the time between two looks at a file.
async fn at_rest(team: &Team, number: u64) {
    let end = Instant::now() + PATIENCE;
    loop {
        let members = team.members().await.expect("the board");
        if members.iter().any(|one| one.name == "alice" && one.state == MemberState::Idle) {
            break;
        }
        assert!(Instant::now() < end, "alice never waits: {members:?}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    // Spread evenly over a look, whatever the number of messages.
    tokio::time::sleep(Duration::from_millis(20 + number * 97 % 250)).await;
}
