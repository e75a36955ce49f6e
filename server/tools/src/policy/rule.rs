//! A rule: `tool`, or `tool(pattern)`, and which calls it is about; and, behind it, what it gives a command.
//!
//! An allow rule lets a command pass only if nothing in it is left open, so that nothing can be hidden behind a
//! harmless beginning; a deny or ask rule hits however the command or path is spelled, and where that can't be
//! told it may hit. Which list a rule is in is [`super::rules`]'s.

use super::command::CommandLine;
use super::path::NamedPath;
use super::pattern::RulePattern;
use super::with::{WITH, With};
use super::{Access, is_sensitive, without_keys};
use crate::bash::Bash;
use crate::bounds::{PREVIEW_CHARS, preview};
use crate::delete_file::DeleteFile;
use crate::edit_file::EditFile;
use crate::glob::Glob;
use crate::grep::Grep;
use crate::list_dir::ListDir;
use crate::move_file::MoveFile;
use crate::read_file::ReadFile;
use crate::runner::CommandMode;
use crate::tool::TypedTool as _;
use crate::write_file::WriteFile;

/// A rule: `tool`, or `tool(pattern)` with a command's or a path's pattern. The tool `*` is every tool. In the
/// pattern `*` stands for any text, a last ` *` for any arguments or none, a last `/*` for all in a folder and
/// the folder itself, `\*` for a star and `\\` for a backslash.
///
/// As an allow rule for commands it lets them run over the fork as they do by themselves: without the network and
/// with nothing outside. `with network`, `with /srv/data, ~/notes` or both behind it give that; such a rule is about
/// commands over the fork alone, as `with nothing` is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// None for every tool.
    tool: Option<String>,
    pattern: Option<RulePattern>,
    with: Option<With>,
}

/// Facts of a call that rules look at.
#[derive(Debug)]
pub(super) struct CallFacts<'a> {
    pub(super) tool: &'a str,
    pub(super) title: &'a str,
    pub(super) command: Option<CommandLine<'a>>,
    pub(super) paths: &'a [NamedPath],
}

impl CallFacts<'_> {
    /// True if its title says what it is about, as a path or a command would. That of a search is the pattern
    /// that is searched for.
    fn is_known_by_title(&self) -> bool {
        self.paths.is_empty() && ![Grep::NAME, Glob::NAME].contains(&self.tool)
    }
}

/// Relation of a deny or ask rule to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hit {
    No,
    /// It can't be told before the call runs.
    Maybe,
    Yes,
}

/// How the tools that people know speak of what they do; any other is named.
const DOING: &[(&str, &str)] = &[
    (DeleteFile::NAME, "deleting"),
    (EditFile::NAME, "editing"),
    (ListDir::NAME, "listing"),
    (MoveFile::NAME, "moving"),
    (ReadFile::NAME, "reading"),
    (WriteFile::NAME, "writing"),
];

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.tool.as_deref().unwrap_or("*"))?;
        if let Some(pattern) = &self.pattern {
            write!(f, "({})", pattern.text())?;
        }
        match &self.with {
            Some(with) => write!(f, "{WITH}{with}"),
            None => Ok(()),
        }
    }
}

impl std::str::FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let shown = || without_keys(&preview(text, PREVIEW_CHARS));
        let wrong = || {
            format!(
                "{:?} is not a rule: write tool or tool(pattern), as in bash(git status *)",
                shown()
            )
        };
        let is_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
        };
        let (about, with) = split_with(text);
        let (tool, pattern) = match about.split_once('(') {
            None => (about, None),
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')').ok_or_else(wrong)?)),
        };
        if !(tool == "*" || is_name(tool)) || pattern == Some("") {
            return Err(wrong());
        }
        if with.is_some() && !["*", Bash::NAME].contains(&tool) {
            return Err(format!("{:?} has `with`, which only rules for bash may have", shown()));
        }
        let with = with.map(|with| {
            let part = |why: String| without_keys(&preview(&why, PREVIEW_CHARS));
            with.parse().map_err(|why| format!("in {:?} {}", shown(), part(why)))
        });
        let tool = Some(tool.to_owned()).filter(|tool| tool != "*");
        Ok(Self { tool, pattern: pattern.map(RulePattern::new), with: with.transpose()? })
    }
}

/// Splits a rule into its calls and the access it gives. A text that ends like a pattern is one to its end.
fn split_with(text: &str) -> (&str, Option<&str>) {
    if text.ends_with(')') {
        return (text, None);
    }
    let behind = text.rfind(&format!("){WITH}")).map(|at| at + 1).or_else(|| text.find(WITH));
    match behind.and_then(|at| text.split_at_checked(at)) {
        Some((about, with)) => (about, Some(with.strip_prefix(WITH).unwrap_or(with))),
        None => (text, None),
    }
}

impl Rule {
    pub(super) fn of(tool: &str, pattern: RulePattern) -> Self {
        Self { tool: Some(tool.to_owned()), pattern: Some(pattern), with: None }
    }

    /// The same for a command that reaches so far, and no further.
    pub(super) fn reaching(self, reach: &Access) -> Self {
        Self { with: (reach.mode == CommandMode::OverFork).then(|| With::of(reach)), ..self }
    }

    /// The same without saying what it gives; None if it says nothing of that.
    pub(super) fn without_reach(&self) -> Option<Self> {
        self.with.as_ref().map(|_| Self { with: None, ..self.clone() })
    }

    /// As an allow rule: whether it gives a command all that it reaches. Where commands don't run over the fork, that
    /// is everything, of which only a rule without `with` says nothing.
    pub(super) fn gives(&self, reach: &Access) -> bool {
        match (&self.with, reach.mode) {
            (None, CommandMode::OverFork) => With::default().gives(reach),
            (Some(with), CommandMode::OverFork) => with.gives(reach),
            (with, CommandMode::Copy | CommandMode::InPlace) => with.is_none(),
        }
    }

    /// The tool it is about; None for every tool.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// The calls it is about, in words on one line, for somebody who sees a call and is about to allow its like:
    /// "exactly this command", "`git status` with any arguments", "reading all files under src/".
    pub fn in_words(&self) -> String {
        let about = self.about_in_words();
        match &self.with {
            Some(with) => format!("{about}, {}", preview(&with.in_words(), PREVIEW_CHARS)),
            None => about,
        }
    }

    fn about_in_words(&self) -> String {
        let short = |text: &str| preview(text, PREVIEW_CHARS);
        let Some(tool) = self.tool.as_deref() else {
            return match self.narrow() {
                None => "every call of every tool".to_owned(),
                Some(pattern) => format!("calls of every tool for {}", short(pattern.text())),
            };
        };
        let Some(pattern) = self.narrow() else {
            return match tool {
                Bash::NAME => "every command".to_owned(),
                _ => format!("every call of {tool}"),
            };
        };
        if tool == Bash::NAME {
            return match (pattern.exact(), pattern.bare()) {
                (Some(_), _) => "exactly this command".to_owned(),
                (None, Some(command)) => format!("`{}` with any arguments", short(command)),
                (None, None) => format!("commands of the form `{}`", short(pattern.text())),
            };
        }
        let known = DOING.iter().find(|(name, _)| *name == tool);
        let doing = known.map_or_else(|| format!("{tool} of"), |(_, doing)| (*doing).to_owned());
        let folder = pattern.before_star().filter(|start| start.ends_with('/'));
        match (pattern.exact(), folder) {
            (Some(path), _) => format!("{doing} {}", short(path)),
            (None, Some(folder)) => format!("{doing} all files under {}", short(folder)),
            (None, None) => format!("{doing} files named {}", short(pattern.text())),
        }
    }

    /// Its pattern, unless that matches everything.
    fn narrow(&self) -> Option<&RulePattern> {
        self.pattern.as_ref().filter(|pattern| !pattern.is_all())
    }

    fn is_about(&self, tool: &str) -> bool {
        self.tool.as_deref().is_none_or(|own| own == tool)
    }

    /// True if it holds for every call of the tool, whatever is called for.
    pub(super) fn is_for_all(&self, tool: &str) -> bool {
        self.is_about(tool) && self.narrow().is_none()
    }

    /// True if it is about this very call: its pattern has no star and is the whole command, the one path, or
    /// the title of a call that has none or several.
    pub(super) fn is_exactly(&self, seen: &CallFacts<'_>) -> bool {
        let Some(exact) = self.pattern.as_ref().and_then(RulePattern::exact) else { return false };
        self.is_about(seen.tool)
            && match (&seen.command, seen.paths) {
                (Some(command), _) => command.text == exact,
                (None, [path]) => path.names().any(|name| name == exact),
                // A title says of several paths which they are, unless one looks like a title itself.
                (None, paths) => {
                    let is_title = |path: &NamedPath| path.as_written().contains('→');
                    seen.title == exact && !paths.iter().any(is_title)
                }
            }
    }

    /// As an allow rule: whether it lets one simple command pass.
    pub(super) fn passes_line(&self, tool: &str, line: &str) -> bool {
        self.is_about(tool)
            && self.pattern.as_ref().is_none_or(|pattern| pattern.matches_command(line))
    }

    /// As an allow rule: whether it lets a call pass that is no command. All its paths must match, as they are
    /// once links and dots are resolved.
    pub(super) fn passes_paths(&self, seen: &CallFacts<'_>) -> bool {
        if self.is_for_all(seen.tool) || self.is_exactly(seen) {
            return true;
        }
        let Some(pattern) = self.pattern.as_ref().filter(|_| self.is_about(seen.tool)) else {
            return false;
        };
        match seen.paths {
            [] => seen.is_known_by_title() && pattern.matches_command(seen.title),
            paths => paths.iter().all(|path| path.names().any(|name| pattern.matches_path(name))),
        }
    }

    /// As a deny or ask rule: whether it is about the call, or some part of it.
    pub(super) fn hits(&self, seen: &CallFacts<'_>) -> Hit {
        // A file that may not be read may not be searched either: both show its text.
        let reads = self.tool() == Some(ReadFile::NAME) && seen.tool == Grep::NAME;
        if !(self.is_about(seen.tool) || reads && self.narrow().is_some()) {
            return Hit::No;
        }
        let Some(pattern) = self.narrow() else { return Hit::Yes };
        // A pattern for bash is one of commands, not of the folder they run in.
        let paths = if seen.command.is_some() && self.tool.is_some() { &[] } else { seen.paths };
        if paths.iter().any(|path| path.spellings().any(|name| pattern.matches_folded(name))) {
            return Hit::Yes;
        }
        let Some(command) = &seen.command else {
            let by_title = seen.is_known_by_title() && pattern.matches_command(seen.title);
            return if by_title { Hit::Yes } else { Hit::No };
        };
        if pattern.exact() == Some(command.text) {
            return Hit::Yes;
        }
        let mut hit = if command.has_gaps { Hit::Maybe } else { Hit::No };
        for way in command.parts.iter().flat_map(|part| &part.ways) {
            if pattern.matches_command(&way.line) {
                return Hit::Yes;
            }
            if way.sure.as_deref().is_some_and(|start| pattern.could_match(start)) {
                hit = Hit::Maybe;
            }
        }
        hit
    }

    /// As a deny or ask rule: whether it is about reading this place.
    pub(super) fn hides(&self, file: &NamedPath) -> bool {
        let is_reader = self.tool().is_none_or(|tool| tool == ReadFile::NAME || tool == Grep::NAME);
        is_reader
            && self
                .narrow()
                .is_some_and(|pattern| file.spellings().any(|name| pattern.matches_folded(name)))
    }

    /// True if the pattern itself names something that may hold secrets.
    pub(super) fn names_secrets(&self) -> bool {
        let pieces = self.pattern.as_ref().map(RulePattern::pieces).unwrap_or_default();
        pieces.iter().flat_map(|piece| piece.split_whitespace()).any(is_sensitive)
    }
}
