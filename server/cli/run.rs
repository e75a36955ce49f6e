//! `ropewalk run`: one request on the files of a folder, without an editor.
//!
//! The agent is the same as behind an editor; there is nobody to be asked, so what needs an approval is
//! refused unless `--allow` says otherwise. The session is kept, and another run can go on with it.

mod kept;
mod prompt;
mod show;
mod signals;
mod tape;

use crate::exit::{Exit, Usage};
use crate::in_words::runtime;
use crate::plain::say;
use crate::sessions::prune_in_background;
use crate::{models, setup};
use kept::{Kept, Which};
use ropewalk_agent::session::{SessionConfig, Settings};
use ropewalk_agent::{Event, Op, Prompt, Session};
use ropewalk_config::{Config, Layer, Problem, RealEnvironment};
use ropewalk_tools::Rule;
use ropewalk_workspace::publish::Bounds;
use ropewalk_workspace::{NoEditor, Roots, Workspace};
use show::{Form, Show};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// What `ropewalk run` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The request; `-`, or nothing where standard input is no terminal, reads it from there.
    prompt: Option<String>,
    /// Print one event a line, as JSON.
    #[arg(long)]
    json: bool,
    /// When changes are written: `auto` at once, `review` never (the diff is printed), `plan` none are made.
    #[arg(long, value_parser = ["auto", "review", "plan"])]
    mode: Option<String>,
    /// The model.
    #[arg(long, value_name = "PROVIDER/NAME")]
    model: Option<String>,
    /// Let calls run that would need an approval, as in `bash(git status*)`, `bash(*)` or `bash with network`.
    /// May be given more than once.
    #[arg(long, value_name = "RULE")]
    allow: Vec<Rule>,
    /// Go on with the last session of these folders.
    #[arg(long = "continue", conflicts_with = "session")]
    goes_on: bool,
    /// Go on with this session; the start of its id will do.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The folder to work in, instead of the current one. May be given more than once: paths and commands
    /// start in the first.
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,
    #[command(flatten)]
    tape: tape::TapeArgs,
}

/// How long the rest of a session may take to end once its turn has.
const LEAVE: Duration = Duration::from_millis(500);

/// Runs the request. `flags` are those of `-c`.
pub(crate) fn run(args: RunArgs, mut flags: Vec<String>) -> anyhow::Result<Exit> {
    flags.extend(args.mode.map(|mode| format!("mode={mode}")));
    flags.extend(args.model.map(|model| format!("model={model}")));
    let which = match (args.goes_on, args.session) {
        (true, _) => Which::Last,
        (false, Some(id)) => Which::Named(id),
        (false, None) => Which::New,
    };
    let folders = setup::folders(args.root)?;
    let config = setup::config(folders.clone(), flags);
    let mut settings = settings(&config, args.allow)?;
    let recorder = tape::thread(args.tape, &config, &mut settings)?;
    let prompt = prompt::read(args.prompt)?;
    let form = if args.json { Form::Json } else { Form::of_terminal() };
    let runtime =
        runtime(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all())?;
    let roots = Roots::new(folders.into_iter().map(|root| (String::new(), root)).collect());
    let kept = kept::open(which, &roots)?;
    let show = Show::new(std::io::stdout(), form, kept.id.clone());
    let chosen = config.provenance("mode").layer == Layer::Flag;
    prune_in_background(setup::sessions(), config.keep);
    let exit = runtime.block_on(turn(settings, chosen, roots, kept, prompt, show));
    runtime.shutdown_timeout(LEAVE);
    if let Some(why) = recorder.and_then(|recorder| recorder.failure()) {
        say(&format!("The recording is not whole: {why}."));
    }
    Ok(exit)
}

/// The settings of the session. What is wrong with the configuration is said; what is wrong with the command
/// line ends the run, since what it asked for would not be what it gets.
fn settings(config: &Config, allow: Vec<Rule>) -> anyhow::Result<Settings> {
    let factory = models::factory(Arc::new(RealEnvironment));
    let (mut settings, problems) = ropewalk_lsp::settings::settings_of(config, &factory, false);
    // That there is no model, no provider for it or no key is said by the model itself, when it is used;
    // but a provider that the command line got wrong is a slip of the user's.
    let slip = |problem: &Problem| {
        problem.source.layer == Layer::Flag && config.model_provider().is_none()
    };
    let said_later: Vec<String> = config
        .problems
        .iter()
        .filter(|problem| {
            problem.key.as_deref() == Some("model")
                && problem.source == config.provenance("model")
                && !slip(problem)
        })
        .map(ToString::to_string)
        .collect();
    let wrong = config.problems.iter().find(|problem| {
        problem.source.layer == Layer::Flag && !said_later.contains(&problem.sentence)
    });
    if let Some(wrong) = wrong {
        anyhow::bail!(Usage(wrong.to_string()));
    }
    for problem in problems.iter().filter(|problem| !said_later.contains(problem)) {
        say(problem);
    }
    if let (Some(lock), false) = (config.is_locked("allow"), allow.is_empty()) {
        anyhow::bail!(Usage(format!(
            "--allow can't be given: rules that allow are locked by {lock}."
        )));
    }
    settings.rules.allow.extend(allow);
    Ok(settings)
}

/// The turn, from the first event to the last. `chosen`: the command line says the mode.
async fn turn<W: std::io::Write>(
    settings: Settings,
    chosen: bool,
    roots: Roots,
    kept: Kept,
    prompt: String,
    mut show: Show<W>,
) -> Exit {
    let Kept { id, journal, past, outputs } = kept;
    let workspace = Arc::new(Workspace::new(roots));
    workspace.set_outputs(
        outputs.clone().map(|folder| Roots::new(vec![("outputs".to_owned(), folder)])),
    );
    let wanted = settings.mode;
    let publish = Bounds::default();
    let config = SessionConfig { id, settings, outputs: outputs.clone(), publish, journal, past };
    let (sender, mut events) = mpsc::unbounded_channel();
    let session = Session::start(config, workspace, Arc::new(NoEditor), sender);
    signals::interrupt_on_signal(&session);
    match session.mode() {
        kept if kept == wanted => {}
        _ if chosen => session.send(Op::Mode(wanted)),
        kept => say(&format!("The session is in mode {kept} and stays so; --mode changes that.")),
    }
    kept::say_pending(&session, if chosen { wanted } else { session.mode() });
    session.prompt(Prompt::new(prompt));
    while let Some(event) = events.recv().await {
        if let Err(error) = show.event(&event) {
            // Nobody can see what the agent does any more, so it stops.
            tracing::info!(%error, "standard output is closed");
            session.send(Op::Interrupt);
        }
        if let Event::TurnEnded { stop_reason, message, .. } = event {
            let diff = session.diff();
            // The same: one that is closed shows no diff.
            let _ = show.end(&diff, message.as_deref());
            if let Some(folder) = outputs {
                // It goes only if it is empty.
                let _ = std::fs::remove_dir(folder);
            }
            return Exit::of(stop_reason, !diff.is_empty());
        }
    }
    Exit::Error
}
