//! Having a service manager start the daemon: a unit for systemd, an agent for launchd. Only what is told here is in the file:
//! no secret, and of the environment only where things are.

mod launchd;
mod systemd;

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_core::canonical::sha256;
use longhaul_exec::{Outcome, Program};

use crate::error::{Error, LifecycleError};
use crate::system::System;

/// Where the installation and its programs are. Nothing else of an environment goes into a unit: keys are in `longhaul secret`.
const CARRIED: [&str; 5] = ["PATH", "LONGHAUL_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];
/// What stands before the hash of all other lines.
const SUM: &str = "sum of the other lines: ";
const MANAGER_ANSWERS_IN: Duration = Duration::from_mins(3);

/// Who starts daemons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manager {
    Systemd,
    Launchd,
}

impl Manager {
    pub const fn of_this_system() -> Self {
        if cfg!(target_os = "macos") { Self::Launchd } else { Self::Systemd }
    }
}

/// A unit as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitFile {
    /// What the manager calls it.
    pub name: String,
    pub path: PathBuf,
    pub text: String,
}

/// What writing a unit changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    New,
    Updated,
    Unchanged,
}

/// What is done with a file that somebody edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    Kept,
    WrittenOver,
}

/// The unit that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitState {
    Absent,
    UpToDate,
    /// We wrote it, and would write something else now.
    Outdated,
    /// Somebody made it theirs.
    Edited,
}

/// What a unit is made from.
struct Content<'a> {
    program: &'a str,
    variables: Vec<(&'static str, String)>,
    log: &'a Path,
}

impl System {
    /// The unit for this installation and this program.
    pub fn unit_file(&self, program: &Path, manager: Manager) -> Result<UnitFile, Error> {
        let (name, path) = self.unit_place(manager)?;
        let program = plain("the path of the program", program.as_os_str())?;
        let scrubber = self.scrubber()?;
        let mut variables = Vec::new();
        for carried in CARRIED {
            let Some(value) = self.variable(OsStr::new(carried)).filter(|value| !value.is_empty()) else {
                continue;
            };
            let value = plain(&format!("`{carried}`"), &value)?.to_owned();
            if scrubber.bytes(value.as_bytes()) != value.as_bytes() {
                let (what, problem) = (format!("`{carried}`"), "there is a secret in it");
                return Err(LifecycleError::NotForUnit { what, problem }.into());
            }
            variables.push((carried, value));
        }
        let log = self.places().daemon_log();
        let content = Content { program, variables, log: &log };
        let text = match manager {
            Manager::Systemd => systemd::text(&content),
            Manager::Launchd => launchd::text(&name, &content),
        };
        Ok(UnitFile { name, path, text: signed(&text) })
    }

    /// Writes the unit, unless somebody edited what is there.
    pub fn write_unit(&self, unit: &UnitFile, edited: Edited) -> Result<Written, Error> {
        let there = read(&unit.path)?;
        let written = match there {
            None => Written::New,
            Some(there) if there == unit.text => return Ok(Written::Unchanged),
            Some(there) if edited == Edited::Kept && !is_ours(&there) => {
                return Err(LifecycleError::UnitEdited(unit.path.clone()).into());
            }
            Some(_) => Written::Updated,
        };
        let failed = |source| Error::WriteFile { path: unit.path.clone(), source };
        let folder = unit.path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(failed)?;
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        file.write_all(unit.text.as_bytes()).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&unit.path).map_err(|error| failed(error.error))?;
        Ok(written)
    }

    /// Takes the unit away and says where it was; `None` if there is none.
    pub fn remove_unit(&self, manager: Manager, edited: Edited) -> Result<Option<UnitPlace>, Error> {
        let (name, path) = self.unit_place(manager)?;
        let Some(there) = read(&path)? else { return Ok(None) };
        if edited == Edited::Kept && !is_ours(&there) {
            return Err(LifecycleError::UnitNotOurs(path).into());
        }
        fs::remove_file(&path).map_err(|source| Error::WriteFile { path: path.clone(), source })?;
        Ok(Some(UnitPlace { name, path }))
    }

    /// How the unit that is there compares with the one that would be written.
    pub(crate) fn unit_state(&self, program: &Path) -> Result<(UnitState, PathBuf), Error> {
        let manager = Manager::of_this_system();
        let (_, path) = self.unit_place(manager)?;
        let Some(there) = read(&path)? else { return Ok((UnitState::Absent, path)) };
        if !is_ours(&there) {
            return Ok((UnitState::Edited, path));
        }
        let wanted = self.unit_file(program, manager)?.text;
        let is_same = without_variables(&there) == without_variables(&wanted);
        Ok((if is_same { UnitState::UpToDate } else { UnitState::Outdated }, path))
    }

    /// Another installation of the same user has a unit of its own.
    fn unit_place(&self, manager: Manager) -> Result<(String, PathBuf), Error> {
        let path =
            |name: &str| self.variable(OsStr::new(name)).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = path("HOME").ok_or(crate::places::Homeless::Unset)?;
        let mark = match path("LONGHAUL_HOME") {
            Some(own) => {
                let digest = sha256(own.as_os_str().as_encoded_bytes()).to_string();
                format!("-{}", &digest[..8])
            }
            None => String::new(),
        };
        Ok(match manager {
            Manager::Systemd => {
                let folder = path("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
                let name = format!("longhaul{mark}.service");
                let path = folder.join("systemd/user").join(&name);
                (name, path)
            }
            Manager::Launchd => {
                let name = format!("longhaul.daemon{mark}");
                let path = home.join("Library/LaunchAgents").join(format!("{name}.plist"));
                (name, path)
            }
        })
    }
}

/// Where a unit was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitPlace {
    pub name: String,
    pub path: PathBuf,
}

/// Asks systemd for something, and says what it answered if that did not work.
pub fn systemctl(arguments: &[&str]) -> Result<(), Error> {
    let command = format!("systemctl --user {}", arguments.join(" "));
    let failed = |problem| LifecycleError::Manager { command: command.clone(), problem };
    let program = Program::new("systemctl").arg("--user").args(arguments.iter().copied());
    let finished = longhaul_exec::run(&program.timeout(MANAGER_ANSWERS_IN))
        .map_err(|error| failed(error.to_string()))?;
    let said = finished.stderr.to_text();
    match finished.outcome {
        Outcome::Exited(0) => Ok(()),
        Outcome::Exited(_) => Err(failed(said.trim().to_owned()).into()),
        Outcome::Signalled(_) | Outcome::TimedOut | Outcome::OutOfRoom | Outcome::Stopped => {
            Err(failed("it did not answer".to_owned()).into())
        }
    }
}

/// The unit that this very process is the main one of.
pub(super) fn own_unit(system: &System) -> Option<String> {
    let main = system.variable(OsStr::new("SYSTEMD_EXEC_PID"))?;
    if main.to_str()?.parse::<u32>().ok()? != std::process::id() {
        return None;
    }
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let names = groups.lines().filter_map(|line| line.rsplit('/').next());
    names.map(str::to_owned).find(|name| name.ends_with(".service"))
}

/// Text that can stand in a unit, and means itself.
fn plain<'a>(what: &str, value: &'a OsStr) -> Result<&'a str, Error> {
    let refused = |problem| LifecycleError::NotForUnit { what: what.to_owned(), problem };
    let text = value.to_str().ok_or_else(|| refused("it is not UTF-8 text"))?;
    if text.chars().any(char::is_control) {
        return Err(refused("there is a control character in it").into());
    }
    Ok(text)
}

fn read(path: &Path) -> Result<Option<String>, Error> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::ReadFile { path: path.to_owned(), source }),
    }
}

/// The same with the hash of all other lines where it belongs.
fn signed(text: &str) -> String {
    text.replace(SUM, &format!("{SUM}{}", sum(text)))
}

/// Whether a file is as we wrote it, whichever release of us that was.
fn is_ours(text: &str) -> bool {
    text.lines().any(|line| line.contains(&format!("{SUM}{}", sum(text))))
}

fn sum(text: &str) -> String {
    let others: Vec<&str> = text.lines().filter(|line| !line.contains(SUM)).collect();
    let digest = sha256(others.join("\n").as_bytes()).to_string();
    digest[..16].to_owned()
}

/// What differs from shell to shell is no reason to write a unit anew.
fn without_variables(text: &str) -> Vec<&str> {
    let is_told = |line: &&str| !line.contains(SUM) && !line.starts_with("Environment=");
    text.lines().filter(is_told).collect()
}

#[cfg(test)]
mod tests;
