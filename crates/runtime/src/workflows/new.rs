//! A new workflow file for a person to fill in. Never overwrites, and does not cost a workspace its trust.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use longhaul_core::trust::{FileKind, FolderFile, folder_hash};
use longhaul_core::workspace::TrustState;
use longhaul_events::Channel;

use super::found::trust_of;
use super::problem::Problem;
use crate::commands::workspace::TrustRequest;
use crate::error::Error;
use crate::system::System;
use crate::{terminal, workspaces};

const TEMPLATE: &str = include_str!("new/template.yml");

#[derive(Debug, Clone)]
pub struct NewWorkflow<'a> {
    pub id: &'a str,
    pub place: Where<'a>,
}

#[derive(Debug, Clone, Copy)]
pub enum Where<'a> {
    /// The user's own folder.
    User,
    /// `.longhaul/workflows/` of the checkout that the current folder is in.
    Workspace,
    Folder(&'a Path),
}

/// What was written, and whether it can start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    pub path: PathBuf,
    /// `None` where trust does not matter.
    pub trusted: Option<bool>,
}

/// Whether a text can be the id of a native workflow: `[a-z0-9-]+(\.[a-z0-9-]+)*`.
pub fn is_id(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    !text.starts_with('-') && text.len() <= 64 && text.split('.').all(part)
}

impl System {
    /// Writes a commented file that is valid as it is.
    pub fn new_workflow(&self, new: &NewWorkflow<'_>) -> Result<Created, Error> {
        if let Ok(entry) = self.catalog()?.find(new.id) {
            return Err(Problem::IdTaken { id: new.id.to_owned(), path: entry.path }.into());
        }
        let text = template(new.id);
        let name = format!("{}.yml", new.id);
        match new.place {
            Where::User => written(&self.places().workflows(), &name, &text),
            Where::Folder(folder) => written(&self.directory().join(folder), &name, &text),
            Where::Workspace => self.new_in_workspace(&name, &text),
        }
    }

    /// Over nothing or over what is trusted, what a person writes through us stays trusted. The hash is of what was
    /// there before and of what we write, so nothing that others put there meanwhile is trusted with it.
    fn new_in_workspace(&self, name: &str, text: &str) -> Result<Created, Error> {
        let located = workspaces::locate(self.directory())?;
        let repository = &located.repository;
        let checkout = repository.checkout.as_ref().or(repository.main_checkout.as_ref());
        let checkout = checkout.ok_or_else(|| Error::NothingToTrust(repository.common_dir.clone()))?;
        let (mut files, _) = workspaces::folder_files(repository)?;
        let before = trust_of(self, &located, &files)?;
        let created = written(&checkout.join(".longhaul/workflows"), name, text)?;
        let may_stay =
            matches!(before, TrustState::Absent | TrustState::Trusted) && terminal::is_person_here();
        if !may_stay {
            return Ok(Created { trusted: Some(false), ..created });
        }
        let path = format!("workflows/{name}").into_bytes();
        files.push(FolderFile { path, kind: FileKind::Regular, bytes: text.as_bytes().to_vec() });
        let hash = folder_hash(&files).expect("there is at least the file that was written");
        let commands = self.commands()?;
        let workspace = commands.add_workspace(checkout, None)?.workspace;
        let (by, channel) = (terminal::user_name(), Channel::Terminal);
        let listing = files.iter().map(FolderFile::listed).collect();
        commands.trust_workspace(workspace.id, &TrustRequest { hash, files: listing, by, channel })?;
        Ok(Created { trusted: Some(true), ..created })
    }
}

fn template(id: &str) -> String {
    let last = id.rsplit('.').next().unwrap_or(id).replace('-', " ");
    let mut letters = last.chars();
    let name: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    TEMPLATE.replace("__ID__", id).replace("__NAME__", &name)
}

fn written(folder: &Path, name: &str, text: &str) -> Result<Created, Error> {
    let path = folder.join(name);
    let failed = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::AlreadyExists => Problem::Exists { path: path.clone() },
        _ => Problem::Write { doing: "write", path: path.clone(), source },
    };
    fs::create_dir_all(folder).map_err(failed)?;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&path).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    Ok(Created { path, trusted: None })
}
