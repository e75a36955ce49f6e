//! Wishes of a project: in words for the user, and in one canonical form for the hash. It decides
//! nothing.

use std::collections::BTreeSet;
use std::path::Path;

use super::check::{ProviderField, Setting, ValueRefusal};
use crate::problem::plainly;

/// The characters of a value that are shown. Only text for the model may be longer, and is cut;
/// anywhere else what is not seen could be what matters.
const MOST_SHOWN: usize = 300;

/// One line per thing that the setting would enable.
pub(super) fn lines(
    path: &[String],
    setting: &Setting,
    root: &Path,
) -> Result<Vec<String>, ValueRefusal> {
    let name = path.get(1).map_or("", String::as_str);
    let key = path.join(".");
    let one = |words: String| Ok(vec![words]);
    match setting {
        Setting::Model(model) => one(format!("use the model {}", whole(&model.to_string())?)),
        Setting::Mode(mode) => one(format!("loosen `mode` to `{}`", mode.as_str())),
        Setting::Limit(_, number) | Setting::TeamBound(_, number) => {
            one(format!("raise `{key}` to {number}"))
        }
        Setting::Switch(_) => one(format!("switch on the mechanism {}", whole(name)?)),
        Setting::Team(_) => one("switch on teams".to_owned()),
        Setting::Tools(names) if names.is_empty() => one("offer no tools".to_owned()),
        Setting::Tools(names) => {
            names.iter().map(|name| Ok(format!("offer the tool {}", whole(name)?))).collect()
        }
        Setting::Rules(_, rules) => rules
            .iter()
            .map(|rule| Ok(format!("run without asking what fits {}", whole(&rule.rule)?)))
            .collect(),
        Setting::PromptFile(file) => {
            let file = whole(&file.strip_prefix(root).unwrap_or(file).to_string_lossy())?;
            one(format!("replace the instructions to the model by its file {file}"))
        }
        Setting::PromptAppend(text) => {
            let more = text.chars().count().saturating_sub(MOST_SHOWN);
            let cut = match more {
                0 => String::new(),
                more => format!(" and {more} more characters"),
            };
            one(format!("tell the model {}{cut}", quoted(text)))
        }
        Setting::Verify(command) if command.is_empty() => {
            one("run no command after changes".to_owned())
        }
        Setting::Verify(command) => {
            one(format!("run after the agent's changes, unasked, {}", whole(command)?))
        }
        Setting::SelfCheck(on) => {
            let words = if *on { "ask the model" } else { "no longer ask the model" };
            one(format!("{words} before each turn ends whether all is done"))
        }
        Setting::Log(filter) => one(format!("log with the filter {}", whole(filter)?)),
        Setting::Provider(field, text) => one(of_provider(name, *field, text.as_deref())?),
        // A project has no say in these; none comes this far.
        Setting::Locks(_)
        | Setting::Private(_)
        | Setting::CaFile(_)
        | Setting::Keep(..)
        | Setting::OverFork(_)
        | Setting::CommandBound(..)
        | Setting::Variables(_)
        | Setting::Board(_) => Ok(Vec::new()),
    }
}

fn of_provider(
    name: &str,
    field: ProviderField,
    text: Option<&str>,
) -> Result<String, ValueRefusal> {
    let provider = whole(name)?;
    let Some(text) = text else {
        return Ok(format!("send no key to the provider {provider}"));
    };
    let text = whole(text)?;
    Ok(match field {
        ProviderField::Protocol => {
            format!("speak the protocol {text} with the provider {provider}")
        }
        ProviderField::BaseUrl => format!(
            "send what goes to the provider {provider}, your key and your code included, to {text}"
        ),
        ProviderField::KeyVariable => {
            format!("send the variable {text} as the key for the provider {provider}")
        }
    })
}

/// The key and the value on one line. Two settings have the same one when they do the same.
pub(super) fn canonical(path: &[String], setting: &Setting, root: &Path) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let set = |texts: BTreeSet<&str>| serde_json::Value::from_iter(texts).to_string();
    let value = match setting {
        Setting::Model(model) => text(&model.to_string()),
        Setting::Mode(mode) => text(mode.as_str()),
        Setting::Limit(_, number) | Setting::TeamBound(_, number) => number.to_string(),
        Setting::Switch(on) | Setting::Team(on) => on.to_string(),
        Setting::Tools(names) => set(names.iter().map(String::as_str).collect()),
        Setting::Rules(_, rules) => set(rules.iter().map(|rule| &*rule.rule).collect()),
        Setting::PromptFile(file) => {
            text(&file.strip_prefix(root).unwrap_or(file).to_string_lossy())
        }
        Setting::PromptAppend(words) | Setting::Verify(words) | Setting::Log(words) => text(words),
        Setting::SelfCheck(on) => on.to_string(),
        Setting::Provider(_, words) => text(words.as_deref().unwrap_or_default()),
        Setting::Locks(_)
        | Setting::Private(_)
        | Setting::CaFile(_)
        | Setting::Keep(..)
        | Setting::OverFork(_)
        | Setting::CommandBound(..)
        | Setting::Variables(_)
        | Setting::Board(_) => String::new(),
    };
    format!("{} = {value}", text(&path.join(".")))
}

/// A value for a question, all of it.
fn whole(text: &str) -> Result<String, ValueRefusal> {
    match text.chars().nth(MOST_SHOWN) {
        None => Ok(quoted(text)),
        Some(_) => Err(ValueRefusal(format!(
            "is ignored: it holds a value longer than the {MOST_SHOWN} characters that can be shown before it is trusted"
        ))),
    }
}

/// A value in back quotes, which it can't close.
fn quoted(text: &str) -> String {
    format!("`{}`", plainly(text, MOST_SHOWN))
}
