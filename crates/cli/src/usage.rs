//! What a session that an agent of ours does has used, and what it may use.

use longhaul_runtime::TaskView;
use longhaul_runtime::types::{Caps, DrivenRow, show_count, show_duration, show_money};
use serde::Serialize;

use crate::output::count;

/// For scripts. Money is in millionths of a dollar.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Usage {
    used: Used,
    budget: Option<Caps>,
    /// How many sessions used it together.
    #[serde(skip_serializing_if = "Option::is_none")]
    sessions: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Used {
    turns: u64,
    input: u64,
    output: u64,
    time_ms: u64,
    money_micros: u64,
}

impl Usage {
    /// `None` for a session that somebody else drives.
    pub(crate) fn of(row: &DrivenRow) -> Option<Self> {
        row.agent.as_ref()?;
        let spent = row.spent;
        let used = Used {
            turns: spent.turns,
            input: spent.tokens.input,
            output: spent.tokens.output,
            time_ms: row.clock.ms(),
            money_micros: spent.money_micros,
        };
        Some(Self { used, budget: row.caps, sessions: None })
    }

    /// What all sessions of a task used, where its newest root is this one and led to others.
    pub(crate) fn of_task(row: &DrivenRow, view: &TaskView) -> Option<Self> {
        let own = Self::of(row)?;
        if view.sessions.len() < 2 {
            return Some(own);
        }
        let spent = view.spent;
        let used = Used {
            turns: spent.turns,
            input: spent.tokens.input,
            output: spent.tokens.output,
            money_micros: spent.money_micros,
            ..own.used
        };
        Some(Self { used, sessions: Some(view.sessions.len() as u64), ..own })
    }

    /// In one line.
    pub(crate) fn in_words(&self) -> String {
        let Used { turns, input, output, time_ms, money_micros } = self.used;
        let of = |used: String, cap: Option<String>| match cap {
            Some(cap) => format!("{used} of {cap}"),
            None => used,
        };
        if let Some(sessions) = self.sessions {
            // All other caps are those of one session.
            let money =
                of(show_money(money_micros), self.budget.map(|caps| show_money(caps.task_money_micros)));
            let (turns, sessions) = (count(turns, "turn"), count(sessions, "session"));
            let tokens = show_count(input.saturating_add(output));
            return format!("used {turns}, {tokens} tokens, {money} in {sessions}");
        }
        let caps = self.budget.as_ref();
        let tokens = show_count(input.saturating_add(output));
        let time = show_duration(time_ms / 1000 * 1000).replace("0ms", "0s");
        let turns_used = match caps {
            Some(caps) => format!("{turns} of {}", count(caps.turns, "turn")),
            None => count(turns, "turn"),
        };
        format!(
            "used {}, {} tokens, {}, {}",
            turns_used,
            of(tokens, caps.map(|caps| show_count(caps.tokens))),
            of(time, caps.map(|caps| show_duration(caps.time_ms))),
            of(show_money(money_micros), caps.map(|caps| show_money(caps.money_micros))),
        )
    }
}
