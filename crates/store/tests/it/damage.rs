//! Damage: found, named, and never taken for an answer.

use std::fs;
use std::path::Path;

use longhaul_core::scrub::Scrubber;
use longhaul_events::{Position, Seq};
use longhaul_store::{AppendError, Finding, ImportError, Log, SqliteLog, StoreError, Verdict, recover};

use crate::keeping::first_version;
use crate::support::*;

/// Changes the first place in the database file where `text` stands.
fn damage(folder: &Path, text: &str) {
    let path = folder.join("longhaul.db");
    let mut bytes = fs::read(&path).unwrap();
    let place = bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    bytes[place] ^= 0x20;
    fs::write(path, bytes).unwrap();
}

/// Two streams of some length, all of it in the main file.
fn two_streams(folder: &Path) {
    let log = sqlite(folder);
    for n in 0..60 {
        append(&log, session(1), n, &[opened(&format!("first-{n}-"))]).unwrap();
        append(&log, session(2), n, &[opened(&format!("second-{n}-"))]).unwrap();
    }
    drop(log);
    let settle = rusqlite::Connection::open(folder.join("longhaul.db")).unwrap();
    settle.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}

#[test]
fn a_damaged_decision_quarantines_its_stream_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    two_streams(folder.path());
    damage(folder.path(), "first-40-");
    let log = sqlite(folder.path());
    let refused = log.read(session(1), Seq(0), 99).unwrap_err();
    assert!(matches!(refused, StoreError::Quarantined { .. }), "{refused}");
    assert_eq!(log.read(session(1), Seq(0), 32).unwrap().len(), 32, "what comes before is whole");
    let verdict = |n| log.verify_stream(&session(n).to_string()).unwrap().verdict;
    assert!(matches!(verdict(1), Verdict::Broken(_)));
    assert_eq!(verdict(2), Verdict::Intact);
    append(&log, session(2), 60, &[step(61)]).unwrap();
}

#[test]
fn nothing_is_acknowledged_into_a_file_that_is_gone_or_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append(&log, session(1), 0, &[opened("a")]).unwrap();
    let (path, aside) = (folder.path().join("longhaul.db"), folder.path().join("aside.db"));
    fs::rename(&path, &aside).unwrap();
    let refused = append(&log, session(1), 1, &[step(2)]).unwrap_err();
    assert!(matches!(refused, AppendError::Store(StoreError::Replaced { .. })), "{refused}");
    fs::copy(&aside, &path).unwrap();
    let refused = append(&log, session(2), 0, &[opened("b")]).unwrap_err();
    assert!(matches!(refused, AppendError::Store(StoreError::Replaced { .. })), "{refused}");
    let mut export = Vec::new();
    log.export(&[session(1).to_string()], &mut export).unwrap();
    let import = take_in(&log, &mut &export[..], &longhaul_core::scrub::Scrubber::redacting(""));
    assert!(matches!(import, Err(ImportError::Store(StoreError::Replaced { .. }))), "{import:?}");
    assert!(matches!(log.rebuild(), Err(StoreError::Replaced { .. })));
    fs::rename(&aside, &path).unwrap();
    append(&log, session(3), 0, &[opened("back in place")]).unwrap();
    fs::remove_file(&path).unwrap();
    let redacted =
        log.redact(&longhaul_core::scrub::Scrubber::redacting("some value"), longhaul_store::Names::Spare);
    assert!(matches!(redacted, Err(StoreError::Replaced { .. })), "{redacted:?}");
}

#[test]
fn a_stream_that_is_gone_whole_leaves_a_gap_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    for n in 1..=6 {
        append(&log, session(n), 0, &[opened("a")]).unwrap();
    }
    assert_eq!(log.gaps().unwrap(), []);
    let database = rusqlite::Connection::open(folder.path().join("longhaul.db")).unwrap();
    for n in [1, 3, 4] {
        database.execute("DELETE FROM decision WHERE stream = ?1", [session(n).to_string()]).unwrap();
        database.execute("DELETE FROM head WHERE stream = ?1", [session(n).to_string()]).unwrap();
    }
    let gap = |first, last| Finding::Gap { first: Position(first), last: Position(last) };
    assert_eq!(log.verify_structure().unwrap(), [gap(1, 1), gap(3, 4)]);
    assert_eq!(gap(3, 4).gap().unwrap(), "decisions 3 to 4 are missing from the log");
}

#[test]
fn a_damaged_head_is_made_anew_from_the_decisions() {
    let folder = tempfile::tempdir().unwrap();
    two_streams(folder.path());
    let database = rusqlite::Connection::open(folder.path().join("longhaul.db")).unwrap();
    database.execute("UPDATE head SET seq = 59 WHERE stream = ?1", [session(1).to_string()]).unwrap();
    database.execute("DELETE FROM head WHERE stream = ?1", [session(2).to_string()]).unwrap();
    database.execute("UPDATE decision SET before = 3 WHERE position = 50", []).unwrap();
    drop(database);
    let log = sqlite(folder.path());
    for n in [1, 2] {
        assert!(matches!(log.head(session(n)), Err(StoreError::Quarantined { .. })));
        assert!(append(&log, session(n), 60, &[step(61)]).is_err(), "nobody writes behind a head in doubt");
    }
    assert_eq!(log.rebuild().unwrap(), 2);
    for n in [1, 2] {
        append(&log, session(n), 60, &[step(61)]).unwrap();
        assert_eq!(log.verify_stream(&session(n).to_string()).unwrap().verdict, Verdict::Intact);
    }
}

#[test]
fn a_stream_that_lost_events_is_kept_and_may_not_go_on() {
    let folder = tempfile::tempdir().unwrap();
    two_streams(folder.path());
    damage(folder.path(), "first-40-");
    let recovered = recover(folder.path(), "t").unwrap();
    assert_eq!(recovered.intact, [session(2).to_string()]);
    let [(name, lost)] = &recovered.quarantined[..] else { panic!("{recovered:?}") };
    assert_eq!((name, &**lost), (&session(1).to_string(), "events 41 to 60 were lost to damage"));
    assert!(recovered.set_aside.unwrap().exists());
    let log = sqlite(folder.path());
    assert_eq!(events(&log, session(1)).len(), 40);
    assert!(append(&log, session(1), 40, &[step(41)]).is_err());
    assert!(matches!(log.verify_stream(name).unwrap().verdict, Verdict::Quarantined(_)));
    append(&log, session(2), 60, &[step(61)]).unwrap();
    drop(log);
    let again = recover(folder.path(), "t2").unwrap();
    assert_eq!(again.quarantined.len(), 1, "a mark is not lost by recovering again");
}

#[test]
fn a_stream_goes_on_when_all_that_it_lost_is_back() {
    let folder = tempfile::tempdir().unwrap();
    two_streams(folder.path());
    let log = sqlite(folder.path());
    let export = |log: &SqliteLog| {
        let mut text = Vec::new();
        log.export(&[session(1).to_string()], &mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    let whole = export(&log);
    drop(log);
    damage(folder.path(), "first-40-");
    recover(folder.path(), "t").unwrap();
    let log = sqlite(folder.path());
    let import = |text: &str| take_in(&log, &mut text.as_bytes(), &Scrubber::redacting("")).unwrap();
    // Half of what was lost, as an earlier export would hold it.
    let half = first_version(&whole).lines().take(51).collect::<Vec<_>>().join("\n");
    assert_eq!((import(&half).decisions, import(&half).lifted), (10, 0));
    assert!(append(&log, session(1), 50, &[step(51)]).is_err(), "ten of them are still missing");
    assert_eq!(log.rebuild().unwrap(), 0);
    let quarantined = export(&log);
    assert!(quarantined.contains("events 41 to 60 were lost"));

    let rest = import(&whole);
    assert_eq!((rest.decisions, rest.lifted), (10, 1));
    append(&log, session(1), 60, &[step(61)]).unwrap();
    assert_eq!(log.verify_stream(&session(1).to_string()).unwrap().verdict, Verdict::Intact);
    import(&quarantined);
    assert!(append(&log, session(1), 61, &[step(62)]).is_err(), "the mark of an older export is taken over");
    assert_eq!(log.rebuild().unwrap(), 1);
    append(&log, session(1), 61, &[step(62)]).unwrap();
}

#[test]
fn when_commits_vanished_no_stream_goes_on_as_if_nothing_had_happened() {
    let folder = tempfile::tempdir().unwrap();
    two_streams(folder.path());
    let log = sqlite(folder.path());
    append(&log, session(2), 60, &[step(61)]).unwrap();
    let copy = tempfile::tempdir().unwrap();
    for name in ["longhaul.db", "longhaul.last"] {
        fs::copy(folder.path().join(name), copy.path().join(name)).unwrap();
    }
    drop(log);
    let missed = longhaul_store::SqliteLog::open(&options(copy.path())).unwrap_err();
    assert!(missed.to_string().contains("121 decisions were committed, 120 are left"), "{missed}");
    let recovered = recover(copy.path(), "t").unwrap();
    assert_eq!((recovered.intact.len(), recovered.quarantined.len()), (0, 2), "nobody can tell whose it was");
    let log = sqlite(copy.path());
    assert!(append(&log, session(2), 60, &[step(61)]).is_err());
    append(&log, session(3), 0, &[opened("a new one")]).unwrap();
}

#[test]
fn a_stream_of_a_newer_release_is_unreadable_and_disturbs_nobody() {
    use longhaul_core::canonical::sha256;
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append(&log, session(1), 0, &[opened("a")]).unwrap();
    append(&log, session(2), 0, &[opened("b")]).unwrap();
    // As a newer release would have written it: whole, with an event that this one does not know.
    let body = String::from_utf8(log.read(session(1), Seq(0), 1).unwrap().remove(0).body).unwrap();
    let newer = body.replace("opened", "teleported");
    let database = rusqlite::Connection::open(folder.path().join("longhaul.db")).unwrap();
    let sql = "UPDATE decision SET body = CAST(?1 AS BLOB), redacted = ?2 WHERE position = 1";
    database.execute(sql, (&newer, sha256(newer.as_bytes()).0)).unwrap();
    let verdict = |n| log.verify_stream(&session(n).to_string()).unwrap().verdict;
    assert!(matches!(verdict(1), Verdict::Unreadable(_)), "{:?}", verdict(1));
    assert_eq!(verdict(2), Verdict::Intact);
    append(&log, session(2), 1, &[step(2)]).unwrap();
}

#[test]
fn a_row_that_cannot_be_read_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    two_streams(folder.path());
    let database = rusqlite::Connection::open(folder.path().join("longhaul.db")).unwrap();
    let sql = "UPDATE decision SET stream = CAST(x'73657373696f6e2f732dff' AS TEXT) WHERE position = 7";
    database.execute(sql, []).unwrap();
    drop(database);
    let log = sqlite(folder.path());
    let rows = log.since(Position(0), 999).unwrap();
    assert_eq!(rows.iter().filter(|row| row.is_ok()).count(), 119);
    assert!(log.stream_names().unwrap().contains(&session(2).to_string()));
    assert_eq!(log.verify_stream(&session(2).to_string()).unwrap().verdict, Verdict::Intact);
    let views = longhaul_store::views::Views::new(folder.path()).sessions(&log).unwrap();
    assert!(views.iter().any(|row| row.damage.is_none() && row.seq == Seq(60)));
}

#[test]
fn a_decision_that_was_never_committed_does_not_take_the_place_of_the_one_that_was() {
    // A kill inside a commit leaves its pages in the log; the retry writes others over some of them only.
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append(&log, session(1), 0, &[opened("a")]).unwrap();
    let before = fs::read(folder.path().join("longhaul.db-wal")).unwrap();
    append_at(&log, session(1), 1, &[step(99)], longhaul_events::Timestamp(5)).unwrap();
    let never = fs::read(folder.path().join("longhaul.db-wal")).unwrap();
    drop(log);
    for name in ["longhaul.db-shm", "longhaul.last"] {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    // The commit of step 99 never happened, but its pages lie behind the end of the log.
    fs::write(folder.path().join("longhaul.db-wal"), &before).unwrap();
    let log = sqlite(folder.path());
    for n in 0..6 {
        append(&log, session(1), 1 + n, &[step(n)]).unwrap();
    }
    drop(log);
    let path = folder.path().join("longhaul.db-wal");
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(&never[before.len()..]);
    fs::write(&path, bytes).unwrap();
    let recovered = recover(folder.path(), "t").unwrap();
    assert_eq!(recovered.intact, [session(1).to_string()]);
    let log = sqlite(folder.path());
    assert_eq!(events(&log, session(1))[1..], (0..6).map(step).collect::<Vec<_>>());
}
