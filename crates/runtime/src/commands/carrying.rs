//! Carrying sessions from one store to another.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use longhaul_events::{SessionId, StreamId};
use longhaul_store::{Imported, StreamReport, Verdict};
use serde::Deserialize;

use super::Commands;
use crate::error::Error;
use crate::reader::Reader;

/// What came in, and which sessions are in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedSessions {
    pub imported: Imported,
    pub sessions: Vec<SessionId>,
}

/// As much of a line as says which stream it belongs to.
#[derive(Deserialize)]
struct Line {
    decision: Option<InStream>,
}

#[derive(Deserialize)]
struct InStream {
    stream: String,
}

impl Commands {
    /// Takes in an export of sessions: all of it, or nothing.
    pub fn import_sessions(&self, path: &Path) -> Result<ImportedSessions, Error> {
        let unreadable = |source| Error::ReadFile { path: path.to_owned(), source };
        let open = || File::open(path).map(BufReader::new).map_err(unreadable);
        let sessions = sessions_in(open()?).map_err(unreadable)?;
        if sessions.is_empty() {
            return Err(Error::NoSessionInExport(path.to_owned()));
        }
        let imported = self.import(&mut open()?)?;
        Ok(ImportedSessions { imported, sessions: sessions.into_iter().collect() })
    }
}

impl Reader {
    /// The stream of a session that is whole, and so can go on elsewhere.
    pub fn whole_session(&self, session: SessionId) -> Result<String, Error> {
        let stream = StreamId::from(session).to_string();
        let StreamReport { verdict, .. } = self.verify_stream(&stream)?;
        match verdict {
            Verdict::Intact => Ok(stream),
            Verdict::Unreadable(problem) | Verdict::Quarantined(problem) | Verdict::Broken(problem) => {
                Err(Error::DamagedSession { session, problem })
            }
        }
    }
}

/// What is no line of an export is left to the import, which says where it stands.
fn sessions_in(export: impl BufRead) -> std::io::Result<BTreeSet<SessionId>> {
    let mut sessions = BTreeSet::new();
    for line in export.split(b'\n') {
        let line: Option<Line> = serde_json::from_slice(&line?).ok();
        let stream = line.and_then(|line| line.decision).map(|decision| decision.stream.parse::<StreamId>());
        if let Some(Ok(StreamId::Session(id))) = stream {
            sessions.insert(id);
        }
    }
    Ok(sessions)
}
