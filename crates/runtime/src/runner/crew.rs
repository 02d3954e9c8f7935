//! Who works on a session that we drive ourselves, and where: the agent, its checkout, the walls around it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use longhaul_agent::Rehearsal;
use longhaul_agent::tools::{Rights, Room, Walls};
use longhaul_core::config::{SandboxLevel, SetupCommand};
use longhaul_core::conversation::Conversation;
use longhaul_core::session::{KeptAs, Rejection, Tip, Workplace};
use longhaul_events::{Epoch, NodeId, SessionId};
use longhaul_exec::sandbox::Sandbox;
use longhaul_exec::{Error as ExecError, Finished, Program};
use longhaul_gateway::{Meter, Unmetered, Upstreams};

use super::agent::{Driving, Hands, StepEnd, Way};
use super::asking::Past;
use super::assignment::{Assignment, PinnedReach, ReadFiles, Who};
use super::falling_back::Choice;
use super::handed::Bench;
use super::leftovers::SessionLabel;
use super::limits::Limits;
use super::office::{self, Chosen, GatewayDoor, Office};
use super::preparing::Ready;
use super::{Driven, StopSwitch, hidden, leftovers};
use crate::commands::Commands;
use crate::commands::acting::Turns;
use crate::error::Error;
use crate::gateway::{self, Gateway, Opened, Token, WayOut, Whose};
use crate::sandbox::{Surroundings, everyday};
use crate::system::System;
use crate::workers;

/// An agent at work.
#[derive(Debug)]
pub(super) struct Crew {
    agents: Agents,
    /// Which steps were handed out, as far as we have read.
    turns: Turns,
    pub(super) setup: Vec<SetupCommand>,
    room: Room,
    /// The walls alone.
    walls: Sandbox,
    /// The same with the way out that is open now.
    pub(super) sandbox: Sandbox,
    /// The same for commands of the engine, such as checks: the way to hosts is open, and nothing of the session's.
    pub(super) plain: Sandbox,
    reach: PinnedReach,
    past: Past,
    /// Whose files they are that it may change; none where it only reads.
    pub(super) owner: Option<SessionId>,
}

/// What a runner works with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shell<'a> {
    pub(super) system: &'a System,
    pub(super) commands: &'a Arc<Commands>,
}

/// What is shown to the gateways of a session. Whoever has one of them gets nowhere with the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tokens<'a> {
    pub(super) agent: &'a Token,
    pub(super) engine: &'a Token,
}

/// Who answers turns.
#[derive(Debug)]
enum Agents {
    Rehearsal(Box<Rehearsal>),
    Staff(Box<Office>),
}

impl Crew {
    /// Whoever was assigned to a session, brought to where it was; `None` if nobody of ours was.
    pub(super) fn of(
        system: &System,
        commands: &Commands,
        id: SessionId,
        token: &Token,
    ) -> Result<Option<Self>, Error> {
        let Some(assignment) = commands.assignment(id)? else { return Ok(None) };
        let session = commands.load_session(id)?;
        let (whose, workplace) = commands.workplace_of(&session)?.unzip();
        let Some(ground) = Ground::of(&assignment, workplace) else { return Ok(None) };
        let owner = whose.filter(|_| ground.rights == Rights::Change);
        let (agents, turns) = match &assignment.who {
            Who::Rehearsal(script) => {
                let (agent, turns) = script.rehearsal(commands, id)?;
                (Agents::Rehearsal(Box::new(agent)), turns)
            }
            Who::Staff(staff) => {
                let socket = system.places().gateway_socket(id);
                let door = GatewayDoor { socket, token: token.clone() };
                let telling = office::telling(commands, id, ground.rights)?;
                let office = Office::new(assignment.clone(), staff.clone(), telling, door);
                (Agents::Staff(Box::new(office)), commands.each_turn(id, |_, _| {})?)
            }
        };
        let room = Room::open(&ground.path).map_err(Error::Tool)?.with_rights(ground.rights);
        let sandbox = walls(system, &assignment, &ground, room.path());
        let Assignment { setup, reach, .. } = assignment;
        Ok(Some(Self {
            agents,
            turns,
            setup,
            room,
            walls: sandbox.clone(),
            plain: sandbox.clone(),
            sandbox,
            reach,
            past: Past::default(),
            owner,
        }))
    }

    /// Opens the way out of the walls, for as long as this process drives.
    pub(super) fn open_gateway(
        &mut self,
        shell: Shell<'_>,
        driven: gateway::Driven,
        tokens: Tokens<'_>,
        label: &SessionLabel,
    ) -> Result<[Gateway; 2], Error> {
        let Shell { system, commands } = shell;
        let (upstreams, meter): (_, Arc<dyn Meter>) = match &mut self.agents {
            Agents::Rehearsal(_) => (Upstreams::new(), Arc::new(Unmetered)),
            Agents::Staff(office) => office.open(system, commands, driven)?,
        };
        let Tokens { agent: token, engine } = tokens;
        let way = WayOut { system, driven, reach: &self.reach, token, upstreams, meter, whose: Whose::Agent };
        let Opened { gateway, sandbox, socket, port } = way.open(self.walls.clone())?;
        self.sandbox = sandbox;
        let (upstreams, meter) = (Upstreams::new(), Arc::new(Unmetered));
        let way = WayOut { token: engine, upstreams, meter, whose: Whose::Engine, ..way };
        let plain = way.open(self.walls.clone())?;
        self.plain = plain.sandbox;
        if let Agents::Staff(office) = &mut self.agents {
            office.sit_down(Bench {
                settings: system.settings().clone(),
                driven,
                sandbox: self.sandbox.clone(),
                label: label.of_command(driven.driver),
                checkout: self.room.path().to_owned(),
                token: token.clone(),
                port,
                socket,
            });
        }
        Ok([gateway, plain.gateway])
    }

    /// Ends what works by itself, before the way out is closed.
    fn rest(&mut self) {
        match &mut self.agents {
            Agents::Rehearsal(_) => {}
            Agents::Staff(office) => office.stand_up(),
        }
    }
}

/// The files that a session works on.
#[derive(Debug)]
struct Ground {
    path: PathBuf,
    main_dir: PathBuf,
    rights: Rights,
}

impl Ground {
    /// Its own, or those of another that it reads; `None` if they are gone.
    fn of(assignment: &Assignment, own: Option<Workplace>) -> Option<Self> {
        if let Some(ReadFiles { path, main_dir }) = &assignment.reads {
            let rights = match assignment.level {
                SandboxLevel::Full | SandboxLevel::Reduced => Rights::ReadBehindWalls,
                SandboxLevel::None => Rights::Read,
            };
            return Some(Self { path: path.into(), main_dir: main_dir.into(), rights });
        }
        let Workplace { checkout, is_gone: false, .. } = own? else { return None };
        let (path, main_dir) = (checkout.path.into(), checkout.main_dir.into());
        Some(Self { path, main_dir, rights: Rights::Change })
    }
}

/// The checkout can be changed, unless it is another's, and the objects that it borrows can be read. Nothing else of ours is
/// there.
fn walls(system: &System, assignment: &Assignment, ground: &Ground, checkout: &Path) -> Sandbox {
    let home = std::env::home_dir().unwrap_or_else(|| PathBuf::from("/home"));
    let surroundings = Surroundings { directory: checkout, home: &home };
    let objects = ground.main_dir.join("objects");
    let mut sandbox = everyday(assignment.level, assignment.reach.network, &surroundings).read_only(objects);
    if ground.rights != Rights::Change {
        sandbox.writable.retain(|path| path != checkout);
        sandbox = sandbox.read_only(checkout);
    }
    // What relays to the gateway has to be there. Only the file itself: beside it may lie anything.
    sandbox.read_only.extend(std::env::current_exe());
    hidden::ours(system.places(), checkout, &sandbox).into_iter().fold(sandbox, Sandbox::hide)
}

/// Another checkout of the repository that a session works on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elsewhere<'a> {
    pub(super) checkout: &'a Path,
    pub(super) main_dir: &'a Path,
}

/// The same walls with the same way out, around another checkout.
pub(super) fn walls_around(
    system: &System,
    assignment: &Assignment,
    elsewhere: &Elsewhere<'_>,
    open: &Sandbox,
) -> Sandbox {
    let (path, main_dir) = (elsewhere.checkout.to_owned(), elsewhere.main_dir.to_owned());
    let ground = Ground { path, main_dir, rights: Rights::Change };
    let mut sandbox = walls(system, assignment, &ground, elsewhere.checkout);
    sandbox.caches.clone_from(&open.caches);
    sandbox.gateway.clone_from(&open.gateway);
    sandbox.set = open.set.clone();
    sandbox
}

/// The walls around one command.
#[derive(Debug)]
pub(super) struct Around<'a> {
    sandbox: &'a Sandbox,
    label: String,
    session: SessionId,
    stop: &'a StopSwitch,
}

impl Walls for Around<'_> {
    fn run(&self, program: Program) -> Result<Finished, ExecError> {
        let program = program
            .sandbox(self.sandbox.clone())
            .set_variable("LONGHAUL_SESSION", self.session.to_string())
            .label(&self.label);
        let running = longhaul_exec::start(&program)?;
        self.stop.watch(running.stopper());
        running.wait()
    }
}

impl Driven<'_> {
    /// Has the agent do steps until the session waits for something else.
    pub(super) fn have_done(&self, crew: &mut Crew) -> Result<(), Error> {
        let stop = StopSwitch::of_steps(self.at_rest);
        self.keeping_lease(&stop, || {
            self.clear_up()?;
            match self.make_ready(&stop)? {
                Ready::Yes => {}
                Ready::Stopped => return self.let_go(),
                Ready::No(reasons) => return self.commands.park_step(self.id, self.epoch, &reasons),
            }
            if self.epoch == Epoch(1) {
                self.keep("the start")?;
            }
            while !stop.is_stopped()
                && let Some(tip) = self.own_tip()?
            {
                self.one_step(crew, &tip, &stop)?;
                self.keep(&format!("the end of `{}`", tip.step.0))?;
            }
            crew.rest();
            self.let_go()
        })
    }

    /// The step that is out, if it is ours to do. The lease goes with a step that is given up, and somebody may have had it
    /// taken up again before we look: that is for whoever takes the lease next.
    pub(super) fn own_tip(&self) -> Result<Option<Tip>, Error> {
        let session = self.commands.load_session(self.id)?;
        let is_ours = session.lease.as_ref().is_some_and(|lease| lease.epoch == self.epoch);
        Ok(session.tip().filter(|_| is_ours).cloned())
    }

    /// What a driver that died left behind must not go on beside us, and what it had done is kept before it is touched.
    fn clear_up(&self) -> Result<(), Error> {
        leftovers::end(self.commands, self.id, self.latest())?;
        self.system.end_workers(self.commands, self.id, workers::UNWANTED)?;
        if self.system.bring_back(self.commands, self.id)?.is_none() && self.epoch > Epoch(1) {
            self.keep("somebody else drives from here on")?;
        }
        Ok(())
    }

    /// Keeps all files, and what they are of: a step that nothing was done at yet begins with them.
    pub(super) fn keep(&self, because: &str) -> Result<(), Error> {
        let Some(owner) = self.owner else { return Ok(()) };
        if owner != self.id {
            let because = format!("{because} of {}", self.id);
            return self.system.keep_as(self.commands, owner, &because, KeptAs::Between).map(|_| ());
        }
        let session = self.commands.load_session(self.id)?;
        let is_due = session.workplace.as_ref().is_some_and(|workplace| workplace.due.is_some());
        let as_what = match session.node() {
            // Not while other files are wanted back: a person has taken the session from us.
            Some(node) if !is_due && self.is_untouched(node)? => KeptAs::Beginning(node),
            Some(_) | None => KeptAs::Between,
        };
        self.system.keep_as(self.commands, self.id, because, as_what).map(|_| ())
    }

    fn is_untouched(&self, node: NodeId) -> Result<bool, Error> {
        let acts = self.commands.acts_at(self.id, node)?;
        Ok(Conversation::fold(&acts).last_turn().is_none())
    }

    pub(super) fn walls<'a>(&self, sandbox: &'a Sandbox, stop: &'a StopSwitch) -> Around<'a> {
        let label = self.label.of_command(self.epoch);
        Around { sandbox, label, session: self.id, stop }
    }

    /// Has a step done, by whoever is asked in the end.
    fn one_step(&self, crew: &mut Crew, tip: &Tip, stop: &StopSwitch) -> Result<(), Error> {
        self.commands.catch_up(self.id, &mut crew.turns)?;
        let asked = crew.turns.asked(tip.node).ok_or(Rejection::NoSuchNode { node: tip.node })?;
        let mut unheard = crew.turns.unheard_before(tip.node);
        let mut after_death = crew.turns.follows_death(self.epoch);
        let walls = self.walls(&crew.sandbox, stop);
        let tier = self.tier_of(tip)?;
        loop {
            let chosen = match &mut crew.agents {
                Agents::Rehearsal(agent) => Chosen::rehearsal(agent.as_mut())?,
                Agents::Staff(office) => match self.choose(office, tip, tier)? {
                    Choice::Ask(chosen) => chosen,
                    Choice::Parked => return Ok(()),
                },
            };
            let limits = Limits {
                commands: self.commands,
                id: self.id,
                price: chosen.price,
                stopwatch: self.stopwatch,
                stop,
            };
            let hands = Hands {
                limits,
                system: self.system,
                commands: self.commands,
                id: self.id,
                epoch: self.epoch,
                room: &crew.room,
                walls: &walls,
                stop,
                purse: Mutex::default(),
            };
            let Chosen { agent, account, meter, .. } = chosen;
            let unheard = std::mem::take(&mut unheard);
            let (node, past) = (tip.node, &crew.past);
            let driving = Driving { agent, account, meter, hands, node, past, after_death, unheard };
            let end = { driving }.step(tip, &asked)?;
            let failed = match end {
                StepEnd::Over => return Ok(()),
                StepEnd::NoAnswer(failed) => failed,
            };
            let goes_on = match &mut crew.agents {
                Agents::Rehearsal(_) => self.give_up_answer(&failed)?,
                Agents::Staff(office) => self.fall_back(office, tier, &failed)?,
            };
            match goes_on {
                Way::Stays => after_death = false,
                Way::Left => return Ok(()),
            }
        }
    }

    /// Gives the lease back, unless it went with the end of the session or with a step that was given up. A session that
    /// is to be stopped is held until it has ended.
    pub(super) fn let_go(&self) -> Result<(), Error> {
        let session = self.commands.load_session(self.id)?;
        if session.stop.is_some() {
            return Ok(());
        }
        if session.lease.is_some_and(|lease| lease.epoch == self.epoch) {
            self.commands.release_driver(self.id, self.epoch)?;
        }
        Ok(())
    }
}
