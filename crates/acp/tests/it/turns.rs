//! Turns of an agent that keeps to its protocol.

use longhaul_acp::{
    Answer, Call, Did, EndCause, Hands, McpServer, Permission, PlanEntry, PlanStatus, Policy, Start, TurnEnd,
    Update, Window,
};
use longhaul_events::{CallOutcome, TokenCount};

use crate::support::{Watcher, agent, start, turn};

fn did(tool: &str, title: &str, outcome: CallOutcome) -> Did {
    Did { tool: tool.into(), title: title.into(), outcome, ms: 0 }
}

/// Without what the clock says.
fn timeless(turn: TurnEnd) -> TurnEnd {
    let did = turn.did.into_iter().map(|did| Did { ms: 0, ..did }).collect();
    TurnEnd { did, ..turn }
}

#[test]
fn a_turn_is_heard_as_it_comes_and_told_at_its_end() {
    let watcher = Watcher::new();
    let turn = timeless(turn("honest", &watcher).unwrap());
    let calls = vec![
        did("edit", "Wrote a.txt", CallOutcome::Done),
        did("execute", "Run it", CallOutcome::Refused),
        did("fetch", "never ends", CallOutcome::Interrupted),
    ];
    assert_eq!(
        turn,
        TurnEnd {
            said: "I will write it.\n\nTold: {\"optionId\": \"allow_once-id\", \"outcome\": \"selected\"}"
                .into(),
            cause: EndCause::EndTurn,
            did: calls.clone(),
            did_more: 0,
            usage: Some(TokenCount { input: 10, output: 2 }),
        }
    );
    let call = |tool: &str, title: &str| Call { tool: tool.into(), title: title.into() };
    let heard: Vec<Update> = watcher
        .heard
        .into_inner()
        .into_iter()
        .map(|update| match update {
            Update::Ended(did) => Update::Ended(Did { ms: 0, ..did }),
            other => other,
        })
        .collect();
    assert_eq!(
        heard,
        [
            Update::Thought("hm".into()),
            Update::Said("I will ".into()),
            Update::Said("write it.".into()),
            Update::Planned(vec![PlanEntry { words: "write".into(), status: PlanStatus::InProgress }]),
            Update::Began(call("edit", "Write a.txt")),
            Update::Asked(Permission {
                tool: "edit".into(),
                title: "Write a.txt".into(),
                answer: Answer::Allowed
            }),
            Update::Other,
            Update::Ended(calls[0].clone()),
            Update::Other,
            Update::Ended(calls[1].clone()),
            Update::Began(call("fetch", "never ends")),
            Update::Other,
            Update::Other,
            Update::Used(Window { used: 7, size: 100 }),
            Update::Said("Told: {\"optionId\": \"allow_once-id\", \"outcome\": \"selected\"}".into()),
            Update::Ended(calls[2].clone()),
        ]
    );
}

#[test]
fn within_walls_everything_is_allowed_once_and_without_them_neither_commands_nor_strange_tools() {
    let told = |policy| {
        let (program, name) = ("x".into(), "longhaul".into());
        let mcp = McpServer { name, program, args: Vec::new(), env: Vec::new() };
        let start = Start { policy, mcp: Some(mcp), ..start(agent("asks")) };
        let watcher = Watcher::new();
        Hands::start(&start, &watcher).unwrap().prompt("go", &watcher).unwrap().said
    };
    assert_eq!(told(Policy::WithinWalls), "allow_once-id ".repeat(5));
    assert_eq!(
        told(Policy::WithoutWalls),
        "allow_once-id reject_once-id reject_once-id allow_once-id reject_once-id "
    );
}

#[test]
fn one_conversation_has_many_turns() {
    let watcher = Watcher::new();
    let mut hands = Hands::start(&start(agent("echo")), &watcher).unwrap();
    assert_eq!(hands.session(), Some("session-1"));
    let process = hands.process();
    let long = "words ".repeat(200_000);
    for words in ["one", "two\nlines", &long] {
        let said = hands.prompt(words, &watcher).unwrap().said;
        let most = 64 * 1024;
        assert!(said == words || said == format!("{}…", &words[..most]), "{}", said.len());
    }
    assert_eq!(hands.process(), process);
    assert_eq!(hands.end().unwrap().survivors_killed, 0);
}

#[test]
fn every_way_to_end_a_turn_is_told() {
    let ways = [
        ("end_turn", EndCause::EndTurn),
        ("max_tokens", EndCause::MaxTokens),
        ("max_turn_requests", EndCause::MaxRequests),
        ("refusal", EndCause::Refusal),
        ("cancelled", EndCause::Cancelled),
    ];
    for (word, cause) in ways {
        assert_eq!(turn(word, &Watcher::new()).unwrap().cause, cause);
    }
}

#[test]
fn what_we_do_not_offer_is_refused_and_the_agent_goes_on() {
    let turn = turn("curious", &Watcher::new()).unwrap();
    assert_eq!(turn.said, "[-32601, -32601, -32601]{\"outcome\": \"cancelled\"}");
}
