//! The way on after something ended: an agent's step, work of the engine, a gate.

use std::collections::BTreeMap;
use std::sync::Arc;

use longhaul_events::{CloseOutcome, Content, GateKind, Reason, SessionEvent, StepId};
use serde_json::Value;

use super::{Found, Walk, Way};
use crate::workflow::answer::{Accepted, Decision};
use crate::workflow::step::{Gate, GateBy, Gather, LoopOver, Todo};
use crate::workflow::{Prompt, Step, StepKind};

impl<'a> Walk<'a> {
    /// After an answer that was accepted.
    pub fn after_step(mut self, id: &StepId, accepted: Accepted) -> Way {
        if super::follow_up::is_follow_up(id) {
            self.set(accepted.set, accepted.unset);
            return self.search(Found::Close(CloseOutcome::Completed));
        }
        let step = self.stand_at(id)?;
        self.set(accepted.set, accepted.unset);
        if let (Some(decision), StepKind::Prompt(prompt)) = (accepted.control, &step.kind) {
            self.decide_loop(prompt, decision);
        }
        let found = self.leave(step);
        self.search(found)
    }

    /// After a step of the engine's own. `result` is what the runner saw.
    pub fn after_work(mut self, id: &StepId, result: &Value) -> Way {
        let step = self.stand_at(id)?;
        let passed = result["outcome"] == "passed";
        let found = match &step.kind {
            StepKind::Run(run) => match &run.into {
                Some(into) => self.keep(step, into, result.clone()),
                None if passed => self.leave(step),
                None => Found::Park(step, vec![not_passed(step, result)]),
            },
            StepKind::Gather(gather) if result["found"] == true => {
                self.keep(step, &gather.into, result["value"].clone())
            }
            StepKind::Gather(gather) if gather.optional => self.leave(step),
            StepKind::Gather(gather) => Found::Park(step, vec![nothing_gathered(gather)]),
            StepKind::Gate(Gate { by: GateBy::Check(_), .. }) if passed => self.leave(step),
            StepKind::Gate(_)
            | StepKind::Prompt(_)
            | StepKind::Loop(_)
            | StepKind::Todo(_)
            | StepKind::Routine(_)
            | StepKind::Parallel(_)
            | StepKind::Spawn(_)
            | StepKind::Deliver(_) => barred(step, result),
        };
        self.search(found)
    }

    /// After a gate was opened.
    pub fn after_gate(mut self, id: &StepId, kind: GateKind) -> Way {
        let step = self.stand_at(id)?;
        let found = match kind {
            GateKind::Gate => self.leave(step),
            GateKind::Confirmation => self.move_on(step),
        };
        self.search(found)
    }

    fn keep(&mut self, step: &'a Step, into: &str, value: Value) -> Found<'a> {
        self.set(BTreeMap::from([(into.to_owned(), value)]), Vec::new());
        self.leave(step)
    }

    fn set(&mut self, set: BTreeMap<String, Value>, unset: Vec<String>) {
        if set.is_empty() && unset.is_empty() {
            return;
        }
        unset.iter().for_each(|name| drop(self.vars.remove(name)));
        let contents =
            set.iter().map(|(name, value)| (name.clone(), Content::Inline(value.clone()))).collect();
        self.vars.extend(set.into_iter().map(|(name, value)| (name, Arc::new(value))));
        self.facts.push(SessionEvent::VarsChanged { set: contents, unset });
    }

    fn decide_loop(&mut self, prompt: &Prompt, decision: Decision) {
        let Some(control) = &prompt.control else { return };
        let workflow = self.workflow;
        let named = |id: &str| match super::step(workflow, id).map(|step| &step.kind) {
            Some(StepKind::Loop(looped)) => match &looped.over {
                LoopOver::Control { loop_id } => *loop_id == control.loop_id,
                LoopOver::While(_) | LoopOver::Until(_) | LoopOver::Count(_) | LoopOver::Items { .. } => {
                    id == control.loop_id
                }
            },
            Some(StepKind::Todo(Todo { may_stop, .. })) => *may_stop && id == control.loop_id,
            Some(
                StepKind::Prompt(_)
                | StepKind::Routine(_)
                | StepKind::Run(_)
                | StepKind::Gather(_)
                | StepKind::Gate(_)
                | StepKind::Parallel(_)
                | StepKind::Spawn(_)
                | StepKind::Deliver(_),
            )
            | None => false,
        };
        if let Some(frame) = self.place.frames.iter_mut().rev().find(|frame| named(&frame.step.0)) {
            frame.stopped = decision == Decision::Stop;
        }
    }
}

/// A check that says no ends the session; one that could not be asked is for a person to look at.
fn barred<'a>(step: &'a Step, result: &Value) -> Found<'a> {
    let reason = not_passed(step, result);
    if result["outcome"] == "could_not_run" {
        return Found::Park(step, vec![reason]);
    }
    Found::Close(CloseOutcome::Failed { reason: reason.message })
}

fn nothing_gathered(gather: &Gather) -> Reason {
    Reason::new(
        "nothing_gathered",
        format!("nothing was found for `{}`", gather.what),
        format!("put one in a place that the step looks at, or start with var `{}`", gather.into),
    )
}

fn not_passed(step: &Step, result: &Value) -> Reason {
    let outcome = result["outcome"].as_str().unwrap_or("unknown");
    let because = result["because"].as_str().map(|because| format!(": {because}")).unwrap_or_default();
    Reason::new(
        "not_passed",
        format!("`{}` did not pass: {outcome}{because}", step.id),
        "look at its output (`longhaul session show`), put the cause right, then rewind to a step before it",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_did_not_pass_says_why_where_that_is_known() {
        let step = super::super::follow_up::step("bad");
        let said = |result: Value| not_passed(&step, &result).message;
        let result = json!({ "outcome": "could_not_run", "because": "there is no such program" });
        assert_eq!(said(result), "`bad` did not pass: could_not_run: there is no such program");
        assert_eq!(said(json!({ "outcome": "failed" })), "`bad` did not pass: failed");
    }
}
