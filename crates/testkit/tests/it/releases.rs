//! Two releases on one database at once: the newer one adds to the schema while the older one goes on.

use std::path::{Path, PathBuf};
use std::process::Command;

use longhaul_testkit::processes::driver;

use crate::driven::{DRIVER, Driven, Said, run};
use crate::kills::check_all;

/// Builds the driver of a later release, beside the one of this release.
fn later_release(binary: &str, feature: &str) -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "cargo needs our whole environment")]
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--package", "longhaul-testkit", "--bin", binary, "--features", feature])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    assert!(cargo.status().unwrap().success(), "`{binary}` does not build");
    Path::new(DRIVER).with_file_name(binary)
}

fn schema_of(program: &Path) -> u32 {
    let output = longhaul_testkit::processes::command(program).arg("schema").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// The command that goes on where `said` was, by another release.
fn going_on(program: &Path, said: &Said, home: &Path, count: u64) -> Command {
    let mut command = driver(program, home, "advance");
    let arguments: Vec<_> = said.command(home).get_args().skip(3).map(ToOwned::to_owned).collect();
    command.args(arguments).args(["--count", &count.to_string()]);
    command
}

#[test]
fn heavy_an_older_process_goes_on_beside_a_newer_release() {
    let newer = later_release("longhaul-driver-next", "schema-next");
    assert_eq!(schema_of(&newer), schema_of(Path::new(DRIVER)) + 1);
    let home = tempfile::tempdir().unwrap();
    // The old one opens first and is in the middle of its work when the schema changes under it.
    let (old, well) = run(going_on(Path::new(DRIVER), &Said::default(), home.path(), 5), Said::default());
    assert!(well);
    let old = Driven::start(going_on(Path::new(DRIVER), &old, home.path(), 400), old);
    let (new, well) = run(going_on(&newer, &Said::default(), home.path(), 50), Said::default());
    assert!(well, "the newer release migrates and writes");
    let (old, well) = old.finish();
    assert!(well, "the older process was not disturbed");
    assert_eq!((old.acked, new.acked), (405, 50));
    check_all(home.path(), &[old.clone(), new.clone()]);
    // Each release reads and continues what the other one wrote.
    let (old, well) = run(going_on(&newer, &old, home.path(), 3), old);
    assert!(well);
    let (new, well) = run(going_on(Path::new(DRIVER), &new, home.path(), 3), new);
    assert!(well);
    check_all(home.path(), &[old, new]);
}

#[test]
fn heavy_an_older_process_stops_writing_when_it_must_and_can_still_read() {
    let breaking = later_release("longhaul-driver-breaking", "schema-breaking");
    let home = tempfile::tempdir().unwrap();
    let command = going_on(Path::new(DRIVER), &Said::default(), home.path(), 1_000_000);
    let old = Driven::start(command, Said::default());
    let (new, well) = run(going_on(&breaking, &Said::default(), home.path(), 5), Said::default());
    assert!(well);
    let (old, well) = old.finish();
    assert!(!well, "an old writer must not write beside this schema");
    check_all(home.path(), &[old.clone(), new.clone()]); // this build may still read
    let refused = driver(DRIVER, home.path(), "advance").args(["--count", "1"]).output().unwrap();
    let words = String::from_utf8(refused.stderr).unwrap();
    assert!(words.contains("may only read it (needs schema 3, knows 1)"), "{words}");
    // The newer release takes over what the old one had in hand: nothing is lost, nothing done twice.
    let (old, well) = run(going_on(&breaking, &old, home.path(), 3), old);
    assert!(well);
    check_all(home.path(), &[old.clone(), new.clone()]); // this build may still read
}
