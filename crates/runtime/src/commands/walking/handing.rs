//! Sessions below one whose agent is not ours: handed to that agent one after another. The answer that leads into them is the
//! first step of the first, the answer to the last step of one is what comes after it, and both are the same for ever.

use longhaul_core::session::Session;
use longhaul_core::walk;
use longhaul_core::walk::view::{Shown, StepView};
use longhaul_events::{NodeId, Seq, SessionEvent, SessionId};

use super::Commands;
use crate::error::Error;
use crate::workers::is_worker;

/// From where on it is looked what a session came to.
#[derive(Debug, Clone, Copy)]
enum From {
    Start,
    /// The end of this work.
    End(NodeId),
}

impl Commands {
    /// Where whoever got this view goes on: in a session below, above, or right there.
    pub(crate) fn led(&self, view: StepView) -> Result<StepView, Error> {
        let Ok(id) = view.session_id.parse::<SessionId>() else { return Ok(view) };
        let session = self.load_session(id)?;
        if session.agent.is_some() {
            return Ok(view);
        }
        if view.working.is_some() {
            let Some(work) = session.working().filter(|_| session.closed.is_none()) else { return Ok(view) };
            let below = if self.is_handing(&session)? { self.first_below(id, work.work)? } else { None };
            return Ok(below.unwrap_or(view));
        }
        let is_end = view.continue_token.is_none() && view.gate.is_none();
        if is_end && session.closed.is_some() { self.above(&session, view) } else { Ok(view) }
    }

    /// Whether the session stands at a step whose sessions are handed out.
    pub(super) fn is_handing(&self, session: &Session) -> Result<bool, Error> {
        let Some(work) = session.working().filter(|_| session.agent.is_none()) else { return Ok(false) };
        let workflow = self.workflow_of(session)?;
        Ok(walk::step(&workflow, &work.step.0).is_some_and(|step| step.kind.family().is_some()))
    }

    /// The work that these events lead to, if its sessions are handed out.
    pub(super) fn handed_below(
        &self,
        session: &Session,
        events: &[SessionEvent],
    ) -> Result<Option<NodeId>, Error> {
        if session.agent.is_some() {
            return Ok(None);
        }
        let began = events.iter().rev().find_map(|event| {
            let SessionEvent::WorkBegan { work, step, .. } = event else { return None };
            Some((*work, step))
        });
        let Some((work, step)) = began else { return Ok(None) };
        let workflow = self.workflow_of(session)?;
        let is_family = walk::step(&workflow, &step.0).is_some_and(|step| step.kind.family().is_some());
        Ok(is_family.then_some(work))
    }

    /// What the first of the sessions of a piece of work began with; `None` while it is not there.
    pub(super) fn first_below(&self, id: SessionId, work: NodeId) -> Result<Option<StepView>, Error> {
        let Some(plan) = self.plan_of(id, work)? else { return Ok(None) };
        match plan.iter().find_map(|planned| planned.session) {
            Some(first) => self.beginning_of_child(first),
            None => self.after(id, From::End(work)),
        }
    }

    fn beginning_of_child(&self, id: SessionId) -> Result<Option<StepView>, Error> {
        if self.session_if_there(id)?.is_none() {
            return Ok(None);
        }
        Ok(Some(match self.after(id, From::Start)? {
            Some(view) => view,
            None => self.session_view(id)?,
        }))
    }

    /// What comes after a session that is over; the view itself where nothing does.
    fn above(&self, session: &Session, view: StepView) -> Result<StepView, Error> {
        let Some(parent) = session.parent.filter(|_| !is_worker(session)) else { return Ok(view) };
        let Some(above) = self.session_if_there(parent)?.filter(|above| above.agent.is_none()) else {
            return Ok(view);
        };
        let Some((work, next)) = self.place_in_plan(parent, session.id)? else { return Ok(view) };
        let next = next.map(|next| self.beginning_of_child(next)).transpose()?.flatten();
        if let Some(next) = next {
            return Ok(next);
        }
        match self.after(parent, From::End(work))? {
            Some(view) => Ok(view),
            None if above.closed.is_some() => Ok(view),
            None => self.session_view(parent),
        }
    }

    /// The work that a session is part of, and who comes after it.
    fn place_in_plan(
        &self,
        parent: SessionId,
        child: SessionId,
    ) -> Result<Option<(NodeId, Option<SessionId>)>, Error> {
        let mut works = Vec::new();
        self.each_event_since(parent, Seq(0), |event| {
            if let SessionEvent::WorkStarted { work, .. } = event {
                works.push(*work);
            }
        })?;
        for work in works.into_iter().rev() {
            let Some(plan) = self.plan_of(parent, work)? else { continue };
            let ids: Vec<SessionId> = plan.iter().filter_map(|planned| planned.session).collect();
            if let Some(place) = ids.iter().position(|id| *id == child) {
                return Ok(Some((work, ids.get(place + 1).copied())));
            }
        }
        Ok(None)
    }

    /// The first thing that a session came to and that will never change; `None` while it has come to nothing.
    fn after(&self, id: SessionId, from: From) -> Result<Option<StepView>, Error> {
        let session = self.load_session(id)?;
        let after = match from {
            From::Start => Seq(0),
            From::End(work) => Seq(work.0.0.saturating_sub(1)),
        };
        let mut has_begun = matches!(from, From::Start);
        let mut below = None;
        let found = self.each_decision(id, after, |decision| {
            let events = decision.readable_events::<SessionEvent>()?;
            let is_end = |event: &SessionEvent| matches!((event, from), (SessionEvent::WorkFinished { work, .. }, From::End(of)) if *work == of);
            let start = match (has_begun, events.iter().position(is_end)) {
                (true, _) => 0,
                (false, Some(place)) => place + 1,
                (false, None) => return Ok(None),
            };
            has_begun = true;
            let events = &events[start..];
            if let Some(work) = self.handed_below(&session, events)? {
                below = self.first_below(id, work)?;
                return Ok(Some(None));
            }
            let shown = self.shown(&session, events, decision.at)?;
            Ok(shown.filter(Shown::is_settled).map(Some))
        })?;
        match found {
            Some(Some(shown)) => {
                let view = self.view(&session, shown, Vec::new())?;
                let is_end = view.continue_token.is_none() && session.closed.is_some();
                if is_end { self.above(&session, view).map(Some) } else { Ok(Some(view)) }
            }
            Some(None) => Ok(below),
            None if has_begun => self.session_view(id).map(Some),
            None => Ok(None),
        }
    }
}
