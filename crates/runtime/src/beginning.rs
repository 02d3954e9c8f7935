//! The first settings of a repository: looked at, written once, on record as what a person wrote.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use longhaul_core::init::{self, Listing, Proposal};
use longhaul_core::trust::{FileKind, FolderFile, folder_hash};
use longhaul_core::workspace::TrustState;
use longhaul_events::Channel;
use longhaul_exec::sandbox::{Level, Sandbox, probe};

use crate::commands::workspace::TrustRequest;
use crate::error::Error;
use crate::system::System;
use crate::terminal;
use crate::workflows::trust_of;
use crate::workspaces::{self, Located};

/// No manifest is longer.
const LARGEST_FILE_BYTES: u64 = 1 << 20;
const CONFIG: &str = "config.yml";
/// Where scripts are usually kept, beside the top.
const SCRIPT_FOLDERS: [&str; 3] = ["tests", "test", "scripts"];

/// What was found in a repository, and what its settings could be.
#[derive(Debug, Clone)]
pub struct Survey {
    /// Where the settings go.
    pub path: PathBuf,
    pub name: String,
    pub proposal: Proposal,
    pub text: String,
    /// The files of `.longhaul/` that are there already.
    pub present: Vec<String>,
    /// Whether one of them is the file of settings, which is left as it is.
    pub is_configured: bool,
    pub trust: TrustState,
    /// Agents on the path.
    pub agents: Vec<String>,
    /// The strongest walls that can be put up here.
    pub walls: &'static str,
}

/// What became of a survey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    pub wrote: bool,
    pub registered: bool,
    pub trust: TrustState,
}

impl System {
    /// Looks at the repository of the current folder; changes nothing.
    pub fn survey(&self) -> Result<Survey, Error> {
        let (located, checkout) = self.own_checkout()?;
        let (files, _) = workspaces::folder_files(&located.repository)?;
        let proposal = init::propose(&listing(&located, &checkout)?);
        let mut present: Vec<String> =
            files.iter().map(|file| String::from_utf8_lossy(&file.path).into_owned()).collect();
        present.sort();
        let path = checkout.join(".longhaul").join(CONFIG);
        let text = init::config_text(&proposal);
        longhaul_core::config::parse_file(&path.display().to_string(), &text)?;
        Ok(Survey {
            name: located.default_name(),
            is_configured: present.iter().any(|name| name == CONFIG),
            trust: trust_of(self, &located, &files)?,
            agents: self.agent_programs(&self.roster()?),
            walls: walls(),
            path,
            proposal,
            text,
            present,
        })
    }

    /// Registers the repository, and writes the settings if there are none. Over nothing or over what is trusted, what a
    /// person at a terminal writes through us stays trusted, exactly as it was before plus what we write.
    pub fn begin_workspace(&self, survey: &Survey) -> Result<Begun, Error> {
        terminal::refuse_agents()?;
        let (located, checkout) = self.own_checkout()?;
        let (mut files, _) = workspaces::folder_files(&located.repository)?;
        let before = trust_of(self, &located, &files)?;
        let commands = self.commands()?;
        let change = commands.add_workspace(&checkout, None)?;
        let registered = !change.unchanged;
        if survey.is_configured {
            return Ok(Begun { wrote: false, registered, trust: before });
        }
        write_new(&survey.path, &survey.text)?;
        let bytes = survey.text.as_bytes().to_vec();
        files.push(FolderFile { path: CONFIG.into(), kind: FileKind::Regular, bytes });
        let may_stay =
            matches!(before, TrustState::Absent | TrustState::Trusted) && terminal::is_person_here();
        if !may_stay {
            return Ok(Begun { wrote: true, registered, trust: TrustState::Untrusted });
        }
        let hash = folder_hash(&files).expect("there is at least the file that was written");
        let (by, channel) = (terminal::user_name(), Channel::Terminal);
        let listed = files.iter().map(FolderFile::listed).collect();
        commands.trust_workspace(change.workspace.id, &TrustRequest { hash, files: listed, by, channel })?;
        Ok(Begun { wrote: true, registered, trust: TrustState::Trusted })
    }

    fn own_checkout(&self) -> Result<(Located, PathBuf), Error> {
        let located = workspaces::locate(self.directory())?;
        let repository = &located.repository;
        let checkout = repository.checkout.clone().or_else(|| repository.main_checkout.clone());
        let checkout = checkout.ok_or_else(|| Error::NoFilesHere(repository.common_dir.clone()))?;
        Ok((located, checkout))
    }
}

fn walls() -> &'static str {
    let ability = probe(&Sandbox::new(Level::Full, "/nonexistent").init);
    match (ability.of(Level::Full).works(), ability.of(Level::Reduced).works()) {
        (true, _) => "full",
        (false, true) => "reduced",
        (false, false) => "none",
    }
}

/// What the top folder holds. Links are not followed: what they lead to is not the repository's.
fn listing(located: &Located, checkout: &Path) -> Result<Listing, Error> {
    let unreadable = |source| Error::ReadFile { path: checkout.to_owned(), source };
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(checkout).map_err(unreadable)? {
        names.extend(entry.map_err(unreadable)?.file_name().into_string().ok());
    }
    names.sort();
    for folder in SCRIPT_FOLDERS {
        let entries = fs::read_dir(checkout.join(folder)).into_iter().flatten().flatten();
        let scripts = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.extend(scripts.map(|name| format!("{folder}/{name}")));
    }
    let text = |name: &&str| Some(((*name).to_owned(), read_file(&checkout.join(name))?));
    let texts: BTreeMap<String, String> = init::READ.iter().filter_map(text).collect();
    let environments = names.iter().filter(|name| is_environment(name, checkout));
    let is_new = |name: &&String| !longhaul_git::has_path(&located.repository, "HEAD", name).unwrap_or(false);
    let untracked_environments = environments.filter(is_new).cloned().collect();
    Ok(Listing { names, texts, untracked_environments })
}

fn is_environment(name: &str, checkout: &Path) -> bool {
    let examples = [".example", ".sample", ".template", ".dist"];
    (name == ".env" || name.starts_with(".env."))
        && !examples.iter().any(|ending| name.ends_with(ending))
        && fs::symlink_metadata(checkout.join(name)).is_ok_and(|found| found.is_file())
}

fn read_file(path: &Path) -> Option<String> {
    let found = fs::symlink_metadata(path).ok()?;
    if !found.is_file() || found.len() > LARGEST_FILE_BYTES {
        return None;
    }
    let mut text = Vec::new();
    fs::File::open(path).ok()?.take(LARGEST_FILE_BYTES).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// Whatever is there stays, also if somebody put it there a moment ago.
pub(crate) fn write_new(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::AlreadyExists => Error::ChangedMeanwhile,
        _ => Error::WriteFile { path: path.to_owned(), source },
    };
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)
}
