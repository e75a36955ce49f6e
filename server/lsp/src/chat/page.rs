//! The conversation document as text: where the draft stands, where what is said goes, and what a line names.
//!
//! Headings alone say which is which, so the page means the same after a restart, and a user can see and mend it.

use crate::show::words::code_actions;
use ropewalk_text::plain::plain;
use ropewalk_workspace::Habits;
use ropewalk_workspace::conversation::CONVERSATION;
use std::ops::Range;

/// The heading of what the user writes. The draft is what stands below the last one.
const YOU: &str = "## You";

/// The heading of answers.
const ANSWER: &str = "## Ropewalk";

/// The page as it is made. `in_git`: its folder is a repository's, which is to be told of it by the user alone.
pub(super) fn opening(habits: &Habits, in_git: bool) -> String {
    let keys = code_actions(habits).map(|keys| format!(" ({keys})")).unwrap_or_default();
    let git = format!("Keep it out of git: echo {CONVERSATION} >> .git/info/exclude\n");
    let git = if in_git { &*git } else { "" };
    format!(
        "# Ropewalk\n\n\
         Write below the last \"{YOU}\" and choose the code action \"send\"{keys}. `@` names a file, `/` a command.\n\
         Saving sends nothing, and deleting text rejects nothing. The agent does not see this file.\n{git}\n{YOU}\n\n"
    )
}

/// The lines with the byte at which each begins, line ends cut off.
fn lines(text: &str) -> impl DoubleEndedIterator<Item = (usize, &str)> {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        lines.push((at, line.trim_end()));
        at += line.len();
    }
    lines.into_iter()
}

/// The byte at which the last line begins that is this heading.
fn last(text: &str, heading: &str) -> Option<usize> {
    lines(text).rfind(|(_, line)| *line == heading).map(|(at, _)| at)
}

/// The bytes of the draft, without the blanks around it.
///
/// # Errors
/// In words, when nothing says where it begins.
pub(super) fn draft(text: &str) -> Result<Range<usize>, String> {
    let start = match (last(text, YOU), last(text, ANSWER)) {
        (Some(you), answer) if answer.is_none_or(|answer| answer < you) => you + YOU.len(),
        (None, None) => 0,
        _ => {
            return Err(format!(
                "No line \"{YOU}\" stands below the last answer: put one above your text, or select the text and send that."
            ));
        }
    };
    let below = text.get(start..).unwrap_or_default();
    let from = start + (below.len() - below.trim_start().len());
    Ok(from..from + below.trim().len())
}

/// Headings that go behind a draft that was sent, at this byte: its answer's and the next draft's.
pub(super) fn behind_sent(text: &str, at: usize) -> String {
    let rest = text.get(at..).unwrap_or_default();
    let end = if rest.starts_with(['\n', '\r']) { "\n" } else { "\n\n" };
    format!("\n\n{ANSWER}\n\n{YOU}{end}")
}

/// A request that was not written on this page, with the heading of its answer.
pub(super) fn request(words: &str) -> String {
    format!("{YOU}\n\n{}\n\n{ANSWER}", harmless(words.trim()))
}

/// Words that break out of nothing: no line of them is a heading of the page, nor a control character in them.
pub(super) fn harmless(words: &str) -> String {
    let words = plain(words);
    let escape = |line: &str| match line.trim_end() {
        YOU | ANSWER => format!("\\{line}"),
        _ => line.to_owned(),
    };
    words.lines().map(escape).collect::<Vec<_>>().join("\n")
}

/// Words in a fence that nothing in them closes.
pub(super) fn fenced(words: &str) -> String {
    let longest = words.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", words.trim_end())
}

/// Where a block goes, and what is put there: above the last draft, a blank line apart, the lines of a list together.
pub(super) fn place(text: &str, block: &str) -> (usize, String) {
    let is_item = |line: &str| line.starts_with("- ");
    let draft = last(text, YOU).unwrap_or(text.len());
    let above = text.get(..draft).unwrap_or_default();
    let end = above.trim_end().len();
    let before = above.get(..end).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
    // The steps of a plan are a list of their own.
    let both = is_item(before) && !before.starts_with("- [") && block.lines().all(is_item);
    let apart = if end == 0 {
        ""
    } else if both {
        "\n"
    } else {
        "\n\n"
    };
    // A blank line stands between it and the draft, whatever the user has made of the one that was there.
    let blanks = above.get(end..).unwrap_or_default().matches('\n').count();
    let below = match (last(text, YOU), blanks) {
        (None, _) => format!("\n\n{YOU}\n\n"),
        (Some(_), 0) => "\n\n".to_owned(),
        (Some(_), 1) => "\n".to_owned(),
        (Some(_), _) => String::new(),
    };
    (end, format!("{apart}{block}{below}"))
}

/// Name in a line of a list: `a.py:3` of `- a.py:3 · −1 +1`.
pub(super) fn named(line: &str) -> Option<&str> {
    let item = line.trim().strip_prefix("- ")?;
    Some(item.split(" · ").next().unwrap_or(item).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draft_is_what_stands_below_the_last_heading() {
        for (text, wanted) in [
            ("# Ropewalk\n\n## You\n\nhello\nyou\n", Ok("hello\nyou")),
            ("## You\r\n\r\nhello\r\n", Ok("hello")),
            ("## You\n\nold\n\n## Ropewalk\n\nyes\n\n## You\n\n\n", Ok("")),
            ("just words, all else deleted\n", Ok("just words, all else deleted")),
            ("", Ok("")),
            ("## You\n\nold\n\n## Ropewalk\n\nyes\n\nmy words\n", Err(())),
            ("## You and me\n## You  \nx", Ok("x")),
            ("## You\nünï 😀 ", Ok("ünï 😀")),
        ] {
            let found = draft(text).map(|range| text.get(range).unwrap()).map_err(drop);
            assert_eq!(found, wanted, "{text:?}");
        }
    }

    fn with(text: &str, block: &str) -> String {
        let (at, words) = place(text, block);
        let mut text = text.to_owned();
        text.insert_str(at, &words);
        text
    }

    #[test]
    fn blocks_stand_above_the_draft_and_lists_together() {
        let mut text = "## You\n\nhi\n".to_owned();
        text.insert_str(10, &behind_sent(&text, 10));
        assert_eq!(text, "## You\n\nhi\n\n## Ropewalk\n\n## You\n\n");
        text.push_str("and");
        for block in ["- a", "- b", "words", "- c"] {
            text = with(&text, block);
        }
        let wanted = "## You\n\nhi\n\n## Ropewalk\n\n- a\n- b\n\nwords\n\n- c\n\n## You\n\nand";
        assert_eq!(text, wanted);
        assert_eq!(with("- [ ] a\n\n## You\n", "- b"), "- [ ] a\n\n- b\n\n## You\n");
        // Where the user has deleted the blank line or the headings, both stand again.
        assert_eq!(with("x\n## You\ny", "words"), "x\n\nwords\n\n## You\ny");
        assert_eq!(with("## You\ny", "words"), "words\n\n## You\ny");
        assert_eq!(with("mine\n", "words"), "mine\n\nwords\n\n## You\n\n\n");
        assert_eq!(with("", "words"), "words\n\n## You\n\n");
    }

    #[test]
    fn no_answer_is_taken_for_a_heading_nor_closes_a_fence() {
        assert_eq!(
            harmless("a\n## You\n## Ropewalk \n## Your"),
            "a\n\\## You\n\\## Ropewalk \n## Your"
        );
        assert_eq!(fenced("a\n````\nb\n"), "`````\na\n````\nb\n`````");
        assert_eq!(fenced("ls"), "```\nls\n```");
    }

    #[test]
    fn a_line_of_a_list_names_its_place() {
        for (line, wanted) in [
            ("- a b.py:3 · −1 +1", Some("a b.py:3")),
            ("- a.py:3", Some("a.py:3")),
            ("a.py:3", None),
        ] {
            assert_eq!(named(line), wanted);
        }
    }
}
