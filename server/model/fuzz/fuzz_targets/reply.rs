//! Targets of all protocols: they read a reply whole and in pieces, and keep what may stay.

use ropewalk_model::{
    Delta, Http, Model, ModelError, Protocol, ReplyBuilder, ServerConfig, ServerModel,
};
use std::{collections::VecDeque, sync::OnceLock};

/// Reads the bytes behind the first one, which is the size of the pieces.
pub(crate) fn read(protocol: Protocol, input: &[u8]) {
    static MODEL: OnceLock<ServerModel> = OnceLock::new();
    let model = MODEL.get_or_init(|| {
        ServerModel::new(ServerConfig::new(protocol, "fuzzed"), Http::new()).expect("a model")
    });
    let Some((size, bytes)) = input.split_first() else { return };
    let whole = deltas(model, [bytes].into_iter());
    let cut = deltas(model, bytes.chunks(usize::from(*size).max(1)));
    assert_eq!(whole, cut);
    let fold = || {
        let mut builder = ReplyBuilder::new();
        whole.0.iter().for_each(|delta| builder.push(delta));
        builder
    };
    for reply in [fold().finish(), fold().finish_partial()] {
        assert!(reply.blocks.iter().all(|block| !block.is_blank()));
        let Some(message) = reply.to_message() else { continue };
        assert!(!model.encode(&message).is_empty());
    }
}

fn deltas<'a>(
    model: &ServerModel,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Vec<Delta>, Result<bool, ModelError>) {
    let (mut reader, mut out) = (model.reader(), VecDeque::new());
    for piece in pieces {
        match reader.feed(piece, &mut out) {
            Ok(false) => {}
            end => return (out.into(), end),
        }
    }
    let end = reader.end(&mut out);
    (out.into(), Ok(end))
}
