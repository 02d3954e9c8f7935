//! The queue: which tasks start now, and why every other one waits.
//!
//! [`plan`] is a pure function of a [`Snapshot`]. It goes through the tasks from the first rank to the last and starts what fits,
//! so a task that has to wait does not hold up those behind it, with two exceptions that keep anybody from waiting for ever:
//! in each workspace the first that could not start has its files kept for it, and the first that could not start for more than
//! [`PATIENCE_MS`] has a slot of each of its limits kept free. `docs/guide/queue.md` tells the same to users.

mod bucket;
mod limits;
mod rank;
mod scopes;
mod snapshot;
#[cfg(test)]
mod tests;
mod upstream;
mod waits;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use longhaul_events::{TaskId, Timestamp, WorkspaceId};

pub use bucket::{Buckets, Rates};
pub use limits::{Full, Limit, Limits};
pub(crate) use rank::about;
pub use rank::{A_POINT_OF_AGE_MS, Due, Rank, points};
pub use scopes::{Clash, Overlap, Whose};
pub use snapshot::{
    ArtifactFrom, ArtifactState, Attempts, Awaited, Mode, Pause, Paused, Place, Queued, Required, Running,
    RunningState, Snapshot, UnknownScope, Upstream, UpstreamState, Work,
};
pub use waits::{ForPerson, PausedBy, Row, Waits};

use limits::{Room, Taking};
use scopes::Scopes;

/// Whoever could not start for so long has slots kept free.
pub const PATIENCE_MS: u64 = 24 * 3_600_000;

/// What to do with every task that waits. Each is named once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// In this order.
    pub start: Vec<Start>,
    /// From the first rank to the last.
    pub waiting: Vec<Waiting>,
    pub hand_over: Vec<HandOver>,
    /// After all of [`Plan::start`] were started.
    pub buckets: Buckets,
    /// When something is due that nobody else will tell of.
    pub look_again: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    pub task: TaskId,
    pub because: Because,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub task: TaskId,
    pub because: Because,
    pub waits: Waits,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandOver {
    pub task: TaskId,
    pub why: ForPerson,
}

/// What put a task where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Because {
    pub rank: Rank,
    pub scope: ScopeKnown,
}

/// Whether somebody said what a task is going to touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKnown {
    Known,
    Unknown,
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rank.fmt(f)?;
        match self.scope {
            ScopeKnown::Known => Ok(()),
            ScopeKnown::Unknown => f.write_str("; scope unknown"),
        }
    }
}

/// Says which tasks start now, and why every other one does not.
pub fn plan(snapshot: &Snapshot) -> Plan {
    let mut planner = Planner::new(snapshot);
    let rank = |task| Rank::of(task, snapshot.now);
    // Sorted by their keys alone: ten thousand tasks are ranked for each start.
    let mut order: Vec<_> = snapshot.queued.iter().map(|task| (rank(task).order(task), task)).collect();
    order.sort_unstable_by_key(|(order, _)| *order);
    for (_, task) in order {
        planner.place(rank(task), task);
    }
    planner.finish()
}

/// What becomes of one task.
enum Verdict {
    Start,
    /// It could start if others let it.
    HeldUp(Waits),
    /// It could not, whoever runs.
    Not(Waits),
    ForPerson(ForPerson),
}

struct Planner<'s> {
    snapshot: &'s Snapshot,
    room: Room<'s>,
    scopes: Scopes<'s>,
    circles: BTreeMap<TaskId, Arc<[TaskId]>>,
    pauses: Pauses,
    /// Whether slots are kept free for somebody.
    kept: Option<TaskId>,
    plan: Plan,
}

/// As it is told; all that wait for it share the words.
struct Pauses {
    queue: Option<Arc<PausedBy>>,
    workspaces: BTreeMap<WorkspaceId, Arc<PausedBy>>,
}

impl Pauses {
    fn of(paused: &Paused) -> Self {
        let told = |workspace, pause: &Pause| Arc::new(PausedBy { workspace, pause: pause.clone() });
        let workspaces = paused.workspaces.iter().map(|(id, pause)| (*id, told(Some(*id), pause)));
        Self { queue: paused.queue.as_ref().map(|pause| told(None, pause)), workspaces: workspaces.collect() }
    }

    fn on(&self, work: &Work) -> Option<Waits> {
        let workspace = || self.workspaces.get(&work.workspace?);
        self.queue.as_ref().or_else(workspace).map(|paused| Waits::Paused(Arc::clone(paused)))
    }
}

impl<'s> Planner<'s> {
    fn new(snapshot: &'s Snapshot) -> Self {
        let mut room = Room::new(&snapshot.limits);
        let mut scopes = Scopes::new(snapshot.unknown_scope);
        let going = snapshot.running.iter().filter(|running| running.state == RunningState::Going);
        let mut going: Vec<&Work> = going.map(|running| &running.work).collect();
        going.sort_unstable_by_key(|work| work.task);
        for work in going {
            room.take(work, Taking::Start);
            scopes.take(work, Whose::Runs);
        }
        let plan = Plan {
            start: Vec::new(),
            waiting: Vec::with_capacity(snapshot.queued.len()),
            hand_over: Vec::new(),
            buckets: snapshot.buckets.clone(),
            look_again: None,
        };
        let (circles, pauses) = (upstream::circles(&snapshot.queued), Pauses::of(&snapshot.paused));
        Self { snapshot, room, scopes, circles, pauses, kept: None, plan }
    }

    fn place(&mut self, rank: Rank, task: &'s Queued) {
        let scope = if task.work.scope.is_empty() { ScopeKnown::Unknown } else { ScopeKnown::Known };
        let (because, id) = (Because { rank, scope }, task.work.task);
        let waits = match self.judge(task) {
            Verdict::Start => {
                self.start(&task.work);
                self.plan.start.push(Start { task: id, because });
                return;
            }
            Verdict::ForPerson(why) => {
                self.plan.hand_over.push(HandOver { task: id, why });
                return;
            }
            Verdict::HeldUp(waits) => {
                self.keep_for(rank, &task.work);
                waits
            }
            Verdict::Not(waits) => waits,
        };
        if let Some(until) = waits.until() {
            let look_again = self.plan.look_again;
            self.plan.look_again = Some(look_again.map_or(until, |earlier| earlier.min(until)));
        }
        self.plan.waiting.push(Waiting { task: id, because, waits });
    }

    /// The first reason that holds, in the order of the guide.
    fn judge(&mut self, task: &Queued) -> Verdict {
        let now = self.snapshot.now;
        if let Some(why) = self.for_person(task) {
            return Verdict::ForPerson(why);
        }
        if let Some(waits) = self.pauses.on(&task.work).or_else(|| not_ready(task, now)) {
            return Verdict::Not(waits);
        }
        if let Some(full) = self.room.full(&task.work) {
            return Verdict::HeldUp(Waits::Limit(full));
        }
        if let Some(overlap) = self.scopes.overlap(&task.work) {
            return Verdict::HeldUp(Waits::Overlap(overlap));
        }
        let provider = task.work.provider.as_ref();
        if let Some((provider, until)) =
            provider.and_then(|provider| Some((provider, self.plan.buckets.next(provider, now)?)))
        {
            return Verdict::HeldUp(Waits::Provider { provider: provider.clone(), until });
        }
        Verdict::Start
    }

    fn for_person(&self, task: &Queued) -> Option<ForPerson> {
        if let Some(tasks) = self.circles.get(&task.work.task) {
            return Some(ForPerson::Circle { tasks: Arc::clone(tasks) });
        }
        if let Some(broken) = upstream::broken(&task.after) {
            return Some(broken);
        }
        if task.attempts.are_used_up() {
            return Some(ForPerson::AttemptsUsedUp(task.attempts));
        }
        let late = missing(task).find(|awaited| self.snapshot.now >= awaited.until())?;
        Some(ForPerson::ArtifactMissing { required: late.required.clone(), since: late.since })
    }

    fn start(&mut self, work: &'s Work) {
        self.room.take(work, Taking::Start);
        self.scopes.take(work, Whose::Runs);
        if let Some(provider) = &work.provider {
            self.plan.buckets.take(provider, self.snapshot.now);
        }
    }

    /// Sees to it that whoever is held up gets its turn.
    fn keep_for(&mut self, rank: Rank, work: &'s Work) {
        let is_patient = rank.waited_ms > PATIENCE_MS && self.kept.is_none();
        if is_patient {
            self.kept = Some(work.task);
            self.room.take(work, Taking::Keep);
        }
        if is_patient || work.workspace.is_some_and(|workspace| !self.scopes.has_next(workspace)) {
            self.scopes.take(work, Whose::IsNext);
        }
    }

    fn finish(self) -> Plan {
        Plan { buckets: self.plan.buckets.tidied(self.snapshot.now), ..self.plan }
    }
}

/// What a governed task still lacks.
fn missing(task: &Queued) -> impl Iterator<Item = &Awaited> {
    let is_missing = |awaited: &&Awaited| awaited.state == ArtifactState::NotYet;
    let awaited = match task.mode {
        Mode::Governed => task.awaited.as_slice(),
        Mode::Autonomous => &[],
    };
    awaited.iter().filter(is_missing)
}

/// Why it could not start even if nobody else were there.
fn not_ready(task: &Queued, now: Timestamp) -> Option<Waits> {
    let open: Vec<TaskId> = upstream::still_open(&task.after).collect();
    if !open.is_empty() {
        return Some(Waits::After(open));
    }
    if let Some(until) = task.due.filter(|due| *due > now) {
        return Some(Waits::Pause { until });
    }
    // A person is asked when the first of them is due.
    let soonest = missing(task).min_by_key(|awaited| awaited.until())?;
    Some(Waits::Artifact { required: soonest.required.clone(), until: soonest.until() })
}
