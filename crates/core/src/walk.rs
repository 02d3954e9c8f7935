//! Walking a workflow: what comes after a step, and why.
//!
//! Selection moves forward only. A step whose condition is false is passed and does not come back unless a
//! jump says so; loop conditions are judged at the boundaries of iterations and nowhere else. Whatever an
//! agent answers, a walk ends: every loop and every jump has a bound, and so has every search for a way on.

mod arrive;
pub mod children;
mod decide;
pub mod follow_up;
mod jump;
mod loops;
mod results;
pub mod start;
#[cfg(test)]
pub(crate) mod tests;
pub mod view;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use longhaul_events::{
    Choice, CloseOutcome, Considered, Content, Nonce, Place, Reason, SessionEvent, SessionId, StepId,
    Timestamp,
};
use serde_json::{Value, json};

pub use results::{ANOTHER_SESSION, MEND};

use crate::parking::ParkCode;
use crate::session::{Arrival, NewStep, Onward};
use crate::workflow::allowance::Allowance;
use crate::workflow::render::{self, Opening, Rendered};
use crate::workflow::scope::Scope;
use crate::workflow::{Step, StepKind, Workflow};

/// The longest text that an agent is given.
const MOST_PROMPT_BYTES: usize = 1024 * 1024;
/// How much is looked at before a search for the next step is given up.
const MOST_CONSIDERED: usize = 20_000;
/// How much of that is written down.
const MOST_KEPT: usize = 40;

/// How the ids of follow-up steps begin; no id in a file may.
const FOLLOW_UP: &str = "follow-up:";

/// Where a session stands, with every value at hand.
#[derive(Debug, Clone)]
pub struct Standing<'a> {
    /// Named where a person is told what to type.
    pub session: SessionId,
    pub workflow: &'a Workflow,
    /// Who judges for a coordinator's gate.
    pub coordinator: Coordinator,
    pub place: Place,
    pub vars: BTreeMap<String, Arc<Value>>,
    /// The lists of the loops under way, one for each frame.
    pub items: Vec<Option<Arc<Value>>>,
}

/// The rules of a gate are a parent pipeline's to judge by. Without one they would be judged by what the agent
/// says, so the gate is a person's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordinator {
    Parent,
    Nobody,
}

/// What a decision needs from outside.
#[derive(Debug, Clone, Copy)]
pub struct Given {
    /// For the next handle.
    pub nonce: Nonce,
    pub now: Timestamp,
}

/// The way on; or what must be put right first, by whoever just answered.
pub type Way = Result<Onward, Vec<Reason>>;

/// One search for the way on.
#[derive(Debug)]
pub struct Walk<'a> {
    session: SessionId,
    workflow: &'a Workflow,
    coordinator: Coordinator,
    given: Given,
    opening: Opening,
    place: Place,
    vars: BTreeMap<String, Arc<Value>>,
    items: Vec<Option<Arc<Value>>>,
    /// From the outermost list to where we are.
    spots: Vec<Spot<'a>>,
    facts: Vec<SessionEvent>,
    considered: Vec<Considered>,
    left_out: u64,
    /// Loops that began an iteration in this search.
    begun: BTreeMap<&'a str, u32>,
    allowance: Allowance,
}

/// A place in a list of steps; behind its end when all were passed.
#[derive(Debug, Clone, Copy)]
struct Spot<'a> {
    steps: &'a [Step],
    index: usize,
}

/// What a search found.
enum Found<'a> {
    /// Look further.
    Nothing,
    Step(&'a Step),
    Work(&'a Step),
    Gate(Arrival),
    Park(&'a Step, Vec<Reason>),
    Close(CloseOutcome),
    /// The way is barred until whoever just answered puts something right.
    Refuse(Vec<Reason>),
}

impl<'a> Walk<'a> {
    pub fn new(standing: Standing<'a>, given: Given) -> Self {
        let Standing { session, workflow, coordinator, place, vars, items } = standing;
        Self {
            session,
            workflow,
            coordinator,
            given,
            opening: Opening::Later,
            place,
            vars,
            items,
            spots: Vec::new(),
            facts: Vec::new(),
            considered: Vec::new(),
            left_out: 0,
            begun: BTreeMap::new(),
            allowance: Allowance::default(),
        }
    }

    /// The way into a workflow.
    pub fn begin(mut self) -> Way {
        self.opening = Opening::Start;
        self.spots = vec![Spot { steps: &self.workflow.steps, index: 0 }];
        self.search(Found::Nothing)
    }

    /// Hands out a step that the session stands at once more, with words of what was wrong. What no agent
    /// can do again is for a person to look at.
    pub fn again(mut self, id: &StepId, words: &str, undo: SessionEvent) -> Way {
        let step = self.stand_at(id)?;
        self.facts.push(undo);
        if !matches!(step.kind, StepKind::Prompt(_)) {
            return self.search(Found::Park(step, vec![not_confirmed(step, words)]));
        }
        let mut asked = self.render(step);
        asked.prompt = format!("{}\n\n## Not confirmed\n\n{words}\n", asked.prompt);
        let arrival = self.hand_out(step, &asked);
        Ok(self.end(arrival))
    }

    fn search(mut self, first: Found<'a>) -> Way {
        let mut found = first;
        for _ in 0..MOST_CONSIDERED {
            let arrival = match found {
                Found::Nothing => {
                    found = self.look();
                    continue;
                }
                Found::Step(step) => {
                    let mut asked = self.render(step);
                    if let Some(brief) = self.told_before() {
                        asked.prompt = format!("{brief}\n\n{}", asked.prompt);
                    }
                    if asked.prompt.len() > MOST_PROMPT_BYTES {
                        return Err(vec![prompt_too_large(step)]);
                    }
                    self.hand_out(step, &asked)
                }
                Found::Work(step) => Arrival::Work { step: id_of(step), place: self.place.clone() },
                Found::Gate(arrival) => arrival,
                Found::Park(step, reasons) => {
                    Arrival::Park { step: id_of(step), reasons, place: self.place.clone() }
                }
                Found::Close(outcome) => Arrival::Close(outcome),
                Found::Refuse(reasons) => return Err(reasons),
            };
            return Ok(self.end(arrival));
        }
        Err(vec![ParkCode::TooMuchToLookAt.reason(
            format!("more than {MOST_CONSIDERED} steps were passed without one to do"),
            "make the loop's list shorter, or its condition true for some item",
        )])
    }

    /// Looks at the spot we are at.
    fn look(&mut self) -> Found<'a> {
        let Some(spot) = self.spots.last().copied() else {
            return Found::Close(CloseOutcome::Completed);
        };
        if let Some(step) = spot.steps.get(spot.index) {
            return self.arrive(step);
        }
        self.spots.pop();
        self.list_ended()
    }

    fn list_ended(&mut self) -> Found<'a> {
        let Some(spot) = self.spots.last().copied() else {
            return Found::Close(CloseOutcome::Completed);
        };
        let step = &spot.steps[spot.index];
        match &step.kind {
            StepKind::Loop(_) | StepKind::Todo(_) => self.boundary(step),
            StepKind::Routine(_)
            | StepKind::Prompt(_)
            | StepKind::Run(_)
            | StepKind::Gather(_)
            | StepKind::Gate(_)
            | StepKind::Parallel(_)
            | StepKind::Spawn(_)
            | StepKind::Decide(_)
            | StepKind::Deliver(_) => self.leave(step),
        }
    }

    fn pass(&mut self) {
        if let Some(spot) = self.spots.last_mut() {
            spot.index += 1;
        }
    }

    fn go_inside(&mut self, step: &'a Step) {
        self.spots.push(Spot { steps: step.kind.inner(), index: 0 });
    }

    /// Takes up the way at a step that was handed out.
    fn stand_at(&mut self, id: &StepId) -> Result<&'a Step, Vec<Reason>> {
        let spots = find(&self.workflow.steps, &id.0).ok_or_else(|| vec![unknown_step(&id.0)])?;
        let step = spots.last().map(|spot| &spot.steps[spot.index]);
        self.spots = spots;
        step.ok_or_else(|| vec![unknown_step(&id.0)])
    }

    /// What a session below another is told before its first step, once.
    fn told_before(&mut self) -> Option<String> {
        let brief = self.vars.remove(children::BRIEF)?;
        self.facts.push(SessionEvent::VarsChanged {
            set: BTreeMap::new(),
            unset: vec![children::BRIEF.to_owned()],
        });
        brief.as_str().map(str::to_owned)
    }

    /// What the agent is told at a step.
    fn render(&self, step: &Step) -> Rendered {
        let mut rendered = render::step(self.workflow, step, &self.scope(), self.opening);
        if let Some(count) = self.count() {
            rendered.title = format!("{} ({count})", rendered.title);
        }
        if let Some(results) = self.results_around() {
            rendered.prompt = format!("{}\n\n{results}", rendered.prompt);
        }
        rendered
    }

    fn hand_out(&self, step: &Step, asked: &Rendered) -> Arrival {
        let prompt = Content::Inline(json!({ "title": asked.title, "text": asked.prompt }));
        Arrival::Step(NewStep {
            step: id_of(step),
            prompt,
            nonce: self.given.nonce,
            place: self.place.clone(),
        })
    }

    /// `3 of 8`, in the innermost loop that knows how many there are.
    fn count(&self) -> Option<String> {
        let frame = self.place.frames.iter().rev().find(|frame| frame.of.is_some())?;
        Some(format!("{} of {}", frame.iteration + 1, frame.of?))
    }

    fn end(mut self, arrival: Arrival) -> Onward {
        if !self.considered.is_empty() {
            let (considered, left_out) = (self.considered, self.left_out);
            self.facts.push(SessionEvent::WayChosen { considered, left_out });
        }
        Onward { facts: self.facts, arrival }
    }

    fn consider(&mut self, step: &Step, choice: Choice, because: String) {
        if self.considered.len() < MOST_KEPT {
            self.considered.push(Considered { step: id_of(step), choice, because });
        } else {
            self.left_out += 1;
        }
    }

    fn scope(&self) -> Scope<'_> {
        let local = loops::locals(self.workflow, &self.place, &self.items);
        Scope { vars: &self.vars, local, allowance: self.allowance.clone() }
    }
}

/// What a step may refer to where a session stands.
pub fn scope<'a>(standing: &'a Standing<'_>) -> Scope<'a> {
    let local = loops::locals(standing.workflow, &standing.place, &standing.items);
    Scope { vars: &standing.vars, local, allowance: Allowance::default() }
}

/// The step with an id.
pub fn step<'a>(workflow: &'a Workflow, id: &str) -> Option<&'a Step> {
    find(&workflow.steps, id)?.last().map(|spot| &spot.steps[spot.index])
}

/// The step with an id, or the one that a follow-up phase asks.
pub fn step_or_follow_up<'a>(workflow: &'a Workflow, id: &str) -> Option<Cow<'a, Step>> {
    if let Some(found) = step(workflow, id) {
        return Some(Cow::Borrowed(found));
    }
    id.starts_with(FOLLOW_UP).then(|| Cow::Owned(follow_up::step(id)))
}

fn find<'a>(steps: &'a [Step], id: &str) -> Option<Vec<Spot<'a>>> {
    for (index, step) in steps.iter().enumerate() {
        if step.id == id {
            return Some(vec![Spot { steps, index }]);
        }
        if let Some(mut inside) = find(step.kind.inner(), id) {
            inside.insert(0, Spot { steps, index });
            return Some(inside);
        }
    }
    None
}

fn id_of(step: &Step) -> StepId {
    StepId(step.id.clone())
}

fn prompt_too_large(step: &Step) -> Reason {
    ParkCode::PromptTooLarge.reason(
        format!("the text of step `{}` would be longer than {MOST_PROMPT_BYTES} bytes", step.id),
        "answer again with shorter vars; leave long texts in files and name these",
    )
}

fn not_confirmed(step: &Step, words: &str) -> Reason {
    ParkCode::NotConfirmed.reason(
        format!("what `{}` did was not confirmed: {words}", step.id),
        "rewind to a step before it, or cancel the session",
    )
}

fn unknown_step(id: &str) -> Reason {
    ParkCode::UnknownStep.reason(
        format!("the pinned workflow has no step `{id}`"),
        "run `longhaul log verify`: the session's log and its workflow do not belong together",
    )
}
