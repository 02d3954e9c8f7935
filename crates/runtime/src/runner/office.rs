//! The office of a staff: agents are made when they are first asked, and all that they ask goes through one meter.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use longhaul_agent::{Agent, Rehearsal};
use longhaul_core::budget::Price;
use longhaul_core::roster::{Definition, Kind};
use longhaul_core::workflow::ModelTier;
use longhaul_events::Account;
use longhaul_gateway::{Meter, Upstreams};

use super::assignment::{Assignment, Staff, Who};
use crate::error::{Error, HiringError};
use crate::gateway::{Driven, Token};
use crate::metering::SessionMeter;
use crate::system::System;

/// Everybody who may be asked for a session.
#[derive(Debug)]
pub(super) struct Office {
    assignment: Assignment,
    staff: Staff,
    door: GatewayDoor,
    made: BTreeMap<String, Box<dyn Agent>>,
    /// Of the driver that has the session now.
    meter: Option<Arc<SessionMeter>>,
}

/// Where the gateway of the session is asked, and what it is shown.
#[derive(Debug, Clone)]
pub(super) struct GatewayDoor {
    pub(super) socket: PathBuf,
    pub(super) token: Token,
}

/// Whoever is asked next, and on whose account.
#[derive(Debug)]
pub(super) struct Chosen<'a> {
    pub(super) agent: &'a mut dyn Agent,
    pub(super) price: Price,
    pub(super) account: Account,
    pub(super) meter: Option<Arc<SessionMeter>>,
}

impl<'a> Chosen<'a> {
    /// A script says itself what its turns cost.
    pub(super) fn rehearsal(agent: &'a mut Rehearsal) -> Result<Self, Error> {
        let price = agent.pricing().known()?;
        Ok(Self { agent, price, account: Account::Turn, meter: None })
    }
}

impl Office {
    pub(super) fn new(assignment: Assignment, staff: Staff, door: GatewayDoor) -> Self {
        Self { assignment, staff, door, made: BTreeMap::new(), meter: None }
    }

    pub(super) const fn staff(&self) -> &Staff {
        &self.staff
    }

    /// The assignment with the staff as it is now.
    pub(super) fn assignment(&self) -> Assignment {
        Assignment { who: Who::Staff(self.staff.clone()), ..self.assignment.clone() }
    }

    pub(super) fn change(&mut self, staff: Staff) {
        self.staff = staff;
    }

    /// What the gateway of a driver needs: whose models can be asked, and who counts.
    pub(super) fn open(
        &mut self,
        system: &System,
        driven: Driven,
    ) -> Result<(Upstreams, Arc<dyn Meter>), Error> {
        let upstreams = system.upstreams(&self.staff)?;
        let rates = system.rates(&self.staff)?;
        let meter = SessionMeter::new(system.settings().clone(), driven.session, driven.driver, rates);
        let meter = Arc::new(meter);
        self.meter = Some(meter.clone());
        Ok((upstreams, meter))
    }

    /// Whoever is asked for a step.
    pub(super) fn choose(&mut self, tier: Option<ModelTier>) -> Result<Chosen<'_>, Error> {
        let definition = self.staff.chain(tier).current().clone();
        let price = definition.pricing.known()?;
        let (account, meter) = match &definition.provider {
            Some(_) => (Account::Bills, self.meter.clone()),
            // Nobody but the agent itself knows what it used.
            None => (Account::Turn, None),
        };
        if !self.made.contains_key(&definition.name) {
            let agent = hire(&definition, &self.door)?;
            self.made.insert(definition.name.clone(), agent);
        }
        let agent = self.made.get_mut(&definition.name).expect("it was made above").as_mut();
        Ok(Chosen { agent, price, account, meter })
    }
}

fn hire(definition: &Definition, _door: &GatewayDoor) -> Result<Box<dyn Agent>, Error> {
    match &definition.kind {
        Kind::Model { .. } | Kind::Acp { .. } | Kind::Command { .. } | Kind::Rehearsal => {
            let (name, what) = (definition.name.clone(), "what is not there yet".to_owned());
            Err(HiringError::NotReady { name, what }.into())
        }
    }
}
