//! `ropewalk run`: one request on the files of a folder, without an editor.
//!
//! The agent is the same as behind an editor. What needs an approval is asked for at a terminal; where there is none it
//! is refused unless `--allow` says otherwise. The session is kept, and another run can go on with it.

mod ask;
mod feed;
mod kept;
mod prompt;
mod show;
pub(crate) mod signals;
mod slash;
mod tape;
mod team;
mod watch;
mod words;

use crate::exit::{CliExit, UsageError};
use crate::in_words::runtime;
use crate::plain::say;
use crate::review::Counts;
use crate::sessions::prune_in_background;
use crate::terminal::{self, OutputLook};
use crate::{models, setup};
use feed::Feed;
use kept::SessionChoice;
use ropewalk_config::{Config, ConfigLayer, Problem, RealEnvironment};
use ropewalk_host::{Host, HostOptions};
use ropewalk_protocol::{Mode, Op, Prompt, Reply};
use ropewalk_tools::Rule;
use ropewalk_workspace::Roots;
use show::{OutputForm, TurnEnding, TurnPrinter};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use team::say_left;

/// Arguments of `ropewalk run`.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The request; `-`, or nothing where standard input is no terminal, reads it from there.
    prompt: Option<String>,
    /// Print one event a line, as JSON.
    #[arg(long)]
    json: bool,
    /// When changes are written: `auto` at once, `review` when you accept them, `plan` never.
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
pub(crate) fn run(args: RunArgs, mut flags: Vec<String>) -> anyhow::Result<CliExit> {
    flags.extend(args.mode.map(|mode| format!("mode={mode}")));
    if let Some(model) = args.model {
        flags.push(format!("model={}", model_name(&model)?));
    }
    let which = match (args.goes_on, args.session) {
        (true, _) => SessionChoice::Last,
        (false, Some(id)) => SessionChoice::Named(id),
        (false, None) => SessionChoice::New,
    };
    let folders = setup::folders(args.root)?;
    let config = setup::config(folders.clone(), flags.clone());
    let told_later = check(&config, &args.allow)?;
    let roots = Roots::new(folders.iter().map(|root| (String::new(), root.clone())).collect());
    let prompt = prompt::read(args.prompt)?;
    let command = slash::read(&prompt)?;
    let which = slash::meant(which, command.as_ref());
    let form =
        if args.json { OutputForm::Json } else { OutputForm::People(OutputLook::of_output()) };
    let start = kept::choose(which, &setup::names(&roots))?;
    let done = command.map(|slash| slash::at_once(slash, start.as_ref(), &flags));
    let command = match done.transpose() {
        Ok(Some(exit)) => return exit,
        Ok(None) => None,
        Err(slash) => Some(slash),
    };
    let environment = Arc::new(RealEnvironment);
    let models = models::factory(environment.clone());
    let tape::RunModels { models, date, recorder } = tape::thread(args.tape, &config, models)?;
    let runtime =
        runtime(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all())?;
    prune_in_background(setup::sessions(), config.keep);
    let options = HostOptions {
        flags,
        // Answers come from where the request may come from, and between events nobody reads a question.
        interactive: !args.json && terminal::can_ask(),
        // A command about a session does not have its team go on.
        leads: command.is_none(),
        allow: args.allow,
        date,
        ..HostOptions::new(models, environment)
    };
    let host = setup::host(options, folders);
    let exit = match (command, start) {
        (Some(slash), Some(session)) => runtime.block_on(slash::act(host, session, slash, form)),
        (_, start) => runtime.block_on(turn(host, &config, told_later, start, prompt, form)),
    };
    runtime.shutdown_timeout(LEAVE);
    if let Some(why) = recorder.and_then(|recorder| recorder.failure()) {
        say(&format!("The recording is not whole: {why}."));
    }
    exit
}

/// Checks what the command line asks for: what is wrong with it ends the run, since it would not be what it gets. Gives the
/// problems that the model itself says when it is used.
fn check(config: &Config, allow: &[Rule]) -> anyhow::Result<Vec<String>> {
    // A provider that the command line got wrong is a slip of the user's.
    let slip = |problem: &Problem| {
        problem.source.layer == ConfigLayer::Flag && config.model_provider().is_none()
    };
    let is_said_later = |problem: &&Problem| {
        problem.key.as_deref() == Some("model")
            && problem.source == config.provenance("model")
            && !slip(problem)
    };
    let said_later: Vec<String> =
        config.problems.iter().filter(is_said_later).map(ToString::to_string).collect();
    let wrong = config.problems.iter().find(|problem| {
        problem.source.layer == ConfigLayer::Flag && !said_later.contains(&problem.sentence)
    });
    if let Some(wrong) = wrong {
        anyhow::bail!(UsageError(wrong.to_string()));
    }
    check_allow(config, allow)?;
    Ok(said_later)
}

/// Checks that rules may be given on the command line.
///
/// # Errors
/// When the administrator keeps that.
pub(crate) fn check_allow(config: &Config, allow: &[Rule]) -> anyhow::Result<()> {
    if let (Some(lock), false) = (config.is_locked("allow"), allow.is_empty()) {
        anyhow::bail!(UsageError(format!(
            "--allow can't be given: rules that allow are locked by {lock}."
        )));
    }
    Ok(())
}

/// The turn, from the first event to the last.
async fn turn(
    host: Arc<Host>,
    config: &Config,
    told_later: Vec<String>,
    start: Option<String>,
    prompt: String,
    form: OutputForm,
) -> anyhow::Result<CliExit> {
    let events = host.subscribe();
    let (id, resumed) = kept::begin(&host, start).await?;
    let mut feed = Feed::new(events, id.clone(), told_later);
    let mut show = TurnPrinter::new(std::io::stdout(), form, id.to_string().into());
    resumed.iter().for_each(kept::say_resumed);
    let stopped = signals::interrupt_on_signal(&host);
    let mode = set_mode(&host, config).await;
    if let Some(session) = &resumed {
        kept::say_pending(session, &host.snapshot(None).review, mode);
    }
    let turn = match host.handle(Op::Prompt(Prompt::new(prompt)).into()).await {
        Ok(Reply::Turn(_, turn)) => turn,
        Ok(_) => 0,
        Err(refusal) => anyhow::bail!("{}.", refusal.words),
    };
    let Some((stop, message)) = watch::watch(&host, &mut feed, &mut show, (turn, stopped)).await
    else {
        return Ok(CliExit::Error);
    };
    let left = host.leave_team().await;
    let patch = host.patch().await.map_err(|refusal| anyhow::anyhow!("{}.", refusal.words))?;
    let waiting = Counts::of(host.snapshot(None).review.hunks());
    let review = review_flags(&host, &id);
    let end = TurnEnding {
        stop,
        message: message.as_deref(),
        patch: &patch,
        waiting,
        review: review.as_deref(),
    };
    // One that is closed shows no diff.
    let _ = show.end(&end);
    say_left(left, review.as_deref());
    if let Some(sessions) = setup::sessions() {
        // It goes only if it is empty.
        let _ = std::fs::remove_dir(sessions.outputs(&id));
    }
    Ok(CliExit::of(stop, show.check_failed(), waiting.changes > 0))
}

/// The mode of the run: that of the command line, else one that an earlier run has left stricter.
async fn set_mode(host: &Arc<Host>, config: &Config) -> Mode {
    let (kept, wanted) = (host.snapshot(None).mode, config.mode);
    if kept == wanted {
        return kept;
    }
    if config.provenance("mode").layer != ConfigLayer::Flag {
        say(&format!("The session is in mode {kept} and stays so; --mode changes that."));
        return kept;
    }
    // A lock was found when the command line was checked.
    let _ = host.handle(Op::Mode(wanted).into()).await;
    wanted
}

/// Flags that find the session again, behind `ropewalk diff`. None where it is not kept.
fn review_flags(host: &Host, id: &str) -> Option<String> {
    setup::sessions()?;
    let current = setup::current_name();
    let is_here = setup::names(&host.workspace().roots()).iter().any(|root| current.contains(root));
    Some(if is_here { String::new() } else { format!(" --session {id}") })
}

/// The name behind `--model`, which must have both parts.
fn model_name(text: &str) -> Result<&str, UsageError> {
    let is_whole = |(provider, name): (&str, &str)| !provider.is_empty() && !name.is_empty();
    match text.split_once('/').is_some_and(is_whole) {
        true => Ok(text),
        false => Err(UsageError(
            "--model must look like PROVIDER/NAME, for example anthropic/claude-sonnet-5-5"
                .to_owned(),
        )),
    }
}
