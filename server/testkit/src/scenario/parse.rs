//! From the text of a page to its steps, with words for what is wrong.

use super::reply::{Part, Reply};
use super::step::{Answer, Content, Crash, Setup, Step, What};
use super::{Fault, STOPS, Scenario};
use crate::editor::Profile;
use serde_json::Value;
use std::path::Path;

/// The verbs of steps and how each is used.
const VERBS: &[(&str, &str)] = &[
    ("editor", "editor NAME"),
    ("plugin", "plugin"),
    ("config", "config KEY = VALUE"),
    ("roots", "roots NAME…, or roots none"),
    ("file", "file PATH [crlf] [bom] [unended] and | lines, or file PATH -> TARGET for a link"),
    ("open", "open PATH"),
    ("type", "type PATH LINE[:COLUMN] \"TEXT\", or type PATH \"OLD\" -> \"NEW\""),
    ("save", "save PATH, and | lines if a formatter changes the text first"),
    ("undo", "undo PATH"),
    ("prompt", "prompt TEXT, or prompt on PATH FIRST[-LAST] TEXT"),
    ("run", "run COMMAND [JSON]"),
    ("gives", "gives JSON, or gives error WORDS"),
    ("answer", "answer once, session, always, afterSave or refuse [WORDS]"),
    ("crash", "crash server, or crash editor"),
    ("window", "window NUMBER"),
    ("model", "model, and below it, indented, what it sees and says"),
    ("when", "when GATE"),
    ("go", "go GATE"),
    ("end", "end STOP_REASON"),
    ("buffer", "buffer PATH [crlf] [bom] [unended] and | lines"),
    ("disk", "disk PATH [crlf] [bom] [unended] and | lines, or disk PATH absent"),
    ("hunks", "hunks and | lines, or hunks none"),
    ("message", "message TEXT"),
    ("progress", "progress and | lines"),
];

/// The verbs of a model's reply.
const MODEL_VERBS: &[(&str, &str)] = &[
    ("sees", "sees TEXT"),
    ("lacks", "lacks TEXT"),
    ("holds", "holds TEXT"),
    ("nowhere", "nowhere TEXT"),
    ("offered", "offered TOOL…"),
    ("conversation", "conversation NAME"),
    ("of", "of TEXT"),
    ("thinks", "thinks TEXT"),
    ("says", "says TEXT"),
    ("calls", "calls TOOL JSON"),
    ("stops", "stops STOP_REASON"),
    ("waits", "waits GATE"),
    ("breaks", "breaks"),
    ("fails", "fails STATUS KIND WORDS"),
];

/// Words about one line.
type Parsed<T> = Result<T, String>;

/// A line of the page that is a step, with the lines that belong to it.
struct Lines<'a> {
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
fn gather(text: &str, first: usize) -> Result<Vec<Lines<'_>>, (usize, String)> {
    let mut steps: Vec<Lines<'_>> = Vec::new();
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
            steps.push(Lines { line: number, head: whole, bars: Vec::new(), inner: Vec::new() });
        } else if let Some(step) = steps.last_mut() {
            step.inner.push((number, whole));
        } else {
            return Err((number, "an indented line belongs to a step above it".to_owned()));
        }
    }
    Ok(steps)
}

fn take(page: &mut Scenario, lines: Lines<'_>) -> Result<(), (Option<usize>, String)> {
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
    let takes_bars = ["file", "save", "buffer", "disk", "hunks", "progress"].contains(&verb);
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
    page.steps.push(Step { line: lines.line, what });
    Ok(())
}

fn set_up(setup: &mut Setup, verb: &str, rest: &str) -> Parsed<()> {
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

fn what(verb: &str, rest: &str, bars: &[&str]) -> Parsed<What> {
    let (first, more) = word(rest);
    let path = || {
        if first.is_empty() { Err("a path is missing".to_owned()) } else { Ok(first.to_owned()) }
    };
    let name = || {
        let whole = !rest.is_empty() && more.is_empty();
        if whole { Ok(rest.to_owned()) } else { Err("it takes one word".to_owned()) }
    };
    let lines = || bars.iter().map(|line| (*line).to_owned()).collect();
    Ok(match verb {
        "file" => {
            let content = match more.strip_prefix("->") {
                Some(target) => Content::Link(target.trim().to_owned()),
                None => Content::Bytes(bytes(bars, more)?),
            };
            What::File { path: path()?, content }
        }
        "open" => What::Open(name()?),
        "undo" => What::Undo(name()?),
        "when" => What::When(name()?),
        "go" => What::Go(name()?),
        "end" => What::End(name()?),
        "crash" => What::Crash(match rest {
            "server" => Crash::Server,
            "editor" => Crash::Editor,
            _ => return Err(format!("{rest:?} is nothing that crashes")),
        }),
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
        "answer" => {
            let answer = Answer::ALL.into_iter().find(|answer| answer.word() == first);
            let answer = answer.ok_or_else(|| format!("{first:?} is no answer"))?;
            let words = (!more.is_empty()).then(|| said(more)).transpose()?;
            if words.is_some() && answer != Answer::Refuse {
                return Err("only a refusal has words".to_owned());
            }
            What::Answer { answer, words }
        }
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

fn typed(path: String, rest: &str) -> Parsed<What> {
    if let Some((old, new)) = rest.split_once("\" -> \"") {
        let (old, new) = (said(&format!("{old}\""))?, said(&format!("\"{new}"))?);
        return Ok(What::Replace { path, old, new });
    }
    let (place, text) = word(rest);
    let (line, column) = place.split_once(':').unwrap_or((place, "1"));
    let text = said(text)?;
    Ok(What::Type { path, line: number(line)?, column: number(column)?, text })
}

fn prompt(rest: &str) -> Parsed<What> {
    let Some(rest) = rest.strip_prefix("on ") else {
        return Ok(What::Prompt { on: None, text: said(rest)? });
    };
    let (path, rest) = word(rest);
    let (lines, text) = word(rest);
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let on = Some((path.to_owned(), number(first)?, number(last)?));
    Ok(What::Prompt { on, text: said(text)? })
}

fn reply(lines: &[(usize, String)]) -> Result<Reply, (usize, String)> {
    let parts = lines.iter().map(|(line, text)| {
        let (verb, rest) = word(text);
        usage(MODEL_VERBS, verb, "model's line")
            .and_then(|usage| {
                part(verb, rest).map_err(|words| format!("{words}; it is used so: {usage}"))
            })
            .map_err(|words| (*line, words))
    });
    Ok(Reply { parts: parts.collect::<Result<_, _>>()? })
}

fn part(verb: &str, rest: &str) -> Parsed<Part> {
    let (first, more) = word(rest);
    Ok(match verb {
        "sees" => Part::Sees(said(rest)?),
        "lacks" => Part::Lacks(said(rest)?),
        "holds" => Part::Holds(said(rest)?),
        "nowhere" => Part::Nowhere(said(rest)?),
        "of" => Part::Of(said(rest)?),
        "offered" => Part::Offered(rest.split_whitespace().map(str::to_owned).collect()),
        "conversation" if first.is_empty() || !more.is_empty() => {
            return Err("it takes one word".to_owned());
        }
        "conversation" => Part::Conversation(first.to_owned()),
        "thinks" => Part::Thinks(said(rest)?),
        "says" => Part::Says(said(rest)?),
        "calls" if more.is_empty() => return Err("the call has no input".to_owned()),
        "calls" => Part::Calls { tool: first.to_owned(), input: more.to_owned() },
        "stops" => {
            let known = STOPS.iter().find(|(name, _)| *name == rest);
            let (_, reason) = known.ok_or_else(|| {
                let names: Vec<&str> = STOPS.iter().map(|(name, _)| *name).collect();
                format!("{rest:?} is no stop reason, there are {}", names.join(", "))
            })?;
            Part::Stops(reason.clone())
        }
        "waits" => Part::Waits(said(rest)?),
        "breaks" => Part::Breaks,
        _ => {
            let (kind, words) = word(more);
            let status = first.parse().map_err(|_| format!("{first:?} is no status"))?;
            Part::Fails { status, kind: kind.to_owned(), words: said(words)? }
        }
    })
}

/// How a verb is used, or words about the ones there are.
fn usage(verbs: &[(&str, &'static str)], verb: &str, what: &str) -> Parsed<&'static str> {
    let found = verbs.iter().find(|(name, _)| *name == verb).map(|(_, usage)| *usage);
    found.ok_or_else(|| {
        let names: Vec<&str> = verbs.iter().map(|(name, _)| *name).collect();
        format!("{verb:?} begins no {what}; these do: {}", names.join(", "))
    })
}

/// The first word and what follows it.
fn word(text: &str) -> (&str, &str) {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (first, rest.trim())
}

/// Words as they stand, or a JSON string, which can hold line ends.
fn said(text: &str) -> Parsed<String> {
    if text.is_empty() {
        return Err("the text is missing".to_owned());
    }
    if !text.starts_with('"') {
        return Ok(text.to_owned());
    }
    serde_json::from_str(text).map_err(|error| format!("{text} is no JSON string: {error}"))
}

fn json(text: &str) -> Parsed<Value> {
    if text.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(text).map_err(|error| format!("{text} is no JSON: {error}"))
}

fn number(text: &str) -> Parsed<u32> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!("{text:?} is no number from 1 on")),
        Ok(number) => Ok(number),
    }
}

/// The lines as a file's bytes.
fn bytes(bars: &[&str], how: &str) -> Parsed<Vec<u8>> {
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
