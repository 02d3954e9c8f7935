//! `longhaul secret`: values go into one file of the user's and nowhere else.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Home, Outcome, files, shows};
use crate::terminal::Terminal;

/// Nothing looks like it, so nothing but the secrets file may hold it.
const CANARY: &str = "quiet-canary-4711-sings";

fn path(home: &Home) -> PathBuf {
    home.longhaul_home().join("config/secrets.json")
}

fn kept(home: &Home) -> Value {
    serde_json::from_str(&fs::read_to_string(path(home)).unwrap()).unwrap()
}

fn set(home: &Home, name: &str, value: &str) -> Outcome {
    home.run(&["secret", "set", name]).stdin(value).go()
}

/// Every file under the home that holds the value.
fn holding(home: &Home, value: &str) -> Vec<PathBuf> {
    let holds =
        |path: &PathBuf| fs::read(path).unwrap().windows(value.len()).any(|part| part == value.as_bytes());
    files(&home.longhaul_home()).into_iter().filter(holds).collect()
}

#[test]
fn secrets_are_set_listed_and_removed() {
    let home = Home::new();
    shows!(set(&home, "FORGE_TOKEN", "one long value\n"), @r"
        exit 0
        --- stdout
        NAME         CHANGE
        FORGE_TOKEN  added
        --- stderr
    ");
    shows!(home.run(&["secret", "set", "DATABASE", "-", "--json"]).stdin("two\nlines and more\n").go(), @r#"
        exit 0
        --- stdout
        {"name":"DATABASE","change":"added"}
        --- stderr
    "#);
    assert_eq!(kept(&home), json!({ "FORGE_TOKEN": "one long value", "DATABASE": "two\nlines and more" }));
    assert_eq!(fs::metadata(path(&home)).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(set(&home, "DATABASE", "another value").succeeded().stdout.contains("replaced"));
    assert!(set(&home, "DATABASE", "another value").succeeded().stdout.contains("unchanged"));
    shows!(home.longhaul(&["secret", "list"]), @r"
        exit 0
        --- stdout
        NAME
        DATABASE
        FORGE_TOKEN
        --- stderr
    ");
    shows!(home.longhaul(&["secret", "list", "--json"]), @r#"
        exit 0
        --- stdout
        {"name":"DATABASE"}
        {"name":"FORGE_TOKEN"}
        --- stderr
    "#);
    home.longhaul(&["secret", "rm", "FORGE_TOKEN"]).succeeded();
    assert_eq!(kept(&home), json!({ "DATABASE": "another value" }));
    shows!(home.longhaul(&["secret", "rm", "FORGE_TOKEN"]), @r"
        exit 2
        --- stdout
        --- stderr
        error: there is no secret `FORGE_TOKEN`; `longhaul secret list` shows the names
    ");
}

#[test]
fn what_is_no_name_or_no_value_is_refused_and_short_values_are_warned_of() {
    let home = Home::new();
    shows!(set(&home, "forge-token", CANARY), @r"
        exit 2
        --- stdout
        --- stderr
        error: that is not a name for a secret; use capitals, digits and `_`, such as `FORGE_TOKEN`, and give the value when you are asked
    ");
    shows!(set(&home, "FORGE", "\n"), @r"
        exit 3
        --- stdout
        --- stderr
        error: the value is empty, nothing was changed; `longhaul secret rm FORGE` takes a secret away
    ");
    assert!(!path(&home).exists());
    shows!(set(&home, "PIN", "123"), @r"
        exit 0
        --- stdout
        NAME  CHANGE
        PIN   added
        --- stderr
        warning: the value is so short that it is not looked for in what is stored; use a longer one
    ");
    let short = home.run(&["secret", "set", "PIN", "--json"]).stdin("12345").go().succeeded();
    assert_eq!(short.rows(), [json!({ "name": "PIN", "change": "replaced", "warning": "short" })]);
}

#[test]
fn a_value_that_was_typed_is_not_shown() {
    let home = Home::new();
    let mut terminal = Terminal::whole(&home, &["secret", "set", "FORGE"]);
    terminal.wait_for("The value of FORGE (it is not shown): ");
    terminal.type_text(&format!("{CANARY}\n"));
    let (outcome, shown) = terminal.end();
    assert_eq!(outcome.code, Some(0), "{shown}");
    assert!(shown.contains("added") && !shown.contains(CANARY), "{shown}");
    assert_eq!(kept(&home), json!({ "FORGE": CANARY }));
    let mut terminal = Terminal::whole(&home, &["secret", "set", "FORGE"]);
    terminal.wait_for("(it is not shown): ");
    terminal.type_text("\u{3}");
    let (outcome, shown) = terminal.end();
    assert_eq!(outcome.code, Some(3), "{shown}");
    assert_eq!(kept(&home), json!({ "FORGE": CANARY }), "thinking better of it changes nothing");
}

#[test]
fn a_value_is_nowhere_but_in_its_file() {
    let home = Home::new();
    home.repository("shop");
    for outcome in [
        home.run(&["-vvv", "secret", "set", "FORGE"]).stdin(CANARY).go().succeeded(),
        home.longhaul(&["-vvv", "secret", "list", "--json"]).succeeded(),
        home.run(&["secret", "set", CANARY]).go(),
        home.longhaul(&["secret", "set", "FORGE", CANARY, CANARY]),
        home.longhaul(&["--json", "secret", "set", "FORGE", CANARY]),
        home.run(&["-vvv", "workspace", "add", "shop"]).go().succeeded(),
    ] {
        assert!(!outcome.to_string().contains(CANARY), "{outcome}");
    }
    shows!(home.longhaul(&["secret", "set", "FORGE", CANARY]), @r"
        exit 2
        --- stdout
        --- stderr
        error: a value is never an argument: others can see it, and the shell keeps it; think of it as known, and give another one when you are asked, or through standard input
    ");
    let goal = format!("use {CANARY} for it");
    home.session([&goal, "prompt", "payload", "answer"]);
    assert_eq!(holding(&home, CANARY), [path(&home)]);
    fs::write(path(&home), format!(r#"{{"FORGE": {{"{CANARY}": 4711}}}}"#)).unwrap();
    let broken = home.longhaul(&["secret", "list"]);
    assert_eq!(broken.code, Some(4), "{broken}");
    assert!(broken.stderr.contains("line 1, column") && !broken.stderr.contains(CANARY), "{broken}");
}

#[test]
fn others_stay_as_they_are_and_a_file_that_others_may_read_is_not_changed() {
    let home = Home::new();
    set(&home, "FIRST", "first value").succeeded();
    fs::write(path(&home), r#"{"by hand": "ü\u0000\n", "FIRST": "first value"}"#).unwrap();
    set(&home, "SECOND", "second value").succeeded();
    let expected = json!({ "by hand": "ü\u{0}\n", "FIRST": "first value", "SECOND": "second value" });
    assert_eq!(kept(&home), expected);
    fs::set_permissions(path(&home), fs::Permissions::from_mode(0o644)).unwrap();
    let refused = set(&home, "THIRD", "third value");
    assert_eq!(refused.code, Some(4), "{refused}");
    assert!(refused.stderr.contains("run `chmod 600` on it"), "{refused}");
    assert_eq!(kept(&home), expected);
}

#[test]
fn agents_are_refused() {
    let home = Home::new();
    set(&home, "FORGE", CANARY).succeeded();
    for arguments in [&["secret", "set", "FORGE"][..], &["secret", "list"], &["secret", "rm", "FORGE"]] {
        let refused =
            home.run(arguments).variable("LONGHAUL_SESSION", "s-0123456789abc").stdin("another value").go();
        assert_eq!(refused.code, Some(3), "{refused}");
        assert!(refused.stderr.contains("E0303") && !refused.stdout.contains("FORGE"), "{refused}");
    }
    assert_eq!(kept(&home), json!({ "FORGE": CANARY }));
}
