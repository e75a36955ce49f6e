//! Sessions: the loop, history, ops in and events out.
