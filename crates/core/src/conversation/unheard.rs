//! What a person said to the agent of a session and no answer of it has seen yet.
//!
//! Folded from the log, so that nothing that comes in between loses it: a step of the engine's own, a gate, a driver that
//! dies.

use longhaul_events::{AgentAct, Content, NodeId, SessionEvent};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unheard {
    waiting: Vec<Said>,
    /// What was told before the answer that came last. What is told once more right behind it was said while the answer was
    /// made.
    before_answer: Vec<Said>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Said {
    words: String,
    /// Where the agent is asked with it.
    node: NodeId,
}

impl Unheard {
    /// Takes in one more fact. `read` gets at what was said.
    pub fn apply<E>(
        &mut self,
        event: &SessionEvent,
        read: impl Fn(&Content) -> Result<String, E>,
    ) -> Result<(), E> {
        match event {
            SessionEvent::Agent { node: Some(node), act } => self.act(*node, act, read)?,
            // Whoever goes back says anew what counts there.
            SessionEvent::Rewound { .. } | SessionEvent::Forked { .. } => *self = Self::default(),
            SessionEvent::Agent { node: None, .. }
            | SessionEvent::Opened { .. }
            | SessionEvent::WorkflowPinned { .. }
            | SessionEvent::DriverTaken { .. }
            | SessionEvent::DriverRenewed { .. }
            | SessionEvent::DriverExpired { .. }
            | SessionEvent::DriverReleased { .. }
            | SessionEvent::StepHandedOut { .. }
            | SessionEvent::StepFinished { .. }
            | SessionEvent::AttemptRefused { .. }
            | SessionEvent::HandleReissued { .. }
            | SessionEvent::VarsChanged { .. }
            | SessionEvent::WayChosen { .. }
            | SessionEvent::Decided { .. }
            | SessionEvent::LoopExhausted { .. }
            | SessionEvent::WorkBegan { .. }
            | SessionEvent::WorkStarted { .. }
            | SessionEvent::WorkFinished { .. }
            | SessionEvent::GateOpened { .. }
            | SessionEvent::GateAnswered { .. }
            | SessionEvent::GateExpired { .. }
            | SessionEvent::Parked { .. }
            | SessionEvent::Unparked { .. }
            | SessionEvent::StopRequested { .. }
            | SessionEvent::Checkpointed { .. }
            | SessionEvent::Reported { .. }
            | SessionEvent::Continued { .. }
            | SessionEvent::Closed { .. }
            | SessionEvent::CheckoutMade { .. }
            | SessionEvent::Snapshotted { .. }
            | SessionEvent::CheckoutRemoved { .. }
            | SessionEvent::Delivery { .. } => {}
        }
        Ok(())
    }

    /// What was said elsewhere, and has to be told to the agent at this node.
    pub fn elsewhere(&self, node: NodeId) -> Vec<String> {
        self.waiting.iter().filter(|said| said.node != node).map(|said| said.words.clone()).collect()
    }

    fn act<E>(
        &mut self,
        node: NodeId,
        act: &AgentAct,
        read: impl Fn(&Content) -> Result<String, E>,
    ) -> Result<(), E> {
        match act {
            AgentAct::Steered { words, .. } => {
                self.before_answer.clear();
                self.waiting.push(Said { words: read(words)?, node });
            }
            AgentAct::Nudged { words, .. } => self.tell(node, words),
            AgentAct::Answered { .. } => {
                let (asked_here, elsewhere) = self.waiting.drain(..).partition(|said| said.node == node);
                (self.before_answer, self.waiting) = (asked_here, elsewhere);
            }
            AgentAct::CallStarted { .. }
            | AgentAct::CallFinished { .. }
            | AgentAct::Failed { .. }
            | AgentAct::Assigned { .. }
            | AgentAct::MadeReady { .. }
            | AgentAct::Budgeted { .. }
            | AgentAct::Woken => self.before_answer.clear(),
            // What is counted comes when it comes, and says nothing about who heard what.
            AgentAct::Requested { .. }
            | AgentAct::Billed { .. }
            | AgentAct::Observed { .. }
            | AgentAct::Compacted { .. } => {}
        }
        Ok(())
    }

    /// What is told is either what somebody said, or a word of our own.
    fn tell(&mut self, node: NodeId, words: &str) {
        if let Some(place) = self.before_answer.iter().position(|said| said.words == words) {
            self.waiting.push(self.before_answer.remove(place));
            return;
        }
        let passed_on = self.waiting.iter_mut().find(|said| said.words == words && said.node != node);
        if let Some(said) = passed_on {
            said.node = node;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use longhaul_events::Seq;
    use serde_json::json;

    use super::*;

    fn at(node: u64, act: AgentAct) -> SessionEvent {
        SessionEvent::Agent { node: Some(NodeId(Seq(node))), act }
    }

    fn said(node: u64, words: &str) -> SessionEvent {
        at(node, AgentAct::Steered { words: Content::Inline(json!(words)), by: "ada".to_owned() })
    }

    fn told(node: u64, words: &str) -> SessionEvent {
        at(node, AgentAct::Nudged { turn: 1, words: words.to_owned() })
    }

    fn answered(node: u64) -> SessionEvent {
        let act = json!({
            "act": "answered", "turn": 1, "said": { "inline": "" }, "calls": [], "order": "one_by_one",
            "usage": { "input": 0, "output": 0 }, "ms": 0,
        });
        at(node, serde_json::from_value(act).unwrap())
    }

    /// What has to be told at node 9.
    fn due(events: &[SessionEvent]) -> Vec<String> {
        let read = |content: &Content| match content {
            Content::Inline(value) => Ok::<_, Infallible>(value.as_str().unwrap().to_owned()),
            Content::Blob(_) => panic!("it is short"),
        };
        let mut unheard = Unheard::default();
        for event in events {
            let Ok(()) = unheard.apply(event, read);
        }
        unheard.elsewhere(NodeId(Seq(9)))
    }

    #[test]
    fn what_no_answer_has_seen_is_due_at_the_next_step_until_it_was_told_there() {
        assert_eq!(due(&[said(2, "a"), answered(2)]), [""; 0], "it was asked with it");
        assert_eq!(due(&[answered(2), said(2, "a"), said(2, "b")]), ["a", "b"]);
        assert_eq!(due(&[answered(2), said(2, "a"), told(9, "a")]), [""; 0], "it is told there");
        assert_eq!(due(&[said(2, "a"), told(5, "a")]), ["a"], "nobody answered at 5 either");
        assert_eq!(due(&[said(2, "a"), told(5, "a"), answered(5)]), [""; 0]);
        assert_eq!(due(&[said(2, "a"), told(5, "a"), told(9, "a"), answered(9)]), [""; 0]);
    }

    #[test]
    fn what_was_said_while_an_answer_was_made_is_not_heard_by_it() {
        assert_eq!(due(&[said(2, "a"), answered(2), told(2, "a")]), ["a"]);
        assert_eq!(due(&[said(2, "a"), answered(2), told(2, "a"), answered(2)]), [""; 0]);
        assert_eq!(due(&[said(2, "a"), answered(2), told(2, "go on")]), [""; 0], "our own words");
        assert_eq!(due(&[said(2, "a"), said(2, "a"), answered(2), told(2, "a")]), ["a"], "one of both");
    }

    #[test]
    fn a_person_who_goes_back_says_anew_what_counts() {
        let (reason, by) = (Content::Inline(json!("no")), "ada".to_owned());
        let rewound = SessionEvent::Rewound { to: NodeId(Seq(2)), reason, by, restore: None };
        assert_eq!(due(&[said(2, "a"), rewound]), [""; 0]);
    }
}
