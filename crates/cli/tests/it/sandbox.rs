//! `longhaul sandbox check`: the walls as people meet them, put up by the real binary.

use std::fs;

use crate::running::wait_until;
use crate::support::{Home, shows};

#[test]
fn what_works_here_and_what_a_command_could_do_is_listed() {
    let home = Home::new();
    let rows = home.longhaul(&["sandbox", "check", "--explain", "--json"]).rows();
    let findings = |subject: &str| -> Vec<String> {
        let found = rows.iter().filter(|row| row["subject"] == subject);
        found.map(|row| row["finding"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(findings("level full"), ["works here"]);
    assert_eq!(findings("level reduced"), ["works here"]);
    assert_eq!(findings("chosen"), ["level full, network none"]);
    assert!(findings("read-only").contains(&"/usr".to_owned()));
    assert_eq!(findings("writable")[0], "[HOME]");
    assert_eq!(findings("variables"), ["HOME, LC_ALL, PATH"]);
    assert_eq!(findings("network"), ["nothing"]);
    let a_run = "`longhaul run` here has level full, network allow-list";
    assert!(findings("a run")[0].starts_with(a_run), "{rows:?}");
    assert!(findings("not held").iter().any(|hole| hole.starts_with("writable-paths: ")), "{rows:?}");
}

#[test]
fn the_holes_of_the_reduced_level_are_named() {
    let home = Home::new();
    let rows = home.longhaul(&["sandbox", "check", "--level", "reduced", "--explain", "--json"]).rows();
    for hole in ["pathname-sockets", "metadata", "names", "processes", "system-v", "detaching"] {
        let named =
            |row: &serde_json::Value| row["finding"].as_str().unwrap().starts_with(&format!("{hole}: "));
        assert!(rows.iter().any(|row| row["subject"] == "not held" && named(row)), "{hole}");
    }
}

#[test]
fn a_command_is_run_behind_the_walls_and_its_exit_code_is_ours() {
    let home = Home::new();
    fs::create_dir(home.join("checkout")).unwrap();
    fs::write(home.join("secret"), "hush").unwrap();
    let script = "echo made > file; cat ../secret; exit 7";
    let outcome = home.run(&["sandbox", "check", "--", "sh", "-c", script]).inside("checkout").go();
    shows!(outcome, @r"
    exit 7
    --- stdout
    --- stderr
    cat: ../secret: No such file or directory
    exited with 7 at level full, network none; the kernel does not tell what it refused
    ");
    assert_eq!(fs::read_to_string(home.join("checkout/file")).unwrap(), "made\n");

    let outcome = home.longhaul(&["sandbox", "check", "--json", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!((&outcome.rows()[0]["ended"], &outcome.rows()[0]["signal"]), (&"signalled".into(), &9.into()));
}

#[test]
fn walls_that_cannot_be_put_up_are_explained() {
    let home = Home::new();
    shows!(home.longhaul(&["sandbox", "check", "--write", "/no/such/path", "--", "true"]), @r"
    exit 4
    --- stdout
    --- stderr
    error[E0801]: could not start `true` in its sandbox: `/no/such/path` cannot be bound: No such file or directory (os error 2); check the path
    hint: longhaul explain E0801
    ");
    shows!(home.longhaul(&["sandbox", "check", "--", "no-such-program"]), @r"
    exit 4
    --- stdout
    --- stderr
    error: could not start `no-such-program`: there is no such program; install it or give its full path
    ");
}

#[test]
fn the_verb_that_puts_up_the_walls_is_not_for_people() {
    let home = Home::new();
    assert!(!home.longhaul(&["help", "--all"]).stdout.contains("sandbox-init"));
    // Without a plan on its standard input it does nothing.
    assert_eq!(home.longhaul(&["sandbox-init"]).code, Some(127));
}

#[test]
fn when_the_supervisor_is_killed_everything_inside_dies() {
    for level in ["full", "reduced", "none"] {
        let home = Home::new();
        let sign = format!("--sign-of={}", home.path.display());
        // At the lower levels only the program itself is tied to its supervisor.
        let script = if level == "full" {
            "(setsid sh -c 'sleep 600' \"$0\" &); touch born; sleep 600"
        } else {
            "touch born; exec sleep 600"
        };
        let words = ["sandbox", "check", "--level", level, "--", "sh", "-c", script, &sign];
        let mut supervisor = home.run(&words).start();
        wait_until("the program runs", || home.join("born").exists());
        supervisor.kill().unwrap();
        supervisor.wait().unwrap();
        wait_until("nothing of it is left", || count_with(&home) == 0);
    }
}

/// How many processes are in this home or name it.
fn count_with(home: &Home) -> usize {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let place = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        place == home.path || String::from_utf8_lossy(&command).contains(home.path.to_str().unwrap())
    })
    .count()
}
