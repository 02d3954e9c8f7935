//! What follows when somebody cannot be asked: the next of the chain, or a park that says what is waited for.

use longhaul_core::session::Tip;
use longhaul_core::succession::{Succession, Then};
use longhaul_core::workflow::ModelTier;
use longhaul_events::{AgentAct, Content, Timestamp, TurnFault};
use serde_json::json;

use super::Driven;
use super::agent::{NoAnswer, Way};
use super::giving_up::{self, Absentee};
use super::office::{Chosen, Office};
use crate::calendar::waits_for;
use crate::commands::acting::{Ear, Heard, Parking};
use crate::error::Error;

/// Whether a person has just said that it is to go on. The budget that an assignment comes with says nothing.
fn is_wished(acts: &[AgentAct]) -> bool {
    match acts {
        [.., AgentAct::Assigned { .. }, AgentAct::Budgeted { .. }] => false,
        [.., AgentAct::Budgeted { .. }] => true,
        [.., _] | [] => false,
    }
}

/// Whether somebody can be asked for a step.
#[derive(Debug)]
pub(super) enum Choice<'a> {
    Ask(Chosen<'a>),
    /// Nobody can, and the step is given up.
    Parked,
}

impl Driven<'_> {
    /// The tier that a step wants to be done by.
    pub(super) fn tier_of(&self, tip: &Tip) -> Result<Option<ModelTier>, Error> {
        self.commands.tier_at(self.id, &tip.step)
    }

    /// Whoever is asked for a step. One whose limit is known to be used up is not even tried, unless a person has just
    /// said that it is to go on.
    pub(super) fn choose<'o>(
        &self,
        office: &'o mut Office,
        tip: &Tip,
        tier: Option<ModelTier>,
    ) -> Result<Choice<'o>, Error> {
        let now = self.commands.now();
        if let Some(again) = office.staff().chain(tier).again(now) {
            let because = format!("what was used up of `{}` is new again", again.current().name);
            self.reassign(office, tier, again, because)?;
        }
        if !is_wished(&self.commands.acts_at(self.id, tip.node)?) {
            while let Some(until) = self.used_up_until(office, tier, now)? {
                let failed =
                    NoAnswer { fault: TurnFault::UsageLimit, complaint: None, until: Some(until), ear: None };
                if self.fall_back(office, tier, &failed)? == Way::Left {
                    return Ok(Choice::Parked);
                }
            }
        }
        office.choose(tier).map(Choice::Ask)
    }

    fn used_up_until(
        &self,
        office: &Office,
        tier: Option<ModelTier>,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, Error> {
        let Some(provider) = &office.staff().chain(tier).current().provider else { return Ok(None) };
        let Some(reader) = self.commands.reader() else { return Ok(None) };
        let limit = reader.used_up(now)?.into_iter().find(|limit| limit.provider == *provider);
        Ok(limit.map(|limit| limit.until))
    }

    /// Has the next of the chain go on, if there is one, or gives the step up.
    pub(super) fn fall_back(
        &self,
        office: &mut Office,
        tier: Option<ModelTier>,
        failed: &NoAnswer,
    ) -> Result<Way, Error> {
        let chain = office.staff().chain(tier).clone();
        match chain.pass_over(failed.fault, failed.until) {
            Then::Ask(next) => {
                let whom = Some(chain.current().name.as_str());
                let said = failed.complaint.as_deref();
                let gone = Absentee { whom, fault: failed.fault, said, waits: None };
                let because = giving_up::no_answer(self.id, gone).message;
                self.reassign(office, tier, next, because)?;
                Ok(Way::Stays)
            }
            Then::Stop(passed) => {
                let member = &chain.members()[passed.member.min(chain.members().len() - 1)];
                let waits = passed.until.map(|until| {
                    let on = member.provider.as_deref().unwrap_or(&member.name);
                    waits_for(on, until, self.id, self.commands.now())
                });
                let whom = Some(member.name.as_str());
                // What was said last was not said by somebody who was passed over before.
                let said = failed.complaint.as_deref().filter(|_| member.name == chain.current().name);
                self.park(Absentee { whom, fault: passed.fault, said, waits: waits.as_ref() }, failed.ear)
            }
        }
    }

    /// Gives the step up because nobody answers, unless somebody has just said something.
    pub(super) fn give_up_answer(&self, failed: &NoAnswer) -> Result<Way, Error> {
        let waits = failed.until.map(|until| waits_for("rehearsal", until, self.id, self.commands.now()));
        let said = failed.complaint.as_deref();
        let absentee = Absentee { whom: None, fault: failed.fault, said, waits: waits.as_ref() };
        self.park(absentee, failed.ear)
    }

    fn park(&self, absentee: Absentee<'_>, ear: Option<Ear>) -> Result<Way, Error> {
        let reasons = vec![giving_up::no_answer(self.id, absentee)];
        let parking = Parking { reasons, waits: absentee.waits.cloned() };
        let Some(ear) = ear else {
            self.commands.park(self.id, self.epoch, &parking)?;
            return Ok(Way::Left);
        };
        Ok(match self.commands.park_unless_told(self.id, self.epoch, &parking, ear)? {
            Heard::Nothing => Way::Left,
            Heard::Something => Way::Stays,
        })
    }

    /// Puts on record that somebody else is asked from here on, and why.
    fn reassign(
        &self,
        office: &mut Office,
        tier: Option<ModelTier>,
        chain: Succession,
        because: String,
    ) -> Result<(), Error> {
        let agent = chain.current().name.clone();
        office.change(office.staff().clone().with(tier, chain));
        let settings = Content::Inline(json!(office.assignment()));
        let taint = self.commands.load_session(self.id)?.taint;
        let act = AgentAct::Assigned { agent, settings, because: Some(because), taint };
        self.commands.act(self.id, self.epoch, &[act])
    }
}
