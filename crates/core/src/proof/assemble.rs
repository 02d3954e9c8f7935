//! From what is on record to a proof. Everything that is missing is said, and nothing that is missing has passed.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{CheckEntry, Criterion, Evidence, Judgement, Outcome, Proof, VERSION, Verdict};

/// Findings of these severities stand in the way.
const BLOCKING: [&str; 2] = ["Critical", "Major"];

/// What is on record of a task. Each value is as the engine set it; null where nothing is.
#[derive(Debug, Clone, Default)]
pub struct Record<'a> {
    pub task: Option<String>,
    pub session: String,
    pub goal: String,
    /// A script was played.
    pub rehearsal: bool,
    /// The commit that the work began at.
    pub start: String,
    /// The tree of the task's files as they are now.
    pub tree: String,
    /// What the engine read from git.
    pub change: Option<&'a Value>,
    /// What the checks on the merge result came to.
    pub checks: Option<&'a Value>,
    pub spec: Option<&'a Value>,
    pub scope: Option<&'a Value>,
    pub reviews: Option<&'a Value>,
    pub audits: Option<&'a Value>,
    /// Which audits a rule wanted, and why.
    pub audit_rule: Option<&'a Value>,
}

/// Makes the proof.
pub fn assemble(record: &Record<'_>) -> Proof {
    let ran: Ran = record.checks.map(read).unwrap_or_default();
    let change: Change = record.change.map(read).unwrap_or_default();
    let checks = checks(&ran);
    let reviews = verdicts(record.reviews, &review);
    let criteria = criteria(record, &checks);
    // Those of an earlier round that no rule wants any more looked at other files.
    let is_wanted = record.audit_rule.is_none_or(|rule| text_in(rule, "decision") != Some("none"));
    let audits = verdicts(record.audits.filter(|_| is_wanted), &audit);
    let scope = scope(record.scope);
    let mut problems = Problems::default();
    problems.about_files(record, &ran, &change);
    problems.about_checks(&ran, &checks);
    criteria.iter().for_each(|criterion| {
        problems.add(criterion.outcome, || format!("criterion `{}`: {}", criterion.id, criterion.because));
    });
    for (what, verdicts) in [("review", &reviews), ("audit", &audits)] {
        verdicts.iter().for_each(|verdict| {
            problems.add(verdict.outcome, || format!("{what} `{}`: {}", verdict.name, verdict.because));
        });
    }
    problems.about_audits(record.audit_rule, &audits);
    problems.add(scope.outcome, || format!("scope: {}", scope.because));
    let (outcome, because) = problems.together(&checks);
    Proof {
        version: VERSION,
        task: record.task.clone(),
        session: record.session.clone(),
        goal: record.goal.clone(),
        rehearsal: record.rehearsal,
        start: record.start.clone(),
        base: ran.base.or(change.base).unwrap_or_default(),
        head: ran.head.or(change.head),
        tree: record.tree.clone(),
        merged_tree: ran.merged_tree,
        files: change.files.into_iter().map(|file| file.path).collect(),
        criteria,
        checks,
        reviews,
        audits,
        scope,
        outcome,
        because,
        digest: String::new(),
    }
    .sealed()
}

/// Reads what it can: what is on record may come from another release.
fn read<T: for<'de> Deserialize<'de> + Default>(value: &Value) -> T {
    T::deserialize(value).unwrap_or_default()
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Ran {
    outcome: String,
    because: Option<String>,
    base: Option<String>,
    head: Option<String>,
    tree: Option<String>,
    merged_tree: Option<String>,
    checks: Vec<RanCheck>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RanCheck {
    name: String,
    outcome: String,
    because: Option<String>,
    exit: Option<i64>,
    command: Vec<String>,
    duration_ms: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Change {
    base: Option<String>,
    head: Option<String>,
    tree: Option<String>,
    files: Vec<ChangedFile>,
    is_empty: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ChangedFile {
    path: String,
}

fn checks(ran: &Ran) -> Vec<CheckEntry> {
    let entry = |check: &RanCheck| CheckEntry {
        name: check.name.clone(),
        outcome: match check.outcome.as_str() {
            "passed" => Outcome::Passed,
            "could_not_run" => Outcome::CouldNotRun,
            _ => Outcome::Failed,
        },
        seen: check.outcome.clone(),
        because: check.because.clone().unwrap_or_default(),
        exit: check.exit,
        command: check.command.clone(),
        duration_ms: check.duration_ms,
    };
    ran.checks.iter().map(entry).collect()
}

/// What sessions below this one came to: a list as `parallel` leaves it, or one of them alone.
fn below(value: Option<&Value>) -> Vec<&Value> {
    match value {
        Some(Value::Array(all)) => all.iter().collect(),
        Some(one @ Value::Object(_)) => vec![one],
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => Vec::new(),
    }
}

/// What a session handed in: under `result`, or the value itself where a `spawn` set it.
fn result_of(entry: &Value) -> &Value {
    entry.get("result").unwrap_or(entry)
}

fn text_in<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn findings_in(value: &Value) -> Vec<Value> {
    value.get("findings").and_then(Value::as_array).cloned().unwrap_or_default()
}

fn verdicts(value: Option<&Value>, judge: &dyn Fn(&Value) -> (Outcome, String)) -> Vec<Verdict> {
    let verdict = |entry: &Value| {
        let result = result_of(entry);
        let ended = text_in(entry, "outcome").filter(|_| entry.get("result").is_some());
        let (outcome, because) = match ended {
            Some("completed") | None if result.is_object() => judge(result),
            Some(ended) => {
                (Outcome::CouldNotRun, format!("its session ended as `{ended}` without a verdict"))
            }
            None => (Outcome::CouldNotRun, "there is no verdict".to_owned()),
        };
        let name = text_in(result, "family").or_else(|| text_in(entry, "workflow")).unwrap_or("unnamed");
        Verdict {
            name: name.to_owned(),
            session: text_in(entry, "session").map(str::to_owned),
            outcome,
            because,
            findings: findings_in(result),
        }
    };
    below(value).into_iter().map(verdict).collect()
}

/// How many findings stand in the way. One without a severity does: nobody said that it does not.
fn blocking(findings: &[Value]) -> usize {
    let blocks = |finding: &&Value| text_in(finding, "severity").is_none_or(|word| BLOCKING.contains(&word));
    findings.iter().filter(blocks).count()
}

fn review(result: &Value) -> (Outcome, String) {
    let Some(findings) = result.get("findings").and_then(Value::as_array) else {
        return (Outcome::CouldNotRun, "the verdict has no list of findings".to_owned());
    };
    match blocking(findings) {
        0 => (Outcome::Passed, text_in(result, "summary").unwrap_or_default().to_owned()),
        count => (Outcome::Failed, format!("{count} of its findings are Critical or Major")),
    }
}

fn audit(result: &Value) -> (Outcome, String) {
    match text_in(result, "verdict") {
        Some("clean") => (Outcome::Passed, String::new()),
        Some("concerns") if blocking(&findings_in(result)) == 0 => {
            (Outcome::Passed, "it has concerns, none of them Critical or Major".to_owned())
        }
        Some("concerns") => (Outcome::Failed, "it has concerns that are Critical or Major".to_owned()),
        Some("unsafe") => (Outcome::Failed, "it calls the change unsafe".to_owned()),
        Some(_) | None => (Outcome::CouldNotRun, "it came to no verdict".to_owned()),
    }
}

fn scope(value: Option<&Value>) -> Judgement {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        let because = "nobody declared what the change should touch".to_owned();
        return Judgement { outcome: Outcome::Skipped, because, findings: Vec::new() };
    };
    let findings = findings_in(value);
    let said = text_in(value, "because").unwrap_or_default();
    let (outcome, because) = match (text_in(value, "decision"), blocking(&findings)) {
        (Some("inside"), _) => (Outcome::Passed, said.to_owned()),
        (Some("outside"), 0) if !findings.is_empty() => {
            (Outcome::Passed, format!("outside in {} places, none of them Critical or Major", findings.len()))
        }
        (Some("outside"), _) => {
            (Outcome::Failed, format!("the change goes beyond what was declared: {said}"))
        }
        (Some(_) | None, _) => (Outcome::CouldNotRun, "nobody could say whether it is inside".to_owned()),
    };
    Judgement { outcome, because, findings }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SpecCriterion {
    id: String,
    text: String,
    /// The check that decides it, if one does.
    check: Option<String>,
}

fn criteria(record: &Record<'_>, checks: &[CheckEntry]) -> Vec<Criterion> {
    let reviews = record.reviews;
    let spec = record.spec.filter(|spec| !spec.is_null());
    let listed = spec.and_then(|spec| spec.get("criteria")).and_then(Value::as_array);
    // Without a spec the goal itself is what reviewers judge.
    let goal = (spec.is_none() && !below(reviews).is_empty())
        .then(|| vec![json!({ "id": "goal", "text": record.goal })]);
    let listed = listed.or(goal.as_ref());
    let criterion = |value: &Value| {
        let SpecCriterion { id, text, check } = read(value);
        let mut evidence = said_of(&id, reviews);
        if let Some(name) = check {
            evidence.push(checked(&name, checks));
        }
        let (outcome, because) = weigh(&evidence);
        Criterion { id, text, outcome, because, evidence }
    };
    listed.into_iter().flatten().map(criterion).collect()
}

fn said_of(id: &str, reviews: Option<&Value>) -> Vec<Evidence> {
    let mut evidence = Vec::new();
    for entry in below(reviews) {
        let result = result_of(entry);
        let name = text_in(result, "family").or_else(|| text_in(entry, "workflow")).unwrap_or("unnamed");
        let said = result.get("criteria").and_then(Value::as_array).into_iter().flatten();
        for said in said.filter(|said| text_in(said, "id") == Some(id)) {
            evidence.push(Evidence {
                by: format!("review {name}"),
                says: text_in(said, "outcome").unwrap_or("unclear").to_owned(),
                text: text_in(said, "evidence").unwrap_or_default().to_owned(),
            });
        }
    }
    evidence
}

fn checked(name: &str, checks: &[CheckEntry]) -> Evidence {
    let found = checks.iter().find(|check| check.name == name);
    Evidence {
        by: format!("check {name}"),
        says: found.map_or("could_not_run", |check| check.outcome.word()).to_owned(),
        text: found.map_or_else(|| "no such check was run".to_owned(), |check| check.because.clone()),
    }
}

/// One who says no is enough; met needs somebody who says so.
fn weigh(evidence: &[Evidence]) -> (Outcome, String) {
    let by = |words: &[&str]| {
        let said = evidence.iter().filter(|one| words.contains(&one.says.as_str()));
        said.map(|one| one.by.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (refused, met) = (by(&["not_met", "failed"]), by(&["met", "passed"]));
    if !refused.is_empty() {
        return (Outcome::Failed, format!("not met, says {refused}"));
    }
    let open = by(&["unclear", "could_not_run"]);
    if met.is_empty() {
        let because =
            if open.is_empty() { "nobody looked at it".to_owned() } else { format!("unclear, says {open}") };
        return (Outcome::CouldNotRun, because);
    }
    (Outcome::Passed, String::new())
}

/// All that stands in the way.
#[derive(Debug, Default)]
struct Problems {
    failed: Vec<String>,
    could_not: Vec<String>,
}

impl Problems {
    fn add(&mut self, outcome: Outcome, said: impl FnOnce() -> String) {
        match outcome {
            Outcome::Failed => self.failed.push(said()),
            Outcome::CouldNotRun => self.could_not.push(said()),
            Outcome::Passed | Outcome::Skipped | Outcome::Carried => {}
        }
    }

    /// What was looked at must be what is there now.
    fn about_files(&mut self, record: &Record<'_>, ran: &Ran, change: &Change) {
        if change.is_empty {
            self.failed.push("nothing was changed".to_owned());
        }
        let now = record.tree.as_str();
        for (what, tree) in [("the checks ran", &ran.tree), ("the change was read", &change.tree)] {
            if let Some(tree) = tree
                && tree != now
            {
                self.failed.push(format!("files were edited after {what} (tree {tree} then, {now} now)"));
            }
        }
    }

    fn about_checks(&mut self, ran: &Ran, checks: &[CheckEntry]) {
        let because = ran.because.clone().unwrap_or_default();
        match ran.outcome.as_str() {
            "" => self.could_not.push("no checks were run on the merge result".to_owned()),
            "passed" if checks.is_empty() => self.could_not.push("there was no check to run".to_owned()),
            "conflict" => self.failed.push(format!("it does not merge into the newest base: {because}")),
            outcome if checks.is_empty() => {
                let kind = if outcome == "could_not_run" { Outcome::CouldNotRun } else { Outcome::Failed };
                self.add(kind, || format!("the checks: {because}"));
            }
            _ => {}
        }
        checks.iter().for_each(|check| {
            self.add(check.outcome, || {
                let because = match (check.because.as_str(), check.exit) {
                    ("", Some(exit)) => format!(": it ended with {exit}"),
                    ("", None) => String::new(),
                    (because, _) => format!(": {because}"),
                };
                format!("check `{}` ({}){because}", check.name, check.seen)
            });
        });
    }

    /// An audit that a rule wanted and nobody did.
    fn about_audits(&mut self, rule: Option<&Value>, audits: &[Verdict]) {
        let wanted = rule.and_then(|rule| text_in(rule, "decision")) == Some("some");
        if wanted && audits.is_empty() {
            self.could_not.push("audits were wanted, and none is on record".to_owned());
        }
    }

    fn together(self, checks: &[CheckEntry]) -> (Outcome, String) {
        if !self.failed.is_empty() {
            return (
                Outcome::Failed,
                self.failed.into_iter().chain(self.could_not).collect::<Vec<_>>().join("; "),
            );
        }
        if !self.could_not.is_empty() {
            return (Outcome::CouldNotRun, self.could_not.join("; "));
        }
        let count = checks.len();
        let word = if count == 1 { "check" } else { "checks" };
        (
            Outcome::Passed,
            format!("{count} {word} passed on the merge result, and nothing on record speaks against it"),
        )
    }
}
