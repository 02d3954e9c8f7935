//! Putting a finished database in the place of the one that is there.
//!
//! A database and its write-ahead log are two files, and no system renames two files at once. So the new
//! database is prepared in a folder of its own, and one rename of that folder decides: before it nothing has
//! happened, after it whoever comes next finishes what was begun, before they look at anything else. What was
//! there is set aside under names that belong together, and never removed.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::blobs::{entries, sync_folder};
use super::{aside, database_path, is_there};
use crate::error::StoreError;
use crate::presence::Presence;

/// While this folder is there, a replacement was decided and is not finished.
const DECIDED: &str = ".replacing";
/// In it: what the database that is replaced will be called.
const NAME: &str = "set-aside-as";
/// What is prepared and was not decided; whatever a crash leaves of it is worth nothing.
const PREPARING: &str = ".preparing-";

/// Joins those who use the data directory, once nothing in it is half replaced.
pub(super) fn join(folder: &Path) -> Result<Presence, StoreError> {
    loop {
        let presence = Presence::join(folder)?;
        if !is_there(&folder.join(DECIDED))? {
            return Ok(presence);
        }
        drop(presence);
        finish(folder, &Presence::wait_alone(folder)?)?;
    }
}

/// Keeps everybody else out, and clears away what others did not finish.
pub(super) fn alone(folder: &Path, doing: &'static str) -> Result<Presence, StoreError> {
    let alone = Presence::alone(folder, doing)?;
    finish(folder, &alone)?;
    clear_away(folder)?;
    Ok(alone)
}

/// Removes what was prepared and never decided. While anybody uses the store, nobody prepares.
pub(super) fn clear_away(folder: &Path) -> Result<(), StoreError> {
    for left_over in entries(folder)? {
        let name = left_over.file_name().unwrap_or_default().as_encoded_bytes();
        if name.starts_with(PREPARING.as_bytes()) {
            fs::remove_dir_all(&left_over).map_err(StoreError::file("remove", &left_over))?;
        }
    }
    Ok(())
}

/// A new folder to make a database in.
pub(super) fn workshop(folder: &Path, _alone: &Presence) -> Result<TempDir, StoreError> {
    let made = tempfile::Builder::new().prefix(PREPARING).tempdir_in(folder);
    made.map_err(StoreError::file("write to", folder))
}

/// Makes the database in `workshop` the one that counts. Returns where the one before has gone.
pub(super) fn replace(
    workshop: TempDir,
    name: &str,
    alone: &Presence,
) -> Result<Option<PathBuf>, StoreError> {
    let folder = workshop.path().parent().expect("a workshop lies in the data directory").to_owned();
    let aside = aside::free_name(&folder, name)?;
    let said = workshop.path().join(NAME);
    let file_name = aside.file_name().expect("it was just given one").as_encoded_bytes();
    fs::write(&said, file_name).map_err(StoreError::file("write", &said))?;
    for file in [&said, &database_path(workshop.path())] {
        fs::File::open(file).and_then(|file| file.sync_all()).map_err(StoreError::file("sync", file))?;
    }
    sync_folder(workshop.path())?;
    let decided = folder.join(DECIDED);
    fs::rename(workshop.path(), &decided).map_err(StoreError::file("rename", workshop.path()))?;
    let _ = workshop.keep();
    sync_folder(&folder)?;
    finish(&folder, alone)?;
    Ok(aside::parts(&aside).iter().any(|part| part.exists()).then_some(aside))
}

/// Carries out what was decided, from wherever it stopped.
fn finish(folder: &Path, _alone: &Presence) -> Result<(), StoreError> {
    let decided = folder.join(DECIDED);
    if !is_there(&decided)? {
        return Ok(());
    }
    let finished = database_path(&decided);
    if is_there(&finished)? {
        let path = database_path(folder);
        let aside = decided_name(folder, &decided)?;
        for (from, to) in aside::parts(&path).iter().zip(aside::parts(&aside)) {
            if is_there(from)? {
                fs::rename(from, to).map_err(StoreError::file("rename", from))?;
            }
        }
        for derived in aside::derived(folder) {
            let _ = fs::remove_file(derived);
        }
        sync_folder(folder)?;
        fs::rename(&finished, &path).map_err(StoreError::file("rename", &finished))?;
        sync_folder(folder)?;
    }
    fs::remove_dir_all(&decided).map_err(StoreError::file("remove", &decided))?;
    sync_folder(folder)
}

/// The name that was decided on: parts of the database may have it already.
fn decided_name(folder: &Path, decided: &Path) -> Result<PathBuf, StoreError> {
    let said = decided.join(NAME);
    let name = match fs::read(&said) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(StoreError::file("read", said)(error));
        }
        name => String::from_utf8(name.unwrap_or_default()).unwrap_or_default(),
    };
    if name.starts_with(aside::PREFIX) && !name.contains('/') {
        Ok(folder.join(name))
    } else {
        aside::free_name(folder, "before-replacing")
    }
}
