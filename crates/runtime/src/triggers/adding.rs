//! Changing a file of triggers for a person: every other byte stays, and what was trusted stays so.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use longhaul_core::trigger::{self, OFFERED, Offer, Owner, Start, Switch, is_id};
use longhaul_core::trust::{FileKind, FolderFile, folder_hash};
use longhaul_core::workspace::TrustState;
use longhaul_core::yaml_edit::{self, Edit, Scalar, Step};
use longhaul_events::Channel;

use super::error::TriggerError;
use super::found::{FILE, own_text};
use crate::commands::workspace::TrustRequest;
use crate::error::Error;
use crate::system::System;
use crate::terminal;
use crate::workflows::{Report, locate, trust_of};
use crate::workspaces::{self, Located};

const TRIGGERS: Step<'static> = Step::Key("triggers");
/// What a new file begins with.
const HEADING: &str =
    "# What begins tasks here while nobody is at the keyboard. See `longhaul trigger --help`.\n";

/// A trigger to be made from a template.
#[derive(Debug, Clone, Copy)]
pub struct NewTrigger<'a> {
    pub template: &'a str,
    /// Instead of the name of the template.
    pub id: Option<&'a str>,
    pub place: TriggerPlace,
}

/// Whose file it goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerPlace {
    /// `.longhaul/triggers.yml` of the checkout that the current folder is in.
    Workspace,
    /// The user's own, for the workspace that the current folder is in.
    User,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedTrigger {
    pub id: String,
    pub path: PathBuf,
    /// `None` where trust does not matter.
    pub trusted: Option<bool>,
    /// The secret that it is checked with and that nobody has set yet.
    pub missing_secret: Option<String>,
}

/// A file that is about to be changed.
struct Opened {
    path: PathBuf,
    text: Option<String>,
    owner: Owner,
    /// Where trust matters: the workspace, and all files of its folder.
    home: Option<(Located, Vec<FolderFile>)>,
}

impl System {
    /// Puts a trigger after the last one of a file.
    pub fn add_trigger(&self, new: &NewTrigger<'_>) -> Result<AddedTrigger, Error> {
        let offer = offer_of(new.template)?;
        let id = new.id.unwrap_or(offer.name);
        if !is_id(id) {
            return Err(TriggerError::BadId(id.to_owned()).into());
        }
        let taken = self.triggers()?;
        if let Ok(entry) = taken.find(id) {
            return Err(TriggerError::Taken { id: id.to_owned(), path: entry.file.path.clone() }.into());
        }
        let opened = self.open_triggers(new.place)?;
        let item = self.entry_of(offer, id, &opened)?;
        let trusted = self.change(&opened, |text| yaml_edit::append(text, &[TRIGGERS], &item))?;
        let missing_secret = match secret_of(&item, opened.owner) {
            Some(name) if self.key(&name)?.is_none() => Some(name),
            Some(_) | None => None,
        };
        Ok(AddedTrigger { id: id.to_owned(), path: opened.path, trusted, missing_secret })
    }

    /// Switches a trigger on or off in its file.
    pub fn switch_trigger(&self, id: &str, switch: Switch) -> Result<AddedTrigger, Error> {
        let triggers = self.triggers()?;
        let entry = triggers.find(id)?;
        let place = match entry.file.owner {
            Owner::Workspace => TriggerPlace::Workspace,
            Owner::User => TriggerPlace::User,
        };
        let opened = self.open_triggers(place)?;
        let text = opened.text.clone().unwrap_or_default();
        let (id, workspace) = (entry.trigger().id.clone(), entry.trigger().workspace.clone());
        let read = trigger::read(&text, opened.owner).triggers;
        let index = read.iter().position(|trigger| trigger.id == id && trigger.workspace == workspace);
        let index = index.ok_or_else(|| TriggerError::Changed { path: opened.path.clone() })?;
        let path = [TRIGGERS, Step::Index(index), Step::Key("enabled")];
        let flag = Scalar::Flag(switch == Switch::On);
        let trusted = self.change(&opened, |text| yaml_edit::set(text, &path, flag))?;
        Ok(AddedTrigger { id, path: opened.path, trusted, missing_secret: None })
    }

    fn open_triggers(&self, place: TriggerPlace) -> Result<Opened, Error> {
        if place == TriggerPlace::User {
            let path = self.places().triggers();
            let text = own_text(&path)?;
            return Ok(Opened { path, text, owner: Owner::User, home: None });
        }
        let located = locate(self.directory())?.ok_or(TriggerError::NoWorkspace)?;
        let repository = &located.repository;
        let checkout = repository.checkout.as_ref().or(repository.main_checkout.as_ref());
        let checkout = checkout.ok_or_else(|| Error::NoFilesHere(repository.common_dir.clone()))?;
        let path = checkout.join(".longhaul").join(FILE);
        let (files, _) = workspaces::folder_files(repository)?;
        let found = files.iter().find(|file| file.path == FILE.as_bytes());
        if found.is_some_and(|file| file.kind == FileKind::Symlink) {
            let problem = "it is a link, and only files can be trusted; put a real file there".to_owned();
            return Err(Error::Untrustable { path, problem });
        }
        let text = found.map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
        Ok(Opened { path, text, owner: Owner::Workspace, home: Some((located, files)) })
    }

    /// The entry of a template, with its own id, and where it works if its file does not say.
    fn entry_of(&self, offer: &Offer, id: &str, opened: &Opened) -> Result<String, Error> {
        let failed = |source| TriggerError::Edit { path: opened.path.clone(), source };
        let set = |text: String, key: &str, value: &str| {
            let edit = yaml_edit::set(&text, &[Step::Key(key)], Scalar::Text(value)).map_err(failed)?;
            Ok::<_, TriggerError>(edit.apply(&text))
        };
        let mut item = set(offer.text.to_owned(), "id", id)?;
        if opened.owner == Owner::User {
            locate(self.directory())?.ok_or(TriggerError::NoWorkspace)?;
            let (_, workspace) = self.find_workspace(None)?;
            item = set(item, "workspace", &workspace.name)?;
        }
        Ok(item)
    }

    /// Changes a file by one edit, unless it is wrong before or would be after. Says whether it is trusted.
    fn change(
        &self,
        opened: &Opened,
        edit: impl FnOnce(&str) -> Result<Edit, yaml_edit::Error>,
    ) -> Result<Option<bool>, Error> {
        let before = opened.text.clone().unwrap_or_else(|| HEADING.to_owned());
        refuse_errors(opened, &before)?;
        let edit =
            edit(&before).map_err(|source| TriggerError::Edit { path: opened.path.clone(), source })?;
        let after = edit.apply(&before);
        refuse_errors(opened, &after)?;
        let Some((located, files)) = &opened.home else {
            write(opened, &after)?;
            return Ok(None);
        };
        let trust = trust_of(self, located, files)?;
        write(opened, &after)?;
        let may_stay =
            matches!(trust, TrustState::Absent | TrustState::Trusted) && terminal::is_person_here();
        if may_stay {
            self.trust_changed(opened, files, after)?;
        }
        Ok(Some(may_stay))
    }

    /// The hash is of what was there before and of what we write, so nothing that others put there meanwhile is trusted
    /// with it.
    fn trust_changed(&self, opened: &Opened, files: &[FolderFile], after: String) -> Result<(), Error> {
        let mut files = files.to_vec();
        let kind = files
            .iter()
            .find(|file| file.path == FILE.as_bytes())
            .map_or(FileKind::Regular, |file| file.kind);
        files.retain(|file| file.path != FILE.as_bytes());
        files.push(FolderFile { path: FILE.into(), kind, bytes: after.into_bytes() });
        let hash = folder_hash(&files).expect("there is at least the file that was written");
        let folder = opened.path.parent().unwrap_or(&opened.path);
        let checkout = folder.parent().unwrap_or(folder);
        let commands = self.commands()?;
        let workspace = commands.add_workspace(checkout, None)?.workspace;
        let (by, channel) = (terminal::user_name(), Channel::Terminal);
        let listing = files.iter().map(FolderFile::listed).collect();
        commands.trust_workspace(workspace.id, &TrustRequest { hash, files: listing, by, channel })?;
        Ok(())
    }
}

fn offer_of(name: &str) -> Result<&'static Offer, TriggerError> {
    OFFERED.iter().find(|offer| offer.name == name).ok_or_else(|| {
        let known: Vec<String> = OFFERED.iter().map(|offer| format!("`{}`", offer.name)).collect();
        TriggerError::UnknownOffer { name: name.to_owned(), known: known.join(", ") }
    })
}

/// What requests to an entry are checked with.
fn secret_of(item: &str, owner: Owner) -> Option<String> {
    let file = yaml_edit::append("", &[TRIGGERS], item).ok()?.apply("");
    trigger::read(&file, owner).triggers.into_iter().find_map(|trigger| match trigger.start {
        Start::Webhook(webhook) => Some(webhook.secret.as_str().to_owned()),
        Start::Schedule(_) | Start::Github | Start::Hand => None,
    })
}

fn refuse_errors(opened: &Opened, text: &str) -> Result<(), TriggerError> {
    let path = opened.path.display().to_string();
    let shown = trigger::hide_literals(text);
    let read = trigger::read(text, opened.owner);
    let errors: Vec<String> = read
        .diagnostics
        .iter()
        .filter(|told| told.is_error())
        .map(|told| Report::new(&path, &shown, told).to_string())
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(TriggerError::Invalid { path, errors }) }
}

/// Puts the new text in place of the old one at once, if that is still what was read.
fn write(opened: &Opened, text: &str) -> Result<(), Error> {
    let path = &opened.path;
    let failed = |source| Error::WriteFile { path: path.clone(), source };
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    // What a link leads to is changed, and the link stays.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
    let folder = target.parent().unwrap_or(folder);
    let mut new = tempfile::Builder::new().prefix(".triggers").tempfile_in(folder).map_err(failed)?;
    new.write_all(text.as_bytes()).and_then(|()| new.as_file().sync_all()).map_err(failed)?;
    let changed = || TriggerError::Changed { path: path.clone() };
    if let Some(before) = &opened.text {
        let permissions = fs::metadata(&target).map_err(failed)?.permissions();
        new.as_file().set_permissions(permissions).map_err(failed)?;
        if fs::read(&target).map_err(failed)? != before.as_bytes() {
            return Err(changed().into());
        }
        new.persist(&target).map_err(|error| failed(error.error))?;
    } else {
        new.as_file().set_permissions(fs::Permissions::from_mode(0o644)).map_err(failed)?;
        new.persist_noclobber(&target).map_err(|error| match error.error.kind() {
            std::io::ErrorKind::AlreadyExists => changed().into(),
            _ => failed(error.error),
        })?;
    }
    Ok(())
}
