//! `longhaul restore`: puts a backup in place of the store.

use std::path::PathBuf;
use std::process::ExitCode;

use longhaul_runtime::maintenance;
use serde::Serialize;

use crate::context::Context;
use crate::error::{CliError, ENVIRONMENT};
use crate::output::{Row, count};

/// Put a backup in place of the store; what was there is set aside, not removed.
///
/// Nobody else may be using the store meanwhile.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A file that `longhaul backup` wrote.
    file: PathBuf,
}

#[derive(Debug, Serialize)]
struct RestoredRow {
    streams: u64,
    damaged_streams: Vec<String>,
    set_aside: Option<String>,
}

impl Row for RestoredRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let set_aside = self.set_aside.clone().unwrap_or_else(|| "nothing was there".to_owned());
        vec![("STREAMS", self.streams.to_string()), ("SET ASIDE", set_aside)]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let restored = maintenance::restore(system.places(), &args.file)?;
    let set_aside = restored.set_aside.map(|path| path.display().to_string());
    context.output.row(RestoredRow {
        streams: restored.streams,
        damaged_streams: restored.damaged.clone(),
        set_aside: set_aside.clone(),
    })?;
    context.output.say(&match set_aside {
        Some(path) => format!("restored; the database that was there before is now `{path}`"),
        None => "restored; there was no database before".to_owned(),
    });
    if !restored.damaged.is_empty() {
        let streams = count(restored.damaged.len() as u64, "damaged stream");
        context
            .output
            .say(&format!("the backup holds {streams}, so the store does too; see `longhaul doctor`"));
        return Ok(ExitCode::from(ENVIRONMENT));
    }
    Ok(ExitCode::SUCCESS)
}
