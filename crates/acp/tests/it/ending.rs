//! How agents are stopped and ended: told first, then killed, and seen dead with all that they started.

use std::time::Instant;

use longhaul_acp::{EndCause, Hands, HandsError};
use longhaul_events::CallOutcome;

use crate::support::{Watcher, agent, marked, quickly, start};

#[test]
fn an_agent_that_is_told_to_stop_ends_its_turn_and_can_be_asked_again() {
    let watcher = Watcher { stops_at_tool: true, ..Watcher::new() };
    let mut hands = Hands::start(&start(agent("polite")), &watcher).unwrap();
    let turn = hands.prompt("go", &watcher).unwrap();
    assert_eq!((turn.cause, &*turn.said), (EndCause::Cancelled, "stopped cancelled"));
    assert_eq!(turn.did[0].outcome, CallOutcome::Stopped);
    let second = Watcher { stops_at_tool: true, ..Watcher::new() };
    assert_eq!(hands.prompt("go", &second).unwrap().cause, EndCause::Cancelled);
}

#[test]
fn an_agent_that_does_not_stop_is_ended_after_the_grace() {
    let began = Instant::now();
    let watcher = Watcher { stops_at_tool: true, ..Watcher::new() };
    let mut hands = Hands::start(&start(agent("silent-tool")), &watcher).unwrap();
    let turn = hands.prompt("go", &watcher).unwrap();
    assert_eq!(turn.cause, EndCause::Cancelled);
    assert_eq!(hands.process(), None);
    let error = hands.prompt("go", &Watcher::new()).unwrap_err();
    assert!(matches!(error, HandsError::Ended { .. }), "{error}");
    quickly(began);
}

#[test]
fn nothing_of_an_agent_outlives_its_hands() {
    for ends in ["end", "drop", "silence"] {
        let mark = format!("mark-{ends}-{}", std::process::id());
        let program = agent("silent").set_variable("HANDS_OF", &mark);
        let watcher = Watcher { answer: std::time::Duration::from_secs(5), ..Watcher::new() };
        let mut hands = Hands::start(&start(program), &watcher).unwrap();
        assert_eq!(marked(&mark), 1, "it runs");
        match ends {
            "end" => drop(hands.end().unwrap()),
            "drop" => drop(hands),
            _ => {
                // It starts a process in a session of its own, and then says nothing.
                let impatient = Watcher { answer: std::time::Duration::from_millis(800), ..Watcher::new() };
                let error = hands.prompt("go", &impatient).unwrap_err();
                assert!(matches!(error, HandsError::Silent { .. }), "{error}");
                assert_eq!(hands.end().unwrap().survivors_killed, 1);
            }
        }
        assert_eq!(marked(&mark), 0, "{ends}");
    }
}
