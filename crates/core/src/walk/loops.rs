//! Loops: when they begin, go round and end.

use std::collections::BTreeMap;
use std::sync::Arc;

use longhaul_events::{Choice, CloseOutcome, Content, Frame, Place, Reason, SessionEvent};
use serde_json::Value;

use super::{Found, Walk, id_of};
use crate::parking::ParkCode;
use crate::workflow::step::{Count, Loop, LoopOver, OnMax, Todo};
use crate::workflow::{Step, StepKind, Workflow, answer};

/// How many iterations without anything to do a loop may take in one go. Its condition may still turn on the
/// number of the iteration.
const MOST_EMPTY: u32 = 1000;

/// Whether a loop goes round.
enum Round {
    Again(String),
    Over(String),
}

impl<'a> Walk<'a> {
    /// Comes to a loop from outside.
    pub(super) fn enter(&mut self, step: &'a Step, because: String) -> Found<'a> {
        let frame = match self.first_frame(step) {
            Ok(frame) => frame,
            Err(reasons) => return Found::Refuse(reasons),
        };
        let round = match frame.0.of {
            Some(0) => Round::Over("there is nothing to go through".to_owned()),
            Some(_) | None => self.judge(step),
        };
        match round {
            Round::Over(why) => {
                self.consider(step, Choice::LoopLeft, join(because, why));
                self.leave(step)
            }
            Round::Again(why) => {
                self.consider(step, Choice::LoopEntered, join(because, why));
                self.place.frames.push(frame.0);
                self.items.push(frame.1);
                self.go_round(step)
            }
        }
    }

    fn go_round(&mut self, step: &'a Step) -> Found<'a> {
        *self.begun.entry(&step.id).or_default() += 1;
        self.go_inside(step);
        Found::Nothing
    }

    /// The end of an iteration.
    pub(super) fn boundary(&mut self, step: &'a Step) -> Found<'a> {
        let Some(frame) = self.place.frames.last() else { return self.leave(step) };
        let (done, of, stopped) = (frame.iteration + 1, frame.of, frame.stopped);
        if stopped {
            return self.end_loop(step, "it was told to stop".to_owned());
        }
        if of.is_some_and(|of| done >= of) {
            return self.end_loop(step, format!("all {done} are done"));
        }
        let because = match self.judge(step) {
            Round::Over(why) => return self.end_loop(step, why),
            Round::Again(why) => why,
        };
        let max = looped(step).map_or(u64::MAX, |looped| looped.max);
        if done >= max {
            return self.exhausted(step, done, format!("it came to its bound of {max}"));
        }
        let empty = self.begun.get(step.id.as_str()).copied().unwrap_or_default();
        if of.is_none() && empty >= MOST_EMPTY {
            let why = format!("{empty} iterations had nothing to do");
            return self.exhausted(step, done, why);
        }
        self.consider(step, Choice::LoopRepeated, because);
        if let Some(frame) = self.place.frames.last_mut() {
            frame.iteration = done;
            frame.jumps.clear();
        }
        self.go_round(step)
    }

    fn end_loop(&mut self, step: &'a Step, because: String) -> Found<'a> {
        self.consider(step, Choice::LoopLeft, because);
        self.close_frame();
        self.leave(step)
    }

    fn exhausted(&mut self, step: &'a Step, iterations: u64, why: String) -> Found<'a> {
        let fact = SessionEvent::LoopExhausted { step: id_of(step), iterations, because: why.clone() };
        self.facts.push(fact);
        match looped(step).map_or(OnMax::Continue, |looped| looped.on_max) {
            OnMax::Continue => self.end_loop(step, why),
            OnMax::Fail => {
                Found::Close(CloseOutcome::Failed { reason: format!("loop `{}` ended: {why}", step.id) })
            }
            OnMax::Park => Found::Park(step, vec![loop_parked(step, &why)]),
        }
    }

    fn close_frame(&mut self) {
        self.place.frames.pop();
        self.items.pop();
    }

    /// What a loop's own condition says.
    fn judge(&self, step: &Step) -> Round {
        let Some(looped) = looped(step) else { return Round::Again(String::new()) };
        match &looped.over {
            LoopOver::While(condition) => {
                let judged = condition.judge(&self.scope());
                if judged.holds { Round::Again(judged.because) } else { Round::Over(judged.because) }
            }
            LoopOver::Until(condition) => {
                let judged = condition.judge(&self.scope());
                if judged.holds { Round::Over(judged.because) } else { Round::Again(judged.because) }
            }
            LoopOver::Control { .. } | LoopOver::Count(_) | LoopOver::Items { .. } => {
                Round::Again(String::new())
            }
        }
    }

    fn first_frame(&self, step: &Step) -> Result<(Frame, Option<Arc<Value>>), Vec<Reason>> {
        let frame = Frame {
            step: id_of(step),
            iteration: 0,
            of: None,
            items: None,
            stopped: false,
            jumps: BTreeMap::new(),
        };
        let (list, max, item_var) = match &step.kind {
            StepKind::Loop(Loop { over: LoopOver::Items { list, item_var, .. }, max, .. })
            | StepKind::Todo(Todo { list, item_var, max, .. }) => (list, *max, item_var),
            StepKind::Loop(Loop { over: LoopOver::Count(count), .. }) => {
                let of = self.count_of(step, count)?;
                return Ok((Frame { of: Some(of), ..frame }, None));
            }
            StepKind::Loop(Loop {
                over: LoopOver::While(_) | LoopOver::Until(_) | LoopOver::Control { .. },
                ..
            })
            | StepKind::Prompt(_)
            | StepKind::Routine(_)
            | StepKind::Run(_)
            | StepKind::Gather(_)
            | StepKind::Gate(_)
            | StepKind::Parallel(_)
            | StepKind::Spawn(_)
            | StepKind::Decide(_)
            | StepKind::Deliver(_) => return Ok((frame, None)),
        };
        let items = self.list_of(step, list, max)?;
        let listed = items.as_array().map(Vec::as_slice).unwrap_or_default();
        answer::refuse_primitives(step.kind.inner(), item_var, listed).map_err(|refusal| vec![refusal])?;
        let of = Some(listed.len() as u64);
        let content = Some(Content::Inline((*items).clone()));
        Ok((Frame { of, items: content, ..frame }, Some(items)))
    }

    fn list_of(&self, step: &Step, list: &str, max: u64) -> Result<Arc<Value>, Vec<Reason>> {
        let scope = self.scope();
        let found = scope.lookup(list);
        let Some(Value::Array(items)) = found.value() else {
            let seen = found.value().map_or("not set", kind_of);
            return Err(vec![ParkCode::ListExpected.reason(
                format!("`{}` goes through the list `{list}`, which is {seen}", step.id),
                format!("answer again and set `{list}` to a JSON array"),
            )]);
        };
        if items.len() as u64 > max {
            return Err(vec![ParkCode::ListTooLong.reason(
                format!("`{list}` has {} items, and `{}` allows {max}", items.len(), step.id),
                "answer again with a shorter list: merge items or leave some for later",
            )]);
        }
        Ok(Arc::new(Value::Array(items.clone())))
    }

    fn count_of(&self, step: &Step, count: &Count) -> Result<u64, Vec<Reason>> {
        let path = match count {
            Count::Fixed(number) => return Ok(*number),
            Count::Var(path) => path,
        };
        let scope = self.scope();
        let value = scope.lookup(path).value().cloned().unwrap_or(Value::Null);
        let number = match &value {
            Value::String(text) => text.trim().parse::<u64>().ok(),
            other => other.as_u64(),
        };
        number.ok_or_else(|| {
            vec![ParkCode::NumberExpected.reason(
                format!("`{}` counts to `{path}`, which is {}", step.id, kind_of(&value)),
                format!("answer again and set `{path}` to a whole number"),
            )]
        })
    }
}

/// The variables of the loops under way.
pub(super) fn locals(
    workflow: &Workflow,
    place: &Place,
    items: &[Option<Arc<Value>>],
) -> BTreeMap<String, Value> {
    let mut locals = BTreeMap::new();
    for (frame, items) in place.frames.iter().zip(items) {
        let Some(step) = super::step(workflow, &frame.step.0) else { continue };
        match &step.kind {
            StepKind::Loop(looped) => {
                locals.insert(looped.iteration_var.clone(), Value::from(frame.iteration + 1));
                if let LoopOver::Items { item_var, index_var, .. } = &looped.over {
                    locals.extend(item(item_var, index_var, frame, items.as_deref()));
                }
            }
            StepKind::Todo(todo) => {
                locals.extend(item(&todo.item_var, &todo.index_var, frame, items.as_deref()));
            }
            StepKind::Prompt(_)
            | StepKind::Routine(_)
            | StepKind::Run(_)
            | StepKind::Gather(_)
            | StepKind::Gate(_)
            | StepKind::Parallel(_)
            | StepKind::Spawn(_)
            | StepKind::Decide(_)
            | StepKind::Deliver(_) => {}
        }
    }
    locals
}

/// A loop with a bound of its own; a list of things to do has none beside its length.
fn looped(step: &Step) -> Option<&Loop> {
    match &step.kind {
        StepKind::Loop(looped) => Some(looped),
        StepKind::Todo(_)
        | StepKind::Prompt(_)
        | StepKind::Routine(_)
        | StepKind::Run(_)
        | StepKind::Gather(_)
        | StepKind::Gate(_)
        | StepKind::Parallel(_)
        | StepKind::Spawn(_)
        | StepKind::Decide(_)
        | StepKind::Deliver(_) => None,
    }
}

/// The item of an iteration and its index, under the names that the loop gives them.
fn item(item_var: &str, index_var: &str, frame: &Frame, items: Option<&Value>) -> [(String, Value); 2] {
    let index = usize::try_from(frame.iteration).unwrap_or(usize::MAX);
    let item = items.and_then(|items| items.get(index)).cloned().unwrap_or(Value::Null);
    [(item_var.to_owned(), item), (index_var.to_owned(), Value::from(frame.iteration))]
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "not set",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn loop_parked(step: &Step, why: &str) -> Reason {
    ParkCode::LoopAtItsBound.reason(
        format!("loop `{}` stopped: {why}", step.id),
        "a person looks at what the iterations did, then rewinds or cancels the session",
    )
}

fn join(first: String, second: String) -> String {
    match (first.is_empty(), second.is_empty()) {
        (true, _) => second,
        (_, true) => first,
        (false, false) => format!("{first}; {second}"),
    }
}
