//! A fork that is locked holds up no message: what the user types counts, and what they ask is answered from what is
//! known, while a slow piece of work has the lock.

use crate::support::home::Searched;
use crate::support::stage::{QUIET, edit_input, say, turn};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use ropewalk_host::{Environment, HostOptions, ModelFactory, Sessions};
use ropewalk_lsp::serve::{ServeOptions, serve};
use ropewalk_model::{
    Delta, Http, Keys, Message, Model, ModelError, ModelRequest, Piece, Prelude, ServerModel,
    ToolDeclaration,
};
use ropewalk_protocol::ModelLimits;
use ropewalk_testkit::editor::{FakeEditor, Profile};
use ropewalk_testkit::model::{ScriptedModel, ScriptedReply};
use serde_json::{Value, json};
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;

/// A door in the fork's lock: its keys are asked for when the session's state is written, which is done under the lock.
#[derive(Default)]
struct Door {
    state: Mutex<DoorState>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum DoorState {
    #[default]
    Open,
    /// The next one who comes stays in it.
    Waits,
    /// Somebody stays in it.
    Taken,
}

impl Door {
    fn set(&self, state: DoorState) {
        *self.state.lock().unwrap() = state;
        self.changed.notify_all();
    }

    /// Holds the next one who comes, until the result is dropped.
    fn hold(&self) -> Hold<'_> {
        self.set(DoorState::Waits);
        Hold(self)
    }

    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        if *state == DoorState::Waits {
            *state = DoorState::Taken;
            self.changed.notify_all();
            drop(self.changed.wait_while(state, |state| *state == DoorState::Taken).unwrap());
        }
    }
}

/// Lets go of whoever is held, also when a test fails.
struct Hold<'a>(&'a Door);

impl Hold<'_> {
    fn until_taken(&self) {
        let state = self.0.state.lock().unwrap();
        let is_awaited = |state: &mut DoorState| *state != DoorState::Taken;
        let waited = self.0.changed.wait_timeout_while(state, crate::support::BOUND, is_awaited);
        assert!(!waited.unwrap().1.timed_out(), "nobody came to write the session's state");
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.0.set(DoorState::Open);
    }
}

/// A model like another, with the door.
struct Doored(ServerModel, Arc<Door>);

impl Model for Doored {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn limits(&self) -> ModelLimits {
        self.0.limits()
    }
    fn keys(&self) -> Keys {
        self.1.pass();
        self.0.keys()
    }
    fn encode(&self, message: &Message) -> Piece {
        self.0.encode(message)
    }
    fn encode_prelude(&self, system: &str, tools: &[ToolDeclaration]) -> Prelude {
        self.0.encode_prelude(system, tools)
    }
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<Delta, ModelError>> {
        self.0.stream(request)
    }
    fn probe(&self) -> BoxFuture<'static, Result<(), ModelError>> {
        self.0.probe()
    }
}

/// A machine on which nothing is configured.
struct Nothing(PathBuf);

impl Environment for Nothing {
    fn home(&self) -> Option<PathBuf> {
        Some(self.0.clone())
    }
    fn var(&self, _: &str) -> Option<String> {
        None
    }
    fn read(&self, _: &Path, _: u64) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// A server in this process, with an editor in front of it.
struct Desk {
    folder: Searched,
    model: ScriptedModel,
    door: Arc<Door>,
    editor: FakeEditor,
    server: JoinHandle<()>,
}

impl Desk {
    fn new(files: &[(&str, &str)], replies: Vec<ScriptedReply>) -> Self {
        let (folder, door) = (Searched::new(), Arc::new(Door::default()));
        let root = folder.path().join("w");
        for (name, text) in files {
            std::fs::create_dir_all(&root).unwrap();
            std::fs::write(root.join(name), text).unwrap();
        }
        let model = ScriptedModel::start(replies).unwrap();
        let (config, own_door) = (model.config(), door.clone());
        let factory: ModelFactory = Arc::new(move |_| {
            let model = ServerModel::new(config.clone(), Http::new()).unwrap();
            Ok(Arc::new(Doored(model, own_door.clone())) as Arc<dyn Model>)
        });
        let environment = Arc::new(Nothing(folder.path().join("home")));
        let options = HostOptions {
            flags: vec!["commands.over_fork=off".to_owned()],
            sessions: Some(Sessions::new(&folder.path().join("state"))),
            ..HostOptions::new(factory, environment)
        };
        let (to_server, input) = UnixStream::pair().unwrap();
        let (from_server, output) = UnixStream::pair().unwrap();
        let server = std::thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_multi_thread();
            let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async {
                let (service, socket) = ropewalk_lsp::service(options);
                serve(service, socket, input, output, ServeOptions::default()).await.unwrap();
            });
        });
        let editor =
            FakeEditor::connect(from_server, to_server, Profile::VSCODE, &[&root], Value::Null);
        let editor = editor.unwrap();
        editor.ignore(QUIET);
        Self { folder, model, door, editor, server }
    }

    fn end(self) {
        self.editor.shutdown();
        self.server.join().unwrap();
        self.model.finish().unwrap();
        drop(self.folder);
    }
}

/// The lines at which a change can be accepted.
fn accept_lines(editor: &FakeEditor, name: &str) -> Vec<u64> {
    let lenses = editor.code_lenses(name).into_iter();
    lenses.filter(|lens| lens.title == "Accept").filter_map(|lens| lens.line).collect()
}

fn titles(editor: &FakeEditor, name: &str, line: u32) -> Vec<String> {
    let actions = editor.code_actions(name, (line, 0), (line, 0)).into_iter();
    actions.map(|action| action.title).collect()
}

#[test]
fn what_is_typed_and_asked_waits_for_no_fork() {
    let replies = vec![
        ScriptedReply::new()
            .call("edit_file", edit_input("greet.py", "two", "2"))
            .call("edit_file", edit_input("greet.py", "six", "6")),
        say("Done."),
    ];
    let desk = Desk::new(&[("greet.py", "one\ntwo\nthree\nfour\nfive\nsix\n")], replies);
    let editor = &desk.editor;
    editor.open("greet.py");
    assert_eq!(turn(editor, "Two changes, please"), "end_turn");
    assert_eq!(accept_lines(editor, "greet.py"), [1, 5]);
    let hold = desk.door.hold();
    // The hunks move, which is written down under the lock.
    editor.type_at("greet.py", 0, 0, "zero\n");
    editor.flush();
    hold.until_taken();
    assert_eq!(accept_lines(editor, "greet.py"), [2, 6]);
    // Keys that are typed while it is locked count too.
    editor.type_at("greet.py", 4, 0, "more\n");
    editor.flush();
    assert_eq!(accept_lines(editor, "greet.py"), [2, 7]);
    let accept = "Ropewalk: accept this change".to_owned();
    assert!(titles(editor, "greet.py", 7).contains(&accept));
    assert!(!titles(editor, "greet.py", 6).contains(&accept));
    let status = editor.execute("ropewalk.status", json!({})).unwrap();
    assert_eq!(status["hunks"], 2, "{status}");
    let next = editor.execute("ropewalk.next", json!({})).unwrap();
    assert_eq!(next["position"]["line"], 2, "{next}");
    editor.wait_for("a document", |seen| seen.take("window/showDocument").into_iter().next());
    let undone = editor.execute("ropewalk.prompt", json!("/undo")).unwrap();
    assert_eq!(undone["said"], "There is nothing to take back.");
    drop(hold);
    desk.end();
}
