//! Sessions that follow a workflow: start, advance, and everything around them.

mod advance;
mod checkpoint;
mod gate;
mod handing;
mod recall;
mod rehydrate;
mod report;
mod rewind;
mod start;
mod work;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul_core::canonical;
use longhaul_core::session::{Actor, Session};
use longhaul_core::walk::{Coordinator, Given, Standing};
use longhaul_core::workflow::Workflow;
use longhaul_core::workflow::answer::judge_text;
use longhaul_events::{Content, Digest, Epoch, Nonce, Place};
use serde_json::Value;

pub use advance::Advance;
pub use checkpoint::Checkpoint;
pub use gate::AnswerGate;
pub use rehydrate::{PlanState, PlannedStep, Worth};
pub use rewind::Rewind;
pub use start::StartSession;
pub use work::{WorkOrder, WorkResult};

use super::Commands;
use crate::error::Error;
use crate::reading::parsed;

/// How many values are kept in memory; the lot is dropped when there are more.
const MOST_KEPT: usize = 64;

/// What this process has read from blobs: workflows, lists, large vars. A blob never changes under its
/// digest, but redaction may take values out of it, so nothing outlives the state epoch it was read in.
#[derive(Default)]
pub(super) struct Shelf {
    values: Mutex<(u64, BTreeMap<Digest, Arc<Value>>)>,
    workflows: Mutex<(u64, BTreeMap<Digest, Arc<Workflow>>)>,
}

/// Refuses words that are too long to keep, or no text at all.
fn check_text(what: &str, text: &str) -> Result<(), Error> {
    let reasons = judge_text(what, text);
    if reasons.is_empty() { Ok(()) } else { Err(Error::BadAnswer(reasons)) }
}

impl Commands {
    /// The workflow that a session pinned when it started.
    pub(crate) fn workflow_of(&self, session: &Session) -> Result<Arc<Workflow>, Error> {
        let pinned = session.workflow.as_ref().ok_or(Error::NoWorkflow(session.id))?;
        // By what it holds, not by what an event says that it holds.
        let digest = match &pinned.workflow {
            Content::Blob(blob) => blob.sha256,
            Content::Inline(value) => canonical::hash(value)?,
        };
        let epoch = self.recorder.log.state_epoch();
        let mut known = self.shelf.workflows.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0 != epoch || known.1.len() >= MOST_KEPT {
            *known = (epoch, BTreeMap::new());
        }
        if let Some(workflow) = known.1.get(&digest) {
            return Ok(workflow.clone());
        }
        let unreadable = |problem: String| Error::WorkflowUnreadable { session: session.id, problem };
        let workflow: Workflow = match &pinned.workflow {
            Content::Blob(blob) => {
                let bytes = self.recorder.log.blob(blob.sha256)?;
                if canonical::sha256(&bytes) != blob.sha256 {
                    return Err(unreadable("a value was redacted from it".to_owned()));
                }
                serde_json::from_slice(&bytes)
            }
            Content::Inline(_) if digest != pinned.hash => {
                return Err(unreadable("a value was redacted from it".to_owned()));
            }
            Content::Inline(value) => serde_json::from_value(value.clone()),
        }
        .map_err(|error| unreadable(error.to_string()))?;
        let workflow = Arc::new(workflow);
        known.1.insert(digest, workflow.clone());
        Ok(workflow)
    }

    pub(crate) fn shared_value(&self, content: &Content) -> Result<Arc<Value>, Error> {
        let digest = match content {
            Content::Inline(value) => return Ok(Arc::new(value.clone())),
            Content::Blob(blob) => blob.sha256,
        };
        let epoch = self.recorder.log.state_epoch();
        let mut values = self.shelf.values.lock().unwrap_or_else(PoisonError::into_inner);
        if values.0 != epoch || values.1.len() >= MOST_KEPT {
            *values = (epoch, BTreeMap::new());
        }
        if let Some(value) = values.1.get(&digest) {
            return Ok(value.clone());
        }
        let value = Arc::new(parsed(&self.recorder.log.blob(digest)?));
        values.1.insert(digest, value.clone());
        Ok(value)
    }

    /// A place in a workflow with every value at hand.
    fn standing<'a>(
        &self,
        workflow: &'a Workflow,
        session: &Session,
        place: &Place,
        vars: &BTreeMap<String, Content>,
    ) -> Result<Standing<'a>, Error> {
        let coordinator = session.parent.map_or(Coordinator::Nobody, |_| Coordinator::Parent);
        let vars = vars
            .iter()
            .map(|(name, content)| Ok((name.clone(), self.shared_value(content)?)))
            .collect::<Result<_, Error>>()?;
        let items = place
            .frames
            .iter()
            .map(|frame| frame.items.as_ref().map(|items| self.shared_value(items)).transpose())
            .collect::<Result<_, Error>>()?;
        Ok(Standing { session: session.id, workflow, coordinator, place: place.clone(), vars, items })
    }

    fn standing_of<'a>(&self, workflow: &'a Workflow, session: &Session) -> Result<Standing<'a>, Error> {
        self.standing(workflow, session, &session.place, &session.vars)
    }

    fn nonce(&self) -> Nonce {
        Nonce::from_bytes(self.entropy.bytes())
    }

    fn given(&self) -> Given {
        Given { nonce: self.nonce(), now: self.clock.now() }
    }

    fn actor(&self, epoch: Option<Epoch>) -> Actor {
        Actor { epoch, now: self.clock.now() }
    }
}
