//! The binary `longhaul`: reads the command line, runs one verb, and says by its exit code how it went.

mod called;
mod commands;
mod context;
mod error;
mod following;
mod input;
mod moment;
mod output;
mod progress;
mod step;
mod usage;
mod words;
mod worked;

use std::ffi::OsString;
use std::io::Write as _;
use std::panic;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser as _};
use longhaul_runtime::sandbox;
use longhaul_runtime::types::closest;

use crate::commands::Cli;
use crate::context::Context;

/// How a session's own process is started.
const OWN_VERB: &str = "runner";

/// What a bug exits with.
const BUG: u8 = 70;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if asks_for_version(&arguments) {
        return say_version();
    }
    // Not a verb for people: it is told everything through standard input, and must not have started a thread.
    if matches!(&arguments[..], [_, only] if only == sandbox::INIT_VERB) {
        return sandbox::init_main();
    }
    // The panic has been reported by then; all that is left is to exit as a bug does.
    panic::catch_unwind(|| run(&arguments)).unwrap_or_else(|_| ExitCode::from(BUG))
}

fn run(arguments: &[OsString]) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(answer) => {
            let answer = for_people(answer);
            let exit = u8::try_from(answer.exit_code()).unwrap_or(BUG);
            if answer.use_stderr() && asks_for_json(arguments) {
                error::report_usage(&answer.render().to_string(), exit);
            } else {
                // Help or a usage error; whoever closed the pipe does not want either.
                let _ = answer.print();
            }
            return ExitCode::from(exit);
        }
    };
    let checked = cli.globals.check(arguments);
    let context = Context::new(cli.globals);
    let result = checked.and_then(|()| cli.command.run(&context)).and_then(|code| {
        context.output.flush()?;
        Ok(code)
    });
    match result {
        Ok(code) => code,
        Err(error) if context.output.is_closed() && error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => error.report(&context.output),
    }
}

/// What only our own processes call is nothing to suggest.
fn for_people(mut answer: clap::Error) -> clap::Error {
    let Some(ContextValue::Strings(mut suggested)) = answer.remove(ContextKind::SuggestedSubcommand) else {
        return answer;
    };
    suggested.retain(|verb| verb != OWN_VERB);
    // The nearest verb for people was behind it.
    if suggested.is_empty() {
        let wanted = answer.get(ContextKind::InvalidSubcommand).map(ToString::to_string).unwrap_or_default();
        let verbs = Cli::command();
        let verbs: Vec<&str> =
            verbs.get_subcommands().map(clap::Command::get_name).filter(|verb| *verb != OWN_VERB).collect();
        suggested.extend(closest(&wanted, verbs.iter().copied()).map(str::to_owned));
    }
    if !suggested.is_empty() {
        answer.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(suggested));
    }
    answer
}

/// Scripts ask this often, so it is answered before anything is built.
fn asks_for_version(arguments: &[OsString]) -> bool {
    matches!(arguments, [_, only] if only == "--version" || only == "-V")
}

/// Asked of a line that could not be understood as a whole.
fn asks_for_json(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

fn say_version() -> ExitCode {
    match writeln!(std::io::stdout(), "longhaul {}", env!("CARGO_PKG_VERSION")) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => ExitCode::from(error::ENVIRONMENT),
        _ => ExitCode::SUCCESS,
    }
}
