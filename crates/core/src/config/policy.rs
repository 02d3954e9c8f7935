//! `policy:` what a workspace chooses where the policies leave a choice.

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::sandbox::{joined, listed, one_of, row, with, wrong};
use super::{Error, Row, number};
use crate::policy::Settings;
use crate::policy::facts::Risk;
use crate::policy::settings::{Family, Freshness, IntentGate, MergeMethod, MergeSettings, ReviewSettings};

pub(super) const INTENT_GATE: &str = "policy.intent_gate";
pub(super) const AUTO: &str = "policy.merge.auto";
pub(super) const FRESHNESS: &str = "policy.merge.freshness";
pub(super) const METHOD: &str = "policy.merge.method";
pub(super) const NEVER: &str = "policy.merge.never";
pub(super) const FAMILIES: &str = "policy.review.families";
pub(super) const FIX_ATTEMPTS: &str = "policy.review.fix_attempts";

const GATES: [(&str, IntentGate); 3] =
    [("always", IntentGate::Always), ("vague", IntentGate::Vague), ("never", IntentGate::Never)];
const RISKS: [(&str, Risk); 3] = [("low", Risk::Low), ("medium", Risk::Medium), ("high", Risk::High)];
const METHODS: [(&str, MergeMethod); 3] =
    [("squash", MergeMethod::Squash), ("merge", MergeMethod::Merge), ("rebase", MergeMethod::Rebase)];
const FRESH: [(&str, Freshness); 2] = [("strict", Freshness::Strict), ("disjoint", Freshness::Disjoint)];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    #[serde(default)]
    merge: MergeSection,
    #[serde(default)]
    review: ReviewSection,
    intent_gate: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct MergeSection {
    auto: Option<Spanned<Vec<String>>>,
    method: Option<Spanned<String>>,
    freshness: Option<Spanned<String>>,
    never: Option<Spanned<Vec<String>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReviewSection {
    fix_attempts: Option<Spanned<u64>>,
    families: Option<Spanned<Vec<String>>>,
}

/// Each key with what a file says of it.
type Values = [(&'static str, Option<Spanned<String>>); 7];

impl Section {
    /// The values as rows have them.
    pub(super) fn read(self) -> Result<Values, String> {
        let Self { merge, review, intent_gate } = self;
        Ok([
            (INTENT_GATE, intent_gate),
            (AUTO, joined(AUTO, merge.auto)?),
            (METHOD, merge.method),
            (FRESHNESS, merge.freshness),
            (NEVER, joined(NEVER, merge.never)?),
            (FAMILIES, joined(FAMILIES, review.families)?),
            (FIX_ATTEMPTS, review.fix_attempts.map(|count| with(&count, count.value.to_string()))),
        ])
    }
}

pub(super) fn resolve(rows: &[Row]) -> Result<Settings, Error> {
    let families = Family::ALL.map(|family| (family.word(), family));
    Ok(Settings {
        merge: MergeSettings {
            auto: each_of(rows, AUTO, &RISKS)?,
            method: one_of(rows, METHOD, &METHODS)?,
            freshness: one_of(rows, FRESHNESS, &FRESH)?,
            never: listed(rows, NEVER).map(str::to_owned).collect(),
        },
        review: ReviewSettings {
            fix_attempts: u32::try_from(number(rows, FIX_ATTEMPTS)?).unwrap_or(u32::MAX),
            families: each_of(rows, FAMILIES, &families)?,
        },
        intent_gate: one_of(rows, INTENT_GATE, &GATES)?,
    })
}

fn each_of<T: Copy>(rows: &[Row], key: &'static str, words: &[(&str, T)]) -> Result<Vec<T>, Error> {
    let known = |text: &str| words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    let each = listed(rows, key).map(|text| {
        known(text).ok_or_else(|| {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            let problem = format!("`{text}` is not one of {}; write some of them", words.join(", "));
            wrong(row(rows, key), problem)
        })
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use crate::config::{from_flags, parse_file, resolve};

    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_policies() {
        assert_eq!(resolve(&[]).unwrap().policy, Settings::default());
    }

    #[test]
    fn what_a_workspace_chooses_is_read_and_a_flag_wins() {
        let text = "policy:\n  merge: { auto: [low, medium], method: rebase, freshness: strict, never: [\"db/**\", ops/*.tf] }\n  review: { fix_attempts: 1, families: [security] }\n  intent_gate: always\n";
        let file = parse_file("ws.yml", text).unwrap();
        let chosen = resolve(std::slice::from_ref(&file)).unwrap().policy;
        assert_eq!(
            chosen,
            Settings {
                merge: MergeSettings {
                    auto: vec![Risk::Low, Risk::Medium],
                    method: MergeMethod::Rebase,
                    freshness: Freshness::Strict,
                    never: vec!["db/**".to_owned(), "ops/*.tf".to_owned()],
                },
                review: ReviewSettings { fix_attempts: 1, families: vec![Family::Security] },
                intent_gate: IntentGate::Always,
            }
        );
        let flags = from_flags(["policy.merge.auto=", "policy.intent_gate=never"]).unwrap();
        let chosen = resolve(&[file, flags]).unwrap().policy;
        assert_eq!((chosen.merge.auto, chosen.intent_gate), (Vec::new(), IntentGate::Never));
    }

    #[test]
    fn a_wrong_choice_is_refused_with_its_place() {
        for (text, told) in [
            ("policy: { merge: { auto: [none] } }", "`none` is not one of `low`, `medium`, `high`"),
            ("policy: { merge: { method: octopus } }", "`octopus` is not one of"),
            ("policy: { review: { families: [style] } }", "`style` is not one of `correctness`"),
            ("policy: { review: { fix_attempts: 99 } }", "`99` is not a number from 0 to 10"),
            ("policy: { intent_gate: sometimes }", "`sometimes` is not one of"),
        ] {
            let message = resolve(&[parse_file("ws.yml", text).unwrap()]).unwrap_err().to_string();
            assert!(message.starts_with("ws.yml:1 sets `policy.") && message.contains(told), "{message}");
        }
        assert!(parse_file("ws.yml", "policy: { merge: { allways: [low] } }").is_err());
    }
}
