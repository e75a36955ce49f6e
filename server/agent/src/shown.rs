//! Pending hunks as events carry them, with no key in what is shown.

use ropewalk_model::Keys;
use ropewalk_protocol::{ChangeKind, HunkInfo};
use ropewalk_tools::policy::Reader;
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::{Hunk, HunkKind, HunkState};
use std::collections::HashMap;
use std::sync::Arc;

/// A hunk for events. `commands` are those that were run, by the ids of their calls; `reader` is who runs or follows
/// the file.
pub(crate) fn hunk_info(
    hunk: &Hunk,
    commands: &HashMap<Arc<str>, String>,
    reader: Option<Reader>,
    keys: &Keys,
) -> HunkInfo {
    let calls: Vec<&Arc<str>> = hunk.makers.iter().filter_map(Maker::call).collect();
    let commands = calls.iter().filter_map(|call| commands.get(*call));
    let shown = |text: &String| keys.redact(text).into_owned();
    HunkInfo {
        commands: commands.map(shown).collect(),
        calls: calls.into_iter().map(|call| call.clone().into()).collect(),
        id: hunk.id.0,
        uri: hunk.doc.to_uri(),
        file: hunk.file.clone(),
        kind: kind(&hunk.kind),
        line: hunk.lines.start,
        lines: hunk.lines.len(),
        old: shown(&hunk.old),
        new: shown(&hunk.new),
        diff: shown(&hunk.diff),
        turn: hunk.turn,
        sent: hunk.state == HunkState::Sent,
        review: reader.map(|reader| reader.to_string()),
    }
}

fn kind(kind: &HunkKind) -> ChangeKind {
    match kind {
        HunkKind::Text => ChangeKind::Text,
        HunkKind::Create => ChangeKind::Create,
        HunkKind::Delete => ChangeKind::Delete,
        HunkKind::Rename { .. } => ChangeKind::Rename,
        HunkKind::Binary => ChangeKind::Binary,
        HunkKind::Mode(_) => ChangeKind::Mode,
        HunkKind::Link { .. } => ChangeKind::Link,
    }
}
