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

use std::ffi::OsString;
use std::io::Write as _;
use std::panic;
use std::process::ExitCode;

use clap::Parser as _;
use longhaul_runtime::sandbox;

use crate::commands::Cli;
use crate::context::Context;

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
