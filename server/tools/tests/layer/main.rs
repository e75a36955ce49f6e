//! A layer over a folder of the disk: written as a view has it, then changed by hand as an overlay would change it,
//! or by a real one, and collected.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests may be blunt")]

mod by_hand;
mod hostile;
mod support;
mod times;
