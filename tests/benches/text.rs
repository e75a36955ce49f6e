//! Costs of the text room: an edit by positions, positions, search, diff, hash. Bars are in the
//! README.
#![expect(clippy::expect_used, reason = "a bench that can't run may say so bluntly")]

mod harness;

use harness::{Bar, MEGABYTE, Places, Report, Work, code, rate, shortest};
use ropewalk_text::{
    ChangeSet, Coordinates, LineEndSearch, Position, PositionEncoding, Text, diff, find_all,
};
use std::hint::black_box;

const UTF16: Coordinates =
    Coordinates { encoding: PositionEncoding::Utf16, line_ends: ropewalk_text::LineEnds::Lsp };

/// `times` edits as a server makes them: two positions to bytes, one replacement.
fn edit(string: &str, times: u64, new: &str, deleted: u32, keep_clones: bool) {
    let mut text = Text::from(string);
    let mut clone = None;
    let lines = UTF16.line_count(&text);
    let mut places = Places(7);
    for _ in 0..times {
        let start = Position::new(places.next(lines - 1) as u32, (places.next(4)) as u32);
        let end = Position::new(start.line, start.character + deleted);
        let from = UTF16.position_to_byte(&text, start).byte;
        let to = if deleted == 0 { from } else { UTF16.position_to_byte(&text, end).byte };
        if keep_clones {
            clone = Some(text.clone());
        }
        text.replace(from..to, new);
    }
    black_box((text, clone));
}

fn hundred() -> String {
    "x".repeat(99) + "\n"
}

/// Positions to bytes and back all over a text.
fn positions(string: &str, times: u64, back: bool) {
    let text = Text::from(string);
    let lines = UTF16.line_count(&text);
    let mut places = Places(7);
    for _ in 0..times {
        if back {
            black_box(UTF16.byte_to_position(&text, places.next(text.len())));
        } else {
            let position = Position::new(places.next(lines) as u32, places.next(40) as u32);
            black_box(UTF16.position_to_byte(&text, position));
        }
    }
}

fn accented(bytes: usize) -> String {
    code(bytes, "\n").replace("value", "größe").replace("tree", "木")
}

const WORKS: &[Work] = &[
    Work {
        name: "insert 100 bytes",
        run: |n| edit(&code(MEGABYTE, "\n"), n, &hundred(), 0, false),
    },
    Work { name: "insert 1 byte", run: |n| edit(&code(MEGABYTE, "\n"), n, "x", 0, false) },
    Work {
        name: "replace 4 by 100 bytes",
        run: |n| edit(&code(MEGABYTE, "\n"), n, &hundred(), 4, false),
    },
    Work {
        name: "insert 100 bytes, CRLF",
        run: |n| edit(&code(MEGABYTE, "\r\n"), n, &hundred(), 0, false),
    },
    Work {
        name: "insert 100 bytes, not ASCII",
        run: |n| edit(&accented(MEGABYTE), n, &hundred(), 0, false),
    },
    Work {
        name: "insert 100 bytes, forked each time",
        run: |n| edit(&code(MEGABYTE, "\n"), n, &hundred(), 0, true),
    },
    Work {
        name: "insert 100 bytes, beside a lone CR",
        run: |n| edit(&format!("\r{}", code(MEGABYTE, "\n")), n, &hundred(), 0, false),
    },
    Work { name: "position to byte", run: |n| positions(&code(MEGABYTE, "\n"), n, false) },
    Work { name: "byte to position", run: |n| positions(&code(MEGABYTE, "\n"), n, true) },
    Work { name: "position to byte, not ASCII", run: |n| positions(&accented(MEGABYTE), n, false) },
    Work { name: "byte to position, not ASCII", run: |n| positions(&accented(MEGABYTE), n, true) },
];

/// Exact search in the rope against memmem over the same text in one piece.
fn search(report: &mut Report, megabytes: usize) {
    let name = format!("search {megabytes} MB, rate to memmem's");
    if !report.wants(&name) {
        return;
    }
    let string = code(megabytes * MEGABYTE, "\n");
    let text = Text::from(string.as_str());
    let needle = "compute(output";
    assert_eq!(memchr::memmem::find(string.as_bytes(), needle.as_bytes()), None);
    let (mut rope, mut plain) = (f64::MAX, f64::MAX);
    // Turn about, so that both have the same neighbours, and often enough to be alone once.
    for _ in 0..500_usize.div_ceil(megabytes).max(9) {
        plain = plain.min(
            shortest(1, || memchr::memmem::find(string.as_bytes(), needle.as_bytes()))
                .as_secs_f64(),
        );
        rope = rope.min(
            shortest(1, || find_all(&text, needle, LineEndSearch::Exact).count()).as_secs_f64(),
        );
    }
    report.row(&name, plain / rope, "x", Bar::AtLeast(0.5));
    report.row(
        &format!("search {megabytes} MB, rope"),
        string.len() as f64 / rope / 1e9,
        "GB/s",
        Bar::Shown,
    );
    let crlf = string.replace('\n', "\r\n");
    let crlf = Text::from(crlf.as_str());
    let needle = "compute(output\n}";
    let time = shortest(3, || find_all(&crlf, needle, LineEndSearch::Aside).count());
    report.row(
        &format!("search {megabytes} MB, line ends aside"),
        rate(crlf.len(), time),
        "GB/s",
        Bar::Shown,
    );
}

fn main() {
    harness::main(WORKS, |report| {
        for name in [
            "insert 100 bytes",
            "insert 1 byte",
            "replace 4 by 100 bytes",
            "insert 100 bytes, CRLF",
            "insert 100 bytes, not ASCII",
            "insert 100 bytes, forked each time",
        ] {
            report.instructions(name, 2000, Bar::AtMost(8000.0));
        }
        report.instructions("insert 100 bytes, beside a lone CR", 50, Bar::Shown);
        for name in [
            "position to byte",
            "byte to position",
            "position to byte, not ASCII",
            "byte to position, not ASCII",
        ] {
            report.instructions(name, 10_000, Bar::AtMost(2000.0));
        }
        search(report, 10);
        search(report, 100);

        let string = code(10 * MEGABYTE, "\n");
        let text = Text::from(string.as_str());
        let time = shortest(5, || Text::from(string.as_str()));
        report.row("load 10 MB", rate(string.len(), time), "GB/s", Bar::Shown);
        let time = shortest(5, || text.hash());
        report.row("hash 10 MB", rate(string.len(), time), "GB/s", Bar::Shown);
        let small = Text::from(code(MEGABYTE, "\n").as_str());
        let mut typed = Text::from(small.to_string().as_str());
        typed.replace(MEGABYTE / 2..MEGABYTE / 2, "x");
        let time = shortest(20, || diff(&small, &typed));
        report.row("diff 1 MB, one key", time.as_secs_f64() * 1e6, "µs", Bar::Shown);
        let indented = Text::from(small.to_string().replace("    ", "  ").as_str());
        let time = shortest(5, || diff(&small, &indented));
        report.row(
            "diff 1 MB, every line indented anew",
            time.as_secs_f64() * 1e3,
            "ms",
            Bar::Shown,
        );
        let keys: Vec<ChangeSet> =
            (0..1000).map(|n| ChangeSet::single(MEGABYTE + n, n * 997..n * 997, "x")).collect();
        let time = shortest(5, || ChangeSet::compose_all(&keys));
        report.row("compose 1,000 keys", time.as_secs_f64() * 1e6, "µs", Bar::Shown);
    });
}
