//! Whatever a command makes of a folder, in one turn: accepted, the folder is as the command left it; undone, as it
//! was before, byte for byte and mode for mode. And so it is when only some of it was accepted, in any order. What the
//! user makes meanwhile under a name that was free stands as they made it, whatever is accepted and undone.

use super::bench::{Bench, Thing};
use proptest::prelude::*;
use ropewalk_text::Text;
use ropewalk_text::decode::encode;
use ropewalk_workspace::{HunkSelection, OverlayContent, ProposedChange};
use std::collections::BTreeMap;
use std::sync::Arc;

const NAMES: [&str; 10] =
    ["a.txt", "b.txt", "bin", "d", "d/x.txt", "d/y", "l", "n/m/new", "new.txt", "run.sh"];
/// Names at which nothing stands.
const FREE: [&str; 2] = ["n/m/new", "new.txt"];
const MODES: [u32; 4] = [0o644, 0o755, 0o600, 0o664];

pub(crate) fn bench() -> Bench {
    let bench = Bench::new(&[
        ("a.txt", b"one\ntwo\nthree\n"),
        ("b.txt", b"caf\xe9\n"),
        ("bin", b"\x7fELF\0"),
        ("d/x.txt", b"\xEF\xBB\xBFx\r\n"),
        ("d/y", b"\0y"),
        ("run.sh", b"#!/bin/sh\n"),
    ]);
    bench.link("l", "d/x.txt");
    bench.chmod("bin", 0o755);
    bench.chmod("run.sh", 0o700);
    bench
}

/// Thing that is to stand at each name: no folders.
pub(crate) type Model = BTreeMap<String, Thing>;

fn is_free(model: &Model, name: &str) -> bool {
    model.keys().all(|there| {
        let nested = |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.starts_with('/'));
        there != name && !nested(there, name) && !nested(name, there)
    })
}

/// One step of a command: what, on which name, and two numbers that say how.
pub(crate) type Step = (u8, u8, u8, u8);

pub(crate) fn step(bench: &Bench, model: &mut Model, (kind, a, b, c): Step) {
    let name = NAMES[usize::from(a) % NAMES.len()];
    let bits = MODES[usize::from(c) % MODES.len()];
    let there = model.get(name).cloned();
    let can_be = there.is_some() || is_free(model, name);
    match (kind % 7, there) {
        (0 | 1, there) if can_be => {
            let text =
                ["", "one\nTWO\nthree\n", "é\n", "one\ntwo\nthree\nfour\n"][usize::from(b) % 4];
            bench.propose_all(vec![
                (name, ProposedChange::Write(Text::from(text))),
                (name, ProposedChange::Mode(bits)),
            ]);
            // A file that was a text keeps its encoding: the view says which.
            let found = bench.view().materials().into_iter().find(|one| one.place.shown == name);
            let bytes = match (found.map(|one| one.stands), there) {
                (Some(OverlayContent::Text(text, format)), _) => encode(&text, format).unwrap(),
                // It is what it was, or has no text to say.
                (_, Some(Thing::File(bytes, _))) => bytes,
                (stands, there) => panic!("{name}: {stands:?} {there:?}"),
            };
            model.insert(name.to_owned(), Thing::File(bytes, bits));
        }
        (2, _) if can_be => {
            let bytes: &[u8] = if b % 2 == 0 { b"\0\x01" } else { b"\xff\0\xfe" };
            bench.propose_all(vec![
                (name, ProposedChange::Binary(Arc::from(bytes))),
                (name, ProposedChange::Mode(bits)),
            ]);
            model.insert(name.to_owned(), Thing::File(bytes.to_vec(), bits));
        }
        (3, _) if can_be => {
            let target = ["a.txt", "d", "/etc", "../x"][usize::from(b) % 4];
            bench.to_link(name, target);
            model.insert(name.to_owned(), Thing::Link(target.into()));
        }
        (4, Some(Thing::File(bytes, _))) => {
            bench.propose(name, ProposedChange::Mode(bits));
            model.insert(name.to_owned(), Thing::File(bytes, bits));
        }
        (5, Some(_)) => {
            bench.propose(name, ProposedChange::Delete);
            model.remove(name);
        }
        (6, Some(thing)) => {
            let to = NAMES[usize::from(b) % NAMES.len()];
            model.remove(name);
            if to != name && is_free(model, to) {
                bench.rename(name, to);
                model.insert(to.to_owned(), thing);
            } else {
                model.insert(name.to_owned(), thing);
            }
        }
        _ => {}
    }
}

pub(crate) fn files(things: BTreeMap<String, Thing>) -> Model {
    things.into_iter().filter(|(_, thing)| *thing != Thing::Folder).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn accepted_it_is_as_the_command_left_it_and_undone_as_it_was(
        steps in prop::collection::vec(any::<Step>(), 1..14),
    ) {
        let bench = bench();
        let before = bench.things();
        let mut model = files(before.clone());
        for one in steps {
            step(&bench, &mut model, one);
        }
        bench.view();
        prop_assert_eq!(bench.restarted().hunks(), bench.hunks());
        let after = bench.accept_and_undo(&before);
        prop_assert_eq!(files(after), model);
    }

    #[test]
    fn some_of_it_accepted_in_any_order_is_undone_too(
        steps in prop::collection::vec(any::<Step>(), 1..14),
        choices in prop::collection::vec(any::<(u8, bool)>(), 0..20),
    ) {
        let bench = bench();
        let before = bench.things();
        let mut model = files(before.clone());
        for one in steps {
            step(&bench, &mut model, one);
        }
        for (number, accept) in choices {
            let hunks = bench.hunks();
            let Some(hunk) = hunks.get(usize::from(number) % hunks.len().max(1)) else { break };
            if accept {
                // A hunk that needs another change first is refused, and stays pending.
                bench.accept_one(hunk.id);
            } else {
                prop_assert_eq!(bench.reject(hunk.id), 1);
            }
            bench.view();
            prop_assert_eq!(bench.restarted().hunks(), bench.hunks());
        }
        bench.fork.lock().unwrap().reject(&bench.workspace, &HunkSelection::All, None);
        prop_assert_eq!(bench.review(), Vec::<String>::new());
        let published = bench.things();
        let report = bench.undo(&HunkSelection::Turn(1));
        prop_assert_eq!(report.failed, vec![], "{:?}", published);
        prop_assert_eq!(bench.things(), before);
    }

    #[test]
    fn what_the_user_makes_meanwhile_stands(
        steps in prop::collection::vec(any::<Step>(), 1..14),
        theirs in prop::collection::vec((0..FREE.len(), 0..6u8, any::<bool>()), 1..4),
    ) {
        let bench = bench();
        let mut model = files(bench.things());
        for one in steps {
            step(&bench, &mut model, one);
        }
        let mut made = Vec::new();
        for (name, what, looked) in theirs {
            let name = FREE[name];
            if bench.thing(name).is_some() || bench.is_open(name) {
                continue;
            }
            bench.user_makes(name, what);
            if looked {
                bench.view();
            }
            made.push((name, bench.thing(name), bench.unsaved(name)));
        }
        let check = || {
            for (name, thing, unsaved) in &made {
                let now = (bench.thing(name), bench.unsaved(name));
                let same = match (&now.0, thing) {
                    // Where the command made the very same, the mode that it gave it is left.
                    (Some(Thing::File(now, _)), Some(Thing::File(then, _))) => now == then,
                    // An empty file may be filled.
                    (now, then) => now == then,
                };
                let was_empty = matches!(thing, Some(Thing::File(bytes, _)) if bytes.is_empty());
                prop_assert!(was_empty || (same && now.1 == *unsaved), "{name}: {now:?} {thing:?} {unsaved:?}");
            }
            Ok(())
        };
        bench.accept(&HunkSelection::All);
        check()?;
        bench.undo(&HunkSelection::Turn(1));
        check()?;
    }
}
