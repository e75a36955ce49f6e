//! Whether a value will do for its key: type, range, form. It sets nothing, and knows no layers
//! but for where a relative path starts.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use super::locks;
use super::rules;

use crate::keys::{self, Key, Kind};
use crate::lock::Lock;
use crate::problem::{Layer, Source, shown};
use crate::rules::{RuleList, RuleText};
use crate::sources::{Environment, Known};
use crate::value::Value;
use crate::{CommandBounds, Keep, ModelName};
use crate::{KeyCommand, ModelFacts};
use ropewalk_protocol::{Mode, OverFork, Price, SessionLimits, Thinking};

/// Entries of one list; more are no configuration.
pub(super) const MOST_ENTRIES: usize = 1_000;

/// A checked value, ready to be set.
pub(super) enum Setting {
    Model(ModelName),
    Mode(Mode),
    Tools(Vec<String>),
    Switch(bool),
    Locks(Vec<Lock>),
    /// Rules to add to a list.
    Rules(RuleList, Vec<RuleText>),
    PromptFile(PathBuf),
    PromptAppend(String),
    Log(String),
    Limit(fn(&mut SessionLimits) -> &mut u32, u32),
    Keep(fn(&mut Keep) -> &mut u32, u32),
    OverFork(OverFork),
    CommandBound(fn(&mut CommandBounds) -> &mut u32, u32),
    Variables(Vec<String>),
    /// `None` for a variable means that no key is sent.
    Provider(ProviderField, Option<String>),
    KeyCommand(Option<KeyCommand>),
    Header(String),
    Tokens(fn(&mut ModelFacts) -> &mut Option<u32>, u32),
    Price(Price),
    PrintedCalls(bool),
    Fact(fn(&mut ModelFacts) -> &mut Option<bool>, bool),
    Thinking(Thinking),
    CaFile(PathBuf),
    Parallel(u32),
    /// Empty means none.
    Verify(String),
    SelfCheck(bool),
}

#[derive(Clone, Copy)]
pub(super) enum ProviderField {
    Protocol,
    BaseUrl,
    KeyVariable,
}

/// Why a value, or a part of it, will not do: the words after "`key` in file:3 ".
pub(super) struct Refusal(pub(super) String);

pub(super) struct Context<'a> {
    /// The second segment of the key's path: the provider's or mechanism's name where it has one.
    pub(super) name: &'a str,
    pub(super) source: &'a Source,
    pub(super) known: &'a Known,
    pub(super) environment: &'a dyn Environment,
}

/// The setting, if any of the value will do, and what will not. A list loses its bad entries only.
pub(super) fn check(
    key: &Key,
    value: Value,
    context: &Context<'_>,
) -> (Option<Setting>, Vec<Refusal>) {
    let mut refusals = Vec::new();
    let setting = match key.kind {
        Kind::Tools => {
            list(key, value, &mut refusals, |name| known_name(name, "tool", &context.known.tools))
                .map(Setting::Tools)
        }
        Kind::Variables => list(key, value, &mut refusals, variable).map(Setting::Variables),
        Kind::Rules(which) => rules::read(key, value, context.source, &mut refusals)
            .map(|rules| Setting::Rules(which, rules)),
        Kind::Locked => match value {
            Value::List(items) => {
                locks::read(items, context.source, &mut refusals).map(Setting::Locks)
            }
            other => Err(expected(key, other.describe())),
        },
        Kind::KeyCommand => key_command(key, value, context).map(Setting::KeyCommand),
        Kind::Price => price(key, value, context).map(Setting::Price),
        _ => single(key, value, context),
    };
    match setting {
        Ok(setting) => (Some(setting), refusals),
        Err(refusal) => {
            refusals.push(refusal);
            (None, refusals)
        }
    }
}

/// All kinds but lists.
fn single(key: &Key, value: Value, context: &Context<'_>) -> Result<Setting, Refusal> {
    let known = context.known;
    match key.kind {
        Kind::Mechanism => match value {
            Value::Bool(on) => {
                known_name(context.name, "mechanism", &known.mechanisms)?;
                Ok(Setting::Switch(on))
            }
            other => Err(expected(key, other.describe())),
        },
        Kind::SelfCheck => match value {
            Value::Bool(on) => Ok(Setting::SelfCheck(on)),
            other => Err(expected(key, other.describe())),
        },
        Kind::PrintedCalls | Kind::Fact { .. } => {
            provider_name(context)?;
            match (value, key.kind) {
                (Value::Bool(on), Kind::Fact { field, .. }) => Ok(Setting::Fact(field, on)),
                (Value::Bool(on), _) => Ok(Setting::PrintedCalls(on)),
                (other, _) => Err(expected(key, other.describe())),
            }
        }
        Kind::Limit { least, most, field } => {
            number(key, value, least..=most).map(|number| Setting::Limit(field, number))
        }
        Kind::Keep { least, most, field } => {
            number(key, value, least..=most).map(|number| Setting::Keep(field, number))
        }
        Kind::Tokens { field } => {
            provider_name(context)?;
            let (least, most) = keys::TOKENS;
            number(key, value, least..=most).map(|number| Setting::Tokens(field, number))
        }
        Kind::Parallel => {
            provider_name(context)?;
            let (least, most) = keys::PARALLEL;
            number(key, value, least..=most).map(Setting::Parallel)
        }
        Kind::CommandBound { least, most, field } => {
            number(key, value, least..=most).map(|number| Setting::CommandBound(field, number))
        }
        _ => {
            let Value::Text(text) = value else { return Err(expected(key, value.describe())) };
            self::text(key, text, context)
        }
    }
}

/// The kinds that take a number.
fn number(key: &Key, value: Value, range: RangeInclusive<u32>) -> Result<u32, Refusal> {
    let Value::Integer(number) = value else { return Err(expected(key, value.describe())) };
    let fits = u32::try_from(number).ok().filter(|number| range.contains(number));
    fits.ok_or_else(|| expected(key, &number.to_string()))
}

/// The kinds that take text.
fn text(key: &Key, text: String, context: &Context<'_>) -> Result<Setting, Refusal> {
    let trimmed = text.trim();
    let wrong = || Refusal(format!("must be {}; it is ignored", key.takes()));
    let setting = match key.kind {
        Kind::Model => Setting::Model(ModelName::parse(trimmed).ok_or_else(wrong)?),
        Kind::Mode => Setting::Mode(
            trimmed.parse().ok().ok_or_else(|| expected(key, &format!("`{}`", shown(trimmed))))?,
        ),
        Kind::OverFork => {
            let found = OverFork::ALL.iter().find(|one| one.as_str() == trimmed);
            let wrong = || expected(key, &format!("`{}`", shown(trimmed)));
            Setting::OverFork(*found.ok_or_else(wrong)?)
        }
        Kind::Thinking => {
            provider_name(context)?;
            let found = Thinking::ALL.iter().find(|one| one.as_str() == trimmed);
            let wrong = || expected(key, &format!("`{}`", shown(trimmed)));
            Setting::Thinking(*found.ok_or_else(wrong)?)
        }
        Kind::PromptFile => Setting::PromptFile(path(trimmed, context)?),
        Kind::CaFile => Setting::CaFile(path(trimmed, context)?),
        Kind::PromptAppend => Setting::PromptAppend(text),
        Kind::Verify if trimmed.contains(char::is_control) => return Err(wrong()),
        Kind::Verify => Setting::Verify(trimmed.to_owned()),
        Kind::Log => {
            let filter = Some(trimmed).filter(|text| !text.is_empty()).ok_or_else(wrong)?;
            Setting::Log(filter.to_owned())
        }
        Kind::Protocol | Kind::BaseUrl | Kind::KeyVariable | Kind::Header => {
            provider_text(key, &text, context)?
        }
        Kind::Tools
        | Kind::KeyCommand
        | Kind::Tokens { .. }
        | Kind::Price
        | Kind::PrintedCalls
        | Kind::Fact { .. }
        | Kind::Parallel
        | Kind::Rules(_)
        | Kind::Mechanism
        | Kind::SelfCheck
        | Kind::Locked
        | Kind::Variables
        | Kind::CommandBound { .. }
        | Kind::Limit { .. }
        | Kind::Keep { .. } => {
            return Err(expected(key, "text"));
        }
    };
    Ok(setting)
}

/// Text about a provider.
fn provider_text(key: &Key, text: &str, context: &Context<'_>) -> Result<Setting, Refusal> {
    provider_name(context)?;
    let trimmed = text.trim();
    let wrong = || Refusal(format!("must be {}; it is ignored", key.takes()));
    Ok(match key.kind {
        Kind::Protocol => {
            if trimmed.is_empty() {
                return Err(wrong());
            }
            known_name(trimmed, "protocol", &context.known.protocols)?;
            Setting::Provider(ProviderField::Protocol, Some(trimmed.to_owned()))
        }
        Kind::BaseUrl => {
            let url = base_url(trimmed).ok_or_else(wrong)?;
            Setting::Provider(ProviderField::BaseUrl, Some(url))
        }
        Kind::KeyVariable => {
            let variable = Some(trimmed).filter(|name| !name.is_empty());
            if variable.is_some_and(|name| !names_a_variable(name)) {
                return Err(wrong());
            }
            Setting::Provider(ProviderField::KeyVariable, variable.map(str::to_owned))
        }
        _ if text.is_ascii() && !text.contains(|c: char| c.is_control()) => {
            Setting::Header(trimmed.to_owned())
        }
        _ => return Err(wrong()),
    })
}

/// A line, or a program and its arguments; an empty one is none.
fn key_command(
    key: &Key,
    value: Value,
    context: &Context<'_>,
) -> Result<Option<KeyCommand>, Refusal> {
    provider_name(context)?;
    let items = match value {
        Value::Text(line) if line.trim().is_empty() => return Ok(None),
        Value::Text(line) if !line.contains('\0') => return Ok(Some(KeyCommand::Shell(line))),
        Value::List(items) if items.len() <= MOST_ENTRIES => items,
        other => return Err(expected(key, other.describe())),
    };
    let words = items.into_iter().map(|item| match item.value {
        Value::Text(word) if !word.contains('\0') => Ok(word),
        other => Err(expected(key, &format!("a list with {}", other.describe()))),
    });
    let words = words.collect::<Result<Vec<String>, Refusal>>()?;
    match words.first() {
        None => Ok(None),
        Some(program) if program.trim().is_empty() => {
            Err(expected(key, "a list without a program"))
        }
        Some(_) => Ok(Some(KeyCommand::Program(words))),
    }
}

/// Dollars per million tokens: input, output, cache reads, cache writes.
fn price(key: &Key, value: Value, context: &Context<'_>) -> Result<Price, Refusal> {
    const MOST: f64 = 100_000.0;
    provider_name(context)?;
    let Value::List(items) = value else { return Err(expected(key, value.describe())) };
    let each = items.into_iter().map(|item| {
        let dollars = match item.value {
            Value::Decimal(dollars) => dollars,
            Value::Integer(dollars) => i32::try_from(dollars).map_or(-1.0, f64::from),
            other => return Err(expected(key, &format!("a list with {}", other.describe()))),
        };
        if !(0.0..=MOST).contains(&dollars) {
            return Err(expected(key, "a list with another number"));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        let millionths = (dollars * 1e6).round() as u64;
        Ok(millionths)
    });
    let each = each.collect::<Result<Vec<u64>, Refusal>>()?;
    let (input, output, cache_read, cache_write) = match each[..] {
        [input, output] => (input, output, input, input),
        [input, output, read] => (input, output, read, input),
        [input, output, read, write] => (input, output, read, write),
        _ => return Err(expected(key, &format!("a list of {}", each.len()))),
    };
    Ok(Price { input, output, cache_read, cache_write })
}

pub(super) fn expected(key: &Key, got: &str) -> Refusal {
    Refusal(format!("must be {}, not {got}; it is ignored", key.takes()))
}

/// The texts of a list, each once, without those that are refused.
fn list(
    key: &Key,
    value: Value,
    refusals: &mut Vec<Refusal>,
    check: impl Fn(&str) -> Result<(), Refusal>,
) -> Result<Vec<String>, Refusal> {
    let Value::List(items) = value else { return Err(expected(key, value.describe())) };
    if items.len() > MOST_ENTRIES {
        return Err(Refusal(format!("has more than {MOST_ENTRIES} entries; it is ignored")));
    }
    let mut texts: Vec<String> = Vec::with_capacity(items.len());
    for item in items {
        let Value::Text(text) = item.value else {
            let got = item.value.describe();
            refusals.push(Refusal(format!("may only list text, not {got}; that entry is ignored")));
            continue;
        };
        let text = text.trim();
        if text.is_empty() {
            refusals.push(Refusal("lists an empty text; that entry is ignored".to_owned()));
        } else if let Err(refusal) = check(text) {
            refusals.push(refusal);
        } else if !texts.iter().any(|known| known == text) {
            texts.push(text.to_owned());
        }
    }
    Ok(texts)
}

fn known_name(name: &str, what: &str, known: &[String]) -> Result<(), Refusal> {
    if known.is_empty() || known.iter().any(|known| known == name) {
        return Ok(());
    }
    let name_shown = shown(name);
    let advice = match keys::nearest_name(name, known) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    Err(Refusal(format!("names an unknown {what}, `{name_shown}`, which is ignored: {advice}")))
}

/// The name of a variable, in any letters.
fn variable(name: &str) -> Result<(), Refusal> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.len() <= 128 && name.chars().all(fits) {
        return Ok(());
    }
    Err(Refusal(format!(
        "lists `{}`, which is no name of a variable; that entry is ignored",
        shown(name)
    )))
}

/// The names of providers stand before the `/` of a model and between the dots of a key.
fn provider_name(context: &Context<'_>) -> Result<(), Refusal> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !context.name.is_empty() && context.name.chars().all(fits) {
        return Ok(());
    }
    Err(Refusal(
        "is ignored: the name of a provider may hold letters, digits, `-` and `_` only".to_owned(),
    ))
}

fn path(text: &str, context: &Context<'_>) -> Result<PathBuf, Refusal> {
    if text.is_empty() || text.contains('\0') {
        return Err(Refusal("must be a path; it is ignored".to_owned()));
    }
    if let Some(rest) = text.strip_prefix("~/") {
        return context
            .environment
            .home()
            .map(|home| home.join(rest))
            .ok_or_else(|| Refusal("is ignored: the home folder for `~` is not known".to_owned()));
    }
    let path = PathBuf::from(text);
    match &context.source.file {
        Some(file) => Ok(file.parent().map_or(path.clone(), |folder| folder.join(&path))),
        None if path.is_absolute() || context.source.layer == Layer::Flag => Ok(path),
        None => Err(Refusal(
            "is ignored: in an editor's settings a path must be absolute or begin with `~/`"
                .to_owned(),
        )),
    }
}

/// The URL without trailing slashes. A user and password would be a secret, a query would end up
/// in the midst of the URL of a call.
fn base_url(text: &str) -> Option<String> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"))?;
    let authority = rest.split('/').next().unwrap_or(rest);
    let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '?' | '#' | '\\');
    let usable = !authority.is_empty() && !authority.contains('@') && !text.contains(odd);
    usable.then(|| text.trim_end_matches('/').to_owned())
}

/// Capitals only: it tells names of variables from most keys put there by mistake.
fn names_a_variable(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.len() <= 128 && name.chars().all(fits) && !name.starts_with(|c: char| c.is_ascii_digit())
}
