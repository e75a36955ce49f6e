//! The model's words beside a diff: where both go into one file, no words pass for a change.

/// The starts of lines by which `git apply` and `patch` find a change.
const HEADS: [&str; 4] = ["diff --git ", "--- ", "@@ -", "*** "];

/// Puts a space before each line that begins as a change does. Words come in pieces.
#[derive(Debug, Default)]
pub(super) struct Apart {
    /// The start of a line that may become the start of a change.
    held: String,
    /// True in a line that is none.
    is_inside: bool,
}

impl Apart {
    /// The next piece; the start of a line may be held back.
    pub(super) fn push(&mut self, text: &str) -> String {
        let mut out = String::new();
        for piece in text.split_inclusive('\n') {
            if !self.is_inside {
                self.held.push_str(piece);
                let is_head = HEADS.iter().any(|head| self.held.starts_with(head));
                if !is_head && HEADS.iter().any(|head| head.starts_with(&self.held)) {
                    continue;
                }
                out.push_str(if is_head { " " } else { "" });
                out.push_str(&std::mem::take(&mut self.held));
            } else {
                out.push_str(piece);
            }
            self.is_inside = !piece.ends_with('\n');
        }
        out
    }

    /// Text that is held back, at the end of a line or of all words.
    pub(super) fn rest(&mut self) -> String {
        self.is_inside = false;
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_begins_as_a_change_does() {
        let text = "See:\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n---\n--\n\n@@ no\n--- x";
        let expected = "See:\n diff --git a/x b/x\n --- a/x\n+++ b/x\n @@ -1 +1 @@\n-a\n+b\n---\n--\n\n@@ no\n --- x";
        for size in 1..text.len() {
            let mut apart = Apart::default();
            let mut out = String::new();
            for piece in text.as_bytes().chunks(size) {
                out.push_str(&apart.push(std::str::from_utf8(piece).unwrap()));
            }
            out.push_str(&apart.rest());
            assert_eq!(out, expected, "in pieces of {size}");
        }
        let mut apart = Apart::default();
        assert_eq!(apart.push("diff --gi") + &apart.rest(), "diff --gi");
    }
}
