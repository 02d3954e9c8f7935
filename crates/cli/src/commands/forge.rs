//! `longhaul forge`: a forge on this machine, for trying things out.

mod init;
mod issue;
mod pr;

use std::path::PathBuf;
use std::process::ExitCode;

use longhaul_runtime::forge::LocalForge;

use crate::context::Context;
use crate::error::CliError;

/// A forge on this machine, for trying things out: issues, pull requests and reviews in a bare repository.
///
/// It has what deliveries need of a real forge, and no network. A repository whose `origin` is such a path is delivered
/// to there.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    Init(init::Args),
    #[command(subcommand)]
    Issue(issue::Command),
    #[command(subcommand)]
    Pr(pr::Command),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::Init(args) => init::run(context, args),
            Self::Issue(command) => command.run(context),
            Self::Pr(command) => command.run(context),
        }
    }
}

/// Which forge, and who asks.
#[derive(Debug, clap::Args)]
struct At {
    /// The forge; without it, the one that the repository here has for its remote.
    #[arg(long, value_name = "PATH")]
    forge: Option<PathBuf>,

    /// The account that asks.
    #[arg(long = "as", value_name = "ACCOUNT", default_value = "person")]
    account: String,
}

impl At {
    fn find(&self, context: &Context) -> Result<LocalForge, CliError> {
        Ok(context.system()?.find_forge(self.forge.as_deref(), &self.account)?)
    }
}
