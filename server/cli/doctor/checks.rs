//! The checks of the doctor, one function each: from what is there to findings.

use super::{Finding, Grade, Mend};
use crate::in_words::runtime;
use crate::sessions::{in_units, unreadable, unreadable_in_words};
use ropewalk_agent::Sessions;
use ropewalk_agent::journal::store::make_private_folder;
use ropewalk_config::{Config, Problem, RealEnvironment};
use ropewalk_model::catalogue::{catalogue_day, days_between};
use ropewalk_model::{ENOUGH_CONTEXT, Model, ModelError};
use ropewalk_protocol::OverFork;
use ropewalk_sandbox::{Unsupported, Upper};
use std::path::{Path, PathBuf};

/// Days after which a catalogue of models is old.
const OLD_CATALOGUE: i64 = 120;

/// Which files there are, and what could not be used of them.
pub(super) fn configuration(config: &Config) -> Vec<Finding> {
    let mut findings: Vec<Finding> = config
        .watched
        .iter()
        .map(|file| {
            let found = if file.exists() { "read" } else { "not there, which is fine" };
            Finding::good("config", format!("{} ({found})", file.display()))
        })
        .collect();
    let others = config.problems.iter().filter(|problem| !is_of_model(problem));
    findings
        .extend(others.map(|problem| Finding::told(Grade::Fair, "config", problem.to_string())));
    findings
}

/// Which model, where, and whether its key is there. `missing` says why there is none.
pub(super) fn model(config: &Config, missing: Option<&String>) -> Vec<Finding> {
    let problems = config.problems.iter().filter(|problem| is_of_model(problem));
    let mut findings = Vec::new();
    if let (Some(model), Some(provider)) = (&config.model, config.model_provider()) {
        let source = config.provenance("model");
        let url = &provider.base_url;
        findings.push(Finding::good("model", format!("{model} at {url} (set by {source})")));
        if let Some(variable) = &provider.api_key_env {
            let set = std::env::var(variable).is_ok_and(|key| !key.trim().is_empty());
            findings.push(match set {
                false if provider.api_key_command.is_some() => {
                    Finding::good("key", "`api_key_command` prints it when it is needed")
                }
                true => Finding::good("key", format!("{variable} is set")),
                // The server decides if it can do without.
                false => Finding::fair(
                    "key",
                    format!("{variable} is not set, so no key is sent"),
                    format!("set {variable}, if the server wants one"),
                ),
            });
        } else {
            findings.push(Finding::good("key", "none is needed: the provider names no variable"));
        }
        if let Some(why) = missing {
            findings.push(Finding::told(Grade::Bad, "model", why));
        }
    } else {
        // The configuration says it in more words than the one who makes models.
        let before = findings.len();
        findings.extend(
            problems.map(|problem| Finding::told(Grade::Bad, "model", problem.to_string())),
        );
        if let (Some(why), true) = (missing, findings.len() == before) {
            findings.push(Finding::told(Grade::Bad, "model", why));
        }
    }
    findings
}

/// Finds a model that is not asked to think although the configuration says so.
pub(super) fn thinking(config: &Config) -> Option<Finding> {
    let words = crate::models::not_asked_to_think(config, &RealEnvironment)?;
    Some(Finding::fair("thinking", words, "leave `thinking` out, or choose another model"))
}

/// True if a problem is about the choice of a model, its provider or its key.
fn is_of_model(problem: &Problem) -> bool {
    problem.key.as_deref() == Some("model")
}

/// Checks that the model's server answers and takes the key.
pub(super) fn server(model: &dyn Model) -> anyhow::Result<Vec<Finding>> {
    let runtime = runtime(tokio::runtime::Builder::new_current_thread().enable_all())?;
    let answer = runtime.block_on(async { model.probe().await });
    // A name that is still being looked up is not waited for.
    runtime.shutdown_background();
    Ok(vec![match answer {
        Ok(()) => Finding::good("server", "it answers and takes the key"),
        // It has too much to do, but it is the right one.
        Err(error @ (ModelError::RateLimited { .. } | ModelError::Overloaded { .. })) => {
            Finding::told(Grade::Fair, "server", error.to_string())
        }
        Err(error) => Finding::told(Grade::Bad, "server", error.to_string()),
    }])
}

/// How much context the model has, where that is known, and what follows from it.
pub(super) fn context(model: &dyn Model) -> anyhow::Result<Option<Finding>> {
    let runtime = runtime(tokio::runtime::Builder::new_current_thread().enable_all())?;
    runtime.block_on(async {
        if let Err(error) = model.list().await {
            tracing::info!(%error, "no list of models");
        }
        model.find_context().await;
    });
    runtime.shutdown_background();
    let Some(tokens) = model.limits().context else { return Ok(None) };
    let what = if model.is_lean() { "four tools and a short system prompt" } else { "all tools" };
    if tokens >= ENOUGH_CONTEXT {
        return Ok(Some(Finding::good("context", format!("{tokens} tokens: {what} are sent"))));
    }
    let words = format!("{tokens} tokens: below {ENOUGH_CONTEXT}; {what} are sent");
    let advice = model.more_context().map_or_else(
        || "choose a model with more context".to_owned(),
        |more| format!("for more, {more}"),
    );
    Ok(Some(Finding::fair("context", words, advice)))
}

/// Reports that the model makes no calls, where its server says so. To be asked after [`context`].
pub(super) fn tools(model: &dyn Model) -> Option<Finding> {
    model.lacks_tools().map(|words| Finding::told(Grade::Fair, "tools", words))
}

/// Finds a model that its server ends soon, or has.
pub(super) fn end_of_model(model: &dyn Model, today: &str) -> Option<Finding> {
    model.end_in_words(today).map(|words| Finding::told(Grade::Fair, "model", words))
}

/// Finds a catalogue of models that is old.
pub(super) fn catalogue(today: &str) -> Option<Finding> {
    let day = catalogue_day();
    let is_old = days_between(day, today).is_some_and(|days| days > OLD_CATALOGUE);
    let words = || format!("contexts, prices and ends of models are those of {day}");
    is_old.then(|| Finding::fair("catalogue", words(), "get a newer version of Ropewalk"))
}

/// The model servers on this machine that are there.
pub(super) fn local(config: &Config) -> anyhow::Result<Vec<Finding>> {
    let found = crate::available::found_here(config)?.into_iter().filter(|found| found.is_local);
    let finding = |found: crate::available::ProviderFinding| match found.words.contains("too small")
    {
        true => Finding::told(Grade::Fair, "models", found.words),
        false => Finding::good("models", found.words),
    };
    Ok(found.map(finding).collect())
}

/// The programs that the agent starts.
pub(super) fn programs() -> Vec<Finding> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let find = |name: &str| {
        std::env::split_paths(&paths).map(|dir| dir.join(name)).find(|path| is_program(path))
    };
    let shell = match (find("bash"), find("sh")) {
        (Some(bash), _) => Finding::good("bash", bash.display().to_string()),
        (None, Some(sh)) => Finding::fair(
            "bash",
            format!("not found: commands run in {}, which models know less well", sh.display()),
            "install bash",
        ),
        (None, None) => {
            Finding::bad("bash", "neither bash nor sh is in PATH", "install bash, or correct PATH")
        }
    };
    let git = match find("git") {
        Some(git) => Finding::good("git", git.display().to_string()),
        None => Finding::fair(
            "git",
            "not found; only the model's own git commands need it",
            "install git",
        ),
    };
    vec![shell, git]
}

/// How the agent's commands run, why no better, and what mends that.
pub(super) fn commands(config: &Config) -> anyhow::Result<Finding> {
    const ON_A_COPY: &str = "they run on a copy of the open folders (in place where it would be too large), each after an approval";
    let about = "commands";
    let set_to = |way: &str| {
        let (word, source) =
            (config.commands.over_fork.as_str(), config.provenance("commands.over_fork"));
        Finding::good(about, format!("{way}: `commands.over_fork` is `{word}` (set by {source})"))
    };
    match config.commands.over_fork {
        OverFork::Auto => {}
        OverFork::Copy => return Ok(set_to(ON_A_COPY)),
        OverFork::Off => {
            return Ok(set_to("they run in place, on the files as saved, each after an approval"));
        }
    }
    let runtime = runtime(tokio::runtime::Builder::new_current_thread().enable_all())?;
    let support = runtime.block_on(ropewalk_sandbox::probe());
    Ok(match support {
        Ok(support) => {
            let slower = match support.upper {
                Upper::Memory => "",
                Upper::Disk => "; with Linux 6.6 or newer they would be faster",
            };
            let words = format!(
                "they run in a sandbox: no network, and your files change only when you accept{slower}"
            );
            if support.keeps_abstract_sockets() {
                Finding::good(about, words)
            } else {
                let open = "one that is allowed the network can also use sockets that lie in no folder, such as the desktop's (X11, D-Bus)";
                let mend = "Linux 6.12 or newer keeps it from them";
                Finding::fair(about, format!("{words}; {open}"), mend)
            }
        }
        Err(Unsupported { why, mend }) => {
            let lines = mend.lines().map(str::to_owned).collect();
            let words = format!("{ON_A_COPY}: {why}");
            Finding { lines, mend: Mend::InLines, ..Finding::told(Grade::Fair, about, words) }
        }
    })
}

/// Tells if teams are on, and where their board lies. The board is not opened: that would make one.
pub(super) fn team(config: &Config) -> Finding {
    let about = "team";
    let set_by = |key: &str| format!("(set by {})", config.provenance(key));
    if !config.team.enabled {
        return Finding::good(about, format!("teams are off {}", set_by("team.enabled")));
    }
    let bounds = config.team.bounds;
    let mut words = format!("up to {} teammates; ", bounds.teammates);
    match &config.team.board {
        None => words.push_str("the board is a file in the state folder"),
        Some(board) => words.push_str(&format!("the board is {board} {}", set_by("team.board"))),
    }
    if let Some(tokens) = bounds.token_budget() {
        words.push_str(&format!("; {tokens} tokens together {}", set_by("team.tokens")));
    }
    if let Some(cents) = bounds.cent_budget() {
        words.push_str(&format!("; {cents} cents together {}", set_by("team.cents")));
    }
    Finding::good(about, words)
}

fn is_program(path: &Path) -> bool {
    let Ok(found) = path.metadata() else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        found.is_file() && found.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    found.is_file()
}

/// The rules that hold for always, and what is wrong with any rule. `problems` are those of the settings.
pub(super) fn rules(config: &Config, file: Option<PathBuf>, problems: &[String]) -> Vec<Finding> {
    let known: Vec<String> = config.problems.iter().map(ToString::to_string).collect();
    let wrong = problems.iter().filter(|problem| !known.contains(problem));
    let mut findings: Vec<Finding> =
        wrong.map(|words| Finding::told(Grade::Fair, "rules", words)).collect();
    let counts = format!(
        "{} allow, {} ask and {} deny",
        config.allow.len(),
        config.ask.len(),
        config.deny.len()
    );
    let place = file.map_or_else(String::new, |file| {
        format!("; those that always hold are in {}", file.display())
    });
    findings.push(Finding::good("rules", format!("{counts}{place}")));
    findings
}

/// Lists the keys that the system's administrator has locked.
pub(super) fn locks(config: &Config) -> Vec<Finding> {
    let lock = |(key, source): (&str, &ropewalk_config::ValueSource)| {
        Finding::good("locks", format!("`{key}` is locked by {source}"))
    };
    config.locks().map(lock).collect()
}

/// Lists the wishes of the current folder that have no answer yet.
pub(super) fn trust(config: &Config) -> Vec<Finding> {
    let asked = |asked: &ropewalk_config::TrustQuestion| {
        let enables = asked.enables.join("; ");
        let words = format!(
            "{} asks to {enables}, which is ignored until you answer",
            asked.root.display()
        );
        Finding::fair("trust", words, "run `ropewalk trust` to answer")
    };
    config.untrusted.iter().map(asked).collect()
}

/// Checks that state can be kept, and that nobody else can look into it.
pub(super) fn state(folder: Option<PathBuf>) -> Finding {
    let Some(folder) = folder else {
        return Finding::bad("state", "there is no home folder", "set HOME, or XDG_STATE_HOME");
    };
    let shown = folder.display();
    match writable(&folder) {
        Ok(()) if !is_private(&folder) => Finding::fair(
            "state",
            format!("{shown} is open to others, and sessions are in it"),
            format!("`chmod 700 {shown}` closes it"),
        ),
        Ok(()) => Finding::good("state", format!("{shown} can be written")),
        Err(error) => Finding::bad(
            "state",
            format!("{shown} can't be written ({error})"),
            "correct its permissions, or set XDG_STATE_HOME",
        ),
    }
}

/// Writes a trial file, and removes it.
fn writable(folder: &Path) -> std::io::Result<()> {
    make_private_folder(folder)?;
    let trial = folder.join(format!(".trial-{}", std::process::id()));
    std::fs::File::options().write(true).create_new(true).open(&trial)?;
    std::fs::remove_file(trial)
}

#[cfg(unix)]
fn is_private(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    folder.metadata().is_ok_and(|found| found.permissions().mode() & 0o077 == 0)
}

/// Elsewhere a home is its owner's by inheritance.
#[cfg(not(unix))]
fn is_private(_: &Path) -> bool {
    true
}

/// How many sessions there are, and which of them wait for the user.
pub(super) fn sessions(sessions: Option<Sessions>) -> Vec<Finding> {
    let Some(sessions) = sessions else { return Vec::new() };
    let list = sessions.list();
    let bytes: u64 = list.iter().map(|one| one.bytes).sum();
    let count =
        if list.len() == 1 { "1 session".to_owned() } else { format!("{} sessions", list.len()) };
    let mut findings = vec![Finding::good("sessions", format!("{count}, {}", in_units(bytes)))];
    let waiting: Vec<&str> =
        list.iter().filter(|one| one.summary.waits() > 0).map(|one| &*one.id).collect();
    if !waiting.is_empty() {
        let more = if waiting.len() > 3 { ", …" } else { "" };
        let some = waiting.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        findings.push(Finding::good(
            "sessions",
            format!("{} with changes that wait for you: {some}{more}", waiting.len()),
        ));
    }
    let unreadable = unreadable(&sessions);
    if !unreadable.is_empty() {
        findings.push(Finding::fair(
            "sessions",
            unreadable_in_words(&unreadable),
            "move it away if you don't need it",
        ));
    }
    findings
}

/// Checks that the current folder is one to work in.
pub(super) fn root(current: std::io::Result<PathBuf>, home: Option<PathBuf>) -> Finding {
    let current = match current.and_then(|current| {
        std::fs::read_dir(&current)?;
        Ok(current)
    }) {
        Ok(current) => current,
        Err(error) => {
            let words = format!("the current folder can't be read ({error})");
            return Finding::bad("root", words, "go to another");
        }
    };
    let shown = current.display();
    if current.parent().is_none() {
        let words = format!("{shown} is the whole disk");
        return Finding::fair("root", words, "go to a project's folder");
    }
    if home.is_some_and(|home| home == current) {
        let words = format!("{shown} is your home");
        return Finding::fair("root", words, "go to a project's folder");
    }
    let readonly = current.metadata().is_ok_and(|found| found.permissions().readonly());
    if readonly {
        return Finding::fair(
            "root",
            format!("{shown} is read-only: nothing can be changed in it"),
            "go to a folder that you can write, or change its permissions",
        );
    }
    Finding::good("root", format!("{shown} can be worked in"))
}
