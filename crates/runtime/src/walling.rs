//! Which walls a session gets: what the settings and a person want, held against what this machine can do.

use std::fs;
use std::path::{Path, PathBuf};

use longhaul_core::config::{SandboxConfig, SandboxLevel, SandboxNetwork};
use longhaul_core::taint::{self, Thing, Worker};
use longhaul_events::Taint;
use longhaul_exec::sandbox::{Ability, HOME_SECRETS, Init, Wall, probe, tools_in};

use crate::error::{DrivenError, Error};
use crate::places::Places;
use crate::runner::PinnedReach;
use crate::sandbox::exec_level;
use crate::system::System;
use crate::terminal;

/// What a person wants for one session, above what the settings say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WantedWalls {
    pub level: Option<SandboxLevel>,
    pub network: Option<SandboxNetwork>,
}

/// What a session gets.
#[derive(Debug)]
pub(crate) struct ChosenWalls {
    pub(crate) level: SandboxLevel,
    pub(crate) reach: PinnedReach,
    pub(crate) warning: Option<String>,
}

impl ChosenWalls {
    /// The same, letting these hosts through where a list says who is let through.
    pub(crate) fn letting(mut self, hosts: Vec<String>) -> Self {
        match self.reach.network {
            SandboxNetwork::AllowList => self.reach.hosts.extend(hosts),
            SandboxNetwork::None | SandboxNetwork::Open => {}
        }
        self.reach.hosts.dedup();
        self
    }

    /// The same for a session that may work on text from outside.
    pub(crate) fn for_taint(mut self, taint: Taint, workers: &[Worker]) -> Result<Self, Error> {
        for worker in workers {
            let (level, network) = (self.level, self.reach.network);
            taint::admit(taint::Asked { taint, worker: *worker, level, network })?;
            self.reach.hosts = taint::hosts(taint, *worker, self.reach.hosts);
            if !taint::has(taint, *worker, Thing::Caches) {
                self.reach.caches.clear();
            }
        }
        Ok(self)
    }
}

impl System {
    /// The walls for a session that begins here. Refuses what cannot be had rather than to do with less unasked.
    pub(crate) fn walls(&self, wanted: WantedWalls) -> Result<ChosenWalls, Error> {
        let config = self.config()?.sandbox;
        let level = wanted.level.unwrap_or(config.level);
        let network = wanted.network.unwrap_or(config.network);
        let asked = Asked { level, network, config: &config };
        if terminal::is_under_agent() && asked.is_weaker_than(&self.config_of_files()?.sandbox) {
            return Err(Error::UnderAgent);
        }
        caches(self.places(), &config.caches)?;
        let (level, warning) = match level {
            SandboxLevel::None => (level, None),
            SandboxLevel::Full | SandboxLevel::Reduced => had(level, &config, &probe(&Init::default()))?,
        };
        let hosts = match network {
            SandboxNetwork::AllowList => config.hosts.iter().map(ToString::to_string).collect(),
            SandboxNetwork::None | SandboxNetwork::Open => Vec::new(),
        };
        Ok(ChosenWalls { level, reach: PinnedReach { network, hosts, caches: config.caches }, warning })
    }
}

/// What somebody asks for, by flags, environment and files together.
struct Asked<'a> {
    level: SandboxLevel,
    network: SandboxNetwork,
    config: &'a SandboxConfig,
}

impl Asked<'_> {
    /// Whether the files alone say something stronger, which only a person may lower.
    fn is_weaker_than(&self, files: &SandboxConfig) -> bool {
        let level = |level| match level {
            SandboxLevel::None => 0,
            SandboxLevel::Reduced => 1,
            SandboxLevel::Full => 2,
        };
        let reach = |network| match network {
            SandboxNetwork::None => 0,
            SandboxNetwork::AllowList => 1,
            SandboxNetwork::Open => 2,
        };
        let adds_hosts = match (self.network, files.network) {
            (SandboxNetwork::AllowList, SandboxNetwork::None | SandboxNetwork::AllowList) => {
                self.config.hosts.iter().any(|host| !files.hosts.contains(host))
            }
            (SandboxNetwork::AllowList, SandboxNetwork::Open)
            | (SandboxNetwork::None | SandboxNetwork::Open, _) => false,
        };
        level(self.level) < level(files.level)
            || reach(self.network) > reach(files.network)
            || adds_hosts
            || self.config.caches.iter().any(|cache| !files.caches.contains(cache))
            || (self.config.accepts_reduced && !files.accepts_reduced)
    }
}

/// The level that can be had, and what a person is told if it is not the one that was wanted.
fn had(
    level: SandboxLevel,
    config: &SandboxConfig,
    ability: &Ability,
) -> Result<(SandboxLevel, Option<String>), Error> {
    let Wall::Fails { step, because } = ability.of(exec_level(level)) else { return Ok((level, None)) };
    if level == SandboxLevel::Full && config.accepts_reduced && ability.reduced.works() {
        let warning = format!(
            "level full does not work here (could not {step}: {because}), so the walls are those of level reduced; `longhaul sandbox check --level reduced --explain` tells what they do not hold"
        );
        return Ok((SandboxLevel::Reduced, Some(warning)));
    }
    Err(Error::Driven(DrivenError::NoWalls {
        level: level.word(),
        step: step.clone(),
        because: because.clone(),
    }))
}

/// The folders that can be changed beside the worktree, where they really are. Those that are missing are made.
pub(crate) fn caches(places: &Places, wanted: &[String]) -> Result<Vec<PathBuf>, Error> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let guarded = home.as_deref().map(|home| Guarded::of(home, places));
    let unfit = |path: &str, problem: String| {
        Error::Driven(DrivenError::UnfitCache { path: path.to_owned(), problem })
    };
    let caches: Vec<PathBuf> = wanted
        .iter()
        .map(|path| {
            let unfit = |problem| unfit(path, problem);
            let guarded =
                guarded.as_ref().ok_or_else(|| unfit("cannot be found without a home".to_owned()))?;
            guarded.cache(path).map_err(unfit)
        })
        .collect::<Result<_, Error>>()?;
    match inner_one(&caches) {
        Some(inner) => Err(unfit(&wanted[inner], "lies in another cache".to_owned())),
        None => Ok(caches),
    }
}

/// Whoever has the outer one of two could put a link in place of the inner one.
fn inner_one(caches: &[PathBuf]) -> Option<usize> {
    caches.iter().position(|inner| caches.iter().any(|outer| inner != outer && inner.starts_with(outer)))
}

/// What shells, editors and agents run or read from a home, outside of any walls.
const STARTED_FROM: [&str; 14] = [
    "bin",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".oh-my-zsh",
    ".vim",
    ".config/fish",
    ".config/nvim",
    ".config/autostart",
    ".claude",
    ".codex",
    ".gemini",
];

/// A home, and what of it no agent may change.
struct Guarded<'a> {
    home: &'a Path,
    places: Vec<PathBuf>,
}

impl<'a> Guarded<'a> {
    fn of(home: &'a Path, places: &Places) -> Self {
        let ours = [&places.config, &places.data, &places.state, &places.run].map(|place| real(place));
        let secrets = HOME_SECRETS.iter().map(|secret| home.join(secret));
        // What is run from there is run outside of the walls too.
        let started = STARTED_FROM.iter().map(|name| home.join(name));
        let guarded = ours.into_iter().chain(secrets).chain(tools_in(home)).chain(started);
        Self { home, places: guarded.collect() }
    }

    /// The folder that a person means, or why it cannot be had.
    fn cache(&self, path: &str) -> Result<PathBuf, String> {
        let path = path.strip_prefix("~/").map_or_else(|| PathBuf::from(path), |rest| self.home.join(rest));
        // Judged before anything is made, and again where links lead.
        self.judge(&real(&path))?;
        fs::create_dir_all(&path).map_err(|error| format!("cannot be made: {error}"))?;
        let real = path.canonicalize().map_err(|error| format!("cannot be looked up: {error}"))?;
        self.judge(&real)?;
        // Whoever may write where the link lies, such as a session that has a cache around it, decides where it leads.
        if real != without_dots(&path) {
            return Err(format!("goes through a link; name `{}`, where it leads", real.display()));
        }
        Ok(real)
    }

    fn judge(&self, path: &Path) -> Result<(), String> {
        if path == self.home || !path.starts_with(self.home) {
            return Err("is not a folder in your home".to_owned());
        }
        let near = |place: &&PathBuf| place.starts_with(path) || path.starts_with(place);
        match self.places.iter().find(near) {
            Some(place) => {
                Err(format!("is, holds or lies in `{}`, which agents may not change", place.display()))
            }
            None => Ok(()),
        }
    }
}

/// A path as it is written, without the parts that say nothing.
fn without_dots(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Where a path leads as far as it exists.
fn real(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut there = path;
    loop {
        if let Ok(found) = there.canonicalize() {
            return rest.iter().rev().fold(found, |found: PathBuf, name| found.join(name));
        }
        match (there.parent(), there.file_name()) {
            (Some(parent), Some(name)) => {
                rest.push(name.to_owned());
                there = parent;
            }
            (Some(_) | None, _) => return path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(step: &str) -> Wall {
        Wall::Fails { step: step.to_owned(), because: "switched off; switch it on".to_owned() }
    }

    fn config(accepts_reduced: bool) -> SandboxConfig {
        SandboxConfig { accepts_reduced, ..longhaul_core::config::resolve(&[]).unwrap().sandbox }
    }

    #[test]
    fn less_than_was_wanted_is_had_only_where_a_person_said_so_and_never_less_than_that() {
        let ability = |full, reduced| Ability { full, reduced, landlock_abi: 6 };
        let nothing = ability(fails("make namespaces"), fails("restrict paths with Landlock"));
        let half = ability(fails("make namespaces"), Wall::Works);
        assert_eq!(
            had(SandboxLevel::Full, &config(false), &ability(Wall::Works, Wall::Works)).unwrap(),
            (SandboxLevel::Full, None)
        );
        let refused = had(SandboxLevel::Full, &config(false), &half).unwrap_err().to_string();
        assert!(refused.contains("make namespaces") && refused.contains("switch it on"), "{refused}");
        let (level, warning) = had(SandboxLevel::Full, &config(true), &half).unwrap();
        assert!(level == SandboxLevel::Reduced && warning.unwrap().contains("level reduced"));
        assert!(had(SandboxLevel::Full, &config(true), &nothing).is_err());
        assert!(had(SandboxLevel::Reduced, &config(true), &nothing).is_err());
    }

    #[test]
    fn a_cache_inside_of_another_is_found() {
        let caches = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(inner_one(&caches(&["/h/a", "/h/ab", "/h/a"])), None);
        assert_eq!(inner_one(&caches(&["/h/ab", "/h/a/b", "/h/a"])), Some(1));
    }

    #[test]
    fn a_cache_lies_in_the_home_and_near_nothing_that_agents_may_not_change() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let places = Places::under(&home.join("own"));
        let guarded = Guarded::of(&home, &places);
        assert_eq!(guarded.cache("~/.cargo/registry").unwrap(), home.join(".cargo/registry"));
        assert!(home.join(".cargo/registry").is_dir());
        assert_eq!(guarded.cache("~/./.cargo//registry/").unwrap(), home.join(".cargo/registry"));
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), home.join("link")).unwrap();
        fs::create_dir_all(home.join("real/inner")).unwrap();
        std::os::unix::fs::symlink("real", home.join("inside")).unwrap();
        fs::create_dir_all(home.join(".ssh")).unwrap();
        std::os::unix::fs::symlink(home.join(".ssh"), home.join("keys")).unwrap();
        let unfit = [
            "~/",
            "~/.",
            "/",
            "/tmp",
            "/etc",
            "~/.ssh",
            "~/.ssh/sub",
            "~/keys",
            "~/keys/sub",
            "~/link",
            "~/link/sub",
            "~/inside",
            "~/inside/inner",
            "~/.config",
            "~/.cargo",
            "~/.cargo/bin",
            "~/.local",
            "~/bin",
            "~/.bashrc",
            "~/.claude/cache",
            "~/own",
            "~/own/data",
            "~/own/data/checkouts",
        ];
        for path in unfit {
            let refused = guarded.cache(path);
            assert!(refused.is_err(), "{path}: {refused:?}");
        }
        assert!(
            !home.join(".ssh/sub").exists() && !home.join(".config").exists(),
            "nothing is made on the way"
        );
        assert!(!elsewhere.path().join("sub").exists());
    }
}
