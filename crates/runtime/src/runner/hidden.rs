//! What of ours a session does not see. Our folders are not bound, but they may lie in something that is, such as a folder
//! of tools or `/opt`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use longhaul_exec::sandbox::{SYSTEM, Sandbox};

use crate::places::Places;

/// What lies in the data folder, also if it is not there yet.
const KEPT: [&str; 10] = [
    "longhaul.db",
    "longhaul.db-wal",
    "longhaul.db-shm",
    "views.db",
    "views.db-wal",
    "views.db-shm",
    "blobs",
    "snapshots",
    "setups",
    "verifications",
];

/// Everything but the checkout itself.
pub(super) fn ours(places: &Places, checkout: &Path, sandbox: &Sandbox) -> BTreeSet<PathBuf> {
    let mut hidden = BTreeSet::from([places.config.clone(), places.state.clone()]);
    // What is looked at in a verification lies among the rest of them.
    let is_around = |kept: &PathBuf| kept.canonicalize().is_ok_and(|kept| checkout.starts_with(kept));
    hidden.extend(KEPT.iter().map(|name| places.data.join(name)).filter(|kept| !is_around(kept)));
    let Ok(data) = places.data.canonicalize() else { return hidden };
    let bound = sandbox.read_only.iter().chain(&sandbox.writable).map(PathBuf::as_path);
    let mut bound = bound.chain(SYSTEM.iter().map(Path::new));
    let is_shown = bound.any(|bound| bound.canonicalize().is_ok_and(|bound| data.starts_with(bound)));
    if is_shown {
        // Other worktrees too, of which there may be many: not worth the time where nothing of them is seen anyway.
        let way = checkout.ancestors().skip(1).take_while(|above| above.starts_with(&data));
        let beside = way.flat_map(entries).filter(|entry| !checkout.starts_with(entry));
        hidden.extend(beside);
    }
    hidden
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let listed = folder.read_dir().into_iter().flatten();
    listed.filter_map(Result::ok).map(|entry| entry.path()).collect()
}
