//! Views save work, and nothing more: whatever becomes of their file, the log answers.

use std::fs;
use std::path::Path;

use longhaul_store::SqliteLog;
use longhaul_store::views::Views;

use crate::support::*;

fn three_sessions(folder: &Path) -> SqliteLog {
    let log = sqlite(folder);
    for n in 1..=3 {
        append(&log, session(n), 0, &[opened("a")]).unwrap();
    }
    log
}

#[test]
fn a_file_that_cannot_be_opened_does_not_keep_the_log_from_answering() {
    let folder = tempfile::tempdir().unwrap();
    let log = three_sessions(folder.path());
    fs::create_dir_all(folder.path().join("views.db/in-the-way")).unwrap();
    let views = Views::new(folder.path());
    assert_eq!(views.sessions(&log).unwrap().len(), 3);
    assert!(views.trouble().unwrap().contains("unable to open"), "{:?}", views.trouble());
    views.rebuild(&log).unwrap();
    fs::remove_dir_all(folder.path().join("views.db")).unwrap();
    assert_eq!(views.sessions(&log).unwrap().len(), 3);
    assert_eq!(views.trouble(), None, "what is mended is used again");
}

#[test]
fn a_file_that_is_damaged_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let log = three_sessions(folder.path());
    for garbage in [&b"garbage"[..], &[0xff; 8192]] {
        fs::write(folder.path().join("views.db"), garbage).unwrap();
        let views = Views::new(folder.path());
        assert_eq!((views.sessions(&log).unwrap().len(), views.trouble()), (3, None));
    }
    assert!(fs::metadata(folder.path().join("views.db")).unwrap().len() > 7);
}

#[test]
fn a_file_that_others_keep_throwing_away_is_no_fault() {
    let folder = tempfile::tempdir().unwrap();
    let log = three_sessions(folder.path());
    std::thread::scope(|scope| {
        for n in 0..8 {
            let log = &log;
            let folder = folder.path();
            scope.spawn(move || {
                let views = Views::new(folder);
                for _ in 0..20 {
                    if n % 2 == 0 {
                        views.rebuild(log).unwrap();
                    } else {
                        views.discard();
                    }
                    assert_eq!(views.sessions(log).unwrap().len(), 3);
                }
            });
        }
    });
}

#[test]
fn many_who_make_the_views_anew_at_once_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let log = three_sessions(folder.path());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let views = Views::new(folder.path());
                for _ in 0..20 {
                    views.rebuild(&log).unwrap();
                    assert_eq!((views.sessions(&log).unwrap().len(), views.trouble()), (3, None));
                }
            });
        }
    });
}
