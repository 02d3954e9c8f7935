//! Reading the files of triggers from where they may stand.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use longhaul_core::trigger::{self, Owner};
use longhaul_core::trust::FileKind;
use longhaul_core::workflow::diagnostic::Diagnostic;
use longhaul_core::workspace::{TrustState, Workspace};
use longhaul_events::WorkspaceId;

use super::{Placed, TriggerFile, Triggers};
use crate::error::Error;
use crate::reader::Reader;
use crate::system::System;
use crate::workflows::{locate, trust_of};
use crate::workspaces::{self, Located};

/// In `.longhaul/`, and in the user's config folder.
pub(super) const FILE: &str = "triggers.yml";

impl System {
    /// The triggers that can be seen from here: those of the checkout that the current folder is in, and the user's own.
    pub fn triggers(&self) -> Result<Triggers, Error> {
        let reader = self.reader()?;
        let mut triggers = Triggers::default();
        match locate(self.directory()) {
            Ok(Some(located)) => triggers.take(self, &located, reader.as_ref()),
            Ok(None) => {}
            Err(problem) => triggers.problems.push(problem.to_string()),
        }
        triggers.take_own(self, reader.as_ref())?;
        triggers.refuse_clashes();
        Ok(triggers)
    }

    /// The triggers of all registered workspaces, each from its registered checkout, and the user's own. A workspace that
    /// cannot be looked at is a problem and no more.
    pub fn all_triggers(&self) -> Result<Triggers, Error> {
        let mut triggers = Triggers::default();
        let reader = self.reader()?;
        let registered = reader.as_ref().map(Reader::workspace_rows).transpose()?.unwrap_or_default();
        for workspace in registered.iter().map(|row| &row.workspace).filter(|workspace| !workspace.removed) {
            let place = workspace.checkout.as_ref().unwrap_or(&workspace.common_dir);
            match workspaces::locate(Path::new(place)) {
                Ok(located) => triggers.take(self, &located, reader.as_ref()),
                Err(problem) => triggers.problems.push(format!("workspace `{}`: {problem}", workspace.name)),
            }
        }
        triggers.take_own(self, reader.as_ref())?;
        triggers.refuse_clashes();
        Ok(triggers)
    }
}

impl Triggers {
    fn take(&mut self, system: &System, located: &Located, reader: Option<&Reader>) {
        match workspace_file(system, located, reader) {
            Ok(file) => self.files.extend(file),
            Err(problem) => self.problems.push(problem.to_string()),
        }
    }

    fn take_own(&mut self, system: &System, reader: Option<&Reader>) -> Result<(), Error> {
        let path = system.places().triggers();
        match own_text(&path) {
            Ok(Some(text)) => {
                let mut file = read(&path.display().to_string(), &text, Owner::User);
                file.place_own(reader)?;
                self.files.push(file);
            }
            Ok(None) => {}
            Err(problem) => self.problems.push(problem.to_string()),
        }
        Ok(())
    }

    /// Of two with one id in one workspace, nobody knows which is meant: the file that comes later is wrong.
    fn refuse_clashes(&mut self) {
        let mut taken: BTreeMap<(Option<WorkspaceId>, String, String), String> = BTreeMap::new();
        for file in &mut self.files {
            let mut clashes = Vec::new();
            for placed in &file.triggers {
                let (trigger, name) = (&placed.trigger, placed.workspace_name.clone());
                let key = (placed.workspace, name, trigger.id.clone());
                let earlier = taken.get(&key).filter(|path| **path != file.path).cloned();
                if let Some(earlier) = earlier {
                    let at = trigger.span.start..trigger.span.start;
                    let message = format!(
                        "there is a trigger `{}` for this workspace in `{earlier}` already",
                        trigger.id
                    );
                    clashes.push(Diagnostic::error(at, message).fix("give one of them another id"));
                } else {
                    taken.insert(key, file.path.clone());
                }
            }
            file.diagnostics.extend(clashes);
            file.diagnostics.sort_by_key(|told| (told.span.start, told.span.end));
        }
    }
}

impl TriggerFile {
    /// Finds the workspaces that the triggers of a user's file name.
    fn place_own(&mut self, reader: Option<&Reader>) -> Result<(), Error> {
        for placed in &mut self.triggers {
            let Some(name) = placed.trigger.workspace.clone() else { continue };
            let found = match reader.map(|reader| reader.find_workspace(&name)) {
                Some(Ok(workspace)) => Ok(workspace),
                Some(Err(
                    problem @ (Error::UnknownWorkspace(_) | Error::AmbiguousWorkspace(_) | Error::Git(_)),
                )) => Err(problem),
                Some(Err(error)) => return Err(error),
                None => Err(Error::UnknownWorkspace(name.clone())),
            };
            match found {
                Ok(workspace) => {
                    placed.workspace = Some(workspace.id);
                    placed.workspace_name = workspace.name;
                }
                Err(problem) => {
                    placed.workspace_name = name;
                    let at = placed.trigger.span.start..placed.trigger.span.start;
                    let fix = "register it with `longhaul workspace add PATH`, or name another";
                    self.diagnostics.push(Diagnostic::error(at, problem.to_string()).fix(fix));
                }
            }
        }
        Ok(())
    }
}

/// The file of a checkout, from the very bytes that were hashed.
fn workspace_file(
    system: &System,
    located: &Located,
    reader: Option<&Reader>,
) -> Result<Option<TriggerFile>, Error> {
    let (files, _) = workspaces::folder_files(&located.repository)?;
    let Some(found) = files.iter().find(|file| file.path == FILE.as_bytes()) else { return Ok(None) };
    let path = path_of(located);
    if found.kind == FileKind::Symlink {
        let problem = "it is a link, and only files can be trusted; put a real file there".to_owned();
        return Err(Error::Untrustable { path: path.into(), problem });
    }
    let trusted = trust_of(system, located, &files)? == TrustState::Trusted;
    let registered: Option<Workspace> =
        reader.map(|reader| reader.workspace(located.id)).transpose()?.flatten();
    let name = registered.as_ref().map_or_else(|| located.default_name(), |workspace| workspace.name.clone());
    let mut file = read(&path, &String::from_utf8_lossy(&found.bytes), Owner::Workspace);
    file.trusted = trusted;
    for placed in &mut file.triggers {
        placed.workspace = Some(located.id);
        placed.workspace_name.clone_from(&name);
    }
    Ok(Some(file))
}

fn path_of(located: &Located) -> String {
    let repository = &located.repository;
    let checkout = repository.checkout.as_ref().or(repository.main_checkout.as_ref());
    match checkout {
        Some(checkout) => checkout.join(".longhaul").join(FILE).display().to_string(),
        None => format!(".longhaul/{FILE} of HEAD in {}", repository.common_dir.display()),
    }
}

/// A file that nobody placed yet.
fn read(path: &str, text: &str, owner: Owner) -> TriggerFile {
    let read = trigger::read(text, owner);
    let placed = |trigger: trigger::Trigger| {
        let line = text[..trigger.span.start.min(text.len())].matches('\n').count() + 1;
        Placed { trigger, workspace: None, workspace_name: String::new(), line }
    };
    TriggerFile {
        owner,
        path: path.to_owned(),
        text: trigger::hide_literals(text),
        triggers: read.triggers.into_iter().map(placed).collect(),
        diagnostics: read.diagnostics,
        trusted: owner == Owner::User,
    }
}

/// The user's own file, if there is one.
pub(super) fn own_text(path: &Path) -> Result<Option<String>, Error> {
    // A pipe would keep us waiting for ever.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(Error::NotAFile { path: path.to_owned() });
    }
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::ReadFile { path: path.to_owned(), source }),
    }
}
