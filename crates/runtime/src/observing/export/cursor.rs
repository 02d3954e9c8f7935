//! How far the log was told, in a file. Older than the truth is fine: what is told twice has the same ids.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use longhaul_core::spans::Meters;
use longhaul_events::{Digest, Position, Timestamp};
use serde::{Deserialize, Serialize};

use crate::reader::Reader;

/// Another one is begun anew.
const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cursor {
    version: u32,
    pub(super) position: Position,
    /// Of the decision there: another log has another one.
    pub(super) hash: Digest,
    /// Since when the sums count.
    pub(super) since: Timestamp,
    pub(super) meters: Meters,
}

impl Cursor {
    /// The one in the file, if it is about this log; else one at the end of the log: what was before anybody asked is not
    /// told.
    pub(super) fn load(path: &Path, reader: &Reader, now: Timestamp) -> Result<Self, String> {
        let stored = fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        if let Some(cursor) = stored.filter(|cursor| cursor.version == VERSION) {
            if reader.is_at(cursor.position, cursor.hash).map_err(|error| error.to_string())? {
                return Ok(cursor);
            }
            tracing::warn!(
                "the log is another one than before; the collector is told what happens from now on"
            );
        }
        let (position, hash) = reader.end().map_err(|error| error.to_string())?;
        let cursor = Self { version: VERSION, position, hash, since: now, meters: Meters::default() };
        cursor.save(path).map_err(|error| error.to_string())?;
        Ok(cursor)
    }

    /// Whole, or as it was.
    pub(super) fn save(&self, path: &Path) -> std::io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new().prefix(".otlp-").tempfile_in(folder)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.persist(path)?;
        Ok(())
    }
}
