//! Takes out of a text what only a terminal understands.

use vte::{Parser, Perform};

/// The text without escape sequences and control characters, as the model should read it.
///
/// `\r\n` becomes a line end; a lone `\r` starts the line over, as a progress bar means it, so that
/// only what was printed last on a line remains. Tabs stay. O(length).
#[must_use]
pub fn strip_escapes(text: &str) -> String {
    let mut page = ScreenPage { text: String::with_capacity(text.len()), line: 0, over: false };
    let mut parser = Parser::new();
    parser.advance(&mut page, text.as_bytes());
    page.text
}

struct ScreenPage {
    text: String,
    /// Where the last line starts, in bytes.
    line: usize,
    /// The next character starts the line over.
    over: bool,
}

impl Perform for ScreenPage {
    fn print(&mut self, c: char) {
        if std::mem::take(&mut self.over) {
            self.text.truncate(self.line);
        }
        // The parser prints DEL and the C1 controls.
        if !c.is_control() {
            self.text.push(c);
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.over = false;
                self.text.push('\n');
                self.line = self.text.len();
            }
            b'\t' => self.print_tab(),
            b'\r' => self.over = true,
            _ => {}
        }
    }
}

impl ScreenPage {
    fn print_tab(&mut self) {
        if std::mem::take(&mut self.over) {
            self.text.truncate(self.line);
        }
        self.text.push('\t');
    }
}
