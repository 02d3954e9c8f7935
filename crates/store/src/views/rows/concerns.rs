//! What a row keeps of a session for the people who look after it: since when it stands where it does, what was asked, and
//! how far its change got.

use longhaul_core::question::Question;
use longhaul_events::{Content, DeliveryAct, DeliveryFact, NodeId, ReportKind, Seq, SessionEvent, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A session that asks more than this has its oldest questions forgotten here; the log keeps them.
const MOST_QUESTIONS: usize = 20;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concerns {
    /// The event with which it came to where it stands: parked, at a gate, closed.
    pub halted: Option<(Seq, Timestamp)>,
    /// What the first reason says to do, if it is parked.
    pub fix: String,
    pub questions: Vec<QuestionRow>,
    pub reached: Reached,
}

/// A question, and where it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionRow {
    pub seq: Seq,
    pub at: Timestamp,
    pub node: Option<NodeId>,
    pub question: Question,
}

/// How far the change of a session got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    #[default]
    Nothing,
    Branch,
    Pull,
    Merged,
}

impl Concerns {
    pub(super) fn apply(&mut self, seq: Seq, at: Timestamp, event: &SessionEvent) {
        match event {
            SessionEvent::Parked { reasons, .. } => {
                self.halted = Some((seq, at));
                self.fix = reasons.first().map(|first| first.fix.clone()).unwrap_or_default();
            }
            SessionEvent::GateOpened { .. } | SessionEvent::Closed { .. } => self.stop(seq, at),
            SessionEvent::StepHandedOut { .. }
            | SessionEvent::Unparked { .. }
            | SessionEvent::WorkBegan { .. }
            | SessionEvent::GateAnswered { .. }
            | SessionEvent::Continued { .. } => self.go_on(),
            SessionEvent::Forked { from, .. } => {
                self.go_on();
                // What was asked on a way that was left is asked no more.
                self.questions.retain(|asked| asked.node.is_none_or(|node| node < *from));
            }
            SessionEvent::Reported { node, kind: ReportKind::Question, report } => {
                let question = match report {
                    Content::Inline(report) => Question::read(report),
                    // Only earlier releases took one that is so long.
                    Content::Blob(blob) => {
                        Question::read(&json!({ "question": format!("({} bytes)", blob.bytes) }))
                    }
                };
                self.ask(QuestionRow { seq, at, node: *node, question });
            }
            SessionEvent::Delivery { fact: DeliveryFact::Received { act, .. }, .. } => {
                self.reached = self.reached.max(reached(*act));
            }
            SessionEvent::Reported { .. }
            | SessionEvent::Delivery { fact: DeliveryFact::Intended { .. }, .. }
            | SessionEvent::Opened { .. }
            | SessionEvent::WorkflowPinned { .. }
            | SessionEvent::DriverTaken { .. }
            | SessionEvent::DriverRenewed { .. }
            | SessionEvent::DriverExpired { .. }
            | SessionEvent::DriverReleased { .. }
            | SessionEvent::StepFinished { .. }
            | SessionEvent::AttemptRefused { .. }
            | SessionEvent::HandleReissued { .. }
            | SessionEvent::VarsChanged { .. }
            | SessionEvent::WayChosen { .. }
            | SessionEvent::Decided { .. }
            | SessionEvent::LoopExhausted { .. }
            | SessionEvent::WorkStarted { .. }
            | SessionEvent::WorkFinished { .. }
            | SessionEvent::GateExpired { .. }
            | SessionEvent::StopRequested { .. }
            | SessionEvent::Checkpointed { .. }
            | SessionEvent::Agent { .. }
            | SessionEvent::Rewound { .. }
            | SessionEvent::CheckoutMade { .. }
            | SessionEvent::Snapshotted { .. }
            | SessionEvent::CheckoutRemoved { .. } => {}
        }
    }

    fn stop(&mut self, seq: Seq, at: Timestamp) {
        self.halted = Some((seq, at));
        self.fix.clear();
    }

    fn go_on(&mut self) {
        self.halted = None;
        self.fix.clear();
    }

    fn ask(&mut self, question: QuestionRow) {
        if self.questions.len() >= MOST_QUESTIONS {
            self.questions.remove(0);
        }
        self.questions.push(question);
    }
}

const fn reached(act: DeliveryAct) -> Reached {
    match act {
        DeliveryAct::Commit | DeliveryAct::Comment | DeliveryAct::RemoveBranch | DeliveryAct::Close => {
            Reached::Nothing
        }
        DeliveryAct::Branch => Reached::Branch,
        DeliveryAct::PullRequest => Reached::Pull,
        DeliveryAct::Merge => Reached::Merged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_events::{CloseOutcome, Reason, StepId};

    fn after(events: &[SessionEvent]) -> Concerns {
        let mut concerns = Concerns::default();
        for (event, number) in events.iter().zip(1..) {
            let at = Timestamp(i64::try_from(number).unwrap() * 10);
            concerns.apply(Seq(number), at, event);
        }
        concerns
    }

    fn asked(node: u64, report: serde_json::Value) -> SessionEvent {
        let report = Content::Inline(report);
        SessionEvent::Reported { node: Some(NodeId(Seq(node))), kind: ReportKind::Question, report }
    }

    fn parked() -> SessionEvent {
        let (node, step) = (NodeId(Seq(1)), StepId("look".into()));
        let reasons = vec![Reason::new("stuck", "it only talks", "say something")];
        SessionEvent::Parked {
            node,
            after: None,
            step,
            reasons,
            place: longhaul_events::Place::default(),
            waits: None,
        }
    }

    #[test]
    fn where_a_session_stands_has_an_event_and_what_to_do() {
        let stuck = after(&[parked()]);
        assert_eq!((stuck.halted, stuck.fix.as_str()), (Some((Seq(1), Timestamp(10))), "say something"));
        let closed = after(&[parked(), SessionEvent::Closed { outcome: CloseOutcome::Completed }]);
        assert_eq!((closed.halted, closed.fix.as_str()), (Some((Seq(2), Timestamp(20))), ""));
    }

    #[test]
    fn questions_are_kept_up_to_a_number_old_ones_too() {
        let all = after(&[asked(1, json!({ "question": "Old?", "options": ["a"] }))]);
        assert_eq!((all.questions.len(), all.questions[0].question.text.as_str()), (1, "Old?"));
        let many: Vec<SessionEvent> = (0..30)
            .map(|number| asked(1, json!({ "question": number.to_string(), "default": "a" })))
            .collect();
        let kept = after(&many);
        assert_eq!((kept.questions.len(), kept.questions[0].question.text.as_str()), (20, "10"));
    }
}
