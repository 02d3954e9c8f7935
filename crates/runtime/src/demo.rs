//! The demo: a small repository with a real fault, a forge, a ticket, and an installation of its own to do it in.
//!
//! Everything from the ticket on is done by the same code as real work. Only two things stand in for others: a
//! rehearsal for the agent, and a forge on this disk.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use longhaul_core::config::SandboxLevel;
use longhaul_core::trust::{FolderFile, folder_hash};
use longhaul_events::{Channel, SessionId, Taint};
use longhaul_exec::sandbox::{Level, Sandbox, probe};
use longhaul_forge::{Forge as _, Issue, LocalForge, NewIssue, Pull};
use longhaul_git::NewRepository;
use rustix::process::{Pid, Signal, kill_process};

use crate::commands::Commands;
use crate::commands::task::TaskOrigin;
use crate::commands::workspace::TrustRequest;
use crate::driving::{Drive, NewDrive, Script};
use crate::error::Error;
use crate::hiring::Assignee;
use crate::places::Places;
use crate::runner::{SessionLabel, is_dead};
use crate::starting::NewWalk;
use crate::system::{Settings, System};
use crate::walling::WantedWalls;
use crate::workspaces;

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../demo/project/", $name)))),+]
    };
}

/// The project, as it is before anybody works on it.
const PROJECT: &[(&str, &str)] = files![
    ".github/PULL_REQUEST_TEMPLATE.md",
    ".longhaul/config.yml",
    "README.md",
    "src/discount.sh",
    "src/receipt.sh",
    "tests/run.sh",
];
/// The first line is the title.
const TICKET: &str = include_str!("../demo/ticket.md");
const CASSETTE: &str = include_str!("../demo/cassette.yml");
const PIPELINE: &str = "lh.pipeline.feature";
/// Who makes the project and trusts it.
const BY: &str = "longhaul demo";
const HOME: &str = "LONGHAUL_HOME";
const BRANCH: &str = "main";
const LIMIT_BYTES: usize = 64 * 1024;
/// How long the process of a session that is over may take to end, and how often it is looked for.
const LAST_WORDS: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What the demo works on, and where it lies.
#[derive(Debug)]
pub struct Demo {
    folder: PathBuf,
    settings: Settings,
    forge: LocalForge,
    ticket: u64,
    level: SandboxLevel,
}

impl Demo {
    /// Makes all of it in an empty folder, and nothing outside of it.
    pub fn make(outside: &Settings, folder: &Path) -> Result<Self, Error> {
        longhaul_git::snapshots_can_be_taken()?;
        let (project, home) = (folder.join("till"), folder.join("home"));
        let forge = LocalForge::make(&folder.join("forge.git"), BRANCH, LocalForge::OURS)?;
        for (name, text) in PROJECT {
            write(&project.join(name), text)?;
        }
        longhaul_git::create(&NewRepository {
            directory: &project,
            origin: Path::new(&forge.address()),
            branch: BRANCH,
            message: "The till",
            name: BY,
            email: "demo@localhost",
        })?;
        let (title, body) = TICKET.split_once('\n').unwrap_or((TICKET, ""));
        let new = NewIssue { title: title.to_owned(), body: body.trim().to_owned(), labels: Vec::new() };
        let ticket = forge.asked_by("a customer").open_issue(&new)?.number;
        let demo = Self {
            folder: folder.to_owned(),
            settings: inside(outside, &home, project),
            forge,
            ticket,
            level: strongest_walls(),
        };
        demo.trust()?;
        Ok(demo)
    }

    /// The project was written here a moment ago, so its settings are known. That this was nobody's word but ours stays on
    /// record, in an installation that knows no other repository.
    fn trust(&self) -> Result<(), Error> {
        let system = self.system();
        let located = workspaces::locate(system.directory())?;
        let (files, _) = workspaces::folder_files(&located.repository)?;
        let commands = system.commands()?;
        let workspace = commands.add_workspace(system.directory(), None)?.workspace;
        let hash = folder_hash(&files).expect("the project has settings");
        let files = files.iter().map(FolderFile::listed).collect();
        let request = TrustRequest { hash, files, by: BY.to_owned(), channel: Channel::Terminal };
        commands.trust_workspace(workspace.id, &request)
    }

    /// The installation that it is done in.
    pub fn system(&self) -> System {
        System::new(self.settings.clone())
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the installation keeps everything.
    pub fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    pub fn project(&self) -> &Path {
        &self.settings.directory
    }

    /// How strong the walls are that can be put up here.
    pub const fn level(&self) -> SandboxLevel {
        self.level
    }

    pub fn ticket(&self) -> Result<Issue, Error> {
        Ok(self.forge.issue(self.ticket)?)
    }

    pub fn pulls(&self) -> Result<Vec<Pull>, Error> {
        Ok(self.forge.pulls(None)?)
    }

    /// Starts what `longhaul run --issue` would start.
    pub fn start(&self, system: &System, commands: &Commands) -> Result<Drive, Error> {
        let ticket = system.ticket(self.ticket)?;
        system.drive(
            commands,
            NewDrive {
                walk: NewWalk {
                    workflow: PIPELINE.to_owned(),
                    goal: ticket.goal,
                    vars: serde_json::Map::new(),
                },
                who: Assignee::Rehearsal(Script {
                    path: "cassette.yml".to_owned(),
                    text: CASSETTE.to_owned(),
                }),
                taint: Taint::Outside,
                walls: WantedWalls { level: Some(self.level), network: None },
                base: None,
                budget: None,
                by: BY.to_owned(),
                task: TaskOrigin {
                    labels: ticket.labels,
                    by: BY.to_owned(),
                    ..TaskOrigin::of(ticket.source)
                },
            },
        )
    }

    /// The process that drives a session and lives.
    pub fn driver(&self, commands: &Commands, id: SessionId) -> Result<Option<u32>, Error> {
        let lease = commands.load_session(id)?.lease;
        Ok(lease.filter(|lease| !is_dead(&lease.driver)).map(|lease| lease.driver.process))
    }

    /// Kills whoever drives a session, without a word before. `None` if nobody does at this moment.
    pub fn crash(&self, commands: &Commands, id: SessionId) -> Result<Option<u32>, Error> {
        let Some(process) = self.driver(commands, id)?.filter(|process| *process != std::process::id())
        else {
            return Ok(None);
        };
        let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
        let is_killed = pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok());
        Ok(is_killed.then_some(process))
    }

    /// Waits until nobody works for a session that is over. A folder that is taken away before is only taken away in part.
    pub fn wait_for_end(&self, id: SessionId) -> Result<(), Error> {
        let label = SessionLabel::of(id, &self.settings.places.data)?;
        let start = Instant::now();
        while label.is_alive() && start.elapsed() < LAST_WORDS {
            // tidy: a process that ends tells nobody
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// What the base branch of the forge has that it had not before.
    pub fn merged_diff(&self) -> Result<String, Error> {
        let bytes = longhaul_git::diff_of_branch(Path::new(&self.forge.address()), BRANCH, LIMIT_BYTES)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The tree that the base branch of the forge has now.
    pub fn merged_tree(&self) -> Result<Option<String>, Error> {
        let tree = longhaul_git::tree_of_branch(Path::new(&self.forge.address()), BRANCH)?;
        Ok(tree.map(|tree| tree.to_string()))
    }
}

/// The same environment, without what says where another installation is or who works in it.
fn inside(outside: &Settings, home: &Path, project: PathBuf) -> Settings {
    let is_ours = |name: &OsString| name.to_string_lossy().starts_with("LONGHAUL_");
    let mut variables = outside.variables.clone();
    variables.retain(|name, _| !is_ours(name));
    variables.insert(HOME.into(), home.into());
    Settings { places: Places::under(home), variables, directory: project, flags: Vec::new() }
}

/// The demo runs wherever anything does, and says what it has.
fn strongest_walls() -> SandboxLevel {
    let ability = probe(&Sandbox::new(Level::Full, "/nonexistent").init);
    match (ability.of(Level::Full).works(), ability.of(Level::Reduced).works()) {
        (true, _) => SandboxLevel::Full,
        (false, true) => SandboxLevel::Reduced,
        (false, false) => SandboxLevel::None,
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source| Error::WriteFile { path: path.to_owned(), source };
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    fs::write(path, text).map_err(failed)
}
