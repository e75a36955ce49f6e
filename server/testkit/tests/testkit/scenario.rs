//! Faults of a page: each is told with its line and with the right form. Playing a page is tested
//! where the binary is, in `tests/scenarios.rs` of the repository.

use ropewalk_testkit::scenario::Scenario;
use std::path::Path;

/// Parses a page of these steps; the first of them is on line 3.
fn fault(steps: &str) -> String {
    let page = format!("What happens.\n---\n{steps}");
    let parsed = Scenario::parse(Path::new("page.txt"), &page);
    assert!(parsed.is_err(), "this should be no page:\n{page}");
    parsed.map_or_else(|fault| fault.to_string(), |_| String::new())
}

#[track_caller]
fn check(steps: &str, line: usize, words: &[&str]) {
    let said = fault(steps);
    assert!(said.starts_with(&format!("page.txt:{line}: ")), "{said}");
    for words in words {
        assert!(said.contains(words), "{words:?} is not in {said}");
    }
}

#[test]
fn an_unknown_verb_is_told_which_there_are() {
    check("open a.txt\nshout hello\n", 4, &["\"shout\"", "prompt", "buffer"]);
    check("model\n  says hi\n  mumbles hi\n", 5, &["\"mumbles\"", "sees", "calls"]);
}

#[test]
fn a_step_that_is_not_complete_is_told_how_it_is_used() {
    check("open\n", 3, &["open PATH"]);
    check("open a b\n", 3, &["one word", "open PATH"]);
    check("prompt\n", 3, &["the text is missing", "prompt TEXT"]);
    check("type a.txt 0 \"x\"\n", 3, &["\"0\" is no number from 1 on"]);
    check("type a.txt 1\n", 3, &["type PATH LINE"]);
    check("run accept {\"hunk\": }\n", 3, &["is no JSON", "run COMMAND"]);
    check("answer perhaps\n", 3, &["\"perhaps\" is no answer", "once, session"]);
    check("answer once please\n", 3, &["only a refusal has words"]);
    check("hunks\n", 3, &["hunks none"]);
    check("crash disk\n", 3, &["\"disk\" is nothing that crashes", "crash editor"]);
    check("window left\n", 3, &["\"left\" is no number from 1 on"]);
    check("model\n  conversation a b\n", 4, &["one word"]);
    check("config mode\n", 3, &["there is no ="]);
    check("editor ed\n", 3, &["no editor \"ed\"", "neovim", "helix"]);
    check("model\n  stops soon\n", 4, &["\"soon\" is no stop reason", "max_tokens"]);
    check("model\n  calls bash\n", 4, &["has no input"]);
    check("model\n  fails soon kind words\n", 4, &["\"soon\" is no status"]);
    check("model\n  sees \"x\" and \"y\"\n", 4, &["no JSON string"]);
    check("file a.txt utf7\n", 3, &["\"utf7\" says nothing of a text"]);
}

#[test]
fn lines_must_belong_to_a_step_that_has_lines() {
    check("| text\n", 3, &["belongs to a step above"]);
    check("  says hi\n", 3, &["belongs to a step above"]);
    check("open a.txt\n  | text\n", 3, &["open has no | lines"]);
    check("open a.txt\n  says hi\n", 4, &["open has no lines below it"]);
    check("model hi\n", 3, &["stands below it"]);
}

#[test]
fn the_world_is_made_before_the_user_acts() {
    check("open a.txt\neditor helix\n", 4, &["comes before what the user does"]);
}

#[test]
fn a_page_without_prose_or_steps_is_none() {
    let say = |text: &str| Scenario::parse(Path::new("p"), text).unwrap_err().to_string();
    assert!(say("open a.txt\n").contains("begins with prose"));
    assert!(say("\n---\nopen a.txt\n").contains("the prose is missing"));
    assert!(say("").contains("begins with prose"));
}

#[test]
fn prose_comments_and_long_lines_are_read() {
    let page = "A title.\n\nAnd why.\n---\n# a comment\n\nprompt One \\\n  two\nmodel\n  calls x {\"a\": \\\n    1}\n";
    let scenario = Scenario::parse(Path::new("p"), page).unwrap();
    assert_eq!(scenario.prose(), "A title.\n\nAnd why.");
}
