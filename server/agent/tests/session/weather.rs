//! A tool of which nothing is known before the program runs: name, description, schema and effect come as data.

use crate::bench::*;
use futures::future::BoxFuture;
use ropewalk_model::Protocol;
use ropewalk_protocol::{Event, Mode, StopReason, Verdict};
use ropewalk_tools::{Call, Context, Effect, Rule, Subject, Tool, ToolOutput, ToolSpec};
use serde_json::{Value, json};

/// A tool as somebody else tells of it, in JSON.
const TOLD: &str = r#"{
    "name": "get_weather",
    "description": "Gives the current weather of a city",
    "schema": {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "The city"}},
        "required": ["city"]
    }
}"#;

/// A tool that is made of such words. What a call can do is told too, city by city.
struct Told {
    spec: Value,
    effect_of: fn(&str) -> Effect,
}

impl Told {
    fn new(effect_of: fn(&str) -> Effect) -> Self {
        Self { spec: serde_json::from_str(TOLD).unwrap(), effect_of }
    }
}

impl Tool for Told {
    fn spec(&self) -> ToolSpec {
        let text = |key: &str| self.spec[key].as_str().unwrap().to_owned();
        let (name, description) = (text("name"), text("description"));
        ToolSpec { name, description, schema: self.spec["schema"].clone() }
    }

    fn parse(&self, input: Value) -> Result<Call, String> {
        let city = input["city"].as_str().ok_or("`city` is missing")?.to_owned();
        let effect = (self.effect_of)(&city);
        let conversions = match city.trim() == city {
            true => Vec::new(),
            false => vec!["`city` was trimmed".to_owned()],
        };
        let subject = Subject { title: city.trim().to_owned(), ..Subject::default() };
        let tool = self.spec().name;
        Ok(Call { tool, effect, subject, conversions, input })
    }

    fn run(&self, call: Call, context: Context) -> BoxFuture<'static, ToolOutput> {
        Box::pin(async move {
            context.progress.show("asking the sky\n");
            ToolOutput::text(format!("{}: 12 degrees", call.subject.title))
        })
    }
}

fn asks_for(city: &str) -> ScriptedReply {
    calls("get_weather", json!({ "city": city }))
}

/// True if this body of a request offers the tool, in whatever form the protocol has for it.
fn offers(body: &Value) -> Result<(), String> {
    let tools = body["tools"].to_string();
    let wanted = ["\"get_weather\"", "Gives the current weather of a city", "\"The city\""];
    match wanted.into_iter().find(|part| !tools.contains(part)) {
        Some(missing) => Err(format!("{missing} is not in {tools}")),
        None => Ok(()),
    }
}

#[tokio::test]
async fn it_is_in_request_progress_events_and_transcript() {
    for protocol in Protocol::ALL {
        let replies = [
            asks_for(" Paris").expect(offers),
            calls("get_weather", json!({"town": "x"})),
            says("Mild.").expect(offers),
        ];
        let tool = Told::new(|_| Effect::Read);
        let mut bench = start_with_tool(*protocol, replies, tool, |_| {});
        assert_eq!(bench.run("How is it in Paris?").await, StopReason::EndTurn);
        let told: Vec<String> = bench.seen.iter().filter_map(in_short).collect();
        let paris = "Paris: 12 degrees (`city` was trimmed)";
        assert_eq!(
            told,
            [
                "call get_weather Paris {\"city\":\" Paris\"}",
                "asking the sky\n",
                paris,
                "call get_weather  {\"town\":\"x\"}",
                "Error: `city` is missing",
            ],
            "{protocol:?}"
        );
        let results = bench.results();
        assert_eq!(results[0], (paris.replace(" (", "\n("), false), "{protocol:?}");
        assert_eq!(results[1], ("Error: `city` is missing".to_owned(), true));
        bench.model.finish().unwrap();
        let dir = bench.dies().await;
        let text = sessions(&dir).export("s").unwrap();
        for part in ["get_weather", "Paris", "12 degrees"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        // The call is known when the session goes on, also where the tool is not there any more.
        let gone = says("It was mild.").expect(|body| match body.to_string() {
            body if !body.contains("12 degrees") => Err(body),
            body if !body.contains("Switched off: get_weather") => Err(body),
            _ => Ok(()),
        });
        let mut bench = resume_over(*protocol, dir, [gone]);
        assert_eq!(bench.run("And how was it?").await, StopReason::EndTurn);
        bench.model.finish().unwrap();
    }
}

/// The events of a call, each on a line.
fn in_short(event: &Event) -> Option<String> {
    match event {
        Event::ToolCall { tool, title, input, .. } => Some(format!("call {tool} {title} {input}")),
        Event::ToolOutput { text, .. } => Some(text.clone()),
        Event::ToolResult { preview, .. } => Some(preview.clone()),
        _ => None,
    }
}

/// The result of one call in this mode and under these rules, where nobody is there to be asked.
async fn decided(
    protocol: Protocol,
    mode: Mode,
    allow: &[&str],
    deny: &[&str],
    effect_of: fn(&str) -> Effect,
) -> String {
    let read =
        |rules: &[&str]| rules.iter().map(|rule| rule.parse().unwrap()).collect::<Vec<Rule>>();
    let (allow, deny) = (read(allow), read(deny));
    let tool = Told::new(effect_of);
    let mut bench = start_with_tool(protocol, [asks_for("Paris"), says("ok")], tool, |settings| {
        settings.interactive = false;
        settings.mode = mode;
        settings.rules.allow = allow;
        settings.rules.deny = deny;
    });
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    bench.results().remove(0).0
}

#[tokio::test]
async fn it_obeys_rules_and_modes() {
    let acts = |_: &str| Effect::Execute;
    let looks = |_: &str| Effect::Read;
    let only_elsewhere = |city: &str| if city == "Paris" { Effect::Read } else { Effect::Execute };
    let ran = "Paris: 12 degrees";
    for protocol in [Protocol::Anthropic, Protocol::Chat] {
        let said = decided(protocol, Mode::Review, &[], &[], acts).await;
        assert_eq!(
            said,
            "Error: Refused: it may change what lies outside of this project; not allowed without a terminal to ask in; \
             run again with --allow 'get_weather(Paris)' (that is for the user to do)"
        );
        for rule in ["get_weather", "get_weather(Paris)", "get_weather(P*)", "*"] {
            assert_eq!(decided(protocol, Mode::Review, &[rule], &[], acts).await, ran, "{rule}");
            let said = decided(protocol, Mode::Auto, &["*"], &[rule], looks).await;
            assert!(said.starts_with("Error: Refused: the user's rules forbid it"), "{said}");
        }
        for rule in ["get_weather(Rome)", "get_weathers", "bash", "bash(*)"] {
            let said = decided(protocol, Mode::Review, &[rule], &[], acts).await;
            assert!(said.starts_with("Error: Refused: it may change"), "{rule}: {said}");
            assert_eq!(decided(protocol, Mode::Auto, &[], &[rule], looks).await, ran, "{rule}");
        }
        assert_eq!(decided(protocol, Mode::Plan, &[], &[], only_elsewhere).await, ran);
        let said = decided(protocol, Mode::Plan, &["*"], &[], acts).await;
        assert!(said.starts_with("Error: Refused in plan mode: this call may change"), "{said}");
    }
}

#[tokio::test]
async fn the_user_is_asked_about_it_and_allows_its_like_for_the_session() {
    for protocol in [Protocol::Anthropic, Protocol::Chat] {
        let replies = [
            asks_for("Paris"),
            asks_for("Paris"),
            asks_for("Rome"),
            says("ok").expect_text("The user refused this call"),
        ];
        let tool = Told::new(|_| Effect::Execute);
        let mut bench = start_with_tool(protocol, replies, tool, |_| {});
        bench.session.prompt(ropewalk_protocol::Prompt::new("go"));
        let asked = bench.until(approval).await;
        assert_eq!((&*asked.tool, &*asked.detail), ("get_weather", "Paris"));
        assert_eq!(asked.rule.as_deref(), Some("get_weather(Paris)"));
        assert_eq!(asked.reason, "it may change what lies outside of this project");
        assert!(asked.unseen.is_empty());
        bench.approve(asked.id, Verdict::Session);
        let asked = bench.until(approval).await;
        assert_eq!(asked.detail, "Rome", "the second call for Paris was not asked about");
        bench.approve(asked.id, Verdict::Refuse(None));
        assert_eq!(bench.end().await.1, StopReason::EndTurn);
        let ran = bench.results().iter().filter(|(text, _)| text == "Paris: 12 degrees").count();
        assert_eq!(ran, 2);
        bench.model.finish().unwrap();
    }
}

fn approval(event: &Event) -> Option<ropewalk_protocol::Approval> {
    match event {
        Event::ApprovalRequested { approval, .. } => Some(approval.clone()),
        _ => None,
    }
}
