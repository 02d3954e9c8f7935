//! Sessions that a rehearsal agent drives, in a real repository and without walls.

mod limits;
mod own_loop;
mod steered;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use longhaul_core::budget::{Price, Pricing};
use longhaul_core::cassette::Asked;
use longhaul_core::config::SandboxLevel;
use longhaul_core::session::{At, NewBudget};
use longhaul_core::workflow::answer::Answer;
use longhaul_events::{Account, CallOutcome, CheckoutKind, CloseOutcome, SessionId, StepId, Taint};
use longhaul_exec::{Program, run};
use serde_json::{Map, json};
use tempfile::TempDir;

use super::agent::{Driving, Hands};
use super::assignment::{Assignment, PinnedReach, Who};
use super::limits::Limits;
use super::watch::Stopwatch;
use super::*;
use crate::commands::task::{TaskOrigin, TaskWish};
use crate::places::Places;
use crate::system::Settings;
use crate::worktrees::{NewWorktree, SecretFiles};
use crate::{AgentDid, Happened, NewWalk, Script, Telling};

const WORKFLOW: &str = "longhaul: 1\nid: team.fix\nname: Fix\nversion: 1.0.0\nsteps:\n  - { id: look, prompt: Look. }\n  - { id: change, prompt: Change it. }\n";

#[derive(Debug)]
struct Home {
    _folder: TempDir,
    path: PathBuf,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let (workflows, repository) = (path.join("home/config/workflows"), path.join("repository"));
        fs::create_dir_all(&workflows).unwrap();
        fs::write(workflows.join("team.fix.yml"), WORKFLOW).unwrap();
        fs::create_dir_all(&repository).unwrap();
        fs::write(repository.join("login.sh"), "test 1 -gt 1\n").unwrap();
        let git = |args: &[&str]| {
            let named = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
            let git = Program::new("git").args(named).args(args.iter().copied()).directory(&repository);
            assert!(run(&git).unwrap().succeeded());
        };
        git(&["init", "--quiet"]);
        git(&["add", "."]);
        git(&["commit", "--quiet", "-m", "begin"]);
        Self { _folder: folder, path }
    }

    fn system(&self) -> System {
        System::new(Settings {
            places: Places::under(&self.path.join("home")),
            variables: BTreeMap::new(),
            directory: self.path.join("repository"),
            flags: Vec::new(),
        })
    }

    /// Puts other steps in the place of those that sessions go through here.
    fn write_workflow(&self, steps: &str) {
        let text = format!("longhaul: 1\nid: team.fix\nname: Fix\nversion: 1.0.0\n{steps}");
        fs::write(self.path.join("home/config/workflows/team.fix.yml"), text).unwrap();
    }

    /// Adds a file to the repository.
    fn commit(&self, name: &str, text: &str) {
        let repository = self.path.join("repository");
        fs::write(repository.join(name), text).unwrap();
        for args in [vec!["add", "."], vec!["commit", "--quiet", "-m", name]] {
            let named = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
            let git = Program::new("git").args(named).args(args).directory(&repository);
            assert!(run(&git).unwrap().succeeded());
        }
    }

    /// A file of the session's own worktree.
    fn file(&self, id: SessionId, name: &str) -> String {
        let session = self.system().commands().unwrap().load_session(id).unwrap();
        let top = PathBuf::from(session.workplace.unwrap().checkout.path);
        fs::read_to_string(top.join(name)).unwrap()
    }

    /// Starts a session in a worktree of its own, which nobody of ours works on.
    fn begun(&self) -> SessionId {
        let system = self.system();
        let commands = system.commands().unwrap();
        let new = NewWalk { workflow: "team.fix".into(), goal: "fix it".into(), vars: Map::new() };
        let id: SessionId = system.begin(&commands, new).unwrap().session_id.parse().unwrap();
        let worktree = NewWorktree {
            session: id,
            kind: CheckoutKind::Borrowed,
            base: None,
            secrets: SecretFiles::Withhold,
            by: "ada".to_owned(),
        };
        system.make_worktree(&commands, &worktree).unwrap();
        id
    }

    /// Starts a session and has the script assigned, without anybody at work on it yet.
    fn assigned(&self, cassette: &str) -> SessionId {
        let id = self.begun();
        let commands = self.system().commands().unwrap();
        let assignment = Assignment {
            visits: None,
            reads: None,
            who: Who::Rehearsal(Script { path: "run.yml".to_owned(), text: cassette.to_owned() }),
            level: SandboxLevel::None,
            reach: PinnedReach::default(),
            setup: Vec::new(),
        };
        let budget = NewBudget { caps: limits::PLENTY, by: "ada".to_owned() };
        commands.assign(id, &assignment, Taint::Clean, &budget).unwrap();
        id
    }

    fn did(&self, id: SessionId) -> Vec<AgentDid> {
        let reader = self.system().reader().unwrap().unwrap();
        let row = reader.find_session(&id.to_string()).unwrap();
        let told = reader.story(&row, Telling::Events).unwrap();
        let acts = told.into_iter().filter_map(|entry| match entry.what {
            Happened::Agent { act, .. } => Some(act),
            _ => None,
        });
        acts.collect()
    }
}

const SCRIPT: &str = "
cassette: 1
turns:
  - match: { step: look }
    say: I look.
    usage: { input: 100, output: 10 }
    tools: [ { read: { path: login.sh } }, { grep: { pattern: gt } } ]
    parallel: true
  - match: { step: look }
    complete: { notes: It is inverted. }
  - match: { step: change, visit: 1 }
    tools: [ { edit: { path: login.sh, old: '-gt', new: '-ge' } } ]
  - match: { step: change }
    complete: { notes: Fixed. }
";

#[test]
fn a_rehearsal_does_the_steps_and_all_of_it_is_on_record() {
    let home = Home::new();
    let id = home.assigned(SCRIPT);
    run_work(&home.system(), id).unwrap();
    assert_eq!(home.file(id, "login.sh"), "test 1 -ge 1\n");
    let session = home.system().commands().unwrap().load_session(id).unwrap();
    assert_eq!(session.closed, Some(CloseOutcome::Completed));
    assert_eq!(session.spent.turns, 4);
    assert_eq!(session.spent.tokens.input, 100);
    let done: Vec<String> = home
        .did(id)
        .into_iter()
        .filter_map(|act| match act {
            AgentDid::CallFinished { tool, outcome: CallOutcome::Done, .. } => Some(tool),
            _ => None,
        })
        .collect();
    assert_eq!(done, ["read", "grep", "edit"]);
}

#[test]
fn files_that_a_rewind_wants_back_stay_wanted_until_they_are_back() {
    let home = Home::new();
    home.write_workflow(
        "steps:\n  - { id: look, prompt: Look. }\n  - { id: change, prompt: Change it. }\n  - { id: tell, prompt: Tell. }\n",
    );
    let id = home.begun();
    let system = home.system();
    let commands = system.commands().unwrap();
    let hand_in = || {
        let handle = commands.load_session(id).unwrap().handle().unwrap();
        let answer = Answer { notes: Some("Done.".to_owned()), ..Default::default() };
        system.advance(&commands, &crate::Advance { handle, answer, epoch: None }).unwrap();
        commands.load_session(id).unwrap().workplace.unwrap()
    };
    let begun = hand_in();
    fs::write(PathBuf::from(&begun.checkout.path).join("login.sh"), "other").unwrap();
    let (step, reason) = (StepId("change".to_owned()), "again".to_owned());
    // As if whoever rewound it had died before the files were back.
    commands.rewind(&crate::Rewind { session: id, step, reason, by: "ada".to_owned() }).unwrap();
    let due = commands.load_session(id).unwrap().workplace.unwrap().due;
    assert_eq!((due.is_some(), &due), (true, &begun.snapshot));
    assert_eq!(hand_in().due, due);
}

#[test]
fn a_turn_with_one_call_costs_two_commits() {
    let home = Home::new();
    let id = home.assigned(SCRIPT);
    run_work(&home.system(), id).unwrap();
    let reader = home.system().reader().unwrap().unwrap();
    let mut commits = std::collections::BTreeMap::<u64, Vec<String>>::new();
    reader
        .events(Some(&format!("session/{id}")), &mut |row| {
            if let Some(act) = row.event["act"]["act"].as_str() {
                commits.entry(row.position.0).or_default().push(act.to_owned());
            }
            Ok(())
        })
        .unwrap();
    let commits: Vec<String> = commits.into_values().map(|acts| acts.join(" ")).collect();
    assert_eq!(
        commits,
        [
            "assigned budgeted",
            "answered call_started call_started",
            "call_finished call_finished",
            "answered call_started",
            "answered call_started",
            "call_finished",
            "answered call_started",
        ]
    );
}

#[test]
fn what_an_agent_gets_wrong_goes_back_to_it() {
    let home = Home::new();
    let id = home.assigned(
        "
cassette: 1
turns:
  - match: { step: look }
    tools: [ { read: { path: ../secret } }, { fly: {} }, { note_fact: { fact: It compiles., evidence: login.sh } } ]
  - match: { step: look }
    complete: {}
  - match: { step: look }
    complete: { notes: Now with notes. }
  - match: { step: change }
    complete: { notes: Nothing to do. }
",
    );
    run_work(&home.system(), id).unwrap();
    let session = home.system().commands().unwrap().load_session(id).unwrap();
    assert_eq!(session.closed, Some(CloseOutcome::Completed), "{:?} {:?}", session.at, home.did(id));
    let refused: Vec<String> = home
        .did(id)
        .into_iter()
        .filter_map(|act| match act {
            AgentDid::CallFinished { outcome: CallOutcome::Refused, result, .. } => Some(result),
            _ => None,
        })
        .collect();
    assert!(refused[0].contains("leads out of the checkout"), "{refused:?}");
    assert!(refused[1].contains("no tool `fly`"), "{refused:?}");
    assert!(refused[2].contains("notes"), "{refused:?}");
}

#[test]
fn a_script_that_does_not_fit_parks_the_session_with_the_reason() {
    for (cassette, says) in [
        ("cassette: 1\nturns: []\n", "no turn for this step"),
        ("cassette: 1\nturns:\n  - { say: a }\n  - { say: b }\n  - { say: c }\n", "without doing anything"),
        ("cassette: 1\nturns:\n  - { fault: { error: auth } }\n", "does not accept the key"),
    ] {
        let home = Home::new();
        let id = home.assigned(cassette);
        run_work(&home.system(), id).unwrap();
        let commands = home.system().commands().unwrap();
        let session = commands.load_session(id).unwrap();
        assert!(matches!(session.at, At::Parked(_)), "{cassette}: {:?}", session.at);
        assert_eq!(session.lease, None, "nobody drives a session that is parked");
        let reasons = commands.session_view(id).unwrap().blocked.unwrap().reasons;
        assert!(reasons[0].message.contains(says), "{reasons:?}");
    }
}

#[test]
fn whoever_takes_over_asks_no_turn_again_and_makes_no_call_again() {
    let home = Home::new();
    let id = home.assigned(SCRIPT);
    let commands = home.system().commands().unwrap();
    // What a runner that was killed in the middle of the edit leaves behind.
    run_until(&home, id, "edit");
    let before = home.did(id).iter().filter(|act| matches!(act, AgentDid::Answered { .. })).count();
    run_work(&home.system(), id).unwrap();
    let session = commands.load_session(id).unwrap();
    assert_eq!(session.closed, Some(CloseOutcome::Completed));
    assert_eq!(home.file(id, "login.sh"), "test 1 -ge 1\n");
    let did = home.did(id);
    let interrupted = did
        .iter()
        .filter(|act| matches!(act, AgentDid::CallFinished { outcome: CallOutcome::Interrupted, .. }))
        .count();
    assert_eq!(interrupted, 1);
    let after = did.iter().filter(|act| matches!(act, AgentDid::Answered { .. })).count();
    assert_eq!(after - before, 2, "one turn that tries again, one that completes");
}

#[test]
fn an_agent_that_is_taken_over_is_told_once_that_its_driver_died() {
    let home = Home::new();
    let id = home.assigned(SCRIPT);
    run_until(&home, id, "edit");
    let (system, stop) = (home.system(), StopSwitch::default());
    let commands = system.commands().unwrap();
    let epoch = commands.take_driver(id, &this_process(), 60_000).unwrap();
    let session = commands.load_session(id).unwrap();
    let (tip, room) = (session.tip().unwrap().clone(), room(&session));
    let asked = Asked { workflow: "team.fix".into(), step: "change".into(), visit: 1 };
    let mut listener = Listener::default();
    let stopwatch = Stopwatch::start(&commands, id, epoch).unwrap();
    let hands = || Hands {
        system: &system,
        commands: &commands,
        id,
        epoch,
        room: &room,
        walls: &Nowhere,
        stop: &stop,
        limits: Limits { commands: &commands, id, price: Price::default(), stopwatch, stop: &stop },
        purse: Mutex::default(),
    };
    let mut driving = Driving {
        agent: &mut listener,
        account: Account::Turn,
        meter: None,
        hands: hands(),
        node: tip.node,
        past: &super::asking::Past::default(),
        after_death: true,
        unheard: Vec::new(),
    };
    driving.step(&tip, &asked).unwrap();
    let [first, second] = listener.told.as_slice() else { panic!("{:?}", listener.told) };
    assert!(first.len() == 1 && first[0].contains("died"), "{first:?}");
    assert!(second.is_empty(), "{second:?}");
}

fn room(session: &longhaul_core::session::Session) -> longhaul_agent::tools::Room {
    let path = &session.workplace.as_ref().unwrap().checkout.path;
    longhaul_agent::tools::Room::open(std::path::Path::new(path)).unwrap()
}

/// Hears what it is told, reads a file, and hands in.
#[derive(Debug, Default)]
struct Listener {
    told: Vec<Vec<String>>,
}

impl longhaul_agent::Agent for Listener {
    fn turn(
        &mut self,
        request: &longhaul_agent::TurnRequest<'_>,
    ) -> Result<longhaul_agent::Turn, longhaul_agent::Fault> {
        self.told.push(request.told.to_vec());
        let (tool, arguments) = if self.told.len() == 1 {
            ("read", json!({ "path": "login.sh" }))
        } else {
            ("complete_step", json!({ "notes": "Heard." }))
        };
        let arguments = arguments.as_object().unwrap().clone();
        let call = longhaul_agent::Call { tool: tool.to_owned(), arguments, expect_exit: None, id: None };
        let (order, usage) =
            (longhaul_core::cassette::Order::OneByOne, longhaul_core::cassette::Usage::default());
        Ok(longhaul_agent::Turn::plain(String::new(), vec![call], order, usage))
    }

    fn window(&self) -> u64 {
        1
    }

    fn pricing(&self) -> Pricing {
        Pricing::Known(Price::default())
    }

    fn foresee(&self, _: &longhaul_agent::TurnRequest<'_>) -> longhaul_agent::Foresight {
        longhaul_agent::Foresight::AtMost { output: 1 }
    }

    fn end(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// Where no command is run.
#[derive(Debug)]
struct Nowhere;

impl longhaul_agent::tools::Walls for Nowhere {
    fn run(&self, program: Program) -> Result<longhaul_exec::Finished, longhaul_exec::Error> {
        unreachable!("{program:?}")
    }
}

/// Drives a session by hand up to the start of a call, and lets go as a killed process does.
fn run_until(home: &Home, id: SessionId, tool: &str) {
    let system = home.system();
    let commands = system.commands().unwrap();
    let epoch = commands.take_driver(id, &gone(), 1).unwrap();
    let read = commands.load_session(id).unwrap().handle().unwrap();
    let acts = |text: &str| serde_json::from_str::<Vec<longhaul_events::AgentAct>>(text).unwrap();
    let answered = |turn: u32, calls: &str| {
        format!(
            r#"{{"act":"answered","turn":{turn},"said":{{"inline":""}},"calls":[{calls}],"order":"one_by_one","usage":{{"input":0,"output":0}},"ms":0}}"#
        )
    };
    commands.act(id, epoch, &acts(&format!("[{}]", answered(1, "")))).unwrap();
    let complete = r#"{"tool":"complete_step","arguments":{"inline":{"notes":"It is inverted."}}}"#;
    commands.act(id, epoch, &acts(&format!("[{}]", answered(2, complete)))).unwrap();
    let answer = longhaul_core::workflow::answer::Answer {
        notes: Some("It is inverted.".into()),
        ..Default::default()
    };
    let advance = crate::Advance { handle: read, answer, epoch: Some(epoch) };
    commands.advance(&advance).unwrap();
    let edit = format!(
        r#"{{"tool":"{tool}","arguments":{{"inline":{{"path":"login.sh","old":"-gt","new":"-ge"}}}}}}"#
    );
    let started = r#"{"act":"call_started","turn":1,"call":0}"#;
    commands.act(id, epoch, &acts(&format!("[{},{started}]", answered(1, &edit)))).unwrap();
}

/// A process that was and is not any more.
fn gone() -> longhaul_events::Driver {
    longhaul_events::Driver { host: "elsewhere".to_owned(), process: 1, started: Some(1) }
}

#[test]
fn a_run_whose_starter_died_before_anybody_was_assigned_is_ended_by_whoever_comes_next() {
    let home = Home::new();
    let system = home.system();
    let commands = system.commands().unwrap();
    let source = longhaul_core::task::Source::forge("till", 3);
    let open = || {
        let walk = NewWalk { workflow: "team.fix".into(), goal: "fix it".into(), vars: Map::new() };
        let start = system.prepared(&commands, walk).unwrap();
        let origin = TaskOrigin { budget: Some(limits::PLENTY), ..TaskOrigin::of(source.clone()) };
        let view = commands.start_session_for(&start, &TaskWish::New(origin)).unwrap();
        view.session_id.parse::<SessionId>().unwrap()
    };
    let starting = system.starting().unwrap();
    let id = open();
    assert_eq!(system.end_half_begun(&commands).unwrap(), [], "it is being started");
    drop(starting);
    assert_eq!(system.end_half_begun(&commands).unwrap(), [], "nobody died");
    assert!(commands.refuse_duplicate(&source).is_err());
    // As a death leaves it.
    let left = system.places().starting().join("1.lock");
    fs::write(&left, "").unwrap();
    let by_hand = home.begun();
    assert_eq!(system.end_half_begun(&commands).unwrap(), [id]);
    assert!(commands.load_session(id).unwrap().closed.is_some() && !left.exists());
    assert!(commands.load_session(by_hand).unwrap().closed.is_none(), "one that a person walks goes on");
    commands.refuse_duplicate(&source).unwrap();
}
