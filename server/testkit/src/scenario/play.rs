//! The player: a folder, an environment, the server, the editor and the model of one page, and its steps in
//! order. What is seen is compared in `check`.

mod finish;
mod home;

use super::actions;
use super::check::Checks;
use super::plugin;
use super::reply::PageReply;
use super::step::{Crash, PageStep, UserAnswer, What};
use super::told::{self, PageAccount, ServerLog};
use super::{ClientStyle, Scenario};
use crate::editor::{EchoShape, FakeEditor, Profile, RpcError};
use crate::model::ScriptedModel;
use crate::planted;
use finish::EVERYTHING;
use home::{PageHome, user_config, write};
use ropewalk_model::Protocol;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folder that is open when a page names no roots.
const FOLDER: &str = "work";

/// State of a page that is being played.
struct Play<'a> {
    scenario: &'a Scenario,
    program: &'a Path,
    client: ClientStyle,
    model: ScriptedModel,
    /// Everything the page touches is in here.
    home: PageHome,
    /// Where paths begin.
    base: PathBuf,
    /// None until the user does something.
    editor: Option<FakeEditor>,
    checks: Checks,
    /// The window in which things happen now, from 1.
    window: usize,
    /// The others, by their numbers.
    others: BTreeMap<usize, (FakeEditor, Checks)>,
    /// Answer to the last command.
    answer: Result<Value, RpcError>,
    /// The servers' logs, one for each that was started.
    logs: Vec<ServerLog>,
}

#[expect(clippy::panic, reason = "a page that does not hold fails the test")]
pub(super) fn play(
    scenario: &Scenario,
    program: &Path,
    how: (Protocol, ClientStyle),
) -> PageAccount {
    let mut play = match Play::new(scenario, program, how) {
        Ok(play) => play,
        Err(error) => panic!("{}: {error}", scenario.file.display()),
    };
    for step in &scenario.steps {
        play.guarded(step.line, |play| play.step(step));
    }
    let end = scenario.steps.last().map_or(0, |step| step.line);
    play.guarded(end, Play::finish);
    match play.told() {
        Ok(told) => told,
        Err(error) => panic!("{}: {error}", scenario.file.display()),
    }
}

impl<'a> Play<'a> {
    fn new(
        scenario: &'a Scenario,
        program: &'a Path,
        (protocol, client): (Protocol, ClientStyle),
    ) -> std::io::Result<Self> {
        let mut last = finish::last_reply();
        // The page ends in the session that spoke last.
        if let Some(name) = scenario.replies.last().and_then(PageReply::conversation) {
            last = last.conversation(name);
        }
        // A reply that is left over when the page ends must not pass for the last answer.
        let replies =
            scenario.replies.iter().map(|reply| reply.scripted().expect_no_text(finish::LAST));
        let model = ScriptedModel::start_over(protocol, replies.chain([last]))?;
        let home = PageHome::new()?;
        let config = home.0.join("config/ropewalk");
        std::fs::create_dir_all(&config)?;
        std::fs::write(config.join("config.toml"), user_config(&scenario.setup, &model))?;
        let base = match &scenario.setup.roots {
            Some(names) if !names.is_empty() => home.0.clone(),
            _ => home.0.join(FOLDER),
        };
        for folder in scenario.setup.roots.iter().flatten() {
            std::fs::create_dir_all(base.join(folder))?;
        }
        std::fs::create_dir_all(&base)?;
        Ok(Self {
            scenario,
            program,
            client,
            model,
            home,
            base,
            editor: None,
            checks: Checks::new(client),
            window: 1,
            others: BTreeMap::new(),
            answer: Ok(Value::Null),
            logs: Vec::new(),
        })
    }

    /// Does something, and fails with the page, the line and what the model saw when it fails.
    #[expect(clippy::panic, reason = "a page that does not hold fails the test")]
    fn guarded(&mut self, line: usize, act: impl FnOnce(&mut Self) -> Result<(), String>) {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| act(self)));
        let words = match done {
            Ok(Ok(())) => return,
            Ok(Err(words)) => words,
            Err(panic) => panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|words| (*words).to_owned()))
                .unwrap_or_else(|| "it panicked".to_owned()),
        };
        let faults = self.model.finish().err().unwrap_or_default();
        let faults: String = faults.iter().map(|fault| format!("\n- {fault}")).collect();
        let model = if faults.is_empty() { "" } else { "\nThe model:" };
        panic!("{}:{line}: {words}{model}{faults}", self.scenario.file.display());
    }

    /// The editor; it is started by what the user does first.
    fn editor(&mut self) -> Result<&FakeEditor, String> {
        if self.editor.is_none() {
            self.editor = Some(self.start_editor(&[]).map_err(|error| error.to_string())?);
        }
        self.editor.as_ref().ok_or_else(|| "there is no editor".to_owned())
    }

    fn start_editor(&mut self, open: &[(String, String)]) -> std::io::Result<FakeEditor> {
        let folder = |name: &str| self.home.0.join(name).display().to_string();
        let own_model = self.scenario.setup.config.iter().any(|(key, _)| key == "model");
        let mut environment = vec![
            ("HOME", folder("home")),
            ("XDG_CONFIG_HOME", folder("config")),
            ("XDG_STATE_HOME", folder("state")),
            ("XDG_DATA_HOME", folder("data")),
            ("XDG_CACHE_HOME", folder("cache")),
            // A page with a model of its own must lead to nobody.
            ("ANTHROPIC_API_KEY", if own_model { String::new() } else { planted::KEY.to_owned() }),
            (planted::VARIABLE, planted::OTHER_KEY.to_owned()),
        ];
        let roots: Vec<PathBuf> = match &self.scenario.setup.roots {
            Some(names) => names.iter().map(|name| self.base.join(name)).collect(),
            None => vec![self.base.clone()],
        };
        let roots: Vec<&Path> = roots.iter().map(PathBuf::as_path).collect();
        let profile = self.profile();
        let program = self.program;
        let options = match self.client {
            ClientStyle::Stock => Value::Null,
            ClientStyle::Plugin => plugin::options(),
        };
        let mut arguments = vec!["lsp"];
        // Where all is logged into one place, the events are among it.
        let number = self.logs.len();
        let (log, filter) = match std::env::var_os(planted::LOGS) {
            Some(folder) => {
                let home = self.home.0.display().to_string().replace('/', "-");
                let file = format!("page{home}-{number}.log");
                (Path::new(&folder).join(file), told::WITH_ALL)
            }
            None => (self.home.0.join(format!("events-{number}.log")), told::FILTER),
        };
        let shown = log.display().to_string();
        environment.push(("ROPEWALK_LOG", filter.to_owned()));
        arguments.extend(["--log", &shown]);
        self.logs.push(ServerLog { file: log, is_killed: false });
        FakeEditor::spawn_again(program, &arguments, &environment, profile, &roots, options, open)
    }

    /// Collects the events and requests of the page, once the servers are gone.
    fn told(&self) -> std::io::Result<PageAccount> {
        let url = self.model.base_url();
        let host = url.trim_start_matches("http://").to_owned();
        let names = [(self.home.0.display().to_string(), "HOME"), (host, "MODEL")];
        PageAccount::read(&self.logs, &names, &self.model.recorded())
    }

    /// A command that fails has a `gives error` after it.
    fn last_command_worked(&self) -> Result<(), String> {
        let failed = self.answer.as_ref().err();
        failed.map_or(Ok(()), |error| Err(format!("the command above failed: {error}")))
    }

    fn profile(&self) -> Profile {
        self.scenario.setup.editor
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    fn step(&mut self, step: &PageStep) -> Result<(), String> {
        if !matches!(step.what, What::Gives(_)) {
            self.last_command_worked()?;
        }
        match &step.what {
            What::File { path, content } => {
                write(&self.path(path), content).map_err(|error| format!("{path}: {error}"))
            }
            What::Disk { path, bytes } => {
                let is_served = self.editor.is_some() || !self.others.is_empty();
                Checks::disk(&self.path(path), bytes.as_deref(), is_served)
            }
            What::When(gate) => {
                self.editor()?;
                self.model.wait_until_reached_blocking(gate);
                Ok(())
            }
            What::Go(gate) => {
                self.model.open_gate(gate);
                Ok(())
            }
            What::Run { command, argument } => {
                let base = self.base.clone();
                self.editor()?;
                let Some(editor) = &self.editor else { return Ok(()) };
                let argument = self.checks.with_hunk(editor, &base, argument.clone())?;
                self.answer = editor.execute(&format!("ropewalk.{command}"), argument);
                Ok(())
            }
            What::Gives(wanted) => {
                let held = Checks::answer(&self.answer, wanted);
                self.answer = Ok(Value::Null);
                held
            }
            What::Crash(crash) => self.crash(*crash),
            What::Window(number) => {
                self.turn_to(*number);
                self.editor().map(drop)
            }
            What::Prompt { on, text } => self.prompt(on.as_ref(), text),
            What::Choose { path, spot, title } => {
                let path = self.path(path);
                let chosen = actions::choose(self.editor()?, &path, (spot, title))?;
                self.answered(chosen);
                Ok(())
            }
            What::Answer { answer, words } => self.approve(*answer, words.as_deref()),
            what => {
                self.editor()?;
                self.seen(what)
            }
        }
    }

    /// Kills the server. Messages that were shown and not looked at are gone with it.
    fn crash(&mut self, crash: Crash) -> Result<(), String> {
        let editor = self.editor.take().ok_or("nothing has been started yet")?;
        editor.ignore(EVERYTHING);
        let open = editor.kill_server();
        if let Some(log) = self.logs.last_mut() {
            log.is_killed = true;
        }
        self.checks.forget();
        let open = if crash == Crash::Server { open } else { Vec::new() };
        self.editor = Some(self.start_editor(&open).map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Turns to another window, which need not be there yet.
    fn turn_to(&mut self, number: usize) {
        let there = self.others.remove(&number);
        let (editor, checks) =
            there.map_or((None, Checks::new(self.client)), |(e, c)| (Some(e), c));
        let checks = std::mem::replace(&mut self.checks, checks);
        if let Some(editor) = std::mem::replace(&mut self.editor, editor) {
            self.others.insert(self.window, (editor, checks));
        }
        self.window = number;
    }

    /// Does a step of the user's with buffers, or looks at the screen.
    fn seen(&mut self, what: &What) -> Result<(), String> {
        let base = self.base.clone();
        let Some(editor) = &self.editor else { return Err("there is no editor".to_owned()) };
        match what {
            What::Open(path) => {
                let text = std::fs::read_to_string(base.join(path));
                let text = text.map_err(|error| format!("{path}: {error}"))?;
                // Editors keep the mark to themselves.
                editor.open_with(base.join(path), text.trim_start_matches('\u{feff}'));
            }
            What::Type { path, line, column, text } => {
                editor.type_at(base.join(path), line - 1, column - 1, text);
            }
            What::TypeAtEnd { path, text } => actions::type_at_end(editor, &base.join(path), text),
            What::Completes { path, wanted } => {
                return actions::completes(editor, &base.join(path), wanted);
            }
            What::Reads { path, words } => return actions::reads(editor, &base.join(path), words),
            What::Shown(path) => return actions::shown(editor, &base.join(path)),
            What::Replace { path, old, new } => {
                let text = editor.text(base.join(path));
                let mut places = text.match_indices(old.as_str()).map(|(at, _)| at);
                let (Some(at), None) = (places.next(), places.next()) else {
                    return Err(format!("{old:?} does not stand at one place in\n{text}"));
                };
                let (from, to) = (place(&text, at), place(&text, at + old.len()));
                editor.replace(base.join(path), from, to, new);
            }
            What::Save { path, formatted } => {
                self.save(editor, &base.join(path), formatted.as_deref())
            }
            What::Undo(path) if !editor.undo(base.join(path)) => {
                return Err("there is nothing to undo".to_owned());
            }
            What::Buffer { path, text } => {
                editor.wait_for_text(base.join(path), &String::from_utf8_lossy(text));
            }
            What::End(reason) => return self.checks.end(editor, reason),
            What::Woken(reason) => {
                self.checks.prompted();
                return self.checks.end(editor, reason);
            }
            What::Hunks(wanted) => {
                // To look is a pause in typing.
                editor.flush();
                return self.checks.hunks(editor, &base, wanted);
            }
            What::Message(words) => return self.checks.message(editor, words),
            What::Progress(wanted) => return self.checks.progress(editor, wanted),
            _ => {}
        }
        Ok(())
    }

    /// Saves a document; a formatter may change it first.
    fn save(&self, editor: &FakeEditor, path: &Path, formatted: Option<&[u8]>) {
        if let Some(formatted) = formatted {
            let text = editor.text(path);
            let shape = match self.scenario.setup.editor.minimises {
                true => EchoShape::InsertAllDeleteAll,
                false => EchoShape::Whole,
            };
            let end = place(&text, text.len());
            editor.replace_as(path, (0, 0), end, &String::from_utf8_lossy(formatted), shape);
        }
        editor.save(path);
    }

    fn prompt(&mut self, on: Option<&(String, u32, u32)>, text: &str) -> Result<(), String> {
        let base = self.base.clone();
        let editor = self.editor()?;
        let mut argument = json!({ "prompt": text });
        if let (Some((path, first, last)), Some(object)) = (on, argument.as_object_mut()) {
            let path = base.join(path);
            let range = editor.range(&path, (first - 1, 0), (*last, 0));
            object.insert("textDocument".to_owned(), json!({ "uri": editor.uri(&path) }));
            object.insert("range".to_owned(), range);
        }
        let answer = editor.execute("ropewalk.prompt", argument);
        let answer = answer.map_err(|error| format!("the prompt was refused: {error}"))?;
        self.answered(Ok(answer));
        Ok(())
    }

    /// Keeps an answer. A command that was typed as a prompt is no turn, nor are words that join one.
    fn answered(&mut self, answer: Result<Value, RpcError>) {
        let turn = answer.as_ref().ok().and_then(|answer| answer.get("turn"));
        if turn.is_some_and(Value::is_u64) {
            self.checks.prompted();
        }
        self.answer = answer;
    }

    /// Answers the oldest approval: by the dialog where there is one, else by the command.
    fn approve(&mut self, answer: UserAnswer, words: Option<&str>) -> Result<(), String> {
        let dialogs = self.profile().client_name == Profile::VSCODE.client_name
            && self.client == ClientStyle::Stock;
        self.editor()?;
        let Some(editor) = &self.editor else { return Ok(()) };
        if dialogs && words.is_none() {
            let title = answer.button();
            editor.try_wait_for("a dialog with that answer", |seen| {
                let mut actions = seen.dialogs().iter().flat_map(|dialog| &dialog.actions);
                actions.any(|action| action == title).then_some(())
            })?;
            editor.answer_dialog(title);
            self.checks.answered();
            return Ok(());
        }
        self.checks.question(editor)?;
        if dialogs {
            // Or a later dialog might be taken for this one.
            editor.try_wait_for("a dialog", |seen| (!seen.dialogs().is_empty()).then_some(()))?;
        }
        let mut argument = json!({ "answer": answer.word() });
        if let (Some(words), Some(object)) = (words, argument.as_object_mut()) {
            object.insert("words".to_owned(), json!(words));
        }
        editor.execute("ropewalk.approve", argument).map_err(|error| error.to_string())?;
        if dialogs {
            editor.dismiss_dialog();
        }
        Ok(())
    }
}

/// Line and column of a byte, both from zero; columns in characters.
fn place(text: &str, byte: usize) -> (u32, u32) {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}
