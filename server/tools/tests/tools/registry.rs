//! The registry, a tool of one's own in it, and `diagnostics`, which asks the editor.

use crate::support::Bench;
use futures::future::BoxFuture;
use ropewalk_protocol::Mode;
use ropewalk_tools::diagnostics::Diagnostics;
use ropewalk_tools::{
    Access, Context, Decision, Effect, Rules, Subject, ToolOutput, TypedTool, decide,
};
use ropewalk_workspace::{DocId, DocumentEdit, Editor, EditorError, Habits};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

/// All that a new tool needs, but for its line in the registry.
struct Shout;

#[derive(Deserialize, JsonSchema)]
struct ShoutInput {
    /// Words to shout.
    text: String,
    /// How often.
    times: Option<usize>,
}

impl TypedTool for Shout {
    type Input = ShoutInput;
    const NAME: &'static str = "shout";
    const DESCRIPTION: &'static str = "Shouts.";
    const EFFECT: Effect = Effect::Write;

    fn subject(&self, input: &ShoutInput) -> Subject {
        Subject { title: input.text.clone(), ..Subject::default() }
    }

    fn run(&self, input: ShoutInput, _: Context) -> BoxFuture<'static, ToolOutput> {
        let text = input.text.to_uppercase().repeat(input.times.unwrap_or(1));
        Box::pin(async move { ToolOutput::text(text) })
    }
}

#[test]
fn a_tool_is_one_file_and_one_line() {
    let mut bench = Bench::new(&[]);
    let standard = bench.registry.clone();
    bench.registry = standard.clone().with(Shout);
    let spec = bench.registry.specs().pop().unwrap();
    assert_eq!((&*spec.name, &*spec.description), ("shout", "Shouts."));
    assert_eq!(spec.schema["required"], json!(["text"]));
    let call = || bench.registry.parse("shout", json!({"text": "ah", "times": "2"})).unwrap().1;
    assert_eq!(call().subject.title, "ah");
    assert!(
        matches!(
            decide(&call(), &[], &Access::default(), Mode::Plan, &Rules::default(), &[]).decision,
            Decision::Deny(_)
        ),
        "policy knows its effect"
    );
    let said = bench.say("shout", json!({"text": "ah", "times": "2"}));
    assert_eq!(said, "AHAH\n(`times` was converted to a number)");
    let unknown = bench.registry.parse("whisper", json!({})).err().unwrap().to_string();
    assert!(
        unknown.starts_with("Unknown tool: whisper") && unknown.ends_with(", shout"),
        "{unknown}"
    );
    assert!(!standard.names().any(|name| name == "shout"));
    assert_eq!(standard.only(|name| name == "bash").specs().len(), 1);
}

#[test]
fn what_the_model_is_told_of_the_tools_is_short() {
    let infos = Bench::new(&[]).registry.specs();
    let mut total = 0;
    for info in &infos {
        let size = info.name.len() + info.description.len() + info.schema.to_string().len();
        println!("{:12} {size:5}", info.name);
        total += size;
        assert!(!info.schema.as_object().unwrap().contains_key("description"), "{}", info.schema);
    }
    println!("{:12} {total:5}", "all");
    assert!(total <= 5 << 10, "{total} bytes");
}

/// An editor that has diagnostics to tell.
struct Telling(Result<&'static str, EditorError>);

impl Editor for Telling {
    fn habits(&self) -> Habits {
        Habits::UNKNOWN
    }
    fn apply(&self, _: DocumentEdit) -> BoxFuture<'static, Result<(), EditorError>> {
        Box::pin(async { Err(EditorError::Declined(String::new())) })
    }
    fn barrier(&self) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }
    fn save(&self, _: DocId) -> BoxFuture<'static, Result<(), EditorError>> {
        Box::pin(async { Ok(()) })
    }
    fn diagnostics(&self, doc: Option<DocId>) -> BoxFuture<'static, Result<String, EditorError>> {
        let about =
            doc.and_then(|doc| Some(doc.path()?.file_name()?.to_string_lossy().into_owned()));
        let said = self.0.clone().map(|text| match about {
            Some(name) if !text.is_empty() => format!("{name}: {text}"),
            _ => text.to_owned(),
        });
        Box::pin(async move { said })
    }
}

/// From now on the tool asks this editor.
fn asks(bench: &mut Bench, editor: Arc<dyn Editor>) {
    bench.registry = bench.registry.clone().with(Diagnostics::new(editor));
}

#[test]
fn diagnostics_come_from_the_editor() {
    let mut bench = Bench::new(&[("a", b"a\n")]);
    let said = bench.say("diagnostics", json!({}));
    assert_eq!(
        said,
        "Error: no diagnostics, because the editor cannot do this: there is no editor. Run the project's own check by a command instead"
    );
    asks(&mut bench, Arc::new(Telling(Err(EditorError::NoAnswer))));
    assert!(bench.say("diagnostics", json!({})).contains("did not answer in time. Try again"));
    asks(&mut bench, Arc::new(Telling(Ok(""))));
    assert_eq!(bench.say("diagnostics", json!({})), "(no diagnostics)");
    asks(&mut bench, Arc::new(Telling(Ok("1:1 wrong"))));
    assert_eq!(bench.say("diagnostics", json!({"path": "a"})), "a: 1:1 wrong");
    assert!(bench.say("diagnostics", json!({"path": "../a"})).starts_with("Error: Path escapes"));
    bench.say("write_file", json!({"path": "a", "content": "b\n"}));
    let said = bench.say("diagnostics", json!({"path": "a"}));
    assert!(said.ends_with("\n(of the user's text; your pending changes are not in it)"), "{said}");
}
