//! What happens when a walk comes to a step.

use longhaul_events::{Channel, Choice, Content, GateKind, Reason};
use serde_json::{Value, json};

use super::{Coordinator, Found, Walk, id_of};
use crate::parking::ParkCode;
use crate::session::{Arrival, NewGate};
use crate::workflow::step::{Confirm, Gate, GateBy};
use crate::workflow::{Step, StepKind, template};

/// How long a confirmation waits.
const CONFIRM_WAIT_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// What a gate asks, of whom, for how long.
struct Question<'q> {
    kind: GateKind,
    text: &'q str,
    accepts: Channel,
    wait_ms: u64,
}

impl<'a> Walk<'a> {
    pub(super) fn arrive(&mut self, step: &'a Step) -> Found<'a> {
        let judged = step.when.as_ref().map(|when| when.judge(&self.scope()));
        let because = judged.as_ref().map(|judged| judged.because.clone()).unwrap_or_default();
        if judged.is_some_and(|judged| !judged.holds) {
            self.consider(step, Choice::Skipped, because);
            self.pass();
            return Found::Nothing;
        }
        let missing = self.missing(step);
        if !missing.is_empty() {
            return Found::Refuse(missing);
        }
        match &step.kind {
            StepKind::Loop(_) | StepKind::Todo(_) => return self.enter(step, because),
            StepKind::Prompt(_)
            | StepKind::Routine(_)
            | StepKind::Run(_)
            | StepKind::Gather(_)
            | StepKind::Gate(_)
            | StepKind::Parallel(_)
            | StepKind::Spawn(_)
            | StepKind::Decide(_)
            | StepKind::Deliver(_) => self.consider(step, Choice::Taken, because),
        }
        match &step.kind {
            StepKind::Prompt(_) => Found::Step(step),
            StepKind::Run(_)
            | StepKind::Gather(_)
            | StepKind::Parallel(_)
            | StepKind::Spawn(_)
            | StepKind::Deliver(_) => Found::Work(step),
            StepKind::Gate(gate) => self.come_to_gate(step, gate),
            StepKind::Decide(decide) => self.rule(step, decide),
            StepKind::Routine(_) | StepKind::Loop(_) | StepKind::Todo(_) => {
                self.go_inside(step);
                Found::Nothing
            }
        }
    }

    /// The vars that a step needs and nobody has set.
    fn missing(&self, step: &Step) -> Vec<Reason> {
        if step.requires.is_empty() {
            return Vec::new();
        }
        let scope = self.scope();
        let unset = step.requires.iter().filter(|path| scope.lookup(path).value().is_none_or(Value::is_null));
        unset
            .map(|path| {
                ParkCode::VarRequired.reason(
                    format!("step `{}` comes next and requires var `{path}`, which is not set", step.id),
                    format!("answer again and set it: {{\"vars\": {{\"{path}\": …}}}}"),
                )
            })
            .collect()
    }

    fn come_to_gate(&mut self, step: &'a Step, gate: &'a Gate) -> Found<'a> {
        match &gate.by {
            GateBy::Check(_) => Found::Work(step),
            GateBy::Person => self.open_gate(step, gate),
            GateBy::Coordinator { .. } if self.coordinator == Coordinator::Nobody => {
                self.open_gate(step, gate)
            }
            GateBy::Coordinator { accept } => {
                let judged: Vec<_> = accept.iter().map(|rule| rule.judge(&self.scope())).collect();
                match judged.into_iter().find(|judged| judged.holds) {
                    Some(judged) => {
                        self.consider(step, Choice::GateOpen, judged.because);
                        self.leave(step)
                    }
                    None => self.open_gate(step, gate),
                }
            }
        }
    }

    fn open_gate(&self, step: &'a Step, gate: &Gate) -> Found<'a> {
        let question = template::render(&gate.question, &self.scope());
        let (accepts, wait_ms) = (gate.accepts, gate.timeout_ms);
        self.ask(step, &Question { kind: GateKind::Gate, text: &question, accepts, wait_ms })
    }

    fn ask(&self, step: &Step, question: &Question<'_>) -> Found<'a> {
        Found::Gate(Arrival::Gate(NewGate {
            step: id_of(step),
            kind: question.kind,
            question: Content::Inline(json!(question.text)),
            accepts: question.accepts,
            until: self.given.now.plus_ms(question.wait_ms),
            place: self.place.clone(),
        }))
    }

    /// A step is done: confirmation first, then a jump, then what comes after it.
    pub(super) fn leave(&mut self, step: &'a Step) -> Found<'a> {
        match &step.confirm {
            Some(confirm) if self.asks(step, confirm) => {
                let title = template::render(&step.title, &self.scope());
                let text = &format!("Step “{title}” is done. Go on?");
                let accepts = confirm.accepts.unwrap_or(Channel::Client);
                let (kind, wait_ms) = (GateKind::Confirmation, CONFIRM_WAIT_MS);
                self.ask(step, &Question { kind, text, accepts, wait_ms })
            }
            Some(_) | None => self.move_on(step),
        }
    }

    fn asks(&mut self, step: &Step, confirm: &Confirm) -> bool {
        let Some(when) = &confirm.when else { return true };
        let judged = when.judge(&self.scope());
        if !judged.holds {
            self.consider(step, Choice::NotAsked, judged.because);
        }
        judged.holds
    }
}
