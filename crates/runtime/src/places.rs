//! Where things live on this machine.

use std::path::{Path, PathBuf};

/// The four folders of one installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    pub config: PathBuf,
    pub data: PathBuf,
    pub state: PathBuf,
    pub run: PathBuf,
}

/// Nothing says where the home directory is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("neither `LONGHAUL_HOME` nor `HOME` is set to an absolute path; set one of them")]
pub struct Homeless;

impl Places {
    /// `LONGHAUL_HOME` overrides all four; else the XDG variables and their defaults count.
    pub fn find(variable: impl Fn(&str) -> Option<PathBuf>) -> Result<Self, Homeless> {
        // The XDG specification says that a relative path is to be ignored.
        let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
        if let Some(home) = absolute("LONGHAUL_HOME") {
            return Ok(Self::under(&home));
        }
        let home = absolute("HOME");
        let folder = |name: &str, fallback: &str| {
            let base = absolute(name).or_else(|| home.as_ref().map(|home| home.join(fallback)));
            base.map(|base| base.join("longhaul")).ok_or(Homeless)
        };
        let state = folder("XDG_STATE_HOME", ".local/state")?;
        let run = absolute("XDG_RUNTIME_DIR").map_or_else(|| state.join("run"), |run| run.join("longhaul"));
        let (config, data) =
            (folder("XDG_CONFIG_HOME", ".config")?, folder("XDG_DATA_HOME", ".local/share")?);
        Ok(Self { config, data, state, run })
    }

    /// All four under one folder.
    pub fn under(home: &Path) -> Self {
        let folder = |name| home.join(name);
        Self { config: folder("config"), data: folder("data"), state: folder("state"), run: folder("run") }
    }

    /// Where a daemon listens for news of commits.
    pub fn poke_socket(&self) -> PathBuf {
        self.run.join("poke.sock")
    }

    pub(crate) fn user_config(&self) -> PathBuf {
        self.config.join("config.yml")
    }

    pub(crate) fn secrets(&self) -> PathBuf {
        self.config.join("secrets.json")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(set: &[(&str, &str)]) -> Result<Places, Homeless> {
        Places::find(|name| set.iter().find(|(known, _)| *known == name).map(|(_, path)| path.into()))
    }

    #[test]
    fn one_variable_moves_everything() {
        let places = find(&[("LONGHAUL_HOME", "/lh"), ("HOME", "/h"), ("XDG_DATA_HOME", "/x")]).unwrap();
        assert_eq!(places, Places::under(Path::new("/lh")));
    }

    #[test]
    fn the_xdg_variables_count_when_they_are_absolute() {
        let places = find(&[
            ("HOME", "/h"),
            ("XDG_DATA_HOME", "/x"),
            ("XDG_CONFIG_HOME", "relative"),
            ("XDG_RUNTIME_DIR", "/run/user/7"),
        ])
        .unwrap();
        assert_eq!(places.data, Path::new("/x/longhaul"));
        assert_eq!(places.config, Path::new("/h/.config/longhaul"));
        assert_eq!(places.run, Path::new("/run/user/7/longhaul"));
        assert_eq!(places.state, Path::new("/h/.local/state/longhaul"));
    }

    #[test]
    fn without_a_home_there_is_no_place() {
        assert_eq!(find(&[("HOME", "")]), Err(Homeless));
    }
}
