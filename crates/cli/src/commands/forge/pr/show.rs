//! `longhaul forge pr show`: one pull request, whole.

use std::process::ExitCode;

use longhaul_runtime::Error;
use longhaul_runtime::forge::Forge as _;

use super::super::At;
use super::{PullRow, state_word};
use crate::context::Context;
use crate::error::CliError;
use crate::output::lines;

/// Show a pull request with its text, comments and reviews.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    number: u64,

    #[command(flatten)]
    at: At,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let pull = args.at.find(context)?.pull(args.number).map_err(Error::from)?;
    let mut text =
        lines(&format!("#{} {} ({}, by {})", pull.number, pull.title, state_word(&pull), pull.author), "");
    text += &lines(&format!("{} into {}", pull.head, pull.base), "");
    if let Some(merged) = &pull.merged {
        text += &lines(&format!("merged as {}", merged.commit), "");
    }
    text += &lines(&pull.body, "  ");
    for comment in &pull.comments {
        text += &lines(&format!("{}:", comment.author), "");
        text += &lines(&comment.body, "  ");
    }
    for review in &pull.reviews {
        text += &lines(&format!("{} ({:?}): {}", review.author, review.verdict, review.body), "");
    }
    context.output.text(&text, &PullRow(&pull))?;
    Ok(ExitCode::SUCCESS)
}
