//! `edit_file`.

use crate::support::Bench;
use ropewalk_text::Text;
use serde_json::{Value, json};

/// An edit of a file: what is said (its beginning) and what the file is afterwards.
fn check(before: &str, old: &str, new: &str, more: Value, said: &str, after: &str) {
    let mut bench = Bench::new(&[("f", before.as_bytes())]);
    let mut input = json!({"path": "f", "old_text": old, "new_text": new});
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let output = bench.say("edit_file", input);
    assert!(output.starts_with(said), "{before:?} {old:?}: {output}");
    assert_eq!(bench.text("f"), after, "{before:?} {old:?}: {output}");
}

#[test]
fn the_first_is_edited_and_the_others_named() {
    let none = json!({});
    check("a b\n", "b", "c", none.clone(), "Edited f (line 1)", "a c\n");
    check(
        "x\nx\n",
        "x",
        "y",
        none.clone(),
        "Edited f (line 1). old_text is also in line 2: occurrence",
        "y\nx\n",
    );
    check(
        "x\nx\nx\n",
        "x",
        "y",
        json!({"occurrence": 2}),
        "Edited f (line 2). old_text is also in lines 1 and 3: ",
        "x\ny\nx\n",
    );
    check(
        "x\nx\n",
        "x",
        "xx",
        json!({"replace_all": true}),
        "Edited f (2 places, in lines 1 and 2)",
        "xx\nxx\n",
    );
    check("x\n", "x", "y", json!({"replace_all": true}), "Edited f (line 1)", "y\n");
    check(
        &"x\n".repeat(9),
        "x",
        "",
        json!({"replace_all": true}),
        "Edited f (9 places, in lines 1, 2, 3, 4, 5, 6 and 3 more)",
        &"\n".repeat(9),
    );
    check("whole", "whole", "other", none.clone(), "Edited f (line 1)", "other");
    check("whole\n", "whole\n", "", none.clone(), "Edited f (line 1)", "");
    check("no end", "end", "end\n", none.clone(), "Edited f", "no end\n");
    check("日本語😀e\u{301}\tx", "語😀e\u{301}\t", "漢", none.clone(), "Edited f", "日本漢x");
}

#[test]
fn what_can_t_be_edited_is_said() {
    let none = json!({});
    check(
        "x\nx\n",
        "x",
        "y",
        json!({"occurrence": 3}),
        "Error: old_text is in f only 2 times (line 1 and 2)",
        "x\nx\n",
    );
    check(
        "x\n",
        "x",
        "y",
        json!({"replace_all": true, "occurrence": 1}),
        "Error: give replace_all or occurrence",
        "x\n",
    );
    check("x\n", "x", "y", json!({"occurrence": 0}), "Error: occurrence counts from 1", "x\n");
    check("x\n", "x", "x", none.clone(), "Error: old_text and new_text are equal", "x\n");
    check("x\r\n", "x\r\n", "x\n", none.clone(), "Error: old_text and new_text are equal", "x\r\n");
    check("x\n", "", "y", none.clone(), "Error: old_text is empty", "x\n");
    check(
        "",
        "",
        "y",
        none.clone(),
        "Error: old_text is empty, so there is nothing to find. To make a file or replace its whole text use write_file",
        "",
    );
    check("", "x", "y", none.clone(), "Error: Text not found in f", "");
}

#[test]
fn line_ends_are_the_files() {
    let none = json!({});
    check(
        "a\r\nb\r\nc\r\n",
        "a\nb\n",
        "a\nB\nd\n",
        none.clone(),
        "Edited f (line 1)",
        "a\r\nB\r\nd\r\nc\r\n",
    );
    check("a\r\nb\r\n", "b", "b\nc", none.clone(), "Edited f (line 2)", "a\r\nb\r\nc\r\n");
    check("a\r\nb", "b", "b\nc", none.clone(), "Edited f (line 2)", "a\r\nb\r\nc");
    check("a\rb\rc", "a\nb", "a\nx\nb", none.clone(), "Edited f (line 1)", "a\rx\rb\rc");
    check("a\nb\n", "a\r\nb", "a\r\nc", none.clone(), "Edited f (line 1)", "a\nc\n");
    // Every line of a mixed file keeps its own, changed or not.
    check(
        "a\r\nb\nc\r\nd\n",
        "a\nb\nc\nd\n",
        "a\nB\nC\nd\n",
        none.clone(),
        "Edited f",
        "a\r\nB\nC\r\nd\n",
    );
    check(
        "\u{feff}a\r\nb\r\n",
        "a\nb",
        "x\ny\nz",
        none.clone(),
        "Edited f (line 1)",
        "\u{feff}x\r\ny\r\nz\r\n",
    );
    check(
        "x\r\nx\n",
        "x\n",
        "y\nz\n",
        json!({"replace_all": true}),
        "Edited f (2 places",
        "y\r\nz\r\ny\nz\n",
    );
}

#[test]
fn an_edit_in_a_large_buffer_is_small_and_quick() {
    let line = "0123456789 abcdefghij klmnopqrst uvwxyz\n";
    let mut text = line.repeat((10 << 20) / line.len());
    text.push_str("needle\n");
    let mut bench = Bench::new(&[("f", b"")]);
    bench.open("f", &text);
    let input = json!({"path": "f", "old_text": "z\nneedle\n", "new_text": "z\nfound\n"});
    let context = bench.context();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let began = std::time::Instant::now();
    let output = runtime.block_on(bench.begin("edit_file", input, context));
    let took = began.elapsed();
    println!("an edit at the end of 10 MB: {took:?}");
    let [proposal] = output.proposals.as_slice() else { panic!("{}", output.words()) };
    let ropewalk_workspace::ProposedChange::Edit(set) = &proposal.change else { panic!() };
    let changed: usize = set.changes().iter().map(|c| c.range.len() + c.text.len()).sum();
    assert!(changed < 40, "{set:?}");
    let after = set.apply(&Text::from(text.as_str())).unwrap();
    assert_eq!(after.to_string(), text.replace("needle", "found"));
}

const FILE: &str = "fn main() {\n\tlet name = \"x\";\n    print(name);  \n}\n\nfn other() {\n    print(\u{201c}caf\u{e9}\u{201d});\n}\n";

/// An edit of [`FILE`] whose text is not there, and parts of what is said.
const NOT_THERE: &[(&str, &str, &[&str])] = &[
    (
        "    let name = \"x\";\n",
        "n",
        &[
            "but nearly in line 2: line 2 begins with 1 tab, in old_text with 4 spaces",
            "\n     2\t\tlet name",
        ],
    ),
    (
        "print(name);\n}",
        "n",
        &["lines 3 to 4: line 3 ends in white space in the file, not in old_text"],
    ),
    ("print( name );", "n", &["line 3: the white space inside line 3 differs"]),
    (
        "    print(name);\n}\n",
        "n",
        &["lines 3 to 4: line 3 ends in white space in the file, not in old_text"],
    ),
    (
        "fn main() {\n\n\tlet name",
        "n",
        &["lines 1 to 2: line breaks, blank lines or white space differ"],
    ),
    ("FN MAIN() {", "n", &["line 1: upper and lower case differ"]),
    ("print(\"caf\u{e9}\")", "n", &["line 7: some characters only look the same"]),
    ("cafe\u{301}", "n", &["line 7: the same characters are composed differently"]),
    ("\u{feff}fn main", "n", &["line 1: some characters only look the same"]),
    (
        "     1\tfn main() {\n     2\t\tlet name",
        "n",
        &["numbers that a read shows; leave them out (the rest is in line 1)"],
    ),
    (
        "     1\tfn main() {\n     2\tlet name",
        "n",
        &["numbers that a read shows; leave them out, but nearly in lines 1 to 2: "],
    ),
    ("fn before() {", "fn other() {", &["new_text is there already, in line 6"]),
    (
        "fn main() {\n\tlet name = \"y\";\n    print(name);",
        "n",
        &[
            "The nearest lines are these; line 2 is \"\\tlet name = \\\"x\\\";\" where old_text has",
            "\n     1\tfn main() {\n",
        ],
    ),
    ("let nane = 1;", "n", &["The nearest lines are these; line 2 is"]),
    ("wholly different", "n", &["No line in it is like old_text; read it"]),
    ("\n\n\n\n", "n", &["No line in it is like old_text"]),
];

#[test]
fn why_a_text_is_not_there_is_said() {
    for (old, new, words) in NOT_THERE {
        let mut bench = Bench::new(&[("f", FILE.as_bytes())]);
        let said = bench.say("edit_file", json!({"path": "f", "old_text": old, "new_text": new}));
        assert!(said.starts_with("Error: Text not found in f"), "{said}");
        for words in *words {
            assert!(said.contains(words), "{old:?}: {said}");
        }
        assert!(said.len() < 2000, "{said}");
    }
}

#[test]
fn a_text_that_is_not_in_a_large_file_is_looked_for_in_bounded_time() {
    let mut text = "0123456789 abcdefghij klmnopqrst uvwxyz\n".repeat(50_000);
    text.push_str("\tif (found) {\n\t\treturn;\n");
    let long = "x".repeat(1 << 20);
    for old in ["    if (found) {\n        return;", &long, "}\n".repeat(5000).as_str()] {
        let mut bench = Bench::new(&[("f", text.as_bytes()), ("g", long.repeat(2).as_bytes())]);
        for path in ["f", "g"] {
            let input = json!({"path": path, "old_text": format!("{old} "), "new_text": "n"});
            let said = bench.say("edit_file", input);
            assert!(said.starts_with("Error: Text not found in "), "{said}");
            assert!(said.len() < 6000, "{}", said.len());
            assert_eq!(
                said.contains("nearly in lines 50001 to 50002"),
                path == "f" && old.contains("if")
            );
        }
    }
}

#[test]
fn an_edit_keeps_the_files_bytes_and_builds_on_what_is_pending() {
    for (before, old, new, after) in [
        (b"\xEF\xBB\xBFa\r\nb".as_slice(), "a\nb", "a\nc", b"\xEF\xBB\xBFa\r\nc".as_slice()),
        (b"caf\xE9\nx", "\u{e9}\nx", "\u{e8}\ny", b"caf\xE8\ny"),
        (b"\xFF\xFEa\0\n\0", "a", "\u{65e5}", b"\xFF\xFE\xE5\x65\n\0"),
    ] {
        let mut bench = Bench::new(&[("f", before)]);
        let said = bench.say("edit_file", json!({"path": "f", "old_text": old, "new_text": new}));
        assert!(said.starts_with("Edited f"), "{said}");
        assert_eq!(bench.bytes("f").unwrap(), after);
    }
    let mut bench =
        Bench::new(&[("f", b"on disk\n"), ("latin", b"\xE9"), ("n.ipynb", b"{}"), ("b", b"\0")]);
    bench.open("f", "one two\n");
    bench.open_notebook("n.ipynb");
    for (old, new) in [("one", "1"), ("1 two", "1 2"), ("2\n", "2\n3\n")] {
        bench.say("edit_file", json!({"path": "f", "old_text": old, "new_text": new}));
    }
    assert_eq!(bench.text("f"), "1 2\n3\n");
    for (path, expected) in [
        ("latin", "Error: latin: '\u{65e5}' cannot be written in this file's encoding"),
        ("n.ipynb", "Error: n.ipynb is a notebook"),
        ("b", "Error: b is a binary file (1 bytes), not text"),
    ] {
        let input = json!({"path": path, "old_text": "\u{e9}", "new_text": "\u{65e5}"});
        let said = bench.say("edit_file", input);
        assert!(said.starts_with(expected), "{said}");
    }
}
