//! One act on the worktree of a session, in a process that a test may kill in the middle.

use std::collections::BTreeMap;
use std::path::PathBuf;

use longhaul_runtime::types::{CheckoutKind, SessionId};
use longhaul_runtime::{
    Clean, CleanMode, CleanState, NewWorktree, Places, SecretFiles, Settings, System, Unmerged,
};

use super::{Failure, say};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[arg(long)]
    home: PathBuf,
    /// In the repository.
    #[arg(long)]
    directory: PathBuf,
    #[arg(long)]
    session: String,
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    /// Make the worktree and print its path.
    Make {
        #[arg(long)]
        linked: bool,
    },
    /// Take a snapshot and print its id.
    Snapshot,
    Restore {
        snapshot: String,
    },
    /// Remove it if it may go, and print how many did.
    Clean,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let system = System::new(Settings {
        places: Places::under(&args.home),
        variables: BTreeMap::new(),
        directory: args.directory.clone(),
        flags: Vec::new(),
    });
    let session: SessionId = args.session.parse()?;
    let commands = system.commands()?;
    match &args.act {
        Act::Make { linked } => {
            let kind = if *linked { CheckoutKind::Linked } else { CheckoutKind::Borrowed };
            let (secrets, by) = (SecretFiles::Give, "test".to_owned());
            let new = NewWorktree { session, kind, base: None, secrets, by };
            say(&system.make_worktree(&commands, &new)?.checkout.path)
        }
        Act::Snapshot => {
            let kept = system.keep_worktree(&commands, session, "a step ended")?;
            say(&kept.map_or_else(|| "-".to_owned(), |kept| kept.snapshot))
        }
        Act::Restore { snapshot } => {
            system.restore_worktree(&commands, session, snapshot)?;
            say("restored")
        }
        Act::Clean => {
            let (only, mode, by) = (None, CleanMode::Apply, "test".to_owned());
            let clean = Clean { only, mode, unmerged: Unmerged::Stays, by };
            let rows = system.clean_worktrees(&commands, &clean)?;
            say(&rows.iter().filter(|row| row.state == CleanState::Removed).count().to_string())
        }
    }
}
