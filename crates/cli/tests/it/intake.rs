//! Webhooks to a daemon that is killed in the middle, with senders who send again what was not acknowledged.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Child;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use longhaul_testkit::{Dice, full, processes, seed};
use serde_json::Value;
use sha2::Sha256;

use crate::running::wait_until;
use crate::support::Home;
use crate::walking::one;

const SECRET: &str = "kept-between-the-two-of-us";

const TRIGGERS: &str = "
triggers:
  - id: hook
    workspace: project
    webhook: { secret: $HOOK_SECRET }
    when: { path: $.n, exists: true }
    goal: \"Do {{$.n}}\"
";

/// A home with a daemon that takes requests at a port and starts nothing.
struct World {
    home: Home,
    address: SocketAddr,
}

impl World {
    fn new() -> Self {
        let home = Home::new();
        home.repository("project");
        home.run(&["workspace", "add"]).inside("project").go().succeeded();
        fs::create_dir_all(home.longhaul_home().join("config")).unwrap();
        fs::write(home.longhaul_home().join("config/triggers.yml"), TRIGGERS).unwrap();
        home.longhaul(&["queue", "pause"]).succeeded();
        // One that nobody has: whoever is killed comes back to the same.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        Self { home, address }
    }

    fn serve(&self) -> Child {
        let listen = format!("daemon.listen={}", self.address);
        self.home.run(&["-c", &listen, "daemon", "run"]).variable("HOOK_SECRET", SECRET).start()
    }

    /// The status of a request, if it was answered.
    fn send(&self, body: &str, signature: &str) -> Option<u16> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
        let head = format!(
            "POST /hooks/project/hook HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Hub-Signature-256: {signature}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        answer.split(' ').nth(1)?.parse().ok()
    }

    fn tasks(&self) -> Vec<Value> {
        self.home.longhaul(&["task", "list", "--all", "--json"]).succeeded().rows()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for process in processes::with_variable("LONGHAUL_HOME", &self.home.longhaul_home()) {
            let _ = processes::kill(process);
        }
    }
}

fn signature(body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    let digest = longhaul_runtime::types::Digest(mac.finalize().into_bytes().into());
    format!("sha256={digest}")
}

/// What the delivery of this number is about: every fifth is one of those before it once more.
const fn about(n: usize) -> usize {
    if n % 5 == 4 { n - 4 } else { n }
}

const fn is_forged(n: usize) -> bool {
    n % 20 == 7
}

#[test]
fn heavy_a_burst_to_a_daemon_that_is_killed_in_the_middle_opens_exactly_the_right_tasks() {
    let (many, kills) = if full() { (5000, 6) } else { (600, 2) };
    let world = World::new();
    let mut dice = Dice::new(seed());
    let mut daemon = world.serve();
    wait_until("it takes requests", || TcpStream::connect(world.address).is_ok());
    let (next, answered, is_over) = (AtomicUsize::new(0), Mutex::new(Vec::new()), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= many {
                        return;
                    }
                    let body = format!(r#"{{"n": {}}}"#, about(n));
                    let sign = if is_forged(n) { signature("forged") } else { signature(&body) };
                    let began = Instant::now();
                    let status = loop {
                        match world.send(&body, &sign) {
                            // Nobody there, cut off, or told to come again: it was not acknowledged.
                            None | Some(503) => {
                                assert!(
                                    began.elapsed() < Duration::from_mins(2),
                                    "delivery {n} is never taken"
                                );
                                std::thread::yield_now();
                            }
                            Some(status) => break status,
                        }
                    };
                    answered.lock().unwrap().push((n, status));
                }
            });
        }
        // The seed says after how many answers each of them dies.
        for kill in 1..=kills {
            let most = many * kill / (kills + 1);
            let at = most.saturating_sub(usize::try_from(dice.below(20)).unwrap());
            wait_until("enough were answered", || answered.lock().unwrap().len() >= at);
            processes::kill(daemon.id());
            daemon.wait().unwrap();
            daemon = world.serve();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let answered = answered.into_inner().unwrap();
    for (n, status) in &answered {
        assert_eq!(*status, if is_forged(*n) { 401 } else { 202 }, "delivery {n}");
    }
    assert_eq!(answered.len(), many);
    let wanted: BTreeSet<String> =
        (0..many).filter(|n| !is_forged(*n)).map(|n| format!("Do {}", about(n))).collect();
    let tasks = world.tasks();
    let goals: BTreeSet<String> =
        tasks.iter().map(|task| task["goal"].as_str().unwrap().to_owned()).collect();
    assert_eq!((tasks.len(), &goals), (wanted.len(), &wanted), "none is missing, none is there twice");
    processes::terminate(daemon.id());
    assert!(daemon.wait().unwrap().success());
    let verified = world.home.longhaul(&["log", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified}");
}

#[test]
fn a_trigger_is_fired_by_hand_and_its_history_is_listed() {
    let world = World::new();
    let fired = one(&world
        .home
        .run(&["trigger", "fire", "project/hook", "--goal", "by hand", "--json"])
        .go()
        .succeeded());
    assert_eq!((&fired["state"], &fired["goal"]), (&"queued".into(), &"by hand".into()));
    let rows = world.home.longhaul(&["trigger", "list", "--all", "--json"]).succeeded().rows();
    assert_eq!((&rows[0]["tasks"], &rows[0]["last_task"]), (&1.into(), &fired["id"]));
    let needs = world.home.run(&["trigger", "fire", "hook"]).inside("project").go();
    assert!(needs.code == Some(2) && needs.stderr.contains("--goal"), "{needs}");
    let agent =
        world.home.run(&["trigger", "fire", "hook", "--goal", "x"]).variable("LONGHAUL_SESSION", "s-1").go();
    assert!(agent.code == Some(3) && agent.stderr.contains("E0303"), "{agent}");
}

#[test]
fn what_the_daemon_offers_is_described_without_one() {
    let home = Home::new();
    let described = one(&home.longhaul(&["daemon", "openapi", "--json"]).succeeded());
    assert_eq!(described["openapi"], "3.1.0");
    assert!(described["paths"]["/v1/queue"]["post"].is_object());
}
