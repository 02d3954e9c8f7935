//! Real commands and a real server, and what is on record afterwards.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::mpsc;

use longhaul_core::briefing::Surroundings;
use longhaul_core::inbox::{Seen, Severity, entries};
use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::places::Places;

const NOW: Timestamp = Timestamp(1_794_902_400_000);
const HOUR: i64 = 60 * 60 * 1000;

struct World {
    folder: TempDir,
    system: System,
}

impl World {
    fn with(rules: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            places: Places::under(folder.path()),
            variables: BTreeMap::new(),
            directory: folder.path().to_owned(),
            flags: Vec::new(),
        };
        let system = System::new(settings);
        fs::create_dir_all(&system.places().config).unwrap();
        let world = Self { folder, system };
        world.rules(rules);
        world
    }

    fn rules(&self, rules: &str) {
        fs::write(self.system.places().user_config(), rules).unwrap();
    }

    fn secret(&self, name: &str, value: &str) {
        let path = self.system.places().secrets();
        fs::write(&path, serde_json::json!({ name: value }).to_string()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// A new process looks, as after a restart.
    fn look(&self, now: Timestamp, troubles: usize) -> Notified {
        let notifier = Notifier::new(&self.system, Timestamp(NOW.0 - 2 * HOUR));
        notifier.look(&self.system.commands().unwrap(), now, &desk(now, troubles)).unwrap()
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join("config").join(name)).unwrap_or_default()
    }

    fn troubles(&self) -> Vec<String> {
        let troubles = Notifier::new(&self.system, NOW).troubles();
        troubles.into_iter().map(|trouble| trouble.problem).collect()
    }
}

fn desk(now: Timestamp, troubles: usize) -> Desk {
    let trouble = |number: usize| Trouble {
        subject: number.to_string(),
        title: format!("Broken; `{number}` $(id)"),
        problem: "--force 'it'\nsecond".to_owned(),
        remedy: "longhaul doctor".to_owned(),
        severity: Severity::Hinders,
        workspace: None,
        since: NOW,
    };
    let seen = Seen { now, troubles: (0..troubles).map(trouble).collect(), ..Seen::default() };
    Desk { entries: entries(&seen), seen, around: Surroundings::default() }
}

#[test]
fn a_command_gets_each_text_as_one_argument_and_is_run_once_for_each_entry() {
    let world = World::with(
        "notify: [ { on: [trouble], command: [sh, -c, 'printf \"%s|\" \"$@\" >> told', sh, \"{{title}}\", \"{{text}}\", \"{{id}}\"] } ]",
    );
    let first = world.look(NOW, 1);
    assert_eq!((first.delivered.len(), first.failed.len()), (1, 0), "{first:?}");
    let told = world.file("told");
    let expected = "Broken; `0` $(id)| --force 'it'\nsecond\nlonghaul inbox show i-";
    assert!(told.starts_with(expected), "{told}");
    assert!(told.ends_with(&format!("|{}|", first.delivered[0])), "{told}");
    assert_eq!(world.look(NOW, 1), Notified::default(), "a new process knows of it");
    assert_eq!(world.look(NOW, 2).delivered.len(), 1, "only what is new");
}

#[test]
fn a_command_that_fails_is_tried_again_later_and_is_in_the_inbox_after_several_times() {
    let world = World::with(
        "notify: [ { on: [trouble], command: [sh, -c, 'test -e fixed || { echo no bus >&2; exit 3; }'] } ]",
    );
    let mut now = NOW;
    for minutes in [1, 2, 4] {
        let failed = world.look(now, 1);
        assert_eq!(failed.failed[0].problem, "it exited with 3: no bus");
        assert_eq!(world.look(now, 1), Notified::default(), "not at once");
        now = Timestamp(now.0 + minutes * 60_000);
    }
    assert_eq!(world.troubles(), ["`sh` failed 3 times: it exited with 3: no bus"]);
    fs::write(world.folder.path().join("config/fixed"), "").unwrap();
    assert_eq!(world.look(now, 1).delivered.len(), 1);
    assert_eq!(world.troubles(), Vec::<String>::new());
}

#[test]
fn a_program_that_is_not_there_keeps_no_other_way_back() {
    let world = World::with(
        "notify:\n  - { on: [trouble], command: [no-such-program-here, \"{{title}}\"] }\n  - { on: [trouble], command: [sh, -c, 'echo x >> told'] }\n",
    );
    let looked = world.look(NOW, 2);
    assert_eq!((looked.delivered.len(), looked.failed.len()), (2, 1), "{looked:?}");
    assert_eq!(world.file("told"), "x\nx\n");
}

/// Answers with these statuses, one connection each, and hands on what it was sent.
fn server(statuses: &'static [&'static str]) -> (String, mpsc::Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/hook?key=hush-hush-hush", listener.local_addr().unwrap());
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        for (stream, status) in listener.incoming().zip(statuses) {
            let mut reader = BufReader::new(stream.unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(given) = line.to_lowercase().strip_prefix("content-length:") {
                    length = given.trim().parse().unwrap();
                }
                if line == "\r\n" {
                    break;
                }
                head += &line;
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            reader.get_mut().write_all(answer.as_bytes()).unwrap();
            send.send((head, serde_json::from_slice(&body).unwrap())).unwrap();
        }
    });
    (address, receive)
}

#[test]
fn a_webhook_gets_json_with_an_id_and_its_address_is_told_nowhere() {
    let world = World::with("notify: [ { on: [trouble], webhook: $HOOK_URL } ]");
    let missing = world.look(NOW, 1);
    assert_eq!(
        missing.failed[0].problem,
        "there is no secret `HOOK_URL`; run `longhaul secret set HOOK_URL`"
    );
    let (address, received) = server(&["500 Oops", "204 No Content"]);
    world.secret("HOOK_URL", &address);
    let later = Timestamp(NOW.0 + 60_000);
    let refused = world.look(later, 1);
    assert_eq!(refused.failed[0].problem, "it was answered with status 500");
    let first = received.recv().unwrap();
    assert!(first.0.starts_with("POST /hook?key="), "{first:?}");
    let arrived = world.look(Timestamp(later.0 + 120_000), 1);
    let second = received.recv().unwrap();
    assert_eq!(
        (second.1["id"].as_str(), &second.1["id"]),
        (Some(arrived.delivered[0].as_str()), &first.1["id"])
    );
    let kept = fs::read(world.folder.path().join("data/longhaul.db")).unwrap();
    let files = [kept, fs::read(world.system.places().undelivered()).unwrap()];
    assert!(files.iter().all(|bytes| !String::from_utf8_lossy(bytes).contains("hush-hush")));
}

#[test]
fn a_digest_is_sent_once_a_day_whoever_is_restarted() {
    let world = World::with(
        "notify: [ { digest: { at: \"07:30\", audience: external }, command: [sh, -c, 'printf %s \"$1\" >> told', sh, \"{{text}}\"] } ]",
    );
    assert_eq!(world.look(Timestamp(NOW.0 - HOUR), 1), Notified::default(), "it is not due");
    assert_eq!(world.look(NOW, 1).delivered.len(), 1);
    assert!(
        world.file("told").starts_with("Tuesday, 17 November 2026\n0 changes were delivered"),
        "{}",
        world.file("told")
    );
    assert_eq!(world.look(NOW, 1), Notified::default());
    assert_eq!(world.look(Timestamp(NOW.0 + 24 * HOUR), 1).delivered.len(), 1);
}

#[test]
fn settings_that_cannot_be_read_tell_nobody_and_break_nothing() {
    let world = World::with("notify: [ { on: [gate] } ]");
    assert_eq!(world.look(NOW, 3), Notified::default());
    fs::write(world.system.places().undelivered(), "not json").unwrap_or_default();
    assert_eq!(world.troubles(), Vec::<String>::new());
}
