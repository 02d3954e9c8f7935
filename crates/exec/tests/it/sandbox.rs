//! Programs in sandboxes: what they have, how they end, and that nothing of them stays.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use longhaul_exec::sandbox::{Gateway, Init, Level, Limits, Network, probe};
use longhaul_exec::{Error, Outcome, Program, Sandbox, Stdin, run, start};

use crate::support::{count_with_argument, is_alive, sh, wait_until};

pub(crate) fn init() -> Init {
    Init { program: env!("CARGO_BIN_EXE_longhaul-sandbox-init").into(), args: Vec::new() }
}

pub(crate) fn sandbox(level: Level) -> Sandbox {
    Sandbox::new(level, "/home/inside").init(init())
}

const LEVELS: [Level; 3] = [Level::Full, Level::Reduced, Level::None];

#[test]
fn every_level_works_here() {
    let ability = probe(&init());
    assert!(ability.full.works() && ability.reduced.works(), "{ability:?}");
}

#[test]
fn output_input_status_and_signals_come_through_every_level() {
    for level in LEVELS {
        let inside = |script: &str| sh(script).directory("/").sandbox(sandbox(level));
        let finished =
            run(&inside("cat; echo error >&2; exit 7").stdin(Stdin::Bytes(b"input".to_vec()))).unwrap();
        assert_eq!(finished.outcome, Outcome::Exited(7), "{level:?}");
        assert_eq!(finished.stdout.to_text(), "input");
        assert_eq!(finished.stderr.to_text(), "error\n");
        assert_eq!(run(&inside("cat")).unwrap().outcome, Outcome::Exited(0));
        assert_eq!(run(&inside("kill -SEGV $$")).unwrap().outcome, Outcome::Signalled(11), "{level:?}");
    }
}

#[test]
fn a_program_sees_a_built_root_and_its_own_processes() {
    // The shell itself lists the processes, so that no other is there.
    let script = "ls -A / | tr '\\n' ' '; ls -A /run /tmp /home/inside; for p in /proc/[0-9]*; do echo ${p#/proc/}; done; echo $HOME";
    let finished = run(&sh(script).directory("/").sandbox(sandbox(Level::Full))).unwrap();
    let text = finished.stdout.to_text();
    assert!(finished.succeeded(), "{} {text}", finished.stderr.to_text());
    let (names, rest) = text.split_once(" /home/inside:").unwrap();
    let names: Vec<&str> = names.split(' ').collect();
    assert!(
        ["dev", "etc", "home", "proc", "run", "tmp", "usr", "var"].iter().all(|name| names.contains(name)),
        "{text}"
    );
    assert!(
        ["root", "work", "mnt", "sys", "boot", ".scratch"].iter().all(|name| !names.contains(name)),
        "{text}"
    );
    assert_eq!(rest, "\n\n/run:\n\n/tmp:\n1\n2\n/home/inside\n");
}

#[test]
fn what_a_program_leaves_behind_is_ended_and_counted() {
    let left = "sleep 600 >/dev/null 2>&1 & (setsid sleep 600 >/dev/null 2>&1 &); exit 3";
    let finished = run(&sh(left).directory("/").sandbox(sandbox(Level::Full))).unwrap();
    assert_eq!((finished.outcome, finished.survivors_killed), (Outcome::Exited(3), 2));
}

#[test]
fn a_program_that_is_asked_to_end_has_its_grace_and_one_that_does_not_is_killed() {
    for level in LEVELS {
        let polite = sh("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done");
        let running = start(&polite.directory("/").sandbox(sandbox(level))).unwrap();
        // It may be asked before it has said what to do then.
        let finished = running.kill().unwrap();
        assert_eq!(finished.outcome, Outcome::Stopped, "{level:?}");

        let deaf = sh("trap '' TERM; sleep 600 & while :; do sleep 1; done").grace(Duration::from_millis(50));
        let began = Instant::now();
        let finished =
            run(&deaf.timeout(Duration::from_millis(200)).directory("/").sandbox(sandbox(level))).unwrap();
        assert_eq!(finished.outcome, Outcome::TimedOut, "{level:?}");
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn a_program_gets_the_variables_that_the_policy_keeps_and_those_that_are_set() {
    for level in LEVELS {
        let sandbox = sandbox(level).keep_variable("CARGO_MANIFEST_DIR");
        let program = sh("env | cut -d= -f1 | sort | tr '\\n' ' '").set_variable("MINE", "1").directory("/");
        let finished = run(&program.remove_variable("PATH").sandbox(sandbox)).unwrap();
        let text = finished.stdout.to_text();
        let names: Vec<&str> = text.split_whitespace().collect();
        for name in ["CARGO_MANIFEST_DIR", "HOME", "LONGHAUL_PROCESS", "MINE"] {
            assert!(names.contains(&name), "{level:?} {names:?}");
        }
        for name in ["CARGO", "CARGO_PKG_NAME", "NEXTEST"] {
            assert!(
                std::env::var_os("CARGO_PKG_NAME").is_some() && !names.contains(&name),
                "{level:?} {names:?}"
            );
        }
    }
}

#[test]
fn a_writable_path_is_the_one_outside_and_a_read_only_one_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (open, closed) = (folder.path().join("open"), folder.path().join("closed"));
    [&open, &closed].into_iter().for_each(|path| fs::create_dir(path).unwrap());
    fs::write(closed.join("file"), "as it was").unwrap();
    for level in [Level::Full, Level::Reduced] {
        let sandbox = sandbox(level).writable(&open).read_only(&closed);
        let script =
            format!("echo new > made; cat {0}/file; echo changed > {0}/file; rm {0}/file", closed.display());
        let finished = run(&sh(&script).directory(&open).sandbox(sandbox)).unwrap();
        assert!(!finished.succeeded());
        assert_eq!(finished.stdout.to_text(), "as it was", "{level:?}");
        assert_eq!(fs::read_to_string(open.join("made")).unwrap(), "new\n", "{level:?}");
        assert_eq!(fs::read_to_string(closed.join("file")).unwrap(), "as it was", "{level:?}");
        fs::remove_file(open.join("made")).unwrap();
    }
}

#[test]
fn what_is_hidden_is_empty_inside_also_below_what_is_bound() {
    let folder = tempfile::tempdir().unwrap();
    let hidden = folder.path().join("secrets");
    fs::create_dir(&hidden).unwrap();
    fs::write(hidden.join("key"), "hush").unwrap();
    fs::write(folder.path().join("token"), "hush").unwrap();
    for level in [Level::Full, Level::Reduced] {
        let sandbox = sandbox(level).read_only(folder.path()).hide(&hidden).hide(folder.path().join("token"));
        let script = format!("cat {0}/secrets/key {0}/token", folder.path().display());
        let finished = run(&sh(&script).directory("/").sandbox(sandbox)).unwrap();
        assert_eq!(finished.stdout.to_text(), "", "{level:?}");
    }
}

#[test]
fn a_program_reaches_the_gateway_through_its_port_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("gateway");
    let listener = UnixListener::bind(&socket).unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = [0; 4];
        stream.read_exact(&mut heard).unwrap();
        stream.write_all(b"pong").unwrap();
        heard
    });
    let sandbox = sandbox(Level::Full).network(Network::AllowList).gateway(Gateway { socket, port: 3128 });
    let script =
        "exec 3<>/dev/tcp/127.0.0.1/3128 && printf ping >&3 && head -c 4 <&3; cat /proc/net/route | wc -l";
    let program = Program::new("bash").arg("-c").arg(script).directory("/").sandbox(sandbox);
    let finished = run(&program).unwrap();
    assert_eq!(finished.stdout.to_text(), "pong1\n", "{}", finished.stderr.to_text());
    assert_eq!(&server.join().unwrap(), b"ping");
}

#[test]
fn limits_hold_inside() {
    let limits = Limits { file_bytes: Some(4096), open_files: Some(16), ..Limits::default() };
    for level in LEVELS {
        let folder = tempfile::tempdir().unwrap();
        let script = "ulimit -n; ulimit -c; head -c 8192 /dev/zero > file; stat -c %s file";
        let program = sh(script).directory(folder.path());
        let finished = run(&program.sandbox(sandbox(level).writable(folder.path()).limits(limits))).unwrap();
        assert_eq!(finished.stdout.to_text(), "16\n0\n4096\n", "{level:?} {}", finished.stderr.to_text());
    }
}

#[test]
fn why_a_program_does_not_start_is_told() {
    for level in LEVELS {
        let inside =
            |name: &str| run(&Program::new(name).directory("/").sandbox(sandbox(level))).unwrap_err();
        assert!(matches!(inside("longhaul-no-such-program"), Error::ProgramNotFound { .. }), "{level:?}");
        assert!(matches!(inside("/etc/passwd"), Error::NotExecutable { .. }), "{level:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let error = run(&sh("true").directory(folder.path()).sandbox(sandbox(Level::Full))).unwrap_err();
    assert!(error.to_string().contains("which is not in the sandbox"), "{error}");
    let error =
        run(&sh("true").directory("/").sandbox(sandbox(Level::Full).writable("/no/such/path"))).unwrap_err();
    assert!(matches!(error, Error::SandboxPath { .. }), "{error:?}");
    let missing = Init { program: "/no/such/init".into(), args: Vec::new() };
    let error = run(&sh("true").directory("/").sandbox(sandbox(Level::Full).init(missing))).unwrap_err();
    assert!(matches!(error, Error::Sandbox { .. }), "{error:?}");
}

#[test]
fn when_the_first_process_outside_is_killed_everything_inside_dies() {
    let folder = tempfile::tempdir().unwrap();
    let sandbox = sandbox(Level::Full).writable(folder.path());
    let script = "(setsid sh -c 'touch born; exec sleep 600' &); sleep 600";
    let running = start(&sh(script).directory(folder.path()).sandbox(sandbox)).unwrap();
    wait_until("the program runs", || folder.path().join("born").exists());
    let outer = running.id();
    let children = fs::read_to_string(format!("/proc/{outer}/task/{outer}/children")).unwrap();
    let inner: u32 = children.trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(outer.cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    wait_until("the inner process is gone", || !is_alive(inner));
    assert_eq!(running.wait().unwrap().outcome, Outcome::Signalled(9));
}

#[test]
fn a_program_that_fills_the_disk_is_ended_before_the_reserve_is_gone() {
    for level in LEVELS {
        let folder = tempfile::tempdir().unwrap();
        let found = rustix::fs::statvfs(folder.path()).unwrap();
        // What others do to the disk meanwhile only ends it sooner, or makes it end by itself.
        let reserve = (found.f_bavail * found.f_frsize).saturating_sub(64 << 20);
        let limits = Limits { disk_reserve_bytes: Some(reserve), ..Limits::default() };
        let script = "for i in $(seq 60); do head -c 8388608 /dev/zero > part-$i; sleep 0.02; done";
        let program = sh(script).directory(folder.path()).grace(Duration::ZERO);
        let sandbox = sandbox(level).writable(folder.path()).limits(limits);
        assert_eq!(run(&program.sandbox(sandbox)).unwrap().outcome, Outcome::OutOfRoom, "{level:?}");
    }
}

#[test]
fn devices_can_be_used_and_not_changed() {
    let script = "echo x > /dev/null && head -c 4 /dev/zero | wc -c && ! chmod 666 /dev/null && ! touch -d 2001-01-01 /dev/zero";
    let finished = run(&sh(script).directory("/").sandbox(sandbox(Level::Full))).unwrap();
    assert!(finished.succeeded(), "{}", finished.stderr.to_text());
    assert_eq!(finished.stdout.to_text(), "4\n");
}

#[test]
fn a_program_has_no_descriptor_but_its_own_three() {
    for level in LEVELS {
        // The shell itself lists them, and has one open for that.
        let script = "cd /proc/$$/fd && for fd in *; do echo $fd; done";
        let finished = run(&sh(script).directory("/").sandbox(sandbox(level))).unwrap();
        let text = finished.stdout.to_text();
        let few = ["0\n1\n2\n", "0\n1\n2\n3\n"];
        assert!(few.contains(&&*text), "{level:?} {text}");
    }
}

#[test]
fn a_program_has_no_capability_and_no_way_to_one() {
    for level in [Level::Full, Level::Reduced] {
        let script =
            "grep -E '^(CapEff|CapPrm|CapInh|CapAmb|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t\\n'";
        let finished = run(&sh(script).directory("/").sandbox(sandbox(level))).unwrap();
        let none = "0".repeat(16);
        let expected = format!("CapInh:{none}CapPrm:{none}CapEff:{none}CapAmb:{none}NoNewPrivs:1Seccomp:2");
        assert_eq!(finished.stdout.to_text(), expected, "{level:?}");
    }
}

/// The superuser owns these files, and no capability guards them.
#[test]
fn settings_of_the_kernel_cannot_be_changed() {
    for level in [Level::Full, Level::Reduced] {
        let script = "cat /proc/sys/kernel/core_pattern > /dev/null && ! cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern";
        let finished = run(&sh(script).directory("/").sandbox(sandbox(level))).unwrap();
        assert!(finished.succeeded(), "{level:?} {}", finished.stderr.to_text());
    }
}

#[test]
fn a_tree_that_forks_as_fast_as_it_dies_and_hides_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let relay = folder.path().join("relay.sh");
    // Each one leaves its group, loses its parent and wipes its environment.
    fs::write(&relay, "trap '' TERM\n: > \"$0.ran\"\n(/usr/bin/env -i /usr/bin/setsid /bin/sh \"$0\" &)\n")
        .unwrap();
    let start_relays = format!("for i in 1 2 3; do sh '{}' & done; sleep 600", relay.display());
    let program = sh(&start_relays).timeout(Duration::from_millis(500)).grace(Duration::from_millis(50));
    let sandbox = sandbox(Level::Full).writable(folder.path());
    let finished = run(&program.directory(folder.path()).sandbox(sandbox)).unwrap();
    assert_eq!(finished.outcome, Outcome::TimedOut);
    assert_eq!(count_with_argument(&relay.display().to_string()), 0);
    assert!(folder.path().join("relay.sh.ran").exists());
}

/// Two sessions have caches, one of them inside of the other's: whoever has the outer one puts a link in place of the
/// inner one, again and again, so that it also happens between the judgement and the binding.
#[test]
fn a_cache_that_another_program_swaps_for_a_link_never_lets_anything_else_in() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let (cache, outside) = (top.join("outer/inner"), top.join("outside"));
    for path in [&cache, &outside, &top.join("checkout")] {
        fs::create_dir_all(path).unwrap();
    }
    let done = top.join("outer/done");
    let swapping = sh(
        "ln -s ../outside link; until [ -e done ]; do mv -T inner aside && mv -T link inner; mv -T inner link && mv -T aside inner; done",
    );
    let swapping = swapping.directory(top.join("outer"));
    let swapper = start(&swapping.sandbox(sandbox(Level::Full).writable(top.join("outer")))).unwrap();
    let (mut ran, mut refused) = (0, 0);
    for round in 0..60 {
        for level in [Level::Full, Level::Reduced] {
            let sandbox = sandbox(level).writable(top.join("checkout")).cache(&cache);
            let script = format!("touch {0}/escaped-{round} || true", cache.display());
            let script = format!("{script}; touch {0}/escaped || true", outside.display());
            match run(&sh(&script).directory(top.join("checkout")).sandbox(sandbox)) {
                Ok(finished) if finished.succeeded() => ran += 1,
                Ok(finished) => panic!("{}", finished.stderr.to_text()),
                Err(_) => refused += 1,
            }
        }
    }
    fs::write(done, "").unwrap();
    swapper.wait().unwrap();
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{ran} ran, {refused} were refused");
    assert!(ran > 0 && refused > 0, "{ran} ran, {refused} were refused");
}

#[test]
fn heavy_a_fork_bomb_is_held_by_the_limit_while_others_work_and_is_dead_afterwards() {
    const MOST: u64 = 120;
    // Where all processes of the user count, other tests start some while the bomb goes off, and a shell that
    // cannot fork ends: with less room than this the bomb may fizzle out.
    const ROOM_FOR_OTHERS: u64 = 400;
    let is_superuser = rustix::process::getuid().is_root();
    for level in LEVELS {
        let folder = tempfile::tempdir().unwrap();
        let bomb = folder.path().join("bomb.sh");
        // The superuser's processes are not counted by the system, so theirs end by themselves at twice the limit.
        let generations = if is_superuser { 7 } else { 1000 };
        // Nobody starts anything else, so that all of them are found by their name.
        let script = "[ $1 -gt 0 ] && { sh $0 $(($1 - 1)) & sh $0 $(($1 - 1)) & }; read line < fifo";
        fs::write(&bomb, script).unwrap();
        let processes = match level {
            Level::Full => MOST,
            Level::Reduced | Level::None => MOST + ROOM_FOR_OTHERS + tasks_of_this_user(),
        };
        let limits = Limits { processes: Some(processes), ..Limits::default() };
        let name = bomb.display().to_string();
        let program = sh(&format!("mkfifo fifo; sh '{name}' {generations} 2>/dev/null & exec sleep 600"))
            .directory(folder.path());
        let program = program.timeout(Duration::from_mins(2)).grace(Duration::from_millis(50));
        let running = start(&program.sandbox(sandbox(level).writable(folder.path()).limits(limits))).unwrap();
        wait_until("the bomb has gone off", || count_with_argument(&name) > 40);
        let began = Instant::now();
        let mut seen = 0;
        while began.elapsed() < Duration::from_secs(2) {
            seen = seen.max(count_with_argument(&name));
            assert!(run(&sh("true").directory("/").sandbox(sandbox(Level::Full))).unwrap().succeeded());
        }
        let finished = running.kill().unwrap();
        assert_eq!(finished.outcome, Outcome::Stopped, "{level:?}");
        assert_eq!(count_with_argument(&name), 0, "{level:?}: nothing of it is left");
        let most = if is_superuser { 3 * MOST } else { processes };
        assert!(seen <= usize::try_from(most).unwrap(), "{level:?}: {seen} at once");
    }
}

/// How many processes and threads the limit counts that are there already.
fn tasks_of_this_user() -> u64 {
    let own = rustix::process::getuid().as_raw();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let texts = entries.filter_map(|entry| fs::read_to_string(entry.path().join("status")).ok());
    let field = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u32>().ok()
    };
    let own = texts.filter(|text| field(text, "Uid:") == Some(own));
    own.filter_map(|text| field(&text, "Threads:")).map(u64::from).sum()
}

#[test]
fn every_level_limits_processes_unless_told_otherwise() {
    for (level, most) in [(Level::Full, "4096"), (Level::Reduced, "16384"), (Level::None, "16384")] {
        let finished =
            run(&Program::new("bash").args(["-c", "ulimit -u"]).directory("/").sandbox(sandbox(level)));
        let text = finished.unwrap().stdout.to_text();
        let limit: u64 = text.trim().parse().unwrap();
        assert!(limit <= most.parse().unwrap(), "{level:?}: {text}");
    }
}

#[test]
fn many_at_once_do_not_get_in_each_others_way() {
    let threads: Vec<_> = (0..16)
        .map(|number| {
            std::thread::spawn(move || {
                let script = format!("echo {number} > /tmp/file; cat /tmp/file; ls /tmp | wc -l");
                run(&sh(&script).directory("/").sandbox(sandbox(Level::Full))).unwrap().stdout.to_text()
            })
        })
        .collect();
    for (number, thread) in threads.into_iter().enumerate() {
        assert_eq!(thread.join().unwrap(), format!("{number}\n1\n"));
    }
}

/// The first process is of the same user and in no domain of Landlock: without it, it could be signalled.
#[test]
fn the_second_wall_stands_behind_the_first() {
    if probe(&init()).landlock_abi < 6 {
        return;
    }
    let finished =
        run(&sh("kill -0 $$ && ! kill -0 1").directory("/").sandbox(sandbox(Level::Full))).unwrap();
    assert!(finished.succeeded(), "{}", finished.stderr.to_text());
}
