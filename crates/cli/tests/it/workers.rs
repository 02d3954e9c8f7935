//! Workers: a session asks another below it one question, and gets an answer of the shape that it wants.

use std::fs;
use std::path::PathBuf;

use longhaul_testkit::model_server::{Answer, Asked};
use longhaul_testkit::processes::command;
use serde_json::{Value, json};

use crate::models::{World, id_of};
use crate::run::left_over;
use crate::running::wait_until;
use crate::support::{Home, Outcome, git};
use crate::walking::{one, workflow};

const WORKFLOW: &str = "longhaul: 1\nid: team.ask\nname: Ask\nversion: 1.0.0\nsteps:\n\
    \x20 - { id: look, prompt: Look. }\n";

/// What a call of `spawn` in a script begins with.
const SCHEMA: &str =
    "{ type: object, properties: { line: { type: integer }, why: { type: string } }, required: [line] }";

fn prepared(script: &str) -> Home {
    let home = Home::new();
    let repository = home.repository("repo");
    fs::write(repository.join("login.sh"), "test 1 -gt 1\n").unwrap();
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "--quiet", "-m", "begin"]);
    workflow(&home, "team.ask.yml", WORKFLOW);
    fs::write(home.join("run.yml"), script.replace("SCHEMA", SCHEMA)).unwrap();
    home
}

fn run(home: &Home, more: &[&str]) -> Outcome {
    let cassette = home.join("run.yml").display().to_string();
    let mut arguments =
        vec!["run", "--workflow", "team.ask", "--goal", "ask", "--cassette", &cassette, "--json"];
    arguments.extend(more);
    home.run(&arguments).inside("repo").go()
}

fn events(home: &Home, id: &str) -> Vec<Value> {
    let rows = home.longhaul(&["log", "show", &format!("session/{id}"), "--json"]).succeeded().rows();
    rows.into_iter().map(|row| row["event"].clone()).collect()
}

/// What the calls of a session came to, in order: outcome and text.
fn results(home: &Home, id: &str) -> Vec<(String, String)> {
    let acts = events(home, id).into_iter().map(|event| event["act"].clone());
    let ended = acts.filter(|act| act["act"] == "call_finished");
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    ended.map(|act| (text(&act["outcome"]), text(&act["result"]["inline"]))).collect()
}

fn worktree(home: &Home, told: &Value) -> PathBuf {
    PathBuf::from(told["worktree"].as_str().unwrap().replace("[HOME]", home.path.to_str().unwrap()))
}

fn sessions(home: &Home) -> Vec<Value> {
    home.longhaul(&["session", "list", "--all", "--json"]).succeeded().rows()
}

fn below(home: &Home, id: &str) -> Vec<Value> {
    sessions(home).into_iter().filter(|row| row["parent"] == id).collect()
}

const ONE_WORKER: &str = "
cassette: 1
turns:
  - match: { step: look }
    tools:
      - spawn: { question: 'Which line is wrong?', answer: SCHEMA }
  - { match: { step: look }, complete: { notes: Found. } }
  - match: { workflow: lh.worker, step: answer-1 }
    usage: { input: 20, output: 3 }
    tools:
      - read: { path: login.sh }
      - write: { path: login.sh, content: spoiled }
      - bash: { command: 'echo spoiled > login.sh' }
  - { match: { workflow: lh.worker }, complete: { artifacts: [ { why: inverted } ] } }
  - { match: { workflow: lh.worker }, complete: { artifacts: [ { line: 1, why: inverted } ] } }
";

#[test]
fn a_worker_reads_the_files_puts_its_answer_right_once_and_is_a_session_below_its_asker() {
    for level in ["full", "reduced"] {
        is_answered_at(level);
    }
}

fn is_answered_at(level: &str) {
    let home = prepared(ONE_WORKER);
    let told = one(&run(&home, &["--sandbox", level]).succeeded());
    let id = id_of(&told);
    let answers = results(&home, &id);
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0].0, "done", "{answers:?}");
    assert_eq!(
        serde_json::from_str::<Value>(&answers[0].1).unwrap(),
        json!({ "line": 1, "why": "inverted" })
    );

    let workers = below(&home, &id);
    assert_eq!(workers.len(), 1, "{workers:?}");
    let worker = workers[0]["id"].as_str().unwrap();
    assert_eq!((&workers[0]["state"], &workers[0]["workflow"]), (&json!("completed"), &json!("lh.worker")));
    assert_eq!(events(&home, worker)[0]["parent"], json!(id));
    assert_eq!(workers[0]["unplayed"], Value::Null);
    let did = results(&home, worker);
    assert_eq!((did[0].0.as_str(), did[0].1.as_str()), ("done", "test 1 -gt 1\n"));
    assert!(did[1].0 == "refused" && did[1].1.contains("another session's"), "{did:?}");
    assert!(did[2].1.contains("Read-only file system") || did[2].1.contains("ermission denied"), "{did:?}");
    assert!(did[3].0 == "refused" && did[3].1.contains("line"), "{did:?}");
    let worktree = worktree(&home, &told);
    assert_eq!(fs::read_to_string(worktree.join("login.sh")).unwrap(), "test 1 -gt 1\n");

    let list = home.longhaul(&["session", "list", "--all"]).succeeded().stdout;
    let place = |text: &str| list.lines().position(|line| line.starts_with(text)).unwrap();
    // Between them stands that it is a rehearsal.
    assert_eq!(place(&format!("  {worker}")), place(&id) + 2, "{list}");
    let shown = home.longhaul(&["session", "show", &id]).succeeded().stdout;
    assert!(shown.contains(&format!("led to session {worker}: completed")), "{shown}");
    let shown = home.longhaul(&["session", "show", worker]).succeeded().stdout;
    assert!(shown.contains(&format!("below session {id}")), "{shown}");
    let costs = home.longhaul(&["agent", "cost", "--json"]).succeeded().stdout;
    assert!(costs.contains("\"input\":20"), "{costs}");
    let replayed = home.run(&["session", "replay", &id, "--json"]).inside("repo").go().succeeded();
    let compared = one(&replayed);
    assert_eq!((&compared["same"], &compared["complete"]), (&json!(true), &json!(true)), "{compared}");
}

#[test]
fn whoever_works_inside_asks_a_worker_through_the_gateway() {
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18",
            "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "spawn", "arguments": {
            "question": "Which line is wrong?",
            "answer": { "type": "object", "properties": { "line": { "type": "integer" } }, "required": ["line"] } } } }),
    ];
    let attach = format!("{} mcp --attach < talk.jsonl > answers.jsonl", env!("CARGO_BIN_EXE_longhaul"));
    let script = json!({ "cassette": 1, "turns": [
        { "match": { "step": "look" }, "tools": [{ "bash": { "command": attach, "expect_exit": 0 } }] },
        { "match": { "step": "look" }, "complete": { "notes": "Found." } },
        { "match": { "workflow": "lh.worker" }, "complete": { "artifacts": [{ "line": 1 }] } },
    ] });
    let home = prepared(&script.to_string());
    let repository = home.join("repo");
    fs::write(repository.join("talk.jsonl"), lines.map(|line| format!("{line}\n")).concat()).unwrap();
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "--quiet", "-m", "talk"]);
    let told = one(&run(&home, &[]).succeeded());
    let worktree = worktree(&home, &told);
    let answers = fs::read_to_string(worktree.join("answers.jsonl")).unwrap();
    let answers = answers.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let answer = answers.into_iter().find(|answer| answer["id"] == 2).unwrap();
    assert_eq!(answer["result"]["structuredContent"]["answer"], json!({ "line": 1 }), "{answer}");
    assert_eq!(below(&home, &id_of(&told)).len(), 1);
}

#[test]
fn what_a_worker_cannot_answer_and_what_nobody_may_ask_is_refused_in_words() {
    let home = prepared(
        "
cassette: 1
turns:
  - match: { step: look }
    tools:
      - spawn: { question: 'Which?', answer: { type: string } }
      - spawn: { question: 'Which?', answer: { type: object, properties: { line: { type: nothing } } } }
      - spawn: { question: 'Which?', answer: SCHEMA }
      - spawn: { question: 'Which?', answer: SCHEMA, tier: huge }
  - { match: { step: look }, complete: { notes: None. } }
  - { match: { workflow: lh.worker }, complete: { artifacts: [ { line: one } ] } }
  - { match: { workflow: lh.worker }, complete: { artifacts: [ { line: two } ] } }
",
    );
    let id = id_of(&one(&run(&home, &[]).succeeded()));
    let answers = results(&home, &id);
    assert!(answers.iter().all(|(outcome, _)| outcome == "refused"), "{answers:#?}");
    assert!(answers[0].1.contains("type: object"), "{answers:#?}");
    assert!(answers[1].1.contains("nothing") || answers[1].1.contains("schema"), "{answers:#?}");
    assert!(answers[2].1.contains("has no answer"), "{answers:#?}");
    assert!(answers[3].1.contains("`light`, `standard`, `heavy`"), "{answers:#?}");
    let workers = below(&home, &id);
    assert_eq!(workers.len(), 1, "a question that cannot be asked makes no worker: {workers:?}");
    assert_eq!(workers[0]["state"], "cancelled", "nobody goes on with one that failed");
}

#[test]
fn workers_go_three_levels_deep_and_a_task_has_ten_of_them() {
    let ask = "{ spawn: { question: 'Go on.', answer: SCHEMA } }";
    let many = [ask; 8].join(", ");
    let answered = "complete: { artifacts: [ { line: 1 } ] }";
    let nested = |number: u32| {
        format!("  - {{ match: {{ workflow: lh.worker, step: answer-{number} }}, tools: [ {ask} ] }}\n")
    };
    let script = format!(
        "\ncassette: 1\nturns:\n  - {{ match: {{ step: look }}, tools: [ {ask} ] }}\n\
         \x20 - {{ match: {{ step: look }}, parallel: true, tools: [ {many} ] }}\n\
         \x20 - {{ match: {{ step: look }}, complete: {{ notes: Done. }} }}\n{}{}{}\
         \x20 - {{ match: {{ workflow: lh.worker }}, {answered} }}\n",
        nested(1),
        nested(2),
        nested(3)
    );
    let home = prepared(&script);
    let id = id_of(&one(&run(&home, &[]).succeeded()));
    let child_of = |id: &str| below(&home, id).last().unwrap()["id"].as_str().unwrap().to_owned();
    // The first of the asker's own workers is the one that asked others.
    let own: Vec<String> =
        below(&home, &id).iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    let first = own.into_iter().find(|id| !below(&home, id).is_empty()).unwrap();
    let second = child_of(&first);
    let third = child_of(&second);
    let deepest = results(&home, &third);
    assert!(deepest[0].0 == "refused" && deepest[0].1.contains("3 levels"), "{deepest:?}");
    let answers = results(&home, &id);
    let refused: Vec<_> = answers.iter().filter(|(outcome, _)| outcome == "refused").collect();
    assert_eq!((answers.len(), refused.len()), (9, 1), "{answers:#?}");
    assert!(refused[0].1.contains("10 are the most"), "{refused:?}");
    let workers = sessions(&home).into_iter().filter(|row| row["workflow"] == "lh.worker").count();
    assert_eq!(workers, 10);
}

const SLOW_WORKER: &str = "
cassette: 1
turns:
  - { match: { step: look }, tools: [ { spawn: { question: 'Wait.', answer: SCHEMA } } ] }
  - { match: { step: look }, complete: { notes: Done. } }
  - { match: { workflow: lh.worker, step: answer-1 }, tools: [ { bash: { command: 'sleep 600' } } ] }
  - { match: { workflow: lh.worker }, complete: { artifacts: [ { line: 1 } ] }, optional: true }
";

/// Begins a run and waits until its worker is in the middle of a command. Gives both.
fn with_a_slow_worker() -> (Home, String, String) {
    let home = prepared(SLOW_WORKER);
    let cassette = home.join("run.yml").display().to_string();
    let arguments = ["run", "--workflow", "team.ask", "--goal", "ask", "--cassette", &cassette, "--detach"];
    home.run(&arguments).inside("repo").go().succeeded();
    let at_work = |row: &Value| row["workflow"] == "lh.worker" && row["status"] == "tool(bash)";
    wait_until("no worker began", || sessions(&home).iter().any(at_work));
    let rows = sessions(&home);
    let worker = rows.iter().find(|row| row["workflow"] == "lh.worker").unwrap();
    let text = |name: &str| worker[name].as_str().unwrap().to_owned();
    let (id, worker) = (text("parent"), text("id"));
    (home, id, worker)
}

fn state(home: &Home, id: &str) -> String {
    let row = sessions(home).into_iter().find(|row| row["id"] == id).unwrap();
    row["state"].as_str().unwrap().to_owned()
}

#[test]
fn a_worker_whose_asker_dies_is_ended_and_the_call_is_not_made_again_by_itself() {
    let (home, id, worker) = with_a_slow_worker();
    let driver = |id: &str| {
        let taken = events(&home, id).into_iter().rfind(|event| event["type"] == "driver_taken").unwrap();
        taken["driver"]["process"].as_u64().unwrap()
    };
    let runner = driver(&id);
    assert_eq!(driver(&worker), runner, "the same process drives both");
    assert!(command("kill").args(["-9", &runner.to_string()]).status().unwrap().success());
    home.run(&["session", "resume", &id]).inside("repo").go().succeeded();
    wait_until("it did not go on", || state(&home, &id) == "completed");
    let answers = results(&home, &id);
    assert_eq!(answers[0].0, "interrupted", "{answers:?}");
    assert_eq!(state(&home, &worker), "cancelled");
    // A script makes an interrupted call again, with another worker.
    assert_eq!((answers[1].0.as_str(), below(&home, &id).len()), ("done", 2), "{answers:?}");
    assert_eq!(left_over(&home), [0_u32; 0]);
}

#[test]
fn a_worker_ends_with_the_session_that_asked_when_that_is_stopped() {
    let (home, id, worker) = with_a_slow_worker();
    home.longhaul(&["stop", &id]).succeeded();
    assert_eq!((state(&home, &id), state(&home, &worker)), ("cancelled".to_owned(), "cancelled".to_owned()));
    wait_until("something was left running", || left_over(&home).is_empty());
}

/// The asker asks, the worker reads, both hand in. Who it is shows by what it was told.
fn asks_a_worker(asked: &Asked) -> Answer {
    let is_worker =
        asked.told().contains("Which line is wrong?") && asked.told().contains("Answer this question");
    match (is_worker, asked.results().len()) {
        (true, 0) => Answer::call("read", &json!({ "path": "login.sh" })),
        (true, _) => Answer::call("complete_step", &json!({ "artifacts": [{ "line": 1 }] })),
        (false, 0) => Answer::call(
            "spawn",
            &json!({ "question": "Which line is wrong?", "answer": { "type": "object", "properties": { "line": { "type": "integer" } }, "required": ["line"] } }),
        ),
        (false, _) => Answer::call("complete_step", &json!({ "notes": "Line 1." })),
    }
}

#[test]
fn a_model_asks_a_worker_which_is_another_conversation_and_on_the_same_bill() {
    let world = World::new(asks_a_worker);
    workflow(&world.home, "team.fix.yml", &WORKFLOW.replace("team.ask", "team.fix"));
    let told = one(&world.run(&["--agent", "anthropic/claude-haiku"]).succeeded());
    let id = id_of(&told);
    let answers = results(&world.home, &id);
    assert_eq!(answers[0], ("done".to_owned(), "{\"line\":1}".to_owned()), "{answers:?}");
    let worker = below(&world.home, &id)[0]["id"].as_str().unwrap().to_owned();
    let bills = |id: &str| world.acts(id, &["billed"]);
    assert_eq!((bills(&id).len(), bills(&worker).len()), (2, 2));
    let input = [&id, &worker]
        .map(|id| bills(id).iter().map(|bill| bill["usage"]["input"].as_u64().unwrap()).sum::<u64>());
    assert_eq!(input.iter().sum::<u64>(), world.server.tally().input_tokens);
    let asked = world.server.asked();
    let tools = |asked: &Asked| asked.body["tools"].to_string();
    assert!(tools(&asked[0]).contains("\"edit\"") && tools(&asked[0]).contains("\"spawn\""));
    assert!(!tools(&asked[1]).contains("\"edit\"") && !tools(&asked[1]).contains("\"write\""));
    assert!(tools(&asked[1]).contains("\"bash\"") && !asked[1].told().contains("Look."));
}
