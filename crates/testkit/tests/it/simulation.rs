//! Random lives of sessions, from a seed: whatever happened, replay and rebuild tell the same.

use longhaul_core::handle::Handle;
use longhaul_core::session::Session;
use longhaul_events::{CloseOutcome, Driver, Epoch, Seq, SessionEvent, SessionId, StepId};
use longhaul_runtime::opaque::{FinishRequest, NewSession, Next, StepRequest, ThenRequest};
use longhaul_store::views::Views;
use longhaul_store::{Log, SqliteLog};
use longhaul_testkit::{Dice, World, open_store, seed, times};
use serde_json::json;
use std::sync::Arc;

/// One session in a simulated life.
#[derive(Clone)]
struct Life {
    id: SessionId,
    handles: Vec<Handle>,
    epoch: Option<Epoch>,
}

fn step() -> StepRequest {
    StepRequest { step: StepId("live".into()), prompt: json!("Live.") }
}

/// Does one random thing; what is refused is part of life.
fn live(world: &World, lives: &mut Vec<Life>, dice: &mut Dice) {
    let commands = &world.commands;
    if lives.is_empty() || dice.once_in(20) {
        let id =
            commands.open_session(NewSession { goal: json!("live"), workspace: None, parent: None }).unwrap();
        lives.push(Life { id, handles: Vec::new(), epoch: None });
        return;
    }
    let index = usize::try_from(dice.below(lives.len() as u64)).unwrap();
    let life = &mut lives[index];
    match dice.below(12) {
        0 => life.handles.extend(commands.hand_out(life.id, step(), life.epoch)),
        1 => {
            let driver = Driver { host: "sim".into(), process: 1, started: None };
            life.epoch = commands.take_driver(life.id, &driver, dice.below(500)).ok().or(life.epoch);
        }
        2 => drop(life.epoch.map(|epoch| commands.renew_driver(life.id, epoch, 100))),
        3 => drop(life.epoch.take().map(|epoch| commands.release_driver(life.id, epoch))),
        4 => world.clock.advance_ms(i64::try_from(dice.below(900)).unwrap() - 200),
        5 => {
            let asked = any(&life.handles, dice).map(|old| commands.ask_again(life.id, old.node, life.epoch));
            life.handles.extend(asked.and_then(Result::ok));
        }
        6 if dice.once_in(15) => {
            drop(commands.close_session(life.id, &CloseOutcome::Completed, life.epoch));
        }
        _ => {
            let Some(handle) = any(&life.handles, dice).or_else(|| life.handles.last().copied()) else {
                return;
            };
            let finished = commands.finish_step(FinishRequest {
                handle,
                payload: json!(dice.below(3)),
                answer: json!("x".repeat(usize::try_from(dice.below(9000)).unwrap())),
                then: ThenRequest::HandOut(step()),
                epoch: life.epoch,
            });
            if let Ok(Next::Step(next)) = finished.map(|answered| answered.next) {
                life.handles.push(next);
            }
        }
    }
}

fn any(handles: &[Handle], dice: &mut Dice) -> Option<Handle> {
    let index = usize::try_from(dice.below(handles.len() as u64)).unwrap();
    handles.get(index).copied()
}

fn replayed(log: &dyn Log, id: SessionId) -> Session {
    let decisions = log.read(id.into(), Seq(0), usize::MAX).unwrap();
    let events: Vec<SessionEvent> =
        decisions.iter().flat_map(|decision| decision.events::<SessionEvent>().unwrap()).collect();
    Session::fold(id, &events).unwrap()
}

fn stored(log: &dyn Log, id: SessionId) -> Session {
    serde_json::from_slice(&log.head(id.into()).unwrap().unwrap().state.unwrap().bytes).unwrap()
}

fn simulate(log: &Arc<SqliteLog>, seed: u64, steps: u64, each: &mut dyn FnMut(u64)) -> Vec<Life> {
    let world = World::over(log.clone(), seed);
    let mut dice = Dice::new(seed);
    let mut lives = Vec::new();
    for n in 0..steps {
        live(&world, &mut lives, &mut dice);
        each(n);
    }
    lives
}

#[test]
fn replaying_a_session_gives_the_state_that_was_stored() {
    for n in 0..times(10, 500) {
        let folder = tempfile::tempdir().unwrap();
        let log = Arc::new(open_store(folder.path()).unwrap());
        for life in simulate(&log, seed() + n, 150, &mut |_| {}) {
            assert_eq!(replayed(&*log, life.id), stored(&*log, life.id), "SEED={}", seed() + n);
        }
    }
}

#[test]
fn views_that_followed_the_log_equal_views_that_were_rebuilt() {
    for n in 0..times(6, 200) {
        let folder = tempfile::tempdir().unwrap();
        let log = Arc::new(open_store(folder.path()).unwrap());
        let views = Views::new(folder.path());
        let followed = log.clone();
        simulate(&log, seed() + n, 150, &mut |step| {
            if step % 7 == 0 {
                views.sessions(&*followed).unwrap();
            }
        });
        let live = views.sessions(&*log).unwrap();
        views.rebuild(&*log).unwrap();
        assert_eq!(views.sessions(&*log).unwrap(), live, "SEED={}", seed() + n);
        assert!(!live.is_empty());
    }
}

#[test]
fn the_same_seed_lives_the_same_life() {
    let dump = |seed| {
        let (world, log) = World::in_memory(seed);
        let (mut dice, mut lives) = (Dice::new(seed), Vec::new());
        (0..200).for_each(|_| live(&world, &mut lives, &mut dice));
        log.since(longhaul_events::Position(0), usize::MAX).unwrap()
    };
    assert_eq!(dump(7), dump(7));
    assert_ne!(dump(7), dump(8));
}
