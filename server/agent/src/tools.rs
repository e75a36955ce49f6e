//! The tools about the session itself, by the same trait as all others.

pub mod check_background;

use ropewalk_tools::Registry;

/// Every tool there is, in the order in which the model is told of them.
pub fn registry() -> Registry {
    Registry::standard().with(check_background::CheckBackground)
}
