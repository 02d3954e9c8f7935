//! Rehearsals that are made ready, taken back, killed in the middle: what an agent finds and is told then.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use longhaul_testkit::{Dice, seed, times};
use serde_json::Value;

use crate::run::{
    arguments, kill_runners, left_over, prepared, runners, tree, words, worktree, worktree_has,
};
use crate::running::wait_until;
use crate::support::{Home, Outcome, git};
use crate::walking::{advance, one, workflow};

fn run(home: &Home) -> Outcome {
    home.run(&words(&arguments(home))).inside("repo").go()
}

fn detached(home: &Home) -> String {
    let mut arguments = arguments(home);
    arguments.push("--detach".to_owned());
    let told = one(&home.run(&words(&arguments)).inside("repo").go().succeeded());
    told["sessionId"].as_str().unwrap().to_owned()
}

fn id_of(outcome: &Outcome) -> String {
    one(outcome)["sessionId"].as_str().unwrap().to_owned()
}

fn story(home: &Home, id: &str) -> Vec<Value> {
    home.longhaul(&["session", "show", id, "--json"]).succeeded().rows()
}

fn rewind(home: &Home, id: &str, step: &str) -> Outcome {
    home.longhaul(&["session", "rewind", id, "--to", step, "--reason", "again", "--json"])
}

fn restore(home: &Home, id: &str, snapshot: &str) {
    home.run(&["worktree", "restore", snapshot, "--worktree", id]).inside("repo").go().succeeded();
}

fn is_over(home: &Home) -> bool {
    let row = one(&home.longhaul(&["session", "list", "--all", "--json"]));
    assert_ne!(row["state"], "parked", "{row}");
    ["completed", "failed", "cancelled"].iter().any(|state| row["state"] == *state)
}

/// Everything that a session's story tells, from wherever it is in it.
fn told(rows: &[Value], is_it: &dyn Fn(&Value) -> bool) -> Vec<Value> {
    fn collect(value: &Value, is_it: &dyn Fn(&Value) -> bool, found: &mut Vec<Value>) {
        if is_it(value) {
            found.push(value.clone());
        }
        match value {
            Value::Object(fields) => fields.values().for_each(|value| collect(value, is_it, found)),
            Value::Array(values) => values.iter().for_each(|value| collect(value, is_it, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut found = Vec::new();
    rows.iter().for_each(|row| collect(row, is_it, &mut found));
    found
}

/// Every act of the agent.
fn acts(rows: &[Value]) -> Vec<Value> {
    told(rows, &|value| value["did"].is_string())
}

#[test]
fn a_rewind_brings_back_the_files_that_the_step_began_with() {
    let home = prepared(
        "
cassette: 1
turns:
  - match: { step: look }
    tools: [ { write: { path: seen.md, content: 'Seen.' } } ]
  - match: { step: look }
    complete: { notes: Looked. }
  - match: { step: change, visit: 1 }
    tools: [ { write: { path: made.txt, content: once } }, { edit: { path: login.sh, old: '-gt', new: '-ge' } } ]
  - match: { step: change, visit: 1 }
    complete: { notes: Changed. }
  - match: { step: change, visit: 2 }
    tools: [ { bash: { command: 'test ! -e made.txt && grep -q -e -gt login.sh && test -e seen.md', expect_exit: 0 } } ]
  - match: { step: change, visit: 2 }
    complete: { notes: Changed otherwise. }
  - match: { step: check }
    complete: { notes: Checked. }
  - match: { step: check }
    complete: { notes: Checked again. }
otherwise: fail
",
    );
    let id = id_of(&run(&home));
    let rewound = rewind(&home, &id, "change").succeeded();
    let warnings = one(&rewound)["warnings"].to_string();
    assert!(warnings.contains("are as they were when the step began"), "{rewound}");
    wait_until("it is through again", || is_over(&home));
    let shown = home.longhaul(&["session", "show", &id]).succeeded().stdout;
    assert!(shown.contains("Changed otherwise.") && shown.contains("Checked again."), "{shown}");
    let names: Vec<String> = tree(&worktree(&home)).into_iter().map(|(name, _)| name).collect();
    assert!(!names.contains(&"made.txt".to_owned()), "{names:?}");
    let command = warnings.split("`longhaul ").nth(1).unwrap().split('`').next().unwrap();
    home.run(&command.split(' ').collect::<Vec<_>>()).inside("repo").go().succeeded();
    assert_eq!(fs::read_to_string(worktree(&home).join("made.txt")).unwrap(), "once", "nothing is lost");
}

#[test]
fn a_rewind_brings_back_the_files_of_a_session_that_somebody_else_drives() {
    let home = prepared("");
    let start = ["session", "start", "--workflow", "team.fix", "--goal", "fix it", "--json"];
    let mut view = one(&home.run(&start).inside("repo").go().succeeded());
    let id = view["sessionId"].as_str().unwrap().to_owned();
    home.run(&["worktree", "new", &id]).inside("repo").go().succeeded();
    let top = worktree(&home);
    for name in ["looked", "changed"] {
        fs::write(top.join(name), name).unwrap();
        view = advance(&home, &view, &["--notes", "Done."]);
    }
    let rewound = rewind(&home, &id, "change").succeeded();
    assert!(top.join("looked").exists() && !top.join("changed").exists(), "{rewound}");
    let none = rewind(&home, &id, "look").succeeded();
    assert!(none.stdout.contains("there is no snapshot of how this step began"), "{none}");
    assert!(top.join("looked").exists(), "files are as they are");
}

#[test]
fn a_rewind_ends_what_is_running_before_it_touches_a_file() {
    let home = prepared(
        "
cassette: 1
turns:
  - match: { step: look }
    complete: { notes: Looked. }
  - match: { step: change, visit: 1 }
    tools: [ { bash: { command: 'while :; do echo more >> half.txt; sleep 0.02; done' } } ]
    optional: true
  - match: { step: look, visit: 2 }
    tools: [ { bash: { command: 'sleep 0.3; test ! -e half.txt', expect_exit: 0 } } ]
  - match: { step: look, visit: 2 }
    complete: { notes: Looked again. }
  - match: { step: change, visit: 2 }
    complete: { notes: Changed. }
  - match: { step: check }
    complete: { notes: Checked. }
",
    );
    let id = detached(&home);
    wait_until("the command is running", || worktree(&home).join("half.txt").exists());
    rewind(&home, &id, "look").succeeded();
    wait_until("it is through", || is_over(&home));
    assert!(!worktree(&home).join("half.txt").exists());
    wait_until("nobody is left", || left_over(&home).is_empty());
}

#[test]
fn a_call_that_was_cut_short_is_answered_with_what_it_did_to_the_files() {
    let home = prepared(
        "
cassette: 1
turns:
  - match: { step: look }
    complete: { notes: Looked. }
  - match: { step: change }
    tools: [ { bash: { command: 'echo half >> half.txt; test -e go || sleep 60' } } ]
  - match: { step: change }
    complete: { notes: Changed. }
  - match: { step: check }
    complete: { notes: Checked. }
",
    );
    let mut running = home.run(&words(&arguments(&home))).inside("repo").start();
    wait_until("the command is running", || worktree_has(&home, "half.txt"));
    fs::write(worktree(&home).join("go"), "").unwrap();
    assert_eq!(kill_runners(&home), 1);
    assert!(running.wait().unwrap().success());
    let id = one(&home.longhaul(&["session", "list", "--all", "--json"]))["id"].as_str().unwrap().to_owned();
    let acts = acts(&story(&home, &id));
    let interrupted: Vec<&Value> = acts.iter().filter(|act| act["outcome"] == "interrupted").collect();
    let [interrupted] = interrupted.as_slice() else { panic!("{acts:#?}") };
    let answer = interrupted["result"].as_str().unwrap();
    for told in ["interrupted: outcome unknown", "- added half.txt", "+half"] {
        assert!(answer.contains(told), "{told} is not in {answer}");
    }
    let nudges: Vec<&Value> = acts.iter().filter(|act| act["did"] == "nudged").collect();
    assert_eq!(nudges.len(), 1, "{nudges:#?}");
    assert!(nudges[0]["words"].as_str().unwrap().contains("died"), "{nudges:#?}");
}

const READY: &str = "
cassette: 1
turns:
  - match: { step: look }
    tools: [ { bash: { command: 'test -e ready.txt', expect_exit: 0 } } ]
  - match: { step: look }
    complete: { notes: Ready. }
  - match: { step: change }
    complete: { notes: Changed. }
  - match: { step: check }
    complete: { notes: Checked. }
";

fn with_setup(command: &str) -> Home {
    let home = prepared(READY);
    let repository = home.join("repo");
    let config = format!("checkout:\n  setup: [ {{ run: [sh, -c, '{command}'] }} ]\n");
    fs::write(repository.join(".longhaul/config.yml"), config).unwrap();
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "--quiet", "-m", "set-up"]);
    home.run(&["workspace", "add"]).inside("repo").go().succeeded();
    home.trust("repo");
    home
}

#[test]
fn set_up_commands_run_behind_the_walls_before_the_first_turn() {
    let home = with_setup("echo ran >> ready.txt; echo out > ../out.txt; echo not fatal");
    let outcome = run(&home);
    assert_eq!(one(&outcome)["isComplete"], true, "{outcome}");
    assert_eq!(fs::read_to_string(worktree(&home).join("ready.txt")).unwrap(), "ran\n", "once");
    assert!(!worktree(&home).parent().unwrap().join("out.txt").exists(), "it got out");
    let acts = acts(&story(&home, &id_of(&outcome)));
    let ready = acts.iter().position(|act| act["did"] == "made_ready").unwrap();
    let first = acts.iter().position(|act| act["did"] == "answered").unwrap();
    assert!(ready < first, "{acts:#?}");
    assert_eq!(acts[ready]["outcomes"][0]["outcome"], "passed", "{acts:#?}");
}

#[test]
fn the_engines_own_work_waits_for_the_set_up_too() {
    let home = with_setup("echo ran > ready.txt");
    workflow(
        &home,
        "team.fix.yml",
        "longhaul: 1\nid: team.fix\nname: Fix\nversion: 1.0.0\nsteps:\n  - { id: first, run: { command: [test, -e, ready.txt], into: first } }\n  - { id: look, prompt: Look. }\n  - { id: change, prompt: Change it. }\n  - { id: check, prompt: Check it. }\n",
    );
    let outcome = run(&home);
    assert_eq!(one(&outcome)["isComplete"], true, "{outcome}");
    let finished = told(&story(&home, &id_of(&outcome)), &|value| value["result"]["ended"].is_string());
    assert_eq!(finished[0]["result"]["outcome"], "passed", "{finished:#?}");
}

#[test]
fn a_set_up_command_that_fails_parks_the_session_with_its_output_and_is_tried_again() {
    let home = with_setup("test -e fixed || { echo no such package; exit 7; }; echo ran > ready.txt");
    let outcome = run(&home);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    assert!(outcome.stdout.contains("no such package"), "{outcome}");
    let shown = &crate::walking::one(&outcome)["outcome"];
    assert_eq!([&shown["kind"], &shown["reason"]], ["failed", "setup_failed"], "{outcome}");
    let acts = acts(&story(&home, &id_of(&outcome)));
    assert!(acts.iter().all(|act| act["did"] != "answered"), "{acts:#?}");
    fs::write(worktree(&home).join("fixed"), "").unwrap();
    rewind(&home, &id_of(&outcome), "look").succeeded();
    wait_until("it is through", || is_over(&home));
    assert_eq!(fs::read_to_string(worktree(&home).join("ready.txt")).unwrap(), "ran\n");
}

#[test]
fn an_artifact_that_is_written_beside_the_answer_is_there_for_later_steps_and_people() {
    let write = "{ write_artifact: { name: plan, value: { files: [login.sh] } } }";
    let home = prepared(&format!(
        "
cassette: 1
turns:
  - match: {{ step: look }}
    tools: [ {write}, {write}, {{ write_artifact: {{ name: words, value: 'Two of them.' }} }} ]
  - match: {{ step: look }}
    complete: {{ notes: Looked., artifacts: [ {{ kind: verdict, holds: true }} ] }}
  - match: {{ step: change }}
    tools: [ {{ read_artifact: {{}} }} ]
  - match: {{ step: change }}
    complete: {{ notes: Changed. }}
  - match: {{ step: check }}
    complete: {{ notes: Checked. }}
"
    ));
    let outcome = run(&home);
    assert_eq!(one(&outcome)["isComplete"], true, "{outcome}");
    let id = id_of(&outcome);
    let rows = home.longhaul(&["artifact", "list", &id, "--json"]).succeeded().rows();
    let seen: Vec<String> = rows.iter().map(|row| format!("{} {}", row["name"], row["kind"])).collect();
    assert_eq!(seen, ["\"plan\" null", "\"words\" null", "null \"verdict\""]);
    let shown = home.longhaul(&["artifact", "show", rows[0]["id"].as_str().unwrap()]).succeeded();
    assert!(shown.stdout.contains("login.sh"), "{shown}");
    let verdict = home.longhaul(&["artifact", "show", rows[2]["id"].as_str().unwrap()]).succeeded();
    assert!(verdict.stdout.contains("verdict"), "an id means the same in every list: {verdict}");
    let shown = home.longhaul(&["session", "show", &id]).succeeded().stdout;
    assert!(shown.contains("the agent wrote an artifact"), "{shown}");
    assert!(shown.contains(rows[2]["id"].as_str().unwrap()), "{shown}");
    let acts = acts(&story(&home, &id));
    let read = acts.iter().find(|act| act["tool"] == "read_artifact").unwrap();
    assert!(read["result"].as_str().unwrap().contains("plan"), "{read}");
}

/// What every step's end looks like, as the script has it.
struct Plan {
    script: String,
    workflow: String,
    ends: BTreeMap<String, BTreeMap<String, String>>,
}

const STEPS: u64 = 5;

/// Steps that write, append, remove and replace files, by chance.
fn plan(dice: &mut Dice) -> Plan {
    let mut script = vec!["cassette: 1\nturns:".to_owned()];
    let mut workflow = vec!["longhaul: 1\nid: team.fix\nname: Fix\nversion: 1.0.0\nsteps:".to_owned()];
    let mut files: BTreeMap<String, String> = BTreeMap::from([("login.sh".into(), "test 1 -gt 1\n".into())]);
    let mut ends = BTreeMap::new();
    for step in 0..STEPS {
        workflow.push(format!("  - {{ id: s{step}, prompt: Go on. }}"));
        for _ in 0..=dice.below(3) {
            let (name, text) = (format!("f{}", dice.below(6)), dice.throw().to_string());
            let call = if dice.once_in(3) && files.contains_key(&name) {
                files.remove(&name);
                format!("bash: {{ command: 'rm -f {name}; sleep 0.05' }}")
            } else if dice.once_in(2) {
                files.insert(name.clone(), format!("{text}\n"));
                format!("bash: {{ command: 'echo {text} > {name}; sleep 0.05' }}")
            } else {
                files.insert(name.clone(), text.clone());
                format!("write: {{ path: {name}, content: '{text}' }}")
            };
            script.push(format!("  - {{ match: {{ step: s{step} }}, tools: [ {{ {call} }} ] }}"));
        }
        script.push(format!("  - {{ match: {{ step: s{step} }}, complete: {{ notes: Done. }} }}"));
        ends.insert(format!("s{step}"), files.clone());
    }
    Plan { script: script.join("\n"), workflow: workflow.join("\n"), ends }
}

fn own_files(top: &Path) -> BTreeMap<String, String> {
    tree(top).into_iter().filter(|(name, _)| !name.starts_with(".longhaul")).collect()
}

#[test]
fn heavy_no_byte_of_a_steps_end_is_lost_when_driven_sessions_are_killed_and_cancelled() {
    let (mut kills, mut ends) = (0, 0);
    for round in 0..times(3, 60) {
        let mut dice = Dice::new(seed() + round);
        let plan = plan(&mut dice);
        let home = prepared(&plan.script);
        workflow(&home, "team.fix.yml", &plan.workflow);
        let mut running = home.run(&words(&arguments(&home))).inside("repo").start();
        wait_until("a runner is there", || !runners(&home).is_empty());
        for _ in 0..dice.below(5) {
            // tidy: the moment of death is what is tried
            std::thread::sleep(Duration::from_millis(dice.below(500)));
            kills += kill_runners(&home);
        }
        let row = one(&home.longhaul(&["session", "list", "--all", "--json"]));
        let id = row["id"].as_str().unwrap().to_owned();
        if dice.once_in(3) {
            home.longhaul(&["session", "cancel", &id]);
        }
        running.wait().unwrap();
        wait_until("its runner is gone", || runners(&home).is_empty());
        for row in told(&story(&home, &id), &|value| value["because"].is_string()) {
            let Some(step) = row["because"].as_str().and_then(|because| because.strip_prefix("the end of `"))
            else {
                continue;
            };
            let wanted = &plan.ends[step.trim_end_matches('`')];
            let snapshot = row["snapshot"].as_str().unwrap();
            restore(&home, &id, snapshot);
            assert_eq!(&own_files(&worktree(&home)), wanted, "round {round}, {row}");
            ends += 1;
        }
    }
    assert!(kills > 0 && ends > 0, "{kills} kills, {ends} ends");
}
