//! What becomes of the findings of a review.
//!
//! Critical and Major findings, criteria that are not met, checks that fail and files outside the scope are fixed and
//! reviewed again. The same picture twice in a row, or findings after the last attempt, are for a person.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};

use super::facts::{CriterionOutcome, Finding, Severity, Verdict};
use super::{Given, PERSON, Rule, Ruling, Table};

pub(super) struct Case {
    /// Those who were asked and have no verdict, with why.
    missing: Vec<String>,
    verdicts: usize,
    scope: ScopeSeen,
    checks: Option<Verification>,
    /// What must be fixed.
    blocking: Vec<Finding>,
    signature: String,
    last: Option<String>,
    round: u64,
    attempts: u32,
}

enum ScopeSeen {
    /// Nobody looked, or it could be told.
    Told,
    Untold(String),
}

#[derive(Deserialize)]
struct Verification {
    outcome: String,
    #[serde(default)]
    because: Option<String>,
    #[serde(default)]
    checks: Vec<Check>,
}

#[derive(Deserialize)]
struct Check {
    name: String,
    outcome: String,
    #[serde(default)]
    because: Option<String>,
}

/// What was agreed on before the work began.
#[derive(Deserialize)]
struct Spec {
    #[serde(default)]
    criteria: Vec<Wanted>,
}

#[derive(Deserialize)]
struct Wanted {
    id: String,
    #[serde(default)]
    check: Option<String>,
}

pub(super) fn rule(given: &Given<'_>) -> Ruling {
    match read(given) {
        Ok((case, all)) => {
            let (findings, blocking) = (json!(all), json!(case.blocking));
            let (signature, round) = (case.signature.clone(), case.round);
            let ruling = TABLE.ask(&case).and("findings", findings).and("blocking", blocking);
            ruling.and("signature", signature).and("round", round)
        }
        Err(because) => TABLE.uncovered(because).and("findings", json!([])).and("signature", ""),
    }
}

fn read(given: &Given<'_>) -> Result<(Case, Vec<Finding>), String> {
    let entries: Vec<Value> = given.read("verdicts")?;
    let mut missing = Vec::new();
    let mut verdicts = Vec::new();
    for entry in &entries {
        match verdict(entry) {
            Ok(verdict) => verdicts.push(verdict),
            Err(because) => missing.push(because),
        }
    }
    let scope = given.values.get("scope").filter(|scope| !scope.is_null());
    let checks: Option<Verification> = given.read_if_known("checks")?;
    let mut all: Vec<Finding> = verdicts.iter().flat_map(|verdict| verdict.findings.clone()).collect();
    let spec: Option<Spec> = given.read_if_known("spec")?;
    all.extend(criteria(spec.as_ref(), &verdicts));
    all.extend(checks.iter().flat_map(failed_checks));
    if let Some(scope) = scope {
        let findings = scope.get("findings").cloned().unwrap_or_else(|| json!([]));
        all.extend(Vec::<Finding>::deserialize(&findings).map_err(|error| format!("`scope`: {error}"))?);
    }
    all.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let blocking: Vec<Finding> =
        all.iter().filter(|finding| finding.severity >= Severity::Major).cloned().collect();
    let signature = signature(&blocking);
    let case = Case {
        missing,
        verdicts: verdicts.len(),
        scope: scope_seen(scope),
        checks,
        blocking,
        signature,
        last: given.values.get("last").and_then(last_signature),
        round: given.read_if_known("round")?.unwrap_or_else(|| round_after(given.values.get("last"))),
        attempts: given.settings.review.fix_attempts,
    };
    Ok((case, all))
}

/// A verdict as it stands, or as the result of a child session.
fn verdict(entry: &Value) -> Result<Verdict, String> {
    let who = entry["workflow"].as_str().unwrap_or("a reviewer");
    let said = if entry.get("workflow").is_some() { &entry["result"] } else { entry };
    if said.is_null() {
        let outcome = entry["outcome"].as_str().unwrap_or("ended without one");
        return Err(format!("`{who}` has no verdict ({outcome})"));
    }
    Verdict::deserialize(said).map_err(|error| format!("the verdict of `{who}` cannot be read: {error}"))
}

fn scope_seen(scope: Option<&Value>) -> ScopeSeen {
    match scope {
        Some(scope) if scope["decision"] == PERSON => {
            ScopeSeen::Untold(scope["because"].as_str().unwrap_or("it could not be told").to_owned())
        }
        Some(_) | None => ScopeSeen::Told,
    }
}

fn last_signature(last: &Value) -> Option<String> {
    let text = last.as_str().or_else(|| last["signature"].as_str());
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

/// How many fixes were made, by what was said before: one more after each `fix`.
fn round_after(last: Option<&Value>) -> u64 {
    match last {
        Some(last) if last["decision"] == "fix" => last["round"].as_u64().unwrap_or_default() + 1,
        Some(_) | None => 0,
    }
}

/// A criterion that somebody says is not met, or that nobody could tell or looked at, blocks.
fn criteria(spec: Option<&Spec>, verdicts: &[Verdict]) -> Vec<Finding> {
    let wanted = spec.into_iter().flat_map(|spec| &spec.criteria);
    // Those that a check decides are not for the reviewers.
    let wanted = wanted.filter(|criterion| criterion.check.is_none());
    let mut judged: BTreeMap<&str, Vec<(CriterionOutcome, &str)>> =
        wanted.map(|criterion| (criterion.id.as_str(), Vec::new())).collect();
    for criterion in verdicts.iter().flat_map(|verdict| &verdict.criteria) {
        judged.entry(&criterion.id).or_default().push((criterion.outcome, &criterion.evidence));
    }
    let finding = |(id, said): (&str, Vec<(CriterionOutcome, &str)>)| {
        let of = |wanted: CriterionOutcome| said.iter().find(|(outcome, _)| *outcome == wanted);
        let (words, evidence) = match (of(CriterionOutcome::NotMet), of(CriterionOutcome::Met)) {
            (Some((_, evidence)), _) => ("is not met", evidence),
            (None, Some(_)) => return None,
            (None, None) => (
                "cannot be told",
                of(CriterionOutcome::Unclear).map_or(&"nobody looked at it", |(_, why)| why),
            ),
        };
        Some(Finding {
            severity: Severity::Major,
            category: "criterion".to_owned(),
            file: None,
            line: None,
            evidence: format!("criterion `{id}` {words}: {evidence}"),
            criterion: Some(id.to_owned()),
            fix: Some("meet it, with a test or a command that shows it".to_owned()),
        })
    };
    judged.into_iter().filter_map(finding).collect()
}

fn failed_checks(checks: &Verification) -> Vec<Finding> {
    if checks.outcome != "failed" {
        return Vec::new();
    }
    let failed = |check: &&Check| matches!(check.outcome.as_str(), "failed" | "empty");
    let mut findings: Vec<Finding> = checks.checks.iter().filter(failed).map(check_finding).collect();
    if findings.is_empty() && checks.checks.is_empty() {
        let because = checks.because.clone().unwrap_or_else(|| "verification failed".to_owned());
        findings.push(broken("verify", because));
    }
    findings
}

fn check_finding(check: &Check) -> Finding {
    let because = check.because.as_deref().map(|because| format!(": {because}")).unwrap_or_default();
    broken(&check.name, format!("check `{}` is {}{because}", check.name, check.outcome))
}

fn broken(name: &str, evidence: String) -> Finding {
    Finding {
        severity: Severity::Major,
        category: format!("check {name}"),
        file: None,
        line: None,
        evidence,
        criterion: None,
        fix: Some("make it pass; the check itself stays as it is".to_owned()),
    }
}

/// The same findings have the same signature, however they are worded and wherever their lines moved.
fn signature(blocking: &[Finding]) -> String {
    let one = |finding: &Finding| {
        let (file, criterion) = (finding.file.as_deref(), finding.criterion.as_deref());
        let category = finding.category.trim().to_lowercase();
        format!("{}/{category}/{}/{}", finding.severity, file.unwrap_or("-"), criterion.unwrap_or("-"))
    };
    blocking.iter().map(one).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" ")
}

pub(super) const TABLE: Table<Case> = Table {
    name: "review",
    rules: &[
        Rule {
            name: "missing",
            when: "a reviewer has no verdict, or one that cannot be read",
            decision: PERSON,
            holds: |case| case.missing.first().cloned(),
        },
        Rule {
            name: "nobody",
            when: "nobody reviewed",
            decision: PERSON,
            holds: |case| (case.verdicts == 0).then(|| "nobody reviewed it".to_owned()),
        },
        Rule {
            name: "scope-unknown",
            when: "`scope` says `person`",
            decision: PERSON,
            holds: |case| match &case.scope {
                ScopeSeen::Told => None,
                ScopeSeen::Untold(because) => Some(format!("nobody can tell the scope: {because}")),
            },
        },
        Rule {
            name: "unverified",
            when: "the checks could not run, or the change does not fit the base",
            decision: PERSON,
            holds: unverified,
        },
        Rule {
            name: "not-its-fault",
            when: "checks fail, but only such as are flaky or failed before the change",
            decision: PERSON,
            holds: not_its_fault,
        },
        Rule {
            name: "clean",
            when: "no finding is Critical or Major, every criterion is met, the checks pass, nothing is outside the scope",
            decision: "pass",
            holds: |case| {
                let judged = format!("{} reviewers found nothing that blocks", case.verdicts);
                case.blocking.is_empty().then_some(judged)
            },
        },
        Rule {
            name: "same-critical",
            when: "a finding is Critical, and they have the same signature as in the round before",
            decision: "escalate",
            holds: |case| {
                let critical = critical(case)?;
                same_again(case).map(|same| format!("{same}, and still Critical: {}", critical.evidence))
            },
        },
        Rule {
            name: "same-again",
            when: "the findings have the same signature as in the round before",
            decision: PERSON,
            holds: same_again,
        },
        Rule {
            name: "still-critical",
            when: "all `policy.review.fix_attempts` are used up, and a finding is Critical",
            decision: "escalate",
            holds: |case| {
                let critical = critical(case)?;
                used_up(case).map(|used| format!("{used}, and still Critical: {}", critical.evidence))
            },
        },
        Rule {
            name: "still-major",
            when: "all `policy.review.fix_attempts` are used up",
            decision: PERSON,
            holds: |case| used_up(case).map(|used| format!("{used}, and {}", counted(case))),
        },
        Rule { name: "blocking", when: "none of these", decision: "fix", holds: |case| Some(counted(case)) },
    ],
};

fn unverified(case: &Case) -> Option<String> {
    let checks = case.checks.as_ref()?;
    let told = || checks.because.as_deref().map(|because| format!(": {because}")).unwrap_or_default();
    match checks.outcome.as_str() {
        "passed" | "failed" => None,
        "conflict" => Some(format!("the change does not fit the base{}", told())),
        other => Some(format!("the checks have no result ({other}){}", told())),
    }
}

fn not_its_fault(case: &Case) -> Option<String> {
    let checks = case.checks.as_ref().filter(|checks| checks.outcome == "failed")?;
    if !failed_checks(checks).is_empty() {
        return None;
    }
    let doubtful = checks.checks.iter().find(|check| check.outcome != "passed")?;
    Some(format!("check `{}` is {}", doubtful.name, doubtful.outcome))
}

fn critical(case: &Case) -> Option<&Finding> {
    case.blocking.iter().find(|finding| finding.severity == Severity::Critical)
}

fn same_again(case: &Case) -> Option<String> {
    let same = case.last.as_deref() == Some(case.signature.as_str());
    same.then(|| format!("a fix changed nothing: {}", case.signature))
}

fn used_up(case: &Case) -> Option<String> {
    (case.round >= u64::from(case.attempts)).then(|| format!("all {} attempts are used up", case.attempts))
}

fn counted(case: &Case) -> String {
    let of = |severity: Severity| case.blocking.iter().filter(|it| it.severity == severity).count();
    let first = case.blocking.first().map(|finding| finding.evidence.as_str()).unwrap_or_default();
    format!("{} Critical and {} Major: {first}", of(Severity::Critical), of(Severity::Major))
}
