//! What a session may have that works on text from outside: from issues, comments, mails, whatever people wrote that
//! nobody here knows. Whoever writes such a text may try to be obeyed, so what the agent holds must be worth nothing.
//!
//! The policy is a table. It says what is withheld, and what is so much of a risk that the session is not even started.

use longhaul_events::Taint;

use crate::config::{SandboxLevel, SandboxNetwork};

/// Who does the steps, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worker {
    /// A script.
    Rehearsal,
    /// Our own loop on a model; all its hands are our tools.
    OwnLoop,
    /// A program with hands of its own, which asks its model through the gateway.
    Hands,
    /// A program that signs in by itself, with what it finds in the home.
    SignsIn,
}

/// Something that a session may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    /// Secrets of the user, in the environment of what is run.
    Secrets,
    /// Files that `checkout.copy` marks as secret.
    SecretFiles,
    /// The folders of the home that an agent signs in with.
    OwnCredentials,
    /// What opens a forge.
    ForgeTokens,
    /// The providers of its models, through the gateway.
    Models,
    /// Registries of packages.
    PackageHosts,
    /// Other hosts of `sandbox.hosts`.
    OtherHosts,
    /// Folders beside the worktree that can be changed.
    Caches,
    /// All of the network.
    OpenNetwork,
    /// Walls that are weaker than level full.
    WeakWalls,
}

/// What becomes of a wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Given,
    /// The session goes on without it.
    Withheld,
    /// The session is not started.
    Refused,
    /// Nobody of this kind wants it.
    Unasked,
}

pub const WORKERS: [Worker; 4] = [Worker::Rehearsal, Worker::OwnLoop, Worker::Hands, Worker::SignsIn];
pub const THINGS: [Thing; 10] = [
    Thing::Secrets,
    Thing::SecretFiles,
    Thing::OwnCredentials,
    Thing::ForgeTokens,
    Thing::Models,
    Thing::PackageHosts,
    Thing::OtherHosts,
    Thing::Caches,
    Thing::OpenNetwork,
    Thing::WeakWalls,
];

/// Where packages come from. Beyond these and its models a tainted session reaches nobody.
pub const PACKAGE_HOSTS: &[&str] = &[
    "crates.io",
    "index.crates.io",
    "static.crates.io",
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "pypi.org",
    "files.pythonhosted.org",
    "proxy.golang.org",
    "sum.golang.org",
    "repo.maven.apache.org",
    "repo1.maven.org",
    "plugins.gradle.org",
    "rubygems.org",
    "index.rubygems.org",
    "repo.packagist.org",
    "api.nuget.org",
    "hex.pm",
    "repo.hex.pm",
    "hackage.haskell.org",
    "deb.debian.org",
    "security.debian.org",
    "archive.ubuntu.com",
    "security.ubuntu.com",
    "dl-cdn.alpinelinux.org",
];

impl Worker {
    pub const fn title(self) -> &'static str {
        match self {
            Self::Rehearsal => "rehearsal",
            Self::OwnLoop => "own loop on a model",
            Self::Hands => "hands, through the gateway",
            Self::SignsIn => "hands, with its own credentials",
        }
    }
}

impl Thing {
    pub const fn title(self) -> &'static str {
        match self {
            Self::Secrets => "secrets in the environment",
            Self::SecretFiles => "files that `checkout.copy` marks as secret",
            Self::OwnCredentials => "credentials from the home",
            Self::ForgeTokens => "tokens of a forge",
            Self::Models => "the providers of its models",
            Self::PackageHosts => "listed hosts that are registries of packages",
            Self::OtherHosts => "other hosts of `sandbox.hosts`",
            Self::Caches => "`sandbox.caches`",
            Self::OpenNetwork => "`network: open`",
            Self::WeakWalls => "`level: reduced` and `level: none`",
        }
    }
}

impl Verdict {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Given => "yes",
            Self::Withheld => "withheld",
            Self::Refused => "not started",
            Self::Unasked => "-",
        }
    }
}

/// What a tainted session may have, by who works in it.
pub const fn verdict(worker: Worker, thing: Thing) -> Verdict {
    match (thing, worker) {
        // Whoever signs in by itself cannot work without, and what it signs in with could be told to anybody.
        (_, Worker::SignsIn) | (Thing::OpenNetwork | Thing::WeakWalls, _) => Verdict::Refused,
        (Thing::Models, Worker::OwnLoop | Worker::Hands) | (Thing::PackageHosts, _) => Verdict::Given,
        (Thing::Models, Worker::Rehearsal)
        | (Thing::OwnCredentials, Worker::Rehearsal | Worker::OwnLoop | Worker::Hands) => Verdict::Unasked,
        (
            Thing::Secrets | Thing::SecretFiles | Thing::ForgeTokens | Thing::OtherHosts | Thing::Caches,
            Worker::Rehearsal | Worker::OwnLoop | Worker::Hands,
        ) => Verdict::Withheld,
    }
}

/// What a session asks for that the policy may not let it be started with.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    pub taint: Taint,
    pub worker: Worker,
    pub level: SandboxLevel,
    pub network: SandboxNetwork,
}

/// Why a tainted session is not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error(
        "the agent signs in by itself, and a session that works on text from outside gets no credentials; take one that asks its model through the gateway, such as `PROVIDER/MODEL`"
    )]
    OwnCredentials,
    #[error(
        "a session that works on text from outside has no open network; use `--network allow-list` or `--network none`"
    )]
    OpenNetwork,
    #[error(
        "a session that works on text from outside runs behind walls of level full or not at all; `longhaul sandbox check` tells what is missing here"
    )]
    WeakWalls,
}

/// Whether it may be started at all.
pub fn admit(asked: Asked) -> Result<(), Refusal> {
    if asked.taint == Taint::Clean {
        return Ok(());
    }
    let wishes = [
        (asked.worker == Worker::SignsIn, Thing::OwnCredentials, Refusal::OwnCredentials),
        (asked.network == SandboxNetwork::Open, Thing::OpenNetwork, Refusal::OpenNetwork),
        (asked.level != SandboxLevel::Full, Thing::WeakWalls, Refusal::WeakWalls),
    ];
    for (is_wanted, thing, refusal) in wishes {
        if is_wanted && verdict(asked.worker, thing) == Verdict::Refused {
            return Err(refusal);
        }
    }
    Ok(())
}

/// Whether a session has something, given that it asks for it.
pub fn has(taint: Taint, worker: Worker, thing: Thing) -> bool {
    taint == Taint::Clean || verdict(worker, thing) == Verdict::Given
}

/// The hosts of a list that a session may reach.
pub fn hosts(taint: Taint, worker: Worker, listed: Vec<String>) -> Vec<String> {
    let may = |host: &String| {
        let is_registry = PACKAGE_HOSTS.contains(&host.as_str());
        has(taint, worker, if is_registry { Thing::PackageHosts } else { Thing::OtherHosts })
    };
    listed.into_iter().filter(may).collect()
}

/// The policy as people read it.
pub fn table() -> String {
    let titles: Vec<&str> = WORKERS.iter().map(|worker| worker.title()).collect();
    let mut lines =
        vec![format!("| | {} |", titles.join(" | ")), format!("|---|{}", "---|".repeat(WORKERS.len()))];
    for thing in THINGS {
        let words: Vec<&str> = WORKERS.iter().map(|worker| verdict(*worker, thing).word()).collect();
        lines.push(format!("| {} | {} |", thing.title(), words.join(" | ")));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::hosts::HostPattern;

    #[test]
    fn the_policy_is_a_table() {
        assert_snapshot!(table(), @"
        | | rehearsal | own loop on a model | hands, through the gateway | hands, with its own credentials |
        |---|---|---|---|---|
        | secrets in the environment | withheld | withheld | withheld | not started |
        | files that `checkout.copy` marks as secret | withheld | withheld | withheld | not started |
        | credentials from the home | - | - | - | not started |
        | tokens of a forge | withheld | withheld | withheld | not started |
        | the providers of its models | - | yes | yes | not started |
        | listed hosts that are registries of packages | yes | yes | yes | not started |
        | other hosts of `sandbox.hosts` | withheld | withheld | withheld | not started |
        | `sandbox.caches` | withheld | withheld | withheld | not started |
        | `network: open` | not started | not started | not started | not started |
        | `level: reduced` and `level: none` | not started | not started | not started | not started |
        ");
    }

    #[test]
    fn what_is_clean_has_all_it_asks_for() {
        for worker in WORKERS {
            let (level, network) = (SandboxLevel::None, SandboxNetwork::Open);
            assert_eq!(admit(Asked { taint: Taint::Clean, worker, level, network }), Ok(()));
            assert!(THINGS.iter().all(|thing| has(Taint::Clean, worker, *thing)));
        }
    }

    #[test]
    fn what_is_tainted_is_started_behind_full_walls_without_credentials_only() {
        let asked = |worker, level, network| admit(Asked { taint: Taint::Outside, worker, level, network });
        let (full, listed) = (SandboxLevel::Full, SandboxNetwork::AllowList);
        for worker in [Worker::Rehearsal, Worker::OwnLoop, Worker::Hands] {
            assert_eq!(asked(worker, full, listed), Ok(()));
            assert_eq!(asked(worker, full, SandboxNetwork::Open), Err(Refusal::OpenNetwork));
            assert_eq!(asked(worker, SandboxLevel::Reduced, listed), Err(Refusal::WeakWalls));
            assert_eq!(asked(worker, SandboxLevel::None, SandboxNetwork::None), Err(Refusal::WeakWalls));
        }
        assert_eq!(asked(Worker::SignsIn, full, listed), Err(Refusal::OwnCredentials));
    }

    #[test]
    fn of_listed_hosts_only_registries_are_left() {
        let listed = vec!["docs.example.com".to_owned(), "pypi.org".to_owned(), "*.pypi.org".to_owned()];
        assert_eq!(hosts(Taint::Outside, Worker::OwnLoop, listed.clone()), ["pypi.org"]);
        assert_eq!(hosts(Taint::Clean, Worker::OwnLoop, listed).len(), 3);
        assert!(PACKAGE_HOSTS.iter().all(|host| HostPattern::parse(host).is_ok()));
    }
}
