//! The user never loses a keystroke: sessions publish, accept, reject and undo while a user types, formats,
//! sorts, reverses, moves, indents, undoes (a step or all), saves, closes and reopens, over every client profile, with
//! answers and echoes held back, mixed, told together with all of that, refused and lost.
//!
//! Checks (`oracle` has the words): a call is licensed when it is merged to take away what it took out of
//! the text it saw, and to put what it brought between the neighbours it saw. After each sync all that is pending must
//! be licensed, nothing licensed may be dropped in silence, and each pending change must be the one it was, character
//! by character. An edit that reaches the editor or a file must be what was accepted, or takes back what was
//! published; no atom stands twice, nor would with what is pending; what is reported as done was done.
//!
//! Its limits:
//!
//! - Characters that occur more than once are known by their cells, but not in a file that was not open. No client tells
//!   which of two equal ones in a row was typed or deleted: one is as good as the other until an atom stands between them.
//! - Where changes are told as differences of texts (by the client, a formatter or a reload), what was typed between two
//!   equal texts may be told as the one before it or as the one after it; and of equal ones with no atom between them that
//!   were told anew, one is as good as another.
//! - There, and where the client checks no versions, a deletion of such characters alone counts as made: the user may
//!   have typed one more and deleted it.
//! - A deletion may stand elsewhere if the text that it leaves is the very same.
//! - Where something stood that was deleted at any time, or that a later call took out, tells of no order. Nor does a text
//!   that is known only as a whole: the file was closed or opened since, most of it or 20 lines were deleted at once, or
//!   what was pending when the call looked is gone.
//! - A deletion that the user makes as well is done, even if they take it back before anyone looks.
//! - A change that was altered on its way may be restated when it arrives, and is in the ledger under any hunk that was sent
//!   with it. An undo of one may be that of another, and takes back what is left of it and lands meanwhile.
//! - One that the disk brought comes and goes with the disk: then the licences alone are checked.
//! - Where the user accepts, rejects or undoes one half of a text that was moved, the other half may take it away or put it
//!   there twice: that is their choice. Of a text that stands twice so, a deletion takes one.
//! - Of a client that checks no versions, after an edit that it made in another text than it was for, it is checked only
//!   that all agree on the text and that nothing is made twice, until what was pending or seen by a call then is gone.
//!
//! The short run is part of every test run. The long one is started by hand:
//! `ROPEWALK_KEYSTROKES=1000000 cargo test -p ropewalk-testkit --release --test testkit keystrokes -- --ignored --nocapture`.
//! `ROPEWALK_SEED` repeats a failure: the message of a failed run names its profile and seed.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "what can't be indexed or unwrapped here is a failure of the test"
)]

mod oracle;
mod random;
mod world;

use ropewalk_testkit::editor::Profile;
use std::panic::{AssertUnwindSafe, catch_unwind};
use world::{Stats, World};

/// How many keystrokes one world lives for.
const WORLD: u64 = 4_000;

/// Runs worlds over `profile` until so many keystrokes were made. A failure names how to repeat it.
fn run(profile: Profile, seed: u64, keystrokes: u64) -> Stats {
    let mut total = Stats::default();
    let mut seed = seed;
    while total.keystrokes < keystrokes {
        let most = WORLD.min(keystrokes - total.keystrokes);
        let world = std::sync::Mutex::new(None);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut world = world.lock().unwrap();
            let world: &mut World = world.insert(World::new(profile, seed));
            world.live(most);
            world.stats.clone()
        }));
        match outcome {
            Ok(stats) => total.add(&stats),
            Err(panic) => {
                let mut slot = world.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if let Some(mut world) = slot.take() {
                    eprintln!("{}", world.last_words());
                    // Its own checks on drop would hide the first failure.
                    std::mem::forget(world);
                }
                eprintln!("repeat with ROPEWALK_PROFILE={} ROPEWALK_SEED={seed}", profile.name);
                std::panic::resume_unwind(panic);
            }
        }
        seed = seed.wrapping_add(1);
    }
    total
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn short(profile: Profile) {
    let seed = from_environment("ROPEWALK_SEED").unwrap_or(1);
    let stats = run(profile, seed, from_environment("ROPEWALK_KEYSTROKES").unwrap_or(2_500));
    assert!(stats.applied > 10 && stats.confirmed > 10, "too little happened: {stats:?}");
}

#[test]
fn vscode() {
    short(Profile::VSCODE);
}

#[test]
fn neovim() {
    short(Profile::NEOVIM);
}

#[test]
fn neovim_with_the_plugin() {
    short(Profile::NEOVIM_PLUGIN);
}

#[test]
fn neovim_that_tells_each_place_by_itself() {
    short(Profile::NEOVIM_AT_ONCE);
}

#[test]
fn emacs() {
    short(Profile::EMACS);
}

#[test]
fn helix() {
    short(Profile::HELIX);
}

#[test]
fn an_unknown_client() {
    short(Profile::UNKNOWN);
}

#[test]
#[ignore = "takes minutes; run by hand, see the head of the file"]
fn long_million_keystrokes() {
    let keystrokes = from_environment("ROPEWALK_KEYSTROKES").unwrap_or(1_000_000);
    let seed = from_environment("ROPEWALK_SEED").unwrap_or(0x0051_EED0);
    let only = std::env::var("ROPEWALK_PROFILE").ok();
    println!("seed {seed}, {keystrokes} keystrokes");
    let profiles: Vec<Profile> = Profile::ALL
        .into_iter()
        .filter(|profile| only.as_deref().is_none_or(|name| name == profile.name))
        .collect();
    let mut total = Stats::default();
    for profile in &profiles {
        let stats = run(*profile, seed, keystrokes.div_ceil(profiles.len() as u64));
        println!("{}: {stats:?}", profile.name);
        total.add(&stats);
    }
    println!("all: {total:?}");
    assert!(total.keystrokes >= keystrokes);
}
