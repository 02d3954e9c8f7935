//! What whoever had a pipeline done is told: what all of it used, where the change is, and what can go.

use std::fs;

use longhaul_runtime::forge::Forge as _;
use serde_json::{Value, json};

use super::world::{Script, World, git_text};
use crate::support::{Outcome, git};
use crate::walking::one;

/// The honest script, whose turns cost something.
fn paid() -> String {
    let mut script: Value = serde_json::from_str(&Script::honest().text()).unwrap();
    script["price"] = json!({ "input": "1usd", "output": "1usd" });
    for turn in script["turns"].as_array_mut().unwrap() {
        turn["usage"] = json!({ "input": 9_000, "output": 1_000 });
    }
    script.to_string()
}

fn run(world: &World, cassette: &str, more: &[&str]) -> Outcome {
    let path = world.home.join("paid.yml");
    fs::write(&path, cassette).unwrap();
    let path = path.display().to_string();
    let words = ["run", "Tell the discount", "--pipeline", "lh.pipeline.quick", "--cassette", &path];
    world.home.run(&[&words[..], more].concat()).inside("till").go()
}

#[test]
fn a_run_tells_what_all_sessions_used_what_was_merged_and_what_may_go() {
    let world = World::new();
    let told = run(&world, &paid(), &["--watch"]).succeeded();
    let tasks = world.home.longhaul(&["task", "list", "--all", "--json"]).rows();
    let (turns, money) = (tasks[0]["turns"].as_u64().unwrap(), tasks[0]["money_micros"].as_u64().unwrap());
    assert_eq!((turns > 4, money), (true, turns * 10_000), "{tasks:#?}");
    let used = format!("used {turns} turns, {turns}0k tokens, 0.0{turns}usd of 20usd in ");
    assert!(told.stderr.contains(&used), "`{used}` is not said: {told}");
    let main = world.forge_git(&["rev-parse", "main"]);
    let merged = format!("merged as {}, pull request 1 (", &main[..7]);
    assert!(told.stderr.contains(&merged), "`{merged}` is not said: {told}");
    assert!(!told.stderr.contains("git apply"), "{told}");
    let id = tasks[0]["id"].as_str().unwrap();
    let shown = world.home.longhaul(&["task", "show", id]).succeeded().stdout;
    assert!(shown.contains(&merged), "{shown}");

    // All of it is on the base branch of the forge, so nobody needs the checkout.
    let cleaned = world.home.run(&["worktree", "clean", "--json"]).inside("till").go().succeeded();
    let row = one(&cleaned);
    assert_eq!(row["state"], "would be removed", "{cleaned}");
    assert_eq!(row["because"], "delivered, and merged into `main`", "{cleaned}");
    let checkout = world.checkout().unwrap();
    fs::write(checkout.join("more.sh"), "true\n").unwrap();
    let kept = world.home.run(&["worktree", "clean", "--json"]).inside("till").go().succeeded();
    assert_eq!(one(&kept)["state"], "kept", "{kept}");

    let over = world.home.longhaul(&["task", "budget", id, "money=30usd"]);
    assert_eq!(over.code, Some(3), "{over}");
    assert!(over.stderr.contains("is completed, so there is nothing left to pay for"), "{over}");
    let over = world.home.longhaul(&["task", "cancel", id]);
    assert!(over.code == Some(3) && !over.stderr.contains("retry"), "{over}");
}

#[test]
fn money_given_to_a_run_caps_all_of_it() {
    let world = World::new();
    let told = run(&world, &paid(), &["--budget", "money=0.025usd", "--json"]);
    let ended = one(&told);
    assert_eq!(ended["outcome"]["reason"], "budget_task_money", "{told}");
    assert_eq!(ended["used"]["money_micros"], 20_000, "{told}");
    assert_eq!(ended["budget"]["task_money_micros"], 25_000, "{told}");
    let session = ended["sessionId"].as_str().unwrap();
    let shown = world.home.longhaul(&["task", "budget", session]).succeeded().stdout;
    assert!(shown.contains("CAP") && shown.contains("0.025000usd"), "{shown}");
    world.home.longhaul(&["task", "budget", session, "money=1usd"]).succeeded();
    world.comes_to_rest(session);
    crate::running::wait_until("it is done", || world.task(session)["state"] == "completed");
    assert_eq!(world.task(session)["budget_micros"], 1_000_000);
}

#[test]
fn turns_are_not_given_by_money_and_go_to_whoever_below_lacks_them() {
    let world = World::new();
    let told = run(&world, &paid(), &["--budget", "turns=1", "--json"]);
    let ended = one(&told);
    assert_eq!(ended["outcome"]["reason"], "budget_turns", "{told}");
    let session = ended["sessionId"].as_str().unwrap();
    let given = world.home.longhaul(&["task", "budget", session, "money=30usd"]).succeeded();
    assert!(given.stdout.contains("30usd"), "{given}");
    assert_eq!(world.task(session)["state"], "waits", "{}", world.why(session));
    world.home.longhaul(&["session", "resume", session, "--budget", "turns=20"]);
    crate::running::wait_until("it goes on to its end", || world.task(session)["state"] == "completed");
}

#[test]
fn without_a_forge_it_says_where_the_commit_is_and_a_merge_of_it_lets_the_checkout_go() {
    let world = World::new();
    let till = world.home.join("till");
    git(&till, &["remote", "remove", "origin"]);
    let told = run(&world, &Script::honest().text(), &[]).succeeded();
    let said =
        "not merged: the repository has no remote, and so no forge; the commit is on branch `longhaul/";
    assert!(told.stderr.contains(said), "{told}");
    let branch = told.stderr.split("`git merge ").nth(1).unwrap().split('`').next().unwrap().to_owned();
    assert!(told.stderr.contains(&format!("next: git merge {branch}  # takes it over")), "{told}");
    let kept = world.home.run(&["worktree", "clean", "--json"]).inside("till").go().succeeded();
    assert_eq!(one(&kept)["state"], "kept", "{kept}");
    git(&till, &["merge", "--quiet", &branch]);
    assert!(git_text(&till, &["show", "HEAD:src/receipt.sh"]).contains("-lt"));
    let cleaned = world.home.run(&["worktree", "clean", "--json"]).inside("till").go().succeeded();
    assert_eq!(one(&cleaned)["state"], "would be removed", "{cleaned}");
}

#[test]
fn a_pipeline_is_recorded_with_all_its_sessions_and_plays_again() {
    let world = World::new();
    let ended = one(&run(&world, &paid(), &["--json"]).succeeded());
    let session = ended["sessionId"].as_str().unwrap();
    let recorded = world.home.longhaul(&["session", "record", session]).succeeded();
    assert!(recorded.stdout.contains("lh.review.correctness"), "{recorded}");
    let refused = world.home.run(&["session", "replay", session]).inside("till").go();
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("a replay would deliver it once more"), "{refused}");

    let other = World::new();
    let again = one(&run(&other, &recorded.stdout, &["--json"]).succeeded());
    assert_eq!((&again["outcome"], &again["used"]["turns"]), (&ended["outcome"], &ended["used"]["turns"]));
    let tree = ["rev-parse", "main^{tree}"];
    assert_eq!(world.forge_git(&tree), other.forge_git(&tree));
}

#[test]
fn who_has_no_name_to_commit_in_is_told_before_anybody_works() {
    let world = World::new();
    fs::write(world.home.join("user/.gitconfig"), "").unwrap();
    let refused = run(&world, &Script::honest().text(), &[]);
    assert_eq!(refused.code, Some(4), "{refused}");
    assert!(refused.stderr.contains("git does not know in whose name to commit"), "{refused}");
    assert_eq!(world.home.longhaul(&["task", "list", "--all", "--json"]).rows(), Vec::<Value>::new());
    let doctor = world.home.run(&["doctor"]).inside("till").go();
    assert!(doctor.stdout.contains("in whose name to commit"), "{doctor}");
}

#[test]
fn what_is_here_and_not_in_the_base_is_told() {
    let world = World::new();
    let till = world.home.join("till");
    fs::write(till.join("README.md"), "mine\n").unwrap();
    git(&till, &["commit", "--quiet", "--all", "--message=mine"]);
    fs::write(till.join("new.sh"), "true\n").unwrap();
    let first = world.forge_git(&["rev-parse", "main"]);
    let told = run(&world, &Script::honest().text(), &["--until", "classify"]);
    let said = format!("from origin/main {}; 1 local commit and 1 changed file are not in it", &first[..7]);
    assert!(told.stderr.contains(&said), "`{said}` is not said: {told}");
}

#[test]
fn a_run_that_cannot_start_is_not_one_that_somebody_cancelled() {
    let world = World::new();
    let refused = run(&world, &Script::honest().text(), &["--base", "nosuch"]);
    assert_ne!(refused.code, Some(0), "{refused}");
    let rows = world.home.longhaul(&["task", "list", "--json"]).rows();
    assert_eq!(rows[0]["state"], "failed", "{rows:#?}");
    let before = rows.len();
    git(&world.home.join("till"), &["remote", "remove", "origin"]);
    let refused = run(&world, &Script::honest().text(), &["--base", "nosuch"]);
    assert_ne!(refused.code, Some(0), "{refused}");
    assert_eq!(world.home.longhaul(&["task", "list", "--all", "--json"]).rows().len(), before);
}

#[test]
fn what_nobody_trusts_is_told_before_it_costs_and_a_rehearsal_is_called_one() {
    let world = World::new();
    let told = run(&world, &Script::honest().text(), &["--json"]).succeeded();
    let session = one(&told)["sessionId"].as_str().unwrap().to_owned();
    for format in ["text", "markdown"] {
        let shown = world.home.longhaul(&["proof", "show", &session, "--format", format]).succeeded();
        assert!(shown.stdout.contains("This is a rehearsal"), "{format}: {shown}");
    }
    assert_eq!(world.proof(&session)["rehearsal"], true);
    let pull = serde_json::to_string(&world.forge().pulls(None).unwrap()).unwrap();
    assert!(pull.contains("feat: the receipt asks whether something is off"), "{pull}");
    assert_eq!(pull.matches("This is a rehearsal").count(), 2, "text and comment: {pull}");
    assert!(world.home.longhaul(&["task", "show", &session]).stdout.contains("a rehearsal"));
    let awaited = world.home.longhaul(&["await", world.task(&session)["id"].as_str().unwrap(), "--json"]);
    assert_eq!(one(&awaited)["result"]["outcome"], "delivered", "{awaited}");

    fs::write(world.home.join("till/.longhaul/config.yml"), "checks: []\n").unwrap();
    let told = run(&world, &Script::honest().text(), &["--until", "classify"]);
    assert!(!told.stderr.contains("add `checks:`"), "{told}");
    let told = run(&world, &Script::honest().text(), &["--until", "verify"]);
    assert!(told.stderr.contains("nothing gets beyond that step"), "{told}");
    assert!(!told.stderr.contains("add `checks:`"), "{told}");
}
