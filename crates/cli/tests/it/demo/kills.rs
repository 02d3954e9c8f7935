//! The demo, killed at every boundary between two decisions of its log: the same end, and nothing twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use longhaul_runtime::{EventRow, Reader};
use longhaul_testkit::processes::kill;
use longhaul_testkit::{full, times};
use serde_json::Value;

use super::{Machine, ended, expected, forge_state};
use crate::walking::one;

/// Less than the commit of a decision takes.
const LOOK_EVERY: Duration = Duration::from_micros(200);
const PATIENCE: Duration = Duration::from_mins(4);
/// How often one boundary is tried in full: a process that we do not stop may come one decision further before it is dead.
const TRIES: u64 = 4;
const AT_ONCE: usize = 2;
/// What a rehearsal says when it makes a call again that was cut short. Such a turn is not one of the script's.
const AGAIN: &str = "Trying again what was interrupted.";

/// What a demo came to.
#[derive(Debug, Clone, PartialEq)]
struct Story {
    forge: Value,
    proof: Value,
    /// How many turns of the script were answered in each session, the fewest first. One that is asked twice would be one
    /// more.
    answered: Vec<usize>,
}

struct Told {
    story: Story,
    /// The decisions after which a process could have died, and of those the ones with an outward act under way.
    boundaries: BTreeSet<u64>,
    delivering: BTreeSet<u64>,
    /// How many decisions there were when the process was dead.
    died_at: Option<u64>,
}

fn play(boundary: Option<u64>) -> Told {
    let machine = Machine::new();
    let running = machine.demo(&["--json", "--keep"]).start();
    let died_at = boundary.and_then(|boundary| kill_at(&machine, boundary));
    let outcome = ended(running);
    assert_eq!(outcome.code, Some(0), "killed after decision {died_at:?} of {boundary:?}: {outcome}");
    let shown = one(&outcome);
    let mut answered = BTreeMap::<String, usize>::new();
    let (mut boundaries, mut delivering, mut has_begun) = (BTreeSet::new(), BTreeSet::new(), false);
    let reader = machine.reader().unwrap();
    let mut look = |row: EventRow| {
        let (event, position) = (&row.event, row.position.0);
        has_begun |= event["type"] == "driver_taken";
        if has_begun {
            boundaries.insert(position);
        }
        if event["type"] == "delivery" && event["fact"]["fact"] == "intended" {
            delivering.insert(position);
        }
        let act = &event["act"];
        if act["act"] == "answered" && act["said"]["inline"] != AGAIN {
            *answered.entry(row.stream).or_default() += 1;
        } else if row.stream.starts_with("session/") {
            answered.entry(row.stream).or_default();
        }
        Ok(())
    };
    reader.events(None, &mut look).unwrap();
    assert_eq!(reader.missing_decisions().unwrap(), [""; 0]);
    let mut answered: Vec<usize> = answered.into_values().collect();
    answered.sort_unstable();
    let story = Story { forge: forge_state(&shown), proof: shown["proof"]["outcome"].clone(), answered };
    Told { story, boundaries, delivering, died_at }
}

/// Kills the process that does the work when there are so many decisions, and says how many there were when it was dead.
/// `None` if it had ended before.
fn kill_at(machine: &Machine, boundary: u64) -> Option<u64> {
    let start = Instant::now();
    let mut driver = None;
    while start.elapsed() < PATIENCE {
        if let Some((reader, process)) = &driver {
            if is_gone(*process) {
                return None;
            }
            if last(reader) >= boundary {
                assert!(kill(*process));
                while !is_gone(*process) {
                    thread::yield_now();
                }
                return Some(last(reader));
            }
        } else {
            driver = machine.reader().and_then(|reader| driver_of(&reader).map(|process| (reader, process)));
        }
        // tidy: another process is watched that must not know of it
        thread::sleep(LOOK_EVERY);
    }
    panic!("decision {boundary} never came");
}

fn last(reader: &Reader) -> u64 {
    reader.last_position().unwrap().0
}

/// The process that has taken the lease. Others that were started meanwhile find nothing to do.
fn driver_of(reader: &Reader) -> Option<u32> {
    let mut driver = None;
    let look = &mut |row: EventRow| {
        if row.event["type"] == "driver_taken" {
            driver = row.event["driver"]["process"].as_u64().and_then(|process| u32::try_from(process).ok());
        }
        Ok(())
    };
    reader.events(None, look).ok()?;
    driver
}

fn is_gone(process: u32) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat"));
    // The letter after the name; one that is dead stays until somebody asks how it ended.
    stat.map_or(true, |stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['Z', 'X'])))
}

/// Every day some that are spread, with those at which an outward act is under way; in full all of them.
fn chosen(whole: &Told) -> Vec<u64> {
    if full() {
        return whole.boundaries.iter().copied().collect();
    }
    let spread = |all: &BTreeSet<u64>, count: usize| -> Vec<u64> {
        let all: Vec<u64> = all.iter().copied().collect();
        (0..count).map(|nth| all[(2 * nth + 1) * all.len() / (2 * count)]).collect()
    };
    let mut chosen = spread(&whole.boundaries, 3);
    chosen.extend(spread(&whole.delivering, 3));
    chosen
}

#[test]
fn heavy_a_demo_that_is_killed_between_any_two_decisions_comes_to_the_same_end() {
    let whole = play(None);
    assert_eq!(whole.story.forge, expected(&whole.story.forge["mergedTree"]));
    assert_eq!(whole.story.proof, "passed");
    assert!(whole.boundaries.len() >= 100, "{} decisions", whole.boundaries.len());
    assert!(whole.delivering.len() >= 5, "{:?}", whole.delivering);

    let waiting = Mutex::new(chosen(&whole));
    let died = Mutex::new(BTreeSet::new());
    let next = || waiting.lock().unwrap().pop();
    let go = || {
        while let Some(boundary) = next() {
            for _ in 0..times(1, TRIES) {
                if died.lock().unwrap().contains(&boundary) {
                    break;
                }
                let told = play(Some(boundary));
                assert_eq!(told.story, whole.story, "killed after decision {:?}", told.died_at);
                died.lock().unwrap().extend(told.died_at);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(go);
        }
    });
    let died = died.into_inner().unwrap();
    let chosen = chosen(&whole);
    let missed: Vec<u64> = chosen.iter().copied().filter(|boundary| !died.contains(boundary)).collect();
    // Reviews side by side and renewed leases make some logs a little longer than others.
    let most = if full() { chosen.len() / 20 } else { chosen.len() };
    assert!(missed.len() <= most, "died after {died:?}, never after {missed:?}");
    assert!(died.len() * 2 > chosen.len(), "died after {died:?}");
}
