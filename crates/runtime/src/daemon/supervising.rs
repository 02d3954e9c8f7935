//! Sees to it that what should run does: asks the policy what becomes of each session, and makes it so.

use std::collections::BTreeMap;

use longhaul_core::outcome::Holder;
use longhaul_core::recovery::{self, Act, Recovery, Starts};
use longhaul_core::session::NewBudget;
use longhaul_core::task::TaskState;
use longhaul_events::{NodeId, SessionId, TaskId, Timestamp};
use longhaul_store::views::{SessionRow, SessionStatus, Waiting};

use super::found::{Judged, found};
use super::known::{Known, KnownTask};
use super::starting::Starters;
use super::{DAEMON, Shared};
use crate::error::Error;
use crate::reader::holder;
use crate::runner::SessionLabel;
use crate::runner::leftovers::{self, Whom};

/// How long a runner has to begin before another is started.
const BEGIN_MS: u64 = 1500;

/// Nobody need look closer at one that was heard of so recently.
const HEARD_MS: u64 = 5 * 60 * 1000;

/// What is looked at, and when.
#[derive(Clone, Copy)]
struct Sight<'s> {
    shared: &'s Shared,
    known: &'s Known,
    now: Timestamp,
}

/// What is remembered of the sessions that are supervised.
#[derive(Debug, Default)]
pub(super) struct Supervision {
    seen: BTreeMap<SessionId, Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// Where it was when it last got on: its node, its turns, and how far those below it are.
    got_to: Option<(Option<NodeId>, u64, u64)>,
    in_vain: u32,
    started: Option<Timestamp>,
    /// Nothing has to be looked at before then, unless something changes.
    not_before: Option<Timestamp>,
    /// As of which change it was judged.
    updated_at: Option<Timestamp>,
    /// What was said last, so that the log tells it once.
    rule: Option<&'static str>,
}

impl Supervision {
    /// When something is due that nobody tells of.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.seen.values().filter_map(|seen| seen.not_before).min()
    }

    /// One that is broken keeps no other from being seen to.
    pub(super) fn look(&mut self, shared: &Shared, known: &Known, starters: &mut Starters, now: Timestamp) {
        self.seen.retain(|id, _| known.session(*id).is_some());
        let sight = Sight { shared, known, now };
        for (id, of) in known.tasks() {
            let Some(row) = of.root.and_then(|root| known.session(root)) else { continue };
            if of.state == TaskState::Queued || starters.has(*id) {
                continue;
            }
            if let Err(error) = self.see_to(&sight, (*id, of), row, starters) {
                tracing::warn!(%error, task = %id, session = %row.id, "could not see to a session");
            }
        }
    }

    fn see_to(
        &mut self,
        round: &Sight<'_>,
        (id, of): (TaskId, &KnownTask),
        row: &SessionRow,
        starters: &mut Starters,
    ) -> Result<(), Error> {
        let Sight { shared, known, now } = *round;
        let is_half_started = of.task.orders.is_some()
            && row.status == SessionStatus::Open
            && row.driven.agent.is_none()
            && row.damage.is_none();
        if is_half_started && of.state == TaskState::Open {
            starters.finish(id, row.id);
            return Ok(());
        }
        if row.driven.agent.is_none() {
            // Somebody else drives it.
            return Ok(());
        }
        if is_plainly_well(row, now) {
            return Ok(());
        }
        let seen = self.seen.entry(row.id).or_default();
        let is_resting = seen.not_before.is_some_and(|until| now < until);
        if is_resting && seen.updated_at == Some(row.updated_at) {
            return Ok(());
        }
        seen.updated_at = Some(row.updated_at);
        seen.not_before = None;
        seen.got_on(shared, row)?;
        // A runner that was started a moment ago has not taken the lease yet.
        let is_fresh = now.since_ms(row.updated_at) < BEGIN_MS
            || seen.started.is_some_and(|at| now.since_ms(at) < BEGIN_MS);
        if is_fresh && row.driver.is_none() && of.state == TaskState::Open {
            return Ok(());
        }
        let starts = Starts { in_vain: seen.in_vain, last: seen.started };
        let Recovery { act, because, rule } =
            recovery::judge(&found(shared, known, Judged { of, row, starts }, now)?);
        if seen.rule != Some(rule) {
            seen.rule = Some(rule);
            tracing::info!(task = %id, session = %row.id, rule, act = act.word(), %because, "judged");
        }
        seen.perform(shared, (id, of), row, (&act, &because), now)
    }
}

/// Most sessions are at work most of the time, and that is cheap to see.
fn is_plainly_well(row: &SessionRow, now: Timestamp) -> bool {
    let is_at_work = matches!(row.waiting, Waiting::Agent | Waiting::Work);
    is_at_work && now.since_ms(row.updated_at) < HEARD_MS && holder(row, now) == Holder::Active
}

impl Seen {
    /// Runners that come and go without getting the session any further were started in vain.
    fn got_on(&mut self, shared: &Shared, row: &SessionRow) -> Result<(), Error> {
        if row.damage.is_some() || row.status != SessionStatus::Open {
            return Ok(());
        }
        let session = shared.commands.load_session(row.id)?;
        let got_to = (session.node(), session.spent.turns, shared.commands.come_below(&session)?);
        if self.got_to != Some(got_to) {
            self.got_to = Some(got_to);
            self.in_vain = 0;
        }
        Ok(())
    }

    fn perform(
        &mut self,
        shared: &Shared,
        (id, of): (TaskId, &KnownTask),
        row: &SessionRow,
        (act, because): (&Act, &str),
        now: Timestamp,
    ) -> Result<(), Error> {
        let Shared { system, commands, .. } = shared;
        let is_ours = of.task.orders.is_some();
        match act {
            Act::Wait { until } => {
                self.not_before = Some(*until);
                Ok(())
            }
            Act::Resume => self.resume(shared, row, now),
            Act::Replace => {
                leftovers::end_all(&SessionLabel::of(row.id, &system.places().data)?, Whom::Everybody)?;
                self.resume(shared, row, now)
            }
            Act::End => system.end(commands, row.id, Whom::Everybody),
            Act::RetryWithHint { hint } if is_ours => commands.requeue(id, hint, now, DAEMON).map(drop),
            Act::HandOver if is_ours => commands.hand_over(id, because, DAEMON).map(drop),
            // Whoever started it by hand sees how it came out.
            Act::LeaveAlone | Act::RetryWithHint { .. } | Act::HandOver => Ok(()),
        }
    }

    /// Has a session go on, whatever it waited for.
    fn resume(&mut self, shared: &Shared, row: &SessionRow, now: Timestamp) -> Result<(), Error> {
        let Shared { system, commands, .. } = shared;
        let session = commands.load_session(row.id)?;
        let waited = commands.waited_for(&session)?;
        let at = waited.as_ref().unwrap_or(&session);
        if at.gate().is_some() {
            commands.notice_gate(at.id)?;
            return system.go_on_above(commands, at.id);
        }
        if system.wake(commands, at.id, now)? {
            return Ok(());
        }
        self.in_vain += 1;
        self.started = Some(now);
        if at.outcome().is_some()
            && let Some(caps) = at.caps
        {
            // What waits for an answer of its provider goes on with what it had.
            return system.give_budget(commands, at, &NewBudget { caps, by: DAEMON.to_owned() });
        }
        system.start_runner(row.id)
    }
}
