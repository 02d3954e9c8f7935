//! The tree of sessions that a task is: who stands below whom, and for whom those above wait.
//!
//! All of it is told from what is on record, so any process that looks comes to the same, and a tree that waits needs none.

use longhaul_core::outcome::Outcome;
use longhaul_core::parking::ParkCode;
use longhaul_core::session::{At, Session, Workplace};
use longhaul_core::walk::children::{self, End, EndWord, Member, Next, Stands};
use longhaul_core::walk::step;
use longhaul_core::workflow::Step;
use longhaul_core::workflow::step::{Files, OnFailure};
use longhaul_events::{CloseOutcome, NodeId, Seq, SessionEvent, SessionId};
use longhaul_store::views::{SessionRow, SessionStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::commands::Commands;
use crate::error::Error;
use crate::reader::{Reader, outcome_of};
use crate::system::System;
use crate::workers::{WORKER, is_worker};

/// More sessions are never one above the other; an import may claim anything.
const MOST_LEVELS: usize = 64;
/// How far below the session that a person started there may be others.
const DEEPEST: usize = 3;
/// How many sessions a task may have below its first.
const MOST: usize = 60;

/// A session that a step starts, as it goes on record before it is opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Planned {
    /// None where it cannot even be opened.
    pub(crate) session: Option<SessionId>,
    pub(crate) workflow: String,
    pub(crate) files: Files,
    /// Why it cannot be opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) because: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<String>,
}

/// The sessions of the step that a session is at.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) step: Step,
    pub(crate) plan: Vec<Planned>,
    pub(crate) members: Vec<Member>,
}

impl Group {
    pub(crate) fn next(&self) -> Next {
        match self.step.kind.family() {
            Some(family) => children::next(&family, &self.members),
            None => Next::Finish,
        }
    }
}

/// A session that those above it wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitsFor {
    pub session: SessionId,
    /// None where an agent that we do not drive has to do a step.
    pub outcome: Option<Outcome>,
    step: Option<String>,
}

impl WaitsFor {
    pub fn is_at_gate(&self) -> bool {
        matches!(&self.outcome, Some(Outcome::Parked(why)) if why.reason == longhaul_core::outcome::GATE)
    }

    /// For whom is waited, and why.
    pub fn in_words(&self) -> String {
        let (session, step) = (self.session, self.step.as_deref().unwrap_or("?"));
        match &self.outcome {
            Some(Outcome::Parked(why)) if why.reason == longhaul_core::outcome::GATE => {
                format!("waits for {session}: gate `{step}`")
            }
            Some(outcome) => format!("waits for {session}: {outcome}"),
            None => format!("waits for {session}: an agent has to do `{step}`"),
        }
    }

    /// The same as the outcome of whoever waits.
    pub fn outcome(&self) -> Option<Outcome> {
        let words = self.in_words();
        let mut outcome = self.outcome.clone()?;
        match &mut outcome {
            Outcome::Blocked(why) | Outcome::Parked(why) | Outcome::CouldNot(why) | Outcome::Failed(why) => {
                why.because = words;
            }
            Outcome::Completed { .. } | Outcome::Cancelled { .. } => return None,
        }
        Some(outcome)
    }
}

impl Commands {
    /// Why so many more sessions are not started below one; `None` if they may be.
    pub(crate) fn refusal_below(&self, id: SessionId, wanted: usize) -> Result<Option<String>, Error> {
        let Some(reader) = self.reader().filter(|_| wanted > 0) else { return Ok(None) };
        let family = reader.family(id)?;
        if family.depth + 1 > DEEPEST {
            return Ok(Some(format!(
                "no session is started more than {DEEPEST} levels below the first of a task"
            )));
        }
        let is_too_much = family.children + wanted > MOST;
        Ok(is_too_much.then(|| {
            format!(
                "the task has had {} sessions below its first, {wanted} more are wanted, and {MOST} are the most",
                family.children
            )
        }))
    }

    pub(crate) fn session_if_there(&self, id: SessionId) -> Result<Option<Session>, Error> {
        match self.load_session(id) {
            Ok(session) => Ok(Some(session)),
            Err(Error::UnknownSession(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The sessions that a piece of work is made of; `None` before that was decided.
    pub(crate) fn plan_of(&self, id: SessionId, work: NodeId) -> Result<Option<Vec<Planned>>, Error> {
        let mut found = None;
        self.each_event_since(id, Seq(work.0.0.saturating_sub(1)), |event| {
            if let SessionEvent::WorkStarted { work: of, what, .. } = event
                && *of == work
            {
                found = Some(what.clone());
            }
        })?;
        let Some(what) = found else { return Ok(None) };
        Ok(serde_json::from_value(self.content(&what)?["children"].clone()).ok())
    }

    /// The sessions of the step that a session is at; `None` if it is at no such step, or nothing was decided yet.
    pub(crate) fn group_of(&self, session: &Session) -> Result<Option<Group>, Error> {
        let Some(work) = session.working().filter(|_| session.closed.is_none()) else { return Ok(None) };
        let workflow = self.workflow_of(session)?;
        let Some(step) = step(&workflow, &work.step.0) else { return Ok(None) };
        let Some(on_failure) = step.kind.family().map(|family| family.on_failure) else { return Ok(None) };
        let Some(plan) = self.plan_of(session.id, work.work)? else { return Ok(None) };
        let mut members = Vec::new();
        for planned in &plan {
            // An agent that we do not drive does one thing at a time.
            let files = if session.agent.is_some() { planned.files } else { Files::Write };
            members.push(Member { files, stands: self.stands(session, planned, on_failure)? });
        }
        Ok(Some(Group { step: step.clone(), plan, members }))
    }

    fn stands(&self, above: &Session, planned: &Planned, on_failure: OnFailure) -> Result<Stands, Error> {
        let Some(id) = planned.session else {
            let code = planned.code.as_deref().and_then(ParkCode::of).unwrap_or(ParkCode::NoSuchWorkflow);
            return Ok(Stands::Over(End::without_result(EndWord::CouldNot, code, planned.because.clone())));
        };
        let Some(session) = self.session_if_there(id)? else { return Ok(Stands::NotThere) };
        if let Some(closed) = &session.closed {
            return Ok(Stands::Over(self.end_of(&session, closed)?));
        }
        // Whoever drives it sees to its end.
        if session.stop.is_some() {
            return Ok(Stands::GoesOn);
        }
        Ok(match (session.outcome(), on_failure) {
            (Some(Outcome::Failed(why)), OnFailure::Continue) => {
                Stands::Over(End::without_result(EndWord::Failed, ParkCode::ChildFailed, Some(why.because)))
            }
            (Some(Outcome::CouldNot(why)), OnFailure::Continue) => {
                Stands::Over(End::without_result(EndWord::CouldNot, ParkCode::ChildFailed, Some(why.because)))
            }
            // One that was opened a moment ago, and nobody was assigned to yet.
            (None, _) if above.agent.is_some() && session.agent.is_none() => Stands::GoesOn,
            (None, _) if self.goes_on(&session)? => Stands::GoesOn,
            (Some(_) | None, _) => Stands::Waits,
        })
    }

    fn end_of(&self, session: &Session, closed: &CloseOutcome) -> Result<End, Error> {
        Ok(match closed {
            CloseOutcome::Completed => End::completed(self.result_of(session)?),
            CloseOutcome::Failed { reason } => {
                End::without_result(EndWord::Failed, ParkCode::ChildFailed, Some(reason.clone()))
            }
            CloseOutcome::Cancelled { by, reason } => {
                let because =
                    reason.as_ref().map_or_else(|| format!("by {by}"), |reason| format!("by {by}: {reason}"));
                End::without_result(EndWord::Cancelled, ParkCode::ChildFailed, Some(because))
            }
        })
    }

    /// What a session hands to the one above it.
    pub fn result_of(&self, session: &Session) -> Result<Value, Error> {
        let workflow = self.workflow_of(session)?;
        for name in children::result_vars(&workflow) {
            if let Some(content) = session.vars.get(name) {
                let value = Value::clone(&*self.shared_value(content)?);
                if !value.is_null() {
                    return Ok(value);
                }
            }
        }
        Ok(Value::Null)
    }

    /// Whether a runner has something to do for a session or for one below it.
    pub(crate) fn goes_on(&self, session: &Session) -> Result<bool, Error> {
        if session.closed.is_some() {
            return Ok(false);
        }
        Ok(match &session.at {
            At::Step(_) => session.agent.is_some(),
            At::Work(_) => match self.group_of(session)? {
                Some(group) => !matches!(group.next(), Next::Wait(_)),
                None => true,
            },
            At::Gate(_) | At::Parked(_) | At::Nothing => false,
        })
    }

    /// The lowest session that one waits for, if nothing below it goes on.
    pub(crate) fn waited_for(&self, session: &Session) -> Result<Option<Session>, Error> {
        let Some(group) = self.group_of(session)? else { return Ok(None) };
        let Next::Wait(index) = group.next() else { return Ok(None) };
        let Some(id) = group.plan[index].session else { return Ok(None) };
        let child = self.load_session(id)?;
        Ok(Some(self.waited_for(&child)?.unwrap_or(child)))
    }

    /// For whom below it a session waits, and why.
    pub fn waits_for(&self, id: SessionId) -> Result<Option<WaitsFor>, Error> {
        let waited = self.waited_for(&self.load_session(id)?)?;
        Ok(waited.map(|child| WaitsFor {
            session: child.id,
            outcome: child.outcome(),
            step: child.step().map(|step| step.0.clone()),
        }))
    }

    /// How far all sessions below a step have come: a number that only grows.
    pub(crate) fn come_below(&self, session: &Session) -> Result<u64, Error> {
        let Some(group) = self.group_of(session)? else { return Ok(0) };
        let mut sum = 0_u64;
        for id in group.plan.iter().filter_map(|planned| planned.session) {
            if let Some(child) = self.session_if_there(id)? {
                let own = child.steps_finished + child.spent.turns + u64::from(child.closed.is_some());
                sum += 1 + own + child.node().map_or(0, |node| node.0.0) + self.come_below(&child)?;
            }
        }
        Ok(sum)
    }

    /// The files that a session works on, and whose they are: its own, or those of the nearest above it that has some.
    pub(crate) fn workplace_of(&self, session: &Session) -> Result<Option<(SessionId, Workplace)>, Error> {
        let mut at = session.clone();
        for _ in 0..MOST_LEVELS {
            if let Some(workplace) = at.workplace {
                return Ok(Some((at.id, workplace)));
            }
            let Some(above) = at.parent.map(|parent| self.session_if_there(parent)).transpose()?.flatten()
            else {
                return Ok(None);
            };
            at = above;
        }
        Ok(None)
    }
}

impl Reader {
    /// For whom below it a session of a list waits.
    pub fn waits_for(&self, row: &SessionRow) -> Result<Option<WaitsFor>, Error> {
        if row.waiting != longhaul_store::views::Waiting::Work || row.status != SessionStatus::Open {
            return Ok(None);
        }
        Ok(waits_for(&self.sessions()?, row, 0))
    }
}

/// Nobody below may be at work, and somebody must be open.
pub(crate) fn waits_for(rows: &[SessionRow], row: &SessionRow, level: usize) -> Option<WaitsFor> {
    use longhaul_store::views::Waiting;
    if row.waiting != Waiting::Work || row.status != SessionStatus::Open || level > MOST_LEVELS {
        return None;
    }
    let is_below = |other: &&SessionRow| {
        other.parent == Some(row.id)
            && other.status == SessionStatus::Open
            && other.workflow.as_deref() != Some(WORKER)
    };
    let mut first = None;
    for below in rows.iter().filter(is_below) {
        let own = || WaitsFor {
            session: below.id,
            outcome: outcome_of(below),
            step: below.step.as_ref().map(|step| step.0.clone()),
        };
        let waited = match &below.waiting {
            Waiting::Gate(_) | Waiting::Parked { .. } => own(),
            Waiting::Agent if below.driven.agent.is_none() && row.driven.agent.is_none() => own(),
            Waiting::Work => waits_for(rows, below, level + 1)?,
            Waiting::Agent | Waiting::Nothing => return None,
        };
        first.get_or_insert(waited);
    }
    first
}

impl System {
    /// The session at the top of the tree that one belongs to, as far as it is open: whoever drives that drives all below.
    pub(crate) fn top_of(&self, id: SessionId) -> Result<SessionId, Error> {
        let Some(reader) = self.reader()? else { return Ok(id) };
        let mut top = id;
        for _ in 0..MOST_LEVELS {
            // One with files of its own was started by somebody's coordinator, and has a runner of its own.
            let is_led = |session: &Session| !is_worker(session) && session.workplace.is_none();
            let Some(session) = reader.session(top)?.filter(is_led) else { break };
            let Some(parent) = session.parent else { break };
            match reader.session(parent)? {
                Some(above) if above.closed.is_none() && above.working().is_some() => top = parent,
                Some(_) | None => break,
            }
        }
        Ok(top)
    }

    /// Has whoever waits for a session go on, now that something has happened to it.
    pub(crate) fn go_on_above(&self, commands: &Commands, id: SessionId) -> Result<(), Error> {
        let session = commands.load_session(id)?;
        let Some(parent) = session.parent.filter(|_| !is_worker(&session)) else { return Ok(()) };
        let Some(above) = commands.session_if_there(parent)? else { return Ok(()) };
        if above.closed.is_none() && above.working().is_some() && commands.goes_on(&above)? {
            self.start_runner(id)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A plan that is too long to stand in its event is not seen by the clock, which then counts what those below use.
    #[test]
    fn a_plan_holds_no_goals_and_one_of_an_earlier_release_is_read() {
        let old =
            json!({ "session": "s-0123456789abc", "workflow": "lh.fix", "goal": "long", "files": "write" });
        let plan: Planned = serde_json::from_value(old).unwrap();
        let kept = serde_json::to_value(&plan).unwrap();
        assert_eq!(kept, json!({ "session": "s-0123456789abc", "workflow": "lh.fix", "files": "write" }));
    }
}
