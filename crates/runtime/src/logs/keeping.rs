//! How long lines are kept. Files go whole, the oldest first; the one that is written to stays.

use std::fs;
use std::path::{Path, PathBuf};

use longhaul_core::scrub::Scrubber;
use longhaul_core::units::show_size;
use longhaul_events::Timestamp;

use super::LogFile;
use super::writing::day_of;
use crate::clock::{Clock as _, SystemClock};
use crate::error::Error;
use crate::system::System;

/// Older lines are not kept.
pub const KEPT_DAYS: u64 = 14;
/// More lines are not kept either.
pub const KEPT_BYTES: u64 = 256 * 1024 * 1024;

const DAY_MS: u64 = 86_400_000;

/// A file of lines that is not kept any longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldLog {
    pub path: PathBuf,
    pub bytes: u64,
    pub because: String,
}

/// Says what is not kept any longer, of files with their sizes, the oldest first.
fn old(files: &[(LogFile, u64)], now: Timestamp) -> Vec<OldLog> {
    let first = day_of(Timestamp(now.0.saturating_sub_unsigned(KEPT_DAYS * DAY_MS)));
    let mut left: u64 = files.iter().map(|(_, bytes)| bytes).sum();
    let mut found = Vec::new();
    let newest = files.last().map(|(file, _)| file.path.clone());
    for (file, bytes) in files.iter().filter(|(file, _)| Some(&file.path) != newest.as_ref()) {
        let because = if file.day < first {
            format!("it is older than {KEPT_DAYS} days")
        } else if left > KEPT_BYTES {
            format!("there are more than {} of them", show_size(KEPT_BYTES))
        } else {
            continue;
        };
        left -= bytes;
        found.push(OldLog { path: file.path.clone(), bytes: *bytes, because });
    }
    found
}

fn found(folder: &Path) -> Vec<(LogFile, u64)> {
    let size = |file: &LogFile| fs::metadata(&file.path).map_or(0, |found| found.len());
    LogFile::all(folder).into_iter().map(|file| (file.clone(), size(&file))).collect()
}

/// Takes away what is not kept any longer. What cannot be taken away stays for the next time.
pub(super) fn tidy(folder: &Path, now: Timestamp) {
    for OldLog { path, .. } in old(&found(folder), now) {
        let _ = fs::remove_file(path);
    }
}

impl System {
    /// The files of lines that are not kept any longer. Whoever begins a file takes them away too.
    pub fn old_logs(&self) -> Vec<OldLog> {
        old(&found(&self.places().logs()), SystemClock.now())
    }

    /// Takes them away; says how many bytes that freed.
    pub fn remove_old_logs(&self) -> u64 {
        let removed = self.old_logs().into_iter().filter(|old| fs::remove_file(&old.path).is_ok());
        removed.map(|old| old.bytes).sum()
    }

    /// Blanks every line that holds a value. In its place, because others write to the same file; says how many there were.
    pub fn redact_logs(&self, value: &str) -> Result<u64, Error> {
        let scrubber = Scrubber::redacting(value);
        let mut blanked = 0;
        for file in LogFile::all(&self.places().logs()) {
            let failed = |source| Error::WriteFile { path: file.path.clone(), source };
            blanked += blank(&file.path, &scrubber).map_err(failed)?;
        }
        Ok(blanked)
    }
}

fn blank(path: &Path, scrubber: &Scrubber) -> std::io::Result<u64> {
    use std::os::unix::fs::FileExt as _;
    let bytes = fs::read(path)?;
    if !scrubber.finds_any(&bytes) {
        return Ok(0);
    }
    let file = fs::OpenOptions::new().write(true).open(path)?;
    let (mut at, mut blanked) = (0, 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if scrubber.finds_any(text) {
            file.write_all_at(&vec![b' '; text.len()], at)?;
            blanked += 1;
        }
        at += u64::try_from(line.len()).unwrap_or(0);
    }
    file.sync_all()?;
    Ok(blanked)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;

    fn file(day: &str, number: u32) -> LogFile {
        LogFile::of(Path::new("/logs"), day, number)
    }

    #[test]
    fn files_go_by_age_and_by_size_and_the_newest_stays() {
        let now = Timestamp(20 * DAY);
        let big = KEPT_BYTES / 2;
        let names = |files: &[(LogFile, u64)]| -> Vec<String> {
            let name = |old: OldLog| old.path.file_name().unwrap().to_str().unwrap().to_owned();
            old(files, now).into_iter().map(name).collect()
        };
        assert_eq!(names(&[]), [] as [&str; 0]);
        assert_eq!(
            names(&[(file("1970-01-06", 0), 1), (file("1970-01-07", 0), 1), (file("1970-01-21", 0), 1)]),
            ["longhaul-1970-01-06.jsonl"]
        );
        assert_eq!(names(&[(file("1970-01-01", 0), 1)]), [] as [&str; 0], "somebody may be writing to it");
        assert_eq!(
            names(&[
                (file("1970-01-20", 0), big),
                (file("1970-01-21", 0), big),
                (file("1970-01-21", 1), big),
            ]),
            ["longhaul-1970-01-20.jsonl"]
        );
    }
}
