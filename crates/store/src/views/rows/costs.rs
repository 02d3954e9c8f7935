//! What a session used: by whom, with which model, on which day. Sums over many sessions need no event then.

use longhaul_core::budget::day_of;
use longhaul_events::{Account, AgentAct, Held, ModelUsage, Timestamp, TokenCount};
use serde::{Deserialize, Serialize};

/// All that one session used, a few rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Costs(pub Vec<CostRow>);

/// What one agent used of one model on one day (UTC).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostRow {
    pub day: i64,
    pub agent: String,
    /// Nobody, for turns that say by themselves what they used.
    pub provider: Option<String>,
    pub model: Option<String>,
    /// Requests with a bill, and turns that need none.
    pub requests: u64,
    pub usage: ModelUsage,
    pub cost_micros: u64,
    /// Requests without a bill: under way, or begun by somebody who died.
    pub unbilled: u64,
    /// What is set aside for those.
    pub held: Held,
}

impl Costs {
    pub(super) fn add(&mut self, at: Timestamp, agent: Option<&str>, act: &AgentAct) {
        let (day, agent) = (day_of(at), agent.unwrap_or_default());
        match act {
            AgentAct::Answered { usage, cost_micros, account: Account::Turn, .. } => {
                let TokenCount { input, output } = *usage;
                let row = self.row(day, agent, None);
                row.pay(&ModelUsage { input, output, ..ModelUsage::default() }, *cost_micros);
            }
            AgentAct::Requested { held, .. } => {
                let row = self.row(day, agent, None);
                row.unbilled += 1;
                row.hold(held);
            }
            AgentAct::Billed { provider, model, usage, cost_micros, held, .. } => {
                self.release(held);
                self.row(day, agent, Some((provider, model))).pay(usage, *cost_micros);
            }
            AgentAct::Answered { account: Account::Bills, .. }
            | AgentAct::Assigned { .. }
            | AgentAct::MadeReady { .. }
            | AgentAct::Failed { .. }
            | AgentAct::Observed { .. }
            | AgentAct::CallStarted { .. }
            | AgentAct::CallFinished { .. }
            | AgentAct::Nudged { .. }
            | AgentAct::Steered { .. }
            | AgentAct::Budgeted { .. }
            | AgentAct::Compacted { .. }
            | AgentAct::Woken => {}
        }
    }

    fn row(&mut self, day: i64, agent: &str, asked: Option<(&String, &String)>) -> &mut CostRow {
        let (provider, model) = (asked.map(|(provider, _)| provider), asked.map(|(_, model)| model));
        let is_it = |row: &CostRow| {
            row.day == day
                && row.agent == agent
                && row.provider.as_ref() == provider
                && row.model.as_ref() == model
        };
        let index = self.0.iter().position(is_it).unwrap_or_else(|| {
            let (provider, model) = (provider.cloned(), model.cloned());
            self.0.push(CostRow { day, agent: agent.to_owned(), provider, model, ..CostRow::default() });
            self.0.len() - 1
        });
        &mut self.0[index]
    }

    /// The bill names what was held, and not when or for whom; the newest that has so much set aside had it.
    fn release(&mut self, held: &Held) {
        let has_it = |row: &&mut CostRow| row.unbilled > 0 && row.held.cost_micros >= held.cost_micros;
        if let Some(row) = self.0.iter_mut().rev().find(has_it) {
            row.unbilled -= 1;
            row.held = Held {
                tokens: TokenCount {
                    input: row.held.tokens.input.saturating_sub(held.tokens.input),
                    output: row.held.tokens.output.saturating_sub(held.tokens.output),
                },
                cost_micros: row.held.cost_micros - held.cost_micros,
            };
        }
        self.0.retain(|row| row.requests > 0 || row.unbilled > 0);
    }
}

impl CostRow {
    fn pay(&mut self, usage: &ModelUsage, cost_micros: u64) {
        self.requests += 1;
        self.take_usage(usage);
        self.cost_micros = self.cost_micros.saturating_add(cost_micros);
    }

    fn hold(&mut self, held: &Held) {
        self.held.tokens.input = self.held.tokens.input.saturating_add(held.tokens.input);
        self.held.tokens.output = self.held.tokens.output.saturating_add(held.tokens.output);
        self.held.cost_micros = self.held.cost_micros.saturating_add(held.cost_micros);
    }

    fn take_usage(&mut self, usage: &ModelUsage) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.usage.input, usage.input);
        add(&mut self.usage.cache_read, usage.cache_read);
        add(&mut self.usage.cache_write, usage.cache_write);
        add(&mut self.usage.output, usage.output);
    }

    /// The sum of this and another, whatever day and session that was.
    pub fn absorb(&mut self, other: &Self) {
        self.requests += other.requests;
        self.unbilled += other.unbilled;
        self.take_usage(&other.usage);
        self.hold(&other.held);
        self.cost_micros = self.cost_micros.saturating_add(other.cost_micros);
    }
}

#[cfg(test)]
mod tests {
    use longhaul_events::{CallOrder, Content};

    use super::*;

    const DAY_MS: i64 = 24 * 60 * 60 * 1000;

    fn held(cost_micros: u64) -> Held {
        Held { tokens: TokenCount { input: 100, output: 50 }, cost_micros }
    }

    fn billed(model: &str, cost_micros: u64, held: Held) -> AgentAct {
        AgentAct::Billed {
            request: 1,
            provider: "anthropic".to_owned(),
            model: model.to_owned(),
            usage: ModelUsage { input: 80, cache_read: 60, cache_write: 0, output: 5 },
            cost_micros,
            held,
        }
    }

    fn answered(account: Account) -> AgentAct {
        AgentAct::Answered {
            turn: 1,
            said: Content::Inline("so".into()),
            calls: Vec::new(),
            order: CallOrder::OneByOne,
            usage: TokenCount { input: 7, output: 3 },
            ms: 1,
            cost_micros: 9,
            account,
        }
    }

    fn costs(acts: &[(i64, AgentAct)]) -> Costs {
        let mut costs = Costs::default();
        acts.iter().for_each(|(day, act)| costs.add(Timestamp(day * DAY_MS), Some("claude"), act));
        costs
    }

    #[test]
    fn a_bill_stands_in_the_place_of_what_was_held_for_it_also_after_midnight() {
        let requested = AgentAct::Requested { request: 1, held: held(10), bytes: 0 };
        let open = costs(&[(1, requested.clone())]);
        assert_eq!((open.0[0].unbilled, open.0[0].held, open.0[0].requests), (1, held(10), 0));
        let done = costs(&[(1, requested.clone()), (2, billed("m", 4, held(10)))]);
        assert_eq!(done.0.len(), 1);
        assert_eq!((done.0[0].day, done.0[0].requests, done.0[0].cost_micros), (2, 1, 4));
        assert_eq!(done.0[0].held, Held::default());
        let second = AgentAct::Requested { request: 2, held: held(20), bytes: 0 };
        let one_open = costs(&[(1, requested), (1, second), (1, billed("m", 4, held(10)))]);
        let left: Vec<(u64, u64)> =
            one_open.0.iter().map(|row| (row.unbilled, row.held.cost_micros)).collect();
        assert_eq!(left, [(1, 20), (0, 0)]);
    }

    #[test]
    fn what_is_on_bills_is_not_counted_with_the_turn_too() {
        let metered = costs(&[(1, billed("m", 4, Held::default())), (1, answered(Account::Bills))]);
        assert_eq!(metered.0.iter().map(|row| row.cost_micros).sum::<u64>(), 4);
        let unmetered = costs(&[(1, answered(Account::Turn)), (1, answered(Account::Turn))]);
        assert_eq!(unmetered.0.len(), 1);
        assert_eq!(
            (unmetered.0[0].requests, unmetered.0[0].usage.input, &unmetered.0[0].model),
            (2, 14, &None)
        );
    }

    #[test]
    fn each_model_and_day_has_a_row_of_its_own() {
        let none = Held::default();
        let rows = costs(&[(1, billed("a", 1, none)), (1, billed("b", 2, none)), (2, billed("a", 3, none))]);
        let shown: Vec<(i64, &str, u64)> =
            rows.0.iter().map(|row| (row.day, row.model.as_deref().unwrap(), row.cost_micros)).collect();
        assert_eq!(shown, [(1, "a", 1), (1, "b", 2), (2, "a", 3)]);
    }
}
