//! The intake: what arrives from outside, what falls due, what a person fires. It is on disk before whoever sent it is told so.
//!
//! Requests are judged by whoever brings them, side by side; what somebody signed goes through a bounded queue to one thread,
//! which commits all that waits at once. A queue that is full is told to the sender, who comes again. Tasks that outsiders asked
//! for are tainted from here on.
//!
//! It must never acknowledge what is not in the log, say to a stranger what is wrong with a signature, or let one trigger's
//! trouble keep another from being served.

mod draining;
mod firing;
mod memory;
pub(crate) mod served;
mod sources;
#[cfg(test)]
mod tests;
mod ticks;

use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;

use longhaul_core::canonical::sha256;
use longhaul_core::trigger::{self, Delivery, Evidence, Problem, Start};
use longhaul_events::{Digest, TaskId};

pub use firing::Fired;
pub use ticks::Ticks;

use crate::commands::Commands;
use crate::error::Error;
use crate::system::System;
use draining::{Drain, Message};
use served::{Served, Set};
use ticks::Clockwork;

/// How an intake is set up.
#[derive(Debug, Clone, Copy)]
pub struct IntakeOptions {
    /// How many signed deliveries may wait to be stored.
    pub most_waiting: usize,
    /// How many of them are stored at once.
    pub most_at_once: usize,
}

impl Default for IntakeOptions {
    fn default() -> Self {
        Self { most_waiting: 1024, most_at_once: 128 }
    }
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It is in the queue, on disk.
    Task(TaskId),
    /// It, or one for the same thing, is there already.
    Duplicate(TaskId),
    NotWanted(String),
    /// It is signed, and no task can be made of it.
    Refused(String),
    Skipped(String),
    /// Nobody who knows the secret sent it, or nobody can tell.
    Unsigned,
    /// There is no such trigger, or it takes no requests.
    Unknown,
    TooLarge,
    /// Too many wait. The sender shall come again.
    Busy,
    /// It could not be stored. The sender shall come again.
    Failed(String),
}

/// Something of triggers that a person has to put right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub about: String,
    pub problem: String,
    pub remedy: String,
}

/// An intake that serves.
#[derive(Debug)]
pub struct Intake {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    sender: Mutex<Option<SyncSender<Message>>>,
}

/// What its thread and those who bring something share.
#[derive(Debug)]
pub(crate) struct Shared {
    system: System,
    commands: Arc<Commands>,
    set: RwLock<Arc<Set>>,
    clockwork: Mutex<Clockwork>,
}

impl Intake {
    /// Reads the files of triggers and begins to serve.
    pub fn start(system: System, commands: Arc<Commands>, options: IntakeOptions) -> Result<Self, Error> {
        let shared =
            Arc::new(Shared { system, commands, set: RwLock::default(), clockwork: Mutex::default() });
        let (sender, receiver) = mpsc::sync_channel(options.most_waiting.max(1));
        let mut drain = Drain::load(Arc::clone(&shared), receiver, options.most_at_once.max(1))?;
        drain.reload()?;
        let thread = std::thread::Builder::new().name("intake".to_owned());
        let thread = thread.spawn(move || drain.serve()).map_err(Error::Thread)?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)), sender: Mutex::new(Some(sender)) })
    }

    /// Judges a request and has it stored if somebody signed it. `answer` is called once, when that is done.
    ///
    /// A trigger that is not there costs the same as a wrong signature.
    pub fn receive(
        &self,
        scope: &str,
        id: &str,
        delivery: &Delivery,
        answer: impl FnOnce(Answer) + Send + 'static,
    ) {
        let set = self.shared.set();
        let served = set.find(scope, id).filter(|served| takes_requests(served));
        let Some(served) = served else {
            let _ = judged(decoy(), delivery, self);
            return answer(Answer::Unknown);
        };
        match judged(served, delivery, self) {
            trigger::Judged::Refused(problem) if problem.is_unsigned() => {
                tracing::info!(trigger = %served.full_name, "a request that is not signed as it should be");
                answer(Answer::Unsigned);
            }
            trigger::Judged::Refused(Problem::TooLarge { .. }) => answer(Answer::TooLarge),
            judged => {
                let body = sha256(&delivery.body);
                let Start::Webhook(webhook) = &served.trigger.start else { return answer(Answer::Unknown) };
                let key = delivery.key(webhook).as_str().to_owned();
                let id = key.strip_prefix("id:").or_else(|| delivery.id()).map(str::to_owned);
                let arrived = Arrived { served: Arc::clone(served), judged, key, id, body };
                self.send(Message::Arrived(Box::new(arrived), Box::new(answer)));
            }
        }
    }

    fn send(&self, message: Message) {
        let sender = lock(&self.sender).clone();
        let refused = match sender {
            Some(sender) => match sender.try_send(message) {
                Ok(()) => return,
                Err(TrySendError::Full(message) | TrySendError::Disconnected(message)) => message,
            },
            // It ends, and whoever comes after it will take this.
            None => message,
        };
        match refused {
            Message::Arrived(_, answer) => answer(Answer::Busy),
            Message::Reload(_) => {}
        }
    }

    /// Reads the files of triggers anew, and returns when that is done. They are also looked at by and by.
    pub fn reload(&self) -> Result<(), Error> {
        let (told, done) = mpsc::sync_channel(1);
        let sender = lock(&self.sender).clone();
        if sender.is_some_and(|sender| sender.send(Message::Reload(told)).is_ok()) {
            return done.recv().unwrap_or(Ok(()));
        }
        Ok(())
    }

    /// What a person has to put right about triggers.
    pub fn troubles(&self) -> Vec<Trouble> {
        self.shared.set().troubles.clone()
    }

    /// Takes no more, and returns when all that waits is stored.
    pub fn stop(&self) {
        drop(lock(&self.sender).take());
        if let Some(thread) = lock(&self.thread).take() {
            // What it died of was told when it happened.
            let _ = thread.join();
        }
    }
}

impl Drop for Intake {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A delivery that somebody signed.
#[derive(Debug)]
pub(crate) struct Arrived {
    served: Arc<Served>,
    judged: trigger::Judged,
    key: String,
    id: Option<String>,
    body: Digest,
}

impl Shared {
    fn set(&self) -> Arc<Set> {
        Arc::clone(&self.set.read().unwrap_or_else(PoisonError::into_inner))
    }
}

const fn takes_requests(served: &Served) -> bool {
    matches!(served.trigger.start, Start::Webhook(_))
}

fn judged(served: &Served, delivery: &Delivery, intake: &Intake) -> trigger::Judged {
    let evidence = Evidence { secret: served.secret.as_deref(), now: intake.shared.commands.now() };
    trigger::judge(&served.trigger, delivery, evidence)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A trigger that nobody knows the secret of, to be compared with where there is none.
fn decoy() -> &'static Served {
    served::decoy()
}
