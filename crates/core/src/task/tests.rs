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
        session: FIRST,
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
