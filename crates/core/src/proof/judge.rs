//! Reading a proof that somebody hands over: is it one, is it whole, and does it agree with itself.

use serde_json::Value;

use super::statement::{PREDICATE_TYPE, STATEMENT_TYPE};
use super::{Outcome, Proof, VERSION};

/// What is wrong with a proof.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("it is not JSON: {0}")]
    NotJson(String),
    #[error("it does not have the form of a proof: {0}")]
    Form(String),
    #[error("it is of version {0}, and this release knows version {VERSION}; use a newer release")]
    Version(u32),
    #[error("its digest is {said}, and what it says has {own}: somebody changed it")]
    Digest { said: String, own: String },
    #[error("it says `{said}`, and its parts do not: {because}")]
    Contradiction { said: &'static str, because: String },
    #[error("it is a statement about other files ({subject}) than the proof inside it ({proof})")]
    Subject { subject: String, proof: String },
}

/// Reads a proof in either JSON form. What cannot be read is the only error; the rest is told beside it.
pub fn read(text: &str) -> Result<(Proof, Vec<Unfit>), Unfit> {
    let value: Value = serde_json::from_str(text).map_err(|error| Unfit::NotJson(error.to_string()))?;
    let mut problems = Vec::new();
    let (proof, subject) = match value.get("_type") {
        None => (&value, None),
        Some(kind) => (statement_parts(&value, kind)?, subject_of(&value)),
    };
    if let Some(version) = proof.get("version").and_then(Value::as_u64)
        && version != u64::from(VERSION)
    {
        return Err(Unfit::Version(u32::try_from(version).unwrap_or(u32::MAX)));
    }
    let proof: Proof =
        serde_json::from_value(proof.clone()).map_err(|error| Unfit::Form(error.to_string()))?;
    let own = proof.own_digest();
    if proof.digest != own {
        problems.push(Unfit::Digest { said: proof.digest.clone(), own });
    }
    problems.extend(contradiction(&proof));
    if value.get("_type").is_some() {
        let wanted = proof.merged_tree.clone().unwrap_or_else(|| proof.tree.clone());
        let subject = subject.unwrap_or_default();
        if subject != wanted {
            problems.push(Unfit::Subject { subject, proof: wanted });
        }
    }
    Ok((proof, problems))
}

fn statement_parts<'v>(value: &'v Value, kind: &Value) -> Result<&'v Value, Unfit> {
    if kind != STATEMENT_TYPE {
        return Err(Unfit::Form(format!("`_type` is {kind}, and not `{STATEMENT_TYPE}`")));
    }
    if value["predicateType"] != PREDICATE_TYPE {
        let found = &value["predicateType"];
        return Err(Unfit::Form(format!("`predicateType` is {found}, and not `{PREDICATE_TYPE}`")));
    }
    value.get("predicate").ok_or_else(|| Unfit::Form("it has no `predicate`".to_owned()))
}

fn subject_of(value: &Value) -> Option<String> {
    value["subject"][0]["digest"]["gitTree"].as_str().map(str::to_owned)
}

/// Whoever writes `passed` over parts that did not pass says nothing.
fn contradiction(proof: &Proof) -> Option<Unfit> {
    let parts = proof.checks.iter().map(|check| (format!("check `{}`", check.name), check.outcome));
    let criteria = proof.criteria.iter().map(|one| (format!("criterion `{}`", one.id), one.outcome));
    let verdicts =
        proof.reviews.iter().chain(&proof.audits).map(|one| (format!("`{}`", one.name), one.outcome));
    let scope = std::iter::once(("the scope".to_owned(), proof.scope.outcome));
    let bad = parts.chain(criteria).chain(verdicts).chain(scope).find(|(_, outcome)| match outcome {
        Outcome::Failed | Outcome::CouldNotRun => true,
        Outcome::Passed | Outcome::Skipped | Outcome::Carried => false,
    });
    let said = proof.outcome.word();
    match (proof.outcome, bad) {
        (Outcome::Passed, Some((name, outcome))) => {
            Some(Unfit::Contradiction { said, because: format!("{name} is `{}`", outcome.word()) })
        }
        (Outcome::Passed, None) if proof.checks.is_empty() => {
            Some(Unfit::Contradiction { said, because: "no check is named".to_owned() })
        }
        (Outcome::Passed, None) if proof.merged_tree.is_none() => {
            Some(Unfit::Contradiction { said, because: "nothing was merged".to_owned() })
        }
        (Outcome::Skipped | Outcome::Carried, _) => Some(Unfit::Contradiction {
            said,
            because: "a whole proof passed, failed or could not be made".to_owned(),
        }),
        (Outcome::Passed, None) | (Outcome::Failed | Outcome::CouldNotRun, _) => None,
    }
}
