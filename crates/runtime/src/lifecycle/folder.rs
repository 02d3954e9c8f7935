//! The run folder: ours alone, or nothing is put into it.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use crate::error::{Error, LifecycleError};

/// Makes the folder if it is missing, and closes it if others may look into it.
pub(super) fn own(folder: &Path) -> Result<(), Error> {
    let failed = |source| Error::WriteFile { path: folder.to_owned(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let found = fs::metadata(folder).map_err(failed)?;
    if found.uid() != rustix::process::getuid().as_raw() {
        return Err(LifecycleError::NotOurFolder(folder.to_owned()).into());
    }
    if found.mode() & 0o077 != 0 {
        tracing::warn!(folder = %folder.display(), "others could look into the run folder; it is closed now");
        fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(failed)?;
    }
    // What may not be written to shows now, and not when the first socket is made.
    tempfile::Builder::new().prefix(".probe-").tempfile_in(folder).map_err(failed).map(drop)
}
