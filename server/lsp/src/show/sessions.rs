//! Words about sessions, for people: what is left, what goes on, what can be resumed.

use ropewalk_host::time::ago;
use ropewalk_host::words::{count, named, shortened};
use ropewalk_protocol::{LeftSession, ResumedSession, SessionInfo};
use ropewalk_text::plain::plain_line;

/// Words about a session that was left: none, if nothing waits in it.
pub(crate) fn left(session: &LeftSession) -> Option<String> {
    let LeftSession { title, pending } = session;
    let title = named(title);
    (*pending > 0).then(|| {
        format!(
            "{} in {title}; /resume brings {} back.",
            count(*pending, "unreviewed change stays", "unreviewed changes stay"),
            if *pending == 1 { "it" } else { "them" }
        )
    })
}

/// All that is to be said of a session that goes on, the first line first.
pub(crate) fn resumed(session: &ResumedSession) -> String {
    let (title, ago) = (named(&session.title), ago(session.at));
    let mut words = match session.pending {
        0 => format!("Ropewalk goes on with {title} ({ago})."),
        pending => {
            let changes = count(pending, "unreviewed change", "unreviewed changes");
            let are = if pending == 1 { "is" } else { "are" };
            format!("{changes} from {title} ({ago}) {are} shown again.")
        }
    };
    words.push_str("\nYour next request continues that conversation; /new begins another.");
    if !session.lost.is_empty() {
        words.push_str(&lost(&session.lost));
    }
    for waiting in &session.waiting {
        words.push_str(&format!(
            "\nIt ended before it had read this, so ask again: “{}”",
            shortened(waiting, 200)
        ));
    }
    for problem in &session.problems {
        words.push_str(&format!("\n{problem}"));
    }
    for left in session.left.iter().filter_map(left) {
        words.push_str(&format!("\n{left}"));
    }
    words
}

/// A session in a few words.
pub(crate) fn about(info: &SessionInfo) -> String {
    let turns = usize::try_from(info.turns).unwrap_or(usize::MAX);
    let turns = count(turns, "turn", "turns");
    format!("{} ({turns}, {})", named(&info.title), ago(info.at))
}

/// How many lost changes are named.
const LOST: usize = 5;

fn lost(changes: &[String]) -> String {
    let what = if changes.len() == 1 { "This change" } else { "These changes" };
    let mut words = format!(
        "\n{what} could not be brought back, because the text it was about has changed or is gone:"
    );
    for change in changes.iter().take(LOST) {
        words.push_str(&format!("\n- {}", plain_line(change)));
    }
    if let Some(more) = changes.len().checked_sub(LOST).filter(|more| *more > 0) {
        words.push_str(&format!("\n- and {more} more"));
    }
    words
}
