//! Loaded skills in a compacted conversation: the newest keep their text where there is room, the others their name.

use super::room::Load;
use crate::calls::bounded::sent;
use crate::conversation::Conversation;
use crate::offers::look as look_at_offers;
use crate::session::parts::SessionParts;
use ropewalk_guidance::loading::{LoadedSkill, Loading};
use ropewalk_tools::blocking::spawn_blocking;
use ropewalk_workspace::View;
use std::sync::Arc;

/// The most tokens of one skill.
const MOST: u64 = 5_000;

/// The part of the context that all may have together: one of so many.
const PART: u64 = 10;

/// Skills as the new beginning has them.
#[derive(Default)]
pub(super) struct KeptSkills {
    /// Skills whose text stays, the newest last.
    pub(super) skills: Vec<LoadedSkill>,
    /// Words for the new beginning.
    pub(super) words: String,
}

/// Looks at skills and subagent types as they are now, for a prelude that is made anew. None where skills are off.
pub(super) async fn look(parts: &Arc<SessionParts>) -> Option<Arc<View>> {
    let settings = parts.settings.get();
    if !settings.offers_skills() && !settings.offers_subagents() {
        return None;
    }
    let view = Arc::new(parts.changes.view().await);
    look_at_offers(parts, &settings, &view).await;
    settings.offers_skills().then_some(view)
}

/// The loaded skills, read anew.
pub(super) async fn kept(
    parts: &SessionParts,
    conversation: &Conversation,
    load: &Load,
    view: Option<Arc<View>>,
) -> KeptSkills {
    let loaded = conversation.knowledge.lock().skills.clone();
    let Some(view) = view.filter(|_| !loaded.is_empty()) else { return KeptSkills::default() };
    let skills = parts.skills.clone();
    let reading = spawn_blocking(move || {
        let read = |skill: LoadedSkill| {
            let loading = skills.get(&view, &skill.name).ok();
            (skill.name, loading)
        };
        loaded.into_iter().rev().map(read).collect::<Vec<_>>()
    });
    let read = reading.await.unwrap_or_else(|error| {
        tracing::error!(%error, "loaded skills could not be read");
        Vec::new()
    });
    let bytes = |tokens| conversation.context.bytes_of(&*load.model, tokens);
    let mut kept = fitting(read, bytes(MOST), bytes(load.room().context / PART));
    kept.words = parts.settings.keys().redact(&kept.words).into_owned();
    kept
}

/// The texts that fit, of the newest first, and the names of the others.
fn fitting(read: Vec<(String, Option<Loading>)>, each: usize, mut together: usize) -> KeptSkills {
    let (mut kept, mut named) = (KeptSkills::default(), Vec::new());
    for (name, loading) in read {
        let size = loading.as_ref().map_or(usize::MAX, |loading| sent(&loading.words));
        match loading {
            Some(loading) if size <= each.min(together) => {
                together -= size;
                kept.skills.insert(0, loading.skill);
                kept.words.push_str(&loading.words);
                kept.words.push('\n');
            }
            _ => named.push(name),
        }
    }
    if !named.is_empty() {
        let named = named.join(", ");
        kept.words.push_str(&format!("Skills loaded before, whose text is left out (load one again before you follow it): {named}\n"));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_workspace::ContentHash;

    #[test]
    fn the_newest_that_fit_keep_their_text() {
        let skill = |name: &str, bytes: usize| {
            let hash = ContentHash::of(name.as_bytes());
            let skill = LoadedSkill { name: name.to_owned(), hash };
            (name.to_owned(), Some(Loading { skill, words: name.repeat(bytes) }))
        };
        let all = vec![
            skill("d", 40),
            skill("c", 60),
            skill("b", 30),
            ("gone".into(), None),
            skill("a", 30),
        ];
        let kept = fitting(all, 50, 80);
        let names: Vec<&str> = kept.skills.iter().map(|skill| &*skill.name).collect();
        assert_eq!(names, ["b", "d"], "the newest last");
        let (d, b) = ("d".repeat(40), "b".repeat(30));
        assert_eq!(
            kept.words,
            format!(
                "{d}\n{b}\nSkills loaded before, whose text is left out (load one again before you follow it): c, gone, a\n"
            )
        );
    }
}
