//! Tells people what is new, in a thread of its own: their commands and webhooks may take their time.

use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use longhaul_events::Position;

use super::{Shared, lock};
use crate::error::Error;
use crate::notifying::Notifier;

/// How often it is looked whether anything is new.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How often it is looked though nothing happened: something may be due, or may be tried again.
const LOOKS_BETWEEN: u32 = 15;

#[derive(Debug)]
pub(super) struct News {
    stop: SyncSender<()>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl News {
    pub(super) fn start(shared: Arc<Shared>) -> Result<Self, Error> {
        let (stop, stopping) = mpsc::sync_channel(1);
        let no_thread = |source| Error::ReadFile { path: "a thread".into(), source };
        let thread = std::thread::Builder::new().name("news".to_owned());
        let thread = thread.spawn(move || {
            let notifier = Notifier::new(&shared.system, shared.now());
            let (mut seen, mut idle) = (Position(0), LOOKS_BETWEEN);
            while stopping.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                let position = shared.commands.last_position().unwrap_or(seen);
                idle += 1;
                if position == seen && idle < LOOKS_BETWEEN {
                    continue;
                }
                (seen, idle) = (position, 0);
                let told = shared
                    .system
                    .desk()
                    .and_then(|desk| notifier.look(&shared.commands, shared.now(), &desk));
                if let Err(error) = told {
                    tracing::warn!(%error, "could not tell people what is new");
                }
            }
        });
        Ok(Self { stop, thread: Mutex::new(Some(thread.map_err(no_thread)?)) })
    }

    pub(super) fn stop(&self) {
        let _ = self.stop.try_send(());
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}
