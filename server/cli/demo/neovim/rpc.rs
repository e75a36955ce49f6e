//! Neovim's msgpack-RPC over its standard input and output, as much of it as the demo needs: one request at a
//! time, and notifications that are kept.

use anyhow::{Context, bail, ensure};
use rmpv::Value as Packed;
use serde_json::{Value, json};
use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The longest that Neovim may let us wait for anything; it needs milliseconds.
const BOUND: Duration = Duration::from_secs(30);
/// How long a Neovim whose input was closed may take to end by itself.
const FAREWELL: Duration = Duration::from_secs(5);

/// A running Neovim; dropping it ends the process, and with it the servers that it started.
pub(super) struct Rpc {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Packed>,
    requests: u64,
    notifications: Vec<(String, Value)>,
}

impl Rpc {
    /// Starts Neovim, which must have been asked to `--embed`.
    pub(super) fn start(mut command: Command) -> anyhow::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (sender, messages) = channel();
        // It ends with Neovim's output, or when nobody listens any more.
        std::thread::Builder::new().spawn(move || {
            let mut output = BufReader::new(output?);
            while let Ok(message) = rmpv::decode::read_value(&mut output) {
                sender.send(message).ok()?;
            }
            None::<()>
        })?;
        Ok(Self { child, input, messages, requests: 0, notifications: Vec::new() })
    }

    /// Calls a function of Neovim's interface; `arguments` is an array. Fails in Neovim's own words.
    pub(super) fn call(&mut self, function: &str, arguments: Value) -> anyhow::Result<Value> {
        self.send(function, arguments)?;
        let end = Instant::now() + BOUND;
        loop {
            if let Some(answer) = self.receive("an answer", end)? {
                return answer;
            }
        }
    }

    /// Runs Lua with `arguments` as its `...`, and gives what it returns.
    pub(super) fn lua(&mut self, chunk: &str, arguments: Value) -> anyhow::Result<Value> {
        self.call("nvim_exec_lua", json!([chunk, arguments]))
    }

    /// The arguments of every notification of this name so far.
    pub(super) fn heard(&self, name: &str) -> impl Iterator<Item = &Value> {
        self.notifications.iter().filter(move |(of, _)| of == name).map(|(_, heard)| heard)
    }

    /// Looks now and after each notification until `find` finds something.
    pub(super) fn wait<T>(
        &mut self,
        what: &str,
        mut find: impl FnMut(&mut Self) -> anyhow::Result<Option<T>>,
    ) -> anyhow::Result<T> {
        let end = Instant::now() + BOUND;
        loop {
            let heard = self.notifications.len();
            if let Some(found) = find(self)? {
                return Ok(found);
            }
            // A notification that came while it looked is reason enough to look again.
            if self.notifications.len() == heard {
                self.receive(what, end)?;
            }
        }
    }

    /// Quits, and waits for the end, which must be a good one.
    pub(super) fn close(mut self) -> anyhow::Result<()> {
        // It is not answered: Neovim is gone first.
        self.send("nvim_command", json!(["qall!"]))?;
        let ended = self.ended_within(BOUND).context("Neovim does not quit")?;
        ensure!(ended.success(), "Neovim ended with {ended}");
        Ok(())
    }

    fn send(&mut self, function: &str, arguments: Value) -> anyhow::Result<()> {
        self.requests += 1;
        let arguments = rmpv::ext::to_value(arguments)?;
        let request =
            Packed::Array(vec![0.into(), self.requests.into(), function.into(), arguments]);
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &request)?;
        let input = self.input.as_mut().context("Neovim has no input")?;
        input.write_all(&bytes).and_then(|()| input.flush()).context("Neovim is gone")
    }

    /// Takes the next message: the answer to the last request, or something to keep. `what` is being waited
    /// for.
    fn receive(
        &mut self,
        what: &str,
        end: Instant,
    ) -> anyhow::Result<Option<anyhow::Result<Value>>> {
        let left = end.saturating_duration_since(Instant::now());
        let message = match self.messages.recv_timeout(left) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => bail!("Neovim was waited for in vain: {what}"),
            Err(RecvTimeoutError::Disconnected) => bail!("Neovim ended, and {what} was wanted"),
        };
        match message.as_array().map_or(&[][..], Vec::as_slice) {
            [kind, id, error, result]
                if kind.as_u64() == Some(1) && id.as_u64() == Some(self.requests) =>
            {
                Ok(Some(match error {
                    Packed::Nil => Ok(rmpv::ext::from_value(result.clone())?),
                    error => Err(anyhow::anyhow!("Neovim: {error}")),
                }))
            }
            [kind, name, arguments] if kind.as_u64() == Some(2) => {
                let name = name.as_str().unwrap_or_default().to_owned();
                let words = arguments.as_array().and_then(|all| all.first()?.as_str());
                let heard = words.map(serde_json::from_str).transpose()?.unwrap_or_default();
                self.notifications.push((name, heard));
                Ok(None)
            }
            _ => bail!("Neovim sent something else than msgpack-RPC: {message}"),
        }
    }

    /// The status of the process if it ends in time.
    fn ended_within(&mut self, bound: Duration) -> Option<std::process::ExitStatus> {
        let end = Instant::now() + bound;
        // Its output closes with it.
        while let Err(RecvTimeoutError::Timeout) | Ok(_) =
            self.messages.recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            if Instant::now() >= end {
                return None;
            }
        }
        self.child.wait().ok()
    }
}

impl Drop for Rpc {
    fn drop(&mut self) {
        // A Neovim whose input is closed stops its servers and quits.
        self.input = None;
        if self.ended_within(FAREWELL).is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
