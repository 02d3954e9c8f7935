//! What holds of every plan, whatever is in the queue.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_events::{Priority, TaskId, Timestamp, WorkspaceId};
use proptest::prelude::*;
use proptest::sample::select;

use super::super::*;
use super::HOUR_MS;
use crate::policy::glob;

const NOW: Timestamp = super::NOW;
const AGENTS: [&str; 2] = ["claude", "codex"];
const PIPELINES: [&str; 2] = ["feature", "audit"];
const SCOPES: [&str; 6] = ["**", "src/**", "src/mail/*.rs", "docs/**", "docs/*.md", "db"];

fn id(number: u64) -> TaskId {
    TaskId::from_bytes(number.to_be_bytes())
}

prop_compose! {
    fn work()(
        workspace in proptest::option::weighted(0.9, 1_u8..4),
        pipeline in select(&PIPELINES[..]),
        agent in select(&AGENTS[..]),
        provider in proptest::option::of(select(&["anthropic", "openai"][..])),
        scope in proptest::collection::btree_set(select(&SCOPES[..]), 0..3),
    ) -> Work {
        Work {
            task: id(0),
            workspace: workspace.map(|number| WorkspaceId::from_bytes([number; 5])),
            pipeline: pipeline.to_owned(),
            agent: Some(agent.to_owned()),
            provider: provider.map(str::to_owned),
            scope: scope.into_iter().map(str::to_owned).collect(),
        }
    }
}

fn priority() -> impl Strategy<Value = Priority> {
    select(Priority::WORDS.map(|(_, priority)| priority).to_vec())
}

fn place() -> impl Strategy<Value = Place> {
    let since = (0_u64..100).prop_map(|hours| Timestamp(NOW.0 - i64::try_from(hours * HOUR_MS).unwrap()));
    prop_oneof![
        8 => Just(Place::Usual),
        1 => since.clone().prop_map(|since| Place::First { since }),
        1 => since.prop_map(|since| Place::Last { since }),
    ]
}

/// Who comes after whom: any numbers, circles and unknown tasks among them.
fn after() -> impl Strategy<Value = Vec<Upstream>> {
    let state = prop_oneof![
        4 => Just(UpstreamState::Open),
        4 => Just(UpstreamState::Completed),
        1 => Just(UpstreamState::Failed { because: "stuck".to_owned() }),
        1 => Just(UpstreamState::Cancelled { by: "ada".to_owned() }),
        1 => Just(UpstreamState::NotHere),
    ];
    let upstream = (1_u64..40, state).prop_map(|(number, state)| Upstream { task: id(number), state });
    prop_oneof![4 => Just(Vec::new()), 1 => proptest::collection::vec(upstream, 1..3)]
}

fn awaited() -> impl Strategy<Value = Vec<Awaited>> {
    let state = select(vec![ArtifactState::There, ArtifactState::NotYet]);
    let one = (state, 0_u64..400).prop_map(|(state, hours)| Awaited {
        required: Required {
            artifact: "spec".to_owned(),
            from: ArtifactFrom::Item,
            wait_ms: hours * HOUR_MS,
        },
        state,
        since: Timestamp(NOW.0 - i64::try_from(200 * HOUR_MS).unwrap()),
    });
    proptest::collection::vec(one, 0..2)
}

prop_compose! {
    fn queued()(
        work in work(),
        priority in priority(),
        deadline in proptest::option::of(-400_i64..400),
        hours in 0_i64..100,
        place in place(),
        after in after(),
        mode in select(vec![Mode::Autonomous, Mode::Governed]),
        awaited in awaited(),
        made in 0_u32..4,
        due in proptest::option::weighted(0.1, -2_i64..3),
    ) -> Queued {
        let hour = i64::try_from(HOUR_MS).unwrap();
        let from_now = |hours: i64| Timestamp(NOW.0 + hours * hour);
        Queued {
            work,
            priority,
            deadline: deadline.map(from_now),
            since: from_now(-hours),
            position: 0,
            place,
            after,
            mode,
            awaited,
            attempts: Attempts { made, most: 4 },
            due: due.map(from_now),
        }
    }
}

fn running() -> impl Strategy<Value = Vec<Running>> {
    let state = prop_oneof![3 => Just(RunningState::Going), 1 => Just(RunningState::Parked)];
    let one = (work(), state).prop_map(|(work, state)| Running { work, state });
    proptest::collection::vec(one, 0..6)
}

prop_compose! {
    fn limits()(
        global in 1_u32..7,
        workspace in 1_u32..4,
        own in proptest::option::of(1_u32..4),
        pipeline in proptest::option::of(1_u32..3),
        agent in proptest::option::of(1_u32..3),
    ) -> Limits {
        let named = |name: &str, most: Option<u32>| most.map(|most| (name.to_owned(), most)).into_iter().collect();
        Limits {
            global,
            workspace,
            workspaces: own.map(|most| (WorkspaceId::from_bytes([1; 5]), most)).into_iter().collect(),
            pipeline: named(PIPELINES[0], pipeline),
            agent: named(AGENTS[0], agent),
        }
    }
}

prop_compose! {
    fn snapshot()(
        queued in proptest::collection::vec(queued(), 0..40),
        running in running(),
        limits in limits(),
        rate in 1_u32..5,
        paused in proptest::option::weighted(0.2, 1_u8..4),
        unknown_scope in select(vec![UnknownScope::Run, UnknownScope::Serialise]),
    ) -> Snapshot {
        let pause = Pause { by: "ada".to_owned(), because: None };
        let number = |(task, number): (Queued, u64)| Queued {
            work: Work { task: id(number), ..task.work },
            position: number / 2,
            ..task
        };
        let runs = |(running, number): (Running, u64)| Running {
            work: Work { task: id(number), ..running.work },
            ..running
        };
        Snapshot {
            now: NOW,
            queued: queued.into_iter().zip(1..).map(number).collect(),
            running: running.into_iter().zip(1000..).map(runs).collect(),
            limits,
            buckets: Buckets::new(Rates { others: rate, named: BTreeMap::new() }),
            paused: Paused {
                queue: None,
                workspaces: paused.map(|number| (WorkspaceId::from_bytes([number; 5]), pause)).into_iter().collect(),
            },
            unknown_scope,
        }
    }
}

/// What runs once the plan is carried out.
fn afterwards<'s>(snapshot: &'s Snapshot, plan: &Plan) -> Vec<&'s Work> {
    let started: BTreeSet<TaskId> = plan.start.iter().map(|start| start.task).collect();
    let going = snapshot.running.iter().filter(|running| running.state == RunningState::Going);
    let queued = snapshot.queued.iter().filter(|task| started.contains(&task.work.task));
    going.map(|running| &running.work).chain(queued.map(|task| &task.work)).collect()
}

/// How many of some works there are beyond a limit, for each that the limit counts apart.
fn beyond<'w, K: Ord>(
    works: &[&'w Work],
    key: impl Fn(&'w Work) -> Option<K>,
    most: impl Fn(&K) -> Option<u32>,
) -> usize {
    let mut counts: BTreeMap<K, usize> = BTreeMap::new();
    works.iter().filter_map(|work| key(work)).for_each(|key| *counts.entry(key).or_default() += 1);
    let over = |(key, count): (K, usize)| {
        most(&key).map_or(0, |most| count.saturating_sub(usize::try_from(most).unwrap()))
    };
    counts.into_iter().map(over).sum()
}

/// How far all limits are exceeded.
fn excess(works: &[&Work], limits: &Limits) -> [usize; 4] {
    [
        beyond(works, |_| Some(()), |()| Some(limits.global)),
        beyond(
            works,
            |work| work.workspace,
            |workspace| Some(*limits.workspaces.get(workspace).unwrap_or(&limits.workspace)),
        ),
        beyond(works, |work| Some(&work.pipeline), |pipeline| limits.pipeline.get(*pipeline).copied()),
        beyond(works, |work| work.agent.as_ref(), |agent| limits.agent.get(*agent).copied()),
    ]
}

fn may_touch_the_same(one: &Work, other: &Work, unknown: UnknownScope) -> bool {
    let is_unknown = one.scope.is_empty() || other.scope.is_empty();
    let meets = one.scope.iter().any(|one| other.scope.iter().any(|other| glob::overlaps(one, other)));
    one.workspace.is_some()
        && one.workspace == other.workspace
        && (meets || (is_unknown && unknown == UnknownScope::Serialise))
}

/// Whether each task is started, from the first rank to the last.
fn starts(snapshot: &Snapshot, plan: &Plan) -> Vec<bool> {
    let mut ranked: Vec<&Queued> = snapshot.queued.iter().collect();
    ranked.sort_by_key(|task| Rank::of(task, snapshot.now).order(task));
    ranked.iter().map(|task| plan.start.iter().any(|start| start.task == task.work.task)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_plan_names_every_task_once_and_nobody_else(snapshot in snapshot()) {
        let plan = plan(&snapshot);
        let mut named: Vec<TaskId> = plan.start.iter().map(|start| start.task)
            .chain(plan.waiting.iter().map(|waiting| waiting.task))
            .chain(plan.hand_over.iter().map(|given| given.task))
            .collect();
        named.sort_unstable();
        let mut queued: Vec<TaskId> = snapshot.queued.iter().map(|task| task.work.task).collect();
        queued.sort_unstable();
        prop_assert_eq!(named, queued);
    }

    #[test]
    fn no_start_exceeds_a_limit_or_touches_what_another_touches(snapshot in snapshot()) {
        let plan = plan(&snapshot);
        let before: Vec<&Work> = afterwards(&snapshot, &Plan { start: Vec::new(), ..plan.clone() });
        let after = afterwards(&snapshot, &plan);
        let (had, has) = (excess(&before, &snapshot.limits), excess(&after, &snapshot.limits));
        prop_assert_eq!(had, has, "what runs already may be too much, and nothing is added to it");
        for (number, one) in after.iter().enumerate() {
            for other in &after[number + 1..] {
                let is_old = before.contains(one) && before.contains(other);
                prop_assert!(is_old || !may_touch_the_same(one, other, snapshot.unknown_scope));
            }
        }
    }

    #[test]
    fn nothing_starts_that_is_paused_blocked_or_not_ready(snapshot in snapshot()) {
        let plan = plan(&snapshot);
        for start in &plan.start {
            let task = snapshot.queued.iter().find(|task| task.work.task == start.task).unwrap();
            prop_assert!(task.after.iter().all(|upstream| upstream.state == UpstreamState::Completed));
            prop_assert!(task.work.workspace.is_none_or(|id| !snapshot.paused.workspaces.contains_key(&id)));
            prop_assert!(task.due.is_none_or(|due| due <= snapshot.now));
            prop_assert!(!task.attempts.are_used_up());
            let is_there = |awaited: &Awaited| awaited.state == ArtifactState::There;
            prop_assert!(task.mode == Mode::Autonomous || task.awaited.iter().all(is_there));
        }
        let stopped = Paused { queue: Some(Pause { by: "ada".to_owned(), because: None }), ..Paused::default() };
        prop_assert_eq!(super::plan(&Snapshot { paused: stopped, ..snapshot }).start, []);
    }

    #[test]
    fn the_order_in_which_tasks_are_told_of_does_not_matter(
        (snapshot, queued, running) in snapshot().prop_flat_map(|snapshot| {
            let (queued, running) = (snapshot.queued.clone(), snapshot.running.clone());
            (Just(snapshot), Just(queued).prop_shuffle(), Just(running).prop_shuffle())
        })
    ) {
        let shuffled = Snapshot { queued, running, ..snapshot.clone() };
        prop_assert_eq!(plan(&snapshot), plan(&shuffled));
    }

    #[test]
    fn a_free_slot_never_lowers_what_starts(snapshot in snapshot(), which in 0_usize..4) {
        let before = plan(&snapshot);
        let mut wider = snapshot.clone();
        match which {
            0 => wider.limits.global += 1,
            1 => {
                wider.limits.workspace += 1;
                wider.limits.workspaces.values_mut().for_each(|most| *most += 1);
            }
            2 => wider.limits.pipeline.values_mut().for_each(|most| *most += 1),
            _ => wider.limits.agent.values_mut().for_each(|most| *most += 1),
        }
        let after = plan(&wider);
        // Where they differ first, somebody starts who did not.
        prop_assert!(starts(&snapshot, &before) <= starts(&wider, &after));
        if which == 0 {
            let began: Vec<TaskId> = before.start.iter().map(|start| start.task).collect();
            prop_assert!(after.start.iter().map(|start| start.task).take(began.len()).eq(began));
        }
    }

    #[test]
    fn the_end_of_a_task_never_lowers_what_starts(snapshot in snapshot(), which in 0_usize..6) {
        let before = plan(&snapshot);
        let mut fewer = snapshot.clone();
        if which < fewer.running.len() {
            fewer.running.remove(which);
        }
        prop_assert!(starts(&snapshot, &before) <= starts(&fewer, &plan(&fewer)));
    }
}

/// What a queue is like while urgent tasks come faster than they are done.
struct Flood {
    snapshot: Snapshot,
    /// What comes at every step.
    coming: Vec<Work>,
    /// When each of those that run is over.
    ends: BTreeMap<TaskId, u64>,
    step: u64,
}

impl Flood {
    fn over(patient: &[Work], coming: Vec<Work>, limits: Limits) -> Self {
        let low = |(work, number): (&Work, u64)| Queued {
            priority: Priority::Low,
            deadline: None,
            position: number,
            ..urgent(id(number), work, NOW)
        };
        let queued = patient.iter().zip(1..).map(low).collect();
        let snapshot = Snapshot { now: NOW, queued, limits, ..Snapshot::default() };
        Self { snapshot, coming, ends: BTreeMap::new(), step: 0 }
    }

    /// Four hours more: what is done ends, what comes is queued, what may starts.
    fn go_on(&mut self) -> Vec<TaskId> {
        self.step += 1;
        let (step, ends) = (self.step, &self.ends);
        self.snapshot.now = self.snapshot.now.plus_ms(4 * HOUR_MS);
        self.snapshot.running.retain(|running| ends[&running.work.task] > step);
        for (work, number) in self.coming.iter().zip(0..) {
            let task = id(1_000_000 + step * 100 + number);
            self.snapshot.queued.push(urgent(task, work, self.snapshot.now));
        }
        let plan = plan(&self.snapshot);
        self.snapshot.buckets = plan.buckets;
        for (Start { task, .. }, number) in plan.start.iter().zip(0..) {
            let at = self.snapshot.queued.iter().position(|queued| queued.work.task == *task).unwrap();
            let work = self.snapshot.queued.swap_remove(at).work;
            // What starts together ends one after another, so that there is always something in the way.
            self.ends.insert(*task, step + 2 + number);
            self.snapshot.running.push(Running { work, state: RunningState::Going });
        }
        plan.start.into_iter().map(|start| start.task).collect()
    }

    /// Who of the patient was not started, however long it goes on.
    fn left_after(mut self, steps: u64) -> BTreeSet<TaskId> {
        let mut left: BTreeSet<TaskId> = self.snapshot.queued.iter().map(|task| task.work.task).collect();
        while self.step < steps && !left.is_empty() {
            for task in self.go_on() {
                left.remove(&task);
            }
        }
        left
    }
}

/// As urgent as can be, and past its deadline.
fn urgent(task: TaskId, work: &Work, now: Timestamp) -> Queued {
    Queued {
        work: Work { task, ..work.clone() },
        priority: Priority::Urgent,
        deadline: Some(Timestamp(now.0 - 1)),
        since: now,
        position: u64::MAX,
        place: Place::Usual,
        after: Vec::new(),
        mode: Mode::Autonomous,
        awaited: Vec::new(),
        attempts: Attempts { made: 0, most: 1 },
        due: None,
    }
}

fn small(scope: &str, agent: &str) -> Work {
    Work {
        task: id(0),
        workspace: Some(WorkspaceId::from_bytes([1; 5])),
        pipeline: PIPELINES[0].to_owned(),
        agent: Some(agent.to_owned()),
        provider: None,
        scope: vec![scope.to_owned()],
    }
}

#[test]
fn small_tasks_do_not_pass_by_for_ever_one_that_needs_all_files() {
    let patient = [small("**", AGENTS[1])];
    let coming = vec![small("src/**", AGENTS[1]), small("docs/**", AGENTS[1])];
    assert_eq!(Flood::over(&patient, coming, Limits::default()).left_after(100), BTreeSet::new());
}

#[test]
fn others_do_not_pass_by_for_ever_one_that_needs_slots_of_two_limits() {
    let patient = [small("db", AGENTS[0])];
    let elsewhere = Work { workspace: None, ..small("src/**", AGENTS[0]) };
    let coming = vec![elsewhere, small("docs/**", AGENTS[1])];
    let limits =
        Limits { workspace: 1, agent: BTreeMap::from([(AGENTS[0].to_owned(), 1)]), ..Limits::default() };
    assert_eq!(Flood::over(&patient, coming, limits).left_after(200), BTreeSet::new());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn whatever_comes_every_task_is_started_at_last(
        patient in proptest::collection::vec(work(), 1..4),
        coming in proptest::collection::vec(work(), 1..4),
        limits in limits(),
        unknown_scope in select(vec![UnknownScope::Run, UnknownScope::Serialise]),
    ) {
        let mut flood = Flood::over(&patient, coming, limits);
        flood.snapshot.unknown_scope = unknown_scope;
        // Five days until nothing that comes is ahead any more; then all that came before, one after another.
        prop_assert_eq!(flood.left_after(600), BTreeSet::new());
    }
}
