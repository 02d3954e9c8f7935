//! `longhaul artifact`: what agents handed in.

use std::fs;

use longhaul_runtime::types::Handle;
use serde_json::json;

use crate::support::{Home, shows};
use crate::walking::{advance, handle, id, one, start, workflow};

const REPORT: &str = "longhaul: 1\nid: team.report\nname: Report\nversion: 1.0.0\nabout: For tests.\n\
    vars:\n  goal: { type: string }\n\
    contracts:\n  report: { type: object, required: [text], properties: { text: { type: string } } }\n\
    steps:\n  - { id: write, title: Write, prompt: Write it., output: report }\n  - { id: end, title: End, prompt: End it. }\n";

/// A session with one artifact, and the artifact's id.
fn reported(home: &Home) -> (String, String) {
    workflow(home, "team.report.yml", REPORT);
    let first = start(home, "team.report", "it");
    advance(home, &first, &["--artifact", r#"{"text": "all is well"}"#]);
    let row = one(&home.longhaul(&["artifact", "list", id(&first), "--json"]).succeeded());
    assert_eq!((&row["step"], &row["left_behind"]), (&json!("write"), &json!(false)));
    assert_eq!(row["kind"], "report", "the contract that it was asked for by");
    (id(&first).to_owned(), row["id"].as_str().unwrap().to_owned())
}

#[test]
fn an_artifact_is_listed_and_shown() {
    let home = Home::new();
    let (session, artifact) = reported(&home);
    let short = artifact.replace(&session, &session[..8]);
    shows!(home.longhaul(&["artifact", "show", &short]), @r#"
        exit 0
        --- stdout
        {
          "text": "all is well"
        }
        --- stderr
    "#);
    assert_eq!(home.longhaul(&["artifact", "list", "--json"]).rows().len(), 1);
    shows!(home.longhaul(&["artifact", "show", &format!("{artifact}1")]), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0622]: there is no artifact `[session].5.11`; `longhaul artifact list` shows them
        hint: longhaul explain E0622
    ");
    shows!(home.longhaul(&["session", "rewind", &session, "--to", "nix", "--reason", "again"]), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0204]: step `nix` is not on the way that led to where session `[session]` stands; go back to one of: `write`, `end`
        hint: longhaul explain E0204
    ");
    home.longhaul(&["session", "rewind", &session, "--to", "write", "--reason", "again"]).succeeded();
    let row = one(&home.longhaul(&["artifact", "list", "--json"]).succeeded());
    assert_eq!(row["left_behind"], true);
}

#[test]
fn two_answers_to_one_step_have_two_ids_and_the_first_is_left_behind() {
    let home = Home::new();
    workflow(&home, "team.report.yml", REPORT);
    let first = start(&home, "team.report", "it");
    advance(&home, &first, &["--artifact", r#"{"text": "FIRST"}"#]);
    let system = home.system();
    let node = handle(&first).split('.').nth(1).unwrap();
    let answered: Handle = handle(&first).parse().unwrap();
    let again = system.commands().unwrap().ask_again(answered.session, answered.node, None).unwrap();
    let second = ["session", "advance", &again.to_string(), "--artifact", r#"{"text": "SECOND"}"#];
    home.longhaul(&second).succeeded();
    let rows = home.longhaul(&["artifact", "list", id(&first), "--json"]).rows();
    let told: Vec<_> = rows.iter().map(|row| (row["id"].as_str().unwrap(), &row["left_behind"])).collect();
    let (one, two) = (format!("{}.{node}.1", id(&first)), format!("{}.{node}.2", id(&first)));
    assert_eq!(told, [(one.as_str(), &json!(true)), (two.as_str(), &json!(false))]);
    let text = |id: &str| home.longhaul(&["artifact", "show", id]).succeeded().stdout;
    assert!(text(&one).contains("FIRST") && text(&two).contains("SECOND"));
    let story = home.longhaul(&["session", "show", id(&first), "--json"]).succeeded().stdout;
    assert!(story.contains(&one) && story.contains(&two), "{story}");
}

#[test]
fn saving_writes_a_whole_file_and_never_over_another_unless_told_to() {
    let home = Home::new();
    let (_, artifact) = reported(&home);
    home.longhaul(&["artifact", "save", &artifact, "report.json"]).succeeded();
    let file = home.join("report.json");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\n  \"text\": \"all is well\"\n}\n");
    fs::write(&file, "mine").unwrap();
    let refused = home.longhaul(&["artifact", "save", &artifact, "report.json"]);
    assert_eq!((refused.code, fs::read_to_string(&file).unwrap().as_str()), (Some(3), "mine"), "{refused}");
    assert!(refused.stderr.contains("`--force`"), "{refused}");
    home.longhaul(&["artifact", "save", &artifact, "report.json", "--force"]).succeeded();
    assert!(fs::read_to_string(&file).unwrap().contains("all is well"));
    let nowhere = home.longhaul(&["artifact", "save", &artifact, "no/such/folder.json"]);
    assert_eq!(nowhere.code, Some(4), "{nowhere}");
    assert!(!nowhere.stderr.contains(".tmp") && nowhere.stderr.contains("no/such"), "{nowhere}");
    let left: Vec<String> = fs::read_dir(&home.path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".tmp"))
        .collect();
    assert_eq!(left, [] as [String; 0]);
}
