//! `longhaul proof verify`: whether a proof that somebody hands over agrees with itself, with git, and with this log.

use std::process::ExitCode;

use longhaul_runtime::types::proof;
use longhaul_runtime::{Error, ProofReport, System};
use serde::Serialize;

use crate::context::Context;
use crate::error::{CliError, REFUSED};
use crate::input;
use crate::output::lines;

/// Judge a proof, as JSON or as an in-toto statement: is it whole, is it about this repository, is it what this log has.
///
/// It exits with 0 if the log here has it, or the files of the task are here and merge to its result once more, and nothing
/// speaks against it; else with 3. That it holds does not make its outcome
/// `passed`: read it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file, or `-` for standard input.
    #[arg(value_name = "FILE")]
    file: String,
}

#[derive(Debug, Serialize)]
struct Judged {
    holds: bool,
    outcome: &'static str,
    because: String,
    /// What was looked at and is right.
    right: Vec<String>,
    /// What was looked at and is not.
    wrong: Vec<String>,
    /// What nobody could look at here, and why.
    open: Vec<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let named = if args.file == "-" { "-".to_owned() } else { format!("@{}", args.file) };
    let text = input::text("the proof", &named)?;
    let system = context.system()?;
    let unreadable =
        |problem: proof::Unfit| CliError::BadInput { what: "the proof", problem: problem.to_string() };
    let mut report = system.verify_proof(&text).map_err(unreadable)?;
    compare(&system, &mut report)?;
    let judged = Judged {
        holds: report.holds(),
        outcome: report.proof.outcome.word(),
        because: report.proof.because,
        right: report.right,
        wrong: report.wrong,
        open: report.open,
    };
    context.output.text(&words(&judged), &judged)?;
    Ok(if judged.holds { ExitCode::SUCCESS } else { ExitCode::from(REFUSED) })
}

/// Holds a proof against the one that the log here has of the same session.
fn compare(system: &System, report: &mut ProofReport) -> Result<(), CliError> {
    let session = report.proof.session.clone();
    let missing = || Error::NoSuchSession(session.clone());
    let reader = system.reader()?;
    let found = reader.ok_or_else(missing).and_then(|reader| {
        let view = reader.find_task(&session)?;
        reader.proof_of_task(&view)
    });
    match found {
        Ok(own) if own == report.proof => {
            report.is_known_here = true;
            report.right.push("it is the one that the log here has of its task".to_owned());
        }
        Ok(_) => report.wrong.push("the log here has another proof of its task".to_owned()),
        Err(Error::NoSuchSession(_) | Error::Task(_)) => {
            report.open.push("the log here has no proof of its task".to_owned());
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

fn words(judged: &Judged) -> String {
    let holds = match (judged.holds, judged.wrong.is_empty()) {
        (true, _) => "nothing speaks against the proof",
        (false, true) => "nobody can tell here whether the proof holds",
        (false, false) => "the proof does NOT hold",
    };
    let mut text = lines(&format!("{holds}; it says {}: {}", judged.outcome, judged.because), "");
    let parts = [("right", &judged.right), ("WRONG", &judged.wrong), ("open", &judged.open)];
    for (word, found) in parts {
        text += &found.iter().map(|one| lines(&format!("{word}: {one}"), "  ")).collect::<String>();
    }
    text
}
