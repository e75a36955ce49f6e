//! Bounds of results: of each by itself, and of all that one step gets, so that a step always fits the context. The whole of
//! what is cut goes to a file.

use super::call::ModelCall;
use crate::prompt::news_text;
use crate::turn::Turn;
use ropewalk_protocol::Content;
use ropewalk_tools::bounds::{NOTE_CHARS, bound};
use ropewalk_tools::private::{private_file, private_folder, whole_output};
use ropewalk_tools::{Bounds, ToolOutput};
use std::io;
use std::path::{Path, PathBuf};
use tokio::io::AsyncWriteExt;

/// Characters for the line that tells of what was cut, beside the path of the whole.
const SHORT_NOTE: usize = 160;

/// The most bytes of words behind all results of a step, and of the news before it.
const MOST_BEHIND: usize = 32 << 10;

/// The part of a step's room that they may take: one of so many.
const BEHIND_PART: usize = 2;

/// The least characters of a result that stay, whatever the others take.
const LEAST: usize = 160;

impl Turn {
    /// No result is longer than the bound and what tools add to it, whatever a tool does.
    pub(super) async fn bounded(&self, call: &ModelCall, mut output: ToolOutput) -> ToolOutput {
        let bounds = Bounds { max_chars: self.tool_output() };
        let most = bounds.max_chars.saturating_add(2 * NOTE_CHARS);
        let words = output.content.first().is_some_and(Content::is_text);
        let others = output.content.iter_mut().skip(usize::from(words));
        for text in others.flat_map(Content::texts_mut) {
            if text.len() > most {
                *text = bound(text, bounds, None).to_string();
            }
        }
        let chars = |words: &str| words.chars().count();
        if output.words().len() > most && chars(output.words()) > most {
            self.cut(call, &mut output, (chars, bounds.max_chars)).await;
        }
        output
    }

    /// Bytes of the context for all results of a step; none where nobody holds them to that.
    fn step_bytes(&self) -> Option<usize> {
        let settings = self.parts.settings.get();
        let model = settings.model.as_ref().ok().filter(|_| settings.mechanisms.compaction)?;
        self.conversation.context.step_bytes(&**model)
    }

    /// Most bytes of news in one message, and of notes behind the results of a step: one of [`BEHIND_PART`]
    /// parts of a step's bytes, and never more than [`MOST_BEHIND`].
    fn words_bytes(&self) -> usize {
        let part = self.step_bytes().map_or(MOST_BEHIND, |bytes| bytes / BEHIND_PART);
        part.min(MOST_BEHIND)
    }

    /// Words behind the results of a step.
    pub(super) async fn words_behind(&self, done: &[(ModelCall, ToolOutput)]) -> Vec<String> {
        self.behind_results(done, self.words_bytes()).await
    }

    /// Takes the news for the model and cuts them to [`Turn::words_bytes`]. `told` puts them into the history; a file keeps the
    /// whole of what was cut.
    pub(crate) async fn take_news(&mut self, told: impl FnOnce(&mut Self, Option<String>)) {
        let (parts, most) = (self.parts.clone(), self.words_bytes());
        let thread =
            parts.thread.as_ref().map(|thread| format!("{}-", thread.id)).unwrap_or_default();
        let name = format!("news-{thread}{}-{}.md", self.number, self.step);
        let file = parts.outputs.as_ref().map(|folder| (folder.clone(), folder.join(name)));
        let whole = parts.inbox.take_news(self.number, |more| {
            let mut news = parts.workspace.take_news(&parts.id);
            news.extend(more);
            self.conversation.hear_reasons(&news);
            let whole = news_text(&news);
            let cut = |text: &String| cut_to(text, most, file.as_ref().map(|(_, file)| &**file));
            told(self, whole.as_ref().map(cut));
            whole.filter(|text| sent(text) > most)
        });
        if let (Some(text), Some((folder, file))) = (whole, file)
            && let Err(error) = write_whole(&folder, &file, &text).await
        {
            tracing::warn!(%error, "the whole of the news can't be kept");
        }
    }

    /// All results of a step share what the context has for them beside so many bytes: the short ones stay whole, the
    /// others get the same.
    pub(super) async fn share(&self, done: &mut [(ModelCall, ToolOutput)], taken: usize) {
        let Some(most) = self.step_bytes() else { return };
        let most = most.saturating_sub(taken);
        let lengths: Vec<usize> = done.iter().map(|(_, output)| sent(output.words())).collect();
        let Some(level) = level(&lengths, most) else { return };
        for (call, output) in done.iter_mut() {
            self.cut(call, output, (sent, level)).await;
        }
    }

    /// The same of one result, while those of the other calls are not known: an even share. For a step that is cut off.
    pub(super) async fn even_share(
        &self,
        call: &ModelCall,
        mut output: ToolOutput,
        calls: usize,
    ) -> ToolOutput {
        if let Some(most) = self.step_bytes() {
            self.cut(call, &mut output, (sent, most / calls.max(1))).await;
        }
        output
    }

    /// Cuts a result so that it has no more than `most` of what `length` counts, or what can be cut of it no more than [`LEAST`]
    /// characters: the tool's own part where there is one, else all of it.
    async fn cut(
        &self,
        call: &ModelCall,
        output: &mut ToolOutput,
        (length, most): (impl Fn(&str) -> usize, usize),
    ) {
        /// Most tries: how long a text of so many characters is depends on its characters.
        const TRIES: u32 = 4;
        if length(output.words()) <= most {
            return;
        }
        let whole = match output.part.as_ref().is_none_or(|part| part.has_file) {
            true => self.keep_whole(call, output.words()).await,
            false => None,
        };
        let keys = self.parts.settings.keys();
        let mut max_chars = output.words().chars().count();
        for _ in 0..TRIES {
            let now = length(output.words());
            if now <= most {
                break;
            }
            let fits = max_chars.saturating_mul(most) / now;
            max_chars = (fits - fits / 20).max(LEAST);
            let bounds = Bounds { max_chars };
            if !output.resize(bounds, |text| keys.redact(&text).into_owned()) {
                let (words, whole) = (output.words().to_owned(), whole.clone());
                output.size(bounds, move |bounds| {
                    bound(&words, bounds, whole.as_deref()).to_string()
                });
            }
        }
    }

    /// The file that has the whole of a result.
    pub(crate) async fn keep_whole(&self, call: &ModelCall, words: &str) -> Option<PathBuf> {
        let folder = self.parts.outputs.as_ref()?;
        let file = whole_output(folder, &call.id);
        // The file that the tool has kept has more than it has said.
        if tokio::fs::try_exists(&file).await.unwrap_or_default() {
            return Some(file);
        }
        match write_whole(folder, &file, words).await {
            Ok(()) => Some(file),
            Err(error) => {
                tracing::warn!(%error, "a whole output can't be kept");
                None
            }
        }
    }
}

/// Cuts the middle out of a text that takes more than `level` bytes on the wire, down to [`LEAST`] characters; `whole` is the
/// file that has all of it.
pub(crate) fn cut_to(text: &str, level: usize, whole: Option<&Path>) -> String {
    let bytes = sent(text);
    if bytes <= level {
        return text.to_owned();
    }
    let note = whole.map_or(0, |file| file.as_os_str().len()) + SHORT_NOTE;
    let chars = text.chars().count().saturating_mul(level) / bytes;
    let max_chars = chars.saturating_sub(note).max(LEAST);
    bound(text, Bounds { max_chars }, whole).to_string()
}

/// Writes a whole output, for its owner alone.
pub(crate) async fn write_whole(folder: &Path, file: &Path, text: &str) -> io::Result<()> {
    private_folder(folder).await?;
    let mut file = private_file(file).await?;
    file.write_all(text.as_bytes()).await?;
    file.flush().await
}

/// The length of a text as it goes over the wire, in bytes of JSON.
pub(crate) fn sent(text: &str) -> usize {
    let size = |c: char| match c {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        c if c.is_control() => 6,
        c => c.len_utf8(),
    };
    text.chars().map(size).sum()
}

/// The length that nothing may exceed so that all together take no more than `most`; none if they don't. O(n log n).
pub(crate) fn level(lengths: &[usize], most: usize) -> Option<usize> {
    if lengths.iter().sum::<usize>() <= most {
        return None;
    }
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let (mut left, mut rest) = (most, sorted.len());
    for length in sorted {
        let share = left / rest.max(1);
        if length > share {
            return Some(share);
        }
        left -= length;
        rest -= 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_stays_whole_and_the_rest_is_shared_evenly() {
        for (lengths, most, expect) in [
            (&[][..], 10, None),
            (&[5, 5], 10, None),
            (&[20], 10, Some(10)),
            (&[1, 20, 30], 21, Some(10)),
            (&[3, 4, 100], 10, Some(3)),
            (&[9, 9], 0, Some(0)),
        ] {
            let level = level(lengths, most);
            assert_eq!(level, expect, "{lengths:?}");
            if let Some(level) = level {
                assert!(lengths.iter().map(|length| length.min(&level)).sum::<usize>() <= most);
            }
        }
    }

    #[test]
    fn a_text_is_as_long_as_its_json() {
        for text in ["", "a\n\"b\"\\", "grün 😀", "\u{1b}[0m"] {
            assert_eq!(sent(text) + 2, serde_json::to_string(text).unwrap().len(), "{text}");
        }
    }
}
