//! Steps that the engine performs itself, seen from whoever records them.

use std::sync::Arc;

use longhaul_core::parking::ParkCode;
use longhaul_core::scrub::Scrubber;
use longhaul_core::session::{Arrival, Command, Session, Work};
use longhaul_core::walk::{self, Walk};
use longhaul_core::workflow::Step;
use longhaul_core::workflow::scope::Scope;
use longhaul_events::{Content, Driver, Epoch, NodeId, Seq, SessionEvent, SessionId};
use serde_json::Value;

use super::Commands;
use crate::error::Error;
use crate::recorder::{Contents, Decided};

/// A step to perform, with the values that its templates need.
#[derive(Debug, Clone)]
pub struct WorkOrder {
    pub work: NodeId,
    pub step: Step,
    /// The driver that had started it before, if one had.
    pub started: Option<Epoch>,
    vars: std::collections::BTreeMap<String, Arc<Value>>,
    local: std::collections::BTreeMap<String, Value>,
}

impl WorkOrder {
    pub fn scope(&self) -> Scope<'_> {
        Scope { local: self.local.clone(), ..Scope::new(&self.vars) }
    }
}

/// How a piece of work ended.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkResult {
    Done(Value),
    /// It had been started, and nobody knows how it ended.
    Unknown,
}

impl Commands {
    /// The work that a session waits for.
    pub fn work_order(&self, id: SessionId) -> Result<Option<WorkOrder>, Error> {
        let session = self.load_session(id)?;
        let Some(Work { work, step, started }) = session.working() else { return Ok(None) };
        let workflow = self.workflow_of(&session)?;
        let standing = self.standing_of(&workflow, &session)?;
        let step_there = walk::step(&workflow, &step.0);
        let Some(step) = step_there.cloned() else { return Err(Error::NoWorkflow(id)) };
        let local = walk::scope(&standing).local;
        Ok(Some(WorkOrder { work: *work, step, started: *started, vars: standing.vars, local }))
    }

    /// Puts on record that the work is about to be done. From here on its outcome is unknown.
    pub fn start_work(&self, id: SessionId, epoch: Epoch, work: NodeId, what: &Value) -> Result<(), Error> {
        self.decide_and_keep(id, &Contents::default(), |session| {
            let command = Command::StartWork { epoch, work, what: Content::Inline(what.clone()) };
            Ok(Decided::Events(session.decide(command)?, ()))
        })
        .map(|_| ())
    }

    /// Records how the work ended, and goes on from there.
    pub fn finish_work(
        &self,
        id: SessionId,
        epoch: Epoch,
        work: NodeId,
        result: &WorkResult,
    ) -> Result<(), Error> {
        self.decide_and_keep(id, &Contents::default(), |session| {
            let onward = self.after_work(session, result)?;
            let value = match result {
                WorkResult::Done(value) => value.clone(),
                WorkResult::Unknown => serde_json::json!({ "outcome": "unknown" }),
            };
            let command = Command::FinishWork { epoch, work, result: Content::Inline(value), onward };
            Ok(Decided::Events(session.decide(command)?, ()))
        })
        .map(|_| ())
    }

    /// All who ever drove the session, each with the epoch that it was given.
    pub(crate) fn drivers(&self, id: SessionId) -> Result<Vec<(Driver, Epoch)>, Error> {
        let mut drivers = Vec::new();
        self.each_decision(id, Seq(0), |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                if let SessionEvent::DriverTaken { epoch, driver, .. } = event {
                    drivers.push((driver, epoch));
                }
            }
            Ok(None::<()>)
        })?;
        Ok(drivers)
    }

    /// A text without the secrets that are known.
    pub(crate) fn scrubbed(&self, text: &str) -> String {
        self.scrubber().text(text).into_owned()
    }

    pub(crate) fn scrubber(&self) -> &Arc<Scrubber> {
        self.recorder.scrubber()
    }

    fn after_work(
        &self,
        session: &Session,
        result: &WorkResult,
    ) -> Result<longhaul_core::session::Onward, Error> {
        let step = session.working().map(|work| work.step.clone()).ok_or(Error::NoWorkflow(session.id))?;
        let park = |reasons| {
            let place = session.place.clone();
            Arrival::Park { step: step.clone(), reasons, place }.into()
        };
        let value = match result {
            WorkResult::Done(value) => value,
            WorkResult::Unknown => {
                let unknown = ParkCode::OutcomeUnknown.reason(
                    format!(
                        "`{}` had started when its runner died; what was left of it was ended, and nobody knows how far it came",
                        step.0
                    ),
                    "look at what it did, then rewind to a step before it; `rerun: true` in the workflow \
                     says that such a step may simply be run again",
                );
                return Ok(park(vec![unknown]));
            }
        };
        let workflow = self.workflow_of(session)?;
        let walk = Walk::new(self.standing_of(&workflow, session)?, self.given());
        Ok(walk.after_work(&step, value).unwrap_or_else(park))
    }
}
