//! Published changes as whole lines, for who shows them.

use super::Published;
use ropewalk_text::Text;
use std::ops::Range;

impl Published {
    /// The lines that it has made in the file's text as it is now, counted by line feeds, and those that stood there
    /// before. None if its place was lost meanwhile.
    pub fn lines(&self, text: &Text) -> Option<(Range<usize>, String)> {
        let range = match self.anchored {
            true => &self.range,
            false => Some(&self.at).filter(|_| text.hash() == self.hash)?,
        };
        if range.end > text.len() {
            return None;
        }
        let first = text.line_feeds_before(range.start);
        let last = text.line_feeds_before(range.end);
        let begun = text.slice(text.line_feed_start(first)..range.start);
        let is_whole = |part: &str| part.is_empty() || part.ends_with('\n');
        if begun.is_empty() && is_whole(&self.old) && is_whole(&self.new) {
            return Some((first..last, self.old.clone()));
        }
        let rest = text.slice(range.end..text.line_feed_start(last + 1));
        Some((first..last + 1, format!("{begun}{}{rest}", self.old)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DocId;
    use proptest::prelude::*;

    fn piece() -> impl Strategy<Value = String> {
        let parts = prop::sample::select(vec!["a", "b", "😀", "é", "\n", "\r\n", "\r", "  "]);
        prop::collection::vec(parts, 0..8).prop_map(|parts| parts.concat())
    }

    proptest! {
        /// Putting the lines back is the same as putting the changed bytes back: no text of the user's goes with it.
        #[test]
        fn the_lines_put_back_are_the_change_taken_back(
            before in piece(), old in piece(), new in piece(), after in piece(),
        ) {
            let text = Text::from(&*format!("{before}{new}{after}"));
            let about = Published::about("s".into(), DocId::from_uri("file:///a"), "a".to_owned());
            let range = before.len()..before.len() + new.len();
            let published = Published { range, old: old.clone(), new, ..about };
            let (lines, stood) = published.lines(&text).unwrap();
            let start = text.slice(0..text.line_feed_start(lines.start));
            let end = text.slice(text.line_feed_start(lines.end)..text.len());
            prop_assert_eq!(format!("{start}{stood}{end}"), format!("{before}{old}{after}"));
        }
    }
}
