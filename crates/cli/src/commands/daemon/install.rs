//! `longhaul daemon install`: has the service manager of this user start the daemon.

use std::process::ExitCode;

use clap::ValueEnum;
use longhaul_runtime::lifecycle::unit::{self, Edited, Manager, UnitFile, Written};
use longhaul_runtime::terminal;
use serde_json::json;

use crate::called;
use crate::context::Context;
use crate::error::CliError;

/// Have the daemon start with your session: a user unit for systemd, or an agent for launchd.
///
/// Shows what it wrote. No secret is in it, and of your environment only where things are; keys come from `longhaul secret set`.
/// A unit that somebody edited is left as it is.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only show what would be written.
    #[arg(long)]
    print: bool,

    /// Write over a unit that somebody edited.
    #[arg(long, conflicts_with = "print")]
    force: bool,

    /// Who starts it; without it, whoever does on this system.
    #[arg(long, value_name = "MANAGER")]
    manager: Option<ManagerName>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ManagerName {
    Systemd,
    Launchd,
}

pub(super) fn manager(name: Option<ManagerName>) -> Manager {
    match name {
        Some(ManagerName::Systemd) => Manager::Systemd,
        Some(ManagerName::Launchd) => Manager::Launchd,
        None => Manager::of_this_system(),
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let manager = manager(args.manager);
    let file = system.unit_file(&called::program()?, manager)?;
    let path = file.path.display().to_string();
    if args.print {
        context.output.text(&file.text, &json!({ "file": path, "text": file.text }))?;
        return Ok(ExitCode::SUCCESS);
    }
    terminal::refuse_agents()?;
    let edited = if args.force { Edited::WrittenOver } else { Edited::Kept };
    let written = system.write_unit(&file, edited)?;
    let change = match written {
        Written::New => "wrote",
        Written::Updated => "wrote anew",
        Written::Unchanged => "unchanged",
    };
    let said = match written {
        Written::New | Written::Updated => format!("{change} `{path}`"),
        Written::Unchanged => format!("`{path}` is up to date, nothing was changed"),
    };
    context.output.say(&said);
    let enabled = match manager {
        Manager::Systemd => Some(enable(context, &file)),
        Manager::Launchd => {
            context.output.say(&format!("load it with `launchctl bootstrap gui/$(id -u) {path}`"));
            None
        }
    };
    let row =
        json!({ "file": path, "name": file.name, "change": change, "enabled": enabled, "text": file.text });
    context.output.text(&file.text, &row)?;
    Ok(ExitCode::SUCCESS)
}

/// A manager that cannot be asked here is told of, and is no reason to take the unit away.
fn enable(context: &Context, file: &UnitFile) -> bool {
    let asked = unit::systemctl(&["daemon-reload"]).and_then(|()| unit::systemctl(&["enable", &file.name]));
    let UnitFile { name, .. } = file;
    match asked {
        Ok(()) => {
            context.output.say(&format!(
                "it starts with your session; `systemctl --user start {name}` starts it now, `loginctl enable-linger` has it go on after you log out"
            ));
            true
        }
        Err(error) => {
            context.output.say(&format!(
                "systemd was not told: {error}; run `systemctl --user daemon-reload` and `systemctl --user enable --now {name}` where it runs"
            ));
            false
        }
    }
}
