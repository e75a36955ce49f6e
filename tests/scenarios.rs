//! Plays every page of `tests/scenarios`, each as a test named after its file: the real binary over pipes, with a fake
//! editor and a scripted model, over every protocol. The events and the requests must be the same over all of them.
//! Every request is held against the types of the official SDKs, every event against `editors/protocol.json`.
//! `cargo test --test scenarios NAME` plays those with NAME in their name. What a page can say is
//! described in `tests/scenarios/README.md`.
//!
//! Pages that lie are played too, and must fail: a player that lets everything pass would be worth
//! nothing.

#![expect(clippy::expect_used, reason = "tests and their helpers may be blunt")]

#[path = "support/schema.rs"]
mod schema;

use libtest_mimic::{Arguments, Failed, Trial};
use ropewalk_model::Protocol;
use ropewalk_testkit::scenario::{ClientStyle, PageAccount, Scenario};
use std::any::Any;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Pages that are not true, and a part of the words that say so.
const LIES: &[(&str, &str, &str)] = &[
    (
        "a_wrong_stop_reason",
        "prompt Hello\nmodel\n  says Hi\nend max_steps\nmessage Hi\n",
        "ends with end_turn",
    ),
    ("a_turn_nobody_waits_for", "prompt Hello\nmodel\n  says Hi\nmessage Hi\n", "0 ends of turns"),
    (
        "a_message_nobody_reads",
        "prompt Hello\nmodel\n  says Hi there\nend end_turn\n",
        "does not speak of this message:\nHi there",
    ),
    (
        "a_reply_nobody_asks_for",
        "prompt Hello\nmodel\n  says Hi\nend end_turn\nmessage Hi\nmodel\n  says More\n",
        "should not say \"The page has ended",
    ),
    (
        "words_the_model_is_not_told",
        "prompt Hello\nmodel\n  sees Goodbye\n  says Hi\nend end_turn\nmessage Hi\n",
        "should say \"Goodbye\"",
    ),
    (
        "words_the_model_is_told",
        "prompt Hello\nmodel\n  lacks Hello\n  says Hi\nend end_turn\nmessage Hi\n",
        "should not say \"Hello\"",
    ),
    (
        "words_that_no_part_of_a_request_has",
        "prompt Hello\nmodel\n  holds Goodbye\n  says Hi\nend end_turn\nmessage Hi\n",
        "no part of the request says \"Goodbye\"",
    ),
    (
        "words_that_stand_in_the_system_prompt",
        "prompt Hello\nmodel\n  nowhere coding agent\n  says Hi\nend end_turn\nmessage Hi\n",
        "nothing should say \"coding agent\", but system does",
    ),
    (
        "a_reply_for_a_subagent_that_there_is_not",
        "prompt Hello\nmodel\n  of Look around\n  says Hi\nend end_turn\nmessage Hi\n",
        "was never asked for",
    ),
    (
        "tools_that_are_not_offered",
        "prompt Hello\nmodel\n  offered bash\n  says Hi\nend end_turn\nmessage Hi\n",
        "should offer [\"bash\"]",
    ),
    ("a_wrong_disk", "file a.txt\n  | one\ndisk a.txt\n  | two\n", "a.txt should be"),
    ("a_missing_file", "disk a.txt\n  | one\n", "(no file)"),
    ("a_command_that_fails", "run dance\nrun mode\n", "the command above failed"),
    ("an_answer_of_a_command", "run mode\ngives {\"mode\": \"auto\"}\n", "should give"),
    (
        "a_hunk_that_is_not_there",
        "run accept {\"hunk\": \"a.txt:1\"}\n",
        "no pending hunk stands at",
    ),
];

fn main() -> ExitCode {
    // Panics are reported with the test.
    std::panic::set_hook(Box::new(|_| {}));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let entries = std::fs::read_dir(&folder).expect("tests/scenarios is there");
    let mut pages: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    pages.sort();
    assert!(!pages.is_empty(), "{} has no pages", folder.display());
    let pages = pages.into_iter().map(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Trial::test(name, move || Page { path }.holds())
    });
    let lies = LIES.iter().map(|(name, steps, words)| {
        Trial::test(format!("a_lie_about_{name}"), || is_found_out(steps, words))
    });
    libtest_mimic::run(&Arguments::from_args(), pages.chain(lies).collect()).exit_code()
}

/// A page.
struct Page {
    path: PathBuf,
}

impl Page {
    /// Plays the page over each protocol, and with our plugin where it names one. Its events and requests must be
    /// the same each time. A page with a team is not compared: its members take turns in any order.
    fn holds(&self) -> Result<(), Failed> {
        let stock = Protocol::ALL.iter().map(|protocol| (*protocol, ClientStyle::Stock));
        let plugin = (Protocol::Anthropic, ClientStyle::Plugin);
        let ways = stock.chain(self.has(Scenario::has_plugin).then_some(plugin));
        let mut faults = Vec::new();
        let mut first: Option<PageAccount> = None;
        let is_compared = !self.has(Scenario::has_team);
        for (protocol, client) in ways {
            let fault = match (self.play(protocol, client), &first) {
                (Err(fault), _) => Some(fault),
                (Ok(told), Some(first)) if is_compared => first.difference(&told),
                (Ok(told), _) => {
                    first.get_or_insert(told);
                    None
                }
            };
            if let Some(fault) = fault {
                let name = protocol.name();
                faults.push(match client {
                    ClientStyle::Stock => format!("over {name}: {fault}"),
                    ClientStyle::Plugin => format!("over {name} with our plugin: {fault}"),
                });
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
    }

    fn play(&self, protocol: Protocol, client: ClientStyle) -> Result<PageAccount, String> {
        let relative = self.path.strip_prefix(env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&self.path).map_err(|error| error.to_string())?;
        catch_unwind(|| play(relative.unwrap_or(&self.path), &text, (protocol, client)))
            .unwrap_or_else(|panic| Err(words(&*panic)))
    }

    /// True if this holds for the page. One that can't be read fails when it is played.
    fn has(&self, property: impl Fn(&Scenario) -> bool) -> bool {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        Scenario::parse(&self.path, &text).is_ok_and(|page| property(&page))
    }
}

fn play(
    file: &Path,
    text: &str,
    (protocol, client): (Protocol, ClientStyle),
) -> Result<PageAccount, String> {
    let page = Scenario::parse(file, text).map_err(|fault| fault.to_string())?;
    let told = page.play(Path::new(env!("CARGO_BIN_EXE_ropewalk")), protocol, client);
    for (number, body) in told.bodies().iter().enumerate() {
        if let Some(fault) = schema::faults(protocol, body).first() {
            return Err(format!("request {number} is not of the official type: {fault}"));
        }
    }
    for event in told.events() {
        if let Some(fault) = schema::event_faults(event).first() {
            return Err(format!("an event is not of its type: {fault}: {event}"));
        }
    }
    Ok(told)
}

/// Words of a panic.
fn words(panic: &(dyn Any + Send)) -> String {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    let words = owned.or_else(|| panic.downcast_ref::<&str>().copied());
    words.unwrap_or("it panicked without words").to_owned()
}

fn is_found_out(steps: &str, wanted: &str) -> Result<(), Failed> {
    let text = format!("A lie.\n---\n{steps}");
    let Err(panic) =
        catch_unwind(|| play(Path::new("lie"), &text, (Protocol::Anthropic, ClientStyle::Stock)))
    else {
        return Err("the player believes it".into());
    };
    let said = words(&*panic);
    if said.starts_with("lie:") && said.contains(wanted) {
        return Ok(());
    }
    Err(format!("should say {wanted:?}, but says {said:?}").into())
}
