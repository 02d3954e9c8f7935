//! `longhaul daemon install` and `uninstall`: units that mean what they say.

use std::fs;

use super::Served;
use crate::support::program;
use crate::walking::one;

#[test]
fn what_is_printed_is_what_is_written_and_nothing_of_a_persons_is_written_over() {
    let home = Served::new();
    let secret = "sk-ant-api03-canary-canary-canary";
    let install = |more: &[&str]| {
        let arguments = [&["daemon", "install", "--manager", "systemd"], more].concat();
        home.0.run(&arguments).variable("ANTHROPIC_API_KEY", secret).go()
    };
    let printed = install(&["--print"]).succeeded().stdout;
    let folder = home.0.join("user/.config/systemd/user");
    assert!(!folder.exists(), "only shown");
    let written = install(&[]).succeeded();
    assert_eq!(written.stdout, printed, "it shows what it wrote");
    let name = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&name).unwrap();
    assert_eq!(text.replace(home.0.path.to_str().unwrap(), "[HOME]"), printed);
    assert!(!text.contains("canary") && text.contains("LONGHAUL_HOME="), "{text}");
    let again = install(&[]).succeeded();
    assert!(again.stderr.contains("nothing was changed"), "{again}");
    fs::write(&name, text.clone() + "Nice=5\n").unwrap();
    let kept = install(&[]);
    assert_eq!(kept.code, Some(3), "{kept}");
    assert!(fs::read_to_string(&name).unwrap().ends_with("Nice=5\n"));
    let doctor = home.0.longhaul(&["doctor"]);
    assert!(doctor.stdout.contains("as somebody edited it"), "{doctor}");
    let uninstall = |more: &[&str]| home.daemon(&[&["uninstall", "--manager", "systemd"], more].concat());
    assert_eq!(uninstall(&[]).code, Some(3));
    install(&["--force"]).succeeded();
    assert_eq!(fs::read_to_string(&name).unwrap(), text);
    uninstall(&[]).succeeded();
    assert!(!name.exists());
    assert_eq!(one(&uninstall(&["--json"]).succeeded())["removed"], serde_json::Value::Null);
}

#[test]
fn systemd_itself_finds_nothing_wrong_with_the_unit() {
    let home = Served::new();
    let text = home.daemon(&["install", "--print", "--manager", "systemd"]).succeeded().stdout;
    let path = home.0.join("longhaul-verified.service");
    fs::write(&path, text.replace("[HOME]", home.0.path.to_str().unwrap())).unwrap();
    let mut analyze = program("systemd-analyze");
    analyze.args(["--user", "verify", "--man=no"]).arg(&path).env("XDG_RUNTIME_DIR", &home.0.path);
    // Where it is not installed, the strict reader of the unit tests is all there is.
    let Ok(verified) = analyze.output() else { return };
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    let about_it: Vec<&str> = said.lines().filter(|line| line.contains("longhaul-verified")).collect();
    assert!(about_it.is_empty(), "{said}");
}

#[test]
fn the_sandbox_works_where_no_privileges_can_be_gained_as_the_unit_has_it() {
    let home = Served::new();
    let checked = |command: &mut std::process::Command| {
        command.env_clear().envs(home.0.variables());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let longhaul = env!("CARGO_BIN_EXE_longhaul");
    let plain = checked(program(longhaul).args(["sandbox", "check", "--json"]));
    let bounded =
        checked(program("setpriv").args(["--no-new-privs", longhaul, "sandbox", "check", "--json"]));
    assert_eq!(plain, bounded);
}
