//! `ropewalk run`: one request on the files of a folder, without an editor.
//!
//! The agent is the same as behind an editor. What needs an approval is asked for at a terminal; where there is none it
//! is refused unless `--allow` says otherwise. The session is kept, and another run can go on with it.

mod ask;
mod kept;
mod prompt;
mod show;
mod signals;
mod tape;
mod watch;
mod words;

use crate::exit::{Exit, Usage};
use crate::in_words::runtime;
use crate::plain::say;
use crate::review::Counts;
use crate::sessions::prune_in_background;
use crate::terminal::{self, Look};
use crate::{models, setup};
use kept::{Kept, Which};
use ropewalk_agent::Past;
use ropewalk_agent::Session;
use ropewalk_agent::session::{SessionConfig, Settings};
use ropewalk_agent::tools::registry;
use ropewalk_commands::Commands;
use ropewalk_config::{Config, Layer, Problem, RealEnvironment, rules_file};
use ropewalk_host::settings::{choose_again, commands_of, keep_rules_in, model_of};
use ropewalk_protocol::{Op, Prompt};
use ropewalk_tools::diagnostics::Diagnostics;
use ropewalk_tools::{CommandRunner, Rule, TypedTool as _};
use ropewalk_workspace::publish::Bounds;
use ropewalk_workspace::{Editor, NoEditor, Roots, Workspace};
use show::{End, Form, Show};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Arguments of `ropewalk run`.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The request; `-`, or nothing where standard input is no terminal, reads it from there.
    prompt: Option<String>,
    /// Print one event a line, as JSON.
    #[arg(long)]
    json: bool,
    /// When changes are written: `auto` at once, `review` when you accept them, `plan` none are made.
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
    /// Go on with this session: its number in `ropewalk sessions`, or the start of its id.
    #[arg(long, value_name = "SESSION")]
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
    if let Some(model) = args.model {
        flags.push(format!("model={}", model_name(&model)?));
    }
    let which = match (args.goes_on, args.session) {
        (true, _) => Which::Last,
        (false, Some(id)) => Which::Named(id),
        (false, None) => Which::New,
    };
    let folders = setup::folders(args.root)?;
    let config = setup::config(folders.clone(), flags.clone());
    // Answers come from where the request may come from, and between events nobody reads a question.
    let asks = !args.json && terminal::can_ask();
    let mut settings = settings(&config, args.allow, asks)?;
    let roots = Roots::new(folders.iter().map(|root| (String::new(), root.clone())).collect());
    let kept = kept::open(which, &roots)?;
    if config.provenance("model").layer != Layer::Flag {
        keep_choice(&kept, &mut settings, folders, flags);
    }
    let recorder = tape::thread(args.tape, &config, &mut settings)?;
    let prompt = prompt::read(args.prompt)?;
    let form = if args.json { Form::Json } else { Form::People(Look::of_output()) };
    let runtime =
        runtime(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all())?;
    let runner = Arc::new(Commands::new(commands_of(&config)));
    let show = Show::new(std::io::stdout(), form, kept.id.clone());
    let chosen = config.provenance("mode").layer == Layer::Flag;
    prune_in_background(setup::sessions(), config.keep);
    let exit = runtime.block_on(turn(settings, chosen, runner, roots, kept, prompt, show));
    runtime.shutdown_timeout(LEAVE);
    if let Some(why) = recorder.and_then(|recorder| recorder.failure()) {
        say(&format!("The recording is not whole: {why}."));
    }
    Ok(exit)
}

/// The settings of the session. What is wrong with the configuration is said; what is wrong with the command
/// line ends the run, since what it asked for would not be what it gets.
fn settings(config: &Config, allow: Vec<Rule>, asks: bool) -> anyhow::Result<Settings> {
    let factory = models::factory(Arc::new(RealEnvironment));
    let (mut settings, problems) = ropewalk_host::settings::settings_of(config, &factory, asks);
    // With locked rules there is none to keep.
    if asks && config.is_locked("allow").is_none() {
        settings.always = rules_file(&RealEnvironment).map(keep_rules_in);
    }
    // A missing model, provider or key is said by the model itself, when it is used;
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
    settings.facts.headless = true;
    Ok(settings)
}

/// Lets the model go on that was chosen by command in the session, as long as that holds.
fn keep_choice(
    kept: &Kept,
    settings: &mut Settings,
    folders: Vec<PathBuf>,
    mut flags: Vec<String>,
) {
    let Some(choice) = kept.past.as_ref().and_then(Past::model_choice).cloned() else { return };
    let named = |name: &str| {
        flags.push(format!("model={name}"));
        let config = setup::config(folders, flags);
        model_of(&config, &models::factory(Arc::new(RealEnvironment)))
    };
    if let Some(why) = choose_again(choice, settings, named) {
        say(&format!("{why}."));
    }
}

/// The turn, from the first event to the last. `chosen`: the command line says the mode.
async fn turn<W: std::io::Write>(
    settings: Settings,
    chosen: bool,
    runner: Arc<dyn CommandRunner>,
    roots: Roots,
    kept: Kept,
    prompt: String,
    mut show: Show<W>,
) -> Exit {
    let review = review_flags(&kept, &roots);
    let Kept { id, journal, past, outputs } = kept;
    let workspace = Arc::new(Workspace::new(roots));
    workspace.set_outputs(
        outputs.clone().map(|folder| Roots::new(vec![("outputs".to_owned(), folder)])),
    );
    let wanted = settings.mode;
    let publish = Bounds::default();
    let editor: Arc<dyn Editor> = Arc::new(NoEditor);
    let tools = registry(runner.clone(), editor.clone()).only(|name| name != Diagnostics::NAME);
    let config = SessionConfig {
        id,
        settings,
        tools,
        runner,
        outputs: outputs.clone(),
        publish,
        journal,
        past,
        approvals: Arc::default(),
    };
    let (sender, mut events) = mpsc::unbounded_channel();
    let session = Session::start(config, workspace, editor, sender);
    signals::interrupt_on_signal(&session);
    match session.mode() {
        kept if kept == wanted => {}
        _ if chosen => session.send(Op::Mode(wanted)),
        kept => say(&format!("The session is in mode {kept} and stays so; --mode changes that.")),
    }
    kept::say_pending(&session, if chosen { wanted } else { session.mode() });
    session.prompt(Prompt::new(prompt));
    let Some((stop, message)) = watch::watch(&session, &mut events, &mut show).await else {
        return Exit::Error;
    };
    let (patch, hunks) = (session.patch(), session.hunks());
    let end = End {
        stop,
        message: message.as_deref(),
        patch: &patch,
        waiting: Counts::of(&hunks),
        review: review.as_deref(),
    };
    // One that is closed shows no diff.
    let _ = show.end(&end);
    if let Some(folder) = outputs {
        // It goes only if it is empty.
        let _ = std::fs::remove_dir(folder);
    }
    Exit::of(stop, show.check_failed(), !hunks.is_empty())
}

/// Flags that find the session of these roots again, behind `ropewalk diff`. None where it is not kept.
fn review_flags(kept: &Kept, roots: &Roots) -> Option<String> {
    if !kept.journal.is_kept() {
        return None;
    }
    let current = setup::current_name();
    let is_here = setup::names(roots).iter().any(|root| current.contains(root));
    Some(if is_here { String::new() } else { format!(" --session {}", kept.id) })
}

/// The name behind `--model`, which must have both parts.
fn model_name(text: &str) -> Result<&str, Usage> {
    let is_whole = |(provider, name): (&str, &str)| !provider.is_empty() && !name.is_empty();
    match text.split_once('/').is_some_and(is_whole) {
        true => Ok(text),
        false => Err(Usage(
            "--model must look like PROVIDER/NAME, for example anthropic/claude-sonnet-4-5"
                .to_owned(),
        )),
    }
}
