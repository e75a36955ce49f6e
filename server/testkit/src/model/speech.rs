//! Trait of a protocol in the scripted model, and the parts that all protocols are made of.
//!
//! The script and the rules know one form of request and reply; a protocol's file translates. To speak
//! another protocol is to add its file and its line in [`spoken`](super::spoken).

use super::script::{Act, ReplyPlace, ScriptedReply};
use serde_json::{Value, json};

/// How a protocol is spoken from the server's side.
pub(super) trait Speech: Send + Sync {
    /// Where requests are posted.
    fn path(&self) -> &'static str;
    /// The header that presents the key, and what stands in it before the key.
    fn key(&self) -> (&'static str, &'static str);
    /// The other headers that must be there, and how their values begin.
    fn headers(&self) -> &'static [(&'static str, &'static str)];
    /// Reads a request.
    fn read(&self, raw: &str, body: &Value) -> Heard;
    /// A reply as a stream of events; `request` counts from 0 and makes ids unique.
    fn write(&self, reply: &ScriptedReply, request: usize) -> ScriptedBody;
    /// An error, as a body and as the data of an event.
    fn error(&self, kind: &str, message: &str) -> Value;
    /// How thinking with a seal, block `block` of reply `request`, must come back, in the form that the rules
    /// know; none where it must not.
    fn thought(&self, thinking: &str, seal: &str, request: usize, block: usize) -> Option<Value>;
}

/// Request in the form that script and rules know.
pub(super) struct Heard {
    /// In the form of Anthropic's Messages, whatever the protocol.
    pub(super) said: Value,
    /// Breaches of rules that only this protocol has.
    pub(super) faults: Vec<String>,
    /// None when the request has not the form to be compared.
    pub(super) sent: Option<SentPrefix>,
}

/// Prefix that the server has cached, so to speak: JSON text as it was sent, without cache markers.
#[derive(Debug)]
pub(super) struct SentPrefix {
    pub(super) system: String,
    pub(super) tools: String,
    /// Empty where the protocol has none.
    pub(super) cache_key: String,
    pub(super) messages: Vec<String>,
    /// How a message ends that may grow, and how what is added to it begins.
    pub(super) grows: (&'static str, &'static str),
}

/// Next step of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SpeechStep {
    Send(Vec<u8>),
    Gate(String),
    Drop,
}

/// A reply's body as steps, cut into the pieces the script asks for. Acts at [`ReplyPlace::Answer`] are not
/// among them.
pub(super) fn steps(speech: &dyn Speech, reply: &ScriptedReply, request: usize) -> Vec<SpeechStep> {
    let body = speech.write(reply, request);
    let mut acts: Vec<(usize, &Act)> =
        reply.acts.iter().filter_map(|(place, act)| Some((body.position(*place)?, act))).collect();
    acts.sort_by_key(|(at, _)| *at);

    let (mut steps, mut sent) = (Vec::new(), 0);
    for (at, act) in acts {
        body.send(sent, at, reply.chunk, &mut steps);
        sent = at;
        let data = match act {
            Act::Gate(name) => {
                steps.push(SpeechStep::Gate(name.clone()));
                continue;
            }
            Act::Event(data) => data.clone(),
            Act::Error { kind, message } => speech.error(kind, message).to_string(),
            Act::Drop => {
                steps.push(SpeechStep::Drop);
                return steps;
            }
            Act::Finish => return steps,
        };
        let bytes = format!("data: {data}\n\n").into_bytes();
        let size = reply.chunk.unwrap_or(bytes.len());
        steps.extend(bytes.chunks(size).map(|piece| SpeechStep::Send(piece.to_vec())));
    }
    body.send(sent, body.bytes.len(), reply.chunk, &mut steps);
    steps
}

/// The bytes of a reply, and where what begins in them.
#[derive(Default)]
pub(super) struct ScriptedBody {
    bytes: Vec<u8>,
    events: Vec<usize>,
    blocks: Vec<usize>,
    end: usize,
}

impl ScriptedBody {
    /// Adds an event; without a name its data stands alone.
    pub(super) fn event(&mut self, name: &str, data: &str) {
        self.events.push(self.bytes.len());
        if !name.is_empty() {
            self.bytes.extend_from_slice(format!("event: {name}\n").as_bytes());
        }
        self.bytes.extend_from_slice(format!("data: {data}\n\n").as_bytes());
    }

    /// The next event begins a block.
    pub(super) fn block(&mut self) {
        self.blocks.push(self.bytes.len());
    }

    /// The last block is over.
    pub(super) fn end_of_blocks(&mut self) {
        self.end = self.bytes.len();
    }

    fn position(&self, place: ReplyPlace) -> Option<usize> {
        match place {
            ReplyPlace::Answer => None,
            ReplyPlace::Byte(at) => Some(at.min(self.bytes.len())),
            ReplyPlace::Block(number) => Some(self.blocks.get(number).copied().unwrap_or(self.end)),
            ReplyPlace::End => Some(self.end),
        }
    }

    /// Sends the bytes from `from` to `to`, in pieces of `size` or event by event.
    fn send(&self, from: usize, to: usize, size: Option<usize>, steps: &mut Vec<SpeechStep>) {
        let part = self.bytes.get(from..to).unwrap_or_default();
        match size {
            Some(size) => {
                steps.extend(part.chunks(size).map(|piece| SpeechStep::Send(piece.to_vec())))
            }
            None => {
                let mut at = from;
                let inner = self.events.iter().copied().filter(|cut| *cut > from && *cut < to);
                for cut in inner.chain([to]) {
                    let piece = self.bytes.get(at..cut).unwrap_or_default();
                    if !piece.is_empty() {
                        steps.push(SpeechStep::Send(piece.to_vec()));
                    }
                    at = cut;
                }
            }
        }
    }
}

/// A text in pieces of so many characters.
pub(super) fn pieces(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

/// An image by the URL that holds it, in the form that the rules know.
pub(super) fn image(url: &str) -> Value {
    let (mime, data) = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"))
        .unwrap_or(("no data URL", url));
    let source = json!({"type": "base64", "media_type": mime, "data": data});
    json!({"type": "image", "source": source})
}

/// The id of the call that is this block of the reply to this request, both counted from 0: its own, or the usual one.
pub(super) fn call_id(own: Option<&str>, request: usize, block: usize) -> String {
    own.map_or_else(|| format!("call_{request}_{block}"), str::to_owned)
}

/// JSON text without its `cache_control` members. The pattern cannot begin inside of a string:
/// there, a quote is escaped.
pub(super) fn without_markers(json: &str) -> String {
    const NAME: &str = "\"cache_control\"";
    let (mut out, mut rest) = (String::with_capacity(json.len()), json);
    while let Some((before, from)) = rest.split_once(NAME) {
        let Some((_, after)) = from.split_once('}') else { break };
        let is_member = from.trim_start().starts_with(':') && !before.ends_with('\\');
        if !is_member {
            out.push_str(before);
            out.push_str(NAME);
            rest = from;
            continue;
        }
        // It takes the comma before it along, or, as the first member, the one behind it.
        let head = before.trim_end();
        match head.strip_suffix(',') {
            Some(head) => {
                out.push_str(head);
                rest = after;
            }
            None => {
                out.push_str(head);
                let tail = after.trim_start();
                rest = tail.strip_prefix(',').unwrap_or(tail);
            }
        }
    }
    out.push_str(rest);
    out
}
