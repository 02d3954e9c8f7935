//! An author's demands on the notes.

use serde_json::Value;

use super::super::contract::{Contract, Problem};
use super::super::pattern::Pattern;
use super::super::prompt::{Demand, OneRule, Rule};
use super::super::scope::Scope;
use super::Reason;

/// Judges every rule on the notes.
pub(super) fn judge(rules: &[Rule], notes: &str, scope: &Scope<'_>) -> Vec<Reason> {
    let notes = Notes { text: notes, scope };
    rules
        .iter()
        .filter_map(|rule| match notes.judge(rule) {
            Verdict::Failed(failures) => Some(failures),
            Verdict::Held(_) | Verdict::Skipped => None,
        })
        .flatten()
        .map(|failure| Reason::new("validation", failure.message, failure.fix))
        .collect()
}

struct Notes<'a> {
    text: &'a str,
    scope: &'a Scope<'a>,
}

enum Verdict {
    /// With the author's messages, for a `not` around it.
    Held(Vec<String>),
    Failed(Vec<Failure>),
    /// Its condition does not hold, so it says nothing.
    Skipped,
}

struct Failure {
    message: String,
    fix: String,
}

impl Notes<'_> {
    fn judge(&self, rule: &Rule) -> Verdict {
        match rule {
            Rule::One(rule) => self.judge_one(rule),
            Rule::All(rules) => self.judge_all(rules),
            Rule::Any(rules) => self.judge_any(rules),
            Rule::Not(rule) => match self.judge(rule) {
                Verdict::Held(messages) => Verdict::Failed(messages.into_iter().map(must_not).collect()),
                Verdict::Failed(failures) => {
                    Verdict::Held(failures.into_iter().map(|failure| failure.message).collect())
                }
                Verdict::Skipped => Verdict::Skipped,
            },
        }
    }

    fn judge_one(&self, rule: &OneRule) -> Verdict {
        if rule.when.as_ref().is_some_and(|when| !when.judge(self.scope).holds) {
            return Verdict::Skipped;
        }
        match self.meets(&rule.demand) {
            Ok(()) => Verdict::Held(vec![rule.message.clone()]),
            Err(fix) => Verdict::Failed(vec![Failure { message: rule.message.clone(), fix }]),
        }
    }

    fn judge_all(&self, rules: &[Rule]) -> Verdict {
        let (held, failed) = self.judge_each(rules);
        match (held, failed) {
            (_, Some(failures)) => Verdict::Failed(failures),
            (Some(messages), None) => Verdict::Held(messages),
            (None, None) => Verdict::Skipped,
        }
    }

    fn judge_any(&self, rules: &[Rule]) -> Verdict {
        let (held, failed) = self.judge_each(rules);
        match (held, failed) {
            (Some(messages), _) => Verdict::Held(messages),
            (None, Some(failures)) => Verdict::Failed(vec![one_of(failures)]),
            (None, None) => Verdict::Skipped,
        }
    }

    fn judge_each(&self, rules: &[Rule]) -> (Option<Vec<String>>, Option<Vec<Failure>>) {
        let (mut held, mut failed) = (None, None);
        for rule in rules {
            match self.judge(rule) {
                Verdict::Held(messages) => held.get_or_insert_with(Vec::new).extend(messages),
                Verdict::Failed(failures) => failed.get_or_insert_with(Vec::new).extend(failures),
                Verdict::Skipped => {}
            }
        }
        (held, failed)
    }

    /// `Err` says what to do.
    fn meets(&self, demand: &Demand) -> Result<(), String> {
        match demand {
            Demand::Contains(part) if self.text.contains(part) => Ok(()),
            Demand::Contains(part) => Err(format!("write `{part}` in the notes")),
            Demand::Matches { pattern, flags } => self.matches(pattern, flags),
            Demand::Length { min, max } => self.has_length(*min, *max),
            Demand::Schema(schema) => self.fits(schema),
        }
    }

    fn matches(&self, pattern: &str, flags: &str) -> Result<(), String> {
        let compiled = Pattern::new(pattern, flags)
            .map_err(|error| format!("the workflow's pattern is not valid ({error}); mend the workflow"))?;
        match compiled.is_match_within(self.text, &self.scope.allowance) {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("write notes that match `{pattern}`")),
            Err(error) => {
                Err(format!("{error}: write shorter notes that match `{pattern}`, or mend the workflow"))
            }
        }
    }

    fn has_length(&self, min: Option<u64>, max: Option<u64>) -> Result<(), String> {
        let length = self.text.chars().count() as u64;
        if let Some(min) = min.filter(|min| length < *min) {
            return Err(format!("write at least {min} characters; these are {length}"));
        }
        if let Some(max) = max.filter(|max| length > *max) {
            return Err(format!("write at most {max} characters; these are {length}"));
        }
        Ok(())
    }

    fn fits(&self, schema: &Value) -> Result<(), String> {
        let value: Value = serde_json::from_str(self.text)
            .map_err(|error| format!("write the notes as JSON and nothing else: {error}"))?;
        let contract = Contract { kind: None, schema: schema.clone(), example: Value::Null };
        let words = |problems: Vec<Problem>| problems.iter().map(Problem::to_string).collect::<Vec<_>>();
        contract.check(&value).map_err(|problems| words(problems).join("; "))
    }
}

fn must_not(message: String) -> Failure {
    Failure { message, fix: "change the notes so that this is no longer so".to_owned() }
}

fn one_of(failures: Vec<Failure>) -> Failure {
    let (messages, fixes): (Vec<_>, Vec<_>) =
        failures.into_iter().map(|failure| (failure.message, failure.fix)).unzip();
    Failure { message: messages.join("; or: "), fix: fixes.join("; or: ") }
}
