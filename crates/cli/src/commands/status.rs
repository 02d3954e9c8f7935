//! `longhaul status`: how things stand, in plain words.

use std::process::ExitCode;

use longhaul_runtime::types;

use crate::context::Context;
use crate::error::CliError;
use crate::output::lines;

/// Tell how things stand, in plain words: what waits for you, what is at work, what was done.
///
/// It is told from what is on record; no model is asked, and no daemon is needed. The other audiences get a text to pass on:
/// `stakeholder` tells progress, risks and deadlines without ids, paths and costs, `external` nothing but what was delivered
/// and what is in progress, by title.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Who is going to read it.
    #[arg(long, value_name = "WHO", value_enum, default_value_t)]
    audience: Audience,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum Audience {
    /// You: everything, with what to type.
    #[default]
    Owner,
    /// Those who wait for results: progress, risks, deadlines.
    Stakeholder,
    /// People outside: titles of what was delivered and is in progress.
    External,
}

impl From<Audience> for types::Audience {
    fn from(audience: Audience) -> Self {
        match audience {
            Audience::Owner => Self::Owner,
            Audience::Stakeholder => Self::Stakeholder,
            Audience::External => Self::External,
        }
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let briefing = context.system()?.desk()?.briefing(args.audience.into());
    context.output.text(&lines(&briefing.text(), ""), &briefing)?;
    Ok(ExitCode::SUCCESS)
}
