//! `longhaul daemon uninstall`: takes the unit away.

use std::process::ExitCode;

use longhaul_runtime::lifecycle::unit::{self, Edited, Manager};
use longhaul_runtime::terminal;
use serde_json::json;

use super::install::{ManagerName, manager};
use crate::context::Context;
use crate::error::CliError;

/// Take the unit away that `longhaul daemon install` wrote. A daemon that runs goes on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Remove a unit that somebody edited.
    #[arg(long)]
    force: bool,

    /// Who starts it; without it, whoever does on this system.
    #[arg(long, value_name = "MANAGER")]
    manager: Option<ManagerName>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    terminal::refuse_agents()?;
    let manager = manager(args.manager);
    let edited = if args.force { Edited::WrittenOver } else { Edited::Kept };
    let Some(place) = context.system()?.remove_unit(manager, edited)? else {
        context.output.say("no unit is installed, nothing was changed");
        context.output.text("", &json!({ "removed": null }))?;
        return Ok(ExitCode::SUCCESS);
    };
    let path = place.path.display().to_string();
    context
        .output
        .say(&format!("removed `{path}`; a daemon that runs goes on, `longhaul daemon stop` ends it"));
    if manager == Manager::Systemd {
        // The link that enabled it leads nowhere by now, and is taken away all the same.
        let told =
            unit::systemctl(&["disable", &place.name]).and_then(|()| unit::systemctl(&["daemon-reload"]));
        if let Err(error) = told {
            context.output.say(&format!("systemd was not told: {error}"));
        }
    }
    context.output.text("", &json!({ "removed": path }))?;
    Ok(ExitCode::SUCCESS)
}
