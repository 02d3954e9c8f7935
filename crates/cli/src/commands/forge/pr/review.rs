//! `longhaul forge pr review`: a word about a pull request.

use std::process::ExitCode;

use longhaul_runtime::forge::{Forge as _, NewReview, Review, ReviewVerdict};
use longhaul_runtime::{Error, terminal};
use serde::Serialize;

use super::super::At;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// Approve a pull request, or ask for changes. Nobody approves their own.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("verdict").required(true))]
pub(crate) struct Args {
    number: u64,

    #[arg(long, group = "verdict")]
    approve: bool,

    #[arg(long, group = "verdict")]
    request_changes: bool,

    /// What you have to say.
    #[arg(long, value_name = "TEXT", default_value = "")]
    body: String,

    #[command(flatten)]
    at: At,
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
struct ReviewRow(Review);

impl Row for ReviewRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let verdict = match self.0.verdict {
            ReviewVerdict::Approved => "approved",
            ReviewVerdict::ChangesRequested => "changes requested",
            ReviewVerdict::Commented => "commented",
        };
        vec![
            ("AUTHOR", self.0.author.clone()),
            ("VERDICT", verdict.to_owned()),
            ("BODY", self.0.body.clone()),
        ]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    terminal::refuse_agents()?;
    let verdict = if args.approve { ReviewVerdict::Approved } else { ReviewVerdict::ChangesRequested };
    let review = NewReview { verdict, body: args.body.clone() };
    let review = args.at.find(context)?.review(args.number, &review).map_err(Error::from)?;
    context.output.row(ReviewRow(review))?;
    Ok(ExitCode::SUCCESS)
}
