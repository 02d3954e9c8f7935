//! What was told already, and what does not arrive.
//!
//! What arrived is on record in the stream of the daemon. What fails is remembered beside it and may be lost: then it is tried
//! again at once.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_events::Timestamp;
use serde::{Deserialize, Serialize};

use super::rule::Rule;
use super::{About, Message};
use crate::inbox::{Severity, Trouble};
use crate::plain::clean;
use crate::workflow::scope::cut;

/// What a digest is put on record as, with its moment.
const DIGEST: &str = "digest ";
/// How long the first pause is after a failure; each is twice as long as the one before.
const FIRST_PAUSE_MS: i64 = 60 * 1000;
const LONGEST_PAUSE_MS: i64 = 60 * 60 * 1000;
/// After so many failures one after another a person should know.
const SEVERAL: u32 = 3;
/// Of what a way said when it failed.
const PROBLEM_LETTERS: usize = 200;

/// What whoever tells people goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// By way, the entries that were told.
    told: BTreeMap<String, BTreeSet<String>>,
    /// By way, the moment of the newest digest.
    digests: BTreeMap<String, Timestamp>,
    pub failures: Failures,
    /// Since when somebody looks. No digest from before is made up for, unless there was one before it.
    since: Timestamp,
}

/// What does not arrive, by message. Each has pauses of its own, so that one which cannot be told keeps no other back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Failures(BTreeMap<String, Failing>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failing {
    way: String,
    /// What it tells of; nothing for a digest.
    entries: Vec<String>,
    times: u32,
    since: Timestamp,
    not_before: Timestamp,
    problem: String,
}

/// A fact that goes on record: somebody was told of this, in this way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub entry: String,
    pub way: String,
}

impl Memory {
    /// From what is on record, entry and way, and what failed.
    pub fn recall<'a>(
        record: impl IntoIterator<Item = (&'a str, &'a str)>,
        failures: Failures,
        since: Timestamp,
    ) -> Self {
        let mut memory = Self { told: BTreeMap::new(), digests: BTreeMap::new(), failures, since };
        for (entry, way) in record {
            memory.note(&Told { entry: entry.to_owned(), way: way.to_owned() });
        }
        memory
    }

    fn note(&mut self, told: &Told) {
        let Told { entry, way } = told.clone();
        match entry.strip_prefix(DIGEST).and_then(|moment| moment.parse().ok()) {
            Some(moment) => {
                let newest = self.digests.entry(way).or_default();
                *newest = Timestamp(moment).max(*newest);
            }
            None => drop(self.told.entry(way).or_default().insert(entry)),
        }
    }

    pub(super) fn was_told(&self, way: &str, entry: &str) -> bool {
        self.told.get(way).is_some_and(|told| told.contains(entry))
    }

    /// Whether it was tried to tell of an entry in this way.
    pub(super) fn was_tried(&self, way: &str, entry: &str) -> bool {
        let tells_of_it =
            |failing: &Failing| failing.way == way && failing.entries.iter().any(|one| one == entry);
        self.failures.0.values().any(tells_of_it)
    }

    pub(super) fn may_try(&self, message: &Message, now: Timestamp) -> bool {
        self.failures.0.get(&message.id).is_none_or(|failing| failing.not_before <= now)
    }

    /// The moment up to which digests are settled.
    pub(super) fn digests_until(&self, way: &str) -> Timestamp {
        self.digests.get(way).copied().unwrap_or(self.since)
    }

    /// It arrived. Says what goes on record.
    pub fn delivered(&mut self, message: &Message) -> Vec<Told> {
        let way = message.rule.to_string();
        let entries = match &message.about {
            About::Entries(entries) => entries.clone(),
            About::Digest(moment) => vec![format!("{DIGEST}{}", moment.0)],
        };
        let facts: Vec<Told> = entries.into_iter().map(|entry| Told { entry, way: way.clone() }).collect();
        facts.iter().for_each(|told| self.note(told));
        self.failures.0.remove(&message.id);
        // An earlier message about less than this is not tried any more.
        let told = self.told.entry(way.clone()).or_default();
        let is_settled = |failing: &Failing| {
            failing.way == way
                && !failing.entries.is_empty()
                && failing.entries.iter().all(|one| told.contains(one))
        };
        self.failures.0.retain(|_, failing| !is_settled(failing));
        facts
    }

    /// It did not arrive, as far as is known.
    pub fn failed(&mut self, message: &Message, problem: &str, now: Timestamp) {
        let before = self.failures.0.get(&message.id);
        let times = before.map_or(1, |failing| failing.times.saturating_add(1));
        let since = before.map_or(now, |failing| failing.since);
        let pause = FIRST_PAUSE_MS.saturating_mul(1 << (times - 1).min(10)).min(LONGEST_PAUSE_MS);
        let not_before = Timestamp(now.0.saturating_add(pause));
        let entries = match &message.about {
            About::Entries(entries) => entries.clone(),
            About::Digest(_) => Vec::new(),
        };
        let (way, problem) = (message.rule.to_string(), cut(&clean(problem), PROBLEM_LETTERS));
        let failing = Failing { way, entries, times, since, not_before, problem };
        self.failures.0.insert(message.id.clone(), failing);
    }

    /// Forgets failures that concern nobody any more. Says whether there were any.
    pub fn tidy(&mut self, rules: &[Rule], entries: &BTreeSet<&str>, now: Timestamp) -> bool {
        let ways: BTreeSet<String> = rules.iter().map(|rule| rule.key().to_string()).collect();
        let before = self.failures.0.len();
        self.failures.0.retain(|_, failing| {
            let concerns = failing.entries.iter().any(|entry| entries.contains(entry.as_str()));
            let is_late_digest = super::digest::is_too_late(failing.since, now);
            ways.contains(&failing.way) && if failing.entries.is_empty() { !is_late_digest } else { concerns }
        });
        self.failures.0.len() != before
    }
}

impl Failures {
    /// The ways that a person should look after.
    pub fn troubles(&self, rules: &[Rule]) -> Vec<Trouble> {
        let mut ways: BTreeMap<String, &Rule> = BTreeMap::new();
        for rule in rules {
            ways.entry(rule.key().to_string()).or_insert(rule);
        }
        let trouble = |(key, rule): (&String, &&Rule)| {
            let several = self.0.values().filter(|failing| failing.way == *key && failing.times >= SEVERAL);
            let worst = several.max_by_key(|failing| failing.times)?;
            Some(Trouble {
                subject: format!("notify:{key}"),
                title: "Notifications do not arrive".to_owned(),
                problem: format!("{} failed {} times: {}", rule.way, worst.times, worst.problem),
                remedy: "longhaul config show --origin".to_owned(),
                severity: Severity::Hinders,
                workspace: None,
                since: worst.since,
            })
        };
        ways.iter().filter_map(trouble).collect()
    }
}
