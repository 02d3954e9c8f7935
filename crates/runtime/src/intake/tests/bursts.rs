//! Many at once, some of them twice, some of them forged.

use std::collections::BTreeSet;
use std::sync::Barrier;

use super::*;

/// How many come in a burst.
const MANY: usize = 5000;

/// Every fifth is one of those before it once more, every twentieth is not signed.
fn delivery(n: usize) -> Delivery {
    let original = if n % 5 == 4 { n - 4 } else { n };
    let mut delivery =
        signed(&format!(r#"{{"n": {original}}}"#), &[("X-GitHub-Delivery", &format!("d-{original}"))]);
    if n % 20 == 7 {
        delivery.headers[0].1 = format!("sha256={}", "0".repeat(64));
    }
    delivery
}

#[test]
fn five_thousand_in_a_burst_open_exactly_the_right_tasks() {
    let world = World::new(HOOK);
    let intake = world.start();
    let (threads, answered) = (16, Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for first in 0..threads {
            let (intake, answered) = (&intake, &answered);
            scope.spawn(move || {
                for n in (first..MANY).step_by(threads) {
                    let delivery = delivery(n);
                    let answer = loop {
                        match send(intake, &delivery) {
                            Answer::Busy => std::thread::yield_now(),
                            answer => break answer,
                        }
                    };
                    lock(answered).push((n, answer));
                }
            });
        }
    });
    let answered = answered.into_inner().unwrap();
    let forged = answered.iter().filter(|(_, answer)| *answer == Answer::Unsigned).count();
    assert_eq!(forged, MANY / 20);
    let opened: BTreeSet<TaskId> = world.tasks().iter().map(|view| view.id).collect();
    let named: BTreeSet<TaskId> = answered
        .iter()
        .filter(|(_, answer)| *answer != Answer::Unsigned)
        .map(|(_, answer)| task_of(answer))
        .collect();
    assert_eq!(opened, named);
    let signed = (0..MANY).filter(|n| n % 20 != 7);
    let originals: BTreeSet<usize> = signed.map(|n| if n % 5 == 4 { n - 4 } else { n }).collect();
    assert_eq!(opened.len(), originals.len());
    // Whoever begins anew knows all of them.
    drop(intake);
    let intake = world.start();
    for n in (0..MANY).step_by(401).filter(|n| n % 20 != 7) {
        assert!(matches!(send(&intake, &delivery(n)), Answer::Duplicate(_)), "{n}");
    }
}

#[test]
fn a_queue_that_is_full_is_told_at_once_and_what_waits_is_stored() {
    let world = World::new(HOOK);
    let intake = world.start_with(IntakeOptions { most_waiting: 1, most_at_once: 1 });
    // The first sender holds the thread until the others have come.
    let (held, release) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (at, until) = (Arc::clone(&held), Arc::clone(&release));
    intake.receive("shop", "hook", &signed(r#"{"n": 0}"#, &[]), move |_| {
        at.wait();
        until.wait();
    });
    held.wait();
    let (sender, receiver) = mpsc::channel();
    for n in 1..10 {
        let sender = sender.clone();
        intake.receive("shop", "hook", &signed(&format!(r#"{{"n": {n}}}"#), &[]), move |answer| {
            drop(sender.send(answer));
        });
    }
    drop(sender);
    release.wait();
    let answers: Vec<Answer> = receiver.iter().collect();
    let busy = answers.iter().filter(|answer| **answer == Answer::Busy).count();
    assert_eq!((busy, answers.len()), (8, 9), "{answers:?}");
    intake.stop();
    assert_eq!(world.tasks().len(), 2);
    assert_eq!(send(&intake, &signed(r#"{"n": 11}"#, &[])), Answer::Busy);
}
