//! A branch beside its session: the user types, the session's calls and the branch's work, in any order. Its own work
//! is exactly what it made.

#![expect(clippy::panic, clippy::indexing_slicing, reason = "tests and their helpers may be blunt")]

use proptest::prelude::*;
use ropewalk_text::{Change, ChangeSet, Coordinates, Text};
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::fork::{merge, synced};
use ropewalk_workspace::*;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Letters that the user types, the session's own calls put, and the branch puts. Each other letter
/// of a text stands there once.
const USER: char = 'u';
const CALL: char = 'P';
const BRANCH: char = 'B';

fn text_of(number: u32) -> String {
    let letter = |n| char::from_u32(0x4e00 + number * 100 + n).unwrap();
    (0..60).map(|n| if n % 12 == 11 { '\n' } else { letter(n) }).collect()
}

struct Bench {
    dir: tempfile::TempDir,
    workspace: Arc<Workspace>,
    fork: Mutex<Fork>,
    branch: Branch,
    /// The letters that the branch took out.
    taken: BTreeSet<char>,
    put: usize,
    lost: usize,
}

const NAMES: [&str; 3] = ["open.txt", "closed.txt", "made.txt"];

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (number, name) in NAMES.iter().take(2).enumerate() {
            std::fs::write(dir.path().join(name), text_of(number as u32)).unwrap();
        }
        let roots = Roots::new(vec![("w".to_owned(), dir.path().to_owned())]);
        let workspace = Arc::new(Workspace::new(roots));
        workspace.set_client(Coordinates::default(), Habits::of(Some("Visual Studio Code")));
        workspace.open(&id(dir.path(), NAMES[0]).to_uri(), "text", 1, &text_of(0));
        let fork = Fork::new("s".into());
        let branch = Branch::of(&fork, 1, Maker::Call("task".into()));
        let (fork, taken) = (Mutex::new(fork), BTreeSet::new());
        Self { dir, workspace, fork, branch, taken, put: 0, lost: 0 }
    }

    /// The user puts a letter, or takes one out: in the editor, or by another program.
    fn user(&self, name: &str, at: u16, takes: bool) {
        let id = id(self.dir.path(), name);
        let path = self.dir.path().join(name);
        let open = self.workspace.with_document(&id, |d| (d.version, d.text().clone()));
        let Some(text) = open
            .as_ref()
            .map(|(_, text)| text.to_string())
            .or_else(|| std::fs::read_to_string(&path).ok())
        else {
            return;
        };
        let Some(set) = edit(&text, at, takes, USER) else { return };
        let text = Text::from(text.as_str());
        let Some((version, _)) = open else {
            return std::fs::write(path, set.apply(&text).unwrap().to_string()).unwrap();
        };
        let position = |byte| Coordinates::default().byte_to_position(&text, byte);
        let change = &set.changes()[0];
        let range = Some((position(change.range.start), position(change.range.end)));
        let changes = [ContentChange { range, text: change.text.clone() }];
        self.workspace.change(&id.to_uri(), version + 1, &changes);
    }

    /// A call of the session's own changes what it sees.
    fn call(&self, name: &str, at: u16, takes: bool) {
        let view =
            synced(&self.workspace, &self.fork, |fork, _| fork.view(self.workspace.snapshot()));
        if let Some((_, proposal)) = proposal(&view, name, at, takes, CALL) {
            merge(
                &self.workspace,
                &self.fork,
                &view,
                MergeOrigin { turn: 1, maker: &Maker::Call("c".into()) },
                vec![proposal],
            );
        }
    }

    fn follow(&mut self) {
        let fork = synced(&self.workspace, &self.fork, |fork, _| fork.clone());
        let report = self.branch.follow(&self.workspace, fork);
        self.lost += report.conflicts.len();
    }

    /// The branch changes what it sees.
    fn work(&mut self, name: &str, at: u16, takes: bool) {
        self.follow();
        let fork = self.branch.fork();
        let view = fork.view(self.workspace.snapshot());
        let Some((old, proposal)) = proposal(&view, name, at, takes, BRANCH) else { return };
        let report =
            fork.merge(&self.workspace, &view, 1, &Maker::Call("b".into()), vec![proposal]);
        if report.conflicts.is_empty() {
            self.taken.extend(old.chars());
            self.put += usize::from(!takes);
        }
    }

    /// Compares the branch's work with its letters: the ones it puts, and the ones it takes out.
    fn check_work(&mut self) -> Result<(), TestCaseError> {
        let (view, work) = self.branch.work(&self.workspace);
        let (mut put, mut taken) = (String::new(), BTreeSet::new());
        for Proposal { place, change } in &work {
            let seen = match view.read(place).unwrap() {
                FileState::Text { text, .. } => text,
                _ => Text::default(),
            };
            let set = match change {
                ProposedChange::Edit(set) => set.clone(),
                ProposedChange::Write(text) => ropewalk_text::diff(&seen, text),
                other => panic!("{other:?}"),
            };
            for change in set.changes() {
                put.push_str(&change.text);
                taken.extend(seen.slice(change.range.clone()).chars());
            }
        }
        let ours: String = put.chars().filter(|char| *char != BRANCH).collect();
        prop_assert_eq!(ours, "", "it has put nothing but its own");
        taken.remove(&BRANCH);
        prop_assert!(taken.is_subset(&self.taken), "{taken:?} {:?}", self.taken);
        if self.lost == 0 {
            prop_assert_eq!(put.chars().count(), self.put, "and all of its own");
        }
        Ok(())
    }
}

fn id(root: &Path, name: &str) -> DocId {
    DocId::from_path(&root.canonicalize().unwrap().join(name))
}

/// One letter put somewhere, or one that stands there once taken out.
fn edit(text: &str, at: u16, takes: bool, own: char) -> Option<ChangeSet> {
    let place = text.char_indices().nth(usize::from(at) % text.chars().count().max(1));
    let (start, letter) = place.unwrap_or((0, '\n'));
    let change = match takes {
        true if (letter as u32) < 0x4e00 => return None,
        true => Change::new(start..start + letter.len_utf8(), ""),
        false => Change::new(start..start, own.to_string()),
    };
    ChangeSet::new(text.len(), vec![change])
}

fn proposal(
    view: &View,
    name: &str,
    at: u16,
    takes: bool,
    own: char,
) -> Option<(String, Proposal)> {
    let place = view.contain(name).unwrap();
    let seen = match view.read(&place).unwrap() {
        FileState::Text { text, .. } => text,
        _ => Text::default(),
    };
    let set = edit(&seen.to_string(), at, takes, own)?;
    let old = seen.slice(set.changes()[0].range.clone());
    let change = match view.read(&place).unwrap() {
        FileState::Missing => ProposedChange::Write(Text::from(own.to_string().as_str())),
        _ => ProposedChange::Edit(set),
    };
    Some((old, Proposal { place, change }))
}

proptest! {
    #[test]
    fn own_work_is_what_the_branch_made(
        steps in prop::collection::vec((0u8..4, 0usize..3, any::<u16>(), any::<bool>()), 1..30),
    ) {
        let mut bench = Bench::new();
        for (who, file, at, takes) in steps {
            let name = NAMES[file];
            match who {
                0 => bench.user(name, at, takes),
                // A file that two make where there is none is a conflict of its own.
                1 if file < 2 => bench.call(name, at, takes),
                2 => bench.follow(),
                _ => bench.work(name, at, takes),
            }
            bench.check_work()?;
        }
        bench.follow();
        bench.check_work()?;
        // It comes back by one merge, and the user's text is as it was.
        let before: Vec<String> = NAMES.iter().map(|name| bench.users(name)).collect();
        let (view, work) = bench.branch.work(&bench.workspace);
        let maker = Maker::Call("task".into());
        let report = merge(&bench.workspace, &bench.fork, &view, MergeOrigin { turn: 1, maker: &maker }, work);
        prop_assert_eq!(report.conflicts, Vec::<String>::new(), "it has just followed");
        let after: Vec<String> = NAMES.iter().map(|name| bench.users(name)).collect();
        prop_assert_eq!(before, after);
        let texts = |fork: &Fork| -> Vec<(DocId, String)> {
            fork.files().map(|(id, file)| (id.clone(), file.entry.text().to_string())).collect()
        };
        let (fork, branch) = (texts(&bench.fork.lock().unwrap()), texts(bench.branch.fork()));
        prop_assert_eq!(fork, branch, "the session has what the branch had");
    }
}

impl Bench {
    /// The text as the user has it.
    fn users(&self, name: &str) -> String {
        let open =
            self.workspace.with_document(&id(self.dir.path(), name), |d| d.text().to_string());
        open.or_else(|| std::fs::read_to_string(self.dir.path().join(name)).ok())
            .unwrap_or_default()
    }
}

#[test]
fn names_bytes_and_modes_come_back() {
    let mut bench = Bench::new();
    let fork = synced(&bench.workspace, &bench.fork, |fork, _| fork.clone());
    bench.branch.follow(&bench.workspace, fork);
    let view = bench.branch.fork().view(bench.workspace.snapshot());
    let place = |name: &str| view.roots().contain(name).unwrap();
    let proposals = vec![
        Proposal {
            place: place("closed.txt"),
            change: ProposedChange::Rename { to: place("d/new.txt") },
        },
        Proposal { place: place("x.bin"), change: ProposedChange::Binary(Arc::from(&b"\0"[..])) },
        Proposal { place: place("x.sh"), change: ProposedChange::Write(Text::from("ls\n")) },
        Proposal { place: place("x.sh"), change: ProposedChange::Mode(0o755) },
    ];
    let maker = Maker::Call("b".into());
    bench.branch.fork().merge(&bench.workspace, &view, 1, &maker, proposals);
    bench.call("open.txt", 3, false);
    bench.follow();
    let (view, work) = bench.branch.work(&bench.workspace);
    merge(&bench.workspace, &bench.fork, &view, MergeOrigin { turn: 1, maker: &maker }, work);
    let hunks = bench.fork.lock().unwrap().hunks();
    let told: Vec<(&str, &str)> =
        hunks.iter().map(|hunk| (&*hunk.file, hunk.kind.name())).collect();
    let want =
        [("d/new.txt", "rename"), ("open.txt", "text"), ("x.bin", "binary"), ("x.sh", "create")];
    assert_eq!(told, want);
    assert!(bench.workspace.take_news("").is_empty());
}
