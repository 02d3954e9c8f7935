//! A small project with a check that passes, its forge, and scripts of an agent that takes a task through a pipeline.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;

use longhaul_runtime::forge::{Forge as _, LocalForge};
use serde_json::{Value, json};

use crate::running::wait_until;
use crate::support::{Home, Outcome, git, program};
use crate::terminal::Terminal;
use crate::walking::one;

/// What the honest change is about: the receipt has a comparison of its own.
const OLD: &str = "if [ \"$amount\" -gt 10000 ]; then";
const NEW: &str = "if [ \"$paid\" -lt \"$amount\" ]; then";
pub(super) const CONFIG: &str = "checks:\n  - { name: test, run: [sh, tests/run.sh], timeout: 1m }\n\
    policy:\n  review: { families: [correctness] }\n";

pub(super) struct World {
    pub(super) home: Home,
    first: String,
}

impl World {
    /// The demo's project, whose discount is mended already.
    pub(super) fn new() -> Self {
        Self::with(CONFIG, |_| {})
    }

    /// The same with other settings, and with more in the first commit.
    pub(super) fn with(config: &str, more: impl FnOnce(&Path)) -> Self {
        let home = Home::new();
        let project = home.join("till");
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/demo/project");
        for file in crate::support::files(&demo) {
            let to = project.join(file.strip_prefix(&demo).unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(&file, &to).unwrap();
        }
        fs::create_dir_all(home.join("user")).unwrap();
        fs::write(home.join("user/.gitconfig"), "[user]\n  name = Ada\n  email = ada@example.org\n").unwrap();
        let discount = fs::read_to_string(project.join("src/discount.sh")).unwrap();
        fs::write(project.join("src/discount.sh"), discount.replace("-gt", "-ge")).unwrap();
        fs::write(project.join(".longhaul/config.yml"), config).unwrap();
        more(&project);
        git(&project, &["init", "--quiet", "--initial-branch=main"]);
        git(&project, &["add", "--all"]);
        git(&project, &["commit", "--quiet", "--message=first"]);
        home.longhaul(&["forge", "init", "forge.git"]).succeeded();
        git(&project, &["remote", "add", "origin", home.join("forge.git").to_str().unwrap()]);
        git(&project, &["push", "--quiet", "origin", "main"]);
        home.run(&["workspace", "add"]).inside("till").go().succeeded();
        home.trust("till");
        let first = git_text(&home.join("forge.git"), &["rev-parse", "main"]);
        Self { home, first }
    }

    pub(super) fn forge(&self) -> LocalForge {
        LocalForge::find(self.home.join("forge.git").to_str().unwrap(), "ada").unwrap()
    }

    pub(super) fn forge_git(&self, arguments: &[&str]) -> String {
        git_text(&self.home.join("forge.git"), arguments)
    }

    fn command(&self, wanted: &[&str], name: &str, script: &Script) -> Vec<String> {
        let cassette = self.home.join(format!("{name}.yml"));
        fs::write(&cassette, script.text()).unwrap();
        let cassette = cassette.display().to_string();
        let more = ["--pipeline", "lh.pipeline.quick", "--cassette", &cassette, "--json"];
        [&["run"], wanted, &more].concat().into_iter().map(str::to_owned).collect()
    }

    /// Has the script played to where it stops; the goal is its name. Returns the root session.
    pub(super) fn play(&self, name: &str, script: &Script) -> String {
        self.played(name, &self.command(&[name], name, script))
    }

    /// The same for a ticket.
    pub(super) fn play_issue(&self, name: &str, number: u64, script: &Script) -> String {
        self.played(name, &self.command(&["--issue", &number.to_string()], name, script))
    }

    fn played(&self, name: &str, words: &[String]) -> String {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let outcome = self.home.run(&words).inside("till").go();
        let rows = outcome.rows();
        let session = rows.first().and_then(|row| row["sessionId"].as_str());
        session.unwrap_or_else(|| panic!("{name}: {outcome}")).to_owned()
    }

    /// The same, without waiting for it.
    pub(super) fn start(&self, name: &str, script: &Script) -> Child {
        self.started(&self.command(&[name], name, script))
    }

    pub(super) fn start_issue(&self, name: &str, number: u64, script: &Script) -> Child {
        self.started(&self.command(&["--issue", &number.to_string()], name, script))
    }

    fn started(&self, words: &[String]) -> Child {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.home.run(&words).inside("till").start()
    }

    /// The step of the gate at which a session waits, what is asked there, and its id.
    pub(super) fn gate(&self, session: &str) -> [String; 3] {
        let rows = self.home.longhaul(&["gate", "list", "--json"]).succeeded().rows();
        let ours = |row: &&Value| row["id"].as_str().is_some_and(|id| id.starts_with(session));
        let row = rows.iter().find(ours).unwrap_or_else(|| panic!("no gate: {}", self.why(session)));
        // A list shows the beginning of what is asked.
        let whole =
            one(&self.home.longhaul(&["gate", "show", row["id"].as_str().unwrap(), "--json"]).succeeded());
        ["step", "question", "id"].map(|key| whole[key].as_str().unwrap().to_owned())
    }

    /// It waits for a person at this step, who is told this, and nothing was merged.
    pub(super) fn ends_at(&self, session: &str, step: &str, told: &str) {
        let [at, question, _] = self.gate(session);
        assert_eq!(at, step, "{question}\n{}", self.why(session));
        assert!(question.contains(told), "`{told}` is not said: {question}");
        self.nothing_is_merged();
    }

    /// A session below it is blocked until a person has looked, and nothing was merged.
    pub(super) fn is_blocked(&self, session: &str, told: &str) {
        let task = self.task(session);
        let outcome = task["outcome"].to_string();
        assert!(task["state"] == "waits" && outcome.contains(told), "{outcome}\n{}", self.why(session));
        self.nothing_is_merged();
    }

    pub(super) fn nothing_is_merged(&self) {
        assert_eq!(self.forge_git(&["rev-parse", "main"]), self.first, "main is where it was");
        for pull in self.forge().pulls(None).unwrap() {
            let pull = serde_json::to_value(pull).unwrap();
            assert_ne!(pull["state"], "merged", "{pull:#}");
        }
    }

    /// A person opens the gate, and what goes on then comes to rest.
    pub(super) fn approve(&self, session: &str) {
        let [_, _, gate] = self.gate(session);
        let mut terminal =
            Terminal::start_in(&self.home, &self.home.join("till"), &["gate", "approve", &gate], &[]);
        terminal.wait_for("Type `approve` to confirm: ");
        terminal.type_text("approve\n");
        let (outcome, shown) = terminal.end();
        assert!(!outcome.stderr.contains("error["), "{shown}\n{outcome}");
        self.comes_to_rest(session);
    }

    /// Waits until a session is over, or waits for somebody.
    pub(super) fn comes_to_rest(&self, session: &str) {
        wait_until("it comes to rest", || {
            let task = self.task(session);
            !matches!(task["state"].as_str().unwrap(), "open" | "running" | "works" | "idle")
        });
    }

    pub(super) fn task(&self, session: &str) -> Value {
        one(&self.home.longhaul(&["task", "show", session, "--json"]).succeeded())["task"].clone()
    }

    pub(super) fn why(&self, session: &str) -> String {
        self.home.longhaul(&["task", "show", session, "--why"]).to_string()
    }

    pub(super) fn log(&self, session: &str) -> Vec<Value> {
        self.home.longhaul(&["log", "show", session, "--json"]).succeeded().rows()
    }

    /// What the last piece of the engine's own work with this key came to.
    pub(super) fn last_result(&self, session: &str, key: &str) -> Value {
        let rows = self.log(session);
        let mut results = rows.iter().rev().map(|row| &row["event"]["result"]["inline"]);
        let result = results.find(|result| !result[key].is_null());
        result.unwrap_or_else(|| panic!("no `{key}`: {}", self.why(session))).clone()
    }

    /// The change as the engine's rules saw it last.
    pub(super) fn change(&self, session: &str) -> Value {
        let rows = self.log(session);
        let mut given = rows.iter().rev().map(|row| &row["event"]["given"]["inline"]["with"]["change"]);
        given.find(|change| change.is_object()).unwrap().clone()
    }

    pub(super) fn proof(&self, session: &str) -> Value {
        let shown = self.home.longhaul(&["proof", "show", session, "--format", "json"]).succeeded();
        serde_json::from_str(&shown.stdout).unwrap()
    }

    /// The tree that is on main is one that was proven.
    pub(super) fn main_is_proven_by(&self, session: &str) {
        let proof = self.proof(session);
        assert_eq!(proof["outcome"], "passed", "{proof:#}");
        assert_eq!(proof["merged_tree"], self.forge_git(&["rev-parse", "main^{tree}"]), "{proof:#}");
    }

    /// Somebody else's commit on the base.
    pub(super) fn others(&self, file: &str, text: &str) {
        let clone = self.home.join("other");
        if !clone.exists() {
            git(&self.home.path, &["clone", "--quiet", "forge.git", "other"]);
        }
        git(&clone, &["pull", "--quiet", "--rebase"]);
        fs::write(clone.join(file), text).unwrap();
        git(&clone, &["add", "--all"]);
        git(&clone, &["commit", "--quiet", "-m", "by others"]);
        git(&clone, &["push", "--quiet"]);
    }

    pub(super) fn checkout_count(&self) -> usize {
        self.home.run(&["worktree", "list", "--json"]).inside("till").go().rows().len()
    }

    /// The checkout of the only session that has one.
    pub(super) fn checkout(&self) -> Option<PathBuf> {
        let rows = self.home.run(&["worktree", "list", "--json"]).inside("till").go().rows();
        let path = rows.first()?["path"].as_str()?.replace("[HOME]", self.home.path.to_str().unwrap());
        Some(PathBuf::from(path))
    }
}

/// What an agent says and does from the ticket to the merge. The parts are edited by those who are hostile.
#[derive(Clone)]
pub(super) struct Script {
    pub(super) risk: &'static str,
    pub(super) maturity: &'static str,
    pub(super) intent: Value,
    /// The tools of each visit of these steps.
    pub(super) classify: Vec<Value>,
    pub(super) code: Vec<Value>,
    pub(super) look: Vec<Value>,
    /// What is said of itself at the end of the coding.
    pub(super) handoff: Value,
    /// More of the answer that ends the coding: vars, artifacts.
    pub(super) vars: Value,
    pub(super) verdicts: Vec<Vec<Value>>,
    pub(super) fixes: Vec<Vec<Value>>,
}

impl Script {
    pub(super) fn honest() -> Self {
        Self {
            risk: "low",
            maturity: "ready",
            intent: json!({
                "kind": "intent", "interpretation": "The receipt names the discount whenever something is off.",
                "scope": ["src/*.sh"], "expected_files": ["src/receipt.sh"], "side_effects": [], "risks": [],
                "is_destructive": false, "confidence": "high",
            }),
            classify: Vec::new(),
            code: vec![json!({ "edit": { "path": "src/receipt.sh", "old": OLD, "new": NEW } })],
            look: Vec::new(),
            handoff: json!({
                "kind": "coding_handoff", "summary": "The receipt asks whether something is off.",
                "files": ["src/receipt.sh"], "criteria": [{ "id": "goal", "how": "sh tests/run.sh" }],
                "side_effects": [],
                "tests_run": [{ "command": "sh tests/run.sh", "outcome": "passed", "evidence": "4 of 4" }],
            }),
            vars: json!({}),
            verdicts: vec![vec![verdict(&[])]],
            fixes: Vec::new(),
        }
    }

    /// In place of the honest edit, this is run.
    pub(super) fn running(command: &str) -> Self {
        Self { code: vec![bash(command)], ..Self::honest() }
    }

    /// With a fix that runs this, and the same verdict after it.
    pub(super) fn then_fixing(mut self, command: &str) -> Self {
        self.fixes.push(vec![bash(command)]);
        self.verdicts.push(vec![verdict(&[])]);
        self
    }

    pub(super) fn declaring(mut self, scope: &[&str], files: &[&str]) -> Self {
        self.intent["scope"] = json!(scope);
        self.intent["expected_files"] = json!(files);
        self
    }

    pub(super) fn text(&self) -> String {
        let mut turns = Vec::new();
        let mut step = |workflow: &str, step: &str, visit: usize, tools: &[Value], answers: &[Value]| {
            let place = json!({ "workflow": workflow, "step": step, "visit": visit });
            if !tools.is_empty() {
                turns.push(json!({ "match": place, "optional": true, "tools": tools }));
            }
            for answer in answers {
                turns.push(json!({ "match": place, "optional": true, "complete": answer }));
            }
        };
        let artifact = |artifact: &Value| json!({ "artifacts": [artifact] });
        let classification = json!({
            "kind": "classification", "complexity": "small", "risk": self.risk, "maturity": self.maturity,
            "hasUI": false, "touchesArchitecture": false, "because": "One comparison.",
        });
        step("lh.classify", "classify", 1, &self.classify, &[artifact(&classification)]);
        step("lh.intent", "intent", 1, &[], &[artifact(&self.intent)]);
        let coded = json!({ "notes": "Done.", "vars": self.vars });
        // Where the vars are refused, it is tried once more without.
        step("lh.coding", "code", 1, &self.code, &[coded, json!({ "notes": "Done." })]);
        step("lh.coding", "handoff", 1, &[], &[artifact(&self.handoff)]);
        for (visit, answers) in self.verdicts.iter().enumerate() {
            let answers: Vec<Value> = answers.iter().map(artifact).collect();
            step("lh.review.correctness", "look", visit + 1, &self.look, &[json!({ "notes": "Looked." })]);
            step("lh.review.correctness", "verdict", visit + 1, &[], &answers);
        }
        for (visit, tools) in self.fixes.iter().enumerate() {
            step("lh.fix", "fix", visit + 1, tools, &[artifact(&self.handoff)]);
        }
        let audited = json!({
            "kind": "audit_verdict", "verdict": "clean", "findings": [], "summary": "I looked.",
        });
        for visit in 1..=self.verdicts.len() {
            for audit in ["lh.audit.production", "lh.audit.architecture", "lh.audit.security"] {
                step(audit, "verdict", visit, &[], &[artifact(&audited)]);
            }
        }
        json!({ "cassette": 1, "turns": turns, "otherwise": "fail" }).to_string()
    }
}

pub(super) fn bash(command: &str) -> Value {
    json!({ "bash": { "command": command, "seconds": 60 } })
}

/// Of a reviewer who says that the goal is met, whatever else is found.
pub(super) fn verdict(findings: &[Value]) -> Value {
    json!({
        "kind": "review_verdict", "family": "correctness", "findings": findings, "summary": "I looked.",
        "criteria": [{ "id": "goal", "outcome": "met", "evidence": "sh tests/run.sh" }],
    })
}

pub(super) fn finding(severity: &str, category: &str) -> Value {
    json!({
        "severity": severity, "category": category, "file": "src/receipt.sh", "line": 5,
        "evidence": format!("there is {category} in it"), "fix": "Mend it.",
    })
}

/// What git says there, without any user's configuration.
pub(super) fn git_text(directory: &Path, arguments: &[&str]) -> String {
    let mut command = program("git");
    command.args(arguments).current_dir(directory).env_clear().env("PATH", std::env::var("PATH").unwrap());
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

pub(super) fn ended(child: Child, home: &Home) -> Outcome {
    Outcome::of(&home.path, &child.wait_with_output().unwrap())
}
