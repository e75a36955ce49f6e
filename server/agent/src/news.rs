//! News for the model as a journal has them: those that wait, and ends of background commands that were told.
//!
//! A rewind takes back the words that told of an end. If the turn that had started the command stays, its end is news again.

use ropewalk_workspace::Note;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct News {
    /// Notes that the model has not been told.
    pub(crate) waiting: Vec<Note>,
    /// Ends of commands that it was told of, each with the turn that told.
    told: Vec<(u64, Note)>,
}

impl News {
    /// These alone wait from now on: of the others the model has heard in this turn.
    pub(crate) fn now_waits(&mut self, turn: u64, waiting: Vec<Note>) {
        let before = std::mem::replace(&mut self.waiting, waiting);
        let told = before.into_iter().filter(|note| !self.waiting.contains(note));
        let told: Vec<Note> = told.filter(|note| started_in(note).is_some()).collect();
        self.told.extend(told.into_iter().map(|note| (turn, note)));
    }

    /// A turn and all after it are taken back, and so is what they told. Only ends of commands that an earlier turn has
    /// started are news all the same.
    pub(crate) fn rewind(&mut self, turn: u64) {
        let stays = |note: &Note| started_in(note).is_some_and(|started| started < turn);
        self.waiting.retain(stays);
        self.told.retain(|(_, note)| stays(note));
        let untold = self.told.extract_if(.., |(told_in, _)| *told_in >= turn);
        let untold: Vec<Note> = untold.map(|(_, note)| note).collect();
        self.waiting.splice(0..0, untold);
    }
}

/// The turn that has started the command of whose end a note tells.
fn started_in(note: &Note) -> Option<u64> {
    match note {
        Note::BackgroundEnded { turn, .. } => Some(*turn),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(id: u64, turn: u64) -> Note {
        Note::BackgroundEnded { id, turn, command: "make".into(), text: "done".into() }
    }

    #[test]
    fn ends_are_news_again_when_the_words_that_told_of_them_are_taken_back() {
        let mut news = News::default();
        let other = Note::Unconfirmed { file: "a".into() };
        news.now_waits(1, vec![ended(1, 1), other.clone()]);
        news.now_waits(2, vec![]);
        news.now_waits(2, vec![ended(2, 2), ended(3, 1), other]);
        news.now_waits(3, vec![ended(3, 1)]);
        let mut later = news.clone();
        later.rewind(4);
        assert_eq!(later.waiting, [ended(3, 1)], "told in turns that stay");
        news.rewind(3);
        assert_eq!(news.waiting, [ended(2, 2), ended(3, 1)]);
        news.rewind(2);
        assert_eq!(news.waiting, [ended(1, 1), ended(3, 1)]);
        news.rewind(1);
        assert_eq!(news.waiting, []);
    }
}
