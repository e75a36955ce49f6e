//! The lists of rules, what a call finds in them, and reading them with their examples.
//!
//! Where rules are written is the configuration's; here they have no files.

use super::command::CommandLine;
use super::path::NamedPath;
use super::rule::{CallFacts, Hit, Rule};
use crate::bash::Bash;
use crate::bounds::{PREVIEW_CHARS, preview};
use crate::tool::TypedTool as _;
use ropewalk_workspace::Place;

/// A list of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum List {
    /// Calls that run without being asked for.
    Allow,
    /// Calls that are always asked for.
    Ask,
    /// Calls that never run.
    Deny,
}

impl std::fmt::Display for List {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            List::Allow => "allow",
            List::Ask => "ask",
            List::Deny => "deny",
        })
    }
}

/// The user's rules. Deny comes first, then ask, then allow; the order within a list means nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Calls that run without being asked for.
    pub allow: Vec<Rule>,
    /// Calls that are always asked for.
    pub ask: Vec<Rule>,
    /// Calls that never run.
    pub deny: Vec<Rule>,
}

/// A rule as somebody wrote it.
#[derive(Clone, Copy, Debug, Default)]
pub struct WrittenRule<'a> {
    /// The rule.
    pub rule: &'a str,
    /// Commands or paths it must match.
    pub matches: &'a [String],
    /// Commands or paths it must not match.
    pub refuses: &'a [String],
    /// Where it stands, for messages.
    pub from: &'a str,
}

impl Rules {
    /// Adds a rule after trying its examples, and says in sentences what is wrong with it. An allow rule that
    /// fails one is not used; a deny or ask rule is, since that can only be stricter. A rule may name a tool that
    /// is not among the `known` ones: it counts once there is one of that name.
    pub fn read(&mut self, list: List, written: WrittenRule<'_>, known: &[String]) -> Vec<String> {
        let WrittenRule { rule: text, from, .. } = written;
        let rule = match text.parse::<Rule>() {
            Ok(rule) => rule,
            Err(why) => {
                return vec![format!("{from}: {why}. It stands in {list} and does nothing.")];
            }
        };
        let shown = preview(text.trim(), PREVIEW_CHARS);
        let (rule, is_bare) = match rule.without_reach().filter(|_| list != List::Allow) {
            Some(bare) => (bare, true),
            None => (rule, false),
        };
        let mut wrong: Vec<String> = examples(written)
            .filter(|(example, wanted)| matches_example(&rule, list, example) != *wanted)
            .map(|(example, wanted)| {
                let (is, must) = if wanted { ("does not match", "must") } else { ("matches", "must not") };
                let used = if list == List::Allow { "The rule is not used" } else { "The rule is used as it is" };
                let example = preview(example, PREVIEW_CHARS);
                format!("{from}: the {list} rule {shown} {is} its example {example:?}, which it {must} match. {used}.")
            })
            .collect();
        if wrong.is_empty() || list != List::Allow {
            self.list_mut(list).push(rule.clone());
        }
        if is_bare {
            wrong.push(format!(
                "{from}: the {list} rule {shown} has `with`, which counts only in allow: the rule is about every such call."
            ));
        }
        let unknown = rule.tool().filter(|tool| !known.iter().any(|name| name == tool));
        wrong.extend(unknown.map(|tool| {
            let meant = match nearest(tool, known) {
                Some(near) => format!("Did you mean {near}?"),
                None => format!("The tools are {}.", known.join(", ")),
            };
            format!(
                "{from}: there is no tool {tool} yet, so the {list} rule {shown} does nothing so far. {meant}"
            )
        }));
        wrong
    }

    fn list_mut(&mut self, list: List) -> &mut Vec<Rule> {
        match list {
            List::Allow => &mut self.allow,
            List::Ask => &mut self.ask,
            List::Deny => &mut self.deny,
        }
    }

    /// True if a search that was pointed at `start`, or at nothing, leaves a file out, because it may not be read
    /// or not unasked. What asks about `start` as well has been asked.
    pub fn hides(&self, file: &Place, start: Option<&Place>) -> bool {
        if self.deny.is_empty() && self.ask.is_empty() {
            return false;
        }
        let named = |place: &Place| NamedPath::at(&place.shown, place);
        let (file, start) = (named(file), start.map(named));
        let was_asked = |rule: &Rule| start.as_ref().is_some_and(|start| rule.hides(start));
        self.deny.iter().any(|rule| rule.hides(&file))
            || self.ask.iter().any(|rule| rule.hides(&file) && !was_asked(rule))
    }
}

/// How like two names are of which one may be the other misspelt, from 0 to 1.
const LIKE: f64 = 0.8;

/// The known name that somebody may have meant by this one.
fn nearest<'a>(name: &str, known: &'a [String]) -> Option<&'a String> {
    let likeness = |other: &String| strsim::jaro_winkler(&name.to_lowercase(), other);
    let scored = known.iter().map(|other| (likeness(other), other));
    let (score, best) = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (score >= LIKE).then_some(best)
}

/// The examples of a rule, and whether it is to match them.
fn examples<'a>(written: WrittenRule<'a>) -> impl Iterator<Item = (&'a str, bool)> {
    let all = |list: &'a [String], wanted| list.iter().map(move |text| (text.as_str(), wanted));
    all(written.matches, true).chain(all(written.refuses, false))
}

/// True if a rule that stands alone in its list is about this command or path. An example of a rule for every
/// tool is tried as both.
fn matches_example(rule: &Rule, list: List, example: &str) -> bool {
    let paths = [NamedPath::written(example)];
    let tool = rule.tool().unwrap_or("*");
    let command =
        CallFacts { tool, title: example, command: Some(CommandLine::new(example)), paths: &[] };
    let path = CallFacts { tool, title: example, command: None, paths: &paths };
    let is_about = |seen: &CallFacts<'_>| match list {
        List::Allow => passing([rule], seen).is_some(),
        List::Ask | List::Deny => rule.hits(seen) == Hit::Yes,
    };
    match rule.tool() {
        Some(Bash::NAME) => is_about(&command),
        Some(_) => is_about(&path),
        None => is_about(&command) || is_about(&path),
    }
}

/// The rules of an allow list by which a call passes: each simple command by one of them. None when it doesn't.
pub(super) fn passing<'r>(
    rules: impl IntoIterator<Item = &'r Rule, IntoIter: Clone>,
    seen: &CallFacts<'_>,
) -> Option<Vec<&'r Rule>> {
    let rules = rules.into_iter();
    let Some(command) = &seen.command else {
        return rules.clone().find(|rule| rule.passes_paths(seen)).map(|rule| vec![rule]);
    };
    let whole = |rule: &&Rule| rule.is_for_all(seen.tool) || rule.is_exactly(seen);
    if let Some(rule) = rules.clone().find(whole) {
        return Some(vec![rule]);
    }
    let mut by: Vec<&Rule> = Vec::new();
    for part in command.all_parts() {
        let passes = |rule: &&Rule| rule.passes_line(seen.tool, &part.line);
        // Most commands pass by the rule that let the one before pass.
        let rule =
            by.iter().copied().find(|rule| passes(rule)).or_else(|| rules.clone().find(passes));
        let rule = rule.filter(|_| part.is_plain)?;
        if !by.contains(&rule) {
            by.push(rule);
        }
    }
    (!by.is_empty()).then_some(by)
}

/// The first rule of a list that is about a call, one that surely is before one that may be.
pub(super) fn first_hit<'r>(rules: &'r [Rule], seen: &CallFacts<'_>) -> Option<(&'r Rule, Hit)> {
    let mut maybe = None;
    for rule in rules {
        match rule.hits(seen) {
            Hit::Yes => return Some((rule, Hit::Yes)),
            Hit::Maybe if maybe.is_none() => maybe = Some((rule, Hit::Maybe)),
            Hit::Maybe | Hit::No => {}
        }
    }
    maybe
}
