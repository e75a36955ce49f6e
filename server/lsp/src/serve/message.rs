//! Messages: what a frame's body says, as a JSON-RPC request, a response, or a refusal to be sent back.
//!
//! A body is cut into its parts, and the params are read as what the method makes of them: a document
//! notification's into their own types, all others as JSON. Only a body that fails is looked at again, to mend
//! what editors get wrong (lone surrogates, bytes that are not UTF-8) or to find the id to refuse. What any
//! other method or its params mean is the backend's business.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};
use serde_json::Value;
use serde_json::value::RawValue;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_lsp::lsp_types::notification::{DidSaveTextDocument, Notification};

use super::documents::DocumentNotification;
use super::surrogates;

/// One message of the client.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A request or a notification, other than these:
    Request(Request),
    /// A notification about a document.
    Document(DocumentNotification),
    /// A notification about a document that can't be read: whatever it told is lost.
    Unread(Unread),
    /// The answer to a request of ours.
    Response(Response),
    /// No message: this is to be sent back.
    Refused(Response),
}

/// Facts about a notification of a document that can't be read.
#[derive(Debug)]
pub(super) struct Unread {
    /// The document, if that can be read.
    pub(super) uri: Option<String>,
    /// True if it may have told of a document's text.
    pub(super) of_text: bool,
    /// Error of the reader.
    pub(super) why: serde_json::Error,
    /// Answer to send back, if the message is none at all. A notification can't be answered.
    pub(super) refusal: Option<Response>,
}

impl Incoming {
    /// True if it is no message, and this is to be sent back.
    pub(super) fn is_refused(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::Unread(Unread { refusal: Some(_), .. }))
    }
}

/// Reads a body. May change its bytes in mending it. O(n).
pub(super) fn read(body: &mut [u8]) -> Incoming {
    // Checked as a whole once, the parser need not check string by string.
    if let Ok(text) = str::from_utf8(body)
        && let Ok(incoming) = parse(text)
    {
        return incoming;
    }
    surrogates::replace_lone(body);
    let text = String::from_utf8_lossy(body);
    parse(&text).unwrap_or_else(|error| refused(&text, &error))
}

/// An error reply to a message whose id is not known.
pub(super) fn refusal(code: ErrorCode, words: String) -> Response {
    error_reply(Id::Null, code, words)
}

/// An error reply to the request `id`.
pub(super) fn error_reply(id: Id, code: ErrorCode, words: impl Into<String>) -> Response {
    Response::from_error(id, Error { code, message: words.into().into(), data: None })
}

/// All that a request, a notification or a response can have. Unknown members are ignored, as LSP asks.
#[derive(Deserialize)]
struct MessageFields<'a> {
    jsonrpc: Option<&'a str>,
    method: Option<String>,
    #[serde(default, borrow, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Id>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    error: Option<Value>,
}

/// A member that is there, also when it is `null`.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

fn parse(text: &str) -> serde_json::Result<Incoming> {
    // A derived struct would also take an array, by position.
    if !text.trim_ascii_start().starts_with('{') {
        serde_json::from_str::<IgnoredAny>(text)?;
        let batch = "one JSON object a message is expected; LSP has no batches";
        return Ok(Incoming::Refused(refusal(ErrorCode::InvalidRequest, batch.into())));
    }
    serde_json::from_str::<MessageFields>(text)?.into_incoming()
}

impl MessageFields<'_> {
    fn into_incoming(self) -> serde_json::Result<Incoming> {
        let refuse = |id: Option<Id>, words: &str| {
            let id = id.unwrap_or(Id::Null);
            Incoming::Refused(error_reply(id, ErrorCode::InvalidRequest, words))
        };
        Ok(match self {
            MessageFields { jsonrpc, method: Some(_), id, .. } if jsonrpc != Some("2.0") => {
                refuse(id, "the request lacks `\"jsonrpc\": \"2.0\"`")
            }
            MessageFields { method: Some(method), params, id: None, .. }
                if let Some(document) = DocumentNotification::read(&method, params) =>
            {
                match document {
                    // The text itself is broken, and may be mended.
                    Err(error) if error.is_syntax() => return Err(error),
                    Err(why) => {
                        let uri = params.and_then(|params| uri_in(params.get()));
                        let of_text = method != DidSaveTextDocument::METHOD;
                        Incoming::Unread(Unread { uri, of_text, why, refusal: None })
                    }
                    Ok(document) => Incoming::Document(document),
                }
            }
            MessageFields { method: Some(method), params, id, .. } => {
                let mut request = Request::build(method);
                if let Some(params) = params {
                    request = request.params(serde_json::from_str::<Value>(params.get())?);
                }
                if let Some(id) = id {
                    request = request.id(id);
                }
                Incoming::Request(request.finish())
            }
            // Some clients send both members, one of them null.
            MessageFields { id: Some(id), error: Some(error), .. } => {
                Incoming::Response(Response::from_error(id, client_error(error)))
            }
            MessageFields { id: Some(id), result: Some(result), .. } => {
                Incoming::Response(Response::from_ok(id, result))
            }
            // Without a method the id may be one of ours; sent back it could be taken for one of theirs.
            _ => refuse(
                None,
                "the message is no request (no method) and no response (no result, no error)",
            ),
        })
    }
}

/// The client's error, however incomplete: whoever waits for the answer must get one.
fn client_error(error: Value) -> Error {
    let code = error.get("code").and_then(Value::as_i64);
    let message = error.get("message").and_then(Value::as_str).map(str::to_owned);
    Error {
        code: code.map_or(ErrorCode::InternalError, ErrorCode::from),
        message: message.unwrap_or_else(|| error.to_string()).into(),
        data: error.get("data").cloned(),
    }
}

fn refused(text: &str, error: &serde_json::Error) -> Incoming {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        let words = format!("the message is not JSON: {error}");
        return garbled(text, refusal(ErrorCode::ParseError, words));
    };
    // The id is sent back only when this was meant as a request; see `into_incoming`.
    let id = value.get("method").and(value.get("id")).cloned();
    let id = id.and_then(|id| serde_json::from_value(id).ok()).unwrap_or(Id::Null);
    let words = format!("the message is no JSON-RPC request: {error}");
    Incoming::Refused(error_reply(id, ErrorCode::InvalidRequest, words))
}

/// No JSON, which may have been meant to tell of a document's change (with a control character that was not escaped).
fn garbled(text: &str, refusal: Response) -> Incoming {
    let is_change = [r#""textDocument/didChange""#, r#""textDocument\/didChange""#];
    match serde_json::from_str::<IgnoredAny>(text) {
        Err(why) if is_change.iter().any(|method| text.contains(method)) => {
            let (uri, refusal) = (uri_in(text), Some(refusal));
            Incoming::Unread(Unread { uri, of_text: true, why, refusal })
        }
        _ => Incoming::Refused(refusal),
    }
}

/// The document that the params of a notification name, also where they are no JSON as a whole.
fn uri_in(params: &str) -> Option<String> {
    if let Ok(value) = serde_json::from_str::<Value>(params) {
        return value.pointer("/textDocument/uri")?.as_str().map(str::to_owned);
    }
    let (_, rest) = params.split_once(r#""textDocument""#)?;
    let (_, rest) = rest.split_once(r#""uri""#)?;
    let value = rest.trim_ascii_start().strip_prefix(':')?.trim_ascii_start();
    serde_json::Deserializer::from_str(value).into_iter().next()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tower_lsp::lsp_types::DidChangeTextDocumentParams;

    fn read_text(text: impl AsRef<[u8]>) -> Incoming {
        read(&mut text.as_ref().to_vec())
    }

    #[track_caller]
    fn refused_with(text: impl AsRef<[u8]>, id: Id, code: i64) {
        match read_text(&text) {
            Incoming::Refused(response) => {
                assert_eq!(response.error().unwrap().code.code(), code, "{response:?}");
                assert_eq!(*response.id(), id);
            }
            other => panic!("{:?} was read as {other:?}", String::from_utf8_lossy(text.as_ref())),
        }
    }

    #[track_caller]
    fn request(text: impl AsRef<[u8]>) -> Request {
        match read_text(text) {
            Incoming::Request(request) => request,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn response(text: &str) -> Response {
        match read_text(text) {
            Incoming::Response(response) => response,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn requests_are_what_tower_lsp_reads_too() {
        for text in [
            r#"{"jsonrpc":"2.0","method":"a","params":{"b":[1,"c",null]},"id":7}"#,
            r#"{"id":"x","method":"a","jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","method":"a","params":null,"id":null}"#,
            r#" {"jsonrpc":"2.0","method":"textDocument\/hover","more":{"x":1},"params":[]} "#,
            r#"{"jsonrpc":"2.0","method":"","id":-9223372036854775808}"#,
        ] {
            assert_eq!(request(text), serde_json::from_str::<Request>(text).unwrap());
        }
    }

    #[test]
    fn document_params_are_what_tower_lsp_reads_too() {
        let document = r#""textDocument":{"uri":"file:///a%20\u00e9","version":-3,"more":[]}"#;
        for changes in [
            r#"[]"#,
            r#"[{"text":""}]"#,
            r#"[{"text":"\ud83d\ude00\"\\\n","range":null,"rangeLength":null}]"#,
            r#"[{"rangeLength":7,"range":{"end":{"character":4294967295,"line":2},"start":{"line":1,"character":0}},
                "text":"é","more":{"text":1}},{"text":"second"}]"#,
        ] {
            let params = format!(r#"{{"contentChanges":{changes},{document}}}"#);
            let text = format!(
                r#"{{"jsonrpc":"2.0","method":"textDocument/didChange","params":{params}}}"#
            );
            let value = serde_json::from_str::<Value>(&params).unwrap();
            let expected = serde_json::from_value::<DidChangeTextDocumentParams>(value).unwrap();
            match read_text(text) {
                Incoming::Document(DocumentNotification::Changed(read)) => {
                    assert_eq!(read, expected);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn what_is_wrong_with_document_params_is_said() {
        for (params, words) in [
            (r#","params":{"textDocument":{"version":1}}"#, "missing field `uri`"),
            (r#","params":null"#, "invalid type: null"),
            ("", "invalid type: null"),
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","method":"textDocument/didClose"{params}}}"#);
            match read_text(text) {
                Incoming::Unread(Unread { why, refusal: None, .. }) => {
                    assert!(why.to_string().contains(words), "{why}");
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn the_document_of_an_unread_change_is_known_where_it_can_be_read() {
        let good = r#"{"jsonrpc":"2.0","method":"textDocument/didChange","params":{
            "textDocument" : { "version":1, "uri" : "file:///a%20\u00e9" },
            "contentChanges":[{"range":RANGE,"text":"TEXT"}]}}"#;
        let uri = Some("file:///a%20é".to_owned());
        for (range, text, is_json) in [
            (r#""0:0-0:1""#, "x", true),
            (r#"{"start":{"line":-1,"character":0},"end":{"line":0,"character":0}}"#, "x", true),
            ("null", "a\u{1}b", false),
            ("null", "\\ux", false),
            ("[", "x", false),
        ] {
            let message = good.replace("RANGE", range).replace("TEXT", text);
            match read_text(&message) {
                Incoming::Unread(unread) => {
                    assert_eq!((&unread.uri, unread.refusal.is_none()), (&uri, is_json));
                }
                other => panic!("{message:?} was read as {other:?}"),
            }
        }
        for nameless in [
            r#"{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":5}}"#,
            r#"{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri""#,
        ] {
            assert!(matches!(read_text(nameless), Incoming::Unread(Unread { uri: None, .. })));
        }
    }

    #[test]
    fn what_is_not_json_is_a_parse_error() {
        let deep = format!(r#"{{"jsonrpc":"2.0","method":"a","params":{}"#, "[".repeat(100_000));
        for text in [
            "",
            " ",
            "{",
            "[",
            "[1,",
            r#"{"method""#,
            "nul",
            "{}{}",
            "\u{feff}{}",
            "{'a':1}",
            &deep,
        ] {
            refused_with(text, Id::Null, -32700);
        }
        refused_with([b'{', 0xff, b'}'], Id::Null, -32700);
    }

    #[test]
    fn what_is_no_message_is_an_invalid_request() {
        for text in [
            "{}",
            "[]",
            "5",
            "null",
            "\"x\"",
            "[{}]",
            r#"[{"jsonrpc":"2.0","method":"a","id":1}]"#,
            r#"["2.0","exit"]"#,
            r#"{"jsonrpc":"2.0","id":5}"#,
            r#"{"jsonrpc":"2.0","method":5}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#,
            r#"{"method":"a"}"#,
            r#"{"jsonrpc":"2.0","method":"a","method":"b"}"#,
        ] {
            refused_with(text, Id::Null, -32600);
        }
        refused_with(r#"{"jsonrpc":"1.0","id":5,"method":"a"}"#, Id::Number(5), -32600);
        refused_with(r#"{"jsonrpc":"2.0","id":"x","method":5}"#, "x".into(), -32600);
    }

    #[test]
    fn responses_need_not_be_tidy() {
        let ok = |result| Response::from_ok(1.into(), result);
        assert_eq!(response(r#"{"jsonrpc":"2.0","id":1,"result":null}"#), ok(json!(null)));
        assert_eq!(response(r#"{"id":1,"result":[2],"error":null}"#), ok(json!([2])));
        let failed = response(
            r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-5,"message":"no","data":3,"x":0}}"#,
        );
        let error =
            Error { code: ErrorCode::ServerError(-5), message: "no".into(), data: Some(json!(3)) };
        assert_eq!(failed, Response::from_error(1.into(), error));
        assert!(response(r#"{"jsonrpc":"2.0","id":"1","error":"no"}"#).is_error());
    }

    #[test]
    fn lone_surrogates_and_foreign_bytes_are_replaced() {
        let text = |json: &[u8]| {
            let mut body = br#"{"jsonrpc":"2.0","method":"a","params":{"t":""#.to_vec();
            body.extend(json);
            body.extend(br#""}}"#);
            request(body).params().unwrap()["t"].as_str().unwrap().to_owned()
        };
        assert_eq!(text(br"a\ud800b"), "a\u{fffd}b");
        assert_eq!(text(br"\udc00\ud800\ud83d\ude00"), "\u{fffd}\u{fffd}😀");
        assert_eq!(text(br"\\ud800 \ud800"), "\\ud800 \u{fffd}");
        assert_eq!(text(b"a\xffb"), "a\u{fffd}b");
        assert_eq!(text(b"\xed\xa0\x80 \\uDBFF"), "\u{fffd}\u{fffd}\u{fffd} \u{fffd}");
        assert_eq!(text(br"\\ud800"), "\\ud800");
    }
}
