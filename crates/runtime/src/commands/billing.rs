//! What requests to models may use and have used, put on record.

use std::collections::BTreeMap;

use longhaul_core::budget::{self, Exceeded, Price};
use longhaul_core::session::{Command, Session};
use longhaul_events::{AgentAct, Caps, Epoch, Held, NodeId, Seq, SessionEvent, SessionId, TokenCount};
use longhaul_gateway::Usage;

use super::Commands;
use crate::error::Error;
use crate::metering::Free;
use crate::recorder::{Contents, Decided};

/// A request that has its bill.
#[derive(Debug, Clone)]
pub(crate) struct MeasuredRequest {
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) bytes: u64,
    pub(crate) tokens: u64,
}

/// What a request wants set aside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) held: Held,
    pub(crate) price: Price,
    pub(crate) bytes: u64,
}

/// A request that may go out.
pub(crate) struct Admitted {
    /// Its number, which no other request of the session has.
    pub(crate) request: u64,
    pub(crate) free: Free,
}

impl Commands {
    /// Sets aside what a request may use, if all of it fits.
    pub(crate) fn hold(
        &self,
        id: SessionId,
        epoch: Epoch,
        wanted: Wanted,
    ) -> Result<Result<Admitted, Exceeded>, Error> {
        let Wanted { held, price, bytes } = wanted;
        let _purse = self.purse(price)?;
        self.decide(id, &Contents::default(), |session| {
            // The number of the event that says so.
            let request = session.seq.plus(1).0;
            let act = AgentAct::Requested { request, held, bytes };
            let mut free = Free { tokens: u64::MAX, money_micros: u64::MAX };
            if let Some(caps) = session.caps {
                let used = self.used(session, 0, price)?;
                if let Err(over) = budget::before_turn(&caps, &used, held.tokens, price) {
                    return Ok(Decided::Nothing(Err(over)));
                }
                free = left(&caps, &used).less(held);
            }
            let events = session.decide(Command::Act { epoch, acts: vec![act] })?;
            Ok(Decided::Events(events, Ok(Admitted { request, free })))
        })
    }

    /// Puts on record what a request used, and says what is free after it.
    pub(crate) fn bill(&self, id: SessionId, bill: &AgentAct, price: Price) -> Result<Option<Free>, Error> {
        self.decide(id, &Contents::default(), |session| {
            let mut after = session.clone();
            after.spent.add(bill);
            let free = self.free(&after, price)?;
            Ok(Decided::Events(session.decide(Command::Settle { node: None, act: bill.clone() })?, free))
        })
    }

    /// Puts on record how a turn ended at a node, wherever the session stands by now.
    pub(crate) fn settle(&self, id: SessionId, node: NodeId, act: &AgentAct) -> Result<(), Error> {
        self.decide(id, &Contents::default(), |session| {
            let command = Command::Settle { node: Some(node), act: act.clone() };
            Ok(Decided::Events(session.decide(command)?, ()))
        })
    }

    /// What the requests of a session were billed for: how long each was, and how many tokens that made.
    pub(crate) fn measured(&self, id: SessionId) -> Result<Vec<MeasuredRequest>, Error> {
        let mut lengths = BTreeMap::new();
        let mut measured = Vec::new();
        self.each_event_since(id, Seq(0), |event| match event {
            SessionEvent::Agent { act: AgentAct::Requested { request, bytes, .. }, .. } => {
                lengths.insert(*request, *bytes);
            }
            SessionEvent::Agent { act: AgentAct::Billed { request, provider, model, usage, .. }, .. } => {
                let bytes = lengths.remove(request).unwrap_or(0);
                let (provider, model, tokens) = (provider.clone(), model.clone(), usage.input);
                measured.push(MeasuredRequest { provider, model, bytes, tokens });
            }
            _ => {}
        })?;
        Ok(measured)
    }

    /// What a session may still use, all that is set aside taken off.
    pub(crate) fn free(&self, session: &Session, price: Price) -> Result<Option<Free>, Error> {
        let Some(caps) = session.caps else { return Ok(None) };
        Ok(Some(left(&caps, &self.used(session, 0, price)?)))
    }

    /// The cap that an answer has come to while it came.
    pub(crate) fn what_is_used_up(&self, id: SessionId, usage: &Usage) -> Result<Exceeded, Error> {
        let session = self.load_session(id)?;
        let spent = session.spent;
        let used = spent.tokens.input.saturating_add(spent.tokens.output);
        let tokens = TokenCount { input: usage.input_tokens, output: usage.output_tokens };
        let cap = session.caps.map_or(0, |caps| caps.tokens);
        let is_money = used.max(tokens.input.saturating_add(tokens.output)) < cap;
        Ok(match session.caps {
            Some(caps) if is_money => Exceeded {
                limit: budget::Limit::Money,
                cap: caps.money_micros,
                used: spent.money_micros,
                needs: 0,
            },
            Some(_) | None => Exceeded { limit: budget::Limit::Tokens, cap, used, needs: 0 },
        })
    }
}

impl Free {
    fn less(self, held: Held) -> Self {
        let tokens = held.tokens.input.saturating_add(held.tokens.output);
        Self {
            tokens: self.tokens.saturating_sub(tokens),
            money_micros: self.money_micros.saturating_sub(held.cost_micros),
        }
    }
}

fn left(caps: &Caps, used: &budget::Used) -> Free {
    let money = [
        (caps.money_micros, used.money_micros),
        (caps.task_money_micros, used.task_money_micros),
        (caps.day_money_micros, used.day_money_micros),
    ];
    let money_micros = money.into_iter().map(|(cap, used)| cap.saturating_sub(used)).min().unwrap_or(0);
    Free { tokens: caps.tokens.saturating_sub(used.tokens), money_micros }
}
