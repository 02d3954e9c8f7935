//! What the plan says of small queues, and that the guide has the rows of the code.

mod properties;

use std::collections::BTreeMap;

use longhaul_events::{Priority, TaskId, Timestamp, WorkspaceId};

use super::*;

const GUIDE: &str = include_str!("../../../../docs/guide/queue.md");
const HOUR_MS: u64 = 3_600_000;
const NOW: Timestamp = Timestamp(1_794_772_800_000);

fn id(number: u8) -> TaskId {
    TaskId::from_bytes([number; 8])
}

fn shop() -> WorkspaceId {
    WorkspaceId::from_bytes([1; 5])
}

fn work(number: u8, scope: &[&str]) -> Work {
    Work {
        task: id(number),
        workspace: Some(shop()),
        pipeline: "lh.pipeline.feature".to_owned(),
        agent: Some("claude".to_owned()),
        provider: None,
        scope: scope.iter().map(|pattern| (*pattern).to_owned()).collect(),
    }
}

/// A task that nothing keeps from starting.
fn queued(number: u8) -> Queued {
    Queued {
        work: work(number, &[&format!("part-{number}/**")]),
        priority: Priority::Normal,
        deadline: None,
        since: NOW,
        position: u64::from(number),
        place: Place::Usual,
        after: Vec::new(),
        mode: Mode::Autonomous,
        awaited: Vec::new(),
        attempts: Attempts { made: 0, most: 3 },
        due: None,
    }
}

fn runs(number: u8, scope: &[&str]) -> Running {
    Running { work: work(number, scope), state: RunningState::Going }
}

fn snapshot(queued: Vec<Queued>) -> Snapshot {
    Snapshot { now: NOW, queued, ..Snapshot::default() }
}

fn started(plan: &Plan) -> Vec<TaskId> {
    plan.start.iter().map(|start| start.task).collect()
}

/// Why one task waits, in words.
fn why(plan: &Plan, number: u8) -> String {
    let waiting = plan.waiting.iter().find(|waiting| waiting.task == id(number));
    let given = plan.hand_over.iter().find(|given| given.task == id(number));
    match (waiting, given) {
        (Some(waiting), None) => format!("{}: {}", waiting.waits.word(), waiting.waits),
        (None, Some(given)) => format!("person: {}: {}", given.why.word(), given.why),
        (Some(_), Some(_)) | (None, None) => "starts".to_owned(),
    }
}

#[test]
fn what_is_more_urgent_goes_first_and_each_rank_explains_itself() {
    let day = 24 * HOUR_MS;
    let mut tasks: Vec<Queued> = (1..=8).map(queued).collect();
    tasks[0].priority = Priority::Low;
    tasks[2].priority = Priority::High;
    tasks[3].priority = Priority::Urgent;
    tasks[4].deadline = Some(NOW.plus_ms(day));
    tasks[5].deadline = Some(Timestamp(NOW.0 - 1000));
    tasks[6].since = Timestamp(NOW.0 - 3 * 86_400_000 / 2);
    tasks[7].priority = Priority::Low;
    tasks[7].place = Place::First { since: NOW };
    for task in &mut tasks {
        task.work.workspace = None;
    }
    let mut asked = snapshot(tasks);
    asked.limits.global = 8;
    let plan = plan(&asked);
    let told: Vec<String> = plan.start.iter().map(|start| start.because.to_string()).collect();
    assert_eq!(
        told,
        [
            "put first by hand; score 0: priority low 0, waited 0s 0",
            "score 6: priority urgent 6, waited 0s 0",
            "score 6: priority normal 2, past due by 1s 4, waited 0s 0",
            "score 5: priority normal 2, due in 1d 3, waited 0s 0",
            "score 5: priority normal 2, waited 1d 3",
            "score 4: priority high 4, waited 0s 0",
            "score 2: priority normal 2, waited 0s 0",
            "score 0: priority low 0, waited 0s 0",
        ]
    );
    assert_eq!(started(&plan), [8, 4, 6, 5, 7, 3, 2, 1].map(id));
}

#[test]
fn deadlines_count_the_more_the_nearer_they_are() {
    let day = 24 * HOUR_MS;
    let points = |ms| Due::In { ms }.points();
    assert_eq!([points(0), points(2 * day - 1), points(2 * day)], [3, 3, 2]);
    assert_eq!([points(7 * day - 1), points(7 * day), points(14 * day - 1), points(14 * day)], [2, 1, 1, 0]);
    assert_eq!(Due::PastBy { ms: 1 }.points(), 4);
}

#[test]
fn what_is_put_last_is_behind_all_that_are_there_and_not_behind_all_that_ever_come() {
    let mut tasks: Vec<Queued> = (1..=3).map(queued).collect();
    tasks[0].priority = Priority::Urgent;
    tasks[0].place = Place::Last { since: NOW };
    tasks[1].priority = Priority::Low;
    let mut asked = snapshot(tasks);
    asked.limits = Limits { global: 1, ..Limits::default() };
    assert_eq!(started(&plan(&asked)), [id(3)]);
    assert_eq!(plan(&asked).waiting.iter().map(|waiting| waiting.task).collect::<Vec<_>>(), [id(1), id(2)]);
    asked.now = NOW.plus_ms(5 * 24 * HOUR_MS);
    for task in &mut asked.queued[1..] {
        task.since = asked.now;
    }
    let later = plan(&asked);
    assert_eq!(started(&later), [id(1)]);
    assert_eq!(later.start[0].because.to_string(), "put last by hand; score 10: waited 5d since then 10");
}

#[test]
fn a_limit_names_those_who_have_its_slots_and_what_is_parked_has_none() {
    let mut asked = snapshot(vec![queued(1), queued(2)]);
    asked.running = vec![runs(11, &["a"]), runs(12, &["b"])];
    let full = plan(&asked);
    assert_eq!(
        why(&full, 1),
        format!("limit: 2 tasks may run at once in {}: {}, {}", shop(), id(11), id(12))
    );
    asked.running[1].state = RunningState::Parked;
    assert_eq!(started(&plan(&asked)), [id(1)]);
    asked.limits.agent = BTreeMap::from([("claude".to_owned(), 1)]);
    assert_eq!(why(&plan(&asked), 1), format!("limit: 1 tasks may be done by `claude` at once: {}", id(11)));
    asked.limits.pipeline = BTreeMap::from([("lh.pipeline.feature".to_owned(), 1)]);
    let told = why(&plan(&asked), 1);
    assert_eq!(told, format!("limit: 1 tasks may follow `lh.pipeline.feature` at once: {}", id(11)));
    asked.limits.global = 1;
    assert_eq!(why(&plan(&asked), 1), format!("limit: 1 tasks may run at once: {}", id(11)));
}

#[test]
fn a_workspace_may_have_a_number_of_its_own_and_what_has_no_workspace_is_bound_by_none() {
    let mut tasks: Vec<Queued> = (1..=4).map(queued).collect();
    tasks[3].work.workspace = None;
    let mut asked = snapshot(tasks);
    asked.limits.workspaces = BTreeMap::from([(shop(), 1)]);
    assert_eq!(started(&plan(&asked)), [id(1), id(4)]);
}

#[test]
fn tasks_that_may_touch_the_same_files_run_one_after_another_and_say_why() {
    let mut tasks = vec![queued(1), queued(2)];
    tasks[0].work.scope = vec!["src/mail/**".to_owned()];
    let mut asked = snapshot(tasks);
    asked.running = vec![runs(11, &["docs/**", "src/*/address.rs"])];
    let told = plan(&asked);
    assert_eq!(started(&told), [id(2)]);
    assert_eq!(
        why(&told, 1),
        format!("overlap: overlaps with {}, which runs, on `src/mail/**` and `src/*/address.rs`", id(11))
    );
    asked.running[0].work.workspace = Some(WorkspaceId::from_bytes([2; 5]));
    assert_eq!(started(&plan(&asked)), [id(1), id(2)], "other files");
}

#[test]
fn whoever_is_next_where_files_are_in_its_way_is_not_overtaken_by_what_is_in_its_way() {
    let mut tasks = vec![queued(1), queued(2), queued(3)];
    tasks[0].work.scope = vec!["**".to_owned()];
    tasks[0].priority = Priority::High;
    let mut asked = snapshot(tasks);
    asked.running = vec![runs(11, &["docs/**"])];
    let told = plan(&asked);
    assert_eq!(started(&told), []);
    assert_eq!(
        why(&told, 2),
        format!("overlap: overlaps with {}, which goes first, on `part-2/**` and `**`", id(1))
    );
}

#[test]
fn an_unknown_scope_is_told_and_runs_alone_if_the_settings_want_it() {
    let mut tasks = vec![queued(1), queued(2)];
    tasks[0].work.scope.clear();
    let mut asked = snapshot(tasks);
    let together = plan(&asked);
    assert_eq!(started(&together), [id(1), id(2)]);
    assert_eq!(
        together.start[0].because.to_string(),
        "score 2: priority normal 2, waited 0s 0; scope unknown"
    );
    asked.unknown_scope = UnknownScope::Serialise;
    let alone = plan(&asked);
    assert_eq!(started(&alone), [id(1)]);
    assert_eq!(
        why(&alone, 2),
        format!("overlap: may overlap with {}, which runs: the scope of that is unknown", id(1))
    );
}

#[test]
fn what_is_paused_says_by_whom() {
    let mut asked = snapshot(vec![queued(1), queued(2)]);
    asked.queued[1].work.workspace = None;
    let pause = |because: Option<&str>| Pause { by: "ada".to_owned(), because: because.map(str::to_owned) };
    asked.paused.workspaces = BTreeMap::from([(shop(), pause(None))]);
    assert_eq!(why(&plan(&asked), 1), format!("paused: the queue of {} is paused by ada", shop()));
    assert_eq!(started(&plan(&asked)), [id(2)]);
    asked.paused.queue = Some(pause(Some("we release")));
    assert_eq!(why(&plan(&asked), 2), "paused: the queue is paused by ada: we release");
    assert_eq!(started(&plan(&asked)), []);
}

#[test]
fn a_task_comes_after_others_only_if_they_are_completed() {
    let upstream = |number, state| Upstream { task: id(number), state };
    let mut asked = snapshot(vec![queued(1)]);
    asked.queued[0].after = vec![
        upstream(11, UpstreamState::Completed),
        upstream(12, UpstreamState::Open),
        upstream(13, UpstreamState::Open),
    ];
    assert_eq!(why(&plan(&asked), 1), format!("after: comes after {}, {}", id(12), id(13)));
    for (state, told) in [
        (
            UpstreamState::Failed { because: "stuck".to_owned() },
            format!("upstream_failed: it comes after {}, which failed: stuck", id(12)),
        ),
        (
            UpstreamState::Cancelled { by: "ada".to_owned() },
            format!("upstream_cancelled: it comes after {}, which ada cancelled", id(12)),
        ),
        (
            UpstreamState::NotHere,
            format!("upstream_not_here: it comes after {}, which is not in this log", id(12)),
        ),
    ] {
        asked.queued[0].after[1].state = state;
        assert_eq!(why(&plan(&asked), 1), format!("person: {told}"), "never silently on");
    }
    asked.queued[0].after = vec![upstream(11, UpstreamState::Completed)];
    assert_eq!(started(&plan(&asked)), [id(1)]);
}

#[test]
fn tasks_that_come_after_each_other_in_a_circle_are_named_and_what_comes_after_them_waits() {
    let after = |numbers: &[u8]| {
        let open = |number: &u8| Upstream { task: id(*number), state: UpstreamState::Open };
        numbers.iter().map(open).collect::<Vec<_>>()
    };
    let mut tasks: Vec<Queued> = (1..=6).map(queued).collect();
    tasks[0].after = after(&[3]);
    tasks[1].after = after(&[1]);
    tasks[2].after = after(&[2, 9]);
    tasks[3].after = after(&[4]);
    tasks[4].after = after(&[1]);
    tasks[5].after = after(&[5]);
    let told = plan(&snapshot(tasks));
    let circle = format!("{}, {}, {}", id(1), id(3), id(2));
    for number in 1..=3 {
        assert_eq!(
            why(&told, number),
            format!(
                "person: circle: each of these comes after the next, and the last after the first: {circle}"
            )
        );
    }
    assert_eq!(why(&told, 4), "person: circle: it comes after itself");
    assert_eq!(why(&told, 5), format!("after: comes after {}", id(1)));
    assert_eq!(why(&told, 6), format!("after: comes after {}", id(5)));
}

#[test]
fn a_long_chain_is_no_circle_and_is_looked_at_in_one_go() {
    let chain = |number: u64| {
        let task = |number: u64| TaskId::from_bytes(number.to_be_bytes());
        let mut queued = queued(1);
        queued.work.task = task(number);
        queued.after = vec![Upstream { task: task(number + 1), state: UpstreamState::Open }];
        queued
    };
    let told = plan(&snapshot((0..20_000).map(chain).collect()));
    assert_eq!((told.hand_over.len(), told.waiting.len()), (0, 20_000));
}

#[test]
fn a_governed_task_waits_for_what_is_required_and_then_goes_to_a_person() {
    let awaited = |artifact: &str, hours| Awaited {
        required: Required {
            artifact: artifact.to_owned(),
            from: ArtifactFrom::Item,
            wait_ms: hours * HOUR_MS,
        },
        state: ArtifactState::NotYet,
        since: NOW,
    };
    let mut asked = snapshot(vec![queued(1)]);
    asked.queued[0].awaited = vec![awaited("spec", 48), awaited("design", 24)];
    assert_eq!(started(&plan(&asked)), [id(1)], "an autonomous one waits for nothing");
    asked.queued[0].mode = Mode::Governed;
    let waits = plan(&asked);
    let until = "2026-11-16T20:00:00.000Z";
    assert_eq!(
        why(&waits, 1),
        format!("artifact: needs `design` of the item, which is waited for until {until}")
    );
    assert_eq!(waits.look_again, Some(NOW.plus_ms(24 * HOUR_MS)));
    asked.now = NOW.plus_ms(24 * HOUR_MS);
    assert_eq!(
        why(&plan(&asked), 1),
        "person: artifact_missing: it needs `design` of the item, which did not come since 2026-11-15T20:00:00.000Z"
    );
    for awaited in &mut asked.queued[0].awaited {
        awaited.state = ArtifactState::There;
    }
    assert_eq!(started(&plan(&asked)), [id(1)]);
}

#[test]
fn attempts_are_counted_and_there_is_a_pause_between_them() {
    let mut asked = snapshot(vec![queued(1)]);
    asked.queued[0].attempts = Attempts { made: 2, most: 3 };
    asked.queued[0].due = Some(NOW.plus_ms(1000));
    let pauses = plan(&asked);
    assert_eq!(why(&pauses, 1), "pause: is tried again at 2026-11-15T20:00:01.000Z");
    assert_eq!(pauses.look_again, Some(NOW.plus_ms(1000)));
    asked.now = NOW.plus_ms(1000);
    assert_eq!(started(&plan(&asked)), [id(1)]);
    asked.queued[0].attempts.made = 3;
    assert_eq!(why(&plan(&asked), 1), "person: attempts_used_up: it was tried 3 times, and 3 are allowed");
}

#[test]
fn a_provider_is_asked_by_as_many_as_a_minute_allows_and_the_rest_follow() {
    let mut asked = snapshot((1..=3).map(queued).collect());
    asked.limits.workspace = 4;
    asked.buckets.rates = Rates { others: 2, named: BTreeMap::new() };
    for task in &mut asked.queued {
        task.work.provider = Some("anthropic".to_owned());
    }
    let first = plan(&asked);
    assert_eq!(started(&first), [id(1), id(2)]);
    assert_eq!(
        why(&first, 3),
        "provider: `anthropic` is asked by no new task before 2026-11-15T20:00:30.000Z"
    );
    assert_eq!(first.look_again, Some(NOW.plus_ms(30_000)));
    asked.queued.drain(..2);
    asked.buckets = first.buckets;
    asked.now = NOW.plus_ms(29_999);
    assert_eq!(started(&plan(&asked)), []);
    asked.now = NOW.plus_ms(30_000);
    assert_eq!(started(&plan(&asked)), [id(3)]);
}

#[test]
fn whoever_waits_too_long_for_two_limits_at_once_has_what_is_free_of_them_kept() {
    // It needs a slot of its workspace and one of its agent, and whenever one of them is free the other is not.
    let mut tasks = vec![queued(1), queued(2)];
    tasks[1].work.agent = Some("codex".to_owned());
    let mut asked = snapshot(tasks);
    asked.limits.workspace = 1;
    asked.limits.agent = BTreeMap::from([("claude".to_owned(), 1)]);
    let mut elsewhere = runs(11, &["a"]);
    elsewhere.work.workspace = None;
    asked.running = vec![elsewhere];
    assert_eq!(started(&plan(&asked)), [id(2)]);
    asked.now = NOW.plus_ms(PATIENCE_MS + 1);
    asked.queued[1].since = asked.now;
    let told = plan(&asked);
    assert_eq!(started(&told), []);
    assert_eq!(
        why(&told, 2),
        format!(
            "limit: 1 tasks may run at once in {}: one kept for {}, which has waited longest",
            shop(),
            id(1)
        )
    );
}

/// The rows of a table of the guide, below the heading.
fn rows(heading: &str) -> Vec<(String, String)> {
    let below = GUIDE.split_once(heading).expect("the guide has the heading").1;
    let below = below.split("\n#").next().unwrap_or(below);
    let rows = below.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.trim_end_matches(" |").split_once("` | "))
        .map(|(word, rest)| (word.to_owned(), rest.split(" | ").next().unwrap_or(rest).to_owned()))
        .collect()
}

#[test]
fn the_guide_has_the_rows_of_the_code() {
    let code = |table: &[Row]| -> Vec<(String, String)> {
        table.iter().map(|row| (row.word.to_owned(), row.when.to_owned())).collect()
    };
    assert_eq!(rows("### Why a task waits"), code(&Waits::TABLE));
    assert_eq!(rows("### What goes to a person"), code(&ForPerson::TABLE));
    let priorities: Vec<(String, String)> = Priority::WORDS
        .iter()
        .map(|(word, priority)| ((*word).to_owned(), points(*priority).to_string()))
        .collect();
    assert_eq!(rows("### Points of a priority"), priorities);
}
