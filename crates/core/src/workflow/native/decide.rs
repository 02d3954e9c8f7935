//! Steps that ask a policy.

use std::collections::BTreeMap;

use super::step::Reading;
use super::{Fields, Reader};
use crate::policy::{Need, Policy, Settings};
use crate::workflow::step::{Decide, StepKind};
use crate::workflow::suggest::or_known;

const POLICIES: &[(&str, Policy)] = &{
    let mut words = [("", Policy::Routing); Policy::ALL.len()];
    let mut index = 0;
    while index < words.len() {
        words[index] = (Policy::ALL[index].word(), Policy::ALL[index]);
        index += 1;
    }
    words
};

impl Reader<'_> {
    pub(super) fn decide_step(&mut self, reading: &mut Reading<'_, '_>) -> Option<StepKind> {
        let mut map = reading.fields.map("decide")?;
        map.required("policy");
        let policy = map.choice("policy", POLICIES);
        let with = self.decided_by(&mut map, policy);
        let into = self.engine_var_under(&mut map, "into");
        map.finish();
        let policy = policy?;
        let into = into.unwrap_or_else(|| policy.word().to_owned());
        self.engine_var(&into);
        Some(StepKind::Decide(Decide { policy, with, into, settings: Settings::default() }))
    }

    /// What the policy is given: only what it looks at, and all that it cannot do without.
    fn decided_by(
        &self,
        map: &mut Fields<'_>,
        policy: Option<Policy>,
    ) -> BTreeMap<String, serde_json::Value> {
        let entries = map.entries("with");
        let Some(policy) = policy else { return BTreeMap::new() };
        let known: Vec<&str> = policy.inputs().iter().map(|input| input.name).collect();
        for (key, _) in entries.iter().filter(|(key, _)| !known.contains(&key.name.as_str())) {
            let message = format!("policy `{}` does not look at `{}`", policy.word(), key.name);
            self.findings.error(&key.span, message, or_known(&key.name, known.clone()));
        }
        let needed = policy.inputs().iter().filter(|input| input.need == Need::Always);
        for input in needed.filter(|input| !entries.iter().any(|(key, _)| key.name == input.name)) {
            let message = format!("policy `{}` needs `{}`", policy.word(), input.name);
            let fix = format!("add `with: {{ {}: \"{{{{…}}}}\" }}`", input.name);
            self.findings.error(map.span(), message, fix);
        }
        entries.iter().map(|(key, node)| (key.name.clone(), node.to_json())).collect()
    }
}
