//! Target of event streams: reads one whole and in pieces.

use ropewalk_model::sse::SseParser;

/// Small, so that the bound is met.
const LIMIT: usize = 4096;

/// Reads the bytes behind the first one, which is the size of the pieces.
pub(crate) fn read(input: &[u8]) {
    let Some((size, bytes)) = input.split_first() else { return };
    let whole = events([bytes].into_iter());
    let cut = events(bytes.chunks(usize::from(*size).max(1)));
    assert_eq!(whole, cut);
}

fn events<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<(String, String)>, bool) {
    let (mut parser, mut events) = (SseParser::with_limit(LIMIT), Vec::new());
    for piece in pieces {
        let fed = parser.feed(piece, |event| {
            events.push((event.name.into_owned(), event.data.into_owned()));
        });
        if fed.is_err() {
            return (events, false);
        }
    }
    (events, true)
}
