//! The inbox: what waits for a person, told from what is on record. Nothing here is a model's judgement.
//!
//! An entry is not stored. It is there as long as its cause is: a gate that is open, a session that does not go on, a
//! question without an answer. A person closes what has no such end, a result or a failure, by saying so; that is a fact of
//! its task. An entry opens nothing by itself: a gate is answered at the gate.
//!
//! | cause | kind | urgency |
//! |---|---|---|
//! | a session waits at a gate | `gate` | `high` in the last day of its time, else as the task |
//! | an agent asks something, and its session is open | `question` | as asked; at most `normal` where the goal comes from outside |
//! | a task waits for want of a budget | `budget` | as the task |
//! | a task waits for anything else that a person has to settle | `blocked` | as the task |
//! | a task came to nothing | `could not`, `failed` | as the task |
//! | the daemon gave a task up | `handed over` | as the task |
//! | a task of ours is complete, for a week | `result` | `low` |
//! | a file or a part of the engine is broken | `trouble` | `high` where nothing goes on without it, else `normal` |
//!
//! A task is `high` if it is urgent, or if its deadline is less than a day away. What goes on by itself, such as a session
//! that waits for a provider's limit, is no entry; nor is what a person ended.

mod entry;
mod seen;
#[cfg(test)]
mod tests;

use longhaul_events::{Channel, Priority, Taint, Timestamp};

pub use entry::{Entry, EntryId, Kind, Remedy};
pub use seen::{Delivered, Doer, GateSeen, Halted, QuestionSeen, Seen, Settles, Severity, TaskSeen, Trouble};

use crate::outcome::Outcome;
use crate::parking::ParkCode;
use crate::question::Urgency;
use crate::task::TaskState;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// A result that nobody looked at for so long is found in the list of tasks.
const RESULT_DAYS: i64 = 7;
/// How long a daemon has to decide what becomes of a task of its own that came to nothing.
const SETTLING_MS: i64 = 60 * 1000;

/// What waits for a person, the most urgent first.
pub fn entries(seen: &Seen) -> Vec<Entry> {
    let mut all: Vec<Entry> = seen.troubles.iter().map(trouble).collect();
    for task in &seen.tasks {
        all.extend(of_task(task, seen.now));
    }
    all.extend(seen.loose_gates.iter().map(|gate| self::gate(gate, None, seen.now)));
    all.sort_by(|one, other| order(one).cmp(&order(other)));
    all
}

/// The most urgent first, then what ends first, then what waits longest.
fn order(entry: &Entry) -> (std::cmp::Reverse<Urgency>, Kind, Timestamp, Timestamp, &EntryId) {
    let until = entry.until.unwrap_or(Timestamp(i64::MAX));
    (std::cmp::Reverse(entry.urgency), entry.kind, until, entry.since, &entry.id)
}

fn of_task(task: &TaskSeen, now: Timestamp) -> Vec<Entry> {
    let mut all = Vec::new();
    match task.state {
        // What a person ended, or is ending, asks nothing of them.
        TaskState::Ending | TaskState::NotHere | TaskState::Over(Outcome::Cancelled { .. }) => return all,
        TaskState::Queued
        | TaskState::Open
        | TaskState::Waits(_)
        | TaskState::HandedOver(_)
        | TaskState::Over(_) => {}
    }
    all.extend(task.gates.iter().map(|gate| self::gate(gate, Some(task), now)));
    all.extend(task.questions.iter().map(|question| self::question(question, task, now)));
    all.extend(standing(task, now));
    all.retain(|entry| !task.settled.contains(entry.id.as_str()) || !entry.kind.is_settled_by_word());
    all
}

/// What a task as a whole asks of a person.
fn standing(task: &TaskSeen, now: Timestamp) -> Option<Entry> {
    if let Some(because) = task.given_up() {
        return Some(handed_over(task, because, now));
    }
    match &task.state {
        TaskState::Waits(outcome) => waits(task, outcome, now),
        TaskState::Over(outcome) | TaskState::HandedOver(outcome) => over(task, outcome, now),
        TaskState::Queued | TaskState::Open | TaskState::Ending | TaskState::NotHere => None,
    }
}

fn gate(gate: &GateSeen, task: Option<&TaskSeen>, now: Timestamp) -> Entry {
    let id = EntryId::of(Kind::Gate, &gate.session.to_string(), gate.node.0.0);
    let ends_soon = gate.until.0.saturating_sub(now.0) < DAY_MS;
    let as_task = task.map_or(Urgency::Normal, |task| of(task, now));
    let urgency = if ends_soon { Urgency::High } else { as_task };
    let remedies = if gate.accepts > Channel::Terminal {
        vec![Remedy::new(
            format!("longhaul inbox show {id}"),
            "what is asked; it is not answered at a terminal",
        )]
    } else {
        vec![
            Remedy::new(format!("longhaul inbox approve {id}"), "opens it"),
            Remedy::new(format!("longhaul inbox reject {id} --because TEXT"), "keeps it shut"),
        ]
    };
    Entry {
        kind: Kind::Gate,
        urgency,
        title: titled("A decision is wanted", task.map_or(gate.goal.as_str(), |task| &task.title)),
        text: gate.question.clone(),
        task: task.map(|task| task.id),
        workspace: task.and_then(|task| task.workspace),
        session: Some(gate.session),
        gate: Some(gate.node),
        since: gate.since,
        until: Some(gate.until),
        remedies,
        options: Vec::new(),
        default: None,
        id,
    }
}

fn question(asked: &QuestionSeen, task: &TaskSeen, now: Timestamp) -> Entry {
    let id = EntryId::of(Kind::Question, &asked.session.to_string(), asked.seq.0);
    // Whoever wrote the goal may want to be looked at before all others.
    let urgency = match task.taint {
        Taint::Clean => asked.question.urgency.max(of(task, now).min(Urgency::Normal)),
        Taint::Outside => asked.question.urgency.min(Urgency::Normal),
    };
    let without = match &asked.question.default {
        Some(_) => "lets the agent go on with its default",
        None => "lets the agent go on with what it chose",
    };
    Entry {
        kind: Kind::Question,
        urgency,
        title: titled("A question", &task.title),
        text: asked.question.text.clone(),
        task: Some(task.id),
        workspace: task.workspace,
        session: Some(asked.session),
        gate: None,
        since: asked.at,
        until: None,
        remedies: vec![
            Remedy::new(format!("longhaul inbox reply {id} TEXT"), "answers it"),
            Remedy::new(format!("longhaul inbox done {id}"), without),
        ],
        options: asked.question.options.clone(),
        default: asked.question.default.clone(),
        id,
    }
}

fn waits(task: &TaskSeen, outcome: &Outcome, now: Timestamp) -> Option<Entry> {
    let (Outcome::Blocked(why) | Outcome::Parked(why) | Outcome::CouldNot(why) | Outcome::Failed(why)) =
        outcome
    else {
        return None;
    };
    let halted = task.halted.as_ref()?;
    // A gate has an entry of its own, and a limit of a provider passes.
    if why.reason == crate::outcome::GATE || halted.goes_on_at.is_some() {
        return None;
    }
    Some(match ParkCode::of(&why.reason).filter(|code| is_budget(*code)) {
        Some(code) => out_of_budget(task, halted, (code, &why.because), now),
        None => blocked(task, halted, &why.because, now),
    })
}

fn blocked(task: &TaskSeen, halted: &Halted, because: &str, now: Timestamp) -> Entry {
    let id = EntryId::of(Kind::Blocked, &halted.session.to_string(), halted.seq.0);
    Entry {
        text: with_fix(because, &halted.fix),
        since: halted.at,
        session: Some(halted.session),
        remedies: vec![
            Remedy::new(format!("longhaul inbox reply {id} TEXT"), "tells its agent how to go on"),
            Remedy::new(format!("longhaul session show {}", halted.session), "what led to it"),
            Remedy::new(format!("longhaul task cancel {}", task.id), "ends it"),
        ],
        ..about(task, Kind::Blocked, "Blocked", id, of(task, now))
    }
}

fn out_of_budget(
    task: &TaskSeen,
    halted: &Halted,
    (code, because): (ParkCode, &str),
    now: Timestamp,
) -> Entry {
    let id = EntryId::of(Kind::Budget, &halted.session.to_string(), halted.seq.0);
    let more = if code == ParkCode::BudgetTaskMoney {
        Remedy::new(format!("longhaul task budget {} money=AMOUNT", task.id), "gives the whole task more")
    } else if code == ParkCode::BudgetDayMoney {
        Remedy::new("longhaul config show --origin".to_owned(), "where `budget.day.money` is set")
    } else {
        let command = format!("longhaul session resume {} --budget NAME=AMOUNT", halted.session);
        Remedy::new(command, "gives it more and goes on")
    };
    Entry {
        text: with_fix(because, &halted.fix),
        since: halted.at,
        session: Some(halted.session),
        remedies: vec![more, Remedy::new(format!("longhaul task cancel {}", task.id), "ends it")],
        ..about(task, Kind::Budget, "Out of budget", id, of(task, now))
    }
}

fn over(task: &TaskSeen, outcome: &Outcome, now: Timestamp) -> Option<Entry> {
    let halted = task.halted.as_ref()?;
    match outcome {
        Outcome::Completed { .. } => result(task, halted, outcome, now),
        Outcome::CouldNot(why) => came_to_nothing(task, halted, (Kind::CouldNot, &why.because), now),
        Outcome::Failed(why) => came_to_nothing(task, halted, (Kind::Failed, &why.because), now),
        Outcome::Blocked(_) | Outcome::Parked(_) | Outcome::Cancelled { .. } => None,
    }
}

/// Whoever drives an agent of their own sees what it comes to.
fn result(task: &TaskSeen, halted: &Halted, outcome: &Outcome, now: Timestamp) -> Option<Entry> {
    let is_news = now.0.saturating_sub(halted.at.0) < RESULT_DAYS * DAY_MS;
    if task.doer == Doer::Others || !is_news {
        return None;
    }
    let id = EntryId::of(Kind::Result, &halted.session.to_string(), 0);
    let (words, text) = match &task.delivered {
        Delivered::Nothing => ("Done", outcome.to_string()),
        Delivered::Branch => ("Done", "completed; the change is on a branch".to_owned()),
        Delivered::Pull => ("Done", "completed; the change is in a pull request".to_owned()),
        Delivered::Merged => ("Merged", "completed, and merged".to_owned()),
    };
    Some(Entry {
        text,
        since: halted.at,
        session: Some(halted.session),
        remedies: vec![
            Remedy::new(format!("longhaul task show {} --why", task.id), "what was done, and why"),
            Remedy::new(format!("longhaul inbox done {id}"), "takes it from the list"),
        ],
        ..about(task, Kind::Result, words, id, Urgency::Low)
    })
}

fn came_to_nothing(
    task: &TaskSeen,
    halted: &Halted,
    (kind, because): (Kind, &str),
    now: Timestamp,
) -> Option<Entry> {
    let is_settling = task.settles == Settles::ByDaemon && now.0.saturating_sub(halted.at.0) < SETTLING_MS;
    if task.doer == Doer::Others || is_settling {
        return None;
    }
    let words = if kind == Kind::Failed { "Failed" } else { "Could not be done" };
    let id = EntryId::of(kind, &halted.session.to_string(), halted.seq.0);
    Some(Entry {
        text: with_fix(because, &halted.fix),
        since: halted.at,
        session: Some(halted.session),
        remedies: after_failure(task, &id),
        ..about(task, kind, words, id, of(task, now))
    })
}

fn handed_over(task: &TaskSeen, because: &str, now: Timestamp) -> Entry {
    let id = EntryId::of(Kind::HandedOver, &task.id.to_string(), task.attempts);
    let halted = task.halted.as_ref();
    let text = match task.state.outcome() {
        Some(Outcome::Failed(_) | Outcome::CouldNot(_)) if task.halted.is_some() => {
            let came_to = task.state.outcome().map(ToString::to_string).unwrap_or_default();
            format!("{because}; it came to this: {came_to}")
        }
        Some(_) | None => because.to_owned(),
    };
    Entry {
        text,
        since: halted.map_or(task.since, |halted| halted.at),
        session: halted.map(|halted| halted.session),
        remedies: after_failure(task, &id),
        ..about(task, Kind::HandedOver, "It is yours now", id, of(task, now))
    }
}

fn after_failure(task: &TaskSeen, id: &EntryId) -> Vec<Remedy> {
    vec![
        Remedy::new(format!("longhaul task retry {}", task.id), "tries it again"),
        Remedy::new(format!("longhaul task show {} --why", task.id), "what led to it"),
        Remedy::new(format!("longhaul inbox done {id}"), "takes it from the list"),
    ]
}

fn trouble(trouble: &Trouble) -> Entry {
    let id = EntryId::of(Kind::Trouble, &trouble.subject, 0);
    Entry {
        kind: Kind::Trouble,
        urgency: match trouble.severity {
            Severity::StopsWork => Urgency::High,
            Severity::Hinders => Urgency::Normal,
        },
        title: trouble.title.clone(),
        text: trouble.problem.clone(),
        task: None,
        workspace: trouble.workspace,
        session: None,
        gate: None,
        since: trouble.since,
        until: None,
        remedies: vec![Remedy::new(trouble.remedy.clone(), "puts it right, or says more")],
        options: Vec::new(),
        default: None,
        id,
    }
}

/// What all entries about a task have.
fn about(task: &TaskSeen, kind: Kind, words: &str, id: EntryId, urgency: Urgency) -> Entry {
    Entry {
        id,
        kind,
        urgency,
        title: titled(words, &task.title),
        text: String::new(),
        task: Some(task.id),
        workspace: task.workspace,
        session: None,
        gate: None,
        since: task.since,
        until: None,
        remedies: Vec::new(),
        options: Vec::new(),
        default: None,
    }
}

/// How soon anything about a task should be looked at.
fn of(task: &TaskSeen, now: Timestamp) -> Urgency {
    let is_due = task.deadline.is_some_and(|deadline| deadline.0.saturating_sub(now.0) < DAY_MS);
    match task.priority {
        Priority::Urgent => Urgency::High,
        Priority::Low | Priority::Normal | Priority::High if is_due => Urgency::High,
        Priority::Low | Priority::Normal | Priority::High => Urgency::Normal,
    }
}

fn titled(words: &str, title: &str) -> String {
    format!("{words}: {title}")
}

fn with_fix(because: &str, fix: &str) -> String {
    if fix.is_empty() { because.to_owned() } else { format!("{because}; {fix}") }
}

/// Whether a session lacks something that a person gives it.
pub(crate) const fn is_budget(code: ParkCode) -> bool {
    matches!(
        code,
        ParkCode::BudgetTokens
            | ParkCode::BudgetTime
            | ParkCode::BudgetMoney
            | ParkCode::BudgetTurns
            | ParkCode::BudgetTaskMoney
            | ParkCode::BudgetDayMoney
    )
}
