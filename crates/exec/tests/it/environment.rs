//! What a program gets of our environment.

use longhaul_exec::{Environment, Program, run};

fn variables(program: &Program) -> Vec<String> {
    let finished = run(program).expect("`env` can be run");
    assert!(finished.succeeded());
    let mut lines: Vec<_> = finished.stdout.to_text().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn only_the_listed_variables_and_our_mark_reach_the_program() {
    let only = Environment::Only(vec![("GREETING".into(), "hello world".into())]);
    let seen = variables(&Program::new("/usr/bin/env").environment(only));
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert_eq!(seen[0], "GREETING=hello world");
    assert!(seen[1].starts_with("LONGHAUL_PROCESS="));
}

#[test]
fn an_inherited_environment_loses_what_is_removed_and_gains_what_is_set() {
    let program = Program::new("env").remove_variable("HOME").set_variable("GREETING", "hello");
    let seen = variables(&program);
    assert!(seen.iter().any(|line| line.starts_with("PATH=")));
    assert!(seen.iter().any(|line| line == "GREETING=hello"));
    assert!(!seen.iter().any(|line| line.starts_with("HOME=")));
}

#[test]
fn the_mark_cannot_be_set_or_removed_by_a_caller_and_never_repeats() {
    let program =
        Program::new("env").set_variable("LONGHAUL_PROCESS", "mine").remove_variable("LONGHAUL_PROCESS");
    let mark = || {
        let seen = variables(&program);
        seen.into_iter().find(|line| line.starts_with("LONGHAUL_PROCESS=")).unwrap()
    };
    let first = mark();
    assert!(!first.contains("mine"));
    assert_ne!(first, mark());
}
