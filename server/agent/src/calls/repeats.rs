//! Calls that are made again and again, though each gives what it gave before: the model is told, then the turn ends.
//!
//! A result that is new to the turn resets the count: after an edit, the same test may give the same result. A compaction
//! resets it too: the model reads again what the compaction took away. A wait for a command in the background is no repeat.

use ropewalk_tools::ToolOutput;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The time at which the model is told.
const TOLD: u32 = 3;

/// The time at which the turn ends.
const MOST: u32 = 6;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    /// How often each call of the turn gave its result, since one was new.
    counts: HashMap<u64, u32>,
    /// How often the conversation had been compacted then.
    era: u32,
}

/// A call that is over, to be counted.
pub(super) struct CountedCall<'a> {
    /// True if it only waits for a command in the background.
    pub(super) waits: bool,
    /// Equal for equal calls.
    pub(super) call: String,
    pub(super) output: &'a mut ToolOutput,
}

impl Repeats {
    /// Counts the calls of a step. The same call made twice in one message counts once: the model had not seen its
    /// result. `era`: how often the conversation has been compacted.
    pub(super) fn note<'a>(&mut self, era: u32, done: impl Iterator<Item = CountedCall<'a>>) {
        if std::mem::replace(&mut self.era, era) != era {
            self.counts.clear();
        }
        let mut seen = HashSet::new();
        for CountedCall { waits, call, output } in done {
            let key = key(&call, output);
            if waits || !seen.insert(key) {
                continue;
            }
            if !self.counts.contains_key(&key) {
                self.counts.values_mut().for_each(|count| *count = 0);
            }
            let count = self.counts.entry(key).or_default();
            // Failures have a count of their own.
            let is_good = !output.is_error && output.failure.is_none();
            *count = if is_good { *count + 1 } else { 0 };
            if *count == TOLD {
                output.say(&format!(
                    "\n(This call has given the same result {TOLD} times, and nothing was new between. Do not make it \
                     again: go on with what it says, or try another way.)"
                ));
            }
        }
    }

    /// The words with which the turn ends, if it does.
    pub(crate) fn ended(&self) -> Option<String> {
        self.counts.values().any(|count| *count >= MOST).then(|| {
            format!(
                "Stopped: the model made the same call {MOST} times, and each time it gave the same. Tell it another way, \
                 or say \"continue\" to go on."
            )
        })
    }
}

fn key(call: &str, output: &ToolOutput) -> u64 {
    let mut hasher = DefaultHasher::new();
    let content = serde_json::to_string(&output.content).unwrap_or_default();
    (call, output.is_error, content).hash(&mut hasher);
    hasher.finish()
}
