//! Attempts to get out. Each succeeds outside, so that it is known to be an attempt; none succeeds at level full; at
//! level reduced only those do that the documentation names.

mod arena;
mod attempts;

use std::process::Command;
use std::time::Duration;

use longhaul_exec::sandbox::{Level, Limits, holes, probe};
use longhaul_exec::{Program, Sandbox, run};

use crate::sandbox::{init, sandbox};
use crate::support::LONG;
use arena::Arena;
use attempts::{Attempt, Said, attempts};

#[test]
fn outside_every_attempt_succeeds() {
    let attempts = attempts();
    assert!(attempts.len() >= 40, "{}", attempts.len());
    let arena = Arena::new();
    let failed: Vec<String> =
        attempts.iter().filter_map(|attempt| without_walls(&arena, attempt).err()).collect();
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), attempts.len(), failed.join("\n"));
}

#[test]
fn at_level_full_no_attempt_succeeds() {
    let escaped = escaped(Level::Full);
    assert!(escaped.is_empty(), "{escaped:?}");
}

#[test]
fn at_level_reduced_only_the_documented_attempts_succeed() {
    let documented = holes(&sandbox(Level::Reduced), &probe(&init()));
    for attempt in escaped(Level::Reduced) {
        let hole =
            attempt.hole.unwrap_or_else(|| panic!("`{}` succeeds and is not documented", attempt.name));
        assert!(documented.iter().any(|known| known.name == hole), "`{}` is {hole}", attempt.name);
    }
}

#[test]
fn a_hole_that_is_documented_is_one() {
    let documented = holes(&sandbox(Level::Reduced), &probe(&init()));
    // Whether a detached process is found in time depends on who is faster.
    let certain = |hole: &str| hole != "detaching" && documented.iter().any(|known| known.name == hole);
    let escaped: Vec<&str> = escaped(Level::Reduced).iter().map(|attempt| attempt.name).collect();
    let expected = attempts().into_iter().filter(|attempt| attempt.hole.is_some_and(certain));
    let holds: Vec<&str> =
        expected.map(|attempt| attempt.name).filter(|name| !escaped.contains(name)).collect();
    assert!(holds.is_empty(), "no longer holes: {holds:?}");
}

/// As any program that a person starts.
fn without_walls(arena: &Arena, attempt: &Attempt) -> Result<(), String> {
    arena.reset();
    #[expect(clippy::disallowed_methods, reason = "it is to run as nothing of ours does")]
    let mut command = Command::new("sh");
    command.arg("-c").arg(attempt.script).current_dir(arena.checkout()).envs(arena.variables());
    command.envs(attempt.variables(arena));
    let output = command.output().expect("there is a shell");
    let said = if output.status.success() { Said::Success { patience: LONG } } else { Said::Failure };
    if attempt.succeeded(arena, said) {
        return Ok(());
    }
    Err(format!("`{}`: {} {}", attempt.name, output.status, String::from_utf8_lossy(&output.stderr)))
}

/// The attempts that succeed at a level.
fn escaped(level: Level) -> Vec<Attempt> {
    let arena = Arena::new();
    let policy = policy(&arena, level);
    attempts().into_iter().filter(|attempt| behind_walls(&arena, attempt, &policy)).collect()
}

fn policy(arena: &Arena, level: Level) -> Sandbox {
    let limits = Limits { file_bytes: Some(1 << 20), scratch_bytes: 1 << 20, ..Limits::default() };
    sandbox(level).writable(arena.checkout()).read_only(arena.shared()).hide(arena.hidden()).limits(limits)
}

fn behind_walls(arena: &Arena, attempt: &Attempt, policy: &Sandbox) -> bool {
    arena.reset();
    let mut program =
        Program::new("sh").arg("-c").arg(attempt.script).directory(arena.checkout()).timeout(LONG);
    for (name, value) in arena.variables().into_iter().chain(attempt.variables(arena)) {
        program = program.set_variable(name, value);
    }
    let finished = run(&program.sandbox(policy.clone())).expect("the walls can be put up here");
    // Here it is not to arrive, so there is an end to the waiting.
    let patience = Duration::from_millis(300);
    let said = if finished.succeeded() { Said::Success { patience } } else { Said::Failure };
    attempt.succeeded(arena, said)
}
