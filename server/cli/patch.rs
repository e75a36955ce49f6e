//! The diff of what is proposed, as it is printed: byte for byte into a file or a pipe, where `git apply` takes it; on a
//! terminal with colours and without anything that the terminal would obey.

use crate::plain::{plain_line, say};
use crate::sessions::in_units;
use crate::terminal::{ADDED, CALL, HEADER, OutputLook, REMOVED};
use ropewalk_workspace::{Patch, PatchFile};

/// The text for standard output.
pub(crate) fn printed(patch: &Patch, look: OutputLook) -> Vec<u8> {
    if !look.is_terminal {
        return patch.to_bytes();
    }
    patch.files.iter().map(|file| on_screen(file, look)).collect::<String>().into_bytes()
}

/// Says what the diff leaves out.
pub(crate) fn say_left_out(patch: &Patch) {
    for (file, why) in &patch.left_out {
        say(&format!("Not in the diff: {file}: {why}."));
    }
}

fn on_screen(file: &PatchFile, look: OutputLook) -> String {
    let mut out = String::new();
    for line in lines(&file.header) {
        // Ids are for git, and for nobody's eyes.
        if !line.starts_with("index ") {
            out.push_str(&look.coloured(HEADER, &shown(line)));
            out.push('\n');
        }
    }
    if let Some((before, after)) = file.binary {
        let (before, after) = (in_units(before as u64), in_units(after as u64));
        out.push_str(&format!("No text: {before} before, {after} after.\n"));
        return out;
    }
    for line in lines(&file.body) {
        let colour = match line.as_bytes().first() {
            Some(b'@') => Some(CALL),
            Some(b'+') => Some(ADDED),
            Some(b'-') => Some(REMOVED),
            _ => None,
        };
        match colour {
            Some(colour) => out.push_str(&look.coloured(colour, &shown(line))),
            // The same line ends before and after are no news.
            None => out.push_str(&shown(line.trim_end_matches('\r'))),
        }
        out.push('\n');
    }
    out
}

/// The lines without their ends; a carriage return stays.
fn lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    text.split_terminator('\n').map(str::to_owned).collect()
}

/// One line, harmless, with its tabs.
fn shown(line: impl AsRef<str>) -> String {
    line.as_ref().split('\t').map(plain_line).collect::<Vec<_>>().join("\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_shows_what_it_would_obey() {
        let file = |header: &str, body: &str, binary| PatchFile {
            header: header.as_bytes().to_vec(),
            body: body.as_bytes().to_vec(),
            binary,
            paths: Vec::new(),
        };
        let files = vec![
            file(
                "diff --git a/x b/x\nindex 1..2 100644\n",
                "@@ -1,2 +1,2 @@\n same\r\n-\u{1b}[2J\tx\r\n+y\r\n",
                None,
            ),
            file("diff --git a/b b/b\n", "GIT binary patch\n", Some((5, 10_000))),
        ];
        let patch = Patch { files, left_out: Vec::new() };
        let look = |is_terminal, colours| OutputLook { is_terminal, colours };
        let text = |look| String::from_utf8(printed(&patch, look)).unwrap();
        assert_eq!(
            text(look(true, false)),
            "diff --git a/x b/x\n@@ -1,2 +1,2 @@\n same\n-␛[2J\tx␍\n+y␍\ndiff --git a/b b/b\n\
             No text: 5 bytes before, 9.7 KB after.\n"
        );
        assert!(text(look(true, true)).contains("\u{1b}[31m-␛[2J\tx␍\u{1b}[0m\n"));
        assert_eq!(text(look(false, false)).into_bytes(), patch.to_bytes());
    }
}
