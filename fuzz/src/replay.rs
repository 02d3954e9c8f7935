//! What must hold for every history, and how long one may become.

use longhaul_core::session::Session;
use longhaul_core::workflow::step::{Loop, Todo};
use longhaul_core::workflow::{Step, StepKind};
use longhaul_events::SessionEvent;

use super::play::{Play, SESSION};

/// The events, written and read, amount to the same state.
pub(crate) fn check(play: &Play) {
    let written = serde_json::to_string(&play.events).expect("events are plain data");
    let read: Vec<SessionEvent> = serde_json::from_str(&written).expect("what was written can be read");
    let folded = Session::fold(SESSION, &read).expect("it begins with an opening");
    assert_eq!(folded, play.session, "replaying the log gives the state");
}

/// How often something can become due in these steps, by what the workflow declares: every loop has a bound, and so has
/// every jump, each of which repeats its list once more at most.
pub(crate) fn most_arrivals(steps: &[Step]) -> u64 {
    let once: u64 = steps.iter().map(arrivals_of).fold(0, u64::saturating_add);
    let jumps: u64 = steps.iter().map(jumps_from).fold(0, u64::saturating_add);
    once.saturating_mul(jumps.saturating_add(1))
}

fn arrivals_of(step: &Step) -> u64 {
    let times = match &step.kind {
        StepKind::Loop(Loop { max, .. }) | StepKind::Todo(Todo { max, .. }) => *max,
        StepKind::Prompt(_)
        | StepKind::Routine(_)
        | StepKind::Run(_)
        | StepKind::Gather(_)
        | StepKind::Gate(_)
        | StepKind::Parallel(_)
        | StepKind::Spawn(_)
        | StepKind::Decide(_)
        | StepKind::Deliver(_) => 1,
    };
    // Each attempt, and a confirmation behind it.
    let own = u64::from(step.attempts).saturating_add(2);
    times.saturating_mul(most_arrivals(step.kind.inner())).saturating_add(own)
}

fn jumps_from(step: &Step) -> u64 {
    let own = step.jump.as_ref().map_or(0, |jump| u64::from(jump.max_jumps));
    step.kind.inner().iter().map(jumps_from).fold(own, u64::saturating_add)
}
