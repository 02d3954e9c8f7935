//! The private home of an agent: empty but for the files that its definition wants, and kept as long as its session is open,
//! so that an agent that is started again finds its own memory.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use longhaul_acp::HandsError;
use longhaul_core::roster::Definition;
use longhaul_events::SessionId;
use longhaul_exec::Error as ExecError;

use super::Bench;
use crate::places::Places;
use crate::system::System;

/// A home, and what texts are filled in with.
#[derive(Debug)]
pub(super) struct Home {
    pub(super) path: PathBuf,
    gateway: String,
    token: String,
    model: String,
}

impl Home {
    /// A text of the definition with our own words in it. What else stands in braces is the agent's.
    pub(super) fn filled(&self, text: &str) -> String {
        text.replace("{gateway}", &self.gateway)
            .replace("{token}", &self.token)
            .replace("{model}", &self.model)
            .replace("{home}", &self.path.display().to_string())
    }
}

/// Makes the home, or puts its files in their places again.
pub(super) fn made(bench: &Bench, definition: &Definition) -> Result<Home, HandsError> {
    let places = &bench.settings.places;
    let path = folder(places, bench.driven.session).join("home");
    let provider = definition.provider.as_deref().unwrap_or_default();
    let home = Home {
        path,
        gateway: format!("http://127.0.0.1:{}/model/{provider}", bench.port),
        token: bench.token.reveal().to_owned(),
        model: definition.model.clone().unwrap_or_default(),
    };
    write(&home, definition).map_err(|source| {
        let program = definition.name.clone().into();
        HandsError::Process(ExecError::Supervise { program, doing: "make a home", source })
    })?;
    Ok(home)
}

fn write(home: &Home, definition: &Definition) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&home.path)?;
    for (name, text) in &definition.files {
        let file = home.path.join(name);
        fs::create_dir_all(file.parent().unwrap_or(&home.path))?;
        // The agent could have put a link there: what it leads to is not ours to write.
        let _ = fs::remove_file(&file);
        let mut options = fs::OpenOptions::new();
        let mut written = options.write(true).create_new(true).open(&file)?;
        io::Write::write_all(&mut written, home.filled(text).as_bytes())?;
    }
    Ok(())
}

/// The name by which an agent knows its session, kept where it cannot reach it.
pub(super) fn remember(bench: &Bench, agent: &str, session: &str) {
    let file = memory(&bench.settings.places, bench.driven.session, agent);
    if let Err(error) = fs::write(&file, session) {
        tracing::warn!(%error, "could not keep the name of an agent's session; it begins anew if it is started again");
    }
}

pub(super) fn remembered(bench: &Bench, agent: &str) -> Option<String> {
    fs::read_to_string(memory(&bench.settings.places, bench.driven.session, agent)).ok()
}

fn memory(places: &Places, session: SessionId, agent: &str) -> PathBuf {
    folder(places, session).join(format!("session-{}", agent.replace('/', "-")))
}

fn folder(places: &Places, session: SessionId) -> PathBuf {
    places.data.join("homes").join(session.to_string())
}

impl System {
    /// Takes the homes of a session's agents away, when nobody will work on it any more.
    pub(in crate::runner) fn clear_homes(&self, session: SessionId) {
        let folder = folder(self.places(), session);
        if folder.is_dir()
            && let Err(error) = fs::remove_dir_all(&folder)
        {
            tracing::warn!(%error, %session, "could not take away the home of its agent");
        }
    }
}
