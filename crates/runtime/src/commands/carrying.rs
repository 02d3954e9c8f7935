//! Carrying sessions from one store to another.

use std::io::BufRead;

use longhaul_events::{SessionId, StreamId};
use longhaul_store::views::SessionRow;
use longhaul_store::{ImportError, Imported, StreamReport, Verdict};

use super::Commands;
use crate::error::Error;
use crate::reader::Reader;

impl Commands {
    /// Takes in an export of sessions: all of it, or nothing.
    pub fn import_sessions(&self, export: &mut dyn BufRead) -> Result<Imported, Error> {
        let imported = self.import(export).map_err(as_session_export)?;
        // Other streams than those of sessions and their tasks are left out, so there is nothing to take back.
        if imported.sessions.is_empty() && imported.tasks == 0 {
            Err(Error::NoSessionInExport)
        } else {
            Ok(imported)
        }
    }
}

/// Whoever carries a session has never heard of `longhaul log export`.
fn as_session_export(error: Error) -> Error {
    match error {
        Error::Import(ImportError::NotAnExport { line, problem }) => {
            Error::NotASessionExport { line, problem }
        }
        other => other,
    }
}

impl Reader {
    /// What a session is carried with: its own stream, and if it is the root of a task, that of the task.
    pub fn streams_to_carry(&self, row: &SessionRow) -> Result<Vec<String>, Error> {
        let own = self.whole_session(row.id)?;
        let task = row.task.filter(|_| row.parent.is_none()).map(|task| StreamId::from(task).to_string());
        // A session that was carried here before there were tasks names one that is not here.
        let is_whole = |stream: &String| {
            self.verify_stream(stream)
                .is_ok_and(|report| report.events > 0 && report.verdict == Verdict::Intact)
        };
        Ok([own].into_iter().chain(task.filter(is_whole)).collect())
    }

    /// The stream of a session that is whole, and so can go on elsewhere.
    fn whole_session(&self, session: SessionId) -> Result<String, Error> {
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
