//! Every key as data: name, kind, default, description, and what a project may do with it. It is
//! the only list of keys: lookups, suggestions and the table of CONFIGURATION.md come from it. What setting a
//! key does is in `resolve`.

use crate::rules::RuleList;
use crate::value::MAX_DEPTH;
use crate::{CommandBounds, DEFAULT_LOG, MOST_TEAMMATES, ModelFacts, SessionRetention, TeamBounds};
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
    /// Rule for a `.ropewalk/config.toml`.
    pub project: ProjectRule,
    pub(crate) kind: KeyType,
}

/// Rule for a key in the configuration of a project.
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

/// Type of a key's value, and the field it goes to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KeyType {
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
    Keep { least: u32, most: u32, field: fn(&mut SessionRetention) -> &mut u32 },
    OverFork,
    CommandBound { least: u32, most: u32, field: fn(&mut CommandBounds) -> &mut u32 },
    Variables,
    Team,
    TeamBound { least: u32, most: u32, field: fn(&mut TeamBounds) -> &mut u32 },
    Board,
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

const LEAN: KeyType =
    KeyType::Fact { field: |facts| &mut facts.lean, unset: "below 16384 tokens of context" };

const IMAGES: KeyType = KeyType::Fact {
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
    Key { name, description, project, kind: KeyType::Limit { least, most, field } }
}

/// A bound on the sessions that are kept, which a project has no say in.
const fn keep(
    name: &'static str,
    description: &'static str,
    (least, most): (u32, u32),
    field: fn(&mut SessionRetention) -> &mut u32,
) -> Key {
    let project = ProjectRule::Ignored;
    Key { name, description, project, kind: KeyType::Keep { least, most, field } }
}

/// A bound on commands, which is about the machine.
const fn command(
    name: &'static str,
    description: &'static str,
    (least, most): (u32, u32),
    field: fn(&mut CommandBounds) -> &mut u32,
) -> Key {
    let project = ProjectRule::Ignored;
    Key { name, description, project, kind: KeyType::CommandBound { least, most, field } }
}

/// A bound on teams.
const fn team(
    name: &'static str,
    description: &'static str,
    project: ProjectRule,
    (least, most): (u32, u32),
    field: fn(&mut TeamBounds) -> &mut u32,
) -> Key {
    Key { name, description, project, kind: KeyType::TeamBound { least, most, field } }
}

const MAY_LOWER: ProjectRule = ProjectRule::Stricter("lower it");

/// A key of the user's own, which a project has no say in.
const fn theirs(name: &'static str, kind: KeyType, description: &'static str) -> Key {
    Key { name, description, project: ProjectRule::Ignored, kind }
}

/// A key that the user sets.
const fn own(name: &'static str, kind: KeyType, description: &'static str) -> Key {
    Key { name, description, project: ProjectRule::Never, kind }
}

/// All keys, in the order in which they are documented.
pub const KEYS: &[Key] = &[
    own("model", KeyType::Model, "The model to use, as `PROVIDER/NAME`."),
    Key {
        name: "mode",
        description: "When changes reach the editor: `auto` after each tool call, `review` when you accept them, `plan` never.",
        project: ProjectRule::Stricter("make it stricter"),
        kind: KeyType::Mode,
    },
    Key {
        name: "tools",
        description: "The tools offered to the model.",
        project: ProjectRule::Stricter("leave tools out"),
        kind: KeyType::Tools,
    },
    Key {
        name: "mechanisms.*",
        description: "Switches one mechanism of the agent on or off, by its name.",
        project: ProjectRule::Stricter("switch it off"),
        kind: KeyType::Mechanism,
    },
    own(
        "allow",
        KeyType::Rules(RuleList::Allow),
        "Rules of calls that need no approval, such as `bash(git status *)`.",
    ),
    Key {
        name: "ask",
        description: "Rules of calls that need one, whatever `allow` says.",
        project: ProjectRule::Stricter("add to it"),
        kind: KeyType::Rules(RuleList::Ask),
    },
    Key {
        name: "deny",
        description: "Rules of calls that are refused, whatever `allow` and `ask` say.",
        project: ProjectRule::Stricter("add to it"),
        kind: KeyType::Rules(RuleList::Deny),
    },
    own(
        "system_prompt_file",
        KeyType::PromptFile,
        "A file that replaces the system prompt; relative to the file that names it, or under `~/`.",
    ),
    own(
        "system_prompt_append",
        KeyType::PromptAppend,
        "Text added at the end of the system prompt.",
    ),
    theirs(
        "ca_file",
        KeyType::CaFile,
        "A PEM file of certificates that are trusted besides the system's, of authorities or of a server itself, in place of the one that `SSL_CERT_FILE` names; a path as above. Not taken from a project or an editor's settings.",
    ),
    own(
        "log",
        KeyType::Log,
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
        "The budget of one turn in tokens, those read from a cache included: used up, the turn stops, and you may go on.",
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
        "How often in one turn the model is sent back to fix what the check found.",
        (0, 10),
        |l| &mut l.mechanisms.check_rounds,
    ),
    own(
        "check.self",
        KeyType::SelfCheck,
        "Whether the model is asked once if all is done, before a turn ends in which it called a tool.",
    ),
    own(
        "verify",
        KeyType::Verify,
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
        kind: KeyType::OverFork,
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
        kind: KeyType::Variables,
    },
    Key {
        name: "team.enabled",
        description: "Whether a session may have a team: teammates, and a board of tasks that they share.",
        project: ProjectRule::Stricter("switch it off"),
        kind: KeyType::Team,
    },
    theirs(
        "team.board",
        KeyType::Board,
        "Where the board lies: a file, made if there is none, or a database of PostgreSQL. The variable `ROPEWALK_BOARD` counts in its place. Not taken from a project or an editor's settings; its password is never shown, and given to no command.",
    ),
    team(
        "team.teammates",
        "Teammates of a session at a time.",
        MAY_LOWER,
        (1, MOST_TEAMMATES),
        |t| &mut t.teammates,
    ),
    team(
        "team.lease",
        "Seconds for which a claimed task stays claimed without a sign of life; the claim is renewed each quarter of them.",
        ProjectRule::Ignored,
        (8, 3_600),
        |t| &mut t.lease,
    ),
    team(
        "team.poll",
        "Seconds between two looks at the board of a member that waits for work.",
        ProjectRule::Ignored,
        (1, 300),
        |t| &mut t.poll,
    ),
    team(
        "team.idle",
        "Seconds without work until a teammate ends.",
        ProjectRule::Ignored,
        (5, 86_400),
        |t| &mut t.idle,
    ),
    team(
        "team.attempts",
        "Failures of one task until it counts as failed and you are told.",
        MAY_LOWER,
        (1, 20),
        |t| &mut t.attempts,
    ),
    team(
        "team.wake",
        "Turns in a row that the team may start in your session without a request of yours; 0 is none.",
        MAY_LOWER,
        (0, 1_000),
        |t| &mut t.wake,
    ),
    team(
        "team.tokens",
        "The budget of all members together in tokens, those read from a cache included.",
        MAY_LOWER,
        (1_000, SessionLimits::NO_TOKENS),
        |t| &mut t.tokens,
    ),
    team(
        "team.cents",
        "The budget of all members together in US cents, where the models' prices are known.",
        MAY_LOWER,
        (1, SessionLimits::NO_CENTS),
        |t| &mut t.cents,
    ),
    own(
        "provider.*.protocol",
        KeyType::Protocol,
        "The wire protocol of the provider, such as `anthropic`.",
    ),
    own(
        "provider.*.base_url",
        KeyType::BaseUrl,
        "Where the provider is reached, without the path of a call.",
    ),
    own(
        "provider.*.api_key_env",
        KeyType::KeyVariable,
        "The name of the environment variable that holds the key.",
    ),
    theirs(
        "provider.*.api_key_command",
        KeyType::KeyCommand,
        "What prints the key, such as `[\"pass\", \"show\", \"openai\"]`: a program and its arguments, or a line for `sh`; run once, when the variable is not set and a model is first used. Not taken from a project or an editor's settings.",
    ),
    theirs("provider.*.headers.*", KeyType::Header, "A header of every request to the provider."),
    theirs(
        "provider.*.context",
        KeyType::Tokens { field: |facts| &mut facts.context },
        "Tokens that its models take, prompt and reply together.",
    ),
    theirs(
        "provider.*.output",
        KeyType::Tokens { field: |facts| &mut facts.output },
        "Tokens of the longest reply of its models.",
    ),
    theirs(
        "provider.*.price",
        KeyType::Price,
        "What a million tokens of its models cost in US dollars: input, output, and if they differ from input, cache reads and cache writes.",
    ),
    theirs(
        "provider.*.printed_calls",
        KeyType::PrintedCalls,
        "Whether a tool call that a model prints as text is run. Small local models may need it.",
    ),
    theirs(
        "provider.*.lean",
        LEAN,
        "Whether a model gets only `bash`, `read_file`, `write_file`, `edit_file` and a short system prompt, 4 KB in all.",
    ),
    theirs(
        "provider.*.images",
        IMAGES,
        "Whether a model is sent images; else it is told in words that there was one.",
    ),
    theirs(
        "provider.*.thinking",
        KeyType::Thinking,
        "How much a model is asked to think before it answers, where its server has a word for that (`ropewalk doctor` says where not); it costs output tokens beyond `limits.output_tokens`.",
    ),
    theirs(
        "provider.*.parallel",
        KeyType::Parallel,
        "Requests that its server gets at a time; others wait for their turn, visibly.",
    ),
    theirs(
        "provider.*.models.*.context",
        KeyType::Tokens { field: |facts| &mut facts.context },
        "As above, of one model.",
    ),
    theirs(
        "provider.*.models.*.output",
        KeyType::Tokens { field: |facts| &mut facts.output },
        "As above, of one model.",
    ),
    theirs("provider.*.models.*.price", KeyType::Price, "As above, of one model."),
    theirs("provider.*.models.*.lean", LEAN, "As above, of one model."),
    theirs("provider.*.models.*.images", IMAGES, "As above, of one model."),
    theirs("provider.*.models.*.thinking", KeyType::Thinking, "As above, of one model."),
    Key {
        name: "locked",
        description: "In `/etc/ropewalk/config.toml` only: keys that keep the value they have there, or their default, such as `mode`, `limits` or `provider.*.base_url`.",
        project: ProjectRule::Ignored,
        kind: KeyType::Locked,
    },
];

impl Key {
    /// The accepted type, for a table and for the sentence about a wrong type.
    #[must_use]
    pub fn takes(&self) -> String {
        match self.kind {
            KeyType::Model => "text of the form `PROVIDER/NAME`".to_owned(),
            KeyType::Mode => {
                let names: Vec<_> = Mode::ALL.iter().map(|m| format!("`{}`", m.as_str())).collect();
                format!("one of {}", names.join(", "))
            }
            KeyType::OverFork => {
                let names: Vec<_> =
                    OverFork::ALL.iter().map(|o| format!("`{}`", o.as_str())).collect();
                format!("one of {}", names.join(", "))
            }
            KeyType::Thinking => {
                let names: Vec<_> =
                    Thinking::ALL.iter().map(|t| format!("`{}`", t.as_str())).collect();
                format!("one of {}", names.join(", "))
            }
            KeyType::Tools | KeyType::Variables => "a list of names".to_owned(),
            KeyType::Rules(_) => "a list of rules".to_owned(),
            KeyType::Mechanism | KeyType::SelfCheck | KeyType::Team | KeyType::Fact { .. } => "`true` or `false`".to_owned(),
            KeyType::Verify => "text in one line".to_owned(),
            KeyType::Locked => "a list of keys".to_owned(),
            KeyType::PromptFile | KeyType::CaFile => "a path".to_owned(),
            KeyType::Board => "a path, or a URL that begins with `postgres://`".to_owned(),
            KeyType::PromptAppend | KeyType::Log => "text".to_owned(),
            KeyType::Limit { least, most, .. }
            | KeyType::Keep { least, most, .. }
            | KeyType::CommandBound { least, most, .. }
            | KeyType::TeamBound { least, most, .. } => {
                format!("a whole number from {least} to {most}")
            }
            KeyType::Protocol => "the name of a protocol".to_owned(),
            KeyType::BaseUrl => {
                "a URL with `http://` or `https://` and without user, password, query or fragment"
                    .to_owned()
            }
            KeyType::KeyCommand => {
                "text, or a list of texts: a program and its arguments".to_owned()
            }
            KeyType::Header => "text without line breaks".to_owned(),
            KeyType::Tokens { .. } => format!("a whole number from {} to {}", TOKENS.0, TOKENS.1),
            KeyType::PrintedCalls => "`true` or `false`".to_owned(),
            KeyType::Parallel => format!("a whole number from {} to {}", PARALLEL.0, PARALLEL.1),
            KeyType::Price => "a list of 2 to 4 numbers from 0 to 100000".to_owned(),
            KeyType::KeyVariable => {
                "the name of an environment variable in capitals, such as `ANTHROPIC_API_KEY`, never the key itself"
                    .to_owned()
            }
        }
    }

    /// Its default.
    #[must_use]
    pub fn default_value(&self) -> KeyDefault {
        match self.kind {
            KeyType::Model => KeyDefault::Unset("by the keys in the environment"),
            KeyType::Mode => KeyDefault::Value(format!("\"{}\"", Mode::default().as_str())),
            KeyType::Tools => KeyDefault::Unset("all tools"),
            KeyType::Mechanism => KeyDefault::Value("true".to_owned()),
            KeyType::PrintedCalls | KeyType::SelfCheck | KeyType::Team => {
                KeyDefault::Value("false".to_owned())
            }
            KeyType::Parallel => KeyDefault::Unset("1 on this machine, elsewhere no limit"),
            KeyType::OverFork => KeyDefault::Value(format!("\"{}\"", OverFork::default().as_str())),
            KeyType::CommandBound { field, .. } => {
                let mut bounds = CommandBounds::DEFAULT;
                match *field(&mut bounds) {
                    0 => KeyDefault::Unset("by the machine's memory"),
                    number => KeyDefault::Value(number.to_string()),
                }
            }
            KeyType::TeamBound { field, .. } => {
                let mut bounds = TeamBounds::DEFAULT;
                match *field(&mut bounds) {
                    SessionLimits::NO_TOKENS => KeyDefault::Unset("no budget"),
                    number => KeyDefault::Value(number.to_string()),
                }
            }
            KeyType::Board => {
                KeyDefault::Unset("a file in the state folder for each set of folders")
            }
            KeyType::Rules(_) | KeyType::Locked | KeyType::Variables => {
                KeyDefault::Value("[]".to_owned())
            }
            KeyType::Log => KeyDefault::Value(format!("\"{DEFAULT_LOG}\"")),
            KeyType::Limit { field, .. } => {
                let mut limits = SessionLimits::DEFAULT;
                match *field(&mut limits) {
                    SessionLimits::OWN_OUTPUT => {
                        KeyDefault::Unset("the model's own maximum, 32000 where it is not known")
                    }
                    SessionLimits::NO_TOKENS => KeyDefault::Unset("no budget"),
                    number => KeyDefault::Value(number.to_string()),
                }
            }
            KeyType::Keep { field, .. } => {
                let mut keep = SessionRetention::DEFAULT;
                KeyDefault::Value(field(&mut keep).to_string())
            }
            KeyType::Protocol | KeyType::BaseUrl | KeyType::KeyVariable => {
                KeyDefault::Unset("set for the built-in providers")
            }
            KeyType::Tokens { .. } | KeyType::Price => KeyDefault::Unset("known for some models"),
            KeyType::Thinking => KeyDefault::Unset("`off`: nothing is asked for"),
            KeyType::Fact { unset, .. } => KeyDefault::Unset(unset),
            KeyType::CaFile
            | KeyType::Verify
            | KeyType::PromptFile
            | KeyType::PromptAppend
            | KeyType::KeyCommand
            | KeyType::Header => KeyDefault::Unset("none"),
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
        matches!(self.kind, KeyType::Rules(_))
    }

    /// Why no editor may set it, if none may: what an editor says may come from a repository's own settings.
    pub(crate) fn not_for_editors(&self) -> Option<&'static str> {
        match self.kind {
            KeyType::KeyCommand | KeyType::Verify => Some("it starts a program"),
            KeyType::CaFile => Some("it says whom to trust"),
            KeyType::Board => Some("it says where your work goes"),
            KeyType::Variables => Some("it gives away what you keep there"),
            _ => None,
        }
    }

    /// True if only the system's file sets it.
    pub(crate) fn locks_keys(&self) -> bool {
        matches!(self.kind, KeyType::Locked)
    }

    /// True if the value is text, so that a flag's value needs no quotes whatever it looks like.
    pub(crate) fn is_text(&self) -> bool {
        !matches!(
            self.kind,
            KeyType::Tools
                | KeyType::Rules(_)
                | KeyType::Mechanism
                | KeyType::SelfCheck
                | KeyType::Locked
                | KeyType::KeyCommand
                | KeyType::Tokens { .. }
                | KeyType::Price
                | KeyType::PrintedCalls
                | KeyType::Fact { .. }
                | KeyType::Parallel
                | KeyType::Variables
                | KeyType::CommandBound { .. }
                | KeyType::Team
                | KeyType::TeamBound { .. }
                | KeyType::Limit { .. }
                | KeyType::Keep { .. }
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
            // A deeper key is unknown anyway.
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

pub(crate) enum KeyPath {
    Key(&'static Key),
    /// A table that holds keys.
    Table,
    Unknown,
}

/// Looks a path up, one segment after the other.
pub(crate) fn find(path: &[String]) -> KeyPath {
    for key in KEYS {
        let mut pattern = key.name.split('.');
        let matches = path
            .iter()
            .all(|segment| pattern.next().is_some_and(|wanted| wanted == "*" || wanted == segment));
        if matches {
            return if pattern.next().is_none() { KeyPath::Key(key) } else { KeyPath::Table };
        }
    }
    KeyPath::Unknown
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
