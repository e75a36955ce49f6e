//! Trust in folders: the questions that a repository's configuration raises, asked once, and their answers.
//!
//! What an answer is to, and where it is remembered, is the configuration's. A question waits without a bound and
//! takes no keys; closing it answers nothing.

use crate::commands::{invalid, read};
use crate::sessions::{blocking, shortened};
use crate::show::{tell, tell_problems};
use crate::state::{State, lock};
use futures::future::BoxFuture;
use ropewalk_config::trust::{Answer, forget, remember};
use ropewalk_config::{Config, Untrusted};
use ropewalk_protocol::Event;
use ropewalk_text::plain::plain;
use ropewalk_workspace::DocId;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{MessageActionItem, MessageType};

/// The most characters of a question. What asks for more than that is better read in the file.
const MOST_ASKED: usize = 2_000;

/// The buttons, the refusal first.
const BUTTONS: [(&str, Answer); 2] = [("Don't trust", Answer::Never), ("Trust", Answer::Trust)];

/// What is to be asked, and what was.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    /// What the configuration in force asks for.
    waiting: Vec<Untrusted>,
    /// What was asked about: the folder, and the hash of what it asks for.
    asked: BTreeSet<(PathBuf, String)>,
}

impl Questions {
    /// Those that wait and were asked: nothing else can be answered, for nobody has seen it.
    fn open(&self) -> impl Iterator<Item = &Untrusted> {
        self.waiting.iter().filter(|asks| self.asked.contains(&key(asks)))
    }
}

/// What is asked about.
fn key(question: &Untrusted) -> (PathBuf, String) {
    (question.root.clone(), question.hash.clone())
}

/// Takes the questions out of a configuration, and with them the problems that say the same.
pub(crate) fn take_questions(config: &mut Config, questions: &mut Questions) {
    questions.waiting = std::mem::take(&mut config.untrusted);
    let says_the_same = |file: Option<&PathBuf>, sentence: &str| {
        sentence.contains("unless you trust that folder")
            && questions.waiting.iter().any(|asks| Some(&asks.file) == file)
    };
    config
        .problems
        .retain(|problem| !says_the_same(problem.source.file.as_ref(), &problem.sentence));
}

impl State {
    /// The questions that wait for an answer and are not asked in a dialog or by a plugin.
    pub(crate) fn open_questions(&self) -> Vec<Untrusted> {
        if !self.asks_by_message() {
            return Vec::new();
        }
        lock(&self.questions).open().cloned().collect()
    }

    /// True if trust is asked for by messages.
    pub(crate) fn asks_by_message(&self) -> bool {
        !self.habits().safe_dialogs && !self.asks_by_event()
    }

    /// Whether the client's plugin shows questions its own way.
    fn asks_by_event(&self) -> bool {
        let options = self.facts().options;
        options.events && options.approvals
    }
}

/// What was not asked yet, which is from now on.
fn take_new(state: &State) -> Vec<Untrusted> {
    let Questions { waiting, asked } = &mut *lock(&state.questions);
    let is_new = |asks: &&Untrusted| asked.insert(key(asks));
    waiting.iter().filter(is_new).cloned().collect()
}

/// Takes what was not asked yet as messages, for a client that is asked by them.
pub(crate) fn take_messages(state: &State) -> Vec<String> {
    take_new(state).iter().map(in_message).collect()
}

/// Asks what was not asked yet. It waits for nobody.
pub(crate) fn ask(state: &Arc<State>) {
    for question in take_new(state) {
        let state = state.clone();
        tokio::spawn(async move {
            if state.asks_by_event() {
                crate::show::send_event(&state, event_of(&state, &question)).await;
            } else if state.habits().safe_dialogs {
                ask_in_dialog(&state, question).await;
            } else {
                ask_in_message(&state, &question);
            }
        });
    }
}

fn event_of(state: &State, question: &Untrusted) -> Event {
    Event::TrustRequested {
        root: question.root.to_string_lossy().into_owned(),
        file: state.workspace.spelling(&DocId::from_path(&question.file)),
        enables: question.enables.clone(),
        hash: question.hash.clone(),
        question: question.question(),
    }
}

/// The question, cut where nobody reads on.
fn words(question: &Untrusted) -> String {
    let whole = question.question();
    if whole.chars().nth(MOST_ASKED).is_none() {
        return whole;
    }
    format!(
        "{} This is not all it asks for: read {} before you answer.",
        shortened(&whole, MOST_ASKED),
        question.file.display()
    )
}

fn in_message(question: &Untrusted) -> String {
    format!("Trust this folder's configuration? By code action.\n{}", words(question))
}

fn ask_in_message(state: &Arc<State>, question: &Untrusted) {
    tell(state, MessageType::WARNING, in_message(question));
}

async fn ask_in_dialog(state: &Arc<State>, question: Untrusted) {
    let items = BUTTONS.map(|(title, _)| MessageActionItem {
        title: title.to_owned(),
        properties: Default::default(),
    });
    let asked = state.client.show_message_request(
        MessageType::WARNING,
        plain(&words(&question)),
        Some(items.into()),
    );
    let chosen = match asked.await {
        Ok(Some(chosen)) => chosen,
        Ok(None) => return,
        Err(error) => {
            tracing::info!(%error, "the client asks no questions");
            return ask_in_message(state, &question);
        }
    };
    let answer =
        BUTTONS.iter().find(|(title, _)| *title == chosen.title).map(|(_, answer)| *answer);
    if let Some(answer) = answer
        && let Err(words) = take_answer(state, question, answer).await
    {
        tell(state, MessageType::ERROR, words);
    }
}

/// Remembers an answer, and has it count at once.
async fn take_answer(
    state: &Arc<State>,
    question: Untrusted,
    answer: Answer,
) -> std::result::Result<(), String> {
    let worker = state.clone();
    let problems = blocking(move || {
        remember(&*worker.options.environment, &question.root, &question.hash, answer)
            .map_err(|error| format!("The answer can't be remembered: {error}"))?;
        Ok::<_, String>(worker.configure())
    });
    tell_problems(state, problems.await??);
    ask(state);
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    root: Option<String>,
    answer: Option<String>,
    hash: Option<String>,
}

/// `ropewalk.trust`.
pub(crate) fn command(state: Arc<State>, argument: Value) -> BoxFuture<'static, Result<Value>> {
    Box::pin(async move {
        let wanted = "{ answer: trust, never or forget, root?, hash? }";
        let Given { root, answer, hash } = read(argument, "answer", wanted)?;
        let answer = match answer.as_deref() {
            Some("trust") => Some(Answer::Trust),
            Some("never") => Some(Answer::Never),
            Some("forget") => None,
            other => {
                let given = other.map_or_else(
                    || "no answer was given".to_owned(),
                    |other| format!("{:?} is no answer", shortened(other, 60)),
                );
                return Err(invalid(format!("{given}; wanted is {wanted}")));
            }
        };
        let root = root.map(|root| folder(&root)).transpose().map_err(invalid)?;
        match answer {
            Some(answer) => {
                let question = find(&state, root.as_deref(), hash.as_deref()).map_err(invalid)?;
                let said = question.root.to_string_lossy().into_owned();
                take_answer(&state, question, answer).await.map_err(invalid)?;
                Ok(json!({ "root": said }))
            }
            None => forget_answers(&state, root).await.map_err(invalid),
        }
    })
}

/// A folder as it is remembered: links resolved.
fn folder(given: &str) -> std::result::Result<PathBuf, String> {
    let path =
        if given.starts_with("file:") { DocId::from_uri(given).path() } else { Some(given.into()) };
    let path = path.filter(|path| path.is_absolute());
    let path =
        path.ok_or_else(|| format!("{:?} is no whole path of a folder", shortened(given, 200)))?;
    Ok(path.canonicalize().unwrap_or(path))
}

/// The question that is answered.
fn find(
    state: &State,
    root: Option<&Path>,
    hash: Option<&str>,
) -> std::result::Result<Untrusted, String> {
    let open: Vec<Untrusted> = lock(&state.questions).open().cloned().collect();
    let mut meant = open.into_iter().filter(|asks| root.is_none_or(|root| asks.root == *root));
    let of = root.map(|root| format!(" of {}", root.display())).unwrap_or_default();
    let Some(first) = meant.next() else {
        return Err(format!(
            "No question{of} waits for an answer; with {{ answer: \"forget\" }} you are asked again"
        ));
    };
    if let Some(second) = meant.next() {
        let (first, second) = (first.root.display(), second.root.display());
        return Err(format!("Say which folder is meant by its root: {first} or {second}"));
    }
    if hash.is_some_and(|hash| hash != first.hash) {
        return Err(format!(
            "The configuration{of} asks for something else by now, and you are asked anew"
        ));
    }
    Ok(first)
}

async fn forget_answers(
    state: &Arc<State>,
    root: Option<PathBuf>,
) -> std::result::Result<Value, String> {
    let roots = match root {
        Some(root) => vec![root],
        None => state.workspace.roots().iter().map(|root| root.path().to_owned()).collect(),
    };
    let worker = state.clone();
    let done = blocking(move || {
        let mut forgotten = 0;
        for root in &roots {
            forgotten += forget(&*worker.options.environment, root)
                .map_err(|error| format!("The answers can't be forgotten: {error}"))?;
            lock(&worker.questions).asked.retain(|(asked, _)| asked != root);
        }
        Ok::<_, String>((forgotten, worker.configure()))
    });
    let (forgotten, problems) = done.await??;
    tell_problems(state, problems);
    ask(state);
    Ok(json!({ "forgotten": forgotten }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_was_asked_can_not_be_answered() {
        let question = |hash: &str| Untrusted {
            root: "/a".into(),
            file: "/a/.ropewalk/config.toml".into(),
            enables: vec!["run without asking what fits `bash(*)`".to_owned()],
            hash: hash.to_owned(),
        };
        let mut questions = Questions { waiting: vec![question("1")], ..Questions::default() };
        assert_eq!(questions.open().count(), 0);
        questions.asked.insert(key(&question("1")));
        assert_eq!(questions.open().collect::<Vec<_>>(), [&question("1")]);
        // The same folder asks for something else, and nobody has shown that yet.
        questions.waiting = vec![question("2")];
        assert_eq!(questions.open().count(), 0);
    }
}
