//! Skills of subagents: each loads what it needs, and takes nothing from the session that has started it.

use super::{of, tasks, told};
use crate::bench::*;
use ropewalk_agent::session::Settings;
use ropewalk_model::Protocol;
use ropewalk_protocol::StopReason;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// Writes a skill of the user's with a file beside it.
fn skill(home: &Path, name: &str) -> String {
    let folder = home.join("skills").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("---\nname: {name}\ndescription: About {name}\n---\nThe body of {name}.\n");
    std::fs::write(folder.join("SKILL.md"), text).unwrap();
    let notes = folder.join("notes.md");
    std::fs::write(&notes, format!("the notes of {name}\n")).unwrap();
    notes.display().to_string()
}

fn load(name: &str) -> ScriptedReply {
    calls("load_skill", json!({ "name": name }))
}

fn read(path: &str) -> ScriptedReply {
    calls("read_file", json!({ "path": path }))
}

#[tokio::test]
async fn one_loads_a_skill_of_the_users_and_reads_beside_it() {
    for kind in ["explore", "code"] {
        let home = tempfile::tempdir().unwrap();
        let (pdf, docx) = (skill(home.path(), "pdf"), skill(home.path(), "docx"));
        let folder = home.path().to_owned();
        let users = move |settings: &mut Settings| settings.user_folders = Arc::new([folder]);
        let replies = [
            load("docx"),
            tasks(&[(kind, "look", "Look around")]),
            of("Look around", read(&pdf)),
            of("Look around", load("pdf")).expect_text("Path escapes workspace"),
            of("Look around", read(&pdf)).expect_text("The body of pdf."),
            of("Look around", read(&docx)).expect_text("the notes of pdf"),
            of("Look around", says("Seen.")).expect_text("the notes of docx"),
            read(&docx).expect_text("Seen."),
            read(&pdf).expect_text("the notes of docx"),
            load("pdf").expect_text("Path escapes workspace"),
            says("ok").expect_text("The body of pdf."),
        ];
        let mut bench = start_kept_over(Protocol::Anthropic, replies, users);
        assert_eq!(bench.run("go").await, StopReason::EndTurn, "{kind}");
        let own = bench.model.recorded()[2].said["system"].to_string();
        assert!(own.contains("- pdf: About pdf"), "{own}");
        bench.model.finish().unwrap();
    }
}

#[tokio::test]
async fn where_the_session_has_none_a_subagent_has_none() {
    let replies = [
        tasks(&[("explore", "look", "Look around")]),
        of("Look around", load("pdf")),
        of("Look around", says("Seen.")).expect_text("Unknown tool: load_skill"),
        says("ok"),
    ];
    let mut bench = start_with(replies, |settings| settings.mechanisms.skills = false);
    let folder = bench.path(".agents/skills/pdf");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("SKILL.md"), "---\ndescription: x\n---\nbody\n").unwrap();
    assert_eq!(bench.run("go").await, StopReason::EndTurn);
    assert!(told(&bench)[0].starts_with("Seen."));
    let own = &bench.model.recorded()[1].raw;
    assert!(!own.contains("skill"), "{own}");
}
