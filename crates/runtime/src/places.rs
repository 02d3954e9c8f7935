//! Where things live on this machine.

use std::path::{Path, PathBuf};

use longhaul_events::{SessionId, WorkspaceId};

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
pub enum Homeless {
    #[error("neither `LONGHAUL_HOME` nor `HOME` is set to an absolute path; set one of them")]
    Unset,
    // Ignored, it would send what was meant for a folder of its own to the user's real one.
    #[error("`LONGHAUL_HOME` is `{}`, which depends on the current folder; set it to an absolute path", .0.display())]
    Relative(PathBuf),
}

impl Places {
    /// `LONGHAUL_HOME` overrides all four; else the XDG variables and their defaults count.
    pub fn find(variable: impl Fn(&str) -> Option<PathBuf>) -> Result<Self, Homeless> {
        // The XDG specification says that a relative path is to be ignored.
        let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
        match variable("LONGHAUL_HOME").filter(|home| !home.as_os_str().is_empty()) {
            Some(home) if home.is_absolute() => return Ok(Self::under(&home)),
            Some(home) => return Err(Homeless::Relative(home)),
            None => {}
        }
        let home = absolute("HOME");
        let folder = |name: &str, fallback: &str| {
            let base = absolute(name).or_else(|| home.as_ref().map(|home| home.join(fallback)));
            base.map(|base| base.join("longhaul")).ok_or(Homeless::Unset)
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

    /// What a daemon says of itself while it serves.
    pub(crate) fn daemon_report(&self) -> PathBuf {
        self.run.join("daemon.json")
    }

    /// What somebody wants of the daemon that serves.
    pub(crate) fn daemon_wish(&self) -> PathBuf {
        self.run.join("daemon.wish.json")
    }

    /// Whoever holds it serves. Beside the data, because two environments may name two run folders for the same data.
    pub(crate) fn daemon_lock(&self) -> PathBuf {
        self.data.join("daemon.lock")
    }

    /// What a daemon prints that nobody watches.
    pub fn daemon_log(&self) -> PathBuf {
        self.state.join("daemon.log")
    }

    /// Programs of daemons that were replaced, kept until it is clear that nobody goes back to them.
    pub(crate) fn previous_programs(&self) -> PathBuf {
        self.state.join("previous")
    }

    /// Where a daemon is asked and told things, by the user alone.
    pub fn control_socket(&self) -> PathBuf {
        self.run.join("control.sock")
    }

    /// What callers show at the port of a daemon.
    pub fn control_token(&self) -> PathBuf {
        self.state.join("control.token")
    }

    /// Where whoever works on a session finds its gateway.
    pub(crate) fn gateway_socket(&self, session: SessionId) -> PathBuf {
        self.run.join(format!("{session}.sock"))
    }

    /// Where whoever starts a run says so.
    pub(crate) fn starting(&self) -> PathBuf {
        self.state.join("starting")
    }

    /// Where commands of the engine find their way to hosts.
    pub(crate) fn plain_socket(&self, session: SessionId) -> PathBuf {
        self.run.join(format!("{session}.out"))
    }

    pub(crate) fn user_config(&self) -> PathBuf {
        self.config.join("config.yml")
    }

    /// The user's own triggers.
    pub fn triggers(&self) -> PathBuf {
        self.config.join("triggers.yml")
    }

    /// The user's own workflows.
    pub fn workflows(&self) -> PathBuf {
        self.config.join("workflows")
    }

    /// The user's own agents, a file each.
    pub fn agents(&self) -> PathBuf {
        self.config.join("agents")
    }

    /// What the user says of models.
    pub fn models(&self) -> PathBuf {
        self.config.join("models.yml")
    }

    /// The list of git sources of workflows.
    pub(crate) fn git_sources(&self) -> PathBuf {
        self.config.join("sources.json")
    }

    /// Where the checkouts of a workspace's sessions are.
    pub fn checkouts(&self, workspace: WorkspaceId) -> PathBuf {
        self.data.join("checkouts").join(workspace.to_string())
    }

    /// The repository that holds the snapshots of a workspace.
    pub fn snapshots(&self, workspace: WorkspaceId) -> PathBuf {
        self.data.join("snapshots").join(workspace.to_string())
    }

    /// How the set-up of a checkout went.
    pub(crate) fn setup(&self, workspace: WorkspaceId, name: &str) -> PathBuf {
        self.data.join("setups").join(workspace.to_string()).join(format!("{name}.json"))
    }

    /// Where checkouts for verifications are, a folder for each session.
    pub(crate) fn verifications(&self) -> PathBuf {
        self.data.join("verifications")
    }

    /// Where our processes write what they do.
    pub fn logs(&self) -> PathBuf {
        self.state.join("logs")
    }

    /// How far the log was told to a collector.
    pub(crate) fn export_cursor(&self) -> PathBuf {
        self.state.join("otlp.json")
    }

    /// The notifications that did not arrive.
    pub(crate) fn undelivered(&self) -> PathBuf {
        self.state.join("undelivered.json")
    }

    pub fn secrets(&self) -> PathBuf {
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
        assert_eq!(find(&[("HOME", ""), ("LONGHAUL_HOME", "")]), Err(Homeless::Unset));
    }

    #[test]
    fn a_relative_home_of_our_own_is_refused_and_not_ignored() {
        let relative = Homeless::Relative("here".into());
        assert_eq!(find(&[("LONGHAUL_HOME", "here"), ("HOME", "/h")]), Err(relative));
    }
}
