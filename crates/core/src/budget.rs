//! What a session may use: caps on tokens, time, money and turns, for it, for its task and for the day.
//!
//! A cap is a number that is always there. What a turn will use is estimated before it is asked, and it is not asked
//! unless that fits; what it did use counts afterwards. All sums are whole numbers, money in millionths of a dollar.

mod clock;
mod price;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use longhaul_events::{Caps, Reason, SessionId, Timestamp, TokenCount};

pub use clock::WallClock;
pub use price::{LongInput, Price, Pricing};

use crate::parking::ParkCode;
use crate::units::{
    parse_count, parse_duration_ms, parse_money_micros, show_count, show_duration, show_money,
};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// What was used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    pub tokens: u64,
    pub time_ms: u64,
    pub turns: u64,
    pub money_micros: u64,
    /// By it and all sessions of its tree.
    pub task_money_micros: u64,
    /// By all sessions, today.
    pub day_money_micros: u64,
}

/// What a person may cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    Tokens,
    Time,
    Money,
    Turns,
    TaskMoney,
    DayMoney,
}

/// A cap that is reached, or that the next turn might go beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceeded {
    pub limit: Limit,
    pub cap: u64,
    pub used: u64,
    /// What the next turn may need; 0 if the cap is reached without one.
    pub needs: u64,
}

/// A budget that cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("the budget `{text}` cannot be read: {problem}")]
    Unreadable { text: String, problem: String },
    #[error(
        "nobody knows what a turn of this agent costs, and there is a cap on money, so nothing was started; say what it costs per million tokens, as in `price: {{ input: 3usd, output: 15usd }}`"
    )]
    UnknownPrice,
    #[error("that is not enough to go on with: {message}; give more than that")]
    TooLittle { message: String },
}

impl Limit {
    /// The code of the reason that a session is parked with.
    pub const fn code(self) -> ParkCode {
        match self {
            Self::Tokens => ParkCode::BudgetTokens,
            Self::Time => ParkCode::BudgetTime,
            Self::Money => ParkCode::BudgetMoney,
            Self::Turns => ParkCode::BudgetTurns,
            Self::TaskMoney => ParkCode::BudgetTaskMoney,
            Self::DayMoney => ParkCode::BudgetDayMoney,
        }
    }

    fn show(self, amount: u64) -> String {
        match self {
            Self::Tokens => format!("{} tokens", show_count(amount)),
            Self::Time => show_duration(amount),
            Self::Money => show_money(amount),
            Self::Turns => {
                if amount == 1 {
                    "1 turn".to_owned()
                } else {
                    format!("{amount} turns")
                }
            }
            Self::TaskMoney => format!("{} for its task", show_money(amount)),
            Self::DayMoney => format!("{} for the day", show_money(amount)),
        }
    }

    /// How a larger one is given.
    fn remedy(self, id: SessionId, cap: u64) -> String {
        let more = cap.saturating_mul(2);
        let (word, amount) = match self {
            Self::Tokens => ("tokens", show_count(more)),
            Self::Time => ("time", show_duration(more)),
            Self::Money => ("money", show_money(more)),
            Self::Turns => ("turns", more.to_string()),
            Self::TaskMoney => {
                return format!("give it more: `longhaul task budget {id} money={}`", show_money(more));
            }
            Self::DayMoney => {
                let raised = raised_in_settings(id, "budget.day.money", more);
                return format!("go on tomorrow, or {raised}");
            }
        };
        format!("give it more: `longhaul session resume {id} --budget {word}={amount}`")
    }
}

fn raised_in_settings(id: SessionId, key: &str, more: u64) -> String {
    let more = show_money(more);
    format!("raise `{key}`: `longhaul -c {key}={more} session resume {id} --budget same`")
}

impl Exceeded {
    /// Why a session does not go on, and how it would.
    pub fn reason(&self, id: SessionId) -> Reason {
        let Self { limit, cap, used, needs } = *self;
        let (cap_words, used_words) = (limit.show(cap), limit.show(used));
        let message = if needs == 0 {
            format!("the budget of {cap_words} is used up ({used_words} used)")
        } else {
            let needs = limit.show(needs);
            format!("the budget is {cap_words}, {used_words} are used, and the next turn may need {needs}")
        };
        limit.code().reason(message, limit.remedy(id, cap))
    }
}

/// Whether a turn may be asked: what it may use at most has to fit.
pub fn before_turn(caps: &Caps, used: &Used, turn: TokenCount, price: Price) -> Result<(), Exceeded> {
    let money = price.at_most(turn);
    let tokens = turn.input.saturating_add(turn.output);
    let wants = [
        (Limit::Turns, caps.turns, used.turns, 1),
        (Limit::Tokens, caps.tokens, used.tokens, tokens),
        (Limit::Money, caps.money_micros, used.money_micros, money),
        (Limit::TaskMoney, caps.task_money_micros, used.task_money_micros, money),
        (Limit::DayMoney, caps.day_money_micros, used.day_money_micros, money),
    ];
    for (limit, cap, used, needs) in wants {
        // Something that costs nothing does not stop because somebody else used everything up.
        if needs > 0 && used.saturating_add(needs) > cap {
            let needs = if limit == Limit::Turns { 0 } else { needs };
            return Err(Exceeded { limit, cap, used, needs });
        }
    }
    in_time(caps, used)
}

/// Whether what was used is within the caps; asked before anything is done that an answer wants done.
pub fn after_turn(caps: &Caps, used: &Used) -> Result<(), Exceeded> {
    let sums = [
        (Limit::Turns, caps.turns, used.turns),
        (Limit::Tokens, caps.tokens, used.tokens),
        (Limit::Money, caps.money_micros, used.money_micros),
    ];
    for (limit, cap, used) in sums {
        if used > cap {
            return Err(Exceeded { limit, cap, used, needs: 0 });
        }
    }
    in_time(caps, used)
}

fn in_time(caps: &Caps, used: &Used) -> Result<(), Exceeded> {
    if used.time_ms < caps.time_ms {
        return Ok(());
    }
    Err(Exceeded { limit: Limit::Time, cap: caps.time_ms, used: used.time_ms, needs: 0 })
}

/// The word that changes no cap, for whoever only wants the settings of task and day to be looked at again.
const SAME: &str = "same";

/// Puts `tokens=50k,time=10m,money=2usd,turns=30` in the place of what was there.
pub fn changed(caps: Caps, text: &str) -> Result<Caps, Error> {
    let unreadable = |problem: String| Error::Unreadable { text: text.to_owned(), problem };
    let mut caps = caps;
    if text.trim() == SAME {
        return Ok(caps);
    }
    let mut given = BTreeSet::new();
    for part in text.split(',').map(str::trim) {
        let (name, value) = part.split_once('=').ok_or_else(|| {
            unreadable(format!(
                "`{part}` caps nothing; write `tokens=50k,time=10m,money=2usd,turns=30`, or some of it"
            ))
        })?;
        let place = match name.trim() {
            "tokens" => &mut caps.tokens,
            "time" => &mut caps.time_ms,
            "money" => &mut caps.money_micros,
            "turns" => &mut caps.turns,
            other => {
                return Err(unreadable(format!(
                    "there is no cap on `{other}`; there are tokens, time, money and turns"
                )));
            }
        };
        if !given.insert(name.trim()) {
            return Err(unreadable(format!("`{}` is given twice; give it once", name.trim())));
        }
        *place = amount(name.trim(), value.trim()).map_err(unreadable)?;
    }
    Ok(caps)
}

/// The same for whoever starts a task: money that is given for it is for all of it together.
pub fn changed_for_task(caps: Caps, text: &str) -> Result<Caps, Error> {
    let caps = changed(caps, text)?;
    Ok(if gives_money(text) { Caps { task_money_micros: caps.money_micros, ..caps } } else { caps })
}

/// Whether a cap on money is among those that are given.
pub fn gives_money(text: &str) -> bool {
    text.split(',').filter_map(|part| part.split_once('=')).any(|(name, _)| name.trim() == "money")
}

/// A cap as people write it. There is no word for none: whoever wants much says how much.
pub fn amount(name: &str, text: &str) -> Result<u64, String> {
    let (amount, large) = match name {
        "time" => (parse_duration_ms(text), "52w"),
        "money" => (parse_money_micros(text), "1000usd"),
        "turns" => (parse_count(text), "1000"),
        _ => (parse_count(text), "1000M"),
    };
    match amount {
        Ok(0) => Err(format!("a cap of 0 lets nothing be done; give more, such as `{large}`")),
        Ok(amount) => Ok(amount),
        Err(_) if matches!(text, "none" | "no" | "off" | "unlimited" | "infinite" | "inf") => Err(format!(
            "`{text}` is no amount, and nothing runs without a cap; give a large one, such as `{large}`"
        )),
        Err(error) => Err(error.to_string()),
    }
}

/// The day that money is counted for, by universal time.
pub const fn day_of(at: Timestamp) -> i64 {
    at.0.div_euclid(DAY_MS)
}
