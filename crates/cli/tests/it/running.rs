//! Steps that the engine performs: in a runner of its own, which outlives whoever waits for it.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Home, git, shows};
use crate::terminal::Terminal;
use crate::walking::{advance, handle, id, one, try_advance, workflow};

/// A step, a command, and a step that tells how it ended.
pub(crate) fn running(command: &str) -> String {
    format!(
        "longhaul: 1\nid: team.run\nname: Run\nversion: 1.0.0\nabout: For tests.\nvars:\n  goal: {{ type: string }}\n\
         steps:\n\
         \x20 - {{ id: first, title: First, prompt: Begin. }}\n\
         \x20 - {{ id: work, title: Work, run: {{ command: {command} }}, into: work }}\n\
         \x20 - {{ id: last, title: Last, prompt: \"It {{{{work.outcome}}}}: {{{{work.because | default(nothing)}}}}\" }}\n"
    )
}

/// A repository with a commit and no `.longhaul/`, so that there is nothing to trust.
pub(crate) fn plain_repository(home: &Home) {
    let path = home.join("repo");
    fs::create_dir_all(&path).unwrap();
    git(&path, &["init", "--quiet", "--initial-branch=main"]);
    git(&path, &["commit", "--quiet", "--allow-empty", "--message=first"]);
}

pub(crate) fn begin(home: &Home) -> Value {
    let arguments = ["session", "start", "--workflow", "team.run", "--goal", "it", "--json"];
    one(&home.run(&arguments).inside("repo").go().succeeded())
}

/// The types of a session's events, so far.
pub(crate) fn events(home: &Home, session: &str) -> Vec<String> {
    let rows = home.longhaul(&["log", "show", session, "--json"]).succeeded().rows();
    rows.iter().map(|row| row["event"]["type"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_mins(1), "{what}");
        // tidy: another process is awaited that says nothing to us
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_run_step_is_done_by_a_runner_and_the_call_waits_for_it() {
    let home = Home::new();
    plain_repository(&home);
    workflow(&home, "team.run.yml", &running("[touch, done]"));
    let last = advance(&home, &begin(&home), &["--notes", "Begun."]);
    assert_eq!((&last["stepId"], &last["working"]), (&json!("last"), &json!(null)));
    assert!(last["prompt"].as_str().unwrap().contains("It passed"), "{last:#}");
    assert!(home.join("repo/done").exists());
    assert_eq!(advance(&home, &last, &["--notes", "Done."])["isComplete"], true);
    let shown = home.longhaul(&["session", "show", id(&last)]).succeeded().stdout;
    assert!(shown.contains("`work` ended: passed"), "{shown}");
}

#[test]
fn whoever_waits_at_a_terminal_is_told_once_what_for_and_since_when() {
    let home = Home::new();
    plain_repository(&home);
    workflow(&home, "team.run.yml", &running("[sh, -c, 'until test -e go; do sleep 0.05; done']"));
    let first = begin(&home);
    let repository = home.join("repo");
    let arguments = ["session", "advance", handle(&first), "--notes", "Begun."];
    let mut terminal = Terminal::whole_in(&home, &repository, &arguments, &[]);
    terminal.wait_for("waiting for step `work` (Work), at work since ");
    wait_until("the work starts", || events(&home, id(&first)).iter().any(|kind| kind == "work_started"));
    fs::write(repository.join("go"), "").unwrap();
    let (outcome, shown) = terminal.end();
    assert_eq!((outcome.code, shown.matches("waiting for").count()), (Some(0), 1), "{shown}");

    fs::remove_file(repository.join("go")).unwrap();
    let back = ["session", "rewind", id(&first), "--to", "first", "--reason", "once more", "--json"];
    let first = one(&home.run(&back).inside("repo").go().succeeded());
    let arguments = ["session", "advance", handle(&first), "--notes", "Again.", "--json"];
    let terminal = Terminal::whole_in(&home, &repository, &arguments, &[]);
    wait_until("the work starts again", || {
        events(&home, id(&first)).iter().filter(|kind| *kind == "work_started").count() == 2
    });
    fs::write(repository.join("go"), "").unwrap();
    let (_, shown) = terminal.end();
    assert!(shown.starts_with('{') && !shown.contains("waiting for"), "{shown}");
}

#[test]
fn the_runner_finishes_when_whoever_waits_is_killed() {
    let home = Home::new();
    plain_repository(&home);
    workflow(&home, "team.run.yml", &running("[sh, -c, 'until test -e go; do sleep 0.05; done']"));
    let first = begin(&home);
    let arguments = ["session", "advance", handle(&first), "--notes", "Begun.", "--json"];
    let mut waiting = home.run(&arguments).start();
    wait_until("the work starts", || events(&home, id(&first)).iter().any(|kind| kind == "work_started"));
    waiting.kill().unwrap();
    waiting.wait().unwrap();
    fs::write(home.join("repo/go"), "").unwrap();
    wait_until("the work ends", || events(&home, id(&first)).iter().any(|kind| kind == "work_finished"));
    let last = advance(&home, &first, &["--notes", "Begun."]);
    assert!(last["prompt"].as_str().unwrap().contains("It passed"), "{last:#}");
}

#[test]
fn nothing_is_run_in_a_workspace_that_nobody_trusts() {
    let home = Home::new();
    home.repository("repo");
    workflow(&home, "team.run.yml", &running("[touch, done]"));
    let first = begin(&home);
    assert!(first["warnings"].to_string().contains("refused until a person trusts"), "{first:#}");
    let last = advance(&home, &first, &["--notes", "Begun."]);
    let prompt = last["prompt"].as_str().unwrap();
    assert!(prompt.contains("It could_not_run: nobody has trusted"), "{prompt}");
    assert!(!home.join("repo/done").exists());
}

#[test]
fn outside_of_git_what_runs_commands_does_not_start() {
    let home = Home::new();
    workflow(&home, "team.run.yml", &running("[touch, done]"));
    let start = ["session", "start", "--workflow", "team.run", "--goal", "it"];
    shows!(home.longhaul(&start), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0602]: the session cannot start: workflow `team.run` runs commands, and this folder is in no git repository; start it in a repository; commands are run in workspaces only
        hint: longhaul explain E0602
    ");
    assert_eq!(home.longhaul(&["session", "list", "--json"]).rows().len(), 0);
}

#[test]
fn checks_that_nobody_declares_are_named_at_the_start_and_by_validate() {
    let home = Home::new();
    plain_repository(&home);
    let text = running("[x]").replace("command: [x]", "checks: all").replace(", into: work", "");
    let text = text.split("  - { id: last").next().unwrap().to_owned();
    workflow(&home, "team.run.yml", &text);
    shows!(home.run(&["workflow", "validate", "team.run"]).inside("repo").go(), @r"
        exit 0
        --- stdout
        warning: step `work` runs all checks of the workspace, and it declares none
          --> [HOME]/home/config/workflows/team.run.yml:10:35
           |
        10 |   - { id: work, title: Work, run: { checks: all } }
           |                                   ^^^^^^^^^^^^^^^
           |
           = help: declare them under `checks:` in `.longhaul/config.yml`
        --- stderr
        1 file: 0 errors, 1 warning
    ");
    let first = begin(&home);
    let warned = "runs all checks of the workspace, and it declares none";
    assert!(first["warnings"].to_string().contains(warned), "{first:#}");
    let stopped = one(&try_advance(&home, &first, &["--notes", "Begun."]));
    let reason = &stopped["blocked"]["reasons"][0];
    assert!(reason["message"].as_str().unwrap().contains("the workspace declares no checks"), "{reason:#}");
    assert!(reason["fix"].as_str().unwrap().contains("then start another session"), "{reason:#}");
}

#[test]
fn a_file_in_a_repository_without_a_folder_to_trust_gets_a_remedy_that_works() {
    let home = Home::new();
    plain_repository(&home);
    let text = running("[touch, done]");
    fs::write(home.join("repo/mine.yml"), &text).unwrap();
    let start =
        |what| home.run(&["session", "start", "--workflow", what, "--goal", "it"]).inside("repo").go();
    shows!(start("./mine.yml"), @r"
        exit 3
        --- stdout
        --- stderr
        error[E0612]: `./mine.yml` cannot start in `[HOME]/repo`, which has no `.longhaul/` that a person could trust; put the file in `[HOME]/home/config/workflows` and start it by its id
        hint: longhaul explain E0612
    ");
    workflow(&home, "mine.yml", &text);
    start("team.run").succeeded();
}

#[test]
fn the_runner_is_not_shown_to_people() {
    let listed = Home::new().longhaul(&["help", "--all"]).succeeded().stdout;
    assert!(!listed.contains("runner"), "{listed}");
}
