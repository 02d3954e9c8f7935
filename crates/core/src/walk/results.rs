//! The way on after something ended: an agent's step, work of the engine, a gate.

use std::collections::BTreeMap;
use std::sync::Arc;

use longhaul_events::{CloseOutcome, Content, GateKind, Reason, SessionEvent, StepId};
use serde_json::Value;

use super::{Found, Walk, Way};
use crate::parking::ParkCode;
use crate::workflow::answer::{Accepted, Decision};
use crate::workflow::scope::cut;
use crate::workflow::step::{Deliver, Gate, GateBy, Gather, LoopOver, Todo};
use crate::workflow::{Prompt, Step, StepKind};

/// Where a result says what mends it, and the word for what doing it again cannot mend.
pub const MEND: &str = "mend";
pub const ANOTHER_SESSION: &str = "another_session";

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
                None => Found::Park(step, vec![self.not_passed(step, result)]),
            },
            StepKind::Gather(gather) if result["found"] == true => {
                self.keep(step, &gather.into, result["value"].clone())
            }
            StepKind::Gather(gather) if gather.optional => self.leave(step),
            StepKind::Gather(gather) => Found::Park(step, vec![self.nothing_gathered(step, gather, result)]),
            StepKind::Gate(Gate { by: GateBy::Check(_), .. }) if passed => self.leave(step),
            StepKind::Gate(_)
            | StepKind::Prompt(_)
            | StepKind::Loop(_)
            | StepKind::Todo(_)
            | StepKind::Routine(_)
            | StepKind::Decide(_) => self.barred(step, result),
            StepKind::Parallel(_) | StepKind::Spawn(_) => self.after_children(step, result),
            StepKind::Deliver(deliver) => self.delivered(step, deliver, result),
        };
        self.search(found)
    }

    /// What was delivered, and what has to be proven again, is for the workflow to go on with. Anything else is for a
    /// person to see, also where the workflow would look away.
    fn delivered(&mut self, step: &'a Step, deliver: &Deliver, result: &Value) -> Found<'a> {
        let outcome = result["outcome"].as_str().unwrap_or("unknown");
        if let Some(into) = &deliver.into {
            self.set(BTreeMap::from([(into.clone(), result.clone())]), Vec::new());
        }
        match (outcome, &deliver.into) {
            ("delivered", _) | ("stale", Some(_)) => self.leave(step),
            (_, _) => Found::Park(step, vec![self.not_delivered(step, outcome, result)]),
        }
    }

    fn not_delivered(&self, step: &Step, outcome: &str, result: &Value) -> Reason {
        let (id, session) = (&step.id, self.session);
        let code = match (result["code"].as_str().and_then(ParkCode::of), outcome) {
            (Some(code), _) => code,
            (None, "stale") => ParkCode::DeliveryStale,
            (None, "refused") => ParkCode::DeliveryRefused,
            (None, _) => ParkCode::DeliveryCouldNot,
        };
        let because = result["because"].as_str().unwrap_or("nobody said why");
        let first = if code == ParkCode::ReviewRequired {
            "have somebody else approve it where the pull request is"
        } else {
            "put the cause right"
        };
        code.reason(
            format!("`{id}` did not deliver ({outcome}): {because}"),
            format!("{first}, then `longhaul session rewind {session} --to {id} --reason TEXT`; nothing is done twice"),
        )
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

    pub(super) fn keep(&mut self, step: &'a Step, into: &str, value: Value) -> Found<'a> {
        self.set(BTreeMap::from([(into.to_owned(), value)]), Vec::new());
        self.leave(step)
    }

    pub(super) fn set(&mut self, set: BTreeMap<String, Value>, unset: Vec<String>) {
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
                | StepKind::Decide(_)
                | StepKind::Deliver(_),
            )
            | None => false,
        };
        if let Some(frame) = self.place.frames.iter_mut().rev().find(|frame| named(&frame.step.0)) {
            frame.stopped = decision == Decision::Stop;
        }
    }

    /// A check that says no ends the session; one that could not be asked is for a person to look at.
    fn barred(&self, step: &'a Step, result: &Value) -> Found<'a> {
        let reason = self.not_passed(step, result);
        if result["outcome"] == "could_not_run" {
            return Found::Park(step, vec![reason]);
        }
        Found::Close(CloseOutcome::Failed { reason: reason.message })
    }

    fn nothing_gathered(&self, step: &Step, gather: &Gather, result: &Value) -> Reason {
        // What the engine looks at itself can only be out of reach.
        if let Some(because) = result["because"].as_str() {
            let fix = format!(
                "put the cause right, then `longhaul session rewind {} --to {} --reason TEXT`",
                self.session, step.id
            );
            let message = format!("`{}` could not be read: {because}", gather.what);
            return ParkCode::NothingGathered.reason(message, fix);
        }
        ParkCode::NothingGathered.reason(
            format!("nothing was found for `{}`", gather.what),
            format!("put one in a place that the step looks at, or start with var `{}`", gather.into),
        )
    }

    fn not_passed(&self, step: &Step, result: &Value) -> Reason {
        let (id, session) = (&step.id, self.session);
        let outcome = result["outcome"].as_str().unwrap_or("unknown");
        let because = because(result).map(|because| format!(": {because}")).unwrap_or_default();
        let fix = if needs_another_session(result) {
            format!(
                "put the cause right, then start another session (`longhaul session start --workflow {}`): this one \
                 pinned its workflow and `.longhaul/` when it started; `longhaul session cancel {session}` ends it",
                self.workflow.id
            )
        } else {
            format!(
                "put the cause right, then `longhaul session rewind {session} --to {id} --reason TEXT`; \
                 `longhaul session show {session}` has the whole output"
            )
        };
        ParkCode::NotPassed.reason(format!("`{id}` did not pass: {outcome}{because}"), fix)
    }
}

/// How much of a line of output stands in a reason.
const MOST_SHOWN: usize = 200;

/// What mends something that could not run: to do it again here, or to start again with other pins.
fn needs_another_session(result: &Value) -> bool {
    let checks = result["checks"].as_array().into_iter().flatten();
    result[MEND] == ANOTHER_SESSION || checks.into_iter().any(|check| check[MEND] == ANOTHER_SESSION)
}

/// Why it went as it did: said in words, or by the exit code and the last thing that was said.
fn because(result: &Value) -> Option<String> {
    if let Some(because) = result["because"].as_str() {
        return Some(because.to_owned());
    }
    let failed =
        result["checks"].as_array().into_iter().flatten().find(|check| check["outcome"] == result["outcome"]);
    if let Some(check) = failed {
        return because(check)
            .map(|because| format!("check `{}`, {because}", check["name"].as_str().unwrap_or("?")));
    }
    let exit = result["exit"].as_i64().map(|exit| format!("exit {exit}"))?;
    let last_line = |stream: &str| {
        let text = result[stream].as_str()?.trim_end();
        text.lines().last().filter(|line| !line.trim().is_empty()).map(|line| cut(line, MOST_SHOWN))
    };
    Some(match last_line("stderr").or_else(|| last_line("stdout")) {
        Some(line) => format!("{exit}, {line}"),
        None => exit,
    })
}

#[cfg(test)]
mod tests {
    use longhaul_events::{Nonce, Place, SessionId, Timestamp};
    use serde_json::json;

    use super::*;
    use crate::walk::tests::play::compiled;
    use crate::walk::{Coordinator, Given, Standing};

    fn told(result: &Value) -> Reason {
        let workflow = compiled(
            "longhaul: 1\nid: t.bad\nname: T\nversion: 1.0.0\nsteps:\n  - { id: bad, run: { command: [make] } }\n",
        );
        let (place, vars, items) = (Place::default(), BTreeMap::new(), Vec::new());
        let (session, coordinator) = (SessionId::from_bytes([1; 8]), Coordinator::Nobody);
        let standing = Standing { session, workflow: &workflow, coordinator, place, vars, items };
        let given = Given { nonce: Nonce::from_bytes([0; 5]), now: Timestamp(0) };
        Walk::new(standing, given).not_passed(&workflow.steps[0], result)
    }

    #[test]
    fn what_did_not_pass_says_why_where_that_is_known() {
        let result = json!({ "outcome": "could_not_run", "because": "there is no such program" });
        assert_eq!(told(&result).message, "`bad` did not pass: could_not_run: there is no such program");
        assert_eq!(told(&json!({ "outcome": "failed" })).message, "`bad` did not pass: failed");
    }

    #[test]
    fn the_fix_names_session_and_step_and_is_another_session_where_only_that_helps() {
        let again = told(&json!({ "outcome": "failed" })).fix;
        let id = SessionId::from_bytes([1; 8]);
        assert!(again.contains(&format!("`longhaul session rewind {id} --to bad --reason TEXT`")), "{again}");
        for result in [
            json!({ "outcome": "could_not_run", "because": "x", "mend": "another_session" }),
            json!({ "outcome": "could_not_run", "checks": [{ "outcome": "could_not_run", "mend": "another_session" }] }),
        ] {
            let anew = told(&result).fix;
            assert!(anew.contains("start another session") && !anew.contains("rewind"), "{anew}");
            assert!(anew.contains("--workflow t.bad") && anew.contains(&id.to_string()), "{anew}");
        }
    }
}
