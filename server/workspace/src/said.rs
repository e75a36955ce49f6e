//! An edit as positions say it, which is how it goes to the client and what a client makes that checks no versions.

use ropewalk_text::{Change, ChangeSet, Coordinates, LineEnds, Text};

/// The changes as positions can say them. Under LSP's rule there is no position between `\r` and `\n`: a change
/// that begins or ends there (the user typed a carriage return before a line feed of ours) would take the
/// carriage return with it, so it takes in the pair and puts it back.
pub(crate) fn sayable(text: &Text, set: &ChangeSet, line_ends: LineEnds) -> Vec<Change> {
    let splits = |at: usize| {
        line_ends == LineEnds::Lsp
            && text.byte(at) == Some(b'\n')
            && at.checked_sub(1).is_some_and(|before| text.byte(before) == Some(b'\r'))
    };
    let mut out: Vec<Change> = Vec::new();
    for change in set.changes() {
        let mut change = change.clone();
        let (starts, ends) = (splits(change.range.start), splits(change.range.end));
        if ends {
            change.range.end += 1;
            change.text.push('\n');
        }
        match out.last_mut() {
            // The change before has taken in this pair already: its line feed stands after this one.
            Some(last) if starts && last.range.end > change.range.start => {
                last.text.pop();
                last.text.push_str(&change.text);
                last.range.end = change.range.end.max(last.range.end);
                if !ends && change.range.is_empty() {
                    last.text.push('\n');
                }
            }
            _ => {
                if starts {
                    change.range.start -= 1;
                    change.text.insert(0, '\r');
                }
                out.push(change);
            }
        }
    }
    out
}

/// Gives the change that a client makes if it applies `edit`, sent by its positions on `basis`, to
/// `now`. None where it would replace other text than was meant, or its places meet.
pub(crate) fn as_sent(
    edit: &ChangeSet,
    basis: &Text,
    now: &Text,
    coordinates: Coordinates,
) -> Option<ChangeSet> {
    let place = |byte| {
        let position = coordinates.byte_to_position(basis, byte);
        coordinates.position_to_byte(now, position).byte
    };
    let changes = sayable(basis, edit, coordinates.line_ends).into_iter().map(|change| {
        let range = place(change.range.start)..place(change.range.end);
        let as_meant = range.start <= range.end
            && range.len() == change.range.len()
            && now.slice(range.clone()) == basis.slice(change.range);
        as_meant.then_some(Change { range, text: change.text })
    });
    ChangeSet::new(now.len(), changes.collect::<Option<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_between_the_bytes_of_a_line_end_leaves_both() {
        let check = |text: &str, changes: &[(usize, usize, &str)]| {
            let text = Text::from(text);
            let changes = changes.iter().map(|(s, e, t)| Change::new(*s..*e, *t)).collect();
            let set = ChangeSet::new(text.len(), changes).unwrap();
            let said = sayable(&text, &set, LineEnds::Lsp);
            assert_eq!(sayable(&text, &set, LineEnds::Newline), set.changes());
            for change in &said {
                for at in [change.range.start, change.range.end] {
                    let c = Coordinates::default();
                    assert_eq!(c.position_to_byte(&text, c.byte_to_position(&text, at)).byte, at);
                }
            }
            let said = ChangeSet::new(text.len(), said).unwrap();
            assert_eq!(said.apply(&text).unwrap(), set.apply(&text).unwrap());
        };
        check("ab\r\ncd", &[(3, 5, "")]);
        check("ab\r\ncd", &[(1, 3, "x")]);
        check("ab\r\ncd", &[(3, 3, "x")]);
        check("ab\r\ncd", &[(1, 3, "x"), (3, 5, "y")]);
        check("ab\r\ncd", &[(1, 3, "x"), (3, 3, "y")]);
        check("ab\r\n\r\ncd", &[(1, 3, "x"), (3, 5, "y"), (5, 6, "")]);
    }
}
