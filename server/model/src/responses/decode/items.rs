//! The items of a reply that have begun, and which of them an event speaks of.
//!
//! Meanings of events are not known here.

use super::wire::WireItem;
use crate::surrogates::Surrogates;

/// An item of the reply that has begun.
pub(super) struct OpenItem {
    place: Option<u32>,
    id: String,
    /// The server's id of the call; empty for other items.
    call_id: String,
    pub(super) kind: ItemKind,
    pub(super) block: u32,
    /// The part that grows.
    pub(super) part: u32,
    /// Arguments of a call that have come; of other items only whether anything has.
    pub(super) said: String,
    pub(super) is_done: bool,
    /// The part whose words came last.
    heard: u32,
    surrogates: Surrogates,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    Text,
    Reasoning,
    Call,
    /// Known to be there, and left out.
    Other,
}

impl ItemKind {
    pub(super) fn of(item: &WireItem<'_>) -> ItemKind {
        match &*item.kind {
            "message" => ItemKind::Text,
            "reasoning" => ItemKind::Reasoning,
            "function_call" => ItemKind::Call,
            _ => ItemKind::Other,
        }
    }
}

impl OpenItem {
    /// The words of a part, from their JSON.
    pub(super) fn hear(&mut self, part: u32, json: &str) -> Option<String> {
        if std::mem::replace(&mut self.heard, part) != part {
            self.surrogates = Surrogates::default();
        }
        self.surrogates.read(json)
    }

    /// Names it as `item` does: some servers do so only at its end.
    pub(super) fn name(&mut self, item: &WireItem<'_>) {
        (self.id, self.call_id) = (item.id().to_owned(), item.call_id().to_owned());
    }
}

/// All of them, in the order in which they began; told apart by their number in it.
#[derive(Default)]
pub(super) struct ReplyItems(Vec<OpenItem>);

impl ReplyItems {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn last(&self) -> Option<&OpenItem> {
        self.0.last()
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut OpenItem> {
        self.0.get_mut(at)
    }

    /// True if this one goes on.
    pub(super) fn is_open(&self, at: usize) -> bool {
        self.0.get(at).is_some_and(|item| !item.is_done)
    }

    /// The item of this place or id, or the last one of this kind where a server sends neither.
    pub(super) fn find(&self, place: Option<u32>, id: &str, kind: ItemKind) -> Option<usize> {
        let by = |wanted: &dyn Fn(&OpenItem) -> bool| self.0.iter().rposition(wanted);
        match place {
            Some(_) => by(&|item| item.place == place),
            None if !id.is_empty() => by(&|item| item.id == id),
            None => by(&|item| item.kind == kind && !item.is_done),
        }
    }

    /// The item that this one is again: a server may tell twice that it begins or ends, and a call runs once
    /// at most. A call is only known by its ids, since some servers give all of them the same place.
    pub(super) fn known(&self, place: Option<u32>, item: &WireItem<'_>) -> Option<usize> {
        let (id, call_id, kind) = (item.id(), item.call_id(), ItemKind::of(item));
        let is_named = !(id.is_empty() && call_id.is_empty());
        let is_placed = place.is_some() && kind != ItemKind::Call;
        let is_same = |open: &OpenItem| {
            open.kind == kind && open.place == place && open.id == id && open.call_id == call_id
        };
        self.0.iter().rposition(is_same).filter(|_| is_named || is_placed)
    }

    /// Begins one, as a block of this number.
    pub(super) fn push(
        &mut self,
        place: Option<u32>,
        (id, call_id): (&str, &str),
        kind: ItemKind,
        block: u32,
    ) -> usize {
        let at = self.0.len();
        self.0.push(OpenItem {
            place,
            id: id.to_owned(),
            call_id: call_id.to_owned(),
            kind,
            block,
            part: 0,
            said: String::new(),
            is_done: false,
            heard: 0,
            surrogates: Surrogates::default(),
        });
        at
    }
}
