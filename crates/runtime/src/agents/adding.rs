//! `agent add`: a file of the user's own, written once.

use std::path::PathBuf;

use longhaul_core::roster::{Roster, UserFile, is_agent_name};

pub use longhaul_core::roster::NewAgent;

use crate::beginning::write_new;
use crate::error::{Error, Kind};
use crate::system::System;
use crate::terminal;

/// An agent that was not added.
#[derive(Debug, thiserror::Error)]
pub enum AddingError {
    #[error(
        "`{0}` cannot be the name of an agent; use small letters, digits, `-`, `_` and `.`, such as `my-agent`"
    )]
    Name(String),
    #[error("that is no agent that could be asked, nothing was written: {0}")]
    Unusable(String),
    #[error("there is an agent `{name}` of yours already; change `{}`, or choose another name", path.display())]
    Exists { name: String, path: PathBuf },
    #[error("there is no agent `{name}` of yours, so nothing was taken away; those that you added lie in `{}`", folder.display())]
    NotOwn { name: String, folder: PathBuf },
}

impl AddingError {
    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Name(_) | Self::Unusable(_) => Kind::Usage,
            Self::Exists { .. } | Self::NotOwn { .. } => Kind::Refused,
        }
    }
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedAgent {
    pub path: PathBuf,
    /// The key that it is shown and that nobody has set yet.
    pub missing_key: Option<String>,
}

impl System {
    /// Writes the file of an agent, unless there is one or it could not be used.
    pub fn add_agent(&self, name: &str, new: &NewAgent) -> Result<AddedAgent, Error> {
        terminal::refuse_agents()?;
        if !is_agent_name(name) {
            return Err(AddingError::Name(name.to_owned()).into());
        }
        let path = self.places().agents().join(format!("{name}.yml"));
        let shown = path.display().to_string();
        let unusable = |problem: String| AddingError::Unusable(problem);
        let text = new.text().map_err(unusable)?;
        let file = UserFile { path: shown.clone(), text: text.clone() };
        let alone = Roster::with(None, &[(name.to_owned(), file)])?;
        if let Some((_, error)) = alone.broken().next() {
            return Err(unusable(error.problem.clone()).into());
        }
        if path.symlink_metadata().is_ok() {
            return Err(AddingError::Exists { name: name.to_owned(), path }.into());
        }
        write_new(&path, &text)?;
        let definition = alone.resolve(name)?;
        let provider = definition.provider.and_then(|provider| alone.provider(&provider).cloned());
        let missing_key = match provider.and_then(|provider| provider.key_variable) {
            Some(key) if self.key(&key)?.is_none() => Some(key),
            Some(_) | None => None,
        };
        Ok(AddedAgent { path, missing_key })
    }

    /// Removes the file of an agent that somebody added, and says which that was. A person's to do.
    pub fn remove_agent(&self, name: &str) -> Result<PathBuf, Error> {
        terminal::refuse_agents()?;
        let folder = self.places().agents();
        let path = folder.join(format!("{name}.yml"));
        if !is_agent_name(name) || !path.is_file() {
            return Err(AddingError::NotOwn { name: name.to_owned(), folder }.into());
        }
        std::fs::remove_file(&path).map_err(|source| Error::WriteFile { path: path.clone(), source })?;
        Ok(path)
    }
}
