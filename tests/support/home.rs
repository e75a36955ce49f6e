//! Temporary folders that are searched for the planted keys at their end.

use ropewalk_testkit::planted;
use std::ops::Deref;
use tempfile::TempDir;

/// A folder of a test's own. Dropping it fails the test when a file in it holds a planted key.
pub struct Searched(TempDir);

impl Searched {
    /// A new folder.
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
}

impl Deref for Searched {
    type Target = TempDir;

    fn deref(&self) -> &TempDir {
        &self.0
    }
}

impl Drop for Searched {
    fn drop(&mut self) {
        planted::assert_absent_in(self.0.path());
    }
}
