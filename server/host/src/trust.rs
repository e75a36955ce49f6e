//! Trust in folders: the questions that a repository's configuration raises, each asked once, and their answers.
//!
//! A question waits without a bound. Where an answer is remembered is the configuration's; how it is asked, the front
//! end's.

use crate::host::Host;
use crate::words::shortened;
use crate::{blocking, lock};
use ropewalk_config::trust::{Answer, forget, remember};
use ropewalk_config::{Config, TrustQuestion};
use ropewalk_protocol::{Event, Refusal, Reply, Trust, TrustAnswer};
use ropewalk_workspace::DocId;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Host {
    /// Takes the questions out of a configuration. Gives those that are new, as they are to be asked.
    pub(crate) fn take_questions(&self, config: &mut Config) -> Vec<Event> {
        let mut questions = lock(&self.questions);
        questions.take(config);
        let event = |question: TrustQuestion| Event::TrustRequested {
            root: question.root.to_string_lossy().into_owned(),
            file: self.workspace.spelling(&DocId::from_path(&question.file)),
            question: question.question(),
            enables: question.enables,
            hash: question.hash,
        };
        questions.take_new().into_iter().map(event).collect()
    }

    /// Takes an answer to a question of trust. It counts at once.
    pub(crate) async fn answer_trust(
        self: Arc<Self>,
        answer: TrustAnswer,
    ) -> Result<Reply, Refusal> {
        blocking(move || {
            // It is an answer to what is asked by now.
            self.tell_all(self.read_if_changed());
            let reply = self.remember_trust(answer)?;
            self.configuration.change(|_| ());
            self.tell_all(self.read_if_changed());
            Ok(reply)
        })
        .await?
    }

    fn remember_trust(&self, answer: TrustAnswer) -> Result<Reply, String> {
        let TrustAnswer { root, hash, answer } = answer;
        let root = root.map(|root| folder(&root)).transpose()?;
        let answer = match answer {
            Trust::Trust => Answer::Trust,
            Trust::Never => Answer::Never,
            Trust::Forget => return self.forget_trust(root),
        };
        let question = self.find_question(root.as_deref(), hash.as_deref())?;
        remember(&*self.options.environment, &question.root, &question.hash, answer)
            .map_err(|error| format!("The answer can't be remembered: {error}"))?;
        Ok(Reply::Answered(question.root.to_string_lossy().into_owned()))
    }

    fn forget_trust(&self, root: Option<PathBuf>) -> Result<Reply, String> {
        let roots = match root {
            Some(root) => vec![root],
            None => self.workspace.roots().iter().map(|root| root.path().to_owned()).collect(),
        };
        let mut forgotten = 0;
        for root in &roots {
            forgotten += forget(&*self.options.environment, root)
                .map_err(|error| format!("The answers can't be forgotten: {error}"))?;
            lock(&self.questions).forget(root);
        }
        Ok(Reply::Forgotten(forgotten))
    }

    /// The question that is answered.
    fn find_question(
        &self,
        root: Option<&Path>,
        hash: Option<&str>,
    ) -> Result<TrustQuestion, String> {
        let open = self.open_questions();
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
}

/// A folder as it is remembered: links resolved.
fn folder(given: &str) -> Result<PathBuf, String> {
    let path =
        if given.starts_with("file:") { DocId::from_uri(given).path() } else { Some(given.into()) };
    let path = path.filter(|path| path.is_absolute());
    let path = path
        .ok_or_else(|| format!("{:?} is not the whole path of a folder", shortened(given, 200)))?;
    Ok(path.canonicalize().unwrap_or(path))
}
