//! Triggers to begin with: what `longhaul trigger add` offers. Files, so that they read as what they become.

/// A trigger that a person may take and change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// Also the id that it has unless somebody gives it another.
    pub name: &'static str,
    pub about: &'static str,
    /// The entry, as it is put into a file.
    pub text: &'static str,
}

macro_rules! offers {
    ($($name:literal => $about:literal,)*) => {
        &[$(Offer { name: $name, about: $about, text: include_str!(concat!("../../data/triggers/", $name, ".yml")) }),*]
    };
}

/// In the order in which they are shown.
pub const OFFERED: &[Offer] = offers![
    "nightly-audit" => "an audit of what changed, every night of the working week",
    "weekly-dependencies" => "newer dependencies, every Monday",
    "webhook" => "a task for each signed request that asks for one",
    "github-issue" => "a task for each issue of GitHub that gets the label `longhaul`",
    "gitlab-issue" => "a task for each new issue of GitLab with the label `longhaul`",
    "ci-failure" => "a task for each run of the CI that fails on the main branch",
    "by-hand" => "a task that only a person starts",
];
