//! Blobs, redaction, collection, backups, exports, views.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use longhaul_core::retention::{self, Inventory};
use longhaul_core::scrub::{Scrubber, Secret};
use longhaul_events::{Seq, Timestamp};
use longhaul_store::views::Views;
use longhaul_store::{Access, ImportError, Log, NewBlob, Options, SqliteLog, StoreError, Verdict, restore};

use crate::support::*;

pub(crate) fn large() -> NewBlob {
    NewBlob::new("large ".repeat(20_000).into_bytes())
}

pub(crate) fn files_under(folder: &Path) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_under(&path));
        } else {
            found.push(fs::read(&path).unwrap());
        }
    }
    found
}

pub(crate) fn is_anywhere(folder: &Path, needle: &str) -> bool {
    files_under(folder)
        .iter()
        .any(|bytes| bytes.windows(needle.len()).any(|window| window == needle.as_bytes()))
}

pub(crate) fn no_scrubbing() -> Scrubber {
    Scrubber::redacting("")
}

pub(crate) fn everything_is_intact(log: &SqliteLog) {
    for stream in log.stream_names().unwrap() {
        assert_eq!(log.verify_stream(&stream).unwrap().verdict, Verdict::Intact, "{stream}");
    }
    assert_eq!(log.verify_structure().unwrap(), []);
    assert_eq!(log.verify_blobs().unwrap(), []);
}

#[test]
fn small_blobs_lie_in_the_database_and_large_ones_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    let small = NewBlob::new(b"small".as_slice());
    append_blob(&log, session(1), 0, small.clone());
    assert!(!folder.path().join("blobs").exists());
    append_blob(&log, session(1), 1, large());
    assert_eq!(files_under(&folder.path().join("blobs")).len(), 1);
    assert_eq!(&*log.blob(small.reference().sha256).unwrap(), b"small");
    assert_eq!(log.blob(large().reference().sha256).unwrap().len(), 120_000);
    everything_is_intact(&log);
}

#[test]
fn redaction_leaves_no_byte_of_the_value_and_a_chain_that_verifies() {
    const VALUE: &str = "correct horse battery staple";
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append(&log, session(1), 0, &[opened(&format!("use {VALUE} now"))]).unwrap();
    append_blob(&log, session(1), 1, NewBlob::new(format!("small {VALUE}").into_bytes()));
    append_blob(&log, session(1), 2, NewBlob::new(VALUE.repeat(5000).into_bytes()));
    append(&log, session(2), 0, &[opened("innocent")]).unwrap();
    let views = Views::new(folder.path());
    views.sessions(&log).unwrap();
    assert!(is_anywhere(folder.path(), VALUE));

    let redacted = log.redact(&Scrubber::redacting(VALUE), longhaul_store::Names::Spare).unwrap();
    views.discard();
    views.sessions(&log).unwrap();
    assert_eq!((redacted.decisions, redacted.blobs), (1, 2));
    assert!(!is_anywhere(folder.path(), VALUE));
    let report = log.verify_stream(&session(1).to_string()).unwrap();
    assert_eq!((report.verdict, report.redacted, report.events), (Verdict::Intact, 1, 3));
    assert_eq!(events(&log, session(1))[0], opened("use [redacted] now"));
    everything_is_intact(&log);
    let from_before = append(&log, session(1), 3, &[step(4)]);
    assert!(from_before.is_err(), "a state that was folded before may hold the value: load again");
    append(&log, session(1), 3, &[step(4)]).unwrap();
}

#[test]
fn collection_drops_blobs_of_old_closed_sessions_and_keeps_their_events() {
    const DAY: i64 = 86_400_000;
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append_blob(&log, session(1), 0, large());
    append_blob(&log, session(2), 0, NewBlob::new(b"still needed".as_slice()));
    append(&log, session(1), 1, &[closed()]).unwrap();
    fs::write(folder.path().join("blobs").join("loose"), b"").unwrap();
    let stray = folder.path().join("blobs").join(&large().reference().sha256.to_string()[..2]).join(".new-x");
    fs::write(&stray, b"left by a crash").unwrap();
    let inventory = Inventory {
        as_of: log.last_position().unwrap(),
        now: Timestamp(i64::MAX / 2),
        keep_blobs_ms: 90 * 86_400_000,
        blobs: log.blob_uses().unwrap(),
        loose_files: log.loose_files().unwrap(),
        disk_used_bytes: log.disk_used_bytes().unwrap(),
        disk_limit_bytes: u64::MAX,
    };
    assert!(inventory.disk_used_bytes > 120_000);
    let collected = log.collect(&retention::plan(&inventory), Timestamp(DAY)).unwrap();
    assert_eq!((collected.blobs, collected.files), (1, 1));
    assert!(!stray.exists());
    let gone = log.blob(large().reference().sha256).unwrap_err();
    assert!(gone.to_string().contains("retention"), "{gone}");
    assert_eq!(events(&log, session(1)), [finished_with(&large()), closed()]);
    everything_is_intact(&log);

    append_blob(&log, session(3), 0, large());
    assert_eq!(
        log.blob(large().reference().sha256).unwrap().len(),
        120_000,
        "it comes back when stored again"
    );
}

#[test]
fn a_backup_is_whole_while_others_write_and_restores_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append_blob(&log, session(1), 0, large());
    let target = folder.path().join("copy.longhaul");
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for n in 0..200 {
                append(&log, session(2), n, &[opened("busy")]).unwrap();
            }
        });
        log.backup(&target).unwrap();
        writer.join().unwrap();
    });
    assert!(matches!(log.backup(&target), Err(StoreError::File { .. })), "a backup overwrites nothing");

    let elsewhere = tempfile::tempdir().unwrap();
    let restored = restore(elsewhere.path(), &target, "t").unwrap();
    assert_eq!(restored.set_aside, None);
    let copy = sqlite(elsewhere.path());
    everything_is_intact(&copy);
    assert_eq!(events(&copy, session(1)), [finished_with(&large())]);
    assert_eq!(copy.blob(large().reference().sha256).unwrap().len(), 120_000);
    let copied = events(&copy, session(2)).len();
    append(&copy, session(2), copied as u64, &[step(1)]).unwrap();
}

#[test]
fn restoring_sets_aside_what_was_there_and_needs_to_be_alone() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append(&log, session(1), 0, &[opened("old")]).unwrap();
    let target = folder.path().join("copy.longhaul");
    log.backup(&target).unwrap();
    append(&log, session(1), 1, &[step(2)]).unwrap();
    let views = Views::new(folder.path());
    assert_eq!(views.sessions(&log).unwrap()[0].seq, Seq(2));
    assert!(matches!(restore(folder.path(), &target, "t"), Err(StoreError::InUse { .. })));
    drop(log);
    let aside = restore(folder.path(), &target, "t").unwrap().set_aside.unwrap();
    let log = sqlite(folder.path());
    assert_eq!(events(&log, session(1)), [opened("old")]);
    assert_eq!(Views::new(folder.path()).sessions(&log).unwrap()[0].seq, Seq(1));
    assert!(aside.exists());
}

#[test]
fn a_database_that_vanished_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    append(&sqlite(folder.path()), session(1), 0, &[opened("a")]).unwrap();
    for name in ["longhaul.db", "longhaul.db-wal", "longhaul.db-shm"] {
        let _ = fs::remove_file(folder.path().join(name));
    }
    let reading = Options { access: Access::Read, ..options(folder.path()) };
    for options in [reading, options(folder.path())] {
        let missed = SqliteLog::open(&options).unwrap_err();
        assert!(missed.to_string().contains("1 decisions were committed, 0 are left"), "{missed}");
    }
    assert_eq!(longhaul_store::recover(folder.path(), "t").unwrap().intact, [""; 0]);
    append(&sqlite(folder.path()), session(1), 0, &[opened("a new start")]).unwrap();
}

#[test]
fn views_stay_right_while_many_follow_and_one_writes() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..150 {
                append(&log, session(n), 0, &[opened("busy")]).unwrap();
            }
        });
        for _ in 0..3 {
            scope.spawn(|| {
                let views = Views::new(folder.path());
                let mut seen = 0;
                while seen < 150 {
                    let rows = views.sessions(&log).unwrap().len();
                    assert!(rows >= seen, "{rows} after {seen}");
                    seen = rows;
                }
            });
        }
    });
    assert_eq!(Views::new(folder.path()).sessions(&log).unwrap().len(), 150);
}

#[test]
fn garbage_is_not_restored() {
    let folder = tempfile::tempdir().unwrap();
    drop(sqlite(folder.path()));
    let other = folder.path().join("other.db");
    for bytes in [&b""[..], b"hello", &[0; 8192]] {
        fs::write(&other, bytes).unwrap();
        assert!(restore(folder.path(), &other, "t").is_err());
    }
    assert!(restore(folder.path(), &folder.path().join("absent"), "t").is_err());
    everything_is_intact(&sqlite(folder.path()));
}

/// As a release wrote it that did not count its lines.
pub(crate) fn first_version(export: &str) -> String {
    let lines = export.lines().filter(|line| !line.starts_with("{\"end\""));
    lines.map(|line| line.replace("{\"export\":2}", "{\"export\":1}") + "\n").collect()
}

pub(crate) fn exported(log: &SqliteLog) -> String {
    let mut text = Vec::new();
    log.export(&log.stream_names().unwrap(), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn an_export_imports_elsewhere_with_the_same_hashes() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (log, copy) = (sqlite(here.path()), sqlite(there.path()));
    append(&log, session(1), 0, &[opened("a"), step(2)]).unwrap();
    append_blob(&log, session(1), 2, large());
    let text = exported(&log);
    let imported = take_in(&copy, &mut Cursor::new(&text), &no_scrubbing()).unwrap();
    assert_eq!((imported.streams, imported.decisions, imported.blobs), (1, 2, 1));
    everything_is_intact(&copy);
    let end = |log: &SqliteLog| log.head(session(1)).unwrap().unwrap().hash;
    assert_eq!(end(&log), end(&copy));
    assert_eq!(copy.blob(large().reference().sha256).unwrap().len(), 120_000);

    let again = take_in(&copy, &mut Cursor::new(&text), &no_scrubbing()).unwrap();
    assert_eq!((again.decisions, again.already_here), (0, 2));
    append(&log, session(1), 3, &[step(4)]).unwrap();
    let more = take_in(&copy, &mut Cursor::new(exported(&log)), &no_scrubbing()).unwrap();
    assert_eq!(more.decisions, 1, "what came later is added");
}

#[test]
fn an_import_that_does_not_fit_changes_nothing() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (log, copy) = (sqlite(here.path()), sqlite(there.path()));
    append(&log, session(2), 0, &[opened("fine")]).unwrap();
    append(&log, session(1), 0, &[opened("a")]).unwrap();
    append(&log, session(1), 1, &[step(2)]).unwrap();
    append(&copy, session(1), 0, &[opened("another")]).unwrap();
    let text = exported(&log);
    let import = |text: &str| take_in(&copy, &mut Cursor::new(text), &no_scrubbing());
    assert!(matches!(import(&text), Err(ImportError::Diverges { .. })));
    let mut fine = Vec::new();
    log.export(&[session(2).to_string()], &mut fine).unwrap();
    let forged = String::from_utf8(fine).unwrap().replace("fine", "fake");
    assert!(matches!(import(&forged), Err(ImportError::Broken { .. })));
    assert!(matches!(import("hello"), Err(ImportError::NotAnExport { line: 1, .. })));
    assert!(matches!(import(""), Err(ImportError::NotAnExport { .. })));
    let without_first: String =
        text.lines().filter(|line| !line.contains("\"a\"")).collect::<Vec<_>>().join("\n");
    assert!(import(&without_first).is_err());
    assert_eq!(copy.stream_names().unwrap(), [session(1).to_string()]);
}

#[test]
fn an_import_brings_no_secret_in() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (log, copy) = (sqlite(here.path()), sqlite(there.path()));
    append(&log, session(1), 0, &[opened("the canary sings")]).unwrap();
    append_blob(&log, session(1), 1, NewBlob::new(b"a canary".as_slice()));
    append_blob(&log, session(1), 2, NewBlob::new("canary ".repeat(20_000).into_bytes()));
    let scrubber = Scrubber::new(&[Secret { name: "BIRD".into(), value: "canary".into() }]);
    let imported = take_in(&copy, &mut Cursor::new(exported(&log)), &scrubber).unwrap();
    assert_eq!(imported.scrubbed, 3);
    assert!(!is_anywhere(there.path(), "canary"));
    everything_is_intact(&copy);
}

#[test]
fn a_store_that_is_not_there_is_not_made_by_reading() {
    let folder = tempfile::tempdir().unwrap();
    let read = Options { access: Access::Read, ..options(&folder.path().join("none")) };
    assert!(matches!(SqliteLog::open(&read), Err(StoreError::Absent { .. })));
    assert!(!folder.path().join("none").exists());
}

#[test]
fn another_programs_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("longhaul.db");
    fs::write(&path, b"not a database at all, but long enough to look like one".repeat(100)).unwrap();
    let before = fs::read(&path).unwrap();
    assert!(SqliteLog::open(&options(folder.path())).is_err());
    assert_eq!(fs::read(&path).unwrap(), before);

    let elsewhere = tempfile::tempdir().unwrap();
    let foreign = rusqlite::Connection::open(elsewhere.path().join("longhaul.db")).unwrap();
    foreign.execute_batch("CREATE TABLE theirs (a)").unwrap();
    drop(foreign);
    let refused = SqliteLog::open(&options(elsewhere.path())).unwrap_err();
    assert!(matches!(refused, StoreError::NotOurs { .. }), "{refused}");
}

#[test]
fn a_blob_that_was_named_again_after_the_plan_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append_blob(&log, session(1), 0, large());
    append(&log, session(1), 1, &[closed()]).unwrap();
    let plan = retention::plan(&Inventory {
        as_of: log.last_position().unwrap(),
        now: Timestamp(i64::MAX / 2),
        blobs: log.blob_uses().unwrap(),
        ..Inventory::default()
    });
    assert_eq!(plan.actions.len(), 1);
    append_blob(&log, session(2), 0, large());
    assert_eq!(log.collect(&plan, Timestamp(0)).unwrap().blobs, 0);
    assert_eq!(log.blob(large().reference().sha256).unwrap().len(), 120_000);
}

#[test]
fn redaction_reaches_traces_in_free_pages_and_stray_files() {
    const VALUE: &str = "open sesame, forty thieves";
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    for n in 0..200 {
        append(
            &log,
            session(1),
            n,
            &[opened(&format!("{VALUE} {}", "x".repeat(usize::try_from(n * 7).unwrap())))],
        )
        .unwrap();
    }
    append_blob(&log, session(2), 0, NewBlob::new(VALUE.repeat(100).into_bytes()));
    append_blob(&log, session(2), 1, NewBlob::new(VALUE.repeat(9000).into_bytes()));
    append(&log, session(2), 2, &[closed()]).unwrap();
    let plan = retention::plan(&Inventory {
        as_of: log.last_position().unwrap(),
        now: Timestamp(i64::MAX / 2),
        blobs: log.blob_uses().unwrap(),
        ..Inventory::default()
    });
    log.collect(&plan, Timestamp(0)).unwrap();
    let stray = folder.path().join("blobs/ab");
    fs::create_dir_all(&stray).unwrap();
    fs::write(stray.join("left-behind"), VALUE).unwrap();
    log.redact(&Scrubber::redacting(VALUE), longhaul_store::Names::Spare).unwrap();
    assert!(!is_anywhere(folder.path(), VALUE));
    everything_is_intact(&log);
}

#[test]
fn what_was_redacted_comes_back_through_no_import_and_no_append() {
    const VALUE: &str = "open sesame, forty thieves";
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    let spoilt = NewBlob::new(VALUE.repeat(9000).into_bytes());
    append_blob(&log, session(1), 0, spoilt.clone());
    let old_export = exported(&log);
    log.redact(&Scrubber::redacting(VALUE), longhaul_store::Names::Spare).unwrap();
    take_in(&log, &mut Cursor::new(old_export), &no_scrubbing()).unwrap();
    assert!(!is_anywhere(folder.path(), VALUE));
    append_blob(&log, session(2), 0, spoilt.clone());
    assert!(!is_anywhere(folder.path(), VALUE));
    assert!(log.blob(spoilt.reference().sha256).unwrap().starts_with(b"[redacted]"));
    everything_is_intact(&log);
}

#[test]
fn a_damaged_blob_does_not_keep_the_rest_from_being_backed_up() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append_blob(&log, session(1), 0, large());
    append(&log, session(2), 0, &[opened("whole")]).unwrap();
    let name = large().reference().sha256.to_string();
    fs::write(folder.path().join("blobs").join(&name[..2]).join(&name), b"damaged").unwrap();
    let backup = log.backup(&folder.path().join("copy")).unwrap();
    assert_eq!(backup.blobs_left_out, 1);
    let elsewhere = tempfile::tempdir().unwrap();
    restore(elsewhere.path(), &folder.path().join("copy"), "t").unwrap();
    let copy = sqlite(elsewhere.path());
    assert_eq!(events(&copy, session(2)), [opened("whole")]);

    let third = tempfile::tempdir().unwrap();
    let whole = sqlite(third.path());
    append_blob(&whole, session(1), 0, large());
    for damaged in [&log, &copy] {
        take_in(damaged, &mut Cursor::new(exported(&whole)), &no_scrubbing()).unwrap();
        assert_eq!(damaged.blob(large().reference().sha256).unwrap().len(), 120_000, "an export heals it");
    }
}

#[test]
fn a_database_that_was_set_aside_can_be_restored_with_its_write_ahead_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    log.backup(&folder.path().join("empty")).unwrap();
    append(&log, session(1), 0, &[opened("only in the write-ahead log")]).unwrap();
    drop(log);
    let aside = restore(folder.path(), &folder.path().join("empty"), "t").unwrap().set_aside.unwrap();
    assert_eq!(sqlite(folder.path()).stream_names().unwrap(), [""; 0]);
    restore(folder.path(), &aside, "t2").unwrap();
    assert_eq!(events(&sqlite(folder.path()), session(1)), [opened("only in the write-ahead log")]);
}

#[test]
fn redaction_does_not_make_damaged_bytes_whole() {
    const VALUE: &str = "open sesame, forty thieves";
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append(&log, session(1), 0, &[opened(&format!("{VALUE} and a tail"))]).unwrap();
    drop(log);
    let database = rusqlite::Connection::open(folder.path().join("longhaul.db")).unwrap();
    let sql =
        "UPDATE decision SET body = CAST(replace(CAST(body AS TEXT), 'and a tail', 'and a lie!') AS BLOB)";
    database.execute(sql, []).unwrap();
    drop(database);
    let log = sqlite(folder.path());
    let broken = |log: &SqliteLog| {
        matches!(log.verify_stream(&session(1).to_string()).unwrap().verdict, Verdict::Broken(_))
    };
    assert!(broken(&log));
    log.redact(&Scrubber::redacting(VALUE), longhaul_store::Names::Spare).unwrap();
    assert!(broken(&log), "what was damaged before is damaged still");
    assert!(!is_anywhere(folder.path(), VALUE));
}

#[test]
fn workspaces_and_their_trust_do_not_travel() {
    let export = concat!(
        "{\"longhaul\":{\"export\":1}}\n",
        "{\"decision\":{\"stream\":\"workspace/w-04106106\",\"seq\":1,\"count\":1,\"at\":0,",
        "\"digest\":\"DD\",\"previous\":\"DD\",\"hash\":\"DD\",\"redacted\":null,\"body\":\"[]\",\"body64\":null}}\n"
    )
    .replace("DD", &"00".repeat(32));
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    let imported = take_in(&log, &mut Cursor::new(export), &no_scrubbing()).unwrap();
    assert_eq!((imported.left_out, imported.decisions), (1, 0));
    assert_eq!(log.stream_names().unwrap(), [""; 0]);
}

#[test]
fn a_quarantine_travels_with_its_stream() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let log = sqlite(here.path());
    append(&log, session(1), 0, &[opened("a")]).unwrap();
    let line =
        format!("{{\"quarantined\":{{\"stream\":\"{}\",\"reason\":\"half of it is lost\"}}}}\n", session(1));
    let copy = sqlite(there.path());
    let of_the_first_version = first_version(&exported(&log)) + &line;
    take_in(&copy, &mut Cursor::new(of_the_first_version), &no_scrubbing()).unwrap();
    assert!(matches!(copy.head(session(1)), Err(StoreError::Quarantined { .. })));
    assert!(exported(&copy).contains("half of it is lost"), "and onwards");
}

#[test]
fn an_import_that_lies_about_its_events_or_hides_a_token_is_caught() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append(&log, session(1), 0, &[opened("a")]).unwrap();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    append_blob(&log, session(2), 0, NewBlob::new(format!("\"first line\\n{token}\"").into_bytes()));
    let there = tempfile::tempdir().unwrap();
    let copy = sqlite(there.path());
    let lying = exported(&log).replace("\"count\":1", "\"count\":9223372036854775807");
    assert!(matches!(
        take_in(&copy, &mut Cursor::new(lying), &no_scrubbing()),
        Err(ImportError::Broken { .. })
    ));
    take_in(&copy, &mut Cursor::new(exported(&log)), &Scrubber::new(&[])).unwrap();
    assert!(!is_anywhere(there.path(), &token));
}

#[test]
fn a_restored_database_that_vanishes_is_missed_too() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append(&log, session(1), 0, &[opened("a")]).unwrap();
    log.backup(&folder.path().join("copy")).unwrap();
    drop(log);
    restore(folder.path(), &folder.path().join("copy"), "t").unwrap();
    for name in ["longhaul.db", "longhaul.db-wal", "longhaul.db-shm"] {
        let _ = fs::remove_file(folder.path().join(name));
    }
    assert!(matches!(SqliteLog::open(&options(folder.path())), Err(StoreError::Damaged { .. })));
    assert_eq!(longhaul_store::recover(folder.path(), "t2").unwrap().lost, 1);
}
