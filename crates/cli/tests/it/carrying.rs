//! Carrying a store elsewhere, and bringing it back.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Home, shows};

#[test]
fn an_export_is_taken_in_elsewhere_and_is_the_same_there() {
    let (here, there) = (Home::new(), Home::new());
    let large = "large content ".repeat(6000);
    let stream = here.session(["goal", &large, "payload", "answer"]);
    here.session(["other", "b", "c", "d"]);
    shows!(here.longhaul(&["log", "export", "-o", "all.jsonl"]), @r"
        exit 0
        --- stdout
        --- stderr
        exported 6 decisions of 2 streams
    ");
    let file = here.join("all.jsonl");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let export = fs::read(&file).unwrap();
    shows!(there.longhaul(&["log", "import", file.to_str().unwrap()]), @r"
        exit 0
        --- stdout
        NEW STREAMS  DECISIONS  ALREADY HERE  BLOBS  SCRUBBED
        2            6          0             1      0
        --- stderr
    ");
    shows!(there.run(&["log", "import", "-", "--json"]).stdin(export.clone()).go(), @r#"
        exit 0
        --- stdout
        {"streams":0,"decisions":0,"already_here":6,"left_out":0,"blobs":0,"scrubbed":0,"lifted":0}
        --- stderr
    "#);
    assert_eq!(there.longhaul(&["log", "export"]).stdout.as_bytes(), export);
    there.longhaul(&["log", "verify"]).succeeded();
    let one = here.longhaul(&["log", "export", &stream]).succeeded().stdout;
    assert!(one.contains(&stream) && one.contains(r#"\"key\":\""#) && !one.contains("other"));
    shows!(here.longhaul(&["log", "export", "-o", "all.jsonl"]), @r"
        exit 3
        --- stdout
        --- stderr
        error: `all.jsonl` is there already and is not overwritten; name another file
    ");
    assert_eq!(fs::read(&file).unwrap(), export);
}

#[test]
fn an_export_that_was_edited_changes_nothing() {
    let (here, there) = (Home::new(), Home::new());
    here.session(["goal", "prompt", "payload", "answer"]);
    let export = here.longhaul(&["log", "export"]).succeeded().stdout;
    let edited = export.replace("payload", "PAYLOAD");
    shows!(there.run(&["log", "import", "-"]).stdin(edited).go(), @r"
        exit 3
        --- stdout
        --- stderr
        error[E0501]: line 4: the stored bytes of event 3 have changed; nothing was imported, export it again
        hint: longhaul explain E0501
    ");
    let lines: Vec<&str> = export.lines().collect();
    let half = [&lines[..1], &lines[2..]].concat().join("\n");
    shows!(there.run(&["log", "import", "-"]).stdin(half).go(), @r"
            exit 3
            --- stdout
            --- stderr
            error[E0501]: line 2: event 1 of `session/[session]` is missing before it; nothing was imported, export it again
            hint: longhaul explain E0501
        ");
    assert_eq!(there.longhaul(&["log", "show", "--json"]).succeeded().stdout, "");
}

#[test]
fn a_backup_brings_back_what_was_there() {
    let home = Home::new();
    home.repository("shop");
    home.longhaul(&["workspace", "add", "shop"]).succeeded();
    let before = home.longhaul(&["log", "show", "--json"]).stdout;
    shows!(home.longhaul(&["backup", "backup.db"]), @r"
        exit 0
        --- stdout
        SIZE     FILE
        [size]  backup.db
        --- stderr
        `longhaul restore` puts it back in place
    ");
    assert_eq!(fs::metadata(home.join("backup.db")).unwrap().permissions().mode() & 0o777, 0o600);
    home.longhaul(&["workspace", "rm", "shop"]).succeeded();
    shows!(home.longhaul(&["restore", "backup.db"]), @r"
        exit 0
        --- stdout
        STREAMS  SET ASIDE
        1        [HOME]/home/data/longhaul.db.before-restore-[time]
        --- stderr
        restored; the database that was there before is now `[HOME]/home/data/longhaul.db.before-restore-[time]`
    ");
    assert_eq!(home.longhaul(&["log", "show", "--json"]).stdout, before);
    let elsewhere = Home::new();
    let backup = home.join("backup.db");
    shows!(elsewhere.longhaul(&["restore", backup.to_str().unwrap()]), @r"
        exit 0
        --- stdout
        STREAMS  SET ASIDE
        1        nothing was there
        --- stderr
        restored; there was no database before
    ");
    assert_eq!(elsewhere.longhaul(&["workspace", "list", "--json"]).rows().len(), 1);
}

#[test]
fn a_store_in_use_is_not_replaced() {
    let home = Home::new();
    home.session(["a", "b", "c", "d"]);
    home.longhaul(&["backup", "backup.db"]).succeeded();
    let system = home.system();
    let reader = system.reader().unwrap();
    shows!(home.longhaul(&["restore", "backup.db"]), @r"
        exit 5
        --- stdout
        --- stderr
        error[E0110]: other processes use the database (`[HOME]/home/data/longhaul.lock` is locked); stop them first: restoring needs it alone
        hint: longhaul explain E0110
    ");
    shows!(home.longhaul(&["doctor", "--recover"]), @r"
        exit 5
        --- stdout
        --- stderr
        error[E0110]: other processes use the database (`[HOME]/home/data/longhaul.lock` is locked); stop them first: recovering needs it alone
        hint: longhaul explain E0110
    ");
    drop(reader);
    home.longhaul(&["restore", "backup.db"]).succeeded();
}

#[test]
fn contents_of_closed_sessions_are_thrown_away_when_their_time_is_over() {
    let home = Home::new();
    let large = "large content ".repeat(6000);
    home.session([&large, "prompt", "payload", "answer"]);
    shows!(home.longhaul(&["gc"]), @r"
        exit 0
        --- stdout
        --- stderr
        there is nothing to throw away
    ");
    shows!(home.longhaul(&["gc", "-c", "retention.blobs=0s"]), @r"
        exit 0
        --- stdout
        KIND  SIZE     BECAUSE                                               WHAT
        blob  [size]  all its sessions are closed, the last one for 0 days  [hash]
        --- stderr
        nothing was thrown away; `longhaul gc --apply` frees [size]
    ");
    shows!(home.longhaul(&["gc", "-c", "retention.blobs=0s", "--json"]), @r#"
        exit 0
        --- stdout
        {"kind":"blob","what":"[hash]","bytes":84002,"because":"all its sessions are closed, the last one for 0 days"}
        --- stderr
    "#);
    shows!(home.longhaul(&["gc", "-c", "retention.blobs=0s", "--apply"]), @r"
        exit 0
        --- stdout
        KIND  SIZE     BECAUSE                                               WHAT
        blob  [size]  all its sessions are closed, the last one for 0 days  [hash]
        --- stderr
        threw away 1 blob and 0 files, [size]
    ");
    shows!(home.longhaul(&["gc", "-c", "retention.blobs=0s", "-c", "retention.disk=1k"]), @r"
        exit 0
        --- stdout
        --- stderr
        there is nothing to throw away
        warning: the data directory holds [size], more than `retention.disk` = [size]; shorten `retention.blobs` and run `longhaul gc --apply`, or raise the limit
    ");
    home.longhaul(&["log", "verify"]).succeeded();
}

#[test]
fn an_export_is_complete_or_not_there() {
    let home = Home::new();
    let large = "large content ".repeat(20_000);
    home.session(["goal", &large, "payload", "answer"]);
    shows!(home.longhaul_with_files_up_to(100, &["log", "export", "-o", "all.jsonl"]), @r"
        exit 4
        --- stdout
        --- stderr
        error[E0105]: the disk is full, nothing was stored; make room and try again
        hint: longhaul explain E0105
    ");
    let names = fs::read_dir(&home.path).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["home"]);
}

#[test]
fn contents_that_an_export_cannot_give_are_named() {
    let home = Home::new();
    home.session(["goal", &"large content ".repeat(6000), "payload", "answer"]);
    fs::remove_dir_all(home.longhaul_home().join("data/blobs")).unwrap();
    shows!(home.longhaul(&["log", "export", "-o", "all.jsonl"]), @r"
        exit 4
        --- stdout
        --- stderr
        exported 3 decisions of 1 stream
        left out: blob [hash] is not in the store; restore it from a backup
        the export is not complete: 1 content could not be given
    ");
    shows!(home.longhaul(&["log", "export", "-o", "again.jsonl", "--json"]), @r#"
        exit 4
        --- stdout
        {"streams":1,"decisions":3,"left_out":[{"blob":"[hash]","problem":"is not in the store; restore it from a backup"}],"file":"again.jsonl"}
        --- stderr
    "#);
    let export = home.longhaul(&["log", "export", "--json"]);
    assert_eq!(export.code, Some(4));
    assert!(export.rows().iter().any(|row| row["left_out"]["problem"].is_string()), "{export}");
}

#[test]
fn half_an_export_is_not_taken_in() {
    let (here, there) = (Home::new(), Home::new());
    here.session(["goal", "prompt", "payload", "answer"]);
    let export = here.longhaul(&["log", "export"]).succeeded().stdout;
    let cut = &export[..export.len() / 2];
    shows!(there.run(&["log", "import", "-"]).stdin(cut).go(), @r"
        exit 3
        --- stdout
        --- stderr
        error[E0501]: the export was cut off after line 3; nothing was imported, export it again and carry all of it over
        hint: longhaul explain E0501
    ");
    assert_eq!(there.longhaul(&["log", "show", "--json"]).succeeded().stdout, "");
}
