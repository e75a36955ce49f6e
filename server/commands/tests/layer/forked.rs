//! A layer for a command in the background: with what was built, without what the view has.

use crate::support::{Bench, opaque, put, said, stamp};
use ropewalk_commands::layer::file_time;
use ropewalk_text::Text;
use ropewalk_workspace::ProposedChange;
use std::fs;

#[test]
fn ignored_files_come_along_with_their_times_and_the_rest_is_written_anew() {
    let mut bench = Bench::new(&[(".gitignore", "out/\n"), ("a.txt", "a\n"), ("out/old", "old\n")]);
    bench.change("a.txt", ProposedChange::Write(Text::from("changed\n")));
    bench.command(|bench| {
        opaque(&bench.up("out"));
        put(&bench.up("out/deep/built"), b"built\n");
        put(&bench.up("made.txt"), b"made\n");
    });
    let folder = bench.dir.path().join("layer/b1");
    let mut other = bench.layer.fork_to(&folder, u64::MAX).unwrap();
    let up = |name: &str| folder.join("0/up").join(name);
    assert_eq!(stamp(&up("out/deep/built")).1, stamp(&bench.up("out/deep/built")).1);
    assert!(
        rustix::fs::getxattr(up("out"), "user.overlay.opaque", [0_u8; 4].as_mut_slice()).is_ok()
    );
    assert!(!up("made.txt").exists() && !up("a.txt").exists());
    let view = bench.view();
    assert_eq!(other.materialise(&view, &mut bench.ever).unwrap().told, Vec::<String>::new());
    assert_eq!(fs::read_to_string(up("made.txt")).unwrap(), "made\n");
    put(&up("a.txt"), b"by the one in the background\n");
    let collected = other.collect(&view, file_time(), &mut bench.ever).unwrap();
    assert_eq!(said(&collected), ["write a.txt \"by the one in the background\\n\""]);
    assert_eq!(fs::read_to_string(bench.up("a.txt")).unwrap(), "changed\n");
}
