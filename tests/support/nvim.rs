//! Real Neovim under a test's control: `nvim --embed --clean` with a user interface attached,
//! spoken to in msgpack-RPC over its pipes.
//!
//! Keys go in as a user's do, the screen comes back as a user sees it. The editor's configuration,
//! state and cache live in a temporary folder. Nothing of the machine's own Neovim is read.

use super::home::Searched;
use super::picture;
use super::screen::Screen;
use super::{BOUND, editors};
use rmpv::Value;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::fmt::Debug;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// A running Neovim; dropping it ends the process.
pub struct Nvim {
    child: Child,
    to_editor: Mutex<ChildStdin>,
    shared: Arc<Shared>,
    next_id: Mutex<u64>,
    _home: Searched,
}

/// How Neovim reaches a language server.
pub enum Server<'a> {
    /// Starts this program and speaks over its stdin and stdout.
    Program(&'a [&'a str]),
    /// Connects to a [`super::probe::Probe`] on the loopback.
    Port(u16),
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    replies: HashMap<u64, Result<Value, String>>,
    screen: Screen,
    gone: bool,
}

impl Nvim {
    /// Starts Neovim in the folder `dir` with an 80×24 screen and no file.
    pub fn start(dir: &Path) -> Self {
        Self::start_with(dir, &[])
    }

    /// As [`Nvim::start`], with more environment variables, which servers it starts inherit.
    pub fn start_with(dir: &Path, environment: &[(&str, String)]) -> Self {
        Self::launch(dir, environment, &["--clean"])
    }

    /// As [`Nvim::start_with`], with the configuration and data that the environment names, as a user starts it.
    pub fn start_configured(
        dir: &Path,
        environment: &[(&str, String)],
        arguments: &[&str],
    ) -> Self {
        Self::launch(dir, environment, arguments)
    }

    fn launch(dir: &Path, environment: &[(&str, String)], arguments: &[&str]) -> Self {
        let program = program();
        let home = Searched::new();
        let mut command = Command::new(&program);
        // Files of Python would make Neovim look for the machine's own Python, for seconds.
        let no_python = ["--cmd", "let g:loaded_python3_provider = 0"];
        command.args(["--embed", "-n"]).args(no_python).args(arguments).current_dir(dir);
        for place in ["CONFIG", "DATA", "STATE", "CACHE"] {
            command.env(format!("XDG_{place}_HOME"), home.path().join(place));
        }
        command
            .env("HOME", home.path())
            .env("XDG_RUNTIME_DIR", home.path())
            .env("NVIM_LOG_FILE", home.path().join("log"));
        command.env_remove("NVIM").envs(environment.iter().map(|(name, value)| (*name, value)));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", program.display()));
        let to_editor = Mutex::new(child.stdin.take().unwrap());
        let from_editor = child.stdout.take().unwrap();
        let shared = Arc::new(Shared::default());
        let reader = Arc::clone(&shared);
        std::thread::spawn(move || reader.read_all(from_editor));
        let nvim = Self { child, to_editor, shared, next_id: Mutex::new(0), _home: home };
        nvim.call("nvim_ui_attach", json!([80, 24, { "ext_linegrid": true, "rgb": true }]));
        nvim
    }

    /// Calls one function of Neovim's interface; fails the test with Neovim's own words.
    pub fn call(&self, method: &str, params: Json) -> Value {
        self.try_call(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Calls one function of Neovim's interface. While a prompt blocks the editor (see
    /// [`Nvim::blocked`]) only input, mode and screen are answered; others reach the bound.
    pub fn try_call(&self, method: &str, params: Json) -> Result<Value, String> {
        let id = {
            let mut next = self.next_id.lock().unwrap();
            *next += 1;
            *next
        };
        let params = rmpv::ext::to_value(params).unwrap();
        let request = Value::Array(vec![0.into(), id.into(), method.into(), params]);
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &request).unwrap();
        {
            let mut pipe = self.to_editor.lock().unwrap();
            pipe.write_all(&bytes).and_then(|()| pipe.flush()).map_err(|e| e.to_string())?;
        }
        self.shared.wait(BOUND, |state| state.replies.remove(&id)).ok_or_else(|| {
            format!("no answer within {BOUND:?}; the screen:\n{}", self.screen().join("\n"))
        })?
    }

    /// Runs a Lua chunk with `args` (a JSON array) as its `...` and returns what it returns.
    pub fn lua<T: DeserializeOwned>(&self, chunk: &str, args: Json) -> T {
        let value = self.call("nvim_exec_lua", json!([chunk, args]));
        rmpv::ext::from_value(value.clone()).unwrap_or_else(|e| panic!("{e}: {value}\n{chunk}"))
    }

    /// Runs one command of Neovim's command line, without its colon.
    pub fn command(&self, line: &str) {
        self.call("nvim_command", json!([line]));
    }

    /// Types keys as a user does, in Neovim's notation (`"ix<CR><Esc>"`, `"<lt>"` for `<`). They are
    /// queued: wait for what they lead to.
    pub fn feed(&self, keys: &str) {
        let mut rest = keys;
        while !rest.is_empty() {
            let taken = self.call("nvim_input", json!([rest])).as_u64().unwrap();
            rest = rest.split_at(usize::try_from(taken).unwrap()).1;
        }
    }

    /// The mode as `nvim_get_mode` names it: `n`, `i`, `v`, `r` (press a key), …
    pub fn mode(&self) -> String {
        self.mode_and_blocked().0
    }

    /// True if Neovim waits for a key in a prompt and answers nothing else.
    pub fn blocked(&self) -> bool {
        self.mode_and_blocked().1
    }

    /// Opens a file in the current window and makes its buffer current.
    pub fn edit(&self, path: &Path) {
        self.call("nvim_cmd", json!([{ "cmd": "edit", "args": [path] }, {}]));
    }

    /// The current buffer's lines.
    pub fn lines(&self) -> Vec<String> {
        self.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, true)", json!([]))
    }

    /// The lines of the loaded buffer for `path`; `None` when there is none.
    pub fn lines_of(&self, path: &Path) -> Option<Vec<String>> {
        self.lua(
            "local b = vim.fn.bufnr(...) \
             if b < 0 or not vim.api.nvim_buf_is_loaded(b) then return nil end \
             return vim.api.nvim_buf_get_lines(b, 0, -1, true)",
            json!([path]),
        )
    }

    /// True if the buffer for `path` has the option `modified` set; false when there is none.
    pub fn modified(&self, path: &Path) -> bool {
        self.lua("local b = vim.fn.bufnr(...) return b >= 0 and vim.bo[b].modified", json!([path]))
    }

    /// Text that `:messages` shows.
    pub fn messages(&self) -> String {
        self.lua("return vim.api.nvim_exec2('messages', {output = true}).output", json!([]))
    }

    /// The screen's lines from the top, without blanks at their ends.
    pub fn screen(&self) -> Vec<String> {
        self.shared.lock().screen.lines()
    }

    /// Keeps what the screen shows as `NAME.png` in `$ROPEWALK_PICTURES`, if that is a folder, for people to look at.
    pub fn picture(&self, name: &str) {
        if let Some(folder) = std::env::var_os("ROPEWALK_PICTURES") {
            let file = PathBuf::from(folder).join(name).with_extension("png");
            picture::draw(&self.shared.lock().screen, &file);
        }
    }

    /// Waits until some line of the screen contains `text`.
    pub fn wait_for_screen(&self, text: &str) {
        let seen = |state: &mut State| {
            state.screen.lines().iter().any(|line| line.contains(text)).then_some(())
        };
        if self.shared.wait(BOUND, seen).is_none() {
            panic!("{text:?} is not on the screen:\n{}", self.screen().join("\n"));
        }
    }

    /// Asks `probe` again and again, at most for [`BOUND`], until it gives something.
    pub fn wait_for<T>(&self, what: &str, mut probe: impl FnMut(&Self) -> Option<T>) -> T {
        let end = Instant::now() + BOUND;
        loop {
            if let Some(found) = probe(self) {
                return found;
            }
            if Instant::now() > end {
                panic!("waited in vain for {what}; the screen:\n{}", self.screen().join("\n"));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until the current buffer has exactly these lines.
    pub fn wait_for_lines<L: AsRef<str> + Debug>(&self, lines: &[L]) {
        self.wait_for(&format!("the lines {lines:?}"), |nvim| {
            let now = nvim.lines();
            (now.len() == lines.len() && now.iter().zip(lines).all(|(a, b)| a == b.as_ref()))
                .then_some(())
        });
    }

    /// Starts a language client named `name` with `root` as its folder and attaches the current
    /// buffer alone, as `vim.lsp.start` does. `config` is merged into the client's configuration:
    /// `flags`, `init_options`, `settings`.
    pub fn start_client(&self, name: &str, server: &Server<'_>, root: &Path, config: Json) {
        self.client(name, server, root, config, "assert(vim.lsp.start(config))");
    }

    /// Enables a language client for every buffer of a text file, open or yet to be opened, as
    /// `vim.lsp.enable` does; the rest as for [`Nvim::start_client`].
    pub fn enable_client(&self, name: &str, server: &Server<'_>, root: &Path, config: Json) {
        let enable = "config.name = nil \
             config.filetypes = config.filetypes or { 'text', 'markdown', 'rust', 'python' } \
             vim.lsp.config(name, config) \
             vim.lsp.enable(name)";
        self.client(name, server, root, config, enable);
    }

    fn client(&self, name: &str, server: &Server<'_>, root: &Path, config: Json, start: &str) {
        let (program, port) = match server {
            Server::Program(program) => (json!(program), Json::Null),
            Server::Port(port) => (Json::Null, json!(port)),
        };
        let prepare = "local name, program, port, root, config = ... \
             if port ~= vim.NIL then program = vim.lsp.rpc.connect('127.0.0.1', port) end \
             config = vim.tbl_extend('force', vim.empty_dict(), config, \
               { name = name, cmd = program, root_dir = root })";
        let chunk = format!("{prepare}\n{start}");
        self.lua::<()>(&chunk, json!([name, program, port, root, config]));
    }

    fn mode_and_blocked(&self) -> (String, bool) {
        let answer = self.call("nvim_get_mode", json!([]));
        let field = |name: &str| {
            let pairs = answer.as_map().into_iter().flatten();
            pairs.into_iter().find(|(key, _)| key.as_str() == Some(name)).map(|(_, value)| value)
        };
        (
            field("mode").and_then(Value::as_str).unwrap_or_default().to_owned(),
            field("blocking").and_then(Value::as_bool).unwrap_or_default(),
        )
    }
}

impl Drop for Nvim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn wait<T>(&self, bound: Duration, mut find: impl FnMut(&mut State) -> Option<T>) -> Option<T> {
        let end = Instant::now() + bound;
        let mut state = self.lock();
        loop {
            if let Some(found) = find(&mut state) {
                return Some(found);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || state.gone {
                return None;
            }
            state = self.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Sorts what Neovim sends into replies and redraws, until its end.
    fn read_all(&self, pipe: ChildStdout) {
        let mut pipe = BufReader::new(pipe);
        while let Ok(Value::Array(message)) = rmpv::decode::read_value(&mut pipe) {
            let mut state = self.lock();
            match message.as_slice() {
                [kind, id, error, result] if kind.as_u64() == Some(1) => {
                    let reply = match error {
                        Value::Nil => Ok(result.clone()),
                        Value::Array(parts) => Err(parts
                            .get(1)
                            .and_then(Value::as_str)
                            .map_or_else(|| error.to_string(), str::to_owned)),
                        other => Err(other.to_string()),
                    };
                    state.replies.insert(id.as_u64().unwrap_or(0), reply);
                }
                [kind, name, Value::Array(batches)]
                    if kind.as_u64() == Some(2) && name.as_str() == Some("redraw") =>
                {
                    batches.iter().for_each(|batch| state.screen.redraw(batch));
                }
                _ => {}
            }
            drop(state);
            self.changed.notify_all();
        }
        self.lock().gone = true;
        self.changed.notify_all();
    }
}

/// Neovim as `tests/run` installed it.
fn program() -> PathBuf {
    let program = editors().join("nvim/bin/nvim");
    assert!(program.exists(), "no Neovim at {}: run tests/run once", program.display());
    program
}
