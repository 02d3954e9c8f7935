//! What an agent wants known beside its answer: issues, mistakes of the workflow, facts, questions.

use longhaul_core::session::{Command, Session};
use longhaul_events::{Content, NodeId, ReportKind, Seq, SessionEvent, SessionId};
use serde_json::Value;

use super::{Commands, check_text};
use crate::error::Error;
use crate::recorder::{Contents, Decided};

/// What somebody wants on record.
struct Said<'a> {
    session: SessionId,
    kind: ReportKind,
    report: &'a Value,
}

impl Commands {
    /// Puts a report on record. Said twice at the same step, it is kept once. Says whether it was new.
    pub fn report(&self, id: SessionId, kind: ReportKind, report: &Value) -> Result<bool, Error> {
        check_text("the report", &report.to_string())?;
        let said = Said { session: id, kind, report };
        self.report_unless(&said, |session| self.is_reported(session, kind, report))
    }

    /// Puts on record that a host was not let through. Kept once for each host, however often it is wanted.
    pub(crate) fn report_refused_host(&self, id: SessionId, report: &Value) -> Result<bool, Error> {
        let mut report = report.clone();
        // A name of a host is looked at in small letters, in which a secret is not recognised otherwise.
        self.scrubber().in_any_case().value(&mut report);
        let said = Said { session: id, kind: ReportKind::HostRefused, report: &report };
        self.report_unless(&said, |session| {
            self.finds_report(session, Seq(0), |_, kind, kept| {
                kind == ReportKind::HostRefused && kept["host"] == report["host"]
            })
        })
    }

    fn report_unless(
        &self,
        said: &Said<'_>,
        is_known: impl Fn(&Session) -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        self.decide_and_keep(said.session, &Contents::default(), |session| {
            if is_known(session)? {
                return Ok(Decided::Nothing(false));
            }
            let command = Command::Report { kind: said.kind, report: Content::Inline(said.report.clone()) };
            Ok(Decided::Events(session.decide(command)?, true))
        })
        .map(|(is_new, _)| is_new)
    }

    /// Without secrets, to be compared with what is.
    fn as_stored(&self, report: &Value) -> Value {
        let mut report = report.clone();
        self.recorder.scrubber().value(&mut report);
        report
    }

    /// Only within the step: elsewhere it is news again.
    fn is_reported(&self, session: &Session, kind: ReportKind, report: &Value) -> Result<bool, Error> {
        let report = self.as_stored(report);
        let here = session.node();
        let since = here.map_or(Seq(0), |NodeId(seq)| Seq(seq.0.saturating_sub(1)));
        self.finds_report(session, since, |node, said, kept| (node, said) == (here, kind) && *kept == report)
    }

    fn finds_report(
        &self,
        session: &Session,
        since: Seq,
        is_it: impl Fn(Option<NodeId>, ReportKind, &Value) -> bool,
    ) -> Result<bool, Error> {
        let found = self.each_decision(session.id, since, |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                if let SessionEvent::Reported { node, kind, report } = &event
                    && is_it(*node, *kind, &self.value_of(report)?)
                {
                    return Ok(Some(()));
                }
            }
            Ok(None)
        })?;
        Ok(found.is_some())
    }
}
