//! Things that only a terminal has: colours, a width, words typed ahead, and a line at its bottom that says what runs now.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use unicode_width::UnicodeWidthChar;

/// The part of an SGR sequence that says the colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Colour(pub(crate) &'static str);

pub(crate) const CALL: Colour = Colour("36");
pub(crate) const QUIET: Colour = Colour("2");
pub(crate) const BAD: Colour = Colour("31");
pub(crate) const ADDED: Colour = Colour("32");
pub(crate) const REMOVED: Colour = Colour("31");
pub(crate) const HEADER: Colour = Colour("1");

/// How an output is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutputLook {
    /// True if it is a terminal, which could obey what is written to it.
    pub(crate) is_terminal: bool,
    /// True if it has colours, and the user wants them.
    pub(crate) colours: bool,
}

impl OutputLook {
    /// Of standard output: colours where it is a terminal, unless `NO_COLOR` is set or the terminal is known to have
    /// none.
    pub(crate) fn of_output() -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let is_set = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { is_terminal, colours: is_terminal && !is_set && !is_dumb() }
    }

    /// The words in a colour, where there are colours. The line end stays outside.
    pub(crate) fn coloured(self, Colour(colour): Colour, words: &str) -> String {
        if !self.colours {
            return words.to_owned();
        }
        let line = words.trim_end_matches('\n');
        let end = words.strip_prefix(line).unwrap_or_default();
        format!("\u{1b}[{colour}m{line}\u{1b}[0m{end}")
    }
}

fn is_dumb() -> bool {
    match std::env::var_os("TERM") {
        Some(term) => term.is_empty() || term == "dumb",
        None => cfg!(unix),
    }
}

/// True if somebody can be asked: questions go to standard error, answers come from standard input.
pub(crate) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// True if a line can be rewritten on standard error.
pub(crate) fn can_rewrite() -> bool {
    std::io::stderr().is_terminal() && !is_dumb()
}

/// True while a line says what runs now. No lock: a write to an output that nobody reads lasts for ever, and a signal must
/// still be told.
static HAS_LINE: AtomicBool = AtomicBool::new(false);

/// Writes with the line of what runs now taken away first.
pub(crate) fn above<T>(write: impl FnOnce() -> T) -> T {
    if HAS_LINE.swap(false, Ordering::AcqRel) {
        let _ = write!(std::io::stderr(), "\r\u{1b}[K");
    }
    write()
}

/// Puts what runs now, in harmless words that are cut to the terminal's width, and its seconds in a line of their own.
pub(crate) fn show_now(what: &str, seconds: u64) {
    let tail = format!(" · {seconds} s");
    let room = width().saturating_sub(tail.chars().count() + 3);
    let _ = write!(std::io::stderr(), "\r… {}{tail}\u{1b}[K", cut(what, room));
    HAS_LINE.store(true, Ordering::Release);
}

/// The start of a text on one line that is at most `width` columns wide, with a sign that it was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let columns = |c: char| c.width().unwrap_or(0);
    if text.chars().map(columns).sum::<usize>() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += columns(c);
        if used > width {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// Columns of the terminal on standard error; 80 where it doesn't say.
#[cfg(unix)]
fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
    size.map_or(80, |size| if size.ws_col == 0 { 80 } else { size.ws_col.into() })
}

#[cfg(not(unix))]
fn width() -> usize {
    80
}

/// Throws away what was typed before it was asked for.
pub(crate) fn drop_typed_ahead() {
    #[cfg(unix)]
    {
        use rustix::termios::{QueueSelector, tcflush};
        if let Err(error) = tcflush(std::io::stdin(), QueueSelector::IFlush) {
            tracing::debug!(%error, "what was typed ahead can't be dropped");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
    }
}
