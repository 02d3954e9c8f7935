//! Git sources: repositories of workflows that a person added.
//!
//! Each is a bare clone of one commit in the data folder, and a line in a small file in the config folder. What counts
//! is the recorded commit: nothing changes before a person says `update`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use longhaul_core::workflow::compile::Syntax;
use longhaul_git::{FolderEntry, Mode, Remote, Repository};
use serde::{Deserialize, Serialize};

use super::file::{self, Unreadable, syntax_of};
use super::found::{Found, Origin, Package, stem};
use super::problem::Problem;
use crate::error::Error;
use crate::places::Places;
use crate::system::System;
use crate::terminal;

/// Where a repository keeps workflows for others.
const FOLDERS: [&str; 2] = ["workflows", ".longhaul/workflows"];

/// A repository of workflows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitSource {
    pub name: String,
    pub address: String,
    /// A branch, a tag or a commit; without it, the repository's own head.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// What counts until it is updated.
    pub commit: String,
    pub added_by: String,
}

#[derive(Debug, Clone)]
pub struct NewSource<'a> {
    pub address: &'a str,
    pub name: Option<&'a str>,
    pub reference: Option<&'a str>,
}

/// A source after an update, with the commit that counted before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdatedSource {
    pub source: GitSource,
    pub before: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    sources: Vec<GitSource>,
}

impl System {
    pub fn git_sources(&self) -> Result<Vec<GitSource>, Error> {
        Ok(recorded(self.places())?)
    }

    /// Fetches a repository of workflows and remembers it. Whoever may do this decides what starts here.
    pub fn add_git_source(&self, new: &NewSource<'_>) -> Result<GitSource, Error> {
        refuse_agents()?;
        let address = self.address(new.address)?;
        let name = new.name.map_or_else(|| name_in(&address), str::to_owned);
        if !is_name(&name) {
            return Err(Problem::SourceName { name }.into());
        }
        let places = self.places();
        let _alone = locked(places)?;
        let mut record = recorded(places)?;
        if record.iter().any(|source| source.name == name) {
            return Err(Problem::SourceExists { name }.into());
        }
        let commit = cloned(places, &name, &Remote::new(&address, new.reference)?)?;
        let reference = new.reference.map(str::to_owned);
        let source = GitSource { name, address, reference, commit, added_by: terminal::user_name() };
        record.push(source.clone());
        write(places, record)?;
        Ok(source)
    }

    pub fn remove_git_source(&self, name: &str) -> Result<GitSource, Error> {
        refuse_agents()?;
        let places = self.places();
        let _alone = locked(places)?;
        let mut record = recorded(places)?;
        let index = position(&record, name)?;
        let removed = record.remove(index);
        write(places, record)?;
        let folder = clone_of(places, name);
        fs::remove_dir_all(&folder).or_else(unless_missing).map_err(writing("remove", &folder))?;
        Ok(removed)
    }

    /// Fetches again: the sources named, or all of them.
    pub fn update_git_sources(&self, names: &[String]) -> Result<Vec<UpdatedSource>, Error> {
        refuse_agents()?;
        let places = self.places();
        let _alone = locked(places)?;
        let mut record = recorded(places)?;
        let wanted: Vec<usize> = match names {
            [] => (0..record.len()).collect(),
            names => names.iter().map(|name| position(&record, name)).collect::<Result<_, _>>()?,
        };
        let mut updated = Vec::new();
        for index in wanted {
            let source = &mut record[index];
            let remote = Remote::new(&source.address, source.reference.as_deref())?;
            let (repository, commit) = longhaul_git::fetch(&remote, &clone_of(places, &source.name))?;
            refuse_empty(&repository, commit.as_str(), &source.address)?;
            let before = std::mem::replace(&mut source.commit, commit.as_str().to_owned());
            updated.push(UpdatedSource { source: source.clone(), before });
        }
        write(places, record)?;
        Ok(updated)
    }

    /// A path is stored whole, because it will be used from other folders.
    fn address(&self, text: &str) -> Result<String, Error> {
        let authority = text.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or_default());
        let user = authority.and_then(|authority| authority.rsplit_once('@')).map(|(user, _)| user);
        if user.is_some_and(|user| user.contains(':')) {
            return Err(Problem::PasswordInAddress.into());
        }
        match self.directory().join(text).canonicalize() {
            Ok(path) => path.to_str().map(str::to_owned).ok_or(Error::PathNotText(path)),
            Err(_) => Ok(text.to_owned()),
        }
    }
}

fn refuse_agents() -> Result<(), Error> {
    if terminal::is_under_agent() { Err(Error::UnderAgent) } else { Ok(()) }
}

/// What was added, by name.
pub(super) fn recorded(places: &Places) -> Result<Vec<GitSource>, Problem> {
    let path = places.git_sources();
    let damaged = |problem: String| Problem::SourcesFile { path: path.clone(), problem };
    let text = match file::read(&path) {
        Err(Unreadable::Missing) => return Ok(Vec::new()),
        text => text.map_err(|problem| damaged(problem.to_string()))?,
    };
    let mut record: Record = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    if let Some(bad) = record.sources.iter().find(|source| !is_name(&source.name)) {
        return Err(damaged(format!("`{}` is no name", bad.name)));
    }
    record.sources.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(record.sources)
}

/// The workflow files of a source, as they were at the recorded commit.
pub(super) fn files(places: &Places, source: &GitSource) -> Result<Vec<Found>, longhaul_git::Error> {
    let repository = Repository::bare(clone_of(places, &source.name));
    let package = Package::Commit(repository.clone(), source.commit.clone());
    let mut found = Vec::new();
    for (path, entry) in workflow_files(&repository, &source.commit)? {
        found.push(Found {
            origin: Origin::Git(source.name.clone()),
            path: format!("{}:{}", source.name, path.display()),
            stem: stem(&path),
            syntax: syntax_of(&path).unwrap_or(Syntax::Yaml),
            text: match entry.mode {
                Mode::Symlink => Err(Unreadable::Link),
                Mode::Regular | Mode::Executable => file::text(entry.bytes),
            },
            package: package.clone(),
            trusted: true,
        });
    }
    Ok(found)
}

fn workflow_files(
    repository: &Repository,
    commit: &str,
) -> Result<Vec<(PathBuf, FolderEntry)>, longhaul_git::Error> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        let entries = longhaul_git::read_folder(repository, commit, folder)?;
        let workflows = entries.into_iter().filter(|entry| syntax_of(&entry.path).is_some());
        found.extend(workflows.map(|entry| (Path::new(folder).join(&entry.path), entry)));
    }
    Ok(found)
}

fn refuse_empty(repository: &Repository, commit: &str, address: &str) -> Result<(), Error> {
    if workflow_files(repository, commit)?.is_empty() {
        return Err(Problem::NothingInSource { address: address.to_owned() }.into());
    }
    Ok(())
}

/// Fetches into a folder that gets its name only when all of it is there.
fn cloned(places: &Places, name: &str, remote: &Remote) -> Result<String, Error> {
    let folder = clone_of(places, name);
    let around = places.data.join("sources");
    fs::create_dir_all(&around).map_err(writing("make", &around))?;
    let fresh =
        tempfile::Builder::new().prefix(".new-").tempdir_in(&around).map_err(writing("make", &around))?;
    let (repository, commit) = longhaul_git::fetch(remote, fresh.path())?;
    refuse_empty(&repository, commit.as_str(), remote.address())?;
    // Left behind by one that died before it was recorded.
    fs::remove_dir_all(&folder).or_else(unless_missing).map_err(writing("remove", &folder))?;
    fs::rename(fresh.keep(), &folder).map_err(writing("make", &folder))?;
    Ok(commit.as_str().to_owned())
}

fn clone_of(places: &Places, name: &str) -> PathBuf {
    places.data.join("sources").join(format!("{name}.git"))
}

fn position(record: &[GitSource], name: &str) -> Result<usize, Problem> {
    let found = record.iter().position(|source| source.name == name);
    found.ok_or_else(|| Problem::UnknownSource { name: name.to_owned() })
}

/// It becomes a folder's name, and part of what is shown before a path.
fn is_name(text: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.len() <= 64
        && text.chars().all(fits)
}

/// The last part of an address: `flows` of `https://example.org/team/flows.git`.
fn name_in(address: &str) -> String {
    let trimmed = address.trim_end_matches('/');
    let last = trimmed.rsplit(['/', ':']).next().unwrap_or(trimmed);
    last.strip_suffix(".git").unwrap_or(last).to_owned()
}

/// One writer at a time; given back when the file is closed.
fn locked(places: &Places) -> Result<fs::File, Problem> {
    let path = places.config.join("sources.lock");
    fs::create_dir_all(&places.config).map_err(writing("make", &places.config))?;
    let file = fs::File::create(&path).map_err(writing("open", &path))?;
    file.lock().map_err(writing("lock", &path))?;
    Ok(file)
}

/// Complete, or not changed at all.
fn write(places: &Places, sources: Vec<GitSource>) -> Result<(), Problem> {
    let path = places.git_sources();
    let failed = || writing("write", &path);
    let mut text = serde_json::to_vec_pretty(&Record { sources }).expect("sources are plain texts");
    text.push(b'\n');
    let mut file = tempfile::NamedTempFile::new_in(&places.config).map_err(failed())?;
    file.write_all(&text).and_then(|()| file.as_file().sync_all()).map_err(failed())?;
    file.persist(&path).map_err(|error| error.error).map_err(failed())?;
    Ok(())
}

fn writing(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Problem {
    let path = path.to_owned();
    move |source| Problem::Write { doing, path, source }
}

fn unless_missing(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_named_after_the_last_part_of_its_address() {
        for (address, name) in [
            ("https://example.org/team/flows.git", "flows"),
            ("git@example.org:flows", "flows"),
            ("/srv/flows/", "flows"),
        ] {
            assert_eq!(name_in(address), name, "{address}");
        }
    }

    #[test]
    fn a_name_cannot_lead_elsewhere() {
        for name in ["", ".", "..", ".git", "a/b", "-x", "a b", "ä"] {
            assert!(!is_name(name), "{name:?}");
        }
        assert!(is_name("team-flows_2.0"));
    }
}
