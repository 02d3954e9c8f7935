//! Scripts in, turns out.

mod recording;

use serde_json::json;

use super::*;

const SCRIPT: &str = "
cassette: 1
window: 100k
turns:
  - match: { workflow: lh.coding, step: implement, visit: 1 }
    say: Found it.
    usage: { input: 390k, output: 340 }
    tools:
      - read: { path: src/login.sh }
      - bash: { command: sh tests/run.sh, expect_exit: 0 }
  - match: { workflow: lh.coding, step: implement, visit: 1 }
    complete: { notes: Fixed., vars: { files: [src/login.sh] } }
  - match: { step: verdict }
    fault: { kind: stall, for: 30s }
  - match: { step: verdict }
    optional: true
    fault: { error: rate_limit }
otherwise: fail
";

fn asked(step: &str, visit: u32) -> Asked {
    Asked { workflow: "lh.coding".to_owned(), step: step.to_owned(), visit }
}

fn problem(text: &str) -> String {
    parse("run.yml", text).unwrap_err().problem
}

#[test]
fn a_script_is_read_as_it_is_written() {
    let cassette = parse("run.yml", SCRIPT).unwrap();
    assert_eq!(cassette.window, 100_000);
    let first = &cassette.turns[0];
    assert_eq!(first.usage, Usage { input: 390_000, output: 340 });
    let Act::Tools { calls, order: Order::OneByOne } = &first.act else { panic!("{:?}", first.act) };
    assert_eq!(calls[1].tool, "bash");
    assert_eq!(calls[1].expect_exit, Some(0));
    assert_eq!(
        json!(calls[1].arguments),
        json!({ "command": "sh tests/run.sh" }),
        "what is expected is not handed on"
    );
    assert_eq!(cassette.turns[2].act, Act::Fault(Fault::Stall { ms: 30_000 }));
    assert_eq!(cassette.turns[3].act, Act::Fault(Fault::Error(Failure::RateLimit)));
}

#[test]
fn turns_come_in_order_for_whoever_they_are_meant_for() {
    let mut tape = Tape::new(parse("run.yml", SCRIPT).unwrap());
    assert_eq!(tape.next(&asked("verdict", 7)).unwrap().act, Act::Fault(Fault::Stall { ms: 30_000 }));
    assert_eq!(tape.next(&asked("implement", 1)).unwrap().say, "Found it.");
    assert!(matches!(tape.next(&asked("implement", 1)).unwrap().act, Act::Complete(_)));
    assert_eq!(tape.finish(), Ok(()), "the one that is left is optional");
    let unscripted = tape.next(&asked("implement", 2)).unwrap_err();
    assert_eq!(unscripted.asked, asked("implement", 2));
    assert!(unscripted.to_string().contains("step `implement` of `lh.coding` (visit 2)"), "{unscripted}");
}

#[test]
fn a_turn_that_was_not_played_is_named() {
    let mut tape = Tape::new(parse("run.yml", SCRIPT).unwrap());
    tape.next(&asked("implement", 1)).unwrap();
    let unplayed = tape.finish().unwrap_err();
    assert_eq!(unplayed.places, ["turn 2 (implement)", "turn 3 (verdict)"]);
}

#[test]
fn feeding_it_what_was_asked_leads_to_the_same_place() {
    let cassette = parse("run.yml", SCRIPT).unwrap();
    let mut whole = Tape::new(cassette.clone());
    let requests = [asked("implement", 1), asked("verdict", 1)];
    requests.iter().for_each(|request| drop(whole.next(request).unwrap().clone()));
    let mut again = Tape::new(cassette);
    requests.iter().for_each(|request| drop(again.next(request).unwrap().clone()));
    assert_eq!(whole.next(&asked("implement", 1)), again.next(&asked("implement", 1)));
}

#[test]
fn what_is_no_cassette_is_refused_with_the_reason() {
    let turn = |text: &str| format!("cassette: 1\nturns:\n  - {text}\n");
    for (text, says) in [
        ("cassette: 2\nturns: []\n".to_owned(), "write `cassette: 1`"),
        (turn("{ sey: hello }"), "sey"),
        (turn("{ match: { step: a } }"), "it does nothing"),
        (turn("{ complete: {}, tools: [] }"), "exclude each other"),
        (turn("{ tools: [ { read: {}, write: {} } ] }"), "one tool with its arguments"),
        (turn("{ tools: [ { bash: { command: x, expect_exit: no } } ] }"), "whole number"),
        (turn("{ fault: { kind: stall } }"), "for: 30s"),
        (turn("{ fault: {} }"), "needs a `kind`"),
        (turn("{ say: a, parallel: true }"), "goes with `tools`"),
        (turn("{ say: a, match: { visit: 0 } }"), "counts from 1"),
        ("cassette: 1\nwindow: lots\nturns: []\n".to_owned(), "is not a count"),
        (String::new(), "the file is empty; write `cassette: 1`"),
        ("cassette: 1\nturns: hello\n".to_owned(), "`turns` is `hello`; write"),
        ("cassette: 1\n".to_owned(), "has no `turns`"),
        ("cassette: one\nturns: []\n".to_owned(), "`cassette` is `one`, and a whole number is expected"),
        (turn("hello"), "turn 1: it is `hello`; write what it does"),
        (turn("{ sey: hello }"), "turn 1: `sey` is not known here; there are `match`, `say`"),
        (turn("{ say: a, usage: { input: lots } }"), "turn 1: `lots` is not a count; write a whole number"),
        (turn("{ say: a, usage: 7 }"), "`usage` is `7`, and a map of names and values is expected"),
        (turn("{ tools: [ read ] }"), "a list of tools, each with its arguments"),
        (turn("{ complete: done }"), "write `complete: { notes: Done. }`"),
    ] {
        let problem = problem(&text);
        assert!(problem.contains(says), "{text:?} got {problem:?}");
    }
}
