//! Five fields: minute, hour, day of the month, month, day of the week.

use std::fmt;
use std::ops::Range;

/// No pattern that a person can read is longer.
const LONGEST: usize = 500;

/// When something is due, whatever the zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    text: String,
    /// One bit for each value that fits.
    pub(super) minutes: u64,
    pub(super) hours: u64,
    pub(super) days: u64,
    pub(super) months: u64,
    /// Sunday is 0.
    pub(super) weekdays: u64,
    pub(super) day_rule: DayRule,
    pub(super) pace: Pace,
}

/// How the two fields for days count together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DayRule {
    /// Both must fit. One that begins with `*` restricts little or nothing.
    Both,
    /// Both say which days are meant, so one is enough, as in the cron of Unix.
    Either,
}

/// Whether times of day are meant, or intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    Times,
    Intervals,
}

/// A text that is no pattern, with the part that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {fix}")]
pub struct BadCron {
    /// In bytes of the text.
    pub at: Range<usize>,
    pub problem: String,
    pub fix: String,
}

struct Field {
    what: &'static str,
    least: u8,
    most: u8,
    /// Names for values, beginning with the one for `first_name`.
    names: &'static [&'static str],
    first_name: u8,
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const FIELDS: [Field; 5] = [
    Field { what: "minute", least: 0, most: 59, names: &[], first_name: 0 },
    Field { what: "hour", least: 0, most: 23, names: &[], first_name: 0 },
    Field { what: "day of the month", least: 1, most: 31, names: &[], first_name: 0 },
    Field { what: "month", least: 1, most: 12, names: &MONTHS, first_name: 1 },
    // Sunday is 0 and 7.
    Field { what: "day of the week", least: 0, most: 7, names: &WEEKDAYS, first_name: 0 },
];

const SHORTHANDS: [(&str, &str); 7] = [
    ("@hourly", "0 * * * *"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@monthly", "0 0 1 * *"),
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
];

impl Cron {
    pub fn parse(text: &str) -> Result<Self, BadCron> {
        if text.len() > LONGEST {
            let problem = format!("the pattern has {} bytes, and {LONGEST} is the most", text.len());
            return Err(BadCron { at: 0..text.len(), problem, fix: "make it shorter".to_owned() });
        }
        if text.trim_start().starts_with('@') {
            return shorthand(text);
        }
        let words = words(text);
        let Ok([minute, hour, day, month, weekday]) =
            <[&Range<usize>; 5]>::try_from(words.iter().collect::<Vec<_>>())
        else {
            return Err(wrong_count(text, words.len()));
        };
        let [of_minute, of_hour, of_day, of_month, of_weekday] = &FIELDS;
        let begins_with_star = |word: &Range<usize>| text[word.clone()].starts_with('*');
        let weekdays = of_weekday.read(text, weekday)?;
        let is_either = !begins_with_star(day) && !begins_with_star(weekday);
        let is_paced = begins_with_star(minute) || begins_with_star(hour);
        Ok(Self {
            text: text.trim().to_owned(),
            minutes: of_minute.read(text, minute)?,
            hours: of_hour.read(text, hour)?,
            days: of_day.read(text, day)?,
            months: of_month.read(text, month)?,
            weekdays: (weekdays | weekdays >> 7) & 0x7f,
            day_rule: if is_either { DayRule::Either } else { DayRule::Both },
            pace: if is_paced { Pace::Intervals } else { Pace::Times },
        })
    }
}

/// As it was written.
impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn shorthand(text: &str) -> Result<Cron, BadCron> {
    let name = text.trim();
    let lower = name.to_ascii_lowercase();
    let Some((_, meaning)) = SHORTHANDS.iter().find(|(known, _)| *known == lower) else {
        let known: Vec<String> = SHORTHANDS.iter().map(|(known, _)| format!("`{known}`")).collect();
        let problem = format!("`{name}` is no name for a pattern");
        let fix = format!("write five fields, or one of {}", known.join(", "));
        return Err(BadCron { at: 0..text.len(), problem, fix });
    };
    Cron::parse(meaning).map(|cron| Cron { text: name.to_owned(), ..cron })
}

fn wrong_count(text: &str, count: usize) -> BadCron {
    let fix = match count {
        6 | 7 => "write five fields: seconds and years are not part of it",
        _ => "write minute, hour, day of the month, month and day of the week, as in `0 2 * * 1-5`",
    };
    let problem = format!("the pattern has {count} fields, and there are five");
    BadCron { at: 0..text.len(), problem, fix: fix.to_owned() }
}

/// Where each word stands.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut is_inside = false;
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        match (letter.is_whitespace(), is_inside) {
            (true, _) => is_inside = false,
            (false, true) => words.last_mut().expect("a word was begun").end = end,
            (false, false) => {
                is_inside = true;
                words.push(at..end);
            }
        }
    }
    words
}

impl Field {
    /// The values of a field, one bit each.
    fn read(&self, text: &str, word: &Range<usize>) -> Result<u64, BadCron> {
        let mut bits = 0;
        let mut start = word.start;
        for item in text[word.clone()].split(',') {
            let at = start..start + item.len();
            bits |= self.item(item).map_err(|(problem, fix)| BadCron {
                at: if at.is_empty() { word.clone() } else { at.clone() },
                problem: format!("{} `{item}`: {problem}", self.what),
                fix,
            })?;
            start = at.end + 1;
        }
        Ok(bits)
    }

    fn item(&self, item: &str) -> Result<u64, (String, String)> {
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, Some(self.step(step)?)),
            None => (item, None),
        };
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (self.least, self.most),
            Some((first, last)) => self.range(first, last)?,
            None => {
                let value = self.value(range)?;
                (value, if step.is_some() { self.most } else { value })
            }
        };
        let fitting = (first..=last).step_by(usize::from(step.unwrap_or(1)));
        Ok(fitting.fold(0, |bits, value| bits | 1 << value))
    }

    fn range(&self, first: &str, last: &str) -> Result<(u8, u8), (String, String)> {
        let (begin, mut end) = (self.value(first)?, self.value(last)?);
        // `sat-sun`: the week may end with a Sunday.
        if end == 0 && begin > 0 && self.most == 7 {
            end = 7;
        }
        if begin > end {
            let fix = format!("write two ranges, as in `{first}-{},{}-{last}`", self.most, self.least);
            return Err((format!("the range goes backwards from {begin} to {end}"), fix));
        }
        Ok((begin, end))
    }

    fn step(&self, text: &str) -> Result<u8, (String, String)> {
        let step = number(text).filter(|step| (1..=self.most).contains(step));
        step.ok_or_else(|| {
            let fix = format!("write a number from 1 to {} after the `/`", self.most);
            (format!("`{text}` is no step"), fix)
        })
    }

    fn value(&self, text: &str) -> Result<u8, (String, String)> {
        let lower = text.to_ascii_lowercase();
        let named = || self.names.iter().zip(self.first_name..).find(|(name, _)| **name == lower);
        if let Some(value) = number(text).or_else(|| named().map(|(_, value)| value))
            && (self.least..=self.most).contains(&value)
        {
            return Ok(value);
        }
        let mut fix = format!("write `*` or a number from {} to {}", self.least, self.most);
        if let (Some(first), Some(last)) = (self.names.first(), self.names.last()) {
            fix = format!("{fix}, or a name from `{first}` to `{last}`");
        }
        let problem =
            if text.is_empty() { "a value is missing".to_owned() } else { format!("`{text}` does not fit") };
        Err((problem, fix))
    }
}

/// Digits only: `+5` is a number to the standard library.
fn number(text: &str) -> Option<u8> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}
