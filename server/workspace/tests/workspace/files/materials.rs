//! Contents that must stand where a command is to see the files as the view does.

use super::bench::Bench;
use ropewalk_text::Text;
use ropewalk_text::decode::encode;

use ropewalk_workspace::{
    ContentChange, DocId, HunkSelection, OverlayContent, OverlayFile, ProposedChange,
};
use std::sync::Arc;

/// One line for each place: its name, what stands there, its mode, whether it is open and whether it differs.
fn lines(bench: &Bench) -> Vec<String> {
    let line = |material: OverlayFile| {
        let stands = match material.stands {
            OverlayContent::Missing => "nothing".to_owned(),
            OverlayContent::Text(text, format) => {
                format!("'{}'", encode(&text, format).unwrap().escape_ascii())
            }
            OverlayContent::Bytes(bytes) => format!("bytes '{}'", bytes.escape_ascii()),
            OverlayContent::OnDisk(place) => format!("as {}", place.shown),
            OverlayContent::Link(target) => format!("-> {}", target.display()),
        };
        let mode = material.mode.map(|mode| format!(" {mode:o}")).unwrap_or_default();
        let open = if material.open { " open" } else { "" };
        let same = if material.differs { "" } else { " as on the disk" };
        format!("{} {stands}{mode}{open}{same}", material.place.shown)
    };
    bench.view().materials().into_iter().map(line).collect()
}

#[test]
fn what_is_as_on_the_disk_and_not_open_is_not_named() {
    let bench = Bench::new(&[("a.txt", b"one\n")]);
    assert_eq!(lines(&bench), [""; 0]);
    bench.workspace.open("untitled:1", "text", 1, "no file");
    let outside = tempfile::NamedTempFile::new().unwrap();
    bench.workspace.open(&DocId::from_path(outside.path()).to_uri(), "text", 1, "elsewhere");
    assert_eq!(lines(&bench), [""; 0]);
}

#[test]
fn open_documents_stand_in_the_encoding_of_their_files() {
    let bench = Bench::new(&[
        ("bom.txt", b"\xEF\xBB\xBFone\r\n"),
        ("clean.txt", b"one\n"),
        ("moved.txt", b"one\n"),
        ("old.txt", b"caf\xe9\n"),
    ]);
    bench.open("bom.txt", "two\r\n");
    bench.open("clean.txt", "one\n");
    bench.open("moved.txt", "one\n");
    bench.open("new.txt", "not saved\n");
    bench.open("old.txt", "café, bière\n");
    bench.view();
    std::fs::write(bench.path("moved.txt"), "another\n").unwrap();
    let expected = [
        r"bom.txt '\xef\xbb\xbftwo\r\n' open",
        r"clean.txt 'one\n' open as on the disk",
        r"moved.txt 'another\n' open as on the disk",
        r"new.txt 'not saved\n' open",
        r"old.txt 'caf\xe9, bi\xe8re\n' open",
    ];
    assert_eq!(lines(&bench), expected);
    // Pending text is laid over it, in the same encoding.
    bench.write("old.txt", "café noir\n");
    assert_eq!(lines(&bench)[4], r"old.txt 'caf\xe9 noir\n' open");
    let change = ContentChange { range: None, text: "typed\n".to_owned() };
    let uri = DocId::from_path(&bench.path("clean.txt")).to_uri();
    bench.workspace.change(&uri, 2, &[change]);
    assert_eq!(lines(&bench)[1], r"clean.txt 'typed\n' open");
}

#[test]
fn pending_changes_of_files_are_said_without_their_bytes() {
    let bench = Bench::new(&[
        ("a.txt", b"one\n"),
        ("b.bin", b"\0b"),
        ("c.bin", b"\0c"),
        ("gone.txt", b"bye\n"),
        ("run.sh", b"#!/bin/sh\n"),
        ("tool", b"\x7fELF\0"),
        ("x.sh", b"x\n"),
    ]);
    bench.chmod("a.txt", 0o640);
    bench.chmod("x.sh", 0o755);
    bench.open("a.txt", "one\n");
    bench.write("new/made.txt", "é\n");
    bench.propose("gone.txt", ProposedChange::Delete);
    bench.propose("run.sh", ProposedChange::Mode(0o755));
    bench.propose("tool", ProposedChange::Mode(0o700));
    bench.propose("b.bin", ProposedChange::Binary(Arc::from(&b"\0new"[..])));
    bench.rename("c.bin", "moved/c.bin");
    bench.rename("a.txt", "z.txt");
    bench.rename("x.sh", "zz.sh");
    bench.write("zz.sh", "z\n");
    bench.propose("empty", ProposedChange::Write(Text::default()));
    let expected = [
        "a.txt nothing open",
        r"b.bin bytes '\x00new'",
        "c.bin nothing",
        r"empty ''",
        "gone.txt nothing",
        "moved/c.bin as c.bin",
        r"new/made.txt '\xc3\xa9\n'",
        r"run.sh '#!/bin/sh\n' 755",
        "tool as tool 700",
        "x.sh nothing",
        r"z.txt 'one\n' 640 open",
        r"zz.sh 'z\n' 755",
    ];
    assert_eq!(lines(&bench), expected);
}

#[test]
fn what_was_published_or_undone_is_the_disks_alone() {
    let bench = Bench::new(&[("a.txt", b"one\n"), ("b.bin", b"\0b")]);
    bench.write("a.txt", "two\n");
    bench.rename("b.bin", "c.bin");
    assert_eq!((lines(&bench).len(), bench.hunks().len()), (3, 2));
    assert_eq!(bench.accept(&HunkSelection::All).failed, []);
    assert_eq!(lines(&bench), [""; 0]);
    assert_eq!(bench.undo(&HunkSelection::All).failed, []);
    assert_eq!(lines(&bench), [""; 0]);
}
