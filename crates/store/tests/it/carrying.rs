//! Exports: whole or refused, and what is not in them is named.

use std::fs;
use std::io::{BufRead, Cursor, Read};

use longhaul_core::canonical::sha256;
use longhaul_core::chain::{Header, link};
use longhaul_core::retention::{self, Inventory};
use longhaul_events::{Digest, Position, Seq, Timestamp};
use longhaul_store::{ImportError, Imported, Log, NewBlob, SqliteLog, StoreError, Verdict};

use crate::keeping::{everything_is_intact, exported, first_version, large, no_scrubbing};
use crate::support::*;

fn import(log: &SqliteLog, text: &str) -> Result<Imported, ImportError> {
    take_in(log, &mut Cursor::new(text), &no_scrubbing())
}

#[test]
fn an_export_that_was_cut_off_anywhere_is_refused() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (log, copy) = (sqlite(here.path()), sqlite(there.path()));
    append(&log, session(1), 0, &[opened("a")]).unwrap();
    append(&log, session(1), 1, &[step(2)]).unwrap();
    append_blob(&log, session(1), 2, NewBlob::new(b"small".as_slice()));
    let whole = exported(&log);
    for end in 1..whole.trim_end().len() {
        let cut = import(&copy, &whole[..end]);
        assert!(cut.is_err(), "cut off after {end} bytes");
    }
    let without_last = &whole[..whole.trim_end().rfind('\n').unwrap()];
    assert!(matches!(import(&copy, without_last), Err(ImportError::CutOff { line: 5 })));
    let one_less = whole.lines().filter(|line| !line.contains("step-2")).collect::<Vec<_>>().join("\n");
    assert!(import(&copy, &one_less).is_err());
    let one_blob_less =
        whole.lines().filter(|line| !line.starts_with("{\"blob\"")).collect::<Vec<_>>().join("\n");
    let miscounted = import(&copy, &one_blob_less).unwrap_err();
    assert!(miscounted.to_string().contains("counts other lines"), "{miscounted}");
    assert!(import(&copy, &(whole.clone() + &whole)).is_err(), "nothing stands behind the end");
    assert_eq!(copy.stream_names().unwrap(), [""; 0]);
    assert_eq!(import(&copy, &whole).unwrap().decisions, 3);
}

#[test]
fn an_export_of_the_first_version_is_still_taken_in() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (log, copy) = (sqlite(here.path()), sqlite(there.path()));
    append(&log, session(1), 0, &[opened("a")]).unwrap();
    assert_eq!(import(&copy, &first_version(&exported(&log))).unwrap().decisions, 1);
    let newer = exported(&log).replace("\"export\":2", "\"export\":3");
    assert!(matches!(import(&copy, &newer), Err(ImportError::NotAnExport { line: 1, .. })));
}

#[test]
fn a_blob_that_was_collected_is_not_missed_elsewhere() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (log, copy) = (sqlite(here.path()), sqlite(there.path()));
    append_blob(&log, session(1), 0, large());
    append(&log, session(1), 1, &[closed()]).unwrap();
    let plan = retention::plan(&Inventory {
        as_of: log.last_position().unwrap(),
        now: Timestamp(i64::MAX / 2),
        blobs: log.blob_uses().unwrap(),
        ..Inventory::default()
    });
    assert_eq!(log.collect(&plan, Timestamp(0)).unwrap().blobs, 1);
    import(&copy, &exported(&log)).unwrap();
    everything_is_intact(&copy);
    let gone = copy.blob(large().reference().sha256).unwrap_err();
    assert!(gone.to_string().contains("retention"), "{gone}");
    assert_eq!(exported(&copy), exported(&log), "and onwards");
    append_blob(&copy, session(2), 0, large());
    assert_eq!(copy.blob(large().reference().sha256).unwrap().len(), 120_000);
    import(&copy, &exported(&log)).unwrap();
    assert_eq!(copy.blob(large().reference().sha256).unwrap().len(), 120_000, "a mark takes nothing away");
}

#[test]
fn what_an_export_leaves_out_is_named_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append_blob(&log, session(1), 0, large());
    fs::remove_dir_all(folder.path().join("blobs")).unwrap();
    let mut text = Vec::new();
    let exported = log.export(&log.stream_names().unwrap(), &mut text).unwrap();
    let hash = large().reference().sha256;
    assert_eq!(exported.left_out[0].0, hash);
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains(&format!("{{\"left_out\":{{\"sha256\":\"{hash}\"")), "{text}");
    let there = tempfile::tempdir().unwrap();
    let copy = sqlite(there.path());
    import(&copy, &text).unwrap();
    assert!(matches!(copy.verify_stream(&session(1).to_string()).unwrap().verdict, Verdict::Broken(_)));
}

/// The export with the body of its first decision changed and its chain made anew.
fn forged(export: &str, stream: &str, body: &str) -> String {
    let mut lines: Vec<serde_json::Value> =
        export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let decision = &mut lines[1]["decision"];
    let at = Timestamp(decision["at"].as_i64().unwrap());
    let digest = sha256(body.as_bytes());
    let hash = link(Digest::ZERO, &Header { stream, seq: Seq(1), count: 1, at }, digest);
    decision["stream"] = stream.into();
    decision["body"] = body.into();
    decision["digest"] = digest.to_string().into();
    decision["hash"] = hash.to_string().into();
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn events_that_nobody_here_can_read_are_refused_with_their_line() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (log, copy) = (sqlite(here.path()), sqlite(there.path()));
    append(&log, session(1), 0, &[opened("a")]).unwrap();
    let name = session(1).to_string();
    for body in ["[{\"type\":\"teleported\"}]", "[1]", "nothing like JSON", "{}"] {
        let refused = import(&copy, &forged(&exported(&log), &name, body)).unwrap_err();
        assert!(matches!(refused, ImportError::Broken { line: 2, .. }), "{refused}");
    }
    assert_eq!(copy.stream_names().unwrap(), [""; 0]);
}

#[test]
fn streams_that_are_not_ours_are_refused_with_their_line() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (log, copy) = (sqlite(here.path()), sqlite(there.path()));
    append(&log, session(1), 0, &[opened("a")]).unwrap();
    let body = "[{\"type\":\"closed\",\"outcome\":{\"outcome\":\"completed\"}}]";
    let long = format!("session/{}", "s".repeat(70_000));
    let shouted = session(1).to_string().to_uppercase();
    for name in ["goblin/s-041061050r3gg", "", "session/s-1", "workspace/nowhere", &long, &shouted] {
        let refused = import(&copy, &forged(&exported(&log), name, body)).unwrap_err();
        assert!(matches!(refused, ImportError::Broken { line: 2, .. }), "{refused}");
        assert!(refused.to_string().len() < 300, "{refused}");
    }
    assert_eq!(copy.last_position().unwrap(), Position(0));
}

#[test]
fn nothing_is_imported_behind_a_head_that_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let log = sqlite(folder.path());
    append(&log, session(1), 0, &[opened("a")]).unwrap();
    append(&log, session(1), 1, &[step(2)]).unwrap();
    let text = exported(&log);
    let database = rusqlite::Connection::open(folder.path().join("longhaul.db")).unwrap();
    for sql in ["DELETE FROM head", "UPDATE head SET seq = 9"] {
        database.execute(sql, []).unwrap();
        let refused = import(&log, &text).unwrap_err();
        assert!(matches!(refused, ImportError::Store(StoreError::Quarantined { .. })), "{refused}");
        assert!(refused.to_string().contains("doctor --rebuild"), "{refused}");
        assert_eq!(log.rebuild().unwrap(), 1);
        assert_eq!(import(&log, &text).unwrap().already_here, 2);
    }
    everything_is_intact(&log);
}

/// A source that looks, when it is asked for bytes, whether others may write.
struct Watched<'a> {
    log: &'a SqliteLog,
    bytes: Cursor<String>,
    asked: u8,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.bytes.read(buffer)
    }
}

impl BufRead for Watched<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.asked += 1;
        append(self.log, session(100 + self.asked), 0, &[opened("meanwhile")]).unwrap();
        self.bytes.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.bytes.consume(amount);
    }
}

#[test]
fn others_write_while_an_import_waits_for_its_bytes() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (log, copy) = (sqlite(here.path()), sqlite(there.path()));
    append(&log, session(1), 0, &[opened("a")]).unwrap();
    let other_process = sqlite(there.path());
    let mut slow = Watched { log: &other_process, bytes: Cursor::new(exported(&log)), asked: 0 };
    assert_eq!(take_in(&copy, &mut slow, &no_scrubbing()).unwrap().decisions, 1);
    assert_eq!(copy.stream_names().unwrap().len(), 1 + usize::from(slow.asked));
}
