//! A repository, its forge, and a session that stands before its delivery.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;

use longhaul_runtime::forge::{Fault, Forge as _, LocalForge, NewIssue};
use longhaul_runtime::types::{Answer, Driver, SessionId};
use longhaul_runtime::{Advance, Commands, WorkResult};
use serde_json::{Map, Value, json};

use crate::running::wait_until;
use crate::support::{Home, git, program};
use crate::walking::{one, workflow};

/// Everything that can be delivered.
pub(super) const ALL: &str = "  - { id: ship, deliver: { commit: auto, branch: auto, pull_request: ready, comment: proof, \
     merge: by_policy, close: true }, into: shipped }\n";

pub(super) struct Shop {
    pub(super) home: Home,
    pub(super) forge: PathBuf,
}

impl Shop {
    /// With a workflow whose last steps are these. What proves and decides is said by the test in the engine's place.
    pub(super) fn new(steps: &str) -> Self {
        let home = Home::new();
        let repository = home.join("repo");
        fs::create_dir_all(repository.join(".github")).unwrap();
        fs::create_dir_all(home.join("user")).unwrap();
        fs::write(home.join("user/.gitconfig"), "[user]\n  name = Ada\n  email = ada@example.org\n").unwrap();
        fs::write(repository.join("login.sh"), "exit 1\n").unwrap();
        fs::write(repository.join("lines"), "1\n2\n3\n4\n5\n6\n7\n8\n9\n").unwrap();
        let template = "# What\n<!-- say why -->\n\n## Testing\n\n## Rollout\n";
        fs::write(repository.join(".github/PULL_REQUEST_TEMPLATE.md"), template).unwrap();
        git(&repository, &["init", "--quiet", "--initial-branch=main"]);
        git(&repository, &["add", "--all"]);
        git(&repository, &["commit", "--quiet", "--message=first"]);
        home.longhaul(&["forge", "init", "forge.git"]).succeeded();
        let forge = home.join("forge.git");
        git(&repository, &["remote", "add", "origin", forge.to_str().unwrap()]);
        git(&repository, &["push", "--quiet", "origin", "main"]);
        let shop = Self { home, forge };
        let new = NewIssue { title: "The login fails".to_owned(), body: String::new(), labels: Vec::new() };
        shop.local().open_issue(&new).unwrap();
        let engine = ["source", "proof", "merge_rule"];
        let engine = engine.map(|var| {
            format!(
                "  - {{ id: set-{}, run: {{ command: [sleep, '60'] }}, into: {var} }}\n",
                var.replace('_', "-")
            )
        });
        let text = format!(
            "longhaul: 1\nid: team.ship\nname: Ship\nversion: 1.0.0\nvars:\n  goal: {{ type: string }}\nsteps:\n  - {{ id: begin, prompt: Begin. }}\n{}{steps}  - {{ id: last, prompt: \"It was {{{{shipped.outcome}}}}.\" }}\n",
            engine.concat().replace("id: set-proof", "id: prove")
        );
        workflow(&shop.home, "team.ship.yml", &text);
        shop
    }

    pub(super) fn repository(&self) -> PathBuf {
        self.home.join("repo")
    }

    pub(super) fn local(&self) -> LocalForge {
        LocalForge::find(self.forge.to_str().unwrap(), "ada").unwrap()
    }

    pub(super) fn faults(&self, faults: &[Fault]) {
        self.local().set_faults(faults).unwrap();
    }

    /// A session with a worktree in which somebody has worked.
    pub(super) fn worked(&self, goal: &str, work: impl FnOnce(&Path)) -> String {
        self.worked_with(&[], goal, work)
    }

    /// The same, started with more flags.
    pub(super) fn worked_with(&self, flags: &[&str], goal: &str, work: impl FnOnce(&Path)) -> String {
        let mut start = flags.to_vec();
        start.extend(["session", "start", "--workflow", "team.ship", "--goal", goal, "--json"]);
        let view = one(&self.home.run(&start).inside("repo").go().succeeded());
        let session = view["sessionId"].as_str().unwrap().to_owned();
        self.home.run(&["worktree", "new", &session, "--json"]).inside("repo").go().succeeded();
        work(&self.worktree(&session));
        session
    }

    pub(super) fn worktree(&self, session: &str) -> PathBuf {
        let rows = self.home.run(&["worktree", "list", "--json"]).inside("repo").go().succeeded().rows();
        let row = rows.iter().find(|row| row["session"] == session).unwrap();
        PathBuf::from(row["path"].as_str().unwrap().replace("[HOME]", self.home.path.to_str().unwrap()))
    }

    pub(super) fn commands(&self) -> Commands {
        self.home.system().commands().unwrap()
    }

    /// A proof of the files as they are, on the newest base.
    pub(super) fn proof(&self, session: &str) -> Value {
        let base = self.forge_git(&["rev-parse", "main"]);
        let tree = tree_of(&self.worktree(session), &self.home.join("index"));
        json!({
            "version": 1, "task": "t-1", "session": session, "outcome": "passed", "base": base, "head": tree,
            "merged_tree": tree, "checks": [{ "name": "test", "outcome": "passed" }],
        })
    }

    /// Leads a session to its delivery, with what the engine would have seen and decided.
    pub(super) fn prove(&self, session: &str, rule: &Value) {
        self.prove_with(session, &self.proof(session), rule);
    }

    pub(super) fn prove_with(&self, session: &str, proof: &Value, rule: &Value) {
        let commands = self.commands();
        let id: SessionId = session.parse().unwrap();
        let handle = commands.session(id).unwrap().handle().unwrap();
        let answer = Answer { notes: Some("Begun.".to_owned()), vars: Map::new(), artifacts: Vec::new() };
        commands.advance(&Advance { handle, answer, epoch: None }).unwrap();
        let source = json!(format!("forge:{}#1", self.forge.display()));
        for value in [&source, proof, rule] {
            finish(&commands, id, value);
        }
    }

    /// Has a runner deliver, and gives what came of it.
    pub(super) fn delivered(&self, session: &str) -> Value {
        let outcome = self.home.run(&["runner", session]).inside("repo").go();
        assert_eq!(outcome.code, Some(0), "{outcome}");
        self.result(session)
    }

    /// A runner that is not waited for.
    pub(super) fn runner(&self, session: &str) -> Child {
        let mut command = program(env!("CARGO_BIN_EXE_longhaul"));
        command
            .args(["runner", session])
            .current_dir(self.repository())
            .env_clear()
            .envs(self.home.variables());
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        command.spawn().unwrap()
    }

    /// What the last delivery came to.
    pub(super) fn result(&self, session: &str) -> Value {
        let rows = self.home.longhaul(&["log", "show", session, "--json"]).succeeded().rows();
        let finished = rows.iter().rev().find(|row| row["event"]["type"] == "work_finished").unwrap();
        let result = &finished["event"]["result"]["inline"];
        assert!(result["outcome"].is_string(), "{finished:#}");
        result.clone()
    }

    pub(super) fn task(&self, session: &str) -> String {
        let id: SessionId = session.parse().unwrap();
        self.commands().session(id).unwrap().task.unwrap().to_string()
    }

    pub(super) fn at(&self, session: &str) -> String {
        let id: SessionId = session.parse().unwrap();
        let session = self.commands().session(id).unwrap();
        session.step().map_or_else(String::new, |step| step.0.clone())
    }

    pub(super) fn wait_for(&self, step: &str, session: &str) {
        wait_until("the session goes on", || self.at(session) == step);
    }

    pub(super) fn parked(&self, session: &str) -> (String, String) {
        let rows = self.home.longhaul(&["log", "show", session, "--json"]).succeeded().rows();
        let parked = rows.iter().rev().find(|row| row["event"]["type"] == "parked").unwrap();
        let reason = &parked["event"]["reasons"][0];
        (reason["code"].as_str().unwrap().to_owned(), reason["message"].as_str().unwrap().to_owned())
    }

    pub(super) fn pulls(&self) -> Vec<Value> {
        let pulls = self.local().pulls(None).unwrap();
        pulls.iter().map(|pull| serde_json::to_value(pull).unwrap()).collect()
    }

    pub(super) fn forge_git(&self, arguments: &[&str]) -> String {
        git_text(&self.forge, arguments)
    }

    /// One pull request, one comment, one merge, one closing, and all of it on record.
    pub(super) fn is_delivered_once(&self, session: &str) {
        let pulls = self.pulls();
        assert_eq!(pulls.len(), 1, "{pulls:#?}");
        assert_eq!(pulls[0]["state"], "merged");
        assert_eq!(pulls[0]["comments"].as_array().unwrap().len(), 1, "{pulls:#?}");
        assert_eq!(pulls[0]["comments"][0]["edits"], 0, "{pulls:#?}");
        let merges = self.forge_git(&["rev-list", "--first-parent", "--count", "main"]);
        assert_eq!(merges, "2", "the first commit, and one merge");
        let issue = self.local().issue(1).unwrap();
        assert_eq!(issue.closings, 1);
        let rows = self.home.longhaul(&["log", "show", session, "--json"]).succeeded().rows();
        let mut receipts: BTreeMap<String, u64> = BTreeMap::new();
        for row in rows.iter().filter(|row| row["event"]["fact"]["fact"] == "received") {
            *receipts.entry(row["event"]["fact"]["act"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        let acts = ["branch", "close", "comment", "commit", "merge", "pull_request", "remove_branch"];
        let once = acts.iter().map(|act| ((*act).to_owned(), 1)).collect::<BTreeMap<_, _>>();
        assert_eq!(receipts, once);
    }
}

/// Ends a piece of the engine's own work as a runner would.
fn finish(commands: &Commands, id: SessionId, value: &Value) {
    let driver = Driver { host: "here".to_owned(), process: std::process::id(), started: None };
    let epoch = commands.take_driver(id, &driver, 60_000).unwrap();
    let order = commands.work_order(id).unwrap().unwrap();
    commands.start_work(id, epoch, order.work, &json!({})).unwrap();
    commands.finish_work(id, epoch, order.work, &WorkResult::Done(value.clone())).unwrap();
}

/// The tree that all files of a checkout make, by an index of its own.
pub(super) fn tree_of(checkout: &Path, index: &Path) -> String {
    let _ = fs::remove_file(index);
    let run = |arguments: &[&str]| {
        let mut command = program("git");
        command.args(arguments).current_dir(checkout).env("GIT_INDEX_FILE", index);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    run(&["add", "--all"]);
    run(&["write-tree"])
}

pub(super) fn git_text(directory: &Path, arguments: &[&str]) -> String {
    let output = program("git").args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
