//! `longhaul log show`: the events of one stream or of all.

use std::process::ExitCode;

use longhaul_runtime::types::Position;

use super::line::LogLine;
use crate::context::Context;
use crate::error::{CliError, ENVIRONMENT};
use crate::output::count;

/// Show the events of one stream, or of all in the order of commits.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A stream, such as `session/s-041061050r3gg`, or only its id.
    stream: Option<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let Some(reader) = context.system()?.reader()? else {
        context.output.say("there is no log yet");
        return Ok(ExitCode::SUCCESS);
    };
    let mut table = context.output.table();
    let mut damaged = 0;
    match &args.stream {
        Some(text) => {
            let stream = reader.find_stream(text)?;
            reader.events(Some(&stream), &mut |row| table.show(&LogLine::event(row)))?;
        }
        None => {
            reader.walk(Position(0), &mut |entry| {
                let line = LogLine::of(entry);
                damaged += u64::from(line.is_damaged());
                table.show(&line)
            })?;
        }
    }
    if damaged == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    context.output.say(&format!("{} damaged; see `longhaul doctor`", count(damaged, "decision")));
    Ok(ExitCode::from(ENVIRONMENT))
}
