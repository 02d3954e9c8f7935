//! Who can be asked here: the roster with the user's own files, and what of it works on this machine.

mod adding;
mod checking;
mod costs;
mod finding;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use longhaul_core::roster::{KeyHeader, Provider, Roster, UserFile, Wire};
use longhaul_gateway::{Credential, Protocol, Upstream};

pub use adding::{AddedAgent, AddingError, NewAgent};
pub use costs::CostView;
pub use finding::{AgentFinding, AgentState, AgentView, ModelView};

use crate::error::Error;
use crate::system::System;

/// No file of an agent or of models is longer.
const LARGEST_FILE_BYTES: u64 = 1 << 20;

impl System {
    /// Everybody who has a name here, the user's own among them.
    pub fn roster(&self) -> Result<Roster, Error> {
        let models = user_file(&self.places().models())?;
        let folder = self.places().agents();
        let mut agents = Vec::new();
        for path in listed(&folder)? {
            let name = path.file_stem().and_then(OsStr::to_str).unwrap_or_default().to_owned();
            // One that went away meanwhile is not there.
            if let Some(file) = user_file(&path)? {
                agents.push((name, file));
            }
        }
        Ok(Roster::with(models.as_ref(), &agents)?)
    }

    /// Where a provider is, for this user.
    pub(crate) fn base_url(&self, provider: &Provider) -> String {
        let variable = provider.base_url_variable.as_deref();
        let value = variable.and_then(|name| self.variable(OsStr::new(name))?.into_string().ok());
        provider.base_url_given(value.as_deref())
    }

    /// A provider with what it is shown; refused if the key is not there.
    pub(crate) fn upstream(&self, provider: &Provider) -> Result<Upstream, Error> {
        let protocol = match provider.wire() {
            Wire::AnthropicMessages => Protocol::Anthropic,
            Wire::OpenAiChat | Wire::OpenAiResponses => Protocol::OpenAi,
        };
        let base = self.base_url(provider);
        let Some(name) = &provider.key_variable else {
            return Ok(Upstream::showing(&base, protocol, &Credential::Nothing)?);
        };
        let key = self.key(name)?.ok_or_else(|| Error::NoKey {
            provider: provider.title.clone(),
            name: name.clone(),
            how: provider.install.as_ref().map(|how| format!("{how}, then ")).unwrap_or_default(),
        })?;
        let credential = match provider.key_header {
            KeyHeader::XApiKey => Credential::XApiKey(key.reveal()),
            KeyHeader::Bearer => Credential::Bearer(key.reveal()),
        };
        Ok(Upstream::showing(&base, protocol, &credential)?)
    }

    /// Where a program is that somebody would start by its name.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let is_program = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        };
        if name.contains('/') {
            return Some(PathBuf::from(name)).filter(is_program);
        }
        let path = self.variable(OsStr::new("PATH")).unwrap_or_default();
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(is_program)
    }

    /// The programs of known agents that are on the path, by the names that people know them by.
    pub(crate) fn agent_programs(&self, roster: &Roster) -> Vec<String> {
        let mut programs: Vec<String> = Vec::new();
        for definition in roster.definitions() {
            let started = definition.kind.command().and_then(<[String]>::first);
            let Some(name) = definition.program.as_ref().or(started) else { continue };
            if !programs.contains(name) && self.program(name).is_some() {
                programs.push(name.clone());
            }
        }
        programs
    }
}

/// The files of a folder that agents could be in, in the order of their names.
fn listed(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |source| Error::ReadFile { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == "yml" || ending == "yaml") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn user_file(path: &Path) -> Result<Option<UserFile>, Error> {
    let failed = |source| Error::ReadFile { path: path.to_owned(), source };
    let found = match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        found => found.map_err(failed)?,
    };
    // A pipe would keep us waiting for ever.
    if !found.is_file() || found.len() > LARGEST_FILE_BYTES {
        return Err(Error::NotAFile { path: path.to_owned() });
    }
    let text = fs::read_to_string(path).map_err(failed)?;
    Ok(Some(UserFile { path: path.display().to_string(), text }))
}
