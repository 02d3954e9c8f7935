//! What may start, and what may not.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use longhaul_exec::{Program, run};
use tempfile::TempDir;

use super::*;
use crate::TrustRequest;
use crate::places::Places;
use crate::system::Settings;
use crate::types::Channel;

struct Home {
    _folder: TempDir,
    path: PathBuf,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        Self { _folder: folder, path }
    }

    fn system(&self, directory: &str) -> System {
        System::new(Settings {
            places: Places::under(&self.path.join("home")),
            variables: BTreeMap::new(),
            directory: self.path.join(directory),
            flags: Vec::new(),
        })
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn repository(&self, name: &str) {
        fs::create_dir_all(self.path.join(name)).unwrap();
        let init = Program::new("git").args(["init", "--quiet"]).directory(self.path.join(name));
        assert!(run(&init).unwrap().succeeded());
    }

    fn trust(&self, name: &str) {
        let system = self.system(name);
        let workspace = system.commands().unwrap().add_workspace(system.directory(), None).unwrap().workspace;
        let candidate = system.reader().unwrap().unwrap().trust_candidate(&workspace, None).unwrap();
        let (hash, files) = (candidate.hash, candidate.listing);
        let trust = TrustRequest { hash, files, by: "ada".to_owned(), channel: Channel::Terminal };
        system.commands().unwrap().trust_workspace(workspace.id, &trust).unwrap();
    }
}

fn small(id: &str) -> String {
    format!(
        "longhaul: 1\nid: {id}\nname: Small\nversion: 1.0.0\nreferences:\n  - {{ id: guide, title: Guide, source: \
         guide.md, purpose: To know., authoritative: true }}\nsteps:\n  - id: first\n    title: First\n    prompt: Do it.\n"
    )
}

fn refused(system: &System, text: &str) -> Problem {
    match system.workflow_for_start(text) {
        Err(Error::Workflow(problem)) => problem,
        other => panic!("it was not refused: {other:?}"),
    }
}

#[test]
fn bundled_workflows_and_ones_own_start_outside_git() {
    let home = Home::new();
    let own = home.write("home/config/workflows/own.yml", &small("team.own"));
    fs::create_dir(home.path.join("elsewhere")).unwrap();
    let system = home.system("elsewhere");
    let bundled = system.workflow_for_start("lh.quick-task").unwrap();
    assert_eq!((bundled.origin, bundled.warnings), (Origin::Bundled, Vec::<String>::new()));
    assert_eq!(system.workflow_for_start("team.own").unwrap().workflow.id, "team.own");
    assert_eq!(system.workflow_for_start(own.to_str().unwrap()).unwrap().origin, Origin::User);
    let other = home.write("elsewhere/other.yml", &small("team.other"));
    assert!(matches!(refused(&system, other.to_str().unwrap()), Problem::FileOutsideGit { .. }));
}

#[test]
fn what_a_repository_says_starts_only_while_it_is_trusted() {
    let home = Home::new();
    home.repository("project");
    home.write("project/.longhaul/workflows/own.yml", &small("project.own"));
    home.write("project/.longhaul/workflows/quick.yml", &small("lh.quick-task"));
    home.write("project/other.yml", &small("project.other"));
    let system = home.system("project");
    assert!(matches!(refused(&system, "project.own"), Problem::Untrusted { .. }));
    assert!(matches!(refused(&system, "./other.yml"), Problem::FileInUntrusted { .. }));
    let taken = system.workflow_for_start("lh.quick-task").unwrap();
    assert_eq!(taken.origin, Origin::Bundled);
    assert!(taken.warnings[0].contains("is not trusted"), "{:?}", taken.warnings);

    home.trust("project");
    assert_eq!(system.workflow_for_start("project.own").unwrap().origin, Origin::Workspace);
    assert_eq!(system.workflow_for_start("lh.quick-task").unwrap().origin, Origin::Workspace);
    assert_eq!(system.workflow_for_start("./other.yml").unwrap().workflow.id, "project.other");
    home.write("project/.longhaul/workflows/own.yml", &small("project.own").replace("Do it", "Do more"));
    assert!(matches!(refused(&system, "project.own"), Problem::Untrusted { .. }));
}

#[test]
fn a_file_of_another_repository_needs_that_ones_trust_too() {
    let home = Home::new();
    for name in ["project", "other"] {
        home.repository(name);
        home.write(&format!("{name}/.longhaul/rules.md"), "rules");
    }
    home.write("other/flow.yml", &small("other.flow"));
    home.trust("project");
    let system = home.system("project");
    assert!(matches!(refused(&system, "../other/flow.yml"), Problem::FileInUntrusted { .. }));
    home.trust("other");
    assert!(system.workflow_for_start("../other/flow.yml").is_ok());
}

#[test]
fn a_reference_that_leads_nowhere_is_a_warning() {
    let home = Home::new();
    home.repository("project");
    home.write("home/config/workflows/own.yml", &small("team.own"));
    let system = home.system("project");
    let warnings = system.workflow_for_start("team.own").unwrap().warnings;
    assert!(warnings.iter().any(|warning| warning.starts_with("reference `guide` points to `guide.md`")));
    home.write("project/guide.md", "");
    assert_eq!(system.workflow_for_start("team.own").unwrap().warnings, Vec::<String>::new());
}

#[test]
fn an_invalid_workflow_does_not_start_and_says_where_it_is_wrong() {
    let home = Home::new();
    home.write("home/config/workflows/bad.yml", &small("team.bad").replace("title:", "titel:"));
    fs::create_dir(home.path.join("x")).unwrap();
    let Problem::Invalid { errors, .. } = refused(&home.system("x"), "team.bad") else {
        panic!("it must be refused as invalid");
    };
    assert!(errors[0].contains("bad.yml:5:") || errors[0].contains("did you mean `title`?"), "{errors:?}");
}

#[test]
fn slots_are_bound_by_the_settings() {
    let home = Home::new();
    home.write("home/config/config.yml", "bindings: { worker: team.own }\n");
    home.write(
        "home/config/workflows/slots.json",
        r#"{"id": "team.slots", "name": "Slots", "description": "d", "version": "1.0.0",
            "extensionPoints": [{"slotId": "worker", "purpose": "works", "default": "routine.plan"}],
            "steps": [{"id": "first", "title": "First", "prompt": "Use {{wr.bindings.worker}}."}]}"#,
    );
    fs::create_dir(home.path.join("x")).unwrap();
    let found = home.system("x").workflow_for_start("team.slots").unwrap();
    let compiled = serde_json::to_string(&*found.workflow).unwrap();
    assert!(compiled.contains("Use team.own."), "{compiled}");
}

#[test]
fn a_damaged_list_of_sources_hides_nothing_else() {
    let home = Home::new();
    home.write("home/config/sources.json", "{");
    fs::create_dir(home.path.join("x")).unwrap();
    let catalog = home.system("x").catalog().unwrap();
    assert!(catalog.problems()[0].contains("sources.json"), "{:?}", catalog.problems());
    assert!(catalog.find("lh.quick-task").is_ok());
    assert!(home.system("x").git_sources().is_err());
}

#[test]
fn a_source_cannot_lead_out_of_its_folder() {
    let home = Home::new();
    let record = r#"{"sources": [{"name": "../x", "address": "/a", "commit": "HEAD", "added_by": "eve"}]}"#;
    home.write("home/config/sources.json", record);
    fs::create_dir(home.path.join("x")).unwrap();
    assert!(matches!(home.system("x").git_sources(), Err(Error::Workflow(Problem::SourcesFile { .. }))));
}

#[test]
fn ids_are_what_the_format_allows() {
    for id in ["a", "team.small-fix", "lh.a-1.b"] {
        assert!(is_id(id), "{id}");
    }
    for id in ["", ".", "a.", ".a", "A", "a b", "a/b", "-a", "ä"] {
        assert!(!is_id(id), "{id:?}");
    }
}

#[test]
fn a_new_file_compiles_without_a_warning() {
    let home = Home::new();
    fs::create_dir(home.path.join("x")).unwrap();
    let system = home.system("x");
    let created = system
        .new_workflow(&NewWorkflow { id: "team.fix-it", place: Where::Folder(Path::new("here")) })
        .unwrap();
    let checked = system.catalog().unwrap().check(&[created.path.to_str().unwrap()]).remove(0);
    assert_eq!(checked.diagnostics, Vec::new());
    assert_eq!(checked.workflow.unwrap().name, "Fix it");
}
