//! Words about sessions, for people: what is left, what goes on, how one is named.

use crate::show::words::count;
use ropewalk_agent::time::ago;
use ropewalk_text::plain::plain_line;
use std::sync::Arc;

/// What is to be said of a session whose place another has taken.
pub(crate) struct Left {
    pub(super) title: String,
    pub(super) pending: usize,
}

/// A session that goes on.
pub(crate) struct Resumed {
    pub(super) id: Arc<str>,
    pub(super) title: String,
    /// When something last happened in it.
    pub(super) at: u64,
    pub(super) turns: u64,
    pub(super) pending: usize,
    /// Changes that could not be brought back.
    pub(super) lost: Vec<String>,
    /// What was not taken up before it ended.
    pub(super) waiting: Vec<String>,
    pub(super) problems: Vec<String>,
    pub(super) left: Option<Left>,
}

impl Left {
    /// Nothing, if nothing waits in it.
    pub(crate) fn words(&self) -> Option<String> {
        let Self { title, pending } = self;
        let title = named(title);
        (*pending > 0).then(|| {
            format!(
                "{} in {title}; /resume brings {} back.",
                count(*pending, "unreviewed change stays", "unreviewed changes stay"),
                if *pending == 1 { "it" } else { "them" }
            )
        })
    }
}

impl Resumed {
    /// All that is to be said, the first line first.
    pub(crate) fn words(&self) -> String {
        let (title, ago) = (named(&self.title), ago(self.at));
        let mut words = match self.pending {
            0 => format!("Ropewalk goes on with {title} ({ago})."),
            pending => {
                let changes = count(pending, "unreviewed change", "unreviewed changes");
                let are = if pending == 1 { "is" } else { "are" };
                format!("{changes} from {title} ({ago}) {are} shown again.")
            }
        };
        words.push_str("\nYour next request continues that conversation; /new begins another.");
        if !self.lost.is_empty() {
            words.push_str(&lost(&self.lost));
        }
        for waiting in &self.waiting {
            words.push_str(&format!(
                "\nIt ended before this was taken up, so ask again: “{}”",
                shortened(waiting, 200)
            ));
        }
        for problem in &self.problems {
            words.push_str(&format!("\n{problem}"));
        }
        for left in self.left.iter().filter_map(Left::words) {
            words.push_str(&format!("\n{left}"));
        }
        words
    }
}

/// How many lost changes are named.
const LOST: usize = 5;

fn lost(changes: &[String]) -> String {
    let what = if changes.len() == 1 { "This change" } else { "These changes" };
    let mut words = format!(
        "\n{what} could not be brought back, because the text that was to be changed is another or gone:"
    );
    for change in changes.iter().take(LOST) {
        words.push_str(&format!("\n- {}", plain_line(change)));
    }
    if let Some(more) = changes.len().checked_sub(LOST).filter(|more| *more > 0) {
        words.push_str(&format!("\n- and {more} more"));
    }
    words
}

/// An error as a sentence of its own.
pub(super) fn sentence(error: &impl ToString) -> String {
    let words = error.to_string();
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// A title in words; a session without a prompt has none.
pub(crate) fn named(title: &str) -> String {
    if title.is_empty() {
        "the session before".to_owned()
    } else {
        format!("“{}”", shortened(title, 60))
    }
}

/// The first so many characters, on one line and harmless.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let first: String = text.chars().take(most).collect();
    let mut short = plain_line(&first.replace(char::is_control, " "));
    if text.chars().nth(most).is_some() {
        short.push('…');
    }
    short
}
