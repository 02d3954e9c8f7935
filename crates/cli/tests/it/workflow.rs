//! `longhaul workflow`: finding, checking, showing and writing workflows.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Home, git, program, shows};
use crate::terminal::Terminal;

/// A small workflow that is right.
fn small(id: &str, name: &str) -> String {
    format!(
        "longhaul: 1\nid: {id}\nname: {name}\nversion: 1.0.0\nabout: For tests.\nvars:\n  goal: {{ type: string }}\n\
         steps:\n  - id: first\n    title: First\n    prompt: \"Do {{{{goal}}}}.\"\n"
    )
}

fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn user_file(home: &Home, name: &str, text: impl AsRef<[u8]>) {
    write(&home.longhaul_home().join("config/workflows").join(name), text);
}

/// A repository with these workflows for others.
fn source(home: &Home, name: &str, files: &[(&str, &str)]) {
    let path = home.join(name);
    for (file, text) in files {
        write(&path.join(file), text);
    }
    if !path.join(".git").exists() {
        git(&path, &["init", "--quiet", "--initial-branch=main"]);
    }
    git(&path, &["add", "--all"]);
    git(&path, &["commit", "--quiet", "--message=more"]);
}

/// The rows of `workflow list --json` that are not bundled, each as `id state source`.
fn listed(home: &Home, directory: &str) -> Vec<String> {
    let rows = home.run(&["workflow", "list", "--all", "--json"]).inside(directory).go().succeeded().rows();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    rows.iter()
        .filter(|row| row["source"] != "bundled")
        .map(|row| format!("{} {} {}", text(row, "id"), text(row, "state"), text(row, "source")))
        .collect()
}

#[test]
fn without_anything_of_ones_own_the_bundled_ones_are_listed() {
    let home = Home::new();
    shows!(home.longhaul(&["workflow", "list"]), @r"
        exit 0
        --- stdout
        ID                            VERSION  STATE  SOURCE   NAME
        lh.audit.architecture         [version]    ok     bundled  Audit: architecture
        lh.audit.production           [version]    ok     bundled  Audit: production
        lh.audit.security             [version]    ok     bundled  Audit: security
        lh.bug-investigation          [version]    ok     bundled  Bug investigation
        lh.classify                   [version]    ok     bundled  Classify a task
        lh.coding                     [version]    ok     bundled  Coding
        lh.design                     [version]    ok     bundled  Design
        lh.discovery                  [version]    ok     bundled  Discovery
        lh.fix                        [version]    ok     bundled  Fix findings
        lh.intent                     [version]    ok     bundled  Intent
        lh.pipeline.audit             [version]    ok     bundled  Audit
        lh.pipeline.bugfix            [version]    ok     bundled  Bug fix
        lh.pipeline.feature           [version]    ok     bundled  Feature
        lh.pipeline.quick             [version]    ok     bundled  Quick
        lh.pipeline.review            [version]    ok     bundled  Review of a branch
        lh.quick-task                 [version]    ok     bundled  Quick task
        lh.refactor                   [version]    ok     bundled  Refactor
        lh.retrospective              [version]    ok     bundled  Retrospective
        lh.review                     [version]    ok     bundled  Review
        lh.review.architecture        [version]    ok     bundled  Review: architecture
        lh.review.correctness         [version]    ok     bundled  Review: correctness
        lh.review.security            [version]    ok     bundled  Review: security
        lh.review.tests               [version]    ok     bundled  Review: tests
        lh.shaping                    [version]    ok     bundled  Shaping
        lh.spec                       [version]    ok     bundled  Specification
        lh.write-workflow             [version]    ok     bundled  Write a workflow
        routine.context-gathering     [version]    ok     bundled  Gather context
        routine.final-verification    [version]    ok     bundled  Final verification
        routine.hypothesis-challenge  [version]    ok     bundled  Challenge the explanation
        routine.plan                  [version]    ok     bundled  Plan in slices
        --- stderr
    ");
}

#[test]
fn a_valid_file_is_silent_and_a_wrong_one_is_shown_where_it_is_wrong() {
    let home = Home::new();
    write(&home.join("good.yml"), small("team.good", "Good"));
    shows!(home.longhaul(&["workflow", "validate", "good.yml"]), @r"
        exit 0
        --- stdout
        --- stderr
        1 file: 0 errors, 0 warnings
    ");
    write(&home.join("bad.yml"), small("team.bad", "Bad").replace("title: First", "titel: First"));
    shows!(home.longhaul(&["workflow", "validate", "good.yml", "bad.yml"]), @r"
        exit 3
        --- stdout
        error: a step has no key `titel`
          --> bad.yml:10:5
           |
        10 |     titel: First
           |     ^^^^^
           |
           = help: did you mean `title`?
        --- stderr
        2 files: 1 error, 0 warnings
    ");
}

#[test]
fn scripts_get_a_row_for_each_finding() {
    let home = Home::new();
    write(&home.join("bad.yml"), small("team.bad", "Bad").replace("title: First", "titel: First"));
    let outcome = home.longhaul(&["workflow", "validate", "--json", "bad.yml"]);
    assert_eq!((outcome.code, &*outcome.stderr), (Some(3), ""));
    let row = &outcome.rows()[0];
    let fields: Vec<&String> = row.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["file", "line", "column", "severity", "message", "fix", "excerpt"]);
    assert_eq!((&row["file"], &row["line"], &row["column"]), (&"bad.yml".into(), &10.into(), &5.into()));
    assert_eq!((&row["severity"], &row["excerpt"]), (&"error".into(), &"    titel: First".into()));
}

#[test]
fn warnings_are_errors_only_when_asked() {
    let home = Home::new();
    write(&home.join("odd.yml"), small("team.odd", "Odd").replace("{{goal}}", "{{nobody_sets_this}}"));
    let plain = home.longhaul(&["workflow", "validate", "--json", "odd.yml"]).succeeded();
    assert_eq!(plain.rows()[0]["severity"], "warning");
    let strict = home.longhaul(&["workflow", "validate", "--deny-warnings", "odd.yml"]);
    assert_eq!(strict.code, Some(3), "{strict}");
}

#[test]
fn standard_input_is_a_file_too() {
    let home = Home::new();
    let run = |text: String| home.run(&["workflow", "validate", "-"]).stdin(text).go();
    run(small("team.good", "Good")).succeeded();
    let json = r#"{"longhaul": 1, "id": "a.b", "name": "A", "version": "1.0.0", "steps": []}"#;
    let refused = run(json.to_owned());
    assert_eq!(refused.code, Some(3));
    assert!(refused.stdout.contains("standard input:1:"), "{refused}");
}

#[test]
fn what_is_no_text_is_refused_at_once() {
    let home = Home::new();
    write(&home.join("latin.yml"), b"name: \xe4");
    fs::create_dir(home.join("folder.yml")).unwrap();
    assert!(program("mkfifo").arg(home.join("pipe.yml")).status().unwrap().success());
    fs::File::create(home.join("huge.yml")).unwrap().set_len(100 << 20).unwrap();
    shows!(home.longhaul(&["workflow", "validate", "latin.yml", "folder.yml", "pipe.yml", "huge.yml", "none.yml", "/dev/zero"]), @r"
        exit 3
        --- stdout
        error: it is not UTF-8 text (from byte 6 on)
        --> latin.yml
         = help: save it as UTF-8
        error: it is a folder and not a file
        --> folder.yml
         = help: name a file
        error: it is a pipe and not a file
        --> pipe.yml
         = help: name a file
        error: it is larger than 1 MB, which no workflow needs
        --> huge.yml
         = help: split it
        error: there is no such file
        --> none.yml
         = help: check the path
        error: it is a device and not a file
        --> /dev/zero
         = help: name a file
        --- stderr
        6 files: 6 errors, 0 warnings
    ");
}

#[test]
fn hostile_text_in_a_file_does_not_reach_the_terminal() {
    let home = Home::new();
    write(&home.join("bad.yml"), "longhaul: 1\nid: a.b\nnope: \"\u{202e}evil\u{9b}2J\"\n");
    let outcome = home.longhaul(&["workflow", "validate", "bad.yml"]);
    assert_eq!(outcome.code, Some(3));
    assert!(!outcome.stdout.contains(['\u{202e}', '\u{9b}', '\u{1b}']), "{outcome}");
}

#[test]
fn files_that_are_checked_together_may_use_one_another() {
    let home = Home::new();
    let caller = small("team.caller", "Caller").replace("prompt: \"Do {{goal}}.\"", "use: team.routine");
    write(&home.join("caller.yml"), caller);
    write(&home.join("routine.yml"), small("team.routine", "Routine"));
    let alone = home.longhaul(&["workflow", "validate", "caller.yml"]);
    assert_eq!(alone.code, Some(3), "{alone}");
    home.longhaul(&["workflow", "validate", "caller.yml", "routine.yml"]).succeeded();
}

#[test]
fn an_invalid_file_stays_listed_with_its_error() {
    let home = Home::new();
    user_file(&home, "bad.yml", "longhaul: 1\nid: team.bad\nname: Bad\nversion: 1.0.0\nsteps: 7\n");
    user_file(&home, "deep/not-text.json", b"\xff");
    user_file(&home, "notes.txt", "not a workflow");
    assert_eq!(listed(&home, "."), ["not-text invalid user", "team.bad invalid user"]);
    let rows = home.longhaul(&["workflow", "list", "--json"]).rows();
    let bad = rows.iter().find(|row| row["id"] == "team.bad").unwrap();
    let problem = bad["problem"].as_str().unwrap();
    assert!(problem.starts_with("[HOME]/home/config/workflows/bad.yml:5:8: "), "{problem}");
    let preview = home.longhaul(&["workflow", "preview", "team.bad"]);
    assert_eq!(preview.code, Some(3));
    assert!(preview.stderr.starts_with("error[E0611]"), "{preview}");
}

#[test]
fn ones_own_file_stands_before_a_bundled_one() {
    let home = Home::new();
    user_file(&home, "mine.yml", small("lh.quick-task", "Mine"));
    shows!(home.longhaul(&["workflow", "show", "lh.quick-task"]), @r"
        exit 0
        --- stdout
        id        lh.quick-task
        state     ok
        source    user
        path      [HOME]/home/config/workflows/mine.yml
        shadows   bundled:lh.quick-task.yml

        Mine
        lh.quick-task [version] (native)
        For tests.
        var goal: a text

        └─ [prompt] first: First
        --- stderr
    ");
    let rows = home.longhaul(&["workflow", "list", "--json"]).rows();
    assert_eq!(rows.iter().filter(|row| row["id"] == "lh.quick-task").count(), 1);
}

#[test]
fn two_files_of_one_place_cannot_have_one_id() {
    let home = Home::new();
    user_file(&home, "a.yml", small("team.twin", "One"));
    user_file(&home, "b.yml", small("team.twin", "Other"));
    assert_eq!(listed(&home, "."), ["team.twin ok user", "team.twin invalid user"]);
}

#[test]
fn the_workflows_of_a_repository_are_listed_and_need_its_trust() {
    let home = Home::new();
    let project = home.repository("project");
    fs::remove_file(project.join(".longhaul/workflows/review.yml")).unwrap();
    write(&project.join(".longhaul/workflows/own.yml"), small("project.own", "Own"));
    // What nobody trusts does not stand before what works.
    write(&project.join(".longhaul/workflows/quick.yml"), small("lh.quick-task", "Hostile"));
    assert_eq!(
        listed(&home, "project"),
        ["lh.quick-task untrusted workspace", "project.own untrusted workspace"]
    );
    assert_eq!(listed(&home, "."), Vec::<String>::new());
    let shown = home.run(&["workflow", "show", "lh.quick-task", "--json"]).inside("project").go().succeeded();
    assert_eq!(shown.rows()[0]["source"], "bundled");

    home.run(&["workspace", "add"]).inside("project").go().succeeded();
    home.trust("project");
    assert_eq!(listed(&home, "project"), ["lh.quick-task ok workspace", "project.own ok workspace"]);
    fs::write(project.join(".longhaul/rules.md"), "other").unwrap();
    assert_eq!(
        listed(&home, "project"),
        ["lh.quick-task untrusted workspace", "project.own untrusted workspace"]
    );
}

#[test]
fn a_repository_whose_folder_cannot_be_hashed_is_listed_all_the_same() {
    let home = Home::new();
    let project = home.repository("project");
    let workflows = project.join(".longhaul/workflows");
    fs::remove_file(workflows.join("review.yml")).unwrap();
    write(&workflows.join("own.yml"), small("project.own", "Own"));
    std::os::unix::fs::symlink("/etc/hostname", workflows.join("link.yml")).unwrap();
    assert!(program("mkfifo").arg(workflows.join("pipe.yml")).status().unwrap().success());
    assert_eq!(
        listed(&home, "project"),
        ["link untrusted workspace", "pipe untrusted workspace", "project.own untrusted workspace"]
    );
}

#[test]
fn an_unknown_id_is_answered_with_the_closest() {
    let home = Home::new();
    shows!(home.longhaul(&["workflow", "show", "lh.quik-task"]), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0610]: there is no workflow `lh.quik-task`; did you mean `lh.quick-task`?
        hint: longhaul explain E0610
    ");
}

#[test]
fn a_new_file_is_valid_as_it_is_and_is_never_written_over() {
    let home = Home::new();
    shows!(home.longhaul(&["workflow", "new", "team.small-fix"]), @r"
        exit 0
        --- stdout
        ID              PATH
        team.small-fix  [HOME]/home/config/workflows/team.small-fix.yml
        --- stderr
        change it, then run `longhaul workflow validate [HOME]/home/config/workflows/team.small-fix.yml`
    ");
    let path = home.longhaul_home().join("config/workflows/team.small-fix.yml");
    let path = path.to_str().unwrap();
    home.longhaul(&["workflow", "validate", "--deny-warnings", path]).succeeded();
    let again = home.longhaul(&["workflow", "new", "team.small-fix"]);
    assert_eq!(again.code, Some(3), "{again}");
    home.longhaul(&["workflow", "new", "team.other", "--dir", "here"]).succeeded();
    assert!(home.join("here/team.other.yml").exists());
    assert_eq!(home.longhaul(&["workflow", "new", "team.other", "--dir", "here"]).code, Some(3));
    assert_eq!(home.longhaul(&["workflow", "new", "Team Fix"]).code, Some(2));
}

#[test]
fn what_a_person_begins_in_a_trusted_repository_stays_trusted() {
    let home = Home::new();
    let project = home.repository("project");
    fs::remove_file(project.join(".longhaul/workflows/review.yml")).unwrap();
    home.run(&["workspace", "add"]).inside("project").go().succeeded();
    home.trust("project");
    let arguments = ["workflow", "new", "project.fix", "--workspace"];
    Terminal::start_in(&home, &project, &arguments, &[]).end().0.succeeded();
    assert_eq!(listed(&home, "project"), ["project.fix ok workspace"]);
    // Without a person there is nobody whose word it could be.
    home.run(&["workflow", "new", "project.other", "--workspace"]).inside("project").go().succeeded();
    assert_eq!(
        listed(&home, "project"),
        ["project.fix untrusted workspace", "project.other untrusted workspace"]
    );
}

#[test]
fn an_agent_may_write_a_file_and_does_not_get_it_trusted() {
    let home = Home::new();
    let project = home.repository("project");
    fs::remove_dir_all(project.join(".longhaul")).unwrap();
    let arguments = ["workflow", "new", "project.fix", "--workspace"];
    Terminal::start_in(&home, &project, &arguments, &[("LONGHAUL_SESSION", "s-1")]).end().0.succeeded();
    assert_eq!(listed(&home, "project"), ["project.fix untrusted workspace"]);
}

#[test]
fn a_git_source_is_added_updated_and_removed() {
    let home = Home::new();
    source(&home, "flows", &[("workflows/a.yml", &small("flows.a", "A")), ("README.md", "hello")]);
    home.longhaul(&["workflow", "source", "add", "flows"]).succeeded();
    assert_eq!(listed(&home, "."), ["flows.a ok git:flows"]);

    source(&home, "flows", &[("workflows/deep/b.yml", &small("flows.b", "B"))]);
    assert_eq!(listed(&home, "."), ["flows.a ok git:flows"], "nothing changes before a person says so");
    home.longhaul(&["workflow", "source", "update"]).succeeded();
    assert_eq!(listed(&home, "."), ["flows.a ok git:flows", "flows.b ok git:flows"]);
    let row = &home.longhaul(&["workflow", "source", "list", "--json"]).succeeded().rows()[0];
    assert_eq!((&row["name"], &row["address"]), (&"flows".into(), &"[HOME]/flows".into()));

    let twice = home.longhaul(&["workflow", "source", "add", "flows"]);
    assert_eq!(twice.code, Some(3), "{twice}");
    home.longhaul(&["workflow", "source", "rm", "flows"]).succeeded();
    assert_eq!(listed(&home, "."), Vec::<String>::new());
    assert_eq!(fs::read_dir(home.longhaul_home().join("data/sources")).unwrap().count(), 0);
}

#[test]
fn a_source_may_be_pinned_to_a_tag() {
    let home = Home::new();
    source(&home, "flows", &[("workflows/a.yml", &small("flows.a", "A"))]);
    git(&home.join("flows"), &["tag", "v1"]);
    source(&home, "flows", &[("workflows/b.yml", &small("flows.b", "B"))]);
    home.longhaul(&["workflow", "source", "add", "flows", "--name", "pinned", "--ref", "v1"]).succeeded();
    assert_eq!(listed(&home, "."), ["flows.a ok git:pinned"]);
}

#[test]
fn sources_that_could_do_harm_or_have_nothing_are_refused() {
    let home = Home::new();
    source(&home, "empty", &[("README.md", "hello")]);
    let canary = home.join("canary");
    let runs = format!("ext::touch {}", canary.display());
    let add = |address: &str| home.longhaul(&["workflow", "source", "add", address, "--name", "x"]);
    for address in
        [&*runs, "http://127.0.0.1:9/a", "--upload-pack=touch x", "nowhere", "https://u:p@127.0.0.1:9/a"]
    {
        let refused = home.longhaul(&["workflow", "source", "add", "--name", "x", "--", address]);
        assert!(refused.code.is_some_and(|code| (2..=4).contains(&code)), "{refused}");
    }
    assert!(!canary.exists());
    shows!(add("empty"), @r"
        exit 3
        --- stdout
        --- stderr
        error[E0614]: `[HOME]/empty` has no workflow files in `workflows/` or `.longhaul/workflows/`; check the address and the branch
        hint: longhaul explain E0614
    ");
    assert_eq!(home.longhaul(&["workflow", "source", "list", "--json"]).succeeded().stdout, "");
    let left: Vec<_> = fs::read_dir(home.longhaul_home().join("data/sources")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_agent_adds_no_source() {
    let home = Home::new();
    source(&home, "flows", &[("workflows/a.yml", &small("flows.a", "A"))]);
    let run = home.run(&["workflow", "source", "add", "flows"]).variable("LONGHAUL_SESSION", "s-1");
    let refused = run.go();
    assert_eq!(refused.code, Some(3));
    assert!(refused.stderr.starts_with("error[E0303]"), "{refused}");
    assert_eq!(listed(&home, "."), Vec::<String>::new());
}

#[test]
fn a_preview_is_a_tree_a_drawing_or_a_flowchart() {
    let home = Home::new();
    user_file(&home, "a.yml", small("team.a", "A"));
    shows!(home.longhaul(&["workflow", "preview", "team.a"]), @r"
        exit 0
        --- stdout
        A
        team.a [version] (native)
        For tests.
        var goal: a text

        └─ [prompt] first: First
        --- stderr
    ");
    let svg = home.longhaul(&["workflow", "preview", "team.a", "--format", "svg"]).succeeded().stdout;
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
    let mermaid = home.longhaul(&["workflow", "preview", "team.a", "--format", "mermaid"]).succeeded().stdout;
    assert!(mermaid.starts_with("flowchart"), "{mermaid}");
    home.longhaul(&["workflow", "preview", "team.a", "--format", "svg", "-o", "a.svg"]).succeeded();
    assert_eq!(fs::read_to_string(home.join("a.svg")).unwrap(), svg);
    assert_eq!(home.longhaul(&["workflow", "preview", "team.a", "-o", "a.svg"]).code, Some(3));
}

#[test]
fn a_preview_and_the_page_of_a_workflow_tell_the_shape_of_its_contracts() {
    let home = Home::new();
    let told = "contract summary: outcome (one of \"done\", \"partly_done\", \"not_done\"), changed (a text), \
                checked (a text), left_open (a list of texts)\n";
    for verb in ["preview", "show"] {
        let shown = home.longhaul(&["workflow", verb, "lh.quick-task"]).succeeded().stdout;
        assert!(shown.contains(told), "{verb}: {shown}");
    }
}

#[test]
fn a_preview_reads_a_file_too() {
    let home = Home::new();
    write(&home.join("a.yml"), small("team.a", "A"));
    let by_file = home.longhaul(&["workflow", "preview", "a.yml", "--json"]).succeeded().rows();
    assert_eq!((&by_file[0]["id"], &by_file[0]["format"]), (&"team.a".into(), &"text".into()));
}

#[test]
fn the_schemas_are_json_and_name_what_they_describe() {
    let home = Home::new();
    for (format, key) in [("native", "longhaul"), ("workrail", "metaGuidance")] {
        let printed = home.longhaul(&["workflow", "schema", format]).succeeded().stdout;
        let schema: Value = serde_json::from_str(&printed).unwrap();
        assert!(schema["properties"][key].is_object(), "{format}");
    }
    let default: Value =
        serde_json::from_str(&home.longhaul(&["workflow", "schema"]).succeeded().stdout).unwrap();
    assert!(default["properties"]["longhaul"].is_object());
}

#[test]
fn a_file_can_be_read_to_begin_ones_own_with() {
    let home = Home::new();
    let text = home.longhaul(&["workflow", "show", "lh.quick-task", "--text"]).succeeded().stdout;
    home.run(&["workflow", "validate", "-"]).stdin(text).go().succeeded();
}
