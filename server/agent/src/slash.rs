//! `/name words` as a prompt: the text of a prompt command, or of a skill, takes its place.
//!
//! A command is a file `commands/name.md` beside skills. It is text alone: nothing of it runs, whatever its head says.
//! Any other text is plain.

use crate::settings::Settings;
use crate::skills::Skills;
use ropewalk_guidance::front_matter::parted;
use ropewalk_guidance::loading::Loading;
use ropewalk_guidance::marks::said;
use ropewalk_guidance::skills::{LARGEST, PLACES, is_name};
use ropewalk_protocol::{Content, Prompt};
use ropewalk_tools::tool::ReadFilter;
use ropewalk_workspace::{FileState, View};
use std::collections::BTreeSet;
use std::path::Path;

/// The most characters of a command's text.
const MOST: usize = 20_000;

/// A prompt with the text that it names.
pub(crate) struct Expanded {
    pub(crate) prompt: Prompt,
    /// A skill that is to be given before the words that are left of the prompt.
    pub(crate) skill: Option<Loading>,
}

/// The prompt with the text that it names. Blocking.
pub(crate) fn expanded(
    settings: &Settings,
    skills: &Skills,
    (view, hides): (&View, &ReadFilter),
    mut prompt: Prompt,
) -> Expanded {
    let mut skill = None;
    if let Some(Content::Text { text }) = prompt.content.first_mut()
        && let Some((name, words)) = typed(text)
    {
        let command =
            settings.mechanisms.prompt_commands.then(|| command(settings, (view, hides), name));
        if let Some(command) = command.flatten() {
            *text = filled(&command, words);
        } else if settings.offers_skills() && skills.found().skills.contains_key(name) {
            skill = skills.get(view, name).ok();
            if skill.is_some() {
                *text = words.to_owned();
            }
        }
    }
    Expanded { prompt, skill }
}

/// The name behind a slash, and the words behind that.
fn typed(text: &str) -> Option<(&str, &str)> {
    let typed = text.strip_prefix('/')?;
    let (name, words) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    is_name(name).then(|| (name, words.trim()))
}

/// The names of the commands that there are, in order. Blocking.
pub(crate) fn names(settings: &Settings, view: &View) -> BTreeSet<String> {
    if !settings.mechanisms.prompt_commands {
        return BTreeSet::new();
    }
    let places = view.roots().iter().flat_map(|root| PLACES.map(|place| root.path().join(place)));
    let folders = places.chain(settings.user_folders.iter().cloned());
    let files = folders.flat_map(|folder| {
        std::fs::read_dir(folder.join("commands")).into_iter().flatten().flatten()
    });
    let name = |file: std::fs::DirEntry| {
        let name = file.file_name().to_str()?.strip_suffix(".md")?.to_owned();
        is_name(&name).then_some(name)
    };
    files.filter_map(name).collect()
}

/// The text of the first command of this name: of the user as the disk has it, then of the roots as the view has them. So a
/// repository never speaks in the place of the user's own command.
fn command(settings: &Settings, (view, hides): (&View, &ReadFilter), name: &str) -> Option<String> {
    let file = Path::new("commands").join(format!("{name}.md"));
    let places = view.roots().iter().flat_map(|root| PLACES.map(|place| root.path().join(place)));
    let in_roots = places.filter_map(|folder| {
        let place = view.roots().place_of(&folder.join(&file)).ok()?;
        match view.read(&place).ok()? {
            _ if hides(&place, None) => None,
            FileState::Text { text, .. } if text.len() as u64 <= LARGEST => Some(text.to_string()),
            _ => None,
        }
    });
    let own = settings.user_folders.iter().filter_map(|folder| {
        let file = folder.join(&file);
        let is_small = file.metadata().ok()?.len() <= LARGEST;
        let bytes = is_small.then(|| std::fs::read(&file).ok()).flatten()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    });
    let text = own.chain(in_roots).next()?;
    let text = said(parted(&text).1.trim());
    Some(match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}\n(cut here)", text.get(..end).unwrap_or_default()),
        None => text,
    })
}

/// A command's text with the words in it: all for `$ARGUMENTS`, one for `$1`, `$2`…, and behind it where it has no place
/// for them.
fn filled(command: &str, words: &str) -> String {
    let each = split(words);
    let (mut out, mut rest, mut has_place) = (String::new(), command, false);
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = after.get(..digits).and_then(|digits| digits.parse::<usize>().ok());
        if let Some(behind) = after.strip_prefix("ARGUMENTS") {
            out.push_str(words);
            rest = behind;
        } else if let Some(number) = number.filter(|number| *number > 0) {
            out.push_str(each.get(number - 1).map_or("", String::as_str));
            rest = after.get(digits..).unwrap_or_default();
        } else {
            out.push('$');
            rest = after;
            continue;
        }
        has_place = true;
    }
    out.push_str(rest);
    if !has_place && !words.is_empty() {
        out.push_str("\n\n");
        out.push_str(words);
    }
    out
}

/// The single words; those between quotes are one.
fn split(words: &str) -> Vec<String> {
    let (mut all, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in words.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) if word.is_none() => {
                quote = Some(c);
                word = Some(String::new());
            }
            (c, None) if c.is_whitespace() => all.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    all.extend(word);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_where_the_command_has_a_place_for_them() {
        for (command, words, text) in [
            ("Review $ARGUMENTS now.", "a b", "Review a b now."),
            ("Review $1 against $2.", "a \"b c\" d", "Review a against b c."),
            ("Review $2 and $3", "a", "Review  and "),
            ("Costs $5.", "", "Costs ."),
            ("$0 $ $x $$1", "a", "$0 $ $x $a\n"),
            ("Review.", "a b", "Review.\n\na b"),
            ("Review.", "", "Review."),
            ("$1 $ARGUMENTS", "$2 $ARGUMENTS", "$2 $2 $ARGUMENTS"),
            ("$99999999999999999999999", "a", "$99999999999999999999999\n\na"),
            ("$1é", "it's 'ü 日'", "it'sé"),
        ] {
            assert_eq!(filled(command, words).trim_end(), text.trim_end(), "{command:?} {words:?}");
        }
    }

    #[test]
    fn paths_are_plain_text() {
        for (text, name) in [
            ("/review a b", Some(("review", "a b"))),
            ("/review", Some(("review", ""))),
            ("/git:push\nnow", Some(("git:push", "now"))),
            ("/etc/hosts is wrong", None),
            ("/", None),
            ("/ review", None),
            ("/..", None),
            (" /review", None),
            ("//x", None),
        ] {
            assert_eq!(typed(text), name, "{text:?}");
        }
    }
}
