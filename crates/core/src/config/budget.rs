//! `budget:` what sessions may use that an agent of ours does.

use longhaul_events::Caps;
use serde::Deserialize;
use serde_saphyr::Spanned;

use super::{Error, Row, number};

pub(super) const TOKENS: &str = "budget.session.tokens";
pub(super) const TIME: &str = "budget.session.time";
pub(super) const MONEY: &str = "budget.session.money";
pub(super) const TURNS: &str = "budget.session.turns";
pub(super) const TASK_MONEY: &str = "budget.task.money";
pub(super) const DAY_MONEY: &str = "budget.day.money";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    #[serde(default)]
    session: SessionSection,
    #[serde(default)]
    task: MoneySection,
    #[serde(default)]
    day: MoneySection,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionSection {
    tokens: Option<Spanned<Amount>>,
    time: Option<Spanned<Amount>>,
    money: Option<Spanned<Amount>>,
    turns: Option<Spanned<Amount>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct MoneySection {
    money: Option<Spanned<Amount>>,
}

/// `200` is a number to YAML, and `400k` is a text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Amount {
    Number(u64),
    Text(String),
}

impl Section {
    /// What the file says, key by key.
    pub(super) fn values(self) -> [(&'static str, Option<Spanned<String>>); 6] {
        let Self { session, task, day } = self;
        [
            (TOKENS, session.tokens),
            (TIME, session.time),
            (MONEY, session.money),
            (TURNS, session.turns),
            (TASK_MONEY, task.money),
            (DAY_MONEY, day.money),
        ]
        .map(|(key, value)| (key, value.map(text)))
    }
}

fn text(amount: Spanned<Amount>) -> Spanned<String> {
    let text = match amount.value {
        Amount::Number(number) => number.to_string(),
        Amount::Text(text) => text,
    };
    Spanned::new(text, amount.referenced, amount.defined)
}

pub(super) fn resolve(rows: &[Row]) -> Result<Caps, Error> {
    Ok(Caps {
        tokens: number(rows, TOKENS)?,
        time_ms: number(rows, TIME)?,
        money_micros: number(rows, MONEY)?,
        turns: number(rows, TURNS)?,
        task_money_micros: number(rows, TASK_MONEY)?,
        day_money_micros: number(rows, DAY_MONEY)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{from_environment, from_flags, parse_file, resolve as resolve_all};
    use super::*;

    #[test]
    fn everything_is_capped_without_a_file_and_a_file_changes_single_caps() {
        let hour_ms = 60 * 60 * 1000;
        let default = Caps {
            tokens: 400_000,
            time_ms: hour_ms,
            money_micros: 5_000_000,
            turns: 200,
            task_money_micros: 20_000_000,
            day_money_micros: 100_000_000,
        };
        assert_eq!(resolve_all(&[]).unwrap().caps, default);
        let file = parse_file(
            "user.yml",
            "budget:\n  session: { tokens: 50k, turns: 30 }\n  day: { money: 7.50usd }\n",
        );
        let environment =
            from_environment(|name| (name == "LONGHAUL_BUDGET_SESSION_TIME").then(|| "2h".to_owned()));
        let flags = from_flags(["budget.task.money=1usd"]).unwrap();
        let caps = resolve_all(&[file.unwrap(), environment, flags]).unwrap().caps;
        let expected = Caps {
            tokens: 50_000,
            time_ms: 2 * hour_ms,
            turns: 30,
            task_money_micros: 1_000_000,
            day_money_micros: 7_500_000,
            ..default
        };
        assert_eq!(caps, expected);
    }

    #[test]
    fn no_word_takes_a_cap_away() {
        for (text, says) in [
            (
                "budget: { session: { tokens: none } }",
                "user.yml:1 sets `budget.session.tokens`: `none` is no amount",
            ),
            ("budget:\n  session:\n    turns: 0\n", "user.yml:3 sets `budget.session.turns`: a cap of 0"),
            ("budget: { day: { money: 100 } }", "is not a sum of money"),
        ] {
            let message = resolve_all(&[parse_file("user.yml", text).unwrap()]).unwrap_err().to_string();
            assert!(message.contains(says), "{message}");
        }
        assert!(parse_file("user.yml", "budget: { week: { money: 1usd } }").is_err());
    }
}
