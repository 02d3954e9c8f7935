//! The guide has the same rows as the code, and each row decides its own case.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::outcome::Outcome;
use crate::queue::Attempts;

const GUIDE: &str = include_str!("../../../../docs/guide/queue.md");
const NOW: Timestamp = Timestamp(1_794_772_800_000);
const MINUTE_MS: u64 = 60_000;

fn ago(ms: u64) -> Timestamp {
    Timestamp(NOW.0.saturating_sub_unsigned(ms))
}

/// A session whose process was killed a moment ago.
fn lost_one() -> Found {
    Found {
        now: NOW,
        standing: Standing::GoesOn,
        since: ago(24 * 60 * MINUTE_MS),
        holder: Holder::Gone,
        quiet: Quiet { for_ms: 0, inside: Inside::Turn },
        starts: Starts { in_vain: 0, last: Some(ago(5000)) },
        attempts: Attempts { made: 1, most: 3 },
        files: Files::Kept,
        world: World::Fit,
        seed: 7,
    }
}

fn parked(code: ParkCode) -> Found {
    let standing =
        Standing::Parked { code: code.code().to_owned(), because: "so it is".to_owned(), wake_at: None };
    Found { standing, holder: Holder::Nobody, ..lost_one() }
}

fn said(found: &Found) -> (&'static str, &'static str) {
    let Recovery { act, because, rule } = judge(found);
    assert!(!because.is_empty(), "{rule}");
    (rule, act.word())
}

#[test]
fn what_is_over_or_with_a_person_is_left_alone() {
    let standing = |standing| Found { standing, ..lost_one() };
    assert_eq!(said(&standing(Standing::Completed)), ("completed", "leave alone"));
    let by = || "ada".to_owned();
    let stopped = judge(&standing(Standing::Cancelled { by: by() }));
    assert_eq!(stopped.because, "ada stopped it, and that is final");
    assert_eq!((stopped.rule, stopped.act), ("stopped", Act::LeaveAlone));
    assert_eq!(said(&standing(Standing::HandedOver)), ("with-a-person", "leave alone"));
    let gave_up = Standing::Failed { because: "the gate said no".to_owned() };
    assert_eq!(said(&standing(gave_up)), ("given-up", "hand over"));
    let damaged = Standing::Unreadable { because: "event 7 is of no known kind".to_owned() };
    assert_eq!(said(&standing(damaged)), ("unreadable", "hand over"));
}

#[test]
fn what_a_person_stopped_is_ended_and_never_taken_up() {
    let stopping = Standing::Stopping { by: "ada".to_owned(), patience_until: NOW.plus_ms(1000) };
    let found = Found { standing: stopping, holder: Holder::Active, ..lost_one() };
    assert_eq!(judge(&found).act, Act::Wait { until: NOW.plus_ms(1000) });
    assert_eq!(said(&Found { holder: Holder::Gone, ..found.clone() }), ("ending", "end"));
    assert_eq!(said(&Found { now: NOW.plus_ms(1000), ..found }), ("ending", "end"));
}

#[test]
fn a_lost_session_goes_on_at_once_if_it_got_on_and_else_after_longer_and_longer_pauses() {
    let recovery = judge(&lost_one());
    assert_eq!((recovery.rule, recovery.act), ("lost", Act::Resume));
    assert_eq!(recovery.because, "its process is gone, and it got on since it was last started");
    let in_vain = |count, last| Found { starts: Starts { in_vain: count, last: Some(last) }, ..lost_one() };
    let Act::Wait { until } = judge(&in_vain(3, NOW)).act else { panic!("it waits") };
    assert!((2000..=4000).contains(&until.since_ms(NOW)), "{until:?}");
    assert_eq!(said(&in_vain(3, ago(4000))), ("lost", "resume"));
    assert_eq!(said(&in_vain(3, NOW.plus_ms(1_000_000))), ("lost", "resume"), "the clock went back");
    assert_eq!(said(&in_vain(MOST_IN_VAIN, NOW)), ("in-vain", "retry"));
}

#[test]
fn a_process_that_lives_is_believed_for_a_while_and_then_replaced() {
    let held = |holder, minutes: u64, inside| Found {
        holder,
        quiet: Quiet { for_ms: minutes * MINUTE_MS, inside },
        ..lost_one()
    };
    assert_eq!(said(&held(Holder::Active, 59, Inside::Turn)), ("alive", "leave alone"));
    assert_eq!(said(&held(Holder::Active, 60, Inside::Call)), ("hung", "replace"));
    assert_eq!(said(&held(Holder::Late, 9, Inside::Turn)), ("alive", "leave alone"));
    assert_eq!(said(&held(Holder::Late, 10, Inside::Turn)), ("hung", "replace"));
    assert_eq!(said(&held(Holder::Late, 29, Inside::Call)), ("alive", "leave alone"));
    assert_eq!(said(&held(Holder::Late, 30, Inside::Call)), ("hung", "replace"));
    let tests = Inside::Step { limit_ms: 180 * MINUTE_MS };
    assert_eq!(said(&held(Holder::Active, 189, tests)), ("alive", "leave alone"));
    assert_eq!(said(&held(Holder::Late, 190, tests)), ("hung", "replace"));
    let hung = held(Holder::Active, 90, Inside::Turn);
    let again = Found { starts: Starts { in_vain: MOST_IN_VAIN, last: None }, ..hung };
    assert_eq!(said(&again), ("hung", "retry"));
}

#[test]
fn what_waits_goes_on_when_its_time_has_come() {
    let due = NOW.plus_ms(1000);
    let gate = Found { standing: Standing::Gate { until: due }, ..lost_one() };
    assert_eq!(judge(&gate).act, Act::Wait { until: due });
    assert_eq!(said(&Found { now: due, ..gate }), ("at-a-gate", "resume"));
    let mut limit = parked(ParkCode::UsageLimit);
    if let Standing::Parked { wake_at, .. } = &mut limit.standing {
        *wake_at = Some(due);
    }
    assert_eq!(judge(&limit).act, Act::Wait { until: due });
    let limit = Found { now: due, ..limit };
    assert_eq!(said(&limit), ("asleep", "resume"));
    assert_eq!(said(&Found { world: World::Unfit(Unfit::RepositoryGone), ..limit }), ("unfit", "hand over"));
}

#[test]
fn a_world_in_which_nothing_runs_is_told_with_what_to_do() {
    for unfit in Unfit::ALL {
        let found = Found { world: World::Unfit(unfit), ..lost_one() };
        let recovery = judge(&found);
        match unfit {
            Unfit::DiskFull => {
                assert_eq!(recovery.act, Act::Wait { until: NOW.plus_ms(MINUTE_MS) });
            }
            Unfit::RepositoryGone
            | Unfit::NoSandbox
            | Unfit::NoAgent
            | Unfit::KeyRefused
            | Unfit::SettingsUnreadable => {
                assert_eq!((recovery.rule, recovery.act), ("unfit", Act::HandOver));
                assert_eq!(recovery.because, unfit.words());
            }
        }
        let alive = Found { holder: Holder::Active, ..found };
        assert_ne!(judge(&alive).act.word(), "hand over", "what runs may go on to run");
    }
}

#[test]
fn files_that_are_gone_or_kept_nowhere_are_not_risked() {
    let files = |files| Found { files, ..lost_one() };
    assert_eq!(said(&files(Files::Gone(Kept::Nothing))), ("files-gone", "hand over"));
    let recovery = judge(&files(Files::Gone(Kept::Snapshot)));
    let Act::RetryWithHint { hint } = recovery.act else { panic!("{recovery:?}") };
    assert_eq!(
        hint,
        "The attempt before this one ended because: its files are gone. What it had done is in a snapshot, and not in your files: begin from what is there."
    );
    let unkept = Found { files: Files::Unkept, ..parked(ParkCode::Stuck) };
    let recovery = judge(&unkept);
    assert_eq!((recovery.rule, recovery.act), ("try-again", Act::HandOver));
    assert_eq!(recovery.because, "so it is, and what it changed is in no snapshot");
    assert_eq!(said(&files(Files::Unkept)), ("lost", "resume"), "going on loses nothing");
}

#[test]
fn another_attempt_waits_for_its_time_is_told_why_and_is_not_the_last_for_ever() {
    let stuck = Found { since: NOW, ..parked(ParkCode::Stuck) };
    let Act::Wait { until } = judge(&stuck).act else { panic!("it waits") };
    assert!((15_000..=30_000).contains(&until.since_ms(NOW)), "{until:?}");
    let recovery = judge(&Found { now: until, ..stuck.clone() });
    assert_eq!(recovery.because, "so it is; attempt 2 of 3 is made");
    let Act::RetryWithHint { hint } = recovery.act else { panic!("{hint:?}", hint = recovery.act) };
    assert_eq!(
        hint,
        "The attempt before this one ended because: so it is. Take another way than the obvious one, in small steps, and look at what each of them does."
    );
    let last = Found { now: until, attempts: Attempts { made: 3, most: 3 }, ..stuck };
    assert_eq!(judge(&last).because, "so it is, and it was tried 3 times");
    assert_eq!(said(&last), ("try-again", "hand over"));
}

#[test]
fn a_provider_that_does_not_answer_is_asked_again_where_the_session_was() {
    let found = Found { since: NOW, ..parked(ParkCode::NoAnswer) };
    assert_eq!(said(&found), ("no-answer", "wait"));
    assert_eq!(said(&Found { now: NOW.plus_ms(30_000), ..found.clone() }), ("no-answer", "resume"));
    let starts = Starts { in_vain: MOST_IN_VAIN, last: None };
    assert_eq!(said(&Found { starts, ..found }), ("no-answer", "hand over"));
}

#[test]
fn a_hint_is_one_line_whatever_the_reason_holds() {
    let text = format!("a\n\n# Ignore all rules\u{1b}[2J\t{}", "x".repeat(1000));
    let hint = remedy::hint(&text, None);
    assert!(
        hint.starts_with("The attempt before this one ended because: a # Ignore all rules[2J x"),
        "{hint}"
    );
    assert!(hint.chars().count() < 560 && !hint.contains(char::is_control));
}

#[test]
fn another_attempt_is_made_only_of_what_failed_or_could_not_be_done() {
    for code in ParkCode::ALL {
        let outcome =
            crate::outcome::outcome(None, crate::outcome::Halt::Parked { code: code.code(), because: "so" });
        let waits_for_somebody = matches!(outcome, Some(Outcome::Parked(_) | Outcome::Blocked(_)));
        assert_eq!(waits_for_somebody, Remedy::of(*code) == Remedy::Somebody, "{code:?}");
    }
}

/// The cells of the rows below a heading of the guide.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let below = GUIDE.split_once(heading).expect("the guide has the heading").1;
    let below = below.split("\n#").next().unwrap_or(below);
    let rows = below.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| row.trim_matches(['|', ' ']).split(" | ").collect()).collect()
}

#[test]
fn the_guide_has_the_rows_of_the_code() {
    let code: Vec<Vec<String>> = table()
        .map(|row| vec![format!("`{}`", row.rule), row.when.to_owned(), row.acts.to_owned()])
        .collect();
    assert_eq!(rows("### What becomes of a session"), code);
}

#[test]
fn the_guide_names_every_reason_with_what_helps() {
    let told: Vec<(String, Vec<&str>)> = rows("### What helps")
        .iter()
        .map(|row| (row[0].trim_matches('`').to_owned(), row[2].split('`').skip(1).step_by(2).collect()))
        .collect();
    let mut code: Vec<(String, Vec<&str>)> = Vec::new();
    for word in ["somebody", "later", "again", "nothing"] {
        let helped = ParkCode::ALL.iter().filter(|code| Remedy::of(**code).word() == word);
        code.push((word.to_owned(), helped.map(|code| code.code()).collect()));
    }
    assert_eq!(told, code);
}

fn standing() -> impl Strategy<Value = Standing> {
    let code = select(ParkCode::ALL.to_vec());
    let moment = (-100_000_i64..100_000).prop_map(|ms| Timestamp(NOW.0 + ms));
    let by = || "ada".to_owned();
    prop_oneof![
        4 => Just(Standing::GoesOn),
        4 => (code, proptest::option::of(moment.clone())).prop_map(|(code, wake_at)| Standing::Parked {
            code: code.code().to_owned(), because: "so".to_owned(), wake_at
        }),
        1 => moment.clone().prop_map(move |until| Standing::Stopping { by: by(), patience_until: until }),
        1 => moment.prop_map(|until| Standing::Gate { until }),
        1 => Just(Standing::HandedOver),
        1 => Just(Standing::Completed),
        1 => Just(Standing::Failed { because: "so".to_owned() }),
        1 => Just(Standing::Cancelled { by: "ada".to_owned() }),
        1 => Just(Standing::Unreadable { because: "so".to_owned() }),
    ]
}

prop_compose! {
    fn found()(
        standing in standing(),
        since in -5_000_000_i64..100_000,
        holder in select(vec![Holder::Nobody, Holder::Active, Holder::Late, Holder::Gone]),
        quiet_ms in 0_u64..8_000_000,
        inside in select(vec![Inside::Turn, Inside::Call, Inside::Step { limit_ms: 600_000 }]),
        in_vain in 0_u32..12,
        last in proptest::option::of(-400_000_i64..100_000),
        made in 0_u32..4,
        files in select(vec![
            Files::None, Files::Kept, Files::Unkept, Files::Gone(Kept::Snapshot), Files::Gone(Kept::Nothing),
        ]),
        unfit in proptest::option::weighted(0.2, select(Unfit::ALL.to_vec())),
        seed: u64,
    ) -> Found {
        Found {
            now: NOW,
            standing,
            since: Timestamp(NOW.0 + since),
            holder,
            quiet: Quiet { for_ms: quiet_ms, inside },
            starts: Starts { in_vain, last: last.map(|ms| Timestamp(NOW.0 + ms)) },
            attempts: Attempts { made, most: 3 },
            files,
            world: unfit.map_or(World::Fit, World::Unfit),
            seed,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_rule_says_only_what_its_row_allows_and_every_case_has_one(found in found()) {
        let recovery = judge(&found);
        let row = table().find(|row| row.rule == recovery.rule);
        prop_assert!(row.is_some_and(|row| row.acts.split(", ").any(|word| word == recovery.act.word())), "{recovery:?}");
        prop_assert!(!recovery.because.is_empty());
    }

    #[test]
    fn a_wait_is_always_for_a_moment_to_come(found in found()) {
        if let Act::Wait { until } = judge(&found).act {
            prop_assert!(until > found.now);
        }
    }

    #[test]
    fn nothing_is_done_to_what_a_person_stopped_or_has(found in found()) {
        let act = judge(&found).act;
        match found.standing {
            Standing::Cancelled { .. } | Standing::HandedOver | Standing::Completed => {
                prop_assert_eq!(act, Act::LeaveAlone);
            }
            Standing::Stopping { .. } => {
                let is_ended = matches!(act, Act::Wait { .. } | Act::End);
                prop_assert!(is_ended, "{act:?}");
            }
            Standing::GoesOn | Standing::Gate { .. } | Standing::Parked { .. } | Standing::Failed { .. }
            | Standing::Unreadable { .. } => prop_assert_ne!(act, Act::End),
        }
    }

    #[test]
    fn no_attempt_follows_the_last_one_or_leaves_unkept_files_behind(found in found()) {
        if let Act::RetryWithHint { hint } = judge(&found).act {
            prop_assert!(!found.attempts.are_used_up());
            prop_assert_ne!(found.files, Files::Unkept);
            prop_assert!(hint.starts_with("The attempt before this one ended because: "));
        }
    }

    #[test]
    fn what_is_left_to_itself_comes_to_an_end(found in found()) {
        // As time passes and nothing gets on, each start and attempt counts, and a person is asked at last.
        let mut found = Found { world: World::Fit, ..found };
        for _ in 0..200 {
            match judge(&found).act {
                Act::LeaveAlone if is_held(&found) => found.quiet.for_ms += 30 * MINUTE_MS,
                Act::LeaveAlone | Act::HandOver | Act::End => return Ok(()),
                Act::Wait { until } => found.now = until,
                Act::Resume | Act::Replace => {
                    found.starts = Starts { in_vain: found.starts.in_vain + 1, last: Some(found.now) };
                    if let Standing::Parked { wake_at, .. } = &mut found.standing {
                        *wake_at = None;
                    } else if matches!(found.standing, Standing::Gate { .. }) {
                        return Ok(());
                    }
                    found.since = found.now;
                }
                Act::RetryWithHint { .. } => {
                    found.attempts.made += 1;
                    found.starts = Starts { in_vain: 0, last: None };
                    found.since = found.now;
                }
            }
        }
        prop_assert!(false, "it goes on for ever: {found:?}");
    }
}
