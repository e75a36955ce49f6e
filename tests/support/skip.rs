//! Notices of tests that can't run here. Under `CI=true` they fail instead: a test that is silently
//! left out looks like one that passes.

/// Says that a test can't run here, and why. Under `CI=true` that is a failure.
pub(crate) fn skip(why: &str) {
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "can't be skipped: {why}");
    eprintln!("skipped: {why}");
}
