//! Restoring and recovering, killed at every rename, and given things that are no backup.

use std::fs;
use std::path::PathBuf;

use crate::support::{Home, Outcome, program, shows};

/// Runs the binary under `strace`, which kills it at the n-th of some system calls. Returns whether it did.
fn is_killed_at(home: &Home, calls: &str, n: u32, arguments: &[&str]) -> bool {
    let mut traced = program("strace");
    traced.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={calls}"), "-e"]);
    traced.arg(format!("inject={calls}:signal=KILL:when={n}")).arg(env!("CARGO_BIN_EXE_longhaul"));
    traced.args(arguments).current_dir(&home.path).env_clear().envs(home.variables());
    let outcome = Outcome::of(&home.path, &traced.output().unwrap());
    // `strace` ends as its child did.
    assert!([None, Some(0), Some(4)].contains(&outcome.code), "{outcome}");
    outcome.code.is_none()
}

const RENAMES: &str = "rename,renameat,renameat2";
/// Everything by which it changes the disk.
const CHANGES: &str =
    "rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,fsync,fdatasync,pwrite64,ftruncate";

fn holds(home: &Home, stream: &str) -> bool {
    home.longhaul(&["log", "verify", stream]).code == Some(0)
}

fn set_aside(home: &Home) -> Vec<PathBuf> {
    let names = fs::read_dir(home.database().parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let is_aside = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("longhaul.db.") && !name.ends_with("-wal")
    };
    names.filter(is_aside).collect()
}

/// Does what the doctor says, if it says anything.
fn follow_the_doctor(home: &Home) {
    let checkup = home.longhaul(&["doctor"]);
    if checkup.stdout.contains("doctor --recover") {
        home.longhaul(&["doctor", "--recover"]).succeeded();
    }
    home.longhaul(&["doctor"]).succeeded();
}

fn is_tidy(home: &Home) -> bool {
    let names = fs::read_dir(home.database().parent().unwrap()).unwrap().map(|entry| entry.unwrap());
    names.map(|entry| entry.file_name()).all(|name| !name.to_str().unwrap().starts_with('.'))
}

/// Kills a restore at each of the calls in turn; returns how many there were.
fn kill_restores(calls: &str) -> u32 {
    for n in 1.. {
        let home = Home::new();
        let early = home.session(["early", "b", "c", "d"]);
        home.longhaul(&["backup", "backup.db"]).succeeded();
        let late = home.session(["late, and only in the write-ahead log", "b", "c", "d"]);
        if !is_killed_at(&home, calls, n, &["restore", "backup.db"]) {
            return n - 1;
        }
        follow_the_doctor(&home);
        assert!(holds(&home, &early), "kill {n}");
        // Either it did not happen, or it did and the rest is set aside as a whole.
        if !holds(&home, &late) {
            let [aside] = &set_aside(&home)[..] else { panic!("kill {n}: {:?}", set_aside(&home)) };
            home.longhaul(&["restore", aside.to_str().unwrap()]).succeeded();
        }
        assert!(holds(&home, &early) && holds(&home, &late), "kill {n}");
        home.longhaul(&["restore", "backup.db"]).succeeded();
        assert!(holds(&home, &early) && is_tidy(&home), "kill {n}");
    }
    unreachable!("the numbers do not end")
}

/// Kills a recovery at each of the calls in turn; returns how many there were.
fn kill_recoveries(calls: &str) -> u32 {
    for n in 1.. {
        let home = Home::new();
        let streams = ["x", "y", "z"].map(|goal| home.session([goal, "b", "c", "d"]));
        fs::write(home.database(), b"").unwrap(); // everything is in the write-ahead log
        if !is_killed_at(&home, calls, n, &["doctor", "--recover"]) {
            return n - 1;
        }
        follow_the_doctor(&home);
        assert!(streams.iter().all(|stream| holds(&home, stream)), "kill {n}");
        assert!(is_tidy(&home), "kill {n}");
    }
    unreachable!("the numbers do not end")
}

#[test]
fn a_restore_that_is_killed_at_any_rename_loses_nothing() {
    // The decision, the log, the database, the new one.
    assert!(kill_restores(RENAMES) >= 4);
}

#[test]
fn a_recovery_that_is_killed_at_any_rename_loses_nothing() {
    assert!(kill_recoveries(RENAMES) >= 4);
}

#[test]
fn heavy_a_restore_that_is_killed_at_any_change_to_the_disk_loses_nothing() {
    assert!(kill_restores(CHANGES) > 20);
}

#[test]
fn heavy_a_recovery_that_is_killed_at_any_change_to_the_disk_loses_nothing() {
    assert!(kill_recoveries(CHANGES) > 20);
}

#[test]
fn a_restore_that_is_killed_while_it_writes_does_not_spoil_the_next() {
    let home = Home::new();
    let early = home.session(["early", "b", "c", "d"]);
    home.longhaul(&["backup", "backup.db"]).succeeded();
    let late = home.session(["late", "b", "c", "d"]);
    let mut kills = 0;
    // Copying, migrating, settling: each leaves something else behind.
    for (calls, n) in
        [("copy_file_range,sendfile", 1), ("pwrite64", 1), ("pwrite64", 3), ("fsync,fdatasync", 1)]
    {
        kills += u32::from(is_killed_at(&home, calls, n, &["restore", "backup.db"]));
        assert!(holds(&home, &early) && holds(&home, &late), "{calls} {n}");
    }
    assert!(kills >= 3, "only {kills} of the calls were met");
    home.longhaul(&["restore", "backup.db"]).succeeded();
    assert!(holds(&home, &early) && is_tidy(&home));
    home.longhaul(&["doctor"]).succeeded();
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let home = Home::new();
    home.session(["a", "b", "c", "d"]);
    let made = program("mkfifo").arg(home.join("pipe")).status().unwrap();
    assert!(made.success());
    fs::create_dir(home.join("folder")).unwrap();
    fs::write(home.join("with-a-pipe"), "SQLite format 3\0").unwrap();
    assert!(program("mkfifo").arg(home.join("with-a-pipe-wal")).status().unwrap().success());
    for name in ["pipe", "folder", "/dev/zero", "with-a-pipe"] {
        let refused = home.longhaul(&["restore", name]);
        assert_eq!(refused.code, Some(4), "{refused}");
        assert!(refused.stderr.contains(&format!("could not read `{name}`")), "{refused}");
    }
    shows!(home.longhaul(&["restore", "pipe"]), @r"
        exit 4
        --- stdout
        --- stderr
        error[E0107]: could not read `pipe`: it is not a regular file; check the path and the disk
        hint: longhaul explain E0107
    ");
}

#[test]
fn a_name_that_looks_like_an_address_is_a_name() {
    let home = Home::new();
    let stream = home.session(["a", "b", "c", "d"]);
    fs::create_dir(home.join("file:")).unwrap();
    for name in ["file:backup.db?mode=memory", "file:/backup.db", ":memory:"] {
        home.longhaul(&["backup", name]).succeeded();
        assert!(home.join(name).is_file(), "{name}");
        home.longhaul(&["restore", name]).succeeded();
        assert!(holds(&home, &stream), "{name}");
    }
}

#[test]
fn a_whole_store_is_not_recovered() {
    let home = Home::new();
    home.session(["a", "b", "c", "d"]);
    let before = fs::read(home.database()).unwrap();
    shows!(home.longhaul(&["doctor", "--recover"]), @r"
        exit 0
        --- stdout
        --- stderr
        the database is whole: nothing needs recovering, and nothing was changed; `longhaul doctor` shows what else may be wrong
    ");
    assert_eq!(fs::read(home.database()).unwrap(), before);
    assert!(set_aside(&home).is_empty());
}

#[test]
fn a_damaged_backup_is_told_when_it_is_restored() {
    let home = Home::new();
    home.session(["alpha goal", "b", "c", "d"]);
    home.longhaul(&["backup", "backup.db"]).succeeded();
    let mut bytes = fs::read(home.join("backup.db")).unwrap();
    let place = bytes.windows(10).position(|window| window == b"alpha goal").unwrap();
    bytes[place] ^= 1;
    fs::write(home.join("backup.db"), &bytes).unwrap();
    shows!(home.longhaul(&["restore", "backup.db"]), @r"
        exit 4
        --- stdout
        STREAMS  SET ASIDE
        1        [HOME]/home/data/longhaul.db.before-restore-[time]
        --- stderr
        restored; the database that was there before is now `[HOME]/home/data/longhaul.db.before-restore-[time]`
        the backup holds 1 damaged stream, so the store does too; see `longhaul doctor`
    ");
    bytes.truncate(bytes.len() / 2);
    fs::write(home.join("half.db"), bytes).unwrap();
    let refused = home.longhaul(&["restore", "half.db"]);
    assert_eq!(refused.code, Some(4), "{refused}");
    assert!(refused.stderr.contains("`half.db` was not restored and nothing was changed"), "{refused}");
}
