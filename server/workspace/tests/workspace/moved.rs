//! A file that moves on the disk under a clean buffer: the fork brings the disk's text along, a call builds on it, and
//! then the disk's text is read by the editor, or left. Either way it stands once, and the call's own change stays.

use proptest::prelude::*;
use ropewalk_text::{Position, Text};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::*;
use std::path::PathBuf;

const SAVED: &str = "one\ntwo\nthree\n";

struct Bench {
    _folder: tempfile::TempDir,
    path: PathBuf,
    uri: String,
    id: DocId,
    workspace: Workspace,
    fork: Fork,
}

impl Bench {
    /// A clean buffer, whose file then becomes `disk`; and a call that sees this, and writes `call`.
    fn new(disk: &str, call: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let path = root.join("a.txt");
        std::fs::write(&path, SAVED).unwrap();
        let workspace = Workspace::new(Roots::new(vec![("w".to_owned(), root)]));
        let uri = DocId::from_path(&path).to_uri();
        let id = workspace.open(&uri, "text", 1, SAVED);
        assert_eq!(workspace.look_at_disk(&id), DiskLook::Clean);
        let fork = Fork::new("s".into());
        let mut bench = Self { _folder: folder, path, uri, id, workspace, fork };
        bench.moves(disk);
        let view = bench.fork.view(bench.workspace.snapshot());
        let place = view.contain("a.txt").unwrap();
        let FileState::Text { text, .. } = view.read(&place).unwrap() else { unreachable!() };
        assert_eq!(text.to_string(), disk);
        let change = ProposedChange::Write(Text::from(call));
        let maker = Maker::Call("c".into());
        let proposals = vec![Proposal { place, change }];
        bench.fork.merge(&bench.workspace, &view, 1, &maker, proposals);
        assert_eq!(bench.text(), call);
        bench
    }

    fn moves(&mut self, disk: &str) {
        std::fs::write(&self.path, disk).unwrap();
        self.sync();
    }

    fn sync(&mut self) {
        self.workspace.look_at_disks();
        self.fork.sync_now(&self.workspace);
    }

    /// Puts these texts at the beginnings of lines, in one notification.
    fn insert(&self, version: i32, texts: &[(u32, &str)]) {
        let change = |(line, text): &(u32, &str)| {
            let at = Position::new(*line, 0);
            ContentChange { range: Some((at, at)), text: (*text).to_owned() }
        };
        let changes: Vec<ContentChange> = texts.iter().map(change).collect();
        self.workspace.change(&self.uri, version, &changes).unwrap();
    }

    /// The text with all that is pending, after a sync.
    fn text(&mut self) -> String {
        self.sync();
        let file = self.fork.files().find(|(id, _)| **id == self.id);
        file.map(|(_, file)| file.entry.text().to_string()).unwrap()
    }

    fn conflicts(&self) -> usize {
        self.workspace.take_news("s").iter().filter(|n| matches!(n, Note::Conflict { .. })).count()
    }
}

#[test]
fn what_a_call_put_beside_the_disks_text_stays_without_it_when_the_user_types() {
    let mut bench = Bench::new("one\ndisk\ntwo\nthree\n", "one\ncall\ndisk\ntwo\nthree\n");
    bench.insert(2, &[(2, "u")]);
    assert_eq!(bench.text(), "one\ncall\ntwo\nuthree\n");
    // Closed without saving: the disk's text is the user's.
    bench.workspace.close(&bench.uri);
    assert_eq!(bench.text(), "one\ncall\ndisk\ntwo\nthree\n");
    assert_eq!(bench.conflicts(), 0);
    assert!(bench.fork.hunks().iter().all(|hunk| hunk.makers == [Maker::Call("c".into())]));
}

#[test]
fn what_was_typed_and_thrown_away_at_once_is_nobodys() {
    let mut bench = Bench::new("one\ndisk\ntwo\nthree\n", "one\ncall\ndisk\ntwo\nthree\n");
    bench.insert(2, &[(2, "u")]);
    bench.workspace.close(&bench.uri);
    assert_eq!(bench.text(), "one\ncall\ndisk\ntwo\nthree\n");
    assert_eq!(bench.conflicts(), 0);
}

#[test]
fn the_disk_moves_on_and_its_text_stands_once() {
    let mut bench = Bench::new("one\ndisk\ntwo\nthree\n", "one\ncall\ndisk\ntwo\nthree\n");
    bench.moves("one\ndisk\ntwo\nthree\nfour\n");
    assert_eq!(bench.text(), "one\ncall\ndisk\ntwo\nthree\nfour\n");
    bench.moves(SAVED);
    assert_eq!(bench.text(), "one\ncall\ntwo\nthree\n");
    assert_eq!(bench.conflicts(), 0);
}

#[test]
fn the_editor_reads_the_disk_in_steps() {
    let mut bench = Bench::new("one\ndisk\ntwo\nthree\nfour\n", "one\nDISK\ntwo\nthree\nfour\n");
    bench.insert(2, &[(3, "four\n"), (1, "disk\n")]);
    assert_eq!(bench.text(), "one\nDISK\ntwo\nthree\nfour\n");
    let hunks = bench.fork.hunks();
    let own: Vec<_> = hunks.iter().map(|hunk| (hunk.old.as_str(), hunk.new.as_str())).collect();
    assert_eq!(own, [("disk\n", "DISK\n")]);
    assert_eq!(bench.conflicts(), 0);
}

#[test]
fn a_change_inside_the_disks_text_goes_with_it_and_is_told() {
    let mut bench = Bench::new("one\ndisk\ntwo\nthree\n", "one\ndisc\ntwo\nTHREE\n");
    bench.insert(2, &[(0, "u")]);
    assert_eq!(bench.text(), "uone\ntwo\nTHREE\n");
    assert_eq!(bench.conflicts(), 1);
}

#[test]
fn a_change_that_joins_a_line_with_the_disks_text_stays_without_it() {
    let mut bench = Bench::new("one\ndisk\ntwo\nthree\n", "one, disk\ntwo\nthree\n");
    bench.insert(2, &[(2, "u")]);
    assert_eq!(bench.text(), "one, two\nuthree\n");
    bench.insert(3, &[(1, "disk\n")]);
    assert_eq!(bench.text().matches("disk").count(), 1);
    // Read together with what was typed: it is the user's, and stands once.
    let mut bench = Bench::new("one\ndisk\ntwo\nthree\n", "one, disk\ntwo\nthree\n");
    bench.insert(2, &[(2, "u"), (1, "disk\n")]);
    assert_eq!(bench.text().matches("disk").count(), 1);
}

#[test]
fn what_only_the_disk_has_made_is_not_rejected() {
    let mut bench = Bench::new("one\ntwo\nthree\ndisk\n", "call\none\ntwo\nthree\ndisk\n");
    let hunks = bench.fork.hunks();
    let of_disk: Vec<_> = hunks.iter().filter(|hunk| hunk.makers == [Maker::Disk]).collect();
    assert_eq!((hunks.len(), of_disk.len()), (2, 1));
    let which = HunkSelection::Hunks(vec![of_disk[0].id]);
    assert_eq!(bench.fork.reject(&bench.workspace, &which, None), 0);
    bench.sync();
    assert_eq!(bench.fork.hunks(), hunks);
    assert_eq!(bench.workspace.take_news("s"), []);
    // It goes with the last of what the call made, and does not come back.
    assert_eq!(bench.fork.reject(&bench.workspace, &HunkSelection::All, None), 1);
    assert_eq!(bench.fork.hunks(), []);
    bench.sync();
    assert_eq!(bench.fork.hunks(), []);
    let told = bench.workspace.take_news("s");
    assert!(matches!(&told[..], [Note::Rejected { new, .. }] if new == "call\n"), "{told:?}");
}

#[test]
fn what_a_call_made_of_the_disks_text_is_rejected_without_that_text() {
    let disk = "one\nhead disk\ntwo\nthree\ntail disk\n";
    let new = || {
        let mut bench = Bench::new(disk, "one\nHEAD disk\ntwo\nthree\nTAIL disk\n");
        let hunks = bench.fork.hunks();
        assert!(hunks.iter().all(|hunk| hunk.makers.len() == 2), "{hunks:?}");
        let which = HunkSelection::Hunks(vec![hunks[0].id]);
        assert_eq!(bench.fork.reject(&bench.workspace, &which, None), 1);
        assert_eq!(bench.text(), "one\nhead disk\ntwo\nthree\nTAIL disk\n");
        assert!(matches!(&bench.workspace.take_news("s")[..], [Note::Rejected { .. }]));
        (bench, hunks[1].id)
    };
    // The editor reads it: it stands once, and what is pending is the other change.
    let (mut bench, other) = new();
    bench.insert(2, &[(3, "tail disk\n"), (1, "head disk\n")]);
    assert_eq!(bench.text(), "one\nhead disk\ntwo\nthree\nTAIL disk\n");
    let hunks = bench.fork.hunks();
    let own: Vec<_> = hunks.iter().map(|h| (h.id, h.old.as_str(), h.new.as_str())).collect();
    assert_eq!(own, [(other, "tail disk\n", "TAIL disk\n")]);
    assert_eq!(bench.conflicts(), 0);
    // The user types instead: the disk's text goes, and what was made of it is told.
    let (mut bench, _) = new();
    bench.insert(2, &[(0, "u")]);
    bench.sync();
    assert_eq!((bench.fork.hunks(), bench.conflicts()), (vec![], 1));
    // The other is rejected too: nothing is left.
    let (mut bench, other) = new();
    assert_eq!(bench.fork.reject(&bench.workspace, &HunkSelection::Hunks(vec![other]), None), 1);
    bench.sync();
    assert_eq!(bench.fork.hunks(), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever the disk has and a call made of it: what is rejected is the call's part, and the disk's lines stand
    /// once when the editor has read them.
    #[test]
    fn a_reject_leaves_the_disks_lines_once(
        disk in prop::collection::vec((0..4usize, "[a-c]{1,3} d[a-c]"), 1..4),
        edits in prop::collection::vec((0..8usize, 0..3usize), 1..4),
        which in 0..8usize,
    ) {
        let mut lines: Vec<String> = SAVED.lines().map(str::to_owned).collect();
        for (number, (at, line)) in disk.iter().enumerate() {
            lines.insert(at % (lines.len() + 1), format!("{line}{number}"));
        }
        let joined = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let disk = joined(&lines);
        let kept = lines.clone();
        for (number, (at, kind)) in edits.iter().enumerate() {
            let at = at % lines.len();
            match kind {
                0 => lines[at].insert_str(0, &format!("C{number} ")),
                1 => lines.insert(at, format!("C{number}")),
                _ => lines[at].push_str(&format!(" C{number}")),
            }
        }
        let mut bench = Bench::new(&disk, &joined(&lines));
        let hunks = bench.fork.hunks();
        let chosen = &hunks[which % hunks.len()];
        bench.fork.reject(&bench.workspace, &HunkSelection::Hunks(vec![chosen.id]), None);
        bench.sync();
        let whole = ContentChange { range: None, text: disk.clone() };
        bench.workspace.change(&bench.uri, 2, &[whole]).unwrap();
        bench.sync();
        let file = bench.fork.files().next().map(|(_, file)| file.entry.text().to_string());
        let text = file.unwrap_or_else(|| disk.clone());
        for line in &kept {
            prop_assert_eq!(text.matches(line.as_str()).count(), 1, "{} of {:?}", line, text);
        }
    }
}
