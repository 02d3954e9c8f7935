//! What the walls around a program cost when it is started.

use longhaul_exec::sandbox::{INIT_VERB, Init, Level};
use longhaul_exec::{Program, Sandbox, run as run_program};

use super::{Args, Bar, Limit, median, micros, timed};
use crate::driver::Failure;

pub(super) const NAMES: &[&str] = &["plain_spawn_ms", "sandbox_spawn_ms", "sandbox_spawn_extra_ms"];

const ROUNDS: usize = 100;

/// From the start of a program that does nothing to its verified end.
pub(super) fn run(args: &Args) -> Result<Vec<Bar>, Failure> {
    let folder = tempfile::tempdir()?;
    let init = Init { program: args.longhaul.canonicalize()?, args: vec![INIT_VERB.into()] };
    let sandbox = Sandbox::new(Level::Full, "/home/bench").writable(folder.path()).init(init);
    let plain = Program::new("true").directory(folder.path());
    let walled = plain.clone().sandbox(sandbox);
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        without.push(micros(timed(|| finish(&plain))?));
        with.push(micros(timed(|| finish(&walled))?));
    }
    let (without, with) = (median(&without) / 1000.0, median(&with) / 1000.0);
    Ok(vec![
        Bar::new(NAMES[0], without, "ms", Limit::Reported),
        Bar::new(NAMES[1], with, "ms", Limit::Reported),
        Bar::new(NAMES[2], with - without, "ms", Limit::AtMost(8.0)),
    ])
}

fn finish(program: &Program) -> Result<(), Failure> {
    let finished = run_program(program)?;
    if finished.succeeded() {
        Ok(())
    } else {
        Err(format!("{program:?} ended with {:?}", finished.outcome).into())
    }
}
