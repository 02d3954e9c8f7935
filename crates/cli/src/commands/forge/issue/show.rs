//! `longhaul forge issue show`: one issue, whole.

use std::process::ExitCode;

use longhaul_runtime::Error;
use longhaul_runtime::forge::Forge as _;

use super::super::At;
use super::IssueRow;
use crate::context::Context;
use crate::error::CliError;
use crate::output::lines;

/// Show an issue with its text and comments.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    number: u64,

    #[command(flatten)]
    at: At,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let issue = args.at.find(context)?.issue(args.number).map_err(Error::from)?;
    let mut text =
        lines(&format!("#{} {} ({:?}, by {})", issue.number, issue.title, issue.state, issue.author), "");
    text += &lines(&issue.body, "  ");
    for comment in &issue.comments {
        text += &lines(&format!("{}:", comment.author), "");
        text += &lines(&comment.body, "  ");
    }
    context.output.text(&text, &IssueRow(&issue))?;
    Ok(ExitCode::SUCCESS)
}
