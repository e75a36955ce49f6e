//! Every key as data: name, kind, default, description, and what a project may do with it. It is
//! the only list of keys: lookups, suggestions and the table of CONFIGURATION.md come from it. What setting a
//! key does is in `resolve`.

use crate::rules::RuleList;
use crate::value::MAX_DEPTH;
use crate::{CommandBounds, DEFAULT_LOG, Keep, ModelFacts};
use ropewalk_protocol::{Mode, OverFork, SessionLimits, Thinking};

/// The least and the most tokens that a model may be said to take or give.
pub(crate) const TOKENS: (u32, u32) = (256, 100_000_000);

/// The least and the most requests that a server may be said to get at a time.
pub(crate) const PARALLEL: (u32, u32) = (1, 1_000);

/// One key of the configuration.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Dotted, in snake_case; `*` stands for a name of the user's or of another room.
    pub name: &'static str,
    /// One sentence.
    pub description: &'static str,
    /// What a `.ropewalk/config.toml` may do.
    pub project: ProjectRule,
    pub(crate) kind: Kind,
}

/// What the configuration of a project may do with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectRule {
    /// Nothing, unless the user trusts the folder with it.
    Never,
    /// Nothing, whatever the user trusts the folder with: it is about more than the project.
    Ignored,
    /// Make it stricter, as these words say; anything else as above.
    Stricter(&'static str),
}

/// The default of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyDefault {
    /// A value, as it would be written in TOML.
    Value(String),
    /// None; the words say what that means.
    Unset(&'static str),
}

/// What a key takes and where it goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Model,
    Mode,
    Tools,
    Mechanism,
    Rules(RuleList),
    PromptFile,
    PromptAppend,
    Log,
    Locked,
    Limit { least: u32, most: u32, field: fn(&mut SessionLimits) -> &mut u32 },
    Keep { least: u32, most: u32, field: fn(&mut Keep) -> &mut u32 },
    OverFork,
    CommandBound { least: u32, most: u32, field: fn(&mut CommandBounds) -> &mut u32 },
    Variables,
    Protocol,
    BaseUrl,
    KeyVariable,
    KeyCommand,
    Header,
    Tokens { field: fn(&mut ModelFacts) -> &mut Option<u32> },
    Price,
    PrintedCalls,
    Fact { field: fn(&mut ModelFacts) -> &mut Option<bool>, unset: &'static str },
    Thinking,
    CaFile,
    Parallel,
    Verify,
    SelfCheck,
}

const LEAN: Kind =
    Kind::Fact { field: |facts| &mut facts.lean, unset: "below 16384 tokens of context" };

const IMAGES: Kind = Kind::Fact {
    field: |facts| &mut facts.images,
    unset: "where the model is known by its name to take them",
};

/// A bound, which a project may lower.
const fn limit(
    name: &'static str,
    description: &'static str,
    (least, most): (u32, u32),
    field: fn(&mut SessionLimits) -> &mut u32,
) -> Key {
    let project = ProjectRule::Stricter("lower it");
    Key { name, description, project, kind: Kind::Limit { least, most, field } }
}

/// A bound on the sessions that are kept, which a project has no say in.
const fn keep(
    name: &'static str,
    description: &'static str,
    (least, most): (u32, u32),
    field: fn(&mut Keep) -> &mut u32,
) -> Key {
    let project = ProjectRule::Ignored;
    Key { name, description, project, kind: Kind::Keep { least, most, field } }
}

/// A bound on commands, which is about the machine.
const fn command(
    name: &'static str,
    description: &'static str,
    (least, most): (u32, u32),
    field: fn(&mut CommandBounds) -> &mut u32,
) -> Key {
    let project = ProjectRule::Ignored;
    Key { name, description, project, kind: Kind::CommandBound { least, most, field } }
}

/// A key of the user's own, which a project has no say in.
const fn theirs(name: &'static str, kind: Kind, description: &'static str) -> Key {
    Key { name, description, project: ProjectRule::Ignored, kind }
}

/// A key that the user sets.
const fn own(name: &'static str, kind: Kind, description: &'static str) -> Key {
    Key { name, description, project: ProjectRule::Never, kind }
}

/// All keys, in the order in which they are documented.
pub const KEYS: &[Key] = &[
    own("model", Kind::Model, "The model to use, as `PROVIDER/NAME`."),
    Key {
        name: "mode",
        description: "When changes reach the editor: `auto` after each tool call, `review` when you accept them, `plan` never.",
        project: ProjectRule::Stricter("make it stricter"),
        kind: Kind::Mode,
    },
    Key {
        name: "tools",
        description: "The tools offered to the model.",
        project: ProjectRule::Stricter("leave tools out"),
        kind: Kind::Tools,
    },
    Key {
        name: "mechanisms.*",
        description: "Switches one mechanism of the agent on or off, by its name.",
        project: ProjectRule::Stricter("switch it off"),
        kind: Kind::Mechanism,
    },
    own(
        "allow",
        Kind::Rules(RuleList::Allow),
        "Rules of calls that need no approval, such as `bash(git status *)`.",
    ),
    Key {
        name: "ask",
        description: "Rules of calls that need one, whatever `allow` says.",
        project: ProjectRule::Stricter("add to it"),
        kind: Kind::Rules(RuleList::Ask),
    },
    Key {
        name: "deny",
        description: "Rules of calls that are refused, whatever `allow` and `ask` say.",
        project: ProjectRule::Stricter("add to it"),
        kind: Kind::Rules(RuleList::Deny),
    },
    own(
        "system_prompt_file",
        Kind::PromptFile,
        "A file that replaces the system prompt; relative to the file that names it, or under `~/`.",
    ),
    own("system_prompt_append", Kind::PromptAppend, "Text added at the end of the system prompt."),
    theirs(
        "ca_file",
        Kind::CaFile,
        "A PEM file of certificates that are trusted besides the system's, of authorities or of a server itself, in place of the one that `SSL_CERT_FILE` names; a path as above. Not taken from a project or an editor's settings.",
    ),
    own(
        "log",
        Kind::Log,
        "What is logged to standard error, as a filter in the syntax of `RUST_LOG`.",
    ),
    limit("limits.steps", "Steps in one turn.", (1, 10_000), |l| &mut l.steps),
    limit(
        "limits.output_tokens",
        "Output tokens of one model call; the model's own maximum applies if lower, and a reply gets a quarter of the context at most, and no more than is left of it. A reply that is cut goes on, three times at most in a row.",
        (1, SessionLimits::OWN_OUTPUT),
        |l| &mut l.output_tokens,
    ),
    limit(
        "limits.tool_output",
        "Characters of one tool result that reach the model.",
        (1_000, 10_000_000),
        |l| &mut l.tool_output,
    ),
    limit("limits.command_seconds", "Seconds one command may run.", (1, 86_400), |l| {
        &mut l.command_seconds
    }),
    limit(
        "limits.identical_failures",
        "Identical failing tool calls in a row before the turn is stopped.",
        (1, 100),
        |l| &mut l.identical_failures,
    ),
    limit(
        "limits.idle_seconds",
        "Seconds without a byte in the midst of an answer, which is then asked for again.",
        (1, 3_600),
        |l| &mut l.idle_seconds,
    ),
    limit(
        "limits.first_byte_seconds",
        "Seconds until an answer begins; 900 for a server on this machine, until you set it. Also how long a server may only ping in mid-answer; 900 until you set it.",
        (1, 3_600),
        |l| &mut l.first_byte_seconds,
    ),
    limit(
        "limits.retry_seconds",
        "Seconds for which a model server elsewhere that can't be reached is tried again.",
        (1, 3_600),
        |l| &mut l.retry_seconds,
    ),
    limit(
        "limits.turn_tokens",
        "The budget of one turn in tokens, those read from a cache included: used up, the turn stops, and you may go on. The default is no budget.",
        (1, SessionLimits::NO_TOKENS),
        |l| &mut l.turn_tokens,
    ),
    limit(
        "limits.session_tokens",
        "The budget of a session in tokens, renewed each time you go on after it was used up.",
        (1, SessionLimits::NO_TOKENS),
        |l| &mut l.session_tokens,
    ),
    limit(
        "limits.turn_cents",
        "The budget of one turn in US cents, where the model's price is known.",
        (1, SessionLimits::NO_CENTS),
        |l| &mut l.turn_cents,
    ),
    limit(
        "limits.session_cents",
        "The budget of a session in US cents, likewise renewed.",
        (1, SessionLimits::NO_CENTS),
        |l| &mut l.session_cents,
    ),
    limit(
        "compaction.percent",
        "Percent of the context that a request may fill before the conversation is compacted: its beginning is summed up then.",
        (20, 95),
        |l| &mut l.mechanisms.compaction_percent,
    ),
    limit(
        "todos.remind_after",
        "Steps after the last update of the todos until the model is reminded of them; 0 is never.",
        (0, 1_000),
        |l| &mut l.mechanisms.remind_after,
    ),
    limit("subagents.steps", "Steps of one subagent.", (1, 1_000), |l| {
        &mut l.mechanisms.subagent_steps
    }),
    limit("subagents.parallel", "Subagents at work at a time.", (1, 7), |l| {
        &mut l.mechanisms.subagents_parallel
    }),
    limit("subagents.per_turn", "Subagents in one turn.", (1, 1_000), |l| {
        &mut l.mechanisms.subagents_per_turn
    }),
    limit(
        "subagents.tokens",
        "Tokens of one subagent, those read from a cache included.",
        (1_000, SessionLimits::NO_TOKENS),
        |l| &mut l.mechanisms.subagent_tokens,
    ),
    limit(
        "subagents.result",
        "Characters of a subagent's result that reach the model; the whole is in a file.",
        (500, 1_000_000),
        |l| &mut l.mechanisms.subagent_result,
    ),
    limit(
        "check.rounds",
        "How often in one turn the model is sent back to mend what the check found.",
        (0, 10),
        |l| &mut l.mechanisms.check_rounds,
    ),
    own(
        "check.self",
        Kind::SelfCheck,
        "Whether the model is asked once, before a turn ends in which it called a tool, if all is done.",
    ),
    own(
        "verify",
        Kind::Verify,
        "A command that checks what the agent did, such as `cargo test`: run as `bash` runs it, before a turn ends that changed something; what it writes is dropped. Not run where commands run in place. Not taken from an editor's settings.",
    ),
    limit("verify_seconds", "Seconds that `verify` may run.", (1, 86_400), |l| {
        &mut l.mechanisms.verify_seconds
    }),
    keep(
        "sessions.keep_days",
        "Days a session is kept after it was last used; one with pending changes is kept longer.",
        (1, 36_500),
        |k| &mut k.days,
    ),
    keep(
        "sessions.keep_megabytes",
        "Megabytes of sessions that are kept, with the whole outputs of their calls, the newest first; those with pending changes in any case.",
        (1, 1_000_000),
        |k| &mut k.megabytes,
    ),
    Key {
        name: "commands.over_fork",
        description: "Where commands run: `auto` in a sandbox, or the next best that works; `copy` on a copy of the folders; `off` in place on the disk, each after an approval.",
        project: ProjectRule::Ignored,
        kind: Kind::OverFork,
    },
    command(
        "commands.layer_megabytes",
        "Megabytes that the commands of a session may write before it is accepted.",
        (16, 1_000_000),
        |c| &mut c.layer_megabytes,
    ),
    command(
        "commands.memory_megabytes",
        "Megabytes of memory for one command and all it starts.",
        (64, 10_000_000),
        |c| &mut c.memory_megabytes,
    ),
    command(
        "commands.cache_megabytes",
        "Megabytes of build caches that are kept for one folder.",
        (16, 1_000_000),
        |c| &mut c.cache_megabytes,
    ),
    Key {
        name: "commands.environment",
        description: "Names of more variables that commands are given, a `NPM_TOKEN` among them if you name it, or a `DATABASE_URL` with a password in it; those with a model's key, and what leads to an editor or an agent for keys, never are. Not taken from a project or an editor's settings.",
        project: ProjectRule::Ignored,
        kind: Kind::Variables,
    },
    own(
        "provider.*.protocol",
        Kind::Protocol,
        "The wire protocol of the provider, such as `anthropic`.",
    ),
    own(
        "provider.*.base_url",
        Kind::BaseUrl,
        "Where the provider is reached, without the path of a call.",
    ),
    own(
        "provider.*.api_key_env",
        Kind::KeyVariable,
        "The name of the environment variable that holds the key.",
    ),
    theirs(
        "provider.*.api_key_command",
        Kind::KeyCommand,
        "What prints the key, such as `[\"pass\", \"show\", \"openai\"]`: a program and its arguments, or a line for `sh`; run once, when the variable is not set and a model is first used. Not taken from a project or an editor's settings.",
    ),
    theirs("provider.*.headers.*", Kind::Header, "A header of every request to the provider."),
    theirs(
        "provider.*.context",
        Kind::Tokens { field: |facts| &mut facts.context },
        "Tokens that its models take, prompt and reply together.",
    ),
    theirs(
        "provider.*.output",
        Kind::Tokens { field: |facts| &mut facts.output },
        "Tokens of the longest reply of its models.",
    ),
    theirs(
        "provider.*.price",
        Kind::Price,
        "What a million tokens of its models cost in US dollars: input, output, and if they differ from input, cache reads and cache writes.",
    ),
    theirs(
        "provider.*.printed_calls",
        Kind::PrintedCalls,
        "Whether a tool call that a model prints as text is run. Small local models may need it.",
    ),
    theirs(
        "provider.*.lean",
        LEAN,
        "Whether a model gets the lean set: `bash`, `read_file`, `write_file`, `edit_file` and a short system prompt, 4 KB in all.",
    ),
    theirs(
        "provider.*.images",
        IMAGES,
        "Whether a model is sent images; else it is told in words that there was one.",
    ),
    theirs(
        "provider.*.thinking",
        Kind::Thinking,
        "How much a model is asked to think before it answers, where its server has a word for that (`ropewalk doctor` says where not); it costs output tokens beyond `limits.output_tokens`.",
    ),
    theirs(
        "provider.*.parallel",
        Kind::Parallel,
        "Requests that its server gets at a time; others wait for their turn, visibly.",
    ),
    theirs(
        "provider.*.models.*.context",
        Kind::Tokens { field: |facts| &mut facts.context },
        "As above, of one model.",
    ),
    theirs(
        "provider.*.models.*.output",
        Kind::Tokens { field: |facts| &mut facts.output },
        "As above, of one model.",
    ),
    theirs("provider.*.models.*.price", Kind::Price, "As above, of one model."),
    theirs("provider.*.models.*.lean", LEAN, "As above, of one model."),
    theirs("provider.*.models.*.images", IMAGES, "As above, of one model."),
    theirs("provider.*.models.*.thinking", Kind::Thinking, "As above, of one model."),
    Key {
        name: "locked",
        description: "In `/etc/ropewalk/config.toml` only: keys that keep the value they have there, or their default, such as `mode`, `limits` or `provider.*.base_url`.",
        project: ProjectRule::Ignored,
        kind: Kind::Locked,
    },
];

impl Key {
    /// What it takes, for a table and for the sentence about a wrong type.
    #[must_use]
    pub fn takes(&self) -> String {
        match self.kind {
            Kind::Model => "text of the form `PROVIDER/NAME`".to_owned(),
            Kind::Mode => {
                let names: Vec<_> = Mode::ALL.iter().map(|m| format!("`{}`", m.as_str())).collect();
                format!("one of {}", names.join(", "))
            }
            Kind::OverFork => {
                let names: Vec<_> =
                    OverFork::ALL.iter().map(|o| format!("`{}`", o.as_str())).collect();
                format!("one of {}", names.join(", "))
            }
            Kind::Thinking => {
                let names: Vec<_> =
                    Thinking::ALL.iter().map(|t| format!("`{}`", t.as_str())).collect();
                format!("one of {}", names.join(", "))
            }
            Kind::Tools | Kind::Variables => "a list of names".to_owned(),
            Kind::Rules(_) => "a list of rules".to_owned(),
            Kind::Mechanism | Kind::SelfCheck | Kind::Fact { .. } => "`true` or `false`".to_owned(),
            Kind::Verify => "text in one line".to_owned(),
            Kind::Locked => "a list of keys".to_owned(),
            Kind::PromptFile | Kind::CaFile => "a path".to_owned(),
            Kind::PromptAppend | Kind::Log => "text".to_owned(),
            Kind::Limit { least, most, .. }
            | Kind::Keep { least, most, .. }
            | Kind::CommandBound { least, most, .. } => {
                format!("a whole number from {least} to {most}")
            }
            Kind::Protocol => "the name of a protocol".to_owned(),
            Kind::BaseUrl => {
                "a URL with `http://` or `https://` and without user, password, query or fragment"
                    .to_owned()
            }
            Kind::KeyCommand => {
                "text, or a list of texts: a program and its arguments".to_owned()
            }
            Kind::Header => "text without line breaks".to_owned(),
            Kind::Tokens { .. } => format!("a whole number from {} to {}", TOKENS.0, TOKENS.1),
            Kind::PrintedCalls => "`true` or `false`".to_owned(),
            Kind::Parallel => format!("a whole number from {} to {}", PARALLEL.0, PARALLEL.1),
            Kind::Price => "a list of 2 to 4 numbers from 0 to 100000".to_owned(),
            Kind::KeyVariable => {
                "the name of an environment variable in capitals, such as `ANTHROPIC_API_KEY`, never the key itself"
                    .to_owned()
            }
        }
    }

    /// Its default.
    #[must_use]
    pub fn default_value(&self) -> KeyDefault {
        match self.kind {
            Kind::Model => KeyDefault::Unset("by the keys in the environment"),
            Kind::Mode => KeyDefault::Value(format!("\"{}\"", Mode::default().as_str())),
            Kind::Tools => KeyDefault::Unset("all tools"),
            Kind::Mechanism => KeyDefault::Value("true".to_owned()),
            Kind::PrintedCalls | Kind::SelfCheck => KeyDefault::Value("false".to_owned()),
            Kind::Parallel => KeyDefault::Unset("1 on this machine, elsewhere no bound"),
            Kind::OverFork => KeyDefault::Value(format!("\"{}\"", OverFork::default().as_str())),
            Kind::CommandBound { field, .. } => {
                let mut bounds = CommandBounds::DEFAULT;
                match *field(&mut bounds) {
                    0 => KeyDefault::Unset("by the machine's memory"),
                    number => KeyDefault::Value(number.to_string()),
                }
            }
            Kind::Rules(_) | Kind::Locked | Kind::Variables => KeyDefault::Value("[]".to_owned()),
            Kind::Log => KeyDefault::Value(format!("\"{DEFAULT_LOG}\"")),
            Kind::Limit { field, .. } => {
                let mut limits = SessionLimits::DEFAULT;
                match *field(&mut limits) {
                    SessionLimits::OWN_OUTPUT => {
                        KeyDefault::Unset("the model's own maximum, 32000 where it is not known")
                    }
                    number => KeyDefault::Value(number.to_string()),
                }
            }
            Kind::Keep { field, .. } => {
                let mut keep = Keep::DEFAULT;
                KeyDefault::Value(field(&mut keep).to_string())
            }
            Kind::Protocol | Kind::BaseUrl | Kind::KeyVariable => {
                KeyDefault::Unset("set for the built-in providers")
            }
            Kind::Tokens { .. } | Kind::Price => KeyDefault::Unset("known for some models"),
            Kind::Thinking => KeyDefault::Unset("`off`: nothing is asked for"),
            Kind::Fact { unset, .. } => KeyDefault::Unset(unset),
            Kind::CaFile
            | Kind::Verify
            | Kind::PromptFile
            | Kind::PromptAppend
            | Kind::KeyCommand
            | Kind::Header => KeyDefault::Unset("none"),
        }
    }

    /// The name as editors' settings spell it: `limits.outputTokens`. Both spellings are taken
    /// there.
    #[must_use]
    pub fn camel_case(&self) -> String {
        camel(self.name)
    }

    /// True if it is a list of rules.
    pub(crate) fn is_rules(&self) -> bool {
        matches!(self.kind, Kind::Rules(_))
    }

    /// Why no editor may set it, if none may: what an editor says may come from a repository's own settings.
    pub(crate) fn not_for_editors(&self) -> Option<&'static str> {
        match self.kind {
            Kind::KeyCommand | Kind::Verify => Some("it starts a program"),
            Kind::CaFile => Some("it says whom to trust"),
            Kind::Variables => Some("it gives away what you keep there"),
            _ => None,
        }
    }

    /// True if only the system's file sets it.
    pub(crate) fn locks_keys(&self) -> bool {
        matches!(self.kind, Kind::Locked)
    }

    /// True if the value is text, so that a flag's value needs no quotes whatever it looks like.
    pub(crate) fn is_text(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Tools
                | Kind::Rules(_)
                | Kind::Mechanism
                | Kind::SelfCheck
                | Kind::Locked
                | Kind::KeyCommand
                | Kind::Tokens { .. }
                | Kind::Price
                | Kind::PrintedCalls
                | Kind::Fact { .. }
                | Kind::Parallel
                | Kind::Variables
                | Kind::CommandBound { .. }
                | Kind::Limit { .. }
                | Kind::Keep { .. }
        )
    }
}

/// The keys as a Markdown table, for CONFIGURATION.md.
#[must_use]
pub fn markdown_table() -> String {
    let mut table =
        "| key | takes | default | in a project | |\n|---|---|---|---|---|\n".to_owned();
    for key in KEYS {
        let default = match key.default_value() {
            KeyDefault::Value(value) => format!("`{value}`"),
            KeyDefault::Unset(words) => words.to_owned(),
        };
        let project = match key.project {
            ProjectRule::Ignored => "ignored".to_owned(),
            ProjectRule::Never => "if trusted".to_owned(),
            ProjectRule::Stricter(words) => format!("may {words}"),
        };
        let name = key.name.replace('*', "NAME");
        let takes = key.takes();
        table += &format!("| `{name}` | {takes} | {default} | {project} | {} |\n", key.description);
    }
    table
}

/// True if what stands below `path` are names of the user's own, as he spells them: of providers, headers, models.
pub(crate) fn holds_own_names(path: &[&str]) -> bool {
    matches!(path, ["provider"]) || holds_dotted_names(path)
}

/// True if names of the user's own stand below `path` that may have dots in them, as `gpt-4.1` has.
fn holds_dotted_names(path: &[&str]) -> bool {
    matches!(path, ["provider", _, "headers" | "models"])
}

/// A key with dots in it, below `path`, as segments of a path. The name of a header or a model is one segment,
/// dots and all: what stands behind the last dot is the key of a model, unless `is_table` of them is said.
pub(crate) fn segments<'a>(path: &[&'a str], key: &'a str, is_table: bool) -> Vec<&'a str> {
    let (mut whole, mut rest) = (path.to_vec(), key);
    loop {
        let split = match holds_dotted_names(&whole) {
            true if whole.last() == Some(&"models") && !is_table => rest.rsplit_once('.'),
            true => None,
            // What lies deeper is unknown anyway.
            false if whole.len() >= path.len() + MAX_DEPTH - 1 => None,
            false => rest.split_once('.'),
        };
        let Some((first, more)) = split else { break };
        whole.push(first);
        rest = more;
    }
    whole.push(rest);
    whole.split_off(path.len())
}

/// What a path leads to.
pub(crate) enum Found {
    Key(&'static Key),
    /// A table that holds keys.
    Table,
    Unknown,
}

/// Looks a path up, one segment after the other.
pub(crate) fn find(path: &[String]) -> Found {
    for key in KEYS {
        let mut pattern = key.name.split('.');
        let matches = path
            .iter()
            .all(|segment| pattern.next().is_some_and(|wanted| wanted == "*" || wanted == segment));
        if matches {
            return if pattern.next().is_none() { Found::Key(key) } else { Found::Table };
        }
    }
    Found::Unknown
}

/// True if a pattern with `*` for a name fits a key or a table of keys.
pub(crate) fn some_fits(pattern: &str) -> bool {
    KEYS.iter().any(|key| {
        let mut known = key.name.split('.');
        pattern.split('.').all(|segment| {
            known.next().is_some_and(|known| {
                segment == "*" || segment == known || (known == "*" && !segment.is_empty())
            })
        })
    })
}

/// The key nearest to an unknown path: by spelling, or the same name in another table.
pub(crate) fn nearest(path: &[String]) -> Option<String> {
    let written = path.join(".");
    if written.len() > LONGEST_COMPARED {
        return None;
    }
    let last = path.last().map_or("", String::as_str);
    let (distance, best) = KEYS
        .iter()
        .flat_map(|key| spelled_like(key, path))
        .map(|candidate| {
            // The right name in the wrong table is one slip, however far the table is.
            let misplaced = candidate.rsplit('.').next() == Some(last);
            let distance = strsim::damerau_levenshtein(&folded(&written), &folded(&candidate));
            (if misplaced { distance.min(1) } else { distance }, candidate)
        })
        .min_by_key(|(distance, _)| *distance)?;
    (distance <= slips_allowed(&written)).then_some(best)
}

/// Capitals and `_` or `-` between words make no difference to what was meant.
fn folded(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// The name of a key and of the tables it lies in, with the user's own words where it has `*`.
fn spelled_like(key: &Key, path: &[String]) -> Vec<String> {
    let mut name = String::new();
    let mut names = Vec::new();
    for (index, segment) in key.name.split('.').enumerate() {
        let written = path.get(index).filter(|_| segment == "*").map_or(segment, String::as_str);
        if index > 0 {
            name.push('.');
        }
        name.push_str(written);
        if segment != "*" {
            names.push(name.clone());
        }
    }
    names
}

/// The one of some names that a word was probably meant to be.
pub(crate) fn nearest_name<'a>(word: &str, names: &'a [String]) -> Option<&'a str> {
    if word.len() > LONGEST_COMPARED {
        return None;
    }
    let distance = |name: &&String| strsim::damerau_levenshtein(word, name);
    let best = names.iter().min_by_key(distance)?;
    (distance(&best) <= slips_allowed(word)).then_some(best.as_str())
}

/// Longer words are no slips of the pen, and the distance takes quadratic time.
const LONGEST_COMPARED: usize = 100;

fn slips_allowed(word: &str) -> usize {
    (word.chars().count() / 3).clamp(1, 3)
}

/// `outputTokens` to `output_tokens`; leaves snake_case as it is.
pub(crate) fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 2);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// `output_tokens` to `outputTokens`.
pub(crate) fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut after_underscore = false;
    for c in name.chars() {
        match c {
            '_' => after_underscore = true,
            _ if after_underscore => {
                out.push(c.to_ascii_uppercase());
                after_underscore = false;
            }
            _ => out.push(c),
        }
    }
    out
}
