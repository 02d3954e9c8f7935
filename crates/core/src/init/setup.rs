//! Which commands make a fresh worktree ready, by the lockfiles that are there.

use super::checks::package_manager;
use super::{Listing, ProposedCommand};

/// What installs exactly what a lockfile says.
const COMMANDS: &[(&str, &[&str])] = &[
    ("Cargo.lock", &["cargo", "fetch", "--locked"]),
    ("go.sum", &["go", "mod", "download"]),
    ("uv.lock", &["uv", "sync", "--frozen"]),
    ("poetry.lock", &["poetry", "install", "--no-interaction"]),
    ("pdm.lock", &["pdm", "sync"]),
    ("Pipfile.lock", &["pipenv", "sync"]),
    ("Gemfile.lock", &["bundle", "install"]),
    ("composer.lock", &["composer", "install", "--no-interaction"]),
    ("mix.lock", &["mix", "deps.get"]),
];

pub(super) fn found(listing: &Listing) -> Vec<ProposedCommand> {
    let command = |(lock, run): (&str, &[&str])| ProposedCommand {
        run: run.iter().map(|word| (*word).to_owned()).collect(),
        from: lock.to_owned(),
    };
    let plain = COMMANDS.iter().filter(|(lock, _)| listing.has(lock)).copied();
    javascript(listing).into_iter().chain(plain).map(command).collect()
}

/// Only one of them counts, however many lockfiles were left lying about.
fn javascript(listing: &Listing) -> Option<(&'static str, &'static [&'static str])> {
    match package_manager(listing) {
        "pnpm" => Some(("pnpm-lock.yaml", &["pnpm", "install", "--frozen-lockfile"])),
        "yarn" if listing.has(".yarnrc.yml") => Some(("yarn.lock", &["yarn", "install", "--immutable"])),
        "yarn" => Some(("yarn.lock", &["yarn", "install", "--frozen-lockfile"])),
        "bun" if listing.has("bun.lock") => Some(("bun.lock", &["bun", "install", "--frozen-lockfile"])),
        "bun" => Some(("bun.lockb", &["bun", "install", "--frozen-lockfile"])),
        _ if listing.has("package-lock.json") => Some(("package-lock.json", &["npm", "ci"])),
        _ => None,
    }
}
