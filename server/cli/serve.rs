//! `ropewalk lsp`: the language server over standard input and output. What it serves is the room `lsp`'s.

use crate::exit::CliExit;
use crate::in_words::runtime;
use crate::models::factory;
use crate::run::signals::Signals;
use crate::sessions::prune_in_background;
use crate::setup;
use ropewalk_config::RealEnvironment;
use ropewalk_host::HostOptions;
use ropewalk_lsp::serve::{ServeEnd, ServeOptions, serve, stdio};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Serves until the client is done, or a signal asks for the end. The exit code is LSP's, 0 after `shutdown`, else 1; after
/// a signal it is that of what is interrupted.
pub(crate) fn lsp(flags: Vec<String>) -> anyhow::Result<ExitCode> {
    let runtime = runtime(
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_stack_size(1 << 20)
            .enable_all(),
    )?;
    prune_in_background(setup::sessions(), setup::config(Vec::new(), flags.clone()).keep);
    let end = runtime.block_on(async {
        let environment = Arc::new(RealEnvironment);
        let own = HostOptions::new(factory(environment.clone()), environment);
        let options = HostOptions { flags, sessions: setup::sessions(), ..own };
        let (service, socket) = ropewalk_lsp::service(options);
        let (input, output) = stdio()?;
        let mut signals = Signals::listen()?;
        let serving = serve(service, socket, input, output, ServeOptions::default());
        let end = tokio::select! {
            end = serving => Some(end?),
            () = signals.next() => None,
        };
        anyhow::Ok(end)
    })?;
    // Sessions clear away what their commands left on the disk. Whatever still runs then ends with the process.
    runtime.shutdown_timeout(Duration::from_secs(2));
    Ok(ExitCode::from(end.map_or(CliExit::Interrupted.code(), ServeEnd::exit_code)))
}
