//! `longhaul session import`: takes in a session from elsewhere.

use std::path::PathBuf;
use std::process::ExitCode;

use longhaul_runtime::types::SessionStatus;

use super::row::SessionLine;
use crate::context::Context;
use crate::error::CliError;
use crate::input::export;

/// Take in what `longhaul session export` wrote: all of it, or nothing if any of it does not fit.
///
/// The session goes on with the same handles. Commands of its workflow run only in a workspace that is registered
/// here, and trusted if it has a `.longhaul/`. Answers to gates and commands in it would count as if they had come
/// about here: they are shown on the terminal, and a person has to type a word for them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file, or `-` for standard input.
    file: PathBuf,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let imported = system.commands()?.import_sessions(&mut *export(&args.file)?)?;
    let Some(reader) = system.reader()? else { return Ok(ExitCode::SUCCESS) };
    let rows: Vec<_> =
        reader.sessions()?.into_iter().filter(|row| imported.sessions.contains(&row.id)).collect();
    for row in rows.iter().filter(|row| row.status == SessionStatus::Open) {
        if let Some(why) = reader.cannot_follow(row.id)? {
            context.output.say(&format!(
                "nobody can go on with {}: {why}; `longhaul session show` tells what happened",
                row.id
            ));
        }
    }
    let known: Vec<_> = reader.workspaces()?.into_iter().map(|workspace| workspace.id).collect();
    let strange = rows.iter().filter_map(|row| row.workspace).any(|workspace| !known.contains(&workspace));
    let is_open = rows.iter().any(|row| row.status == SessionStatus::Open);
    context.output.rows(&rows.into_iter().map(SessionLine::of).collect::<Vec<_>>())?;
    if imported.decisions == 0 {
        context.output.say("all of it was here already");
    }
    if imported.scrubbed > 0 {
        context.output.say(&format!("secrets were taken out of {} decisions", imported.scrubbed));
    }
    if strange {
        context.output.say("its workspace is not registered here, so it cannot run commands");
    }
    if is_open {
        context.output.say("go on with the handle that you have, or `longhaul session resume ID` shows it");
    } else {
        context.output.say("it is closed; `longhaul session show ID` tells what happened");
    }
    Ok(ExitCode::SUCCESS)
}
