//! One command in the sandbox: started, read while it prints, ended by itself or from outside.

use crate::CommandSettings;
use crate::command::{
    Collector, CommandError, CommandOutcome, Exit, Sink, Stopped, allowed_environment, attend,
    command_environment, shell, without_network,
};
use ropewalk_sandbox::{End, Sandbox, Spec};
use ropewalk_tools::private::private_file;
use ropewalk_tools::runner::Command;
use ropewalk_tools::secrets::Secrets;
use ropewalk_tools::tool::{Context, Grant, ToolOutput};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long to wait for the rest of the output once all that could write has ended.
const GRACE: Duration = Duration::from_millis(250);

/// A command for the sandbox, but for where its output goes.
pub(super) struct ForSandbox {
    asked: Command,
    env: Vec<(OsString, OsString)>,
    layer: String,
    network: bool,
    shown: Vec<PathBuf>,
    veil: MaskedPaths,
    laid: Vec<(PathBuf, PathBuf)>,
    secrets: Secrets,
}

/// Files that a command does not see, and those it sees in other words.
#[derive(Debug, Default)]
pub(super) struct MaskedPaths {
    /// Of what the roots have, and what is shown around them.
    pub(super) hidden: Vec<PathBuf>,
    /// Paths hidden from all commands that it sees after all.
    pub(super) unhidden: Vec<PathBuf>,
    /// Files outside of roots that it sees in other words.
    pub(super) replaced: Vec<(PathBuf, Vec<u8>)>,
}

/// How it went.
pub(super) struct Attended {
    pub(super) outcome: CommandOutcome,
    pub(super) end: End,
    /// True if it had the network.
    pub(super) network: bool,
    /// Where all it printed is, if that was wanted.
    pub(super) file: Option<PathBuf>,
}

impl ForSandbox {
    /// A command with what its call may reach.
    pub(super) fn new(
        asked: Command,
        context: &Context,
        settings: &CommandSettings,
        layer: &str,
        mut veil: MaskedPaths,
    ) -> Self {
        let Grant { reach, secrets, .. } = &context.grant;
        let ours = allowed_environment(std::env::vars_os(), &settings.environment);
        let mut env = command_environment(ours, &settings.environment, secrets);
        env.push(("TMPDIR".into(), "/tmp".into()));
        if !reach.network {
            without_network(&mut env);
        }
        let readable = context.view.readable().iter().map(|root| root.path().to_owned());
        let readable: Vec<PathBuf> = readable.collect();
        let shown = reach.outside.iter().chain(&readable).cloned().collect();
        // The user's own folder is hidden, and what they keep there for the agent is not.
        veil.unhidden.extend(readable);
        Self {
            asked,
            env,
            layer: layer.to_owned(),
            network: reach.network,
            shown,
            veil,
            laid: Vec::new(),
            secrets: secrets.clone(),
        }
    }

    /// Points tools to build caches by these variables, whatever they were, and shows them at these places.
    pub(super) fn build_in(
        &mut self,
        variables: Vec<(OsString, OsString)>,
        laid: Vec<(PathBuf, PathBuf)>,
    ) {
        self.env.retain(|(name, _)| !variables.iter().any(|(set, _)| set == name));
        self.env.extend(variables);
        self.laid = laid;
    }
}

/// Runs it to its end, its timeout or `interrupt`. Dropping the future ends it.
pub(super) async fn attended(
    sandbox: &Sandbox,
    command: ForSandbox,
    sink: Sink,
    interrupt: impl Future<Output = ()>,
) -> Result<Attended, ToolOutput> {
    let ForSandbox { asked, env, layer, network, shown, veil, laid, secrets } = command;
    // These errors bring the word with them.
    let not_started = |error: CommandError| ToolOutput::failed(error.to_string());
    if asked.command.contains('\0') {
        return Err(not_started(CommandError::Nul));
    }
    // The folder is looked for inside: it may be the fork's alone.
    let program = shell(&env).map_err(not_started)?;
    let file = output_file(&asked).await.map_err(not_started)?;
    let pipe = || {
        let (receive, send) = std::io::pipe()?;
        Ok((tokio::net::unix::pipe::Receiver::from_owned_fd(receive.into())?, send))
    };
    let (receiver, send) = pipe().map_err(|error| not_started(CommandError::Start(error)))?;
    let spec = Spec {
        argv: vec![program.into(), "-c".into(), asked.command.into()],
        cwd: asked.cwd,
        env,
        output: send.into(),
        layer,
        network,
        shown,
        hidden: veil.hidden,
        unhidden: veil.unhidden,
        laid,
        replaced: veil.replaced,
    };
    let began = Instant::now();
    let mut running = sandbox.run(spec).await.map_err(|error| {
        ToolOutput::error(format_args!("the command could not be started in the sandbox: {error}"))
    })?;
    let mut collector = Collector::new(receiver, file, Some(sink), &secrets);
    let (stopped, is_read) = attend(&mut collector, asked.timeout, interrupt, running.wait()).await;
    let (exit, end) = match stopped {
        Stopped::Ended(end) => (exit_of(&end), end),
        Stopped::TimedOut => (Exit::TimedOut(asked.timeout), killed(&mut running).await),
        Stopped::Interrupted => (Exit::Interrupted, killed(&mut running).await),
    };
    if !is_read {
        // All that could hold the pipe has ended with the command.
        let _ = tokio::time::timeout(GRACE, collector.read()).await;
    }
    let (output, file_is_whole) = collector.collected().await;
    let outcome = CommandOutcome {
        exit,
        output,
        duration: began.elapsed(),
        left_running: false,
        lost: None,
        output_file: asked.output_file.clone().filter(|_| file_is_whole),
    };
    Ok(Attended { outcome, end, network, file: asked.output_file })
}

/// The file that takes all that is printed, if there is to be one.
async fn output_file(asked: &Command) -> Result<Option<tokio::fs::File>, CommandError> {
    let Some(path) = &asked.output_file else { return Ok(None) };
    let file = private_file(path).await;
    file.map(Some).map_err(|error| CommandError::OutputFile(path.clone(), error))
}

async fn killed(running: &mut ropewalk_sandbox::Running) -> End {
    running.kill();
    running.wait().await
}

fn exit_of(end: &End) -> Exit {
    match end {
        End::Exited { code, .. } => Exit::Exited(*code),
        End::Signalled { signal, .. } => Exit::Signalled(*signal),
        // SIGKILL, in effect.
        End::Memory { .. }
        | End::LayerFull { .. }
        | End::CacheFull { .. }
        | End::Killed
        | End::Lost(_) => Exit::Signalled(9),
    }
}
