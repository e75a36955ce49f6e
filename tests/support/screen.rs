//! The text Neovim draws, kept from its `redraw` events as a grid of cells.
//!
//! Colours, cursor shape and windows as such are left out: a test asks what a user could read.

use rmpv::Value;

/// One grid of cells, as the user interface protocol's `ext_linegrid` events describe it.
#[derive(Default)]
pub struct Screen {
    rows: Vec<Vec<String>>,
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
                _ => {}
            }
        }
    }

    /// The screen's lines from the top, without blanks at their ends.
    pub fn lines(&self) -> Vec<String> {
        self.rows.iter().map(|row| row.concat().trim_end().to_owned()).collect()
    }

    fn resize(&mut self, width: i64, height: i64) {
        self.rows.resize(size(height), Vec::new());
        for row in &mut self.rows {
            row.resize(size(width), " ".to_owned());
        }
    }

    fn clear(&mut self) {
        self.rows.iter_mut().flatten().for_each(|cell| " ".clone_into(cell));
    }

    /// `[grid, row, column, [[text, highlight?, repeat?], …], wrap]`
    fn line(&mut self, args: &[Value]) {
        let Some(row) = self.rows.get_mut(size(number(args, 1))) else { return };
        let mut column = size(number(args, 2));
        for cell in args.get(3).and_then(Value::as_array).into_iter().flatten() {
            let parts = cell.as_array().map_or(&[][..], Vec::as_slice);
            let text = parts.first().and_then(Value::as_str).unwrap_or(" ");
            for _ in 0..parts.get(2).and_then(Value::as_u64).unwrap_or(1) {
                if let Some(target) = row.get_mut(column) {
                    text.clone_into(target);
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

fn number(args: &[Value], index: usize) -> i64 {
    args.get(index).and_then(Value::as_i64).unwrap_or(0)
}

fn size(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}
