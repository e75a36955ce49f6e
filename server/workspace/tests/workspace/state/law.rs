//! Whatever happens in a session, its records say all of it: a reader that folds them and restores has the same
//! hunks and the same ledger; and on texts that have moved on meanwhile, no pending change replaces a character
//! that it did not replace before. Nothing is deleted, replaced as a whole or joined with what was made of nothing, but
//! what stood there when the agent did so.

use super::world::{Outside, World};
use proptest::prelude::*;
use ropewalk_text::Text;
use ropewalk_workspace::entry::ChangeTexts;
use ropewalk_workspace::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const NAMES: [&str; 4] = ["a.txt", "b.txt", "c.txt", "new/d.txt"];

/// One step: what, and three numbers that say where and how.
type Step = (u8, u16, u16, u16);

fn pick<T>(all: &[T], number: u16) -> Option<&T> {
    if all.is_empty() { None } else { all.get(usize::from(number) % all.len()) }
}

/// The text with a few lines or chars of it changed to something that nobody else writes.
fn altered(text: &str, (at, what, count): (u16, u16, u16), by: char) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let index = usize::from(at) % (lines.len() + 1);
    let fresh = format!("{by}{at}é{what}\n");
    match what % 5 {
        0 => lines.insert(index, fresh),
        1 if index < lines.len() => drop(lines.remove(index)),
        2 if index < lines.len() => lines[index] = fresh,
        3 => {
            let end = (index + usize::from(count) % 3).min(lines.len());
            lines.splice(index..end, [fresh.clone(), fresh]);
        }
        _ => {
            let chars: Vec<char> = text.chars().collect();
            let from = usize::from(at) % (chars.len() + 1);
            let to = (from + usize::from(count) % 4).min(chars.len());
            let new: String = fresh.trim_end().chars().take(usize::from(what) % 4).collect();
            let (head, tail) = (chars[..from].iter(), chars[to..].iter());
            return head.copied().chain(new.chars()).chain(tail.copied()).collect();
        }
    }
    lines.concat()
}

/// Of each pending change of a file as a whole, what stood in the file when it was made.
type Stood = BTreeMap<HunkId, String>;

fn note_stood(world: &World, stood: &mut Stood) {
    // Of a file to be renamed the text is that under its old name.
    let makes_all = |hunk: &Hunk| {
        let fork = world.fork.lock().unwrap();
        let file = fork.files().find(|(id, _)| **id == hunk.doc).map(|(_, file)| file);
        file.is_some_and(|file| file.entry.file.is_none() && file.entry.base.text().is_empty())
    };
    let is_whole = |hunk: &&Hunk| match hunk.kind {
        HunkKind::Delete | HunkKind::Binary | HunkKind::Create => true,
        HunkKind::Text => makes_all(hunk),
        HunkKind::Rename { .. } | HunkKind::Mode(_) | HunkKind::Link { .. } => false,
    };
    for hunk in world.hunks().iter().filter(is_whole) {
        stood.entry(hunk.id).or_insert_with(|| world.text(&hunk.file));
    }
}

fn step(world: &mut World, stood: &Stood, (kind, a, b, c): Step) {
    let name = NAMES[usize::from(a) % NAMES.len()];
    let open = world.workspace.open_documents().contains(&world.id(name));
    let hunks = world.hunks();
    match kind % 13 {
        0 | 1 if open => world.type_text(name, &altered(&world.text(name), (b, c, a), 'u')),
        0 | 1 if world.path(name).exists() => {
            world.open(name, &std::fs::read_to_string(world.path(name)).unwrap());
        }
        2 | 3 => world.agent_writes(name, |text| altered(text, (b, c, a), 'A')),
        4 => {
            if let Some(hunk) = pick(&hunks, b) {
                let (unsaved, names) = (unsaved(world), names_on_disk(world));
                let before = world.text(&hunk.file);
                let report = world.accept(&HunkSelection::Hunks(vec![hunk.id]));
                check_unsaved(world, &unsaved);
                if let Some(was) = stood.get(&hunk.id).filter(|_| report.done.contains(&hunk.id)) {
                    // Bytes may also come where there is nothing any more.
                    assert!(before.is_empty() || before == *was, "{}: {before:?}", hunk.file);
                }
                if hunk.kind == HunkKind::Text {
                    assert_eq!(names_on_disk(world), names, "a change of text moves no file");
                }
            }
        }
        5 => {
            if let Some(hunk) = pick(&hunks, b) {
                let which = HunkSelection::Hunks(vec![hunk.id]);
                world.fork.lock().unwrap().reject(&world.workspace, &which, None);
            }
        }
        6 => {
            if let Some(hunk) = pick(&hunks, b) {
                world.fork.lock().unwrap().edit(&world.workspace, hunk.id, "the user's\nown\n");
            }
        }
        7 => {
            let unsaved = unsaved(world);
            world.undo(&HunkSelection::Turn(u64::from(b) % world.turn + 1));
            check_unsaved(world, &unsaved);
        }
        8 if open => world.save(name),
        9 => world.turn += 1,
        10 if c % 3 == 0 => {
            // In a view without the file there is nothing to set.
            world
                .agent_tries(name, ProposedChange::Mode([0o644, 0o755, 0o600][usize::from(b) % 3]));
        }
        10 => world.agent_tries(name, ProposedChange::Delete),
        11 if c % 2 == 0 => world.agent_tries(name, ProposedChange::Binary(Arc::from(&b"\0"[..]))),
        11 => world.agent_renames(name, NAMES[usize::from(b) % NAMES.len()]),
        // The user makes a file: in a new buffer, or by another program.
        12 if !open && !world.path(name).exists() => {
            let text = altered("", (b, c, a), 'u');
            match c % 2 {
                0 => world.open(name, &text),
                _ => world.write_on_disk(name, &text),
            }
        }
        _ => {}
    }
}

/// The files that have unsaved text in the editor, with what the disk holds.
fn unsaved(world: &World) -> BTreeMap<String, Option<Vec<u8>>> {
    let outside = world.outside();
    let is_unsaved =
        |name: &&String| world.workspace.with_document(&world.id(name), |d| !d.is_clean()).unwrap();
    let names = outside.open.keys().filter(is_unsaved);
    names.map(|name| (name.clone(), outside.disk.get(name).cloned())).collect()
}

/// A file with unsaved text in the editor is neither written nor moved. What was all that was unsaved may have been
/// taken back before.
fn check_unsaved(world: &World, before: &BTreeMap<String, Option<Vec<u8>>>) {
    for (name, bytes) in unsaved(world) {
        if let Some(was) = before.get(&name) {
            assert_eq!(bytes, *was, "{name} has unsaved text");
        }
    }
}

fn names_on_disk(world: &World) -> Vec<String> {
    world.outside().disk.into_keys().collect()
}

fn contents(world: &World) -> BTreeMap<HunkId, ChangeTexts> {
    let fork = world.fork.lock().unwrap();
    let of_file = |(_, file): (&DocId, &fork::ForkFile)| {
        let ids: Vec<HunkId> = file.entry.marks().iter().map(|mark| mark.id).collect();
        file.entry.contents(&ids)
    };
    fork.files().flat_map(of_file).map(|content| (content.id, content)).collect()
}

/// True if it tells of a change that was accepted and never saved.
fn is_of_accepted(note: &Note) -> bool {
    matches!(note, Note::NotRestored { why, .. } if why.contains("was accepted and never saved"))
}

/// True if the user has thrown away the accepted text that a note names: the file is as the disk has it, and lacks it.
fn stands_nowhere(world: &World, note: &Note) -> bool {
    let Note::NotRestored { file, why } = note else { return false };
    let outside = world.outside();
    let disk = outside.disk.get(file).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let is_as_saved = outside.open.get(file).is_none_or(|open| Some(open) == disk.as_ref());
    let line = why.split('“').nth(1).and_then(|rest| rest.split('”').next());
    is_as_saved && line.is_none_or(|line| !disk.unwrap_or_default().contains(line))
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn what_was_kept_comes_back(
        steps in prop::collection::vec(any::<Step>(), 1..40),
        away in prop::collection::vec(any::<(u16, u16, u16)>(), 1..6),
    ) {
        let text: String = (0..12).map(|n| format!("line {n}\n")).collect();
        let mut world = World::new(&[("a.txt", &text), ("b.txt", &text)]);
        world.open("a.txt", &text);
        let mut stood = Stood::new();
        for one in steps {
            step(&mut world, &stood, one);
            world.workspace.look_at_disks();
            world.sync();
            note_stood(&world, &mut stood);
            let kept = world.keep();
            let again = world.beside(&kept, &world.outside());
            // Counted on the text that was kept: what the user typed between two changes may join their lines.
            prop_assert_eq!(kept.pending() > 0, !world.hunks().is_empty());
            prop_assert_eq!(again.published(), world.published());
            let told = again.workspace.take_news("s");
            let lost = |note: &&Note| matches!(note, Note::NotRestored { .. });
            let (thrown_away, lost): (Vec<_>, Vec<_>) =
                told.iter().filter(lost).partition(|note| is_of_accepted(note));
            for note in thrown_away {
                prop_assert!(stands_nowhere(&world, note), "{note:?}");
            }
            if !lost.is_empty() {
                // Only the rename of a file that has gone has nothing to come back to.
                prop_assert!(world.renames_nothing(), "{told:?}");
                break;
            }
            prop_assert_eq!(again.review(), world.review());
        }
        // The user types on while no server runs.
        let (kept, before) = (world.keep(), contents(&world));
        let mut outside: Outside = world.outside();
        for text in outside.open.values_mut() {
            for (number, one) in away.iter().enumerate() {
                let typed = char::from_digit(number as u32, 10).unwrap();
                *text = altered(text, *one, typed);
            }
        }
        let after = world.beside(&kept, &outside);
        for (id, content) in contents(&after) {
            if let Some(was) = before.get(&id) {
                prop_assert_eq!(&content, was);
            }
        }
        for (name, text) in &outside.open {
            prop_assert_eq!(&after.text(name), text);
            let fork = after.fork.lock().unwrap();
            let entry = fork.files().find(|(id, _)| **id == after.id(name)).map(|(_, f)| &f.entry);
            // A rename to this name stands on the text of the old one.
            if let Some(entry) = entry.filter(|entry| entry.file.is_none()) {
                prop_assert_eq!(entry.base.text(), Text::from(text.as_str()));
                prop_assert_eq!(entry.set().apply(&entry.base.text()).unwrap(), entry.text().clone());
            }
        }
    }
}
