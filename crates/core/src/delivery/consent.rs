//! Whether a merge may happen: by the rule that the engine decided on, and by a person where that says so.

use serde_json::Value;

use crate::policy::keeping_label;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consent {
    Given(String),
    /// A person has to say so first.
    Awaited(String),
    Denied(String),
}

/// What a label that is on the ticket now comes to, whatever the rule said before.
pub fn kept_by(labels: &[String]) -> Option<Consent> {
    let label = keeping_label(labels)?;
    Some(Consent::Denied(format!("the label `{label}` is on the ticket")))
}

/// What the rule comes to. `opened_by` is who opened a gate after the rule was decided on.
///
/// | rule | a person opened a gate after it | comes to |
/// |---|---|---|
/// | `auto` | whatever | given |
/// | `person` | yes | given |
/// | `person` | no | awaited |
/// | `never` | whatever | denied |
/// | none, or another | whatever | awaited |
pub fn consent(rule: Option<&Value>, opened_by: Option<&str>) -> Consent {
    let decision = rule.and_then(|rule| rule["decision"].as_str());
    let because = rule.and_then(|rule| rule["because"].as_str()).filter(|because| !because.is_empty());
    let told = because.map(|because| format!(": {because}")).unwrap_or_default();
    match (decision, opened_by) {
        (Some("auto"), _) => Consent::Given(format!("the rules allow it{told}")),
        (Some("person"), Some(by)) => Consent::Given(format!("{by} opened the gate for it")),
        (Some("person"), None) => {
            Consent::Awaited(format!("the rules ask for a person before it is merged{told}"))
        }
        (Some("never"), _) => Consent::Denied(format!("the rules never merge such a change{told}")),
        (Some(_) | None, _) => {
            Consent::Awaited("no rule says whether it may be merged, so a person has to".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_row_of_the_table() {
        let rule = |word: &str| json!({ "decision": word, "because": "risk is low" });
        let told = |word: &str, by: Option<&str>| consent(Some(&rule(word)), by);
        for by in [None, Some("ada")] {
            assert_eq!(told("auto", by), Consent::Given("the rules allow it: risk is low".to_owned()));
            assert_eq!(
                told("never", by),
                Consent::Denied("the rules never merge such a change: risk is low".to_owned())
            );
            for other in [told("later", by), consent(None, by), consent(Some(&json!("auto")), by)] {
                assert!(matches!(other, Consent::Awaited(_)), "{other:?}");
            }
        }
        assert_eq!(told("person", Some("ada")), Consent::Given("ada opened the gate for it".to_owned()));
        assert!(matches!(told("person", None), Consent::Awaited(_)));
        let labels = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(kept_by(&labels(&["bug"])), None);
        assert!(matches!(kept_by(&labels(&["bug", "Needs-Human"])), Some(Consent::Denied(_))));
    }
}
