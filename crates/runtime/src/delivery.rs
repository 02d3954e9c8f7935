//! Delivering a change: performs what [`longhaul_core::delivery`] says comes next, until it says that it is over.
//!
//! Around every act: on record that it is about to be done, done, on record that it was. Whoever comes after a crash
//! looks whether it was done before doing it, and nobody who is not the driver any more does anything.

mod acts;
mod ground;
mod result;
mod words;

use std::collections::BTreeMap;
use std::time::Duration;

use longhaul_core::delivery::{
    ChangeSeen, Consent, DeliverySettings, Done, End, MergedSeen, Next, ProofSeen, Seen, Wanted, consent,
    kept_by, next,
};
use longhaul_core::workflow::step::Deliver;
use longhaul_events::{DeliveryAct, Epoch, SessionId};
use longhaul_forge::{Failure, Rule};
use longhaul_git::{Author, Joined, ObjectId};
use serde_json::Value;

use crate::commands::Commands;
use crate::commands::delivering::{Found, RecordedAct, intended, received};
use crate::commands::walking::WorkOrder;
use crate::error::Error;
use crate::system::System;
use ground::{Ground, Target};

/// More than any delivery needs, so that nothing goes round for ever.
const MOST_ROUNDS: usize = 64;
/// How often the base may move while we are merging.
const MOST_MOVES: usize = 5;
/// How often a forge is asked that cannot be reached.
const MOST_TRIES: u32 = 4;
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// A delivery that this process drives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delivering<'a> {
    pub(crate) system: &'a System,
    pub(crate) commands: &'a Commands,
    pub(crate) id: SessionId,
    pub(crate) epoch: Epoch,
}

/// Delivers what a step asks for. What it comes to is the result of the step; an error is ours.
pub(crate) fn deliver(by: Delivering<'_>, step: &Deliver, order: &WorkOrder) -> Result<Value, Error> {
    let ground = match Ground::of(by, step, order) {
        Ok(Ok(ground)) => ground,
        Ok(Err(end)) => return Ok(result::bare(&end)),
        // It would go wrong in the same way for ever.
        Err(Error::Git(error)) => return Ok(result::bare(&ground::git_end(&error))),
        Err(error @ Error::Worktree(_)) => return Ok(result::bare(&could_not(error.to_string()))),
        Err(error) => return Err(error),
    };
    let mut delivery = Delivery::new(by, ground, order)?;
    match delivery.run() {
        Ok(end) | Err(Trouble::Ends(end)) => Ok(delivery.result(&end)),
        Err(Trouble::Own(error)) => Err(error),
        Err(Trouble::BaseMoved) => Ok(delivery.result(&keeps_moving())),
    }
}

/// Why an act was not done.
#[derive(Debug)]
enum Trouble {
    Ends(End),
    /// Somebody else was faster; what is to be delivered has to be looked at again.
    BaseMoved,
    Own(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Own(error)
    }
}

impl From<longhaul_git::Error> for Trouble {
    fn from(error: longhaul_git::Error) -> Self {
        Self::Ends(ground::git_end(&error))
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        let words = failure.to_string();
        Self::Ends(match failure {
            Failure::BaseMoved { .. } => return Self::BaseMoved,
            Failure::HeadMoved { .. } | Failure::Conflict => stale(words),
            Failure::Refused { rule, .. } => match rule {
                Rule::ReviewRequired | Rule::SelfApproval | Rule::ChangesRequested => {
                    End::for_a_person(words)
                }
                Rule::CheckRequired | Rule::Draft | Rule::Other => refused(words),
            },
            Failure::Auth(_)
            | Failure::NotFound(_)
            | Failure::RateLimit { .. }
            | Failure::Network(_)
            | Failure::UnknownOutcome(_)
            | Failure::Garbled(_) => could_not(words),
        })
    }
}

fn stale(because: impl Into<String>) -> End {
    End::new(longhaul_core::delivery::DeliveryOutcome::Stale, because)
}

fn refused(because: impl Into<String>) -> End {
    End::new(longhaul_core::delivery::DeliveryOutcome::Refused, because)
}

fn could_not(because: impl Into<String>) -> End {
    End::new(longhaul_core::delivery::DeliveryOutcome::CouldNot, because)
}

fn keeps_moving() -> End {
    stale(format!("the base moved {MOST_MOVES} times while the change was being merged"))
}

/// A delivery under way.
struct Delivery<'a> {
    by: Delivering<'a>,
    order: &'a WorkOrder,
    ground: Ground,
    consent: Consent,
    history: Vec<RecordedAct>,
    target: Target,
    merged: Option<acts::MergeRecord>,
    seen_merged: Option<MergedSeen>,
    pull: Option<acts::PullRecord>,
    commit: Option<ObjectId>,
    done: BTreeMap<DeliveryAct, Done>,
    moves: usize,
}

impl<'a> Delivery<'a> {
    fn new(by: Delivering<'a>, ground: Ground, order: &'a WorkOrder) -> Result<Self, Error> {
        let history = by.commands.deliveries(by.id)?;
        let opened_by = by.commands.opened_since(by.id, "merge_rule")?;
        let consent = consent(ground.rule.as_ref(), opened_by.as_deref());
        let target = Target::unknown();
        Ok(Self {
            by,
            order,
            ground,
            consent,
            history,
            target,
            merged: None,
            seen_merged: None,
            pull: None,
            commit: None,
            done: BTreeMap::new(),
            moves: 0,
        })
    }

    fn run(&mut self) -> Result<End, Trouble> {
        self.look_for_merge()?;
        if self.merged.is_none() {
            self.target = self.ground.look()?;
            self.heed_labels()?;
        }
        for _ in 0..MOST_ROUNDS {
            match next(&self.ground.wanted, &self.seen()) {
                Next::End(end) => return Ok(end),
                Next::Skip(act, because) => {
                    self.done.insert(act, Done::Skipped(because));
                }
                Next::Do(act) => match self.act(act) {
                    Err(Trouble::BaseMoved) if self.moves < MOST_MOVES => self.look_again()?,
                    done => done?,
                },
            }
        }
        Ok(could_not("it did not come to an end"))
    }

    /// Somebody may have put a label on the ticket since the rule was decided on.
    fn heed_labels(&mut self) -> Result<(), Trouble> {
        let ticket = self.ground.ticket.filter(|_| self.ground.wanted.merge && self.ground.forge.is_some());
        let Some(ticket) = ticket else { return Ok(()) };
        let labels = tried(&mut || Ok(self.ground.forge()?.issue(ticket)?.labels))?;
        if let Some(denied) = kept_by(&labels) {
            self.consent = denied;
        }
        Ok(())
    }

    /// Somebody moved the base: whatever was done for the old one is done again for the new.
    fn look_again(&mut self) -> Result<(), Trouble> {
        self.moves += 1;
        self.target = self.ground.look()?;
        self.commit = None;
        self.done.clear();
        Ok(())
    }

    fn seen(&self) -> Seen {
        let proof = match &self.merged {
            Some(_) => ProofSeen::Fresh,
            None => self.ground.judge_proof(&self.target),
        };
        Seen {
            no_forge: self.ground.no_forge.clone(),
            change: self.target.change.clone(),
            findings: self.target.findings.clone(),
            proof,
            consent: self.consent.clone(),
            ticket: self.ground.ticket,
            merged: self.seen_merged.clone(),
            done: self.done.clone(),
        }
    }

    /// Has an act done once. `look` says whether it was done, `act` does it.
    fn once(
        &mut self,
        plan: &Plan,
        look: &mut dyn FnMut(&Ground) -> Result<Option<Value>, Failure>,
        act: &mut dyn FnMut(&Ground) -> Result<Value, Failure>,
    ) -> Result<Value, Trouble> {
        let known = self.history.iter().find(|known| known.key == plan.key).cloned();
        let mut is_open = false;
        match known {
            Some(RecordedAct { receipt: Some(receipt), .. }) if plan.receipt == Holds::ForEver => {
                return Ok(receipt);
            }
            Some(RecordedAct { receipt: Some(receipt), .. })
                if tried(&mut || look(&self.ground))?.is_some() =>
            {
                return Ok(receipt);
            }
            Some(RecordedAct { receipt: None, .. }) => is_open = true,
            Some(RecordedAct { receipt: Some(_), .. }) | None => {}
        }
        if !is_open {
            self.record_intent(plan)?;
        }
        let mut tries = 0;
        loop {
            if is_open || tries > 0 {
                match look(&self.ground) {
                    Ok(Some(receipt)) => return self.record_receipt(plan, receipt, Found::Before),
                    Ok(None) => {}
                    // Who could not look must not act.
                    Err(failure) => {
                        self.wait_or_give_up(failure, tries)?;
                        tries += 1;
                        continue;
                    }
                }
            }
            match act(&self.ground) {
                Ok(receipt) => return self.record_receipt(plan, receipt, Found::Now),
                Err(failure) => self.wait_or_give_up(failure, tries)?,
            }
            tries += 1;
        }
    }

    fn wait_or_give_up(&self, failure: Failure, tries: u32) -> Result<(), Trouble> {
        if !failure.may_pass() || tries + 1 >= MOST_TRIES {
            return Err(failure.into());
        }
        tracing::warn!(%failure, session = %self.by.id, "a forge did not do what it was asked; trying again");
        wait(tries);
        Ok(())
    }

    fn record_intent(&mut self, plan: &Plan) -> Result<(), Trouble> {
        let fact = intended(plan.act, &plan.key, &plan.what);
        let Delivering { commands, id, epoch, .. } = self.by;
        let intended_at = commands.record_delivery(id, epoch, self.order.work, &fact)?;
        self.history.retain(|known| known.key != plan.key);
        let (act, key, what) = (plan.act, plan.key.clone(), plan.what.clone());
        self.history.push(RecordedAct { act, key, what, receipt: None, found: false, intended_at });
        Ok(())
    }

    fn record_receipt(&mut self, plan: &Plan, receipt: Value, found: Found) -> Result<Value, Trouble> {
        let fact = received(plan.act, &plan.key, &receipt, found);
        let Delivering { commands, id, epoch, .. } = self.by;
        commands.record_delivery(id, epoch, self.order.work, &fact)?;
        if let Some(known) = self.history.iter_mut().find(|known| known.key == plan.key) {
            (known.receipt, known.found) = (Some(receipt.clone()), found == Found::Before);
        }
        Ok(receipt)
    }
}

/// In whose name is committed: as the settings say, else as git does.
pub(crate) fn author(settings: &DeliverySettings, own: Option<&Author>) -> Option<Author> {
    let chosen = |text: &str, own: Option<&String>| {
        if text.is_empty() { own.cloned() } else { Some(text.to_owned()) }
    };
    let name = chosen(&settings.name, own.map(|own| &own.name));
    let email = chosen(&settings.email, own.map(|own| &own.email));
    name.zip(email).map(|(name, email)| Author { name, email })
}

/// An act to be done once.
struct Plan {
    act: DeliveryAct,
    /// By what it is known again.
    key: String,
    what: Value,
    receipt: Holds,
}

/// What a receipt is worth later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    ForEver,
    /// Only as long as it is seen: a branch that somebody removed is put there again.
    WhileSeen,
}

/// Asks a few times, if it may help.
fn tried<T>(ask: &mut dyn FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    let mut tries = 0;
    loop {
        match ask() {
            Err(failure) if failure.may_pass() && tries + 1 < MOST_TRIES => {
                wait(tries);
                tries += 1;
            }
            answered => return answered,
        }
    }
}

fn wait(tries: u32) {
    // tidy: a forge that cannot be reached says nothing when it can
    std::thread::sleep(FIRST_WAIT * 2u32.pow(tries));
}

/// What the change comes to on a base.
fn change_of(joined: &Joined, base_tree: &ObjectId) -> ChangeSeen {
    match joined {
        Joined::Tree(tree) if tree == base_tree => ChangeSeen::Nothing,
        Joined::Tree(_) => ChangeSeen::Some,
        Joined::Conflict(files) => ChangeSeen::Conflict(files.clone()),
    }
}

/// What the step wants, as the words in it are now.
fn wanted(step: &Deliver, order: &WorkOrder) -> Wanted {
    let scope = order.scope();
    let render = |text: String| longhaul_core::workflow::template::render(&text, &scope);
    let mut wanted = Wanted::of(&step.settings);
    wanted.subject = wanted.subject.map(render);
    wanted.branch_name = wanted.branch_name.map(render);
    wanted
}
