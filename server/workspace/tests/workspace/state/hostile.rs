//! Journals that were edited by hand, cut off, or come from elsewhere: an error in words or a file left out, never
//! a panic, and nothing outside the roots.

use super::world::World;
use proptest::prelude::*;
use ropewalk_workspace::state::{SavedState, StateError, StateRecord};
use ropewalk_workspace::{DocId, Fork, HunkSelection, Note, state};
use serde_json::{Value, json};
use std::sync::Mutex;

const TEXT: &str = "é\ntwo\nthree\n";

fn file(doc: &str, change: &Value) -> Value {
    let mut record = json!({
        "kind": "file", "doc": doc, "shown": "a.txt", "base": "buffer", "text": { "whole": TEXT },
        "changes": [[3, 6, "TWO"]],
        "marks": [{ "id": 1, "turn": 1, "makers": [{ "call": "c1" }], "sent": null }],
    });
    record.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    record
}

fn take(kept: &mut SavedState, record: Value) -> Result<(), StateError> {
    kept.take(serde_json::from_value(record).unwrap())
}

fn refused(change: &Value) -> StateError {
    let mut kept = SavedState::default();
    take(&mut kept, file("untitled:a", &json!({}))).unwrap();
    let before = kept.clone();
    let error = take(&mut kept, file("untitled:a", change)).unwrap_err();
    assert_eq!(kept, before, "the state is as it was");
    error
}

#[test]
fn changes_that_fit_nothing_are_refused() {
    let misplaced = [
        json!([[4, 100, "x"]]),
        json!([[1, 2, "inside é"]]),
        json!([[6, 3, "backwards"]]),
        json!([[3, 3, ""]]),
        json!([[usize::MAX, usize::MAX, "x"]]),
    ];
    for changes in misplaced {
        let error = refused(&json!({ "changes": changes }));
        assert!(matches!(error, StateError::Misplaced { .. }), "{error}");
    }
    let two = json!({ "changes": [[5, 6, "x"], [3, 4, "y"]] });
    assert!(matches!(refused(&two), StateError::Misplaced { .. }));
    assert!(matches!(refused(&json!({ "marks": [] })), StateError::Marks { .. }));
    assert!(matches!(refused(&json!({ "base": "absent" })), StateError::TextOfNothing { .. }));
    let disk = json!({ "disk": [[0, 99, ""]] });
    assert!(matches!(refused(&disk), StateError::Misplaced { .. }));
    let itself = json!({ "file": [{ "rename": { "from": "untitled:a" } },
        { "id": 1, "turn": 1, "makers": [], "sent": null }] });
    assert!(matches!(refused(&itself), StateError::FromItself { .. }));
    for (id, turn) in [(u64::MAX, 1), (1, u64::MAX)] {
        let huge = json!({ "marks": [{ "id": id, "turn": turn, "makers": [], "sent": null }] });
        assert!(matches!(refused(&huge), StateError::TooLarge { .. }));
    }
    let mut kept = SavedState::default();
    let change = json!({ "text": { "changed": [] } });
    let error = take(&mut kept, file("untitled:b", &change)).unwrap_err();
    assert!(matches!(error, StateError::NoBase { .. }), "{error}");
    let ids = json!({ "kind": "ids", "hunk": u64::MAX, "publish": 0 });
    assert!(matches!(take(&mut kept, ids), Err(StateError::TooLarge { .. })));
    assert_eq!(kept, SavedState::default());
}

#[test]
fn what_is_no_record_is_an_error_of_its_reader() {
    let hash = |text: &str| {
        json!({ "kind": "file", "doc": "a", "shown": "a",
        "base": { "binary": { "hash": text } }, "text": { "whole": "" } })
    };
    assert!(serde_json::from_value::<StateRecord>(hash("0f")).is_ok());
    assert!(serde_json::from_value::<StateRecord>(hash("nothing")).is_err());
    let bytes = json!({ "kind": "file", "doc": "a", "shown": "a", "base": "absent", "text": { "whole": "" },
        "file": [{ "binary": "no base64!" }, { "id": 1, "turn": 1, "makers": [], "sent": null }] });
    assert!(serde_json::from_value::<StateRecord>(bytes).is_err());
}

#[test]
fn nothing_outside_the_roots_comes_back() {
    let world = World::new(&[("a.txt", TEXT)]);
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().canonicalize().unwrap().join("secret.txt");
    std::fs::write(&secret, TEXT).unwrap();
    std::os::unix::fs::symlink(&secret, world.path("link.txt")).unwrap();
    let uri = DocId::from_path(&secret).to_uri();
    let dir = world.id("x").to_uri();
    let dotted = format!("{}/../../{}", dir.trim_end_matches("/x"), &uri["file:///".len()..]);
    let mark = json!({ "id": 7, "turn": 1, "makers": [], "sent": null });
    for doc in [uri.clone(), dotted, world.id("link.txt").to_uri()] {
        for change in [
            json!({}),
            json!({ "base": { "disk": { "hash": "0", "format": { "encoding": "utf8", "bom": false } } } }),
            json!({ "file": ["delete", mark] }),
            json!({ "file": [{ "mode": 0o777 }, mark] }),
            json!({ "file": [{ "binary": "AAAA" }, mark] }),
            json!({ "mode": [0o777, mark] }),
        ] {
            let mut kept = SavedState::default();
            take(&mut kept, file(&doc, &change)).unwrap();
            let after = world.beside(&kept, &world.outside());
            assert_eq!(after.hunks(), [], "{doc}");
            assert!(matches!(&after.workspace.take_news("s")[..], [Note::NotRestored { .. }]));
        }
    }
    // Renames out of and into the roots, and lines of the ledger.
    let mut kept = SavedState::default();
    let renamed = json!({ "file": [{ "rename": { "from": uri } }, mark] });
    take(&mut kept, file(&world.id("b.txt").to_uri(), &renamed)).unwrap();
    take(&mut kept, file(&uri, &json!({ "file": ["away", mark] }))).unwrap();
    let line = json!({ "id": 9, "turn": 1, "path": uri, "file": "x", "before": "AAAA", "after": null,
        "undoing": false });
    let lines = json!({ "kind": "published", "id": 9, "files": [line] });
    take(&mut kept, lines).unwrap();
    let after = world.beside(&kept, &world.outside());
    assert_eq!(after.hunks(), []);
    assert_eq!(after.accept(&HunkSelection::All).done, []);
    assert_eq!(after.undo(&HunkSelection::All).done, []);
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), TEXT);
}

#[test]
fn ids_go_on_above_all_that_were_given() {
    let mut kept = SavedState::default();
    take(&mut kept, json!({ "kind": "ids", "hunk": 41, "publish": 17 })).unwrap();
    let world = World::new(&[("a.txt", TEXT)]);
    let after = world.beside(&kept, &world.outside());
    assert!(after.write("a.txt", "x\n").hunks.iter().all(|id| id.0 > 41));
    assert_eq!(after.workspace.publish_id().0, 18);
}

#[test]
fn records_written_before_modes_and_links_are_read() {
    use ropewalk_workspace::HunkKind;
    let world = World::new(&[("a.txt", TEXT), ("b.txt", "x\n")]);
    let hash = format!("{:032x}", ropewalk_workspace::ContentHash::of(TEXT.as_bytes()).0);
    let mut kept = SavedState::default();
    let mark = json!({ "id": 7, "turn": 1, "makers": [], "sent": null });
    let change = json!({
        "base": { "disk": { "hash": hash, "format": { "encoding": "utf8", "bom": false } } },
        "file": [{ "mode": 0o755 }, mark],
    });
    take(&mut kept, file(&world.id("a.txt").to_uri(), &change)).unwrap();
    let new = format!("{:032x}", ropewalk_workspace::ContentHash::of(b"x\n").0);
    let line = json!({ "id": 9, "turn": 1, "path": world.id("b.txt").to_uri(), "file": "b.txt",
        "before": "b2xkCg==", "after": new, "undoing": false });
    take(&mut kept, json!({ "kind": "published", "id": 9, "files": [line] })).unwrap();
    let after = world.beside(&kept, &world.outside());
    let kinds: Vec<HunkKind> = after.hunks().into_iter().map(|hunk| hunk.kind).collect();
    assert_eq!(kinds, [HunkKind::Mode(0o755), HunkKind::Text]);
    assert_eq!(after.accept(&HunkSelection::All).failed, []);
    assert_eq!(after.outside().modes.get("a.txt"), Some(&0o755));
    assert_eq!(after.undo(&HunkSelection::All).failed, []);
    assert_eq!(after.text("a.txt"), TEXT);
    assert_eq!(after.outside().modes.get("a.txt"), None);
    assert_eq!(after.text("b.txt"), "old\n");
}

proptest! {
    /// Any numbers, in records that are spelled right, do nothing worse than be refused.
    #[test]
    fn any_numbers(
        changes in prop::collection::vec((0usize..14, 0usize..14, "[a-z\n]{0,2}"), 0..3),
        ids in prop::collection::vec(any::<u64>(), 3), at in (any::<usize>(), any::<usize>()),
        sent in prop::option::of(0u64..9), base in 0usize..4,
    ) {
        let world = World::new(&[("a.txt", TEXT), ("b.txt", "x\n")]);
        let marks: Vec<Value> = changes.iter().zip(&ids)
            .map(|(_, id)| json!({ "id": id % 9, "turn": 1, "makers": [], "sent": sent })).collect();
        let bases: [Value; 4] = [json!("buffer"), json!("absent"), json!({ "binary": { "hash": "1" } }),
            json!({ "disk": { "hash": "0", "format": { "encoding": "latin1", "bom": true } } })];
        let base = bases[base].clone();
        let doc = world.id("a.txt").to_uri();
        let mut kept = SavedState::default();
        let change = json!({ "changes": changes, "marks": marks, "base": base });
        let _ = take(&mut kept, file(&doc, &change));
        let hunk = json!({ "id": 3, "turn": ids[0], "doc": doc, "file": "a.txt", "old": "two", "new": "2",
            "at": { "start": at.0, "end": at.1 }, "around": ["é\n", "\n"], "around_old": ["é\n", "\n"],
            "hash": "0", "saved": false, "undoing": sent });
        let _ = take(&mut kept, json!({ "kind": "published", "id": 3, "texts": [hunk] }));
        let open = World::beside(&world, &kept, &world.outside());
        open.accept(&HunkSelection::All);
        open.undo(&HunkSelection::All);
        state::go_back(&open.workspace, &Mutex::new(Fork::new("s".into())), &kept, &ropewalk_workspace::state::StayingCalls::new());
        prop_assert_eq!(open.text("b.txt"), "x\n");
    }
}
