//! Wrong words, missing places: what somebody gets who types the wrong thing.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Home, is_root, shows};

/// Exit code and first line of the complaint for each.
fn complaints(home: &Home, commands: &[&str]) -> String {
    let mut text = String::new();
    for command in commands {
        let arguments: Vec<&str> = command.split_whitespace().collect();
        let outcome = home.longhaul(&arguments);
        assert_eq!(outcome.stdout, "", "{command}");
        let (code, first) = (outcome.code.unwrap(), outcome.stderr.lines().next().unwrap_or_default());
        writeln!(text, "{command}\n  {code} {first}").unwrap();
    }
    text
}

#[test]
fn words_that_are_not_ours_are_refused_with_2() {
    let home = Home::new();
    let commands = [
        "frobnicate",
        "--frobnicate",
        "doctor now",
        "doctor --rebuild --recover",
        "log",
        "log shwo",
        "log show one two",
        "log tail --from soon",
        "log tail --from 3 --all",
        "log import",
        "workspace",
        "workspace remove",
        "workspace rm",
        "workspace add one two",
        "workspace add --name w-12345678",
        "workspace add --name a/b",
        "workspace trust --yes",
    ];
    shows!(complaints(&home, &commands), @r"
        frobnicate
          2 error: unrecognized subcommand 'frobnicate'
        --frobnicate
          2 error: unexpected argument '--frobnicate' found
        doctor now
          2 error: unexpected argument 'now' found
        doctor --rebuild --recover
          2 error: the argument '--rebuild' cannot be used with '--recover'
        log
          2 Look at the log, check it, and carry it to another machine
        log shwo
          2 error: unrecognized subcommand 'shwo'
        log show one two
          2 error: unexpected argument 'two' found
        log tail --from soon
          2 error: invalid value 'soon' for '--from <POSITION>': invalid digit found in string
        log tail --from 3 --all
          2 error: the argument '--from <POSITION>' cannot be used with '--all'
        log import
          2 error: the following required arguments were not provided:
        workspace
          2 Register repositories, and say which of them you trust
        workspace remove
          2 error: unrecognized subcommand 'remove'
        workspace rm
          2 error: the following required arguments were not provided:
        workspace add one two
          2 error: unexpected argument 'two' found
        workspace add --name [workspace]
          2 error: invalid value '[workspace]' for '--name <NAME>': begin with a letter or digit, go on with those, `-`, `_`, `.` or spaces, and leave `w-` to ids
        workspace add --name a/b
          2 error: invalid value 'a/b' for '--name <NAME>': begin with a letter or digit, go on with those, `-`, `_`, `.` or spaces, and leave `w-` to ids
        workspace trust --yes
          2 error: unexpected argument '--yes' found
    ");
    assert!(!home.longhaul_home().exists());
}

#[test]
fn options_and_values_that_are_not_ours_are_refused_with_2() {
    let home = Home::new();
    let commands = [
        "gc --force",
        "redact hunter2",
        "backup",
        "restore",
        "config",
        "config show --from",
        "completions cobol",
        "man three",
        "explain E0101 E0102",
        "explain E9999",
        "help frobnicate",
        "help sesion show",
        "help --all log",
        "--config gc",
        "-c colour=red gc",
        "-c retention.blobs gc",
        "-c retention.blobs=soon gc",
        "--log-format xml doctor",
    ];
    shows!(complaints(&home, &commands), @r"
        gc --force
          2 error: unexpected argument '--force' found
        redact hunter2
          2 error: unexpected argument 'hunter2' found
        backup
          2 error: the following required arguments were not provided:
        restore
          2 error: the following required arguments were not provided:
        config
          2 Show the settings in force
        config show --from
          2 error: unexpected argument '--from' found
        completions cobol
          2 error: invalid value 'cobol' for '<SHELL>'
        man three
          2 error: unexpected argument 'three' found
        explain E0101 E0102
          2 error: unexpected argument 'E0102' found
        explain E9999
          2 error: `E9999` is not an error code; `longhaul explain` lists them
        help frobnicate
          2 error: there is no command `frobnicate`; `longhaul help --all` lists them
        help sesion show
          2 error: there is no command `sesion show`; did you mean `session`?
        help --all log
          2 error: the argument '--all' cannot be used with '[COMMAND]...'
        --config gc
          2 error: invalid value 'gc' for '--config <KEY=VALUE>': write it as `key=value`
        -c colour=red gc
          2 error: invalid value 'colour=red' for '--config <KEY=VALUE>': `colour` is not a setting; known are `agents.default`, `agents.tiers.light`, `agents.tiers.standard`, `agents.tiers.heavy`, `bindings`, `budget.session.tokens`, `budget.session.time`, `budget.session.money`, `budget.session.turns`, `budget.task.money`, `budget.day.money`, `checkout.ports`, `daemon.listen`, `identity.coauthor`, `identity.email`, `identity.name`, `identity.sign`, `pipeline.default`, `pipeline.mode`, `pipeline.require`, `policy.intent_gate`, `policy.merge.auto`, `policy.merge.freshness`, `policy.merge.method`, `policy.merge.never`, `policy.review.families`, `policy.review.fix_attempts`, `queue.concurrency.agent`, `queue.concurrency.global`, `queue.concurrency.pipeline`, `queue.concurrency.workspace`, `queue.starts_per_minute`, `queue.unknown_scope`, `retention.blobs`, `retention.disk`, `sandbox.accept_reduced`, `sandbox.caches`, `sandbox.hosts`, `sandbox.level`, `sandbox.network`
        -c retention.blobs gc
          2 error: invalid value 'retention.blobs' for '--config <KEY=VALUE>': write it as `key=value`
        -c retention.blobs=soon gc
          2 error[E0401]: --config sets `retention.blobs`: `soon` is not a duration; write a whole number and a unit, such as `90s`, `10m`, `3d`
        --log-format xml doctor
          2 error: invalid value 'xml' for '--log-format <FORMAT>'
    ");
    assert!(!home.longhaul_home().exists());
}

#[test]
fn names_of_what_is_not_there_are_refused() {
    let home = Home::new();
    home.session(["goal", "prompt", "payload", "answer"]);
    fs::write(home.join("text"), "no export\n").unwrap();
    fs::create_dir(home.join("folder")).unwrap();
    let commands = [
        "log show session/s-0000000000000",
        "log verify nonsense",
        "log export nonsense",
        "log export -o folder",
        "log export -o absent/file",
        "log import absent",
        "log import folder",
        "log import text",
        "workspace add absent",
        "workspace add folder",
        "workspace rm nonsense",
        "workspace trust nonsense",
        "workspace trust",
    ];
    shows!(complaints(&home, &commands), @r#"
        log show session/[session]
          2 error[E0201]: `session/[session]` is not a stream; `longhaul log show` lists what there is
        log verify nonsense
          2 error[E0201]: `nonsense` is not a stream; `longhaul log show` lists what there is
        log export nonsense
          2 error[E0201]: `nonsense` is not a stream; `longhaul log show` lists what there is
        log export -o folder
          3 error: `folder` is there already and is not overwritten; name another file
        log export -o absent/file
          4 error: could not write `absent/file`: No such file or directory (os error 2); check the path, its permissions and the disk
        log import absent
          4 error: could not read `absent`: No such file or directory (os error 2); check the path and its permissions
        log import folder
          3 error[E0501]: could not read the export: Is a directory (os error 21); check the file
        log import text
          3 error[E0501]: line 1 is not part of an export: it does not begin as one; nothing was imported, name a file that `longhaul log export` wrote
        workspace add absent
          4 error: could not find `absent`; check the path
        workspace add folder
          4 error[E0301]: `[HOME]/folder` is not in a git repository; make one with `git init` or go to one
        workspace rm nonsense
          2 error[E0302]: no workspace is called `nonsense`; see `longhaul workspace list`
        workspace trust nonsense
          2 error[E0302]: no workspace is called `nonsense`; see `longhaul workspace list`
        workspace trust
          4 error[E0301]: `[HOME]` is not in a git repository; make one with `git init` or go to one
    "#);
}

#[test]
fn files_that_are_not_there_or_not_fit_are_refused() {
    let home = Home::new();
    home.session(["goal", "prompt", "payload", "answer"]);
    fs::write(home.join("text"), "no export\n").unwrap();
    fs::create_dir(home.join("folder")).unwrap();
    let commands = [
        "redact --value-file absent",
        "redact --value-file /dev/null",
        "redact --value-file /dev/null --json",
        "backup text",
        "backup absent/file",
        "restore absent",
        "restore text",
        "restore folder",
        "man --out text",
    ];
    shows!(complaints(&home, &commands), @r#"
        redact --value-file absent
          4 error: could not read `absent`: No such file or directory (os error 2); check the path and its permissions
        redact --value-file /dev/null
          2 error: the value to redact has 0 bytes; it needs at least 4, or ordinary words would be blotted out
        redact --value-file /dev/null --json
          2 {"error":{"code":null,"message":"the value to redact has 0 bytes; it needs at least 4, or ordinary words would be blotted out","exit":2}}
        backup text
          3 error: `text` is there already and is not overwritten; name another file
        backup absent/file
          4 error[E0107]: could not find `absent`: No such file or directory (os error 2); check the path and the disk
        restore absent
          4 error[E0107]: could not read `absent`: No such file or directory (os error 2); check the path and the disk
        restore text
          4 error[E0101]: `text` is not a Longhaul database; name another file, or move it away
        restore folder
          4 error[E0107]: could not read `folder`: is a directory; check the path and the disk
        man --out text
          3 error: `text` is there already and is not overwritten; name another file
    "#);
}

#[test]
fn an_error_in_json_is_one_object_on_standard_error() {
    let home = Home::new();
    shows!(home.longhaul(&["--json", "workspace", "rm", "nonsense"]), @r#"
        exit 2
        --- stdout
        --- stderr
        {"error":{"code":"E0302","message":"no workspace is called `nonsense`; see `longhaul workspace list`","exit":2}}
    "#);
    shows!(home.longhaul(&["workspace", "rm", "nonsense"]), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0302]: no workspace is called `nonsense`; see `longhaul workspace list`
        hint: longhaul explain E0302
    ");
}

#[test]
fn without_a_home_nothing_is_guessed() {
    let home = Home::new();
    shows!(home.run(&["doctor"]).without("HOME").without("LONGHAUL_HOME").go(), @r"
        exit 4
        --- stdout
        --- stderr
        error: neither `LONGHAUL_HOME` nor `HOME` is set to an absolute path; set one of them
    ");
    shows!(home.run(&["doctor"]).variable("LONGHAUL_HOME", "relative").go(), @r"
        exit 4
        --- stdout
        --- stderr
        error: `LONGHAUL_HOME` is `relative`, which depends on the current folder; set it to an absolute path
    ");
}

#[test]
fn the_four_folders_of_the_desktop_are_used_without_a_home_of_our_own() {
    let home = Home::new();
    home.repository("shop");
    home.run(&["workspace", "add", "shop"]).without("LONGHAUL_HOME").go().succeeded();
    assert!(home.join("user/.local/share/longhaul/longhaul.db").exists());
    let state = home.join("elsewhere");
    let run = home.run(&["workspace", "add", "shop"]).without("LONGHAUL_HOME");
    run.variable("XDG_DATA_HOME", state.to_str().unwrap()).go().succeeded();
    assert!(state.join("longhaul/longhaul.db").exists());
}

#[test]
fn reading_without_a_store_shows_nothing_and_makes_nothing() {
    let home = Home::new();
    let commands = [
        "doctor",
        "doctor --rebuild",
        "log show",
        "log verify",
        "workspace list",
        "gc",
        "gc --apply",
        "redact",
    ];
    let mut text = String::new();
    for command in commands {
        let arguments: Vec<&str> = command.split(' ').collect();
        let outcome = home.longhaul(&arguments).succeeded();
        assert!(outcome.stdout.is_empty() || command.starts_with("doctor"), "{command}: {outcome}");
        writeln!(text, "{command}: {}", outcome.stderr.trim_end()).unwrap();
    }
    shows!(text, @r"
        doctor: all is well
        doctor --rebuild: there is no database yet, so there was nothing to rebuild
        all is well
        log show: there is no log yet
        log verify: there is no log yet
        workspace list: no workspace is registered; `longhaul workspace add` registers one
        gc: nothing is stored yet
        gc --apply: nothing is stored yet
        redact: nothing is stored yet
    ");
    let refused = ["doctor --recover", "log export", "backup file", "workspace rm shop", "workspace trust"];
    shows!(complaints(&home, &refused), @r"
        doctor --recover
          4 error[E0107]: there is no database at `[HOME]/home/data/longhaul.db` yet; any command that writes makes one
        log export
          4 error[E0107]: there is no database yet, so there is nothing to export; any command that writes makes one
        backup file
          4 error[E0107]: there is no database yet, so there is nothing to back up; any command that writes makes one
        workspace rm shop
          2 error[E0302]: no workspace is called `shop`; see `longhaul workspace list`
        workspace trust
          4 error[E0301]: `[HOME]` is not in a git repository; make one with `git init` or go to one
    ");
    assert!(!home.longhaul_home().exists());
}

#[test]
fn a_data_directory_that_cannot_be_written_is_named() {
    let home = Home::new();
    home.repository("shop");
    let data = home.longhaul_home().join("data");
    fs::create_dir_all(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o500)).unwrap();
    let (add, doctor) = (home.longhaul(&["workspace", "add", "shop"]), home.longhaul(&["doctor"]));
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
    if is_root(&home) {
        return;
    }
    assert_eq!((add.code, doctor.code), (Some(4), Some(4)), "{add}{doctor}");
    assert!(add.stderr.starts_with("error[E0107]: `[HOME]/home/data"), "{add}");
    assert!(doctor.stdout.contains("problem  data directory"), "{doctor}");
}

#[test]
fn a_data_directory_that_others_may_see_is_a_warning() {
    let home = Home::new();
    let data = home.longhaul_home().join("data");
    fs::create_dir_all(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    shows!(home.longhaul(&["doctor"]), @r"
        exit 0
        --- stdout
        STATUS   SUBJECT         FINDING
        ok       git             [version]
        warning  data directory  others may look into `[HOME]/home/data`
          remedy: run `chmod 700 [HOME]/home/data`
        ok       secrets         kept out of everything that is stored
        ok       sandbox         level full works here
        ok       configuration   40 settings
        ok       agents          none is set up for `longhaul run`; `longhaul agent check` says how to get one
        ok       database        not made yet; the first command that writes makes it
        --- stderr
        0 problems, 1 warning
    ");
}

#[test]
fn what_is_done_is_told_when_asked() {
    let home = Home::new();
    let told = home.longhaul(&["-vv", "workspace", "list"]).succeeded();
    assert!(told.stderr.contains("DEBUG") && told.stderr.contains("started"), "{told}");
    let run = home.run(&["--log-format", "json", "workspace", "list", "--json"]);
    let told = run.variable("LONGHAUL_LOG", "debug").go().succeeded();
    let line: serde_json::Value = serde_json::from_str(told.stderr.lines().next().unwrap()).unwrap();
    assert_eq!(line["fields"]["message"], "started");
    assert_eq!(home.longhaul(&["workspace", "list", "--json"]).succeeded().stderr, "");
}

#[test]
fn a_secret_in_the_environment_is_not_told() {
    let home = Home::new();
    let run = home.run(&["-vvv", "workspace", "list"]);
    let told = run.variable("CANARY_TOKEN", home.path.to_str().unwrap()).go().succeeded();
    assert!(told.stderr.contains("[secret:CANARY_TOKEN]"), "{told}");
    assert!(!told.stderr.contains("[HOME]"), "{told}");
}

#[test]
fn a_script_is_told_in_json_that_its_command_line_was_not_understood() {
    let home = Home::new();
    shows!(home.longhaul(&["--json", "log", "shwo"]), @r#"
        exit 2
        --- stdout
        --- stderr
        {"error":{"code":null,"message":"unrecognized subcommand 'shwo'\n\n  tip: a similar subcommand exists: 'show'","exit":2}}
    "#);
    for arguments in
        [&["--json"][..], &["log", "--json"], &["log", "import", "--json"], &["gc", "--nonsense", "--json"]]
    {
        let refused = home.longhaul(arguments);
        assert_eq!(refused.code, Some(2), "{refused}");
        let error: serde_json::Value = serde_json::from_str(&refused.stderr).unwrap();
        assert!(!error["error"]["message"].as_str().unwrap().is_empty(), "{refused}");
    }
    let help = home.longhaul(&["log", "--help", "--json"]).succeeded();
    assert!(help.stdout.contains("Usage:"), "help is asked for, and is no error: {help}");
}

#[test]
fn a_verb_that_only_our_own_processes_call_is_not_suggested() {
    let home = Home::new();
    let refused = home.longhaul(&["rnu"]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.stderr.contains("'run'") && !refused.stderr.contains("runner"), "{refused}");
}
