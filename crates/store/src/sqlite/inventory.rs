//! What `gc` may look at, and the collecting itself. What to collect is decided in the core.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use longhaul_core::retention::{Action, BlobUse, BlobUser, LooseFile, Plan, Target};
use longhaul_events::{BlobRef, Digest, Position, SessionEvent, StreamId, Timestamp};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::blobs::{BlobRow, entries};
use super::{SqliteLog, aside, schema, verify};
use crate::error::StoreError;
use crate::log::{DamagedRow, Log};

const BATCH: usize = 500;

/// What was collected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collected {
    pub blobs: u64,
    pub files: u64,
    pub bytes: u64,
}

/// The streams that name each blob, and when each stream was closed.
#[derive(Default)]
struct Uses {
    users: BTreeMap<Digest, BTreeSet<String>>,
    closed: BTreeMap<String, Timestamp>,
}

impl SqliteLog {
    /// Every blob that is stored, with the streams that name it.
    pub fn blob_uses(&self) -> Result<Vec<BlobUse>, StoreError> {
        let stored = self.stored_blobs()?;
        let uses = self.uses()?;
        let users = |hash: Digest| -> Vec<BlobUser> {
            let streams = uses.users.get(&hash).into_iter().flatten();
            let known = streams.filter_map(|name| {
                let stream: StreamId = name.parse().ok()?;
                Some(BlobUser { stream, closed_at: uses.closed.get(name).copied() })
            });
            known.collect()
        };
        let stored = stored.into_iter();
        Ok(stored.map(|(blob, stored_at)| BlobUse { blob, stored_at, users: users(blob.sha256) }).collect())
    }

    fn stored_blobs(&self) -> Result<Vec<(BlobRef, Timestamp)>, StoreError> {
        self.reading(|connection| {
            let mut statement =
                connection.prepare("SELECT sha256, bytes, at FROM blob WHERE dropped IS NULL ORDER BY id")?;
            let rows = statement.query_map([], |row| {
                let blob = BlobRef { sha256: Digest(row.get(0)?), bytes: row.get(1)? };
                Ok((blob, Timestamp(row.get(2)?)))
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// A damaged decision may name any blob, so nothing can be collected while there is one.
    fn uses(&self) -> Result<Uses, StoreError> {
        let mut uses = Uses::default();
        let mut after = Position(0);
        loop {
            let decisions = self.since(after, BATCH)?;
            if decisions.is_empty() {
                return Ok(uses);
            }
            for decision in decisions {
                let decision = decision.map_err(unsafe_to_collect)?;
                after = decision.position;
                let unreadable = |reason| StoreError::Quarantined { stream: decision.stream.clone(), reason };
                for blob in verify::blobs_of(&decision).map_err(unreadable)? {
                    uses.users.entry(blob.sha256).or_default().insert(decision.stream.clone());
                }
                // A task says no more than its sessions do, so it keeps nothing longer than they.
                let closing = decision.stream.starts_with("task/")
                    || decision.stream.starts_with("session/")
                        && decision
                            .readable_events::<SessionEvent>()?
                            .iter()
                            .any(|event| matches!(event, SessionEvent::Closed { .. }));
                if closing {
                    uses.closed.insert(decision.stream, decision.at);
                }
            }
        }
    }

    /// Files in the blob folder that no row needs.
    pub fn loose_files(&self) -> Result<Vec<LooseFile>, StoreError> {
        let strays = self.reading(|connection| self.blobs.strays(connection))?;
        let needed = self.needed_elsewhere()?;
        let loose = strays.iter().filter(|file| !needed.contains(*file));
        Ok(loose.filter_map(|file| describe(file)).collect())
    }

    /// The blob files of databases that were set aside: they are restored from there.
    fn needed_elsewhere(&self) -> Result<BTreeSet<PathBuf>, StoreError> {
        let hashes = aside::blobs_in_files(&self.folder)?;
        Ok(hashes.into_iter().map(|hash| self.blobs.path(hash)).collect())
    }

    /// How much the data directory holds.
    pub fn disk_used_bytes(&self) -> Result<u64, StoreError> {
        folder_size(&self.folder)
    }

    /// Carries out a plan. A blob is marked in one transaction and its file removed in a second one, so that
    /// a crash leaves only a loose file. What was named or written since the plan was made is kept, and so are
    /// files that a database which was set aside still needs.
    pub fn collect(&self, plan: &Plan, now: Timestamp) -> Result<Collected, StoreError> {
        let blobs: Vec<(Digest, u64)> = plan.actions.iter().filter_map(Action::blob).collect();
        let needed = self.needed_elsewhere()?;
        let collected = self.writing(|connection| {
            let dropped = mark_dropped(connection, &blobs, plan.as_of, now)?;
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            self.remove_dropped_files(&transaction, &dropped, &needed)?;
            let file_sizes = self.remove_loose_files(&transaction, plan, &needed)?;
            let bytes = dropped.iter().map(|(_, bytes)| bytes).chain(&file_sizes).sum();
            let (blobs, files) = (dropped.len() as u64, file_sizes.len() as u64);
            Ok::<_, StoreError>(Collected { blobs, files, bytes })
        })?;
        self.poke();
        Ok(collected)
    }

    fn remove_dropped_files(
        &self,
        transaction: &Transaction<'_>,
        blobs: &[(Digest, u64)],
        needed: &BTreeSet<PathBuf>,
    ) -> Result<(), StoreError> {
        for (hash, _) in blobs {
            let path = self.blobs.path(*hash);
            let is_dropped = BlobRow::load(transaction, *hash)?.is_some_and(|row| row.dropped);
            if is_dropped && !needed.contains(&path) {
                remove(&path)?;
            }
        }
        Ok(())
    }

    /// Inside a write transaction no append can be between writing its file and naming it. Returns the sizes
    /// of what was removed.
    fn remove_loose_files(
        &self,
        transaction: &Transaction<'_>,
        plan: &Plan,
        needed: &BTreeSet<PathBuf>,
    ) -> Result<Vec<u64>, StoreError> {
        let strays: BTreeSet<PathBuf> = self.blobs.strays(transaction)?.into_iter().collect();
        let mut removed = Vec::new();
        for action in &plan.actions {
            if let Target::LooseFile(path) = &action.what
                && strays.contains(Path::new(path))
                && !needed.contains(Path::new(path))
            {
                remove(Path::new(path))?;
                removed.push(action.bytes);
            }
        }
        Ok(removed)
    }
}

/// Marks the blobs that nobody has named since `as_of`.
fn mark_dropped(
    connection: &mut Connection,
    blobs: &[(Digest, u64)],
    as_of: Position,
    now: Timestamp,
) -> Result<Vec<(Digest, u64)>, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    schema::may_write(&transaction)?;
    let mut named = BTreeSet::new();
    for decision in super::read::since(&transaction, as_of, usize::MAX)? {
        let decision = decision.map_err(unsafe_to_collect)?;
        let unreadable = |reason| StoreError::Quarantined { stream: decision.stream.clone(), reason };
        named.extend(verify::blobs_of(&decision).map_err(unreadable)?.iter().map(|blob| blob.sha256));
    }
    let dropped: Vec<_> = blobs.iter().filter(|(hash, _)| !named.contains(hash)).copied().collect();
    for (hash, _) in &dropped {
        let sql = "UPDATE blob SET data = NULL, dropped = ?2 WHERE sha256 = ?1";
        transaction.execute(sql, params![hash.0, now.0])?;
    }
    transaction.commit()?;
    Ok(dropped)
}

fn unsafe_to_collect(row: DamagedRow) -> StoreError {
    let reason = format!("{}, so nothing can be collected safely", row.reason);
    StoreError::Quarantined { stream: row.stream, reason }
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::file("remove", path)(error))
        }
        _ => Ok(()),
    }
}

fn describe(file: &Path) -> Option<LooseFile> {
    let found = file.symlink_metadata().ok().filter(|found| !found.is_dir())?;
    let modified = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(LooseFile {
        path: file.to_string_lossy().into_owned(),
        bytes: found.len(),
        modified_at: Timestamp(i64::try_from(modified.as_millis()).ok()?),
    })
}

fn folder_size(folder: &Path) -> Result<u64, StoreError> {
    let mut total = 0;
    for entry in entries(folder)? {
        let Ok(found) = entry.symlink_metadata() else { continue };
        total += if found.is_dir() { folder_size(&entry)? } else { found.len() };
    }
    Ok(total)
}
