//! A main file that is gone: what lies beside it is neither deleted nor forgotten.

use std::fs;
use std::path::Path;

use longhaul_store::{Access, NewBlob, Options, SqliteLog, StoreError, recover, restore};

use crate::support::*;

/// How a main file goes away.
const WAYS: [fn(&Path); 2] = [|path| fs::remove_file(path).unwrap(), |path| fs::write(path, b"").unwrap()];

fn refusals(folder: &Path) -> Vec<String> {
    let reading = Options { access: Access::Read, ..options(folder) };
    let refused = |options: &Options| match SqliteLog::open(options) {
        Err(error @ StoreError::Damaged { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    [refused(&reading), refused(&options(folder))].to_vec()
}

#[test]
fn a_write_ahead_log_without_its_main_file_is_kept_and_salvaged_even_without_a_witness() {
    for (vanish, has_witness) in WAYS.into_iter().flat_map(|way| [(way, true), (way, false)]) {
        let folder = tempfile::tempdir().unwrap();
        let log = sqlite(folder.path());
        // Few enough for all of it to be left in the write-ahead log.
        for n in 0..5 {
            append(&log, session(1), n, &[opened(&format!("first-{n}"))]).unwrap();
            append(&log, session(2), n, &[opened(&format!("second-{n}"))]).unwrap();
        }
        let expected = [events(&log, session(1)), events(&log, session(2))];
        drop(log);
        let wal = fs::read(folder.path().join("longhaul.db-wal")).unwrap();
        vanish(&folder.path().join("longhaul.db"));
        if !has_witness {
            fs::remove_file(folder.path().join("longhaul.last")).unwrap();
        }
        let _ = fs::remove_file(folder.path().join("longhaul.db-shm"));

        for refused in refusals(folder.path()) {
            let why = if has_witness { "10 decisions were committed, 0" } else { "only its write-ahead log" };
            assert!(refused.contains(why), "{refused}");
        }
        assert_eq!(fs::read(folder.path().join("longhaul.db-wal")).unwrap(), wal);

        let recovered = recover(folder.path(), "t").unwrap();
        assert_eq!((recovered.intact.len(), recovered.lost), (2, 0), "{recovered:?}");
        let log = sqlite(folder.path());
        assert_eq!([events(&log, session(1)), events(&log, session(2))], expected);
        append(&log, session(1), 5, &[step(6)]).unwrap();
        let aside = recovered.set_aside.unwrap();
        assert_eq!(fs::read(format!("{}-wal", aside.display())).unwrap(), wal, "set aside, not removed");
    }
}

#[test]
fn a_log_that_holds_only_the_end_of_a_stream_does_not_make_it_whole() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append(&log, session(1), 0, &[opened("a")]).unwrap();
    drop(log);
    let settle = rusqlite::Connection::open(folder.path().join("longhaul.db")).unwrap();
    settle.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(settle);
    // Enough to fill pages of their own, so that the first decision is on none of them.
    let log = sqlite(folder.path());
    for n in 1..9 {
        append(&log, session(1), n, &[opened(&"long ".repeat(600))]).unwrap();
    }
    drop(log);
    for name in ["longhaul.db", "longhaul.last"] {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    let mut wal = fs::read(folder.path().join("longhaul.db-wal")).unwrap();
    let first = b"\"a\"";
    while let Some(place) = wal.windows(first.len()).position(|window| window == first) {
        wal[place + 1] = b'b';
    }
    fs::write(folder.path().join("longhaul.db-wal"), wal).unwrap();
    let recovered = recover(folder.path(), "t").unwrap();
    assert_eq!(recovered.intact, [""; 0]);
    assert_eq!(recovered.quarantined[0].1, "events 1 to 9 were lost to damage");
}

#[test]
fn blobs_and_databases_that_were_set_aside_tell_that_there_was_a_store() {
    for vanish in WAYS {
        let folder = tempfile::tempdir().unwrap();
        append_blob(&sqlite(folder.path()), session(1), 0, NewBlob::new(vec![7; 100_000]));
        for name in ["longhaul.db-wal", "longhaul.db-shm", "longhaul.last"] {
            fs::remove_file(folder.path().join(name)).unwrap();
        }
        vanish(&folder.path().join("longhaul.db"));
        assert!(refusals(folder.path()).iter().all(|refused| refused.contains("but blobs are there")));
        fs::remove_dir_all(folder.path().join("blobs")).unwrap();
        append(&sqlite(folder.path()), session(1), 0, &[opened("a fresh start")]).unwrap();

        sqlite(folder.path()).backup(&folder.path().join("copy")).unwrap();
        let aside = restore(folder.path(), &folder.path().join("copy"), "t").unwrap().set_aside.unwrap();
        for name in ["longhaul.db-wal", "longhaul.db-shm", "longhaul.last"] {
            let _ = fs::remove_file(folder.path().join(name));
        }
        vanish(&folder.path().join("longhaul.db"));
        let named = format!("can put back what was set aside: `{}`", aside.display());
        assert!(refusals(folder.path()).iter().all(|refused| refused.contains(&named)));
        assert_eq!(recover(folder.path(), "t").unwrap().set_aside_before, std::slice::from_ref(&aside));
        restore(folder.path(), &aside, "t").unwrap();
        assert_eq!(events(&sqlite(folder.path()), session(1)), [opened("a fresh start")]);
    }
}

#[test]
fn a_log_that_cannot_be_read_is_not_taken_for_one_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    append(&sqlite(folder.path()), session(1), 0, &[opened("a")]).unwrap();
    let wal = folder.path().join("longhaul.db-wal");
    fs::rename(&wal, folder.path().join("elsewhere")).unwrap();
    fs::create_dir(&wal).unwrap();
    let main = fs::read(folder.path().join("longhaul.db")).unwrap();
    let refused = recover(folder.path(), "t").unwrap_err();
    assert!(matches!(refused, StoreError::File { .. }), "{refused}");
    assert_eq!(fs::read(folder.path().join("longhaul.db")).unwrap(), main);
}

#[test]
fn a_blob_that_nobody_names_and_nobody_stored_is_not_brought_over() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    let [named, lost] = [7, 8].map(|byte| NewBlob::new(vec![byte; 100_000]));
    append_blob(&log, session(1), 0, named.clone());
    append_blob(&log, session(1), 1, lost.clone());
    drop(log);
    let name = lost.reference().sha256.to_string();
    fs::remove_file(folder.path().join("blobs").join(&name[..2]).join(&name)).unwrap();
    let database = rusqlite::Connection::open(folder.path().join("longhaul.db")).unwrap();
    let sql = "INSERT INTO blob (sha256, bytes, at) VALUES (randomblob(32), 5, 6)";
    database.execute(sql, []).unwrap();
    drop(database);
    assert_eq!(recover(folder.path(), "t").unwrap().blobs, 2, "one is stored, one is named and missing");
}
