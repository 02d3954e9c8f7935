//! Restoring: everything is looked at before anything is moved, and nothing that was set aside is harmed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use longhaul_core::retention::{self, Inventory};
use longhaul_events::Timestamp;
use longhaul_store::{Log, NewBlob, SqliteLog, StoreError, Verdict, is_whole, recover, restore};

use crate::support::*;

fn large() -> NewBlob {
    NewBlob::new("large ".repeat(20_000).into_bytes())
}

/// A store with one session, and a backup of it that `change` was done to.
fn store_and_backup(folder: &Path, change: &str) {
    let log = sqlite(folder);
    append(&log, session(1), 0, &[opened("a")]).unwrap();
    log.backup(&folder.join("copy")).unwrap();
    append(&log, session(1), 1, &[step(2)]).unwrap();
    drop(log);
    let copy = rusqlite::Connection::open(folder.join("copy")).unwrap();
    copy.execute_batch(change).unwrap();
}

#[test]
fn a_backup_that_is_not_as_longhaul_makes_it_changes_nothing_and_is_named() {
    for (change, why) in [
        ("DROP TABLE head", "`head` is missing"),
        ("DROP TABLE decision", "`decision` is missing"),
        ("DROP INDEX milestone", "`milestone` is missing"),
        ("CREATE VIEW v AS SELECT 1", "a view `v` that Longhaul did not make"),
        ("CREATE TABLE t (a)", "a table `t` that Longhaul did not make"),
        ("ALTER TABLE blob ADD COLUMN extra TEXT", "`blob` is not as Longhaul makes it"),
        ("DROP TABLE head; CREATE VIEW head AS SELECT 1", "`head` is not as Longhaul makes it"),
        (
            "CREATE TRIGGER t AFTER INSERT ON decision BEGIN DELETE FROM head; END",
            "a trigger `t` that Longhaul did not make",
        ),
        ("UPDATE schema SET version = 9", "its schema stamp does not add up"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        store_and_backup(folder.path(), change);
        let refused = restore(folder.path(), &folder.path().join("copy"), "t").unwrap_err();
        assert!(matches!(refused, StoreError::UnfitBackup { .. }), "{change}: {refused:?}");
        let text = refused.to_string();
        assert!(text.contains(why) && text.contains("copy` was not restored"), "{change}: {text}");
        let names: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.starts_with('.') || name.starts_with("longhaul.db."))
            .collect();
        assert_eq!(names, [""; 0], "nothing is set aside and nothing left over");
        assert_eq!(events(&sqlite(folder.path()), session(1)).len(), 2);
    }
}

#[test]
fn a_backup_with_statistics_or_of_the_same_shape_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    store_and_backup(folder.path(), "ANALYZE");
    restore(folder.path(), &folder.path().join("copy"), "t").unwrap();
    assert_eq!(events(&sqlite(folder.path()), session(1)), [opened("a")]);
}

/// Makes a database say that it is of the next schema, which older releases may read.
fn next_schema() -> String {
    let version = longhaul_store::SCHEMA_VERSION + 1;
    let proof = longhaul_core::canonical::sha256(format!("longhaul/schema/{version}/1/1").as_bytes());
    let proof = &proof.to_string()[..32];
    format!("UPDATE schema SET version = {version}, min_reader = 1, min_writer = 1, proof = x'{proof}';")
}

#[test]
fn a_backup_of_a_newer_release_may_have_more_columns_but_nothing_that_acts() {
    let added = format!("{} ALTER TABLE decision ADD COLUMN added TEXT;", next_schema());
    let folder = tempfile::tempdir().unwrap();
    store_and_backup(folder.path(), &added);
    restore(folder.path(), &folder.path().join("copy"), "t").unwrap();
    assert_eq!(events(&sqlite(folder.path()), session(1)), [opened("a")]);

    for change in ["CREATE VIEW v AS SELECT 1", "ALTER TABLE head DROP COLUMN state"] {
        let folder = tempfile::tempdir().unwrap();
        store_and_backup(folder.path(), &format!("{added} {change}"));
        let refused = restore(folder.path(), &folder.path().join("copy"), "t").unwrap_err();
        assert!(matches!(refused, StoreError::UnfitBackup { .. }), "{change}: {refused:?}");
    }
}

#[test]
fn damage_in_a_backup_is_told_when_it_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append(&log, session(2), 0, &[opened("whole")]).unwrap();
    drop(log);
    store_and_backup(folder.path(), "UPDATE decision SET body = x'5b5d' WHERE position = 2");
    let restored = restore(folder.path(), &folder.path().join("copy"), "t").unwrap();
    assert_eq!((restored.streams, restored.damaged), (2, vec![session(1).to_string()]));
    assert_eq!(events(&sqlite(folder.path()), session(2)), [opened("whole")]);
}

#[test]
fn what_a_killed_restore_left_behind_does_not_get_into_the_next() {
    let folder = tempfile::tempdir().unwrap();
    store_and_backup(folder.path(), "");
    // The log of another database, under every name that a copy might be opened under.
    let other = tempfile::tempdir().unwrap();
    let log = sqlite(other.path());
    append(&log, session(9), 0, &[opened("not ours")]).unwrap();
    let left = folder.path().join(".preparing-dead");
    fs::create_dir(&left).unwrap();
    for name in ["longhaul.db", "longhaul.db-wal", "longhaul.db-shm"] {
        fs::copy(other.path().join(name), left.join(name)).unwrap();
    }
    restore(folder.path(), &folder.path().join("copy"), "t").unwrap();
    let log = sqlite(folder.path());
    assert_eq!(log.stream_names().unwrap(), [session(1).to_string()]);
    assert_eq!(log.verify_stream(&session(1).to_string()).unwrap().verdict, Verdict::Intact);
    assert!(!left.exists());
}

#[test]
fn a_replacement_that_was_decided_is_finished_by_whoever_comes_next() {
    // As a kill leaves it: the write-ahead log is set aside already, the database not yet.
    let folder = tempfile::tempdir().unwrap();
    store_and_backup(folder.path(), "");
    let wal = fs::read(folder.path().join("longhaul.db-wal")).unwrap();
    let made = tempfile::tempdir().unwrap();
    restore(made.path(), &folder.path().join("copy"), "t").unwrap();
    let decided = folder.path().join(".replacing");
    fs::create_dir(&decided).unwrap();
    fs::copy(made.path().join("longhaul.db"), decided.join("longhaul.db")).unwrap();
    fs::write(decided.join("set-aside-as"), "longhaul.db.before-restore-t").unwrap();
    let aside = folder.path().join("longhaul.db.before-restore-t");
    fs::rename(folder.path().join("longhaul.db-wal"), format!("{}-wal", aside.display())).unwrap();

    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(events(&sqlite(folder.path()), session(1)), [opened("a")]));
        }
    });
    assert!(!decided.exists());
    assert_eq!(fs::read(format!("{}-wal", aside.display())).unwrap(), wal);
    restore(folder.path(), &aside, "t").unwrap();
    assert_eq!(events(&sqlite(folder.path()), session(1)), [opened("a"), step(2)]);
}

#[test]
fn two_that_are_set_aside_in_one_moment_get_names_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    store_and_backup(folder.path(), "");
    let set_aside = || restore(folder.path(), &folder.path().join("copy"), "t").unwrap().set_aside.unwrap();
    let asides = [set_aside(), set_aside(), set_aside()];
    let names = asides.each_ref().map(|path| path.file_name().unwrap().to_str().unwrap());
    let [first, second, third] = names;
    assert_eq!(first, "longhaul.db.before-restore-t");
    assert_eq!((second, third), ("longhaul.db.before-restore-t-2", "longhaul.db.before-restore-t-3"));
    restore(folder.path(), &asides[0], "u").unwrap();
    assert_eq!(events(&sqlite(folder.path()), session(1)).len(), 2, "the first is what it was");
}

#[test]
fn any_bytes_may_be_in_the_name_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join(OsStr::from_bytes(b"caf\xe9 '%20?x=1#"));
    let log = sqlite(&home);
    append_blob(&log, session(1), 0, large());
    let copy = home.join(OsStr::from_bytes(b"c\xf3pia.db"));
    log.backup(&copy).unwrap();
    drop(log);
    restore(&home, &copy, "t").unwrap();
    assert_eq!(sqlite(&home).blob(large().reference().sha256).unwrap().len(), 120_000);
    assert_eq!(sqlite(&home).loose_files().unwrap(), [], "what was set aside there can be read");
    recover(&home, "t").unwrap();
    assert!(is_whole(&home).unwrap());
}

fn collect_all(log: &SqliteLog) -> Result<u64, StoreError> {
    let plan = retention::plan(&Inventory {
        as_of: log.last_position()?,
        now: Timestamp(i64::MAX / 2),
        keep_blobs_ms: 0,
        blobs: log.blob_uses()?,
        loose_files: log.loose_files()?,
        disk_used_bytes: 0,
        disk_limit_bytes: u64::MAX,
    });
    let collected = log.collect(&plan, Timestamp(1))?;
    Ok(collected.blobs + collected.files)
}

#[test]
fn collection_keeps_the_files_of_a_database_that_was_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    log.backup(&folder.path().join("empty")).unwrap();
    append_blob(&log, session(1), 0, large());
    append(&log, session(1), 1, &[closed()]).unwrap();
    log.backup(&folder.path().join("full")).unwrap();
    drop(log);
    // Named only in a write-ahead log that was set aside with its database.
    let aside = restore(folder.path(), &folder.path().join("empty"), "t").unwrap().set_aside.unwrap();
    let log = sqlite(folder.path());
    assert_eq!(collect_all(&log).unwrap(), 0, "as a loose file");
    drop(log);
    restore(folder.path(), &folder.path().join("full"), "t").unwrap();
    let log = sqlite(folder.path());
    assert_eq!(collect_all(&log).unwrap(), 1, "as a blob whose retention ended here");
    drop(log);
    restore(folder.path(), &aside, "t").unwrap();
    let log = sqlite(folder.path());
    assert_eq!(log.blob(large().reference().sha256).unwrap().len(), 120_000);
    assert_eq!(log.verify_stream(&session(1).to_string()).unwrap().verdict, Verdict::Intact);
}

#[test]
fn nothing_is_collected_while_a_database_that_was_set_aside_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append_blob(&log, session(1), 0, large());
    append(&log, session(1), 1, &[closed()]).unwrap();
    let aside = folder.path().join("longhaul.db.damaged-t");
    fs::write(&aside, "garbage ".repeat(1000)).unwrap();
    let refused = collect_all(&log).unwrap_err();
    assert!(
        refused.to_string().contains("longhaul.db.damaged-t` was set aside and cannot be read"),
        "{refused}"
    );
    assert_eq!(log.blob(large().reference().sha256).unwrap().len(), 120_000);
    fs::remove_file(&aside).unwrap();
    assert_eq!(collect_all(&log).unwrap(), 1);
}

#[test]
fn a_whole_store_is_told_from_one_that_needs_recovering() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(is_whole(folder.path()), Err(StoreError::Absent { .. })));
    store_and_backup(folder.path(), "");
    assert!(is_whole(folder.path()).unwrap());
    let log = sqlite(folder.path());
    assert!(matches!(is_whole(folder.path()), Err(StoreError::InUse { .. })));
    drop(log);
    let database = rusqlite::Connection::open(folder.path().join("longhaul.db")).unwrap();
    database.execute("UPDATE decision SET body = x'5b5d' WHERE position = 2", []).unwrap();
    drop(database);
    assert!(!is_whole(folder.path()).unwrap());
    assert_eq!(recover(folder.path(), "t").unwrap().quarantined.len(), 1);
    assert!(is_whole(folder.path()).unwrap(), "a quarantine is no damage");
}
