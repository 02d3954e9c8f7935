//! Ten thousand tasks wait, and one slot is free: how long it takes to say who gets it, and why all others wait.

use std::collections::BTreeMap;
use std::hint::black_box;

use longhaul_core::queue::{
    Attempts, Limits, Mode, Place, Queued, Running, RunningState, Snapshot, Upstream, UpstreamState, Work,
    plan,
};
use longhaul_events::{Priority, TaskId, Timestamp, WorkspaceId};

use super::{Args, Bar, Limit, median, micros, timed};
use crate::driver::Failure;

pub(super) const NAMES: &[&str] = &["queue_plan_10000", "queue_plan_10000_overlaps"];

const QUEUED: u64 = 10_000;
const ROUNDS: usize = 51;
const NOW: Timestamp = Timestamp(1_794_772_800_000);

/// Once as it usually is, and once where slots are free and every task touches files that are spoken for.
pub(super) fn plans(_args: &Args) -> Result<Vec<Bar>, Failure> {
    let usual = snapshot(|number| format!("crates/part-{}/src/**", number % 500));
    let mut overlaps = snapshot(|number| format!("crates/*/src/file-{}.rs", number % 500));
    overlaps.limits = Limits { global: 9, workspace: 9, ..Limits::default() };
    for task in &mut overlaps.queued {
        task.work.workspace = Some(WorkspaceId::from_bytes([0; 5]));
        task.since = NOW;
    }
    let (usual, overlaps) = (measured(&usual)?, measured(&overlaps)?);
    Ok(vec![
        Bar::new(NAMES[0], usual, "ms", Limit::AtMost(2.0)),
        Bar::new(NAMES[1], overlaps, "ms", Limit::Reported),
    ])
}

fn measured(snapshot: &Snapshot) -> Result<f64, Failure> {
    let mut taken = Vec::new();
    for _ in 0..ROUNDS {
        taken.push(micros(timed(|| Ok(black_box(plan(black_box(snapshot)))))?) / 1000.0);
    }
    let planned = plan(snapshot);
    let named = planned.start.len() + planned.waiting.len() + planned.hand_over.len();
    if named as u64 == QUEUED { Ok(median(&taken)) } else { Err("a task is missing from the plan".into()) }
}

fn snapshot(scope: impl Fn(u64) -> String) -> Snapshot {
    let running = (0..3).map(|number| Running {
        work: Work {
            scope: vec!["crates/runtime/src/**".to_owned()],
            ..work(QUEUED + number, String::new())
        },
        state: RunningState::Going,
    });
    let limits = Limits { agent: BTreeMap::from([("claude".to_owned(), 3)]), ..Limits::default() };
    Snapshot {
        now: NOW,
        queued: (0..QUEUED).map(|number| queued(number, scope(number))).collect(),
        running: running.collect(),
        limits,
        ..Snapshot::default()
    }
}

fn work(number: u64, scope: String) -> Work {
    let [.., last] = number.to_be_bytes();
    Work {
        task: TaskId::from_bytes(number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()),
        workspace: Some(WorkspaceId::from_bytes([last % 5; 5])),
        pipeline: "lh.pipeline.feature".to_owned(),
        agent: Some(if number.is_multiple_of(3) { "claude" } else { "codex" }.to_owned()),
        provider: Some("anthropic".to_owned()),
        scope: vec![scope],
    }
}

fn queued(number: u64, scope: String) -> Queued {
    let ago = |ms: u64| Timestamp(NOW.0.saturating_sub_unsigned(ms));
    let drawn = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let upstream = Upstream { task: work(number + 1, String::new()).task, state: UpstreamState::Open };
    Queued {
        work: work(number, scope),
        priority: Priority::WORDS[(drawn % 4) as usize].1,
        deadline: (drawn.is_multiple_of(5)).then(|| NOW.plus_ms(drawn % 1_000_000_000)),
        since: ago(drawn % 200_000_000),
        position: number,
        place: Place::Usual,
        after: if drawn.is_multiple_of(7) { vec![upstream] } else { Vec::new() },
        mode: Mode::Autonomous,
        awaited: Vec::new(),
        attempts: Attempts { made: 0, most: 3 },
        due: None,
    }
}
