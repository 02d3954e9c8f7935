//! Reading lines back: of all files, in the order of time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use longhaul_core::time::rfc3339;
use longhaul_events::{SessionId, TaskId, Timestamp};
use serde_json::Value;

use super::LogFile;
use super::writing::day_of;
use crate::error::{Error, TaskError};
use crate::reader::Reader;
use crate::system::System;

/// How much is read of one file in one look of somebody who follows.
const MOST_AT_ONCE: u64 = 4 * 1024 * 1024;
/// What a line begins with. One that another was cut off before is found by it.
const BEGINNING: &str = "{\"time\":\"";

/// How grave a line is. The later one is the graver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

impl Level {
    pub const WORDS: [(&'static str, Self); 5] = [
        ("trace", Self::Trace),
        ("debug", Self::Debug),
        ("info", Self::Info),
        ("warn", Self::Warn),
        ("error", Self::Error),
    ];

    fn of(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, level)| *level)
    }
}

/// Which lines are wanted; without anything, all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogQuery {
    /// A session, or the beginning of its id, with all below it.
    pub session: Option<String>,
    /// A task, or the beginning of its id, with all its sessions.
    pub task: Option<String>,
    pub trigger: Option<String>,
    /// This grave, or graver.
    pub level: Option<Level>,
    pub since: Option<Timestamp>,
}

/// A line as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRow(pub Value);

impl LogRow {
    fn read(line: &str) -> Option<Self> {
        let parsed = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
        // Of a line that was cut off, the one that was written after it is left.
        let after = || line.rfind(BEGINNING).filter(|at| *at > 0).and_then(|at| parsed(&line[at..]));
        parsed(line).or_else(after).map(Self)
    }

    pub fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or_default()
    }

    /// What else it says, as `name=value`.
    pub fn fields(&self) -> Vec<String> {
        let shown = |(name, value): (&String, &Value)| match value {
            Value::String(text) => format!("{name}={text}"),
            other => format!("{name}={other}"),
        };
        self.0["fields"].as_object().into_iter().flatten().map(shown).collect()
    }
}

/// The same as ids.
#[derive(Debug, Default)]
struct Wanted {
    /// Sessions and tasks, any of which will do.
    about: Option<BTreeSet<String>>,
    trigger: Option<String>,
    level: Option<Level>,
    since: Option<String>,
}

impl Wanted {
    fn takes(&self, row: &LogRow) -> bool {
        let about =
            |known: &BTreeSet<String>| ["session", "task"].iter().any(|name| known.contains(row.text(name)));
        self.about.as_ref().is_none_or(about)
            && self.trigger.as_ref().is_none_or(|trigger| row.text("trigger") == trigger)
            // A word of a later release is shown rather than hidden.
            && self.level.is_none_or(|least| Level::of(row.text("level")).is_none_or(|level| level >= least))
            && self.since.as_ref().is_none_or(|since| row.text("time") >= since.as_str())
    }
}

/// Somebody who reads lines, all that are there first, then those that come.
#[derive(Debug)]
pub struct Follow {
    folder: PathBuf,
    wanted: Wanted,
    first_day: Option<String>,
    /// How far each file was read.
    read: BTreeMap<PathBuf, u64>,
}

impl System {
    /// Begins to read lines. What names no session or task that is known here is refused.
    pub fn logs(&self, query: &LogQuery) -> Result<Follow, Error> {
        let first_day = query.since.map(day_of);
        Ok(Follow {
            folder: self.places().logs(),
            wanted: self.wanted(query)?,
            first_day,
            read: BTreeMap::new(),
        })
    }

    fn wanted(&self, query: &LogQuery) -> Result<Wanted, Error> {
        let LogQuery { session, task, trigger, level, since } = query;
        let mut about = None;
        if session.is_some() || task.is_some() {
            let reader = self.reader()?;
            let sessions = session.as_ref().map(|text| below(reader.as_ref(), text)).transpose()?;
            let task = task.as_ref().map(|text| of_task(reader.as_ref(), text)).transpose()?;
            about = Some(match (sessions, task) {
                (Some(sessions), Some(task)) => sessions.intersection(&task).cloned().collect(),
                (one, other) => one.or(other).unwrap_or_default(),
            });
        }
        Ok(Wanted { about, trigger: trigger.clone(), level: *level, since: since.map(rfc3339) })
    }
}

impl Follow {
    /// Whether anything was ever written here that is still kept.
    pub fn is_empty(&self) -> bool {
        LogFile::all(&self.folder).is_empty()
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What was not read before, in the order of time.
    pub fn more(&mut self) -> Result<Vec<LogRow>, Error> {
        let mut rows = Vec::new();
        for file in LogFile::all(&self.folder) {
            if self.first_day.as_ref().is_some_and(|first| file.day < *first) {
                continue;
            }
            let failed = |source| Error::ReadFile { path: file.path.clone(), source };
            match self.read_on(&file.path, &mut rows) {
                Ok(()) => {}
                // It was not kept any longer.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(error)),
            }
        }
        rows.sort_by(|one: &LogRow, other| one.text("time").cmp(other.text("time")));
        Ok(rows)
    }

    /// Whole lines only: the rest may be under way.
    fn read_on(&mut self, path: &Path, rows: &mut Vec<LogRow>) -> std::io::Result<()> {
        let read = self.read.entry(path.to_owned()).or_default();
        let mut file = File::open(path)?;
        loop {
            file.seek(SeekFrom::Start(*read))?;
            let mut bytes = Vec::new();
            std::io::Read::by_ref(&mut file).take(MOST_AT_ONCE).read_to_end(&mut bytes)?;
            let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
            let text = String::from_utf8_lossy(&bytes[..end]);
            let lines = text.split('\n').filter_map(|line| LogRow::read(line.trim()));
            rows.extend(lines.filter(|row| self.wanted.takes(row)));
            *read += u64::try_from(end + 1).unwrap_or(0);
        }
    }
}

/// A session and all below it. Without a store there is only the name.
fn below(reader: Option<&Reader>, text: &str) -> Result<BTreeSet<String>, Error> {
    let Some(reader) = reader else { return Err(Error::NoSuchSession(text.to_owned())) };
    let found = reader.find_session(text)?.id;
    let rows = reader.sessions()?;
    let mut tree: BTreeSet<SessionId> = BTreeSet::from([found]);
    loop {
        let more: Vec<SessionId> = rows
            .iter()
            .filter(|row| row.parent.is_some_and(|parent| tree.contains(&parent)) && !tree.contains(&row.id))
            .map(|row| row.id)
            .collect();
        if more.is_empty() {
            return Ok(tree.iter().map(ToString::to_string).collect());
        }
        tree.extend(more);
    }
}

/// A task and all its sessions.
fn of_task(reader: Option<&Reader>, text: &str) -> Result<BTreeSet<String>, Error> {
    let Some(reader) = reader else { return Err(TaskError::NoSuch(text.to_owned()).into()) };
    let view = reader.find_task(text)?;
    let task: TaskId = view.id;
    Ok(view.sessions.iter().map(|row| row.id.to_string()).chain([task.to_string()]).collect())
}
