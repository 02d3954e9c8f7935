//! What was redacted stays redacted, for ever and by every way back.

use std::fs;
use std::io::Cursor;

use longhaul_core::retention::{self, Inventory};
use longhaul_core::scrub::Scrubber;
use longhaul_events::Timestamp;
use longhaul_store::{Finding, Log, NewBlob, SqliteLog, StoreError, Verdict, restore};

use crate::keeping::{everything_is_intact, exported, is_anywhere, large, no_scrubbing};
use crate::support::*;

const VALUE: &str = "open sesame, forty thieves";

/// One blob that lies in the database, and one that is a file.
fn spoilt() -> [NewBlob; 2] {
    [500, 9000].map(|repeat| NewBlob::new(VALUE.repeat(repeat).into_bytes()))
}

fn redact(log: &SqliteLog) {
    log.redact(&Scrubber::redacting(VALUE), longhaul_store::Names::Spare).unwrap();
}

fn collect_all(log: &SqliteLog) -> u64 {
    let plan = retention::plan(&Inventory {
        as_of: log.last_position().unwrap(),
        now: Timestamp(i64::MAX / 2),
        blobs: log.blob_uses().unwrap(),
        ..Inventory::default()
    });
    log.collect(&plan, Timestamp(0)).unwrap().blobs
}

#[test]
fn a_blob_that_was_redacted_and_collected_is_not_stored_again() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    for (n, blob) in (1..).zip(spoilt()) {
        append_blob(&log, session(n), 0, blob.clone());
        append(&log, session(n), 1, &[closed()]).unwrap();
        redact(&log);
        assert_eq!(collect_all(&log), 1);
        append_blob(&log, session(n + 10), 0, blob.clone());
        let gone = log.blob(blob.reference().sha256).unwrap_err();
        assert!(matches!(gone, StoreError::Blob { .. }), "{gone}");
    }
    assert!(!is_anywhere(folder.path(), VALUE));
    everything_is_intact(&log);
}

#[test]
fn the_redacted_form_of_a_collected_blob_comes_back_and_its_first_form_does_not() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (log, other) = (sqlite(here.path()), sqlite(there.path()));
    for (n, blob) in (1..).zip(spoilt()) {
        for log in [&log, &other] {
            append_blob(log, session(n), 0, blob.clone());
        }
        append(&log, session(n), 1, &[closed()]).unwrap();
    }
    let before = exported(&other);
    redact(&log);
    redact(&other);
    assert_eq!(collect_all(&log), 2);
    take_in(&log, &mut Cursor::new(before), &no_scrubbing()).unwrap();
    assert!(!is_anywhere(here.path(), VALUE));
    take_in(&log, &mut Cursor::new(exported(&other)), &no_scrubbing()).unwrap();
    for blob in spoilt() {
        assert!(log.blob(blob.reference().sha256).unwrap().starts_with(b"[redacted]"));
    }
    everything_is_intact(&log);
}

#[test]
fn what_was_redacted_does_not_come_back_after_a_restore() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    for (n, blob) in (1..).zip(spoilt()) {
        append_blob(&log, session(n), 0, blob);
    }
    redact(&log);
    log.backup(&folder.path().join("copy")).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    restore(elsewhere.path(), &folder.path().join("copy"), "t").unwrap();
    let copy = sqlite(elsewhere.path());
    for (n, blob) in (11..).zip(spoilt()) {
        append_blob(&copy, session(n), 0, blob);
    }
    assert!(!is_anywhere(elsewhere.path(), VALUE));
    everything_is_intact(&copy);
}

#[test]
fn a_large_blob_that_a_restore_put_into_the_database_is_not_written_a_second_time() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append_blob(&log, session(1), 0, large());
    log.backup(&folder.path().join("copy")).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    restore(elsewhere.path(), &folder.path().join("copy"), "t").unwrap();
    let copy = sqlite(elsewhere.path());
    append_blob(&copy, session(2), 0, large());
    assert_eq!(copy.loose_files().unwrap(), []);
    assert!(!elsewhere.path().join("blobs").exists());
}

/// Makes the file of a blob one that cannot be read, for whoever runs the test.
fn make_unreadable(log: &SqliteLog, blob: &NewBlob) {
    let name = blob.reference().sha256.to_string();
    let path = log.folder().join("blobs").join(&name[..2]).join(&name);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
}

#[test]
fn a_blob_that_cannot_be_read_is_not_said_to_be_gone() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append_blob(&log, session(1), 0, large());
    make_unreadable(&log, &large());
    let unreadable = log.blob(large().reference().sha256).unwrap_err();
    assert!(unreadable.to_string().contains("cannot be read"), "{unreadable}");
    let verdict = log.verify_stream(&session(1).to_string()).unwrap().verdict;
    assert!(matches!(&verdict, Verdict::Broken(why) if why.contains("cannot be read")), "{verdict:?}");
    let found = log.verify_blobs().unwrap();
    assert!(
        matches!(&found[..], [Finding::Blob { problem, .. }] if problem.contains("cannot be read")),
        "{found:?}"
    );
}

#[test]
fn a_value_is_not_said_to_be_taken_out_while_a_file_cannot_be_looked_into() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append_blob(&log, session(1), 0, large());
    make_unreadable(&log, &large());
    let refused = log.redact(&Scrubber::redacting(VALUE), longhaul_store::Names::Spare).unwrap_err();
    assert!(refused.to_string().starts_with("could not read"), "{refused}");
}
