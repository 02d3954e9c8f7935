//! Finishing steps. Before each: `try N`; after each: `ack N HANDLE [again]`, where HANDLE is the next one.

use std::path::PathBuf;

use longhaul_core::handle::Handle;
use longhaul_events::StepId;
use longhaul_runtime::Commands;
use longhaul_runtime::opaque::{Answered, FinishRequest, NewSession, Next, StepRequest, ThenRequest};
use serde_json::{Value, json};

use crate::driver::{Failure, commands, say, store};

#[derive(Debug, clap::Args)]
pub(in crate::driver) struct Args {
    #[arg(long)]
    home: PathBuf,
    /// Go on from this handle; else a session is opened.
    #[arg(long)]
    handle: Option<String>,
    /// The number of the first step to finish.
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// How many steps to finish.
    #[arg(long, default_value_t = u64::MAX)]
    count: u64,
    /// How large each payload is.
    #[arg(long, default_value_t = 200)]
    bytes: usize,
    /// Go on after an error, with the same step.
    #[arg(long)]
    stubborn: bool,
    /// Say nothing but how long each step took, in microseconds.
    #[arg(long)]
    timed: bool,
}

pub(in crate::driver) fn run(args: &Args) -> Result<(), Failure> {
    let commands = commands(store(&args.home)?);
    let mut handle = match &args.handle {
        Some(handle) => handle.parse()?,
        None => open(&commands)?,
    };
    if args.timed {
        return timed(&commands, handle, args);
    }
    say(&format!("open {handle}"))?;
    for n in args.from..args.from.saturating_add(args.count) {
        say(&format!("try {n}"))?;
        let answered = loop {
            match commands.finish_step(request(handle, n, args.bytes)) {
                Ok(answered) => break answered,
                Err(error) if args.stubborn => {
                    say(&format!("error {} {error}", error.code().unwrap_or("-")))?;
                }
                Err(error) => return Err(error.into()),
            }
        };
        let Answered { next: Next::Step(next), replayed, .. } = answered else { return Err("closed".into()) };
        handle = next;
        say(&format!("ack {n} {handle}{}", if replayed { " again" } else { "" }))?;
    }
    Ok(())
}

fn timed(commands: &Commands, mut handle: Handle, args: &Args) -> Result<(), Failure> {
    let mut took = Vec::new();
    for n in args.from..args.from.saturating_add(args.count) {
        let start = std::time::Instant::now();
        let answered = commands.finish_step(request(handle, n, args.bytes))?;
        took.push(start.elapsed().as_micros());
        let Next::Step(next) = answered.next else { return Err("closed".into()) };
        handle = next;
    }
    took.into_iter().try_for_each(|micros| say(&format!("took {micros}")))
}

pub(in crate::driver) fn open(commands: &Commands) -> Result<Handle, Failure> {
    let id = commands.open_session(NewSession { goal: json!("drive"), workspace: None, parent: None })?;
    Ok(commands.hand_out(id, step(), None)?)
}

fn step() -> StepRequest {
    StepRequest { step: StepId("drive".to_owned()), prompt: json!("Go on.") }
}

/// The same for the same number, as a retry after a crash must be.
pub(in crate::driver) fn request(handle: Handle, n: u64, bytes: usize) -> FinishRequest {
    FinishRequest {
        handle,
        payload: json!({ "n": n, "filler": "x".repeat(bytes) }),
        answer: Value::from(n),
        then: ThenRequest::HandOut(step()),
        epoch: None,
    }
}
