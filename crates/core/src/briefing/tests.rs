//! The same data, told three times; and data that wants to be told to the wrong people.

use std::collections::BTreeSet;

use longhaul_events::{NodeId, Priority, Seq, SessionId, Taint, TaskId, WorkspaceId};
use proptest::prelude::*;

use super::*;
use crate::inbox::{Delivered, Doer, GateSeen, Halted, QuestionSeen, Settles, Severity, Trouble, entries};
use crate::outcome::Because;
use crate::question::{Question, Urgency};

const NOW: Timestamp = Timestamp(1_794_902_400_000);

fn task(number: u8, title: &str, state: TaskState) -> TaskSeen {
    let session = SessionId::from_bytes([number; 8]);
    let at = Timestamp(NOW.0 - 2 * HOUR_MS);
    let is_halted = !matches!(state, TaskState::Open | TaskState::Queued);
    let halted = Halted { session, seq: Seq(9), at, fix: "look".to_owned(), goes_on_at: None };
    TaskSeen {
        id: TaskId::from_bytes([number; 8]),
        title: title.to_owned(),
        workspace: None,
        state,
        taint: Taint::Clean,
        priority: Priority::Normal,
        deadline: None,
        doer: Doer::Ours,
        settles: Settles::ByPerson,
        attempts: 1,
        handed_over: None,
        halted: is_halted.then_some(halted),
        delivered: Delivered::Nothing,
        gates: Vec::new(),
        questions: Vec::new(),
        settled: BTreeSet::new(),
        opened: Timestamp(NOW.0 - DAY_MS),
        since: at,
        step: Some("code".to_owned()),
        root: Some(session),
        money_micros: 400_000,
    }
}

fn why(reason: &str) -> Because {
    Because { reason: reason.to_owned(), because: "it waits for an answer at a gate".to_owned() }
}

fn desk() -> Seen {
    let gate = GateSeen {
        session: SessionId::from_bytes([2; 8]),
        node: NodeId(Seq(12)),
        goal: "Rename the login page".to_owned(),
        question: "Merge it? You are asked because it touches `auth/`.".to_owned(),
        accepts: longhaul_events::Channel::Terminal,
        since: Timestamp(NOW.0 - 2 * HOUR_MS),
        until: Timestamp(NOW.0 + 6 * DAY_MS),
    };
    let late = Timestamp(NOW.0 - HOUR_MS);
    Seen {
        now: NOW,
        tasks: vec![
            task(1, "Fix the flaky login test", TaskState::Open),
            TaskSeen {
                gates: vec![gate],
                ..task(2, "Rename the login page", TaskState::Waits(Outcome::Parked(why("gate"))))
            },
            TaskSeen {
                deadline: Some(late),
                ..task(3, "Move src/db.rs to its own crate", TaskState::Queued)
            },
            TaskSeen {
                delivered: Delivered::Merged,
                ..task(
                    4,
                    "Show the time in the reader's zone",
                    TaskState::Over(Outcome::Completed { reason: None }),
                )
            },
            task(5, "Audit the parser", TaskState::Over(Outcome::Failed(why("stuck")))),
        ],
        ..Seen::default()
    }
}

fn told(audience: Audience) -> String {
    let seen = desk();
    let around = Surroundings {
        daemon: Some(DaemonLine {
            state: DaemonState::Runs,
            words: "The daemon runs, for 3 hours.".to_owned(),
        }),
        money_today_micros: 1_200_000,
        money_day_micros: Some(100_000_000),
    };
    brief(&seen, &entries(&seen), &around, audience).text()
}

#[test]
fn the_owner_is_told_everything_with_what_to_type() {
    insta::assert_snapshot!(told(Audience::Owner), @r"
    Tuesday, 17 November 2026, 08:00 UTC
    2 things wait for you, 1 task is at work, 1 is in the queue, 1 was done in the last 24 hours.
    1.20usd of 100usd was spent today.
    The daemon runs, for 3 hours.

    Waits for you
      i-q1wdenm5  A decision is wanted: Rename the login page (normal, 2 hours, 6 days left)
          Merge it? You are asked because it touches `auth/`.
          longhaul inbox approve i-q1wdenm5
      i-qf6qw806  Failed: Audit the parser (normal, 2 hours)
          it waits for an answer at a gate; look
          longhaul task retry t-0m2ga1850m2ga

    At work
      t-040g2081040g2  Fix the flaky login test (at `code`, for 24 hours, 0.40usd)

    In the queue
      t-0c1g60r30c1g6  Move src/db.rs to its own crate (waits for its turn, for 24 hours, 0.40usd)

    Done in the last 24 hours
      t-0g2081040g208  Show the time in the reader's zone (merged, 2 hours ago, 0.40usd)
    ");
}

#[test]
fn a_stakeholder_is_told_of_progress_risks_and_deadlines() {
    insta::assert_snapshot!(told(Audience::Stakeholder), @r"
    Tuesday, 17 November 2026
    1 task was finished in the last seven days, 2 are in progress, 1 is planned, 3 need attention.

    Needs attention
      Rename the login page: waits for a decision (2 hours)
      Move … to its own crate: is late (1 hour)
      Audit the parser: did not work out so far, and somebody has to look at it (2 hours)

    In progress
      Fix the flaky login test (being worked on for 24 hours)
      Rename the login page (waits for 2 hours)

    Planned
      Move … to its own crate (for 24 hours)

    Finished in the last seven days
      Show the time in the reader's zone (merged 2 hours ago)

    Deadlines
      Tuesday, 17 November 2026: Move … to its own crate (planned)
    ");
}

#[test]
fn people_outside_are_told_titles() {
    insta::assert_snapshot!(told(Audience::External), @r"
    Tuesday, 17 November 2026
    1 change was delivered in the last seven days, 2 are in progress.

    Delivered
      Show the time in the reader's zone

    In progress
      Fix the flaky login test
      Rename the login page
    ");
}

#[test]
fn where_nothing_happens_there_is_little_to_say() {
    let seen = Seen { now: NOW, ..Seen::default() };
    for audience in [Audience::Owner, Audience::Stakeholder, Audience::External] {
        let text = brief(&seen, &[], &Surroundings::default(), audience).text();
        assert!(text.lines().count() <= 3, "{text}");
    }
}

/// Something that nobody outside may read, in every place of a task but its title.
const CANARY: &str = "KANARIE";

fn hostile(title: &str, state: TaskState) -> TaskSeen {
    let session = SessionId::from_bytes([9; 8]);
    let question = Question {
        text: CANARY.to_owned(),
        options: vec![CANARY.to_owned()],
        default: Some(CANARY.to_owned()),
        urgency: Urgency::High,
    };
    let gate = GateSeen {
        session,
        node: NodeId(Seq(3)),
        goal: CANARY.to_owned(),
        question: CANARY.to_owned(),
        accepts: longhaul_events::Channel::Terminal,
        since: NOW,
        until: NOW,
    };
    let halted = Halted { session, seq: Seq(1), at: NOW, fix: CANARY.to_owned(), goes_on_at: None };
    TaskSeen {
        workspace: Some(WorkspaceId::from_bytes([9; 5])),
        taint: Taint::Outside,
        handed_over: None,
        gates: vec![gate],
        questions: vec![QuestionSeen { session, seq: Seq(2), at: NOW, question }],
        halted: Some(halted),
        step: Some(CANARY.to_owned()),
        settled: BTreeSet::from([CANARY.to_owned()]),
        money_micros: 987_654_321,
        delivered: Delivered::Merged,
        ..task(9, title, state)
    }
}

fn any_state() -> impl Strategy<Value = TaskState> {
    let because = || Because { reason: "stuck".to_owned(), because: CANARY.to_owned() };
    let cancelled = Outcome::Cancelled { by: CANARY.to_owned(), because: Some(CANARY.to_owned()) };
    prop_oneof![
        Just(TaskState::Queued),
        Just(TaskState::Open),
        Just(TaskState::Waits(Outcome::Blocked(because()))),
        Just(TaskState::Waits(Outcome::Parked(because()))),
        Just(TaskState::Ending),
        Just(TaskState::HandedOver(Outcome::Failed(because()))),
        Just(TaskState::Over(Outcome::Completed { reason: None })),
        Just(TaskState::Over(Outcome::CouldNot(because()))),
        Just(TaskState::Over(cancelled)),
        Just(TaskState::NotHere),
    ]
}

/// Titles with what people put into them, and with anything at all.
fn any_title() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("/srv/ada/shop".to_owned()),
        Just("ada@example.org".to_owned()),
        Just("@ada".to_owned()),
        Just("t-4k2m9x0c7v1qd".to_owned()),
        Just("s-041061050r3gg.12".to_owned()),
        Just("https://intern.example/?t=1".to_owned()),
        Just("3.20usd".to_owned()),
        Just("src\\login.rs".to_owned()),
        Just("$TOKEN".to_owned()),
        Just("\u{1b}[2J\u{202e}".to_owned()),
        "[a-z]{1,12}",
        "\\PC{0,20}",
    ];
    proptest::collection::vec(piece, 1..6).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #[test]
    fn a_briefing_for_people_outside_names_nothing_internal(title in any_title(), state in any_state()) {
        let trouble = Trouble {
            subject: CANARY.to_owned(),
            title: CANARY.to_owned(),
            problem: CANARY.to_owned(),
            remedy: CANARY.to_owned(),
            severity: Severity::StopsWork,
            workspace: None,
            since: NOW,
        };
        let seen = Seen { now: NOW, tasks: vec![hostile(&title, state)], troubles: vec![trouble], ..Seen::default() };
        let around = Surroundings {
            daemon: Some(DaemonLine { state: DaemonState::Runs, words: CANARY.to_owned() }),
            money_today_micros: 987_654_321,
            money_day_micros: Some(987_654_321),
        };
        let entries = entries(&seen);
        for audience in [Audience::External, Audience::Stakeholder] {
            let briefing = brief(&seen, &entries, &around, audience);
            for told in [briefing.text(), serde_json::to_string(&briefing).unwrap()] {
                prop_assert!(!told.contains(CANARY), "{told}");
                for internal in ["ada", "t-4k2m", "s-0410", "intern", "usd", "987", "login.rs", "TOKEN", "w-", "i-"] {
                    prop_assert!(is_absent(&told, internal, &title), "{internal}: {told}");
                }
                prop_assert!(!told.chars().any(|letter| letter != '\n' && crate::plain::is_deceptive(letter)), "{told:?}");
            }
        }
    }
}

/// A word that somebody wrote as a plain word of the title is theirs.
fn is_absent(told: &str, internal: &str, title: &str) -> bool {
    let is_plain = |word: &str| word.contains(internal) && word.chars().all(char::is_alphabetic);
    title.split_whitespace().any(is_plain) || !told.contains(internal)
}
