//! Ending a daemon from outside: asking it in one of the ways, seeing it gone, and saying what it leaves.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use longhaul_exec::Plea;

use super::lock::{self, Holder, Lookup};
use super::resting::{self, Rested};
use super::start::{is_gone, shown};
use super::wish::{Farewell, Wish};
use crate::clock::{Clock as _, SystemClock};
use crate::error::{Error, LifecycleError};
use crate::system::System;
use crate::terminal;

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The loop, its runners, and some more.
const ENDS_WITHIN: Duration = Duration::from_mins(1);
/// Whoever is in a hurry kills it then.
const ENDS_AT_ONCE_WITHIN: Duration = Duration::from_secs(15);
const NAMES_ITSELF_WITHIN: Duration = Duration::from_secs(5);

/// A daemon that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    pub holder: Holder,
    /// It did not heed the request, and was killed.
    pub was_killed: bool,
    /// What became of its runners.
    pub runners: Rested,
    /// Sessions at work that were never the daemon's; they go on.
    pub others: usize,
}

impl System {
    /// Ends the daemon and returns when it is gone; `None` if there is none.
    pub fn stop_daemon(&self, farewell: Farewell) -> Result<Option<Stopped>, Error> {
        terminal::refuse_agents()?;
        let Some(holder) = self.daemon_to_end()? else {
            self.clear_after_dead();
            return Ok(None);
        };
        let runners = resting::runners(self)?;
        let others = resting::others_at_work(self, &runners)?;
        let was_killed = self.have_end(&holder, farewell)?;
        Ok(Some(Stopped { holder, was_killed, runners: Rested::of(runners), others }))
    }

    /// Asks the daemon to end and does not wait for that: whoever asks may be inside of it. Says whether there is one. Whether
    /// they may ask is for the caller to know.
    pub fn ask_daemon_to_end(&self, farewell: Farewell) -> Result<bool, Error> {
        let Some(holder) = self.daemon_to_end()? else { return Ok(false) };
        wish(&holder, farewell)?;
        longhaul_exec::ask(holder.process.process, holder.process.started, Plea::End);
        Ok(true)
    }

    /// Who is to be asked. One that is about to say who it is is waited for.
    pub(super) fn daemon_to_end(&self) -> Result<Option<Holder>, Error> {
        let start = Instant::now();
        loop {
            match lock::look(self.places()) {
                Lookup::Nobody | Lookup::Died(_) => return Ok(None),
                Lookup::Here(holder) => return Ok(Some(holder)),
                Lookup::Elsewhere(holder) => {
                    return Err(LifecycleError::Elsewhere { holder: holder.in_words() }.into());
                }
                Lookup::Unnamed if start.elapsed() >= NAMES_ITSELF_WITHIN => {
                    let holder = "it has not said who it is".to_owned();
                    return Err(LifecycleError::Held { holder }.into());
                }
                Lookup::Unnamed => thread::sleep(LOOK_EVERY),
            }
        }
    }

    /// Has a daemon end in this way. Says whether it had to be killed.
    pub(super) fn have_end(&self, holder: &Holder, farewell: Farewell) -> Result<bool, Error> {
        wish(holder, farewell)?;
        let (process, started) = (holder.process.process, holder.process.started);
        longhaul_exec::ask(process, started, Plea::End);
        let start = Instant::now();
        let mut was_killed = false;
        while !is_gone(holder, self) {
            let limit = match farewell {
                Farewell::Drain => Duration::MAX,
                Farewell::HandOver | Farewell::Rest => ENDS_WITHIN,
                Farewell::Now => ENDS_AT_ONCE_WITHIN,
            };
            if start.elapsed() >= limit {
                if farewell != Farewell::Now || was_killed {
                    return Err(LifecycleError::DoesNotEnd { process, waited: shown(start.elapsed()) }.into());
                }
                longhaul_exec::ask(process, started, Plea::Die);
                was_killed = true;
                thread::sleep(Duration::from_millis(200));
            }
            thread::sleep(LOOK_EVERY);
        }
        if was_killed {
            self.clear_after_dead();
        }
        Ok(was_killed)
    }

    /// Takes away what a daemon that died left, unless somebody serves by now.
    fn clear_after_dead(&self) {
        for path in self.stale_daemon_files() {
            let _ = fs::remove_file(path);
        }
    }
}

/// Puts down how a daemon is to end, where it looks when it is woken.
pub(super) fn wish(holder: &Holder, farewell: Farewell) -> Result<(), Error> {
    let (of, by, at) = (holder.process.clone(), terminal::user_name(), SystemClock.now());
    Wish { of, farewell, by, at }.write(&holder.run.join("daemon.wish.json"))
}
