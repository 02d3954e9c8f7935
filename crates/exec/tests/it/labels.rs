//! What outlived whoever started it is found by its label, by any process, and seen to die.

use std::path::Path;
use std::time::Duration;

use longhaul_exec::{Labelled, Program, detach, end_labelled, is_alive, labelled, run, start, started_ticks};

use crate::support::{LONG, is_alive as is_there, pid_in, sh, wait_until};

/// A program that nobody supervises, with a child that wiped its environment.
fn orphan(folder: &Path, label: &str) -> [u32; 2] {
    let script = r#"env -i FILE="$FILE.child" sh -c 'echo $$ > "$FILE"; exec sleep 600' &
        echo $$ > "$FILE"; exec sleep 600"#;
    let file = folder.join("pid");
    let program = Program::new("sh").arg("-c").arg(script).set_variable("FILE", &file).label(label);
    detach(&program).expect("a shell can be started");
    [pid_in(&file), pid_in(&file.with_extension("child"))]
}

fn carries(label: &str) -> impl Fn(&Labelled) -> bool {
    move |found| found.labels.iter().any(|carried| carried == label)
}

#[test]
fn an_orphan_is_found_by_its_label_and_ended_with_its_children_and_no_other_is() {
    let (folder, other_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let label = format!("test-{}-one", std::process::id());
    let other_label = format!("test-{}-other", std::process::id());
    let [pid, child] = orphan(folder.path(), &label);
    let other = orphan(other_folder.path(), &other_label);

    wait_until("the shell has become `sleep`", || labelled().unwrap().iter().any(carries(&label)));
    let found: Vec<u32> =
        labelled().unwrap().into_iter().filter(carries(&label)).map(|found| found.id).collect();
    assert_eq!(found, [pid]);
    assert_eq!(end_labelled(LONG, &carries(&label)).unwrap(), 2);
    assert!(!is_there(pid) && !is_there(child));
    assert!(other.into_iter().all(is_there));

    assert_eq!(end_labelled(LONG, &carries(&label)).unwrap(), 0);
    assert_eq!(end_labelled(LONG, &carries(&other_label)).unwrap(), 2);
}

#[test]
fn an_orphan_that_ignores_sigterm_is_killed_after_the_grace() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let label = format!("test-{}-stubborn", std::process::id());
    let script = r#"trap "" TERM; echo $$ > "$FILE"; while :; do sleep 1; done"#;
    detach(&Program::new("sh").arg("-c").arg(script).set_variable("FILE", &file).label(&label)).unwrap();
    let pid = pid_in(&file);
    assert!(end_labelled(Duration::from_millis(50), &carries(&label)).unwrap() >= 1);
    assert!(!is_there(pid));
}

#[test]
fn a_label_is_handed_down_beside_the_mark_and_a_detached_program_has_it_alone() {
    let shown = run(&sh(r#"echo "$LONGHAUL_PROCESS""#).label("mine")).unwrap().stdout.to_text();
    let marks: Vec<&str> = shown.trim().split(':').collect();
    assert_eq!(marks.iter().rev().nth(1), Some(&"mine"), "{shown}");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("marks");
    let script = r#"echo "$LONGHAUL_PROCESS" > "$FILE""#;
    detach(&Program::new("sh").arg("-c").arg(script).set_variable("FILE", &file).label("apart")).unwrap();
    wait_until("it has told", || std::fs::read_to_string(&file).is_ok_and(|text| text == "apart\n"));
}

#[test]
fn a_process_is_alive_until_it_ends_and_only_under_its_own_start() {
    let own = started_ticks().unwrap();
    assert!(is_alive(std::process::id(), own));
    assert!(!is_alive(std::process::id(), own - 1));
    let running = start(&Program::new("sleep").arg("600")).unwrap();
    let id = running.id();
    let found = labelled().unwrap().into_iter().find(|found| found.id == id).unwrap();
    assert!(is_alive(id, found.started_ticks));
    running.kill().unwrap();
    assert!(!is_alive(id, found.started_ticks));
}
