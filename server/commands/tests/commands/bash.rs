//! `bash` in place, as a tool.

use crate::support::Bench;
use ropewalk_commands::Commands;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn a_command_runs_in_the_first_root() {
    let mut bench = Bench::new(&[("dir/f", b"text\n")]);
    bench.run_by(Arc::<Commands>::default());
    let check = |bench: &mut Bench, input, expected: &str| {
        let said = bench.say("bash", input);
        assert!(said.starts_with(expected), "{said}");
    };
    check(&mut bench, json!({"command": "cat dir/f"}), "text\n");
    check(&mut bench, json!({"command": "cat f", "cwd": "dir"}), "text\n");
    check(&mut bench, json!({"command": "true"}), "(no output)");
    check(&mut bench, json!({"command": "echo no >&2; exit 3"}), "no\n(exit code 3)");
    check(&mut bench, json!({"command": "sleep 9", "timeout": 1}), "Error: Timeout (1s)");
    check(
        &mut bench,
        json!({"command": "true", "timeout": 9999}),
        "(no output)\n(a command may take 600 seconds at most)",
    );
    check(&mut bench, json!({"command": "true", "cwd": ".."}), "Error: Path escapes workspace: ..");
    check(&mut bench, json!({"command": "true", "cwd": "none"}), "Error: the folder ");
    check(&mut bench, json!({"command": "echo a\0b"}), "Error: the command holds a NUL");
    assert!(bench.printed.lock().unwrap().contains("text\n"), "shown while it runs");
}

pub(crate) fn a_long_output_is_kept_whole_and_can_be_read_on() {
    let mut bench = Bench::new(&[]);
    bench.run_by(Arc::<Commands>::default());
    bench.bounds.max_chars = 1000;
    let said = bench.say("bash", json!({"command": "seq 1 5000"}));
    assert!(said.starts_with("1\n2\n") && said.ends_with("5000\n"), "{said}");
    let (_, rest) = said.split_once("the whole is in ").unwrap();
    let (file, _) = rest.split_once(", to be read").unwrap();
    let page = bench.say("read_file", json!({"path": file, "offset": 2500, "limit": 1}));
    assert!(page.starts_with("  2500\t2500\n"), "{page}");
    let before = std::fs::read_dir(bench.beside("outputs")).unwrap().count();
    assert_eq!(before, 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(Path::new(file)), 0o600);
        std::fs::remove_dir_all(bench.beside("outputs")).unwrap();
        bench.say("bash", json!({"command": "seq 1 40000"}));
        assert_eq!(mode(&bench.beside("outputs")), 0o700, "a missing folder is made for its owner");
    }
    bench.say("bash", json!({"command": "rm f; echo short"}));
    assert_eq!(std::fs::read_dir(bench.beside("outputs")).unwrap().count(), 0, "nobody needs it");
}
