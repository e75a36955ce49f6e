//! Folders of a page: its home, its configuration, and the files it begins with.

use crate::model::ScriptedModel;
use crate::planted;
use crate::scenario::step::{ScenarioContent, Setup};
use std::path::{Path, PathBuf};

/// The user's configuration: the scripted model, and what the page says.
pub(super) fn user_config(setup: &Setup, model: &ScriptedModel) -> String {
    let url = format!("{:?}", model.base_url());
    let protocol = format!("{:?}", model.protocol().name());
    let variable = format!("{:?}", planted::VARIABLE);
    let defaults = [
        ("model", "\"scripted/scripted\""),
        ("provider.scripted.protocol", &protocol),
        ("provider.scripted.base_url", &url),
        ("provider.scripted.api_key_env", &variable),
    ];
    let own = setup.config.iter().map(|(key, value)| format!("{key} = {value}\n"));
    let is_own = |key: &str| setup.config.iter().any(|(own, _)| own == key);
    let rest = defaults.iter().filter(|(key, _)| !is_own(key));
    own.chain(rest.map(|(key, value)| format!("{key} = {value}\n"))).collect()
}

/// Puts a file or a link on the disk.
pub(super) fn write(path: &Path, content: &ScenarioContent) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    match content {
        ScenarioContent::Bytes(bytes) => std::fs::write(path, bytes),
        #[cfg(unix)]
        ScenarioContent::Link(target) => std::os::unix::fs::symlink(target, path),
        #[cfg(not(unix))]
        ScenarioContent::Link(_) => Err(std::io::Error::other("links are made on Unix only")),
    }
}

/// A folder of its own for each page, gone when the page has been played.
pub(super) struct PageHome(pub(super) PathBuf);

impl PageHome {
    pub(super) fn new() -> std::io::Result<Self> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        // Equally long for all pages of a run: what is said of a path may be cut at a length.
        let name = format!("ropewalk-scenario-{}-{number:04}", std::process::id());
        // The system's own spelling: paths in results are compared with it.
        let path = std::env::temp_dir().canonicalize()?.join(name);
        std::fs::create_dir(&path)?;
        std::fs::create_dir(path.join("home"))?;
        Ok(Self(path))
    }
}

impl Drop for PageHome {
    fn drop(&mut self) {
        planted::assert_absent_in(&self.0);
        // Files that can't be removed are in the system's temporary folder, and go with it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
