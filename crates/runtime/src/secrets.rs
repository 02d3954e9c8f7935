//! The values that must never be stored: what the user's secrets file holds, and what the environment names.

mod files;
mod keeping;
mod key;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use longhaul_core::scrub::Secret;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

pub use keeping::{SecretChange, SecretSet, SecretWarning};
pub(crate) use key::{Key, KeyOrigin};

use crate::error::Kind;
use crate::observing::export::plain;

/// Environment variables that end like this hold secrets.
const SECRET_ENDINGS: [&str; 5] = ["_TOKEN", "_SECRET", "_PASSWORD", "_API_KEY", "_ACCESS_KEY"];

/// Shorter values of such variables are settings more often than secrets.
const SHORTEST_VARIABLE: usize = 12;

/// Shorter values of headers are words such as `true`.
const SHORTEST_HEADER: usize = 8;

/// A secrets file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    #[error("could not read `{}`: {source}; check its permissions", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    // What the parser says may quote a value.
    #[error(
        "`{}` is not a JSON object of texts (line {}, column {}); write it as `{{\"NAME\": \"value\"}}`",
        path.display(), source.line(), source.column()
    )]
    Format { path: PathBuf, source: serde_json::Error },
    #[error("`{}` is not a file; put a file there, or take it away", path.display())]
    NotAFile { path: PathBuf },
    #[error("`{}` has `{name}` twice, and only one of the values would be kept out; give each a name of its own", path.display())]
    Twice { path: PathBuf, name: String },
    #[error("others may read `{}`; run `chmod 600` on it", path.display())]
    Exposed { path: PathBuf },
    #[error("could not write `{}`: {source}; check the path, its permissions and the disk", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    // What stands in place of a name may be the value.
    #[error(
        "that is not a name for a secret; use capitals, digits and `_`, such as `FORGE_TOKEN`, and give the value when you are asked"
    )]
    Name,
    #[error("the value is empty, nothing was changed; `longhaul secret rm {0}` takes a secret away")]
    Empty(String),
    #[error("there is no secret `{0}`; `longhaul secret list` shows the names")]
    Unknown(String),
}

impl SecretsError {
    /// The page that explains it, if there is more to say.
    pub(crate) const fn code(&self) -> Option<&'static str> {
        match self {
            Self::Read { .. }
            | Self::Format { .. }
            | Self::NotAFile { .. }
            | Self::Twice { .. }
            | Self::Exposed { .. }
            | Self::Write { .. } => Some("E0402"),
            Self::Name | Self::Empty(_) | Self::Unknown(_) => None,
        }
    }

    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Read { .. }
            | Self::Format { .. }
            | Self::NotAFile { .. }
            | Self::Twice { .. }
            | Self::Exposed { .. }
            | Self::Write { .. } => Kind::Environment,
            Self::Empty(_) => Kind::Refused,
            Self::Name | Self::Unknown(_) => Kind::Usage,
        }
    }
}

/// Reads the user's secrets; no file means none.
pub(crate) fn from_file(path: &Path) -> Result<Vec<Secret>, SecretsError> {
    let secret = |(name, value): (String, String)| Secret { name, value: value.into_bytes() };
    Ok(read(path)?.into_iter().map(secret).collect())
}

/// What the file holds, in its order.
fn read(path: &Path) -> Result<Vec<(String, String)>, SecretsError> {
    let read = |source| SecretsError::Read { path: path.to_owned(), source };
    let found = match fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found.map_err(read)?,
    };
    // A pipe would keep us waiting for ever.
    if !found.is_file() {
        return Err(SecretsError::NotAFile { path: path.to_owned() });
    }
    if found.permissions().mode() & 0o077 != 0 {
        return Err(SecretsError::Exposed { path: path.to_owned() });
    }
    let text = fs::read_to_string(path).map_err(read)?;
    let Named(named) = serde_json::from_str(&text)
        .map_err(|source| SecretsError::Format { path: path.to_owned(), source })?;
    let mut names = BTreeSet::new();
    if let Some((name, _)) = named.iter().find(|(name, _)| !names.insert(name)) {
        return Err(SecretsError::Twice { path: path.to_owned(), name: name.clone() });
    }
    Ok(named)
}

/// All fields of an object, also those whose name comes twice.
struct Named(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Named;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Named, M::Error> {
                let mut named = Vec::new();
                while let Some(field) = map.next_entry()? {
                    named.push(field);
                }
                Ok(Named(named))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// What a file holds that must not leave a worktree: its lines, and what stands after the first `=` or `:` of each.
pub(crate) fn in_file(name: &str, bytes: &[u8]) -> Vec<Secret> {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let told = lines.filter(|line| !line.starts_with(b"#")).flat_map(|line| {
        let after = line.iter().position(|byte| matches!(byte, b'=' | b':'));
        let value = after.map(|at| line[at + 1..].trim_ascii());
        let bare = value.map(|value| {
            value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value)
        });
        [Some(line), bare]
    });
    let values = told.flatten().filter(|value| value.len() >= SHORTEST_VARIABLE);
    values.map(|value| Secret { name: name.to_owned(), value: value.to_vec() }).collect()
}

/// Picks the secrets among environment variables, which may hold any bytes.
pub(crate) fn from_environment(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<Secret> {
    let is_secret = |name: &OsStr, value: &OsStr| {
        SECRET_ENDINGS.iter().any(|ending| name.as_bytes().ends_with(ending.as_bytes()))
            && value.len() >= SHORTEST_VARIABLE
    };
    let secret = |(name, value): (OsString, OsString)| {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("OTEL_") && name.ends_with("_HEADERS") {
            return in_headers(&name, &value);
        }
        vec![Secret { name, value: value.into_vec() }]
    };
    let is_headers =
        |name: &OsStr| name.as_bytes().starts_with(b"OTEL_") && name.as_bytes().ends_with(b"_HEADERS");
    variables.filter(|(name, value)| is_secret(name, value) || is_headers(name)).flat_map(secret).collect()
}

/// What is shown to a collector: the value of each header, as it is written and as it is sent.
fn in_headers(name: &str, headers: &OsStr) -> Vec<Secret> {
    let headers = headers.to_string_lossy();
    let values =
        headers.split(',').filter_map(|header| header.split_once('=')).map(|(_, value)| value.trim());
    let spelled = values.flat_map(|value| {
        let sent = plain(value);
        let bare = sent.as_deref().and_then(|sent| sent.split_once(' ')).map(|(_, bare)| bare.to_owned());
        [Some(value.to_owned()), sent, bare]
    });
    let long = spelled.flatten().filter(|value| value.len() >= SHORTEST_HEADER);
    long.map(|value| Secret { name: name.to_owned(), value: value.into_bytes() }).collect()
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
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        let names: Vec<String> =
            from_environment(variables.into_iter()).into_iter().map(|secret| secret.name).collect();
        assert_eq!(names, ["FORGE_TOKEN"]);
    }

    #[test]
    fn what_is_shown_to_a_collector_is_a_secret_in_all_its_spellings() {
        let headers = "authorization=Bearer%20collector-canary, x-tenant=team, api-key=another-canary";
        let found = from_environment([("OTEL_EXPORTER_OTLP_HEADERS".into(), headers.into())].into_iter());
        let values: Vec<&[u8]> = found.iter().map(|secret| secret.value.as_slice()).collect();
        let wanted = [
            "Bearer%20collector-canary",
            "Bearer collector-canary",
            "collector-canary",
            "another-canary",
            "another-canary",
        ];
        assert_eq!(values, wanted.map(str::as_bytes));
    }

    #[test]
    fn a_variable_that_is_not_utf8_is_a_secret_too() {
        let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        let variables = [(text(b"OLD_\xff_PASSWORD"), text(b"latin-\xe9-secret"))];
        let found = from_environment(variables.into_iter());
        assert_eq!(found[0].value, b"latin-\xe9-secret");
        assert_eq!(found[0].name, "OLD_\u{fffd}_PASSWORD");
    }

    #[test]
    fn a_name_that_comes_twice_is_refused_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets.json");
        fs::write(&path, r#"{"A": "first value", "B": "other", "A": "second value"}"#).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let refused = from_file(&path).unwrap_err();
        assert!(matches!(&refused, SecretsError::Twice { name, .. } if name == "A"), "{refused}");
        assert!(!refused.to_string().contains("value\""), "{refused}");
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
        assert_eq!(from_file(&path).unwrap()[0].value, b"value");
        fs::write(&path, "[]").unwrap();
        assert!(matches!(from_file(&path), Err(SecretsError::Format { .. })));
    }
}
