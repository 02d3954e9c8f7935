//! Damage: named by the doctor, kept apart, and as much brought back as can prove itself.

use std::fs;

use crate::support::{Home, Outcome, shows};

/// Changes one byte of the database where an event's text lies.
pub(crate) fn flip(home: &Home, text: &str) {
    // What was backed up and restored lies in the database alone, and not in the write-ahead log.
    home.longhaul(&["backup", "backup.db"]).succeeded();
    home.longhaul(&["restore", "backup.db"]).succeeded();
    let mut bytes = fs::read(home.database()).unwrap();
    let windows = bytes.windows(text.len()).enumerate();
    let places: Vec<usize> =
        windows.filter(|(_, window)| *window == text.as_bytes()).map(|(at, _)| at).collect();
    let [place] = places[..] else { panic!("`{text}` is {} times in the database", places.len()) };
    bytes[place] ^= 1;
    fs::write(home.database(), bytes).unwrap();
}

#[test]
fn a_damaged_stream_is_named_and_the_rest_can_be_read() {
    let home = Home::new();
    let damaged = home.session(["alpha goal", "b", "c", "d"]);
    let whole = home.session(["omega goal", "b", "c", "d"]);
    flip(&home, "alpha goal");
    shows!(home.longhaul(&["doctor"]).to_string().replace(&damaged, "[damaged]"), @r"
        exit 4
        --- stdout
        STATUS   SUBJECT                  FINDING
        ok       git                      [version]
        ok       data directory           `[HOME]/home/data`
        ok       secrets                  kept out of everything that is stored
        ok       sandbox                  level full works here
        ok       configuration            40 settings
        ok       agents                   none is set up for `longhaul run`; `longhaul agent check` says how to get one
        ok       database                 whole
        problem  [damaged]  quarantined: the stored bytes of event 1 have changed
          remedy: run `longhaul doctor --rebuild`; if that does not help, `--recover`, or restore a backup
        ok       views                    up to date, 2 sessions
        ok       workspaces               0 registered
        ok       disk                     [size]
        --- stderr
        1 problem, 0 warnings
    ");
    shows!(home.longhaul(&["log", "verify", &damaged]), @r"
        exit 4
        --- stdout
        STREAM                   EVENTS  VERDICT  REASON
        session/[session]  0       broken   the stored bytes of event 1 have changed
        --- stderr
        1 of 1 stream not intact; see `longhaul doctor`
    ");
    let shown = home.longhaul(&["log", "show"]);
    shows!(shown.to_string().replace(&damaged, "[damaged]").replace(&whole, "[whole]"), @r#"
        exit 4
        --- stdout
        TIME                      STREAM                   SEQ   TYPE             EVENT
        -                         [damaged]  -     damaged          the stored bytes of event 1 have changed
        [time]  [damaged]  2     step_handed_out  {"node":2,"after":null,"step":"build","prompt":{"inline":"b"},"nonce":"[nonce]"}
        [time]  [damaged]  3     step_finished    {"node":2,"nonce":"[nonce]","payload":{"inline":"c"},"payload_hash":"[hash]","answer":{"inline":"d"},"epoch":null}
        [time]  [damaged]  4     closed           {"outcome":{"outcome":"completed"}}
        [time]  [whole]  1     opened           {"key":"…","goal":{"inline":"omega goal"},"workspace":null,"parent":null}
        [time]  [whole]  2     step_handed_out  {"node":2,"after":null,"step":"build","prompt":{"inline":"b"},"nonce":"[nonce]"}
        [time]  [whole]  3     step_finished    {"node":2,"nonce":"[nonce]","payload":{"inline":"c"},"payload_hash":"[hash]","answer":{"inline":"d"},"epoch":null}
        [time]  [whole]  4     closed           {"outcome":{"outcome":"completed"}}
        --- stderr
        1 decision damaged; see `longhaul doctor`
    "#);
    shows!(home.longhaul(&["log", "show", &damaged]), @r"
        exit 4
        --- stdout
        --- stderr
        error[E0102]: stream `session/[session]` is quarantined: the stored bytes of event 1 have changed; see `longhaul doctor`
        hint: longhaul explain E0102
    ");
    home.longhaul(&["log", "show", &whole]).succeeded();
}

#[test]
fn what_is_whole_is_brought_over_and_a_damaged_stream_stays_quarantined() {
    let home = Home::new();
    let damaged = home.session(["alpha goal", "b", "c", "d"]);
    let whole = home.session(["omega goal", "b", "c", "d"]);
    flip(&home, "alpha goal");
    let recovered = home.longhaul(&["doctor", "--recover"]);
    shows!(recovered.to_string().replace(&damaged, "[damaged]").replace(&whole, "[whole]"), @r"
        exit 4
        --- stdout
        STREAM                   VERDICT      REASON
        [whole]  intact
        [damaged]  quarantined  events 1 to 4 were lost to damage
        --- stderr
        brought over 2 streams, 1 of them quarantined, and 0 blobs
        the damaged database is now `[HOME]/home/data/longhaul.db.damaged-[time]`
        3 committed decisions could not be found; if a backup holds more, restore it instead
        `[HOME]/home/data/longhaul.db.before-restore-[time]` was set aside before; `longhaul restore` puts it back if it holds more
    ");
    home.longhaul(&["log", "verify", &whole]).succeeded();
    assert_eq!(home.longhaul(&["doctor"]).code, Some(4));
    home.session(["later", "b", "c", "d"]);
}

#[test]
fn a_file_that_is_no_database_is_named_and_set_aside() {
    let home = Home::new();
    fs::create_dir_all(home.database().parent().unwrap()).unwrap();
    fs::write(home.database(), "garbage ".repeat(4096)).unwrap();
    shows!(home.longhaul(&["log", "show"]), @r"
        exit 4
        --- stdout
        --- stderr
        error[E0101]: the database is damaged (file is not a database); run `longhaul doctor --recover`
        hint: longhaul explain E0101
    ");
    shows!(home.longhaul(&["workspace", "list", "--json"]), @r#"
        exit 4
        --- stdout
        --- stderr
        {"error":{"code":"E0101","message":"the database is damaged (file is not a database); run `longhaul doctor --recover`","exit":4}}
    "#);
    let doctor = home.longhaul(&["doctor"]);
    assert_eq!(doctor.code, Some(4));
    assert!(doctor.stdout.contains("problem  database"), "{doctor}");
    assert!(doctor.stdout.contains("remedy: run `longhaul doctor --recover`"), "{doctor}");
    shows!(home.longhaul(&["doctor", "--recover"]), @r"
        exit 0
        --- stdout
        --- stderr
        brought over 0 streams, 0 of them quarantined, and 0 blobs
        the damaged database is now `[HOME]/home/data/longhaul.db.damaged-[time]`
    ");
    home.longhaul(&["doctor"]).succeeded();
}

#[test]
fn rebuilding_says_what_was_made_anew_and_then_looks() {
    let home = Home::new();
    home.session(["a", "b", "c", "d"]);
    shows!(home.longhaul(&["doctor", "--rebuild"]), @r"
        exit 0
        --- stdout
        STATUS  SUBJECT         FINDING
        ok      git             [version]
        ok      data directory  `[HOME]/home/data`
        ok      secrets         kept out of everything that is stored
        ok      sandbox         level full works here
        ok      configuration   40 settings
        ok      agents          none is set up for `longhaul run`; `longhaul agent check` says how to get one
        ok      database        whole
        ok      streams         1 intact, 4 events
        ok      views           up to date, 1 session
        ok      workspaces      0 registered
        ok      disk            [size]
        --- stderr
        made the views anew, and the heads of 0 streams
        all is well
    ");
    fs::write(home.longhaul_home().join("data/views.db"), "garbage").unwrap();
    home.longhaul(&["doctor", "--rebuild"]).succeeded();
}

#[test]
fn a_checkup_in_json_is_one_row_for_each_thing_that_was_looked_at() {
    let home = Home::new();
    shows!(home.longhaul(&["doctor", "--json"]), @r#"
        exit 0
        --- stdout
        {"status":"ok","subject":"git","finding":"[version]","remedy":null}
        {"status":"ok","subject":"data directory","finding":"`[HOME]/home/data`, not made yet","remedy":null}
        {"status":"ok","subject":"secrets","finding":"kept out of everything that is stored","remedy":null}
        {"status":"ok","subject":"sandbox","finding":"level full works here","remedy":null}
        {"status":"ok","subject":"configuration","finding":"40 settings","remedy":null}
        {"status":"ok","subject":"agents","finding":"none is set up for `longhaul run`; `longhaul agent check` says how to get one","remedy":null}
        {"status":"ok","subject":"database","finding":"not made yet; the first command that writes makes it","remedy":null}
        --- stderr
    "#);
}

#[test]
fn lists_are_shown_and_room_is_made_although_the_views_cannot_be_used() {
    let home = Home::new();
    home.repository("shop");
    home.longhaul(&["workspace", "add", "shop"]).succeeded();
    home.session([&"large content ".repeat(6000), "prompt", "payload", "answer"]);
    let views = home.longhaul_home().join("data/views.db");
    fs::remove_file(&views).unwrap();
    fs::create_dir_all(views.join("in-the-way")).unwrap();
    assert_eq!(home.longhaul(&["workspace", "list", "--json"]).succeeded().rows().len(), 1);
    let gc = home.longhaul(&["gc", "--apply", "-c", "retention.blobs=0s", "--json"]).succeeded();
    assert_eq!(gc.rows().len(), 1, "{gc}");
    let doctor = home.longhaul(&["doctor", "--rebuild"]).succeeded();
    let said = "warning  views           `views.db` cannot be used (unable to open database file";
    assert!(doctor.stdout.contains(said), "{doctor}");
}

#[test]
fn room_is_made_on_a_disk_that_has_no_room_for_the_views() {
    let home = Home::new();
    home.repository("shop");
    home.longhaul(&["workspace", "add", "shop"]).succeeded();
    home.session([&"large content ".repeat(6000), "prompt", "payload", "answer"]);
    for extra in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(home.longhaul_home().join(format!("data/views.db{extra}")));
    }
    // While somebody has the log open, reading it needs no room.
    let _reader = home.system().reader().unwrap().unwrap();
    let arguments = ["gc", "-c", "retention.blobs=0s", "--json"];
    let gc = home.longhaul_with_files_up_to(0, &arguments).succeeded();
    assert_eq!(gc.rows().len(), 1, "{gc}");
}

#[test]
fn many_doctors_at_once_find_nothing_wrong() {
    let home = Home::new();
    home.session(["a", "b", "c", "d"]);
    let doctors: Vec<_> = (0..8).map(|_| home.run(&["doctor", "--rebuild"]).start()).collect();
    for doctor in doctors {
        let outcome = Outcome::of(&home.path, &doctor.wait_with_output().unwrap());
        assert!(outcome.stderr.contains("all is well"), "{outcome}");
    }
}
