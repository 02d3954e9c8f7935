//! Going back on purpose, going on after the end, giving up.

use longhaul_core::session::{Arrival, Command, NewGate, NewStep, RewindTo, Session};
use longhaul_core::walk::follow_up;
use longhaul_core::walk::view::StepView;
use longhaul_events::{
    Channel, CloseOutcome, Content, GateKind, NodeId, Nonce, Reason, Restored, Seq, SessionEvent, SessionId,
    StepId, Timestamp,
};
use serde_json::json;

use super::{Commands, check_text};
use crate::error::Error;
use crate::recorder::{Contents, Decided};
use crate::terminal;

#[derive(Debug, Clone)]
pub struct Rewind {
    pub session: SessionId,
    /// The step to go back to, as it was last handed out.
    pub step: StepId,
    pub reason: String,
    pub by: String,
}

/// How many steps are named to choose from, the latest of them.
const MOST_NAMED: usize = 20;

/// Where a session once came to, and may come to again.
pub(super) struct Stop {
    node: NodeId,
    pub(super) step: StepId,
    at: StopAt,
}

enum StopAt {
    Step { prompt: Content },
    Work,
    Gate { question: Content, accepts: Channel, wait_ms: u64 },
}

impl Commands {
    /// Takes a session back to an earlier step: a fork with a reason. A person's to do: it also takes up what was
    /// parked, failed or completed. Touches no file; what a checkout of the session's own has to be put back to goes
    /// on record, and whoever goes on begins with that.
    pub fn rewind(&self, rewind: &Rewind) -> Result<StepView, Error> {
        terminal::refuse_agents()?;
        check_text("the reason", &rewind.reason)?;
        let stop = self.last_stop(rewind)?;
        let restored = self.state_at(rewind.session, stop.node)?;
        let workplace = self.load_session(rewind.session)?.workplace;
        let has_files = workplace.is_some_and(|workplace| !workplace.is_gone);
        let restore = if has_files { self.beginning_of(rewind.session, stop.node)? } else { None };
        let ((), after) = self.decide_and_keep(rewind.session, &Contents::default(), |session| {
            let nonce = self.nonce();
            let to = RewindTo {
                node: stop.node,
                reason: Content::Inline(json!(rewind.reason)),
                by: rewind.by.clone(),
                restored: restored.clone(),
                restore: restore.clone(),
                nonce,
                arrival: self.arrive_again(&stop.at, &restored, nonce, &rewind.reason)?,
            };
            let command = Command::Rewind { rewind: to };
            Ok(Decided::Events(session.decide(command)?, ()))
        })?;
        let shown = self.shown(&after.state, &after.events, after.at)?.expect("rewinding leads somewhere");
        let left = match (has_files, restore) {
            (_, Some(_)) => None,
            (true, None) => Some("files are as they are: there is no snapshot of how this step began"),
            (false, None) => {
                Some("files are as they are: a rewind takes back steps, not changes to the checkout")
            }
        };
        self.view(&after.state, shown, left.map(str::to_owned).into_iter().collect())
    }

    /// Where the session came to, on the way that led to where it stands.
    pub(super) fn stops(&self, id: SessionId) -> Result<Vec<Stop>, Error> {
        let mut stops: Vec<Stop> = Vec::new();
        self.each_decision(id, Seq(0), |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                // What a fork left behind is not on the way any more.
                if let SessionEvent::Forked { from, .. } = &event {
                    stops.retain(|stop| stop.node <= *from);
                }
                stops.extend(stop(event, decision.at));
            }
            Ok(None::<()>)
        })?;
        Ok(stops)
    }

    /// How the session last came to a step.
    fn last_stop(&self, rewind: &Rewind) -> Result<Stop, Error> {
        let mut stops = self.stops(rewind.session)?;
        if let Some(last) = stops.iter().rposition(|stop| stop.step == rewind.step) {
            return Ok(stops.swap_remove(last));
        }
        let mut steps: Vec<String> = Vec::new();
        for stop in &stops {
            let step = format!("`{}`", stop.step.0);
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
        let more = steps.len().saturating_sub(MOST_NAMED);
        let mut named = steps.split_off(more).join(", ");
        if more > 0 {
            named = format!("{named} (and {more} before them)");
        }
        Err(Error::NeverHandedOut { session: rewind.session, step: rewind.step.0.clone(), steps: named })
    }

    /// The same step, work or gate once more, with the reason where somebody reads it.
    fn arrive_again(
        &self,
        stop: &StopAt,
        restored: &Restored,
        nonce: Nonce,
        reason: &str,
    ) -> Result<Arrival, Error> {
        let (step, place) = (restored.step.clone(), restored.place.clone());
        Ok(match stop {
            StopAt::Gate { question, accepts, wait_ms } => {
                let until = self.clock.now().plus_ms(*wait_ms);
                let (kind, question, accepts) = (GateKind::Gate, question.clone(), *accepts);
                Arrival::Gate(NewGate { step, kind, question, accepts, until, place })
            }
            StopAt::Step { prompt } => {
                let mut prompt = self.value_of(prompt)?;
                if let Some(text) = prompt["text"].as_str() {
                    prompt["text"] = json!(format!("{text}\n\n## Taken back to this step\n\n{reason}\n"));
                }
                Arrival::Step(NewStep { step, prompt: Content::Inline(prompt), nonce, place })
            }
            StopAt::Work => Arrival::Work { step, place },
        })
    }

    /// Opens a follow-up phase of a completed session.
    pub fn continue_session(&self, id: SessionId, text: &str) -> Result<StepView, Error> {
        check_text("the text", text)?;
        if text.trim().is_empty() {
            let fix = "say what is wanted beyond what was done";
            return Err(Error::BadAnswer(vec![Reason::new("text_missing", "the text is empty", fix)]));
        }
        let ((), after) = self.decide_and_keep(id, &Contents::default(), |session| {
            let workflow = self.workflow_of(session)?;
            let standing = self.standing_of(&workflow, session)?;
            let step = follow_up::ask(&standing, session.phase.saturating_add(1), text, self.nonce());
            let text = Content::Inline(json!(text));
            let command = Command::Continue { actor: self.actor(None), text, step };
            Ok(Decided::Events(session.decide(command)?, ()))
        })?;
        let shown = self.shown(&after.state, &after.events, after.at)?.expect("continuing hands out");
        self.view(&after.state, shown, Vec::new())
    }

    /// Ends a session for good, on somebody's word.
    pub fn cancel_session(&self, id: SessionId, by: &str, reason: Option<&str>) -> Result<(), Error> {
        terminal::refuse_agents()?;
        check_text("the reason", reason.unwrap_or_default())?;
        let outcome = CloseOutcome::Cancelled { by: by.to_owned(), reason: reason.map(str::to_owned) };
        self.close_session(id, &outcome, None)
    }

    /// A session as its events have it.
    pub fn session(&self, id: SessionId) -> Result<Session, Error> {
        self.load_session(id)
    }
}

/// The stop that an event makes, if it makes one. Where a session was parked nothing can be done again.
fn stop(event: SessionEvent, at: Timestamp) -> Option<Stop> {
    match event {
        SessionEvent::StepHandedOut { node, step, prompt, .. } => {
            Some(Stop { node, step, at: StopAt::Step { prompt } })
        }
        SessionEvent::WorkBegan { work, step, .. } => Some(Stop { node: work, step, at: StopAt::Work }),
        SessionEvent::GateOpened { gate, step, kind: GateKind::Gate, question, accepts, until, .. } => {
            let wait_ms = u64::try_from(until.0.saturating_sub(at.0)).unwrap_or_default();
            Some(Stop { node: gate, step, at: StopAt::Gate { question, accepts, wait_ms } })
        }
        // Whoever goes back to a step that is confirmed wants the step, and is asked again after it.
        SessionEvent::GateOpened { kind: GateKind::Confirmation, .. }
        | SessionEvent::Opened { .. }
        | SessionEvent::DriverTaken { .. }
        | SessionEvent::DriverRenewed { .. }
        | SessionEvent::DriverExpired { .. }
        | SessionEvent::DriverReleased { .. }
        | SessionEvent::StepFinished { .. }
        | SessionEvent::HandleReissued { .. }
        | SessionEvent::Forked { .. }
        | SessionEvent::Closed { .. }
        | SessionEvent::WorkflowPinned { .. }
        | SessionEvent::VarsChanged { .. }
        | SessionEvent::WayChosen { .. }
        | SessionEvent::Decided { .. }
        | SessionEvent::LoopExhausted { .. }
        | SessionEvent::AttemptRefused { .. }
        | SessionEvent::WorkStarted { .. }
        | SessionEvent::WorkFinished { .. }
        | SessionEvent::GateAnswered { .. }
        | SessionEvent::GateExpired { .. }
        | SessionEvent::Parked { .. }
        | SessionEvent::Unparked { .. }
        | SessionEvent::StopRequested { .. }
        | SessionEvent::Checkpointed { .. }
        | SessionEvent::Reported { .. }
        | SessionEvent::Agent { .. }
        | SessionEvent::Rewound { .. }
        | SessionEvent::Continued { .. }
        | SessionEvent::CheckoutMade { .. }
        | SessionEvent::Snapshotted { .. }
        | SessionEvent::CheckoutRemoved { .. }
        | SessionEvent::Delivery { .. } => None,
    }
}
