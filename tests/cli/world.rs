//! The binary run as a command, in a world of its own: home, state, folder to work in, and the environment
//! that it names. Nothing of the user's is seen.

use ropewalk_testkit::model::ScriptedModel;
use ropewalk_testkit::planted;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The key that must be in no output, and the variable that holds it.
pub(crate) use ropewalk_testkit::planted::{OTHER_KEY as KEY, VARIABLE as KEY_VARIABLE};

/// A home and a folder to work in.
pub(crate) struct World {
    home: tempfile::TempDir,
    root: tempfile::TempDir,
}

impl Drop for World {
    fn drop(&mut self) {
        planted::assert_absent_in(self.home.path());
        planted::assert_absent_in(self.root.path());
    }
}

impl World {
    /// A world whose configuration leads to `base_url`. Commands run in place, where they ask.
    pub(crate) fn new(base_url: &str) -> Self {
        let world = Self { home: tempfile::tempdir().unwrap(), root: tempfile::tempdir().unwrap() };
        world.configure(&format!(
            "model = \"scripted/scripted\"\ncommands.over_fork = \"off\"\n[provider.scripted]\nprotocol = \"anthropic\"\n\
             base_url = \"{base_url}\"\napi_key_env = \"{KEY_VARIABLE}\"\n"
        ));
        world
    }

    /// A world whose configuration leads to a scripted model.
    pub(crate) fn with(model: &ScriptedModel) -> Self {
        Self::new(&model.base_url())
    }

    /// Another configuration of the user's.
    pub(crate) fn configure(&self, config: &str) {
        let folder = self.home.path().join("config/ropewalk");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), config).unwrap();
    }

    /// A path in the home.
    pub(crate) fn home(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// The folder to work in.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Puts a file there.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Reads one.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.root().join(name)).unwrap()
    }

    /// The command, with these arguments and nothing on standard input.
    pub(crate) fn ropewalk(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ropewalk"));
        command.env_clear();
        // Without a file the server's log is on standard error, which is searched as well.
        if !args.contains(&"--log") && !args.contains(&"lsp") {
            planted::log_everything(&mut command);
        }
        command
            .args(args)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .env("XDG_CONFIG_HOME", self.home("config"))
            .env("XDG_STATE_HOME", self.home("state"))
            .envs(planted::environment())
            .current_dir(self.root())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.ropewalk(args).output().unwrap().into()
    }

    /// Runs it with this on standard input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &[u8]) -> Ran {
        let mut child = self.ropewalk(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // One that stops reading early has had enough.
        let _ = stdin.write_all(input);
        drop(stdin);
        child.wait_with_output().unwrap().into()
    }
}

/// Output and end of a command. Made only from output without the key.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code; none after a signal.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let ran =
            Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
        planted::assert_absent("the command", format!("{}\n{}", ran.out, ran.err));
        assert!(!ran.err.contains("panicked"), "{ran:?}");
        ran
    }
}

impl Ran {
    /// Checks the exit code; shows everything where it is another.
    #[track_caller]
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }
}
