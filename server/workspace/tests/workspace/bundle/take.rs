//! Bundles taken in: how much, under whose name, and the files that are left out.

use super::world::{World, bob};
use ropewalk_text::Text;
use ropewalk_workspace::fork::synced;
use ropewalk_workspace::*;
use std::sync::Arc;

fn write(text: &str) -> ProposedChange {
    ProposedChange::Write(Text::from(text))
}

#[test]
fn every_kind_of_change_comes_under_the_members_name() {
    let world = World::new(&[("a.txt", "one\ntwo\n"), ("b.txt", "b\n"), ("c.txt", "c\n")]);
    let mut branch = world.branch();
    let place = |name: &str| world.workspace.roots().contain(name).unwrap();
    let mut changes = vec![
        ("a.txt", write("one\nTWO\n")),
        ("b.txt", ProposedChange::Rename { to: place("d/e.txt") }),
        ("c.txt", ProposedChange::Delete),
        ("new.txt", write("new\n")),
        ("empty.txt", write("")),
        ("x.bin", ProposedChange::Binary(Arc::from(&b"\0\x01"[..]))),
        ("x.sh", write("ls\n")),
        ("x.sh", ProposedChange::Mode(0o755)),
    ];
    if cfg!(unix) {
        changes.push(("link", ProposedChange::Link("a.txt".into())));
    }
    world.work(&mut branch, changes);
    let bundle = world.bundle(&mut branch);
    world.take(&bundle, 7).unwrap();
    let waits = world.waits();
    assert!(waits.iter().all(|(_, _, makers)| *makers == [bob(7)]), "{waits:?}");
    let mut told: Vec<(&str, &str)> = waits.iter().map(|(f, k, _)| (&**f, &**k)).collect();
    told.retain(|(file, _)| *file != "link");
    assert_eq!(
        told,
        [
            ("a.txt", "text"),
            ("c.txt", "delete"),
            ("d/e.txt", "rename"),
            ("empty.txt", "create"),
            ("new.txt", "create"),
            ("x.bin", "binary"),
            ("x.sh", "create"),
        ]
    );
    // Taken once more, as after a crash, it melts.
    let before = world.waits();
    world.take(&bundle, 7).unwrap();
    assert_eq!(world.waits(), before);
}

#[test]
fn only_own_work_is_in_a_bundle() {
    let world = World::new(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    world.lead_writes("b.txt", "b of the lead\n");
    let mut branch = world.branch();
    world.workspace.change(
        &world.id("a.txt").to_uri(),
        2,
        &[ContentChange { range: None, text: "typed\none\n".into() }],
    );
    branch.refresh(&world.workspace);
    assert!(world.bundle(&mut branch).is_empty());
    world.work(&mut branch, vec![("a.txt", write("typed\none\nmine\n"))]);
    let bundle = world.bundle(&mut branch);
    assert_eq!(bundle.paths(), ["w/a.txt"]);
    let written = String::from_utf8(bundle.write().unwrap()).unwrap();
    assert!(written.contains(r#""change":{"edits":[[10,10,"mine\n"]]}"#), "{written}");
}

#[test]
fn one_lost_change_leaves_the_fork_as_it_was() {
    let world = World::new(&[("a.txt", "one\ntwo\nthree\n"), ("b.txt", "b\n")]);
    let mut branch = world.branch();
    world.work(&mut branch, vec![("b.txt", write("B\n")), ("a.txt", write("one\nours\nthree\n"))]);
    let bundle = world.bundle(&mut branch);
    world.lead_writes("a.txt", "one\ntheirs\nthree\n");
    let before = world.waits();
    let Err(TakeError::Conflict(conflicts)) = world.take(&bundle, 1) else { panic!() };
    let conflict = BundleConflict {
        path: "a.txt".into(),
        old: "two\n".into(),
        new: "ours\n".into(),
        now: "theirs\n".into(),
    };
    assert_eq!(conflicts, [conflict]);
    assert_eq!((world.waits(), world.forked("b.txt")), (before, "b\n".to_owned()));
    let words = TakeError::Conflict(conflicts).to_string();
    assert!(
        words.contains("a.txt: the change was from\n```\ntwo\n```\nto\n```\nours\n```"),
        "{words}"
    );
    assert!(world.workspace.take_news("s").is_empty(), "nobody is told of a try");
}

#[test]
fn whole_files_that_are_others_by_now_are_conflicts() {
    let world = World::new(&[("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n")]);
    std::fs::write(world.root().join("x.bin"), b"\0one").unwrap();
    let cases: [(&str, ProposedChange, &str); 3] = [
        ("x.bin", ProposedChange::Binary(Arc::from(&b"\0two"[..])), "(a file that is no text)"),
        ("b.txt", ProposedChange::Delete, "other\n"),
        ("n.txt", write("new\n"), "made by another\n"),
    ];
    for (name, change, now) in cases {
        let mut branch = world.branch();
        world.work(&mut branch, vec![(name, change)]);
        let bundle = world.bundle(&mut branch);
        match name {
            "x.bin" => std::fs::write(world.root().join(name), b"\0three").unwrap(),
            _ => world.lead_writes(name, now),
        }
        let Err(TakeError::Conflict(conflicts)) = world.take(&bundle, 1) else { panic!("{name}") };
        assert_eq!((&*conflicts[0].path, &*conflicts[0].now), (name, now));
    }
}

#[test]
fn a_branch_starts_from_what_its_task_waited_for() {
    let world = World::new(&[("a.txt", "one\ntwo\n"), ("b.txt", "b\n")]);
    let mut first = world.branch();
    world.work(&mut first, vec![("a.txt", write("ONE\ntwo\n")), ("new.txt", write("new\n"))]);
    let first = world.bundle(&mut first);
    let mut second = world.branch();
    world.work(&mut second, vec![("a.txt", write("one\nTWO\n"))]);
    let second = world.bundle(&mut second);
    // The lead has taken the first; what is there melts.
    world.take(&first, 1).unwrap();
    let mut third = world.branch();
    let waited = [(&first, bob(1)), (&second, bob(2))];
    third.start_with(&world.workspace, &waited, BundleGuard::NONE).unwrap();
    assert!(world.bundle(&mut third).is_empty(), "what it started from is not its work");
    let view = third.fork().view(world.workspace.snapshot());
    let read = |name: &str| match view.read(&view.contain(name).unwrap()).unwrap() {
        FileState::Text { text, .. } => text.to_string(),
        _ => String::new(),
    };
    assert_eq!((read("a.txt"), read("new.txt")), ("ONE\nTWO\n".into(), "new\n".into()));
    world.work(
        &mut third,
        vec![("a.txt", write("ONE\nTWO\nthree\n")), ("new.txt", write("newer\n"))],
    );
    let third = world.bundle(&mut third);
    world.take(&second, 2).unwrap();
    world.take(&third, 3).unwrap();
    assert_eq!(world.forked("a.txt"), "ONE\nTWO\nthree\n");
    assert_eq!(world.forked("new.txt"), "newer\n");
    let makers = |hunk: &Hunk| hunk.makers.clone();
    let hunks = world.fork.lock().unwrap().hunks();
    let new = hunks.iter().find(|hunk| hunk.file == "new.txt").map(makers);
    assert_eq!(new, Some(vec![bob(1), bob(3)]));
}

#[test]
fn work_that_may_hold_secrets_stays_behind_and_is_told() {
    let world = World::new(&[("a.txt", "a\n")]);
    let mut branch = world.branch();
    let changes = ["a.txt", ".env", "key.txt"].map(|name| (name, write("sk-secret\n")));
    world.work(&mut branch, changes[1..].to_vec());
    world.work(&mut branch, vec![("a.txt", write("plain\n"))]);
    let holds = |bytes: &[u8]| bytes.windows(9).any(|word| word == b"sk-secret");
    let guard = BundleGuard { is_secret: &|path| path.ends_with(".env"), private: Some(&holds) };
    let (bundle, left_out) = branch.bundle(&world.workspace, guard).unwrap();
    assert_eq!(bundle.paths(), ["w/a.txt"]);
    assert_eq!(left_out, [".env", "key.txt"]);
}

#[test]
fn a_member_on_another_checkout_is_merged_over_what_differs_there() {
    let lead = World::new(&[("a.txt", "one\ntwo\nthree\n"), ("b.txt", "b\n")]);
    let worker = World::new(&[("b.txt", "b\n"), ("a.txt", "one\ntwo\nthree\n")]);
    let mut branch = worker.branch();
    worker.work(&mut branch, vec![("a.txt", write("one\ntwo\nTHREE\n"))]);
    let bundle = worker.bundle(&mut branch);
    let text = "typed\none\ntwo\nthree\n";
    let change = ContentChange { range: None, text: text.into() };
    lead.workspace.change(&lead.id("a.txt").to_uri(), 2, &[change]);
    // The roots have other paths and the same name.
    lead.take(&bundle, 1).unwrap();
    assert_eq!(lead.forked("a.txt"), "typed\none\ntwo\nTHREE\n");
    assert_eq!(lead.users("a.txt"), text);
    synced(&lead.workspace, &lead.fork, |fork, aside| {
        assert!(aside.is_empty());
        assert_eq!(fork.hunks().len(), 1);
    });
}
