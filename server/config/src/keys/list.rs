//! The list of all keys.

use super::constructors::{IMAGES, LEAN, MAY_LOWER, command, keep, limit, own, team, theirs};
use super::{Key, KeyType, ProjectRule};
use crate::MOST_TEAMMATES;
use crate::rules::RuleList;
use ropewalk_protocol::SessionLimits;

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
        "What prints the key, such as `[\"pass\", \"show\", \"openai\"]`: a program and its arguments, or a line for `sh`; run when the variable is not set and a model is first used, and again when the server refuses the key. A JSON object with `access_token`, `token` or `key`, and with `expires_in` or `expires_on`, is asked for anew before it ends. Not taken from a project or an editor's settings.",
    ),
    theirs("provider.*.headers.*", KeyType::Header, "A header of every request to the provider."),
    theirs(
        "provider.*.query.*",
        KeyType::Query,
        "A part of the query of every request, such as `api-version`.",
    ),
    theirs(
        "provider.*.body.*",
        KeyType::Body,
        "A member of every request to a model, in place of Ropewalk's own of that name; those that carry the conversation and the tools stay.",
    ),
    theirs(
        "provider.*.url_exact",
        KeyType::Switch { field: |provider| &mut provider.url_exact },
        "Whether requests go to `base_url` as it is, without a version and the protocol's path behind it. A URL that ends in the protocol's path, as `/chat/completions`, is taken as it is in any case.",
    ),
    theirs(
        "provider.*.cache",
        KeyType::Cache,
        "How long prompts stay in the server's cache, where it takes a word for that, as Anthropic and OpenRouter do for Claude; writing for an hour costs more.",
    ),
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
        KeyType::Switch { field: |provider| &mut provider.printed_calls },
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
