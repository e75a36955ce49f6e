//! Words that open a turn beside its prompt: skills and instructions that are others now, and the text that the prompt
//! names by `/name`.

use crate::conversation::Conversation;
use crate::journal::opening::{OpeningText, SessionOpening};
use crate::offers::faults;
use crate::prelude;
use crate::session::parts::SessionParts;
use crate::settings::Settings;
use crate::slash::{Expanded, expanded};
use crate::tools::load_skill::LoadSkill;
use crate::tools::task::offers;
use ropewalk_guidance::instructions;
use ropewalk_guidance::marks::unmarked;
use ropewalk_guidance::mentions::attached;
use ropewalk_guidance::skills::{FoundSkills, Skill};
use ropewalk_protocol::{Content, Level, Prompt};
use ropewalk_tools::TypedTool as _;
use ropewalk_tools::blocking::spawn_blocking;
use ropewalk_workspace::{ContentHash, View};
use std::collections::BTreeMap;
use std::sync::Arc;

/// See the module.
pub(crate) struct Opening {
    /// The prompt, in which the text stands that it named.
    pub(crate) prompt: Prompt,
    /// Words for the model that stand before it.
    pub(crate) words: String,
}

/// The name of the marks around news of skills.
const MARK: &str = "skills";

/// Looks at skills and instructions as they are now. What is wrong with skills is told to the user.
pub(crate) async fn open(
    parts: &Arc<SessionParts>,
    conversation: &Conversation,
    view: &Arc<View>,
    prompt: &Prompt,
) -> Opening {
    let settings = parts.settings.get();
    let looking = spawn_blocking({
        let (parts, settings) = (parts.clone(), settings.clone());
        let (view, own, hides) = (view.clone(), prompt.clone(), parts.settings.hides());
        move || {
            let faults = faults(&parts, &settings, &view);
            let texts: Vec<String> =
                own.content.iter().filter_map(text_of).map(str::to_owned).collect();
            let attached = attached((&view, &*hides), texts.iter().map(String::as_str));
            (expanded(&settings, &parts.skills, (&view, &*hides), own), faults, attached)
        }
    });
    let (expanded, faults, attached) = looking.await.unwrap_or_else(|error| {
        tracing::error!(%error, "skills could not be looked at");
        (Expanded { prompt: prompt.clone(), skill: None }, Vec::new(), String::new())
    });
    // Nothing is awaited from here on: what counts as told is told.
    let Expanded { prompt: mut whole, skill } = expanded;
    if let Some(loading) = skill {
        whole.content.retain(|part| !part.is_blank());
        whole.content.insert(0, Content::text(parts.skills.give(loading)));
    }
    faults.into_iter().for_each(|fault| parts.events.warn(fault));
    let lean = settings.model.as_ref().is_ok_and(|model| model.is_lean());
    let opening = conversation.prelude.opening();
    let mut words = opening.map_or_else(String::new, |opening| {
        changed_instructions(parts, &settings, opening, lean) + &changed_tools(parts, opening)
    });
    if !lean && settings.offers_skills() {
        words.push_str(&skills_in_words(parts, opening.map(|it| &**it), prompt));
    }
    if let Some(opening) = opening.filter(|_| !lean && settings.offers_subagents()) {
        words.push_str(&changed_types(parts, opening));
    }
    words.push_str(&attached);
    Opening { prompt: whole, words }
}

fn changed_instructions(
    parts: &SessionParts,
    settings: &Settings,
    opening: &SessionOpening,
    lean: bool,
) -> String {
    let told = &mut parts.skills.knowledge.lock().since.instructions;
    let before = opening.instructions.iter().map(|text| (text.name.clone(), text.hash));
    let context = settings.model.as_ref().ok().and_then(|model| model.limits().context);
    instructions::changes(before, told, &prelude::instructions(settings), (lean, context))
}

/// A line for each tool of the opening that the user has switched off, or on again, since the last prompt. A notice names the
/// tools that the opening lacks to the user.
fn changed_tools(parts: &SessionParts, opening: &SessionOpening) -> String {
    const MARK: &str = "tools";
    let now = parts.registry();
    let since = &mut parts.skills.knowledge.lock().since;
    let (off, on) = (&mut since.off, &mut since.on);
    // A lean opening lacks most tools. The lines on skills say how to use them without their tool.
    let is_new = |name: &&str| !opening.lean && *name != LoadSkill::NAME && !opening.has_tool(name);
    let new: Vec<&str> =
        now.names().filter(is_new).filter(|name| on.insert((*name).to_owned())).collect();
    if !new.is_empty() {
        parts.events.notice(Level::Info, format!(
            "The model gets {} in a new session, or once this one is compacted: the tools of a conversation are fixed \
             when it begins.",
            new.join(", ")
        ));
    }
    let mut lines = Vec::new();
    for name in opening.tools.iter().map(|tool| &tool.name) {
        let is_off = !now.names().any(|offered| offered == name);
        if is_off && off.insert(name.clone()) {
            lines.push(format!("Switched off: {name}. A call of it is refused."));
        } else if !is_off && off.remove(name) {
            lines.push(format!("Switched on again: {name}"));
        }
    }
    marked(MARK, &lines)
}

/// Lines between marks of this name; nothing where there are none.
fn marked(mark: &str, lines: &[String]) -> String {
    match lines.is_empty() {
        true => String::new(),
        false => format!("<{mark}>\n{}\n</{mark}>\n", unmarked(&lines.join("\n"), mark)),
    }
}

/// Skills that the model does not know as they are, and those that the prompt names.
fn skills_in_words(
    parts: &SessionParts,
    opening: Option<&SessionOpening>,
    prompt: &Prompt,
) -> String {
    let found = parts.skills.found();
    let mut lines = Vec::new();
    // Without the tool there is only the file to read.
    let by_path = opening.is_some_and(|opening| !opening.has_tool(LoadSkill::NAME));
    if let Some(opening) = opening {
        let told = &mut parts.skills.knowledge.lock().since.offers;
        lines = changed_skills(&opening.skills, told, &found, by_path);
    }
    if by_path && !lines.is_empty() {
        parts.skills.let_read_all();
    }
    let loaded = parts.skills.knowledge.lock().skills.clone();
    let is_loaded = |skill: &Skill| loaded.iter().any(|known| known.name == skill.name);
    let texts: Vec<&str> = prompt.content.iter().filter_map(text_of).collect();
    for skill in found.skills.values().filter(|skill| !is_loaded(skill)) {
        if texts.iter().any(|text| names(text, &skill.name)) {
            let how = if by_path { format!("read {}", skill.shown) } else { "load it".to_owned() };
            lines.push(format!(
                "The request names the skill {}: {how} before you begin.",
                skill.name
            ));
        }
    }
    marked(MARK, &lines)
}

fn changed_skills(
    before: &[OpeningText],
    told: &mut BTreeMap<String, Option<ContentHash>>,
    found: &FoundSkills,
    by_path: bool,
) -> Vec<String> {
    let now = found.skills.values().map(|skill| {
        let how =
            if by_path { format!(" (read {} to follow it)", skill.shown) } else { String::new() };
        OfferedItem { name: &skill.name, description: &skill.description, more: how }
    });
    changes("skill", before, told, now)
}

/// Subagent types that the model does not know as they are.
fn changed_types(parts: &SessionParts, opening: &SessionOpening) -> String {
    const MARK: &str = "subagent-types";
    let now = offers(&parts.types.found());
    let now = now.iter().map(|(name, purpose)| OfferedItem {
        name,
        description: purpose,
        more: String::new(),
    });
    let told = &mut parts.skills.knowledge.lock().since.types;
    let lines = changes("subagent type", &opening.types, told, now);
    marked(MARK, &lines)
}

/// A skill or subagent type as it is now.
struct OfferedItem<'a> {
    name: &'a str,
    description: &'a str,
    /// Words behind the description.
    more: String,
}

/// A line for each item that is new, changed or gone since the system prompt was made and since the model was last told.
fn changes<'a>(
    what: &str,
    before: &[OpeningText],
    told: &mut BTreeMap<String, Option<ContentHash>>,
    now: impl Iterator<Item = OfferedItem<'a>>,
) -> Vec<String> {
    let hash = |description: &str| ContentHash::of(description.as_bytes());
    let mut known: BTreeMap<String, Option<ContentHash>> =
        before.iter().map(|text| (text.name.clone(), Some(text.hash))).collect();
    known.extend(told.clone());
    let mut lines = Vec::new();
    for OfferedItem { name, description, more } in now {
        let now = Some(hash(description));
        let before = known.remove(name).flatten();
        if before == now {
            continue;
        }
        let is = if before.is_some() { "Changed" } else { "New" };
        lines.push(format!("{is} {what}: {name}: {description}{more}"));
        told.insert(name.to_owned(), now);
    }
    for (name, _) in known.into_iter().filter(|(_, hash)| hash.is_some()) {
        lines.push(format!("Gone {what}: {name}"));
        told.insert(name, None);
    }
    lines
}

fn text_of(part: &Content) -> Option<&str> {
    match part {
        Content::Text { text } => Some(text),
        _ => None,
    }
}

/// True if the text has this name as a word of its own, in whatever case.
fn names(text: &str, name: &str) -> bool {
    let (text, name) = (text.to_lowercase(), name.to_lowercase());
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(&name).any(|(at, found)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_of_its_own() {
        for (text, name, is_named) in [
            ("Fill this PDF, please", "pdf", true),
            ("make-pdf", "pdf", false),
            ("pdfs", "pdf", false),
            ("(pdf)", "pdf", true),
            ("über die übung.", "übung", true),
            ("", "pdf", false),
        ] {
            assert_eq!(names(text, name), is_named, "{text}");
        }
    }
}
