//! From the text of a page to its steps, with words for what is wrong.

use super::reply::{PageReply, PageReplyPart};
use super::step::{Crash, DocumentSpot, PageStep, ScenarioContent, Setup, UserAnswer, What};
use super::verbs::{MODEL_VERBS, TAKES_BARS, VERBS, usage};
use super::{Fault, STOPS, Scenario};
use crate::editor::Profile;
use serde_json::Value;
use std::path::Path;

/// Words about one line.
type ParsedLine<T> = Result<T, String>;

/// A line of the page that is a step, with the lines that belong to it.
struct PageLines<'a> {
    line: usize,
    head: String,
    /// The `|` lines, without the bar.
    bars: Vec<&'a str>,
    /// The other indented lines.
    inner: Vec<(usize, String)>,
}

pub(super) fn parse(file: &Path, text: &str) -> Result<Scenario, Fault> {
    let fault = |line: usize, words: String| Fault { file: file.to_owned(), line, words };
    let Some((prose, _)) = text.split_once("\n---\n") else {
        let words = "a page begins with prose, and a line --- before its steps";
        return Err(fault(1, words.to_owned()));
    };
    if prose.trim().is_empty() {
        return Err(fault(1, "the prose is missing: say what the user experiences".to_owned()));
    }
    let first = prose.lines().count().saturating_add(1);
    let steps = gather(text, first).map_err(|(line, words)| fault(line, words))?;
    let setup =
        Setup { editor: Profile::NEOVIM, has_plugin: false, config: Vec::new(), roots: None };
    let mut page = Scenario {
        file: file.to_owned(),
        prose: prose.trim().to_owned(),
        setup,
        replies: Vec::new(),
        steps: Vec::new(),
    };
    for lines in steps {
        let line = lines.line;
        take(&mut page, lines).map_err(|(inner, words)| fault(inner.unwrap_or(line), words))?;
    }
    Ok(page)
}

/// Puts the lines below `first` together into steps.
fn gather(text: &str, first: usize) -> Result<Vec<PageLines<'_>>, (usize, String)> {
    let mut steps: Vec<PageLines<'_>> = Vec::new();
    let mut numbered = text.lines().enumerate().skip(first).map(|(at, line)| (at + 1, line));
    while let Some((number, line)) = numbered.next() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if let Some(bar) = line.trim_start().strip_prefix('|') {
            let Some(step) = steps.last_mut() else {
                return Err((number, "a | line belongs to a step above it".to_owned()));
            };
            step.bars.push(bar.strip_prefix(' ').unwrap_or(bar));
            continue;
        }
        // A line that ends with a backslash goes on in the next.
        let mut whole = trimmed.to_owned();
        while whole.ends_with('\\') {
            whole.pop();
            let Some((_, next)) = numbered.next() else { break };
            whole.truncate(whole.trim_end().len());
            whole.push(' ');
            whole.push_str(next.trim());
        }
        if !line.starts_with([' ', '\t']) {
            steps.push(PageLines {
                line: number,
                head: whole,
                bars: Vec::new(),
                inner: Vec::new(),
            });
        } else if let Some(step) = steps.last_mut() {
            step.inner.push((number, whole));
        } else {
            return Err((number, "an indented line belongs to a step above it".to_owned()));
        }
    }
    Ok(steps)
}

fn take(page: &mut Scenario, lines: PageLines<'_>) -> Result<(), (Option<usize>, String)> {
    let (verb, rest) = word(&lines.head);
    let usage = usage(VERBS, verb, "step").map_err(|words| (None, words))?;
    let wrong = |words: String| (None, format!("{words}; it is used so: {usage}"));
    if verb == "model" {
        page.replies.push(reply(&lines.inner).map_err(|(line, words)| (Some(line), words))?);
        return if rest.is_empty() && lines.bars.is_empty() {
            Ok(())
        } else {
            Err(wrong("what the model does stands below it".to_owned()))
        };
    }
    if let Some((line, _)) = lines.inner.first() {
        return Err((Some(*line), format!("{verb} has no lines below it but such with a |")));
    }
    let takes_bars = TAKES_BARS.contains(&verb);
    if !takes_bars && !lines.bars.is_empty() {
        return Err(wrong(format!("{verb} has no | lines")));
    }
    if ["editor", "plugin", "config", "roots"].contains(&verb) {
        if page.steps.iter().any(|step| !matches!(step.what, What::File { .. })) {
            return Err(wrong(format!("{verb} comes before what the user does")));
        }
        return set_up(&mut page.setup, verb, rest).map_err(wrong);
    }
    let what = what(verb, rest, &lines.bars).map_err(wrong)?;
    page.steps.push(PageStep { line: lines.line, what });
    Ok(())
}

fn set_up(setup: &mut Setup, verb: &str, rest: &str) -> ParsedLine<()> {
    match verb {
        "editor" => {
            let names = || Profile::ALL.map(|profile| profile.name).join(", ");
            setup.editor = Profile::named(rest)
                .ok_or_else(|| format!("there is no editor {rest:?}, there are {}", names()))?;
        }
        "plugin" if !rest.is_empty() => return Err("nothing stands behind it".to_owned()),
        "plugin" => setup.has_plugin = true,
        "config" => {
            let (key, value) = rest.split_once('=').ok_or("there is no =")?;
            setup.config.push((key.trim().to_owned(), value.trim().to_owned()));
        }
        _ => {
            let names: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
            if names.is_empty() {
                return Err("no root is named".to_owned());
            }
            setup.roots = Some(if rest == "none" { Vec::new() } else { names });
        }
    }
    Ok(())
}

fn what(verb: &str, rest: &str, bars: &[&str]) -> ParsedLine<What> {
    let (first, more) = word(rest);
    let path = || named(first);
    let name = || {
        let whole = !rest.is_empty() && more.is_empty();
        if whole { Ok(rest.to_owned()) } else { Err("it takes one word".to_owned()) }
    };
    Ok(match verb {
        "file" => What::File { path: path()?, content: content(more, bars)? },
        "open" => What::Open(name()?),
        "undo" => What::Undo(name()?),
        "when" => What::When(name()?),
        "go" => What::Go(name()?),
        "end" => What::End(name()?),
        "woken" => What::Woken(name()?),
        "crash" => What::Crash(match rest {
            "server" => Crash::Server,
            "editor" => Crash::Editor,
            _ => return Err(format!("{rest:?} is nothing that crashes")),
        }),
        "choose" => choice(path()?, more)?,
        "window" => What::Window(number(rest)? as usize),
        "type" => typed(path()?, more)?,
        "save" => {
            let formatted = (!bars.is_empty()).then(|| bytes(bars, more)).transpose()?;
            What::Save { path: path()?, formatted }
        }
        "prompt" => prompt(rest)?,
        "run" => What::Run { command: path()?, argument: json(more)? },
        "gives" => What::Gives(match rest.strip_prefix("error ") {
            Some(words) => Err(said(words)?),
            None => Ok(json(rest)?),
        }),
        "answer" => answered(first, more)?,
        _ => seen(verb, rest, bars)?,
    })
}

/// A step that looks at something.
fn seen(verb: &str, rest: &str, bars: &[&str]) -> ParsedLine<What> {
    let (first, more) = word(rest);
    let lines = || bars.iter().map(|line| (*line).to_owned()).collect();
    let path = || named(first);
    Ok(match verb {
        "shown" if more.is_empty() => What::Shown(path()?),
        "shown" => return Err("it takes one word".to_owned()),
        "reads" => What::Reads { path: path()?, words: said(more)? },
        "completes" if more == "none" || !bars.is_empty() => {
            What::Completes { path: path()?, wanted: lines() }
        }
        "completes" => return Err("say to what".to_owned()),
        "buffer" => What::Buffer { path: path()?, text: bytes(bars, more)? },
        "disk" => {
            let bytes = if more == "absent" { None } else { Some(bytes(bars, more)?) };
            What::Disk { path: path()?, bytes }
        }
        "hunks" if rest == "none" || !bars.is_empty() => What::Hunks(lines()),
        "hunks" => return Err("say what is pending".to_owned()),
        "message" => What::Message(said(rest)?),
        _ => What::Progress(lines()),
    })
}

/// A link's target after `->`, or the bytes of a file.
fn content(more: &str, bars: &[&str]) -> ParsedLine<ScenarioContent> {
    Ok(match more.strip_prefix("->") {
        Some(target) => ScenarioContent::Link(target.trim().to_owned()),
        None => ScenarioContent::Bytes(bytes(bars, more)?),
    })
}

/// An answer by its word; only a refusal is said with words of its own.
fn answered(word: &str, more: &str) -> ParsedLine<What> {
    let answer = UserAnswer::ALL.into_iter().find(|answer| answer.word() == word);
    let answer = answer.ok_or_else(|| format!("{word:?} is no answer"))?;
    let words = (!more.is_empty()).then(|| said(more)).transpose()?;
    if words.is_some() && answer != UserAnswer::Refuse {
        return Err("only a refusal has words".to_owned());
    }
    Ok(What::Answer { answer, words })
}

fn named(path: &str) -> ParsedLine<String> {
    if path.is_empty() { Err("a path is missing".to_owned()) } else { Ok(path.to_owned()) }
}

fn typed(path: String, rest: &str) -> ParsedLine<What> {
    if let Some((old, new)) = rest.split_once("\" -> \"") {
        let (old, new) = (said(&format!("{old}\""))?, said(&format!("\"{new}"))?);
        return Ok(What::Replace { path, old, new });
    }
    let (place, text) = word(rest);
    if place == "end" {
        return Ok(What::TypeAtEnd { path, text: said(text)? });
    }
    let (line, column) = place.split_once(':').unwrap_or((place, "1"));
    let text = said(text)?;
    Ok(What::Type { path, line: number(line)?, column: number(column)?, text })
}

fn choice(path: String, rest: &str) -> ParsedLine<What> {
    if let Some(quoted) = rest.strip_prefix('"') {
        let (words, title) = quoted.split_once('"').ok_or("the words have no end")?;
        let (spot, title) = (DocumentSpot::LineWith(words.to_owned()), said(title.trim())?);
        return Ok(What::Choose { path, spot, title });
    }
    let (place, title) = word(rest);
    let spot = match place.split_once('-') {
        Some((first, last)) => DocumentSpot::Lines(number(first)?, number(last)?),
        None if place == "end" => DocumentSpot::End,
        None => return Err(format!("{place:?} is no place")),
    };
    Ok(What::Choose { path, spot, title: said(title)? })
}

fn prompt(rest: &str) -> ParsedLine<What> {
    let Some(rest) = rest.strip_prefix("on ") else {
        return Ok(What::Prompt { on: None, text: said(rest)? });
    };
    let (path, rest) = word(rest);
    let (lines, text) = word(rest);
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let on = Some((path.to_owned(), number(first)?, number(last)?));
    Ok(What::Prompt { on, text: said(text)? })
}

fn reply(lines: &[(usize, String)]) -> Result<PageReply, (usize, String)> {
    let parts = lines.iter().map(|(line, text)| {
        let (verb, rest) = word(text);
        usage(MODEL_VERBS, verb, "model's line")
            .and_then(|usage| {
                part(verb, rest).map_err(|words| format!("{words}; it is used so: {usage}"))
            })
            .map_err(|words| (*line, words))
    });
    Ok(PageReply { parts: parts.collect::<Result<_, _>>()? })
}

fn part(verb: &str, rest: &str) -> ParsedLine<PageReplyPart> {
    let (first, more) = word(rest);
    Ok(match verb {
        "sees" => PageReplyPart::Sees(said(rest)?),
        "lacks" => PageReplyPart::Lacks(said(rest)?),
        "holds" => PageReplyPart::Holds(said(rest)?),
        "nowhere" => PageReplyPart::Nowhere(said(rest)?),
        "of" => PageReplyPart::Of(said(rest)?),
        "offered" => PageReplyPart::Offered(rest.split_whitespace().map(str::to_owned).collect()),
        "conversation" if first.is_empty() || !more.is_empty() => {
            return Err("it takes one word".to_owned());
        }
        "conversation" => PageReplyPart::Conversation(first.to_owned()),
        "thinks" => PageReplyPart::Thinks(said(rest)?),
        "says" => PageReplyPart::Says(said(rest)?),
        "calls" if more.is_empty() => return Err("the call has no input".to_owned()),
        "calls" => PageReplyPart::Calls { tool: first.to_owned(), input: more.to_owned() },
        "stops" => {
            let known = STOPS.iter().find(|(name, _)| *name == rest);
            let (_, reason) = known.ok_or_else(|| {
                let names: Vec<&str> = STOPS.iter().map(|(name, _)| *name).collect();
                format!("{rest:?} is no stop reason, there are {}", names.join(", "))
            })?;
            PageReplyPart::Stops(reason.clone())
        }
        "waits" => PageReplyPart::Waits(said(rest)?),
        "breaks" => PageReplyPart::Breaks,
        _ => {
            let (kind, words) = word(more);
            let status = first.parse().map_err(|_| format!("{first:?} is no status"))?;
            PageReplyPart::Fails { status, kind: kind.to_owned(), words: said(words)? }
        }
    })
}

/// The first word and what follows it.
fn word(text: &str) -> (&str, &str) {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (first, rest.trim())
}

/// Words as they stand, or a JSON string, which can hold line ends.
fn said(text: &str) -> ParsedLine<String> {
    if text.is_empty() {
        return Err("the text is missing".to_owned());
    }
    if !text.starts_with('"') {
        return Ok(text.to_owned());
    }
    serde_json::from_str(text).map_err(|error| format!("{text} is no JSON string: {error}"))
}

fn json(text: &str) -> ParsedLine<Value> {
    if text.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(text).map_err(|error| format!("{text} is no JSON: {error}"))
}

fn number(text: &str) -> ParsedLine<u32> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!("{text:?} is no number from 1 on")),
        Ok(number) => Ok(number),
    }
}

/// The lines as a file's bytes.
fn bytes(bars: &[&str], how: &str) -> ParsedLine<Vec<u8>> {
    let (mut ending, mut bom, mut ended) = ("\n", "", true);
    for word in how.split_whitespace() {
        match word {
            "crlf" => ending = "\r\n",
            "bom" => bom = "\u{feff}",
            "unended" => ended = false,
            other => return Err(format!("{other:?} says nothing of a text")),
        }
    }
    let mut text = bom.to_owned();
    for (at, line) in bars.iter().enumerate() {
        text.push_str(line);
        if ended || at + 1 < bars.len() {
            text.push_str(ending);
        }
    }
    Ok(text.into_bytes())
}
