//! Answers of the Neovim plugin to the server: saved files, diagnostics, and another language
//! server's knowledge. Every message of these and of the other tests is of its type.

use crate::support::plugin::Bench;
use crate::support::stage::say;
use crate::support::wire;
use ropewalk_testkit::model::ScriptedReply;
use serde_json::{Value, json};

/// A language server inside Neovim that counts in UTF-16 and knows one name, which stands behind an `ä` of two bytes.
const OTHER: &str = r#"
local function place(line, from, to)
  return { start = { line = line, character = from }, ['end'] = { line = line, character = to } }
end
local asked = {}
local answers = {
  initialize = function() return { capabilities = { positionEncoding = 'utf-16', definitionProvider = true,
    referencesProvider = true, documentSymbolProvider = true, workspaceSymbolProvider = true } } end,
  ['textDocument/definition'] = function(params)
    asked[#asked + 1] = params.position.character
    return { targetUri = params.textDocument.uri, targetRange = place(0, 0, 9), targetSelectionRange = place(0, 2, 5) }
  end,
  ['textDocument/references'] = function(params) return { { uri = params.textDocument.uri, range = place(1, 0, 3) } } end,
  ['textDocument/documentSymbol'] = function() return { { name = 'Outer', kind = 5, range = place(0, 0, 5),
    selectionRange = place(0, 0, 5), children = { { name = 'inner', kind = 12, range = place(0, 2, 5), selectionRange = place(0, 2, 5) } } } } end,
  ['workspace/symbol'] = function() return {} end,
}
local buffer = vim.api.nvim_get_current_buf()
vim.lsp.start({ name = 'other', cmd = function() return {
  request = function(method, params, done) vim.schedule(function() done(nil, answers[method] and answers[method](params)) end) return true, 1 end,
  notify = function() return true end, is_closing = function() return false end, terminate = function() end,
} end }, { bufnr = buffer })
vim.wait(5000, function()
  return #vim.lsp.get_clients({ bufnr = buffer, name = 'other' }) == 1
end, 5)
function _G.answer(method, params)
  params.uri = params.uri ~= vim.NIL and vim.uri_from_bufnr(buffer) or nil
  params.version = params.version and vim.lsp.util.buf_versions[buffer] + params.version
  local result, problem
  coroutine.wrap(function()
    result, problem = require('ropewalk.answers')[method](nil, params, { client_id = require('ropewalk.client').client().id })
  end)()
  vim.wait(5000, function() return result ~= nil end, 5)
  for _, one in ipairs(type(result) == 'table' and result or {}) do one.uri = vim.fs.basename(one.uri) end
  return { result, problem and problem.message, asked }
end
"#;

fn bench() -> Bench {
    with_other([])
}

/// A user with the other server, and a model with these replies.
fn with_other(replies: impl IntoIterator<Item = ScriptedReply>) -> Bench {
    let bench = Bench::new("review", &[("a.txt", "ä foo bar\nfoo\n")], replies);
    bench.open("a.txt");
    bench.nvim.wait_for("the client", |nvim| {
        let chunk = "local client = require('ropewalk.client').client() \
             return client ~= nil and client.initialized == true";
        nvim.lua::<bool>(chunk, json!([])).then_some(())
    });
    bench.nvim.lua::<()>(OTHER, json!([]));
    bench
}

fn answer(bench: &Bench, method: &str, params: &Value) -> Vec<Value> {
    bench.nvim.lua("return answer(...)", json!([method, params]))
}

fn range(line: u32, from: u32, to: u32) -> Value {
    json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } })
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn places_are_told_as_our_server_counts_and_of_the_text_that_was_meant() {
    let bench = bench();
    // Byte 3 is where the name begins, the third unit of UTF-16 is what the other server is asked about.
    let found = answer(
        &bench,
        "definition",
        &json!({ "uri": "", "version": 0, "position": { "line": 0, "character": 3 } }),
    );
    assert_eq!(found[0], json!([{ "uri": "a.txt", "range": range(0, 3, 6) }]));
    assert_eq!(found.last().unwrap(), &json!([2]));
    let found = answer(
        &bench,
        "references",
        &json!({ "uri": "", "version": 0, "position": { "line": 0, "character": 3 } }),
    );
    assert_eq!(found[0], json!([{ "uri": "a.txt", "range": range(1, 0, 3) }]));
    let stale = answer(
        &bench,
        "references",
        &json!({ "uri": "", "version": 1, "position": { "line": 0, "character": 3 } }),
    );
    assert_eq!(stale[1], json!("the text has changed meanwhile"));
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn symbols_are_one_list_of_those_whose_names_have_the_query() {
    let bench = bench();
    let found = answer(&bench, "symbols", &json!({ "uri": "", "query": "NN" }));
    let inner = json!({
        "uri": "a.txt", "name": "inner", "kind": "function", "container": "Outer", "range": range(0, 3, 6)
    });
    assert_eq!(found[0], json!([inner]));
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn a_file_is_saved_and_diagnostics_are_all_but_ours() {
    let bench = bench();
    bench.nvim.feed("Onew<Esc>");
    bench.nvim.wait_for_lines(&["new", "ä foo bar", "foo"]);
    answer(&bench, "save", &json!({ "uri": "" }));
    assert_eq!(bench.disk("a.txt"), "new\nä foo bar\nfoo\n");
    bench.nvim.lua::<()>(
        "local one = { lnum = 1, col = 0, message = 'no such name', severity = 1, source = 'other' } \
         local own = { lnum = 0, col = 0, message = 'ours', severity = 3, source = 'ropewalk' } \
         vim.diagnostic.set(vim.api.nvim_create_namespace('t'), 0, { one, own })",
        json!([]),
    );
    let found = answer(&bench, "diagnostics", &json!({ "uri": null }));
    let wanted = json!([{
        "uri": "a.txt", "line": 1, "severity": "error", "message": "no such name", "source": "other"
    }]);
    assert_eq!(found[0], wanted);
    bench.end();
}

#[test]
#[ignore = "needs Neovim; run tests/run"]
fn every_message_is_held_against_the_protocol_and_a_wrong_one_is_found_out() {
    let place = json!({ "path": "a.txt", "line": 1, "symbol": "foo" });
    let bench = with_other([
        ScriptedReply::new()
            .call("symbols", json!({ "query": "nn", "path": "a.txt" }))
            .call("definition", place.clone())
            .call("references", place)
            .call("diagnostics", json!({ "path": "a.txt" }))
            .call("write_file", json!({ "path": "b.txt", "content": "b\n" })),
        say("Looked.").expect_text("inner"),
    ]);
    bench.nvim.feed(":Ropewalk chat<CR>look at @a");
    bench.nvim.wait_for_screen("        @a.txt");
    bench.nvim.feed("<CR>");
    bench.wait_for_end(1);
    bench.wait_for_changes(1);
    bench.nvim.feed("<Esc>");
    bench.run("Ropewalk next");
    bench.nvim.wait_for_screen("new file b.txt");
    bench.run("Ropewalk! accept");
    bench.wait_for_changes(0);
    let records = bench.agent.folder("records");
    let kinds = wire::kinds(&records);
    for kind in [
        "options",
        "event",
        "commands/ropewalk.prompt/argument",
        "commands/ropewalk.prompt/answer",
        "commands/ropewalk.accept/argument",
        "requests/ropewalk~1complete/result",
        "requests/ropewalk~1document/result",
        "clientRequests/ropewalk~1symbols/result",
        "clientRequests/ropewalk~1definition/result",
        "clientRequests/ropewalk~1references/result",
        "clientRequests/ropewalk~1diagnostics/result",
    ] {
        assert!(kinds.iter().any(|one| one == kind), "{kind} is not among {kinds:?}");
    }
    assert_eq!(wire::faults(&records), [""; 0]);
    let wrong = [
        (r#"{"method":"ropewalk/event","params":{"type":"text_delta"}}"#, "told"),
        (r#"{"method":"window/showMessage","params":{"type":3,"message":"x"}}"#, "told"),
        (r#"{"id":1,"method":"ropewalk/hunk","params":{"hunk":"one"}}"#, "sent"),
        (
            r#"{"id":1,"method":"workspace/executeCommand","params":{"command":"ropewalk.stop"}}"#,
            "sent",
        ),
    ];
    for (body, end) in wrong {
        let folder = tempfile::tempdir().unwrap();
        for each in ["sent", "told"] {
            let text = format!("Content-Length: {}\r\n\r\n{body}", body.len());
            let text = if each == end { text } else { String::new() };
            std::fs::write(folder.path().join("1").with_extension(each), text).unwrap();
        }
        assert_ne!(wire::faults(folder.path()), [""; 0], "{body}");
    }
    bench.end();
}
