//! Moments as people read them, in UTC. Time zones are the reader's business.

/// The date and the minute of a moment, in milliseconds since 1970: `2026-01-31 09:30 UTC`.
pub fn minute(ms: u64) -> String {
    let seconds = ms / 1000;
    let (hour, minute) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!("{} {hour:02}:{minute:02} UTC", date(seconds))
}

/// How long ago a moment was, in milliseconds since 1970: `just now`, `2 min ago`, `3 days ago`; after a month its date.
pub fn ago(ms: u64) -> String {
    ago_at(ms, crate::journal::record::now())
}

fn ago_at(ms: u64, now: u64) -> String {
    let minutes = now.saturating_sub(ms) / 60_000;
    match (minutes, minutes / 60, minutes / 60 / 24) {
        (0, ..) => "just now".to_owned(),
        (_, 0, _) => format!("{minutes} min ago"),
        (_, hours, 0) => format!("{hours} h ago"),
        (.., 1) => "yesterday".to_owned(),
        (.., days @ 2..31) => format!("{days} days ago"),
        _ => format!("on {}", date(ms / 1000)),
    }
}

/// Today's date, as YYYY-MM-DD.
pub fn today() -> String {
    date(crate::journal::record::now() / 1000)
}

/// The date of a moment in seconds since 1970, as YYYY-MM-DD, by the civil-from-days algorithm (Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms").
fn date(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_as_people_do() {
        assert_eq!(minute(0), "1970-01-01 00:00 UTC");
        assert_eq!(minute(951_827_696_789), "2000-02-29 12:34 UTC");
        assert_eq!(date(1_893_456_000), "2030-01-01");
        let (minute, hour, day) = (60_000, 3_600_000, 86_400_000);
        for (before, words) in [
            (0, "just now"),
            (minute - 1, "just now"),
            (2 * minute, "2 min ago"),
            (hour, "1 h ago"),
            (day - 1, "23 h ago"),
            (day, "yesterday"),
            (30 * day, "30 days ago"),
            (31 * day, "on 2029-12-01"),
        ] {
            let now = 1_893_456_000_000;
            assert_eq!(ago_at(now - before, now), words);
        }
        // A clock that was set back.
        assert_eq!(ago_at(2, 1), "just now");
    }
}
