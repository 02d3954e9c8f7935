use std::collections::BTreeMap;

use longhaul_core::task::Source;
use longhaul_events::{Orders, Priority, Taint};
use longhaul_exec::Program;
use serde_json::Map;

use super::*;
use crate::NewWalk;
use crate::commands::Commands;
use crate::commands::queueing::NewQueued;
use crate::commands::task::TaskWish;
use crate::places::Places;
use crate::system::Settings;

const WORKFLOW: &str =
    "longhaul: 1\nid: team.fix\nname: Fix\nversion: 1.0.0\nsteps:\n  - { id: look, prompt: Look. }\n";

fn system(folder: &std::path::Path) -> System {
    let places = Places::under(&folder.join("home"));
    std::fs::create_dir_all(places.workflows()).unwrap();
    std::fs::write(places.workflows().join("team.fix.yml"), WORKFLOW).unwrap();
    let (variables, directory) = (BTreeMap::new(), folder.to_owned());
    System::new(Settings { places, variables, directory, flags: Vec::new() })
}

fn walk() -> NewWalk {
    NewWalk { workflow: "team.fix".into(), goal: "fix it".into(), vars: Map::new() }
}

/// A session of a task that waited for its turn.
fn queued(system: &System, commands: &Commands) -> SessionId {
    let orders = Orders {
        agent: None,
        cassette: None,
        taint: Taint::Clean,
        labels: Vec::new(),
        max_attempts: 3,
        trigger: None,
        after: Vec::new(),
        scope: Vec::new(),
        base: None,
    };
    let task = commands
        .queue_task(NewQueued {
            goal: "fix it".into(),
            source: "cli".parse::<Source>().unwrap(),
            pipeline: "team.fix".into(),
            until: None,
            workspace: None,
            priority: Priority::Normal,
            deadline: None,
            budget: None,
            orders,
            by: "ada".into(),
        })
        .unwrap();
    let session = commands.new_session_id();
    let start = system.prepared_until(commands, walk(), None).unwrap();
    let wish = TaskWish::Again { task, by: "daemon".into(), because: None };
    commands.start_session_under(session, &start, &wish, None).unwrap();
    session
}

/// Something that lives under the label of a session's runner.
fn runner(system: &System, session: SessionId) -> Left {
    let label = SessionLabel::of(session, &system.places().data).unwrap().of_runner();
    let process = longhaul_exec::detach(&Program::new("sleep").arg("1000").label(label)).unwrap();
    let is_it = |found: &longhaul_exec::Labelled| found.id == process;
    let started = loop {
        if let Some(found) = longhaul_exec::labelled().unwrap().into_iter().find(is_it) {
            break found.started_ticks;
        }
    };
    Left { session, process, started }
}

#[test]
fn the_runners_of_tasks_that_waited_rest_and_those_of_people_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let system = system(folder.path());
    let commands = system.commands().unwrap();
    assert_eq!(rest(&system, || Farewell::Rest).unwrap(), Rested::default(), "nobody is there");
    let ours = queued(&system, &commands);
    let theirs: SessionId = system.begin(&commands, walk()).unwrap().session_id.parse().unwrap();
    let (served, at_a_shell) = (runner(&system, ours), runner(&system, theirs));
    assert_eq!(runners(&system).unwrap(), [served.clone()]);
    let rested = rest(&system, || Farewell::Rest).unwrap();
    assert_eq!(rested, Rested { sessions: vec![ours], left: Vec::new() });
    assert!(!served.is_there() && at_a_shell.is_there());
    let session = commands.load_session(ours).unwrap();
    assert!(session.closed.is_none() && session.stop.is_none(), "it is there for whoever comes next");
    longhaul_exec::ask(at_a_shell.process, Some(at_a_shell.started), Plea::Die);
}
