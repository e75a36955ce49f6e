//! Documents of which a change was lost: nothing is made on a text that nobody knows, and it is known again from a
//! save, a change that holds all of it, or a new didOpen.

use proptest::prelude::*;
use ropewalk_text::{ChangeSet, Coordinates, Position, Text};
use ropewalk_workspace::document::Accord;
use ropewalk_workspace::proof::Settled;
use ropewalk_workspace::{ContentChange, DocId, Document, Habits, PublishId, Roots, Workspace};

/// A workspace with one open file.
struct Bench {
    _folder: tempfile::TempDir,
    path: std::path::PathBuf,
    workspace: Workspace,
    uri: String,
    id: DocId,
    version: i32,
}

impl Bench {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("a.txt");
        std::fs::write(&path, text).unwrap();
        let roots = Roots::new(vec![("w".to_owned(), path.parent().unwrap().to_owned())]);
        let workspace = Workspace::new(roots);
        let uri = DocId::from_path(&path).to_uri();
        let id = workspace.open(&uri, "text", 1, text);
        workspace.look_at_disk(&id);
        Self { _folder: folder, path, workspace, uri, id, version: 1 }
    }

    fn change(&mut self, range: Option<((u32, u32), (u32, u32))>, text: &str) -> bool {
        self.version += 1;
        let place = |(line, character)| Position::new(line, character);
        let range = range.map(|(start, end)| (place(start), place(end)));
        let change = ContentChange { range, text: text.to_owned() };
        self.workspace.change(&self.uri, self.version, &[change]).unwrap().lost
    }

    /// The editor writes this text, which is what it shows.
    fn save(&self, text: &str) {
        std::fs::write(&self.path, text).unwrap();
        self.workspace.written(&self.id);
    }

    fn text(&self) -> String {
        self.workspace.with_document(&self.id, |document| document.text().to_string()).unwrap()
    }

    fn accord(&self) -> Accord {
        self.workspace.with_document(&self.id, |document| document.accord()).unwrap()
    }
}

#[test]
fn a_change_that_was_lost_is_made_up_for_by_the_next_save() {
    let mut bench = Bench::new("one\ntwo\n");
    assert!(bench.workspace.lose_track(Some(&bench.uri)), "it is told once");
    assert!(!bench.workspace.lose_track(Some(&bench.uri)));
    assert_eq!(bench.workspace.desync_alarms(), 2);
    // The editor has "0ne" by now, and types on.
    assert!(!bench.change(Some(((1, 0), (1, 0))), "x"));
    assert_eq!(bench.accord(), Accord::Lost);
    bench.save("0ne\nxtwo\n");
    assert!(!bench.workspace.look_after_save(&bench.id));
    assert_eq!((bench.text().as_str(), bench.accord()), ("0ne\nxtwo\n", Accord::Certain));
}

#[test]
fn a_save_that_is_looked_at_too_late_makes_up_for_nothing() {
    let mut bench = Bench::new("one\n");
    bench.workspace.lose_track(Some(&bench.uri));
    bench.save("0ne\n");
    bench.change(Some(((0, 3), (0, 3))), "!");
    bench.workspace.look_after_save(&bench.id);
    assert_eq!((bench.text().as_str(), bench.accord()), ("one!\n", Accord::Lost));
    // Nor one of which the disk's text is a guess.
    std::fs::write(&bench.path, b"0ne\xe9\n").unwrap();
    bench.workspace.written(&bench.id);
    bench.workspace.look_after_save(&bench.id);
    assert_eq!((bench.text().as_str(), bench.accord()), ("one!\n", Accord::Lost));
    bench.save("0né!\n");
    bench.workspace.look_after_save(&bench.id);
    assert_eq!((bench.text().as_str(), bench.accord()), ("0né!\n", Accord::Certain));
}

#[test]
fn all_of_the_text_makes_up_for_it_and_so_does_opening_it_anew() {
    let mut bench = Bench::new("one\n");
    bench.workspace.lose_track(Some(&bench.uri));
    assert!(!bench.change(None, "0ne\n"));
    assert_eq!(bench.accord(), Accord::Certain);
    bench.workspace.lose_track(Some(&bench.uri));
    bench.workspace.close(&bench.uri);
    bench.workspace.open(&bench.uri, "text", 1, "zero\n");
    assert_eq!((bench.text().as_str(), bench.accord()), ("zero\n", Accord::Certain));
}

#[test]
fn a_reversed_range_is_read_the_other_way_round_and_not_relied_on() {
    let mut bench = Bench::new("one two\n");
    assert!(bench.change(Some(((0, 3), (0, 0))), "1"));
    assert_eq!((bench.text().as_str(), bench.accord()), ("1 two\n", Accord::Lost));
    assert_eq!(bench.workspace.desync_alarms(), 1);
}

#[test]
fn a_position_that_does_not_exist_is_doubted_until_the_next_save() {
    let mut bench = Bench::new("one\n");
    assert!(!bench.change(Some(((7, 0), (7, 0))), "two"));
    assert_eq!((bench.text().as_str(), bench.accord()), ("one\ntwo", Accord::Doubted));
    bench.save("one\n\ntwo");
    assert!(!bench.workspace.look_after_save(&bench.id));
    assert_eq!((bench.text().as_str(), bench.accord()), ("one\n\ntwo", Accord::Certain));
}

#[test]
fn a_buffer_of_line_feeds_stays_one_though_its_file_has_carriage_returns() {
    let bench = Bench::new("one\ntwo\n");
    bench.workspace.lose_track(Some(&bench.uri));
    bench.save("0ne\r\ntwo\r\n");
    bench.workspace.look_after_save(&bench.id);
    assert_eq!((bench.text().as_str(), bench.accord()), ("0ne\ntwo\n", Accord::Certain));
}

#[test]
fn what_is_not_open_or_not_known_only_counts() {
    let bench = Bench::new("one\n");
    assert!(!bench.workspace.lose_track(None));
    assert!(!bench.workspace.lose_track(Some("file:///elsewhere")));
    assert!(!bench.workspace.lose_track(Some("é no uri \u{0}")));
    assert_eq!((bench.workspace.desync_alarms(), bench.accord()), (3, Accord::Certain));
}

#[test]
fn an_edit_under_way_may_have_been_in_what_was_lost() {
    for client in ["Neovim", "who knows"] {
        let mut document = Document::new("untitled:a".into(), "text".into(), 1, Text::from("ab"));
        let edit = ChangeSet::single(2, 0..1, "c");
        let mut settled = document.expect(PublishId(1), edit).unwrap();
        assert!(document.lose_track());
        assert_eq!(settled.try_recv().unwrap(), Settled::Conflict);
        // Neither the answer nor a notification without it frees it to be sent again.
        document.answered(PublishId(1), true, true);
        document.change(3, &[], Coordinates::default(), &Habits::of(Some(client)));
        assert!(document.is_lost(PublishId(1)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever was lost, clamped or reversed before: after a save nothing is.
    #[test]
    fn after_a_save_the_text_is_the_editors(
        start in "[ab\n]{0,12}",
        deeds in prop::collection::vec((any::<bool>(), (0..4u32, 0..9u32), (0..4u32, 0..9u32), "[xé\n]{0,3}"), 0..8),
        shown in "[abxé\n]{0,12}",
        typed in "[xé\n]{0,3}",
    ) {
        let mut bench = Bench::new(&start);
        let mut odd = false;
        for (is_lost, from, to, text) in deeds {
            if is_lost {
                bench.workspace.lose_track(Some(&bench.uri));
            } else {
                bench.change(Some((from, to)), &text);
            }
            odd |= bench.accord() != Accord::Certain;
        }
        if !odd {
            // Else what the disk has is not what anybody shows.
            return Ok(());
        }
        bench.save(&shown);
        bench.workspace.look_after_save(&bench.id);
        prop_assert_eq!((bench.text(), bench.accord()), (shown.clone(), Accord::Certain));
        bench.change(Some(((0, 0), (0, 0))), &typed);
        prop_assert_eq!((bench.text(), bench.accord()), (typed + &shown, Accord::Certain));
    }
}
