//! Disks that fail, fill up or tear, folders that cannot be written, clocks that jump: typed errors, nothing
//! lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use longhaul_runtime::Places;
use longhaul_store::StoreError;
use longhaul_testkit::processes::{command, driver, tool};
use longhaul_testkit::{open_store, times};

use crate::driven::{DRIVER, Said, run};
use crate::kills::{check_all, finished_steps};

/// A driver under `strace`, with a fault at the n-th of some system calls.
fn with_fault(said: &Said, home: &Path, fault: &str) -> Command {
    let own = said.command(home);
    let mut traced = tool("strace", "strace");
    let calls = fault.split(':').next().unwrap();
    traced
        .args([
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            &format!("trace={calls}"),
            "-e",
            &format!("inject={fault}"),
        ])
        .arg(own.get_program())
        .args(own.get_args());
    traced
}

#[test]
fn heavy_a_failing_write_or_sync_is_a_typed_error_and_loses_nothing() {
    let home = tempfile::tempdir().unwrap();
    let (mut said, well) = run(with_steps(Said::default().command(home.path()), 5), Said::default());
    assert!(well);
    let mut codes: Vec<String> = Vec::new();
    for n in 1..=times(10, 60) {
        for fault in [
            "pwrite64:error=EIO",
            "pwrite64:error=ENOSPC",
            "fsync,fdatasync:error=EIO",
            "fsync,fdatasync:error=ENOSPC",
        ] {
            // Once at the n-th call; the driver goes on with the same step and must come through.
            let mut command = with_fault(&said, home.path(), &format!("{fault}:when={n}"));
            let bytes = ["200", "9000", "90000"][usize::try_from(n % 3).unwrap()];
            command.args(["--count", "12", "--stubborn", "--bytes", bytes]);
            let (after, _) = run(command, Said { errors: Vec::new(), ..said });
            codes.extend(after.errors.clone());
            said = after;
            check_all(home.path(), std::slice::from_ref(&said));
        }
    }
    assert!(codes.contains(&"E0105".to_owned()), "a full disk was never reported: {codes:?}");
    assert!(codes.contains(&"E0108".to_owned()), "a failing disk was never reported: {codes:?}");
    let typed = |code: &String| ["E0105", "E0107", "E0108"].contains(&&**code);
    assert!(codes.iter().all(typed), "{codes:?}");
    let (after, well) = run(with_steps(said.command(home.path()), 5), said.clone());
    assert!(well, "the disk is fine again");
    assert_eq!(after.acked, said.acked + 5);
}

fn with_steps(mut command: Command, count: u64) -> Command {
    command.args(["--count", &count.to_string()]);
    command
}

#[test]
fn heavy_a_full_disk_refuses_and_later_takes_more() {
    // A small file system in a namespace of its own: no privileges needed.
    let home = tempfile::tempdir().unwrap();
    let script = format!(
        "mount -t tmpfs -o size=6M none {home} && head -c 4M /dev/zero > {home}/filler && \
         {{ {DRIVER} advance --home {home} --bytes 3000 --count 2000 > {out}/first; \
         {DRIVER} advance --home {home} --bytes 3000 --count 1 > {out}/still-full; \
         rm {home}/filler; {DRIVER} advance --home {home} --count 3 > {out}/second; \
         cp -r {home}/data {out}/data; }}",
        home = home.path().join("small").display(),
        out = home.path().display(),
    );
    fs::create_dir(home.path().join("small")).unwrap();
    let mut namespaced = tool("unshare", "util-linux");
    namespaced.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]);
    let output = namespaced.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    assert!(errors.contains("the disk is full, nothing was stored; make room and try again"), "{errors}");

    let words = |name: &str| fs::read_to_string(home.path().join(name)).unwrap();
    let acknowledged = words("first").lines().filter(|line| line.starts_with("ack")).count() as u64;
    let handle = words("first").lines().next().unwrap().trim_start_matches("open ").to_owned();
    assert!(acknowledged > 10 && acknowledged < 2000, "{acknowledged}");
    let second = words("second");
    assert_eq!(second.lines().filter(|line| line.starts_with("ack")).count(), 3, "{second}");
    let log = open_store(&home.path().join("data")).unwrap();
    assert_eq!(finished_steps(&log, &handle), (1..=acknowledged).collect::<Vec<_>>());
}

#[test]
fn heavy_a_limit_on_file_size_loses_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut limited = command("sh");
    let script = format!(
        "trap '' XFSZ; ulimit -f 600; exec {DRIVER} advance --home {} --bytes 3000",
        home.path().display()
    );
    limited.args(["-c", &script]);
    let output = limited.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    // The system says "file too large", which SQLite passes on as a fault of the disk.
    assert!(errors.contains("the disk is full") || errors.contains("the disk reported a fault"), "{errors}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let acknowledged = said.lines().filter(|line| line.starts_with("ack")).count() as u64;
    let handle = said.lines().next().unwrap().trim_start_matches("open ").to_owned();
    let log = open_store(&Places::under(home.path()).data).unwrap();
    assert_eq!(finished_steps(&log, &handle), (1..=acknowledged).collect::<Vec<_>>());
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    if nix::unistd::getuid().is_root() {
        return; // for root there is no such folder; CI runs the tests as somebody else
    }
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o500)).unwrap();
    let refused = open_store(&data).unwrap_err();
    assert!(matches!(refused, StoreError::NotWritable { .. }), "{refused}");
    assert!(refused.to_string().contains(&*data.to_string_lossy()), "{refused}");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
    open_store(&data).unwrap();
}

#[test]
fn heavy_a_torn_write_ahead_log_keeps_all_but_the_commit_that_was_torn() {
    let home = tempfile::tempdir().unwrap();
    let data = Places::under(home.path()).data;
    let keep = open_store(&data).unwrap(); // holds the log in its place
    let (before, well) = run(with_steps(Said::default().command(home.path()), 20), Said::default());
    assert!(well);
    let whole = fs::metadata(data.join("longhaul.db-wal")).unwrap().len();
    let (after, well) = run(with_steps(before.command(home.path()), 1), before.clone());
    assert!(well);
    let longer = fs::metadata(data.join("longhaul.db-wal")).unwrap().len();
    assert!(longer > whole);
    let step = usize::try_from(times(997, 61)).unwrap();
    for length in (whole..longer).step_by(step).chain([longer]) {
        let torn = tempfile::tempdir().unwrap();
        for name in ["longhaul.db", "longhaul.db-wal"] {
            fs::copy(data.join(name), torn.path().join(name)).unwrap();
        }
        let file = fs::OpenOptions::new().write(true).open(torn.path().join("longhaul.db-wal")).unwrap();
        file.set_len(length).unwrap();
        let log = open_store(torn.path()).unwrap();
        let expected = if length == longer { after.acked } else { before.acked };
        let steps = finished_steps(&log, after.handle.as_ref().unwrap());
        assert_eq!(steps, (1..=expected).collect::<Vec<_>>(), "cut at {length} of {whole}..{longer}");
    }
    drop(keep);
}

#[test]
fn a_clock_that_jumps_back_changes_nothing_but_the_times() {
    let home = tempfile::tempdir().unwrap();
    let (said, well) = run(with_steps(Said::default().command(home.path()), 3), Said::default());
    assert!(well);
    let own = with_steps(said.command(home.path()), 3);
    let mut earlier = tool("faketime", "faketime");
    earlier.arg("2001-01-01 00:00:00").arg(own.get_program()).args(own.get_args());
    let (said, well) = run(earlier, said);
    assert!(well);
    assert_eq!(said.acked, 6);
    check_all(home.path(), std::slice::from_ref(&said));
    let log = open_store(&Places::under(home.path()).data).unwrap();
    let handle: longhaul_core::handle::Handle = said.handle.unwrap().parse().unwrap();
    let rows = longhaul_store::Log::read(&log, handle.session.into(), longhaul_events::Seq(0), 99).unwrap();
    assert!(rows.windows(2).all(|pair| pair[0].at <= pair[1].at), "time ran backwards in the log");
}

#[test]
fn a_driver_in_an_unusable_home_says_why() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("data"), "a file where a folder should be").unwrap();
    let output = driver(DRIVER, home.path(), "advance").output().unwrap();
    assert!(!output.status.success());
    assert!(!output.stderr.is_empty());
}
