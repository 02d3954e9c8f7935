//! Whether a session can be followed at all.

use longhaul_core::canonical::sha256;
use longhaul_core::walk::follow_up::is_follow_up;
use longhaul_core::workflow::Workflow;
use longhaul_events::{Content, SessionEvent, SessionId, StepId};
use longhaul_store::Log as _;

use super::Reader;
use crate::error::Error;

impl Reader {
    /// Why nobody can go on with a session: what it holds is true to the log, but fits no workflow.
    pub fn cannot_follow(&self, id: SessionId) -> Result<Option<String>, Error> {
        let (mut pinned, mut at): (Option<Content>, Option<StepId>) = (None, None);
        self.each_event(id, |told| {
            match told.event {
                SessionEvent::WorkflowPinned { workflow, .. } => pinned = Some(workflow),
                SessionEvent::StepHandedOut { step, .. }
                | SessionEvent::WorkBegan { step, .. }
                | SessionEvent::GateOpened { step, .. }
                | SessionEvent::Unparked { step, .. }
                | SessionEvent::Parked { step, .. } => at = Some(step),
                SessionEvent::Forked { restored, .. } => {
                    at = restored.map(|restored| restored.step).or(at.take());
                }
                SessionEvent::Opened { .. }
                | SessionEvent::DriverTaken { .. }
                | SessionEvent::DriverRenewed { .. }
                | SessionEvent::DriverExpired { .. }
                | SessionEvent::DriverReleased { .. }
                | SessionEvent::StepFinished { .. }
                | SessionEvent::HandleReissued { .. }
                | SessionEvent::Closed { .. }
                | SessionEvent::StopRequested { .. }
                | SessionEvent::VarsChanged { .. }
                | SessionEvent::WayChosen { .. }
                | SessionEvent::Decided { .. }
                | SessionEvent::LoopExhausted { .. }
                | SessionEvent::AttemptRefused { .. }
                | SessionEvent::WorkStarted { .. }
                | SessionEvent::WorkFinished { .. }
                | SessionEvent::GateAnswered { .. }
                | SessionEvent::GateExpired { .. }
                | SessionEvent::Checkpointed { .. }
                | SessionEvent::Reported { .. }
                | SessionEvent::Agent { .. }
                | SessionEvent::Rewound { .. }
                | SessionEvent::Continued { .. }
                | SessionEvent::CheckoutMade { .. }
                | SessionEvent::Snapshotted { .. }
                | SessionEvent::CheckoutRemoved { .. }
                | SessionEvent::Delivery { .. } => {}
            }
            Ok(())
        })?;
        let Some(pinned) = pinned else { return Ok(None) };
        if let Content::Blob(blob) = &pinned
            && sha256(&self.store.blob(blob.sha256)?) != blob.sha256
        {
            return Ok(Some("its workflow cannot be read (a value was redacted from it)".to_owned()));
        }
        let workflow: Workflow = match serde_json::from_value(self.value(&pinned)?) {
            Ok(workflow) => workflow,
            Err(error) => return Ok(Some(format!("its workflow cannot be read ({error})"))),
        };
        let is_there =
            |step: &StepId| is_follow_up(step) || workflow.all_steps().iter().any(|one| one.id == step.0);
        Ok(at.filter(|step| !is_there(step)).map(|step| format!("step `{step}` is not in its workflow")))
    }
}
