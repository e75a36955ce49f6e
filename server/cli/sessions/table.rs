//! Sessions as a table for people that fits 80 columns, and as JSON for programs.

use crate::plain::plain_line;
use crate::terminal::cut;
use ropewalk_agent::journal::store::SessionListing;
use ropewalk_agent::time::ago;
use serde_json::{Value, json};
use std::path::Path;
use unicode_width::UnicodeWidthStr;

/// Columns of a terminal that nobody has made wider.
const WIDTH: usize = 80;
/// The least of an id that is shown.
const SHORTEST_ID: usize = 5;

/// A session for programs. Times are milliseconds since 1970.
pub(super) fn json(one: &SessionListing) -> Value {
    json!({
        "id": one.id,
        "title": one.summary.title,
        "roots": one.roots,
        "began": one.began,
        "used": one.summary.at,
        "turns": one.summary.turns,
        "pending": one.summary.pending,
        "bytes": one.bytes,
        "inUse": one.in_use,
    })
}

/// `listed` below the folders they work in, in their order. Ids are as short as they can be among `all`, so that
/// each can be given as it is shown; those of the current folder, which are `here`, by their number too.
pub(super) fn table(
    listed: &[&SessionListing],
    all: &[SessionListing],
    here: &[SessionListing],
    home: Option<&Path>,
) -> String {
    let id_width = id_width(all);
    let mut groups: Vec<(&[String], Vec<&SessionListing>)> = Vec::new();
    for one in listed {
        match groups.iter_mut().find(|(roots, _)| *roots == one.roots) {
            Some((_, group)) => group.push(one),
            None => groups.push((&one.roots, vec![one])),
        }
    }
    let mut out = String::new();
    for (roots, group) in groups {
        if !out.is_empty() {
            out.push('\n');
        }
        let roots: Vec<String> = roots.iter().map(|root| at_home(root, home)).collect();
        let roots = if roots.is_empty() { "no folder".to_owned() } else { roots.join(", ") };
        out.push_str(&format!("In {}:\n", plain_line(&roots)));
        let head = row(id_width, "#", "ID", "USED", "TURNS", "TO REVIEW");
        out.push_str(&format!("{head}TITLE\n"));
        for one in group {
            let number = here.iter().position(|own| own.id == one.id).map(|at| at + 1);
            let start = row(
                id_width,
                &number.map_or_else(String::new, |number| number.to_string()),
                &one.id,
                &ago(one.summary.at),
                &one.summary.turns.to_string(),
                &one.summary.pending.to_string(),
            );
            let open = if one.in_use { "(in use) " } else { "" };
            let title = match plain_line(&one.summary.title) {
                empty if empty.trim().is_empty() => "(no title)".to_owned(),
                title => title,
            };
            let room = WIDTH.saturating_sub(start.width());
            out.push_str(&format!("{start}{}\n", cut(&format!("{open}{title}"), room)));
        }
    }
    out
}

fn row(id_width: usize, number: &str, id: &str, used: &str, turns: &str, pending: &str) -> String {
    let id: String = id.chars().take(id_width).collect();
    format!("{number:>2}  {id:<id_width$}  {used:<13}  {turns:>5}  {pending:>9}  ")
}

/// How many characters of an id tell all of them apart.
fn id_width(all: &[SessionListing]) -> usize {
    let mut ids: Vec<&str> = all.iter().map(|one| &*one.id).collect();
    ids.sort_unstable();
    let shared = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let pairs = ids.iter().zip(ids.iter().skip(1));
    pairs.map(|(a, b)| shared(a, b) + 1).max().unwrap_or(0).max(SHORTEST_ID)
}

fn at_home(root: &str, home: Option<&Path>) -> String {
    match home.and_then(|home| Path::new(root).strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => root.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_agent::journal::record::JournalSummary;

    fn listed(id: &str, title: &str, in_use: bool) -> SessionListing {
        SessionListing {
            id: id.to_owned(),
            roots: vec!["/home/ada/app".to_owned()],
            began: 0,
            member: None,
            summary: JournalSummary {
                title: title.to_owned(),
                turns: 1_234_567,
                pending: 3,
                ..JournalSummary::default()
            },
            bytes: 0,
            in_use,
        }
    }

    #[test]
    fn rows_fit_whatever_a_title_holds() {
        let titles =
            ["", "a\u{1b}[2J\nb\tc", &"日本".repeat(90), &"x".repeat(5_000), "\u{202e}evil"];
        let all: Vec<SessionListing> = (0_u8..)
            .zip(titles)
            .map(|(n, title)| listed(&format!("1234567890{n}-1"), title, n == 2))
            .collect();
        let table =
            table(&all.iter().collect::<Vec<_>>(), &all, &all, Some(Path::new("/home/ada")));
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 2 + titles.len(), "{table}");
        assert_eq!(lines[0], "In ~/app:");
        assert!(lines.iter().all(|line| line.width() <= WIDTH + 2), "{table}");
        assert!(
            !table.contains(|c: char| c.is_control() && c != '\n') && !table.contains('\u{202e}')
        );
        assert!(table.contains("(no title)") && table.contains("a␛[2J b c"), "{table}");
        assert!(table.contains("(in use) 日本") && table.contains('…'), "{table}");
        for (line, one) in lines.iter().skip(2).zip(&all) {
            let id = line.split_whitespace().nth(1).unwrap();
            assert_eq!(all.iter().filter(|any| any.id.starts_with(id)).count(), 1, "{id}");
            assert!(one.id.starts_with(id));
        }
    }
}
