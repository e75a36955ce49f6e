//! Questions of trust: those of the configuration in force, and those that were asked.

use ropewalk_config::{Config, TrustQuestion};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Questions that are to be asked, and those that were.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    /// Requests of the configuration in force.
    waiting: Vec<TrustQuestion>,
    /// Keys of the questions that were asked.
    asked: BTreeSet<(PathBuf, String)>,
}

impl Questions {
    /// Questions that wait and were asked: nothing else can be answered, for nobody has seen it.
    pub(crate) fn open(&self) -> impl Iterator<Item = &TrustQuestion> {
        self.waiting.iter().filter(|asks| self.asked.contains(&key(asks)))
    }

    /// Takes the questions that were not asked yet; from now on they were.
    pub(crate) fn take_new(&mut self) -> Vec<TrustQuestion> {
        let is_new = |asks: &&TrustQuestion| self.asked.insert(key(asks));
        self.waiting.iter().filter(is_new).cloned().collect()
    }

    /// Forgets that a folder was asked about.
    pub(crate) fn forget(&mut self, root: &Path) {
        self.asked.retain(|(asked, _)| asked != root);
    }

    /// Takes the questions out of a configuration, and with them the problems that say the same.
    pub(crate) fn take(&mut self, config: &mut Config) {
        self.waiting = std::mem::take(&mut config.untrusted);
        let says_the_same = |file: Option<&PathBuf>, sentence: &str| {
            sentence.contains("unless you trust that folder")
                && self.waiting.iter().any(|asks| Some(&asks.file) == file)
        };
        config
            .problems
            .retain(|problem| !says_the_same(problem.source.file.as_ref(), &problem.sentence));
    }
}

/// Key of a question: the folder, and the hash of what it asks for.
fn key(question: &TrustQuestion) -> (PathBuf, String) {
    (question.root.clone(), question.hash.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_was_asked_can_not_be_answered() {
        let question = |hash: &str| TrustQuestion {
            root: "/a".into(),
            file: "/a/.ropewalk/config.toml".into(),
            enables: vec!["run without asking what fits `bash(*)`".to_owned()],
            hash: hash.to_owned(),
        };
        let mut questions = Questions { waiting: vec![question("1")], ..Questions::default() };
        assert_eq!(questions.open().count(), 0);
        questions.take_new();
        assert_eq!(questions.open().collect::<Vec<_>>(), [&question("1")]);
        // The same folder asks for something else, and nobody has shown that yet.
        questions.waiting = vec![question("2")];
        assert_eq!(questions.open().count(), 0);
    }
}
