//! The files of each place, before anybody looks into them.

use std::path::{Path, PathBuf};

use longhaul_core::trust::{FileKind, FolderFile, folder_hash};
use longhaul_core::workflow::compile::Syntax;
use longhaul_core::workflow::library::BUNDLED;
use longhaul_core::workspace::TrustState;
use longhaul_git::Repository;
use longhaul_store::StoreError;

use super::file::{self, Links, Unreadable, syntax_of};
use super::sources;
use crate::error::Error;
use crate::system::System;
use crate::workspaces::{self, Located};

const FOLDER: &str = "workflows";

/// Where a workflow comes from; the earlier wins over the later.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// `.longhaul/workflows/` of the checkout.
    Workspace,
    /// `workflows/` of the user's config folder.
    User,
    /// A git source that a person added, by its name.
    Git(String),
    /// In the binary.
    Bundled,
    /// A file that was named, in none of the places above.
    File,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Workspace => f.write_str("workspace"),
            Self::User => f.write_str("user"),
            Self::Git(name) => write!(f, "git:{name}"),
            Self::Bundled => f.write_str("bundled"),
            Self::File => f.write_str("file"),
        }
    }
}

/// What references that are relative to the package begin at.
#[derive(Debug, Clone)]
pub(crate) enum Package {
    Folder(PathBuf),
    Commit(Repository, String),
    Nowhere,
}

/// One file, read or not.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) origin: Origin,
    /// As people are shown it.
    pub(crate) path: String,
    pub(crate) stem: String,
    pub(crate) syntax: Syntax,
    pub(crate) text: Result<String, Unreadable>,
    pub(crate) package: Package,
    /// Whether a person answers for it.
    pub(crate) trusted: bool,
}

/// All files, and the places that could not be looked into.
#[derive(Debug, Default)]
pub(crate) struct Shelves {
    pub(crate) files: Vec<Found>,
    pub(crate) problems: Vec<String>,
    /// The checkout that the current folder is in, and how far it is trusted.
    pub(crate) here: Option<Here>,
}

#[derive(Debug)]
pub(crate) struct Here {
    pub(crate) checkout: PathBuf,
    pub(crate) trust: TrustState,
}

impl Shelves {
    pub(crate) fn look(system: &System) -> Result<Self, Error> {
        let mut shelves = Self::default();
        match locate(system.directory()) {
            Ok(Some(located)) => shelves.workspace(system, &located)?,
            Ok(None) => {}
            Err(problem) => shelves.problems.push(problem.to_string()),
        }
        shelves.user(&system.places().workflows());
        shelves.git(system);
        shelves.bundled();
        Ok(shelves)
    }

    fn workspace(&mut self, system: &System, located: &Located) -> Result<(), Error> {
        let repository = &located.repository;
        let seen = repository.checkout.as_ref().or(repository.main_checkout.as_ref());
        let top = seen.unwrap_or(&repository.common_dir).clone();
        let trust = match system.folder_files(repository) {
            Ok((files, _)) => {
                let trust = match trust_of(system, located, &files) {
                    // Who trusts what is in a store that cannot be looked into: then nobody does.
                    Err(Error::Store(StoreError::NotWritable { .. })) => TrustState::Untrusted,
                    other => other?,
                };
                let workflows = files.into_iter().filter_map(|file| workspace_file(&top, file, trust));
                let mut workflows: Vec<Found> = workflows.collect();
                workflows.sort_by(|one, other| one.path.cmp(&other.path));
                self.files.extend(workflows);
                trust
            }
            // What cannot be hashed cannot be trusted, but it can be listed.
            Err(problem) => {
                self.problems.push(problem.to_string());
                self.folder(&Shelf {
                    origin: Origin::Workspace,
                    folder: &top.join(".longhaul").join(FOLDER),
                    links: Links::Refused,
                });
                TrustState::Untrusted
            }
        };
        self.here = Some(Here { checkout: top, trust });
        Ok(())
    }

    fn user(&mut self, folder: &Path) {
        self.folder(&Shelf { origin: Origin::User, folder, links: Links::Followed });
    }

    fn folder(&mut self, shelf: &Shelf<'_>) {
        let Shelf { origin, folder, links } = shelf;
        match file::below(folder, *links) {
            Err(problem) => self.problems.push(format!("`{}`: {problem}", folder.display())),
            Ok(files) => self.files.extend(files.into_iter().map(|(relative, text)| Found {
                origin: origin.clone(),
                path: folder.join(&relative).display().to_string(),
                stem: stem(&relative),
                syntax: syntax_of(&relative).unwrap_or(Syntax::Yaml),
                text,
                package: Package::Folder((*folder).to_owned()),
                trusted: *origin == Origin::User,
            })),
        }
    }

    fn git(&mut self, system: &System) {
        let recorded = sources::recorded(system.places());
        match recorded {
            Err(problem) => self.problems.push(problem.to_string()),
            Ok(recorded) => {
                for source in recorded {
                    match sources::files(system.places(), &source) {
                        Ok(files) => self.files.extend(files),
                        Err(problem) => {
                            self.problems.push(format!("git source `{}`: {problem}", source.name));
                        }
                    }
                }
            }
        }
    }

    fn bundled(&mut self) {
        self.files.extend(BUNDLED.iter().map(|(name, text)| Found {
            origin: Origin::Bundled,
            path: format!("bundled:{name}"),
            stem: stem(Path::new(name)),
            syntax: Syntax::Yaml,
            text: Ok((*text).to_owned()),
            package: Package::Nowhere,
            trusted: true,
        }));
    }
}

struct Shelf<'a> {
    origin: Origin,
    folder: &'a Path,
    links: Links,
}

/// The repository that a path is in; `None` outside git.
pub(crate) fn locate(path: &Path) -> Result<Option<Located>, Error> {
    match workspaces::locate(path) {
        Ok(located) => Ok(Some(located)),
        Err(Error::Git(
            longhaul_git::Error::PathMissing { .. } | longhaul_git::Error::NotARepository { .. },
        )) => Ok(None),
        Err(error) => Err(error),
    }
}

/// How far a repository with these files in its `.longhaul/` is trusted. What is not registered is not.
pub(crate) fn trust_of(
    system: &System,
    located: &Located,
    files: &[FolderFile],
) -> Result<TrustState, Error> {
    let present = folder_hash(files);
    let workspace = match system.reader()? {
        Some(reader) => reader.workspace(located.id)?,
        None => None,
    };
    Ok(match (workspace, present) {
        (Some(workspace), present) => workspace.trust_state(present),
        (None, Some(_)) => TrustState::Untrusted,
        (None, None) => TrustState::Absent,
    })
}

/// A file of `.longhaul/workflows/`, from the very bytes that were hashed.
fn workspace_file(top: &Path, file: FolderFile, trust: TrustState) -> Option<Found> {
    let relative = PathBuf::from(String::from_utf8_lossy(&file.path).into_owned());
    let inner = relative.strip_prefix(FOLDER).ok()?;
    let hidden = inner.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."));
    let syntax = syntax_of(inner).filter(|_| !hidden)?;
    Some(Found {
        origin: Origin::Workspace,
        path: top.join(".longhaul").join(&relative).display().to_string(),
        stem: stem(inner),
        syntax,
        text: match file.kind {
            FileKind::Symlink => Err(Unreadable::Link),
            FileKind::Regular | FileKind::Executable => file::text(file.bytes),
        },
        package: Package::Folder(top.to_owned()),
        trusted: trust == TrustState::Trusted,
    })
}

/// What a file is called when it does not say so itself.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
