//! All mechanisms on, against all of them off: what the same twenty steps take of the processor.

use crate::agent::Agent;
use crate::harness::{Bar, Report, callgrind, code};
use ropewalk_protocol::Mechanisms;
use ropewalk_testkit::model::ScriptedReply;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The instructions of `ropewalk run` in a folder with instructions and skills, which are found, told and kept where they
/// are on. The commands and the model are processes and threads of their own and not counted.
pub(crate) fn all_on_against_all_off(report: &mut Report) {
    let name = "20 steps, all on against all off";
    if !report.wants(name) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    write_project(root);
    // In turns: threads take turns otherwise in each run.
    let rounds: Vec<_> = (0..5).map(|_| (count(root, true), count(root, false))).collect();
    let on = rounds.iter().filter_map(|(on, _)| *on).min();
    let off = rounds.iter().filter_map(|(_, off)| *off).min();
    match (on, off) {
        (Some(on), Some(off)) => {
            let more = on as f64 - off as f64;
            report.row(name, more / off as f64 * 100.0, "% more", Bar::AtMost(5.0));
            report.row("20 steps, all off", off as f64 / 1e6, "M instructions", Bar::Shown);
            report.row("20 steps, all on", on as f64 / 1e6, "M instructions", Bar::Shown);
        }
        _ => println!("{name:<44} skipped: valgrind is not installed"),
    }
}

/// A folder with instructions, some of them nested, five skills and a prompt command.
fn write_project(root: &Path) {
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    write("AGENTS.md", &"Use tabs, and say why in each comment.\n".repeat(20));
    write("src/AGENTS.md", "No panics here.\n");
    write(".agents/commands/review.md", "Review $ARGUMENTS.\n");
    for number in 0..5 {
        let text =
            format!("---\nname: skill-{number}\ndescription: Does part {number}.\n---\nDo it.\n");
        write(&format!(".agents/skills/skill-{number}/SKILL.md"), &text);
    }
}

/// The instructions of one run; None without valgrind.
fn count(root: &Path, is_on: bool) -> Option<u64> {
    fs::write(root.join("src/main.rs"), code(40_000, "\n")).expect("a file");
    let steps = (0..20).map(|step| {
        let reply = ScriptedReply::new().text("I look.");
        match step % 3 {
            0 => {
                let input = json!({"path": "src/main.rs", "offset": step * 20 + 1, "limit": 40});
                reply.call("read_file", input)
            }
            1 => reply.call("bash", json!({"command": format!("sed -n {step}p src/main.rs")})),
            _ => {
                let old = format!("let value_{} =", step * 5 + 2);
                let new = format!("let worth_{step} =");
                let input = json!({"path": "src/main.rs", "old_text": old, "new_text": new});
                reply.call("edit_file", input)
            }
        }
    });
    let agent = Agent::new("auto", steps.chain([ScriptedReply::new().text("Done.")]));
    let mut run = Command::new(env!("CARGO_BIN_EXE_ropewalk"));
    run.args(["run", "--mode", "auto", "--allow", "bash(*)"]);
    for name in Mechanisms::NAMES {
        run.arg("-c").arg(format!("mechanisms.{name}={is_on}"));
    }
    run.arg("Look around.").envs(agent.environment());
    let counted = callgrind(&run, |mut counted| {
        let done = counted
            .current_dir(root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("valgrind starts");
        assert!(done.success(), "{done}");
    });
    assert_eq!(agent.model.requests().len(), 21, "the run ended early");
    counted
}
