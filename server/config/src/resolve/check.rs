//! Checks of a value for its key: type, range, form. They set nothing, and know no layers
//! but for where a relative path starts.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::locks;
use super::rules;

use crate::keys::{self, Key, KeyType};
use crate::lock::KeyLock;
use crate::problem::{ConfigLayer, ValueSource, shown};
use crate::rules::{RuleList, RuleText};
use crate::sources::{Environment, KnownNames};
use crate::value::Value;
use crate::{BoardAddress, KeyCommand, ModelFacts, Provider, TeamBounds};
use crate::{CommandBounds, ModelName, SessionRetention};
use ropewalk_protocol::{CacheLife, Mode, OverFork, Price, SessionLimits, Thinking};

/// Entries of one list; more are no configuration.
pub(super) const MOST_ENTRIES: usize = 1_000;

/// A checked value, ready to be set.
pub(super) enum Setting {
    Model(ModelName),
    Mode(Mode),
    Tools(Vec<String>),
    Switch(bool),
    Locks(Vec<KeyLock>),
    /// Rules to add to a list.
    Rules(RuleList, Vec<RuleText>),
    PromptFile(PathBuf),
    PromptAppend(String),
    Log(String),
    Limit(fn(&mut SessionLimits) -> &mut u32, u32),
    Keep(fn(&mut SessionRetention) -> &mut u32, u32),
    OverFork(OverFork),
    CommandBound(fn(&mut CommandBounds) -> &mut u32, u32),
    Variables(Vec<String>),
    Team(bool),
    TeamBound(fn(&mut TeamBounds) -> &mut u32, u32),
    /// `None` means the one in the state folder.
    Board(Option<BoardAddress>),
    /// `None` for a variable means that no key is sent.
    Provider(ProviderField, Option<String>),
    /// Setting of a provider that no project has a say in.
    Private(ProviderSetting),
    CaFile(PathBuf),
    /// Empty means none.
    Verify(String),
    SelfCheck(bool),
}

pub(super) enum ProviderSetting {
    KeyCommand(Option<KeyCommand>),
    Header(String),
    Query(String),
    Body(serde_json::Value),
    Tokens(fn(&mut ModelFacts) -> &mut Option<u32>, u32),
    Price(Price),
    Switch(fn(&mut Provider) -> &mut bool, bool),
    Fact(fn(&mut ModelFacts) -> &mut Option<bool>, bool),
    Thinking(Thinking),
    Cache(CacheLife),
    Parallel(u32),
}

#[derive(Clone, Copy)]
pub(super) enum ProviderField {
    Protocol,
    BaseUrl,
    KeyVariable,
}

/// Why a value, or a part of it, will not do: the words after "`key` in file:3 ".
pub(super) struct ValueRefusal(pub(super) String);

pub(super) struct CheckContext<'a> {
    /// The second segment of the key's path: the provider's or mechanism's name where it has one.
    pub(super) name: &'a str,
    /// The fourth segment: the name of a header or of a member.
    pub(super) member: &'a str,
    pub(super) source: &'a ValueSource,
    pub(super) known: &'a KnownNames,
    pub(super) environment: &'a dyn Environment,
}

/// The setting, if any of the value will do, and what will not. A list loses its bad entries only.
pub(super) fn check(
    key: &Key,
    value: Value,
    context: &CheckContext<'_>,
) -> (Option<Setting>, Vec<ValueRefusal>) {
    let mut refusals = Vec::new();
    let setting =
        match key.kind {
            KeyType::Tools => list(key, value, &mut refusals, |name| {
                known_name(name, "tool", &context.known.tools)
            })
            .map(Setting::Tools),
            KeyType::Variables => list(key, value, &mut refusals, variable).map(Setting::Variables),
            KeyType::Rules(which) => rules::read(key, value, context.source, &mut refusals)
                .map(|rules| Setting::Rules(which, rules)),
            KeyType::Locked => match value {
                Value::List(items) => {
                    locks::read(items, context.source, &mut refusals).map(Setting::Locks)
                }
                other => Err(expected(key, other.describe())),
            },
            KeyType::KeyCommand => key_command(key, value, context)
                .map(|command| Setting::Private(ProviderSetting::KeyCommand(command))),
            KeyType::Price => price(key, value, context)
                .map(|price| Setting::Private(ProviderSetting::Price(price))),
            KeyType::Body => member(key, &value, context)
                .map(|value| Setting::Private(ProviderSetting::Body(value))),
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
fn single(key: &Key, value: Value, context: &CheckContext<'_>) -> Result<Setting, ValueRefusal> {
    let known = context.known;
    match key.kind {
        KeyType::Mechanism => match value {
            Value::Bool(on) => {
                known_name(context.name, "mechanism", &known.mechanisms)?;
                Ok(Setting::Switch(on))
            }
            other => Err(expected(key, other.describe())),
        },
        KeyType::SelfCheck => match value {
            Value::Bool(on) => Ok(Setting::SelfCheck(on)),
            other => Err(expected(key, other.describe())),
        },
        KeyType::Team => match value {
            Value::Bool(on) => Ok(Setting::Team(on)),
            other => Err(expected(key, other.describe())),
        },
        KeyType::TeamBound { least, most, field } => {
            number(key, value, least..=most).map(|number| Setting::TeamBound(field, number))
        }
        KeyType::Switch { .. } | KeyType::Fact { .. } => {
            provider_name(context)?;
            let Value::Bool(on) = value else { return Err(expected(key, value.describe())) };
            Ok(Setting::Private(match key.kind {
                KeyType::Fact { field, .. } => ProviderSetting::Fact(field, on),
                KeyType::Switch { field } => ProviderSetting::Switch(field, on),
                _ => return Err(expected(key, "true or false")),
            }))
        }
        KeyType::Limit { least, most, field } => {
            number(key, value, least..=most).map(|number| Setting::Limit(field, number))
        }
        KeyType::Keep { least, most, field } => {
            number(key, value, least..=most).map(|number| Setting::Keep(field, number))
        }
        KeyType::Tokens { field } => {
            provider_name(context)?;
            let (least, most) = keys::TOKENS;
            let number = number(key, value, least..=most)?;
            Ok(Setting::Private(ProviderSetting::Tokens(field, number)))
        }
        KeyType::Parallel => {
            provider_name(context)?;
            let (least, most) = keys::PARALLEL;
            let number = number(key, value, least..=most)?;
            Ok(Setting::Private(ProviderSetting::Parallel(number)))
        }
        KeyType::CommandBound { least, most, field } => {
            number(key, value, least..=most).map(|number| Setting::CommandBound(field, number))
        }
        _ => {
            let Value::Text(text) = value else { return Err(expected(key, value.describe())) };
            self::text(key, text, context)
        }
    }
}

/// The kinds that take a number.
fn number(key: &Key, value: Value, range: RangeInclusive<u32>) -> Result<u32, ValueRefusal> {
    let Value::Integer(number) = value else { return Err(expected(key, value.describe())) };
    let fits = u32::try_from(number).ok().filter(|number| range.contains(number));
    fits.ok_or_else(|| expected(key, &number.to_string()))
}

/// The kinds that take text.
fn text(key: &Key, text: String, context: &CheckContext<'_>) -> Result<Setting, ValueRefusal> {
    let trimmed = text.trim();
    let wrong = || ValueRefusal(format!("must be {}; it is ignored", key.takes()));
    let setting = match key.kind {
        KeyType::Model => Setting::Model(ModelName::parse(trimmed).ok_or_else(wrong)?),
        KeyType::Mode => Setting::Mode(
            trimmed.parse().ok().ok_or_else(|| expected(key, &format!("`{}`", shown(trimmed))))?,
        ),
        KeyType::OverFork => {
            Setting::OverFork(one_of(key, trimmed, OverFork::ALL, OverFork::as_str)?)
        }
        KeyType::Thinking => {
            provider_name(context)?;
            let level = one_of(key, trimmed, Thinking::ALL, Thinking::as_str)?;
            Setting::Private(ProviderSetting::Thinking(level))
        }
        KeyType::Cache => {
            provider_name(context)?;
            let life = one_of(key, trimmed, CacheLife::ALL, CacheLife::as_str)?;
            Setting::Private(ProviderSetting::Cache(life))
        }
        KeyType::PromptFile => Setting::PromptFile(path(trimmed, context)?),
        KeyType::CaFile => Setting::CaFile(path(trimmed, context)?),
        KeyType::Board => Setting::Board(board(key, trimmed, context)?),
        KeyType::PromptAppend => Setting::PromptAppend(text),
        KeyType::Verify if trimmed.contains(char::is_control) => return Err(wrong()),
        KeyType::Verify => Setting::Verify(trimmed.to_owned()),
        KeyType::Log => {
            let filter = Some(trimmed).filter(|text| !text.is_empty()).ok_or_else(wrong)?;
            Setting::Log(filter.to_owned())
        }
        KeyType::Protocol
        | KeyType::BaseUrl
        | KeyType::KeyVariable
        | KeyType::Header
        | KeyType::Query => provider_text(key, &text, context)?,
        KeyType::Tools
        | KeyType::KeyCommand
        | KeyType::Tokens { .. }
        | KeyType::Price
        | KeyType::Switch { .. }
        | KeyType::Body
        | KeyType::Fact { .. }
        | KeyType::Parallel
        | KeyType::Rules(_)
        | KeyType::Mechanism
        | KeyType::SelfCheck
        | KeyType::Locked
        | KeyType::Variables
        | KeyType::CommandBound { .. }
        | KeyType::Team
        | KeyType::TeamBound { .. }
        | KeyType::Limit { .. }
        | KeyType::Keep { .. } => {
            return Err(expected(key, "text"));
        }
    };
    Ok(setting)
}

/// The choice whose word this is.
fn one_of<T: Copy>(
    key: &Key,
    text: &str,
    choices: &[T],
    word: fn(T) -> &'static str,
) -> Result<T, ValueRefusal> {
    let found = choices.iter().find(|choice| word(**choice) == text);
    found.copied().ok_or_else(|| expected(key, &format!("`{}`", shown(text))))
}

/// Text about a provider.
fn provider_text(
    key: &Key,
    text: &str,
    context: &CheckContext<'_>,
) -> Result<Setting, ValueRefusal> {
    provider_name(context)?;
    let trimmed = text.trim();
    let wrong = || ValueRefusal(format!("must be {}; it is ignored", key.takes()));
    Ok(match key.kind {
        KeyType::Protocol => {
            if trimmed.is_empty() {
                return Err(wrong());
            }
            known_name(trimmed, "protocol", &context.known.protocols)?;
            Setting::Provider(ProviderField::Protocol, Some(trimmed.to_owned()))
        }
        KeyType::BaseUrl => {
            let url = base_url(trimmed).ok_or_else(wrong)?;
            Setting::Provider(ProviderField::BaseUrl, Some(url))
        }
        KeyType::KeyVariable => {
            let variable = Some(trimmed).filter(|name| !name.is_empty());
            if variable.is_some_and(|name| !names_a_variable(name)) {
                return Err(wrong());
            }
            Setting::Provider(ProviderField::KeyVariable, variable.map(str::to_owned))
        }
        KeyType::Query => Setting::Private(ProviderSetting::Query(trimmed.to_owned())),
        _ if text.is_ascii() && !text.contains(|c: char| c.is_control()) => {
            Setting::Private(ProviderSetting::Header(trimmed.to_owned()))
        }
        _ => return Err(wrong()),
    })
}

/// Members of a request that carry the conversation, or the way it is answered.
const OWN_MEMBERS: &[&str] = &["input", "instructions", "messages", "stream", "system", "tools"];

/// A member of a request.
fn member(
    key: &Key,
    value: &Value,
    context: &CheckContext<'_>,
) -> Result<serde_json::Value, ValueRefusal> {
    provider_name(context)?;
    if OWN_MEMBERS.contains(&context.member) {
        return Err(ValueRefusal("is ignored: Ropewalk itself writes that member".to_owned()));
    }
    value
        .to_json()
        .ok_or_else(|| expected(key, "a date, or something too large or nested too deep"))
}

/// A line, or a program and its arguments; an empty one is none.
fn key_command(
    key: &Key,
    value: Value,
    context: &CheckContext<'_>,
) -> Result<Option<KeyCommand>, ValueRefusal> {
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
    let words = words.collect::<Result<Vec<String>, ValueRefusal>>()?;
    match words.first() {
        None => Ok(None),
        Some(program) if program.trim().is_empty() => {
            Err(expected(key, "a list without a program"))
        }
        Some(_) => Ok(Some(KeyCommand::Program(words))),
    }
}

/// Dollars per million tokens: input, output, cache reads, cache writes.
fn price(key: &Key, value: Value, context: &CheckContext<'_>) -> Result<Price, ValueRefusal> {
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
    let each = each.collect::<Result<Vec<u64>, ValueRefusal>>()?;
    let (input, output, cache_read, cache_write) = match each[..] {
        [input, output] => (input, output, input, input),
        [input, output, read] => (input, output, read, input),
        [input, output, read, write] => (input, output, read, write),
        _ => return Err(expected(key, &format!("a list of {}", each.len()))),
    };
    Ok(Price { input, output, cache_read, cache_write, above: None })
}

pub(super) fn expected(key: &Key, got: &str) -> ValueRefusal {
    ValueRefusal(format!("must be {}, not {got}; it is ignored", key.takes()))
}

/// The texts of a list, each once, without those that are refused.
fn list(
    key: &Key,
    value: Value,
    refusals: &mut Vec<ValueRefusal>,
    check: impl Fn(&str) -> Result<(), ValueRefusal>,
) -> Result<Vec<String>, ValueRefusal> {
    let Value::List(items) = value else { return Err(expected(key, value.describe())) };
    if items.len() > MOST_ENTRIES {
        return Err(ValueRefusal(format!("has more than {MOST_ENTRIES} entries; it is ignored")));
    }
    let mut texts: Vec<String> = Vec::with_capacity(items.len());
    for item in items {
        let Value::Text(text) = item.value else {
            let got = item.value.describe();
            refusals.push(ValueRefusal(format!(
                "may only list text, not {got}; that entry is ignored"
            )));
            continue;
        };
        let text = text.trim();
        if text.is_empty() {
            refusals.push(ValueRefusal("lists an empty text; that entry is ignored".to_owned()));
        } else if let Err(refusal) = check(text) {
            refusals.push(refusal);
        } else if !texts.iter().any(|known| known == text) {
            texts.push(text.to_owned());
        }
    }
    Ok(texts)
}

fn known_name(name: &str, what: &str, known: &[String]) -> Result<(), ValueRefusal> {
    if known.is_empty() || known.iter().any(|known| known == name) {
        return Ok(());
    }
    let name_shown = shown(name);
    let advice = match keys::nearest_name(name, known) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    Err(ValueRefusal(format!(
        "names an unknown {what}, `{name_shown}`, which is ignored: {advice}"
    )))
}

/// The name of a variable, in any letters.
fn variable(name: &str) -> Result<(), ValueRefusal> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.len() <= 128 && name.chars().all(fits) {
        return Ok(());
    }
    Err(ValueRefusal(format!(
        "lists `{}`, which is not the name of a variable; that entry is ignored",
        shown(name)
    )))
}

/// The names of providers stand before the `/` of a model and between the dots of a key.
fn provider_name(context: &CheckContext<'_>) -> Result<(), ValueRefusal> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !context.name.is_empty() && context.name.chars().all(fits) {
        return Ok(());
    }
    Err(ValueRefusal(
        "is ignored: the name of a provider may hold letters, digits, `-` and `_` only".to_owned(),
    ))
}

fn path(text: &str, context: &CheckContext<'_>) -> Result<PathBuf, ValueRefusal> {
    if text.is_empty() || text.contains('\0') {
        return Err(ValueRefusal("must be a path; it is ignored".to_owned()));
    }
    if let Some(rest) = text.strip_prefix("~/") {
        return context.environment.home().map(|home| home.join(rest)).ok_or_else(|| {
            ValueRefusal("is ignored: the home folder for `~` is not known".to_owned())
        });
    }
    let path = PathBuf::from(text);
    match &context.source.file {
        Some(file) => Ok(file.parent().map_or(path.clone(), |folder| folder.join(&path))),
        None if path.is_absolute() || context.source.layer == ConfigLayer::Flag => Ok(path),
        None => Err(ValueRefusal(
            "is ignored: in an editor's settings a path must be absolute or begin with `~/`"
                .to_owned(),
        )),
    }
}

/// A path or a URL, which is in no sentence: it may hold a password. An empty one is none.
fn board(
    key: &Key,
    text: &str,
    context: &CheckContext<'_>,
) -> Result<Option<BoardAddress>, ValueRefusal> {
    let wrong = || ValueRefusal(format!("must be {}; it is ignored", key.takes()));
    if text.is_empty() {
        return Ok(None);
    }
    if text.contains("://") {
        return BoardAddress::of_url(text).map(Some).ok_or_else(wrong);
    }
    // Only a file is a place to start from; what looks like an account is a URL that lost its beginning.
    let is_relative = !text.starts_with("~/") && !Path::new(text).is_absolute();
    if is_relative && (context.source.file.is_none() || text.contains('@')) {
        return Err(wrong());
    }
    BoardAddress::of_file(path(text, context)?).map(Some).ok_or_else(wrong)
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
