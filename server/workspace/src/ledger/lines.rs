//! Published changes as whole lines, for who shows them.

use super::Published;
use ropewalk_text::Text;
use std::ops::Range;

impl Published {
    /// The lines that it has made in the file's text as it is now, counted by line feeds, and those that stood there
    /// before. None if its place was lost meanwhile.
    pub fn lines(&self, text: &Text) -> Option<(Range<usize>, String)> {
        if !self.anchored || self.range.end > text.len() {
            return None;
        }
        let first = text.line_feeds_before(self.range.start);
        let last = text.line_feeds_before(self.range.end);
        let begun = text.slice(text.line_feed_start(first)..self.range.start);
        let is_whole = |part: &str| part.is_empty() || part.ends_with('\n');
        if begun.is_empty() && is_whole(&self.old) && is_whole(&self.new) {
            return Some((first..last, self.old.clone()));
        }
        let rest = text.slice(self.range.end..text.line_feed_start(last + 1));
        Some((first..last + 1, format!("{begun}{}{rest}", self.old)))
    }
}
