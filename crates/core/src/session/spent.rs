//! What a session has used: what was billed, and what is only held for requests that have no bill yet.

use longhaul_events::{Account, AgentAct, Held, TokenCount};
use serde::{Deserialize, Serialize};

/// What turns have cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    pub turns: u64,
    pub tokens: TokenCount,
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub money_micros: u64,
}

impl Spent {
    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Takes in one more act.
    pub fn add(&mut self, act: &AgentAct) {
        match act {
            AgentAct::Answered { usage, cost_micros, account, .. } => {
                self.turns += 1;
                match account {
                    Account::Turn => self.put_in(Held { tokens: *usage, cost_micros: *cost_micros }),
                    Account::Bills => {}
                }
            }
            AgentAct::Requested { held, .. } => self.put_in(*held),
            AgentAct::Billed { usage, cost_micros, held, .. } => {
                self.take_out(*held);
                let tokens = TokenCount { input: usage.input, output: usage.output };
                self.put_in(Held { tokens, cost_micros: *cost_micros });
            }
            AgentAct::Assigned { .. }
            | AgentAct::MadeReady { .. }
            | AgentAct::Failed { .. }
            | AgentAct::Observed { .. }
            | AgentAct::CallStarted { .. }
            | AgentAct::CallFinished { .. }
            | AgentAct::Nudged { .. }
            | AgentAct::Steered { .. }
            | AgentAct::Compacted { .. }
            | AgentAct::Budgeted { .. }
            | AgentAct::Woken => {}
        }
    }

    fn put_in(&mut self, held: Held) {
        self.tokens.input = self.tokens.input.saturating_add(held.tokens.input);
        self.tokens.output = self.tokens.output.saturating_add(held.tokens.output);
        self.money_micros = self.money_micros.saturating_add(held.cost_micros);
    }

    fn take_out(&mut self, held: Held) {
        self.tokens.input = self.tokens.input.saturating_sub(held.tokens.input);
        self.tokens.output = self.tokens.output.saturating_sub(held.tokens.output);
        self.money_micros = self.money_micros.saturating_sub(held.cost_micros);
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_nothing(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests;
