//! `queue:` how many tasks run at once, how fast they are started, and what becomes of those whose scope is unknown.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::sandbox::{listed, one_of, row, with, wrong};
use super::{Error, Row};
use crate::queue::{Limits, Rates, UnknownScope};

pub(super) const AGENT: &str = "queue.concurrency.agent";
pub(super) const GLOBAL: &str = "queue.concurrency.global";
pub(super) const PIPELINE: &str = "queue.concurrency.pipeline";
pub(super) const WORKSPACE: &str = "queue.concurrency.workspace";
pub(super) const STARTS: &str = "queue.starts_per_minute";
pub(super) const UNKNOWN_SCOPE: &str = "queue.unknown_scope";

/// The name for every provider that is not named.
const OTHERS: &str = "others";

/// More at once than this is a slip of the pen.
const MOST: u32 = 1000;

/// How the queue is worked off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueConfig {
    pub limits: Limits,
    pub rates: Rates,
    pub unknown_scope: UnknownScope,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    #[serde(default)]
    concurrency: Concurrency,
    starts_per_minute: Option<Spanned<Starts>>,
    unknown_scope: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Concurrency {
    global: Option<Spanned<u64>>,
    workspace: Option<Spanned<u64>>,
    pipeline: Option<Spanned<BTreeMap<String, u64>>>,
    agent: Option<Spanned<BTreeMap<String, u64>>>,
}

/// The same for all, or for each provider.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Starts {
    All(u64),
    Each(BTreeMap<String, u64>),
}

impl Section {
    /// The values as rows have them.
    pub(super) fn values(self) -> [(&'static str, Option<Spanned<String>>); 6] {
        let Concurrency { global, workspace, pipeline, agent } = self.concurrency;
        let number =
            |number: Option<Spanned<u64>>| number.map(|number| with(&number, number.value.to_string()));
        let each =
            |each: Option<Spanned<BTreeMap<String, u64>>>| each.map(|each| with(&each, joined(&each.value)));
        let starts = self.starts_per_minute.map(|starts| match &starts.value {
            Starts::All(number) => with(&starts, number.to_string()),
            Starts::Each(each) => with(&starts, joined(each)),
        });
        [
            (AGENT, each(agent)),
            (GLOBAL, number(global)),
            (PIPELINE, each(pipeline)),
            (WORKSPACE, number(workspace)),
            (STARTS, starts),
            (UNKNOWN_SCOPE, self.unknown_scope),
        ]
    }
}

fn joined(each: &BTreeMap<String, u64>) -> String {
    each.iter().map(|(name, number)| format!("{name}={number}")).collect::<Vec<_>>().join(",")
}

pub(super) fn resolve(rows: &[Row]) -> Result<QueueConfig, Error> {
    let limits = Limits {
        global: count(rows, GLOBAL, &row(rows, GLOBAL).value)?,
        workspace: count(rows, WORKSPACE, &row(rows, WORKSPACE).value)?,
        workspaces: BTreeMap::new(),
        pipeline: each(rows, PIPELINE)?,
        agent: each(rows, AGENT)?,
    };
    Ok(QueueConfig {
        limits,
        rates: rates(rows)?,
        unknown_scope: one_of(rows, UNKNOWN_SCOPE, &UnknownScope::WORDS)?,
    })
}

fn rates(rows: &[Row]) -> Result<Rates, Error> {
    let value = row(rows, STARTS).value.trim();
    if !value.contains('=') {
        return Ok(Rates { others: count(rows, STARTS, value)?, named: BTreeMap::new() });
    }
    let mut named = each(rows, STARTS)?;
    let others = named.remove(OTHERS).unwrap_or(Rates::default().others);
    Ok(Rates { others, named })
}

/// `name=number`, with commas between them.
fn each(rows: &[Row], key: &'static str) -> Result<BTreeMap<String, u32>, Error> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_./:@~+".contains(letter);
    let pairs = listed(rows, key).map(|pair| match pair.rsplit_once('=') {
        Some((name, number)) if !name.is_empty() && name.chars().all(is_letter) => {
            Ok((name.to_owned(), count(rows, key, number)?))
        }
        Some(_) | None => {
            let problem = format!("`{pair}` bounds nothing; write `name=number`, such as `claude=2`");
            Err(wrong(row(rows, key), problem))
        }
    });
    pairs.collect()
}

fn count(rows: &[Row], key: &'static str, text: &str) -> Result<u32, Error> {
    match text.trim().parse() {
        Ok(number) if (1..=MOST).contains(&number) => Ok(number),
        Ok(_) | Err(_) => {
            let problem = format!(
                "`{text}` is not a number from 1 to {MOST}; `longhaul queue pause` keeps everything from starting"
            );
            Err(wrong(row(rows, key), problem))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{from_environment, from_flags, parse_file, resolve};

    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_queue() {
        let defaults = QueueConfig {
            limits: Limits::default(),
            rates: Rates::default(),
            unknown_scope: UnknownScope::default(),
        };
        assert_eq!(resolve(&[]).unwrap().queue, defaults);
        assert_eq!((defaults.limits.global, defaults.limits.workspace, defaults.rates.others), (4, 2, 10));
    }

    #[test]
    fn what_a_file_says_is_read_and_the_environment_and_flags_win() {
        let text = "queue:\n  concurrency: { global: 8, workspace: 3, pipeline: { lh.pipeline.audit: 1 }, agent: { claude: 2, anthropic/claude-opus: 1 } }\n  starts_per_minute: { anthropic: 4, others: 30 }\n  unknown_scope: serialise\n";
        let file = parse_file("user.yml", text).unwrap();
        let config = resolve(std::slice::from_ref(&file)).unwrap();
        let named = |pairs: &[(&str, u32)]| -> BTreeMap<String, u32> {
            pairs.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect()
        };
        assert_eq!(
            config.queue,
            QueueConfig {
                limits: Limits {
                    global: 8,
                    workspace: 3,
                    workspaces: BTreeMap::new(),
                    pipeline: named(&[("lh.pipeline.audit", 1)]),
                    agent: named(&[("claude", 2), ("anthropic/claude-opus", 1)]),
                },
                rates: Rates { others: 30, named: named(&[("anthropic", 4)]) },
                unknown_scope: UnknownScope::Serialise,
            }
        );
        let environment =
            from_environment(|name| (name == "LONGHAUL_QUEUE_STARTS_PER_MINUTE").then(|| "7".to_owned()));
        let flags = from_flags(["queue.concurrency.agent=codex=5", "queue.unknown_scope=run"]).unwrap();
        let queue = resolve(&[file, environment, flags]).unwrap().queue;
        assert_eq!(queue.rates, Rates { others: 7, named: BTreeMap::new() });
        assert_eq!((queue.limits.agent, queue.unknown_scope), (named(&[("codex", 5)]), UnknownScope::Run));
    }

    #[test]
    fn what_would_start_nothing_or_bound_nothing_is_refused_with_its_place() {
        for (text, told) in [
            (
                "queue: { concurrency: { global: 0 } }",
                "`0` is not a number from 1 to 1000; `longhaul queue pause`",
            ),
            ("queue: { concurrency: { workspace: 5000 } }", "`5000` is not a number"),
            ("queue: { concurrency: { agent: { 'a b': 1 } } }", "`a b=1` bounds nothing"),
            ("queue: { starts_per_minute: { anthropic: 0 } }", "`0` is not a number"),
            ("queue: { unknown_scope: guess }", "`guess` is not one of `run`, `serialise`"),
        ] {
            let message = resolve(&[parse_file("user.yml", text).unwrap()]).unwrap_err().to_string();
            assert!(message.starts_with("user.yml:1 sets `queue.") && message.contains(told), "{message}");
        }
        for text in
            ["queue: { concurrency: 3 }", "queue: { paused: true }", "queue: { starts_per_minute: [1] }"]
        {
            assert!(parse_file("user.yml", text).is_err(), "{text}");
        }
    }
}
