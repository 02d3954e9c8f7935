//! Where keys come from: the user's secrets first, then the environment.

use std::ffi::OsStr;
use std::fmt;

use super::read;
use crate::error::Error;
use crate::system::System;

/// The key of a provider. Whoever wants to see it has to say so.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Key {
    value: String,
    pub(crate) origin: KeyOrigin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyOrigin {
    Secret,
    Environment,
}

impl Key {
    pub(crate) fn reveal(&self) -> &str {
        &self.value
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key(…, {:?})", self.origin)
    }
}

impl System {
    /// The key of this name, if there is one.
    pub(crate) fn key(&self, name: &str) -> Result<Option<Key>, Error> {
        let kept = read(&self.places().secrets())?.into_iter().find(|(known, _)| known == name);
        let secret = kept.map(|(_, value)| Key { value, origin: KeyOrigin::Secret });
        let variable = || {
            let value = self.variable(OsStr::new(name))?.into_string().ok()?;
            let value = value.trim().to_owned();
            (!value.is_empty()).then_some(Key { value, origin: KeyOrigin::Environment })
        };
        Ok(secret.or_else(variable))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::places::Places;
    use crate::system::Settings;

    #[test]
    fn the_users_secret_comes_before_the_environment_and_neither_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            places: Places::under(folder.path()),
            variables: [("A_KEY".into(), "from-outside".into()), ("EMPTY_KEY".into(), " ".into())].into(),
            directory: folder.path().to_owned(),
            flags: Vec::new(),
        };
        let system = System::new(settings);
        let key = system.key("A_KEY").unwrap().unwrap();
        assert_eq!((key.reveal(), key.origin), ("from-outside", KeyOrigin::Environment));
        assert!(!format!("{key:?}").contains("outside"));
        assert_eq!(system.key("EMPTY_KEY").unwrap(), None);
        let path = system.places().secrets();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, r#"{"A_KEY": "kept"}"#).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let key = system.key("A_KEY").unwrap().unwrap();
        assert_eq!((key.reveal(), key.origin), ("kept", KeyOrigin::Secret));
    }
}
