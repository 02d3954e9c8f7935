//! Whatever the agent answers, a walk ends within what the workflow declares.

use longhaul_events::{SessionEvent, Verdict};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::play::Play;
use crate::walk;
use crate::workflow::answer::requirements;
use crate::workflow::arbitrary;
use crate::workflow::step::{Loop, LoopOver, Todo};
use crate::workflow::{Step, StepKind, Workflow};

/// Walks that may be longer are not played.
const LONGEST: u64 = 3000;

/// The most steps, refusals included, that a list of steps can hand out.
fn bound(steps: &[Step]) -> u64 {
    let once = steps.iter().map(step_bound).fold(0, u64::saturating_add);
    once.saturating_mul(jumps_to(steps, steps).saturating_add(1))
}

fn step_bound(step: &Step) -> u64 {
    match &step.kind {
        // A rejected confirmation asks again; the player rejects each once in a walk.
        StepKind::Prompt(_) => 2 * u64::from(step.attempts.max(1)),
        StepKind::Loop(Loop { over: LoopOver::Items { .. }, steps, .. })
        | StepKind::Todo(Todo { steps, .. }) => bound(steps).saturating_mul(ITEMS),
        StepKind::Loop(Loop { max, steps, .. }) => bound(steps).saturating_mul(*max),
        StepKind::Routine(routine) => bound(&routine.steps),
        StepKind::Parallel(_) => bound(step.kind.inner()),
        StepKind::Run(_)
        | StepKind::Gather(_)
        | StepKind::Gate(_)
        | StepKind::Spawn(_)
        | StepKind::Decide(_)
        | StepKind::Deliver(_) => 0,
    }
}

/// How often any step in `inside` can jump to one of `targets`.
fn jumps_to(inside: &[Step], targets: &[Step]) -> u64 {
    let own = |step: &Step| match &step.jump {
        Some(jump) if targets.iter().any(|target| target.id == jump.to) => u64::from(jump.max_jumps),
        Some(_) | None => 0,
    };
    inside.iter().map(|step| own(step) + jumps_to(step.kind.inner(), targets)).sum()
}

/// How many items every list has.
const ITEMS: u64 = 2;

/// What an agent might say: what was asked for, or something beside it.
fn answer(workflow: &Workflow, id: &str, die: u8) -> Value {
    if die.is_multiple_of(5) {
        return json!({ "notes": " " });
    }
    let step = walk::step_or_follow_up(workflow, id).unwrap();
    let wanted = requirements(workflow, &step);
    let mut artifacts: Vec<Value> =
        wanted.contracts.iter().map(|contract| contract.example.clone()).collect();
    for assessment in &wanted.assessments {
        let levels = assessment.dimensions.iter().map(|dimension| {
            let level = &dimension.levels[usize::from(die) % dimension.levels.len()];
            (dimension.id.clone(), json!(level))
        });
        let dimensions: serde_json::Map<String, Value> = levels.collect();
        artifacts.push(
            json!({ "kind": "wr.assessment", "assessmentId": assessment.id, "dimensions": dimensions }),
        );
    }
    let mut vars = serde_json::Map::new();
    vars.extend(wanted.context_keys.iter().map(|key| (key.clone(), json!("x"))));
    vars.insert("done".into(), json!(die.is_multiple_of(3)));
    vars.insert("risk".into(), json!(if die.is_multiple_of(2) { "low" } else { "high" }));
    json!({ "notes": "done", "vars": vars, "artifacts": artifacts })
}

fn lists(workflow: &Workflow) -> Value {
    let items: Vec<Value> = (0..ITEMS).map(|n| json!({ "title": n.to_string(), "detail": "d" })).collect();
    let mut vars = json!({ "plan": { "slices": items } });
    for step in workflow.all_steps() {
        let (StepKind::Loop(Loop { over: LoopOver::Items { list: path, .. }, .. })
        | StepKind::Todo(Todo { list: path, .. })) = &step.kind
        else {
            continue;
        };
        vars[path.split('.').next().unwrap()] = match path.split_once('.') {
            Some((_, inner)) => json!({ inner: items }),
            None => json!(items),
        };
    }
    vars
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_global_rejects: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn a_walk_ends_within_its_declared_bounds(
        workflow in arbitrary::workflow(),
        dice in proptest::collection::vec(any::<u8>(), 1..64),
    ) {
        let most = bound(&workflow.steps);
        prop_assume!(most <= LONGEST);
        let vars = lists(&workflow);
        let Ok(mut play) = Play::try_start(workflow, vars.as_object().unwrap()) else { return Ok(()) };
        let mut rejected = std::collections::BTreeSet::new();
        for n in 0.. {
            prop_assert!(n <= 4 * most + 64, "{} hand-outs allowed, still at {}", most, play.at());
            let die = dice[usize::try_from(n).unwrap() % dice.len()];
            if play.session.tip().is_some() {
                let id = play.at();
                let _ = play.answer(&answer(&play.workflow, &id, die));
            } else if play.session.working().is_some() {
                play.work(&json!({ "outcome": if die.is_multiple_of(2) { "passed" } else { "failed" }, "found": true, "value": 1 }));
            } else if let Some(gate) = play.session.gate().cloned() {
                let first_time = rejected.insert(gate.step.0.clone());
                play.gate(if first_time && die.is_multiple_of(4) { Verdict::Rejected } else { Verdict::Approved });
            } else {
                break;
            }
        }
        let handed_out = play
            .events
            .iter()
            .filter(|event| matches!(event, SessionEvent::StepHandedOut { .. } | SessionEvent::AttemptRefused { .. }))
            .count() as u64;
        prop_assert!(handed_out <= most, "{handed_out} of {most}");
    }
}
