//! Log of a server's stream: that something in it was odd, and where. Never its words, nor what a parser
//! quotes of them: they may hold a key, or the user's text.

/// An event that can't be read.
pub(crate) fn garbage(error: &serde_json::Error, data: &str) {
    let (kind, column, length) = (error.classify(), error.column(), data.len());
    tracing::warn!(?kind, column, length, "garbage in the model's stream");
}

/// Something that is not known here, and left out.
pub(crate) fn unknown(what: &str, kind: &str) {
    tracing::debug!(kind = word(kind), "unknown {what} of the model's reply");
}

/// A word of the protocol, which has neither digits nor dashes, as keys have.
fn word(kind: &str) -> &str {
    let is_word = kind.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'_' | b'.'));
    if is_word && kind.len() <= 60 { kind } else { "odd" }
}
