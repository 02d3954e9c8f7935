//! What is seen, not said: changes read from git, checks on the merge result, proofs from what is on record.

mod proof;
mod shown;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::run::{kill_runners, left_over, runners, words, worktree, worktree_has};
use crate::running::wait_until;
use crate::support::{Home, Outcome, git, program};
use crate::walking::{one, workflow};

const WORKFLOW: &str = "longhaul: 1\nid: team.verify\nname: Verify\nversion: 1.0.0\nsteps:\n\
    \x20 - { id: edit, prompt: Change it. }\n\
    \x20 - { id: seen, gather: { kind: change, into: change } }\n\
    \x20 - { id: verify, run: { checks: all, on: merge }, into: checks }\n\
    \x20 - { id: prove, gather: { kind: proof, into: proof } }\n";

/// A check that counts one test and passes if this holds.
fn check(name: &str, script: &str) -> String {
    format!("  - {{ name: {name}, run: [sh, -c, 'echo 1..1; {script}'] }}\n")
}

/// A trusted repository with these settings, and a cassette whose only step does this.
fn prepared(settings: &str, script: &str) -> Home {
    let home = Home::new();
    let repository = home.repository("repo");
    fs::write(repository.join(".longhaul/config.yml"), settings).unwrap();
    fs::write(repository.join("a.txt"), "one\ntwo\nthree\n").unwrap();
    fs::write(repository.join(".gitignore"), "ignored\nexample\nready\n").unwrap();
    commit(&repository);
    home.run(&["workspace", "add"]).inside("repo").go().succeeded();
    home.trust("repo");
    workflow(&home, "team.verify.yml", WORKFLOW);
    cassette(&home, script);
    home
}

fn cassette(home: &Home, script: &str) {
    let step = "match: { step: edit }";
    let text = format!(
        "cassette: 1\nturns:\n  - {step}\n    tools: [ {{ bash: {{ command: {}, expect_exit: 0 }} }} ]\n  - {step}\n    complete: {{ notes: Done. }}\n",
        json!(script)
    );
    fs::write(home.join("run.yml"), text).unwrap();
}

fn commit(repository: &Path) {
    git(repository, &["add", "--all"]);
    git(repository, &["commit", "--quiet", "--message=a commit"]);
}

fn arguments(home: &Home) -> Vec<String> {
    let cassette = home.join("run.yml").display().to_string();
    ["run", "--workflow", "team.verify", "--goal", "fix it", "--cassette", &cassette, "--json"]
        .map(str::to_owned)
        .into()
}

fn go(home: &Home) -> Outcome {
    home.run(&words(&arguments(home))).inside("repo").go()
}

fn session(home: &Home) -> String {
    one(&home.longhaul(&["session", "list", "--all", "--json"]))["id"].as_str().unwrap().to_owned()
}

/// What the last run of a step of the engine came to.
fn result(home: &Home, step: &str) -> Value {
    let id = session(home);
    let rows = home.longhaul(&["session", "show", &id, "--json"]).succeeded().rows();
    let mut found = Vec::new();
    rows.iter().for_each(|row| collect(row, step, &mut found));
    found.pop().unwrap_or_else(|| panic!("`{step}` did not end: {rows:#?}"))
}

fn collect(value: &Value, step: &str, found: &mut Vec<Value>) {
    match value {
        Value::Object(fields) => {
            if value["step"] == step && !value["result"].is_null() {
                found.push(value["result"].clone());
            }
            fields.values().for_each(|value| collect(value, step, found));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, step, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn proof(home: &Home) -> Value {
    result(home, "prove")["value"].clone()
}

fn verifications(home: &Home) -> PathBuf {
    home.longhaul_home().join("data/verifications")
}

/// Whether no checkout of a verification is left.
fn is_clear(home: &Home) -> bool {
    fs::read_dir(verifications(home)).map_or(true, |mut entries| entries.next().is_none())
}

fn head(repository: &Path) -> String {
    let output = program("git").args(["rev-parse", "HEAD"]).current_dir(repository).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn checks_run_on_what_a_merge_into_the_newest_base_gives_and_nothing_of_it_stays() {
    let secret = tempfile::tempdir().unwrap();
    fs::write(secret.path().join("theirs"), "a person's").unwrap();
    let script = format!(
        "grep -q mine a.txt && test -f new.txt && test -f ready && test -f .env && test ! -e {}/theirs && git diff --exit-code HEAD",
        secret.path().display()
    );
    let settings = format!(
        "checks:\n{}checkout:\n  setup: [ {{ run: [sh, -c, 'date > ready'] }} ]\n  copy: [ {{ path: example, to: .env, secret: true }} ]\n",
        check("test", &script)
    );
    let home = prepared(
        &settings,
        "echo mine >> a.txt; echo u > untracked; while [ ! -f ignored ]; do sleep 0.05; done",
    );
    fs::write(home.join("repo/example"), "A=1").unwrap();
    let running = home.run(&words(&arguments(&home))).inside("repo").start();
    wait_until("the task is at work", || worktree_has(&home, "untracked"));
    fs::write(home.join("repo/new.txt"), "the base moved").unwrap();
    commit(&home.join("repo"));
    fs::write(worktree(&home).join("ignored"), "go on").unwrap();
    let outcome = Outcome::of(&home.path, &running.wait_with_output().unwrap()).succeeded();
    assert_eq!(one(&outcome)["isComplete"], true, "{outcome}");
    let verified = result(&home, "verify");
    assert_eq!(verified["outcome"], "passed", "{verified:#}");
    assert_eq!(verified["base"], head(&home.join("repo")), "the newest base");
    assert_ne!(verified["merged_tree"], verified["tree"], "{verified:#}");
    assert_eq!(verified["checks"][0]["outcome"], "passed");
    assert!(!worktree(&home).join("new.txt").exists(), "the task's own files are as they were");
    assert!(is_clear(&home), "{:?}", crate::support::files(&verifications(&home)));
    let proof = proof(&home);
    assert_eq!(
        (&proof["outcome"], &proof["merged_tree"]),
        (&json!("passed"), &verified["merged_tree"]),
        "{proof:#}"
    );
    assert_eq!(proof["files"], json!(["a.txt", "untracked"]));
}

#[test]
fn a_change_is_read_from_git_whatever_an_agent_says() {
    let settings = format!("checks:\n{}", check("test", "true"));
    let script = "git mv a.txt b.txt && echo x > c.txt && echo no > ignored && git -c user.name=a -c user.email=a@example.org commit --quiet --allow-empty -m 'all done' && printf '1\\n2\\n' > d.txt && printf '\\0' > p.bin";
    let home = prepared(&settings, script);
    go(&home).succeeded();
    let change = &result(&home, "seen")["value"];
    assert_eq!(change["base"], head(&home.join("repo")));
    assert_ne!(change["head"], change["base"], "the commit that it made");
    assert_eq!(
        (&change["commits"], &change["lines"], &change["is_empty"]),
        (&json!(1), &json!(3), &json!(false))
    );
    let file = |path: &str, status: &str, added: u64, removed: u64| json!({ "path": path, "status": status, "added": added, "removed": removed });
    let (mut renamed, mut gone) = (file("b.txt", "renamed", 0, 0), file("a.txt", "deleted", 0, 0));
    (renamed["from"], gone["to"]) = (json!("a.txt"), json!("b.txt"));
    let mut picture = file("p.bin", "added", 0, 0);
    picture["is_binary"] = json!(true);
    let others = [file("c.txt", "added", 1, 0), file("d.txt", "added", 2, 0)];
    assert_eq!(change["files"], json!([renamed, gone, others[0], others[1], picture]));
}

#[test]
fn each_way_not_to_pass_is_an_outcome_of_its_own() {
    let mut settings = "checks:\n".to_owned();
    settings.push_str(&check("fine", "true"));
    settings.push_str(&check("broken", "! grep -q mine a.txt"));
    settings.push_str(&check("flaky", "test -f .seen || { touch .seen; exit 1; }"));
    settings.push_str(&check("before", "grep -q nowhere a.txt"));
    settings.push_str("  - { name: nothing, run: [echo, 0 tests] }\n");
    settings.push_str("  - { name: allowed, run: [echo, 0 tests], empty: pass }\n");
    settings.push_str("  - { name: missing, run: [no-such-command-anywhere] }\n");
    settings.push_str("  - { name: inner, run: [sh, -c, no-such-command-anywhere] }\n");
    settings.push_str("  - { name: late, run: [sleep, '60'], timeout: 200ms }\n");
    let home = prepared(&settings, "echo mine >> a.txt");
    go(&home).succeeded();
    let verified = result(&home, "verify");
    let checks = verified["checks"].as_array().unwrap();
    let outcomes: Vec<(&str, &str)> = checks
        .iter()
        .map(|check| (check["name"].as_str().unwrap(), check["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!(
        outcomes,
        [
            ("fine", "passed"),
            ("broken", "failed"),
            ("flaky", "flaky"),
            ("before", "failing_before"),
            ("nothing", "empty"),
            ("allowed", "passed"),
            ("missing", "could_not_run"),
            ("inner", "could_not_run"),
            ("late", "failing_before"),
        ],
        "{verified:#}"
    );
    assert_eq!(verified["outcome"], "failed");
    let because = verified["because"].as_str().unwrap();
    for told in [
        "`broken` failed",
        "`flaky` is flaky",
        "`before` was failing before",
        "`nothing` was empty",
        "`missing` could not be run",
    ] {
        assert!(because.contains(told), "{told} is not in {because}");
    }
    let proof = proof(&home);
    assert_eq!(proof["outcome"], "failed");
    assert_eq!(proof["checks"][2]["seen"], "flaky", "{proof:#}");
    assert!(is_clear(&home));
}

#[test]
fn no_tests_are_no_success_in_the_own_checkout_either() {
    let home = prepared("checks:\n  - { name: test, run: [echo, 0 tests] }\n", "echo mine >> a.txt");
    workflow(&home, "team.verify.yml", &WORKFLOW.replace(", on: merge", ""));
    go(&home);
    let ran = result(&home, "verify");
    assert_eq!(
        (&ran["outcome"], &ran["checks"][0]["outcome"]),
        (&json!("failed"), &json!("empty")),
        "{ran:#}"
    );
    assert_eq!(proof(&home)["outcome"], "could_not_run", "only the merge result counts");
}

#[test]
fn an_empty_change_fails_and_runs_nothing() {
    let settings = format!("checks:\n{}", check("test", "true"));
    let home = prepared(&settings, "echo no > ignored");
    go(&home).succeeded();
    let verified = result(&home, "verify");
    assert_eq!(
        (&verified["outcome"], &verified["because"]),
        (&json!("failed"), &json!("nothing was changed"))
    );
    assert!(verified["checks"].is_null(), "{verified:#}");
    assert_eq!(proof(&home)["outcome"], "failed");
}

#[test]
fn a_conflict_with_a_base_that_others_pushed_is_an_outcome_that_names_the_files() {
    let settings = format!("checks:\n{}", check("test", "true"));
    let home = prepared(
        &settings,
        "sed -i s/two/mine/ a.txt; echo u > untracked; while [ ! -f ignored ]; do sleep 0.05; done",
    );
    let repository = home.join("repo");
    git(&home.path, &["init", "--quiet", "--bare", "--initial-branch=main", "origin.git"]);
    git(&repository, &["remote", "add", "origin", home.join("origin.git").to_str().unwrap()]);
    git(&repository, &["push", "--quiet", "origin", "main"]);
    git(&home.path, &["clone", "--quiet", "origin.git", "other"]);
    let running = home.run(&words(&arguments(&home))).inside("repo").start();
    wait_until("the task is at work", || worktree_has(&home, "untracked"));
    let other = home.join("other");
    fs::write(other.join("a.txt"), "one\ntheirs\nthree\n").unwrap();
    commit(&other);
    git(&other, &["push", "--quiet", "origin", "main"]);
    fs::write(worktree(&home).join("ignored"), "go on").unwrap();
    Outcome::of(&home.path, &running.wait_with_output().unwrap()).succeeded();
    let verified = result(&home, "verify");
    assert_eq!(
        (&verified["outcome"], &verified["files"]),
        (&json!("conflict"), &json!(["a.txt"])),
        "{verified:#}"
    );
    assert_eq!(verified["base"], head(&other), "fetched from where others push");
    assert!(verified["because"].as_str().unwrap().contains("a.txt"));
    assert_eq!(proof(&home)["outcome"], "failed");
}

#[test]
fn what_nobody_trusts_is_not_run_on_a_merge_either() {
    let settings = format!("checks:\n{}", check("test", "true"));
    let home = prepared(&settings, "echo u > untracked; while [ ! -f ignored ]; do sleep 0.05; done");
    let running = home.run(&words(&arguments(&home))).inside("repo").start();
    wait_until("the task is at work", || worktree_has(&home, "untracked"));
    fs::write(home.join("repo/.longhaul/config.yml"), "checks: []\n").unwrap();
    fs::write(worktree(&home).join("ignored"), "go on").unwrap();
    Outcome::of(&home.path, &running.wait_with_output().unwrap());
    let verified = result(&home, "verify");
    assert_eq!(verified["outcome"], "could_not_run", "{verified:#}");
    assert!(verified["because"].as_str().unwrap().contains("not what it was when the session started"));
}

/// The first to come stays; whoever comes later passes at once.
const SLOW_ONCE: &str = "if mkdir \"$HOME/.first/come\"; then sleep 300; fi";

fn slow_once() -> (Home, Vec<String>) {
    let settings = format!("checks:\n{}", check("slow", SLOW_ONCE));
    let home = prepared(&settings, "echo mine >> a.txt");
    fs::create_dir_all(home.join("user")).unwrap();
    let mut arguments = arguments(&home);
    arguments.extend(["-c", "sandbox.caches=~/.first"].map(str::to_owned));
    (home, arguments)
}

#[test]
fn a_verification_whose_runner_is_killed_is_done_again_and_nothing_is_left() {
    let (home, arguments) = slow_once();
    let mut running = home.run(&words(&arguments)).inside("repo").start();
    wait_until("the check is at it", || home.join("user/.first/come").is_dir());
    assert!(!is_clear(&home));
    assert_eq!(kill_runners(&home), 1);
    assert!(running.wait().unwrap().success());
    let verified = result(&home, "verify");
    assert_eq!(verified["outcome"], "passed", "{verified:#}");
    assert!(is_clear(&home), "{:?}", crate::support::files(&verifications(&home)));
    wait_until("nobody is left", || left_over(&home).is_empty());
}

#[test]
fn what_is_left_when_nobody_goes_on_is_listed_and_cleaned_up() {
    let (home, arguments) = slow_once();
    let mut running = home.run(&words(&arguments)).inside("repo").start();
    wait_until("the check is at it", || home.join("user/.first/come").is_dir());
    running.kill().unwrap();
    running.wait().unwrap();
    kill_runners(&home);
    wait_until("the runner is dead", || runners(&home).is_empty());
    let id = session(&home);
    let list = || home.run(&["worktree", "list", "--json"]).inside("repo").go().succeeded().rows();
    let row = list().into_iter().find(|row| row["orphan"] == "left over").expect("it is listed");
    assert_eq!((&row["name"], &row["session"]), (&json!(format!("verification-{id}")), &json!(id)));
    home.run(&["worktree", "clean", "--json"]).inside("repo").go().succeeded();
    assert!(!is_clear(&home), "a dry run");
    home.run(&["worktree", "clean", "--apply", "--json"]).inside("repo").go().succeeded();
    assert!(is_clear(&home));
    assert!(worktree(&home).join("a.txt").exists(), "the task's own stays");
    assert!(!list().iter().any(|row| row["orphan"] == "left over"));
}

#[test]
fn what_is_stopped_leaves_no_checkout_of_a_verification() {
    let (home, arguments) = slow_once();
    let mut running = home.run(&words(&arguments)).inside("repo").start();
    wait_until("the check is at it", || home.join("user/.first/come").is_dir());
    home.longhaul(&["stop", &session(&home), "--now"]).succeeded();
    running.wait().unwrap();
    wait_until("nothing is left", || is_clear(&home));
}

#[test]
fn a_command_is_no_check_and_what_the_engine_sees_has_no_place() {
    let home = Home::new();
    let wrong = WORKFLOW
        .replace("checks: all, on: merge", "command: [make], on: merge")
        .replace("kind: change, into", "kind: change, from: [a], into");
    fs::write(home.join("wrong.yml"), wrong).unwrap();
    let told = home.longhaul(&["workflow", "validate", "wrong.yml"]);
    assert!(
        told.stdout.contains("`on: merge` is for checks")
            || told.stderr.contains("`on: merge` is for checks"),
        "{told}"
    );
    assert!(format!("{told}").contains("`kind: change` is what the engine sees for itself"), "{told}");
}

#[test]
fn a_session_in_a_persons_own_checkout_is_verified_without_touching_it() {
    let settings = format!(
        "checks:\n{}checkout:\n  setup: [ {{ run: [sh, -c, 'date > ready'] }} ]\n",
        check("test", "grep -q mine a.txt && test -f ready && test -f untracked")
    );
    let home = prepared(&settings, "true");
    let repository = home.join("repo");
    git(&repository, &["switch", "--quiet", "--create", "feature"]);
    let start = ["session", "start", "--workflow", "team.verify", "--goal", "fix it", "--json"];
    let view = one(&home.run(&start).inside("repo").go().succeeded());
    fs::write(repository.join("a.txt"), "one\nmine\nthree\n").unwrap();
    commit(&repository);
    fs::write(repository.join("untracked"), "u").unwrap();
    crate::walking::advance(&home, &view, &["--notes", "Done."]);
    let verified = result(&home, "verify");
    assert_eq!(verified["outcome"], "passed", "{verified:#}");
    let change = &result(&home, "seen")["value"];
    assert_eq!((&change["commits"], change["files"].as_array().unwrap().len()), (&json!(1), 2), "{change:#}");
    assert_eq!(proof(&home)["outcome"], "passed");
    assert!(!repository.join("ready").exists() && is_clear(&home));
}
