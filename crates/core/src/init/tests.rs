//! Folders in, settings out that our own reader takes.

use super::*;
use crate::config::{Config, parse_file, resolve};

fn listing(names: &[&str], texts: &[(&str, &str)]) -> Listing {
    let text = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    let named = names.iter().chain(texts.iter().map(|(name, _)| name));
    Listing {
        names: named.map(|name| (*name).to_owned()).collect(),
        texts: texts.iter().map(text).collect(),
        untracked_environments: Vec::new(),
    }
}

/// What our own reader makes of the file.
fn read(listing: &Listing) -> Config {
    let text = config_text(&propose(listing));
    resolve(&[parse_file("config.yml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"))]).unwrap()
}

fn commands(config: &Config) -> Vec<String> {
    let checks = config.checks.iter().map(|check| format!("{}: {}", check.name, check.run.join(" ")));
    checks.chain(config.checkout.setup.iter().map(|setup| format!("> {}", setup.run.join(" ")))).collect()
}

#[test]
fn each_kind_of_repository_gets_what_is_plain_to_see_in_it() {
    const NPM: &str = r#"{ "scripts": { "test": "vitest run", "lint": "eslint .", "build": "tsc" } }"#;
    const NONE: &str = r#"{ "scripts": { "test": "echo \"Error: no test specified\" && exit 1" } }"#;
    const UV: &str = "[tool.ruff]\n[tool.mypy]\n[dependency-groups]\ndev = ['pytest']\n";
    for (names, texts, expected) in [
        (
            &["Cargo.lock"][..],
            &[("Cargo.toml", "[package]\n")][..],
            &["test: cargo test", "> cargo fetch --locked"][..],
        ),
        (&[], &[("Cargo.toml", "[workspace]\n")], &["test: cargo test --workspace"]),
        (
            &["package-lock.json"],
            &[("package.json", NPM)],
            &["lint: npm run lint", "test: npm run test", "> npm ci"],
        ),
        (
            &["pnpm-lock.yaml"],
            &[("package.json", NPM)],
            &["lint: pnpm run lint", "test: pnpm run test", "> pnpm install --frozen-lockfile"],
        ),
        (&["yarn.lock", ".yarnrc.yml"], &[("package.json", NONE)], &["> yarn install --immutable"]),
        (&["bun.lock"], &[("package.json", "not json")], &["> bun install --frozen-lockfile"]),
        (&["go.mod", "go.sum"], &[], &["vet: go vet ./...", "test: go test ./...", "> go mod download"]),
        (
            &["uv.lock"],
            &[("pyproject.toml", UV)],
            &["lint: uv run ruff check", "types: uv run mypy .", "test: uv run pytest", "> uv sync --frozen"],
        ),
        (&["requirements.txt"], &[("pytest.ini", "")], &["test: python3 -m pytest"]),
        (&["pom.xml", "mvnw"], &[], &["test: ./mvnw --batch-mode test"]),
        (&["build.gradle", "gradlew"], &[], &["test: ./gradlew test"]),
        (
            &[],
            &[("Makefile", "CC := cc\ntest := no\nlint: a\n\tx\ntest : all\n\ty\n")],
            &["lint: make lint", "test: make test"],
        ),
        (&[], &[("Makefile", "testing:\ntest := 1\n")], &[]),
        (&[], &[("justfile", "test:\n  x\n")], &["test: just test"]),
        (&["tests/run.sh"], &[], &["test: sh tests/run.sh"]),
        (&["tests/run.sh"], &[("Makefile", "test:\n")], &["test: make test"]),
        (&["Gemfile", "spec", "Gemfile.lock"], &[], &["test: bundle exec rspec", "> bundle install"]),
        (
            &["composer.lock"],
            &[("composer.json", r#"{"scripts":{"test":"phpunit"}}"#)],
            &["test: composer test", "> composer install --no-interaction"],
        ),
        (&["mix.lock"], &[("mix.exs", "")], &["test: mix test", "> mix deps.get"]),
        (&["deno.json"], &[], &["test: deno test"]),
        (
            &["go.mod"],
            &[("Cargo.toml", "")],
            &["test: cargo test", "vet: go vet ./...", "test-go: go test ./..."],
        ),
        (&["README.md"], &[], &[]),
    ] {
        assert_eq!(commands(&read(&listing(names, texts))), expected, "{names:?} {texts:?}");
    }
}

#[test]
fn files_for_the_environment_are_copied_and_an_example_only_where_there_is_none() {
    let mut listing = listing(&[".env", ".env.local", ".env.example"], &[]);
    listing.untracked_environments = vec![".env".to_owned(), ".env.local".to_owned()];
    let copied = |listing: &Listing| -> Vec<String> {
        let copy = read(listing).checkout.copy.into_iter();
        copy.map(|file| format!("{} {} {}", file.from, file.to, file.is_secret)).collect()
    };
    assert_eq!(copied(&listing), [".env .env true", ".env.local .env.local true"]);
    listing.untracked_environments.clear();
    listing.names = vec![".env.example".to_owned()];
    assert_eq!(copied(&listing), [".env.example .env false"]);
}

#[test]
fn odd_names_stay_what_they_are() {
    let untracked_environments = [".env.a b", ".env.\"x\": {", ".env.#"].map(str::to_owned).into();
    let odd = Listing { untracked_environments, ..Listing::default() };
    let copy = read(&odd).checkout.copy;
    assert_eq!(
        copy.iter().map(|file| &file.from).collect::<Vec<_>>(),
        odd.untracked_environments.iter().collect::<Vec<_>>()
    );
}

#[test]
fn the_file_is_small_and_says_what_it_is() {
    let found = listing(&["package-lock.json"], &[("package.json", r#"{"scripts":{"test":"x"}}"#)]);
    insta::assert_snapshot!(config_text(&propose(&found)), @r"
    # Settings of this repository for Longhaul. `longhaul config show --origin` tells what counts and where it comes from.
    # They count while a person trusts them: after a change by hand, run `longhaul workspace trust`.

    # What must hold, as commands, in this order. Workflows run them with `run: { checks: all }`.
    checks:
      - { name: test, run: [npm, run, test] }    # package.json

    # What makes a fresh worktree ready: `setup` is run once for each state of the lockfiles, `copy` names files of your own
    # checkout that git does not know.
    checkout:
      setup:
        - { run: [npm, ci] }    # package-lock.json
    ");
}
