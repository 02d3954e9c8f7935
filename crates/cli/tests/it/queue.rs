//! `longhaul queue`: what people put in, in which order it stands, and who may say so.

use serde_json::Value;

use crate::run::prepared;
use crate::support::{Home, Outcome};
use crate::walking::one;

const CASSETTE: &str = "cassette: 1\nturns:\n  - { match: { step: look }, complete: { notes: Looked. } }\n";

fn queue(home: &Home, arguments: &[&str]) -> Outcome {
    home.run(&[&["queue"], arguments].concat()).inside("repo").go()
}

/// Puts a task in, with the cassette of the home.
fn add(home: &Home, goal: &str, more: &[&str]) -> Value {
    let cassette = home.join("run.yml").display().to_string();
    let words = ["add", goal, "--pipeline", "team.fix", "--cassette", &cassette, "--json"];
    one(&queue(home, &[&words[..], more].concat()).succeeded())
}

fn listed(home: &Home) -> Vec<Value> {
    queue(home, &["list", "--json"]).succeeded().rows()
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {value:#}"))
}

#[test]
fn a_task_waits_with_its_orders_until_a_daemon_is_there() {
    let home = prepared(CASSETTE);
    let first =
        add(&home, "mend the login", &["--priority", "high", "--deadline", "2d", "--scope", "src/**"]);
    let second = add(
        &home,
        "then the logout",
        &["--after", word(&first, "id"), "--from-outside", "--max-attempts", "1"],
    );
    assert_eq!((word(&first, "state"), word(&first, "priority")), ("queued", "high"));
    let rows = listed(&home);
    assert_eq!(
        rows.iter().map(|row| word(row, "id")).collect::<Vec<_>>(),
        [word(&first, "id"), word(&second, "id")]
    );
    assert_eq!((word(&rows[0], "waits_for"), word(&rows[0], "source")), ("daemon", "cli"));
    let shown = queue(&home, &["list"]).succeeded();
    assert!(shown.stdout.contains("no daemon runs; `longhaul daemon start` starts one"), "{shown}");
    let told = home.longhaul(&["log", "show", word(&second, "id"), "--json"]).succeeded().stdout;
    assert!(told.contains("\"taint\":\"outside\"") && told.contains("\"max_attempts\":1"), "{told}");
    assert!(told.contains(word(&first, "id")), "{told}");
}

#[test]
fn what_could_never_start_is_refused_when_it_is_put_in() {
    let home = prepared(CASSETTE);
    for (words, told) in [
        (vec!["add", " "], "the goal is blank"),
        (vec!["add", "x", "--pipeline", "team.none"], "team.none"),
        (vec!["add", "x", "--pipeline", "team.fix"], "nobody is named to do it"),
        (vec!["add", "x", "--pipeline", "team.fix", "--cassette", "none.yml"], "none.yml"),
        (
            vec!["add", "x", "--pipeline", "team.fix", "--cassette", "../run.yml", "--after", "t-none"],
            "t-none",
        ),
        (
            vec!["add", "x", "--pipeline", "team.fix", "--cassette", "../run.yml", "--max-attempts", "0"],
            "from 1 to 50",
        ),
        (vec!["add", "x", "--pipeline", "team.fix", "--cassette", "../run.yml", "--deadline", "soon"], "2d"),
    ] {
        let refused = queue(&home, &words);
        assert!(refused.code != Some(0) && refused.stderr.contains(told), "{words:?}: {refused}");
    }
    let outside = home.run(&["queue", "add", "x"]).go();
    assert!(outside.code != Some(0), "{outside}");
    assert_eq!(listed(&home), Vec::<Value>::new());
}

#[test]
fn a_person_orders_pauses_and_clears_the_queue_and_an_agent_only_looks() {
    let home = prepared(CASSETTE);
    let (first, second) = (add(&home, "one", &[]), add(&home, "two", &[]));
    queue(&home, &["move", word(&second, "id"), "first"]).succeeded();
    let again = queue(&home, &["move", word(&first, "id"), "usual"]).succeeded();
    assert!(again.stderr.contains("it was there already"), "{again}");
    let paused = queue(&home, &["pause", "--because", "we move house"]).succeeded();
    assert!(paused.stdout.contains("nothing new is started"), "{paused}");
    queue(&home, &["pause", "--workspace", "repo"]).succeeded();
    let shown = queue(&home, &["list"]).succeeded();
    assert!(shown.stderr.contains("is paused by") && shown.stderr.contains("we move house"), "{shown}");
    for verb in [
        vec!["queue", "resume"],
        vec!["queue", "pause"],
        vec!["queue", "rm", word(&first, "id")],
        vec!["queue", "move", word(&first, "id"), "last"],
        vec!["queue", "add", "x"],
    ] {
        let refused = home.run(&verb).inside("repo").variable("LONGHAUL_SESSION", "s-0123456789abc").go();
        assert!(refused.code == Some(3) && refused.stderr.contains("E0303"), "{verb:?}: {refused}");
    }
    let looked = home.run(&["queue", "list"]).variable("LONGHAUL_SESSION", "s-0123456789abc").go();
    assert_eq!(looked.code, Some(0), "{looked}");
    queue(&home, &["resume"]).succeeded();
    let so = queue(&home, &["resume"]).succeeded();
    assert!(so.stdout.contains("it was not paused"), "{so}");
    queue(&home, &["rm", word(&first, "id"), "--because", "done by hand"]).succeeded();
    assert_eq!(listed(&home).iter().map(|row| word(row, "id")).collect::<Vec<_>>(), [word(&second, "id")]);
    let gone = queue(&home, &["rm", word(&first, "id")]);
    assert!(
        gone.code == Some(3) && gone.stderr.contains("does not wait in the queue, it is cancelled"),
        "{gone}"
    );
    home.run(&["task", "retry", word(&first, "id")]).inside("repo").go().succeeded();
    assert_eq!(listed(&home).len(), 2, "what is wanted again waits again");
}
