//! The official conformance suite against our protocol layer, with its fixtures on it.
//!
//! `docs/mcp-conformance.md` says what does not apply and why, and it is checked against what ran: a scenario that is
//! not passed and not listed fails the test, and so does one that is listed and passed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use longhaul_testkit::parts::Npm;
use serde_json::Value;

use crate::fixtures::Fixtures;

const PAGE: &str = include_str!("../../../../docs/mcp-conformance.md");

/// One way to run the suite, by the name that the page has for it.
struct Run {
    name: &'static str,
    package: &'static str,
    arguments: &'static [&'static str],
}

const RUNS: [Run; 4] = [
    Run { name: "0.1.16", package: "conformance-0.1", arguments: &["--suite", "all"] },
    Run {
        name: "2025-06-18",
        package: "conformance-0.2",
        arguments: &["--suite", "all", "--spec-version", "2025-06-18"],
    },
    Run { name: "2025-11-25", package: "conformance-0.2", arguments: &["--requirements", "2025-11-25"] },
    Run { name: "2026-07-28", package: "conformance-0.2", arguments: &["--requirements", "2026-07-28"] },
];

/// What a run found: each scenario with what was wrong with it, and nothing if it passed.
type Outcome = BTreeMap<String, Vec<String>>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heavy_the_official_suite_passes_all_that_applies_in_every_revision() {
    let npm = tokio::task::spawn_blocking(Npm::installed).await.unwrap();
    let mut complaints = String::new();
    for run in RUNS {
        let served = Fixtures::serve().await;
        let results = tempfile::tempdir().unwrap();
        let mut suite = run.command(&npm);
        suite.args(["--url", &format!("http://{}/mcp", served.address), "--output-dir"]).arg(results.path());
        // Its exit code is no help: it is good also if what was run is not what we wanted.
        let said = tokio::task::spawn_blocking(move || suite.output().unwrap()).await.unwrap();
        let outcome = read(results.path());
        assert!(!outcome.is_empty(), "{} ran nothing: {}", run.name, String::from_utf8_lossy(&said.stderr));
        complaints += &compare(run.name, &outcome);
    }
    assert!(complaints.is_empty(), "docs/mcp-conformance.md and the suite differ:\n{complaints}");
}

impl Run {
    fn command(&self, npm: &Npm) -> Command {
        let mut suite = npm.node(npm.file(self.package).join("dist/index.js"));
        suite.arg("server").args(self.arguments);
        suite
    }
}

/// The results lie in a folder for each scenario, named after it and the time.
fn read(folder: &Path) -> Outcome {
    let mut outcome = Outcome::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().strip_prefix("server-").unwrap();
        let (scenario, _time) = name.split_at(name.len() - "-2026-11-16T02-54-43-277Z".len());
        let checks: Vec<Value> =
            serde_json::from_slice(&fs::read(path.join("checks.json")).unwrap()).unwrap();
        outcome.insert(scenario.to_owned(), faults(&checks));
    }
    outcome
}

/// Whatever is neither a success nor a remark is a fault, and so is a scenario of which nothing was checked.
fn faults(checks: &[Value]) -> Vec<String> {
    let of = |status: &str| checks.iter().filter(|check| check["status"] == status).collect::<Vec<_>>();
    let bad = checks.iter().filter(|check| check["status"] != "SUCCESS" && check["status"] != "INFO");
    let mut faults: Vec<String> = bad
        .map(|check| format!("{}: {}", check["id"].as_str().unwrap_or("?"), check["errorMessage"]))
        .collect();
    if of("SUCCESS").is_empty() && faults.is_empty() {
        faults.push("nothing was checked".to_owned());
    }
    faults
}

fn compare(run: &str, outcome: &Outcome) -> String {
    let mut complaints = String::new();
    let excused: BTreeSet<&str> = rows()
        .filter_map(|row| matches!(row[..], [name, _, why] if name == run && !why.is_empty()).then(|| row[1]))
        .collect();
    for (scenario, faults) in outcome {
        match (faults.is_empty(), excused.contains(scenario.as_str())) {
            (true, false) | (false, true) => {}
            (true, true) => {
                let _ = writeln!(complaints, "{run}: `{scenario}` passes; take it from the page");
            }
            (false, false) => {
                let _ = writeln!(complaints, "{run}: `{scenario}` fails:\n  {}", faults.join("\n  "));
            }
        }
    }
    for scenario in excused.iter().filter(|scenario| !outcome.contains_key(**scenario)) {
        let _ = writeln!(complaints, "{run}: `{scenario}` was not run; take it from the page");
    }
    let passed = outcome.values().filter(|faults| faults.is_empty()).count();
    let counted = [outcome.len(), passed, outcome.len() - passed].map(|count| count.to_string());
    let told = rows().any(
        |row| matches!(row[..], [name, _, all, good, other] if name == run && [all, good, other] == counted),
    );
    if !told {
        let _ = writeln!(
            complaints,
            "{run}: ran {}, passed {}, others {}; correct the page",
            counted[0], counted[1], counted[2]
        );
    }
    complaints
}

/// The cells of the tables of the page, without their marks.
fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    let lines = PAGE.lines().filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'));
    lines.map(|line| line.split('|').map(|cell| cell.trim().trim_matches('`')).collect())
}
