//! `read_file` and `write_file`.

use crate::support::Bench;
use serde_json::{Value, json};

/// Words of `read_file` on a file.
fn read(bytes: &[u8], mut input: Value) -> String {
    let mut bench = Bench::new(&[("f", bytes)]);
    input["path"] = "f".into();
    bench.say("read_file", input)
}

#[test]
fn lines_are_numbered() {
    for (bytes, input, expected) in [
        (b"one\ntwo\n".as_slice(), json!({}), "     1\tone\n     2\ttwo"),
        (b"one\r\ntwo", json!({}), "     1\tone\n     2\ttwo"),
        (b"one\rtwo\r", json!({}), "     1\tone\n     2\ttwo"),
        (b"\xEF\xBB\xBFone\n\n\nfour", json!({}), "     1\tone\n     2\t\n     3\t\n     4\tfour"),
        (b"caf\xE9\n", json!({}), "     1\tcaf\u{e9}"),
        ("日本\t語\n".as_bytes(), json!({}), "     1\t日本\t語"),
        (b"", json!({}), "(f is empty)"),
        (b"\n", json!({}), "     1\t"),
        (
            b"1\n2\n3\n",
            json!({"limit": 2}),
            "     1\t1\n     2\t2\n... (1 more lines) Read on with offset 3.",
        ),
        (b"1\n2\n3\n", json!({"offset": 2, "limit": 2}), "     2\t2\n     3\t3"),
        (
            b"1\n2\n3\n",
            json!({"offset": 0, "limit": 1}),
            "     1\t1\n... (2 more lines) Read on with offset 2.",
        ),
        (b"1\n2\n3\n", json!({"offset": "3"}), "     3\t3\n(`offset` was converted to a number)"),
        (
            b"1\n2\n",
            json!({"offset": 3}),
            "Error: f has 2 lines, so there is no line 3. Use a smaller offset",
        ),
        (b"a\0b", json!({}), "f is a binary file of 3 bytes; it has no lines to show"),
    ] {
        assert_eq!(read(bytes, input), expected, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_picture_is_refused_in_words_of_its_own() {
    let mut bench = Bench::new(&[
        ("logo.PNG", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("é.webp", b"RIFF\0\0\0\0WEBP"),
        ("vector.svg", b"<svg/>\n"),
        ("not.png", b"text\n"),
    ]);
    for (path, expected) in [
        (
            "logo.PNG",
            "logo.PNG is a picture of 16 bytes. Pictures can't be shown to you here: ask the user what is on it if that matters",
        ),
        (
            "é.webp",
            "é.webp is a picture of 12 bytes. Pictures can't be shown to you here: ask the user what is on it if that matters",
        ),
        ("vector.svg", "     1\t<svg/>"),
        ("not.png", "     1\ttext"),
    ] {
        assert_eq!(bench.say("read_file", json!({"path": path})), expected);
    }
}

#[test]
fn a_page_is_as_long_as_the_bounds() {
    let mut bench = Bench::new(&[("f", "0123456789\n".repeat(1000).as_bytes())]);
    bench.put("long", "é".repeat(3000).as_bytes());
    bench.bounds.max_chars = 1000;
    let mut offset = 1;
    let mut pages = 0;
    loop {
        let said = bench.say("read_file", json!({"path": "f", "offset": offset}));
        assert!(said.chars().count() < 1100, "{said}");
        pages += 1;
        match said.split_once("Read on with offset ") {
            Some((_, next)) => offset = next.trim_end_matches('.').parse().unwrap(),
            None => break,
        }
    }
    assert_eq!(pages, 19, "1,000 lines of 18 characters in pages of 1,000");
    let long = bench.say("read_file", json!({"path": "long"}));
    assert!(long.starts_with("     1\téé") && long.contains("line 1 is cut: 2007 more"), "{long}");
}

#[test]
fn the_users_text_and_the_forks_win_over_the_disks() {
    let mut bench = Bench::new(&[("a", b"disk\n"), ("b", b"disk\n"), ("c", b"disk\n")]);
    bench.open("a", "buffer\n");
    bench.open("b", "disk\n");
    assert_eq!(
        bench.say("read_file", json!({"path": "a"})),
        "     1\tbuffer\n(unsaved text of the editor)"
    );
    assert_eq!(bench.say("read_file", json!({"path": "b"})), "     1\tdisk");
    bench.say("write_file", json!({"path": "c", "content": "fork\n"}));
    bench.say("write_file", json!({"path": "a", "content": "fork\n"}));
    assert_eq!(
        bench.say("read_file", json!({"path": "c"})),
        "     1\tfork\n(with pending changes)"
    );
    assert_eq!(
        bench.say("read_file", json!({"path": "a"})),
        "     1\tfork\n(unsaved text of the editor, with pending changes)"
    );
}

#[test]
fn what_is_not_there_is_said() {
    let mut bench = Bench::new(&[("src/main.rs", b"fn main() {}\n"), ("src/lib.rs", b"")]);
    for (path, expected) in [
        ("src", "Error: src is a folder, not a file. List it to see what is in it"),
        (".", "Error: . is a folder, not a file. List it to see what is in it"),
        ("src/Main.rs", "Error: There is no file src/Main.rs. Did you mean src/main.rs?"),
        ("nothing", "Error: There is no file nothing"),
        ("../outside/secret.txt", "Error: Path escapes workspace: ../outside/secret.txt"),
        ("", "Error: The path is empty"),
    ] {
        for tool in ["read_file", "edit_file"] {
            let input = match tool {
                "read_file" => json!({"path": path}),
                _ => json!({"path": path, "old_text": "a", "new_text": "b"}),
            };
            let said = bench.say(tool, input);
            assert!(said.starts_with(expected), "{tool}: {said}");
        }
    }
    let outputs = bench.beside("outputs/x.txt");
    std::fs::write(&outputs, "whole\n").unwrap();
    let said = bench.say("read_file", json!({"path": outputs.to_str().unwrap()}));
    assert_eq!(said, "     1\twhole", "outputs are readable");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc/hostname", bench.path("leads-out")).unwrap();
        let said = bench.say("read_file", json!({"path": "leads-out"}));
        assert!(said.starts_with("Error: Path escapes workspace: leads-out"), "{said}");
    }
    let input = json!({"path": outputs.to_str().unwrap(), "content": "x"});
    assert!(bench.say("write_file", input).starts_with("Error: Path escapes workspace: "));
}

#[test]
fn a_written_file_keeps_its_ways() {
    for (before, content, said, after) in [
        (None, "é\n", "Wrote 3 bytes to f (new file)", "é\n".as_bytes()),
        (None, "", "Wrote 0 bytes to f (new file)", b""),
        (Some(b"a\n".as_slice()), "b\n", "Wrote 2 bytes to f", b"b\n"),
        (Some(b"a\n"), "", "Wrote 0 bytes to f", b""),
        (Some(b"a\n"), "a\n", "f holds exactly this text already; nothing to change", b"a\n"),
        (
            Some(b"a\r\nb\r\n"),
            "a\nc\n",
            "Wrote 6 bytes to f (its CRLF line ends kept)",
            b"a\r\nc\r\n",
        ),
        (
            Some(b"a\r\nb\r\n"),
            "a\r\nb\r\n",
            "f holds exactly this text already; nothing to change",
            b"a\r\nb\r\n",
        ),
        (Some(b"a\nb\nc\r\n"), "x\ny", "Wrote 3 bytes to f", b"x\ny"),
        (
            Some(b"\xEF\xBB\xBFa\n"),
            "b\n",
            "Wrote 5 bytes to f (its byte order mark kept)",
            b"\xEF\xBB\xBFb\n",
        ),
        (
            Some(b"\xEF\xBB\xBFa\n"),
            "\u{feff}b\n",
            "Wrote 5 bytes to f (its byte order mark kept)",
            b"\xEF\xBB\xBFb\n",
        ),
        (Some(b"caf\xE9\n"), "\u{e9}\n", "Wrote 2 bytes to f", b"\xE9\n"),
        (
            Some(b"caf\xE9\n"),
            "日\n",
            "Error: f: '日' cannot be written in this file's encoding, ISO 8859-1; write it another way",
            b"caf\xE9\n",
        ),
        (Some(b"a\0"), "text\n", "Wrote 5 bytes to f (it was a binary file)", b"text\n"),
    ] {
        let mut bench = Bench::new(&[]);
        if let Some(before) = before {
            bench.put("f", before);
        }
        assert_eq!(bench.say("write_file", json!({"path": "f", "content": content})), said);
        assert_eq!(bench.bytes("f").unwrap(), after, "{said}");
    }
}

#[test]
fn what_can_not_be_written_is_refused() {
    let mut bench = Bench::new(&[("dir/file", b"x"), ("n.ipynb", b"{}")]);
    bench.open_notebook("n.ipynb");
    bench.say("write_file", json!({"path": "new/a", "content": "a"}));
    for (path, expected) in [
        ("dir", "Error: dir is a folder, not a file"),
        ("dir/", "Error: dir/ names a folder. Give the path of a file"),
        ("dir/file/x", "Error: The path dir/file/x goes through a file: dir/file is not a folder"),
        ("new", "Error: new is a folder, because you wrote files into it"),
        ("new/a/b", "Error: new/a/b can't be there: a part of its path is a file that you wrote"),
        ("n.ipynb", "Error: n.ipynb is a notebook"),
        ("/etc/passwd", "Error: Path escapes workspace: /etc/passwd"),
    ] {
        let said = bench.say("write_file", json!({"path": path, "content": "x"}));
        assert!(said.starts_with(expected), "{said}");
    }
    // One that is closed, or open as text, is a file.
    for name in ["closed.ipynb", "text.ipynb"] {
        bench.put(name, b"{}");
    }
    bench.open("text.ipynb", "{}");
    for name in ["closed.ipynb", "text.ipynb"] {
        let said = bench.say("edit_file", json!({"path": name, "old_text": "{", "new_text": "{ "}));
        assert!(said.starts_with("Edited "), "{said}");
    }
    let said = bench.say("write_file", json!({"path": "f", "content": "a\0"}));
    assert!(said.starts_with("Error: content holds a NUL"), "{said}");
}

#[test]
fn a_huge_file_is_described() {
    let mut bench = Bench::new(&[]);
    let sparse = |name: &str, len: u64| {
        std::fs::File::create(bench.path(name)).unwrap().set_len(len).unwrap();
    };
    sparse("huge", (256 << 20) + 1);
    sparse("large", 65 << 20);
    let words = "Error: huge has 268435457 bytes, more than the 268435456 that are read as text. A command can read parts of it";
    for (tool, input) in [
        ("read_file", json!({"path": "huge"})),
        ("edit_file", json!({"path": "huge", "old_text": "a", "new_text": "b"})),
        ("write_file", json!({"path": "huge", "content": "b"})),
        ("delete_file", json!({"path": "huge"})),
    ] {
        let said = bench.say(tool, input);
        assert!(said.starts_with(words), "{tool}: {said}");
    }
    let said = bench.say("grep", json!({"pattern": "a"}));
    assert_eq!(
        said,
        "(no matches)\n(not searched, because they can't be read or are too large: huge, large)"
    );
}
