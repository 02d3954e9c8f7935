//! The checkup: every problem by name, with what to do about it. Looks at everything, changes nothing.

mod daemon;
mod repository;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use longhaul_core::config::{Config, SandboxConfig, SandboxLevel};
use longhaul_core::retention::{Inventory, disk_warning};
use longhaul_core::roster::Kind;
use longhaul_core::time::rfc3339;
use longhaul_core::units::show_size;
use longhaul_core::workflow::ModelTier;
use longhaul_core::workspace::TrustState;
use longhaul_exec::sandbox::{Init, Wall, probe};
use longhaul_store::views::SessionStatus;
use longhaul_store::{Finding, StoreError, Verdict};

use rustix::fs::Access;

use crate::agents::AgentState;
use crate::calendar::UsedUp;
use crate::clock::{Clock as _, SystemClock};
use crate::error::Error;
use crate::reader::Reader;
use crate::room::{free_bytes, is_full};
use crate::sandbox::exec_level;
use crate::system::System;

const DISK: &str = "disk";
/// Commands in the sandbox are ended when less is left.
const LITTLE_SPACE_BYTES: u64 = 1 << 28;

/// Hears how far a long look has come.
pub trait Progress {
    fn begin(&mut self, what: &str, total: u64);
    fn step(&mut self);
}

/// All that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkup {
    pub diagnoses: Vec<Diagnosis>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    pub subject: String,
    pub status: Status,
    pub finding: String,
    pub remedy: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Healthy,
    /// Works, but somebody should look.
    Warning,
    Problem,
}

impl Checkup {
    pub fn problems(&self) -> usize {
        self.diagnoses.iter().filter(|diagnosis| diagnosis.status == Status::Problem).count()
    }

    pub fn warnings(&self) -> usize {
        self.diagnoses.iter().filter(|diagnosis| diagnosis.status == Status::Warning).count()
    }
}

fn healthy(subject: impl Into<String>, finding: impl Into<String>) -> Diagnosis {
    Diagnosis { subject: subject.into(), status: Status::Healthy, finding: finding.into(), remedy: None }
}

fn warning(subject: impl Into<String>, finding: impl Into<String>, remedy: impl Into<String>) -> Diagnosis {
    Diagnosis {
        subject: subject.into(),
        status: Status::Warning,
        finding: finding.into(),
        remedy: Some(remedy.into()),
    }
}

fn problem(subject: impl Into<String>, finding: impl Into<String>, remedy: impl Into<String>) -> Diagnosis {
    Diagnosis { status: Status::Problem, ..warning(subject, finding, remedy) }
}

/// An error's own words end in what to do; split there.
fn from_error(subject: impl Into<String>, error: &Error) -> Diagnosis {
    let text = error.to_string();
    match text.split_once("; ") {
        Some((finding, remedy)) => problem(subject, finding, remedy),
        None => problem(
            subject,
            text,
            match error.code() {
                Some(code) => format!("see `longhaul explain {code}`"),
                None => "please report it".to_owned(),
            },
        ),
    }
}

pub(crate) fn checkup(system: &System, progress: &mut dyn Progress) -> Checkup {
    let mut diagnoses = vec![git(), folders(system), secrets(system)];
    let config = system.config();
    diagnoses.extend(config.as_ref().ok().map(|config| sandbox(&config.sandbox)));
    diagnoses.extend(match &config {
        Ok(config) => Some(healthy("configuration", format!("{} settings", config.rows.len()))),
        // Which workspace this is stands in the database, and what is wrong with that is said below.
        Err(Error::Store(_)) => None,
        Err(error) => Some(from_error("configuration", error)),
    });
    diagnoses.extend(repository::repository(system));
    diagnoses.extend(config.as_ref().ok().and_then(|config| repository::identity(system, config)));
    diagnoses.extend(agents(system, config.as_ref().ok()));
    match system.reader() {
        Ok(None) => {
            diagnoses.push(healthy("database", "not made yet; the first command that writes makes it"));
        }
        Ok(Some(reader)) => database(&reader, config.ok().as_ref(), progress, &mut diagnoses),
        Err(error) => diagnoses.push(from_error("database", &error)),
    }
    diagnoses.extend(daemon::daemon(system));
    if let Some(little) = free_space(system) {
        diagnoses.retain(|diagnosis| diagnosis.subject != DISK);
        diagnoses.push(little);
    }
    Checkup { diagnoses }
}

fn git() -> Diagnosis {
    match longhaul_git::snapshots_can_be_taken() {
        Ok(version) => healthy("git", version.to_string()),
        Err(error @ longhaul_git::Error::GitOlderThan { .. }) => {
            let remedy = "install a newer git, or put one first on the `PATH`; until then `longhaul run` and `longhaul demo` refuse to start";
            problem("git", error.to_string(), remedy)
        }
        Err(error) => from_error("git", &error.into()),
    }
}

/// Whether sessions get the walls that the settings want.
fn sandbox(config: &SandboxConfig) -> Diagnosis {
    let ability = probe(&Init::default());
    let word = config.level.word();
    if config.level == SandboxLevel::None {
        let remedy = "set `sandbox.level: full`, unless something else holds your agents";
        return warning("sandbox", "`sandbox.level` is none: agents of ours work without walls", remedy);
    }
    let Wall::Fails { step, because } = ability.of(exec_level(config.level)) else {
        return healthy("sandbox", format!("level {word} works here"));
    };
    let (because, remedy) = because.split_once("; ").unwrap_or((because, "see `longhaul explain E0801`"));
    let missing = format!("level {word} does not work here: could not {step}: {because}");
    if config.level == SandboxLevel::Full && ability.reduced.works() {
        let then = if config.accepts_reduced { "sessions get level reduced" } else { "sessions are refused" };
        let finding = format!("{missing}, and {then}");
        return warning("sandbox", finding, format!("{remedy}; or set `sandbox.accept_reduced: true`"));
    }
    warning("sandbox", format!("{missing}, and sessions are refused"), remedy)
}

/// Whether there is anybody to ask, and whether those whom the settings name are known.
fn agents(system: &System, config: Option<&Config>) -> Vec<Diagnosis> {
    let (roster, views) = match system.roster().and_then(|roster| Ok((roster, system.agents()?))) {
        Ok(found) => found,
        Err(error) => return vec![from_error("agents", &error)],
    };
    let mut diagnoses: Vec<Diagnosis> = Vec::new();
    for (name, error) in roster.broken() {
        let remedy = format!("put `{}` right", error.path);
        diagnoses.push(problem(format!("agent `{name}`"), error.problem.clone(), remedy));
    }
    let tiers = [None, Some(ModelTier::Light), Some(ModelTier::Standard), Some(ModelTier::Heavy)];
    let named = |config: &Config| -> BTreeSet<String> {
        tiers.iter().flat_map(|tier| config.agents.chain(*tier)).map(str::to_owned).collect()
    };
    for name in config.map(named).unwrap_or_default() {
        let unknown =
            roster.resolve(&name).err().filter(|_| !roster.broken().any(|(known, _)| known == name));
        diagnoses.extend(unknown.map(|error| from_error("agents", &error.into())));
    }
    // Whoever plays a script is always there.
    let is_ready = |view: &&crate::agents::AgentView| {
        matches!(view.state, AgentState::Ready | AgentState::UsedUp) && view.kind != Kind::Rehearsal.word()
    };
    let ready: Vec<&str> = views.iter().filter(is_ready).map(|view| view.name.as_str()).collect();
    // Whoever only serves the agent of an editor needs none.
    let none = "none is set up for `longhaul run`; `longhaul agent check` says how to get one";
    diagnoses.push(healthy("agents", if ready.is_empty() { none.to_owned() } else { ready.join(", ") }));
    diagnoses.extend(limits(system));
    diagnoses
}

/// Limits of providers that are used up. What cannot be read has its own row.
fn limits(system: &System) -> Vec<Diagnosis> {
    let used_up = system.reader().ok().flatten().and_then(|reader| reader.used_up(SystemClock.now()).ok());
    let row = |limit: UsedUp| {
        let finding = format!("used up until {}", rfc3339(limit.until));
        let remedy = format!(
            "nothing: {} that wait for it go on by themselves, when somebody follows or resumes them",
            limit.sessions
        );
        warning(format!("limit of `{}`", limit.provider), finding, remedy)
    };
    used_up.unwrap_or_default().into_iter().map(row).collect()
}

fn folders(system: &System) -> Diagnosis {
    let data = &system.places().data;
    match fs::metadata(data) {
        Err(_) => match data.ancestors().find(|above| above.exists()) {
            Some(above) if above.is_dir() && can_write(above) => {
                healthy("data directory", format!("`{}`, not made yet", data.display()))
            }
            Some(_) | None => problem(
                "data directory",
                format!("`{}` cannot be made", data.display()),
                "check the owner and permissions of the folder above it, or set `LONGHAUL_HOME` to one that you may write to",
            ),
        },
        Ok(found) if found.permissions().mode() & 0o077 != 0 => warning(
            "data directory",
            format!("others may look into `{}`", data.display()),
            format!("run `chmod 700 {}`", data.display()),
        ),
        Ok(_) => match tempfile::Builder::new().prefix(".probe-").tempfile_in(data) {
            Ok(_) => healthy("data directory", format!("`{}`", data.display())),
            Err(error) => problem(
                "data directory",
                format!("`{}` cannot be written: {error}", data.display()),
                "check its owner and permissions, and whether the disk is full",
            ),
        },
    }
}

fn can_write(folder: &Path) -> bool {
    rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Only what is wrong: a full disk shows as something else everywhere.
fn free_space(system: &System) -> Option<Diagnosis> {
    let data = &system.places().data;
    let free = free_bytes(data)?;
    let finding = format!("{} free on the disk of `{}`", show_size(free), data.display());
    let remedy = "make room; `longhaul gc` and `longhaul worktree clean` say what of ours can go";
    if is_full(free) {
        return Some(problem(DISK, format!("{finding}: nothing can be stored"), remedy));
    }
    (free < LITTLE_SPACE_BYTES).then(|| warning(DISK, finding, remedy))
}

fn secrets(system: &System) -> Diagnosis {
    match system.scrubber() {
        Ok(_) => healthy("secrets", "kept out of everything that is stored"),
        Err(error) => from_error("secrets", &error),
    }
}

fn database(
    reader: &Reader,
    config: Option<&Config>,
    progress: &mut dyn Progress,
    diagnoses: &mut Vec<Diagnosis>,
) {
    let mut add = |subject: &str, found: Result<Vec<Diagnosis>, Error>| match found {
        Ok(found) => diagnoses.extend(found),
        Err(error) => diagnoses.push(from_error(subject, &error)),
    };
    add("database", structure(reader));
    add("streams", streams(reader, progress));
    add("views", views(reader).map(|view| vec![view]));
    add("sessions", sessions(reader));
    add("workspaces", workspaces(reader));
    diagnoses.extend(config.and_then(|config| disk(reader, config)));
}

fn structure(reader: &Reader) -> Result<Vec<Diagnosis>, Error> {
    let findings = reader.findings()?;
    if findings.is_empty() {
        return Ok(vec![healthy("database", "whole")]);
    }
    Ok(findings.into_iter().map(diagnose).collect())
}

fn diagnose(finding: Finding) -> Diagnosis {
    match finding {
        Finding::Structure(what) => problem(
            "database",
            what,
            "stop all other `longhaul` processes and run `longhaul doctor --recover`",
        ),
        Finding::Gap { .. } => problem(
            "database",
            finding.gap().unwrap_or_default(),
            "restore a backup that holds them; or run `longhaul doctor --recover`, which keeps the streams apart that may have lost them",
        ),
        Finding::Blob { hash, problem: what } => match what.split_once("; ") {
            Some((finding, remedy)) => problem(format!("blob {hash}"), finding, remedy),
            None => problem(format!("blob {hash}"), what, "restore it from a backup"),
        },
    }
}

fn streams(reader: &Reader, progress: &mut dyn Progress) -> Result<Vec<Diagnosis>, Error> {
    let names = reader.streams()?;
    progress.begin("streams", names.len() as u64);
    let mut diagnoses = Vec::new();
    let (mut events, mut redacted) = (0, 0);
    for name in &names {
        let report = reader.verify_stream(name)?;
        progress.step();
        events += report.events;
        redacted += report.redacted;
        diagnoses.extend(match report.verdict {
            Verdict::Intact => None,
            Verdict::Unreadable(why) => {
                Some(problem(name, format!("quarantined: {why}"), "update `longhaul`; everything else goes on"))
            }
            Verdict::Quarantined(why) => Some(problem(
                name,
                format!("quarantined: {why}"),
                format!("import an export that holds the lost events (`longhaul log import`), or restore a backup; until then it may be read and exported (`longhaul log export {name}`)"),
            )),
            Verdict::Broken(why) => Some(problem(
                name,
                format!("quarantined: {why}"),
                "run `longhaul doctor --rebuild`; if that does not help, `--recover`, or restore a backup",
            )),
        });
    }
    if diagnoses.is_empty() {
        let note = if redacted > 0 { format!(", {redacted} decisions redacted") } else { String::new() };
        diagnoses.push(healthy("streams", format!("{} intact, {events} events{note}", names.len())));
    }
    Ok(diagnoses)
}

fn views(reader: &Reader) -> Result<Diagnosis, Error> {
    let sessions = reader.sessions()?.len();
    Ok(match reader.views_trouble() {
        None => healthy(
            "views",
            format!("up to date, {sessions} session{}", if sessions == 1 { "" } else { "s" }),
        ),
        Some(why) => warning(
            "views",
            format!("`views.db` cannot be used ({why}), so lists are made from the log each time"),
            "check its permissions and whether the disk is full; it may be deleted at any time",
        ),
    })
}

/// Those that are open and lead nowhere.
fn sessions(reader: &Reader) -> Result<Vec<Diagnosis>, Error> {
    let mut diagnoses = Vec::new();
    for row in reader.sessions()?.into_iter().filter(|row| row.status == SessionStatus::Open) {
        let why = match reader.cannot_follow(row.id) {
            // Said of its stream already.
            Err(Error::Store(StoreError::Quarantined { .. } | StoreError::Blob { .. })) => continue,
            other => other?,
        };
        if let Some(why) = why {
            let remedy =
                format!("close it with `longhaul session cancel {}`, and start the work anew", row.id);
            diagnoses.push(problem(format!("session `{}`", row.id), why, remedy));
        }
    }
    Ok(diagnoses)
}

fn workspaces(reader: &Reader) -> Result<Vec<Diagnosis>, Error> {
    let views = reader.workspaces()?;
    let diagnose = |view: &crate::reader::WorkspaceView| {
        let subject = format!("workspace `{}`", view.name);
        match &view.trust {
            Ok(TrustState::Changed) => Some(warning(
                subject,
                "its `.longhaul/` has changed since it was trusted",
                format!("look at the change, then run `longhaul workspace trust {}`", view.id),
            )),
            Ok(TrustState::Absent | TrustState::Trusted | TrustState::Untrusted) => None,
            Err(why) => Some(warning(
                subject,
                why.clone(),
                format!("bring the repository back, or run `longhaul workspace rm {}`", view.id),
            )),
        }
    };
    let mut diagnoses: Vec<Diagnosis> = views.iter().filter_map(diagnose).collect();
    if diagnoses.is_empty() {
        diagnoses.push(healthy("workspaces", format!("{} registered", views.len())));
    }
    Ok(diagnoses)
}

fn disk(reader: &Reader, config: &Config) -> Option<Diagnosis> {
    let disk_used_bytes = reader.disk_used_bytes().ok()?;
    let disk_limit_bytes = config.retention_disk_bytes;
    let text = disk_warning(&Inventory { disk_used_bytes, disk_limit_bytes, ..Inventory::default() });
    Some(match text.as_deref().and_then(|text| text.split_once("; ")) {
        Some((finding, remedy)) => warning(DISK, finding, remedy),
        None => healthy(DISK, show_size(disk_used_bytes)),
    })
}

#[cfg(test)]
mod tests {
    use longhaul_events::Position;

    use super::*;

    #[test]
    fn decisions_that_are_gone_are_a_problem_with_a_remedy() {
        let gap = |first, last| diagnose(Finding::Gap { first: Position(first), last: Position(last) });
        assert_eq!(gap(3, 5).finding, "decisions 3 to 5 are missing from the log");
        assert_eq!(gap(3, 3).finding, "decision 3 is missing from the log");
        assert_eq!(gap(3, 3).status, Status::Problem);
        assert!(gap(3, 3).remedy.unwrap().starts_with("restore a backup"));
    }
}
