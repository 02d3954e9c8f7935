//! Plain commands as agents: a prompt in, words out, a status.

use std::time::{Duration, Instant};

use longhaul_acp::{CommandStart, EndCause, Hands, HandsError, Update};
use longhaul_exec::{Outcome, Program};

use crate::support::{Watcher, quickly};

fn hands(args: &[&str]) -> Hands {
    Hands::command(CommandStart {
        program: Program::new("sh").directory("/"),
        args: args.iter().map(ToString::to_string).collect(),
        grace: Duration::from_millis(300),
    })
}

#[test]
fn the_prompt_is_an_argument_where_it_has_a_place_and_else_comes_on_stdin() {
    let watcher = Watcher::new();
    let script = "printf '%s|' \"$@\"; cat; printf '…'";
    let mut placed = hands(&["-c", script, "sh", "--task={prompt}", "rest"]);
    for prompt in ["do 'it'; $(rm)", "again {prompt}"] {
        let turn = placed.prompt(prompt, &watcher).unwrap();
        assert_eq!((turn.cause, turn.said), (EndCause::EndTurn, format!("--task={prompt}|rest|…")));
    }
    let turn = hands(&["-c", script, "sh"]).prompt("words\n", &watcher).unwrap();
    assert_eq!(turn.said, "|words\n…");
}

#[test]
fn what_it_prints_is_heard_as_it_comes() {
    let watcher = Watcher::new();
    hands(&["-c", "echo one; sleep 0.3; echo two"]).prompt("", &watcher).unwrap();
    assert_eq!(watcher.heard.into_inner(), [Update::Said("one\n".into()), Update::Said("two\n".into())]);
}

#[test]
fn a_status_other_than_success_is_no_turn() {
    let fails = |script| hands(&["-c", script]).prompt("", &Watcher::new()).unwrap_err();
    let error = fails("echo half; echo no key >&2; exit 4");
    assert_eq!(error.to_string(), "the agent ended in the middle (exit status 4); its last words: no key");
    let error = fails("echo only this; kill -SEGV $$");
    assert!(
        matches!(&error, HandsError::Ended { outcome: Outcome::Signalled(11), last_words } if last_words == "only this"),
        "{error:?}"
    );
}

#[test]
fn a_command_that_is_silent_or_unwanted_is_ended_with_all_that_it_started() {
    let began = Instant::now();
    let impatient = Watcher { tool: Duration::from_millis(300), ..Watcher::new() };
    let error = hands(&["-c", "sleep 600 & sleep 600"]).prompt("", &impatient).unwrap_err();
    assert!(matches!(error, HandsError::Silent { .. }), "{error}");
    // Its output is closed, and it lives.
    let error = hands(&["-c", "exec >&-; sleep 600"]).prompt("", &impatient).unwrap_err();
    assert!(matches!(error, HandsError::Silent { .. }), "{error}");
    let unwanted = Watcher { is_wanted: false.into(), ..Watcher::new() };
    let turn = hands(&["-c", "sleep 600"]).prompt("", &unwanted).unwrap();
    assert_eq!(turn.cause, EndCause::Cancelled);
    quickly(began);
}

#[test]
fn of_very_much_the_end_is_kept() {
    let script = "head -c 5000000 /dev/zero | tr '\\0' x; echo the end";
    let said = hands(&["-c", script]).prompt("", &Watcher::new()).unwrap().said;
    assert!(said.len() <= 1024 * 1024 && said.ends_with("xthe end\n"), "{}", said.len());
}
