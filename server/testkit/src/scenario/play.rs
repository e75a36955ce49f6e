//! The player: a folder, an environment, the server, the editor and the model of one page, and its steps in
//! order. What is seen is compared in `check`.

use super::check::Checks;
use super::plugin;
use super::reply::Reply;
use super::step::{Answer, Content, Crash, Setup, Step, What};
use super::told::{self, ServerLog, Told};
use super::{Client, Scenario};
use crate::editor::{EchoShape, FakeEditor, Kind, Profile, RpcError};
use crate::model::{ScriptedModel, ScriptedReply};
use crate::planted;
use ropewalk_model::Protocol;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The folder that is open when a page names no roots.
const FOLDER: &str = "work";

/// What is asked when all steps are done.
const LAST: &str = "The page has ended: what do you see?";

/// What the model answers then.
const LAST_WORDS: &str = "That is all I see.";

/// What a server says, for when a page has looked at all it wants to.
const EVERYTHING: &[Kind] =
    &[Kind::Progress, Kind::Diagnostics, Kind::Message, Kind::Log, Kind::Dialog, Kind::Event];

/// What is under way while a page is played.
struct Play<'a> {
    scenario: &'a Scenario,
    program: &'a Path,
    client: Client,
    model: ScriptedModel,
    /// Everything the page touches is in here.
    home: Home,
    /// Where paths begin.
    base: PathBuf,
    /// None until the user does something.
    editor: Option<FakeEditor>,
    checks: Checks,
    /// The window in which things happen now, from 1.
    window: usize,
    /// The others, by their numbers.
    others: BTreeMap<usize, (FakeEditor, Checks)>,
    /// What the last command has answered.
    answer: Result<Value, RpcError>,
    /// The servers' logs, one for each that was started.
    logs: Vec<ServerLog>,
}

#[expect(clippy::panic, reason = "a page that does not hold fails the test")]
pub(super) fn play(scenario: &Scenario, program: &Path, how: (Protocol, Client)) -> Told {
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
        (protocol, client): (Protocol, Client),
    ) -> std::io::Result<Self> {
        let mut last = ScriptedReply::new().expect_text(LAST).text(LAST_WORDS).forever();
        // The page ends in the session that spoke last.
        if let Some(name) = scenario.replies.last().and_then(Reply::conversation) {
            last = last.conversation(name);
        }
        // A reply that is left over when the page ends must not pass for the last answer.
        let replies = scenario.replies.iter().map(|reply| reply.scripted().expect_no_text(LAST));
        let model = ScriptedModel::start_over(protocol, replies.chain([last]))?;
        let home = Home::new()?;
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
            Client::Stock => Value::Null,
            Client::Plugin => plugin::options(),
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

    /// What was told, once the servers are gone.
    fn told(&self) -> std::io::Result<Told> {
        let url = self.model.base_url();
        let host = url.trim_start_matches("http://").to_owned();
        let names = [(self.home.0.display().to_string(), "HOME"), (host, "MODEL")];
        Told::read(&self.logs, &names, &self.model.recorded())
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

    fn step(&mut self, step: &Step) -> Result<(), String> {
        if !matches!(step.what, What::Gives(_)) {
            self.last_command_worked()?;
        }
        match &step.what {
            What::File { path, content } => {
                write(&self.path(path), content).map_err(|error| format!("{path}: {error}"))
            }
            What::Disk { path, bytes } => Checks::disk(&self.path(path), bytes.as_deref()),
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
            What::Answer { answer, words } => self.approve(*answer, words.as_deref()),
            what => {
                self.editor()?;
                self.seen(what)
            }
        }
    }

    /// What was shown and not looked at is gone with the server.
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

    /// What the user does with buffers, and what they see.
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
                let path = base.join(path);
                if let Some(formatted) = formatted {
                    let text = editor.text(&path);
                    let shape = if self.scenario.setup.editor.minimises {
                        EchoShape::InsertAllDeleteAll
                    } else {
                        EchoShape::Whole
                    };
                    let end = place(&text, text.len());
                    let formatted = String::from_utf8_lossy(formatted);
                    editor.replace_as(&path, (0, 0), end, &formatted, shape);
                }
                editor.save(&path);
            }
            What::Undo(path) if !editor.undo(base.join(path)) => {
                return Err("there is nothing to undo".to_owned());
            }
            What::Buffer { path, text } => {
                editor.wait_for_text(base.join(path), &String::from_utf8_lossy(text));
            }
            What::End(reason) => return self.checks.end(editor, reason),
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
        // A command that was typed as a prompt is no turn.
        if answer.get("turn").is_some_and(Value::is_u64) {
            self.checks.prompted();
        }
        self.answer = Ok(answer);
        Ok(())
    }

    /// Answers the oldest approval: by the dialog where there is one, else by the command.
    fn approve(&mut self, answer: Answer, words: Option<&str>) -> Result<(), String> {
        let dialogs = self.profile().client_name == Profile::VSCODE.client_name
            && self.client == Client::Stock;
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

    /// What holds at the end of every page, in the windows one after the other; the model is asked only in the one
    /// in which the page ends.
    fn finish(&mut self) -> Result<(), String> {
        self.last_command_worked()?;
        self.finish_window(!self.has_other_model())?;
        while let Some(number) = self.others.keys().next().copied() {
            self.turn_to(number);
            self.finish_window(false)?;
        }
        self.model.finish().map_err(|faults| faults.join("\n"))
    }

    fn finish_window(&mut self, asks: bool) -> Result<(), String> {
        let Some(editor) = &self.editor else { return Ok(()) };
        self.checks.all_ended(editor)?;
        if asks {
            // Afterwards all that the turns before had to say has come.
            ask_what_is_seen(editor, &self.model, &mut self.checks)?;
        }
        self.checks.no_message_is_left(editor, LAST_WORDS)?;
        if let Some(dialog) = editor.with(|seen| seen.dialogs().first().cloned()) {
            return Err(format!("nobody has answered this dialog: {}", dialog.message));
        }
        editor.ignore(EVERYTHING);
        let status = editor.execute("ropewalk.status", Value::Null).map_err(|e| e.to_string())?;
        if status.get("desyncAlarms") != Some(&json!(0)) {
            return Err(format!("the server has lost step with the editor: {status}"));
        }
        if let Some(editor) = self.editor.take() {
            editor.shutdown();
        }
        Ok(())
    }

    /// Whether the page names another model than the scripted one, or another way to it.
    fn has_other_model(&self) -> bool {
        let mut keys = self.scenario.setup.config.iter().map(|(key, _)| key);
        keys.any(|key| key == "model" || key.starts_with("provider.") && key.ends_with(".base_url"))
    }
}

/// Asks the model about each open document, whole: it must see what the editor has.
fn ask_what_is_seen(
    editor: &FakeEditor,
    model: &ScriptedModel,
    checks: &mut Checks,
) -> Result<(), String> {
    let mut questions = vec![(json!({ "prompt": LAST }), LAST.to_owned())];
    for uri in editor.with(|seen| seen.client().open_uris()) {
        let text = editor.text(&uri);
        let range = editor.range(&uri, (0, 0), place(&text, text.len()));
        let document = json!({ "uri": uri });
        questions.push((json!({ "prompt": LAST, "textDocument": document, "range": range }), text));
    }
    for (argument, text) in questions {
        editor.execute("ropewalk.prompt", argument).map_err(|error| error.to_string())?;
        checks.prompted();
        checks.last_end(editor, LAST_WORDS)?;
        let requests = model.recorded();
        let said = requests.last().and_then(|last| last.said.get("messages")?.as_array()?.last());
        let said = said.and_then(|message| message.get("content"));
        let blocks = said.and_then(Value::as_array).into_iter().flatten();
        let texts = blocks.filter_map(|block| block.get("text").and_then(Value::as_str));
        let said = texts.collect::<Vec<_>>().join("\n");
        if !said.contains(&text) {
            return Err(format!("the editor has\n{text}\nbut the model was told\n{said}"));
        }
    }
    Ok(())
}

/// The user's configuration: the scripted model, and what the page says.
fn user_config(setup: &Setup, model: &ScriptedModel) -> String {
    let url = format!("{:?}", model.base_url());
    let protocol = format!("{:?}", model.protocol().name());
    let variable = format!("{:?}", planted::VARIABLE);
    let defaults = [
        ("model", "\"scripted/scripted\""),
        ("provider.scripted.protocol", &protocol),
        ("provider.scripted.base_url", &url),
        ("provider.scripted.api_key_env", &variable),
    ];
    let own = setup.config.iter().map(|(key, value)| format!("{key} = {value}\n"));
    let is_own = |key: &str| setup.config.iter().any(|(own, _)| own == key);
    let rest = defaults.iter().filter(|(key, _)| !is_own(key));
    own.chain(rest.map(|(key, value)| format!("{key} = {value}\n"))).collect()
}

fn write(path: &Path, content: &Content) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    match content {
        Content::Bytes(bytes) => std::fs::write(path, bytes),
        #[cfg(unix)]
        Content::Link(target) => std::os::unix::fs::symlink(target, path),
        #[cfg(not(unix))]
        Content::Link(_) => Err(std::io::Error::other("links are made on Unix only")),
    }
}

/// Line and column of a byte, both from zero; columns in characters.
fn place(text: &str, byte: usize) -> (u32, u32) {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

/// A folder of its own for each page, gone when the page has been played.
struct Home(PathBuf);

impl Home {
    fn new() -> std::io::Result<Self> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        // Equally long for all pages of a run: what is said of a path may be cut at a length.
        let name = format!("ropewalk-scenario-{}-{number:04}", std::process::id());
        // The system's own spelling: paths in results are compared with it.
        let path = std::env::temp_dir().canonicalize()?.join(name);
        std::fs::create_dir(&path)?;
        std::fs::create_dir(path.join("home"))?;
        Ok(Self(path))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        planted::assert_absent_in(&self.0);
        // What can't be removed is in the system's temporary folder, and goes with it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
