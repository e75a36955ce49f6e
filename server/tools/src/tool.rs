//! What a tool is: a name, an input type whose schema the model sees, an effect, and a function over a
//! frozen view.
//!
//! A tool never changes anything itself: it proposes changes of files, and its caller merges them. The one
//! exception is a tool of [`Effect::Execute`], which starts programs; policy is asked before it runs.

use crate::bounds::Bounds;
use crate::command::Secrets;
use crate::commands::{Commands, Tier};
use crate::policy::Reach;
use futures::future::BoxFuture;
use ropewalk_protocol::Content;
use ropewalk_workspace::{Editor, Place, Proposal, View};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What a call of a tool can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It only looks. Such calls run in parallel.
    Read,
    /// It proposes changes of files.
    Write,
    /// It starts programs.
    Execute,
    /// It concerns the session itself.
    Session,
}

/// What a call is about, for people, policy and progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The one thing that tells this call from others of the tool, short: a path, a pattern, a command.
    pub title: String,
    /// The whole command, for a tool that runs one.
    pub command: Option<String>,
    /// The paths it names, as the model wrote them.
    pub paths: Vec<String>,
    /// Whether a command wants the network, or what listens on this machine.
    pub network: bool,
}

impl Subject {
    /// A call about one path.
    pub fn path(path: &str) -> Self {
        Self { title: path.to_owned(), paths: vec![path.to_owned()], ..Self::default() }
    }

    /// A search for `pattern` under one path, or everywhere.
    pub fn search(pattern: &str, path: Option<&str>) -> Self {
        let paths = path.into_iter().map(str::to_owned).collect();
        Self { title: pattern.to_owned(), paths, ..Self::default() }
    }
}

/// Whether a file is left out of a search that was pointed at the second place.
pub type Hides = dyn Fn(&Place, Option<&Place>) -> bool + Send + Sync;

/// What a tool may use while it runs.
#[derive(Clone)]
pub struct Context {
    /// What it sees.
    pub view: Arc<View>,
    /// The number of its turn.
    pub turn: u64,
    /// The call's id, for naming its output file.
    pub call: Arc<str>,
    /// The most it may say.
    pub bounds: Bounds,
    /// Runs the session's commands.
    pub commands: Arc<Commands>,
    /// How far this call may reach, as policy and the user have allowed it.
    pub reach: Reach,
    /// How long a command may take.
    pub command_time: Duration,
    /// Where whole outputs are kept; None keeps only what fits the bounds.
    pub outputs: Option<PathBuf>,
    /// What no command gets, and what is struck from all that one prints.
    pub secrets: Secrets,
    /// Takes output while a command runs, for showing. Must not block.
    pub sink: Arc<dyn Fn(&str) + Send + Sync>,
    /// Whether the user's rules keep a file out of a search that was pointed at a place, or at nothing. As long as it
    /// is the same one, so are the rules.
    pub hides: Arc<Hides>,
    /// For questions only an editor can answer.
    pub editor: Arc<dyn Editor>,
}

/// What a tool says and proposes.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// For the model; begins with `Error: ` when it failed.
    pub text: String,
    /// Images, resources and links for the model, behind the text.
    pub attached: Vec<Content>,
    /// Whether it failed.
    pub is_error: bool,
    /// Of a command that ended with an exit code other than 0, or by a signal: a number that is the same for the same
    /// end and the same output. Such a result is a good one; only to ask for it again and again is in vain.
    pub failure: Option<u64>,
    /// Changes of files, made on the context's view.
    pub proposals: Vec<Proposal>,
}

impl Output {
    /// A result in words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A failure in words; `Error: ` is put before them.
    pub fn error(why: impl std::fmt::Display) -> Self {
        Self { text: format!("Error: {why}"), is_error: true, ..Self::default() }
    }

    /// A result with changes of files.
    pub fn proposing(text: impl Into<String>, proposals: Vec<Proposal>) -> Self {
        Self { text: text.into(), proposals, ..Self::default() }
    }
}

/// A tool. Adding one is one file with an implementation, and one line in the registry.
pub trait Tool: Send + Sync + 'static {
    /// What the model gives. Its schema, with the doc comments as descriptions, is what the model sees.
    type Input: DeserializeOwned + JsonSchema + Send + Sync + 'static;

    /// The name the model calls it by.
    const NAME: &'static str;
    /// What it does, for the model.
    const DESCRIPTION: &'static str;
    /// What a call can do.
    const EFFECT: Effect;

    /// The same as [`Tool::DESCRIPTION`], unless it depends on where commands run.
    fn description(_: Tier) -> &'static str {
        Self::DESCRIPTION
    }

    /// What a call with this input is about.
    fn subject(&self, input: &Self::Input) -> Subject;

    /// Runs a call. Dropping the future stops it.
    fn run(&self, input: Self::Input, context: Context) -> BoxFuture<'static, Output>;
}

/// A call whose input was understood and that waits to be run.
pub struct Prepared {
    /// The tool's name.
    pub tool: &'static str,
    /// What it can do.
    pub effect: Effect,
    /// What it is about.
    pub subject: Subject,
    /// What was converted in the input, in words; the result says it.
    pub conversions: Vec<String>,
    run: Box<dyn FnOnce(Context) -> BoxFuture<'static, Output> + Send + Sync>,
}

/// Facts of a call by which policy decides.
#[derive(Clone, Copy, Debug)]
pub struct CallSummary<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The worst that it can do.
    pub effect: Effect,
    /// Command and paths of the call.
    pub subject: &'a Subject,
}

impl<'a> From<&'a Prepared> for CallSummary<'a> {
    fn from(call: &'a Prepared) -> Self {
        Self { tool: call.tool, effect: call.effect, subject: &call.subject }
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared")
            .field("tool", &self.tool)
            .field("subject", &self.subject)
            .finish()
    }
}

impl Prepared {
    /// Runs the call. What was converted in its input is said at the end of the result.
    pub fn run(self, context: Context) -> BoxFuture<'static, Output> {
        let running = (self.run)(context);
        let conversions = self.conversions;
        Box::pin(async move {
            let mut output = running.await;
            for conversion in conversions {
                output.text.push_str(&format!("\n({conversion})"));
            }
            output
        })
    }
}

/// The same for every tool, whatever its input.
pub(crate) trait AnyTool: Send + Sync {
    fn name(&self) -> &'static str;
    fn description(&self, tier: Tier) -> &'static str;
    fn effect(&self) -> Effect;
    fn schema(&self) -> Value;
    fn prepare(self: Arc<Self>, input: Value) -> Result<Prepared, String>;
}

impl<T: Tool> AnyTool for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn description(&self, tier: Tier) -> &'static str {
        <T as Tool>::description(tier)
    }

    fn effect(&self) -> Effect {
        T::EFFECT
    }

    fn schema(&self) -> Value {
        crate::input::schema_of::<T::Input>()
    }

    fn prepare(self: Arc<Self>, input: Value) -> Result<Prepared, String> {
        let (input, conversions) =
            crate::input::read::<T::Input>(T::NAME, T::EFFECT, &self.schema(), input)?;
        let subject = self.subject(&input);
        let run = Box::new(move |context: Context| Tool::run(&*self, input, context));
        Ok(Prepared { tool: T::NAME, effect: T::EFFECT, subject, conversions, run })
    }
}
