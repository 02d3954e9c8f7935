//! All workflows that can be seen from one folder, each with what is wrong with it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use longhaul_core::config::Config;
use longhaul_core::workflow::compile::{Source, Sources, compile};
use longhaul_core::workflow::diagnostic::{Diagnostic, Outcome};
use longhaul_core::workflow::document::{self, Node};
use longhaul_core::workflow::step::Check;
use longhaul_core::workflow::suggest::closest;
use longhaul_core::workflow::{Format, Workflow};
use longhaul_store::StoreError;

use super::file::{self, STDIN, syntax_of, syntax_of_text};
use super::found::{Found, Here, Origin, Shelves, stem};
use super::parallel;
use super::problem::Problem;
use crate::error::Error;
use crate::system::System;

/// What there is. Files were read once; each is compiled when somebody asks for it.
#[derive(Debug)]
pub struct Catalog {
    files: Vec<File>,
    /// What a workflow that starts may be made of.
    startable: Sources,
    /// With what is not trusted on top, for looking only.
    everything: Sources,
    problems: Vec<String>,
    /// What the workspace declares.
    checks: Vec<Check>,
    pub(super) here: Option<Here>,
}

#[derive(Debug)]
pub(super) struct File {
    pub(super) found: Found,
    id: String,
    /// The file of a stronger place that has the same id.
    shadowed_by: Option<usize>,
    /// The file of the same place that has the same id and comes first.
    twin_of: Option<usize>,
    shadows: Vec<usize>,
}

/// Whether a workflow can start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Ok,
    Invalid,
    /// It belongs to a workspace that nobody trusts as it is now.
    Untrusted,
}

/// A workflow as it is listed.
#[derive(Debug, Clone)]
pub struct Entry {
    pub id: String,
    pub name: String,
    pub version: String,
    pub category: Option<String>,
    pub about: String,
    pub format: Option<Format>,
    pub origin: Origin,
    pub path: String,
    pub state: State,
    pub diagnostics: Vec<Diagnostic>,
    /// The paths of the files that this one stands before.
    pub shadows: Vec<String>,
    pub shadowed_by: Option<String>,
    /// As far as it could be read.
    pub text: String,
    /// If it has no error. Being there does not mean that it may start; see `state`.
    pub workflow: Option<Arc<Workflow>>,
    pub(super) index: usize,
}

/// A file that somebody asked to have looked at.
#[derive(Debug, Clone)]
pub struct Checked {
    pub path: String,
    pub text: String,
    pub workflow: Option<Arc<Workflow>>,
    pub diagnostics: Vec<Diagnostic>,
}

impl Catalog {
    pub(super) fn load(system: &System) -> Result<Self, Error> {
        let Shelves { files, mut problems, here } = Shelves::look(system)?;
        let config = match system.config() {
            // Nothing can be started then, but what there is can be looked at.
            Err(problem @ Error::Store(StoreError::NotWritable { .. })) => {
                problems.push(problem.to_string());
                system.config_outside_workspaces()?
            }
            other => other?,
        };
        let Config { bindings, checks, .. } = config;
        let files = arranged(files);
        let library = |wanted: &dyn Fn(&File) -> bool| {
            let mut library = BTreeMap::new();
            // The strongest last, so that it stays.
            for file in files.iter().rev().filter(|file| wanted(file)) {
                if let Ok(text) = &file.found.text {
                    library.insert(file.id.clone(), source(&file.found, text));
                }
            }
            Sources { library, bindings: bindings.clone() }
        };
        let startable = library(&|file| file.found.trusted && file.twin_of.is_none());
        let everything = library(&|file| file.twin_of.is_none());
        Ok(Self { files, startable, everything, problems, checks, here })
    }

    /// Places that could not be looked into, in words.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// All of them by id, the strongest of each id first.
    pub fn entries(&self) -> Vec<Entry> {
        let indices: Vec<usize> = (0..self.files.len()).collect();
        let mut entries = parallel::map(&indices, |index| self.entry(*index));
        entries.sort_by(|one, other| (&one.id, one.index).cmp(&(&other.id, other.index)));
        entries
    }

    /// The workflow that an id names: the strongest that may start, else the one that may not, with the reason.
    pub fn find(&self, id: &str) -> Result<Entry, Error> {
        let mut named = self.files.iter().enumerate().filter(|(_, file)| file.id == id && !file.is_hidden());
        let first = named.clone().next();
        match named.find(|(_, file)| file.found.trusted).or(first) {
            Some((index, _)) => Ok(self.entry(index)),
            None => Err(self.unknown(id).into()),
        }
    }

    /// A workflow by its id, or a file by its path.
    pub fn find_or_read(&self, text: &str) -> Result<Entry, Error> {
        match is_path(text).then(|| self.check(&[text]).pop()).flatten() {
            Some(checked) => Ok(checked.into_entry()),
            None => self.find(text),
        }
    }

    /// Files that may use one another as well as what is in the catalog. `-` is standard input.
    pub fn check(&self, paths: &[&str]) -> Vec<Checked> {
        let read: Vec<Found> = paths.iter().map(|path| self.asked(path)).collect();
        let mut sources = self.everything.clone();
        for (found, heading) in read.iter().zip(parallel::map(&read, heading)) {
            if let Ok(text) = &found.text {
                sources.library.insert(heading.id, source(found, text));
            }
        }
        parallel::map(&read, |found| checked(found, &sources))
    }

    /// The same, with what would not work in the workspace that one stands in.
    pub fn check_here(&self, paths: &[&str]) -> Vec<Checked> {
        let mut all = self.check(paths);
        if self.here.is_some() {
            all.iter_mut().for_each(|checked| checked.miss_checks(&self.checks));
        }
        all
    }

    /// What a text names: a file that is there or looks like one, else a workflow of the catalog.
    fn asked(&self, text: &str) -> Found {
        let known = self.files.iter().find(|file| file.id == text && !file.is_hidden());
        match known {
            Some(file) if !is_path(text) && !Path::new(text).exists() => file.found.clone(),
            Some(_) | None => named(text),
        }
    }

    pub(super) fn file(&self, index: usize) -> &File {
        &self.files[index]
    }

    /// The file of the catalog that lies at this very path.
    pub(super) fn at(&self, path: &Path) -> Option<Entry> {
        let lies_there = |file: &File| match file.found.origin {
            Origin::Workspace | Origin::User => {
                Path::new(&file.found.path).canonicalize().is_ok_and(|found| found == path)
            }
            Origin::Git(_) | Origin::Bundled | Origin::File => false,
        };
        self.files.iter().position(lies_there).map(|index| self.entry(index))
    }

    /// The file with this id that would have been taken if it were trusted.
    pub(super) fn untrusted(&self, id: &str) -> Option<&str> {
        let passed_over = self.files.iter().find(|file| file.id == id && !file.found.trusted);
        passed_over.map(|file| &*file.found.path)
    }

    pub(super) fn unknown(&self, id: &str) -> Problem {
        let known = self.files.iter().map(|file| &*file.id);
        Problem::Unknown { id: id.to_owned(), meant: closest(id, known).map(str::to_owned) }
    }

    fn entry(&self, index: usize) -> Entry {
        let file = &self.files[index];
        let sources = if file.found.trusted { &self.startable } else { &self.everything };
        let mut checked = checked(&file.found, sources);
        if let Some(first) = file.twin_of {
            checked.workflow = None;
            checked.diagnostics.insert(0, twin(&self.files[first], &file.id));
        }
        let state = match (file.found.trusted, &checked.workflow) {
            (false, _) => State::Untrusted,
            (true, Some(_)) => State::Ok,
            (true, None) => State::Invalid,
        };
        let path_of = |index: &usize| self.files[*index].found.path.clone();
        Entry {
            origin: file.found.origin.clone(),
            state,
            shadows: file.shadows.iter().map(path_of).collect(),
            shadowed_by: file.shadowed_by.as_ref().map(path_of),
            index,
            ..checked.into_entry()
        }
    }
}

impl File {
    fn is_hidden(&self) -> bool {
        self.shadowed_by.is_some() || self.twin_of.is_some()
    }
}

impl Checked {
    /// Warns of checks that the workspace does not declare.
    fn miss_checks(&mut self, checks: &[Check]) {
        let Some(workflow) = &self.workflow else { return };
        let missing = Workflow::clone(workflow).pin_checks(checks);
        let syntax = syntax_of(Path::new(&self.path)).unwrap_or_else(|| syntax_of_text(&self.text));
        let root = document::parse(&self.text, syntax).ok();
        for missing in missing {
            let span = root.as_ref().and_then(|root| run_of(root, &missing.step)).unwrap_or(0..0);
            let warning = Diagnostic::warning(span, missing.said());
            self.diagnostics.push(warning.fix("declare them under `checks:` in `.longhaul/config.yml`"));
        }
    }

    fn into_entry(self) -> Entry {
        let heading = Heading::of(&self);
        Entry {
            id: heading.id,
            name: heading.name,
            version: heading.version,
            category: heading.category,
            about: heading.about,
            format: heading.format,
            origin: Origin::File,
            state: if self.workflow.is_some() { State::Ok } else { State::Invalid },
            path: self.path,
            diagnostics: self.diagnostics,
            shadows: Vec::new(),
            shadowed_by: None,
            text: self.text,
            workflow: self.workflow,
            index: usize::MAX,
        }
    }
}

/// Where a step says what it runs.
fn run_of(node: &Node, step: &str) -> Option<Range<usize>> {
    let inner = || {
        let values = node.entries().iter().map(|(_, value)| value);
        values.chain(node.as_list().into_iter().flatten()).find_map(|value| run_of(value, step))
    };
    let is_it = node.get("id").and_then(Node::as_text) == Some(step);
    let place = || node.get("run").or_else(|| node.get("gate")).map(|run| run.span.clone());
    if is_it { place().or_else(inner) } else { inner() }
}

/// Whether a text names a file rather than a workflow.
pub(super) fn is_path(text: &str) -> bool {
    text == STDIN || text.contains('/') || syntax_of(Path::new(text)).is_some()
}

/// Finds out who stands before whom. Files come in the order of their places.
fn arranged(found: Vec<Found>) -> Vec<File> {
    let mut files: Vec<File> = Vec::new();
    let mut strongest: BTreeMap<String, usize> = BTreeMap::new();
    for found in found {
        let id = heading(&found).id;
        let (mut shadowed_by, mut twin_of) = (None, None);
        let index = files.len();
        match strongest.get(&id) {
            Some(first) if files[*first].found.origin == found.origin => twin_of = Some(*first),
            // What nobody trusts must not stand before what works.
            Some(first) if files[*first].found.trusted => {
                shadowed_by = Some(*first);
                files[*first].shadows.push(index);
            }
            Some(_) | None => {
                strongest.insert(id.clone(), index);
            }
        }
        files.push(File { found, id, shadowed_by, twin_of, shadows: Vec::new() });
    }
    files
}

fn twin(first: &File, id: &str) -> Diagnostic {
    let message = format!("the id `{id}` is used by `{}` too", first.found.path);
    Diagnostic::error(0..0, message).fix("give one of them another id")
}

fn source(found: &Found, text: &str) -> Source {
    Source { name: found.path.clone(), text: text.to_owned(), syntax: found.syntax }
}

fn checked(found: &Found, sources: &Sources) -> Checked {
    let path = found.path.clone();
    match &found.text {
        Err(problem) => {
            Checked { path, text: String::new(), workflow: None, diagnostics: vec![problem.diagnostic()] }
        }
        Ok(text) => {
            let Outcome { value, diagnostics } = compile(&source(found, text), sources);
            Checked { path, text: text.clone(), workflow: value.map(Arc::new), diagnostics }
        }
    }
}

/// A file that somebody named.
fn named(path: &str) -> Found {
    let text = if path == STDIN { file::read_text(std::io::stdin()) } else { file::read(Path::new(path)) };
    let by_text =
        || text.as_ref().map_or(longhaul_core::workflow::compile::Syntax::Yaml, |text| syntax_of_text(text));
    Found {
        origin: Origin::File,
        path: if path == STDIN { "standard input".to_owned() } else { path.to_owned() },
        stem: stem(Path::new(path)),
        syntax: syntax_of(Path::new(path)).unwrap_or_else(by_text),
        text,
        package: super::found::Package::Nowhere,
        trusted: false,
    }
}

/// What a file says about itself, also where it does not compile.
struct Heading {
    id: String,
    name: String,
    version: String,
    category: Option<String>,
    about: String,
    format: Option<Format>,
}

fn heading(found: &Found) -> Heading {
    // A bundled file is named after its id, so there is no need to read it for that.
    let text = found.text.as_ref().ok().filter(|_| found.origin != Origin::Bundled);
    let root = text.and_then(|text| document::parse(text, found.syntax).ok());
    Heading::read(root.as_ref(), &found.stem)
}

impl Heading {
    fn of(checked: &Checked) -> Self {
        let path = Path::new(&checked.path);
        let Some(workflow) = &checked.workflow else {
            let syntax = syntax_of(path).unwrap_or_else(|| syntax_of_text(&checked.text));
            return Self::read(document::parse(&checked.text, syntax).ok().as_ref(), &stem(path));
        };
        let described = &workflow.catalog.description;
        Self {
            id: workflow.id.clone(),
            name: workflow.name.clone(),
            version: workflow.version.clone(),
            category: workflow.category.clone(),
            about: if workflow.about.is_empty() { described.clone() } else { workflow.about.clone() },
            format: Some(workflow.format),
        }
    }

    fn read(root: Option<&Node>, fallback: &str) -> Self {
        let text =
            |key: &str| root.and_then(|root| root.get(key)?.as_text()).map(|text| text.trim().to_owned());
        let native = root.map(|root| root.get("longhaul").is_some());
        Self {
            id: text("id").filter(|id| !id.is_empty()).unwrap_or_else(|| fallback.to_owned()),
            name: text("name").unwrap_or_default(),
            version: text("version").unwrap_or_default(),
            category: text("category"),
            about: text("about").or_else(|| text("description")).unwrap_or_default(),
            format: native.map(|native| if native { Format::Native } else { Format::WorkRail }),
        }
    }
}
