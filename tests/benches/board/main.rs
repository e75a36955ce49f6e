//! Costs of teams: claims of many processes while some are killed, messages, teammates that wait, bundles on their way into
//! the lead's review, tools in a request, and a server that has no team. Bars are in the README.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench that can't run may say so bluntly"
)]

#[path = "../client.rs"]
#[expect(dead_code, reason = "the other benches use the rest of it")]
mod client;
#[path = "../../team_processes/crew.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "the tests' own file")]
mod crew;
#[path = "../../team_processes/crowd.rs"]
#[expect(clippy::unwrap_used, reason = "the tests' own file")]
mod crowd;
#[path = "../harness.rs"]
#[expect(dead_code, reason = "the other benches use the rest of it")]
mod harness;
mod intake;
#[path = "../../../server/team/tests/team/bench.rs"]
#[expect(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the tests' own file"
)]
mod lead_process;
mod mail;
mod processes;
mod servers;
mod sizes;
#[path = "../../team_processes/story.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "the tests' own file")]
mod story;
#[path = "../../support/mod.rs"]
#[expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the tests' own file"
)]
mod support;
#[path = "../../../server/board/tests/swarm/swarm.rs"]
#[expect(unreachable_pub, clippy::unwrap_used, clippy::panic, reason = "the tests' own file")]
mod swarm;
#[path = "../../support/team_board.rs"]
#[expect(clippy::unwrap_used, reason = "the tests' own file")]
mod team_board;

use ropewalk_testkit::namespaces;

fn main() {
    if swarm::work_if_told() {
        return;
    }
    let moved = namespaces::move_in();
    harness::main(&[], |report| {
        sizes::tools(report);
        mail::to_idle_member(report);
        intake::bundle(report);
        servers::without_team(report);
        servers::idle_teammates(report);
        processes::sqlite(report);
        processes::postgres(report, moved);
        processes::workers(report);
    });
}
