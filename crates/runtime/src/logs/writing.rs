//! Writing lines: each with one write at the end of the file of its day.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use longhaul_core::time::rfc3339;
use longhaul_events::Timestamp;

use super::{FULL_BYTES, LogFile, keeping};

/// Where the lines of this process go.
#[derive(Debug)]
pub(crate) struct Sink {
    folder: PathBuf,
    /// A file that is longer gets no more lines.
    full_bytes: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    file: Option<Opened>,
    /// Lines that could not be written since the last one that was.
    lost: u64,
    /// The last write was cut off in the middle of its line.
    is_torn: bool,
}

#[derive(Debug)]
struct Opened {
    day: String,
    file: File,
}

impl Sink {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), full_bytes: FULL_BYTES, state: Mutex::new(State::default()) }
    }

    #[cfg(test)]
    pub(crate) fn with_files_of(self, full_bytes: u64) -> Self {
        Self { full_bytes, ..self }
    }

    /// Writes a line, which has no line break in it. What cannot be written is counted, and told with the next line that
    /// can; nobody is kept from work by it.
    pub(crate) fn write(&self, now: Timestamp, line: &[u8], lost: impl FnOnce(u64) -> Vec<u8>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::with_capacity(line.len() + 1);
        if state.is_torn {
            bytes.push(b'\n');
        }
        if state.lost > 0 {
            bytes.extend(lost(state.lost));
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
        match self.append(&mut state, now, &bytes) {
            Ok(written) if written == bytes.len() => (state.lost, state.is_torn) = (0, false),
            Ok(written) => {
                state.is_torn |= written > 0;
                state.lost += 1;
            }
            Err(_) => {
                state.file = None;
                state.lost += 1;
            }
        }
    }

    fn append(&self, state: &mut State, now: Timestamp, bytes: &[u8]) -> io::Result<usize> {
        let day = day_of(now);
        let may_be_written = |opened: &Opened| {
            let found = opened.file.metadata();
            // Nobody sees what is written to a file without a name.
            opened.day == day && found.is_ok_and(|found| found.len() < self.full_bytes && found.nlink() > 0)
        };
        if !state.file.as_ref().is_some_and(may_be_written) {
            state.file = Some(self.open(now, &day)?);
        }
        let opened = state.file.as_mut().ok_or(io::ErrorKind::NotFound)?;
        // One call, so that lines of other processes stand before it or after it, and never in it.
        loop {
            match opened.file.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => return written,
            }
        }
    }

    fn open(&self, now: Timestamp, day: &str) -> io::Result<Opened> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        keeping::tidy(&self.folder, now);
        let newest = LogFile::all(&self.folder).into_iter().rfind(|file| file.day == day);
        let mut number = newest.map_or(0, |file| file.number);
        loop {
            let LogFile { path, .. } = LogFile::of(&self.folder, day, number);
            // A pipe or a link that somebody put there must not be waited for or followed.
            let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
            let file = OpenOptions::new()
                .append(true)
                .create(true)
                .mode(0o600)
                .custom_flags(flags.bits().cast_signed())
                .open(path)?;
            let found = file.metadata()?;
            if !found.is_file() {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            if found.len() < self.full_bytes {
                return Ok(Opened { day: day.to_owned(), file });
            }
            number = number.checked_add(1).ok_or(io::ErrorKind::StorageFull)?;
        }
    }
}

/// The day of a moment, in universal time.
pub(super) fn day_of(at: Timestamp) -> String {
    rfc3339(at).chars().take(10).collect()
}
