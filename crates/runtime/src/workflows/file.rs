//! One file, read without being fooled by it: no waiting for a pipe, no gigabytes, no text that is none.

use std::fs::{self, FileType, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use longhaul_core::workflow::compile::Syntax;
use longhaul_core::workflow::diagnostic::Diagnostic;
use longhaul_core::workflow::document::MOST_BYTES;
use rustix::fs::OFlags;

/// Stands for standard input where a file is named.
pub const STDIN: &str = "-";

/// Deeper folders and longer lists are not a collection of workflows.
const MOST_LEVELS: usize = 8;
const MOST_FILES: usize = 5000;

/// Why the text of a file cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("there is no such file; check the path")]
    Missing,
    #[error("it is {kind} and not a file; name a file")]
    NotAFile { kind: &'static str },
    #[error("it is larger than 1 MB, which no workflow needs; split it")]
    TooLarge,
    #[error("it is not UTF-8 text (from byte {at} on); save it as UTF-8")]
    NotText { at: usize },
    #[error("it is a link, and the links of others are not followed; put a real file there")]
    Link,
    #[error("it could not be read ({problem}); check its permissions")]
    Io { problem: String },
}

impl Unreadable {
    /// The same as a finding at the top of the file.
    pub(crate) fn diagnostic(&self) -> Diagnostic {
        let words = self.to_string();
        match words.rsplit_once("; ") {
            Some((message, fix)) => Diagnostic::error(0..0, message).fix(fix),
            None => Diagnostic::error(0..0, words),
        }
    }
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            _ => Self::Io { problem: error.to_string() },
        }
    }
}

/// Reads a file that a person named or that lies in their own folder; links are followed.
pub(crate) fn read(path: &Path) -> Result<String, Unreadable> {
    // Before it is opened, because opening some devices does something.
    regular(fs::metadata(path)?.file_type())?;
    // It may have become a pipe since: opened like this, one does not wait for its other end.
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).expect("the flags of `open` fit in an int");
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    regular(file.metadata()?.file_type())?;
    read_text(file)
}

/// Reads to the end, or to where it becomes too much.
pub(crate) fn read_text(from: impl Read) -> Result<String, Unreadable> {
    let mut bytes = Vec::new();
    from.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    text(bytes)
}

pub(crate) fn text(bytes: Vec<u8>) -> Result<String, Unreadable> {
    if bytes.len() > MOST_BYTES {
        return Err(Unreadable::TooLarge);
    }
    String::from_utf8(bytes).map_err(|error| Unreadable::NotText { at: error.utf8_error().valid_up_to() })
}

fn regular(kind: FileType) -> Result<(), Unreadable> {
    let kind = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(Unreadable::NotAFile { kind })
}

/// The syntax that a name stands for; `None` if it is not the name of a workflow file.
pub(crate) fn syntax_of(path: &Path) -> Option<Syntax> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "yml" | "yaml" => Some(Syntax::Yaml),
        "json" => Some(Syntax::Json),
        _ => None,
    }
}

/// The syntax of a text without a telling name.
pub(crate) fn syntax_of_text(text: &str) -> Syntax {
    if text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        Syntax::Json
    } else {
        Syntax::Yaml
    }
}

/// Whether the links of a folder are its owner's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    Followed,
    Refused,
}

/// A path below a folder, and the text there.
pub(crate) type Below = (PathBuf, Result<String, Unreadable>);

/// Every workflow file below a folder, by its path relative to it; none if there is no such folder.
pub(crate) fn below(folder: &Path, links: Links) -> Result<Vec<Below>, Unreadable> {
    let mut found = Vec::new();
    match list(folder, Path::new(""), &mut found) {
        Err(Unreadable::Missing) => return Ok(Vec::new()),
        listed => listed?,
    }
    found.sort();
    let read_one = |relative: PathBuf| {
        let path = folder.join(&relative);
        let is_link = fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
        let text = if is_link && links == Links::Refused { Err(Unreadable::Link) } else { read(&path) };
        (relative, text)
    };
    Ok(found.into_iter().map(read_one).collect())
}

fn list(top: &Path, relative: &Path, found: &mut Vec<PathBuf>) -> Result<(), Unreadable> {
    if relative.components().count() > MOST_LEVELS || found.len() > MOST_FILES {
        let problem = format!("it holds more than {MOST_LEVELS} levels or {MOST_FILES} files");
        return Err(Unreadable::Io { problem });
    }
    for entry in fs::read_dir(top.join(relative))? {
        let entry = entry?;
        let path = relative.join(entry.file_name());
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        // Folders behind links are not entered: they may lead in circles.
        if entry.file_type()?.is_dir() && !hidden {
            list(top, &path, found)?;
        } else if !hidden && syntax_of(&path).is_some() {
            found.push(path);
        }
    }
    Ok(())
}
