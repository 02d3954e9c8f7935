//! First settings for a repository, from what its top folder holds: checks, set-up commands, files to copy.
//!
//! Only what is plain to see is proposed: a wrong check is worse than none. Whoever calls reads the files.

mod checks;
mod setup;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;

pub use text::config_text;

/// Files whose text says more than their being there.
pub const READ: &[&str] = &[
    "Cargo.toml",
    "Makefile",
    "composer.json",
    "deno.json",
    "justfile",
    "makefile",
    "mix.exs",
    "package.json",
    "pyproject.toml",
    "pytest.ini",
];

/// What the top of a repository holds, as far as it matters here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Names of files and folders at the top, and of scripts where scripts are usually kept.
    pub names: Vec<String>,
    /// The texts of those of [`READ`] that are there.
    pub texts: BTreeMap<String, String>,
    /// Files for the environment that git does not know.
    pub untracked_environments: Vec<String>,
}

impl Listing {
    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    fn first<'a>(&self, names: &[&'a str]) -> Option<&'a str> {
        names.iter().find(|name| self.has(name)).copied()
    }
}

/// What the settings could be, each part with the file that it was read from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposal {
    pub languages: Vec<&'static str>,
    pub checks: Vec<ProposedCheck>,
    pub setup: Vec<ProposedCommand>,
    pub copy: Vec<ProposedCopy>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedCheck {
    pub name: String,
    pub run: Vec<String>,
    pub from: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedCommand {
    pub run: Vec<String>,
    pub from: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedCopy {
    pub path: String,
    pub to: String,
    pub kind: CopyKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyKind {
    /// Nobody but the session may see it.
    Secret,
    /// An example that is committed.
    Example,
}

/// What can be seen of a repository from its top folder.
pub fn propose(listing: &Listing) -> Proposal {
    let languages = LANGUAGES.iter().filter(|(name, _)| listing.has(name)).map(|(_, language)| *language);
    let mut seen: Vec<&'static str> = Vec::new();
    languages.for_each(|language| {
        if !seen.contains(&language) {
            seen.push(language);
        }
    });
    Proposal {
        languages: seen,
        checks: checks::found(listing),
        setup: setup::found(listing),
        copy: copies(listing),
    }
}

const LANGUAGES: &[(&str, &str)] = &[
    ("Cargo.toml", "Rust"),
    ("package.json", "JavaScript"),
    ("deno.json", "JavaScript"),
    ("go.mod", "Go"),
    ("pyproject.toml", "Python"),
    ("setup.py", "Python"),
    ("requirements.txt", "Python"),
    ("Gemfile", "Ruby"),
    ("composer.json", "PHP"),
    ("mix.exs", "Elixir"),
    ("pom.xml", "Java"),
    ("build.gradle", "Java"),
    ("build.gradle.kts", "Java"),
];

/// What a person has for themselves is copied as a secret; where they have nothing, an example will do.
fn copies(listing: &Listing) -> Vec<ProposedCopy> {
    let secret =
        |path: &String| ProposedCopy { path: path.clone(), to: path.clone(), kind: CopyKind::Secret };
    let mut copies: Vec<ProposedCopy> = listing.untracked_environments.iter().map(secret).collect();
    let example = listing.first(&[".env.example", ".env.sample", ".env.template", ".env.dist"]);
    if let Some(example) = example.filter(|_| !listing.has(".env")) {
        copies.push(ProposedCopy {
            path: example.to_owned(),
            to: ".env".to_owned(),
            kind: CopyKind::Example,
        });
    }
    copies
}
