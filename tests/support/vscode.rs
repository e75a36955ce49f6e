//! Real VS Code for one test: a case in `tests/vscode/cases` runs in its extension host, against the
//! language server that the test names.
//!
//! `tests/vscode/run.mjs` starts and ends everything; this only hands over and takes the outcome.

use super::editors;
use ropewalk_testkit::planted;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs the case `NAME` (of `tests/vscode/cases/NAME.js`) in the folder `workspace`, with `server`
/// as the language server's command line, `options` as its `initializationOptions`, and
/// `environment` for both. Fails with all that the run said.
pub fn run_case(
    case: &str,
    workspace: &Path,
    server: &[&str],
    options: &Value,
    environment: &[(&str, String)],
) {
    let tests = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vscode"));
    let node = editors().join("vscode/node/bin/node");
    assert!(node.exists(), "no VS Code in {}: run tests/run once", editors().display());
    let output = Command::new(node)
        .arg(tests.join("run.mjs"))
        .arg("--extension")
        .arg(tests.join("extension"))
        .arg("--tests")
        .arg(tests.join("cases").join(case).with_extension("js"))
        .arg("--workspace")
        .arg(workspace)
        .env("ROPEWALK_EDITORS", editors())
        .env("ROPEWALK_SERVER", json!(server).to_string())
        .env("ROPEWALK_OPTIONS", options.to_string())
        .envs(environment.iter().map(|(name, value)| (*name, value)))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    planted::assert_absent("the run", [&*output.stdout, &*output.stderr].concat());
    assert!(output.status.success(), "{case}: {}\n{said}\n{errors}", output.status);
    print!("{said}");
}
