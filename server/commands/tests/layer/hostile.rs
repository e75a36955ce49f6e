//! Traps that a command leaves, amounts that are too much, and changes under its feet.

use crate::support::{Bench, copied_up, gone, is_gone, opaque, put, said, set_mode};
use ropewalk_commands::layer::{MOST_BYTES, MOST_CHANGES};
use ropewalk_text::Text;
use ropewalk_workspace::ProposedChange;
use rustix::fs::{CWD, FileType, Mode};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

const NOTHING: [&str; 0] = [];

#[test]
fn planted_links_lead_nowhere() {
    let mut bench = Bench::new(&[("d/a.txt", "a\n"), ("b.txt", "b\n")]);
    let outside = bench.dir.path().join("outside");
    put(&outside.join("secret.txt"), b"secret\n");
    put(&outside.join("a.txt"), b"secret\n");
    let (_, collected) = bench.collect(|bench| {
        symlink(&outside, bench.up("d")).unwrap();
        symlink(outside.join("secret.txt"), bench.up("b.txt")).unwrap();
        symlink("/", bench.up("everything")).unwrap();
    });
    let links =
        collected.proposals.iter().filter(|one| matches!(one.change, ProposedChange::Link(_)));
    assert_eq!((links.count(), collected.told), (3, vec![]));
    // None of it is merged. The fork then changes files behind them: they are made in the layer, not where the links lead.
    bench.change("d/a.txt", ProposedChange::Write(Text::from("ours\n")));
    let (_, _) = bench.materialise();
    assert_eq!(fs::read_to_string(outside.join("a.txt")).unwrap(), "secret\n");
    assert_eq!(fs::read_to_string(bench.up("d/a.txt")).unwrap(), "ours\n");
    assert!(!bench.up("d").is_symlink());
}

#[test]
fn pipes_sockets_and_odd_names_are_told_once_and_stay() {
    let mut bench = Bench::new(&[("a.txt", "a\n")]);
    let collected = bench.command(|bench| {
        rustix::fs::mknodat(CWD, bench.up("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        drop(std::os::unix::net::UnixListener::bind(bench.up("sock")).unwrap());
        fs::write(bench.up("").join(OsStr::from_bytes(b"caf\xE9")), "x").unwrap();
        fs::write(bench.up("line\nbreak"), "x").unwrap();
    });
    assert_eq!(said(&collected), ["write line\nbreak \"x\""]);
    assert_eq!(collected.told.len(), 2, "{:?}", collected.told);
    assert!(collected.told[0].contains("pipe, sock") && collected.told[1].contains("caf\u{fffd}"));
    let again = bench.command(|_| ());
    assert_eq!((said(&again), again.told), (vec![], vec![]));
    assert!(bench.up("pipe").exists() && bench.up("sock").exists());
}

#[test]
fn folders_and_files_without_permissions_are_read() {
    let mut bench = Bench::new(&[("a.txt", "a\n"), ("d/b.txt", "b\n")]);
    let collected = bench.command(|bench| {
        put(&bench.up("shut/c.txt"), b"c\n");
        set_mode(&bench.up("shut/c.txt"), 0);
        set_mode(&bench.up("shut"), 0);
        put(&bench.up("a.txt"), b"a\n");
        set_mode(&bench.up("a.txt"), 0);
    });
    assert_eq!(said(&collected), ["mode a.txt 0", "write shut/c.txt \"c\\n\""]);
    set_mode(&bench.up(""), 0);
    assert_eq!(said(&bench.command(|_| ())), NOTHING);
}

#[test]
fn a_very_deep_folder_is_left_and_can_be_removed() {
    let mut bench = Bench::new(&[]);
    let collected = bench.command(|bench| {
        let mut path = bench.up("");
        for _ in 0..230 {
            path.push("d");
            fs::create_dir(&path).unwrap();
        }
        fs::write(path.join("file"), "x").unwrap();
        put(&bench.up("other"), b"o\n");
    });
    assert_eq!(said(&collected), ["write other \"o\\n\""]);
    assert!(collected.told[0].starts_with("too many folders"), "{:?}", collected.told);
}

#[test]
fn a_file_that_changed_outside_meanwhile_is_a_conflict() {
    let mut bench = Bench::new(&[
        ("a.txt", "a\n"),
        ("b.txt", "b\n"),
        ("c.txt", "c\n"),
        ("d/e.txt", "e\n"),
        ("open.txt", "o\n"),
    ]);
    bench.open("open.txt", "o\n");
    let collected = bench.command(|bench| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        put(&bench.disk("a.txt"), b"the user's\na\n");
        put(&bench.up("a.txt"), b"a, by the command\n");
        fs::remove_file(bench.disk("b.txt")).unwrap();
        put(&bench.up("b.txt"), b"b, by the command\n");
        copied_up(&bench.up("b.txt"));
        put(&bench.disk("c.txt"), b"the user's\n");
        gone(&bench.up("c.txt"));
        put(&bench.disk("d/e.txt"), b"the user's\n");
        gone(&bench.up("d"));
        put(&bench.disk("open.txt"), b"saved meanwhile\n");
        put(&bench.up("open.txt"), b"o, by the command\n");
    });
    assert_eq!(said(&collected), ["write open.txt \"o, by the command\\n\""]);
    assert_eq!(collected.told.len(), 1);
    assert!(
        collected.told[0].starts_with(
            "conflict: changed on disk while the command ran: a.txt, b.txt, c.txt, d/e.txt;"
        ),
        "{:?}",
        collected.told
    );
    assert!(
        !bench.up("b.txt").exists() && !is_gone(&bench.up("c.txt")) && !is_gone(&bench.up("d"))
    );
}

#[test]
fn what_changes_outside_before_it_is_merged_is_not_taken_for_the_commands() {
    let mut bench = Bench::new(&[("a.txt", "one\ntwo\nthree\n")]);
    let (view, collected) = bench.collect(|bench| {
        put(&bench.up("a.txt"), b"one\ntwo\nTHREE\n");
        put(&bench.up("new.txt"), b"made\n");
    });
    put(&bench.disk("a.txt"), b"the user's\none\ntwo\nthree\n");
    put(&bench.disk("new.txt"), b"the user's\n");
    bench.merge(&view, collected.proposals);
    assert_eq!(bench.reads("a.txt").unwrap(), "the user's\none\ntwo\nTHREE\n");
    // Of two new files the user's stands.
    assert_eq!(bench.reads("new.txt").unwrap(), "the user's\n");
}

#[test]
fn another_name_of_an_open_file_takes_nothing_of_what_is_unsaved() {
    let mut bench = Bench::new(&[("a.txt", "one\n"), ("c.txt", "same\n")]);
    for (name, other) in [("a.txt", "b.txt"), ("c.txt", "d.txt")] {
        fs::hard_link(bench.disk(name), bench.disk(other)).unwrap();
    }
    std::thread::sleep(std::time::Duration::from_millis(20));
    bench.open("a.txt", "unsaved\none\n");
    bench.open("c.txt", "same\n");
    let collected = bench.command(|bench| {
        put(&bench.up("b.txt"), b"one\nmore\n");
        put(&bench.up("d.txt"), b"same\nmore\n");
    });
    assert_eq!(bench.reads("a.txt").unwrap(), "unsaved\none\n");
    assert_eq!(bench.reads("c.txt").unwrap(), "same\nmore\n");
    assert!(
        collected.told[0].contains("unsaved") && collected.told[0].contains(": b.txt"),
        "{:?}",
        collected.told
    );
    assert!(!bench.up("b.txt").exists());
}

#[test]
fn an_open_file_in_another_encoding_is_not_deleted_with_its_replaced_folder() {
    let mut bench = Bench::new(&[("d/a.txt", "a\n"), ("d/b.txt", "b\n")]);
    bench.open("d/a.txt", "a\n");
    let collected = bench.command(|bench| {
        fs::remove_dir_all(bench.up("d")).unwrap();
        opaque(&bench.up("d"));
        put(&bench.up("d/a.txt"), b"caf\xE9\n");
    });
    assert_eq!(said(&collected), ["delete d/b.txt"]);
    assert_eq!(collected.told.len(), 1);
    assert!(collected.told[0].contains("encoding"), "{:?}", collected.told);
    bench.materialise();
    assert_eq!(fs::read_to_string(bench.up("d/a.txt")).unwrap(), "a\n");
    assert!(is_gone(&bench.up("d/b.txt")));
}

#[test]
fn many_files_in_many_folders_come_in_their_order() {
    let had = |number: usize| (number.is_multiple_of(3), number.is_multiple_of(7));
    let name = |number: usize| format!("d{:03}/{number:05}.txt", number / 9);
    let names: Vec<(usize, String)> = (0..1_500).map(|number| (number, name(number))).collect();
    let on_disk = names.iter().filter(|(number, _)| had(*number).0);
    let on_disk: Vec<(&str, &str)> = on_disk.map(|(_, name)| (name.as_str(), "was\n")).collect();
    let mut bench = Bench::new(&on_disk);
    let (_, collected) = bench.collect(|bench| {
        for (number, name) in &names {
            let same = had(*number) == (true, true);
            put(&bench.up(name), if same { "was\n" } else { name }.as_bytes());
        }
    });
    let changed = names.iter().filter(|(number, _)| had(*number) != (true, true));
    let expected: Vec<String> = changed.map(|(_, name)| format!("write {name} {name:?}")).collect();
    assert_eq!((said(&collected), collected.told), (expected, vec![]));
    // Comparisons are held: nothing is looked at again.
    assert_eq!(said(&bench.collect(|_| ()).1), NOTHING);
}

#[test]
fn too_many_files_and_too_many_bytes_are_left() {
    let mut bench = Bench::new(&[("a.txt", "a\n")]);
    let collected = bench.command(|bench| {
        for number in 0..MOST_CHANGES + 20 {
            put(&bench.up(&format!("out/{number:05}")), b"x");
        }
    });
    assert_eq!(collected.proposals.len(), MOST_CHANGES);
    assert!(collected.told[0].contains("out/05000") && collected.told[0].contains("and 10 more"));
    assert!(collected.told[0].contains(".gitignore"), "{:?}", collected.told);
    assert_eq!(said(&bench.command(|_| ())), NOTHING);
    let mut bench = Bench::new(&[]);
    let collected = bench.command(|bench| {
        let file = fs::File::create(bench.up("sparse")).unwrap();
        file.set_len(1 << 40).unwrap();
        put(&bench.up("big"), &vec![b'x'; (MOST_BYTES - 10) as usize]);
        put(&bench.up("bigger"), b"more than ten bytes");
        put(&bench.up("small"), b"small");
    });
    assert_eq!(collected.proposals.len(), 2);
    assert!(collected.told[0].contains("bigger, sparse"), "{:?}", collected.told);
}
