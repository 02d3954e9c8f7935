//! Sessions below a session: spawned and side by side, in the files of their task, through crashes, gates and cancellations.

use std::fs;
use std::path::PathBuf;
use std::process::Child;

use serde_json::{Value, json};

use crate::mcp::server::{Era, Server};
use crate::models::id_of;
use crate::run::left_over;
use crate::running::wait_until;
use crate::support::{Home, Outcome, git, program};
use crate::terminal::Terminal;
use crate::walking::{one, workflow};

const HEAD: &str = "longhaul: 1\nname: T\nversion: 1.0.0\n";

/// Does something with the files, and hands in what it did.
const LEAF: &str = "id: team.leaf\nvars:\n  part: { type: any }\n\
    contracts:\n  report: { type: object, required: [done], properties: { done: { type: string } } }\n\
    steps:\n  - { id: do, prompt: 'Do {{goal}} with {{part}}.', output: report }\n";

const SPAWNS: &str = "id: team.top\nvars:\n  spec: { type: object, default: { parts: [a, b] } }\n\
    steps:\n\
    \x20 - { id: begin, prompt: Begin. }\n\
    \x20 - { id: hand, spawn: { workflow: team.leaf, goal: 'first', with: { part: '{{spec.parts}}' }, into: got } }\n\
    \x20 - { id: end, prompt: 'It came to {{got.done}}.' }\n";

fn prepared(workflows: &[(&str, &str)], script: &str) -> Home {
    let home = Home::new();
    let repository = home.repository("repo");
    fs::write(repository.join("login.sh"), "test 1 -gt 1\n").unwrap();
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "--quiet", "-m", "begin"]);
    for (name, text) in workflows {
        workflow(&home, name, &format!("{HEAD}{text}"));
    }
    fs::write(home.join("run.yml"), format!("cassette: 1\nturns:\n{script}")).unwrap();
    home
}

fn arguments(cassette: &str) -> Vec<&str> {
    vec!["run", "--workflow", "team.top", "--goal", "mend it", "--cassette", cassette, "--json"]
}

fn run(home: &Home) -> Outcome {
    let cassette = home.join("run.yml").display().to_string();
    home.run(&arguments(&cassette)).inside("repo").go()
}

fn started(home: &Home) -> Child {
    let cassette = home.join("run.yml").display().to_string();
    home.run(&arguments(&cassette)).inside("repo").start()
}

fn sessions(home: &Home) -> Vec<Value> {
    let mut rows = home.longhaul(&["session", "list", "--all", "--json"]).succeeded().rows();
    rows.sort_by_key(|row| row["opened_at"].to_string());
    rows
}

fn below(home: &Home, id: &str) -> Vec<Value> {
    sessions(home).into_iter().filter(|row| row["parent"] == id).collect()
}

fn top(home: &Home) -> String {
    let rows = sessions(home);
    rows.iter().find(|row| row["workflow"] == "team.top").unwrap()["id"].as_str().unwrap().to_owned()
}

fn events(home: &Home, id: &str) -> Vec<Value> {
    let rows = home.longhaul(&["log", "show", &format!("session/{id}"), "--json"]).succeeded().rows();
    rows.into_iter().map(|row| row["event"].clone()).collect()
}

fn of_type(home: &Home, id: &str, kind: &str) -> Vec<Value> {
    events(home, id).into_iter().filter(|event| event["type"] == kind).collect()
}

/// What the newest piece of work came to.
fn result(home: &Home, id: &str) -> Value {
    let content =
        of_type(home, id, "work_finished").pop().expect("something was worked on")["result"].clone();
    content["inline"].clone()
}

fn prompts(home: &Home, id: &str) -> Vec<String> {
    let text = |event: &Value| event["prompt"]["inline"]["text"].as_str().unwrap_or_default().to_owned();
    of_type(home, id, "step_handed_out").iter().map(text).collect()
}

fn worktree(home: &Home, told: &Value) -> PathBuf {
    PathBuf::from(told["worktree"].as_str().unwrap().replace("[HOME]", home.path.to_str().unwrap()))
}

const LEAF_WRITES: &str = "
  - match: { workflow: team.leaf, step: do }
    tools: [ write: { path: made.txt, content: made } ]
  - { match: { workflow: team.leaf }, complete: { notes: Made., artifacts: [ { kind: report, done: all } ] } }
";

const TOP_TALKS: &str = "
  - { match: { workflow: team.top, step: begin }, complete: { notes: Begun. } }
  - { match: { workflow: team.top, step: end }, complete: { notes: Ended. } }
";

#[test]
fn a_spawned_session_works_in_the_files_of_its_task_and_hands_its_result_up() {
    let script = format!("{TOP_TALKS}{LEAF_WRITES}");
    let home = prepared(&[("team.leaf.yml", LEAF), ("team.top.yml", SPAWNS)], &script);
    let told = one(&run(&home).succeeded());
    assert_eq!(told["outcome"]["kind"], "completed", "{told}");
    assert_eq!(told["unplayed"], Value::Null, "{told}");
    let id = id_of(&told);
    assert_eq!(fs::read_to_string(worktree(&home, &told).join("made.txt")).unwrap(), "made");
    let children = below(&home, &id);
    assert_eq!(children.len(), 1, "{children:?}");
    let child = children[0]["id"].as_str().unwrap();
    assert_eq!((&children[0]["state"], &children[0]["goal"]), (&json!("completed"), &json!("first")));
    assert_eq!(events(&home, child)[0]["parent"], json!(id));
    // A value keeps its type.
    assert!(prompts(&home, child)[0].contains("Do first with"), "{:?}", prompts(&home, child));
    let told_part = of_type(&home, child, "vars_changed")[0]["set"]["part"]["inline"].clone();
    assert_eq!(told_part, json!(["a", "b"]));
    let work = result(&home, &id);
    assert_eq!(
        work,
        json!({ "outcome": "passed", "children": [{ "workflow": "team.leaf", "session": child,
            "outcome": "completed", "because": null, "result": work["children"][0]["result"] }] })
    );
    assert_eq!(work["children"][0]["result"]["done"], "all");
    assert!(prompts(&home, &id)[1].contains("It came to all."), "{:?}", prompts(&home, &id));
    // The checkout is the root's: kept there, listed once.
    let kept = of_type(&home, &id, "snapshotted");
    assert!(kept.iter().any(|event| event["because"].as_str().unwrap().contains(child)), "{kept:?}");
    assert!(of_type(&home, child, "snapshotted").is_empty());
    let worktrees = home.run(&["worktree", "list", "--json"]).inside("repo").go().succeeded().rows();
    assert_eq!(worktrees.len(), 1, "{worktrees:?}");
    assert!(left_over(&home).is_empty());
}

#[test]
fn when_its_runner_is_killed_the_same_sessions_go_on_and_nothing_is_asked_twice() {
    let script = format!(
        "{TOP_TALKS}
  - match: {{ workflow: team.leaf, step: do }}
    tools: [ bash: {{ command: 'echo a >> ../started 2>/dev/null || echo a >> started; until test -e go; do sleep 0.02; done' }} ]
  - {{ match: {{ workflow: team.leaf }}, complete: {{ notes: Made., artifacts: [ {{ kind: report, done: all }} ] }} }}
"
    );
    let home = prepared(&[("team.leaf.yml", LEAF), ("team.top.yml", SPAWNS)], &script);
    let mut following = started(&home);
    let child = || sessions(&home).into_iter().find(|row| row["workflow"] == "team.leaf");
    let calls = |id: &str| {
        let acts = of_type(&home, id, "agent").into_iter().map(|event| event["act"].clone());
        acts.filter(|act| act["act"] == "call_started").count()
    };
    wait_until("the child is at work", || child().is_some_and(|row| calls(row["id"].as_str().unwrap()) == 1));
    let (id, first) = (top(&home), child().unwrap()["id"].as_str().unwrap().to_owned());
    let taken = of_type(&home, &id, "driver_taken").pop().unwrap();
    let runner = taken["driver"]["process"].to_string();
    assert!(program("kill").args(["-9", &runner]).status().unwrap().success());
    let row = home.run(&["worktree", "list", "--json"]).inside("repo").go().succeeded().rows();
    let place = row[0]["path"].as_str().unwrap().replace("[HOME]", home.path.to_str().unwrap());
    fs::write(PathBuf::from(place).join("go"), "").unwrap();
    assert!(following.wait().unwrap().success());
    let children = below(&home, &id);
    assert_eq!(children.len(), 1, "{children:?}");
    assert_eq!((&children[0]["id"], &children[0]["state"]), (&json!(first), &json!("completed")));
    assert_eq!(of_type(&home, &id, "work_started").len(), 1);
    assert_eq!(of_type(&home, &first, "step_finished").len(), 1);
    let drivers = of_type(&home, &first, "driver_taken");
    assert_eq!(drivers.len(), 2, "{drivers:?}");
    // Turns are numbered, and none was answered twice.
    let acts = of_type(&home, &first, "agent").into_iter().map(|event| event["act"].clone());
    let mut turns: Vec<String> =
        acts.filter(|act| act["act"] == "answered").map(|act| act["turn"].to_string()).collect();
    let all = turns.len();
    turns.dedup();
    assert_eq!(turns.len(), all);
    assert_eq!(
        home.longhaul(&["session", "show", &id]).succeeded().stdout.matches("led to session").count(),
        1
    );
    assert!(left_over(&home).is_empty());
}

const REVIEWS: &str = "id: team.top\nsteps:\n\
    \x20 - id: reviews\n\
    \x20   parallel:\n\
    \x20     - { workflow: team.leaf, goal: one }\n\
    \x20     - { workflow: team.leaf, goal: two }\n\
    \x20     - { workflow: team.leaf, goal: never, when: { var: nope } }\n\
    \x20   into: reviews\n\
    \x20   synthesis: { prompt: Merge them. }\n";

#[test]
fn readers_go_side_by_side_and_their_results_are_brought_together() {
    let script = "
  - { match: { workflow: team.leaf, visit: 1 }, tools: [ bash: { command: 'mkdir -p /tmp/x; echo spoiled > login.sh' }, write: { path: login.sh, content: spoiled } ] }
  - { match: { workflow: team.leaf, visit: 1 }, complete: { notes: A., artifacts: [ { kind: report, done: first } ] } }
  - { match: { workflow: team.leaf, visit: 2 }, complete: { notes: B., artifacts: [ { kind: report, done: second } ] } }
  - { match: { workflow: team.top, step: reviews.synthesis }, complete: { notes: Merged. } }
";
    let text = REVIEWS.replace("id: team.top\n", "id: team.top\nvars: { nope: boolean }\n");
    let home = prepared(&[("team.leaf.yml", LEAF), ("team.top.yml", &text)], script);
    let outcome = run(&home);
    let told = one(&outcome.succeeded());
    let id = id_of(&told);
    assert_eq!(told["unplayed"], Value::Null, "{told}");
    assert_eq!(told["changedFiles"], json!([]), "{told}");
    let work = result(&home, &id);
    let done: Vec<&Value> =
        work["children"].as_array().unwrap().iter().map(|one| &one["result"]["done"]).collect();
    assert_eq!(done, ["first", "second"], "{work}");
    let synthesis = prompts(&home, &id).pop().unwrap();
    assert!(synthesis.contains("Merge them.") && synthesis.contains("\"done\": \"second\""), "{synthesis}");
    let shown = &of_type(&home, &id, "vars_changed");
    let kept = shown.iter().find_map(|event| event["set"]["reviews"]["inline"].as_array()).unwrap();
    assert_eq!(
        (kept.len(), &kept[1]["outcome"], &kept[1]["workflow"]),
        (2, &json!("completed"), &json!("team.leaf"))
    );
    // Both were open at once.
    let position = |child: &Value, kind: &str| {
        let stream = format!("session/{}", child["id"].as_str().unwrap());
        let rows = home.longhaul(&["log", "show", &stream, "--json"]).succeeded().rows();
        rows.iter().find(|row| row["event"]["type"] == kind).unwrap()["position"].as_u64().unwrap()
    };
    let children = below(&home, &id);
    let last_opened = children.iter().map(|child| position(child, "opened")).max();
    let first_closed = children.iter().map(|child| position(child, "closed")).min();
    assert!(last_opened < first_closed);
}

#[test]
fn one_that_fails_ends_the_step_or_is_gone_on_without() {
    let script = "
  - { match: { workflow: team.leaf, visit: 1 }, complete: { notes: A., artifacts: [ { kind: report, done: first } ] } }
  - { match: { workflow: team.top, step: reviews.synthesis }, complete: { notes: Merged. }, optional: true }
";
    let bare = "id: team.top\nsteps:\n  - id: reviews\n    parallel:\n\
        \x20     - { workflow: team.leaf, goal: one }\n      - { workflow: team.leaf, goal: two }\n";
    let continues =
        format!("{bare}    on_failure: continue\n    into: got\n    synthesis: {{ prompt: Merge. }}\n");
    let home = prepared(&[("team.leaf.yml", LEAF), ("team.top.yml", &continues)], script);
    let told = one(&run(&home).succeeded());
    let work = result(&home, &id_of(&told));
    let words: Vec<&Value> = work["children"].as_array().unwrap().iter().map(|one| &one["outcome"]).collect();
    assert_eq!(words, ["completed", "failed"], "{work}");
    assert!(sessions(&home).iter().all(|row| row["state"] != "parked"), "{:?}", sessions(&home));

    // Without that the tree waits, and says for whom and why; nothing is lost, and a person may steer it.
    let home = prepared(&[("team.leaf.yml", LEAF), ("team.top.yml", bare)], script);
    let outcome = run(&home);
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    let told = one(&outcome);
    assert_eq!(
        (&told["outcome"]["kind"], &told["outcome"]["reason"]),
        (&json!("failed"), &json!("cassette")),
        "{told}"
    );
    assert!(told["outcome"]["because"].as_str().unwrap().starts_with("waits for s-"), "{told}");
    // Cancelling it is a failed child.
    let parked = sessions(&home).into_iter().find(|row| row["state"] == "parked").unwrap();
    home.run(&["session", "cancel", parked["id"].as_str().unwrap()]).inside("repo").go().succeeded();
    let id = id_of(&told);
    wait_until("the step ends", || {
        sessions(&home).iter().any(|row| row["id"] == *id && row["outcome"]["reason"] == "child_failed")
    });
    wait_until("nothing runs", || left_over(&home).is_empty());
}

#[test]
fn the_first_that_comes_to_its_end_ends_the_others() {
    let script = "
  - { match: { workflow: team.leaf, visit: 1 }, tools: [ bash: { command: 'sleep 600' } ], optional: true }
  - { match: { workflow: team.leaf, visit: 2 }, complete: { notes: B., artifacts: [ { kind: report, done: second } ] } }
";
    let any = "id: team.top\nsteps:\n  - id: race\n    parallel:\n\
        \x20     - { workflow: team.leaf, goal: one }\n      - { workflow: team.leaf, goal: two }\n    join: any\n    into: got\n";
    let home = prepared(&[("team.leaf.yml", LEAF), ("team.top.yml", any)], script);
    let told = one(&run(&home).succeeded());
    let work = result(&home, &id_of(&told));
    let words: Vec<&Value> = work["children"].as_array().unwrap().iter().map(|one| &one["outcome"]).collect();
    assert_eq!(words, ["cancelled", "completed"], "{work}");
    assert!(left_over(&home).is_empty());
}

#[test]
fn one_session_for_each_item_of_a_list_and_never_more_than_is_allowed() {
    let script = "
  - { match: { workflow: team.leaf, visit: 1 }, complete: { notes: A., artifacts: [ { kind: report, done: one } ] } }
  - { match: { workflow: team.leaf, visit: 2 }, complete: { notes: B., artifacts: [ { kind: report, done: two } ] } }
";
    let each = |max: u32| {
        format!(
            "id: team.top\nvars:\n  parts: {{ type: array, default: [a, b] }}\nsteps:\n  - id: each\n    parallel: \
             {{ forEach: parts, as: part, workflow: team.leaf, goal: 'do {{{{part}}}}', with: {{ part: '{{{{part}}}}' }}, max: {max} }}\n    into: got\n"
        )
    };
    let home = prepared(&[("team.leaf.yml", LEAF), ("team.top.yml", &each(2))], script);
    let told = one(&run(&home).succeeded());
    let goals: Vec<Value> = below(&home, &id_of(&told)).iter().map(|row| row["goal"].clone()).collect();
    assert!(goals.contains(&json!("do a")) && goals.contains(&json!("do b")), "{goals:?}");
    let home = prepared(&[("team.leaf.yml", LEAF), ("team.top.yml", &each(1))], script);
    let told = one(&run(&home));
    assert_eq!(told["outcome"]["reason"], "list_too_long", "{told}");
    assert!(below(&home, &id_of(&told)).is_empty());
}

/// A gate stands between the two steps of the session below.
const GATED: &str = "id: team.leaf\n\
    contracts:\n  report: { type: object, required: [done], properties: { done: { type: string } } }\n\
    steps:\n  - { id: look, gate: { by: person, question: 'Go on?' } }\n  - { id: do, prompt: Do., output: report }\n";

#[test]
fn a_gate_below_makes_the_tree_wait_without_a_process_and_opening_it_goes_on_from_the_top() {
    let script = format!("{TOP_TALKS}{LEAF_WRITES}");
    let home = prepared(
        &[
            ("team.leaf.yml", GATED),
            ("team.top.yml", &SPAWNS.replace(", with: { part: '{{spec.parts}}' }", "")),
        ],
        &script,
    );
    let told = one(&run(&home).succeeded());
    let id = id_of(&told);
    let child = below(&home, &id)[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        (&told["outcome"]["kind"], &told["outcome"]["reason"]),
        (&json!("parked"), &json!("gate")),
        "{told}"
    );
    let waits = format!("waits for {child}: gate `look`");
    assert_eq!(told["outcome"]["because"], json!(waits), "{told}");
    assert_eq!(told["working"]["waitsFor"], json!(waits), "{told}");
    let row = sessions(&home).into_iter().find(|row| row["id"] == *id).unwrap();
    assert_eq!((&row["status"], &row["detail"]), (&json!("parked"), &json!(waits)));
    wait_until("no process is left", || left_over(&home).is_empty());

    let gate =
        one(&home.longhaul(&["gate", "list", "--json"]).succeeded())["id"].as_str().unwrap().to_owned();
    let mut terminal = Terminal::start(&home, &["gate", "approve", &gate, "--json"]);
    terminal.wait_for("Type `approve` to confirm: ");
    terminal.type_text("approve\n");
    terminal.end();
    wait_until("the whole is completed", || sessions(&home).iter().all(|row| row["state"] == "completed"));
    let runner = |id: &str| of_type(&home, id, "driver_taken").pop().unwrap()["driver"]["process"].clone();
    assert_eq!(runner(&child), runner(&id));
    assert_eq!(below(&home, &id).len(), 1);
    wait_until("nothing runs", || left_over(&home).is_empty());
}

#[test]
fn stopping_the_top_ends_all_below_it_with_their_processes() {
    let script = format!(
        "{TOP_TALKS}  - {{ match: {{ workflow: team.leaf, step: do }}, tools: [ bash: {{ command: 'sleep 601' }} ] }}\n"
    );
    let home = prepared(&[("team.leaf.yml", LEAF), ("team.top.yml", SPAWNS)], &script);
    let mut following = started(&home);
    wait_until("the child is at work", || {
        sessions(&home).iter().any(|row| row["workflow"] == "team.leaf" && row["status"] == "tool(bash)")
    });
    let id = top(&home);
    home.run(&["stop", &id, "--now"]).inside("repo").go().succeeded();
    following.wait().unwrap();
    assert!(sessions(&home).iter().all(|row| row["state"] == "cancelled"), "{:?}", sessions(&home));
    assert!(left_over(&home).is_empty());
}

#[test]
fn all_that_a_workflow_leads_to_is_pinned_when_it_starts_and_what_is_not_there_is_an_outcome() {
    // The file is changed by the run itself, before the step that leads to it.
    let home = prepared(&[("team.leaf.yml", LEAF), ("team.top.yml", SPAWNS)], "");
    let folder = home.longhaul_home().join("config/workflows/team.leaf.yml");
    let script = format!(
        "cassette: 1\nturns:\n  - {{ match: {{ workflow: team.top, step: begin }}, tools: [ bash: {{ command: 'until test -e go; do sleep 0.02; done' }} ] }}\n{TOP_TALKS}{LEAF_WRITES}"
    );
    fs::write(home.join("run.yml"), script).unwrap();
    let mut following = started(&home);
    wait_until("it has begun", || sessions(&home).iter().any(|row| row["status"] == "tool(bash)"));
    fs::remove_file(folder).unwrap();
    let row = home.run(&["worktree", "list", "--json"]).inside("repo").go().succeeded().rows();
    let place = row[0]["path"].as_str().unwrap().replace("[HOME]", home.path.to_str().unwrap());
    fs::write(PathBuf::from(place).join("go"), "").unwrap();
    assert!(following.wait().unwrap().success());
    assert!(sessions(&home).iter().all(|row| row["state"] == "completed"), "{:?}", sessions(&home));

    // WorkRail files may name what others have.
    let home = prepared(
        &[("team.leaf.yml", LEAF)],
        "  - { match: { step: par.synthesis }, complete: { notes: Merged. } }\n",
    );
    let file = json!({ "id": "team.top", "name": "T", "description": "D", "version": "1.0.0", "steps": [{
        "id": "par", "type": "parallel", "title": "Par", "parallelDelegations": [{ "workflowId": "wr.nowhere" }],
        "synthesis": { "prompt": "Merge." } }] });
    fs::write(home.longhaul_home().join("config/workflows/team.top.json"), file.to_string()).unwrap();
    let told = one(&run(&home).succeeded());
    let id = id_of(&told);
    let one = &result(&home, &id)["children"][0];
    assert_eq!(
        (&one["outcome"], &one["because"], &one["session"]),
        (&json!("could_not"), &json!("no such workflow"), &Value::Null)
    );
    assert!(prompts(&home, &id)[0].contains("no such workflow"), "{:?}", prompts(&home, &id));
}

#[test]
fn no_tree_grows_too_deep() {
    let deep = "id: team.top\nsteps:\n  - { id: again, spawn: { workflow: team.top } }\n";
    let home = prepared(&[("team.top.yml", deep)], "");
    let told = one(&run(&home));
    assert_eq!(told["outcome"]["reason"], "child_refused", "{told}");
    assert!(told["outcome"]["because"].as_str().unwrap().contains("3 levels below"), "{told}");
    assert_eq!(sessions(&home).len(), 4);
}

#[test]
fn what_a_session_is_told_of_what_came_before_is_as_the_author_says() {
    let briefs = "id: team.top\nvars:\n  spec: { type: string, default: SPEC }\nsteps:\n\
        \x20 - { id: one, spawn: { workflow: team.leaf, goal: one } }\n\
        \x20 - { id: two, spawn: { workflow: team.leaf, goal: two } }\n\
        \x20 - { id: three, spawn: { workflow: team.leaf, goal: three, brief: blank } }\n\
        \x20 - { id: four, spawn: { workflow: team.leaf, goal: four, brief: { mode: custom, include: [spec] } } }\n";
    let turn = |visit: u32| {
        format!(
            "  - {{ match: {{ workflow: team.leaf, step: do, visit: {visit} }}, complete: {{ notes: N., artifacts: [ {{ kind: report, done: d{visit} }} ] }} }}\n"
        )
    };
    let script = (1..5).map(turn).collect::<Vec<_>>().concat();
    let home = prepared(&[("team.leaf.yml", LEAF), ("team.top.yml", briefs)], &script);
    let told = one(&run(&home).succeeded());
    assert_eq!(told["unplayed"], Value::Null, "{told}");
    let mut first: Vec<(String, String)> = below(&home, &id_of(&told))
        .iter()
        .map(|row| {
            (row["goal"].as_str().unwrap().to_owned(), prompts(&home, row["id"].as_str().unwrap())[0].clone())
        })
        .collect();
    first.sort();
    let told = |goal: &str| &first.iter().find(|(found, _)| found == goal).unwrap().1;
    assert!(!told("one").contains("What came before"));
    assert!(told("two").contains("What came before") && told("two").contains("d1"), "{}", told("two"));
    assert!(!told("three").contains("What came before"));
    assert!(told("four").contains("SPEC") && !told("four").contains("d1"), "{}", told("four"));
}

const HANDED: &str = "id: team.top\nsteps:\n  - { id: begin, prompt: Begin. }\n  - id: reviews\n    parallel:\n\
    \x20     - { workflow: team.leaf, goal: one }\n      - { workflow: team.leaf, goal: two }\n\
    \x20   synthesis: { prompt: Merge them. }\n";

/// What whoever does the steps says: notes for the session above, a report for those below.
fn said(view: &Value, number: u32) -> Value {
    let token = view["continueToken"].as_str().unwrap_or_else(|| panic!("{view}"));
    let mut answer = json!({ "continueToken": token, "notes": "Done." });
    if view["stepId"] == "do" {
        answer["artifacts"] = json!([{ "kind": "report", "done": format!("d{number}") }]);
    }
    answer
}

/// Walks from the first step to the end, and gives every answer twice.
fn walked(first: &Value, mut answer: impl FnMut(&Value) -> Value) -> Vec<(String, String)> {
    let (mut view, mut way, mut told) = (first.clone(), Vec::new(), Vec::new());
    for number in 1..9 {
        way.push((id_of(&view), view["stepId"].as_str().unwrap_or("end").to_owned()));
        if view["isComplete"] == true {
            for (said, got) in &told {
                assert_eq!(answer(said)["continueToken"], *got, "the same call has the same answer for ever");
            }
            return way;
        }
        let words = said(&view, number);
        let next = answer(&words);
        assert_eq!(answer(&words)["continueToken"], next["continueToken"]);
        told.push((words, next["continueToken"].clone()));
        view = next;
    }
    panic!("it does not end: {way:?}");
}

fn is_handed_in_order(home: &Home, way: &[(String, String)]) {
    let steps: Vec<&str> = way.iter().map(|(_, step)| step.as_str()).collect();
    assert_eq!(steps, ["begin", "do", "do", "reviews.synthesis", "end"]);
    let id = &way[0].0;
    assert!(way[1].0 != way[2].0 && way[1].0 != *id, "{way:?}");
    assert_eq!((&way[3].0, &way[4].0), (id, id));
    let work = result(home, id);
    let done: Vec<&Value> =
        work["children"].as_array().unwrap().iter().map(|one| &one["result"]["done"]).collect();
    assert_eq!(done, ["d2", "d3"], "{work}");
    assert!(prompts(home, id).pop().unwrap().contains("\"done\": \"d3\""));
    assert!(sessions(home).iter().all(|row| row["state"] == "completed"), "{:?}", sessions(home));
}

#[test]
fn an_agent_that_is_not_ours_is_handed_the_sessions_one_after_another_at_the_shell() {
    let home = prepared(&[("team.leaf.yml", LEAF), ("team.top.yml", HANDED)], "");
    let start = ["session", "start", "--workflow", "team.top", "--goal", "mend it", "--json"];
    let first = one(&home.run(&start).inside("repo").go().succeeded());
    let way = walked(&first, |answer| {
        let mut words = vec![
            "session",
            "advance",
            answer["continueToken"].as_str().unwrap(),
            "--notes",
            "Done.",
            "--json",
        ];
        let artifact = answer["artifacts"][0].to_string();
        if answer["artifacts"].is_array() {
            words.extend(["--artifact", &artifact]);
        }
        one(&home.run(&words).inside("repo").go().succeeded())
    });
    is_handed_in_order(&home, &way);
    wait_until("nothing runs", || left_over(&home).is_empty());
}

#[test]
fn an_agent_that_is_not_ours_is_handed_the_sessions_one_after_another_through_mcp() {
    let home = prepared(&[("team.leaf.yml", LEAF), ("team.top.yml", HANDED)], "");
    let mut server = Server::start(&home, Era::Initialized);
    let folder = home.join("repo").display().to_string();
    let start = json!({ "workflowId": "team.top", "workspacePath": folder, "goal": "mend it" });
    let first = server.object("start_workflow", &start);
    let way = walked(&first, |answer| server.object("continue_workflow", answer));
    is_handed_in_order(&home, &way);
}

#[test]
fn cancelling_the_top_of_what_is_handed_out_ends_what_is_below() {
    let home = prepared(&[("team.leaf.yml", LEAF), ("team.top.yml", HANDED)], "");
    let start = ["session", "start", "--workflow", "team.top", "--goal", "mend it", "--json"];
    let first = one(&home.run(&start).inside("repo").go().succeeded());
    let advance =
        ["session", "advance", first["continueToken"].as_str().unwrap(), "--notes", "Done.", "--json"];
    let below = one(&home.run(&advance).inside("repo").go().succeeded());
    assert_eq!(below["stepId"], "do", "{below}");
    let top = home.run(&["session", "resume", &id_of(&first), "--json"]).inside("repo").go().succeeded();
    assert_eq!(one(&top)["step"]["sessionId"], below["sessionId"]);
    home.run(&["session", "cancel", &id_of(&first)]).inside("repo").go().succeeded();
    assert!(sessions(&home).iter().all(|row| row["state"] == "cancelled"), "{:?}", sessions(&home));
}

#[test]
fn going_back_to_the_step_starts_others_and_ends_those_that_were_open() {
    let script = format!("{TOP_TALKS}{LEAF_WRITES}");
    let text = SPAWNS.replace(", with: { part: '{{spec.parts}}' }", "");
    let home = prepared(&[("team.leaf.yml", GATED), ("team.top.yml", &text)], &script);
    let id = id_of(&one(&run(&home).succeeded()));
    let first = below(&home, &id)[0]["id"].clone();
    let rewind = ["session", "rewind", &id, "--to", "hand", "--reason", "again", "--json"];
    home.run(&rewind).inside("repo").go().succeeded();
    wait_until("another waits", || {
        below(&home, &id).iter().any(|row| row["state"] == "gate" && row["id"] != first)
    });
    let rows = below(&home, &id);
    assert_eq!(rows.len(), 2, "{rows:?}");
    let state = &rows.iter().find(|row| row["id"] == first).unwrap()["state"];
    assert_eq!(*state, "cancelled");
}
