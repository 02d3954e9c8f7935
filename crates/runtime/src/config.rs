//! Loading settings from where they may stand.

use std::fs;
use std::path::Path;

use longhaul_core::config::{self, Config, Layer};
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
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(config::parse_file(&path.display().to_string(), &text)?)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::ReadFile { path: path.to_owned(), source }),
    }
}

/// The settings of a checkout, which count only while a person trusts its `.longhaul/`.
pub(crate) fn workspace_layer(checkout: &Path, trust: TrustState) -> Result<Option<Layer>, Error> {
    match trust {
        TrustState::Trusted => file(&checkout.join(".longhaul/config.yml")),
        TrustState::Absent | TrustState::Changed | TrustState::Untrusted => Ok(None),
    }
}
