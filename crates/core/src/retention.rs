//! What may be thrown away, and why: a plan from an inventory. Nothing here deletes.

use longhaul_events::{BlobRef, Digest, Position, StreamId, Timestamp};

/// Files younger than this may belong to an append that is under way.
const SETTLED_MS: u64 = 3_600_000;

/// All that could be collected, as it was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inventory {
    /// How far the log had come when it was taken.
    pub as_of: Position,
    pub now: Timestamp,
    pub keep_blobs_ms: u64,
    pub disk_limit_bytes: u64,
    pub disk_used_bytes: u64,
    pub blobs: Vec<BlobUse>,
    pub loose_files: Vec<LooseFile>,
}

/// A stored blob and who needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobUse {
    pub blob: BlobRef,
    pub stored_at: Timestamp,
    pub users: Vec<BlobUser>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobUser {
    pub stream: StreamId,
    /// `None` while the stream is open.
    pub closed_at: Option<Timestamp>,
}

/// A file in our folders that nothing in the log names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LooseFile {
    pub path: String,
    pub bytes: u64,
    pub modified_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What comes later was not looked at.
    pub as_of: Position,
    pub actions: Vec<Action>,
    pub warning: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    pub what: Target,
    pub bytes: u64,
    pub because: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Blob(Digest),
    LooseFile(String),
}

impl Action {
    /// The blob that it is about, and its size.
    pub fn blob(&self) -> Option<(Digest, u64)> {
        match self.what {
            Target::Blob(hash) => Some((hash, self.bytes)),
            Target::LooseFile(_) => None,
        }
    }
}

/// Says what to collect. Events are never collected.
pub fn plan(inventory: &Inventory) -> Plan {
    let blobs = inventory.blobs.iter().filter_map(|blob| {
        let because = why_drop(blob, inventory)?;
        Some(Action { what: Target::Blob(blob.blob.sha256), bytes: blob.blob.bytes, because })
    });
    let settled = |file: &&LooseFile| inventory.now.since_ms(file.modified_at) >= SETTLED_MS;
    let files = inventory.loose_files.iter().filter(settled).map(|file| Action {
        what: Target::LooseFile(file.path.clone()),
        bytes: file.bytes,
        because: "nothing in the log names it".to_owned(),
    });
    Plan { as_of: inventory.as_of, actions: blobs.chain(files).collect(), warning: disk_warning(inventory) }
}

fn why_drop(blob: &BlobUse, inventory: &Inventory) -> Option<String> {
    if blob.users.is_empty() {
        let settled = inventory.now.since_ms(blob.stored_at) >= SETTLED_MS;
        return settled.then(|| "no event names it".to_owned());
    }
    let closed: Option<Vec<Timestamp>> = blob.users.iter().map(|user| user.closed_at).collect();
    let last_closed = closed?.into_iter().max()?;
    let days = inventory.now.since_ms(last_closed) / 86_400_000;
    (inventory.now.since_ms(last_closed) >= inventory.keep_blobs_ms)
        .then(|| format!("all its sessions are closed, the last one for {days} days"))
}

/// The warning that `doctor` and `gc` show when the data directory has outgrown its limit.
pub fn disk_warning(inventory: &Inventory) -> Option<String> {
    use crate::units::show_size;
    let (used, limit) = (inventory.disk_used_bytes, inventory.disk_limit_bytes);
    (used > limit).then(|| {
        format!(
            "the data directory holds {}, more than `retention.disk` = {}; shorten `retention.blobs` and run `longhaul gc --apply`, or raise the limit",
            show_size(used),
            show_size(limit)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_events::SessionId;

    const DAY: i64 = 86_400_000;

    fn blob(users: &[Option<i64>]) -> BlobUse {
        let stream = StreamId::from(SessionId::from_bytes([1; 8]));
        let user =
            |closed: &Option<i64>| BlobUser { stream, closed_at: closed.map(|days| Timestamp(days * DAY)) };
        BlobUse {
            blob: BlobRef { sha256: Digest::ZERO, bytes: 10 },
            stored_at: Timestamp(0),
            users: users.iter().map(user).collect(),
        }
    }

    fn inventory(blob: BlobUse) -> Inventory {
        Inventory {
            as_of: Position(1),
            now: Timestamp(100 * DAY),
            keep_blobs_ms: 90 * 86_400_000,
            disk_limit_bytes: 1000,
            disk_used_bytes: 10,
            blobs: vec![blob],
            loose_files: Vec::new(),
        }
    }

    #[test]
    fn a_blob_goes_when_its_last_session_was_closed_long_ago() {
        let plan = plan(&inventory(blob(&[Some(3), Some(10)])));
        let because = "all its sessions are closed, the last one for 90 days".to_owned();
        assert_eq!(plan.actions, [Action { what: Target::Blob(Digest::ZERO), bytes: 10, because }]);
    }

    #[test]
    fn a_blob_of_an_open_or_newly_closed_session_stays() {
        assert_eq!(plan(&inventory(blob(&[Some(3), None]))).actions, []);
        assert_eq!(plan(&inventory(blob(&[Some(11)]))).actions, []);
    }

    #[test]
    fn loose_files_go_when_they_have_settled() {
        let file =
            |path: &str, at: i64| LooseFile { path: path.into(), bytes: 1, modified_at: Timestamp(at) };
        let mut inventory = inventory(blob(&[None]));
        inventory.loose_files = vec![file("old", 0), file("new", 100 * DAY - 1000)];
        let targets: Vec<_> = plan(&inventory).actions.into_iter().map(|action| action.what).collect();
        assert_eq!(targets, [Target::LooseFile("old".into())]);
    }

    #[test]
    fn a_full_disk_is_warned_about_with_a_remedy() {
        let mut inventory = inventory(blob(&[None]));
        assert_eq!(plan(&inventory).warning, None);
        inventory.disk_used_bytes = 2048;
        assert!(plan(&inventory).warning.unwrap().contains("longhaul gc --apply"));
    }
}
