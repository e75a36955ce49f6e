//! The catalogue of models: what is known of each by its name and its server.
//!
//! One table, `catalogue/catalogue.json`, made by `catalogue/update` and read once, when something of it is first asked for.
//! A price belongs to a server: the same model behind another address may cost anything. Other facts hold under
//! any address where the name is one of its maker's. Whatever is not in the table is not known; nothing is guessed but by the
//! table's own guesses for families of models. The configuration overrides each fact.

use ropewalk_protocol::{CacheLife, LongPrice, ModelLimits, Price};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The table.
static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    // A test holds that it is read.
    serde_json::from_str(include_str!("../catalogue/catalogue.json")).unwrap_or_default()
});

/// A line for each provider: the environment variable of its key, and the whole name of its default.
const DEFAULTS: &str = include_str!("../catalogue/defaults.txt");

/// Providers whose names of models are other makers', so that they say nothing about a server elsewhere.
const RESELLERS: &[&str] = &["openrouter", "groq"];

#[derive(Debug, Default, Deserialize)]
struct Catalogue {
    as_of: String,
    providers: Vec<CatalogueProvider>,
    families: Vec<ModelFamily>,
}

#[derive(Debug, Deserialize)]
struct CatalogueProvider {
    name: String,
    hosts: Vec<String>,
    models: BTreeMap<String, KnownModel>,
}

/// Facts of a model, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct KnownModel {
    /// Tokens of prompt and reply together.
    pub context: Option<u32>,
    /// Tokens of the longest reply.
    pub output: Option<u32>,
    price: Option<CatalogPrices>,
    above: Option<(u64, CatalogPrices)>,
    /// True if it takes images.
    pub images: Option<bool>,
    /// How it is asked to think.
    pub thinking: Option<ThinkingForm>,
    /// The efforts that it takes, where they are known; `none` is for no thinking.
    levels: Option<Vec<String>>,
    /// The day, `YYYY-MM-DD`, after which it is served no more.
    pub ends: Option<String>,
    /// The model that its maker names in its place.
    pub instead: Option<String>,
}

/// US dollars per million tokens: input, output, cache read, cache write for five minutes, and for an hour.
type CatalogPrices = [f64; 5];

/// How a model is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingForm {
    /// It does not think, and refuses a request that speaks of it.
    None,
    /// By a number of tokens, in Anthropic's protocol.
    Budget,
    /// By an effort, in Anthropic's protocol; it refuses a number.
    Adaptive,
    /// By an effort.
    Effort,
}

/// Facts of all models with a part in their names, in lower case.
#[derive(Debug, Deserialize)]
struct ModelFamily {
    part: String,
    /// The member of a message in which thoughts go back to whoever serves the model.
    thoughts: Option<String>,
    /// True if a message with calls must have that member, even if nothing was thought.
    #[serde(default)]
    always: bool,
    images: Option<bool>,
    thinking: Option<ThinkingForm>,
}

impl KnownModel {
    /// Its context and its longest reply.
    pub fn limits(&self) -> ModelLimits {
        ModelLimits { context: self.context, max_output: self.output }
    }

    /// Its price at the server that it was looked up at, with prompts kept in a cache for so long.
    fn price(&self, cache: CacheLife) -> Option<Price> {
        let parts = |prices: CatalogPrices| {
            let [input, output, cache_read, for_minutes, for_an_hour] = prices.map(millionths);
            let is_hour = cache == CacheLife::Hour;
            (input, output, cache_read, if is_hour { for_an_hour } else { for_minutes })
        };
        let (input, output, cache_read, cache_write) = parts(self.price?);
        let above = self.above.map(|(tokens, prices)| {
            let (input, output, cache_read, cache_write) = parts(prices);
            LongPrice { tokens, input, output, cache_read, cache_write }
        });
        Some(Price { input, output, cache_read, cache_write, above })
    }
}

/// Words on the end of a model, if that is before so many days from `today` (both days `YYYY-MM-DD`); `name` is the model's
/// whole name, `instead` the one that its maker names in its place.
pub fn end_in_words(
    name: &str,
    (ends, instead): (&str, Option<&str>),
    today: &str,
    days: i64,
) -> Option<String> {
    let left = days_between(today, ends)?;
    if left > days {
        return None;
    }
    let provider = name.split_once('/').map_or("PROVIDER", |(provider, _)| provider);
    let mend = match instead {
        Some(instead) => format!("set `model = \"{provider}/{instead}\"`"),
        None => "choose another model".to_owned(),
    };
    Some(match left < 0 {
        true => format!("{name} was served until {ends}: {mend}"),
        false => format!("{name} is served until {ends}: {mend}"),
    })
}

fn millionths(dollars: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "prices are small and positive, which a test holds; the cast saturates"
    )]
    let whole = (dollars * 1_000_000.0).round() as u64;
    whole
}

/// The day, `YYYY-MM-DD`, that the catalogue is of.
pub fn catalogue_day() -> &'static str {
    &CATALOGUE.as_of
}

/// Days from one day to another, both `YYYY-MM-DD`; None unless both are.
pub fn days_between(from: &str, to: &str) -> Option<i64> {
    Some(day_number(to)? - day_number(from)?)
}

/// Models to use when none is configured: the variable of the provider's key, and the model's whole name, the first whose
/// variable is set before the others. The catalogue is not read for it.
pub fn default_models() -> Vec<(String, String)> {
    let lines = DEFAULTS.lines().filter_map(|line| line.split_once(' '));
    lines.map(|(key, model)| (key.to_owned(), model.to_owned())).collect()
}

/// Names of the models that the server of this base URL is known to have, in order.
pub fn models_at(base_url: &str) -> impl Iterator<Item = &'static str> {
    let models = provider_at(base_url).into_iter().flat_map(|provider| provider.models.keys());
    models.map(String::as_str)
}

/// The model as it is at the server of this base URL.
pub fn model_at(base_url: &str, model: &str) -> Option<&'static KnownModel> {
    row(&provider_at(base_url)?.models, model)
}

/// The model as it is at the server of this base URL; else as its maker has it.
pub fn known_model(base_url: &str, model: &str) -> Option<&'static KnownModel> {
    model_at(base_url, model).or_else(|| {
        let name = plain_name(model);
        let makers = CATALOGUE.providers.iter().filter(|it| !RESELLERS.contains(&&*it.name));
        makers.into_iter().find_map(|maker| row(&maker.models, &name))
    })
}

/// The price of a model at the server of this base URL, where it is known, with prompts kept in a cache for so long.
pub fn price_of(base_url: &str, model: &str, cache: CacheLife) -> Option<Price> {
    model_at(base_url, model)?.price(cache)
}

/// The efforts that a model takes, where they are known.
pub(crate) fn efforts(base_url: &str, model: &str) -> Option<&'static [String]> {
    known_model(base_url, model)?.levels.as_deref()
}

/// True if a model is known to take images, by itself or by its family.
pub(crate) fn sees(base_url: &str, model: &str) -> bool {
    let known = known_model(base_url, model).and_then(|known| known.images);
    known.or_else(|| family(model, |family| family.images)).unwrap_or(false)
}

/// How a model is asked to think, where that is known of itself or of its family.
pub(crate) fn thinking_form(base_url: &str, model: &str) -> Option<ThinkingForm> {
    let known = known_model(base_url, model).and_then(|known| known.thinking);
    known.or_else(|| family(model, |family| family.thinking))
}

/// The member in which a model of this name wants its thoughts back, and whether it must be there if nothing was thought.
pub(crate) fn thoughts_of(model: &str) -> Option<(&'static str, bool)> {
    family(model, |family| Some((family.thoughts.as_deref()?, family.always)))
}

fn family<T>(model: &str, fact: impl Fn(&'static ModelFamily) -> Option<T>) -> Option<T> {
    let model = model.to_ascii_lowercase();
    CATALOGUE.families.iter().filter(|family| model.contains(&family.part)).find_map(fact)
}

/// True if the server of this URL is one of the catalogue's.
pub(crate) fn is_known_server(url: &str) -> bool {
    provider_at(url).is_some()
}

fn provider_at(base_url: &str) -> Option<&'static CatalogueProvider> {
    let host = base_url.strip_prefix("https://")?.split(['/', ':', '?']).next()?;
    CATALOGUE.providers.iter().find(|provider| provider.hosts.iter().any(|at| at == host))
}

/// The row of a name; one without a date stands for the name with any.
fn row<'a>(models: &'a BTreeMap<String, KnownModel>, name: &str) -> Option<&'a KnownModel> {
    models.get(name).or_else(|| models.get(undated(name)?))
}

/// A name without the date, or `latest`, behind it: `-20260131`, `-2026-01-31`, `@20260131`.
pub(crate) fn undated(name: &str) -> Option<&str> {
    if let Some(name) = name.strip_suffix("-latest") {
        return Some(name);
    }
    let date = |len: usize| {
        let (start, date) = name.split_at_checked(name.len().checked_sub(len)?)?;
        let digits = date.bytes().filter(u8::is_ascii_digit).count();
        let start = start.strip_suffix(['-', '@'])?;
        (digits == 8 && date.bytes().all(|b| b.is_ascii_digit() || b == b'-')).then_some(start)
    };
    date(10).or_else(|| date(8))
}

/// The name that a model's maker gives it, for the name that another server gives it: `anthropic/claude-sonnet-5.5`,
/// `us.anthropic.claude-sonnet-5-5-v1:0`, `claude-sonnet-5-5@20260101`.
pub(crate) fn plain_name(model: &str) -> Cow<'_, str> {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.rsplit_once("anthropic.").map_or(name, |(_, name)| name);
    let name = name.split(':').next().unwrap_or(name);
    let is_version = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    let name = match name.rsplit_once("-v") {
        Some((name, version)) if name.starts_with("claude") && is_version(version) => name,
        _ => name,
    };
    match name.starts_with("claude") && name.contains('.') {
        true => Cow::Owned(name.replace('.', "-")),
        false => Cow::Borrowed(name),
    }
}

/// Number of a day `YYYY-MM-DD`, counted from one in the past.
pub(crate) fn day_number(day: &str) -> Option<i64> {
    let mut parts = day.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(0..=9_999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years that begin in March end with the leap day.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(365 * year + leap_days + (153 * month + 2) / 5 + day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_protocol::{Money, Spent, Usage};

    const ANTHROPIC: &str = "https://api.anthropic.com";
    const OPENAI: &str = "https://api.openai.com/v1";
    const ELSEWHERE: &str = "https://models.example.org/v1";

    fn read() -> Catalogue {
        serde_json::from_str(include_str!("../catalogue/catalogue.json")).unwrap()
    }

    #[test]
    fn the_table_is_read_and_makes_sense() {
        let catalogue = read();
        assert!(day_number(&catalogue.as_of).is_some());
        assert!(include_str!("../catalogue/catalogue.json").len() <= 120_000);
        for provider in &catalogue.providers {
            for (name, model) in &provider.models {
                let at = format!("{}/{name}", provider.name);
                assert!(model.context.is_none_or(|tokens| tokens >= 1_000), "{at}");
                assert!(model.ends.as_deref().is_none_or(|day| day_number(day).is_some()), "{at}");
                for prices in model.price.iter().chain(model.above.iter().map(|(_, it)| it)) {
                    let [input, output, read, ..] = *prices;
                    assert!(prices.iter().all(|it| (0.0..10_000.0).contains(it)), "{at}");
                    assert!(read <= input && input <= output.max(input), "{at}");
                }
            }
        }
    }

    #[test]
    fn each_provider_has_a_default_that_does_not_end() {
        let catalogue = read();
        let defaults = default_models();
        assert_eq!(defaults.len(), catalogue.providers.len());
        for (provider, (_, default)) in catalogue.providers.iter().zip(defaults) {
            let (name, model) = default.split_once('/').unwrap();
            assert_eq!(name, provider.name);
            assert!(provider.models[model].ends.is_none(), "{default} ends");
        }
    }

    #[test]
    fn limits_are_known_under_other_names_and_addresses() {
        for (base, model, context, output) in [
            (ANTHROPIC, "claude-sonnet-5-5", 1_000_000, 128_000),
            (ANTHROPIC, "claude-opus-4-20250514", 200_000, 32_000),
            (ANTHROPIC, "claude-opus-4-8", 1_000_000, 128_000),
            (OPENAI, "gpt-5-2025-08-07", 400_000, 128_000),
            ("https://openrouter.ai/api/v1", "anthropic/claude-sonnet-5.5", 1_000_000, 128_000),
            (ELSEWHERE, "anthropic/claude-sonnet-5.5", 1_000_000, 128_000),
            (ELSEWHERE, "us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000, 64_000),
            (ELSEWHERE, "claude-sonnet-4-5@20250929", 200_000, 64_000),
            (ELSEWHERE, "gpt-6.1-sol", 1_050_000, 128_000),
        ] {
            let limits = known_model(base, model).map(KnownModel::limits).unwrap_or_default();
            let expected = ModelLimits { context: Some(context), max_output: Some(output) };
            assert_eq!(limits, expected, "{model} at {base}");
        }
        for model in
            ["qwen", "", "claude", "claude-sonnet-5-5-turbo", "Claude-Sonnet 𝄞", "-2025-01-01"]
        {
            assert_eq!(known_model(ELSEWHERE, model), None, "{model}");
        }
    }

    #[test]
    fn a_price_is_of_a_model_at_its_own_server() {
        let usage =
            Usage { input: 100_000, output: 10_000, cache_read: 50_000, cache_write: 40_000 };
        let dollars = |base, model| {
            price_of(base, model, CacheLife::FiveMinutes).map(|price| price.of(usage).to_string())
        };
        for (base, model, told) in [
            (ANTHROPIC, "claude-sonnet-4-5", Some("$0.6150")),
            (ANTHROPIC, "claude-sonnet-4-5-20250929", Some("$0.6150")),
            ("https://api.openai.com:443/v1", "gpt-4o-2024-08-06", Some("$0.5125")),
            (ANTHROPIC, "claude-sonnet-4-5-turbo", None),
            (OPENAI, "gpt-4o-audio-preview", None),
            // Somebody else serves a model of that name.
            ("http://127.0.0.1:8080", "claude-sonnet-4-5", None),
            ("https://api.anthropic.com.example.org", "claude-sonnet-4-5", None),
            ("http://api.anthropic.com", "claude-sonnet-4-5", None),
            (ELSEWHERE, "claude-sonnet-4-5", None),
        ] {
            assert_eq!(dollars(base, model).as_deref(), told, "{model} at {base}");
        }
    }

    #[test]
    fn a_long_prompt_has_the_price_of_long_ones() {
        let price = price_of(ANTHROPIC, "claude-haiku-5-5", CacheLife::FiveMinutes).unwrap();
        let above = price.above.unwrap();
        let usage = |input| Usage { input, ..Usage::default() };
        assert_eq!(price.of(usage(above.tokens)), Money(above.tokens * price.input));
        let long = usage(above.tokens + 1);
        assert_eq!(price.of(long), Money((above.tokens + 1) * above.input));
    }

    #[test]
    fn what_is_not_priced_is_counted_and_not_guessed() {
        let usage = Usage { input: 100, output: 10, cache_read: 300, cache_write: 0 };
        let mut spent = Spent::of(usage, None);
        assert_eq!(spent.to_string(), "400 tokens in (75% from the cache), 10 out");
        spent += Spent::of(usage, price_of(ANTHROPIC, "claude-sonnet-4-5", CacheLife::FiveMinutes));
        assert_eq!(spent.cost(), None);
        assert_eq!(
            spent.to_string(),
            "800 tokens in (75% from the cache), 20 out, $0.0005 and 410 tokens without a known price"
        );
        let most = u64::MAX;
        let usage = Usage { input: most, output: most, cache_read: most, cache_write: most };
        let spent = Spent::of(usage, price_of(ANTHROPIC, "claude-opus-5", CacheLife::FiveMinutes));
        assert_eq!(spent.money, Money(most), "absurd counts stop at the end of the numbers");
    }

    #[test]
    fn only_what_is_known_to_see_is_shown_an_image() {
        for (model, expected) in [
            ("claude-sonnet-4-5", true),
            ("anthropic/claude-sonnet-4.5", true),
            ("claude-sonnet-9", true),
            ("GPT-5", true),
            ("qwen2.5vl:7b", true),
            ("qwen3-vl-8b", true),
            ("llama3.2-vision", true),
            ("o3", true),
            ("o3-mini", false),
            ("gpt-6.1-sol", true),
            ("gemini-3.8-flash", true),
            ("deepseek-v4-pro", false),
            ("deepseek-flash", true),
            ("qwen3-coder", false),
            ("", false),
        ] {
            assert_eq!(sees(ELSEWHERE, model), expected, "{model}");
        }
    }

    #[test]
    fn thinking_is_asked_for_in_the_form_that_the_model_takes() {
        use ThinkingForm::{Adaptive, Budget, Effort, None as Never};
        for (model, form) in [
            ("claude-sonnet-4-5-20250929", Some(Budget)),
            ("claude-sonnet-5-5", Some(Adaptive)),
            ("claude-sonnet-9", Some(Adaptive)),
            ("gpt-6.1-sol", Some(Effort)),
            ("gpt-4o", Some(Never)),
            ("gpt-4o-new", Some(Never)),
            ("qwen3", None),
        ] {
            assert_eq!(thinking_form(ELSEWHERE, model), form, "{model}");
        }
        assert_eq!(thoughts_of("moonshotai/Kimi-K3"), Some(("reasoning_content", true)));
        assert_eq!(thoughts_of("GLM-5.3"), Some(("reasoning_content", false)));
        assert_eq!(thoughts_of("gpt-6.1-sol"), None);
    }

    #[test]
    fn an_end_is_said_in_time_with_what_comes_after_it() {
        let end = ("2026-11-30", Some("new"));
        let said = |today| end_in_words("a/old", end, today, 60);
        assert_eq!(said("2026-09-30"), None);
        let coming = "a/old is served until 2026-11-30: set `model = \"a/new\"`";
        assert_eq!(said("2026-10-01").as_deref(), Some(coming));
        assert_eq!(said("2026-11-30").as_deref(), Some(coming));
        assert!(said("2026-12-01").unwrap().contains("was served until"));
        assert_eq!(said("today"), None);
        assert_eq!(days_between("2024-02-28", "2024-03-01"), Some(2));
        assert_eq!(days_between("1999-12-31", "2000-01-01"), Some(1));
        assert_eq!(days_between("2025-12-31", "2026-12-31"), Some(365));
    }
}
