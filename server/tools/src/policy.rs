//! Policy: may this call run? A pure function of the call, where its paths lead, the mode and the rules.
//!
//! Deny comes first, then what must be asked, then what is allowed. It decides nothing about containment:
//! paths outside the roots are refused where they are resolved. Rules about paths hold for the tools that are
//! given paths, not for what commands read; a rule for those is one about the command.

mod access;
mod command;
mod git_settings;
mod kind;
mod path;
mod pattern;
mod rule;
mod rules;
mod secrets;
mod trusted;
mod with;

use crate::danger::{dangerous, is_suspect};
use crate::runner::CommandMode;
use crate::tool::{CallSummary, Effect};
pub use access::Access;
use command::CommandLine;
pub use path::{NamedPath, named_paths};
use ropewalk_protocol::Mode;
pub use rule::Rule;
use rule::{CallFacts, Hit};
pub use rules::{List, Rules, WrittenRule};
pub use secrets::{is_sensitive, without_keys};
pub use trusted::{TrustedFiles, TrustedReader, trusted_below, trusted_by};

/// Answer of policy to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Run it.
    Allow,
    /// Ask the user first; why.
    Ask(String),
    /// Don't; the result for the model.
    Deny(String),
}

impl Decision {
    /// The one word for it: `allow`, `ask` or `deny`.
    pub fn word(&self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Ask(_) => "ask",
            Decision::Deny(_) => "deny",
        }
    }
}

/// Source of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecisionSource {
    /// A rule of a list, or those by which each simple command passed.
    Rule(List, String),
    /// A rule that the user granted for the session.
    Session(String),
    /// The mode.
    Mode(Mode),
    /// A danger of the command.
    Danger,
    /// A name in the call that may hold secrets.
    Secrets,
    /// A command that is not plain.
    Syntax,
    /// How far the command reaches: nothing beyond the fork, or more.
    Access,
    /// The effect of the tool: what looks or proposes runs, what executes is asked for.
    Effect,
}

impl std::fmt::Display for DecisionSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DecisionSource::Rule(list, rule) => write!(f, "{list} {rule}"),
            DecisionSource::Session(rule) => write!(f, "session {rule}"),
            DecisionSource::Mode(mode) => write!(f, "mode {mode}"),
            DecisionSource::Danger => f.write_str("danger"),
            DecisionSource::Secrets => f.write_str("secrets"),
            DecisionSource::Syntax => f.write_str("syntax"),
            DecisionSource::Access => f.write_str("reach"),
            DecisionSource::Effect => f.write_str("effect"),
        }
    }
}

/// A rule that an approval may take, with what it lets run later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantOffer {
    /// The rule.
    pub rule: Rule,
    /// True if it can be kept for good. Not where a rule of the user's own asks: that comes before what is
    /// allowed.
    pub always: bool,
}

/// A decision and what it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// May it run?
    pub decision: Decision,
    /// Source of a decision.
    pub by: DecisionSource,
    /// The name in the call that may hold secrets, whatever was decided.
    pub secret: Option<String>,
    /// When it asks: the rule that would let the like of it run.
    pub offer: Option<GrantOffer>,
}

/// Decides on one call. `paths` is where its paths lead ([`named_paths`]), `reach` how far a command would reach
/// ([`Access::of`]), `granted` what the user has allowed for the session.
///
/// A command over the fork that wants nothing beyond it runs unasked: what it changes is reviewed. A rule or a grant
/// lets it have of what is beyond only what it says, and whatever asks, the reason has all that the command wants.
///
/// A call that may touch secrets is asked about unless a rule names them; so is a command that is not plain, unless a
/// rule allows it as it is or allows every command and no other rule could be about it. An ask rule is answered
/// for the session by the very call alone.
pub fn decide<'a>(
    call: impl Into<CallSummary<'a>>,
    paths: &[NamedPath],
    reach: &Access,
    mode: Mode,
    rules: &Rules,
    granted: &[Rule],
) -> Ruling {
    let call = call.into();
    let command = call.subject.command.as_deref();
    let secret = command
        .and_then(secrets::in_command)
        .or_else(|| call.subject.paths.iter().find(|path| is_sensitive(path)).cloned())
        .or_else(|| was_sensitive(paths));
    let seen = CallFacts {
        tool: call.tool,
        title: &call.subject.title,
        command: command.map(CommandLine::new),
        paths,
    };
    let giving = |rules| <[Rule]>::iter(rules).filter(|rule| rule.gives(reach)).collect();
    let case = PolicyInput {
        call,
        seen: &seen,
        reach,
        mode,
        rules,
        allow: giving(&rules.allow),
        granted: giving(granted),
        secret: secret.as_deref(),
    };
    let (decision, by) = case.forbidden().or_else(|| case.asked()).unwrap_or_else(|| case.passed());
    let decision = match (decision, &by) {
        (Decision::Ask(why), DecisionSource::Access | DecisionSource::Effect) => Decision::Ask(why),
        (Decision::Ask(why), _) => Decision::Ask(case.with_reach(why)),
        (decided, _) => decided,
    };
    let offer = match &decision {
        Decision::Ask(_) => case.offer(&by),
        Decision::Allow | Decision::Deny(_) => None,
    };
    Ruling { decision, by, secret, offer }
}

/// A file that was moved from where it may hold secrets, with the name it had there.
fn was_sensitive(paths: &[NamedPath]) -> Option<String> {
    paths.iter().find_map(|path| {
        let former = path.former().find(|name| is_sensitive(name))?;
        Some(format!("{}, which was {former} before,", path.as_written()))
    })
}

/// One call and all that is known when it is decided on.
struct PolicyInput<'a> {
    call: CallSummary<'a>,
    seen: &'a CallFacts<'a>,
    reach: &'a Access,
    mode: Mode,
    rules: &'a Rules,
    /// The allow rules that give it all it reaches.
    allow: Vec<&'a Rule>,
    /// Granted rules that do.
    granted: Vec<&'a Rule>,
    secret: Option<&'a str>,
}

impl<'a> PolicyInput<'a> {
    /// All that lets calls like it run.
    fn allowed(&self) -> impl Iterator<Item = &'a Rule> + Clone {
        self.allow.iter().chain(&self.granted).copied()
    }

    /// Why it is asked for, with what it wants beyond the fork besides.
    fn with_reach(&self, why: String) -> String {
        match self.reach.why_ask().filter(|_| self.reach.mode == CommandMode::OverFork) {
            Some(reaches) => format!("{why}, and {reaches}"),
            None => why,
        }
    }

    fn danger(&self) -> Option<crate::danger::Danger> {
        self.seen.command.as_ref().and_then(|command| dangerous(command.text))
    }

    /// The decision on a call that never runs.
    fn forbidden(&self) -> Option<(Decision, DecisionSource)> {
        let deny = |text: String, by| Some((Decision::Deny(text), by));
        if self.mode == Mode::Plan && self.call.effect == Effect::Write {
            let text = "Error: Refused in plan mode: nothing is changed. Describe the change as a step of the plan instead.";
            return deny(text.to_owned(), DecisionSource::Mode(self.mode));
        }
        if let Some(danger) = self.danger().filter(|danger| danger.denies()) {
            return deny(danger.result_text(), DecisionSource::Danger);
        }
        if let Some((rule, Hit::Yes)) = rules::first_hit(&self.rules.deny, self.seen) {
            let text = format!(
                "Error: Refused: the user's rules forbid it ({rule}). Don't look for a way around it; go on without it, or tell the user what it is needed for."
            );
            return deny(text, DecisionSource::Rule(List::Deny, rule.to_string()));
        }
        let is_command = self.seen.command.is_some();
        if self.mode == Mode::Plan && self.call.effect == Effect::Execute && !is_command {
            let text = "Error: Refused in plan mode: this call may change what lies outside. Describe it as a step of the plan instead.";
            return deny(text.to_owned(), DecisionSource::Mode(self.mode));
        }
        None
    }

    /// The decision on a call that is asked for though something may allow it.
    fn asked(&self) -> Option<(Decision, DecisionSource)> {
        let exactly = |rules: &[&Rule]| rules.iter().any(|rule| rule.is_exactly(self.seen));
        let ask = |why: String, by| Some((Decision::Ask(why), by));
        if self.mode == Mode::Plan
            && self.seen.command.is_some()
            && !exactly(&self.granted)
            && let Some(why) = self.reach.why_ask()
        {
            return ask(format!("the mode is plan, and {why}"), DecisionSource::Mode(self.mode));
        }
        let by_rule = rules::first_hit(&self.rules.ask, self.seen);
        if let Some((rule, Hit::Yes)) = by_rule
            && !exactly(&self.granted)
        {
            let why = format!("the rule {rule} asks about it");
            return ask(why, DecisionSource::Rule(List::Ask, rule.to_string()));
        }
        if let Some(name) = self.secret
            && !exactly(&self.granted)
            && !exactly(&self.allow)
            && rules::passing(self.allowed().filter(|rule| rule.names_secrets()), self.seen)
                .is_none()
        {
            return ask(format!("{name} may hold secrets"), DecisionSource::Secrets);
        }
        if self.seen.command.as_ref().is_some_and(|command| is_suspect(command.text))
            && !exactly(&self.granted)
            && !exactly(&self.allow)
        {
            let why =
                "it may be dangerous, and what it runs isn't known before it starts".to_owned();
            return ask(why, DecisionSource::Danger);
        }
        let perhaps =
            rules::first_hit(&self.rules.deny, self.seen).map(|(rule, _)| (List::Deny, rule));
        if let Some((list, rule)) = perhaps.or(by_rule.map(|(rule, _)| (List::Ask, rule)))
            && !exactly(&self.granted)
            && !exactly(&self.allow)
        {
            let why = format!(
                "what it runs isn't known before it starts, and the rule {rule} may be about it"
            );
            return ask(why, DecisionSource::Rule(list, rule.to_string()));
        }
        None
    }

    /// The decision by effect, rules and reach.
    fn passed(&self) -> (Decision, DecisionSource) {
        let names = |rules: Vec<&Rule>| {
            rules.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
        };
        let asks = self.call.subject.asks.as_deref();
        if self.call.effect != Effect::Execute && asks.is_none() {
            return (Decision::Allow, DecisionSource::Effect);
        }
        if let Some(by) = rules::passing(self.allow.iter().copied(), self.seen) {
            return (Decision::Allow, DecisionSource::Rule(List::Allow, names(by)));
        }
        if let Some(by) = rules::passing(self.allowed(), self.seen) {
            return (Decision::Allow, DecisionSource::Session(names(by)));
        }
        if self.seen.command.is_none() {
            let why = asks.unwrap_or("it may change what lies outside of this project");
            return (Decision::Ask(why.to_owned()), DecisionSource::Effect);
        }
        let Some(why) = self.reach.why_ask() else {
            // Over the fork it can do no harm, whatever it is.
            return (Decision::Allow, DecisionSource::Access);
        };
        match self.danger() {
            Some(unknown) if self.reach.mode == CommandMode::OverFork => {
                (Decision::Ask(unknown.to_string()), DecisionSource::Syntax)
            }
            Some(unknown) => {
                (Decision::Ask(format!("{why}; and {unknown}")), DecisionSource::Syntax)
            }
            None if self.reach.mode == CommandMode::InPlace => {
                (Decision::Ask(why), DecisionSource::Effect)
            }
            None => (Decision::Ask(why), DecisionSource::Access),
        }
    }

    /// The rule that an approval may take: for this very call where a rule or a secret asks, else for its kind.
    fn offer(&self, by: &DecisionSource) -> Option<GrantOffer> {
        let by_rule = matches!(by, DecisionSource::Rule(..));
        // More of the same kind would be any other path outside.
        let rule = if by_rule || self.secret.is_some() || !self.reach.outside.is_empty() {
            Rule::exactly(self.seen)
        } else {
            Rule::generalised(self.seen)
        }?;
        let rule = if self.seen.command.is_some() { rule.reaching(self.reach) } else { rule };
        let text = rule.to_string();
        // A name that no text can hold would come back as another.
        text.parse().is_ok_and(|read: Rule| read == rule).then_some(())?;
        let can_be_kept = text.len() <= MOST_KEPT && !text.chars().any(char::is_control);
        Some(GrantOffer {
            rule,
            always: can_be_kept && !matches!(by, DecisionSource::Rule(List::Ask, _)),
        })
    }
}

/// The longest rule that is kept for good, in bytes: a list of them is to be read by people, one a line.
const MOST_KEPT: usize = 1_000;
