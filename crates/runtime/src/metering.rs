//! The meter of a session that we drive: what a request may use is on record before it goes out, and what it used after it.
//!
//! A driver that dies leaves what was held as used, because nobody knows better. What an agent says of its own usage counts
//! for nothing here: only what went through the gateway does.

mod ledger;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longhaul_core::budget::{self, Exceeded, Price, Pricing};
use longhaul_core::roster::Roster;
use longhaul_core::session::Rejection;
use longhaul_events::{AgentAct, Epoch, Held, Reason, SessionId};
use longhaul_gateway::{Estimate, Limited, Meter, Refused, Usage, Verdict};

use crate::commands::Commands;
use crate::commands::billing::{Admitted, Wanted};
use crate::error::Error;
pub(crate) use ledger::Free;
use ledger::{Ledger, Open, model_usage};

/// What is known of a model that may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) pricing: Pricing,
    pub(crate) max_output: Option<u64>,
}

/// What models cost: those that the session pinned as they were then, all others as the data has them.
#[derive(Debug, Clone)]
pub(crate) struct Rates {
    pinned: BTreeMap<(String, String), Rate>,
    /// Providers that cost nothing whatever they are asked: servers of one's own, subscriptions.
    free: Vec<String>,
    roster: Roster,
}

impl Rates {
    pub(crate) const fn new(roster: Roster) -> Self {
        Self { pinned: BTreeMap::new(), free: Vec::new(), roster }
    }

    pub(crate) fn pin(&mut self, provider: &str, model: &str, rate: Rate) {
        self.pinned.insert((provider.to_owned(), model.to_owned()), rate);
    }

    pub(crate) fn pin_free(&mut self, provider: &str) {
        self.free.push(provider.to_owned());
    }

    fn of(&self, provider: &str, model: Option<&str>) -> Rate {
        let unknown = Rate { pricing: Pricing::Unknown, max_output: None };
        let rate = model.map_or(unknown, |model| self.of_model(provider, model));
        if self.free.iter().any(|free| free == provider) {
            return Rate { pricing: Pricing::Known(Price::default()), ..rate };
        }
        rate
    }

    fn of_model(&self, provider: &str, model: &str) -> Rate {
        if let Some(pinned) = self.pinned.get(&(provider.to_owned(), model.to_owned())) {
            return *pinned;
        }
        let max_output = self.roster.model(provider, model).and_then(|known| known.max_output);
        Rate { pricing: self.roster.pricing(provider, model), max_output }
    }
}

/// Keeps the budget of one session while one driver has it.
#[derive(Debug)]
pub(crate) struct SessionMeter {
    /// Those of whoever drives: what either puts on record, the other knows at once.
    commands: Arc<Commands>,
    session: SessionId,
    epoch: Epoch,
    rates: Rates,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    ledger: Ledger,
    /// It knows what requests of earlier drivers came to.
    is_primed: bool,
    /// Why a request was refused or cut, until somebody asks.
    refusal: Option<Reason>,
    /// What a provider said last that had no room, until somebody asks.
    limited: Option<Limited>,
}

impl SessionMeter {
    pub(crate) fn new(commands: Arc<Commands>, session: SessionId, epoch: Epoch, rates: Rates) -> Self {
        Self { commands, session, epoch, rates, state: Mutex::default() }
    }

    /// Why a request was refused or cut since somebody last asked.
    pub(crate) fn take_refusal(&self) -> Option<Reason> {
        self.lock().refusal.take()
    }

    /// What a provider said since somebody last asked that had no room.
    pub(crate) fn take_limited(&self) -> Option<Limited> {
        self.lock().limited.take()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refuse(&self, state: &mut State, over: &Exceeded) -> Refused {
        let reason = over.reason(self.session);
        let refused = Refused { cap: reason.code.clone(), words: reason.message.clone() };
        state.refusal = Some(reason);
        refused
    }

    fn hold(&self, state: &mut State, estimate: &Estimate) -> Result<Result<(), Exceeded>, Error> {
        let rate = self.rates.of(&estimate.provider, estimate.model.as_deref());
        let price = rate.pricing.known()?;
        if !state.is_primed {
            let measured = self.commands.measured(self.session)?;
            measured.iter().for_each(|request| state.ledger.learn(request));
            state.is_primed = true;
        }
        let tokens = state.ledger.foresee(estimate, rate.max_output);
        let held = Held { tokens, cost_micros: price.at_most(tokens) };
        let wanted = Wanted { held, price, bytes: estimate.input_bytes };
        Ok(match self.commands.hold(self.session, self.epoch, wanted)? {
            Ok(Admitted { request, free }) => {
                let open = Open::new(request, held, price, estimate.input_bytes);
                state.ledger.begin(estimate.request, open, free);
                Ok(())
            }
            Err(over) => Err(over),
        })
    }

    fn bill(&self, state: &mut State, usage: &Usage) -> Result<(), Error> {
        let Some(open) = state.ledger.end(usage) else { return Ok(()) };
        let used = model_usage(usage);
        let bill = AgentAct::Billed {
            request: open.request,
            provider: usage.provider.clone(),
            model: usage.model.clone().unwrap_or_default(),
            usage: used,
            cost_micros: open.price.of_usage(&used),
            held: open.held,
        };
        if let Some(free) = self.commands.bill(self.session, &bill, open.price)? {
            state.ledger.set_free(free);
        }
        Ok(())
    }
}

impl Meter for SessionMeter {
    fn admit(&self, estimate: &Estimate) -> Result<(), Refused> {
        let mut state = self.lock();
        match self.hold(&mut state, estimate) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(over)) => Err(self.refuse(&mut state, &over)),
            // Whoever does not drive any more has nothing to ask for.
            Err(Error::Session(rejection)) => Err(no_longer_driven(&rejection)),
            Err(error) => {
                tracing::warn!(%error, session = %self.session, "could not put on record that a model is asked");
                Err(Refused { cap: "none".to_owned(), words: error.to_string() })
            }
        }
    }

    fn count(&self, usage: &Usage) -> Verdict {
        let mut state = self.lock();
        if state.ledger.fits(usage) {
            return Verdict::GoOn;
        }
        let over = self.commands.what_is_used_up(self.session, usage).unwrap_or(Exceeded {
            limit: budget::Limit::Tokens,
            cap: 0,
            used: 0,
            needs: 0,
        });
        Verdict::Cut(self.refuse(&mut state, &over))
    }

    fn settle(&self, usage: &Usage) {
        let mut state = self.lock();
        if let Err(error) = self.bill(&mut state, usage) {
            tracing::warn!(%error, session = %self.session, "could not put a bill on record; what was held counts");
        }
    }

    fn limited(&self, limited: &Limited) {
        self.lock().limited = Some(limited.clone());
    }
}

fn no_longer_driven(rejection: &Rejection) -> Refused {
    Refused { cap: "driver".to_owned(), words: rejection.to_string() }
}
