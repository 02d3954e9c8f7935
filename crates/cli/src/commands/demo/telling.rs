//! What happens in the demo, a line for each step of its pipeline.

use std::time::Instant;

use longhaul_runtime::types::SessionId;
use longhaul_runtime::{Commands, Error, Happened, Reader, StoryTail};

use crate::error::CliError;
use crate::output::cut;
use crate::worked;

/// The longest line that a step is told in.
const WIDEST: usize = 120;
/// How an act of a delivery is told that is over.
const DONE: &str = "is done";

/// Somebody who tells the story while it happens.
pub(super) struct Telling {
    reader: Reader,
    tail: StoryTail,
    began: Instant,
    /// The step of the engine's own that is under way.
    at: Option<String>,
}

impl Telling {
    pub(super) fn of(commands: &Commands, session: SessionId, began: Instant) -> Result<Self, CliError> {
        let reader = commands.reader().ok_or(Error::UnknownSession(session))?;
        Ok(Self { reader, tail: StoryTail::of(session).with_reasons(), began, at: None })
    }

    pub(super) fn at(&self) -> Option<&str> {
        self.at.as_deref()
    }

    /// Says what happened since it was last asked. What cannot be read now is told later.
    pub(super) fn tell(&mut self, mut say: impl FnMut(&str)) {
        let Ok(entries) = self.reader.tell_more(&mut self.tail) else { return };
        for entry in entries {
            if let Happened::WorkStarted { step, .. } = &entry.what {
                self.at = Some(step.0.clone());
            }
            if let Some((step, told)) = told(&entry.what) {
                let seconds = self.began.elapsed().as_secs_f64();
                let line = format!("{seconds:5.1} s  {step:<14} {told}");
                say(&cut(&line, WIDEST));
            }
        }
    }
}

/// The step, and what came of it.
fn told(what: &Happened) -> Option<(&str, String)> {
    if let Happened::WorkFinished { step, result } = what {
        return Some((&step.0, worked::in_words(result)));
    }
    if let Happened::Decided(ruled) = what {
        return Some((&ruled.step.0, format!("{}: {}", ruled.decision, ruled.because)));
    }
    if let Happened::Delivery { step, act, how, .. } = what {
        return (*how == DONE).then(|| (step.0.as_str(), format!("done: {}", act.replace('_', " "))));
    }
    if let Happened::GateOpened { step, question, .. } = what {
        return Some((&step.0, format!("asks a person: {question}")));
    }
    if let Happened::Parked { step, reasons } = what {
        return Some((&step.0, reasons.first().map(|reason| reason.message.clone()).unwrap_or_default()));
    }
    None
}
