//! The packaged extension in real VS Code for one test: a case of `tests/vscode/plugin`, with our server and a scripted
//! model behind it. `tests/vscode/plugin.mjs` starts and ends everything; gates of the model are opened as the case asks.

use super::agent::Agent;
use super::editors;
use super::wire;
use ropewalk_testkit::planted;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs the case `NAME` (of `tests/vscode/plugin/NAME.mjs`) in the folder `workspace`. Fails with all that the run said.
pub fn run_plugin(case: &str, workspace: &Path, agent: &Agent) {
    run_plugin_with(case, workspace, agent, &["--server", &recorded(agent)]);
    assert!(!wire::kinds(&agent.folder("records")).is_empty(), "{case}: nothing was recorded");
}

/// The path of a program that is our server, and keeps all that it is sent and tells, which is judged after the run.
pub fn recorded(agent: &Agent) -> String {
    let program = agent.folder("ropewalk");
    wire::record(&program, Agent::command()[0], &agent.folder("records"));
    program.display().to_string()
}

/// As [`run_plugin`], with other options of `plugin.mjs`.
pub fn run_plugin_with(case: &str, workspace: &Path, agent: &Agent, options: &[&str]) {
    let tests = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vscode"));
    let extensions = editors().join("extension/extensions");
    assert!(extensions.exists(), "no {}: run tests/run once", extensions.display());
    let mut child = Command::new(editors().join("vscode/node/bin/node"))
        .arg(tests.join("plugin.mjs"))
        .arg("--extensions")
        .arg(extensions)
        .arg("--case")
        .arg(tests.join("plugin").join(case).with_extension("mjs"))
        .arg("--workspace")
        .arg(workspace)
        .args(options)
        .env("ROPEWALK_EDITORS", editors())
        .envs(agent.environment())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut answers = child.stdin.take().unwrap();
    let mut errors = child.stderr.take().unwrap();
    let reading = std::thread::spawn(move || {
        let mut all = String::new();
        errors.read_to_string(&mut all).unwrap();
        all
    });
    let mut said = String::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some(gate) = line.strip_prefix("gate: ") {
            agent.model.open_gate(gate);
        } else if let Some(gate) = line.strip_prefix("reached: ") {
            agent.model.wait_until_reached_blocking(gate);
            // One that has ended meanwhile needs no answer.
            let _ = answers.write_all(b"reached\n");
        }
        said += &line;
        said.push('\n');
    }
    let status = child.wait().unwrap();
    let errors = reading.join().unwrap();
    planted::assert_absent("the run", format!("{said}{errors}").into_bytes());
    assert!(status.success(), "{case}: {status}\n{said}\n{errors}");
    print!("{said}");
    let faults = wire::faults(&agent.folder("records"));
    assert!(faults.is_empty(), "{case}: {}", faults.join("\n"));
}
