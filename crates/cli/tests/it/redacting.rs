//! Keeping a value out, and taking it out, so that no byte of it is left.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use crate::support::{Home, files, shows};
use crate::terminal::Terminal;

const VALUE: &str = "sing-little-bird";

fn holders(home: &Home) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(VALUE.len()).any(|window| window == VALUE.as_bytes());
    let found = files(&home.longhaul_home()).into_iter().filter(|path| holds(&fs::read(path).unwrap()));
    found.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

/// The value in an event, in a blob in the database, and in a blob of its own.
fn spill(home: &Home) {
    let medium = format!("{VALUE} {}", "m".repeat(9000));
    let large = format!("{VALUE} {}", "l".repeat(90_000));
    home.session([VALUE, &medium, &large, "nothing"]);
    home.longhaul(&["doctor"]).succeeded();
    assert!(holders(home).len() >= 2, "{:?}", holders(home));
}

#[test]
fn no_byte_of_a_redacted_value_is_left() {
    let home = Home::new();
    spill(&home);
    fs::write(home.join("value"), format!("{VALUE}\n")).unwrap();
    shows!(home.longhaul(&["redact", "--value-file", "value"]), @r"
        exit 0
        --- stdout
        DECISIONS  BLOBS
        1          2
        --- stderr
        took the value out of 1 decision and 2 blobs
        backups and exports that were made earlier still hold it
    ");
    assert_eq!(holders(&home), [""; 0]);
    shows!(home.longhaul(&["log", "verify"]), @r"
        exit 0
        --- stdout
        STREAM                   EVENTS  VERDICT   REASON
        session/[session]  4       redacted  a value was taken out of 1 decision
        --- stderr
        1 stream with 4 events: intact
    ");
    let shown = home.longhaul(&["log", "show"]).succeeded().stdout;
    assert!(shown.contains("[redacted]"), "{shown}");
    home.longhaul(&["doctor"]).succeeded();
    shows!(home.run(&["redact", "--value-file", "-", "--json"]).stdin(VALUE).go(), @r#"
        exit 0
        --- stdout
        {"decisions":0,"blobs":0}
        --- stderr
    "#);
}

#[test]
fn no_entry_lets_a_known_secret_in() {
    let elsewhere = Home::new();
    spill(&elsewhere);
    let export = elsewhere.longhaul(&["log", "export"]).succeeded().stdout;
    assert!(export.contains(VALUE));

    let home = Home::new();
    home.repository(format!("shop-{VALUE}"));
    let go = |arguments: &[&str], stdin: &str| {
        home.run(arguments).variable("FORGE_TOKEN", VALUE).stdin(stdin.to_owned()).go().succeeded()
    };
    go(&["workspace", "add", &format!("shop-{VALUE}"), "--name", &format!("my {VALUE}")], "");
    go(&["log", "import", "-"], &export);
    let told = go(&["-vvv", "log", "show"], "");
    assert!(!told.stdout.contains(VALUE) && !told.stderr.contains(VALUE), "{told}");
    assert!(told.stdout.contains("[secret:FORGE_TOKEN]"), "{told}");
    go(&["workspace", "list"], "");
    go(&["log", "verify"], "");
    assert_eq!(holders(&home), [""; 0]);
}

#[test]
fn databases_that_were_set_aside_are_named() {
    let home = Home::new();
    spill(&home);
    home.longhaul(&["backup", "backup.db"]).succeeded();
    home.longhaul(&["restore", "backup.db"]).succeeded();
    let outcome = home.run(&["redact", "--value-file", "-"]).stdin(VALUE).go().succeeded();
    shows!(outcome.stderr, @r"
        took the value out of 1 decision and 2 blobs
        backups and exports that were made earlier still hold it
        so may `[HOME]/home/data/longhaul.db.before-restore-[time]*`; remove these files if you can
    ");
}

#[test]
fn the_value_is_asked_for_and_not_shown() {
    let home = Home::new();
    spill(&home);
    let mut terminal = Terminal::start(&home, &["redact"]);
    terminal.wait_for("not shown): ");
    terminal.type_text(&format!("{VALUE}\n"));
    let (outcome, shown) = terminal.end();
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert!(!shown.contains(VALUE), "{shown}");
    assert_eq!(holders(&home), [""; 0]);
}

#[test]
fn who_thinks_better_of_it_changes_nothing() {
    let home = Home::new();
    spill(&home);
    for typed in ["sing\u{3}", "\n", "\u{4}"] {
        let mut terminal = Terminal::start(&home, &["redact"]);
        terminal.wait_for("not shown): ");
        terminal.type_text(typed);
        let (outcome, _) = terminal.end();
        assert_eq!(outcome.code, Some(3), "{typed:?}: {outcome}");
        assert!(!holders(&home).is_empty());
    }
}

#[test]
fn without_a_terminal_the_file_is_named() {
    let home = Home::new();
    spill(&home);
    shows!(Terminal::without(&home, &["redact"]), @r"
        exit 2
        --- stdout
        --- stderr
        error: nobody is here to type the value; give it with `--value-file FILE` or `--value-file -`
    ");
    fs::write(home.join("short"), "abc\n").unwrap();
    shows!(home.longhaul(&["redact", "--value-file", "short"]), @r"
        exit 2
        --- stdout
        --- stderr
        error: the value to redact has 3 bytes; it needs at least 4, or ordinary words would be blotted out
    ");
    fs::write(home.join("binary"), b"\xff\xfe\xfd\xfc").unwrap();
    shows!(home.longhaul(&["redact", "--value-file", "binary"]), @r"
        exit 2
        --- stdout
        --- stderr
        error: the value in `binary` is not UTF-8 text, and only text is stored; check the file
    ");
}

#[test]
fn a_redaction_that_ran_out_of_room_says_what_was_done_and_can_be_repeated() {
    let home = Home::new();
    let large = format!("{VALUE} {}", "l".repeat(2_000_000));
    home.session([VALUE, "prompt", &large, "answer"]);
    fs::write(home.join("value"), VALUE).unwrap();
    shows!(home.longhaul_with_files_up_to(1000, &["redact", "--value-file", "value"]), @r"
        exit 4
        --- stdout
        --- stderr
        error[E0108]: the value was taken out, but traces of it may remain in the files (the disk is full: make room first); run `longhaul redact` again
        hint: longhaul explain E0108
    ");
    let shown = home.longhaul(&["log", "show"]).stdout;
    assert!(shown.contains("[redacted]") && !shown.contains(VALUE), "it had been committed: {shown}");
    home.longhaul(&["redact", "--value-file", "value"]).succeeded();
    assert_eq!(holders(&home), [""; 0]);
    home.longhaul(&["doctor"]).succeeded();
}

#[test]
fn a_secret_that_is_not_utf8_is_kept_out_too() {
    let elsewhere = Home::new();
    // What becomes of such bytes when somebody makes text of them, or writes them into a URL.
    elsewhere.session(["latin-\u{fffd}-secret", "https://x.test/?key=latin-%e9-secret", "c", "d"]);
    let export = elsewhere.longhaul(&["log", "export"]).succeeded().stdout;
    let home = Home::new();
    let secret = OsStr::from_bytes(b"latin-\xe9-secret");
    let import = home.run(&["log", "import", "-"]).variable("OLD_PASSWORD", secret).stdin(export).go();
    assert_eq!(import.succeeded().stderr, "secrets were taken out of 2 of them\n");
    let shown = home.longhaul(&["log", "show"]).succeeded().stdout;
    assert_eq!(shown.matches("[secret:OLD_PASSWORD]").count(), 2, "{shown}");
    assert!(!shown.contains("-secret"), "{shown}");
}

const FILE: &str = "longhaul: 1\nid: try.names\nname: Names\nversion: 1.0.0\nvars:\n  goal: { type: string }\nsteps:\n  - { id: sing-little-bird, prompt: Sing., notes: optional }\n  - { id: rest, prompt: Rest., notes: optional }\n";

fn redact(home: &Home, value: &str, further: &[&str]) -> crate::support::Outcome {
    fs::write(home.join("value"), value).unwrap();
    home.longhaul(&[&["redact", "--value-file", "value"], further].concat())
}

#[test]
fn a_name_is_taken_out_only_if_somebody_insists() {
    let home = Home::new();
    let own = home.longhaul_home().join("config/workflows");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("names.yml"), FILE).unwrap();
    home.longhaul(&["session", "start", "--workflow", "try.names", "--goal", "x"]).succeeded();
    for value in [VALUE, "prompt"] {
        let refused = redact(&home, value, &[]);
        assert!(refused.stderr.contains("E0113") && refused.stderr.contains("--force"), "{refused}");
    }
    home.longhaul(&["doctor"]).succeeded();
    redact(&home, VALUE, &["--force"]).succeeded();
    fs::remove_dir_all(&own).unwrap();
    assert_eq!(holders(&home), [""; 0]);
    // The name was changed everywhere, so the session goes on.
    home.longhaul(&["doctor"]).succeeded();

    redact(&home, "prompt", &["--force"]).succeeded();
    let told = home.longhaul(&["doctor"]);
    assert!(told.stdout.contains("its workflow cannot be read"), "{told}");
    assert!(told.stdout.contains("longhaul session cancel"), "{told}");
}
