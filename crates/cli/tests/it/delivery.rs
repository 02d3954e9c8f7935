//! Changes that are delivered to a forge on this machine: once, whatever dies in between, and never otherwise than proven.

mod killed;
mod moved;
mod refused;
mod shop;

use std::fs;

use serde_json::json;

use crate::support::git;
use crate::terminal::Terminal;
use crate::walking::one;
use shop::{ALL, Shop, git_text};

#[test]
fn a_change_is_committed_pushed_shown_merged_and_its_ticket_closed() {
    let shop = Shop::new(ALL);
    let session = shop.worked("fix the login", |tree| fs::write(tree.join("login.sh"), "exit 0\n").unwrap());
    shop.prove(&session, &json!({ "decision": "auto", "because": "risk is low" }));
    let result = shop.delivered(&session);
    assert_eq!(result["outcome"], "delivered", "{result:#}");
    assert_eq!(result["closed"], 1);
    assert_eq!(result["pull_request"]["number"], 2);
    shop.is_delivered_once(&session);
    let message = shop.forge_git(&["log", "-1", "--format=%B", "main"]);
    assert_eq!(
        message,
        format!(
            "fix: the login\n\nfix the login\n\nLonghaul-Task: {}\nLonghaul-Session: {session}\n\
             Co-authored-by: Longhaul <longhaul@localhost>",
            shop.task(&session)
        )
    );
    assert_eq!(shop.forge_git(&["show", "main:login.sh"]), "exit 0");
    assert_eq!(shop.forge_git(&["branch", "--list", "longhaul/*"]), "", "the branch is gone");
    assert_eq!(result["merged"]["tree"], shop.forge_git(&["rev-parse", "main^{tree}"]));
    let pull = shop.pulls().remove(0);
    assert_eq!((&pull["title"], &pull["state"]), (&json!("fix: the login"), &json!("merged")));
    let body = pull["body"].as_str().unwrap();
    assert!(body.starts_with("# What\n\nfix the login\n\nFor #1.\n"), "its own heading is kept: {body}");
    assert!(
        body.contains("<!-- say why -->") && body.contains("## Testing\n\nOutcome: **passed**"),
        "{body}"
    );
    let comment = pull["comments"][0]["body"].as_str().unwrap();
    assert!(comment.contains("| test | passed |"), "{comment}");
    let shown = shop.home.longhaul(&["session", "show", &session]).succeeded().stdout;
    assert!(shown.contains("`ship`: merge begins") && shown.contains("`ship`: merge is done"), "{shown}");
}

#[test]
fn each_way_of_merging_comes_to_the_tree_that_was_proven() {
    for method in ["squash", "merge", "rebase"] {
        let shop = Shop::new(ALL);
        let setting = format!("policy.merge.method={method}");
        let session = shop.worked_with(&["--config", &setting], "fix it", |tree| {
            fs::write(tree.join("new"), "x\n").unwrap();
        });
        shop.prove(&session, &json!({ "decision": "auto" }));
        let result = shop.delivered(&session);
        assert_eq!(result["outcome"], "delivered", "{method}: {result:#}");
        let parents = shop.forge_git(&["rev-list", "--parents", "-1", "main"]).split(' ').count() - 1;
        assert_eq!(parents, if method == "merge" { 2 } else { 1 }, "{method}");
        shop.is_delivered_once(&session);
    }
}

#[test]
fn without_a_forge_the_branch_is_in_the_main_repository_and_the_rest_is_skipped() {
    let shop = Shop::new(ALL);
    git(&shop.repository(), &["remote", "remove", "origin"]);
    let session = shop.worked("fix it", |tree| fs::write(tree.join("new"), "x\n").unwrap());
    shop.prove(&session, &json!({ "decision": "auto" }));
    let result = shop.delivered(&session);
    assert_eq!(result["outcome"], "delivered", "{result:#}");
    let branch = result["branch"].as_str().unwrap();
    assert_eq!(git_text(&shop.repository(), &["show", &format!("{branch}:new")]), "x");
    assert_eq!(git_text(&shop.repository(), &["rev-parse", branch]), result["commit"].as_str().unwrap());
    let receipts = result["receipts"].as_array().unwrap();
    for act in ["pull_request", "comment", "merge", "close"] {
        let told = receipts.iter().find(|receipt| receipt["act"] == act).unwrap();
        assert_eq!(told["outcome"], "skipped", "{told}");
        assert_eq!(told["because"], "the repository has no remote, and so no forge", "{told}");
    }
}

#[test]
fn at_a_remote_that_is_no_forge_the_commit_stands_on_the_newest_base() {
    let shop = Shop::new(ALL);
    let (plain, other) = (shop.home.join("plain.git"), shop.home.join("other"));
    let address = plain.to_str().unwrap();
    git(&shop.home.path, &["init", "--quiet", "--bare", "--initial-branch=main", address]);
    git(&shop.repository(), &["remote", "set-url", "origin", address]);
    git(&shop.repository(), &["push", "--quiet", "origin", "main"]);
    git(&shop.home.path, &["clone", "--quiet", address, "other"]);
    fs::write(other.join("theirs"), "x\n").unwrap();
    git(&other, &["add", "--all"]);
    git(&other, &["commit", "--quiet", "-m", "by others"]);
    git(&other, &["push", "--quiet"]);
    let session = shop.worked("fix it", |tree| fs::write(tree.join("new"), "x\n").unwrap());
    shop.prove(&session, &json!({ "decision": "auto" }));
    let result = shop.delivered(&session);
    let branch = result["branch"].as_str().unwrap_or_else(|| panic!("{result:#}"));
    let parent = git_text(&shop.repository(), &["rev-parse", &format!("{branch}^")]);
    assert_eq!(parent, git_text(&plain, &["rev-parse", "main"]), "{result:#}");
}

#[test]
fn no_hook_of_either_repository_is_run_and_the_agents_own_commits_are_folded_in() {
    let shop = Shop::new(ALL);
    let witness = shop.home.join("hook-ran");
    let hook = |folder: &std::path::Path| {
        for name in [
            "pre-push",
            "pre-commit",
            "commit-msg",
            "pre-receive",
            "update",
            "post-receive",
            "reference-transaction",
        ] {
            let path = folder.join(name);
            fs::create_dir_all(folder).unwrap();
            fs::write(&path, format!("#!/bin/sh\ntouch {}\nexit 1\n", witness.display())).unwrap();
            crate::support::program("chmod").args(["+x", path.to_str().unwrap()]).status().unwrap();
        }
    };
    let session = shop.worked("fix it", |tree| {
        fs::write(tree.join("new"), "one\n").unwrap();
        git(tree, &["add", "new"]);
        git(tree, &["commit", "--quiet", "-m", "wip, by the agent"]);
        fs::write(tree.join("new"), "two\n").unwrap();
        hook(&tree.join(".git/hooks"));
    });
    hook(&shop.repository().join(".git/hooks"));
    hook(&shop.forge.join("hooks"));
    shop.prove(&session, &json!({ "decision": "auto" }));
    let result = shop.delivered(&session);
    assert_eq!(result["outcome"], "delivered", "{result:#}");
    assert!(!witness.exists(), "a hook was run");
    assert_eq!(shop.forge_git(&["log", "--format=%s", "main"]), "fix: it\nfirst");
    assert_eq!(shop.forge_git(&["show", "main:new"]), "two");
}

#[test]
fn a_session_is_not_taken_back_past_a_delivery_and_the_delivery_itself_may_be_taken_up_again() {
    let shop = Shop::new(ALL);
    let session = shop.worked("fix it", |tree| fs::write(tree.join("new"), "x\n").unwrap());
    shop.prove(&session, &json!({ "decision": "auto" }));
    assert_eq!(shop.delivered(&session)["outcome"], "delivered");
    let rewind = |to: &str| {
        let arguments = ["session", "rewind", &session, "--to", to, "--reason", "again", "--json"];
        shop.home.run(&arguments).inside("repo").go()
    };
    let refused = rewind("prove");
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("E0210") && refused.stderr.contains("(`ship`)"), "{refused}");
    rewind("ship").succeeded();
    shop.wait_for("last", &session);
    shop.is_delivered_once(&session);
    let again = shop.result(&session);
    assert_eq!(again["outcome"], "delivered", "{again:#}");
}

#[test]
fn people_can_play_with_the_forge() {
    let shop = Shop::new(ALL);
    let forge = shop.forge.display().to_string();
    let row = |arguments: &[&str]| {
        let mut arguments = arguments.to_vec();
        arguments.extend(["--forge", &forge, "--json"]);
        shop.home.longhaul(&arguments)
    };
    let made =
        one(&row(&["forge", "issue", "new", "It is broken", "--body", "See.", "--label", "bug"]).succeeded());
    assert_eq!((&made["number"], &made["labels"]), (&json!(2), &json!(["bug"])));
    assert_eq!(row(&["forge", "issue", "list"]).succeeded().rows().len(), 2);
    let closed = one(&row(&["forge", "issue", "close", "2"]).succeeded());
    assert_eq!((&closed["state"], &closed["closings"]), (&json!("closed"), &json!(1)));
    assert_eq!(one(&row(&["forge", "issue", "close", "2"]).succeeded())["closings"], 1, "it is closed once");
    let none = row(&["forge", "pr", "show", "9"]);
    assert_eq!(none.code, Some(3), "{none}");
    assert!(none.stderr.contains("E0920"), "{none}");
    let nowhere = shop.home.longhaul(&["forge", "issue", "list", "--forge", "nowhere"]);
    assert_eq!(nowhere.code, Some(2), "{nowhere}");
    let shown = shop.home.run(&["forge", "issue", "show", "1"]).inside("repo").go().succeeded();
    assert!(shown.stdout.contains("#1 The login fails"), "the forge of the repository is found: {shown}");
    let help = shop.home.longhaul(&["forge", "--help"]).succeeded().stdout;
    assert!(help.contains("for trying things out"), "{help}");
}

#[test]
fn where_the_rules_ask_for_a_person_one_who_opens_the_gate_lets_it_merge() {
    let steps = "  - { id: sure, gate: { by: person, question: Merge it? } }\n";
    let shop = Shop::new(&format!("{steps}{ALL}"));
    let session = shop.worked("fix it", |tree| fs::write(tree.join("new"), "x\n").unwrap());
    shop.prove(&session, &json!({ "decision": "person", "because": "risk is high" }));
    let gates = shop.home.longhaul(&["gate", "list", "--json"]).succeeded().rows();
    let gate = gates[0]["id"].as_str().unwrap();
    let mut terminal = Terminal::start(&shop.home, &["gate", "approve", gate]);
    terminal.wait_for("Type `approve` to confirm: ");
    terminal.type_text("approve\n");
    assert_eq!(terminal.end().0.code, Some(0));
    shop.wait_for("last", &session);
    let result = shop.result(&session);
    assert_eq!(result["outcome"], "delivered", "{result:#}");
    shop.is_delivered_once(&session);
}
