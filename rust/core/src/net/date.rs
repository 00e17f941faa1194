//! Dates as HTTP headers have them.

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Nanoseconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`; `None` for any other form.
pub fn nanoseconds(text: &str) -> Option<i64> {
    let mut words = text.split(", ").nth(1)?.split(' ');
    let day: i64 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = i64::try_from(MONTHS.iter().position(|one| *one == name)?).ok()?.checked_add(1)?;
    let year: i64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let in_range = (1..=31).contains(&day) && (1970..3000).contains(&year);
    if words.next() != Some("GMT") || !in_range || !(0..24).contains(&hour) || !(0..60).contains(&minute) {
        return None;
    }
    let days = days(year, month, day)?;
    let seconds = days.checked_mul(24)?.checked_add(hour)?.checked_mul(60)?.checked_add(minute)?.checked_mul(60)?;
    seconds.checked_add(second)?.checked_mul(1_000_000_000)
}

/// Days since 1970, in the Gregorian calendar, for years of our era.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    // Years that begin in March have their odd day at the end.
    let year = if month <= 2 { year.checked_sub(1)? } else { year };
    let from_march = month.checked_add(9)?.checked_rem(12)?;
    let in_year = from_march.checked_mul(153)?.checked_add(2)?.checked_div(5)?.checked_add(day)?.checked_sub(1)?;
    let leaps = year.checked_div(4)?.checked_sub(year.checked_div(100)?)?.checked_add(year.checked_div(400)?)?;
    year.checked_mul(365)?.checked_add(leaps)?.checked_add(in_year)?.checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::nanoseconds;

    #[test]
    fn dates_of_headers() {
        let seconds = |text| nanoseconds(text).map(|time| time / 1_000_000_000);
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(seconds("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(seconds("Thu, 29 Feb 2024 23:59:59 GMT"), Some(1_709_251_199));
        assert_eq!(seconds("Sat, 01 Mar 2025 00:00:00 GMT"), Some(1_740_787_200));
        for bad in
            ["", "yesterday", "Sun, 06 Nov 1994", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 6 Nov 9999999999 1:1:1 GMT"]
        {
            assert_eq!(nanoseconds(bad), None);
        }
    }
}
