//! Pictures of Neovim's screen for people to look at: the grid as HTML, drawn by Chromium.

use super::screen::{Look, Screen};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Pixels of one cell, for a font of 15 pixels.
const CELL: (f64, usize) = (9.03, 20);
/// Pixels around the grid.
const EDGE: usize = 8;

/// Draws the screen into a file, a PNG of two pixels for each one.
pub fn draw(screen: &Screen, file: &Path) {
    let page = tempfile::tempdir().unwrap();
    let html = page.path().join("screen.html");
    std::fs::write(&html, self::html(screen)).unwrap();
    let rows = screen.rows().len();
    let columns = screen.rows().iter().map(Vec::len).max().unwrap_or(0);
    let columns = f64::from(u32::try_from(columns).unwrap());
    let width = (CELL.0 * columns).ceil() + 16.0;
    let height = CELL.1 * rows + 2 * EDGE;
    let chromium =
        std::env::var("ROPEWALK_CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".into());
    let output = Command::new(chromium)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--hide-scrollbars", "--force-device-scale-factor=2"])
        .arg(format!("--user-data-dir={}", page.path().join("profile").display()))
        .arg(format!("--window-size={width},{height}"))
        .arg(format!("--screenshot={}", file.display()))
        .arg(format!("file://{}", html.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        output.status.success() && file.exists(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A page with the screen as it is, the cursor as a block.
fn html(screen: &Screen) -> String {
    let mut page = format!(
        "<!doctype html><meta charset=utf-8><style>\
         body {{ margin: 0; padding: {EDGE}px; {} }}\
         div {{ height: {}px; white-space: pre; font: 15px/{}px 'DejaVu Sans Mono', monospace }}\
         span {{ display: inline-block; height: 100%; vertical-align: top; overflow: hidden }}</style>",
        colours(screen.plain()),
        CELL.1,
        CELL.1
    );
    for (number, row) in screen.rows().iter().enumerate() {
        page.push_str("<div>");
        for (column, cell) in row.iter().enumerate().filter(|(_, cell)| !cell.text.is_empty()) {
            let mut look = screen.look(cell);
            look.is_reversed ^= screen.cursor() == (number, column);
            let cells = if row.get(column + 1).is_some_and(|next| next.text.is_empty()) {
                2.0
            } else {
                1.0
            };
            let text = match cell.text.as_str() {
                "<" => "&lt;",
                "&" => "&amp;",
                text => text,
            };
            // Writing to a string can't fail.
            let width = CELL.0 * cells;
            let _ = write!(page, "<span style='width:{width}px;{}'>{text}</span>", style(look));
        }
        page.push_str("</div>");
    }
    page
}

fn style(look: Look) -> String {
    let mut style = colours(look);
    for (is_so, rule) in [
        (look.is_bold, ";font-weight:bold"),
        (look.is_italic, ";font-style:italic"),
        (look.is_underlined, ";text-decoration:underline"),
    ] {
        if is_so {
            style.push_str(rule);
        }
    }
    style
}

fn colours(look: Look) -> String {
    let (mut text, mut behind) = (look.foreground.unwrap_or(0), look.background.unwrap_or(0));
    if look.is_reversed {
        std::mem::swap(&mut text, &mut behind);
    }
    format!("color:#{text:06x};background:#{behind:06x}")
}
