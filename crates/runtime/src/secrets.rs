//! The values that must never be stored: what the user's secrets file holds, and what the environment names.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use longhaul_core::scrub::Secret;

/// Environment variables that end like this hold secrets.
const SECRET_ENDINGS: [&str; 5] = ["_TOKEN", "_SECRET", "_PASSWORD", "_API_KEY", "_ACCESS_KEY"];

/// Shorter values of such variables are settings more often than secrets.
const SHORTEST_VARIABLE: usize = 12;

/// A secrets file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    #[error("could not read `{}`: {source}; check its permissions", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("`{}` is not a JSON object of texts: {source}; write it as `{{\"NAME\": \"value\"}}`", path.display())]
    Format { path: PathBuf, source: serde_json::Error },
    #[error("others may read `{}`; run `chmod 600` on it", path.display())]
    Exposed { path: PathBuf },
}

/// Reads the user's secrets; no file means none.
pub(crate) fn from_file(path: &Path) -> Result<Vec<Secret>, SecretsError> {
    let read = |source| SecretsError::Read { path: path.to_owned(), source };
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.map_err(read)?,
    };
    if fs::metadata(path).map_err(read)?.permissions().mode() & 0o077 != 0 {
        return Err(SecretsError::Exposed { path: path.to_owned() });
    }
    let named: std::collections::BTreeMap<String, String> = serde_json::from_str(&text)
        .map_err(|source| SecretsError::Format { path: path.to_owned(), source })?;
    Ok(named.into_iter().map(|(name, value)| Secret { name, value }).collect())
}

/// Picks the secrets among environment variables.
pub(crate) fn from_environment(variables: impl Iterator<Item = (String, String)>) -> Vec<Secret> {
    let is_secret = |name: &str, value: &str| {
        SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending)) && value.len() >= SHORTEST_VARIABLE
    };
    variables
        .filter(|(name, value)| is_secret(name, value))
        .map(|(name, value)| Secret { name, value })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_are_named_like_secrets_are_secrets() {
        let variables = [
            ("FORGE_TOKEN", "abcdefghijkl"),
            ("SHORT_TOKEN", "abc"),
            ("TOKEN_COUNT", "abcdefghijklm"),
            ("PATH", "/usr/bin:/bin"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let names: Vec<String> =
            from_environment(variables.into_iter()).into_iter().map(|secret| secret.name).collect();
        assert_eq!(names, ["FORGE_TOKEN"]);
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets.json");
        assert_eq!(from_file(&path).unwrap().len(), 0);
        fs::write(&path, r#"{"A": "value"}"#).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(from_file(&path), Err(SecretsError::Exposed { .. })));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(from_file(&path).unwrap()[0].value, "value");
        fs::write(&path, "[]").unwrap();
        assert!(matches!(from_file(&path), Err(SecretsError::Format { .. })));
    }
}
