//! `longhaul session replay`: does what a session did once more, and compares.

use std::process::ExitCode;

use longhaul_runtime::{ChangedFile, Replay, Replayed, terminal};
use serde::Serialize;

use super::find;
use crate::context::Context;
use crate::error::{CliError, REFUSED};
use crate::following::Following;
use crate::output::{count, lines};

/// Do what the agent of a session did once more, in a fresh worktree from the same commit, and compare the files.
///
/// A rehearsal plays what `longhaul session record` writes. The exit code is 0 if both came to the same files, 3 if not. Ctrl-C
/// stops the replay for good, a second one at once.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session, or the beginning of its id.
    #[arg(value_name = "ID")]
    session: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Compared {
    session_id: String,
    replay: String,
    worktree: String,
    same: bool,
    complete: bool,
    original_tree: String,
    replayed_tree: String,
    differences: Vec<Difference>,
    remarks: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Difference {
    change: &'static str,
    path: String,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (_, row) = find(&system, &args.session)?;
    let commands = system.commands()?;
    terminal::catch_interrupts();
    let Replay { drive, mut remarks } = system.replay(&commands, row.id, &terminal::user_name())?;
    context.output.say(&format!("session {} replays {} in {}", drive.session, row.id, drive.worktree));
    context.output.say(&format!(
        "it plays {} again; `longhaul session tail {}` follows it, Ctrl-C stops it",
        count(row.driven.spent.turns, "turn"),
        drive.session
    ));
    remarks.extend(drive.warnings);
    remarks.iter().for_each(|remark| context.output.say(&format!("warning: {remark}")));
    let mut following = Following::new(context, &system, &commands, drive.session);
    let view = system.follow(&commands, drive.session, &mut || {
        following.heed();
        true
    })?;
    remarks.extend(view.blocked.iter().flat_map(|blocked| &blocked.reasons).map(|one| one.message.clone()));
    remarks.extend(system.rehearsal_end(&commands, drive.session)?);
    let Replayed { original_tree, replayed_tree, differences } =
        system.compare_replay(&commands, row.id, drive.session)?;
    let difference = |file: ChangedFile| Difference { change: file.change, path: file.path };
    let compared = Compared {
        session_id: row.id.to_string(),
        replay: drive.session.to_string(),
        worktree: drive.worktree,
        same: original_tree == replayed_tree,
        complete: view.is_complete,
        original_tree,
        replayed_tree,
        differences: differences.into_iter().map(difference).collect(),
        remarks,
    };
    context.output.text(&words(&compared), &compared)?;
    Ok(if compared.same { ExitCode::SUCCESS } else { ExitCode::from(REFUSED) })
}

fn words(compared: &Compared) -> String {
    if compared.same {
        return lines(&format!("the same: both came to tree {}", compared.replayed_tree), "");
    }
    let number = u64::try_from(compared.differences.len()).unwrap_or(u64::MAX);
    let mut text = lines(&format!("not the same: {} in the replay", count(number, "other file")), "");
    for Difference { change, path } in &compared.differences {
        text += &lines(&format!("{change} {}", terminal::visible(path)), "  ");
    }
    text += &compared.remarks.iter().map(|remark| lines(&format!("- {remark}"), "")).collect::<String>();
    text + &lines(&format!("next: longhaul session show {}  # what it did", compared.replay), "  ")
}
