//! Random byte flips over the database and blob files: never a wrong answer, never a crash.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_core::handle::Handle;
use longhaul_core::scrub::Scrubber;
use longhaul_events::{Digest, Seq, SessionEvent, SessionId, StepId};
use longhaul_runtime::opaque::{Answered, FinishRequest, NewSession, Next, StepRequest, ThenRequest};
use longhaul_runtime::{Commands, SystemClock};
use longhaul_store::views::{SessionRow, Views};
use longhaul_store::{Decision, Log, SqliteLog, Verdict, recover};
use longhaul_testkit::{Dice, open_store, seed, times};
use serde_json::json;

/// What is true, written down before anything is damaged.
struct Truth {
    streams: BTreeMap<SessionId, Vec<Decision>>,
    answers: Vec<(FinishRequest, Answered)>,
    blobs: BTreeMap<Digest, Arc<[u8]>>,
    sessions: Vec<SessionRow>,
}

fn commands(log: &Arc<SqliteLog>) -> Commands {
    let clock = Arc::new(SystemClock);
    Commands::over_store(log.clone(), Scrubber::new(&[]), clock, longhaul_runtime::Entropy::System)
}

fn request(handle: Handle, n: u64) -> FinishRequest {
    // Some payloads lie in the event, some in blob rows, some in blob files.
    let size = [50, 9_000, 100, 80_000][usize::try_from(n % 4).unwrap()];
    FinishRequest {
        handle,
        payload: json!({"n": n, "session": handle.session, "filler": "y".repeat(size)}),
        answer: json!(n),
        then: ThenRequest::HandOut(StepRequest { step: StepId("flip".into()), prompt: json!("Go.") }),
        epoch: None,
    }
}

/// The truth, and the open store: while it is open, what was written lies in the write-ahead log.
fn build(folder: &Path) -> (Truth, Arc<SqliteLog>) {
    let log = Arc::new(open_store(folder).unwrap());
    let commands = commands(&log);
    let mut answers = Vec::new();
    let mut ids = Vec::new();
    for session in 0..12u64 {
        let goal = json!(format!("session {session}"));
        let id = commands.open_session(NewSession { goal, workspace: None, parent: None }).unwrap();
        let step = StepRequest { step: StepId("first".into()), prompt: json!("Begin.") };
        let mut handle = commands.hand_out(id, step, None).unwrap();
        for n in 0..4 + session * 4 {
            let answered = commands.finish_step(request(handle, n)).unwrap();
            answers.push((request(handle, n), answered.clone()));
            let Next::Step(next) = answered.next else { panic!("closed") };
            handle = next;
        }
        ids.push(id);
    }
    let streams: BTreeMap<SessionId, Vec<Decision>> =
        ids.iter().map(|id| (*id, log.read((*id).into(), Seq(0), usize::MAX).unwrap())).collect();
    let events = streams.values().flatten().flat_map(|row| row.events::<SessionEvent>().unwrap());
    let blobs: BTreeMap<Digest, Arc<[u8]>> = events
        .flat_map(|event| event.blobs())
        .map(|blob| (blob.sha256, log.blob(blob.sha256).unwrap()))
        .collect();
    assert!(blobs.len() > 20);
    let sessions = Views::new(folder).sessions(&*log).unwrap();
    drop(commands);
    (Truth { streams, answers, blobs, sessions }, log)
}

fn files(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(files(&path));
        } else if !name.ends_with("-shm") && !name.contains("lock") {
            let size = fs::metadata(&path).unwrap().len();
            found.push((path, size));
        }
    }
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        // The shared index is rebuilt from the log by whoever opens it first, as after a crash.
        if path.is_dir() {
            copy(&path, &target);
        } else if !path.to_string_lossy().ends_with("-shm") {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// Flips bits of one random byte; databases and blob files get the same share.
fn flip(folder: &Path, dice: &mut Dice) -> String {
    let files = files(folder);
    let blobs: Vec<_> = files.iter().filter(|(path, _)| path.to_string_lossy().contains("blobs")).collect();
    let databases: Vec<_> =
        files.iter().filter(|(path, size)| !path.to_string_lossy().contains("blobs") && *size > 0).collect();
    let group = if dice.once_in(5) && !blobs.is_empty() { blobs } else { databases };
    let total: u64 = group.iter().map(|(_, size)| size).sum();
    let mut at = dice.below(total);
    for (path, size) in group {
        if at < *size {
            let mut bytes = fs::read(path).unwrap();
            bytes[usize::try_from(at).unwrap()] ^= u8::try_from(1 + dice.below(255)).unwrap();
            fs::write(path, bytes).unwrap();
            return format!("{}:{at}", path.strip_prefix(folder).unwrap().display());
        }
        at -= size;
    }
    unreachable!("the place is within the total")
}

/// Everything that can be asked, each answer compared with the truth. Errors are fine, lies are not.
fn ask_everything(log: &Arc<SqliteLog>, truth: &Truth, place: &str) {
    let mut unread = 0;
    for (id, expected) in &truth.streams {
        match log.read((*id).into(), Seq(0), usize::MAX) {
            Ok(read) => assert_eq!(&read, expected, "{place}: a stream"),
            Err(_) => unread += 1,
        }
        if let Ok(head) = log.head((*id).into()) {
            let last = expected.last().unwrap();
            let head = head.unwrap_or_else(|| panic!("{place}: a stream is said not to exist"));
            assert_eq!((head.seq, head.hash), (last.last_seq(), last.hash), "{place}: a head");
        }
    }
    let sound = log.verify_structure().is_ok_and(|findings| findings.is_empty());
    assert!(unread <= 1 || !sound, "{place}: one byte in a sound file, and {unread} streams cannot be read");
    for (hash, expected) in &truth.blobs {
        if let Ok(blob) = log.blob(*hash) {
            assert_eq!(&blob, expected, "{place}: a blob");
        }
    }
    let commands = commands(log);
    for (request, expected) in truth.answers.iter().step_by(7) {
        if let Ok(answered) = commands.finish_step(request.clone()) {
            assert_eq!(
                (&answered.answer, answered.next),
                (&expected.answer, expected.next),
                "{place}: an answer"
            );
            assert!(answered.replayed, "{place}: done twice");
        }
    }
}

#[test]
fn heavy_a_flipped_byte_never_gives_a_wrong_answer() {
    let original = tempfile::tempdir().unwrap();
    let (truth, log) = build(original.path());
    let (in_log, settled) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    copy(original.path(), in_log.path());
    drop(log);
    copy(original.path(), settled.path());
    let mut dice = Dice::new(seed());
    let (mut noticed, mut lost) = (0, 0);
    for round in 0..times(30, 500) {
        let folder = tempfile::tempdir().unwrap();
        copy(if round % 2 == 0 { in_log.path() } else { settled.path() }, folder.path());
        let place = flip(folder.path(), &mut dice);
        if let Ok(log) = open_store(folder.path()) {
            let log = Arc::new(log);
            ask_everything(&log, &truth, &place);
            if let Ok(sessions) = Views::new(folder.path()).sessions(&*log) {
                let told: Vec<_> = sessions.iter().filter(|row| row.damage.is_none()).collect();
                assert!(told.iter().all(|row| truth.sessions.contains(row)), "{place}: a view");
            }
            let names = log.stream_names().unwrap_or_default();
            let intact = |name: &String| matches!(log.verify_stream(name), Ok(report) if report.verdict == Verdict::Intact);
            noticed += u64::from(names.len() < truth.streams.len() || !names.iter().all(intact));
        } else {
            noticed += 1;
        }
        lost += recovered_losses(folder.path(), &truth, &place);
    }
    assert!(noticed > 0, "no flip hit anything: the test looks at the wrong files");
    assert!(lost <= times(30, 500) / 2, "{lost} streams lost: most bytes are not of a decision of their own");
}

/// After a salvage: what is intact is the truth, what is quarantined is a beginning of it.
fn recovered_losses(folder: &Path, truth: &Truth, place: &str) -> u64 {
    let recovered = recover(folder, "test").unwrap_or_else(|error| panic!("{place}: {error}"));
    // If the last decision of a stream is hit where only the write-ahead log has it, nobody can tell whose it was.
    let nobody_knows = |(_, reason): &(String, String)| reason.starts_with("commits were lost");
    let unknown = recovered.quarantined.iter().any(nobody_knows);
    assert!(recovered.quarantined.len() <= 1 || unknown, "{place}: one byte, {:?}", recovered.quarantined);
    let log = Arc::new(open_store(folder).unwrap());
    assert_eq!(log.verify_structure().unwrap(), [], "{place}");
    for (id, expected) in &truth.streams {
        let name = format!("session/{id}");
        let rows = log.read((*id).into(), Seq(0), usize::MAX).unwrap();
        let hashes = |rows: &[Decision]| rows.iter().map(|row| row.hash).collect::<Vec<_>>();
        if recovered.intact.contains(&name) {
            assert_eq!(hashes(&rows), hashes(expected), "{place}: {name} is called intact");
        } else {
            assert_eq!(hashes(&rows), hashes(&expected[..rows.len()]), "{place}: {name}");
            assert!(log.head((*id).into()).is_err(), "{place}: {name} lost events and may not go on");
        }
    }
    ask_everything_about_intact(&log, truth, place);
    u64::from(!recovered.quarantined.is_empty())
}

fn ask_everything_about_intact(log: &Arc<SqliteLog>, truth: &Truth, place: &str) {
    let commands = commands(log);
    for (request, expected) in truth.answers.iter().step_by(11) {
        match commands.finish_step(request.clone()) {
            Ok(answered) => assert_eq!(answered.next, expected.next, "{place}"),
            Err(longhaul_runtime::Error::Store(_)) => {}
            Err(error) => panic!("{place}: {error}"),
        }
    }
}
