//! `longhaul forge issue new`: files an issue.

use std::process::ExitCode;

use longhaul_runtime::Error;
use longhaul_runtime::forge::{Forge as _, NewIssue};

use super::super::At;
use super::IssueRow;
use crate::context::Context;
use crate::error::CliError;

/// File an issue.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    title: String,

    /// What it is about.
    #[arg(long, value_name = "TEXT", default_value = "")]
    body: String,

    /// A label; may be given several times.
    #[arg(long = "label", value_name = "LABEL")]
    labels: Vec<String>,

    #[command(flatten)]
    at: At,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let (title, body, labels) = (args.title.clone(), args.body.clone(), args.labels.clone());
    let issue = args.at.find(context)?.open_issue(&NewIssue { title, body, labels }).map_err(Error::from)?;
    context.output.row(IssueRow(&issue))?;
    Ok(ExitCode::SUCCESS)
}
