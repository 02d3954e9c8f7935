//! Changing the user's secrets file: one name at a time, all others as they were, whoever else is at it.
//!
//! A value goes into the file and nowhere else: no event, no log line, no error.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use longhaul_core::scrub::SHORTEST_SECRET;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{SecretsError, read};
use crate::error::Error;
use crate::system::System;
use crate::terminal;

/// Shorter values are part of ordinary words now and then.
const SAFE_LENGTH: usize = 8;

/// What became of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretChange {
    Added,
    Replaced,
    Unchanged,
}

/// Why a value is hard to keep out of what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretWarning {
    /// It is not looked for at all.
    TooShort,
    /// It may be found where somebody meant something else.
    Short,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretSet {
    pub change: SecretChange,
    pub warning: Option<SecretWarning>,
}

impl System {
    /// The names of the user's secrets, in the order of the alphabet.
    pub fn secret_names(&self) -> Result<Vec<String>, Error> {
        terminal::refuse_agents()?;
        let mut names: Vec<String> =
            read(&self.places().secrets())?.into_iter().map(|(name, _)| name).collect();
        names.sort();
        Ok(names)
    }

    /// Whether a value could be kept under a name, before anybody is asked for one.
    pub fn check_secret_name(&self, name: &str) -> Result<(), Error> {
        terminal::refuse_agents()?;
        if is_name(name) { Ok(()) } else { Err(SecretsError::Name.into()) }
    }

    /// Keeps a value under a name; the one before is gone.
    pub fn set_secret(&self, name: &str, value: &str) -> Result<SecretSet, Error> {
        self.check_secret_name(name)?;
        if value.is_empty() {
            return Err(SecretsError::Empty(name.to_owned()).into());
        }
        let change = Keeper::over(self.places().secrets())?.change(|secrets| {
            match secrets.insert(name.to_owned(), Value::String(value.to_owned())) {
                None => Ok(SecretChange::Added),
                Some(before) if before.as_str() == Some(value) => Ok(SecretChange::Unchanged),
                Some(_) => Ok(SecretChange::Replaced),
            }
        })?;
        Ok(SecretSet { change, warning: warning(value) })
    }

    /// Forgets a name and its value. What was stored while it was known keeps its mark.
    pub fn remove_secret(&self, name: &str) -> Result<(), Error> {
        terminal::refuse_agents()?;
        let path = self.places().secrets();
        let unknown = || SecretsError::Unknown(name.to_owned());
        // Where there is no file, none has to be made to say so.
        if !read(&path)?.iter().any(|(known, _)| known == name) {
            return Err(unknown().into());
        }
        Ok(Keeper::over(path)?.change(|secrets| secrets.shift_remove(name).map(drop).ok_or_else(unknown))?)
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_uppercase())
        && text.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_')
}

fn warning(value: &str) -> Option<SecretWarning> {
    match value.len() {
        length if length < SHORTEST_SECRET => Some(SecretWarning::TooShort),
        length if length < SAFE_LENGTH => Some(SecretWarning::Short),
        _ => None,
    }
}

/// Whoever has the file to itself.
struct Keeper {
    path: PathBuf,
    _lock: File,
}

impl Keeper {
    /// Waits until nobody else changes it. A link stays one: what it leads to is changed.
    fn over(path: PathBuf) -> Result<Self, SecretsError> {
        let path = fs::canonicalize(&path).unwrap_or(path);
        let folder = path.parent().unwrap_or(Path::new("/"));
        let lock = folder.join(".secrets.lock");
        let failed = |source| SecretsError::Write { path: lock.clone(), source };
        fs::create_dir_all(folder).map_err(failed)?;
        let mut options = fs::OpenOptions::new();
        let file =
            options.write(true).create(true).truncate(false).mode(0o600).open(&lock).map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(Self { path, _lock: file })
    }

    fn change<Answer>(
        &self,
        change: impl FnOnce(&mut Map<String, Value>) -> Result<Answer, SecretsError>,
    ) -> Result<Answer, SecretsError> {
        let named = read(&self.path)?.into_iter();
        let mut secrets: Map<String, Value> =
            named.map(|(name, value)| (name, Value::String(value))).collect();
        let answer = change(&mut secrets)?;
        let text = serde_json::to_string_pretty(&secrets).expect("its keys are strings");
        self.write(&format!("{text}\n"))?;
        Ok(answer)
    }

    /// Whoever reads finds the old file or the new one, and nobody but the user reads either.
    fn write(&self, text: &str) -> Result<(), SecretsError> {
        let failed = |source| SecretsError::Write { path: self.path.clone(), source };
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(".secrets-").permissions(fs::Permissions::from_mode(0o600));
        let mut new = builder.tempfile_in(folder).map_err(failed)?;
        new.write_all(text.as_bytes()).and_then(|()| new.as_file().sync_all()).map_err(failed)?;
        new.persist(&self.path).map_err(|error| failed(error.error))?;
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_a_variable_could_be_called() {
        for name in ["A", "FORGE_TOKEN", "KEY2", "A__B"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "forge", "2KEY", "_A", "A-B", "A B", "Ä", "A\n", "A=B"] {
            assert!(!is_name(name), "{name:?}");
        }
    }

    #[test]
    fn many_who_change_the_file_at_once_lose_nothing_of_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config/secrets.json");
        std::thread::scope(|scope| {
            for number in 0..16 {
                let path = path.clone();
                scope.spawn(move || {
                    let keeper = Keeper::over(path).unwrap();
                    let add = |secrets: &mut Map<String, Value>| {
                        secrets.insert(format!("NAME_{number}"), Value::String(format!("value {number}")));
                        Ok(())
                    };
                    keeper.change(add).unwrap();
                });
            }
        });
        let mut found = read(&path).unwrap();
        found.sort();
        let mut expected: Vec<(String, String)> =
            (0..16).map(|number| (format!("NAME_{number}"), format!("value {number}"))).collect();
        expected.sort();
        assert_eq!(found, expected);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_link_stays_one_and_what_it_leads_to_is_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.json"), folder.path().join("secrets.json"));
        fs::write(&real, r#"{"old name": "kept as it is ✓\n"}"#).unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let add = |secrets: &mut Map<String, Value>| {
            secrets.insert("NEW".to_owned(), Value::String("value".to_owned()));
            Ok(())
        };
        Keeper::over(link.clone()).unwrap().change(add).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(read(&real).unwrap(), [pair("old name", "kept as it is ✓\n"), pair("NEW", "value")]);
    }
}
