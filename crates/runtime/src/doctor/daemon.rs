//! The daemon: whether one runs, how it is doing, and what one that died has left. Where there never was one, nothing is said.

use super::{Diagnosis, from_error, healthy, problem, warning};
use crate::error::Error;
use crate::lifecycle::unit::UnitState;
use crate::lifecycle::{DaemonStatus, Presence, own_program};
use crate::system::System;

const SUBJECT: &str = "daemon";
const UNIT: &str = "daemon unit";

pub(super) fn daemon(system: &System) -> Vec<Diagnosis> {
    let status = system.daemon_status();
    let mut found: Vec<Diagnosis> = presence(&status).into_iter().collect();
    if let Some(outdated) = &status.outdated {
        found.push(warning(SUBJECT, outdated.clone(), "run `longhaul daemon restart` to use the new one"));
    }
    let stale = system.stale_daemon_files();
    if !stale.is_empty() && !matches!(status.presence, Presence::Died(_)) {
        let files: Vec<String> = stale.iter().map(|path| format!("`{}`", path.display())).collect();
        let finding = format!("a daemon that is gone left {}", files.join(", "));
        found.push(warning(
            SUBJECT,
            finding,
            "run `longhaul daemon stop`, which takes it away, or start another",
        ));
    }
    found.extend(unit(system));
    found
}

fn presence(status: &DaemonStatus) -> Option<Diagnosis> {
    let told = status.report.as_ref().and_then(|report| report.because.clone()).unwrap_or_default();
    Some(match &status.presence {
        Presence::Absent => return None,
        Presence::Died(holder) => warning(
            SUBJECT,
            format!("{} died without a word", holder.in_words()),
            "run `longhaul daemon start`; what it had started goes on by itself",
        ),
        Presence::Elsewhere(holder) => {
            healthy(SUBJECT, format!("{}, on another machine or in another container", holder.in_words()))
        }
        Presence::Starting => healthy(SUBJECT, "about to start"),
        Presence::Running(holder) if status.is_healthy() => {
            healthy(SUBJECT, format!("{}, healthy", holder.in_words()))
        }
        Presence::Running(holder) => match status.word() {
            "silent" => problem(
                SUBJECT,
                format!("nothing was heard of {} for long", holder.in_words()),
                "run `longhaul daemon restart`; if that does not help, `longhaul daemon stop --now`",
            ),
            "troubled" => problem(
                SUBJECT,
                format!("{} is not healthy: {told}", holder.in_words()),
                "put that right; it notices by itself",
            ),
            word => healthy(SUBJECT, format!("{}, {word}", holder.in_words())),
        },
    })
}

fn unit(system: &System) -> Option<Diagnosis> {
    let program = own_program().ok()?;
    Some(match system.unit_state(&program) {
        // Without a home there is no unit either.
        Ok((UnitState::Absent, _)) | Err(Error::Homeless(_)) => return None,
        Ok((UnitState::UpToDate, path)) => healthy(UNIT, format!("`{}`", path.display())),
        Ok((UnitState::Edited, path)) => {
            healthy(UNIT, format!("`{}`, as somebody edited it", path.display()))
        }
        Ok((UnitState::Outdated, path)) => warning(
            UNIT,
            format!("`{}` was written by another release, or for a program in another place", path.display()),
            "run `longhaul daemon install` to write it anew",
        ),
        Err(error) => from_error(UNIT, &error),
    })
}
