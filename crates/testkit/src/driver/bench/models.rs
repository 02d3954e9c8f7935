//! Sessions whose model is scripted: what gateway and loop add to the time until the first of an answer comes, and what a
//! session needs while its model thinks.

mod bare;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::memory::Memory;
use super::stage::{Stage, Started, until};
use super::{Args, Bar, Limit, median, micros, quantile};
use crate::driver::Failure;
use crate::model_server::{Answer, Asked, ModelServer};

pub(super) const TOKEN_NAMES: &[&str] =
    &["first_token_bare_ms", "first_token_added_p50_ms", "first_token_added_p95_ms"];
pub(super) const MEMORY_NAMES: &[&str] = &["session_memory_loop_mb", "session_memory_hands_mb"];

const AGENT: &str = "anthropic/claude-haiku";
/// Several short ones: what a scripted server does for a request grows with what it was asked before.
const ROUNDS: usize = 5;
const TURNS: usize = 30;
/// How long the model takes until it begins to answer.
const THINKS: Duration = Duration::from_millis(20);
const SESSIONS: u8 = 20;
/// So much has happened in a session when its model begins to think for long.
const TURNS_BEFORE: usize = 10;
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long a request was at the server, and how long the same one takes without us.
#[derive(Debug, Clone, Copy)]
struct Sample {
    /// Before the server begins to do what it also does for whoever asks it directly.
    kept: f64,
    bare: f64,
}

/// A turn, in microseconds.
#[derive(Debug, Clone, Copy)]
struct Measured {
    heard: f64,
    at_server: Sample,
}

/// Each request is sent once more to a server of the same kind, bare, while it waits: so a slow moment of the machine
/// hits both. What a turn took beyond that, from when it is asked for until the first of its answer is heard, is ours.
pub(super) fn first_token(args: &Args) -> Result<Vec<Bar>, Failure> {
    let (mut bare, mut added) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for turn in turns_of_a_session(args)? {
            bare.push(turn.at_server.bare / 1000.0);
            added.push((turn.heard - turn.at_server.kept - turn.at_server.bare) / 1000.0);
        }
    }
    Ok(vec![
        Bar::new(TOKEN_NAMES[0], median(&bare), "ms", Limit::Reported),
        Bar::new(TOKEN_NAMES[1], median(&added), "ms", Limit::AtMost(5.0)),
        Bar::new(TOKEN_NAMES[2], quantile(&added, 0.95), "ms", Limit::Reported),
    ])
}

/// One session from its first turn to its last.
fn turns_of_a_session(args: &Args) -> Result<Vec<Measured>, Failure> {
    let direct = ModelServer::start(thoughtful)?;
    let samples: Arc<Mutex<Vec<Sample>>> = Arc::default();
    let (noted, address) = (samples.clone(), direct.address);
    let server = ModelServer::start(move |asked| {
        let start = Instant::now();
        // Without a figure there would be fewer samples than turns, and the bench says so.
        if let Ok(bare) = bare::until_first_piece(address, asked) {
            let sample = Sample { kept: micros(start.elapsed()), bare: micros(bare) };
            noted.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
        }
        thoughtful(asked)
    })?;
    let stage = Stage::bare(&args.longhaul)?;
    let started = Started::by(knowing(&server, &mut stage.run_by(AGENT)))?;
    // Nobody hears what this runner says. Once it is at work, one that is heard takes its place.
    until(|| Ok(server.tally().requests > 0))?;
    stage.kill_runners()?;
    let mut log = String::new();
    until(|| {
        let mut runner = stage.longhaul(&["runner", &started.session, "--log-format", "json"]);
        let runner = knowing(&server, &mut runner).env("LONGHAUL_LOG", "longhaul_runtime::runner=debug");
        log.push_str(&String::from_utf8_lossy(&runner.output()?.stderr));
        Ok(stage.finished()? == 1)
    })?;
    let heard = heard_after(&log);
    let mut samples = samples.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if stage.completed()? != 1 || heard.len() < TURNS || samples.len() < heard.len() {
        let (heard, samples) = (heard.len(), samples.len());
        return Err(format!("{heard} answers were heard and {samples} requests were measured").into());
    }
    // The runner that was killed may have asked, too.
    let samples = samples.split_off(samples.len() - heard.len());
    let turns = heard.into_iter().zip(samples).map(|(heard, at_server)| Measured { heard, at_server });
    // The first one finds nothing in any cache.
    Ok(turns.skip(1).collect())
}

/// What the runner says about how long it waited, in microseconds.
fn heard_after(log: &str) -> Vec<f64> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter_map(|line| line["fields"]["us"].as_f64()).collect()
}

/// Somebody whose provider is this server.
fn knowing<'a>(server: &ModelServer, command: &'a mut Command) -> &'a mut Command {
    command
        .env("ANTHROPIC_BASE_URL", server.anthropic_base())
        .env("ANTHROPIC_API_KEY", "sk-a-key-of-the-bench-that-opens-nothing")
}

fn thoughtful(asked: &Asked) -> Answer {
    // tidy: this is the model's own time, which is what ours is compared with
    thread::sleep(THINKS);
    next(asked, TURNS)
}

/// Writes so often, and then hands in.
fn next(asked: &Asked, turns: usize) -> Answer {
    let turn = asked.results().len();
    let says = Answer::say("This is what comes next.");
    if turn < turns {
        says.and_call("write", &json!({ "path": "notes.md", "content": format!("turn {turn}") }))
    } else {
        says.and_call("complete_step", &json!({ "notes": "Written." }))
    }
}

/// What all our processes take together for each session, while all of them wait: for a model that our own loop asked, or
/// for an agent with hands of its own, whose own processes are left out.
pub(super) fn session_memory(args: &Args) -> Result<Vec<Bar>, Failure> {
    Ok(vec![
        Bar::new(MEMORY_NAMES[0], of_loops(args)?, "MB", Limit::AtMost(8.0)),
        Bar::new(MEMORY_NAMES[1], of_hands(args)?, "MB", Limit::AtMost(8.0)),
    ])
}

fn of_loops(args: &Args) -> Result<f64, Failure> {
    let may_go_on = Arc::new(AtomicBool::new(false));
    let told = may_go_on.clone();
    let server = ModelServer::start(move |asked| {
        while asked.results().len() == TURNS_BEFORE && !told.load(Ordering::Relaxed) {
            // tidy: a model that thinks for as long as somebody measures
            thread::sleep(LOOK_EVERY);
        }
        next(asked, TURNS_BEFORE)
    })?;
    let stage = Stage::bare(&args.longhaul)?;
    for _ in 0..SESSIONS {
        Started::by(knowing(&server, &mut stage.run_by(AGENT)))?;
    }
    let wait = |asked: &Asked| asked.results().len() == TURNS_BEFORE;
    until(|| Ok(server.asked().iter().filter(|asked| wait(asked)).count() == usize::from(SESSIONS)))?;
    let taken = each(args)?;
    may_go_on.store(true, Ordering::Relaxed);
    all_complete(&stage)?;
    Ok(taken)
}

fn of_hands(args: &Args) -> Result<f64, Failure> {
    let server = ModelServer::playing(Vec::new())?;
    let stage = Stage::bare(&args.longhaul)?;
    let program = json!(["sh", "-c", include_str!("models/agent.sh")]);
    stage.know(
        "hands",
        &format!("kind: acp\ncommand: {program}\nprovider: anthropic\nmodel: claude-haiku\n"),
    )?;
    let mut worktrees: Vec<PathBuf> = Vec::new();
    for _ in 0..SESSIONS {
        worktrees.push(Started::by(knowing(&server, &mut stage.run_by("hands")))?.worktree);
    }
    until(|| Ok(worktrees.iter().all(|worktree| worktree.join("ready").exists())))?;
    let taken = each(args)?;
    worktrees.iter().try_for_each(|worktree| fs::write(worktree.join("go"), ""))?;
    all_complete(&stage)?;
    Ok(taken)
}

fn each(args: &Args) -> Result<f64, Failure> {
    let memory = Memory::of(&args.longhaul)?;
    memory.look()?;
    Ok(memory.peak_mb() / f64::from(SESSIONS))
}

/// What was measured were sessions that worked.
fn all_complete(stage: &Stage) -> Result<(), Failure> {
    until(|| Ok(stage.finished()? == usize::from(SESSIONS)))?;
    let completed = stage.completed()?;
    if completed == usize::from(SESSIONS) {
        Ok(())
    } else {
        Err(format!("only {completed} of {SESSIONS} sessions came to a good end").into())
    }
}
