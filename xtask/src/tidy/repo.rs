//! The repository as one value: every file in git, the Rust ones parsed, and the packages.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::packages::Packages;
use super::rust_file::RustFile;
use crate::error::Error;
use crate::process;

pub(crate) struct Repo {
    files: BTreeMap<String, String>,
    rust: Vec<RustFile>,
    packages: Packages,
}

impl Repo {
    /// Reads what git tracks or would add: a rule should be seen broken before the commit, not after it.
    pub(crate) fn load() -> Result<Self, Error> {
        let mut list = process::command("git");
        list.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let listed = process::stdout(&mut list)?;
        let mut files = BTreeMap::new();
        for path in String::from_utf8_lossy(&listed).split_terminator('\0') {
            if let Some(text) = read(path)? {
                files.insert(path.to_owned(), text);
            }
        }
        Ok(Self::new(files, Packages::load()?))
    }

    /// A repository of these files, without any package.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let owned = files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned()));
        Self::new(owned.collect(), Packages::default())
    }

    #[cfg(test)]
    pub(crate) fn with_packages(self, packages: Packages) -> Self {
        Self { packages, ..self }
    }

    fn new(files: BTreeMap<String, String>, packages: Packages) -> Self {
        let sources = files.iter().filter(|(path, _)| is_rust(path));
        let mut rust: Vec<_> = sources.map(|(path, text)| RustFile::parse(path, text)).collect();
        let test_modules: Vec<_> = rust.iter().flat_map(RustFile::test_modules).collect();
        for file in &mut rust {
            file.claim(&test_modules);
        }
        Self { files, rust, packages }
    }

    /// Text of every file by its path from the root, with `/` on every platform.
    pub(crate) fn files(&self) -> &BTreeMap<String, String> {
        &self.files
    }

    /// Files below a folder, `folder` ending in `/`, with the rest of their path.
    pub(crate) fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files.iter().filter_map(move |(path, text)| Some((path.strip_prefix(folder)?, text.as_str())))
    }

    pub(crate) fn rust(&self) -> &[RustFile] {
        &self.rust
    }

    pub(crate) fn packages(&self) -> &Packages {
        &self.packages
    }
}

fn is_rust(path: &str) -> bool {
    let ours = ["crates/", "xtask/", "fuzz/"].iter().any(|folder| path.starts_with(folder));
    ours && Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

/// The text of a plain file. A path that is tracked but deleted, a link or a submodule has none.
fn read(path: &str) -> Result<Option<String>, Error> {
    let full = process::workspace_root().join(path);
    if !fs::symlink_metadata(&full).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(None);
    }
    let bytes = fs::read(&full).map_err(|source| Error::Read { path: full, source })?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
