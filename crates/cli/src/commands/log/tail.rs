//! `longhaul log tail`: events as they are committed.

use std::process::ExitCode;
use std::time::Duration;

use longhaul_runtime::types::Position;
use longhaul_runtime::{Reader, System};

use super::line::LogLine;
use crate::context::Context;
use crate::error::CliError;

/// Somebody who waits for a first event does not need it sooner.
const LOOK_FOR_STORE: Duration = Duration::from_millis(200);

/// How many looks a new store may take to become readable.
const MAKING_TAKES: u32 = 25;

/// Only bounds how long one wait lasts; the next begins at once.
const WAIT: Duration = Duration::from_hours(1);

/// Show events as they are committed, until interrupted.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// First show what was committed after this position; `log show --json` names positions.
    #[arg(long, value_name = "POSITION")]
    from: Option<u64>,

    /// First show all there is.
    #[arg(long, conflicts_with = "from")]
    all: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let (reader, was_there) = wait_for_store(context, &context.system()?)?;
    // The watch begins before the first look, so that nothing falls in between.
    let mut tail = reader.tail()?;
    let mut after = match args.from {
        Some(position) => Position(position),
        None if args.all || !was_there => Position(0),
        None => reader.last_position()?,
    };
    let mut table = context.output.table();
    loop {
        after = reader.walk(after, &mut |entry| table.show(&LogLine::of(entry)))?;
        context.output.flush()?;
        tail.wait(WAIT)?;
    }
}

/// The reader, and whether there was something to read when we came.
fn wait_for_store(context: &Context, system: &System) -> Result<(Reader, bool), CliError> {
    if let Some(reader) = system.reader()? {
        return Ok((reader, true));
    }
    context.output.say("there is no log yet; waiting for the first event");
    let mut patience = MAKING_TAKES;
    loop {
        match system.reader() {
            Ok(Some(reader)) => return Ok((reader, false)),
            Ok(None) => {}
            Err(error) if patience == 0 => return Err(error.into()),
            // It is there, but whoever makes it has not finished.
            Err(_) => patience -= 1,
        }
        std::thread::sleep(LOOK_FOR_STORE);
    }
}
