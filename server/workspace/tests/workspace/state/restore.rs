//! Restoring after a clean end, and after an editor that died unsaved.

use super::world::World;
use ropewalk_text::Text;
use ropewalk_workspace::state::{BaseText, StateRecord};
use ropewalk_workspace::{HunkSelection, HunkState, Note, ProposedChange};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
const DONE: &str = "one\ntwo\nTHREE\nfour\nfive\nsix\nseven\neight\n";

fn accepted(unsaved: &str, proposed: &str) -> World {
    let world = World::new(&[("a.txt", TEXT)]);
    world.open("a.txt", TEXT);
    world.workspace.look_at_disks();
    world.type_text("a.txt", unsaved);
    world.write("a.txt", proposed);
    assert_eq!(world.accept(&HunkSelection::All).failed, []);
    world
}

#[test]
fn what_an_editor_that_died_has_taken_along_is_pending_again() {
    let world = accepted(TEXT, DONE);
    let kept = world.keep();
    let after = world.after(&kept, &world.outside().unsaved_lost());
    let hunks = after.hunks();
    assert_eq!((hunks.len(), hunks[0].state), (1, HunkState::Pending));
    assert_eq!((hunks[0].old.as_str(), hunks[0].new.as_str()), ("three\n", "THREE\n"));
    assert_eq!(after.published(), []);
    // And it is known to be so after another start.
    let kept = after.keep();
    let again = after.after(&kept, &after.outside());
    assert_eq!((again.hunks().len(), again.published().len()), (1, 0));
    assert_eq!(again.accept(&HunkSelection::All).failed, []);
    assert_eq!(again.text("a.txt"), DONE);
}

#[test]
fn what_was_saved_does_not_come_back() {
    let world = accepted(TEXT, DONE);
    world.save("a.txt");
    let kept = world.keep();
    let mut outside = world.outside();
    let after = world.after(&kept, &outside);
    assert_eq!((after.hunks().len(), after.published().len()), (0, 1));
    // Another branch was checked out since: that is what the user wants.
    outside.disk.insert("a.txt".into(), TEXT.into());
    let after = world.after(&kept, &outside.unsaved_lost());
    assert_eq!((after.hunks().len(), after.published().len()), (0, 1));
}

#[test]
fn what_came_back_too_early_melts_when_its_text_turns_up() {
    let both = "one\ntwo\nTHREE\nadded\nfour\nfive\nsix\nSEVEN\neight\n";
    let world = accepted(TEXT, both);
    let kept = world.keep();
    let outside = world.outside();
    let early = world.after(&kept, &outside.unsaved_lost());
    assert_eq!((early.hunks().len(), early.published().len()), (2, 0));
    // The server may end again before the buffer comes.
    let kept = early.keep();
    let early = early.after(&kept, &outside.unsaved_lost());
    early.open("a.txt", both);
    early.workspace.look_at_disks();
    early.sync();
    assert_eq!((early.hunks().len(), early.published().len()), (0, world.published().len()));
    assert_eq!(early.workspace.take_news("s"), []);
    assert_eq!(early.undo(&HunkSelection::All).failed, []);
    assert_eq!(early.text("a.txt"), TEXT);
}

#[test]
fn the_users_own_unsaved_text_beside_it_is_no_hindrance() {
    let mine = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine, typed\n";
    let done = "one\ntwo\nTHREE\nfour\nfive\nsix\nseven\neight\nnine, typed\n";
    let world = accepted(mine, done);
    let kept = world.keep();
    let outside = world.outside();
    let early = world.after(&kept, &outside.unsaved_lost());
    assert_eq!((early.hunks().len(), early.published().len()), (1, 0));
    early.open("a.txt", done);
    early.sync();
    assert_eq!((early.hunks().len(), early.published().len()), (0, 1));
    assert_eq!(early.text("a.txt"), done);
}

#[test]
fn one_on_top_of_another_comes_back_whole() {
    let world = accepted(TEXT, DONE);
    world.write("a.txt", "one\ntwo\nTHREE!\nfour\nfive\nsix\nseven\neight\n");
    assert_eq!(world.accept(&HunkSelection::All).failed, []);
    assert_eq!(world.published().len(), 2);
    let after = world.after(&world.keep(), &world.outside().unsaved_lost());
    assert_eq!(after.published(), []);
    assert_eq!(after.accept(&HunkSelection::All).failed, []);
    assert_eq!(after.text("a.txt"), "one\ntwo\nTHREE!\nfour\nfive\nsix\nseven\neight\n");
}

#[test]
fn a_hunk_that_was_being_undone_stays_undone() {
    let world = accepted(TEXT, DONE);
    world.keep();
    world.moments();
    assert_eq!(world.undo(&HunkSelection::All).failed, []);
    let moment = world.moments().remove(0);
    let after = world.after(&moment.kept, &moment.outside.unsaved_lost());
    assert_eq!((after.hunks().len(), after.published().len()), (0, 0));
    assert!(matches!(&after.workspace.take_news("s")[..], [Note::Undone { .. }]));
}

#[test]
fn news_wait_for_the_model_and_rejected_stays_rejected() {
    let world = World::new(&[("a.txt", TEXT)]);
    world.write("a.txt", DONE);
    let pending = world.keep();
    world.fork.lock().unwrap().reject(&world.workspace, &HunkSelection::All, Some("no"));
    let kept = world.keep();
    let after = world.after(&kept, &world.outside());
    assert_eq!(after.review(), []);
    assert!(matches!(&after.workspace.take_news("s")[..], [Note::Rejected { .. }]));
    let told = after.keep();
    let after = after.after(&told, &after.outside());
    assert_eq!(after.workspace.take_news("s"), []);
    // A journal that was cut off between the two lines of a rejection.
    let mut cut = pending;
    let decided = |line: &String| line.contains("\"decided\"");
    let line = world.journal.lines().into_iter().find(decided).unwrap();
    cut.take(serde_json::from_str(&line).unwrap()).unwrap();
    assert_eq!(after.after(&cut, &after.outside()).review(), []);
}

#[test]
fn a_text_is_written_once_and_typing_writes_nothing() {
    let long: String = (0..2_000).map(|n| format!("line {n}\n")).collect();
    let world = World::new(&[("a.txt", &long)]);
    world.open("a.txt", &long);
    world.write("a.txt", &long.replace("line 1000\n", "changed\n"));
    world.keep();
    let whole = world.journal.lines();
    assert!(whole.iter().map(String::len).sum::<usize>() > long.len());
    world.type_text("a.txt", &format!("typed\n{long}"));
    world.sync();
    world.keep();
    assert_eq!(world.journal.lines(), whole, "the place of the hunk is found again without a word");
    world.write("a.txt", &format!("typed\n{}", long.replace("line 1500\n", "more\n")));
    assert_eq!(world.accept(&HunkSelection::All).failed, []);
    world.write("a.txt", &format!("typed\n{}", long.replace("line 1700\n", "again\n")));
    let kept = world.keep();
    let more = world.journal.lines().split_off(whole.len());
    assert!(more.iter().map(String::len).sum::<usize>() < 8_000, "{more:#?}");
    let is_change = |line: &String| {
        let record = serde_json::from_str(line).unwrap();
        matches!(record, StateRecord::File(state) if matches!(state.text, BaseText::Changed(_)))
    };
    assert!(more.iter().any(is_change));
    let after = world.after(&kept, &world.outside());
    assert_eq!(after.review(), world.review());
}

#[test]
fn a_published_change_is_not_made_once_more_upon_one_that_looks_like_what_it_replaced() {
    let world = World::new(&[("a.txt", "A")]);
    world.open("a.txt", "A");
    world.workspace.look_at_disks();
    world.write("a.txt", "");
    assert_eq!(world.accept(&HunkSelection::All).failed, []);
    world.type_text("a.txt", "typed");
    // The agent proposes again what the user had let it take out.
    world.write("a.txt", "A");
    let again = world.after(&world.keep(), &world.outside());
    assert_eq!(again.review(), world.review());
    assert_eq!(again.published(), world.published());
}

#[test]
fn what_is_made_below_a_name_that_goes_comes_back_there_and_nowhere_else() {
    let world = World::new(&[("file", "f\n")]);
    std::fs::create_dir(world.path("real")).unwrap();
    std::fs::write(world.path("real/a"), "mine\n").unwrap();
    std::os::unix::fs::symlink("real", world.path("link")).unwrap();
    let text = |text: &str| ProposedChange::Write(Text::from(text));
    for (name, change) in [
        ("file", ProposedChange::Delete),
        ("file/x", text("in\n")),
        ("link", ProposedChange::Delete),
        ("link/a", text("in\n")),
        ("link/b", text("in\n")),
        ("link/c", ProposedChange::Link("a".into())),
    ] {
        let report = world.propose_itself(name, change);
        assert_eq!((report.hunks.len(), report.refused.len()), (1, 0), "{name}: {report:?}");
    }
    let kept = world.keep();
    let after = world.beside(&kept, &world.outside());
    assert_eq!(after.workspace.take_news("s"), []);
    assert_eq!(after.review(), world.review());
    // The same when a turn is taken back.
    world.write("z", "z\n");
    ropewalk_workspace::state::go_back(
        &world.workspace,
        &world.fork,
        &kept,
        &ropewalk_workspace::state::StayingCalls::new(),
    );
    assert_eq!(world.review(), after.review());
    let report = after.accept(&HunkSelection::All);
    assert_eq!(report.failed, []);
    let read = |name: &str| std::fs::read_to_string(after.path(name)).ok();
    assert_eq!(read("file/x").as_deref(), Some("in\n"));
    assert_eq!(read("link/a").as_deref(), Some("in\n"));
    assert!(!after.path("link").is_symlink() && after.path("link/c").is_symlink());
    assert_eq!(read("real/a").as_deref(), Some("mine\n"));
    assert_eq!(read("real/b"), None);
}
