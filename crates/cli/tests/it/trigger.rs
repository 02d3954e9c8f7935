//! `longhaul trigger`: what begins tasks, listed, added, checked and tried.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Home, shows};
use crate::terminal::Terminal;

/// As a person wrote it, with comments in odd places.
const FILE: &str = "# Ours.
defaults:
  coding: { pipeline: lh.pipeline.feature, budget: { money: 10usd } }   # what we pay
triggers: # all of them

  - id: nightly          # while we sleep
    schedule: { cron: '0 2 * * 1-5', zone: Europe/Berlin }
    goal: Audit what changed.

  # Issues with our label.
  - id: hook
    extends: coding
    webhook: { secret: $HOOK_SECRET }
    when: { all: [ { path: $.action, equals: labeled }, { path: $.label.name, in: [longhaul] } ] }
    goal: \"{{$.issue.title}}\"
    source: 'github:a/b#{{$.issue.number}}'
    # deadline: 2d

# The end.
";

/// A registered repository with this file, trusted as it is.
fn trusted(home: &Home, text: &str) -> PathBuf {
    let project = home.repository("project");
    fs::write(project.join(".longhaul/triggers.yml"), text).unwrap();
    home.run(&["workspace", "add"]).inside("project").go().succeeded();
    home.trust("project");
    project
}

fn own_file(home: &Home, text: &str) {
    let path = home.longhaul_home().join("config/triggers.yml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn file_of(project: &Path) -> String {
    fs::read_to_string(project.join(".longhaul/triggers.yml")).unwrap()
}

/// The rows of `trigger list --json`, each as `workspace/id state start`.
fn listed(home: &Home, directory: &str, more: &[&str]) -> Vec<String> {
    let arguments = [&["trigger", "list", "--json"], more].concat();
    let rows = home.run(&arguments).inside(directory).go().succeeded().rows();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let show = |row: &Value| {
        let of = |key: &str| text(row, key);
        format!("{}/{} {} {}", of("workspace"), of("id"), of("state"), of("start"))
    };
    rows.iter().map(show).collect()
}

#[test]
fn where_there_is_none_the_templates_are_named() {
    let home = Home::new();
    shows!(home.longhaul(&["trigger", "list"]), @r"
        exit 0
        --- stdout
        --- stderr
        there is none; `longhaul trigger add` shows templates to begin with
    ");
    shows!(home.longhaul(&["trigger", "add"]), @r"
        exit 0
        --- stdout
        TEMPLATE             ABOUT
        nightly-audit        an audit of what changed, every night of the working week
        weekly-dependencies  newer dependencies, every Monday
        webhook              a task for each signed request that asks for one
        github-issue         a task for each issue of GitHub that gets the label `longhaul`
        gitlab-issue         a task for each new issue of GitLab with the label `longhaul`
        ci-failure           a task for each run of the CI that fails on the main branch
        by-hand              a task that only a person starts
        --- stderr
    ");
}

#[test]
fn triggers_of_a_repository_count_only_while_it_is_trusted() {
    let home = Home::new();
    let project = trusted(&home, FILE);
    assert_eq!(listed(&home, "project", &[]), ["project/nightly ok schedule", "project/hook ok webhook"]);
    assert_eq!(listed(&home, ".", &[]), Vec::<String>::new());
    assert_eq!(listed(&home, ".", &["--all"]), ["project/nightly ok schedule", "project/hook ok webhook"]);
    fs::write(project.join(".longhaul/triggers.yml"), FILE.replace("Audit", "Delete")).unwrap();
    let states = ["project/nightly untrusted schedule", "project/hook untrusted webhook"];
    assert_eq!(listed(&home, "project", &[]), states);
    let told = home.run(&["trigger", "list"]).inside("project").go().succeeded();
    assert!(told.stderr.contains("longhaul workspace trust"), "{told}");
}

#[test]
fn a_broken_file_keeps_no_other_from_being_served() {
    let home = Home::new();
    trusted(&home, FILE);
    let other = home.repository("other");
    fs::write(other.join(".longhaul/triggers.yml"), "triggers: [").unwrap();
    home.run(&["workspace", "add"]).inside("other").go().succeeded();
    let gone = home.repository("gone");
    home.run(&["workspace", "add"]).inside("gone").go().succeeded();
    fs::remove_dir_all(gone).unwrap();
    assert_eq!(listed(&home, ".", &["--all"]), ["project/nightly ok schedule", "project/hook ok webhook"]);
    let told = home.longhaul(&["trigger", "list", "--all"]).succeeded();
    assert!(told.stderr.contains("workspace `gone`") && told.stderr.contains("a file has errors"), "{told}");
}

#[test]
fn ones_own_triggers_name_their_workspace_and_a_clash_is_an_error() {
    let home = Home::new();
    trusted(&home, FILE);
    own_file(&home, "triggers:\n  - { id: mine, goal: Do it., workspace: project }\n");
    let all = ["project/nightly ok schedule", "project/hook ok webhook", "project/mine ok hand"];
    assert_eq!(listed(&home, "project", &[]), all);
    assert_eq!(listed(&home, ".", &[]), ["project/mine ok hand"]);
    own_file(
        &home,
        "triggers:\n  - { id: hook, goal: Do it., workspace: project }\n  - { id: far, goal: x, workspace: nowhere }\n",
    );
    assert!(listed(&home, "project", &[]).contains(&"project/hook invalid hand".to_owned()));
    shows!(home.run(&["trigger", "validate"]).inside("project").variable("HOOK_SECRET", "0123456789abcdef").go(), @r"
        exit 3
        --- stdout
        error: there is a trigger `hook` for this workspace in `[HOME]/project/.longhaul/triggers.yml` already
         --> [HOME]/home/config/triggers.yml:2:5
          |
        2 |   - { id: hook, goal: Do it., workspace: project }
          |     ^
          |
          = help: give one of them another id
        error: no workspace is called `nowhere`; see `longhaul workspace list`
         --> [HOME]/home/config/triggers.yml:3:5
          |
        3 |   - { id: far, goal: x, workspace: nowhere }
          |     ^
          |
          = help: register it with `longhaul workspace add PATH`, or name another
        --- stderr
        2 files: 2 errors, 0 warnings
    ");
    shows!(home.run(&["trigger", "test", "hook"]).inside("project").go(), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0261]: several triggers are called `hook`: project/hook in `[HOME]/project/.longhaul/triggers.yml`, project/hook in `[HOME]/home/config/triggers.yml`; name one in full, or give one of them another id
        hint: longhaul explain E0261
    ");
}

#[test]
fn what_is_wrong_is_drawn_where_it_stands_and_a_secret_is_not_shown() {
    let home = Home::new();
    let text = "triggers:\n  - id: Hook\n    webhook: { secret: canary-hunter2 }\n    goal: '{{issue}}'\n    whn: 1\n";
    fs::write(home.join("triggers.yml"), text).unwrap();
    let told = home.longhaul(&["trigger", "validate", "triggers.yml"]);
    assert!(!told.to_string().contains("canary"), "{told}");
    shows!(told, @r"
        exit 3
        --- stdout
        error: `Hook` is no id of a trigger
         --> triggers.yml:2:9
          |
        2 |   - id: Hook
          |         ^^^^
          |
          = help: use small letters, digits and `-`, at most 64, as in `nightly-audit`
        error: `secret` is written out here, and a file is no place for secrets
         --> triggers.yml:3:24
          |
        3 |     webhook: { secret: ****************
          |                        ^^^^^^^^^^^^^^
          |
          = help: run `longhaul secret set HOOK_SECRET`, write `secret: $HOOK_SECRET`, and have the other side use a new one
        error: `goal`: `issue` is no path: it does not begin with `$`
         --> triggers.yml:4:11
          |
        4 |     goal: '{{issue}}'
          |           ^^^^^^^^^^^
          |
          = help: begin with `$` and go on with `.name`, `[0]` or `['odd key']`, as in `$.issue.labels[0].name`
        error: a trigger has no key `whn`
         --> triggers.yml:5:5
          |
        5 |     whn: 1
          |     ^^^
          |
          = help: did you mean `when`?
        --- stderr
        1 file: 4 errors, 0 warnings
    ");
    let rows = home.longhaul(&["trigger", "validate", "triggers.yml", "--json"]);
    assert!(!rows.stdout.contains("canary") && rows.rows().len() == 4, "{rows}");
    assert_eq!((&rows.rows()[0]["line"], &rows.rows()[0]["column"]), (&2.into(), &9.into()));
    let broken = "triggers:\n  - webhook: { secret: canary-hunter2\n  x\n";
    let told = home.run(&["trigger", "validate", "-"]).stdin(broken).go();
    assert!(told.code == Some(3) && !told.to_string().contains("canary"), "{told}");
}

#[test]
fn what_a_file_names_and_is_not_there_is_a_warning() {
    let home = Home::new();
    trusted(
        &home,
        "triggers:\n  - { id: a, goal: x, pipeline: lh.pipeline.audti, agent: nobody, webhook: { secret: $NOT_SET }, catch_all: { cap: 5 } }\n",
    );
    shows!(home.run(&["trigger", "validate"]).inside("project").go(), @r"
        exit 0
        --- stdout
        warning: trigger `a`: there is no workflow `lh.pipeline.audti`; did you mean `lh.pipeline.audit`?
         --> [HOME]/project/.longhaul/triggers.yml:2:5
          |
        2 |   - { id: a, goal: x, pipeline: lh.pipeline.audti, agent: nobody, webhook: { secret: $NOT_SET }, catch_all: { cap: 5 } }
          |     ^
          |
          = help: name another, or add it
        warning: trigger `a`: there is no agent `nobody`; `longhaul agent list` shows all, and a model goes by `PROVIDER/MODEL`
         --> [HOME]/project/.longhaul/triggers.yml:2:5
          |
        2 |   - { id: a, goal: x, pipeline: lh.pipeline.audti, agent: nobody, webhook: { secret: $NOT_SET }, catch_all: { cap: 5 } }
          |     ^
          |
          = help: name another, or add it
        warning: trigger `a`: the secret `$NOT_SET` is not set
         --> [HOME]/project/.longhaul/triggers.yml:2:5
          |
        2 |   - { id: a, goal: x, pipeline: lh.pipeline.audti, agent: nobody, webhook: { secret: $NOT_SET }, catch_all: { cap: 5 } }
          |     ^
          |
          = help: run `longhaul secret set NOT_SET`
        --- stderr
        1 file: 0 errors, 3 warnings
    ");
    let strict = home.run(&["trigger", "validate", "--deny-warnings"]).inside("project").go();
    assert_eq!(strict.code, Some(3));
}

#[test]
fn a_template_is_added_and_every_other_byte_stays() {
    let home = Home::new();
    let project = trusted(&home, FILE);
    let arguments = ["trigger", "add", "ci-failure", "--id", "ci"];
    Terminal::start_in(&home, &project, &arguments, &[]).end().0.succeeded();
    let changed = file_of(&project);
    let (before, after) = FILE.split_at(FILE.find("\n# The end.").unwrap());
    assert!(changed.starts_with(before) && changed.ends_with(after), "{changed}");
    let added = &changed[before.len()..changed.len() - after.len()];
    assert!(added.starts_with("\n  - id: ci\n    # As GitHub tells of"), "{added}");
    // A person wrote it, over what was trusted.
    let all = ["project/nightly ok schedule", "project/hook ok webhook", "project/ci ok webhook"];
    assert_eq!(listed(&home, "project", &[]), all);
    shows!(home.run(&["trigger", "add", "ci-failure", "--id", "ci"]).inside("project").go(), @r"
        exit 3
        --- stdout
        --- stderr
        error[E0262]: there is a trigger `ci` already in `[HOME]/project/.longhaul/triggers.yml`; choose another with `--id`
        hint: longhaul explain E0262
    ");
    // Without a person there is nobody whose word it could be.
    shows!(home.run(&["trigger", "add", "by-hand"]).inside("project").go(), @r"
        exit 0
        --- stdout
        ID       PATH
        by-hand  [HOME]/project/.longhaul/triggers.yml
        --- stderr
        `.longhaul/` is not trusted as it is now, so it begins no task before a person runs `longhaul workspace trust`
        change it in `[HOME]/project/.longhaul/triggers.yml`, then run `longhaul trigger validate` and `longhaul trigger test by-hand`
    ");
    assert_eq!(listed(&home, "project", &[])[3], "project/by-hand untrusted hand");
}

#[test]
fn the_first_trigger_makes_the_file_and_stays_trusted() {
    let home = Home::new();
    let project = home.repository("project");
    home.run(&["workspace", "add"]).inside("project").go().succeeded();
    home.trust("project");
    Terminal::start_in(&home, &project, &["trigger", "add", "nightly-audit"], &[]).end().0.succeeded();
    assert!(file_of(&project).starts_with("# What begins tasks here"), "{}", file_of(&project));
    assert_eq!(listed(&home, "project", &[]), ["project/nightly-audit ok schedule"]);
    home.run(&["trigger", "validate", "--deny-warnings"]).inside("project").go().succeeded();
    // One's own file says where it works.
    home.run(&["trigger", "add", "by-hand", "--user"]).inside("project").go().succeeded();
    assert_eq!(listed(&home, ".", &[]), ["project/by-hand ok hand"]);
    shows!(home.run(&["trigger", "add", "by-hand", "--user", "--id", "x"]).go(), @r"
        exit 3
        --- stdout
        --- stderr
        error[E0262]: this folder is in no repository, and a trigger works in one; run it there
        hint: longhaul explain E0262
    ");
    shows!(home.run(&["trigger", "add", "nothing"]).inside("project").go(), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0261]: there is no template `nothing`; there are `nightly-audit`, `weekly-dependencies`, `webhook`, `github-issue`, `gitlab-issue`, `ci-failure`, `by-hand`
        hint: longhaul explain E0261
    ");
    shows!(home.run(&["trigger", "add", "by-hand", "--id", "No"]).inside("project").go(), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0261]: `No` is no id of a trigger; use small letters, digits and `-`, at most 64, as in `nightly-audit`
        hint: longhaul explain E0261
    ");
}

#[test]
fn a_file_with_errors_is_not_added_to() {
    let home = Home::new();
    let project = trusted(&home, "triggers:\n  - { id: a }\n");
    shows!(home.run(&["trigger", "add", "by-hand"]).inside("project").go(), @r"
        exit 3
        --- stdout
        --- stderr
        error[E0262]: `[HOME]/project/.longhaul/triggers.yml` has errors, so nothing was changed; put them right:
          [HOME]/project/.longhaul/triggers.yml:2:5: a trigger needs `goal`; add a line `goal: …`
        hint: longhaul explain E0262
    ");
    assert_eq!(file_of(&project), "triggers:\n  - { id: a }\n");
}

#[test]
fn a_trigger_is_switched_off_and_on_in_its_place() {
    let home = Home::new();
    let project = trusted(&home, FILE);
    Terminal::start_in(&home, &project, &["trigger", "disable", "hook"], &[]).end().0.succeeded();
    let line = "    source: 'github:a/b#{{$.issue.number}}'\n";
    assert_eq!(file_of(&project), FILE.replace(line, &format!("{line}    enabled: false\n")));
    assert_eq!(listed(&home, "project", &[]), ["project/nightly ok schedule", "project/hook off webhook"]);
    Terminal::start_in(&home, &project, &["trigger", "enable", "project/hook"], &[]).end().0.succeeded();
    assert_eq!(file_of(&project), FILE.replace(line, &format!("{line}    enabled: true\n")));
    let unknown = home.run(&["trigger", "disable", "hok"]).inside("project").go();
    shows!(unknown, @r"
        exit 2
        --- stdout
        --- stderr
        error[E0261]: there is no trigger `hok`; did you mean `hook`?
        hint: longhaul explain E0261
    ");
}

#[test]
fn a_request_is_tried_condition_by_condition() {
    let home = Home::new();
    trusted(&home, FILE);
    let body = r#"{"action":"labeled","label":{"name":"longhaul"},"issue":{"title":"Fix it","number":7}}"#;
    fs::write(home.join("issue.json"), body).unwrap();
    let test = |more: &[&str]| {
        let arguments = [&["trigger", "test", "hook", "--payload", "../issue.json"], more].concat();
        home.run(&arguments).inside("project").variable("HOOK_SECRET", "It's a Secret to Everybody").go()
    };
    shows!(test(&[]), @r#"
        exit 0
        --- stdout
        project/hook (webhook, ok)
          -   signature: not looked at: no header `X-Hub-Signature-256` was given
          yes all of
            yes $.action = "labeled": "labeled"
            yes $.label.name in "longhaul": "longhaul"
          -   goal: Fix it
          -   source: github:a/b#7
        a task would begin
        --- stderr
    "#);
    let right = "sha256=02b0570a510a2016990068b675607ffcb6c2ff260d7f85aac6eef45e28102f67";
    shows!(test(&["--header", &format!("X-Hub-Signature-256={right}")]), @r#"
        exit 0
        --- stdout
        project/hook (webhook, ok)
          yes signature: right
          yes all of
            yes $.action = "labeled": "labeled"
            yes $.label.name in "longhaul": "longhaul"
          -   goal: Fix it
          -   source: github:a/b#7
        a task would begin
        --- stderr
    "#);
    let wrong = test(&["--header", "X-Hub-Signature-256=00", "--json"]);
    assert_eq!((wrong.code, &wrong.rows()[0]["begins"]), (Some(3), &false.into()));
    fs::write(home.join("issue.json"), r#"{"action":"opened","issue":{}}"#).unwrap();
    shows!(test(&[]), @r#"
        exit 3
        --- stdout
        project/hook (webhook, ok)
          -   signature: not looked at: no header `X-Hub-Signature-256` was given
          no  all of
            no  $.action = "labeled": "opened"
            no  $.label.name in "longhaul": missing
        no task would begin: `$.action` is "opened", and it must be "labeled"
        --- stderr
    "#);
    fs::write(home.join("issue.json"), r#"{"action":"labeled","label":{"name":"longhaul"},"issue":{}}"#)
        .unwrap();
    shows!(test(&[]), @r#"
        exit 3
        --- stdout
        project/hook (webhook, ok)
          -   signature: not looked at: no header `X-Hub-Signature-256` was given
          yes all of
            yes $.action = "labeled": "labeled"
            yes $.label.name in "longhaul": "longhaul"
        no task would begin: `$.issue.title` leads to nothing that `goal` could take; change the template, or add a condition `{ path: $.issue.title, exists: true }`
        --- stderr
    "#);
    shows!(home.run(&["trigger", "test", "hook"]).inside("project").go(), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0262]: trigger `hook` takes requests; give one with `--payload FILE`
        hint: longhaul explain E0262
    ");
    shows!(home.run(&["trigger", "test", "nightly", "--payload", "../issue.json"]).inside("project").go(), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0262]: trigger `nightly` takes no requests, so `--payload` and `--header` say nothing to it; leave them out
        hint: longhaul explain E0262
    ");
}

#[test]
fn a_schedule_tells_when_it_is_due() {
    let home = Home::new();
    trusted(&home, FILE);
    let told = home.run(&["trigger", "test", "nightly"]).inside("project").go().succeeded();
    let due: Vec<&str> = told.stdout.lines().filter(|line| line.trim_start().starts_with("due ")).collect();
    assert!(due.len() == 3 && due.iter().all(|line| line.contains(" 02:00 CE")), "{told}");
    let row =
        &home.run(&["trigger", "test", "nightly", "--json"]).inside("project").go().succeeded().rows()[0];
    assert_eq!((&row["begins"], row["next"].as_array().unwrap().len()), (&true.into(), 3));
}
