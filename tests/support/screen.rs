//! Screen that Neovim draws, kept from its `redraw` events as a grid of cells: the text, and the
//! looks that [`super::picture`] needs. A test asks for the text that a user could read.

use rmpv::Value;
use std::collections::HashMap;

/// One grid of cells, as the user interface protocol's `ext_linegrid` events describe it.
#[derive(Default)]
pub struct Screen {
    rows: Vec<Vec<Cell>>,
    looks: HashMap<u64, Look>,
    plain: Look,
    cursor: (usize, usize),
}

/// One cell of the grid. Behind a character of two cells stands one without text.
#[derive(Clone)]
pub struct Cell {
    /// Text that stands in it.
    pub text: String,
    /// How it looks.
    look: u64,
}

/// How cells look; colours are `0xRRGGBB`.
#[derive(Clone, Copy, Default)]
pub struct Look {
    /// The colour of the text.
    pub foreground: Option<u64>,
    /// The colour behind it.
    pub background: Option<u64>,
    /// True if both colours change places.
    pub is_reversed: bool,
    /// True if the text is bold.
    pub is_bold: bool,
    /// True if the text is slanted.
    pub is_italic: bool,
    /// True if a line of any kind stands below the text.
    pub is_underlined: bool,
}

impl Screen {
    /// Applies one batch of a `redraw` notification: `[name, args, args, …]`.
    pub fn redraw(&mut self, batch: &Value) {
        let Some((name, calls)) = batch.as_array().and_then(|b| b.split_first()) else { return };
        for call in calls {
            let args = call.as_array().map_or(&[][..], Vec::as_slice);
            match name.as_str() {
                Some("grid_resize") => self.resize(number(args, 1), number(args, 2)),
                Some("grid_clear") => self.clear(),
                Some("grid_line") => self.line(args),
                Some("grid_scroll") => self.scroll(args),
                Some("grid_cursor_goto") => {
                    self.cursor = (size(number(args, 1)), size(number(args, 2)));
                }
                Some("hl_attr_define") => {
                    let id = args.first().and_then(Value::as_u64).unwrap_or(0);
                    self.looks.insert(id, Look::of(args.get(1)));
                }
                Some("default_colors_set") => {
                    self.plain.foreground = args.first().and_then(Value::as_u64);
                    self.plain.background = args.get(1).and_then(Value::as_u64);
                }
                _ => {}
            }
        }
    }

    /// The screen's lines from the top, without blanks at their ends.
    pub fn lines(&self) -> Vec<String> {
        let text = |row: &Vec<Cell>| row.iter().map(|cell| cell.text.as_str()).collect::<String>();
        self.rows.iter().map(|row| text(row).trim_end().to_owned()).collect()
    }

    /// The cells, row by row.
    pub fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// Row and column of the cursor.
    pub const fn cursor(&self) -> (usize, usize) {
        self.cursor
    }

    /// How a cell looks, with the screen's own colours where it has none.
    pub fn look(&self, cell: &Cell) -> Look {
        let look = self.looks.get(&cell.look).copied().unwrap_or_default();
        Look {
            foreground: look.foreground.or(self.plain.foreground),
            background: look.background.or(self.plain.background),
            ..look
        }
    }

    /// How a cell looks for which nothing is said.
    pub const fn plain(&self) -> Look {
        self.plain
    }

    fn resize(&mut self, width: i64, height: i64) {
        self.rows.resize(size(height), Vec::new());
        for row in &mut self.rows {
            row.resize(size(width), Cell::blank());
        }
    }

    fn clear(&mut self) {
        self.rows.iter_mut().flatten().for_each(|cell| *cell = Cell::blank());
    }

    /// `[grid, row, column, [[text, highlight?, repeat?], …], wrap]`; without a highlight the one before counts.
    fn line(&mut self, args: &[Value]) {
        let Some(row) = self.rows.get_mut(size(number(args, 1))) else { return };
        let mut column = size(number(args, 2));
        let mut look = 0;
        for cell in args.get(3).and_then(Value::as_array).into_iter().flatten() {
            let parts = cell.as_array().map_or(&[][..], Vec::as_slice);
            let text = parts.first().and_then(Value::as_str).unwrap_or(" ");
            look = parts.get(1).and_then(Value::as_u64).unwrap_or(look);
            for _ in 0..parts.get(2).and_then(Value::as_u64).unwrap_or(1) {
                if let Some(target) = row.get_mut(column) {
                    *target = Cell { text: text.to_owned(), look };
                }
                column += 1;
            }
        }
    }

    /// `[grid, top, bottom, left, right, rows, columns]`; a positive `rows` moves text up.
    fn scroll(&mut self, args: &[Value]) {
        let [top, bottom, left, right, by] = [1, 2, 3, 4, 5].map(|i| number(args, i));
        let old = self.rows.clone();
        for row in top..bottom {
            let from = row + by;
            if from < top || from >= bottom {
                continue;
            }
            for column in left..right {
                self.rows[size(row)][size(column)] = old[size(from)][size(column)].clone();
            }
        }
    }
}

impl Cell {
    fn blank() -> Self {
        Self { text: " ".to_owned(), look: 0 }
    }
}

impl Look {
    /// From the map of `hl_attr_define`.
    fn of(attributes: Option<&Value>) -> Self {
        let pairs = attributes.and_then(Value::as_map).map_or(&[][..], Vec::as_slice);
        let field = |name: &str| {
            pairs.iter().find(|(key, _)| key.as_str() == Some(name)).map(|(_, value)| value)
        };
        let is = |name: &str| field(name).and_then(Value::as_bool).unwrap_or(false);
        Self {
            foreground: field("foreground").and_then(Value::as_u64),
            background: field("background").and_then(Value::as_u64),
            is_reversed: is("reverse"),
            is_bold: is("bold"),
            is_italic: is("italic"),
            is_underlined: ["underline", "undercurl", "underdouble"].into_iter().any(is),
        }
    }
}

fn number(args: &[Value], index: usize) -> i64 {
    args.get(index).and_then(Value::as_i64).unwrap_or(0)
}

fn size(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}
