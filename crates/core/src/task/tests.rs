//! Histories in, commands, events out.

use longhaul_events::CloseOutcome;
use serde_json::json;

use super::*;
use crate::outcome::{Because, Halt, outcome};

const TASK: TaskId = TaskId::from_bytes([1; 8]);
const FIRST: SessionId = SessionId::from_bytes([2; 8]);
const SECOND: SessionId = SessionId::from_bytes([3; 8]);

fn new_task() -> NewTask {
    NewTask {
        goal: Content::Inline(json!("fix it")),
        source: Source::CLI,
        pipeline: "lh.pipeline.feature".into(),
        until: None,
        workspace: None,
        priority: Priority::Normal,
        deadline: None,
        budget: None,
        by: "ada".into(),
        first: First::Attempt(FIRST),
    }
}

fn task(more: &[TaskEvent]) -> Task {
    let opened = Task::open(new_task());
    Task::fold(TASK, opened.iter().chain(more)).unwrap()
}

fn cancelled() -> TaskEvent {
    TaskEvent::Cancelled { by: "ada".into(), because: None }
}

fn parked(code: &str) -> Outcome {
    outcome(None, Halt::Parked { code, because: "so" }).unwrap()
}

fn closed(outcome: &CloseOutcome) -> Newest {
    Newest::Closed(crate::outcome::outcome(Some(outcome), Halt::Not).unwrap())
}

fn stopped() -> Newest {
    closed(&CloseOutcome::Cancelled { by: "ada".into(), reason: None })
}

fn retry(before: TaskState) -> Command {
    Command::Attempt { session: SECOND, before, by: "ada".into(), because: None }
}

fn cancel(now: TaskState) -> Command {
    Command::Cancel { now, by: "ada".into(), because: None }
}

/// The table of the module, row by row: word, whether it can be cancelled, whether it can be tried again.
#[test]
fn what_may_be_done_with_a_task_follows_from_its_newest_attempt() {
    let failed = CloseOutcome::Failed { reason: "no".into() };
    let rows = [
        (Newest::GoesOn, "open", true, false),
        (Newest::Halted(parked("gate")), "waits", true, false),
        (Newest::Halted(parked("budget_money")), "waits", true, false),
        (Newest::Halted(parked("attempts_used_up")), "waits", true, false),
        (closed(&CloseOutcome::Completed), "completed", false, false),
        (closed(&failed), "failed", true, true),
        (Newest::Halted(parked("stuck")), "failed", true, true),
        (Newest::Halted(parked("auth")), "could not", true, true),
        (stopped(), "cancelled", false, true),
        (Newest::NotHere, "not here", false, false),
    ];
    for (newest, word, may_cancel, may_retry) in rows {
        let task = task(&[]);
        let state = TaskState::of(&task, newest.clone());
        assert_eq!(state.word(), word, "{newest:?}");
        assert_eq!(task.decide(cancel(state.clone())).is_ok(), may_cancel, "cancel {newest:?}");
        assert_eq!(task.decide(retry(state)).is_ok(), may_retry, "retry {newest:?}");
    }
}

#[test]
fn a_cancelled_task_is_ending_until_its_session_is_closed() {
    let task = task(&[cancelled()]);
    let state = TaskState::of(&task, Newest::GoesOn);
    assert_eq!(state.word(), "ending");
    assert_eq!(task.decide(cancel(state.clone())), Ok(vec![]));
    assert_eq!(task.decide(retry(state)), Err(Rejection::Ending { task: TASK }));
    assert_eq!(TaskState::of(&task, stopped()).word(), "cancelled");
}

#[test]
fn another_attempt_is_the_newest_and_takes_the_cancellation_back() {
    let before = TaskState::of(&task(&[cancelled()]), stopped());
    let attempted = task(&[cancelled()]).decide(retry(before)).unwrap();
    let task = task(&[cancelled(), attempted[0].clone()]);
    assert_eq!((task.root(), task.attempts.len()), (Some(SECOND), 2));
    assert_eq!(TaskState::of(&task, Newest::GoesOn), TaskState::Open);
}

#[test]
fn setting_what_is_so_already_adds_nothing() {
    let set = |change| Command::Set { change, by: "ada".into(), because: Some("a customer waits".into()) };
    let urgent = TaskChange::Priority(Priority::Urgent);
    let events = task(&[]).decide(set(urgent.clone())).unwrap();
    let after = task(&events);
    assert_eq!(after.priority, Priority::Urgent);
    assert_eq!(after.decide(set(urgent)), Ok(vec![]));
    assert_eq!(after.decide(set(TaskChange::Deadline(None))), Ok(vec![]));
    let dated = after.decide(set(TaskChange::Deadline(Some(Timestamp(5))))).unwrap();
    assert_eq!(task(&dated).deadline, Some(Timestamp(5)));
}

#[test]
fn nobody_tries_for_ever() {
    let attempted = TaskEvent::Attempted { session: SECOND, by: "ada".into(), because: None };
    let often = task(&vec![attempted; MOST_ATTEMPTS]);
    let why = Because { reason: "closed".into(), because: "no".into() };
    let refused = often.decide(retry(TaskState::Over(Outcome::Failed(why))));
    assert_eq!(refused, Err(Rejection::TooManyAttempts { task: TASK }));
}

#[test]
fn a_history_that_does_not_begin_as_one_is_none() {
    assert_eq!(Task::fold(TASK, &[cancelled()]), None);
    assert_eq!(Task::fold(TASK, &[]), None);
}

fn orders() -> Orders {
    Orders {
        agent: None,
        cassette: None,
        taint: longhaul_events::Taint::Outside,
        labels: Vec::new(),
        max_attempts: 3,
        trigger: None,
        after: Vec::new(),
        scope: Vec::new(),
        base: None,
    }
}

fn queued(more: &[TaskEvent]) -> Task {
    let opened = Task::open(NewTask { first: First::Queue(orders()), ..new_task() });
    Task::fold(TASK, opened.iter().chain(more)).unwrap()
}

fn failed() -> Newest {
    closed(&CloseOutcome::Failed { reason: "no".into() })
}

fn requeued() -> TaskEvent {
    TaskEvent::Requeued { because: "no answer came".into(), due: Timestamp(9), by: "daemon".into() }
}

fn attempted() -> TaskEvent {
    TaskEvent::Attempted { session: FIRST, by: "daemon".into(), because: None }
}

#[test]
fn a_task_in_the_queue_is_started_by_one_attempt_and_cancelled_without_any() {
    let task = queued(&[]);
    let state = TaskState::of(&task, Newest::None);
    assert_eq!((&state, state.is_open()), (&TaskState::Queued, true));
    assert_eq!(task.decide(retry(state.clone())).map(|events| events.len()), Ok(1));
    let events = task.decide(cancel(state)).unwrap();
    assert_eq!(TaskState::of(&queued(&events), Newest::None).word(), "cancelled");
}

#[test]
fn a_task_that_waits_again_is_queued_however_its_attempt_ended_and_no_longer_once_it_is_tried() {
    let again = [attempted(), requeued()];
    for newest in [failed(), Newest::Halted(parked("stuck"))] {
        assert_eq!(TaskState::of(&queued(&again), newest), TaskState::Queued);
    }
    let tried = queued(&[attempted(), requeued(), attempted()]);
    assert_eq!(TaskState::of(&tried, Newest::GoesOn), TaskState::Open);
    let cancelled = queued(&[attempted(), requeued(), cancelled()]);
    assert_eq!(TaskState::of(&cancelled, failed()).word(), "cancelled");
    assert_eq!(TaskState::of(&cancelled, Newest::Halted(parked("stuck"))), TaskState::Ending);
}

#[test]
fn what_was_cancelled_in_the_queue_waits_again_when_somebody_wants_it_again() {
    let again = Command::Requeue {
        before: TaskState::of(&queued(&[cancelled()]), Newest::None),
        because: "it is wanted after all".into(),
        due: Timestamp(9),
        by: "ada".into(),
    };
    let events = queued(&[cancelled()]).decide(again).unwrap();
    let waits = queued(&[cancelled(), events[0].clone()]);
    assert_eq!(TaskState::of(&waits, Newest::None), TaskState::Queued);
}

#[test]
fn what_is_handed_over_waits_for_a_person_and_may_be_tried_again() {
    let handed = |now| Command::HandOver { now, because: "three failed".into(), by: "daemon".into() };
    let task = queued(&[attempted()]);
    let events = task.decide(handed(TaskState::of(&task, failed()))).unwrap();
    let over = queued(&[attempted(), events[0].clone()]);
    let state = TaskState::of(&over, failed());
    assert_eq!(state.word(), "handed over");
    assert_eq!(over.decide(handed(state.clone())), Ok(vec![]));
    assert!(over.decide(retry(state)).is_ok());
    let never_tried = queued(&[events[0].clone()]);
    assert_eq!(TaskState::of(&never_tried, Newest::None).word(), "handed over");
    let stopped = TaskState::of(&task, stopped());
    assert!(task.decide(handed(stopped)).is_err(), "what a person ended stays ended");
}

#[test]
fn the_newest_words_of_people_are_kept_for_the_attempts_to_come() {
    let told = |n: usize| TaskEvent::Told { words: Content::Inline(json!(n)), by: "ada".into() };
    let events: Vec<TaskEvent> = (0..MOST_TOLD + 3).map(told).collect();
    let task = queued(&events);
    assert_eq!(task.told.len(), MOST_TOLD);
    assert_eq!(task.told[0], Content::Inline(json!(3)));
    let completed = TaskState::of(&task, closed(&CloseOutcome::Completed));
    let tell = Command::Tell { now: completed, words: Content::Inline(json!("more")), by: "ada".into() };
    assert!(matches!(task.decide(tell), Err(Rejection::NobodyHears { .. })));
}
