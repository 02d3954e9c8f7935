//! What is seen in, entries out.

use std::collections::BTreeSet;

use longhaul_events::{NodeId, Seq, SessionId, TaskId};

use super::*;
use crate::outcome::Because;
use crate::question::Question;

const NOW: Timestamp = Timestamp(1_000 * DAY_MS);
const SESSION: SessionId = SessionId::from_bytes([1; 8]);

fn ago(ms: i64) -> Timestamp {
    Timestamp(NOW.0 - ms)
}

/// A task of ours that goes on.
pub(crate) fn task(number: u8, title: &str) -> TaskSeen {
    TaskSeen {
        id: TaskId::from_bytes([number; 8]),
        title: title.to_owned(),
        workspace: None,
        state: TaskState::Open,
        taint: Taint::Clean,
        priority: Priority::Normal,
        deadline: None,
        doer: Doer::Ours,
        settles: Settles::ByPerson,
        attempts: 1,
        handed_over: None,
        halted: None,
        delivered: Delivered::Nothing,
        gates: Vec::new(),
        questions: Vec::new(),
        settled: BTreeSet::new(),
        opened: ago(DAY_MS),
        since: ago(60_000),
        step: Some("code".to_owned()),
        root: Some(SESSION),
        money_micros: 0,
    }
}

fn why(reason: &str) -> Because {
    Because { reason: reason.to_owned(), because: "so".to_owned() }
}

fn halted() -> Halted {
    let (seq, at, fix) = (Seq(9), ago(2 * 60 * 60_000), "do this".to_owned());
    Halted { session: SESSION, seq, at, fix, goes_on_at: None }
}

fn stands(state: TaskState) -> TaskSeen {
    TaskSeen { state, halted: Some(halted()), ..task(1, "Mend the login") }
}

fn at_gate() -> TaskSeen {
    let gate = GateSeen {
        session: SESSION,
        node: NodeId(Seq(12)),
        goal: "Mend the login".to_owned(),
        question: "Merge it?".to_owned(),
        accepts: Channel::Terminal,
        since: ago(60_000),
        until: Timestamp(NOW.0 + 3 * DAY_MS),
    };
    TaskSeen { gates: vec![gate], ..stands(TaskState::Waits(Outcome::Parked(why("gate")))) }
}

fn asking(urgency: Urgency, taint: Taint) -> TaskSeen {
    let options = vec!["keep".to_owned(), "drop".to_owned()];
    let question = Question {
        text: "Keep the old name?".to_owned(),
        default: options.first().cloned(),
        options,
        urgency,
    };
    let asked = QuestionSeen { session: SESSION, seq: Seq(5), at: ago(60_000), question };
    TaskSeen { questions: vec![asked], taint, ..task(1, "Mend the login") }
}

fn seen(tasks: Vec<TaskSeen>) -> Seen {
    Seen { now: NOW, tasks, ..Seen::default() }
}

fn told(tasks: Vec<TaskSeen>) -> Vec<(Kind, Urgency, String)> {
    entries(&seen(tasks)).into_iter().map(|entry| (entry.kind, entry.urgency, entry.title)).collect()
}

fn one(task: TaskSeen) -> Entry {
    let mut all = entries(&seen(vec![task]));
    assert_eq!(all.len(), 1, "{all:#?}");
    all.remove(0)
}

#[test]
fn a_gate_is_one_entry_with_the_commands_that_answer_it() {
    let entry = one(at_gate());
    let commands: Vec<&str> = entry.remedies.iter().map(|remedy| remedy.command.as_str()).collect();
    assert_eq!((entry.kind, entry.urgency, entry.text.as_str()), (Kind::Gate, Urgency::Normal, "Merge it?"));
    assert_eq!(
        commands,
        [
            format!("longhaul inbox approve {}", entry.id),
            format!("longhaul inbox reject {} --because TEXT", entry.id)
        ]
    );
    assert_eq!((entry.session, entry.gate), (Some(SESSION), Some(NodeId(Seq(12)))));
}

#[test]
fn a_gate_in_its_last_day_and_a_task_that_is_due_are_urgent() {
    let mut soon = at_gate();
    soon.gates[0].until = Timestamp(NOW.0 + DAY_MS - 1);
    assert_eq!(one(soon).urgency, Urgency::High);
    let due = TaskSeen { deadline: Some(Timestamp(NOW.0 + 60_000)), ..at_gate() };
    assert_eq!(one(due).urgency, Urgency::High);
    assert_eq!(one(TaskSeen { priority: Priority::Urgent, ..at_gate() }).urgency, Urgency::High);
}

#[test]
fn a_gate_that_wants_more_than_a_terminal_offers_no_answer_here() {
    let mut console = at_gate();
    console.gates[0].accepts = Channel::Console;
    let entry = one(console);
    assert!(entry.remedies.iter().all(|remedy| !remedy.command.contains("approve")), "{entry:#?}");
}

#[test]
fn a_question_is_as_urgent_as_it_says_unless_its_goal_comes_from_outside() {
    let entry = one(asking(Urgency::High, Taint::Clean));
    assert_eq!((entry.urgency, entry.default.as_deref()), (Urgency::High, Some("keep")));
    assert_eq!(entry.options, ["keep", "drop"]);
    assert_eq!(one(asking(Urgency::High, Taint::Outside)).urgency, Urgency::Normal);
    assert_eq!(one(asking(Urgency::Low, Taint::Outside)).urgency, Urgency::Low);
}

#[test]
fn each_way_not_to_go_on_is_an_entry_of_its_own() {
    for (state, kind, title) in [
        (
            TaskState::Waits(Outcome::Parked(why("budget_money"))),
            Kind::Budget,
            "Out of budget: Mend the login",
        ),
        (
            TaskState::Waits(Outcome::Blocked(why("attempts_used_up"))),
            Kind::Blocked,
            "Blocked: Mend the login",
        ),
        (TaskState::Waits(Outcome::Parked(why("review_required"))), Kind::Blocked, "Blocked: Mend the login"),
        (
            TaskState::Over(Outcome::CouldNot(why("auth"))),
            Kind::CouldNot,
            "Could not be done: Mend the login",
        ),
        (TaskState::Over(Outcome::Failed(why("stuck"))), Kind::Failed, "Failed: Mend the login"),
    ] {
        let entry = one(stands(state));
        assert_eq!((entry.kind, entry.title.as_str(), entry.text.as_str()), (kind, title, "so; do this"));
    }
}

#[test]
fn more_money_is_given_where_it_is_short() {
    let command = |reason| {
        let entry = one(stands(TaskState::Waits(Outcome::Parked(why(reason)))));
        entry.remedies[0].command.clone()
    };
    assert!(command("budget_tokens").starts_with(&format!("longhaul session resume {SESSION} --budget")));
    assert!(command("budget_task_money").starts_with("longhaul task budget t-"));
    assert_eq!(command("budget_day_money"), "longhaul config show --origin");
}

#[test]
fn what_goes_on_by_itself_or_was_ended_by_a_person_is_no_entry() {
    let limit = Halted { goes_on_at: Some(Timestamp(NOW.0 + 1)), ..halted() };
    let waits =
        TaskSeen { halted: Some(limit), ..stands(TaskState::Waits(Outcome::Parked(why("usage_limit")))) };
    let cancelled = stands(TaskState::Over(Outcome::Cancelled { by: "ada".into(), because: None }));
    let ending = TaskSeen { state: TaskState::Ending, ..at_gate() };
    assert_eq!(told(vec![waits, cancelled, ending, task(2, "x"), stands(TaskState::Queued)]), []);
}

#[test]
fn a_result_is_told_for_a_week_and_only_of_what_we_did() {
    let done =
        |delivered| TaskSeen { delivered, ..stands(TaskState::Over(Outcome::Completed { reason: None })) };
    let entry = one(done(Delivered::Merged));
    assert_eq!((entry.title.as_str(), entry.urgency), ("Merged: Mend the login", Urgency::Low));
    assert_eq!(one(done(Delivered::Pull)).text, "completed; the change is in a pull request");
    assert_eq!(told(vec![TaskSeen { doer: Doer::Others, ..done(Delivered::Merged) }]), []);
    let mut old = done(Delivered::Merged);
    old.halted.as_mut().unwrap().at = ago(8 * DAY_MS);
    assert_eq!(told(vec![old]), []);
}

#[test]
fn what_a_daemon_may_try_again_is_no_news_until_it_had_its_time() {
    let failed = || stands(TaskState::Over(Outcome::Failed(why("stuck"))));
    let mut fresh = TaskSeen { settles: Settles::ByDaemon, ..failed() };
    assert_eq!(told(vec![fresh.clone()]).len(), 1, "it had its time");
    fresh.halted.as_mut().unwrap().at = ago(1000);
    assert_eq!(told(vec![fresh]), []);
    let given_up = TaskSeen {
        handed_over: Some("three attempts failed".to_owned()),
        state: TaskState::HandedOver(Outcome::Failed(why("stuck"))),
        ..failed()
    };
    let entry = one(given_up);
    assert_eq!((entry.kind, entry.title.as_str()), (Kind::HandedOver, "It is yours now: Mend the login"));
    assert_eq!(entry.text, "three attempts failed; it came to this: failed (stuck): so");
}

#[test]
fn a_persons_word_settles_what_has_no_end_of_its_own_and_never_a_gate() {
    for task in [
        stands(TaskState::Over(Outcome::Failed(why("stuck")))),
        stands(TaskState::Over(Outcome::Completed { reason: None })),
        asking(Urgency::Normal, Taint::Clean),
    ] {
        let id = one(task.clone()).id.to_string();
        assert_eq!(told(vec![TaskSeen { settled: BTreeSet::from([id]), ..task }]), []);
    }
    let gate = at_gate();
    let id = one(gate.clone()).id.to_string();
    assert_eq!(told(vec![TaskSeen { settled: BTreeSet::from([id]), ..gate }]).len(), 1);
}

#[test]
fn the_same_cause_has_the_same_name_and_the_next_time_another() {
    let blocked = || stands(TaskState::Waits(Outcome::Blocked(why("attempts_used_up"))));
    let mut again = blocked();
    again.since = NOW;
    assert_eq!(one(blocked()).id, one(again.clone()).id, "whoever looks, and whenever");
    again.halted.as_mut().unwrap().seq = Seq(20);
    assert_ne!(one(blocked()).id, one(again).id);
}

#[test]
fn the_most_urgent_comes_first_then_what_is_decided_then_what_only_tells() {
    let trouble = Trouble {
        subject: "config.yml".to_owned(),
        title: "The settings cannot be read".to_owned(),
        problem: "line 3".to_owned(),
        remedy: "longhaul config show".to_owned(),
        severity: Severity::StopsWork,
        workspace: None,
        since: ago(1),
    };
    let done = TaskSeen {
        id: TaskId::from_bytes([7; 8]),
        ..stands(TaskState::Over(Outcome::Completed { reason: None }))
    };
    let failed =
        TaskSeen { id: TaskId::from_bytes([8; 8]), ..stands(TaskState::Over(Outcome::Failed(why("stuck")))) };
    let all = Seen { troubles: vec![trouble], ..seen(vec![done, failed, at_gate()]) };
    let kinds: Vec<Kind> = entries(&all).into_iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [Kind::Trouble, Kind::Gate, Kind::Failed, Kind::Result]);
}

#[test]
fn scripts_get_words_and_moments() {
    let shown = serde_json::to_value(one(at_gate())).unwrap();
    assert_eq!((&shown["kind"], &shown["urgency"]), (&"gate".into(), &"normal".into()));
    assert_eq!(shown["since"], "1972-09-26T23:59:00.000Z");
    assert!(shown["id"].as_str().unwrap().starts_with("i-") && shown.get("default").is_none(), "{shown:#}");
}
