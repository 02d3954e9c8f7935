//! `longhaul spawn` and `longhaul await`: for people's own coordinators.

use std::fs;

use serde_json::{Value, json};

use crate::run::{prepared, worktree_has};
use crate::running::wait_until;
use crate::support::Home;
use crate::walking::{TWO_STEPS, id, one, workflow};

const TYPED: &str = "longhaul: 1\nid: team.count\nname: Count\nversion: 1.0.0\n\
    contracts:\n  found: { type: object, properties: { files: { type: integer } }, required: [files] }\n\
    steps:\n  - { id: count, prompt: Count the files., output: found }\n";

const COUNTS: &str =
    "cassette: 1\nturns:\n  - complete: { notes: Counted., artifacts: [ { kind: found, files: 3 } ] }\n";

const ENDLESS: &str =
    "cassette: 1\nturns:\n  - tools: [ { bash: { command: 'touch began; sleep 300', seconds: 1000 } } ]\n";

fn spawn(home: &Home, more: &[&str]) -> String {
    let cassette = home.join("run.yml").display().to_string();
    let words = ["spawn", "--workflow", "team.count", "--goal", "count", "--cassette", &cassette];
    let started = home.run(&[&words[..], more].concat()).inside("repo").go().succeeded();
    started.stdout.trim().to_owned()
}

fn counting(script: &str) -> Home {
    let home = prepared(script);
    workflow(&home, "team.count.yml", TYPED);
    home
}

#[test]
fn a_script_starts_sessions_and_waits_for_what_each_came_to() {
    let home = counting(COUNTS);
    let (first, second) = (spawn(&home, &[]), spawn(&home, &[]));
    assert!(first.starts_with("s-") && first != second, "{first} {second}");
    let awaited = home.longhaul(&["await", &first, &second, "--json"]).succeeded();
    let rows = awaited.rows();
    let told: Vec<(&Value, &Value, &Value)> =
        rows.iter().map(|row| (&row["session"], &row["outcome"]["kind"], &row["result"])).collect();
    let result = json!({ "files": 3 });
    let completed = json!("completed");
    assert_eq!(told, [(&json!(first), &completed, &result), (&json!(second), &completed, &result)]);
    let table = home.longhaul(&["await", &first]).succeeded().stdout;
    assert!(table.contains(r#"completed  {"files":3}"#), "{table}");
    let unknown = home.longhaul(&["await", "s-0123456789abc"]);
    assert_eq!(unknown.code, Some(2), "{unknown}");
}

#[test]
fn who_has_no_more_time_is_told_so_and_the_work_goes_on() {
    let home = counting(ENDLESS);
    let session = spawn(&home, &[]);
    wait_until("the command began", || worktree_has(&home, "began"));
    let late = home.longhaul(&["await", &session, "--timeout", "300ms", "--json"]);
    assert_eq!(late.code, Some(3), "{late}");
    assert_eq!((&one(&late)["outcome"], &one(&late)["result"]), (&Value::Null, &Value::Null));
    let open = one(&home.longhaul(&["session", "list", "--json"]));
    assert_eq!(open["id"], json!(session));
    home.longhaul(&["stop", &session, "--now"]).succeeded();
    let stopped = home.longhaul(&["await", &session, "--json"]);
    assert_eq!(
        (stopped.code, &one(&stopped)["outcome"]["kind"]),
        (Some(3), &json!("cancelled")),
        "{stopped}"
    );
}

#[test]
fn what_is_spawned_below_a_session_is_part_of_its_task_and_ends_with_it() {
    let home = counting(ENDLESS);
    workflow(&home, "team.two.yml", TWO_STEPS);
    let words = ["session", "start", "--workflow", "team.two", "--goal", "lead", "--json"];
    let parent = one(&home.run(&words).inside("repo").go().succeeded());
    let child = spawn(&home, &["--parent", id(&parent)]);
    wait_until("the command began", || worktree_has(&home, "began"));
    let task = one(&home.longhaul(&["task", "list", "--json"]));
    assert_eq!((&task["sessions"], &task["session"]), (&json!(2), &json!(id(&parent))), "{task:#}");
    let task = task["id"].as_str().unwrap();
    let tree = home.longhaul(&["task", "show", task]).succeeded().stdout;
    assert!(tree.contains(&format!("\n    {child} team.count: ")), "{tree}");
    home.longhaul(&["task", "cancel", task, "--now"]).succeeded();
    let rows = home.longhaul(&["session", "list", "--all", "--json"]).rows();
    assert!(rows.len() == 2 && rows.iter().all(|row| row["state"] == "cancelled"), "{rows:?}");
    fs::write(home.join("run.yml"), COUNTS).unwrap();
    let cassette = home.join("run.yml").display().to_string();
    let late = [
        "spawn",
        "--workflow",
        "team.count",
        "--goal",
        "x",
        "--parent",
        id(&parent),
        "--cassette",
        &cassette,
    ];
    let refused = home.run(&late).inside("repo").go();
    assert_eq!(refused.code, Some(3), "nothing starts below what is over: {refused}");
}

#[test]
fn nothing_is_spawned_too_far_below() {
    let home = counting(ENDLESS);
    let mut above = spawn(&home, &[]);
    for _ in 0..3 {
        above = spawn(&home, &["--parent", &above]);
    }
    let cassette = home.join("run.yml").display().to_string();
    let words =
        ["spawn", "--workflow", "team.count", "--goal", "x", "--parent", &above, "--cassette", &cassette];
    let refused = home.run(&words).inside("repo").go();
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("more than 3 levels below the first of a task"), "{refused}");
    home.longhaul(&["stop", "--all", "--now"]).succeeded();
}
