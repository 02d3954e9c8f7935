//! The office of a staff: agents are made when they are first asked, and all that they ask goes through one meter.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use longhaul_agent::tools::Rights;
use longhaul_agent::{Agent, ModelFacts, OwnLoop, Rehearsal, RemoteMind, Telling, tools};
use longhaul_core::budget::Price;
use longhaul_core::conversation::COMPLETE_STEP;
use longhaul_core::roster::{self, Definition, Kind};
use longhaul_core::transcript::{Foundation, Layers};
use longhaul_core::workflow::ModelTier;
use longhaul_events::{Account, SessionId};
use longhaul_gateway::{Meter, Upstreams};
use longhaul_model::{Door, ToolSpec, Wire};
use serde_json::Value;

use super::assignment::{Assignment, Staff, Who};
use super::handed::{Bench, Handed};
use crate::commands::Commands;
use crate::error::{Error, HiringError};
use crate::gateway::{Driven, Token};
use crate::leaf;
use crate::metering::SessionMeter;
use crate::system::System;

/// What a model has room for that nothing is known of.
const USUAL_WINDOW: u64 = 128_000;
const USUAL_OUTPUT: u64 = 8_192;
/// Longer answers are not asked for, whatever a model could give: all of it is set aside while a turn is under way.
const LONGEST_TURN: u64 = 32_000;

const COMPLETE_WORDS: &str = "Hand in the finished step. If it is accepted, the next step comes as the next message; if not, the \
     answer says what is missing.";

/// Everybody who may be asked for a session.
#[derive(Debug)]
pub(super) struct Office {
    assignment: Assignment,
    staff: Staff,
    telling: Telling,
    door: GatewayDoor,
    made: BTreeMap<String, Box<dyn Agent>>,
    bench: Option<Bench>,
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
    pub(super) fn new(assignment: Assignment, staff: Staff, telling: Telling, door: GatewayDoor) -> Self {
        Self { assignment, staff, telling, door, made: BTreeMap::new(), bench: None, meter: None }
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
        commands: &Arc<Commands>,
        driven: Driven,
    ) -> Result<(Upstreams, Arc<dyn Meter>), Error> {
        let upstreams = system.upstreams(&self.staff)?;
        let rates = system.rates(&self.staff)?;
        let meter = SessionMeter::new(commands.clone(), driven.session, driven.driver, rates);
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
            let agent = self.hire(&definition)?;
            self.made.insert(definition.name.clone(), agent);
        }
        let agent = self.made.get_mut(&definition.name).expect("it was made above").as_mut();
        Ok(Chosen { agent, price, account, meter })
    }

    /// Makes an agent of a definition.
    fn hire(&self, definition: &Definition) -> Result<Box<dyn Agent>, Error> {
        let not_ready =
            |what: &str| HiringError::NotReady { name: definition.name.clone(), what: what.to_owned() };
        match &definition.kind {
            Kind::Model { wire } => {
                Ok(Box::new(own_loop(definition, *wire, self.telling.clone(), &self.door)?))
            }
            Kind::Acp { .. } | Kind::Command { .. } => {
                let bench = self.bench.clone().ok_or_else(|| not_ready("a gateway"))?;
                Ok(Box::new(Handed::new(definition.clone(), bench)?))
            }
            Kind::Rehearsal => Err(not_ready("a cassette").into()),
        }
    }

    /// From here on there is a place to work for whoever has hands of its own.
    pub(super) fn sit_down(&mut self, bench: Bench) {
        self.bench = Some(bench);
    }

    /// Ends whoever works by itself.
    pub(super) fn stand_up(&mut self) {
        for agent in self.made.values_mut().filter(|agent| agent.has_hands()) {
            if let Err(problem) = agent.end() {
                tracing::warn!(%problem, "an agent did not end well");
            }
        }
        self.made.retain(|_, agent| !agent.has_hands());
    }
}

fn own_loop(
    definition: &Definition,
    wire: roster::Wire,
    telling: Telling,
    door: &GatewayDoor,
) -> Result<OwnLoop<RemoteMind>, Error> {
    let not_ready =
        |what: &str| HiringError::NotReady { name: definition.name.clone(), what: what.to_owned() };
    let provider = definition.provider.clone().ok_or_else(|| not_ready("a provider"))?;
    let name = definition.model.clone().ok_or_else(|| not_ready("the name of a model"))?;
    let wire = match wire {
        roster::Wire::AnthropicMessages => Wire::AnthropicMessages,
        roster::Wire::OpenAiChat => Wire::OpenAiChat,
        roster::Wire::OpenAiResponses => Wire::OpenAiResponses,
    };
    let window = definition.window.unwrap_or(USUAL_WINDOW);
    let max_output = definition.max_output.unwrap_or(USUAL_OUTPUT).min(LONGEST_TURN).min(window / 2);
    let model = ModelFacts { name, window, max_output, pricing: definition.pricing };
    let token = door.token.reveal().to_owned();
    let mind = RemoteMind { door: Door { socket: door.socket.clone(), provider, token }, wire };
    Ok(OwnLoop::new(mind, model, telling))
}

/// What every request of a session begins with.
pub(super) fn telling(commands: &Commands, id: SessionId, rights: Rights) -> Result<Telling, Error> {
    let workflow = commands.workflow_of(&commands.load_session(id)?)?;
    let goal = commands.goal_of(id)?;
    let layers = Layers::of(&Foundation { workflow: &workflow, goal: &goal, rules: None, brief: None });
    let own = tools::TOOLS.iter().filter(|tool| tool.is_for(rights));
    let own = own.map(|tool| spec(tool.name, tool.description, (tool.input)()));
    let of_session = leaf::TOOLS.iter().map(|tool| spec(tool.name, own_words(tool), own_input(tool)));
    Ok(Telling { layers, tools: own.chain(of_session).collect() })
}

fn spec(name: &str, description: &str, input: Value) -> ToolSpec {
    ToolSpec { name: name.to_owned(), description: description.to_owned(), input }
}

/// To our own loop a step comes as a message, and not as what a call gives.
fn own_words(tool: &leaf::Tool) -> &'static str {
    if tool.name == COMPLETE_STEP { COMPLETE_WORDS } else { tool.description }
}

/// The step that is out is the only one that our own loop can mean, so it needs no token; and vars have one name.
fn own_input(tool: &leaf::Tool) -> Value {
    let mut input = (tool.input)();
    if let Some(fields) = input["properties"].as_object_mut() {
        fields.shift_remove("continueToken");
        fields.shift_remove("context");
    }
    input
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_model_hands_a_step_in_without_a_token() {
        let complete = leaf::TOOLS.iter().find(|tool| tool.name == COMPLETE_STEP).unwrap();
        let fields: Vec<String> =
            own_input(complete)["properties"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(json!(fields), json!(["notes", "artifacts", "vars"]));
        assert!(!own_words(complete).contains("token"));
        let other = leaf::TOOLS.iter().find(|tool| tool.name == "note_fact").unwrap();
        assert_eq!((own_input(other), own_words(other)), ((other.input)(), other.description));
    }
}
