//! Runs in, figures out; events in, time at work out.

use longhaul_events::{Account, AgentAct, Digest, Taint};
use longhaul_events::{
    CallOrder, CallOutcome, CloseOutcome, Content, Driver, Epoch, NodeId, Nonce, Place, Seq, SessionEvent,
    StepId, TokenCount,
};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn run(end: RunEnd, work_ms: u64) -> Run {
    Run {
        workflow: "team.fix".to_owned(),
        began: Timestamp(0),
        end,
        work_ms,
        turns: work_ms / 10,
        tokens: work_ms * 10,
        cost_micros: work_ms * 2,
        longest: Longest::default(),
    }
}

fn completed(work_ms: &[u64]) -> Vec<Run> {
    work_ms.iter().map(|ms| run(RunEnd::Completed, *ms)).collect()
}

#[test]
fn a_percentile_is_a_value_that_was_seen() {
    let hundred: Vec<u64> = (1..=100).rev().collect();
    assert_eq!(Spread::of(hundred), Spread { p50: 50, p95: 95 });
    assert_eq!(Spread::of([7]), Spread { p50: 7, p95: 7 });
    assert_eq!(Spread::of([3, 1, 2]), Spread { p50: 2, p95: 3 });
    assert_eq!(Spread::of([]), Spread::default());
}

#[test]
fn only_what_came_to_its_end_by_itself_is_measured_and_all_is_counted() {
    let mut runs = completed(&[100, 200, 300]);
    runs.push(run(RunEnd::Failed, 400));
    runs.extend([run(RunEnd::Cancelled, 9000), run(RunEnd::GoesOn, 9000), run(RunEnd::Waits, 9000)]);
    runs.push(Run { workflow: "team.other".to_owned(), ..run(RunEnd::Completed, 1) });
    let rows = by_workflow(&runs);
    assert_eq!(rows.iter().map(|row| row.workflow.as_str()).collect::<Vec<_>>(), ["team.fix", "team.other"]);
    assert_eq!(
        rows[0],
        WorkflowStats {
            workflow: "team.fix".to_owned(),
            runs: 7,
            outcomes: BTreeMap::from([
                (RunEnd::Completed, 3),
                (RunEnd::Failed, 1),
                (RunEnd::Cancelled, 1),
                (RunEnd::Waits, 1),
                (RunEnd::GoesOn, 1),
            ]),
            measured: 4,
            duration_ms: Spread { p50: 200, p95: 400 },
            turns: Spread { p50: 20, p95: 40 },
            tokens: Spread { p50: 2000, p95: 4000 },
            cost_micros: Spread { p50: 400, p95: 800 },
            total_cost_micros: 2 * (1000 + 27_000),
        }
    );
}

#[test]
fn of_fewer_than_five_runs_nothing_is_said() {
    assert_eq!(estimate("team.fix", 0, &completed(&[1, 2, 3, 4])), None);
    let mut others = completed(&[1, 2, 3, 4]);
    others.push(run(RunEnd::Failed, 5));
    assert_eq!(estimate("team.fix", 0, &others), None);
    let defaults = Budgets { call_ms: 10, turn_ms: 10 };
    assert_eq!(budgets("team.fix", &others, defaults), defaults);
}

#[test]
fn what_is_left_is_told_by_the_runs_that_came_as_far() {
    let runs = completed(&[100, 200, 300, 400, 500, 1000]);
    let rest = |likely_ms, at_most_ms| Some(Estimate { runs: 6, rest: Some(Rest { likely_ms, at_most_ms }) });
    assert_eq!(estimate("team.fix", 0, &runs), rest(300, 1000));
    assert_eq!(estimate("team.fix", 250, &runs), rest(150, 750));
    assert_eq!(estimate("team.fix", 999, &runs), rest(1, 1));
    assert_eq!(estimate("team.fix", 1000, &runs), Some(Estimate { runs: 6, rest: None }));
    assert_eq!(estimate("team.other", 0, &runs), None);
}

#[test]
fn a_budget_for_silence_grows_with_what_was_seen_up_to_a_bound() {
    let defaults = Budgets { call_ms: 1000, turn_ms: 500 };
    let runs = |call_ms, turn_ms| -> Vec<Run> {
        let longest = Longest { call_ms, turn_ms };
        completed(&[1, 1, 1, 1, 1]).into_iter().map(|run| Run { longest, ..run }).collect()
    };
    assert_eq!(budgets("team.fix", &runs(400, 100), defaults), defaults);
    assert_eq!(budgets("team.fix", &runs(600, 400), defaults), Budgets { call_ms: 1200, turn_ms: 800 });
    assert_eq!(
        budgets("team.fix", &runs(u64::MAX, 9000), defaults),
        Budgets { call_ms: 4000, turn_ms: 2000 }
    );
}

fn handed_out(node: u64) -> SessionEvent {
    SessionEvent::StepHandedOut {
        node: NodeId(Seq(node)),
        after: None,
        step: StepId("look".to_owned()),
        prompt: Content::Inline(json!("look")),
        nonce: Nonce::from_bytes([0; 5]),
        place: Place::default(),
    }
}

fn finished(node: u64) -> SessionEvent {
    SessionEvent::StepFinished {
        node: NodeId(Seq(node)),
        nonce: Nonce::from_bytes([0; 5]),
        payload: Content::Inline(json!({})),
        payload_hash: Digest::ZERO,
        answer: Content::Inline(json!({})),
        epoch: None,
    }
}

fn parked(node: u64) -> SessionEvent {
    SessionEvent::Parked {
        node: NodeId(Seq(node)),
        after: None,
        step: StepId("look".to_owned()),
        reasons: Vec::new(),
        place: Place::default(),
        waits: None,
    }
}

fn agent(act: AgentAct) -> SessionEvent {
    SessionEvent::Agent { node: Some(NodeId(Seq(2))), act }
}

fn worked(events: &[(i64, SessionEvent)]) -> WorkTime {
    let mut time = WorkTime::default();
    events.iter().for_each(|(at, event)| time.apply(Timestamp(*at), event));
    time
}

#[test]
fn of_an_agent_that_a_person_drives_the_time_counts_while_a_step_is_out() {
    let closed = SessionEvent::Closed { outcome: CloseOutcome::Completed };
    let time = worked(&[
        (100, handed_out(2)),
        (150, finished(2)),
        (5000, handed_out(4)),
        (5010, parked(4)),
        (9000, handed_out(6)),
        (9001, closed),
    ]);
    assert_eq!(time.ms(), 50 + 10 + 1);
}

#[test]
fn of_an_agent_of_ours_the_time_counts_while_somebody_drives() {
    let driver = Driver { host: "here".to_owned(), process: 1, started: None };
    let epoch = Epoch(1);
    let settings = Content::Inline(json!({}));
    let assigned =
        AgentAct::Assigned { agent: "a".to_owned(), settings, because: None, taint: Taint::default() };
    let time = worked(&[
        (0, agent(assigned)),
        (0, handed_out(2)),
        (100, SessionEvent::DriverTaken { epoch, driver, expires_at: Timestamp(15_000) }),
        (400, parked(2)),
        (410, SessionEvent::DriverReleased { epoch }),
        // A night later.
        (90_000, SessionEvent::Closed { outcome: CloseOutcome::Completed }),
    ]);
    assert_eq!(time.ms(), 310);
}

#[test]
fn the_longest_call_is_one_that_was_done() {
    let called = |outcome, ms| AgentAct::CallFinished {
        turn: 1,
        call: 0,
        tool: "bash".to_owned(),
        outcome,
        exit: None,
        result: Content::Inline(json!("")),
        ms,
    };
    let answered = |ms| AgentAct::Answered {
        turn: 1,
        said: Content::Inline(json!("")),
        calls: Vec::new(),
        order: CallOrder::OneByOne,
        usage: TokenCount::default(),
        ms,
        cost_micros: 0,
        account: Account::Turn,
        echo: None,
    };
    let time = worked(&[
        (1, agent(answered(30))),
        (2, agent(called(CallOutcome::Done, 20))),
        (3, agent(called(CallOutcome::Stopped, 1000))),
        (4, agent(called(CallOutcome::Interrupted, 1000))),
        (5, agent(answered(10))),
    ]);
    assert_eq!(time.longest, Longest { call_ms: 20, turn_ms: 30 });
}

proptest! {
    #[test]
    fn an_estimate_is_never_longer_than_the_longest_run_and_a_budget_never_shorter_than_its_default(
        lengths in prop::collection::vec(0_u64..10_000, 0..40),
        so_far in 0_u64..12_000,
        defaults in (1_u64..5000, 1_u64..5000),
    ) {
        let runs: Vec<Run> = lengths
            .iter()
            .map(|ms| Run { longest: Longest { call_ms: *ms, turn_ms: ms / 2 }, ..run(RunEnd::Completed, *ms) })
            .collect();
        if let Some(Estimate { runs: based_on, rest }) = estimate("team.fix", so_far, &runs) {
            prop_assert!(based_on >= 5);
            let longest = lengths.iter().copied().max().unwrap_or(0);
            prop_assert!(rest.is_none_or(|rest| rest.likely_ms <= rest.at_most_ms && so_far + rest.at_most_ms <= longest));
            prop_assert_eq!(rest.is_none(), so_far >= longest);
        }
        let defaults = Budgets { call_ms: defaults.0, turn_ms: defaults.1 };
        let budgets = budgets("team.fix", &runs, defaults);
        prop_assert!(budgets.call_ms >= defaults.call_ms && budgets.call_ms <= 4 * defaults.call_ms);
        prop_assert!(budgets.turn_ms >= defaults.turn_ms && budgets.turn_ms <= 4 * defaults.turn_ms);
    }
}
