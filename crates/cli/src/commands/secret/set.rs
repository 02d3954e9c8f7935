//! `longhaul secret set`: keeps a value under a name. The value is never an argument.

use std::io::{IsTerminal as _, stdin};
use std::process::ExitCode;

use longhaul_runtime::terminal;
use longhaul_runtime::{SecretChange, SecretWarning};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::input;
use crate::output::Row;

/// Keep a value under a name, readable for you alone.
///
/// The value is asked for and not shown, or read from standard input if that is no terminal; it is never an argument,
/// because arguments are seen by others and kept in the history of the shell.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to call it, in capitals, such as `FORGE_TOKEN`.
    name: String,

    // Whatever stands here is no value, and must not be repeated in a message about it.
    /// Read the value from standard input; a line break at its end does not count.
    #[arg(value_name = "-")]
    source: Vec<String>,
}

#[derive(Debug, Serialize)]
struct SetRow {
    name: String,
    change: SecretChange,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<SecretWarning>,
}

impl Row for SetRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let change = match self.change {
            SecretChange::Added => "added",
            SecretChange::Replaced => "replaced",
            SecretChange::Unchanged => "unchanged",
        };
        vec![("NAME", self.name.clone()), ("CHANGE", change.to_owned())]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    system.check_secret_name(&args.name)?;
    let value = match args.source.as_slice() {
        [] if stdin().is_terminal() => ask(&args.name)?,
        [] => from_stdin()?,
        [dash] if dash == "-" => from_stdin()?,
        _ => return Err(CliError::ValueAsArgument),
    };
    let set = system.set_secret(&args.name, &value)?;
    context.output.row(SetRow { name: args.name.clone(), change: set.change, warning: set.warning })?;
    match set.warning {
        None => {}
        Some(SecretWarning::TooShort) => context
            .output
            .say("warning: the value is so short that it is not looked for in what is stored; use a longer one"),
        Some(SecretWarning::Short) => context
            .output
            .say("warning: the value is short, and wherever these letters stand together they are taken out of what is stored; use a longer one"),
    }
    Ok(ExitCode::SUCCESS)
}

fn ask(name: &str) -> Result<String, CliError> {
    let value = terminal::ask_hidden(&format!("The value of {name} (it is not shown): "))?;
    value.ok_or(CliError::NoSecret)
}

fn from_stdin() -> Result<String, CliError> {
    let text = input::text("the value", "-")?;
    let line = text.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    Ok(line.unwrap_or(&text).to_owned())
}
