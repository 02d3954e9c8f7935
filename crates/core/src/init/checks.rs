//! Which commands tell whether a repository is in order.

use serde_json::Value;

use super::{Listing, ProposedCheck};

/// What `npm init` writes, which is no test.
const NO_TEST: &str = "no test specified";

/// Those of the languages first; targets and scripts only for what no language has.
pub(super) fn found(listing: &Listing) -> Vec<ProposedCheck> {
    let mut checks = Checks(Vec::new());
    rust(listing, &mut checks);
    javascript(listing, &mut checks);
    go(listing, &mut checks);
    python(listing, &mut checks);
    others(listing, &mut checks);
    targets(listing, &mut checks);
    scripts(listing, &mut checks);
    checks.0
}

struct Checks(Vec<ProposedCheck>);

impl Checks {
    fn add(&mut self, name: &str, run: &[&str], from: &str) {
        let run = run.iter().map(|word| (*word).to_owned()).collect();
        let name = self.free_name(name, from);
        self.0.push(ProposedCheck { name, run, from: from.to_owned() });
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|check| check.name == name)
    }

    /// A second language has its own tests.
    fn free_name(&self, name: &str, from: &str) -> String {
        if !self.has(name) {
            return name.to_owned();
        }
        let stem = from.split('.').next().unwrap_or(from).to_lowercase();
        format!("{name}-{stem}")
    }
}

fn rust(listing: &Listing, checks: &mut Checks) {
    let Some(manifest) = listing.text("Cargo.toml") else { return };
    let is_workspace = manifest.lines().any(|line| line.trim().starts_with("[workspace"));
    let run: &[&str] = if is_workspace { &["cargo", "test", "--workspace"] } else { &["cargo", "test"] };
    checks.add("test", run, "Cargo.toml");
}

fn javascript(listing: &Listing, checks: &mut Checks) {
    if listing.has("deno.json") {
        checks.add("test", &["deno", "test"], "deno.json");
    }
    let Some(manifest) = listing.text("package.json") else { return };
    let manifest: Value = serde_json::from_str(manifest).unwrap_or_default();
    let runner = package_manager(listing);
    for name in ["lint", "typecheck", "type-check", "check", "test"] {
        let script = manifest["scripts"][name].as_str().unwrap_or_default();
        if !script.is_empty() && !script.contains(NO_TEST) {
            checks.add(name, &[runner, "run", name], "package.json");
        }
    }
}

/// The one whose lockfile is there.
pub(super) fn package_manager(listing: &Listing) -> &'static str {
    let locks =
        [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];
    locks.iter().find(|(lock, _)| listing.has(lock)).map_or("npm", |(_, manager)| manager)
}

fn go(listing: &Listing, checks: &mut Checks) {
    if listing.has("go.mod") {
        checks.add("vet", &["go", "vet", "./..."], "go.mod");
        checks.add("test", &["go", "test", "./..."], "go.mod");
    }
}

fn python(listing: &Listing, checks: &mut Checks) {
    let project = listing.text("pyproject.toml").unwrap_or_default();
    let prefix: &[&str] = match listing.first(&["uv.lock", "poetry.lock", "pdm.lock"]) {
        Some("uv.lock") => &["uv", "run"],
        Some("poetry.lock") => &["poetry", "run"],
        Some("pdm.lock") => &["pdm", "run"],
        _ => &["python3", "-m"],
    };
    let mut add = |name: &str, words: &[&str], from: &str| checks.add(name, &[prefix, words].concat(), from);
    if project.contains("[tool.ruff") {
        add("lint", &["ruff", "check"], "pyproject.toml");
    }
    if project.contains("[tool.mypy") {
        add("types", &["mypy", "."], "pyproject.toml");
    }
    if project.contains("pytest") {
        add("test", &["pytest"], "pyproject.toml");
    } else if listing.has("pytest.ini") {
        add("test", &["pytest"], "pytest.ini");
    }
}

fn others(listing: &Listing, checks: &mut Checks) {
    if listing.has("Gemfile") && listing.has("spec") {
        checks.add("test", &["bundle", "exec", "rspec"], "Gemfile");
    }
    if let Some(manifest) = listing.text("composer.json") {
        let manifest: Value = serde_json::from_str(manifest).unwrap_or_default();
        if !manifest["scripts"]["test"].is_null() {
            checks.add("test", &["composer", "test"], "composer.json");
        }
    }
    if listing.has("mix.exs") {
        checks.add("test", &["mix", "test"], "mix.exs");
    }
    if listing.has("pom.xml") {
        let maven = if listing.has("mvnw") { "./mvnw" } else { "mvn" };
        checks.add("test", &[maven, "--batch-mode", "test"], "pom.xml");
    }
    if let Some(build) = listing.first(&["build.gradle.kts", "build.gradle"])
        && listing.has("gradlew")
    {
        checks.add("test", &["./gradlew", "test"], build);
    }
}

fn targets(listing: &Listing, checks: &mut Checks) {
    for (file, program) in [("Makefile", "make"), ("makefile", "make"), ("justfile", "just")] {
        let Some(text) = listing.text(file) else { continue };
        for target in ["lint", "test"] {
            if !checks.has(target) && has_target(text, target) {
                checks.add(target, &[program, target], file);
            }
        }
    }
}

/// A line `target:` that is no assignment.
fn has_target(text: &str, target: &str) -> bool {
    text.lines().any(|line| {
        let rest = line.strip_prefix(target).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with(':') && !rest.starts_with(":="))
    })
}

fn scripts(listing: &Listing, checks: &mut Checks) {
    let usual = ["tests/run.sh", "test/run.sh", "run_tests.sh", "run-tests.sh", "scripts/test.sh", "test.sh"];
    if let Some(script) = listing.first(&usual).filter(|_| !checks.has("test")) {
        checks.add("test", &["sh", script], script);
    }
}
