//! Files that a workspace calls secret: what they hold is known as secret wherever a session has copies of them.
//!
//! It is read from where the person has them. What an agent left of its own copy says nothing about what was in it.

use std::fs;
use std::path::{Path, PathBuf};

use longhaul_core::scrub::Secret;

use super::in_file;
use crate::system::{Settings, System};
use crate::worktrees::Place;

/// A longer secret file is no file of secrets.
const MOST_SECRET_BYTES: u64 = 1024 * 1024;

impl System {
    /// What the secret files of a session's workspace hold, as the person has them and as the session has them.
    pub(crate) fn file_secrets(&self, place: &Place) -> Vec<Secret> {
        let own = Path::new(&place.own.path);
        let mut files: Vec<(String, PathBuf)> = Vec::new();
        let mut add = |name: &str, path: PathBuf| files.push((name.to_owned(), path));
        if let Some(top) = &place.main.main_checkout {
            for (from, to) in self.copied_secrets(top) {
                add(&to, top.join(&from));
                add(&to, own.join(&to));
            }
            // Whatever the settings say by now, these were given to it.
            place.secrets.iter().for_each(|path| add(&path.to_string_lossy(), top.join(path)));
        }
        place.secrets.iter().for_each(|path| add(&path.to_string_lossy(), own.join(path)));
        files.sort();
        files.dedup();
        files.iter().flat_map(|(name, path)| in_file(name, &read(path))).collect()
    }

    /// The same installation, for which these are secrets too.
    pub(crate) fn keeping_secrets(&self, secrets: Vec<Secret>) -> Self {
        let named = (1..).zip(secrets).map(|(number, secret): (usize, Secret)| Secret {
            name: format!("{}_{number}_SECRET", secret.name),
            value: secret.value,
        });
        self.keeping(named)
    }

    /// Settings that cannot be read name no file; those that were copied are known all the same.
    fn copied_secrets(&self, top: &Path) -> Vec<(String, String)> {
        let settings = Settings { directory: top.to_owned(), ..self.settings().clone() };
        let copied = match Self::new(settings).config() {
            Ok(config) => config.checkout.copy,
            Err(error) => {
                tracing::warn!(%error, "could not read which files are secret");
                Vec::new()
            }
        };
        copied.into_iter().filter(|file| file.is_secret).map(|file| (file.from, file.to)).collect()
    }
}

fn read(path: &Path) -> Vec<u8> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() && found.len() <= MOST_SECRET_BYTES => {
            fs::read(path).unwrap_or_default()
        }
        Ok(_) | Err(_) => Vec::new(),
    }
}
