//! The disk beside an open document: what it holds, and how the buffer compares with that.

use super::Document;
use crate::ContentHash;
use ropewalk_files::disk::FileMeta;
use ropewalk_text::Text;
use ropewalk_text::decode::{Encoding, FileFormat};

/// The disk's content as it was when it was last looked at.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The hash of the file's bytes.
    pub hash: ContentHash,
    /// The decoded text. Shares the buffer's memory when they were equal.
    pub text: Text,
    /// How the bytes are encoded.
    pub format: FileFormat,
    /// The file's metadata from before it was read, if it was settled: as long as it is the same, the file need
    /// not be read again.
    pub meta: Option<FileMeta>,
}

/// Why a file may be half written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// It holds neither what it was last known to hold nor the buffer's text.
    News,
    /// It holds the beginning of the buffer's text.
    CutOff,
}

/// The result of comparing an open document with the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskLook {
    /// The document shows no file, or the file can't be read.
    NoFile,
    /// Equal, line ends aside.
    Clean,
    /// The buffer is as it was saved; the disk has moved on.
    Moved,
    /// The buffer has unsaved text.
    Dirty,
    /// The buffer has unsaved text and the disk has moved on too.
    Conflict,
}

impl Document {
    /// The editor has written the buffer as it is now: what the disk will be found to hold.
    pub fn written(&mut self) {
        self.just_written = true;
        self.written = Some(self.text.clone());
    }

    /// The text that the disk was last known to hold, or told to.
    pub fn last_saved(&self) -> Option<&Text> {
        self.written.as_ref().or(self.saved.as_ref().map(|saved| &saved.text))
    }

    /// Takes the mark that a write was told of which the disk has not been found to hold. True only
    /// once for each.
    pub fn take_unfound_write(&mut self) -> bool {
        self.written.take().is_some()
    }

    /// Why what the disk holds may be half written, if it may be. O(n).
    pub(crate) fn doubt(&self, now: &Saved) -> Option<Doubt> {
        let saved = self.saved.as_ref();
        let is_known = saved.is_some_and(|saved| saved.hash == now.hash);
        let own = || self.written.iter().chain([&self.text]);
        let is_told = || own().chain(&self.moved).any(|text| text.equal_but_line_ends(&now.text));
        if is_known || is_told() {
            return None;
        }
        // Text that ends within a character is no UTF-8.
        let is_latin1 = |one: &Saved| one.format.encoding == Encoding::Latin1;
        let is_cut_off = is_latin1(now) && !saved.is_some_and(is_latin1)
            || own().any(|text| text.begins_with_but_line_ends(&now.text));
        Some(if is_cut_off { Doubt::CutOff } else { Doubt::News })
    }

    /// Compares the buffer with what the disk holds now, and keeps the outcome.
    pub fn compare(&mut self, now: Saved) -> DiskLook {
        self.moved = None;
        let is_written = |written: &mut Text| now.text.equal_but_line_ends(written);
        let found = self.written.take_if(is_written).is_some();
        if now.text.equal_but_line_ends(&self.text) {
            // Share the memory where they are equal to the byte.
            let text = if now.text == self.text { self.text.clone() } else { now.text.clone() };
            self.saved = Some(Saved { text, ..now });
            return DiskLook::Clean;
        }
        match &self.saved {
            Some(saved) if saved.hash == now.hash => {
                let text = saved.text.clone();
                self.saved = Some(Saved { text, ..now });
                DiskLook::Dirty
            }
            // The user saved, and has typed on before anybody looked.
            Some(_) if found => {
                self.saved = Some(now);
                DiskLook::Dirty
            }
            Some(_) if self.is_clean() => {
                self.moved = Some(now.text);
                DiskLook::Moved
            }
            Some(_) => {
                // Told once for each content of the disk: from now on it is what is known.
                self.saved = Some(now);
                DiskLook::Conflict
            }
            None => {
                self.saved = Some(now);
                DiskLook::Dirty
            }
        }
    }

    /// True if the buffer equals the disk's content as last read, line ends aside.
    pub fn is_clean(&self) -> bool {
        self.saved.as_ref().is_some_and(|saved| saved.text.equal_but_line_ends(&self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_text::decode::decode;

    fn on_disk(bytes: &[u8]) -> Saved {
        let (text, format) = decode(bytes).unwrap();
        Saved { hash: ContentHash::of(bytes), text, format, meta: None }
    }

    #[test]
    fn what_may_be_half_written_is_in_doubt() {
        let (news, cut_off) = (Some(Doubt::News), Some(Doubt::CutOff));
        let cases: [(&str, &[u8], Option<Doubt>); 10] = [
            ("old\n", b"old\n", None),
            ("new\n", b"old\n", None),
            ("\u{e4}new\n", "\u{e4}new\r\n".as_bytes(), None),
            ("new\n", b"another\n", news),
            ("new\n", b"new\nand more\n", news),
            ("new\n", b"", cut_off),
            ("new\n", b"new", cut_off),
            ("one\ntwo\n", b"one\r\ntw", cut_off),
            ("one\r\ntwo\n", b"one\nt", cut_off),
            // Within a character.
            ("\u{e4}\u{e4}\n", b"\xc3\xa4\xc3", cut_off),
        ];
        for (buffer, disk, wanted) in cases {
            let mut document = Document::new(String::new(), String::new(), 1, buffer.into());
            document.saved = Some(on_disk(b"old\n"));
            let now = on_disk(disk);
            assert_eq!(document.doubt(&now), wanted, "{buffer:?} {disk:?}");
            // Content that was believed once is not in doubt again.
            document.compare(now.clone());
            assert_eq!(document.doubt(&now), None, "{buffer:?} {disk:?}");
        }
        let mut document = Document::new(String::new(), String::new(), 1, "one\n".into());
        assert_eq!(document.doubt(&on_disk(b"")), cut_off, "the first look");
        document.written();
        document.text = "typed\none\n".into();
        assert_eq!(document.doubt(&on_disk(b"one\n")), None, "saved before");
        assert_eq!(document.doubt(&on_disk(b"on")), cut_off, "saved before");
    }
}
