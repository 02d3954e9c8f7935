//! Checks whose own files the change edits. Such a check has to pass with those files as they were before, too: otherwise
//! whoever writes the change could write its verdict.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use longhaul_core::policy::check_files;
use longhaul_core::verification::{self, CheckOutcome, Judged};
use longhaul_core::workflow::step::Check;
use serde_json::Value;

use super::{Site, Verification};
use crate::runner::perform::{check_once, ran};

impl<'a> Verification<'a> {
    /// The files that a check's command names and that the change edits, as the command names them.
    pub(super) fn edited_files(&self, check: &Check) -> Result<Vec<PathBuf>, String> {
        let inner = Path::new(self.run.dir.as_deref().unwrap_or_default());
        let changes = self.files.snapshots.file_changes(&self.merged.base, &self.merged.commit);
        let changes = changes.map_err(|error| error.to_string())?;
        let named: BTreeSet<PathBuf> =
            check_files::run_by(&check.run).into_iter().map(|word| plain(Path::new(word))).collect();
        let is_edited = |name: &PathBuf| {
            let path = plain(&inner.join(name));
            changes.iter().any(|change| change.path == path || change.from.as_ref() == Some(&path))
        };
        Ok(named.into_iter().filter(is_edited).collect())
    }

    /// What a check that passes comes to with these files as the base has them.
    pub(super) fn judge_as_before(
        &self,
        passed: &Judged,
        check: &Check,
        names: &[PathBuf],
        sites: &[&Site<'a>; 2],
    ) -> Judged {
        let [_, base] = sites;
        // What is new with the change was nobody's check before.
        let old: Vec<&PathBuf> = names.iter().filter(|name| base.directory.join(name).is_file()).collect();
        if old.is_empty() {
            return passed.clone();
        }
        let named = old.iter().map(|name| format!("`{}`", name.display())).collect::<Vec<_>>().join(", ");
        let before = match self.seen_as_before(check, &old, sites) {
            Ok(seen) => verification::judge(&ran(&seen), check.empty),
            Err(error) => {
                let because =
                    format!("the change edits {named}, which could not be put back for a try: {error}");
                return Judged { outcome: CheckOutcome::CouldNotRun, because };
            }
        };
        let because =
            format!("it passes only with {named} as the change has it; as before, {}", before.because);
        match before.outcome {
            CheckOutcome::Passed => passed.clone(),
            CheckOutcome::Failed => {
                let failed = Judged { outcome: CheckOutcome::Failed, because };
                verification::judge_before(&failed, &ran(&self.once(check, base)), check.empty)
            }
            // Nothing that was run has said yes, and whoever is looked at could have printed that nothing was.
            outcome @ (CheckOutcome::Empty
            | CheckOutcome::CouldNotRun
            | CheckOutcome::Flaky
            | CheckOutcome::FailingBefore) => Judged { outcome, because },
        }
    }

    /// Runs a check on the merge result with some files as the base has them.
    fn seen_as_before(
        &self,
        check: &Check,
        old: &[&PathBuf],
        sites: &[&Site<'a>; 2],
    ) -> Result<Value, String> {
        let [merge, base] = sites;
        for site in sites {
            self.files.snapshots.put_back(&site.watched).map_err(|error| error.to_string())?;
        }
        let kept = exchange(old, &base.directory, &merge.directory).map_err(|error| error.to_string())?;
        let seen = check_once(check, &merge.directory, &merge.place, self.stop);
        kept.iter().try_for_each(Kept::put_back).map_err(|error| error.to_string())?;
        Ok(seen)
    }
}

/// Without `./`, as git names it.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| !matches!(part, Component::CurDir)).collect()
}

/// A file as the change has it, while the old one stands in its place.
struct Kept {
    path: PathBuf,
    bytes: Vec<u8>,
    permissions: fs::Permissions,
}

impl Kept {
    fn put_back(&self) -> std::io::Result<()> {
        fs::remove_file(&self.path)?;
        fs::write(&self.path, &self.bytes)?;
        fs::set_permissions(&self.path, self.permissions.clone())
    }
}

/// Puts files of one checkout into another. Both hold what an agent wrote, so no link is followed.
fn exchange(names: &[&PathBuf], from: &Path, into: &Path) -> std::io::Result<Vec<Kept>> {
    let top = into.canonicalize()?;
    let mut kept = Vec::new();
    for name in names {
        let path = into.join(name);
        let folder = path.parent().unwrap_or(into).canonicalize()?;
        let metadata = fs::symlink_metadata(&path)?;
        let source = from.join(name);
        if !folder.starts_with(&top) || !metadata.is_file() || !fs::symlink_metadata(&source)?.is_file() {
            return Err(std::io::Error::other(format!("`{}` is no plain file", name.display())));
        }
        let permissions = metadata.permissions();
        kept.push(Kept { bytes: fs::read(&path)?, path: path.clone(), permissions });
        fs::remove_file(&path)?;
        fs::copy(&source, &path)?;
    }
    Ok(kept)
}
