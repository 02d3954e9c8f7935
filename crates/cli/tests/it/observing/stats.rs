//! `longhaul stats`, and what earlier runs say of one that is at work.

use serde_json::{Value, json};

use crate::run::{arguments, prepared, words};
use crate::running::wait_until;
use crate::support::{Home, shows};
use crate::walking::one;

const QUICK: &str = "
cassette: 1
price: { input: 1usd, output: 1usd }
turns:
  - { match: { step: look }, usage: { input: 2000, output: 100 }, complete: { notes: Looked. } }
  - { match: { step: change }, complete: { notes: Changed. } }
  - { match: { step: check }, complete: { notes: Checked. } }
";

/// Looks, and never comes to an end of it.
const ENDLESS: &str =
    "cassette: 1\nturns:\n  - tools: [ { bash: { command: 'touch began; sleep 300', seconds: 1000 } } ]\n";

fn run(home: &Home) -> Value {
    one(&home.run(&words(&arguments(home))).inside("repo").go().succeeded())
}

#[test]
fn without_any_run_that_is_said() {
    let home = Home::new();
    shows!(home.longhaul(&["stats"]), @r"
    exit 0
    --- stdout
    --- stderr
    nothing was run yet; `longhaul run` starts something
    ");
    let narrow = home.longhaul(&["stats", "--workflow", "team.fix"]).succeeded();
    assert!(narrow.stderr.contains("no run of that is on record"), "{narrow}");
}

#[test]
fn runs_are_counted_and_five_of_them_say_what_is_left_of_the_sixth() {
    let home = prepared(QUICK);
    (0..5).for_each(|_| {
        run(&home);
    });
    let row = one(&home.longhaul(&["stats", "--json"]).succeeded());
    assert_eq!(
        (&row["workflow"], &row["runs"], &row["measured"]),
        (&json!("team.fix"), &json!(5), &json!(5))
    );
    assert_eq!(row["outcomes"], json!({ "completed": 5 }));
    assert_eq!(
        (&row["turns"], &row["tokens"]),
        (&json!({ "p50": 3, "p95": 3 }), &json!({ "p50": 2100, "p95": 2100 }))
    );
    assert_eq!((&row["costMicros"]["p50"], &row["totalCostMicros"]), (&json!(2100), &json!(10_500)));
    let (half, most) =
        (row["durationMs"]["p50"].as_u64().unwrap(), row["durationMs"]["p95"].as_u64().unwrap());
    assert!(0 < half && half <= most && most < 60_000, "{row:#}");
    assert_eq!(row["silence"], json!({ "callMs": 1_800_000, "turnMs": 600_000 }), "never below the defaults");
    let told = home.longhaul(&["stats", "--since", "1h", "--workflow", "team.fix"]).succeeded().stdout;
    assert!(told.contains("2100 / 2100") && told.contains("completed 5"), "{told}");
    assert_eq!(
        home.longhaul(&["stats", "--since", "2099-01-01", "--json"]).succeeded().rows(),
        [] as [Value; 0]
    );
    // The sixth is at work, and does not end by itself.
    std::fs::write(home.join("run.yml"), ENDLESS).unwrap();
    let mut detached = arguments(&home);
    detached.push("--detach".to_owned());
    home.run(&words(&detached)).inside("repo").go().succeeded();
    let open = || one(&home.longhaul(&["task", "list", "--json"]).succeeded());
    let task = open()["id"].as_str().unwrap().to_owned();
    let shown = || one(&home.longhaul(&["task", "show", &task, "--json"]).succeeded());
    assert_eq!(shown()["left"]["runs"], 5, "{:#}", shown());
    let words = home.longhaul(&["task", "show", &task]).succeeded().stdout;
    assert!(words.contains("runs)") || words.contains("longer at work than any of 5 runs"), "{words}");
    home.longhaul(&["stop", &task, "--now"]).succeeded();
    wait_until("it is over", || shown()["task"]["state"] == "cancelled");
    assert_eq!(shown().get("left"), None, "of what is over nothing is left");
    let row = one(&home.longhaul(&["stats", "--json"]).succeeded());
    assert_eq!((&row["runs"], &row["measured"]), (&json!(6), &json!(5)));
    assert_eq!(row["outcomes"], json!({ "completed": 5, "cancelled": 1 }));
}
