//! The triggers that count now, and how they are read anew: a file that is wrong keeps what it said before.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use longhaul_core::trigger::{Start, Trigger};
use longhaul_events::{Caps, Orders, Taint, Timestamp, WorkspaceId};

use super::Trouble;
use crate::commands::Commands;
use crate::commands::queueing::{NewQueued, TriggerName};
use crate::error::Error;
use crate::system::System;
use crate::triggers::{TriggerEntry, TriggerFile, Triggers};

/// No more files of a `.longhaul/` are looked at to see whether something changed.
const MOST_LOOKED_AT: usize = 5000;

/// A trigger with all that its tasks need.
pub(crate) struct Served {
    pub(crate) name: TriggerName,
    pub(crate) trigger: Trigger,
    pub(crate) full_name: String,
    workspace: WorkspaceId,
    workspace_name: String,
    /// What signs its requests, if that is set.
    pub(crate) secret: Option<String>,
    pipeline: String,
    budget: Option<Caps>,
}

impl std::fmt::Debug for Served {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Served").field("name", &self.full_name).finish_non_exhaustive()
    }
}

/// Who a task is from, and what it is about.
pub(crate) struct Asked {
    pub(crate) goal: String,
    pub(crate) source: longhaul_core::task::Source,
    pub(crate) taint: Taint,
    pub(crate) by: String,
}

impl Served {
    /// All that a trigger needs to open tasks, as the settings are now.
    pub(crate) fn of(system: &System, entry: &TriggerEntry<'_>) -> Result<Self, Error> {
        let (placed, trigger) = (entry.placed, entry.trigger().clone());
        let workspace =
            placed.workspace.ok_or_else(|| Error::UnknownWorkspace(placed.workspace_name.clone()))?;
        let (_, registered) = system.find_workspace(Some(&workspace.to_string()))?;
        let place = registered.checkout.as_ref().unwrap_or(&registered.common_dir);
        let config = system.standing_in(Path::new(place)).config()?;
        let secret = match &trigger.start {
            Start::Webhook(webhook) => {
                system.key(webhook.secret.as_str())?.map(|key| key.reveal().to_owned())
            }
            Start::Schedule(_) | Start::Hand | Start::Github => None,
        };
        let has_budget = trigger.work.budget != longhaul_core::trigger::Budget::default();
        Ok(Self {
            name: TriggerName { name: trigger.id.clone(), workspace: Some(workspace) },
            full_name: entry.full_name(),
            workspace,
            workspace_name: placed.workspace_name.clone(),
            secret,
            pipeline: trigger.work.pipeline.clone().unwrap_or(config.pipeline_default),
            budget: has_budget.then(|| trigger.work.budget.over(config.caps)),
            trigger,
        })
    }

    /// The task that it opens. Nothing of how it is done comes from whoever asked.
    pub(crate) fn task(&self, asked: Asked, now: Timestamp) -> NewQueued {
        let Asked { goal, source, taint, by } = asked;
        let work = &self.trigger.work;
        NewQueued {
            goal,
            source,
            pipeline: self.pipeline.clone(),
            until: None,
            workspace: Some(self.workspace),
            priority: work.priority,
            deadline: work.deadline_ms.map(|ms| now.plus_ms(ms)),
            budget: self.budget,
            orders: Orders {
                agent: work.agent.clone(),
                cassette: None,
                taint,
                labels: work.labels.clone(),
                max_attempts: work.max_attempts,
                trigger: Some(self.name.id()),
                after: Vec::new(),
                scope: Vec::new(),
                base: None,
            },
            by,
        }
    }
}

/// The triggers of one file, as they were when it was last right.
type OfFile = Vec<Arc<Served>>;

/// All triggers that count.
#[derive(Debug, Default)]
pub(super) struct Set {
    files: BTreeMap<String, OfFile>,
    pub(super) troubles: Vec<Trouble>,
}

impl Set {
    /// What counts after a look at all files. Each is taken whole, or stays as it was.
    pub(super) fn reloaded(&self, system: &System, found: &Triggers) -> Self {
        let mut set = Self::default();
        for file in &found.files {
            if !file.trusted {
                set.troubles.push(Trouble {
                    about: file.path.clone(),
                    problem: "nobody trusts it as it is now, so its triggers begin nothing".to_owned(),
                    remedy: "look at it and run `longhaul workspace trust`".to_owned(),
                });
                continue;
            }
            match taken(system, file) {
                Ok((triggers, troubles)) => {
                    set.troubles.extend(troubles);
                    set.files.insert(file.path.clone(), triggers);
                }
                Err(problem) => set.keep(self, &file.path, problem),
            }
        }
        for problem in &found.problems {
            let remedy = "put it right; what it said before counts until then".to_owned();
            set.troubles.push(Trouble { about: "triggers".to_owned(), problem: problem.clone(), remedy });
        }
        // Which file a problem is about is not known: rather serve one that is gone than lose what others send.
        if !found.problems.is_empty() {
            for (path, triggers) in &self.files {
                set.files.entry(path.clone()).or_insert_with(|| triggers.clone());
            }
        }
        set
    }

    fn keep(&mut self, before: &Self, path: &str, problem: String) {
        let kept = before.files.get(path).cloned();
        let remedy = if kept.is_some() {
            "put it right; what it said before counts until then"
        } else {
            "put it right; until then its triggers begin nothing"
        };
        self.troubles.push(Trouble { about: path.to_owned(), problem, remedy: remedy.to_owned() });
        self.files.extend(kept.map(|kept| (path.to_owned(), kept)));
    }

    /// By the workspace, as its id or its name, and the id of the trigger. What fits two is nobody's.
    pub(super) fn find(&self, scope: &str, id: &str) -> Option<&Arc<Served>> {
        let is_it = |served: &&Arc<Served>| {
            served.trigger.id == id
                && (served.workspace_name == scope || served.workspace.to_string() == scope)
        };
        let mut fitting = self.all().filter(is_it);
        match (fitting.next(), fitting.next()) {
            (Some(served), None) => Some(served),
            (None | Some(_), _) => None,
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Served>> {
        self.files.values().flatten()
    }
}

/// The triggers of a file that is right, and what is missing beside it; or what is wrong with it.
fn taken(system: &System, file: &TriggerFile) -> Result<(OfFile, Vec<Trouble>), String> {
    if let Some(error) = file.diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
        return Err(error.message.clone());
    }
    let (mut triggers, mut troubles) = (Vec::new(), Vec::new());
    for placed in &file.triggers {
        let entry = TriggerEntry { file, placed };
        let served = Served::of(system, &entry).map_err(|error| error.to_string())?;
        if let (Start::Webhook(webhook), None) = (&served.trigger.start, &served.secret) {
            let name = webhook.secret.as_str();
            troubles.push(Trouble {
                about: format!("trigger `{}`", served.full_name),
                problem: format!("the secret `{name}` is not set, so every request is refused"),
                remedy: format!("run `longhaul secret set {name}`"),
            });
        }
        triggers.push(Arc::new(served));
    }
    Ok((triggers, troubles))
}

/// Files with their length, when they were changed, and their number.
pub(super) type Mark = Vec<(PathBuf, [i64; 3])>;

/// A mark of all files that triggers depend on: another one says that something changed.
pub(super) fn mark(system: &System, commands: &Commands) -> Result<Mark, Error> {
    let places = system.places();
    let mut marks = Vec::new();
    for path in [places.triggers(), places.user_config(), places.secrets()] {
        marks.extend(mark_of(&path));
    }
    let rows = commands.reader().map(|reader| reader.workspace_rows()).transpose()?.unwrap_or_default();
    for row in rows {
        let workspace = row.workspace;
        let trust = i64::from_ne_bytes(workspace.seq.0.to_ne_bytes());
        marks.push((PathBuf::from(workspace.id.to_string()), [trust, 0, 0]));
        let folder = match &workspace.checkout {
            Some(checkout) => Path::new(checkout).join(".longhaul"),
            None => Path::new(&workspace.common_dir).join("refs/heads"),
        };
        let packed = Path::new(&workspace.common_dir).join("packed-refs");
        marks.extend(mark_of(&packed).filter(|_| workspace.checkout.is_none()));
        below(&folder, &mut marks);
    }
    Ok(marks)
}

fn below(folder: &Path, marks: &mut Mark) {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            if marks.len() >= MOST_LOOKED_AT {
                return;
            }
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path.clone());
            }
            marks.extend(mark_of(&path));
        }
    }
    marks.sort();
}

fn mark_of(path: &Path) -> Option<(PathBuf, [i64; 3])> {
    let found = fs::symlink_metadata(path).ok()?;
    let length = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let changed = found.ctime().wrapping_mul(1_000_000_000).wrapping_add(found.ctime_nsec());
    let inode = i64::from_ne_bytes(found.ino().to_ne_bytes());
    Some((path.to_owned(), [length, changed, inode]))
}

/// A trigger that nobody has the secret of: what is compared with where there is none.
pub(super) fn decoy() -> &'static Served {
    static DECOY: LazyLock<Served> = LazyLock::new(|| {
        let text =
            "triggers: [ { id: decoy, webhook: { secret: $DECOY }, catch_all: { cap: 1 }, goal: none } ]";
        let mut read = longhaul_core::trigger::read(text, longhaul_core::trigger::Owner::Workspace);
        let workspace = WorkspaceId::from_bytes([0; 5]);
        Served {
            name: TriggerName { name: "decoy".to_owned(), workspace: None },
            full_name: "decoy".to_owned(),
            workspace,
            workspace_name: String::new(),
            secret: Some(longhaul_core::canonical::sha256(&rand()).to_string()),
            pipeline: String::new(),
            budget: None,
            trigger: read.triggers.pop().expect("the text is a trigger"),
        }
    });
    &DECOY
}

fn rand() -> [u8; 32] {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the operating system has randomness to give");
    bytes
}
