//! The rule for a project's configuration: stricter than what the user set, or refused. Which keys
//! it may set at all is in `keys`.

use super::Builder;
use super::check::{Refusal, Setting};
use crate::problem::shown;
use crate::rules::RuleList;

impl Builder<'_> {
    /// What is left of a project's setting: `None` when it says what holds already or another
    /// project is stricter still, a refusal when it would loosen what the user set.
    pub(super) fn tightened(
        &self,
        path: &[String],
        setting: Setting,
    ) -> Result<Option<Setting>, Refusal> {
        let now = &self.config;
        let own = self.own.as_ref().unwrap_or(now);
        let name = path.get(1).map_or("", String::as_str);
        match setting {
            Setting::Mode(mode) if mode < own.mode => Err(Refusal(format!(
                "is ignored: a project may only make the mode stricter, and it is `{}`",
                own.mode.as_str()
            ))),
            Setting::Mode(mode) => Ok((mode > now.mode).then_some(setting)),
            Setting::Limit(field, number) => {
                let (mut own, mut now) = (own.limits, now.limits);
                let own = *field(&mut own);
                if number > own {
                    return Err(Refusal(format!(
                        "is ignored: a project may only lower it, and it is {own}"
                    )));
                }
                Ok((number < *field(&mut now)).then_some(setting))
            }
            Setting::Switch(true) if !own.mechanism_enabled(name) => {
                Err(Refusal("is ignored: a project may only switch mechanisms off".to_owned()))
            }
            Setting::Switch(on) => Ok((!on && now.mechanism_enabled(name)).then_some(setting)),
            Setting::Tools(names) => {
                if let Some(extra) = names.iter().find(|name| !own.tool_enabled(name)) {
                    return Err(Refusal(format!(
                        "is ignored: a project may only leave tools out, and `{}` is not among yours",
                        shown(extra)
                    )));
                }
                let left: Vec<String> =
                    names.into_iter().filter(|name| now.tool_enabled(name)).collect();
                Ok((now.tools.as_ref() != Some(&left)).then_some(Setting::Tools(left)))
            }
            Setting::Rules(RuleList::Ask | RuleList::Deny, _) => Ok(Some(setting)),
            // Keys that a project may not set are refused before their value is looked at.
            Setting::Model(_)
            | Setting::Rules(RuleList::Allow, _)
            | Setting::PromptFile(_)
            | Setting::PromptAppend(_)
            | Setting::Log(_)
            | Setting::Provider(..) => Ok(None),
        }
    }
}
