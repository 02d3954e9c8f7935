//! Sessions below a session: planned, opened, driven side by side or one after another, and ended with their step.
//!
//! The plan goes on record before anybody is opened, so whoever takes the session over goes on with the very same ones.

use std::collections::BTreeSet;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::Scope;
use std::time::Duration;

use longhaul_core::parking::ParkCode;
use longhaul_core::session::{Rejection, Session};
use longhaul_core::walk::children::{self, EndWord, Ended, Next, Stands, WantedChild};
use longhaul_core::walk::start::initial_vars;
use longhaul_core::workflow::Workflow;
use longhaul_events::{CloseOutcome, Reason, SessionId};
use serde_json::json;

use super::{Driven, StopSwitch, rest, run_work};
use crate::children::by;
use crate::commands::walking::{WorkOrder, WorkResult};
use crate::error::Error;
use crate::stopping::Stop;
use crate::trees::{Group, Planned};

/// How soon it is noticed what others did to one of the sessions.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Why those are ended whose step is decided without them.
const UNWANTED: &str = "the step was decided without it";

/// What became of leading.
enum Led {
    /// What the step comes to is known.
    Decided(Box<Group>),
    /// Nothing goes on by itself.
    Waits,
    /// Somebody wants the session ended, has taken it from us, or wants us to rest.
    Stopped,
}

/// One that is driven no further for now.
struct Returned {
    index: usize,
    done: Result<(), Error>,
}

impl Driven<'_> {
    /// Has the sessions of a step done; `None` while they wait for somebody.
    pub(super) fn lead(&self, order: &WorkOrder, stop: &StopSwitch) -> Result<Option<WorkResult>, Error> {
        let Some(family) = order.step.kind.family() else { return Ok(None) };
        let wanted = match children::wanted(&family, &order.scope()) {
            Ok(wanted) => wanted,
            Err(reason) => return Ok(Some(WorkResult::Done(children::refused(&reason)))),
        };
        if self.commands.plan_of(self.id, order.work)?.is_none() {
            let plan = match self.plan(&wanted)? {
                Ok(plan) => plan,
                Err(reason) => return Ok(Some(WorkResult::Done(children::refused(&reason)))),
            };
            self.keep_first()?;
            self.commands.start_work(self.id, self.epoch, order.work, &json!({ "children": plan }))?;
        }
        match self.drive_all(&wanted, stop)? {
            Led::Decided(group) => {
                let ended = self.end_all(&group)?;
                self.keep(&format!("the end of `{}`", order.step.id))?;
                Ok(Some(WorkResult::Done(children::result(&family, &ended))))
            }
            Led::Waits | Led::Stopped => Ok(None),
        }
    }

    fn keep_first(&self) -> Result<(), Error> {
        let session = self.commands.load_session(self.id)?;
        match session.workplace {
            Some(workplace) if workplace.snapshot.is_none() => self.keep("the start"),
            Some(_) | None => Ok(()),
        }
    }

    /// Who is started, each under an id of its own; or why nobody is.
    fn plan(&self, wanted: &[WantedChild]) -> Result<Result<Vec<Planned>, Reason>, Error> {
        let session = self.commands.load_session(self.id)?;
        let workflow = self.commands.workflow_of(&session)?;
        if let Some(message) = self.commands.refusal_below(self.id, wanted.len())? {
            let fix = "let a session above do it, or take steps out of the workflow";
            return Ok(Err(ParkCode::ChildRefused.reason(message, fix)));
        }
        Ok(Ok(wanted.iter().map(|one| self.planned(&workflow, one)).collect()))
    }

    fn planned(&self, workflow: &Workflow, wanted: &WantedChild) -> Planned {
        let WantedChild { workflow: id, goal, vars, files, .. } = wanted;
        let refusal = match workflow.below.get(id) {
            None => Some((ParkCode::NoSuchWorkflow, "no such workflow".to_owned())),
            Some(below) => initial_vars(below, goal, vars).err().map(|reasons| {
                let messages: Vec<String> = reasons.into_iter().map(|reason| reason.message).collect();
                (ParkCode::ChildRefused, messages.join("; "))
            }),
        };
        let session = refusal.is_none().then(|| self.commands.new_session_id());
        let (code, because) = refusal.map(|(code, because)| (code.code().to_owned(), because)).unzip();
        Planned { session, workflow: id.clone(), files: *files, because, code }
    }

    /// Drives whoever is due, until the step is decided or nothing goes on.
    fn drive_all(&self, wanted: &[WantedChild], stop: &StopSwitch) -> Result<Led, Error> {
        std::thread::scope(|scope| {
            let (done, wait) = mpsc::channel::<Returned>();
            let mut lead =
                Lead { driven: self, wanted, done, at_work: BTreeSet::new(), rested: BTreeSet::new() };
            let mut trouble = None;
            loop {
                let is_stopped = stop.is_stopped() || rest::is_wished();
                let look =
                    if is_stopped || trouble.is_some() { lead.stop_with_us() } else { lead.look(scope) };
                let led = look.unwrap_or_else(|error| {
                    trouble.get_or_insert(error);
                    None
                });
                if lead.at_work.is_empty() {
                    match (led, trouble) {
                        (_, Some(error)) => return Err(error),
                        (Some(led), None) => return Ok(led),
                        (None, None) if is_stopped => return Ok(Led::Stopped),
                        (None, None) => trouble = None,
                    }
                }
                match wait.recv_timeout(LOOK_EVERY) {
                    Ok(Returned { index, done }) => {
                        lead.at_work.remove(&index);
                        lead.rested.insert(index);
                        trouble = trouble.or(done.err());
                    }
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => lead.rested.clear(),
                }
            }
        })
    }

    /// Ends whoever is still open, and says what each came to.
    fn end_all(&self, group: &Group) -> Result<Vec<Ended>, Error> {
        let mut all = Vec::new();
        for (planned, member) in group.plan.iter().zip(&group.members) {
            if let (Some(id), Stands::Over(end)) = (planned.session, &member.stands) {
                // One that was given up stays open for a person, unless the step goes on without it.
                if let Some(because) = end.because.as_ref().filter(|_| end.outcome != EndWord::Completed) {
                    self.give_up_below(id, because)?;
                }
            }
            let end = match (&member.stands, planned.session) {
                (Stands::Over(end), _) => end.clone(),
                (Stands::NotThere | Stands::GoesOn | Stands::Waits, None) => continue,
                (Stands::NotThere, Some(_)) => children::End::without_result(
                    EndWord::Cancelled,
                    ParkCode::ChildFailed,
                    Some(UNWANTED.to_owned()),
                ),
                (Stands::GoesOn | Stands::Waits, Some(id)) => {
                    self.system.end_child(self.commands, self.id, id, UNWANTED)?;
                    children::End::without_result(
                        EndWord::Cancelled,
                        ParkCode::ChildFailed,
                        Some(UNWANTED.to_owned()),
                    )
                }
            };
            all.push(Ended { workflow: planned.workflow.clone(), session: planned.session, end });
        }
        Ok(all)
    }

    fn give_up_below(&self, id: SessionId, because: &str) -> Result<(), Error> {
        let outcome = CloseOutcome::Failed { reason: because.to_owned() };
        match self.commands.close_session(id, &outcome, None) {
            Ok(()) | Err(Error::Session(Rejection::Closed)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// The sessions of a step while they are driven.
struct Lead<'a, 'd> {
    driven: &'a Driven<'d>,
    wanted: &'a [WantedChild],
    done: mpsc::Sender<Returned>,
    /// Those that a thread of ours drives.
    at_work: BTreeSet<usize>,
    /// Those that came back a moment ago: another process may be at them, and is not asked without a pause.
    rested: BTreeSet<usize>,
}

impl<'a> Lead<'a, '_> {
    /// Starts whoever is due, and says if there is nothing more to do.
    fn look<'scope>(&mut self, scope: &'scope Scope<'scope, 'a>) -> Result<Option<Led>, Error>
    where
        'a: 'scope,
    {
        let Driven { commands, id, .. } = *self.driven;
        let session = commands.load_session(id)?;
        let Some(group) = commands.group_of(&session)? else { return Ok(Some(Led::Stopped)) };
        match group.next() {
            Next::Finish if self.at_work.is_empty() => Ok(Some(Led::Decided(Box::new(group)))),
            Next::Finish => {
                self.stop_all(
                    &group,
                    &Stop {
                        urgency: longhaul_events::Urgency::Now,
                        by: by(id),
                        reason: Some(UNWANTED.to_owned()),
                    },
                )?;
                Ok(None)
            }
            Next::Wait(_) => Ok(Some(Led::Waits)),
            Next::Drive(due) => {
                for index in due {
                    if !self.at_work.contains(&index) && !self.rested.contains(&index) {
                        self.start(scope, &session, &group, index)?;
                    }
                }
                Ok(None)
            }
        }
    }

    fn start<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, 'a>,
        session: &Session,
        group: &Group,
        index: usize,
    ) -> Result<(), Error>
    where
        'a: 'scope,
    {
        let planned = &group.plan[index];
        let (Some(child), Some(wanted)) = (planned.session, self.wanted.get(index)) else { return Ok(()) };
        let Driven { system, commands, .. } = *self.driven;
        let ahead = group.plan[..index].iter().filter(|other| other.workflow == planned.workflow).count();
        system.open_planned(commands, session, child, wanted, ahead)?;
        let done = self.done.clone();
        self.at_work.insert(index);
        scope.spawn(move || {
            let driven = run_work(system, child);
            // Whoever led is gone only with the whole process.
            let _ = done.send(Returned { index, done: driven });
        });
        Ok(())
    }

    /// Passes on that somebody wants the session above ended. Whoever has taken it from us leads from here on.
    fn stop_with_us(&self) -> Result<Option<Led>, Error> {
        let Driven { commands, id, .. } = *self.driven;
        let session = commands.load_session(id)?;
        if let (Some(wish), Some(group)) = (&session.stop, commands.group_of(&session)?) {
            let reason = Some(format!("{id} is stopped by {}", wish.by));
            self.stop_all(&group, &Stop { urgency: wish.urgency, by: by(id), reason })?;
        }
        Ok(Some(Led::Stopped))
    }

    fn stop_all(&self, group: &Group, stop: &Stop) -> Result<(), Error> {
        for (planned, member) in group.plan.iter().zip(&group.members) {
            let is_open = matches!(member.stands, Stands::GoesOn | Stands::Waits);
            let Some(child) = planned.session.filter(|_| is_open) else { continue };
            match self.driven.commands.request_stop(child, stop) {
                Ok(()) | Err(Error::Session(Rejection::Closed)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
