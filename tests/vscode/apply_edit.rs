//! Real VS Code under each kind of `workspace/applyEdit`: the cases are in
//! `tests/vscode/cases/apply_edit.js`. Observations; our own server isn't involved.

#[test]
#[ignore = "needs VS Code; run tests/run"]
fn vs_code_treats_edits_as_the_table_says() {
    let workspace = tempfile::tempdir().unwrap();
    let node = crate::support::editors().join("vscode/node/bin/node");
    let probe = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vscode/probe.mjs");
    let server = [node.to_str().unwrap(), probe];
    crate::support::vscode::run_case(
        "apply_edit",
        workspace.path(),
        &server,
        &serde_json::json!({}),
        &[],
    );
}
