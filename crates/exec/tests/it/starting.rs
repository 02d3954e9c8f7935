//! Programs that cannot be started are named, with a remedy.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use longhaul_exec::{Environment, Error, Program, run, started_ticks};

use crate::support::sh;

fn write_script(folder: &tempfile::TempDir, text: &str, mode: u32) -> std::path::PathBuf {
    let path = folder.path().join("script");
    fs::write(&path, text).expect("a temporary folder can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("our own file can be changed");
    path
}

#[test]
fn a_program_that_is_nowhere_on_the_path_is_named() {
    let error = run(&Program::new("longhaul-no-such-program")).unwrap_err();
    assert!(matches!(error, Error::ProgramNotFound { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "could not start `longhaul-no-such-program`: there is no such program; install it or give its full path"
    );
}

#[test]
fn a_program_is_looked_for_on_the_path_it_will_have() {
    let empty = tempfile::tempdir().unwrap();
    let search = || {
        let only = Environment::Only(vec![("PATH".into(), empty.path().into())]);
        run(&Program::new("sh").environment(only)).unwrap_err()
    };
    assert!(matches!(search(), Error::ProgramNotFound { .. }));
    fs::set_permissions(empty.path(), fs::Permissions::from_mode(0o000)).unwrap();
    assert!(matches!(search(), Error::ProgramNotFound { .. }));
}

#[test]
fn a_script_whose_interpreter_is_missing_is_told_from_a_missing_script() {
    let folder = tempfile::tempdir().unwrap();
    let script = write_script(&folder, "#!/no/such/interpreter\n", 0o755);
    let error = run(&Program::new(script)).unwrap_err();
    assert!(matches!(error, Error::InterpreterMissing { .. }), "{error:?}");

    let error = run(&Program::new("./script").directory(folder.path())).unwrap_err();
    assert!(matches!(error, Error::InterpreterMissing { .. }), "{error:?}");

    let error = run(&Program::new("./other").directory(folder.path())).unwrap_err();
    assert!(matches!(error, Error::ProgramNotFound { .. }), "{error:?}");
}

#[test]
fn a_file_without_the_executable_bit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let script = write_script(&folder, "#!/bin/sh\n", 0o644);
    let error = run(&Program::new(script)).unwrap_err();
    assert!(matches!(error, Error::NotExecutable { .. }), "{error:?}");
}

#[test]
fn a_missing_directory_is_not_taken_for_a_missing_program() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let error = run(&sh("true").directory(&missing)).unwrap_err();
    assert!(
        matches!(&error, Error::DirectoryMissing { directory, .. } if *directory == missing),
        "{error:?}"
    );

    let file = write_script(&folder, "", 0o644);
    let error = run(&sh("true").directory(file)).unwrap_err();
    assert!(matches!(error, Error::DirectoryMissing { .. }), "{error:?}");
}

/// The superuser may enter any directory.
#[test]
fn a_directory_that_may_not_be_entered_is_not_taken_for_a_file_that_may_not_be_run() {
    let folder = tempfile::tempdir().unwrap();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let result = run(&sh("true").directory(&closed));
    if rustix::process::geteuid().is_root() {
        assert!(result.unwrap().succeeded());
    } else {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::DirectoryForbidden { .. }), "{error:?}");
    }
}

#[test]
fn an_argument_with_a_nul_byte_is_refused() {
    let error = run(&Program::new("true").arg("a\0b")).unwrap_err();
    assert!(matches!(error, Error::NulByte { .. }), "{error:?}");
}

#[test]
fn arguments_that_the_system_cannot_take_are_refused() {
    let error = run(&Program::new("true").arg("a".repeat(4 * 1024 * 1024))).unwrap_err();
    assert!(matches!(error, Error::TooLong { .. }), "{error:?}");
}

#[test]
fn a_program_starts_in_its_directory() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().canonicalize().unwrap();
    let finished = run(&sh("pwd -P").directory(&directory)).unwrap();
    assert_eq!(finished.stdout.to_text(), format!("{}\n", directory.display()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_says_the_start_time_that_the_system_has_for_it() {
    let own = format!("cat /proc/{}/stat", std::process::id());
    let line = run(&sh(&own)).unwrap().stdout.to_text();
    // The name of a process may hold blanks and brackets; what comes after it is counted from the third field.
    let after_name = line.rsplit(") ").next().unwrap();
    let start = after_name.split(' ').nth(22 - 3).unwrap();
    assert_eq!(started_ticks().unwrap().to_string(), start);
}
