//! `longhaul help`: the help of any command, and with `--all` the whole tree.

use std::process::ExitCode;

use clap::CommandFactory as _;
use longhaul_runtime::types::closest;
use serde::Serialize;
use serde_json::json;

use super::{Cli, whole_tree};
use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// Show the help of a command, or with `--all` every command.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// List every command there is.
    #[arg(long, conflicts_with = "command")]
    all: bool,

    /// The command, such as `log show`.
    command: Vec<String>,
}

#[derive(Debug, Serialize)]
struct CommandRow {
    command: String,
    about: String,
}

impl Row for CommandRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("COMMAND", self.command.clone()), ("ABOUT", self.about.clone())]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    if args.all {
        let mut rows = Vec::new();
        list(&whole_tree(), "longhaul", &mut rows);
        context.output.rows(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut tree = Cli::command();
    tree.build();
    let mut found = &mut tree;
    for (depth, name) in args.command.iter().enumerate() {
        let names: Vec<String> = found.get_subcommands().map(|below| below.get_name().to_owned()).collect();
        let unknown = || {
            let near = closest(name, names.iter().map(String::as_str));
            let meant = near.map(|near| [&args.command[..depth], &[near.to_owned()]].concat().join(" "));
            CliError::UnknownCommand { words: args.command.join(" "), meant }
        };
        found = found.find_subcommand_mut(name).ok_or_else(unknown)?;
    }
    let help = found.render_long_help().to_string();
    context.output.text(&help, &json!({"help": help}))?;
    Ok(ExitCode::SUCCESS)
}

/// The verbs, each with the words that lead to it. What only groups verbs is not one.
fn list(command: &clap::Command, words: &str, rows: &mut Vec<CommandRow>) {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        let words = format!("{words} {}", below.get_name());
        if !below.is_subcommand_required_set() {
            let about = below.get_about().map(ToString::to_string).unwrap_or_default();
            rows.push(CommandRow { command: words.clone(), about });
        }
        list(below, &words, rows);
    }
}
