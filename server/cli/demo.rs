//! `ropewalk demo`: a whole turn, reviewed, in under a second: the real server as a process of its own, a
//! scripted model on a real loopback socket, and an editor that behaves like VS Code.
//!
//! Whatever it claims it has checked; it ends with an error at the first claim that is not true. It reads
//! nothing of the user's configuration, and leaves nothing behind.

mod page;

use anyhow::{Context, ensure};
use page::Page;
use ropewalk_testkit::editor::{FakeEditor, Kind, Profile, Seen};
use ropewalk_testkit::model::{Place, ScriptedModel, ScriptedReply};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const FILE: &str = "greet.py";
const ON_DISK: &str = "\
def greet(name):
    print(\"Hello, \" + name)


def leave(name):
    print(\"Goodbye, \" + name)
";
const UNSAVED: &str = "# Small talk, not saved yet.\n";
const TYPED: &str = "import sys\n";
const PROMPT: &str = "Give both functions a docstring.";
const REASON: &str = "leave() will be deleted";

/// Runs the demo. It exits with 0 only if everything it says was verified.
pub(crate) fn demo() -> anyhow::Result<ExitCode> {
    let mut page = Page::default();
    let shown = play(&mut page);
    // What was seen before a failure is what helps to understand it.
    page.print();
    shown.map(|()| ExitCode::SUCCESS)
}

/// What the model says, and what it must have been told to say it.
fn script() -> [ScriptedReply; 4] {
    let docstring = |head: &str, doc: &str| {
        let new = format!("{head}\n    \"\"\"{doc}\"\"\"\n");
        json!({ "path": FILE, "old_text": format!("{head}\n"), "new_text": new })
    };
    [
        ScriptedReply::new()
            .expect_text(PROMPT)
            .text("I look at the file first.")
            .call("read_file", json!({ "path": FILE })),
        ScriptedReply::new()
            .expect_text("not saved yet")
            .gate(Place::Answer, "typing")
            .call("edit_file", docstring("def greet(name):", "Say hello."))
            .call("edit_file", docstring("def leave(name):", "Say goodbye.")),
        ScriptedReply::new().text("Both functions have a docstring now, please review."),
        ScriptedReply::new()
            .expect_text(REASON)
            .text("Then leave() stays as it is; greet() keeps its docstring."),
    ]
}

fn play(page: &mut Page) -> anyhow::Result<()> {
    let place = Folder::new()?;
    let root = place.0.join("workspace");
    std::fs::create_dir_all(&root)?;
    std::fs::write(root.join(FILE), ON_DISK)?;
    let disk = || std::fs::read_to_string(root.join(FILE));
    let model = ScriptedModel::start(script()).context("no port of this machine can be used")?;
    let editor = editor(&place.0, &root, &model)?;
    page.title("Ropewalk demo");
    page.words("The model is scripted: no key and no network are needed. All else is real: the");
    page.words("server in its own process, HTTP to the model, an editor as strict as VS Code.");

    editor.open(FILE);
    editor.insert(FILE, 0, 0, UNSAVED);
    page.title("greet.py in the editor; its first line is not saved");
    page.code(&editor.text(FILE));

    editor.prompt(PROMPT);
    model.wait_until_reached_blocking("typing");
    editor.type_at(FILE, 0, 0, TYPED);
    // Answers come in the order of what was sent, so after this one the keys have arrived.
    editor.execute("ropewalk.mode", Value::Null)?;
    model.open_gate("typing");
    let end = wait_for_turn_end(&editor)?;
    ensure!(end == "end_turn", "the first turn ended with {end}");
    let events = editor.events();
    page.title("The conversation");
    page.conversation(&events);
    let hunks = hunks_of(&events);
    let [greet, leave] = hunks.as_slice() else {
        anyhow::bail!("two changes should wait for review, not {}", hunks.len());
    };
    let expected = format!("{TYPED}{UNSAVED}{ON_DISK}");
    ensure!(editor.text(FILE) == expected, "the text changed before anything was accepted");
    page.checked("Meanwhile \"import sys\" was typed, key by key: it is there, nothing was lost.");

    page.title("The net change, waiting for review");
    page.diff(greet);
    page.diff(leave);

    page.title("The review");
    let event = review(&editor, "ropewalk.accept", &json!({ "hunk": greet["id"] }))?;
    ensure!(one_done(&event), "the accept failed: {event}");
    let accepted =
        expected.replace("def greet(name):\n", "def greet(name):\n    \"\"\"Say hello.\"\"\"\n");
    ensure!(editor.text(FILE) == accepted, "the accepted change is not in the text");
    page.checked("accepted: the docstring of greet() is in the editor");
    let refusal = json!({ "hunk": leave["id"], "reason": REASON });
    let event = review(&editor, "ropewalk.reject", &refusal)?;
    ensure!(one_done(&event), "the reject failed: {event}");
    ensure!(editor.text(FILE) == accepted, "the rejected change is in the text");
    page.checked(&format!("rejected: that of leave(), because \"{REASON}\""));

    let before = editor.events().len();
    editor.prompt("Go on.");
    let end = wait_for_turn_end(&editor)?;
    ensure!(end == "end_turn", "the model was not told the reason: {end}");
    page.conversation(editor.events().get(before..).unwrap_or_default());
    page.checked("the model was told the reason with this request");

    ensure!(disk()? == ON_DISK, "the file on the disk was touched");
    page.checked("the file on the disk is untouched until you save");
    let event = review(&editor, "ropewalk.undo", &json!({ "all": true }))?;
    ensure!(one_done(&event), "the undo failed: {event}");
    ensure!(editor.text(FILE) == expected, "the undo did not give the user's own text back");
    page.checked("undone: what is left is your own text, both lines that you typed in it");
    editor.save(FILE);
    ensure!(disk()? == expected, "the saved file is not the text of the editor");
    page.checked("saved: the disk has it now");

    editor.shutdown();
    if let Err(faults) = model.finish() {
        anyhow::bail!("the model's server saw faults:\n{}", faults.join("\n"));
    }
    Ok(())
}

/// An editor with the server attached, which sees only what is in `home`.
fn editor(home: &Path, root: &Path, model: &ScriptedModel) -> anyhow::Result<FakeEditor> {
    let config = home.join("config/ropewalk");
    std::fs::create_dir_all(&config)?;
    let text = format!(
        "model = \"scripted/scripted\"\nmode = \"review\"\n\
         [provider.scripted]\nprotocol = \"anthropic\"\n\
         base_url = \"{}\"\napi_key_env = \"ROPEWALK_DEMO_KEY\"\n",
        model.base_url()
    );
    std::fs::write(config.join("config.toml"), text)?;
    let folder = |name: &str| home.join(name).display().to_string();
    let environment = [
        ("HOME", folder("home")),
        ("XDG_CONFIG_HOME", folder("config")),
        ("XDG_STATE_HOME", folder("state")),
        ("ROPEWALK_DEMO_KEY", "not-a-secret".to_owned()),
    ];
    let server = std::env::current_exe().context("where this program is can't be found out")?;
    let options = json!({ "events": true, "drawsHunks": true });
    let editor =
        FakeEditor::spawn(server, &["lsp"], &environment, Profile::VSCODE, &[root], options)
            .context("the server can't be started")?;
    editor.ignore(&[Kind::Progress, Kind::Event]);
    Ok(editor)
}

/// Waits for the end of the next turn, and gives its stop reason with what is said of it.
fn wait_for_turn_end(editor: &FakeEditor) -> anyhow::Result<String> {
    let end = editor.try_wait_for("the end of the turn", Seen::take_turn_end);
    let end = end.map_err(anyhow::Error::msg)?;
    let words = end.message.map(|words| format!(": {words}")).unwrap_or_default();
    Ok(format!("{}{words}", end.stop_reason))
}

/// Runs a command of review and gives the event that tells what became of it.
fn review(editor: &FakeEditor, command: &str, argument: &Value) -> anyhow::Result<Value> {
    let of_reviews = |events: Vec<Value>| {
        events.into_iter().filter(|event| event["type"] == "reviewed").collect::<Vec<_>>()
    };
    let before = of_reviews(editor.events()).len();
    editor.execute(command, argument.clone())?;
    editor
        .try_wait_for("what became of it", |seen| of_reviews(seen.events()).get(before).cloned())
        .map_err(anyhow::Error::msg)
}

/// Whether a review was of one hunk, and went well.
fn one_done(event: &Value) -> bool {
    event.get("done") == Some(&json!(1))
}

/// The pending hunks as they were told last.
fn hunks_of(events: &[Value]) -> Vec<Value> {
    let last = events.iter().rfind(|event| event["type"] == "hunks");
    last.and_then(|event| event["hunks"].as_array()).cloned().unwrap_or_default()
}

/// A folder of the demo's own, gone at its end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("ropewalk-demo-{}", std::process::id()));
        // It must be new: somebody else's folder of this name is not ours to delete.
        std::fs::create_dir(&path).with_context(|| format!("{} can't be made", path.display()))?;
        Ok(Self(path.canonicalize()?))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
