//! New files that wait while somebody else makes one of the same name: whose text comes first nobody can say, so the two
//! are never put together. The user's stays, and the agent's is a conflict.

use super::world::World;
use ropewalk_text::Text;
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::publish::Failure;
use ropewalk_workspace::{HunkSelection, Note, Proposal, ProposedChange};
use std::sync::Arc;

const OURS: &str = "cmd\n";
const THEIRS: &str = "user new\n";

/// How a file of the user's comes to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    /// Another program writes it.
    OnDisk,
    /// A new buffer gets text and is saved.
    Saved,
    /// The same, and it is closed.
    Closed,
    /// A new buffer gets text.
    Typed,
    /// An empty file is made first, as some editors do, and looked at by the session before it is typed into.
    EmptyFirst,
}

const ALL: [Made; 5] = [Made::OnDisk, Made::Saved, Made::Closed, Made::Typed, Made::EmptyFirst];

impl Made {
    fn make(self, world: &World, name: &str, text: &str) {
        match self {
            Self::OnDisk => std::fs::write(world.path(name), text).unwrap(),
            Self::EmptyFirst => {
                std::fs::write(world.path(name), "").unwrap();
                world.sync();
                world.open(name, "");
                world.sync();
                world.type_text(name, text);
            }
            Self::Saved | Self::Closed | Self::Typed => {
                world.open(name, "");
                world.type_text(name, text);
            }
        }
        if matches!(self, Self::Saved | Self::Closed) {
            world.save(name);
        }
        if self == Self::Closed {
            world.workspace.close(&world.id(name).to_uri());
        }
    }
}

/// Proposals of a call for a name that is free.
fn creations() -> Vec<ProposedChange> {
    let bytes = ProposedChange::Binary(Arc::from(&b"\0"[..]));
    let text = |text| ProposedChange::Write(Text::from(text));
    vec![text(OURS), text("no line end"), text(""), bytes, ProposedChange::Link("a.txt".into())]
}

fn is_empty(change: &ProposedChange) -> bool {
    matches!(change, ProposedChange::Write(text) if text.is_empty())
}

fn pending(change: &ProposedChange) -> World {
    let world = World::new(&[]);
    world.propose_itself("new.txt", change.clone());
    assert_eq!(world.hunks().len(), 1, "{change:?}");
    world
}

/// The user's text is what they wrote, and nothing is pending; the conflict was told once.
fn check_theirs(world: &World, stays: &str, context: &str) {
    world.workspace.look_at_disks();
    world.sync();
    assert_eq!(world.text("new.txt"), stays, "{context}");
    assert_eq!(world.review(), [], "{context}");
    let told = world.workspace.take_news("s");
    let is_told = |note: &Note| matches!(note, Note::Conflict { file, now, .. } if file == "new.txt" && now == stays);
    assert!(told.len() == 1 && told.iter().all(is_told), "{context}: {told:?}");
    assert_eq!((world.published(), world.accept(&HunkSelection::All).failed), (vec![], vec![]));
    assert_eq!(world.text("new.txt"), stays, "{context}");
}

#[test]
fn a_file_that_somebody_made_meanwhile_is_not_joined_with_ours() {
    for change in creations() {
        for made in ALL {
            for looked in [false, true] {
                let context = format!("{change:?} {made:?} {looked}");
                if is_empty(&change) && made == Made::EmptyFirst {
                    // It is there as soon as the user has made it.
                    continue;
                }
                let world = pending(&change);
                let chosen = HunkSelection::Hunks(vec![world.hunks()[0].id]);
                made.make(&world, "new.txt", THEIRS);
                if looked {
                    world.workspace.look_at_disks();
                    world.sync();
                }
                let report = world.accept(if looked { &HunkSelection::All } else { &chosen });
                assert_eq!(report.done, [], "{context}");
                check_theirs(&world, THEIRS, &context);
                let kept = world.keep();
                assert_eq!(world.beside(&kept, &world.outside()).review(), [], "{context}");
            }
        }
    }
}

#[test]
fn accepting_what_has_become_a_conflict_says_so() {
    for change in creations() {
        for selection in [HunkSelection::All, HunkSelection::Turn(1)] {
            let world = pending(&change);
            Made::OnDisk.make(&world, "new.txt", THEIRS);
            let report = world.accept(&selection);
            assert_eq!(report.failed, [("new.txt".to_owned(), Failure::Conflict)], "{change:?}");
        }
    }
    // So it is said of a text that the user changed.
    let world = World::new(&[("a.txt", "one\n")]);
    world.write("a.txt", "two\n");
    std::fs::write(world.path("a.txt"), "three\n").unwrap();
    let report = world.accept(&HunkSelection::All);
    assert_eq!(report.failed, [("a.txt".to_owned(), Failure::Conflict)]);
}

#[test]
fn while_nobody_looked_it_is_the_same() {
    for change in creations() {
        let world = pending(&change);
        let kept = world.keep();
        let mut outside = world.outside();
        outside.disk.insert("new.txt".into(), THEIRS.into());
        check_theirs(&world.after(&kept, &outside), THEIRS, &format!("{change:?}"));
        outside.open.insert("new.txt".into(), "unsaved\n".into());
        check_theirs(&world.after(&kept, &outside), "unsaved\n", &format!("{change:?}"));
    }
}

#[test]
fn the_same_text_is_there_already() {
    for text in [OURS, "no line end", "", "two\r\nlines\r\n"] {
        for made in ALL {
            let world = pending(&ProposedChange::Write(Text::from(text)));
            made.make(&world, "new.txt", text);
            world.workspace.look_at_disks();
            world.sync();
            // An empty buffer is looked up as a file when it is written.
            if !text.is_empty() || matches!(made, Made::OnDisk | Made::Closed) {
                assert_eq!(world.review(), [], "{text:?} {made:?}");
            }
            assert_eq!(world.workspace.take_news("s"), [], "{text:?} {made:?}");
            assert_eq!((world.text("new.txt").as_str(), world.published()), (text, vec![]));
        }
    }
    // With other line ends, as an editor may have it, and the same bytes.
    let world = pending(&ProposedChange::Write(Text::from("a\nb\n")));
    Made::Saved.make(&world, "new.txt", "a\r\nb\r\n");
    world.sync();
    assert_eq!((world.review(), world.workspace.take_news("s")), (vec![], vec![]));
    let world = pending(&ProposedChange::Binary(Arc::from(&b"\0"[..])));
    Made::OnDisk.make(&world, "new.txt", "\0");
    world.sync();
    assert_eq!((world.review(), world.workspace.take_news("s")), (vec![], vec![]));
}

#[test]
fn an_empty_file_of_the_users_holds_nothing_that_could_be_lost() {
    // Some editors show an empty buffer as one empty line.
    for (empty, ours, becomes) in [
        ("", OURS, OURS),
        ("", "no line end", "no line end"),
        ("\n", OURS, OURS),
        ("\n", "no line end", "no line end\n"),
        ("\r\n", "a\r\nb\r\n", "a\r\nb\r\n"),
    ] {
        for made in ALL {
            let context = format!("{empty:?} {ours:?} {made:?}");
            let world = pending(&ProposedChange::Write(Text::from(ours)));
            made.make(&world, "new.txt", empty);
            world.workspace.look_at_disks();
            world.sync();
            assert_eq!((world.hunks().len(), world.workspace.take_news("s")), (1, vec![]));
            let other = world.beside(&world.keep(), &world.outside());
            assert_eq!(other.review(), world.review(), "{context}");
            let report = world.accept(&HunkSelection::All);
            assert_eq!((report.done.len(), report.failed), (1, vec![]), "{context}");
            assert_eq!(world.text("new.txt"), becomes, "{context}");
            // Typed into it is theirs.
            world.type_or_write("new.txt", THEIRS);
            let other_made = pending(&ProposedChange::Write(Text::from(ours)));
            made.make(&other_made, "new.txt", empty);
            other_made.sync();
            other_made.type_or_write("new.txt", THEIRS);
            check_theirs(&other_made, THEIRS, &context);
        }
    }
}

#[test]
fn typing_that_was_taken_back_leaves_a_new_file_standing() {
    let world = pending(&ProposedChange::Write(Text::from(OURS)));
    world.open("new.txt", "");
    world.type_text("new.txt", THEIRS);
    world.type_text("new.txt", "");
    world.sync();
    assert_eq!((world.hunks().len(), world.workspace.take_news("s")), (1, vec![]));
    assert_eq!(world.accept(&HunkSelection::All).failed, []);
    assert_eq!(world.text("new.txt"), OURS);
}

#[test]
fn a_file_that_is_no_text_is_not_replaced_by_one_that_was_made_of_nothing() {
    let world = pending(&ProposedChange::Write(Text::from(OURS)));
    std::fs::write(world.path("new.txt"), b"\0theirs").unwrap();
    assert_eq!(world.accept(&HunkSelection::All).done, []);
    assert_eq!(std::fs::read(world.path("new.txt")).unwrap(), b"\0theirs");
    assert_eq!((world.review(), world.workspace.take_news("s").len()), (vec![], 1));
    for leads_to in ["there.txt", "nowhere"] {
        let world = pending(&ProposedChange::Write(Text::from(OURS)));
        std::fs::write(world.path("there.txt"), THEIRS).unwrap();
        std::os::unix::fs::symlink(leads_to, world.path("new.txt")).unwrap();
        let report = world.accept(&HunkSelection::All);
        assert_eq!(report.failed, [("new.txt".to_owned(), Failure::Conflict)], "{leads_to}");
        assert!(world.path("new.txt").is_symlink() && !world.path("nowhere").exists());
        assert_eq!(std::fs::read_to_string(world.path("there.txt")).unwrap(), THEIRS);
        // If the link goes again, it can be made.
        std::fs::remove_file(world.path("new.txt")).unwrap();
        assert_eq!(world.accept(&HunkSelection::All).failed, []);
        assert_eq!(world.text("new.txt"), OURS);
    }
    // Made of other bytes, it replaces those and no others.
    let world = World::new(&[("bin", "\0one")]);
    world.write("bin", OURS);
    std::fs::write(world.path("bin"), b"\0two").unwrap();
    assert_eq!(world.accept(&HunkSelection::All).done, []);
    assert_eq!(std::fs::read(world.path("bin")).unwrap(), b"\0two");
}

#[test]
fn the_mode_of_a_new_file_goes_with_it() {
    let world = pending(&ProposedChange::Write(Text::from(OURS)));
    world.propose_itself("new.txt", ProposedChange::Mode(0o755));
    Made::OnDisk.make(&world, "new.txt", THEIRS);
    check_theirs(&world, THEIRS, "mode");
    assert!(world.outside().modes.is_empty());
}

#[test]
fn a_file_that_somebody_made_while_the_call_ran_is_not_joined_with_ours() {
    for change in creations() {
        for made in ALL {
            for text in [THEIRS, OURS, "\n"] {
                let context = format!("{change:?} {made:?} {text:?}");
                let world = World::new(&[]);
                let view = {
                    let mut fork = world.fork.lock().unwrap();
                    fork.view(world.workspace.snapshot())
                };
                let place = view.roots().place_in(0, "new.txt".as_ref()).unwrap();
                view.read(&place).unwrap();
                made.make(&world, "new.txt", text);
                let proposals = vec![Proposal { place, change: change.clone() }];
                let maker = Maker::Call("c1".into());
                let report = {
                    let mut fork = world.fork.lock().unwrap();
                    fork.merge(&world.workspace, &view, 1, &maker, proposals)
                };
                let own = match &change {
                    ProposedChange::Write(own) => Some(own.to_string()),
                    _ => None,
                };
                let is_conflict = text != "\n" && own.as_deref() != Some(text);
                if text != "\n" {
                    let conflicts: &[String] = if is_conflict { &["new.txt".into()] } else { &[] };
                    assert_eq!(
                        (report.hunks.len(), &report.conflicts[..]),
                        (0, conflicts),
                        "{context}"
                    );
                    assert_eq!(world.review(), [], "{context}");
                }
                world.sync();
                assert_eq!(world.text("new.txt"), text, "{context}");
                if let (Some(own), "\n") = (own.filter(|own| !own.is_empty()), text) {
                    assert_eq!(report.conflicts, [""; 0], "{context}");
                    world.accept(&HunkSelection::All);
                    let ends = own.ends_with('\n');
                    let whole = if ends { own } else { format!("{own}\n") };
                    assert_eq!(world.text("new.txt"), whole, "{context}");
                }
            }
        }
    }
}

#[test]
fn an_empty_file_that_the_user_gives_a_text_is_one_change() {
    let world = pending(&ProposedChange::Write(Text::default()));
    let id = world.hunks()[0].id;
    assert!(world.fork.lock().unwrap().edit(&world.workspace, id, "the user's own\n"));
    assert_eq!(world.hunks().len(), 1);
    let id = world.hunks()[0].id;
    assert_eq!(world.accept(&HunkSelection::Hunks(vec![id])).failed, []);
    assert_eq!((world.text("new.txt").as_str(), world.hunks().len()), ("the user's own\n", 0));
}

#[test]
fn two_commands_that_made_the_same_file_are_not_joined() {
    let world = World::new(&[]);
    let view = world.fork.lock().unwrap().view(world.workspace.snapshot());
    world.write("new.txt", "of one\n");
    let place = view.roots().place_in(0, "new.txt".as_ref()).unwrap();
    let change = ProposedChange::Write(Text::from("of the other\n"));
    let maker = Maker::Call("c2".into());
    let mut fork = world.fork.lock().unwrap();
    let proposals = vec![Proposal { place, change }];
    let report = fork.merge(&world.workspace, &view, 1, &maker, proposals);
    assert_eq!((report.hunks.len(), report.conflicts.len()), (0, 1));
    drop(fork);
    assert_eq!(world.hunks()[0].new, "of one\n");
}
