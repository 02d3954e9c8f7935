//! From what a person named to a workflow that may start.

use std::path::Path;
use std::sync::Arc;

use longhaul_core::workflow::Workflow;
use longhaul_core::workflow::diagnostic::Severity;
use longhaul_core::workspace::TrustState;

use super::catalog::{Catalog, Entry, State, is_path};
use super::found::{Origin, Package, locate, trust_of};
use super::problem::Problem;
use super::references::{self, Roots};
use super::report::Report;
use super::{Unreadable, file};
use crate::error::Error;
use crate::system::System;
use crate::workspaces;

/// A workflow that may start, and what whoever starts it should know.
#[derive(Debug, Clone)]
pub struct Startable {
    pub workflow: Arc<Workflow>,
    pub warnings: Vec<String>,
    pub origin: Origin,
    pub path: String,
}

impl System {
    /// The workflow with this id, or the one in this file.
    pub fn workflow_for_start(&self, text: &str) -> Result<Startable, Error> {
        let catalog = self.catalog()?;
        if is_path(text) { self.file_for_start(&catalog, text) } else { by_id(&catalog, text) }
    }

    fn file_for_start(&self, catalog: &Catalog, text: &str) -> Result<Startable, Error> {
        let unreadable = |problem| Problem::Unreadable { path: text.to_owned(), problem };
        let path = self.directory().join(text);
        let path = path.canonicalize().map_err(|error| unreadable(Unreadable::from(error)))?;
        if let Some(entry) = catalog.at(&path) {
            return startable(catalog, &entry);
        }
        self.refuse_untrusted(catalog, &path, text)?;
        file::read(&path).map_err(unreadable)?;
        let entry = catalog.find_or_read(&path.display().to_string())?;
        let folder = path.parent().unwrap_or(&path).to_owned();
        finished(catalog, &entry, &Package::Folder(folder))
    }

    /// A file starts only where a person trusts the workspace that it starts in, and the one that it lies in.
    fn refuse_untrusted(&self, catalog: &Catalog, path: &Path, shown: &str) -> Result<(), Error> {
        let (shown, folder) = (shown.to_owned(), self.places().workflows());
        let Some(here) = &catalog.here else {
            return Err(Problem::FileOutsideGit { path: shown, folder }.into());
        };
        let judge = |trust: TrustState, checkout: &Path| {
            let (path, checkout, folder) = (shown.clone(), checkout.to_owned(), folder.clone());
            match trust {
                TrustState::Trusted => Ok(()),
                // There is nothing to trust, so whoever is sent there comes back with nothing.
                TrustState::Absent => Err(Problem::FileWithoutFolder { path, checkout, folder }),
                TrustState::Untrusted | TrustState::Changed => {
                    Err(Problem::FileInUntrusted { path, checkout, folder })
                }
            }
        };
        judge(here.trust, &here.checkout)?;
        let Some(around) = locate(path)? else { return Ok(()) };
        let (files, _) = workspaces::folder_files(&around.repository)?;
        Ok(judge(trust_of(self, &around, &files)?, path.parent().unwrap_or(path))?)
    }
}

impl Catalog {
    /// A workflow that may start, for whoever leads to it.
    pub(crate) fn startable(&self, id: &str) -> Result<Arc<Workflow>, Error> {
        by_id(self, id).map(|found| found.workflow)
    }
}

fn by_id(catalog: &Catalog, id: &str) -> Result<Startable, Error> {
    let entry = catalog.find(id)?;
    let mut found = startable(catalog, &entry)?;
    let passed_over = catalog.untrusted(id);
    found.warnings.extend(passed_over.map(|path| {
        format!(
            "`{path}` has the same id and is not trusted, so `{}` was taken; run `longhaul workspace trust`",
            entry.path
        )
    }));
    Ok(found)
}

fn startable(catalog: &Catalog, entry: &Entry) -> Result<Startable, Error> {
    if entry.state == State::Untrusted {
        let checkout = catalog.here.as_ref().map(|here| here.checkout.clone()).unwrap_or_default();
        return Err(Problem::Untrusted { id: entry.id.clone(), checkout }.into());
    }
    finished(catalog, entry, &catalog.file(entry.index).found.package)
}

fn finished(catalog: &Catalog, entry: &Entry, package: &Package) -> Result<Startable, Error> {
    let said = |severity: Severity| {
        let wanted = entry.diagnostics.iter().filter(move |diagnostic| diagnostic.severity == severity);
        wanted
            .map(|diagnostic| Report::new(&entry.path, &entry.text, diagnostic).to_string())
            .collect::<Vec<_>>()
    };
    let Some(workflow) = &entry.workflow else {
        return Err(Problem::Invalid { path: entry.path.clone(), errors: said(Severity::Error) }.into());
    };
    let workspace = catalog.here.as_ref().map(|here| here.checkout.as_path());
    let mut warnings = said(Severity::Warning);
    warnings.extend(references::missing(workflow, &Roots { workspace, package }));
    Ok(Startable {
        workflow: Arc::clone(workflow),
        warnings,
        origin: entry.origin.clone(),
        path: entry.path.clone(),
    })
}
