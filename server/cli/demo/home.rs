//! A folder of the demo's own: the workspace with its file, and a configuration that leads the server to the
//! scripted model. It is gone when it is dropped.

use anyhow::Context;
use std::path::PathBuf;

/// The file that the demo is about.
pub(super) const FILE: &str = "greet.py";
/// Text of the file on the disk.
pub(super) const ON_DISK: &str = "\
def greet(name):
    print(\"Hello, \" + name)


def leave(name):
    print(\"Goodbye, \" + name)
";

/// The skill that the agent loads.
const SKILL: &str = "\
---
name: docstrings
description: How docstrings are written here
---
Each is in one short line, as a command.
";

/// The script that checks what the agent has done.
const CHECK: &str = "\
if ! grep -A1 'def leave' greet.py | grep -q '\"\"\"'; then
    echo 'leave() has no docstring'
    exit 1
fi
";

/// Settings of the demo with a check.
pub(super) const CHECKED: &str = "verify = \"sh check.sh\"\n";

/// See the module.
pub(super) struct DemoHome(PathBuf);

impl DemoHome {
    /// The name of a team that works in the folder: the folder's own.
    pub(super) const TEAM: &str = "workspace";

    /// Makes the folder; the model is at `base_url`, and the configuration has these lines too.
    pub(super) fn new(base_url: &str, settings: &str) -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("ropewalk-demo-{}", std::process::id()));
        // It must be new: somebody else's folder of this name is not ours to delete.
        std::fs::create_dir(&path).with_context(|| format!("{} can't be made", path.display()))?;
        let home = Self(path.canonicalize()?);
        let skill = "workspace/.agents/skills/docstrings";
        for folder in [skill, "config/ropewalk", "home", "tmp"] {
            std::fs::create_dir_all(home.0.join(folder))?;
        }
        std::fs::write(home.file(), ON_DISK)?;
        std::fs::write(home.0.join(skill).join("SKILL.md"), SKILL)?;
        std::fs::write(home.workspace().join("check.sh"), CHECK)?;
        let config = format!(
            "model = \"scripted/scripted\"\nmode = \"review\"\n{settings}\
             [provider.scripted]\nprotocol = \"anthropic\"\n\
             base_url = \"{base_url}\"\nparallel = 4\napi_key_env = \"ROPEWALK_DEMO_KEY\"\n"
        );
        std::fs::write(home.0.join("config/ropewalk/config.toml"), config)?;
        Ok(home)
    }

    /// The folder that is open in the editor.
    pub(super) fn workspace(&self) -> PathBuf {
        self.0.join("workspace")
    }

    /// The demo's file.
    pub(super) fn file(&self) -> PathBuf {
        self.workspace().join(FILE)
    }

    /// Reads the file on the disk as it is now.
    pub(super) fn on_disk(&self) -> anyhow::Result<String> {
        Ok(std::fs::read_to_string(self.file())?)
    }

    /// All that the server and the editor may know of the machine, beside PATH.
    pub(super) fn environment(&self) -> Vec<(&'static str, String)> {
        let folder = |name: &str| self.0.join(name).display().to_string();
        vec![
            ("HOME", folder("home")),
            ("TMPDIR", folder("tmp")),
            ("XDG_CONFIG_HOME", folder("config")),
            ("XDG_STATE_HOME", folder("state")),
            ("XDG_DATA_HOME", folder("data")),
            ("XDG_CACHE_HOME", folder("cache")),
            ("XDG_RUNTIME_DIR", folder("tmp")),
            ("ROPEWALK_DEMO_KEY", "not-a-secret".to_owned()),
        ]
    }

    /// The program that serves, which is this one.
    pub(super) fn server() -> anyhow::Result<PathBuf> {
        std::env::current_exe().context("where this program is can't be found out")
    }
}

impl Drop for DemoHome {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
