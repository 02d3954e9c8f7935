//! Many senders at once, over real connections.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::world::{World, signature};

/// Of these, every fifth comes a second time and every twentieth is forged.
const MANY: usize = 600;

#[test]
fn a_burst_over_real_connections_opens_exactly_the_right_tasks() {
    let world = World::new();
    let (senders, statuses) = (16, Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for first in 0..senders {
            let (world, statuses) = (&world, &statuses);
            scope.spawn(move || {
                for n in (first..MANY).step_by(senders) {
                    let original = if n % 5 == 4 { n - 4 } else { n };
                    let body = format!(r#"{{"n": {original}}}"#);
                    let sign = if n % 20 == 7 { signature("forged") } else { signature(&body) };
                    let head = vec!["Host: x".to_owned(), sign, format!("X-GitHub-Delivery: {original}")];
                    let status = loop {
                        let answer = world.request("POST /hooks/shop/hook", &head, body.as_bytes());
                        // Whoever is told to come again, or is cut off, does.
                        match answer.map(|answer| answer.status) {
                            Some(503) | None => std::thread::yield_now(),
                            Some(status) => break status,
                        }
                    };
                    statuses.lock().unwrap().push(status);
                }
            });
        }
    });
    let statuses = statuses.into_inner().unwrap();
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), MANY / 20);
    assert_eq!(statuses.iter().filter(|status| **status == 202).count(), MANY - MANY / 20);
    let signed = (0..MANY).filter(|n| n % 20 != 7);
    let originals: BTreeSet<usize> = signed.map(|n| if n % 5 == 4 { n - 4 } else { n }).collect();
    assert_eq!(world.tasks().len(), originals.len());
}
