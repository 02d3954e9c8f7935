//! The files of a local forge. Nobody reads half of one, and nobody changes them beside another.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::faults::{Fault, FaultMoment, FaultOn};
use crate::failure::Failure;
use crate::kinds::{Check, Comment, Issue, Pull};

/// What a local forge insists on, as the rules of a real one do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LocalRules {
    /// How many others have to approve before a merge.
    pub reviews: u64,
    /// Checks that have to pass on the head before a merge.
    pub checks: Vec<String>,
}

/// An issue or a pull request: one file each, with one count of numbers over both.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "a few are read at a time, and none is kept")]
pub(super) enum Item {
    Issue(Issue),
    Pull {
        #[serde(flatten)]
        pull: Pull,
        /// A merge that was decided on and is not known to have happened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        merging: Option<Merging>,
    },
}

/// What moves the base branch, noted before it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Merging {
    pub(super) merged: crate::kinds::Merged,
    pub(super) from: String,
}

impl Item {
    pub(super) fn labels(&mut self) -> &mut Vec<String> {
        match self {
            Self::Issue(issue) => &mut issue.labels,
            Self::Pull { pull, .. } => &mut pull.labels,
        }
    }

    pub(super) fn comments(&mut self) -> &mut Vec<Comment> {
        match self {
            Self::Issue(issue) => &mut issue.comments,
            Self::Pull { pull, .. } => &mut pull.comments,
        }
    }

    fn number(&self) -> u64 {
        match self {
            Self::Issue(issue) => issue.number,
            Self::Pull { pull, .. } => pull.number,
        }
    }
}

#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
}

impl Files {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(super) fn make(&self) -> Result<(), Failure> {
        let items = self.folder.join("items");
        fs::create_dir_all(&items).map_err(trouble("make", &items))
    }

    pub(super) fn rules(&self) -> Result<LocalRules, Failure> {
        Ok(read(&self.folder.join("rules.json"))?.unwrap_or_default())
    }

    /// Waits for its turn. The system lets go of it when its holder dies.
    pub(super) fn lock(&self) -> Result<Locked, Failure> {
        let path = self.folder.join("lock");
        let file = File::create(&path).map_err(trouble("open", &path))?;
        file.lock().map_err(trouble("lock", &path))?;
        Ok(Locked { folder: self.folder.clone(), _file: file })
    }
}

/// The files, and the right to change them.
#[derive(Debug)]
pub(super) struct Locked {
    folder: PathBuf,
    _file: File,
}

impl Locked {
    pub(super) fn next_number(&self) -> Result<u64, Failure> {
        Ok(self.items()?.iter().map(Item::number).max().unwrap_or(0) + 1)
    }

    pub(super) fn item(&self, number: u64) -> Result<Item, Failure> {
        read(&self.path_of(number))?
            .ok_or_else(|| Failure::NotFound(format!("issue or pull request #{number}")))
    }

    pub(super) fn put(&self, item: &Item) -> Result<(), Failure> {
        write(&self.path_of(item.number()), item)
    }

    pub(super) fn change(&self, number: u64, change: impl FnOnce(&mut Item)) -> Result<(), Failure> {
        let mut item = self.item(number)?;
        change(&mut item);
        self.put(&item)
    }

    pub(super) fn issue(&self, number: u64) -> Result<Issue, Failure> {
        match self.item(number)? {
            Item::Issue(issue) => Ok(issue),
            Item::Pull { .. } => Err(Failure::NotFound(format!("issue #{number}, it is a pull request"))),
        }
    }

    pub(super) fn put_issue(&self, issue: &Issue) -> Result<(), Failure> {
        self.put(&Item::Issue(issue.clone()))
    }

    pub(super) fn pull(&self, number: u64) -> Result<Pull, Failure> {
        match self.item(number)? {
            Item::Pull { pull, .. } => Ok(pull),
            Item::Issue(_) => Err(Failure::NotFound(format!("pull request #{number}, it is an issue"))),
        }
    }

    pub(super) fn put_pull(&self, pull: &Pull) -> Result<(), Failure> {
        self.put(&Item::Pull { pull: pull.clone(), merging: None })
    }

    pub(super) fn issues(&self) -> Result<Vec<Issue>, Failure> {
        let items = self.items()?.into_iter();
        Ok(items.filter_map(|item| if let Item::Issue(issue) = item { Some(issue) } else { None }).collect())
    }

    pub(super) fn pulls(&self) -> Result<Vec<Pull>, Failure> {
        let items = self.items()?.into_iter();
        Ok(items
            .filter_map(|item| if let Item::Pull { pull, .. } = item { Some(pull) } else { None })
            .collect())
    }

    /// Merges that somebody noted and did not live to see.
    pub(super) fn merging(&self) -> Result<Vec<(Pull, Merging)>, Failure> {
        let open = |item| match item {
            Item::Pull { pull, merging: Some(merging) } => Some((pull, merging)),
            Item::Pull { merging: None, .. } | Item::Issue(_) => None,
        };
        Ok(self.items()?.into_iter().filter_map(open).collect())
    }

    /// All, by their numbers.
    fn items(&self) -> Result<Vec<Item>, Failure> {
        let folder = self.folder.join("items");
        let entries = fs::read_dir(&folder).map_err(trouble("list", &folder))?;
        let mut numbers: Vec<u64> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".json")?.parse().ok())
            .collect();
        numbers.sort_unstable();
        numbers.into_iter().map(|number| self.item(number)).collect()
    }

    pub(super) fn checks(&self, commit: &str) -> Result<Vec<Check>, Failure> {
        super::id(commit)?;
        Ok(read(&self.folder.join("checks").join(format!("{commit}.json")))?.unwrap_or_default())
    }

    pub(super) fn put_check(&self, commit: &str, check: &Check) -> Result<(), Failure> {
        let mut checks = self.checks(commit)?;
        checks.retain(|known| known.name != check.name);
        checks.push(check.clone());
        write(&self.folder.join("checks").join(format!("{commit}.json")), &checks)
    }

    pub(super) fn rules(&self) -> Result<LocalRules, Failure> {
        Ok(read(&self.folder.join("rules.json"))?.unwrap_or_default())
    }

    pub(super) fn set_rules(&self, rules: &LocalRules) -> Result<(), Failure> {
        write(&self.folder.join("rules.json"), rules)
    }

    pub(super) fn set_faults(&self, faults: &[Fault]) -> Result<(), Failure> {
        write(&self.folder.join("faults.json"), &faults)
    }

    /// What is to go wrong now, once less from now on.
    pub(super) fn take_fault(&self, on: FaultOn, moment: FaultMoment) -> Result<Option<Fault>, Failure> {
        let path = self.folder.join("faults.json");
        let Some(mut faults) = read::<Vec<Fault>>(&path)? else { return Ok(None) };
        let is_due = |fault: &Fault| fault.on == on && fault.when == moment && fault.times > 0;
        let Some(due) = faults.iter_mut().find(|fault| is_due(fault)) else { return Ok(None) };
        due.times -= 1;
        let due = due.clone();
        write(&path, &faults)?;
        Ok(Some(due))
    }

    fn path_of(&self, number: u64) -> PathBuf {
        self.folder.join("items").join(format!("{number}.json"))
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Failure> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| Failure::Garbled(format!("`{}`: {error}", path.display()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(trouble("read", path)(error)),
    }
}

/// Whole or not at all, and on the disk before anybody is told.
fn write(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    let folder = path.parent().expect("it lies in a folder of ours");
    fs::create_dir_all(folder).map_err(trouble("make", folder))?;
    let new = path.with_extension("new");
    let mut text = serde_json::to_vec_pretty(value).expect("what is kept has string keys only");
    text.push(b'\n');
    let written = File::create(&new).and_then(|mut file| {
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        File::open(folder)?.sync_all()
    });
    written.map_err(trouble("write", path))
}

fn trouble(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    let path = path.to_owned();
    move |error| Failure::Network(format!("could not {doing} `{}`: {error}", path.display()))
}
