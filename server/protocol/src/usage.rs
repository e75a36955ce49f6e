//! Tokens that were used, and what they cost: counts of servers, exact sums, and both as programs and people read them.

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, ops::AddAssign};

/// Tokens of one exchange, as the server counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Usage {
    /// Prompt tokens neither read from nor written to the cache.
    pub input: u64,
    /// Tokens the model wrote, thinking included.
    pub output: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
    /// Prompt tokens written to the cache.
    pub cache_write: u64,
}

impl Usage {
    /// How long the whole prompt was, in tokens.
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Prompt and reply together.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output)
    }

    /// How much of the prompt came from the cache, in percent, rounded down; none where the cache was neither read
    /// nor written: such a server has none, or does not say.
    pub fn cache_hit_percent(&self) -> Option<u64> {
        let prompt = u128::from(self.prompt());
        let is_cached = self.cache_read > 0 || self.cache_write > 0;
        let percent = (u128::from(self.cache_read) * 100).checked_div(prompt)?;
        is_cached.then(|| u64::try_from(percent).unwrap_or(100))
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
    }
}

/// An amount of money in millionths of a millionth of a US dollar: fine enough for one token of any model, so that
/// sums are exact. It ends at 18 million dollars, where sums stay.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(transparent)]
pub struct Money(pub u64);

impl Money {
    /// This many cents.
    pub const fn from_cents(cents: u64) -> Money {
        Money(cents.saturating_mul(10_000_000_000))
    }

    /// In dollars, for programs that read them; not exact.
    pub fn dollars(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "for reading, not for sums")]
        let dollars = self.0 as f64 / 1e12;
        dollars
    }
}

impl fmt::Display for Money {
    /// `$1.23`, and smaller amounts with as many digits as they need to say something: `$0.0042`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&in_dollars(self.dollars()))
    }
}

/// Tokens used, and their cost as far as prices are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Spent {
    /// The tokens.
    #[serde(flatten)]
    pub usage: Usage,
    /// The cost of those with a price.
    #[serde(default)]
    pub money: Money,
    /// How many of them have no price.
    #[serde(default)]
    pub unpriced: u64,
}

impl Spent {
    /// Tokens of one exchange.
    pub fn of(usage: Usage, price: Option<Price>) -> Spent {
        match price {
            Some(price) => Spent { usage, money: price.of(usage), unpriced: 0 },
            None => Spent { usage, money: Money::default(), unpriced: usage.total() },
        }
    }

    /// The part of it that came after `before`.
    pub fn since(&self, before: Spent) -> Spent {
        let (usage, then) = (self.usage, before.usage);
        Spent {
            usage: Usage {
                input: usage.input.saturating_sub(then.input),
                output: usage.output.saturating_sub(then.output),
                cache_read: usage.cache_read.saturating_sub(then.cache_read),
                cache_write: usage.cache_write.saturating_sub(then.cache_write),
            },
            money: Money(self.money.0.saturating_sub(before.money.0)),
            unpriced: self.unpriced.saturating_sub(before.unpriced),
        }
    }

    /// The price of it all; none where a part has none.
    pub fn cost(&self) -> Option<Money> {
        (self.unpriced == 0).then_some(self.money)
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        self.usage += other.usage;
        self.money = Money(self.money.0.saturating_add(other.money.0));
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
    }
}

impl fmt::Display for Spent {
    /// As [`Tokens`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Tokens::from(*self).fmt(f)
    }
}

/// Counts of tokens and their price, as programs read them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// Read anew.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the provider's cache.
    pub cache_read: u64,
    /// Put into the provider's cache.
    pub cache_write: u64,
    /// How much of what was read came from the cache, in percent. Null where there is no cache.
    pub cache_hit_percent: Option<u64>,
    /// In US dollars, without the unpriced. Null if nothing is known to have a price.
    pub cost: Option<f64>,
    /// How many of these tokens have no known price.
    pub unpriced: u64,
}

impl From<Spent> for Tokens {
    fn from(Spent { usage, money, unpriced }: Spent) -> Self {
        let is_priced = unpriced < usage.total() || unpriced == 0;
        Self {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            cache_hit_percent: usage.cache_hit_percent(),
            cost: is_priced.then(|| money.dollars()),
            unpriced,
        }
    }
}

impl Tokens {
    /// True if nothing was used.
    pub fn is_nothing(&self) -> bool {
        self.prompt() == 0 && self.output == 0
    }

    /// For a line on a screen: `33k tokens in (82% from the cache), 678 out, $0.0042`.
    pub fn in_short(&self) -> String {
        self.in_words(short_count)
    }

    fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    fn in_words(&self, count: fn(u64) -> String) -> String {
        let mut words = format!("{} tokens in", count(self.prompt()));
        if let Some(percent) = self.cache_hit_percent {
            words.push_str(&format!(" ({percent}% from the cache)"));
        }
        words.push_str(&format!(", {} out", count(self.output)));
        match self.cost {
            _ if self.is_nothing() => {}
            Some(cost) if self.unpriced == 0 => words.push_str(&format!(", {}", in_dollars(cost))),
            Some(cost) if cost > 0.0 => words.push_str(&format!(
                ", {} and {} tokens without a known price",
                in_dollars(cost),
                count(self.unpriced)
            )),
            _ => {}
        }
        words
    }
}

impl fmt::Display for Tokens {
    /// As in `12345 tokens in (82% from the cache), 678 out, $0.0042`. Without a known price there is none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(|count| count.to_string()))
    }
}

/// Dollars with the digits that they need.
fn in_dollars(dollars: f64) -> String {
    match dollars {
        0.0 => "$0".to_owned(),
        ..0.000_1 => "less than $0.0001".to_owned(),
        ..1.0 => format!("${dollars:.4}"),
        _ => format!("${dollars:.2}"),
    }
}

/// A count as people say it: exact below ten thousand, then in thousands or millions.
pub fn short_count(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}.{}M", count / 1_000_000, count / 100_000 % 10),
    }
}

/// The price of a model's tokens: each number is in millionths of a US dollar per million tokens, which is [`Money`]'s
/// unit per token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Price {
    /// Prompt tokens read anew.
    pub input: u64,
    /// Tokens the model writes.
    pub output: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
    /// Prompt tokens written to the cache.
    pub cache_write: u64,
    /// The price of a request with a long prompt, where that is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<LongPrice>,
}

/// The price of all tokens of a request whose prompt is longer than so many tokens; units as in [`Price`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct LongPrice {
    /// The longest prompt, in tokens, that [`Price`] itself holds for.
    pub tokens: u64,
    /// Prompt tokens read anew.
    pub input: u64,
    /// Tokens the model writes.
    pub output: u64,
    /// Prompt tokens read from the cache.
    pub cache_read: u64,
    /// Prompt tokens written to the cache.
    pub cache_write: u64,
}

impl Price {
    /// The cost of one request with these tokens.
    pub fn of(&self, usage: Usage) -> Money {
        let prompt = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        let [input, output, cache_read, cache_write] = match self.above {
            Some(it) if prompt > it.tokens => [it.input, it.output, it.cache_read, it.cache_write],
            _ => [self.input, self.output, self.cache_read, self.cache_write],
        };
        let parts = [
            (usage.input, input),
            (usage.output, output),
            (usage.cache_read, cache_read),
            (usage.cache_write, cache_write),
        ];
        Money(
            parts.iter().fold(0_u64, |sum, (tokens, each)| {
                sum.saturating_add(tokens.saturating_mul(*each))
            }),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_short_where_they_are_long() {
        let table = [(0, "0"), (9_999, "9999"), (33_364, "33k"), (1_250_000, "1.2M")];
        for (count, words) in table {
            assert_eq!(short_count(count), words);
        }
        let usage = Usage { input: 33_364, output: 594, ..Usage::default() };
        let tokens = Tokens::from(Spent::of(usage, None));
        assert_eq!(tokens.in_short(), "33k tokens in, 594 out");
    }

    #[test]
    fn money_is_said_with_the_digits_it_needs() {
        for (money, told) in [
            (Money(0), "$0"),
            (Money(1), "less than $0.0001"),
            (Money(4_200_000_000), "$0.0042"),
            (Money::from_cents(123), "$1.23"),
            (Money::from_cents(100_000), "$1000.00"),
        ] {
            assert_eq!(money.to_string(), told);
        }
    }
}
