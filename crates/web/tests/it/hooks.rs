//! Deliveries as they should be, and those that come again.

use longhaul_runtime::types::Taint;

use crate::world::World;

#[test]
fn a_delivery_is_a_task_before_it_is_acknowledged_and_the_same_again_is_none() {
    let world = World::new();
    let first = world.deliver(r#"{"n": 1}"#, &["X-GitHub-Delivery: a"]);
    assert_eq!((first.status, first.json()["outcome"].as_str()), (202, Some("task")), "{first:?}");
    // Seen by another reader of the same store at once.
    let tasks = world.tasks();
    assert_eq!(tasks.len(), 1);
    assert_eq!(first.json()["task"], tasks[0].id.to_string());
    assert_eq!((tasks[0].goal.as_str(), tasks[0].task.source.as_str()), ("Do 1", "webhook:hook"));
    assert_eq!(tasks[0].task.orders.as_ref().unwrap().taint, Taint::Outside);
    for again in ["X-GitHub-Delivery: a", "X-GitHub-Delivery: b", "Idempotency-Key: c"] {
        let again = world.deliver(r#"{"n": 1}"#, &[again]);
        assert_eq!((again.status, again.json()["outcome"].as_str()), (202, Some("duplicate")), "{again:?}");
        assert_eq!(again.json()["task"], first.json()["task"]);
    }
    assert_eq!(world.tasks().len(), 1);
}

#[test]
fn what_is_signed_and_not_wanted_is_told_and_nothing_of_it_is_said_again() {
    let world = World::new();
    let answer = world.deliver(r#"{"m": "private-words"}"#, &[]);
    assert_eq!((answer.status, answer.json()["outcome"].as_str()), (200, Some("not_wanted")));
    assert!(!answer.body.contains("private-words"), "{answer:?}");
    let answer = world.deliver("private-words", &[]);
    assert_eq!((answer.status, answer.json()["outcome"].as_str()), (422, Some("refused")));
    assert!(!answer.body.contains("private-words"), "{answer:?}");
    assert_eq!(world.tasks().len(), 0);
}

#[test]
fn one_connection_may_deliver_several() {
    use std::io::{Read as _, Write as _};

    let world = World::new();
    let mut bytes = Vec::new();
    for (n, last) in [(1, "keep-alive"), (2, "keep-alive"), (3, "close")] {
        let body = format!(r#"{{"n": {n}}}"#);
        let head = format!(
            "POST /hooks/shop/hook HTTP/1.1\r\nHost: x\r\nConnection: {last}\r\n{}\r\nContent-Length: {}\r\n\r\n",
            crate::world::signature(&body),
            body.len()
        );
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(body.as_bytes());
    }
    let mut stream = std::net::TcpStream::connect(world.address()).unwrap();
    stream.write_all(&bytes).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 202").count(), 3, "{answers}");
    assert_eq!(world.tasks().len(), 3);
}
