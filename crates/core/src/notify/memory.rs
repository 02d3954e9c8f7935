//! What was told already. It may be lost: then what is in the inbox and young is told once more.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_events::Timestamp;
use serde::{Deserialize, Serialize};

use super::rule::{Rule, RuleKey};
use super::{About, Message};
use crate::inbox::{Severity, Trouble};
use crate::plain::clean;
use crate::workflow::scope::cut;

/// What is not in the inbox any more is forgotten after this, in case it was only out of sight.
const FORGET_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// How long the first pause is after a failure; each is twice as long as the one before.
const FIRST_PAUSE_MS: i64 = 60 * 1000;
const LONGEST_PAUSE_MS: i64 = 60 * 60 * 1000;
/// After so many failures one after another a person should know.
const SEVERAL: u32 = 3;
/// Of what a way said when it failed.
const PROBLEM_LETTERS: usize = 200;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// By way, the entries that were told, and when.
    told: BTreeMap<RuleKey, BTreeMap<String, Timestamp>>,
    /// By message.
    failing: BTreeMap<String, Failing>,
    /// By way, the moment of the newest digest.
    digests: BTreeMap<RuleKey, Timestamp>,
}

/// A message that does not arrive. Each has pauses of its own, so that one which cannot be told keeps no other back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failing {
    rule: RuleKey,
    /// What it tells of; nothing for a digest.
    entries: Vec<String>,
    pub times: u32,
    pub since: Timestamp,
    pub not_before: Timestamp,
    pub problem: String,
}

impl Memory {
    pub(super) fn was_told(&self, rule: &RuleKey, entry: &str) -> bool {
        self.told.get(rule).is_some_and(|told| told.contains_key(entry))
    }

    /// Whether it was tried to tell of an entry by this way.
    pub(super) fn was_tried(&self, rule: &RuleKey, entry: &str) -> bool {
        let tells_of_it = |failing: &Failing| failing.rule == *rule && failing.entries.iter().any(|one| one == entry);
        self.failing.values().any(tells_of_it)
    }

    pub(super) fn may_try(&self, message: &Message, now: Timestamp) -> bool {
        self.failing.get(&message.id).is_none_or(|failing| failing.not_before <= now)
    }

    pub(super) fn last_digest(&self, rule: &RuleKey) -> Option<Timestamp> {
        self.digests.get(rule).copied()
    }

    /// It arrived.
    pub fn delivered(&mut self, message: &Message, now: Timestamp) {
        self.failing.remove(&message.id);
        match &message.about {
            About::Entries(entries) => {
                let told = self.told.entry(message.rule.clone()).or_default();
                told.extend(entries.iter().map(|entry| (entry.clone(), now)));
                // An earlier message about less than this is not tried any more.
                let is_settled = |failing: &Failing| {
                    failing.rule == message.rule && failing.entries.iter().all(|entry| told.contains_key(entry))
                };
                self.failing.retain(|_, failing| failing.entries.is_empty() || !is_settled(failing));
            }
            About::Digest(moment) => drop(self.digests.insert(message.rule.clone(), *moment)),
        }
    }

    /// It did not arrive, as far as is known.
    pub fn failed(&mut self, message: &Message, problem: &str, now: Timestamp) {
        let before = self.failing.get(&message.id);
        let times = before.map_or(1, |failing| failing.times.saturating_add(1));
        let since = before.map_or(now, |failing| failing.since);
        let pause = FIRST_PAUSE_MS.saturating_mul(1 << (times - 1).min(10)).min(LONGEST_PAUSE_MS);
        let not_before = Timestamp(now.0.saturating_add(pause));
        let problem = cut(&clean(problem), PROBLEM_LETTERS);
        let entries = match &message.about {
            About::Entries(entries) => entries.clone(),
            About::Digest(_) => Vec::new(),
        };
        let failing = Failing { rule: message.rule.clone(), entries, times, since, not_before, problem };
        self.failing.insert(message.id.clone(), failing);
    }

    /// Takes note of rules that are new, so that no digest from before is made up for, and forgets what nobody needs.
    /// Says whether anything changed.
    pub fn tidy(&mut self, rules: &[Rule], entries: &BTreeSet<&str>, now: Timestamp) -> bool {
        let before = self.clone();
        for rule in rules {
            if let Some(newest) = rule.digest.as_ref().and_then(|digest| digest.newest(now)) {
                self.digests.entry(rule.key()).or_insert(newest);
            }
        }
        let is_young = |at: &Timestamp| now.0.saturating_sub(at.0) < FORGET_MS;
        for told in self.told.values_mut() {
            told.retain(|entry, at| entries.contains(entry.as_str()) || is_young(at));
        }
        let known: BTreeSet<RuleKey> = rules.iter().map(Rule::key).collect();
        self.told.retain(|_, told| !told.is_empty());
        self.failing.retain(|_, failing| {
            let is_wanted = |entry: &String| entries.contains(entry.as_str());
            let is_over = failing.entries.is_empty() && !is_young(&failing.since);
            known.contains(&failing.rule)
                && !is_over
                && (failing.entries.is_empty() || failing.entries.iter().any(is_wanted))
        });
        self.digests.retain(|rule, _| known.contains(rule));
        *self != before
    }

    /// The ways that a person should look after.
    pub fn troubles(&self, rules: &[Rule]) -> Vec<Trouble> {
        let worst = |key: &RuleKey| {
            let of_it = self.failing.values().filter(|failing| failing.rule == *key && failing.times >= SEVERAL);
            of_it.max_by_key(|failing| failing.times)
        };
        let mut ways: BTreeMap<RuleKey, &Rule> = BTreeMap::new();
        for rule in rules {
            ways.entry(rule.key()).or_insert(rule);
        }
        let trouble = |(key, rule): (&RuleKey, &&Rule)| {
            let failing = worst(key)?;
            Some(Trouble {
                subject: format!("notify:{key}"),
                title: "Notifications do not arrive".to_owned(),
                problem: format!("{} failed {} times: {}", rule.way, failing.times, failing.problem),
                remedy: "longhaul config show --origin".to_owned(),
                severity: Severity::Hinders,
                workspace: None,
                since: failing.since,
            })
        };
        ways.iter().filter_map(trouble).collect()
    }
}
