//! Waiting for the end of a session that an agent of ours does, at a terminal.

use longhaul_runtime::types::{SessionId, Urgency, Waits, rfc3339};
use longhaul_runtime::{Commands, System};

use crate::context::Context;

/// Somebody who waits for the end of a run.
pub(crate) struct Following<'a> {
    context: &'a Context,
    system: &'a System,
    commands: &'a Commands,
    session: SessionId,
    /// How many interrupts were passed on.
    heeded: u32,
    /// What it waits for by itself, if somebody was told of it.
    waits: Option<Waits>,
}

impl<'a> Following<'a> {
    pub(crate) const fn new(
        context: &'a Context,
        system: &'a System,
        commands: &'a Commands,
        session: SessionId,
    ) -> Self {
        Self { context, system, commands, session, heeded: 0, waits: None }
    }

    /// Says once what is waited for that comes by itself.
    fn tell_of_waits(&mut self) {
        let Ok(waits) = self.system.awaited(self.commands, self.session) else { return };
        if waits == self.waits {
            return;
        }
        self.waits = waits;
        if let Some(Waits { on, until, wake_at }) = &self.waits {
            let (until, wake_at) = (rfc3339(*until), rfc3339(*wake_at));
            self.context.output.complain(&format!(
                "the limit of `{on}` is used up until {until}; it goes on by itself at {wake_at}, Ctrl-C stops it"
            ));
        }
    }

    /// Ctrl-C stops the session; a terminal that is lost does not.
    pub(crate) fn heed(&mut self) {
        self.tell_of_waits();
        let id = self.session;
        match self.system.heed_interrupts(self.commands, id, &mut self.heeded) {
            Ok(None) => {}
            Ok(Some(Urgency::AfterGrace)) => self.context.output.complain(&format!(
                "stopping session {id}; what is under way has 10 s to end, Ctrl-C again ends it at once"
            )),
            Ok(Some(Urgency::Now)) => self.context.output.complain("ending it at once"),
            Err(error) => {
                self.context
                    .output
                    .complain(&format!("could not stop it: {error}; try `longhaul stop {id}`"));
            }
        }
    }
}
