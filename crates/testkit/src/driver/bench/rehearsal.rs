//! Sessions that the rehearsal agent drives: what a turn costs beside its call, how soon another runner goes on, and
//! what fifty sessions at once need.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::memory::Memory;
use super::stage::{Act, Stage, until};
use super::{Args, Bar, Limit, median, quantile};
use crate::driver::Failure;

pub(super) const TURN_NAMES: &[&str] = &["turn_overhead_ms", "turn_overhead_late_vs_early", "turn_commits"];
pub(super) const GO_ON_NAMES: &[&str] = &["go_on_followed_ms", "go_on_resumed_ms"];
pub(super) const MANY_NAMES: &[&str] =
    &["rehearsal_50_failed", "rehearsal_50_pss_mb", "rehearsal_50_processes", "rehearsal_50_seconds"];

const TURNS: usize = 600;
/// Moments are stored in milliseconds, so a few turns are looked at together.
const WINDOW_TURNS: u8 = 20;
const WINDOW: usize = WINDOW_TURNS as usize;
const KILLS: usize = 5;
const SESSIONS: usize = 50;

/// The time between answers less what the calls took, early and late in a long step.
pub(super) fn turns(args: &Args) -> Result<Vec<Bar>, Failure> {
    let write = |turn| format!("  - tools: [ {{ write: {{ path: notes.md, content: 'turn {turn}' }} }} ]\n");
    let mut script: String = (0..TURNS).map(write).collect();
    script.push_str("  - complete: { notes: Written. }\n");
    let stage = Stage::set(&args.longhaul, &script)?;
    let session = stage.start()?.session;
    // Whoever looks at a list of sessions takes part in the work on the store; whoever looks for processes does not.
    // It may be there only a moment after it was started.
    until(|| Ok(!stage.runners()?.is_empty()))?;
    until(|| Ok(stage.runners()?.is_empty()))?;
    let acts = stage.acts(&session)?;
    let answers = acts.iter().enumerate().filter(|(_, act)| act.did == "answered");
    let starts: Vec<usize> = answers.map(|(place, _)| place).step_by(WINDOW).collect();
    let samples: Vec<f64> = starts.windows(2).map(|ends| overhead(&acts[ends[0]..=ends[1]])).collect();
    if samples.len() < 8 {
        return Err(format!("only {} windows of turns", samples.len()).into());
    }
    let quarter = samples.len() / 4;
    let (early, late) = (median(&samples[..quarter]), median(&samples[samples.len() - quarter..]));
    Ok(vec![
        Bar::new(TURN_NAMES[0], median(&samples), "ms", Limit::AtMost(2.0)),
        Bar::new(TURN_NAMES[1], late / early, "×", Limit::AtMost(2.0)),
        Bar::new(TURN_NAMES[2], commits(&acts[starts[0]..starts[1]]), "commits", Limit::AtMost(2.0)),
    ])
}

/// How many commits a turn takes.
fn commits(acts: &[Act]) -> f64 {
    let mut positions: Vec<u64> = acts.iter().map(|act| act.position).collect();
    positions.dedup();
    #[expect(clippy::cast_precision_loss, reason = "a few for each of some turns")]
    let positions = positions.len() as f64;
    positions / f64::from(WINDOW_TURNS)
}

/// What a turn took beside its call, on average from the first act to the last, which are answers.
fn overhead(acts: &[Act]) -> f64 {
    let calls: i64 = acts.iter().filter(|act| act.did == "call_finished").map(|act| act.ms).sum();
    let took = acts[acts.len() - 1].at - acts[0].at - calls;
    #[expect(clippy::cast_precision_loss, reason = "some seconds at most")]
    let took = took as f64;
    took / f64::from(WINDOW_TURNS)
}

/// From the death of a runner to the first act of the next one, the slowest of several.
pub(super) fn go_on(args: &Args) -> Result<Vec<Bar>, Failure> {
    let script = "  - tools: [ { bash: { command: sleep 1 } } ]\n  - complete: { notes: Slept. }\n";
    let (mut followed, mut resumed) = (Vec::new(), Vec::new());
    for _ in 0..KILLS {
        let stage = Stage::set(&args.longhaul, script)?;
        let mut follower = stage.run(&[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        followed.push(killed_and_taken_over(&stage, || Ok(()))?);
        follower.wait()?;

        let stage = Stage::set(&args.longhaul, script)?;
        let session = stage.start()?.session;
        resumed.push(killed_and_taken_over(&stage, || {
            let resume = ["session", "resume", &session, "--json"];
            super::cli::finish(&mut stage.longhaul(&resume))
        })?);
    }
    Ok(vec![
        Bar::new(GO_ON_NAMES[0], quantile(&followed, 1.0), "ms", Limit::AtMost(1000.0)),
        Bar::new(GO_ON_NAMES[1], quantile(&resumed, 1.0), "ms", Limit::AtMost(1000.0)),
    ])
}

fn killed_and_taken_over(stage: &Stage, then: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    let acts = |did: &str| -> Result<Vec<Act>, Failure> {
        let mut acts = Vec::new();
        for session in stage.sessions()? {
            acts.extend(stage.acts(&session)?.into_iter().filter(|act| act.did == did));
        }
        Ok(acts)
    };
    until(|| Ok(!acts("call_started")?.is_empty()))?;
    stage.kill_runners()?;
    let died = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?;
    then()?;
    until(|| Ok(stage.finished()? == 1))?;
    let first = acts("call_finished")?.into_iter().next().ok_or("nobody went on")?;
    #[expect(clippy::cast_precision_loss, reason = "less than the patience of a bench")]
    Ok((first.at - died) as f64)
}

/// All of them stand in a command behind their walls at the same moment, and then come to their end.
pub(super) fn many(args: &Args) -> Result<Vec<Bar>, Failure> {
    let script = "  - tools: [ { read: { path: login.sh } }, { grep: { pattern: gt } } ]\n    parallel: true\n\
        \x20 - tools: [ { bash: { command: 'touch ready; until [ -e go ]; do sleep 0.5; done', expect_exit: 0 } } ]\n\
        \x20 - tools: [ { edit: { path: login.sh, old: '-gt', new: '-ge' } } ]\n\
        \x20 - tools: [ { bash: { command: sh login.sh, expect_exit: 0 } } ]\n\
        \x20 - complete: { notes: Fixed. }\n";
    let stage = Stage::set(&args.longhaul, script)?;
    let memory = Memory::of(&args.longhaul)?;
    let began = Instant::now();
    let starting: Vec<_> = (0..SESSIONS)
        .map(|_| stage.run(&["--detach"]).stdout(Stdio::piped()).spawn())
        .collect::<Result<_, _>>()?;
    let mut worktrees: Vec<PathBuf> = Vec::new();
    for one in starting {
        let output = one.wait_with_output()?;
        let told: Value = serde_json::from_slice(&output.stdout)?;
        worktrees.push(told["worktree"].as_str().ok_or("a run did not start")?.into());
    }
    until(|| {
        memory.look()?;
        Ok(worktrees.iter().all(|worktree| worktree.join("ready").exists()))
    })?;
    let processes = memory.look()?;
    worktrees.iter().try_for_each(|worktree| fs::write(worktree.join("go"), ""))?;
    until(|| {
        memory.look()?;
        Ok(stage.finished()? == SESSIONS)
    })?;
    let fixed = worktrees.iter().filter(|worktree| {
        fs::read_to_string(worktree.join("login.sh")).is_ok_and(|text| text == "test 1 -ge 1\n")
    });
    let failed = SESSIONS - stage.completed()?.min(fixed.count());
    #[expect(clippy::cast_precision_loss, reason = "some hundreds of processes at most")]
    let (failed, processes) = (failed as f64, processes as f64);
    Ok(vec![
        Bar::new(MANY_NAMES[0], failed, "sessions", Limit::AtMost(0.0)),
        Bar::new(MANY_NAMES[1], memory.peak_mb(), "MB", Limit::AtMost(400.0)),
        Bar::new(MANY_NAMES[2], processes, "processes", Limit::Reported),
        Bar::new(MANY_NAMES[3], began.elapsed().as_secs_f64(), "s", Limit::Reported),
    ])
}
