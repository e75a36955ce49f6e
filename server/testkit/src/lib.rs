//! A fake editor, a scripted model and a scenario reader, for the tests and the demo.

pub mod editor;
pub mod model;
pub mod planted;
pub mod scenario;
pub mod traces;
