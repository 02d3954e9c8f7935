//! `longhaul stop`: ends sessions with all that runs for them.

use std::process::ExitCode;

use longhaul_runtime::types::{SessionId, SessionStatus, Urgency};
use longhaul_runtime::{Reader, Stop, TaskView, terminal};

use super::session::{SessionLine, find};
use super::task::TaskLine;
use crate::context::Context;
use crate::error::CliError;
use crate::output::count;

/// End a session or a whole task for good, with every process that runs for it.
///
/// A call that is under way has ten seconds to end. All files are kept in a snapshot, and what was done stays in the log.
/// What is stopped does not go on again: start another run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session or the task, or the beginning of its id.
    #[arg(value_name = "SESSION|TASK", required_unless_present = "all", conflicts_with = "all")]
    session: Option<String>,

    /// Every session that an agent of ours does.
    #[arg(long)]
    all: bool,

    /// Do not wait for the call that is under way.
    #[arg(long)]
    now: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let urgency = if args.now { Urgency::Now } else { Urgency::AfterGrace };
    let stop = Stop { urgency, by: terminal::user_name(), reason: None };
    if let Some(task) = args.session.as_ref().filter(|text| text.starts_with("t-")) {
        let (reader, view) = super::task::find(&system, task)?;
        let open: Vec<SessionId> = sessions_at_work(&view);
        if !open.is_empty() {
            waits(context, urgency, open.len());
        }
        system.cancel_task(&system.commands()?, view.id, &stop)?;
        context.output.row(TaskLine::of(&reader.find_task(&view.id.to_string())?))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(session) = &args.session {
        let (reader, row) = find(&system, session)?;
        if row.driven.agent.is_some() && row.status == SessionStatus::Open {
            waits(context, urgency, 1);
        }
        system.stop(&system.commands()?, row.id, &stop)?;
        return show(context, &reader, &[row.id]);
    }
    let Some(reader) = system.reader()? else {
        context.output.say("no agent of ours is at work");
        return Ok(ExitCode::SUCCESS);
    };
    let rows = reader.sessions()?.into_iter().filter(|row| row.status == SessionStatus::Open);
    let (damaged, whole): (Vec<_>, Vec<_>) = rows.partition(|row| row.damage.is_some());
    for row in damaged {
        let damage = row.damage.unwrap_or_default();
        let id = row.id;
        context.output.complain(&format!(
            "session {id} is damaged ({damage}), so it is not stopped if an agent does it; see `longhaul doctor`"
        ));
    }
    let ids: Vec<SessionId> =
        whole.into_iter().filter(|row| row.driven.agent.is_some()).map(|row| row.id).collect();
    if !ids.is_empty() {
        waits(context, urgency, ids.len());
    }
    system.stop_all(&system.commands()?, &ids, &stop)?;
    context.output.say(&format!("{} stopped", count(ids.len() as u64, "session")));
    show(context, &reader, &ids)
}

fn sessions_at_work(view: &TaskView) -> Vec<SessionId> {
    let open = view.sessions.iter().filter(|row| row.status == SessionStatus::Open);
    open.filter(|row| row.driven.agent.is_some()).map(|row| row.id).collect()
}

/// Nobody should wonder whether anything happens.
fn waits(context: &Context, urgency: Urgency, sessions: usize) {
    let sessions = count(sessions as u64, "session");
    context.output.say(&match urgency {
        Urgency::AfterGrace => {
            format!("stopping {sessions}: what is under way has 10 s to end; `--now` does not wait for it")
        }
        Urgency::Now => format!("stopping {sessions} at once: what runs is ended, and the files are kept"),
    });
}

fn show(context: &Context, reader: &Reader, ids: &[SessionId]) -> Result<ExitCode, CliError> {
    let rows: Result<Vec<SessionLine>, CliError> =
        ids.iter().map(|id| Ok(SessionLine::of(reader.find_session(&id.to_string())?))).collect();
    context.output.rows(&rows?)?;
    Ok(ExitCode::SUCCESS)
}
