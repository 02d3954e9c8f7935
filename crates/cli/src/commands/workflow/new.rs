//! `longhaul workflow new`: a file to begin with.

use std::path::PathBuf;
use std::process::ExitCode;

use longhaul_runtime::workflows::{NewWorkflow, Where, is_id};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// Write a commented workflow file to begin with; nothing is overwritten.
///
/// It is valid as it is. Without an option it goes to your own folder, where it can be used from everywhere.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to call it, such as `team.small-fix`.
    #[arg(value_parser = id)]
    id: String,

    /// Put it in this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "workspace")]
    dir: Option<PathBuf>,

    /// Put it in `.longhaul/workflows/` of the repository. What is trusted there stays so only if a person runs this
    /// at a terminal.
    #[arg(long)]
    workspace: bool,
}

fn id(text: &str) -> Result<String, String> {
    if is_id(text) {
        return Ok(text.to_owned());
    }
    Err("use small letters, digits and `-`, with dots between parts, such as `team.small-fix`".to_owned())
}

#[derive(Debug, Serialize)]
struct CreatedRow {
    id: String,
    path: String,
    trusted: Option<bool>,
}

impl Row for CreatedRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("ID", self.id.clone()), ("PATH", self.path.clone())]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let place = match &args.dir {
        Some(folder) => Where::Folder(folder),
        None if args.workspace => Where::Workspace,
        None => Where::User,
    };
    let created = context.system()?.new_workflow(&NewWorkflow { id: &args.id, place })?;
    let path = created.path.display().to_string();
    context.output.row(CreatedRow { id: args.id.clone(), path: path.clone(), trusted: created.trusted })?;
    if created.trusted == Some(false) {
        context.output.say("`.longhaul/` is not trusted as it is now, so it does not start before a person runs `longhaul workspace trust`");
    }
    context.output.say(&format!("change it, then run `longhaul workflow validate {path}`"));
    Ok(ExitCode::SUCCESS)
}
