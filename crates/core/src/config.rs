//! Settings: defaults, the workspace's file, the user's file, environment, flags; later wins.
//!
//! Each key is one row of [`KEYS`]. A file with an unknown key or a wrong value is refused whole, with the
//! place: a setting that is silently ignored is worse than none.

mod agents;
mod budget;
mod checkout;
mod checks;
mod daemon;
mod identity;
mod notify;
mod pipeline;
mod policy;
mod queue;
mod sandbox;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_saphyr::Spanned;

pub use agents::AgentsConfig;
pub use checkout::{CheckoutConfig, CopiedFile, SetupCommand};
pub use pipeline::Governance;
pub use queue::QueueConfig;
pub use sandbox::{SandboxConfig, SandboxLevel, SandboxNetwork};

use longhaul_events::Caps;

use crate::budget::amount;
use crate::delivery::DeliverySettings;
use crate::notify::Rule;
use crate::units::{parse_duration_ms, parse_size_bytes};
use crate::workflow::step::Check;

/// One setting that a person may change.
#[derive(Debug)]
pub struct Key {
    pub path: &'static str,
    pub default: &'static str,
    pub about: &'static str,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Duration,
    Size,
    /// A number up to the given one.
    Count(u64),
    /// A cap of this name.
    Cap(&'static str),
    /// `slot=target`, with commas between them; a later place adds to an earlier one, slot by slot.
    Bindings,
    /// One of some words, or a list with commas; the section reads it.
    Text,
}

pub const KEYS: &[Key] = &[
    Key {
        path: agents::DEFAULT,
        default: "",
        about: "who is asked where nobody else is named: an agent of `agent list`, or `PROVIDER/MODEL`",
        kind: Kind::Text,
    },
    Key {
        path: agents::LIGHT,
        default: "",
        about: "who is asked for light work, and with commas who instead if that one cannot be",
        kind: Kind::Text,
    },
    Key { path: agents::STANDARD, default: "", about: "the same for usual work", kind: Kind::Text },
    Key { path: agents::HEAVY, default: "", about: "the same for hard work", kind: Kind::Text },
    Key {
        path: BINDINGS,
        default: "",
        about: "the routine or workflow for each slot of WorkRail workflows, as `slot=id,slot=id`",
        kind: Kind::Bindings,
    },
    Key {
        path: budget::TOKENS,
        default: "400k",
        about: "how many tokens a session may use, in and out",
        kind: Kind::Cap("tokens"),
    },
    Key {
        path: budget::TIME,
        default: "60m",
        about: "how long a session may be at work; what waits for a person uses no time",
        kind: Kind::Cap("time"),
    },
    Key { path: budget::MONEY, default: "5usd", about: "what a session may cost", kind: Kind::Cap("money") },
    Key {
        path: budget::TURNS,
        default: "200",
        about: "how many turns a session may ask for",
        kind: Kind::Cap("turns"),
    },
    Key {
        path: budget::TASK_MONEY,
        default: "20usd",
        about: "what a session and all that it leads to may cost",
        kind: Kind::Cap("money"),
    },
    Key {
        path: budget::DAY_MONEY,
        default: "100usd",
        about: "what all sessions of a day (UTC) may cost",
        kind: Kind::Cap("money"),
    },
    Key {
        path: PORTS,
        default: "0",
        about: "how many free ports a worktree gets, as `LONGHAUL_PORT_1` and so on",
        kind: Kind::Count(100),
    },
    Key {
        path: daemon::LISTEN,
        default: "127.0.0.1:0",
        about: "where the daemon takes requests; port 0 is any that is free, `off` none",
        kind: Kind::Text,
    },
    Key {
        path: identity::COAUTHOR,
        default: "true",
        about: "whether commits of a delivery name the agent as co-author",
        kind: Kind::Text,
    },
    Key {
        path: identity::EMAIL,
        default: "",
        about: "whose address a delivery commits with; without one, that of git",
        kind: Kind::Text,
    },
    Key {
        path: identity::NAME,
        default: "",
        about: "whose name a delivery commits with; without one, that of git",
        kind: Kind::Text,
    },
    Key {
        path: identity::SIGN,
        default: "inherit",
        about: "whether a delivery signs its commit: `inherit` (as git is told to), `always` or `never`",
        kind: Kind::Text,
    },
    Key {
        path: pipeline::DEFAULT,
        default: "lh.pipeline.feature",
        about: "the workflow that `longhaul run GOAL` follows",
        kind: Kind::Text,
    },
    Key {
        path: pipeline::MODE,
        default: "autonomous",
        about: "whether the daemon starts a task as soon as it may (`autonomous`) or when all that is required is there (`governed`)",
        kind: Kind::Text,
    },
    Key {
        path: pipeline::REQUIRE,
        default: "",
        about: "what a governed task needs before it starts, as `spec@item=7d,docs/adr.md@workspace=3d`",
        kind: Kind::Text,
    },
    Key {
        path: policy::INTENT_GATE,
        default: "vague",
        about: "when a person looks at the intent before anything is written: `always`, `vague` or `never`",
        kind: Kind::Text,
    },
    Key {
        path: policy::AUTO,
        default: "low",
        about: "the risks whose changes may merge without asking anybody: some of `low,medium,high`",
        kind: Kind::Text,
    },
    Key {
        path: policy::FRESHNESS,
        default: "disjoint",
        about: "when a proof outlives a moved base: `strict` (never) or `disjoint` (no file is shared)",
        kind: Kind::Text,
    },
    Key {
        path: policy::METHOD,
        default: "squash",
        about: "how changes are merged: `squash`, `merge` or `rebase`",
        kind: Kind::Text,
    },
    Key {
        path: policy::NEVER,
        default: "",
        about: "paths that never merge by themselves, as `db/**,ops/*.tf`",
        kind: Kind::Text,
    },
    Key {
        path: policy::FAMILIES,
        default: "correctness,tests,security",
        about: "what reviews look for: some of `correctness,tests,security,architecture`",
        kind: Kind::Text,
    },
    Key {
        path: policy::FIX_ATTEMPTS,
        default: "3",
        about: "how often findings are fixed before a person is asked",
        kind: Kind::Count(10),
    },
    Key {
        path: queue::AGENT,
        default: "",
        about: "how many tasks an agent may do at once, as `claude=2,codex=1`",
        kind: Kind::Text,
    },
    Key {
        path: queue::GLOBAL,
        default: "4",
        about: "how many tasks of the queue may run at once",
        kind: Kind::Text,
    },
    Key {
        path: queue::PIPELINE,
        default: "",
        about: "how many tasks may follow a pipeline at once, as `lh.pipeline.audit=1`",
        kind: Kind::Text,
    },
    Key {
        path: queue::WORKSPACE,
        default: "2",
        about: "how many tasks may run at once in one workspace",
        kind: Kind::Text,
    },
    Key {
        path: queue::STARTS,
        default: "10",
        about: "how many tasks a minute may begin to ask a provider: a number, or `anthropic=4,others=10`",
        kind: Kind::Text,
    },
    Key {
        path: queue::UNKNOWN_SCOPE,
        default: "run",
        about: "what becomes of a task that does not say which files it touches: `run` or `serialise`",
        kind: Kind::Text,
    },
    Key {
        path: "retention.blobs",
        default: "90d",
        about: "how long `gc` keeps the large contents of closed sessions",
        kind: Kind::Duration,
    },
    Key {
        path: "retention.disk",
        default: "20G",
        about: "above this size of the data directory `doctor` and `gc` warn",
        kind: Kind::Size,
    },
    Key {
        path: sandbox::ACCEPT_REDUCED,
        default: "false",
        about: "whether level `reduced` will do where level `full` does not work",
        kind: Kind::Text,
    },
    Key {
        path: sandbox::CACHES,
        default: "",
        about: "folders in the home that agents may change too, as `~/.cargo/registry,~/.npm`",
        kind: Kind::Text,
    },
    Key {
        path: sandbox::HOSTS,
        default: "",
        about: "hosts that are let through, as `docs.example.com,*.example.org:8443`",
        kind: Kind::Text,
    },
    Key {
        path: sandbox::LEVEL,
        default: "full",
        about: "how strong the walls around an agent are: `full`, `reduced` or `none`",
        kind: Kind::Text,
    },
    Key {
        path: sandbox::NETWORK,
        default: "allow-list",
        about: "what an agent reaches: `none`, `allow-list` (the hosts that are let through) or `open`",
        kind: Kind::Text,
    },
];

const BINDINGS: &str = "bindings";
const PORTS: &str = "checkout.ports";

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Default,
    /// A file and the line in it.
    File(String, u64),
    Environment(String),
    Flag,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, line) => write!(f, "{path}:{line}"),
            Self::Environment(name) => write!(f, "${name}"),
            Self::Flag => f.write_str("--config"),
        }
    }
}

/// Values from one source, weaker sources first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    values: Vec<(&'static Key, String, Origin)>,
    checks: Option<(Vec<Check>, Origin)>,
    copy: Option<(Vec<CopiedFile>, Origin)>,
    setup: Option<(Vec<SetupCommand>, Origin)>,
    notify: Option<(Vec<Rule>, Origin)>,
}

impl Layer {
    fn of(values: Vec<(&'static Key, String, Origin)>) -> Self {
        Self { values, checks: None, copy: None, setup: None, notify: None }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for Key {}

/// A setting that cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("`{path}` is not a valid configuration file\n{problem}")]
    File { path: String, problem: String },
    #[error("{origin} sets `{key}`: {problem}")]
    Value { key: &'static str, origin: String, problem: String },
    #[error("`{key}` is not a setting; known are {known}")]
    UnknownKey { key: String, known: String },
    #[error("`{text}` is not a setting; write it as `key=value`")]
    NotAnAssignment { text: String },
}

/// The settings in force, each with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Who is asked.
    pub agents: AgentsConfig,
    /// Slots of WorkRail workflows, each with the id of what fills it.
    pub bindings: BTreeMap<String, String>,
    /// What a task follows unless somebody says otherwise.
    pub pipeline_default: String,
    /// What a task needs before the daemon starts it.
    pub governance: Governance,
    /// Where the daemon takes requests; none for nowhere.
    pub listen: Option<String>,
    /// How the queue is worked off.
    pub queue: QueueConfig,
    pub retention_blobs_ms: u64,
    pub retention_disk_bytes: u64,
    /// What `run: { checks: … }` runs, in order.
    pub checks: Vec<Check>,
    /// What makes a fresh checkout ready to work in.
    pub checkout: CheckoutConfig,
    /// What sessions may use that an agent of ours does.
    pub caps: Caps,
    /// What decisions go by; sessions pin it.
    pub policy: crate::policy::Settings,
    /// The walls around agents of ours.
    pub sandbox: SandboxConfig,
    /// In whose name and how changes are delivered.
    pub delivery: DeliverySettings,
    /// What is told to whom.
    pub notify: Vec<Rule>,
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub key: &'static str,
    pub value: String,
    pub origin: Origin,
    pub about: &'static str,
}

/// Reads a `config.yml`.
pub fn parse_file(path: &str, text: &str) -> Result<Layer, Error> {
    let error = |problem: String| Error::File { path: path.to_owned(), problem };
    if text.trim().is_empty() {
        return Ok(Layer::of(Vec::new()));
    }
    let file: Option<File> = serde_saphyr::from_str(text).map_err(|problem| error(problem.to_string()))?;
    let file = file.unwrap_or_default();
    let checks = file.checks.map(|list| {
        let origin = Origin::File(path.to_owned(), list.referenced.line());
        list.value.read().map(|checks| (checks, origin))
    });
    let checks = checks.transpose().map_err(error)?;
    let notify = file.notify.map(|section| notify::read(path, section)).transpose().map_err(error)?;
    let retention = file.retention.unwrap_or_default();
    let checkout = file.checkout.unwrap_or_default().read(path).map_err(error)?;
    let bindings = file
        .bindings
        .map(|bindings| Spanned::new(joined(&bindings.value), bindings.referenced, bindings.defined));
    let values = [
        (BINDINGS, bindings),
        (PORTS, checkout.ports),
        ("retention.blobs", retention.blobs),
        ("retention.disk", retention.disk),
    ];
    let walls = file.sandbox.unwrap_or_default().read().map_err(error)?;
    let rules = file.policy.unwrap_or_default().read().map_err(error)?;
    let mut layer = Vec::new();
    let asked = file.agents.unwrap_or_default().values();
    let identity = file.identity.unwrap_or_default().values();
    let values = values
        .into_iter()
        .chain(file.budget.unwrap_or_default().values())
        .chain(walls)
        .chain(rules)
        .chain(asked)
        .chain(identity)
        .chain(file.daemon.unwrap_or_default().values())
        .chain(file.queue.unwrap_or_default().values())
        .chain(file.pipeline.unwrap_or_default().values());
    for (key, value) in values {
        if let Some(value) = value {
            let origin = Origin::File(path.to_owned(), value.referenced.line());
            layer.push((key_of(key)?, value.value, origin));
        }
    }
    Ok(Layer { values: layer, checks, copy: checkout.copy, setup: checkout.setup, notify })
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    agents: Option<agents::Section>,
    bindings: Option<Spanned<BTreeMap<String, String>>>,
    budget: Option<budget::Section>,
    daemon: Option<daemon::Section>,
    identity: Option<identity::Section>,
    notify: Option<notify::Section>,
    pipeline: Option<pipeline::Section>,
    retention: Option<Retention>,
    checks: Option<Spanned<checks::Section>>,
    checkout: Option<checkout::Section>,
    policy: Option<policy::Section>,
    queue: Option<queue::Section>,
    sandbox: Option<sandbox::Section>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Retention {
    blobs: Option<Spanned<String>>,
    disk: Option<Spanned<String>>,
}

/// Takes `LONGHAUL_RETENTION_BLOBS` and the like from what the environment holds.
pub fn from_environment(lookup: impl Fn(&str) -> Option<String>) -> Layer {
    let rows = KEYS.iter().filter_map(|key| {
        let name = variable(key.path);
        lookup(&name).map(|value| (key, value, Origin::Environment(name)))
    });
    Layer::of(rows.collect())
}

/// The environment variable that sets a key.
pub fn variable(path: &str) -> String {
    format!("LONGHAUL_{}", path.replace('.', "_").to_uppercase())
}

/// Reads `key=value` flags.
pub fn from_flags<'a>(flags: impl IntoIterator<Item = &'a str>) -> Result<Layer, Error> {
    let parse = |text: &str| {
        let assignment = text.split_once('=');
        let (key, value) = assignment.ok_or_else(|| Error::NotAnAssignment { text: text.to_owned() })?;
        Ok((key_of(key)?, value.to_owned(), Origin::Flag))
    };
    Ok(Layer::of(flags.into_iter().map(parse).collect::<Result<_, Error>>()?))
}

fn key_of(path: &str) -> Result<&'static Key, Error> {
    KEYS.iter().find(|key| key.path == path).ok_or_else(|| {
        let known: Vec<String> = KEYS.iter().map(|key| format!("`{}`", key.path)).collect();
        Error::UnknownKey { key: path.to_owned(), known: known.join(", ") }
    })
}

/// Puts the layers on top of the defaults, in the order given.
pub fn resolve(layers: &[Layer]) -> Result<Config, Error> {
    let bindings = bindings(layers)?;
    let mut rows = Vec::new();
    for key in KEYS {
        let set = layers.iter().flat_map(|layer| &layer.values).rfind(|(set, _, _)| *set == key);
        let (value, origin) = set.map_or((key.default.to_owned(), Origin::Default), |(_, value, origin)| {
            (value.clone(), origin.clone())
        });
        let value = if key.path == BINDINGS { joined(&bindings) } else { value };
        rows.push(Row { key: key.path, value, origin, about: key.about });
    }
    let declared = layers.iter().rev().find_map(|layer| layer.checks.clone());
    if let Some((checks, origin)) = &declared {
        let names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
        let about = "what `run: { checks: … }` runs; only in files";
        rows.push(Row { key: "checks", value: names.join(","), origin: origin.clone(), about });
    }
    let checkout = checkout::resolve(layers, &mut rows)?;
    let sandbox = sandbox::resolve(&rows)?;
    let policy = policy::resolve(&rows)?;
    let notify = notify::resolve(layers, &mut rows);
    Ok(Config {
        agents: agents::resolve(&rows)?,
        bindings,
        pipeline_default: pipeline::resolve(&rows)?,
        governance: pipeline::governance(&rows)?,
        listen: daemon::resolve(&rows)?,
        queue: queue::resolve(&rows)?,
        retention_blobs_ms: number(&rows, "retention.blobs")?,
        retention_disk_bytes: number(&rows, "retention.disk")?,
        checks: declared.map(|(checks, _)| checks).unwrap_or_default(),
        checkout,
        caps: budget::resolve(&rows)?,
        delivery: identity::resolve(&rows, &policy.merge)?,
        policy,
        sandbox,
        notify,
        rows,
    })
}

/// What all layers bind, the later winning slot by slot.
fn bindings(layers: &[Layer]) -> Result<BTreeMap<String, String>, Error> {
    let mut bound = BTreeMap::new();
    for (_, value, origin) in
        layers.iter().flat_map(|layer| &layer.values).filter(|(key, _, _)| key.path == BINDINGS)
    {
        for pair in value.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (slot, target) = binding(pair).ok_or_else(|| Error::Value {
                key: BINDINGS,
                origin: origin.to_string(),
                problem: format!("`{pair}` binds nothing; write `slot=id`, such as `reviewer=routine.plan`"),
            })?;
            bound.insert(slot.to_owned(), target.to_owned());
        }
    }
    Ok(bound)
}

/// A slot is named like a var, and what fills it is the id of a workflow.
fn binding(pair: &str) -> Option<(&str, &str)> {
    let (slot, target) = pair.split_once('=')?;
    let (slot, target) = (slot.trim(), target.trim());
    let in_slot = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let in_target = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let fits =
        !slot.is_empty() && slot.chars().all(in_slot) && !target.is_empty() && target.chars().all(in_target);
    fits.then_some((slot, target))
}

fn joined(bindings: &BTreeMap<String, String>) -> String {
    bindings.iter().map(|(slot, target)| format!("{slot}={target}")).collect::<Vec<_>>().join(",")
}

fn number(rows: &[Row], path: &'static str) -> Result<u64, Error> {
    let row = rows.iter().find(|row| row.key == path).expect("there is a row for each key");
    let parsed = match key_of(path)?.kind {
        Kind::Duration => parse_duration_ms(&row.value),
        Kind::Size => parse_size_bytes(&row.value),
        Kind::Count(most) => match row.value.parse() {
            Ok(number) if number <= most => Ok(number),
            _ => {
                let problem = format!("`{}` is not a number from 0 to {most}", row.value);
                return Err(Error::Value { key: path, origin: row.origin.to_string(), problem });
            }
        },
        Kind::Cap(name) => {
            return amount(name, &row.value).map_err(|problem| Error::Value {
                key: path,
                origin: row.origin.to_string(),
                problem,
            });
        }
        Kind::Bindings | Kind::Text => unreachable!("it is no number"),
    };
    parsed.map_err(|problem| Error::Value {
        key: path,
        origin: row.origin.to_string(),
        problem: problem.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(config: &Config) -> Vec<String> {
        config.rows.iter().map(|row| format!("{}={} ({})", row.key, row.value, row.origin)).collect()
    }

    #[test]
    fn defaults_need_no_file() {
        let config = resolve(&[]).unwrap();
        assert_eq!((config.retention_blobs_ms, config.retention_disk_bytes), (7_776_000_000, 20 << 30));
        assert_eq!(
            origins(&config),
            [
                "agents.default= (default)",
                "agents.tiers.light= (default)",
                "agents.tiers.standard= (default)",
                "agents.tiers.heavy= (default)",
                "bindings= (default)",
                "budget.session.tokens=400k (default)",
                "budget.session.time=60m (default)",
                "budget.session.money=5usd (default)",
                "budget.session.turns=200 (default)",
                "budget.task.money=20usd (default)",
                "budget.day.money=100usd (default)",
                "checkout.ports=0 (default)",
                "daemon.listen=127.0.0.1:0 (default)",
                "identity.coauthor=true (default)",
                "identity.email= (default)",
                "identity.name= (default)",
                "identity.sign=inherit (default)",
                "pipeline.default=lh.pipeline.feature (default)",
                "pipeline.mode=autonomous (default)",
                "pipeline.require= (default)",
                "policy.intent_gate=vague (default)",
                "policy.merge.auto=low (default)",
                "policy.merge.freshness=disjoint (default)",
                "policy.merge.method=squash (default)",
                "policy.merge.never= (default)",
                "policy.review.families=correctness,tests,security (default)",
                "policy.review.fix_attempts=3 (default)",
                "queue.concurrency.agent= (default)",
                "queue.concurrency.global=4 (default)",
                "queue.concurrency.pipeline= (default)",
                "queue.concurrency.workspace=2 (default)",
                "queue.starts_per_minute=10 (default)",
                "queue.unknown_scope=run (default)",
                "retention.blobs=90d (default)",
                "retention.disk=20G (default)",
                "sandbox.accept_reduced=false (default)",
                "sandbox.caches= (default)",
                "sandbox.hosts= (default)",
                "sandbox.level=full (default)",
                "sandbox.network=allow-list (default)"
            ]
        );
    }

    #[test]
    fn checks_are_shown_with_their_place_and_anything_but_a_list_is_told_what_belongs_there() {
        let layer = parse_file("ws.yml", "checks:\n  - { name: test, run: [cargo, test] }\n").unwrap();
        let config = resolve(&[layer]).unwrap();
        assert_eq!(config.checks[0].name, "test");
        assert_eq!(origins(&config).last().unwrap(), "checks=test (ws.yml:2)");
        let wrong = parse_file("ws.yml", "checks:\n  test: [cargo, test]\n").unwrap_err().to_string();
        assert!(wrong.contains("a list under `checks:`, each as in"), "{wrong}");
    }

    #[test]
    fn the_later_layer_wins_and_says_where_it_stands() {
        let user = parse_file("user.yml", "# mine\nretention:\n  blobs: 30d\n  disk: 1G\n").unwrap();
        let workspace = parse_file("ws.yml", "retention: { blobs: 10d }").unwrap();
        let environment = from_environment(|name| (name == "LONGHAUL_RETENTION_DISK").then(|| "5G".into()));
        let config = resolve(&[user.clone(), workspace.clone(), environment.clone()]).unwrap();
        assert_eq!(
            origins(&config),
            [
                "agents.default= (default)",
                "agents.tiers.light= (default)",
                "agents.tiers.standard= (default)",
                "agents.tiers.heavy= (default)",
                "bindings= (default)",
                "budget.session.tokens=400k (default)",
                "budget.session.time=60m (default)",
                "budget.session.money=5usd (default)",
                "budget.session.turns=200 (default)",
                "budget.task.money=20usd (default)",
                "budget.day.money=100usd (default)",
                "checkout.ports=0 (default)",
                "daemon.listen=127.0.0.1:0 (default)",
                "identity.coauthor=true (default)",
                "identity.email= (default)",
                "identity.name= (default)",
                "identity.sign=inherit (default)",
                "pipeline.default=lh.pipeline.feature (default)",
                "pipeline.mode=autonomous (default)",
                "pipeline.require= (default)",
                "policy.intent_gate=vague (default)",
                "policy.merge.auto=low (default)",
                "policy.merge.freshness=disjoint (default)",
                "policy.merge.method=squash (default)",
                "policy.merge.never= (default)",
                "policy.review.families=correctness,tests,security (default)",
                "policy.review.fix_attempts=3 (default)",
                "queue.concurrency.agent= (default)",
                "queue.concurrency.global=4 (default)",
                "queue.concurrency.pipeline= (default)",
                "queue.concurrency.workspace=2 (default)",
                "queue.starts_per_minute=10 (default)",
                "queue.unknown_scope=run (default)",
                "retention.blobs=10d (ws.yml:1)",
                "retention.disk=5G ($LONGHAUL_RETENTION_DISK)",
                "sandbox.accept_reduced=false (default)",
                "sandbox.caches= (default)",
                "sandbox.hosts= (default)",
                "sandbox.level=full (default)",
                "sandbox.network=allow-list (default)"
            ]
        );
        let flags = from_flags(["retention.blobs=1d"]).unwrap();
        let config = resolve(&[user, workspace, environment, flags]).unwrap();
        assert_eq!(config.retention_blobs_ms, 86_400_000);
    }

    #[test]
    fn slots_are_bound_one_by_one_and_the_later_place_wins() {
        let workspace = parse_file("ws.yml", "bindings: { plan: routine.plan, review: lh.review }").unwrap();
        let user = parse_file("user.yml", "bindings:\n  review: mine.review\n").unwrap();
        let flags = from_flags(["bindings=third=a.b"]).unwrap();
        let config = resolve(&[workspace, user, flags]).unwrap();
        let bound: Vec<(&str, &str)> =
            config.bindings.iter().map(|(slot, target)| (&**slot, &**target)).collect();
        assert_eq!(bound, [("plan", "routine.plan"), ("review", "mine.review"), ("third", "a.b")]);
        assert_eq!(origins(&config)[4], "bindings=plan=routine.plan,review=mine.review,third=a.b (--config)");
    }

    #[test]
    fn a_binding_that_binds_nothing_is_refused() {
        for text in ["bindings: { plan: '' }", "bindings: { 'a b': c }", "bindings: { a: 'b,c' }"] {
            let layer = parse_file("user.yml", text).unwrap();
            let message = resolve(&[layer]).unwrap_err().to_string();
            assert!(message.starts_with("user.yml:1 sets `bindings`"), "{message}");
        }
        assert!(parse_file("f", "bindings: [a]").is_err());
    }

    #[test]
    fn an_empty_file_sets_nothing() {
        for text in ["", "  \n", "# only a comment\n", "retention:\n"] {
            assert_eq!(parse_file("f", text), Ok(Layer::of(Vec::new())), "{text:?}");
        }
    }

    #[test]
    fn a_wrong_value_names_its_line() {
        let layer = parse_file("user.yml", "retention:\n  blobs: soon\n").unwrap();
        let message = resolve(&[layer]).unwrap_err().to_string();
        assert!(
            message.starts_with("user.yml:2 sets `retention.blobs`: `soon` is not a duration"),
            "{message}"
        );
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_place() {
        let message = parse_file("user.yml", "retention:\n  blob: 3d\n").unwrap_err().to_string();
        assert!(message.contains("blob") && message.contains('2'), "{message}");
        assert!(from_flags(["colour=red"]).unwrap_err().to_string().contains("`retention.disk`"));
        assert!(from_flags(["colour"]).is_err());
    }

    #[test]
    fn garbage_is_refused_and_does_not_panic() {
        for text in ["{", "\u{0}", "- a\n- b", "retention: [1]", "&a [*a]", "a: &x [*x, *x]\n"] {
            assert!(parse_file("f", text).is_err(), "{text:?}");
        }
    }
}
