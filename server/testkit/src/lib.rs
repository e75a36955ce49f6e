//! A fake editor, a scripted model and a scenario reader, for the tests and the demo.

pub mod editor;
pub mod model;
#[cfg(target_os = "linux")]
pub mod namespaces;
pub mod planted;
#[cfg(target_os = "linux")]
pub mod postgres;
pub mod scenario;
pub mod traces;
