//! What is not delivered, and why.

use std::fs;

use longhaul_runtime::forge::{Forge as _, LocalRules, MergeMethod, MergePull, NewReview, ReviewVerdict};
use serde_json::{Value, json};

use super::shop::{ALL, Shop};
use crate::support::git;

fn auto() -> Value {
    json!({ "decision": "auto" })
}

#[test]
fn a_secret_in_the_change_is_named_by_its_place_and_never_by_its_value() {
    let shop = Shop::new(ALL);
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let session = shop.worked("fix it", |tree| {
        fs::write(tree.join("login.sh"), format!("exit 0\n# nothing\nTOKEN={token}\n")).unwrap();
    });
    shop.prove(&session, &auto());
    let result = shop.delivered(&session);
    assert_eq!(
        (&result["outcome"], &result["because"]),
        (&json!("refused"), &json!("the change holds what looks like a secret: github-token in login.sh:3"))
    );
    assert_eq!(shop.parked(&session).0, "delivery_refused");
    assert_eq!(shop.forge_git(&["branch", "--list"]), "* main", "nothing was pushed");
    assert!(shop.pulls().is_empty());
    let log = shop.home.longhaul(&["log", "export"]).succeeded().stdout;
    assert!(!log.contains(&token), "the value is nowhere in the log");
}

#[test]
fn nothing_changed_is_nothing_delivered() {
    let shop = Shop::new(ALL);
    let session = shop.worked("fix it", |_| {});
    shop.prove(&session, &auto());
    let result = shop.delivered(&session);
    assert_eq!(result["outcome"], "refused", "{result:#}");
    assert_eq!(shop.parked(&session).0, "delivery_refused");
    assert!(shop.pulls().is_empty());
}

#[test]
fn a_commit_that_cannot_be_signed_is_not_made_without_a_signature() {
    let shop = Shop::new(ALL);
    let session = shop.worked("fix it", |tree| fs::write(tree.join("new"), "x\n").unwrap());
    // The repository asks for signatures and names a program; only the user's own program would be run.
    let witness = shop.home.join("signed-by-the-repository");
    let program = shop.home.join("sign.sh");
    fs::write(&program, format!("#!/bin/sh\ntouch {}\n", witness.display())).unwrap();
    git(&shop.repository(), &["config", "commit.gpgsign", "true"]);
    git(&shop.repository(), &["config", "gpg.program", program.to_str().unwrap()]);
    let user = "[user]\n  name = Ada\n  email = ada@example.org\n[gpg]\n  program = false\n";
    fs::write(shop.home.join("user/.gitconfig"), user).unwrap();
    shop.prove(&session, &auto());
    let result = shop.delivered(&session);
    assert_eq!(result["outcome"], "refused", "{result:#}");
    assert!(result["because"].as_str().unwrap().starts_with("the commit could not be signed"), "{result:#}");
    assert!(!witness.exists(), "a program of the repository was run");
    assert_eq!(shop.forge_git(&["branch", "--list"]), "* main");
}

#[test]
fn without_an_identity_nothing_is_committed() {
    let shop = Shop::new(ALL);
    fs::write(shop.home.join("user/.gitconfig"), "").unwrap();
    let session = shop.worked("fix it", |tree| fs::write(tree.join("new"), "x\n").unwrap());
    shop.prove(&session, &auto());
    let result = shop.delivered(&session);
    assert_eq!(result["outcome"], "could_not", "{result:#}");
    assert_eq!(shop.parked(&session).0, "delivery_could_not");
}

/// What is done to a proof before it counts.
type Edit<'a> = &'a dyn Fn(&mut Value);

#[test]
fn rules_proofs_and_reviews_that_say_no_are_kept_to() {
    let failed = |proof: &mut Value| proof["outcome"] = json!("failed");
    let same = |_: &mut Value| {};
    let cases: [(Value, Edit<'_>, &str, &str); 5] = [
        (
            json!({ "decision": "never", "because": "it touches CI" }),
            &same,
            "delivery_refused",
            "never merge such a change: it touches CI",
        ),
        (json!({ "decision": "person" }), &same, "review_required", "ask for a person"),
        (json!({ "decision": "perhaps" }), &same, "review_required", "no rule says"),
        (auto(), &failed, "delivery_refused", "the proof says `failed`"),
        (auto(), &|proof| *proof = Value::Null, "delivery_refused", "there is no proof"),
    ];
    for (rule, change, code, words) in cases {
        let shop = Shop::new(ALL);
        let session = shop.worked("fix it", |tree| fs::write(tree.join("new"), "x\n").unwrap());
        let mut proof = shop.proof(&session);
        change(&mut proof);
        shop.prove_with(&session, &proof, &rule);
        let result = shop.delivered(&session);
        assert_eq!(result["outcome"], "refused", "{rule}: {result:#}");
        let (found, message) = shop.parked(&session);
        assert_eq!(found, code, "{rule}: {message}");
        assert!(message.contains(words), "{message}");
        assert_eq!(shop.forge_git(&["log", "--format=%s", "main"]), "first", "{rule}");
        assert_eq!(shop.pulls().len(), 1, "it is shown, and waits");
    }
}

#[test]
fn a_review_that_the_forge_requires_is_somebody_elses_and_then_it_goes_on() {
    let shop = Shop::new(ALL);
    shop.local().set_rules(&LocalRules { reviews: 1, checks: Vec::new() }).unwrap();
    let session = shop.worked("fix it", |tree| fs::write(tree.join("new"), "x\n").unwrap());
    shop.prove(&session, &auto());
    let result = shop.delivered(&session);
    assert_eq!(result["outcome"], "refused", "{result:#}");
    let (code, message) = shop.parked(&session);
    assert_eq!(code, "review_required", "{message}");
    let number = result["pull_request"]["number"].as_u64().unwrap();
    let approval = NewReview { verdict: ReviewVerdict::Approved, body: String::new() };
    let own = shop.local().asked_by("longhaul").review(number, &approval).unwrap_err();
    assert!(own.to_string().contains("nobody approves their own"), "{own}");
    let forge = shop.forge.display().to_string();
    let arguments =
        ["forge", "pr", "review", &number.to_string(), "--approve", "--as", "ada", "--forge", &forge];
    shop.home.longhaul(&arguments).succeeded();
    let rewind = ["session", "rewind", &session, "--to", "ship", "--reason", "approved", "--json"];
    shop.home.run(&rewind).inside("repo").go().succeeded();
    shop.wait_for("last", &session);
    shop.is_delivered_once(&session);
}

#[test]
fn a_check_that_the_forge_requires_is_told_to_it_as_the_proof_has_it() {
    let shop = Shop::new(ALL);
    shop.local().set_rules(&LocalRules { reviews: 0, checks: vec!["test".to_owned()] }).unwrap();
    let session = shop.worked("fix it", |tree| fs::write(tree.join("new"), "x\n").unwrap());
    shop.prove(&session, &auto());
    let result = shop.delivered(&session);
    assert_eq!(result["outcome"], "delivered", "{result:#}");
    shop.is_delivered_once(&session);
}

#[test]
fn what_a_person_merged_meanwhile_is_taken_as_merged() {
    let shop = Shop::new(ALL);
    let session = shop.worked("fix it", |tree| fs::write(tree.join("new"), "x\n").unwrap());
    shop.prove(&session, &json!({ "decision": "person", "because": "risk is high" }));
    let result = shop.delivered(&session);
    assert_eq!(result["outcome"], "refused", "{result:#}");
    let pull = shop.local().pulls(None).unwrap().remove(0);
    let merge = MergePull {
        number: pull.number,
        method: MergeMethod::Squash,
        head: shop.forge_git(&["rev-parse", &pull.head]),
        base: None,
        message: "by hand".to_owned(),
        at_s: 0,
    };
    shop.local().merge(&merge).unwrap();
    let rewind = ["session", "rewind", &session, "--to", "ship", "--reason", "merged", "--json"];
    shop.home.run(&rewind).inside("repo").go().succeeded();
    shop.wait_for("last", &session);
    shop.is_delivered_once(&session);
}

#[test]
fn no_other_attempt_is_made_while_the_pull_request_of_the_last_is_open() {
    let shop = Shop::new(ALL);
    let session = shop.worked("fix it", |tree| fs::write(tree.join("new"), "x\n").unwrap());
    shop.prove(&session, &json!({ "decision": "person", "because": "risk is high" }));
    assert_eq!(shop.delivered(&session)["outcome"], "refused");
    let task = shop.task(&session);
    shop.home.run(&["task", "cancel", &task]).inside("repo").go().succeeded();
    let refused = shop.home.run(&["task", "retry", &task]).inside("repo").go();
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(
        refused.stderr.contains("E0253") && refused.stderr.contains("#2 of an earlier attempt"),
        "{refused}"
    );
}

#[test]
fn a_branch_that_somebody_else_moved_is_left_alone() {
    let shop = Shop::new(ALL);
    let session = shop.worked("fix it", |tree| fs::write(tree.join("new"), "x\n").unwrap());
    let worktree = shop.worktree(&session);
    let branch = super::git_text(&worktree, &["branch", "--show-current"]);
    git(&shop.repository(), &["push", "--quiet", "origin", &format!("main:refs/heads/{branch}")]);
    shop.prove(&session, &auto());
    let result = shop.delivered(&session);
    assert_eq!(result["outcome"], "stale", "{result:#}");
    assert!(shop.pulls().is_empty());
}
