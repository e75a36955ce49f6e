//! A file that the user renames in the editor or on the disk while changes of it are pending, or are being made.

#![expect(clippy::panic, reason = "tests and their helpers may be blunt")]

use ropewalk_text::Text;
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::*;
use std::sync::Arc;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

/// When the call's change comes, counted in steps of the rename.
#[derive(Clone, Copy, Debug)]
struct Order {
    /// Steps: the old document is closed, the file renamed, the new document opened.
    steps: [Step; 3],
    /// The change is merged after so many of them.
    merged_after: usize,
    /// True if the fork is looked at after each step.
    looks: bool,
    /// True if the buffer has unsaved text.
    typed: bool,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Close,
    Rename,
    Open,
}

fn check(order: Order) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::write(root.join("a.txt"), TEXT).unwrap();
    let workspace = Arc::new(Workspace::new(Roots::new(vec![("w".to_owned(), root.clone())])));
    let uri = |name: &str| DocId::from_path(&root.join(name)).to_uri();
    let now = if order.typed { TEXT.replace("six", "SIX") } else { TEXT.to_owned() };
    workspace.open(&uri("a.txt"), "text", 1, &now);
    workspace.look_at_disks();
    let mut fork = Fork::new("s".into());
    let view = fork.view(workspace.snapshot());
    let place = view.contain("a.txt").unwrap();
    let change = ProposedChange::Write(Text::from(now.replace("two", "TWO").as_str()));
    let mut proposals = vec![Proposal { place, change }];
    let mut merge = |fork: &mut Fork| {
        let all = std::mem::take(&mut proposals);
        fork.merge(&workspace, &view, 1, &Maker::Call("c".into()), all);
    };
    let mut told = Vec::new();
    for (index, step) in order.steps.into_iter().enumerate() {
        if index == order.merged_after {
            merge(&mut fork);
        }
        match step {
            Step::Close => drop(workspace.close(&uri("a.txt"))),
            Step::Rename => std::fs::rename(root.join("a.txt"), root.join("b.txt")).unwrap(),
            Step::Open => drop(workspace.open(&uri("b.txt"), "text", 1, &now)),
        }
        if order.looks {
            workspace.look_at_disks();
            fork.sync_now(&workspace);
            told.extend(workspace.take_displaced("s"));
        }
    }
    if order.merged_after == 3 {
        merge(&mut fork);
    }
    workspace.look_at_disks();
    fork.sync_now(&workspace);
    told.extend(workspace.take_displaced("s"));
    let hunks: Vec<(String, String)> =
        fork.hunks().into_iter().map(|hunk| (hunk.file, hunk.new)).collect();
    let is_told = told.iter().any(|one| (&*one.old, &*one.new) == ("two\n", "TWO\n"));
    let follows = hunks == [("b.txt".to_owned(), "TWO\n".to_owned())];
    assert!(follows != is_told, "{order:?}: {hunks:?} {told:?}");
    let is_unseen = matches!(order.steps, [.., Step::Open]) && order.looks;
    assert!(follows || is_unseen, "{order:?}: {told:?}");
    if follows {
        let view = fork.view(workspace.snapshot());
        let read = view.read(&view.contain("b.txt").unwrap()).unwrap();
        let FileState::Text { text, .. } = read else { panic!("it is a text: {read:?}") };
        assert_eq!(text.to_string(), now.replace("two", "TWO"));
    }
}

#[test]
fn a_change_follows_its_file_or_is_told() {
    use Step::{Close, Open, Rename};
    for steps in
        [[Close, Rename, Open], [Rename, Close, Open], [Rename, Open, Close], [Open, Close, Rename]]
    {
        for merged_after in 0..4 {
            for looks in [false, true] {
                for typed in [false, true] {
                    check(Order { steps, merged_after, looks, typed });
                }
            }
        }
    }
}

#[test]
fn a_file_that_has_the_number_of_one_that_is_gone_is_another() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let uri = |name: &str| DocId::from_path(&root.join(name)).to_uri();
    std::fs::write(root.join("a.txt"), TEXT).unwrap();
    let workspace = Arc::new(Workspace::new(Roots::new(vec![("w".to_owned(), root.clone())])));
    workspace.open(&uri("a.txt"), "text", 1, TEXT);
    workspace.look_at_disks();
    let mut fork = Fork::new("s".into());
    let view = fork.view(workspace.snapshot());
    let place = view.contain("a.txt").unwrap();
    let change = ProposedChange::Write(Text::from(TEXT.replace("two", "TWO").as_str()));
    fork.merge(&workspace, &view, 1, &Maker::Call("c".into()), vec![Proposal { place, change }]);
    workspace.close(&uri("a.txt"));
    // The same inode with another content, as a file system gives it to the next new file.
    std::fs::rename(root.join("a.txt"), root.join("b.txt")).unwrap();
    let other = TEXT.replace("six", "something else");
    std::fs::write(root.join("b.txt"), &other).unwrap();
    workspace.open(&uri("b.txt"), "text", 1, &other);
    fork.sync_now(&workspace);
    assert!(fork.hunks().is_empty());
    assert_eq!(workspace.take_displaced("s").len(), 1);
}
