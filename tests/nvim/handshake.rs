//! Handshake of stock Neovim with a language server, and how it shows progress.
//!
//! Observations that the server's table of client habits rests on; our own server isn't involved.

use crate::support::nvim::{Nvim, Server};
use crate::support::probe::Probe;
use serde_json::{Value, json};

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn it_names_itself_and_offers_three_encodings_and_resource_operations() {
    let folder = tempfile::tempdir().unwrap();
    let probe = Probe::listen(&json!({}));
    let nvim = Nvim::start(folder.path());
    nvim.start_client("probe", &Server::Port(probe.port()), folder.path(), json!({}));
    let params = probe.wait_message(0, "initialize").message["params"].clone();

    assert_eq!(params["clientInfo"]["name"], "Neovim");
    let version = params["clientInfo"]["version"].as_str().unwrap();
    assert!(version.starts_with("0.11.4"), "{version}");
    let capabilities = &params["capabilities"];
    assert_eq!(capabilities["general"]["positionEncodings"], json!(["utf-8", "utf-16", "utf-32"]));
    let edits = &capabilities["workspace"]["workspaceEdit"];
    assert_eq!(edits["resourceOperations"], json!(["rename", "create", "delete"]));
    assert_eq!(edits["documentChanges"], Value::Null, "honoured all the same");
    assert_eq!(capabilities["workspace"]["applyEdit"], true);
    let refresh = |what: &str| capabilities["workspace"][what]["refreshSupport"].clone();
    assert_eq!(refresh("semanticTokens"), true);
    assert_eq!(refresh("inlayHint"), true);
    assert_eq!(refresh("codeLens"), Value::Null);
    assert_eq!(refresh("diagnostics"), Value::Null);
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn progress_reaches_the_user_through_an_autocommand() {
    let folder = tempfile::tempdir().unwrap();
    let probe = Probe::listen(&json!({}));
    let nvim = Nvim::start(folder.path());
    nvim.lua::<()>(
        "_G.seen = {} \
         vim.api.nvim_create_autocmd('LspProgress', { callback = function(event) \
           table.insert(_G.seen, event.data.params.value) end })",
        json!([]),
    );
    nvim.start_client("probe", &Server::Port(probe.port()), folder.path(), json!({}));
    probe.wait_message(0, "initialized");
    probe.request("window/workDoneProgress/create", &json!({ "token": 1 }));
    let steps = [
        json!({ "kind": "begin", "title": "ropewalk", "message": "fix it", "cancellable": true }),
        json!({ "kind": "report", "message": "edit_file src/a.rs" }),
        json!({ "kind": "end", "message": "end_turn" }),
    ];
    for value in &steps {
        probe.notify("$/progress", &json!({ "token": 1, "value": value }));
    }
    // Neovim repeats the title in every later event.
    let expected = steps.map(|mut value| {
        value["title"] = json!("ropewalk");
        value
    });
    let seen: Vec<Value> = nvim.wait_for("three progress events", |nvim| {
        let seen: Vec<Value> = nvim.lua("return _G.seen", json!([]));
        (seen.len() == 3).then_some(seen)
    });
    assert_eq!(seen, expected);
}
