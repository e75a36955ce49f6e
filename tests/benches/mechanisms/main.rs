//! Costs of the mechanisms around the loop. Bars are in the README.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench that can't run may say so bluntly"
)]

#[path = "../../support/agent.rs"]
#[expect(dead_code, unreachable_pub, clippy::unwrap_used, reason = "the tests' own file")]
mod agent;
mod answers;
mod branch;
#[path = "../client.rs"]
#[expect(dead_code, reason = "the other benches use the rest of it")]
mod client;
mod compacting;
mod cost;
#[path = "../harness.rs"]
#[expect(dead_code, reason = "the other benches use the rest of it")]
mod harness;
#[path = "../../support/home.rs"]
#[expect(unreachable_pub, clippy::unwrap_used, reason = "the tests' own file")]
mod home;
mod session;
mod size;
mod skills;
mod steps;
mod subagents;

use harness::Work;

/// Work that is done in a process of its own.
const WORKS: &[Work] = &[Work { name: subagents::ALIVE, run: subagents::print_alive }];

fn main() {
    harness::main(WORKS, |report| {
        steps::long_turns(report);
        steps::repeated_bytes(report);
        compacting::without_the_model(report);
        size::preludes(report);
        subagents::four_at_once(report);
        subagents::one_alone(report);
        branch::back_into_the_fork(report);
        skills::find_many(report);
        cost::all_on_against_all_off(report);
    });
}
