//! Waiting for somebody who may never answer, while whoever waits may be called away.

use std::pin::pin;
use std::time::{Duration, Instant};

use crate::ask::Watch;
use crate::failure::Failure;

/// How often somebody who waits looks up.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// Who only shows that it is there gets so many times the patience: a model may think for long without a word, but not
/// for ever.
const ALIVE: u32 = 5;

/// How long nothing was heard.
pub(crate) struct Silence<'a> {
    watch: &'a dyn Watch,
    looked: Instant,
    /// When anything came.
    alive: Instant,
    /// When something of the answer came.
    progressed: Instant,
}

impl<'a> Silence<'a> {
    pub(crate) fn begin(watch: &'a dyn Watch) -> Self {
        let now = Instant::now();
        Self { watch, looked: now, alive: now, progressed: now }
    }

    pub(crate) fn is_alive(&mut self) {
        self.alive = Instant::now();
    }

    pub(crate) fn progresses(&mut self) {
        self.is_alive();
        self.progressed = self.alive;
    }

    /// Waits until it comes, patience is at its end, or nobody wants it any more.
    pub(crate) async fn wait<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Failure> {
        let mut work = pin!(work);
        loop {
            // Also when pieces come so fast that there is never a pause.
            if self.looked.elapsed() >= LOOK_EVERY {
                self.look()?;
            }
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    fn look(&mut self) -> Result<(), Failure> {
        self.looked = Instant::now();
        if !self.watch.is_wanted() {
            return Err(Failure::Stopped);
        }
        let patience = self.watch.patience();
        let silent = |since: Instant| self.looked.saturating_duration_since(since);
        let is_over =
            silent(self.alive) > patience || silent(self.progressed) > patience.saturating_mul(ALIVE);
        if is_over {
            let ms = silent(self.progressed).as_millis();
            return Err(Failure::Stalled { ms: u64::try_from(ms).unwrap_or(u64::MAX) });
        }
        Ok(())
    }
}
