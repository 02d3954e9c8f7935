//! Agents that break their protocol: each has its error, nobody waits for ever, and nothing grows with what they send.

use std::time::{Duration, Instant};

use longhaul_acp::{EndCause, Hands, HandsError, TurnEnd};
use longhaul_exec::Outcome;

use crate::support::{Watcher, agent, quickly, start, turn};

fn fails(how: &str) -> HandsError {
    let began = Instant::now();
    let error = turn(how, &Watcher::new()).unwrap_err();
    quickly(began);
    error
}

#[test]
fn a_line_that_is_cut_off_is_broken() {
    let error = fails("broken");
    assert!(matches!(&error, HandsError::Broken { problem, .. } if problem.contains("\"res")), "{error}");
}

#[test]
fn lines_that_mean_nothing_are_left_out_and_too_many_are_broken() {
    assert_eq!(turn("noisy", &Watcher::new()).unwrap().cause, EndCause::EndTurn);
    let error = fails("endless-noise");
    assert!(matches!(&error, HandsError::Broken { problem, .. } if problem.contains("noise")), "{error}");
}

#[test]
fn a_line_without_an_end_is_too_long() {
    let error = fails("huge");
    assert!(matches!(error, HandsError::TooLong { limit: 8_388_608, .. }), "{error}");
}

#[test]
fn an_agent_that_dies_is_told_with_its_status_and_last_words() {
    let error = fails("dies");
    assert!(matches!(&error, HandsError::Ended { outcome: Outcome::Exited(3), .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the agent ended in the middle (exit status 3); its last words: I have no more room"
    );
}

#[test]
fn an_agent_that_closes_its_output_is_ended() {
    let error = fails("closes");
    assert!(matches!(error, HandsError::Ended { outcome: Outcome::Stopped, .. }), "{error:?}");
}

#[test]
fn an_agent_is_silent_for_as_long_as_the_watcher_is_patient() {
    let short = Duration::from_millis(300);
    let watcher = Watcher { answer: short, ..Watcher::new() };
    let error = turn("silent", &watcher).unwrap_err();
    assert!(matches!(&error, HandsError::Silent { ms, .. } if (300..20_000).contains(ms)), "{error}");
    assert!(error.to_string().ends_with("; its last words: thinking for ever"), "{error}");

    // A tool that runs may take longer than a thought, and the other way round.
    let watcher = Watcher { tool: short, ..Watcher::new() };
    let error = turn("silent-tool", &watcher).unwrap_err();
    assert!(matches!(error, HandsError::Silent { .. }), "{error}");
}

#[test]
fn an_agent_that_reads_nothing_is_given_up_however_much_it_says() {
    let watcher = Watcher::new();
    let mut hands = Hands::start(&start(agent("deaf")), &watcher).unwrap();
    let error = hands.prompt(&"x".repeat(20_000_000), &watcher).unwrap_err();
    assert!(matches!(error, HandsError::Deaf { .. }), "{error}");
}

#[test]
fn signs_of_life_do_not_stand_in_for_a_greeting() {
    let watcher = Watcher { answer: Duration::from_millis(500), ..Watcher::new() };
    let error = Hands::start(&start(agent("chatters")), &watcher).unwrap_err();
    assert!(matches!(error, HandsError::Silent { .. }), "{error}");
}

#[test]
fn what_an_agent_sends_is_kept_within_bounds() {
    let watcher = Watcher::new();
    let TurnEnd { said, did, did_more, .. } = turn("flood", &watcher).unwrap();
    assert!(said.len() <= 1024 * 1024 && said.ends_with("the end"), "{}", said.len());
    assert_eq!((did.len(), did_more), (2_000, 1_200));
    assert!(did.iter().all(|did| did.title.len() <= 404), "{}", did[0].title.len());
}

#[test]
fn a_refusal_is_told_and_the_agent_can_be_asked_again() {
    let watcher = Watcher::new();
    let mut hands = Hands::start(&start(agent("refuses")), &watcher).unwrap();
    for _ in 0..2 {
        let error = hands.prompt("go", &watcher).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the agent refused `session/prompt`: Internal error: {\"details\":\"no credit\"} (-32603); try again, or try another agent"
        );
    }
    let error = fails("strange-end");
    assert!(matches!(error, HandsError::Broken { .. }), "{error}");
}
