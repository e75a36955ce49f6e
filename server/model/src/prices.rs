//! Prices of tokens: a table with its date, and sums of what was used.
//!
//! A price belongs to a server, not to a name: the same model behind another address may cost anything, so a row
//! holds for its host alone. What is not in the table, and in no configuration, has no price here: its tokens are
//! counted, and nothing is guessed. The figures of models that are still served were compared at [`PRICES_AS_OF`] with
//! LiteLLM's table of prices. The configuration overrides each of them.

use ropewalk_protocol::Price;

/// The month that the table is of.
pub const PRICES_AS_OF: &str = "November 2026";

/// A row of the table: a host, a name, and thousandths of a dollar per million tokens: input, output, cache read,
/// cache write.
type Row = (&'static str, &'static str, [u64; 4]);

/// See the module. A name stands for itself, and for itself with a date or `latest` behind it; no name of the table
/// is the start of another's dated one, but for those listed before it.
const TABLE: &[Row] = &[
    ("api.anthropic.com", "claude-opus-4-5", [5_000, 25_000, 500, 6_250]),
    ("api.anthropic.com", "claude-opus-4-1", [15_000, 75_000, 1_500, 18_750]),
    ("api.anthropic.com", "claude-opus-4-0", [15_000, 75_000, 1_500, 18_750]),
    ("api.anthropic.com", "claude-opus-4", [15_000, 75_000, 1_500, 18_750]),
    ("api.anthropic.com", "claude-sonnet-5-5", [2_000, 10_000, 100, 2_500]),
    ("api.anthropic.com", "claude-sonnet-4-5", [3_000, 15_000, 300, 3_750]),
    ("api.anthropic.com", "claude-sonnet-4-0", [3_000, 15_000, 300, 3_750]),
    ("api.anthropic.com", "claude-sonnet-4", [3_000, 15_000, 300, 3_750]),
    ("api.anthropic.com", "claude-haiku-4-5", [1_000, 5_000, 100, 1_250]),
    ("api.anthropic.com", "claude-3-7-sonnet", [3_000, 15_000, 300, 3_750]),
    ("api.anthropic.com", "claude-3-5-sonnet", [3_000, 15_000, 300, 3_750]),
    ("api.anthropic.com", "claude-3-5-haiku", [800, 4_000, 80, 1_000]),
    ("api.anthropic.com", "claude-3-haiku", [250, 1_250, 30, 300]),
    ("api.openai.com", "gpt-6.1-sol", [2_000, 10_000, 100, 2_500]),
    ("api.openai.com", "gpt-5.1", [1_250, 10_000, 125, 1_250]),
    ("api.openai.com", "gpt-5", [1_250, 10_000, 125, 1_250]),
    ("api.openai.com", "gpt-5-codex", [1_250, 10_000, 125, 1_250]),
    ("api.openai.com", "gpt-5-mini", [250, 2_000, 25, 250]),
    ("api.openai.com", "gpt-5-nano", [50, 400, 5, 50]),
    ("api.openai.com", "gpt-4.1", [2_000, 8_000, 500, 2_000]),
    ("api.openai.com", "gpt-4.1-mini", [400, 1_600, 100, 400]),
    ("api.openai.com", "gpt-4.1-nano", [100, 400, 25, 100]),
    ("api.openai.com", "gpt-4o-2024-05-13", [5_000, 15_000, 5_000, 5_000]),
    ("api.openai.com", "gpt-4o", [2_500, 10_000, 1_250, 2_500]),
    ("api.openai.com", "gpt-4o-mini", [150, 600, 75, 150]),
    ("api.openai.com", "o3", [2_000, 8_000, 500, 2_000]),
    ("api.openai.com", "o4-mini", [1_100, 4_400, 275, 1_100]),
    ("api.openai.com", "o3-mini", [1_100, 4_400, 550, 1_100]),
    ("api.deepseek.com", "deepseek-v4-flash", [300, 1_200, 6, 300]),
    ("generativelanguage.googleapis.com", "gemini-3.8-flash", [750, 3_750, 75, 750]),
    ("api.deepseek.com", "deepseek-chat", [280, 420, 28, 280]),
    ("api.deepseek.com", "deepseek-reasoner", [280, 420, 28, 280]),
];

/// The price of a model at the server of this base URL, where the table has it. The name is the one the server
/// knows.
pub fn price_of(base_url: &str, model: &str) -> Option<Price> {
    let host = base_url.strip_prefix("https://")?.split(['/', ':', '?']).next()?;
    let row = TABLE.iter().find(|(at, name, _)| *at == host && is_called(model, name))?;
    let [input, output, cache_read, cache_write] = row.2.map(|price| price.saturating_mul(1_000));
    Some(Price { input, output, cache_read, cache_write })
}

/// True if a model is the one of this name, perhaps as it was at some date.
fn is_called(model: &str, name: &str) -> bool {
    let Some(rest) = model.strip_prefix(name) else { return false };
    let Some(version) = rest.strip_prefix('-') else { return rest.is_empty() };
    let is_date = version.len() >= 8 && version.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    is_date || version == "latest"
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_protocol::{Money, Spent, Usage};

    const ANTHROPIC: &str = "https://api.anthropic.com";

    fn dollars(base_url: &str, model: &str, usage: Usage) -> Option<String> {
        price_of(base_url, model).map(|price| price.of(usage).to_string())
    }

    #[test]
    fn a_price_is_of_a_model_at_its_own_server() {
        let usage = Usage {
            input: 1_000_000,
            output: 100_000,
            cache_read: 2_000_000,
            cache_write: 400_000,
        };
        for (base, model, told) in [
            (ANTHROPIC, "claude-sonnet-4-5", Some("$6.60")),
            (ANTHROPIC, "claude-sonnet-4-5-20250929", Some("$6.60")),
            (ANTHROPIC, "claude-3-5-haiku-latest", Some("$1.76")),
            ("https://api.openai.com/v1", "gpt-4o-2024-08-06", Some("$7.00")),
            ("https://api.openai.com:443/v1", "gpt-4o-2024-05-13", Some("$18.50")),
            // A name near a known one is another model.
            (ANTHROPIC, "claude-opus-4-9", None),
            (ANTHROPIC, "claude-sonnet-4-5-turbo", None),
            ("https://api.openai.com/v1", "gpt-4o-audio-preview", None),
            (ANTHROPIC, "", None),
            (ANTHROPIC, "Claude-Sonnet-4-5 𝄞", None),
            // Somebody else serves a model of that name.
            ("http://127.0.0.1:8080", "claude-sonnet-4-5", None),
            ("https://api.anthropic.com.example.org", "claude-sonnet-4-5", None),
            ("http://api.anthropic.com", "claude-sonnet-4-5", None),
        ] {
            assert_eq!(dollars(base, model, usage).as_deref(), told, "{model} at {base}");
        }
    }

    #[test]
    fn no_row_is_hidden_by_one_before_it() {
        for (at, (host, name, prices)) in TABLE.iter().enumerate() {
            let first = TABLE.iter().position(|(h, n, _)| h == host && is_called(name, n));
            assert_eq!(first, Some(at), "{name}");
            assert!(prices.iter().all(|price| *price > 0), "{name} is free");
            assert!(prices[2] <= prices[0] && prices[0] <= prices[1], "{name}");
        }
    }

    #[test]
    fn what_is_not_priced_is_counted_and_not_guessed() {
        let usage = Usage { input: 100, output: 10, cache_read: 300, cache_write: 0 };
        let mut spent = Spent::of(usage, None);
        assert_eq!(spent.to_string(), "400 tokens in (75% from the cache), 10 out");
        spent += Spent::of(usage, price_of(ANTHROPIC, "claude-sonnet-4-5"));
        assert_eq!(spent.cost(), None);
        assert_eq!(
            spent.to_string(),
            "800 tokens in (75% from the cache), 20 out, $0.0005 and 410 tokens without a known price"
        );
        assert_eq!(Spent::default().to_string(), "0 tokens in, 0 out");
    }

    #[test]
    fn absurd_counts_stop_at_the_end_of_the_numbers() {
        let most = u64::MAX;
        let usage = Usage { input: most, output: most, cache_read: most, cache_write: most };
        let mut spent = Spent::of(usage, price_of(ANTHROPIC, "claude-opus-4-1"));
        spent += spent;
        assert_eq!(spent.money, Money(most));
        assert_eq!(usage.total(), most);
        assert_eq!(spent.to_string().matches("$18446744.07").count(), 1);
    }

    #[test]
    fn a_sum_is_read_back_as_it_was_and_an_older_one_too() {
        let usage = Usage { input: 7, output: 3, cache_read: 1, cache_write: 2 };
        let spent = Spent::of(usage, price_of(ANTHROPIC, "claude-haiku-4-5"));
        let json = serde_json::to_string(&spent).unwrap();
        assert_eq!(serde_json::from_str::<Spent>(&json).unwrap(), spent);
        let older = r#"{"input":7,"output":3,"cache_read":1,"cache_write":2}"#;
        assert_eq!(serde_json::from_str::<Spent>(older).unwrap().usage, usage);
    }
}
