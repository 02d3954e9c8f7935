//! What a person says reaches the agent with its next turn, whenever it is said.

use std::path::PathBuf;

use longhaul_agent::tools::{Room, Walls};
use longhaul_agent::{Agent, Call, Fault, Foresight, Turn, TurnRequest};
use longhaul_core::cassette::{Asked, Order, Usage};
use longhaul_events::{AgentAct, Reason};
use longhaul_exec::{Error as ExecError, Finished};

use super::*;
use crate::commands::acting::{Ear, Heard};
use crate::runner::agent::{Driving, Hands, StepEnd};
use crate::runner::asking::Past;

/// Somebody to whom a person speaks while it answers.
#[derive(Debug)]
struct Listener<'a> {
    home: &'a Home,
    id: SessionId,
    /// In which of its turns that is.
    told_in: usize,
    /// How many turns it takes before it hands its first step in.
    reads: usize,
    heard: Vec<Vec<String>>,
}

impl Agent for Listener<'_> {
    fn turn(&mut self, request: &TurnRequest<'_>) -> Result<Turn, Fault> {
        self.heard.push(request.told.to_vec());
        if self.heard.len() == self.told_in {
            let other = self.home.system().commands().unwrap();
            other.steer(self.id, "the other file", "ada").unwrap();
        }
        let tool = if self.heard.len() <= self.reads { "read" } else { "complete_step" };
        let arguments = match tool {
            "read" => json!({ "path": format!("{}.txt", self.heard.len()) }),
            _ => json!({ "notes": "Done." }),
        };
        let arguments = arguments.as_object().unwrap().clone();
        let call = Call { tool: tool.to_owned(), arguments, expect_exit: None, id: None };
        Ok(Turn::plain(String::new(), vec![call], Order::OneByOne, Usage::default()))
    }

    fn window(&self) -> u64 {
        1000
    }

    fn pricing(&self) -> Pricing {
        Pricing::Known(Price::default())
    }

    fn foresee(&self, _: &TurnRequest<'_>) -> Foresight {
        Foresight::AtMost { output: 1 }
    }

    fn end(&mut self) -> Result<(), String> {
        Ok(())
    }
}

#[derive(Debug)]
struct NoWalls;

impl Walls for NoWalls {
    fn run(&self, program: Program) -> Result<Finished, ExecError> {
        run(&program)
    }
}

fn drive(home: &Home, agent: &mut Listener<'_>) {
    have_done(home, agent.id, agent);
}

/// Has an agent do the step that is out, as a process would that has just taken it over.
pub(super) fn have_done(home: &Home, id: SessionId, agent: &mut dyn Agent) -> StepEnd {
    let system = home.system();
    let commands = system.commands().unwrap();
    let session = commands.load_session(id).unwrap();
    let lease = session.lease.as_ref().map(|lease| lease.epoch);
    let epoch = lease.unwrap_or_else(|| commands.take_driver(id, &this_process(), LEASE_MS).unwrap());
    let room = Room::open(&PathBuf::from(&session.workplace.as_ref().unwrap().checkout.path)).unwrap();
    let stop = StopSwitch::default();
    let tip = session.tip().unwrap().clone();
    let asked = Asked { workflow: "team.fix".into(), step: tip.step.0.clone(), visit: 1 };
    let stopwatch = Stopwatch::start(&commands, id, epoch).unwrap();
    let hands = Hands {
        system: &system,
        commands: &commands,
        id,
        epoch,
        room: &room,
        walls: &NoWalls,
        stop: &stop,
        limits: Limits { commands: &commands, id, price: Price::default(), stopwatch, stop: &stop },
        purse: Mutex::default(),
    };
    let unheard = commands.each_turn(id, |_, _| {}).unwrap().unheard_before(tip.node);
    let (account, meter) = (Account::Turn, None);
    let (node, past) = (tip.node, &Past::default());
    let mut driving = Driving { agent, account, meter, hands, node, past, after_death: false, unheard };
    driving.step(&tip, &asked).unwrap()
}

#[test]
fn what_is_said_while_the_agent_answers_is_heard_with_the_next_turn_and_by_whoever_takes_over() {
    let home = Home::new();
    let id = home.assigned("cassette: 1\nturns: []\n");
    let commands = home.system().commands().unwrap();
    let tip = commands.load_session(id).unwrap().tip().unwrap().clone();
    let mut agent = Listener { home: &home, id, told_in: 1, reads: 2, heard: Vec::new() };
    drive(&home, &mut agent);
    let nothing: Vec<String> = Vec::new();
    assert_eq!(agent.heard, [nothing.clone(), vec!["the other file".to_owned()], nothing]);
    let acts = commands.acts_at(id, tip.node).unwrap();
    let place = |is_it: fn(&AgentAct) -> bool| acts.iter().position(is_it).unwrap();
    let said = place(|act| matches!(act, AgentAct::Steered { .. }));
    let answered = place(|act| matches!(act, AgentAct::Answered { .. }));
    let told = place(|act| matches!(act, AgentAct::Nudged { words, .. } if words == "the other file"));
    assert!(said < answered, "{acts:?}");
    assert_eq!(told, answered + 1, "nothing can come between the two: {acts:?}");
}

#[test]
fn what_is_said_while_the_agent_hands_the_step_in_is_heard_at_the_next_step() {
    let home = Home::new();
    home.write_workflow(
        "steps:\n  - { id: look, prompt: Look. }\n  - { id: change, prompt: Change it. }\n  - { id: tell, prompt: Tell. }\n",
    );
    let id = home.assigned("cassette: 1\nturns: []\n");
    let mut agent = Listener { home: &home, id, told_in: 2, reads: 0, heard: Vec::new() };
    for _ in 0..3 {
        drive(&home, &mut agent);
    }
    let nothing: Vec<String> = Vec::new();
    assert_eq!(agent.heard, [nothing.clone(), nothing, vec!["the other file".to_owned()]]);
    let closed = home.system().commands().unwrap().load_session(id).unwrap().closed;
    assert_eq!(closed, Some(CloseOutcome::Completed));
}

#[test]
fn what_was_said_before_a_gate_is_heard_once_after_it_though_whoever_drove_is_gone() {
    let home = Home::new();
    home.write_workflow(
        "steps:\n  - { id: look, prompt: Look. }\n  - { id: ask, gate: { by: person, question: 'Go on?' } }\n  - { id: change, prompt: Change it. }\n  - { id: tell, prompt: Tell. }\n",
    );
    let id = home.assigned("cassette: 1\nturns: []\n");
    drive(&home, &mut Listener { home: &home, id, told_in: 1, reads: 0, heard: Vec::new() });
    let commands = home.system().commands().unwrap();
    let session = commands.load_session(id).unwrap();
    let At::Gate(gate) = session.at else { panic!("{:?}", session.at) };
    commands.release_driver(id, session.lease.unwrap().epoch).unwrap();
    let (verdict, channel) = (longhaul_events::Verdict::Approved, longhaul_events::Channel::Terminal);
    let (by, words) = ("ada".to_owned(), "yes".to_owned());
    let answer = crate::AnswerGate { session: id, gate: gate.gate, verdict, by, channel, words };
    commands.answer_gate(&answer).unwrap();
    let mut agent = Listener { home: &home, id, told_in: 9, reads: 0, heard: Vec::new() };
    drive(&home, &mut agent);
    drive(&home, &mut agent);
    assert_eq!(agent.heard, [vec!["the other file".to_owned()], Vec::new()]);
}

#[test]
fn what_is_stuck_goes_on_when_somebody_says_how() {
    let home = Home::new();
    let talk = "  - { match: { step: look }, say: Hm. }\n".repeat(3);
    let id = home.assigned(&format!(
        "cassette: 1\nturns:\n{talk}  - {{ match: {{ step: look }}, complete: {{ notes: Now. }} }}\n  - {{ match: {{ step: change }}, complete: {{ notes: Done. }} }}\n"
    ));
    run_work(&home.system(), id).unwrap();
    let commands = home.system().commands().unwrap();
    let parked = commands.load_session(id).unwrap();
    let At::Parked(park) = &parked.at else { panic!("{:?}", parked.at) };
    assert_eq!(park.code, "stuck");
    commands.steer(id, "hand it in", "ada").unwrap();
    let taken_up = commands.load_session(id).unwrap();
    assert_eq!(taken_up.tip().map(|tip| tip.node), park.out, "the same step, with all that was said there");
    run_work(&home.system(), id).unwrap();
    let closed = home.system().commands().unwrap().load_session(id).unwrap().closed;
    assert_eq!(closed, Some(CloseOutcome::Completed));
}

#[test]
fn what_was_just_said_is_heard_before_the_step_is_given_up() {
    let home = Home::new();
    let id = home.assigned("cassette: 1\nturns: []\n");
    let commands = home.system().commands().unwrap();
    let epoch = commands.take_driver(id, &this_process(), LEASE_MS).unwrap();
    let session = commands.load_session(id).unwrap();
    let mut ear = Ear { node: session.tip().unwrap().node, after: session.seq };
    commands.steer(id, "the other file", "ada").unwrap();
    let reason = Reason::new("stuck", "so", "do this");
    let first = commands.park_unless_told(id, epoch, &reason.clone().into(), ear).unwrap();
    assert_eq!(first, Heard::Something);
    assert!(commands.load_session(id).unwrap().tip().is_some(), "it goes on with what was said");
    assert_eq!(commands.listen(id, &mut ear).unwrap().len(), 1);
    let second = commands.park_unless_told(id, epoch, &reason.clone().into(), ear).unwrap();
    assert_eq!(second, Heard::Nothing);
    assert!(matches!(commands.load_session(id).unwrap().at, At::Parked(_)));
}

#[test]
fn what_is_told_at_a_gate_is_heard_once_at_the_step_after_it() {
    let home = Home::new();
    home.write_workflow(
        "steps:\n  - { id: look, prompt: Look. }\n  - { id: ask, gate: { by: person, question: 'Go on?' } }\n  - { id: change, prompt: Change it. }\n  - { id: tell, prompt: Tell. }\n",
    );
    let id = home.assigned("cassette: 1\nturns: []\n");
    drive(&home, &mut Listener { home: &home, id, told_in: 9, reads: 0, heard: Vec::new() });
    let commands = home.system().commands().unwrap();
    let session = commands.load_session(id).unwrap();
    let At::Gate(gate) = session.at else { panic!("{:?}", session.at) };
    commands.steer(id, "now", "ada").unwrap_err();
    commands.tell_session(id, "the other file", "ada").unwrap();
    assert!(
        matches!(commands.load_session(id).unwrap().at, At::Gate(_)),
        "nothing that is told opens a gate"
    );
    commands.release_driver(id, session.lease.unwrap().epoch).unwrap();
    let (verdict, channel) = (longhaul_events::Verdict::Approved, longhaul_events::Channel::Terminal);
    let (by, words) = ("ada".to_owned(), "yes".to_owned());
    commands
        .answer_gate(&crate::AnswerGate { session: id, gate: gate.gate, verdict, by, channel, words })
        .unwrap();
    let mut agent = Listener { home: &home, id, told_in: 9, reads: 0, heard: Vec::new() };
    drive(&home, &mut agent);
    drive(&home, &mut agent);
    assert_eq!(agent.heard, [vec!["the other file".to_owned()], Vec::new()]);
}
