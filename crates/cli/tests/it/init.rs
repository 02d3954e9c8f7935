//! `longhaul init`: looks, writes once, registers, and never overwrites.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Home, Outcome, git, program, shows};
use crate::terminal::Terminal;
use crate::walking::one;

/// A repository with these files committed.
fn repository(home: &Home, files: &[(&str, &str)]) {
    let top = home.join("shop");
    fs::create_dir_all(&top).unwrap();
    git(&top, &["init", "--quiet", "--initial-branch=main"]);
    for (name, text) in files {
        fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
        fs::write(top.join(name), text).unwrap();
    }
    git(&top, &["add", "--all"]);
    git(&top, &["commit", "--quiet", "--allow-empty", "--message=first"]);
}

/// No agent of whoever runs the tests is on the path, and git is.
fn init(home: &Home, more: &[&str]) -> Outcome {
    let arguments: Vec<&str> = ["init"].into_iter().chain(more.iter().copied()).collect();
    home.run(&arguments).inside("shop").variable("PATH", path(home)).go()
}

fn path(home: &Home) -> String {
    let tools = home.join("tools");
    if !tools.exists() {
        fs::create_dir(&tools).unwrap();
        let git = program("sh").args(["-c", "command -v git"]).output().unwrap();
        let git = String::from_utf8(git.stdout).unwrap();
        std::os::unix::fs::symlink(git.trim(), tools.join("git")).unwrap();
    }
    tools.display().to_string()
}

fn config(home: &Home) -> String {
    fs::read_to_string(home.join("shop/.longhaul/config.yml")).unwrap()
}

/// With walls that can be put up here, whatever those are.
fn without_walls(shown: &Outcome) -> String {
    let line = |line: &str| {
        if line.starts_with("sandbox ") { "sandbox     [walls]".to_owned() } else { line.to_owned() }
    };
    shown.to_string().lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_repository_is_looked_at_written_for_and_registered() {
    let home = Home::new();
    let manifest = r#"{ "scripts": { "test": "node t.js", "lint": "node l.js" } }"#;
    repository(&home, &[("package.json", manifest), ("package-lock.json", "{}"), (".env.example", "A=1\n")]);
    fs::write(home.join("shop/.env"), "A=2\n").unwrap();
    let planned = init(&home, &["--dry-run"]).succeeded();
    assert!(planned.stdout.contains("would write [HOME]/shop/.longhaul/config.yml\n"), "{planned}");
    assert!(!home.join("shop/.longhaul").exists(), "a dry run writes nothing");
    assert!(!home.longhaul_home().exists(), "and registers nothing");
    shows!(without_walls(&init(&home, &[])), @r#"
        exit 0
        --- stdout
        SUBJECT     FINDING
        repository  shop, registered now
        language    JavaScript
        check       lint: npm run lint  (package.json)
        check       test: npm run test  (package.json)
        set-up      npm ci  (package-lock.json)
        copy        .env as a secret
        agents      none
        sandbox     [walls]
        settings    wrote [HOME]/shop/.longhaul/config.yml
        trust       untrusted
        --- stderr
        look at it, change what is not right, and commit it
        next: longhaul workspace trust
        next: longhaul session start --workflow lh.quick-task --goal "Say what this repository is for"
        next: longhaul trigger add
    "#);
    let written = config(&home);
    let indented: String =
        written.lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect();
    assert!(planned.stdout.ends_with(&indented), "what was shown is what was written: {planned}");
    shows!(written, @r"
        # Settings of this repository for Longhaul. `longhaul config show --origin` tells what counts and where it comes from.
        # They count while a person trusts them: after a change by hand, run `longhaul workspace trust`.

        # What must hold, as commands, in this order. Workflows run them with `run: { checks: all }`.
        checks:
          - { name: lint, run: [npm, run, lint] }    # package.json
          - { name: test, run: [npm, run, test] }    # package.json

        # What makes a fresh worktree ready: `setup` is run once for each state of the lockfiles, `copy` names files of your own
        # checkout that git does not know.
        checkout:
          setup:
            - { run: [npm, ci] }    # package-lock.json
          copy:
            - { path: .env, secret: true }
    ");
    let again = init(&home, &[]).succeeded();
    assert!(again.stdout.contains("config.yml is there already and stays as it is"), "{again}");
    assert!(again.stdout.contains("shop, registered before"), "{again}");
    assert_eq!(config(&home), written);
}

#[test]
fn scripts_get_one_object_and_agents_are_found() {
    let home = Home::new();
    repository(&home, &[("go.mod", "module shop\n")]);
    let agent = Path::new(&path(&home)).join("claude");
    fs::write(&agent, "").unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(Path::new(&path(&home)).join("codex"), "is no program").unwrap();
    let told = one(&init(&home, &["--json"]).succeeded());
    assert_eq!(told["languages"], json!(["Go"]));
    assert_eq!(
        told["checks"][1],
        json!({ "name": "test", "run": ["go", "test", "./..."], "from": "go.mod" })
    );
    assert_eq!(told["agents"], json!(["claude"]));
    assert_eq!((&told["settings"], &told["registered"]), (&json!("written"), &json!(true)));
    assert!(["full", "reduced", "none"].map(|word| json!(word)).contains(&told["sandbox"]), "{told}");
    assert_eq!(told["next"][0], "longhaul workspace trust");
    assert_eq!(told["next"][1], "longhaul mcp install claude");
}

/// Types a command line as a person would.
fn typed(home: &Home, line: &str) -> Outcome {
    let line = line.replacen("longhaul", env!("CARGO_BIN_EXE_longhaul"), 1);
    let mut command = program("sh");
    command.args(["-c", &line]).current_dir(home.join("shop")).env_clear().envs(home.variables());
    Outcome::of(&home.path, &command.output().unwrap())
}

#[test]
fn what_a_person_writes_at_a_terminal_is_trusted_and_the_next_command_works() {
    let home = Home::new();
    repository(&home, &[("tests/run.sh", "true\n")]);
    let terminal = Terminal::start_in(&home, &home.join("shop"), &["init", "--json"], &[]);
    let (outcome, _) = terminal.end();
    let told = one(&outcome.succeeded());
    assert_eq!(told["trust"], "trusted");
    let workspace = one(&home.longhaul(&["workspace", "list", "--json"]).succeeded());
    assert_eq!(workspace["trust"], "trusted", "on record, for exactly what is there");
    let shown = home.run(&["config", "show", "--json"]).inside("shop").go().succeeded().rows();
    let checks = shown.iter().find(|row| row["key"] == "checks").unwrap();
    assert_eq!(checks["value"], "test", "{checks}");
    for next in told["next"].as_array().unwrap() {
        let next = next.as_str().unwrap();
        if !next.contains("mcp install") {
            typed(&home, next).succeeded();
        }
    }
    assert_eq!(home.longhaul(&["session", "list", "--json"]).rows().len(), 1);
}

#[test]
fn what_is_there_stays_and_what_nobody_trusted_is_not_trusted() {
    let home = Home::new();
    repository(&home, &[("Makefile", "test:\n\ttrue\n"), (".longhaul/workflows/a.yml", "steps: []\n")]);
    let terminal = Terminal::start_in(&home, &home.join("shop"), &["init", "--json"], &[]);
    let told = one(&terminal.end().0.succeeded());
    assert_eq!((&told["trust"], &told["settings"]), (&json!("untrusted"), &json!("written")));
    assert_eq!(told["present"], json!(["workflows/a.yml"]));
    assert_eq!(fs::read_to_string(home.join("shop/.longhaul/workflows/a.yml")).unwrap(), "steps: []\n");
    fs::write(home.join("shop/.longhaul/config.yml"), "mine\n").unwrap();
    let told = one(&init(&home, &["--json"]).succeeded());
    assert_eq!(told["settings"], "there_already");
    assert_eq!(config(&home), "mine\n");
}

#[test]
fn agents_are_refused_and_so_is_a_folder_that_is_no_repository() {
    let home = Home::new();
    repository(&home, &[]);
    let refused = home.run(&["init"]).inside("shop").variable("LONGHAUL_SESSION", "s-0123456789abc").go();
    assert!(refused.code == Some(3) && refused.stderr.contains("E0303"), "{refused}");
    assert!(!home.join("shop/.longhaul").exists());
    let outside = home.longhaul(&["init"]);
    assert!(outside.code == Some(4) && outside.stderr.contains("E0301"), "{outside}");
    git(&home.path, &["init", "--quiet", "--bare", "bare.git"]);
    let bare = home.run(&["init"]).inside("bare.git").go();
    assert!(bare.code == Some(3) && bare.stderr.contains("has no checkout"), "{bare}");
    let nothing: Value = one(&init(&home, &["--json"]).succeeded());
    assert_eq!(nothing["checks"], json!([]));
    assert!(config(&home).lines().all(|line| line.is_empty() || line.starts_with('#')), "{}", config(&home));
}
