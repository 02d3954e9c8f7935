//! Loading settings from where they may stand.

use std::fs;
use std::path::Path;

use longhaul_core::config::{self, Config, Layer};
use longhaul_core::trust::{FileKind, FolderFile};
use longhaul_core::workspace::TrustState;

use crate::error::Error;
use crate::places::Places;

/// The settings of this machine: the user's file, the environment, flags.
pub(crate) fn load(
    places: &Places,
    workspace: Option<Layer>,
    environment: impl Fn(&str) -> Option<String>,
    flags: &[String],
) -> Result<Config, Error> {
    let mut layers: Vec<Layer> = workspace.into_iter().collect();
    layers.extend(file(&places.user_config())?);
    layers.push(config::from_environment(environment));
    layers.push(config::from_flags(flags.iter().map(String::as_str))?);
    Ok(config::resolve(&layers)?)
}

fn file(path: &Path) -> Result<Option<Layer>, Error> {
    // A pipe would keep us waiting for ever.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(Error::NotAFile { path: path.to_owned() });
    }
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(config::parse_file(&path.display().to_string(), &text)?)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::ReadFile { path: path.to_owned(), source }),
    }
}

/// The settings of a checkout, which count only while a person trusts its `.longhaul/`. They are taken from the
/// very bytes that were hashed.
pub(crate) fn workspace_layer(
    checkout: &Path,
    files: &[FolderFile],
    trust: TrustState,
) -> Result<Option<Layer>, Error> {
    let path = checkout.join(".longhaul/config.yml");
    let Some(file) = files.iter().find(|file| file.path == b"config.yml") else { return Ok(None) };
    match (trust, file.kind) {
        (TrustState::Absent | TrustState::Changed | TrustState::Untrusted, _) => Ok(None),
        // What it points to was never looked at.
        (TrustState::Trusted, FileKind::Symlink) => {
            let problem = "it is a link, and only files can be trusted; put a real file there".to_owned();
            Err(Error::Untrustable { path, problem })
        }
        (TrustState::Trusted, FileKind::Regular | FileKind::Executable) => {
            let text = String::from_utf8_lossy(&file.bytes);
            Ok(Some(config::parse_file(&path.display().to_string(), &text)?))
        }
    }
}
