//! Commands typed as a prompt: `/stop`, `/mode plan`, `/reject too slow`.
//!
//! A client that can only send a prompt does everything with them. They are read here, so that each front end
//! knows the same ones; what they do is the front end's. Any other text that begins with `/` is plain text.

use ArgumentForm::{Nothing, Value, Words};
use ropewalk_protocol::{Mode, TeamOp};

/// A command that was typed as a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slash {
    /// Stops the running turn.
    Stop,
    /// Starts another session.
    New,
    /// Changes the mode; none asks for it.
    Mode(Option<Mode>),
    /// Changes the model, named `PROVIDER/NAME`; none asks for it.
    Model(Option<String>),
    /// Accepts all pending changes.
    Accept,
    /// Rejects all pending changes, perhaps with a reason for the model.
    Reject(Option<String>),
    /// Goes to the next pending change.
    Next,
    /// Takes back what was accepted last.
    Undo,
    /// Takes back this turn and all after it; none means the last one.
    Rewind(Option<u64>),
    /// Sums up the older part of the conversation, with this in view.
    Compact(Option<String>),
    /// Says how full the model's context is.
    Context,
    /// Says how things stand.
    Status,
    /// Shows the todos.
    Todos,
    /// Lists the tasks of the team's board, on this page or the first.
    Tasks(Option<u32>),
    /// Shows the team or does something about it.
    Team(TeamOp),
    /// Lists the messages of the team.
    Inbox,
    /// Lists the sessions of these folders.
    Sessions,
    /// Goes on with a session, by its number in the list or its id; none means the last one.
    Resume(Option<String>),
    /// Allows the call that has waited longest, once.
    Allow,
    /// Refuses it, perhaps with words for the model.
    Refuse(Option<String>),
    /// Lists these commands.
    Help,
}

/// Form of the words behind a command's name.
#[derive(Clone, Copy)]
enum ArgumentForm {
    /// There are none.
    Nothing(fn() -> Slash),
    /// They are one value, or none; anything else is no command.
    Value(fn(Option<&str>) -> Option<Slash>),
    /// They are text, or none.
    Words(fn(Option<String>) -> Slash),
}

/// A command of the table.
struct SlashCommand {
    name: &'static str,
    /// Words for what may follow the name; empty for nothing.
    takes: &'static str,
    /// Words for what it does.
    does: &'static str,
    form: ArgumentForm,
}

const fn command(
    name: &'static str,
    takes: &'static str,
    does: &'static str,
    form: ArgumentForm,
) -> SlashCommand {
    SlashCommand { name, takes, does, form }
}

/// Every command.
const TABLE: &[SlashCommand] = &[
    command("stop", "", "stops what is running", Nothing(|| Slash::Stop)),
    command("new", "", "begins another conversation", Nothing(|| Slash::New)),
    command("mode", "auto, review or plan", "says or changes the mode", Value(mode)),
    command("model", "PROVIDER/NAME", "says or changes the model", Value(model)),
    command("accept", "", "accepts all changes", Nothing(|| Slash::Accept)),
    command("reject", "why", "rejects all changes", Words(Slash::Reject)),
    command("next", "", "goes to the next change", Nothing(|| Slash::Next)),
    command("undo", "", "takes back what was accepted last", Nothing(|| Slash::Undo)),
    command(
        "rewind",
        "the number of a request",
        "takes back a request and its changes",
        Value(rewind),
    ),
    command(
        "compact",
        "what to keep in view",
        "sums up the older part of the conversation",
        Words(Slash::Compact),
    ),
    command("context", "", "says how full the model's context is", Nothing(|| Slash::Context)),
    command("status", "", "says how things stand", Nothing(|| Slash::Status)),
    command("todos", "", "shows the steps of the task", Nothing(|| Slash::Todos)),
    command("tasks", "a page", "lists the tasks of the team", Value(tasks)),
    command(
        "team",
        "stop NAME, approve NUMBER, refuse NUMBER or adopt TEAM",
        "shows the team, ends a teammate, answers a plan, or takes over a team",
        Value(team),
    ),
    command("inbox", "", "lists the messages of the team", Nothing(|| Slash::Inbox)),
    command("sessions", "", "lists the sessions of these folders", Nothing(|| Slash::Sessions)),
    command("resume", "a number of the list", "goes on with one of them", Value(resume)),
    command("allow", "", "allows what waits for your approval, once", Nothing(|| Slash::Allow)),
    command("refuse", "why", "refuses it", Words(Slash::Refuse)),
    command("help", "", "lists these", Nothing(|| Slash::Help)),
];

impl Slash {
    /// The command that a prompt is. None for plain text, such as `/etc/hosts is wrong`, or any text with a blank before
    /// the slash.
    ///
    /// # Errors
    /// In words for the user, when the name is one of these and what follows is not what it takes.
    pub fn read(prompt: &str) -> Option<Result<Slash, String>> {
        let typed = prompt.strip_prefix('/')?;
        let (name, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
        let SlashCommand { name, takes, form, .. } =
            TABLE.iter().find(|known| known.name == name)?;
        let rest = Some(rest.trim()).filter(|rest| !rest.is_empty());
        let wrong = |takes: &str| {
            format!(
                "/{name} takes {takes}. For the model, put a blank before it: “ {}”.",
                prompt.chars().take(40).collect::<String>().trim_end()
            )
        };
        Some(match (form, rest) {
            (Nothing(make), None) => Ok(make()),
            (Nothing(_), Some(_)) => Err(wrong("nothing more")),
            (Words(make), rest) => Ok(make(rest.map(str::to_owned))),
            (Value(read), rest) => read(rest).ok_or_else(|| wrong(takes)),
        })
    }

    /// All of them, one a line.
    pub fn help() -> String {
        let line = |SlashCommand { name, takes, does, .. }: &SlashCommand| match *takes {
            "" => format!("/{name}: {does}"),
            takes => format!("/{name} [{takes}]: {does}"),
        };
        TABLE.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// The names of all commands, each with words for what it does.
pub(crate) fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.iter().map(|command| (command.name, command.does))
}

fn mode(word: Option<&str>) -> Option<Slash> {
    let mode = word.map(|word| word.to_ascii_lowercase().parse::<Mode>());
    mode.transpose().ok().map(Slash::Mode)
}

fn model(word: Option<&str>) -> Option<Slash> {
    one_word(word).map(Slash::Model)
}

fn rewind(word: Option<&str>) -> Option<Slash> {
    word.map(str::parse::<u64>).transpose().ok().map(Slash::Rewind)
}

fn resume(word: Option<&str>) -> Option<Slash> {
    one_word(word).map(Slash::Resume)
}

fn tasks(word: Option<&str>) -> Option<Slash> {
    let page = word.map(str::parse::<u32>).transpose().ok()?;
    (page != Some(0)).then_some(Slash::Tasks(page))
}

fn team(words: Option<&str>) -> Option<Slash> {
    let Some(words) = words else { return Some(Slash::Team(TeamOp::Show)) };
    let (verb, rest) = words.split_once(char::is_whitespace)?;
    let (first, more) = match rest.trim().split_once(char::is_whitespace) {
        Some((first, more)) => (first, Some(more.trim().to_owned())),
        None => (rest.trim(), None),
    };
    let is_whole = more.is_none();
    let plan = |approve| Some(TeamOp::Plan { request: first.parse().ok()?, approve, words: more });
    let op = match verb {
        "stop" if is_whole => TeamOp::Stop(first.to_owned()),
        "adopt" if is_whole => TeamOp::Adopt(first.to_owned()),
        "approve" => plan(true)?,
        "refuse" => plan(false)?,
        _ => return None,
    };
    Some(Slash::Team(op))
}

/// None where there are several words.
fn one_word(word: Option<&str>) -> Option<Option<String>> {
    let is_one = word.is_none_or(|word| !word.contains(char::is_whitespace));
    is_one.then(|| word.map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_text() {
        let words = |text: &str| Some(text.to_owned());
        let plan = |request, approve, words| Slash::Team(TeamOp::Plan { request, approve, words });
        let read: &[(&str, Slash)] = &[
            ("/stop", Slash::Stop),
            ("/new\n", Slash::New),
            ("/mode", Slash::Mode(None)),
            ("/mode  Plan ", Slash::Mode(Some(Mode::Plan))),
            ("/model", Slash::Model(None)),
            ("/model a/b:c", Slash::Model(words("a/b:c"))),
            ("/accept", Slash::Accept),
            ("/reject", Slash::Reject(None)),
            ("/reject too slow,\nand ünïcode ", Slash::Reject(words("too slow,\nand ünïcode"))),
            ("/next", Slash::Next),
            ("/undo", Slash::Undo),
            ("/rewind", Slash::Rewind(None)),
            ("/rewind 3", Slash::Rewind(Some(3))),
            ("/compact", Slash::Compact(None)),
            ("/compact the tests", Slash::Compact(words("the tests"))),
            ("/context", Slash::Context),
            ("/status", Slash::Status),
            ("/todos", Slash::Todos),
            ("/tasks", Slash::Tasks(None)),
            ("/tasks 2", Slash::Tasks(Some(2))),
            ("/team", Slash::Team(TeamOp::Show)),
            ("/team stop alice", Slash::Team(TeamOp::Stop("alice".to_owned()))),
            ("/team  adopt  ship ", Slash::Team(TeamOp::Adopt("ship".to_owned()))),
            ("/team approve 7", plan(7, true, None)),
            (
                "/team refuse 7 not the API,\nthe tests",
                plan(7, false, words("not the API,\nthe tests")),
            ),
            ("/inbox", Slash::Inbox),
            ("/sessions", Slash::Sessions),
            ("/resume", Slash::Resume(None)),
            ("/resume 2", Slash::Resume(words("2"))),
            ("/allow", Slash::Allow),
            ("/refuse", Slash::Refuse(None)),
            ("/refuse\tuse make", Slash::Refuse(words("use make"))),
            ("/help", Slash::Help),
        ];
        for (text, slash) in read {
            assert_eq!(Slash::read(text), Some(Ok(slash.clone())), "{text}");
        }
        for SlashCommand { name, .. } in TABLE {
            let is_tried = |(text, _): &&(&str, Slash)| {
                text.split_whitespace().next() == Some(&format!("/{name}"))
            };
            assert!(read.iter().any(|row| is_tried(&row)), "/{name} is not tried here");
            assert!(Slash::help().contains(&format!("/{name}")));
        }
    }

    #[test]
    fn any_other_text_is_plain() {
        for text in [
            "/etc/hosts is wrong",
            "/",
            "/ stop",
            "//stop",
            " /stop",
            "\n/stop",
            "/stopp",
            "/stop! now",
            "/Stop",
            "/status.html is empty",
            "/mode/x",
            "stop",
            "",
            "/\u{0}",
            "/ünïcode 😀",
            "say /stop",
        ] {
            assert_eq!(Slash::read(text), None, "{text:?}");
        }
        assert_eq!(Slash::read(&format!("/{}", "x".repeat(1 << 20))), None);
    }

    #[test]
    fn nonsense_is_answered_with_what_is_possible() {
        for (text, words) in [
            ("/mode sideways", "/mode takes auto, review or plan."),
            ("/mode plan please", "/mode takes auto, review or plan."),
            ("/model two words", "/model takes PROVIDER/NAME."),
            ("/rewind -1", "/rewind takes the number of a request."),
            ("/rewind 99999999999999999999999", "/rewind takes the number of a request."),
            (
                "/stop the press",
                "/stop takes nothing more. For the model, put a blank before it: “ /stop the press”.",
            ),
            ("/tasks 0", "/tasks takes a page."),
            ("/team stop", "/team takes stop NAME, approve NUMBER, refuse NUMBER or adopt TEAM."),
            ("/team stop alice and bob", "/team takes stop NAME"),
            ("/team approve alice", "/team takes stop NAME"),
            ("/team dismiss alice", "/team takes stop NAME"),
            ("/inbox all", "/inbox takes nothing more."),
            ("/resume the old one", "/resume takes a number of the list."),
        ] {
            let said = Slash::read(text).unwrap().unwrap_err();
            assert!(said.starts_with(words), "{text}: {said}");
        }
    }
}
