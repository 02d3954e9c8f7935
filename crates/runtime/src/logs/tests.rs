//! Real files: many who write at once, days that end, disks that do not take it, secrets.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, RwLock};

use longhaul_core::scrub::{Scrubber, Secret};
use longhaul_events::{SessionId, Timestamp};
use serde_json::{Value, json};
use tracing_subscriber::layer::SubscriberExt as _;

use super::*;
use crate::places::Places;
use crate::system::{Settings, System};

const NOON: Timestamp = Timestamp(1_794_830_400_000);
const DAY_MS: u64 = 86_400_000;

struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn system(&self) -> System {
        let places = Places::under(self.folder.path());
        let (variables, directory, flags) = (BTreeMap::new(), self.folder.path().to_owned(), Vec::new());
        System::new(Settings { places, variables, directory, flags })
    }

    fn logs(&self) -> PathBuf {
        self.system().places().logs()
    }

    /// What is read back, of all lines or of some.
    fn read(&self, query: &LogQuery) -> Vec<Value> {
        self.system().logs(query).unwrap().more().unwrap().into_iter().map(|row| row.0).collect()
    }
}

fn line(at: Timestamp, number: u64) -> Vec<u8> {
    let time = longhaul_core::time::rfc3339(at);
    json!({ "time": time, "level": "info", "message": number }).to_string().into_bytes()
}

fn nothing_lost(_: u64) -> Vec<u8> {
    panic!("a line was lost")
}

#[test]
fn many_who_write_at_once_lose_no_line_and_mix_none_while_files_become_full() {
    let home = Home::new();
    let (writers, lines) = (8_u64, 500_u64);
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let folder = home.logs();
            scope.spawn(move || {
                // Each with a file of its own, as processes have.
                let sink = Sink::new(&folder).with_files_of(20_000);
                for number in 0..lines {
                    sink.write(NOON, &line(NOON, writer * lines + number), nothing_lost);
                }
            });
        }
    });
    let mut seen: Vec<u64> =
        home.read(&LogQuery::default()).iter().map(|row| row["message"].as_u64().unwrap()).collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..writers * lines).collect::<Vec<_>>());
    let files = LogFile::all(&home.logs());
    assert!(files.len() > 5, "{files:?}");
    for file in files {
        let found = fs::metadata(&file.path).unwrap();
        assert!(found.len() < 20_000 + 8 * 200, "{}", found.len());
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(fs::metadata(home.logs()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_new_day_has_a_new_file_and_old_ones_are_taken_away_by_whoever_begins_it() {
    let home = Home::new();
    let sink = Sink::new(&home.logs());
    for day in [0, 1, 15] {
        let at = NOON.plus_ms(day * DAY_MS);
        sink.write(at, &line(at, day), nothing_lost);
    }
    let days: Vec<String> = LogFile::all(&home.logs()).into_iter().map(|file| file.day).collect();
    assert_eq!(days, ["2026-11-17", "2026-12-01"], "the one of the 16th is older than two weeks");
    let since = LogQuery { since: Some(NOON.plus_ms(2 * DAY_MS)), ..LogQuery::default() };
    assert_eq!(home.read(&since).len(), 1);
}

#[test]
fn a_file_that_was_taken_away_is_begun_again() {
    let home = Home::new();
    let sink = Sink::new(&home.logs());
    sink.write(NOON, &line(NOON, 1), nothing_lost);
    fs::remove_dir_all(home.logs()).unwrap();
    sink.write(NOON, &line(NOON, 2), nothing_lost);
    assert_eq!(home.read(&LogQuery::default()).len(), 1);
}

#[test]
fn what_cannot_be_written_keeps_nobody_from_work_and_is_told_afterwards() {
    let home = Home::new();
    let sink = Sink::new(&home.logs());
    fs::create_dir_all(home.logs().parent().unwrap()).unwrap();
    fs::write(home.logs(), "in the way").unwrap();
    (0..3).for_each(|number| sink.write(NOON, &line(NOON, number), |_| line(NOON, 0)));
    fs::remove_file(home.logs()).unwrap();
    sink.write(NOON, &line(NOON, 3), |lost| line(NOON, 100 + lost));
    let seen: Vec<Value> = home.read(&LogQuery::default()).iter().map(|row| row["message"].clone()).collect();
    assert_eq!(seen, [103, 3]);
}

#[test]
fn a_link_or_a_pipe_in_the_place_of_a_file_is_not_followed() {
    let home = Home::new();
    fs::create_dir_all(home.logs()).unwrap();
    let elsewhere = home.folder.path().join("elsewhere");
    fs::write(&elsewhere, "").unwrap();
    std::os::unix::fs::symlink(&elsewhere, home.logs().join("longhaul-2026-11-16.jsonl")).unwrap();
    let sink = Sink::new(&home.logs());
    sink.write(NOON, &line(NOON, 1), nothing_lost);
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), "");
}

#[test]
fn a_line_that_was_cut_off_hides_no_other() {
    let home = Home::new();
    fs::create_dir_all(home.logs()).unwrap();
    let whole = |number| String::from_utf8(line(NOON, number)).unwrap();
    let torn = &whole(7)[..30];
    let text =
        format!("{}\n\n   \nnot a line\n{torn}{}\n{}\n{}", whole(1), whole(2), whole(3), &whole(4)[..20]);
    fs::write(home.logs().join("longhaul-2026-11-16.jsonl"), text).unwrap();
    fs::write(home.logs().join("notes.txt"), "not ours").unwrap();
    let seen: Vec<Value> = home.read(&LogQuery::default()).iter().map(|row| row["message"].clone()).collect();
    assert_eq!(seen, [1, 2, 3], "the last one is under way");
}

#[test]
fn who_follows_sees_each_line_once() {
    let home = Home::new();
    let sink = Sink::new(&home.logs());
    let system = home.system();
    let mut follow = system.logs(&LogQuery::default()).unwrap();
    assert!(follow.is_empty());
    assert_eq!(follow.more().unwrap(), []);
    let mut more = |number: u64| {
        let at = NOON.plus_ms(number);
        sink.write(at, &line(at, number), nothing_lost);
        let rows = follow.more().unwrap();
        rows.iter().map(|row| row.0["message"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(more(1), [1]);
    assert_eq!(more(2), [2]);
    assert_eq!(more(DAY_MS), [DAY_MS], "in the file of the next day");
}

#[test]
fn a_line_says_what_it_is_about_and_holds_no_secret() {
    let home = Home::new();
    let canary = "canary-4711-sings";
    let secrets = [("A", canary), ("B", "level")]
        .map(|(name, value)| Secret { name: name.into(), value: value.into() });
    let scrubber = Arc::new(RwLock::new(Arc::new(Scrubber::new(&secrets[..1]))));
    let session = SessionId::from_bytes([1; 8]);
    let origin = LogOrigin { process: "runner".to_owned(), session: Some(session), task: None };
    let layer = FileLayer::new(Sink::new(&home.logs()), origin, scrubber.clone());
    let long = "x".repeat(4090) + canary;
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
        tracing::info!(session = "s-other", trigger = "g-1", ms = 12, "said {canary}");
        tracing::warn!(error = canary, long, "broke\noff");
        *scrubber.write().unwrap() = Arc::new(Scrubber::new(&secrets));
        tracing::error!("after more became known");
    });
    let bytes = fs::read(&LogFile::all(&home.logs())[0].path).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(!text.contains("canary"), "{text}");
    let rows = home.read(&LogQuery::default());
    let process = format!("runner-{}", std::process::id());
    let first = json!({
        "time": rows[0]["time"], "level": "info", "target": "longhaul_runtime::logs::tests",
        "message": "said [secret:A]", "session": "s-other", "trigger": "g-1", "process": process,
        "fields": { "ms": 12 },
    });
    assert_eq!(rows[0], first);
    assert_eq!(rows[1]["session"], session.to_string());
    assert_eq!(
        (&rows[1]["message"], &rows[1]["fields"]["error"]),
        (&json!("broke\noff"), &json!("[secret:A]"))
    );
    assert!(rows[1]["fields"]["long"].as_str().unwrap().len() < 4200);
    assert!(text.lines().nth(2).unwrap().contains("\"[secret:B]\":\"error\""), "{text}");
}

#[test]
fn a_value_is_blanked_where_it_stands_and_nothing_else() {
    let home = Home::new();
    let sink = Sink::new(&home.logs());
    let value = "sing-little-bird";
    sink.write(NOON, &line(NOON, 1), nothing_lost);
    let told = json!({ "time": "2026-11-16T12:00:00.000Z", "message": format!("a {value} b") }).to_string();
    sink.write(NOON, told.as_bytes(), nothing_lost);
    sink.write(NOON, &line(NOON, 3), nothing_lost);
    assert_eq!(home.system().redact_logs(value).unwrap(), 1);
    // Whoever writes has the same file open, and goes on at its end.
    sink.write(NOON, &line(NOON, 4), nothing_lost);
    let seen: Vec<Value> = home.read(&LogQuery::default()).iter().map(|row| row["message"].clone()).collect();
    assert_eq!(seen, [1, 3, 4]);
    assert_eq!(home.system().redact_logs(value).unwrap(), 0);
}
