//! What an agent wants known beside its answer: issues, mistakes of the workflow, facts, questions.

use longhaul_core::session::{Command, Session};
use longhaul_events::{Content, NodeId, ReportKind, Seq, SessionEvent, SessionId};
use serde_json::Value;

use super::{Commands, check_text};
use crate::error::Error;
use crate::recorder::{Contents, Decided};

impl Commands {
    /// Puts a report on record. Said twice at the same step, it is kept once. Says whether it was new.
    pub fn report(&self, id: SessionId, kind: ReportKind, report: &Value) -> Result<bool, Error> {
        check_text("the report", &report.to_string())?;
        self.decide_and_keep(id, &Contents::default(), |session| {
            if self.is_reported(session, kind, report)? {
                return Ok(Decided::Nothing(false));
            }
            let command = Command::Report { kind, report: Content::Inline(report.clone()) };
            Ok(Decided::Events(session.decide(command)?, true))
        })
        .map(|(is_new, _)| is_new)
    }

    /// Compared as it is stored, without secrets, and only within the step: elsewhere it is news again.
    fn is_reported(&self, session: &Session, kind: ReportKind, report: &Value) -> Result<bool, Error> {
        let mut report = report.clone();
        self.recorder.scrubber().value(&mut report);
        let here = session.node();
        let since = here.map_or(Seq(0), |NodeId(seq)| Seq(seq.0.saturating_sub(1)));
        let found = self.each_decision(session.id, since, |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                if let SessionEvent::Reported { node, kind: said, report: kept } = &event
                    && (*node, *said) == (here, kind)
                    && self.value_of(kept)? == report
                {
                    return Ok(Some(()));
                }
            }
            Ok(None)
        })?;
        Ok(found.is_some())
    }
}
