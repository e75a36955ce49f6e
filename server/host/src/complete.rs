//! Completion in a prompt: files behind `@`, and behind `/` at its start what that can stand for.

use crate::blocking;
use crate::host::Host;
use crate::slash;
use futures::future::BoxFuture;
use ropewalk_agent::prompt::is_named;
use ropewalk_protocol::Refusal;
use ropewalk_protocol::plugin::{Completion, CompletionKind};
use ropewalk_tools::walk;
use ropewalk_workspace::View;
use std::collections::HashSet;
use std::sync::Arc;

/// The most completions that are offered.
const MOST: usize = 50;

/// A word that is being typed and can be completed.
#[derive(Debug, PartialEq, Eq)]
enum TypedWord<'a> {
    File(&'a str),
    Slash(&'a str),
}

/// The word before the cursor that can be completed, and the byte at which it begins.
fn typed_word(before: &str) -> Option<(usize, TypedWord<'_>)> {
    if let Some(name) = before.strip_prefix('/')
        && !name.contains(char::is_whitespace)
    {
        return Some((0, TypedWord::Slash(name)));
    }
    let (at, _) = before.match_indices('@').next_back()?;
    let (head, tail) = before.split_at(at);
    let path = tail.get(1..)?;
    let is_apart = |c: char| c.is_whitespace() || "([{\"'`,;".contains(c);
    if !head.chars().next_back().is_none_or(is_apart) {
        return None;
    }
    match path.strip_prefix('"') {
        Some(quoted) if !quoted.contains(['"', '\n']) => Some((at, TypedWord::File(quoted))),
        None if !path.contains(char::is_whitespace) => Some((at, TypedWord::File(path))),
        _ => None,
    }
}

impl Host {
    /// Completions where the text before the cursor ends, and the byte in it where they begin.
    ///
    /// # Errors
    /// When the work breaks down, in words.
    pub fn complete(
        self: &Arc<Self>,
        before: String,
    ) -> BoxFuture<'_, Result<(usize, Vec<Completion>), Refusal>> {
        Box::pin(async move {
            let host = self.clone();
            blocking(move || match typed_word(&before) {
                Some((at, TypedWord::File(path))) => (at, host.files_like(path)),
                Some((at, TypedWord::Slash(name))) => (at, host.slashes_like(name)),
                None => (before.len(), Vec::new()),
            })
            .await
        })
    }

    /// Files whose names have the letters of `typed` in their order, the open ones first. Walks the disk. Blocking.
    fn files_like(&self, typed: &str) -> Vec<Completion> {
        let workspace = &self.workspace;
        let open: HashSet<String> = workspace
            .open_documents()
            .iter()
            .filter(|id| is_named(id))
            .map(|id| workspace.shown(id))
            .collect();
        let view = View::new(workspace.snapshot(), Default::default());
        let names = walk::names(&view).into_iter();
        let typed = typed.to_lowercase();
        let ranked = names.filter_map(|name| {
            let rank = rank(&name.to_lowercase(), &typed)?;
            Some((!open.contains(&name), rank, name.len(), name))
        });
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort_unstable();
        let file = |(.., name): (bool, u8, usize, String)| {
            let is_plain = !name.contains(char::is_whitespace);
            let text = if is_plain { format!("@{name}") } else { format!("@\"{name}\"") };
            Completion { text, kind: CompletionKind::File, detail: String::new() }
        };
        ranked.into_iter().take(MOST).map(file).collect()
    }

    /// Commands, prompt commands and skills whose names begin so. Reads the disk. Blocking.
    fn slashes_like(&self, typed: &str) -> Vec<Completion> {
        let built_in = slash::names().map(|(name, does)| {
            let (text, kind) = (format!("/{name}"), CompletionKind::Command);
            Completion { text, kind, detail: does.to_owned() }
        });
        let mut all: Vec<Completion> = built_in.collect();
        if let Some(session) = self.running(None) {
            let (commands, skills) = session.slash_names();
            let commands = commands.into_iter().map(|name| {
                let (text, kind) = (format!("/{name}"), CompletionKind::Prompt);
                Completion { text, kind, detail: String::new() }
            });
            let skills = skills.into_iter().map(|(name, description)| {
                let (text, kind) = (format!("/{name}"), CompletionKind::Skill);
                Completion { text, kind, detail: description }
            });
            all.extend(commands.chain(skills));
        }
        // The first of a name is the one that it stands for.
        let mut seen = HashSet::new();
        all.retain(|one| {
            let name = one.text.get(1..).unwrap_or_default();
            name.starts_with(typed) && seen.insert(one.text.clone())
        });
        all.truncate(MOST);
        all
    }
}

/// How well a path fits what was typed, the best first; none if it does not.
fn rank(path: &str, typed: &str) -> Option<u8> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.starts_with(typed) || path.starts_with(typed) {
        return Some(0);
    }
    if path.contains(typed) {
        return Some(1);
    }
    let mut letters = path.chars();
    typed.chars().all(|wanted| letters.any(|letter| letter == wanted)).then_some(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_found_before_the_cursor() {
        for (before, found) in [
            ("", None),
            ("/", Some((0, TypedWord::Slash("")))),
            ("/mo", Some((0, TypedWord::Slash("mo")))),
            ("/mode pl", None),
            ("see @", Some((4, TypedWord::File("")))),
            ("see @src/ä", Some((4, TypedWord::File("src/ä")))),
            ("(@a", Some((1, TypedWord::File("a")))),
            ("see @a b", None),
            ("see @\"a b", Some((4, TypedWord::File("a b")))),
            ("see @\"a b\" c", None),
            ("me@ex", None),
            ("/etc/x", Some((0, TypedWord::Slash("etc/x")))),
        ] {
            assert_eq!(typed_word(before), found, "{before}");
        }
    }

    #[test]
    fn names_are_ranked_by_how_well_they_fit() {
        for (path, typed, fits) in [
            ("src/main.rs", "main", Some(0)),
            ("src/main.rs", "src", Some(0)),
            ("src/main.rs", "in.r", Some(1)),
            ("src/main.rs", "smr", Some(2)),
            ("src/main.rs", "zz", None),
            ("a", "", Some(0)),
        ] {
            assert_eq!(rank(path, typed), fits, "{path} {typed}");
        }
    }
}
