//! The base moves while a change is on its way.

use std::fs;

use longhaul_runtime::forge::{Fault, FaultAct, FaultMoment, FaultOn};
use serde_json::{Value, json};

use super::shop::{ALL, Shop};
use crate::running::wait_until;
use crate::support::git;

/// Somebody else's commit on the base.
fn others(shop: &Shop, file: &str, text: &str) {
    let clone = shop.home.join("other");
    if !clone.exists() {
        git(&shop.home.path, &["clone", "--quiet", shop.forge.to_str().unwrap(), "other"]);
    }
    git(&clone, &["pull", "--quiet", "--rebase"]);
    fs::write(clone.join(file), text).unwrap();
    git(&clone, &["add", "--all"]);
    git(&clone, &["commit", "--quiet", "-m", "by others"]);
    git(&clone, &["push", "--quiet"]);
}

fn auto() -> Value {
    json!({ "decision": "auto" })
}

/// Where a proof holds only for files that nobody else touched, and where it holds for one base only, this is stale.
const ENDS: &str = "1\n2\n3\n4\n5\n6\n7\n8\nend\n";
const BEGINS: &str = "begin\n2\n3\n4\n5\n6\n7\n8\n9\n";

#[test]
fn a_base_that_moved_since_the_proof_makes_it_stale_and_nothing_is_merged() {
    let shop = Shop::new(ALL);
    let session = shop.worked("fix it", |tree| fs::write(tree.join("lines"), ENDS).unwrap());
    let proof = shop.proof(&session);
    others(&shop, "lines", BEGINS);
    shop.prove_with(&session, &proof, &auto());
    let result = shop.delivered(&session);
    assert_eq!(result["outcome"], "stale", "{result:#}");
    assert!(result["because"].as_str().unwrap().starts_with("the base moved since the proof was made"));
    assert_eq!(shop.at(&session), "last", "the workflow goes on with it");
    assert_eq!(shop.forge_git(&["log", "--format=%s", "main"]), "by others\nfirst");
    // What is shown is on the newest base already, with nothing of the others lost.
    let head = result["commit"].as_str().unwrap();
    assert_eq!(shop.forge_git(&["show", &format!("{head}:lines")]), "begin\n2\n3\n4\n5\n6\n7\n8\nend");
    assert_eq!(shop.pulls()[0]["state"], "open");
}

#[test]
fn a_base_that_moved_in_other_files_is_fresh_enough_only_where_the_settings_say_so() {
    for (freshness, outcome) in [("disjoint", "delivered"), ("strict", "stale")] {
        let shop = Shop::new(ALL);
        let setting = format!("policy.merge.freshness={freshness}");
        let session = shop.worked_with(&["--config", &setting], "fix it", |tree| {
            fs::write(tree.join("new"), "x\n").unwrap();
        });
        let proof = shop.proof(&session);
        for turn in 1..=5 {
            others(&shop, "elsewhere", &format!("{turn}\n"));
        }
        shop.prove_with(&session, &proof, &auto());
        let result = shop.delivered(&session);
        assert_eq!(result["outcome"], outcome, "{freshness}: {result:#}");
        assert_eq!(shop.forge_git(&["show", "main:elsewhere"]), "5", "nothing of the others is lost");
    }
}

#[test]
fn files_that_are_not_the_proven_ones_are_not_merged() {
    let shop = Shop::new(ALL);
    let session = shop.worked("fix it", |tree| fs::write(tree.join("new"), "x\n").unwrap());
    let proof = shop.proof(&session);
    fs::write(shop.worktree(&session).join("new"), "edited after the proof\n").unwrap();
    shop.prove_with(&session, &proof, &auto());
    let result = shop.delivered(&session);
    assert_eq!(
        (&result["outcome"], &result["because"]),
        (&json!("stale"), &json!("the files are not the ones that were proven"))
    );
    assert_eq!(shop.forge_git(&["log", "--format=%s", "main"]), "first");
}

#[test]
fn a_base_that_moves_at_the_last_moment_is_noticed_by_the_merge_itself() {
    let shop = Shop::new(ALL);
    let session = shop.worked("fix it", |tree| fs::write(tree.join("lines"), ENDS).unwrap());
    shop.prove(&session, &auto());
    let slow =
        Fault { on: FaultOn::Merge, when: FaultMoment::Before, act: FaultAct::Slow, times: 1, ms: 4_000 };
    shop.faults(&[slow]);
    let mut runner = shop.runner(&session);
    wait_until("the merge begins", || shop.local().folder().join("slow").exists());
    others(&shop, "lines", BEGINS);
    runner.wait().unwrap();
    assert_eq!(shop.result(&session)["outcome"], "stale");
    assert_eq!(shop.forge_git(&["log", "--format=%s", "main"]), "by others\nfirst");
}

#[test]
fn two_that_change_the_same_line_lose_nothing_of_each_other() {
    let shop = Shop::new(ALL);
    let first = shop.worked("fix the login", |tree| fs::write(tree.join("login.sh"), "exit 0\n").unwrap());
    let second = shop.worked("fix it too", |tree| fs::write(tree.join("login.sh"), "exit 2\n").unwrap());
    shop.prove(&first, &auto());
    shop.prove(&second, &auto());
    assert_eq!(shop.delivered(&first)["outcome"], "delivered");
    let result = shop.delivered(&second);
    assert_eq!(result["outcome"], "stale", "{result:#}");
    assert_eq!(result["because"], "the base moved, and the change does not go together with it in login.sh");
    assert_eq!(shop.forge_git(&["show", "main:login.sh"]), "exit 0");
    assert_eq!(shop.pulls().len(), 1, "nothing of the second is shown");
}
