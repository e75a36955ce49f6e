//! A tool: what the model is told of it, how a call of it is read, and a function over a frozen view.
//!
//! A tool never changes anything itself: it proposes changes of files, and its caller merges them. The one
//! exception is a call of [`Effect::Execute`], which acts outside; policy is asked before it runs. A tool whose input
//! is a type of its own is a [`TypedTool`]; one that is known only at run time is a [`Tool`].

use crate::bounds::Bounds;
use crate::policy::Access;
use crate::runner::DEFAULT_TIMEOUT;
use crate::secrets::Secrets;
use futures::future::BoxFuture;
use ropewalk_protocol::{CallId, Content};
use ropewalk_workspace::{Place, Proposal, View};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Effect of a tool's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It only looks. Such calls run in parallel.
    Read,
    /// It proposes changes of files.
    Write,
    /// It starts programs, or acts on what lies outside in another way.
    Execute,
    /// It concerns the session itself.
    Session,
}

/// Subject of a call, for people, policy and progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The one thing that tells this call from others of the tool, short: a path, a pattern, a command.
    pub title: String,
    /// The whole command, for a tool that runs one.
    pub command: Option<String>,
    /// The paths it names, as the model wrote them.
    pub paths: Vec<String>,
    /// True if a command wants the network, or what listens on this machine.
    pub network: bool,
    /// Why the user is asked, whatever the effect, unless a rule allows the call; None where the effect decides alone.
    pub asks: Option<String>,
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

/// Predicate for files that are left out of a search that was pointed at the second place.
pub type ReadFilter = dyn Fn(&Place, Option<&Place>) -> bool + Send + Sync;

/// Rights of one call, as policy and the user have given them.
#[derive(Clone)]
pub struct Grant {
    /// How far it may reach.
    pub reach: Access,
    /// Tells which files the user's rules keep out of searches. As long as it is the same one, so are the rules.
    pub hides: Arc<ReadFilter>,
    /// Keys that no command gets, and that are redacted from all that one prints.
    pub secrets: Secrets,
    /// True if what it changes is dropped: it began in mode plan.
    pub drops: bool,
}

impl Default for Grant {
    /// Nothing beyond the fork, and nothing in it that is hidden.
    fn default() -> Self {
        Self {
            reach: Access::default(),
            hides: Arc::new(|_, _| false),
            secrets: Secrets::default(),
            drops: false,
        }
    }
}

/// Takes output while a call runs, for showing.
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(&str) + Send + Sync>);

impl Progress {
    /// Hands output to a function, which must not block.
    pub fn new(show: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(show))
    }

    /// Shows the next piece of the output.
    pub fn show(&self, text: &str) {
        (self.0)(text);
    }
}

impl Default for Progress {
    /// Shows nothing.
    fn default() -> Self {
        Self::new(|_| {})
    }
}

/// Circumstances of one call.
#[derive(Clone)]
pub struct Context {
    /// Its id, which also names its output file.
    pub call: CallId,
    /// The number of its turn.
    pub turn: u64,
    /// The files it sees.
    pub view: Arc<View>,
    /// The most it may say.
    pub bounds: Bounds,
    /// The time that a command may take unless the call asks for another.
    pub command_time: Duration,
    /// Folder for whole outputs; None keeps only what fits the bounds.
    pub outputs: Option<PathBuf>,
    /// Its rights.
    pub grant: Grant,
    /// Takes what it prints while it runs.
    pub progress: Progress,
}

impl Context {
    /// A call on a view with no rights beyond it, usual bounds, and nobody who watches.
    pub fn new(call: impl Into<CallId>, turn: u64, view: Arc<View>) -> Self {
        Self {
            call: call.into(),
            turn,
            view,
            bounds: Bounds::default(),
            command_time: DEFAULT_TIMEOUT,
            outputs: None,
            grant: Grant::default(),
            progress: Progress::default(),
        }
    }
}

/// Words and proposals of a call.
#[derive(Clone, Debug, Default)]
pub struct ToolOutput {
    /// Result for the model, words first; they begin with `Error: ` when it failed.
    pub content: Vec<Content>,
    /// True if it failed.
    pub is_error: bool,
    /// Of a command that ended with an exit code other than 0, or by a signal: a number that is the same for the same
    /// end and the same output. Such a result is a good one; only to ask for it again and again is in vain.
    pub failure: Option<u64>,
    /// Exit code of a command that ended by itself.
    pub exit_code: Option<i32>,
    /// Changes of files, made on the context's view.
    pub proposals: Vec<Proposal>,
    /// True if the turn ends once all calls of the step have their results.
    pub ends_turn: bool,
    /// The part of its words that can be made anew for less room.
    pub part: Option<SizedPart>,
}

/// A part of a result that its tool has bounded, and can bound again: only the tool knows what it has left out.
#[derive(Clone)]
pub struct SizedPart {
    /// The part within these bounds.
    make: Arc<dyn Fn(Bounds) -> String + Send + Sync>,
    bounds: Bounds,
    /// True if the file of the call's whole output has what is left out; else the words say how it is had.
    pub has_file: bool,
}

impl fmt::Debug for SizedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SizedPart").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

impl ToolOutput {
    /// A result in words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], ..Self::default() }
    }

    /// A result in words that `make` gives for any bounds; `has_file` as in [`SizedPart`].
    pub fn sized(
        bounds: Bounds,
        has_file: bool,
        make: impl Fn(Bounds) -> String + Send + Sync + 'static,
    ) -> Self {
        let mut output = Self::default();
        output.size(bounds, make);
        output.part.iter_mut().for_each(|part| part.has_file = has_file);
        output
    }

    /// Puts words in the place of its own that `make` gives for any bounds; the call's file has what they leave out.
    pub fn size(
        &mut self,
        bounds: Bounds,
        make: impl Fn(Bounds) -> String + Send + Sync + 'static,
    ) {
        self.set_words(make(bounds));
        self.part = Some(SizedPart { make: Arc::new(make), bounds, has_file: true });
    }

    /// Makes its sized part anew for other bounds; what was said before and behind it stays. `redact` is what was done to its
    /// words since they were made. False if it has no such part.
    pub fn resize(&mut self, bounds: Bounds, redact: impl Fn(String) -> String) -> bool {
        let Some(part) = &mut self.part else { return false };
        let (before, after) = (redact((part.make)(part.bounds)), redact((part.make)(bounds)));
        part.bounds = bounds;
        let words = self.words();
        let Some((front, behind)) = words.split_once(&before) else { return false };
        let words = format!("{front}{after}{behind}");
        self.set_words(words);
        true
    }

    /// A failure in words; `Error: ` is put before them.
    pub fn error(why: impl fmt::Display) -> Self {
        Self::failed(format!("Error: {why}"))
    }

    /// A failure in words that say so themselves.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// A result with changes of files.
    pub fn proposing(text: impl Into<String>, proposals: Vec<Proposal>) -> Self {
        Self { proposals, ..Self::text(text) }
    }

    /// Its words: the text that the content begins with, or nothing.
    pub fn words(&self) -> &str {
        match self.content.first() {
            Some(Content::Text { text }) => text,
            _ => "",
        }
    }

    /// Puts others in the place of its words.
    pub fn set_words(&mut self, words: String) {
        match self.content.first_mut() {
            Some(Content::Text { text }) => *text = words,
            _ => self.content.insert(0, Content::text(words)),
        }
    }

    /// Puts more behind its words.
    pub fn say(&mut self, more: &str) {
        match self.content.first_mut() {
            Some(Content::Text { text }) => text.push_str(more),
            _ => self.content.insert(0, Content::text(more)),
        }
    }

    /// Makes it a failure that says so first, and then all that it said.
    pub fn fail(&mut self, why: impl fmt::Display) {
        self.is_error = true;
        self.set_words(format!("Error: {why}\n{}", self.words()));
    }
}

/// A tool as the model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Name by which it is called.
    pub name: String,
    /// Description for the model.
    pub description: String,
    /// JSON schema of its input.
    pub schema: Value,
}

/// A call that was understood and waits to be run.
#[derive(Clone, Debug)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// The worst that it can do.
    pub effect: Effect,
    /// The paths, command and title of the call.
    pub subject: Subject,
    /// Conversions made in the input, in words; the result says them.
    pub conversions: Vec<String>,
    /// The input, converted.
    pub input: Value,
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

impl<'a> From<&'a Call> for CallSummary<'a> {
    fn from(call: &'a Call) -> Self {
        Self { tool: &call.tool, effect: call.effect, subject: &call.subject }
    }
}

/// A tool.
pub trait Tool: Send + Sync {
    /// Name by which it is called: that of its [`ToolSpec`], without the work of making one.
    fn name(&self) -> String {
        self.spec().name
    }

    /// Name, description and schema for the model. They stay the same while a session lives, or the provider's cache is
    /// lost.
    fn spec(&self) -> ToolSpec;

    /// Reads the input of a call.
    ///
    /// # Errors
    /// The input's fault, in words for the model.
    fn parse(&self, input: Value) -> Result<Call, String>;

    /// Runs a call that [`Tool::parse`] has given. Dropping the future stops it.
    fn run(&self, call: Call, context: Context) -> BoxFuture<'static, ToolOutput>;
}

impl dyn Tool {
    /// Runs a call, and says at the end of its result what was converted in its input.
    pub async fn run_and_tell(&self, mut call: Call, context: Context) -> ToolOutput {
        let conversions = std::mem::take(&mut call.conversions);
        let mut output = self.run(call, context).await;
        for conversion in conversions {
            output.say(&format!("\n({conversion})"));
        }
        output
    }
}

/// A tool with an input type of its own. Adding one is one file with an implementation, and one line in the registry.
pub trait TypedTool: Send + Sync + 'static {
    /// Input of a call. The model sees its schema, with the doc comments as descriptions.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;

    /// The name the model calls it by.
    const NAME: &'static str;
    /// Description for the model.
    const DESCRIPTION: &'static str;
    /// Effect of its calls.
    const EFFECT: Effect;

    /// The same as [`TypedTool::DESCRIPTION`], unless it depends on what the tool was made of.
    fn description(&self) -> String {
        Self::DESCRIPTION.to_owned()
    }

    /// The paths, command and title of a call with this input.
    fn subject(&self, input: &Self::Input) -> Subject;

    /// Runs a call. Dropping the future stops it.
    fn run(&self, input: Self::Input, context: Context) -> BoxFuture<'static, ToolOutput>;
}

impl<T: TypedTool> Tool for T {
    fn name(&self) -> String {
        T::NAME.to_owned()
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: T::NAME.to_owned(),
            description: self.description(),
            schema: crate::input::schema_of::<T::Input>().as_ref().clone(),
        }
    }

    fn parse(&self, input: Value) -> Result<Call, String> {
        let schema = crate::input::schema_of::<T::Input>();
        let (input, conversions) = crate::input::convert(T::NAME, T::EFFECT, &schema, input)?;
        let typed = T::Input::deserialize(&input)
            .map_err(|error| crate::input::fault(T::NAME, &schema, &error.to_string()))?;
        let subject = self.subject(&typed);
        let tool = T::NAME.to_owned();
        Ok(Call { tool, effect: T::EFFECT, subject, conversions, input })
    }

    fn run(&self, call: Call, context: Context) -> BoxFuture<'static, ToolOutput> {
        match serde_json::from_value(call.input) {
            Ok(input) => TypedTool::run(self, input, context),
            // `parse` has read it before.
            Err(error) => Box::pin(std::future::ready(ToolOutput::error(error))),
        }
    }
}
