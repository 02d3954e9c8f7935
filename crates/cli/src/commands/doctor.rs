//! `longhaul doctor`: every problem by name, with what to do about it.

use std::process::ExitCode;

use longhaul_runtime::types::Recovered;
use longhaul_runtime::{Diagnosis, Status, System, maintenance};
use serde::Serialize;

use crate::context::Context;
use crate::error::{CliError, ENVIRONMENT};
use crate::output::{Row, count};
use crate::progress::Bar;

/// Look at everything and name each problem with its remedy.
///
/// Exits with 0 if nothing is wrong (there may be warnings), and with 4 if there are problems.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// First make anew all that can be made from the log: the heads of streams, the views.
    #[arg(long, conflicts_with = "recover")]
    rebuild: bool,

    /// Build a new database from all that can still prove itself.
    ///
    /// Streams that lost events are kept to be read and exported, but do not go on. The damaged database is
    /// set aside, not removed. Nobody else may be using it meanwhile.
    #[arg(long)]
    recover: bool,
}

#[derive(Debug, Serialize)]
struct DiagnosisRow<'a> {
    status: &'static str,
    subject: &'a str,
    finding: &'a str,
    remedy: Option<&'a str>,
}

impl Row for DiagnosisRow<'_> {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![
            ("STATUS", self.status.to_owned()),
            ("SUBJECT", self.subject.to_owned()),
            // A message with an excerpt says in its first two lines what is wrong.
            ("FINDING", self.finding.lines().take(2).collect::<Vec<_>>().join(": ")),
        ]
    }

    fn note(&self) -> Option<String> {
        self.remedy.map(|remedy| format!("remedy: {remedy}"))
    }
}

impl<'a> DiagnosisRow<'a> {
    fn of(diagnosis: &'a Diagnosis) -> Self {
        let status = match diagnosis.status {
            Status::Healthy => "ok",
            Status::Warning => "warning",
            Status::Problem => "problem",
        };
        let Diagnosis { subject, finding, remedy, .. } = diagnosis;
        Self { status, subject, finding, remedy: remedy.as_deref() }
    }
}

#[derive(Debug, Serialize)]
struct SalvagedRow<'a> {
    stream: &'a str,
    verdict: &'static str,
    reason: Option<&'a str>,
}

impl Row for SalvagedRow<'_> {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![
            ("STREAM", self.stream.to_owned()),
            ("VERDICT", self.verdict.to_owned()),
            ("REASON", self.reason.unwrap_or_default().to_owned()),
        ]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    if args.recover {
        return recover(context, &system);
    }
    if args.rebuild {
        rebuild(context, &system)?;
    }
    checkup(context, &system)
}

fn checkup(context: &Context, system: &System) -> Result<ExitCode, CliError> {
    let checkup = system.checkup(&mut Bar::new(&context.output));
    let rows: Vec<DiagnosisRow<'_>> = checkup.diagnoses.iter().map(DiagnosisRow::of).collect();
    context.output.rows(&rows)?;
    let (problems, warnings) = (checkup.problems(), checkup.warnings());
    context.output.say(&match (problems, warnings) {
        (0, 0) => "all is well".to_owned(),
        _ => format!("{}, {}", count(problems as u64, "problem"), count(warnings as u64, "warning")),
    });
    Ok(if problems == 0 { ExitCode::SUCCESS } else { ExitCode::from(ENVIRONMENT) })
}

fn rebuild(context: &Context, system: &System) -> Result<(), CliError> {
    let Some(commands) = system.existing_commands()? else {
        context.output.say("there is no database yet, so there was nothing to rebuild");
        return Ok(());
    };
    let heads = commands.rebuild()?;
    context.output.say(&format!("made the views anew, and the heads of {}", count(heads, "stream")));
    Ok(())
}

fn recover(context: &Context, system: &System) -> Result<ExitCode, CliError> {
    let Some(recovered) = maintenance::recover(system.places())? else {
        let whole = "the database is whole: nothing needs recovering, and nothing was changed";
        context.output.say(&format!("{whole}; `longhaul doctor` shows what else may be wrong"));
        return Ok(ExitCode::SUCCESS);
    };
    let Recovered { intact, quarantined, blobs, lost, set_aside, set_aside_before } = recovered;
    let whole = intact.iter().map(|stream| SalvagedRow { stream, verdict: "intact", reason: None });
    let torn = quarantined.iter().map(|(stream, reason)| SalvagedRow {
        stream,
        verdict: "quarantined",
        reason: Some(reason),
    });
    let rows: Vec<SalvagedRow<'_>> = whole.chain(torn).collect();
    context.output.rows(&rows)?;
    context.output.say(&format!(
        "brought over {}, {} of them quarantined, and {}",
        count(rows.len() as u64, "stream"),
        quarantined.len(),
        count(blobs, "blob")
    ));
    if let Some(path) = set_aside {
        context.output.say(&format!("the damaged database is now `{}`", path.display()));
    }
    if lost > 0 {
        let decisions = count(lost, "committed decision");
        context
            .output
            .say(&format!("{decisions} could not be found; if a backup holds more, restore it instead"));
    }
    for path in set_aside_before {
        context.output.say(&format!(
            "`{}` was set aside before; `longhaul restore` puts it back if it holds more",
            path.display()
        ));
    }
    Ok(if quarantined.is_empty() && lost == 0 { ExitCode::SUCCESS } else { ExitCode::from(ENVIRONMENT) })
}
