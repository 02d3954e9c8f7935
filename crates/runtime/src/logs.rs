//! What our processes say about their work, in files: one JSON object a line, for whoever asks later what went on.
//!
//! Not the log, which is the truth of what was decided: these lines may be lost, and nothing reads them to decide. Many
//! processes write to one file at once, each line with one write at its end. A file is never renamed, so nobody writes
//! to a file that is not there any more; when it is full the next number is begun. A disk that is full costs lines, never
//! work.

mod keeping;
mod layer;
mod reading;
#[cfg(test)]
mod tests;
mod writing;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub use keeping::{KEPT_BYTES, KEPT_DAYS, OldLog};
pub(crate) use layer::FileLayer;
pub use layer::LogOrigin;
pub use reading::{Follow, Level, LogQuery, LogRow};
pub(crate) use writing::Sink;

/// A file that is longer gets no more lines.
const FULL_BYTES: u64 = 16 * 1024 * 1024;

/// One file of them, by its name: `longhaul-2026-11-17.jsonl`, then `longhaul-2026-11-17.1.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct LogFile {
    /// In universal time.
    day: String,
    number: u32,
    path: PathBuf,
}

const PREFIX: &str = "longhaul-";
const SUFFIX: &str = ".jsonl";

impl LogFile {
    fn of(folder: &Path, day: &str, number: u32) -> Self {
        let name = match number {
            0 => format!("{PREFIX}{day}{SUFFIX}"),
            _ => format!("{PREFIX}{day}.{number}{SUFFIX}"),
        };
        Self { day: day.to_owned(), number, path: folder.join(name) }
    }

    /// `None` for whatever else lies there.
    fn named(path: &Path) -> Option<Self> {
        let name = path.file_name().and_then(OsStr::to_str)?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
        let (day, number) = match name.split_once('.') {
            Some((day, number)) => (day, number.parse().ok()?),
            None => (name, 0),
        };
        let is_day = day.len() == 10 && day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        is_day.then(|| Self { day: day.to_owned(), number, path: path.to_owned() })
    }

    /// All that are there, the oldest first; none if there is no such folder.
    fn all(folder: &Path) -> Vec<Self> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<Self> = entries.filter_map(|entry| Self::named(&entry.path())).collect();
        files.sort();
        files
    }
}
