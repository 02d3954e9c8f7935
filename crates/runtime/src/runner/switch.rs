//! What ends the programs of a session: for good, or only the calls that are under way.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use longhaul_exec::Stopper;

use super::rest::{self, AtRest};

/// Ends the programs that are running, and those that would be started next.
#[derive(Debug, Default)]
pub(super) struct StopSwitch {
    state: Mutex<StopState>,
    at_rest: AtRest,
}

#[derive(Debug, Default)]
struct StopState {
    /// Nothing more is begun.
    stopped: bool,
    /// What runs is ended too.
    forced: bool,
    programs: Vec<Stopper>,
    calls: Option<Calls>,
}

/// Calls that are under way.
#[derive(Debug, Clone, Copy)]
struct Calls {
    since: Instant,
    ended: Option<CutShort>,
}

/// Why calls were ended while the session itself is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CutShort {
    /// The session may not be at work any longer.
    TimeIsUp,
    /// No call takes that long.
    Silent { ms: u64 },
}

impl StopSwitch {
    /// For the steps of an agent, which can be taken up again after any turn and any call.
    pub(super) fn of_steps(at_rest: AtRest) -> Self {
        Self { at_rest, ..Self::default() }
    }

    fn state(&self) -> MutexGuard<'_, StopState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets nothing more begin, and what runs end by itself.
    pub(super) fn wind_down(&self) {
        self.state().stopped = true;
    }

    /// Ends everything, now.
    pub(super) fn stop(&self) {
        let mut state = self.state();
        state.stopped = true;
        state.forced = true;
        state.programs.iter().for_each(Stopper::stop);
    }

    /// Whether nothing more may begin.
    pub(super) fn is_stopped(&self) -> bool {
        self.state().stopped || self.rests()
    }

    fn rests(&self) -> bool {
        self.at_rest.is_due()
    }

    /// Whether an answer that was asked for is still waited for.
    pub(super) fn awaits_answer(&self) -> bool {
        !self.state().stopped && !self.gave_up_waiting()
    }

    /// Whether only the wish to rest ends the waiting for an answer.
    pub(super) fn gave_up_waiting(&self) -> bool {
        self.rests() && rest::is_overdue()
    }

    /// Ends the calls that are under way, if they may not come to their end before a rest.
    pub(super) fn hurry_to_rest(&self) {
        if self.rests() && rest::is_urgent() {
            self.stop();
        }
    }

    /// Whether what ran was ended.
    pub(super) fn was_forced(&self) -> bool {
        self.state().forced
    }

    pub(super) fn watch(&self, program: Stopper) {
        let mut state = self.state();
        if state.forced || state.calls.is_some_and(|calls| calls.ended.is_some()) {
            program.stop();
        }
        state.programs.push(program);
    }

    /// From here on calls are under way, until [`Self::calls_over`].
    pub(super) fn begin_calls(&self) {
        let mut state = self.state();
        state.programs.clear();
        state.calls = Some(Calls { since: Instant::now(), ended: None });
    }

    pub(super) fn calls_over(&self) {
        let mut state = self.state();
        state.programs.clear();
        state.calls = None;
    }

    /// Ends the calls that are under way. The first reason counts.
    pub(super) fn cut_short(&self, because: CutShort) {
        let mut state = self.state();
        let Some(calls) = &mut state.calls else { return };
        if calls.ended.is_none() {
            calls.ended = Some(because);
            state.programs.iter().for_each(Stopper::stop);
        }
    }

    pub(super) fn was_cut_short(&self) -> Option<CutShort> {
        self.state().calls?.ended
    }

    /// How long calls have been under way.
    pub(super) fn calls_for(&self) -> Option<Duration> {
        self.state().calls.map(|calls| calls.since.elapsed())
    }
}
