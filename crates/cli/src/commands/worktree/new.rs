//! `longhaul worktree new`: files of its own for a session.

use std::process::ExitCode;

use longhaul_runtime::types::CheckoutKind;
use longhaul_runtime::{NewWorktree, SecretFiles, SetupReport, terminal};
use serde::Serialize;

use super::short;
use crate::context::Context;
use crate::error::{CliError, REFUSED};
use crate::output::Row;

/// Make a worktree for a session, from the newest commit of the base branch.
///
/// It is a clone that borrows the objects of your repository and never writes to it. `checkout:` in the
/// configuration says which files it gets beside those that are committed, which commands make it ready, and how many
/// ports it has.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session, or the beginning of its id.
    #[arg(value_name = "ID")]
    session: String,

    /// The branch to start from; without it, the default branch.
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,

    /// Make a linked worktree, as `git worktree add` does, instead of a clone.
    #[arg(long)]
    linked: bool,

    /// Leave out files that the configuration marks as secret.
    #[arg(long)]
    without_secrets: bool,
}

#[derive(Debug, Serialize)]
struct NewRow {
    name: String,
    session: String,
    branch: String,
    base_branch: String,
    base_commit: String,
    ports: Vec<u16>,
    setup: Option<&'static str>,
    path: String,
}

impl Row for NewRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![
            ("NAME", self.name.clone()),
            ("BRANCH", self.branch.clone()),
            ("BASE", format!("{} {}", self.base_branch, short(&self.base_commit))),
            ("PATH", self.path.clone()),
        ]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (_, row) = crate::commands::session::find(&system, &args.session)?;
    let kind = if args.linked { CheckoutKind::Linked } else { CheckoutKind::Borrowed };
    let secrets = if args.without_secrets { SecretFiles::Withhold } else { SecretFiles::Give };
    let (session, base, by) = (row.id, args.base.clone(), terminal::user_name());
    let made =
        system.make_worktree(&system.commands()?, &NewWorktree { session, kind, base, secrets, by })?;
    made.warnings.iter().for_each(|warning| context.output.say(warning));
    let setup = system.set_up_worktree(session)?;
    let failed = setup.as_ref().filter(|report| !report.succeeded());
    if let Some(outcome) = failed.and_then(|report| report.outcomes.last()) {
        context.output.complain(&terminal::visible(&outcome.output));
        context.output.say(&format!("set-up `{}`: {}", outcome.run.join(" "), outcome.outcome));
    }
    let setup_failed = failed.is_some();
    let word = |report: &SetupReport| if report.succeeded() { "passed" } else { "failed" };
    let checkout = made.checkout;
    context.output.row(NewRow {
        name: checkout.name,
        session: session.to_string(),
        branch: checkout.branch,
        base_branch: checkout.base_branch,
        base_commit: checkout.base_commit,
        ports: checkout.ports,
        setup: setup.as_ref().map(word),
        path: checkout.path,
    })?;
    Ok(if setup_failed { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS })
}
