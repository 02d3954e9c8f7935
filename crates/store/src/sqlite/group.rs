//! Group commit without a writer thread: whoever comes first leads, and takes along all who came meanwhile.
//!
//! A lone append pays for no hand-over between threads; sixty-four at once share one sync to disk.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::append::{Append, Appended};
use crate::error::{AppendError, StoreError};

/// More in one transaction would make the first of them wait for the last.
const LARGEST_GROUP: usize = 256;

/// How long a leader waits for a group to gather.
const LONGEST_GATHERING: Duration = Duration::from_micros(400);

type Answer = Result<Appended, AppendError>;

#[derive(Debug, Default)]
pub(super) struct Group(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<Arc<Ticket>>,
    led: bool,
    /// How many the last group had.
    last_size: usize,
}

#[derive(Debug)]
struct Ticket {
    state: Mutex<TicketState>,
    thread: Thread,
}

#[derive(Debug)]
enum TicketState {
    Waiting(Append),
    /// In a transaction now.
    Taken,
    /// Still waiting, and to lead the next group.
    Promoted(Append),
    Answered(Answer),
    Collected,
}

impl Group {
    /// Hands in an append and returns its answer; `commit` answers a whole group in order.
    pub(super) fn submit(&self, append: Append, commit: impl Fn(Vec<Append>) -> Vec<Answer>) -> Answer {
        let ticket =
            Arc::new(Ticket { state: Mutex::new(TicketState::Waiting(append)), thread: thread::current() });
        let leads = {
            let mut queue = lock(&self.0);
            queue.waiting.push(ticket.clone());
            !std::mem::replace(&mut queue.led, true)
        };
        if !leads && let Some(answer) = ticket.wait() {
            return answer;
        }
        self.lead(&commit);
        ticket.wait().expect("a leader is in its own group")
    }

    fn lead(&self, commit: impl Fn(Vec<Append>) -> Vec<Answer>) {
        let group = self.next_group();
        let appends = group.iter().filter_map(|ticket| ticket.take()).collect();
        let outcome = catch_unwind(AssertUnwindSafe(|| commit(appends)));
        // The next leader starts before this group is woken: its sync to disk takes longer than the waking.
        self.pass_on();
        match outcome {
            Ok(answers) => group.iter().zip(answers).for_each(|(ticket, answer)| ticket.answer(answer)),
            Err(panic) => {
                let failed = || Err(StoreError::Bug("a panic during commit".to_owned()).into());
                group.iter().for_each(|ticket| ticket.answer(failed()));
                resume_unwind(panic);
            }
        }
    }

    /// Those who wait now. After a large group its members are still being woken and will be back in a moment:
    /// a short wait for them saves a sync to disk. Whoever is alone never waits.
    fn next_group(&self) -> Vec<Arc<Ticket>> {
        let deadline = Instant::now() + LONGEST_GATHERING;
        loop {
            let mut queue = lock(&self.0);
            let expected = queue.last_size / 4 * 3;
            if queue.waiting.len() >= expected || Instant::now() >= deadline {
                let size = queue.waiting.len().min(LARGEST_GROUP);
                queue.last_size = size;
                return queue.waiting.drain(..size).collect();
            }
            drop(queue);
            thread::yield_now();
        }
    }

    /// Makes the first of those who came meanwhile the next leader.
    fn pass_on(&self) {
        let mut queue = lock(&self.0);
        match queue.waiting.first() {
            Some(ticket) => ticket.promote(),
            None => queue.led = false,
        }
    }
}

impl Ticket {
    /// Sleeps until there is an answer, or `None` when it is our turn to lead.
    fn wait(&self) -> Option<Answer> {
        loop {
            {
                let mut state = lock(&self.state);
                match std::mem::replace(&mut *state, TicketState::Collected) {
                    TicketState::Answered(answer) => return Some(answer),
                    TicketState::Promoted(append) => {
                        *state = TicketState::Waiting(append);
                        return None;
                    }
                    other => *state = other,
                }
            }
            thread::park();
        }
    }

    fn take(&self) -> Option<Append> {
        match std::mem::replace(&mut *lock(&self.state), TicketState::Taken) {
            TicketState::Waiting(append) | TicketState::Promoted(append) => Some(append),
            TicketState::Taken | TicketState::Answered(_) | TicketState::Collected => None,
        }
    }

    fn promote(&self) {
        let mut state = lock(&self.state);
        if let TicketState::Waiting(append) = std::mem::replace(&mut *state, TicketState::Taken) {
            *state = TicketState::Promoted(append);
        }
        self.thread.unpark();
    }

    fn answer(&self, answer: Answer) {
        *lock(&self.state) = TicketState::Answered(answer);
        self.thread.unpark();
    }
}

/// A poisoned lock is still good: nothing is half done while one is held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
