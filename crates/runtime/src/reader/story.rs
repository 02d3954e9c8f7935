//! The story of a session: what happened, in order, as a person would tell it.

use std::collections::BTreeMap;

use longhaul_core::session::channel_word;
use longhaul_core::time::rfc3339;
use longhaul_core::walk::view::gate_id;
use longhaul_events::{
    AgentAct, Checkout, CloseOutcome, Considered, Content, DeliveryFact, Digest, GateKind, NodeId,
    OwnCheckout, Reason, ReportKind, Seq, SessionEvent, SessionId, StepId, Urgency, Verdict,
};
use longhaul_store::views::SessionRow;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Reader;
use super::agent::AgentDid;
use super::artifacts::Numbering;
use super::events::Told;
use crate::error::Error;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoryEntry {
    pub seq: Seq,
    pub at: String,
    /// The session was later taken back to a point before it.
    pub left_behind: bool,
    #[serde(flatten)]
    pub what: Happened,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Happened {
    Opened {
        goal: String,
    },
    Pinned {
        workflow: String,
        version: String,
        hash: Digest,
        checkout: Option<Checkout>,
    },
    HandedOut {
        node: NodeId,
        step: StepId,
        title: String,
    },
    Finished {
        node: NodeId,
        step: StepId,
        notes: Option<String>,
        vars: Vec<String>,
        artifacts: Vec<String>,
    },
    Refused {
        node: NodeId,
        step: StepId,
        /// What was handed in.
        answer: Value,
        reasons: Vec<Reason>,
    },
    VarsChanged {
        set: BTreeMap<String, Value>,
        unset: Vec<String>,
    },
    WorkDue {
        step: StepId,
    },
    WorkStarted {
        step: StepId,
        doing: Value,
    },
    WorkFinished {
        step: StepId,
        result: Value,
    },
    GateOpened {
        gate: String,
        step: StepId,
        kind: GateKind,
        question: String,
        accepts: &'static str,
        until: String,
    },
    GateAnswered {
        gate: String,
        verdict: Verdict,
        by: String,
        channel: &'static str,
        words: String,
    },
    GateExpired {
        gate: String,
    },
    Parked {
        step: StepId,
        reasons: Vec<Reason>,
    },
    Unparked {
        step: StepId,
        by: String,
    },
    StopRequested {
        by: String,
        urgency: Urgency,
        reason: Option<String>,
    },
    Noted {
        step: StepId,
        notes: String,
        #[serde(skip_serializing_if = "Map::is_empty")]
        vars: Map<String, Value>,
    },
    Reported {
        step: Option<StepId>,
        kind: ReportKind,
        report: Value,
    },
    /// Between the session and an agent that we drive.
    Agent {
        step: Option<StepId>,
        act: AgentDid,
    },
    HandleReissued {
        step: StepId,
    },
    Rewound {
        step: StepId,
        reason: String,
        by: String,
    },
    Forked {
        step: StepId,
        left: Branch,
    },
    Continued {
        phase: u32,
        text: String,
    },
    Closed {
        outcome: CloseOutcome,
    },
    CheckoutMade {
        name: String,
        path: String,
        branch: String,
    },
    Snapshotted {
        snapshot: String,
        because: String,
        left_out: Vec<String>,
    },
    CheckoutRemoved {
        name: String,
        by: String,
        because: String,
    },
    /// Something that others see, about to be done or done.
    Delivery {
        step: StepId,
        act: &'static str,
        /// `begins` or `is done`.
        how: &'static str,
        what: Value,
    },
    WayChosen {
        considered: Vec<Considered>,
        left_out: u64,
    },
    Decided(Ruled),
    LoopExhausted {
        step: StepId,
        iterations: u64,
        because: String,
    },
}

/// What a policy said, and what it was given.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ruled {
    pub step: StepId,
    pub policy: String,
    pub decision: String,
    pub because: String,
    /// Its inputs under `with`, and its `settings`.
    pub given: Value,
}

/// What was left behind by a fork, in short.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Branch {
    /// The steps that were finished in it, in order.
    pub finished: Vec<StepId>,
    pub refusals: u64,
    pub last_notes: Option<String>,
}

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    /// What happened.
    Events,
    /// And what was looked at for each choice.
    WithReasons,
}

impl Reader {
    /// What happened in a session.
    pub fn story(&self, row: &SessionRow, telling: Telling) -> Result<Vec<StoryEntry>, Error> {
        let mut teller = Teller {
            reader: self,
            session: row.id,
            steps: BTreeMap::new(),
            numbering: Numbering::new(row.id),
            entries: Vec::new(),
        };
        let mut left = Left::default();
        self.each_event(row.id, |told| {
            left.see(&told);
            teller.take(told, telling)
        })?;
        let mut entries = teller.entries;
        entries.iter_mut().for_each(|entry| entry.left_behind = left.holds(entry.seq));
        Ok(entries)
    }
}

/// Which events no longer lead to where a session stands.
#[derive(Debug, Default)]
pub(super) struct Left {
    stretches: Vec<(Seq, Seq)>,
    /// The word that sends a session back stands before the fork, and is not part of what is left.
    rewound: Option<Seq>,
}

impl Left {
    pub(super) fn see(&mut self, told: &Told) {
        let rewound = self.rewound.take();
        if matches!(told.event, SessionEvent::Rewound { .. }) {
            self.rewound = Some(told.seq);
        }
        if let SessionEvent::Forked { from, .. } = &told.event {
            self.stretches.push((from.0, rewound.unwrap_or(told.seq)));
        }
    }

    pub(super) fn holds(&self, seq: Seq) -> bool {
        self.stretches.iter().any(|(after, before)| *after < seq && seq < *before)
    }
}

pub(super) struct Teller<'a> {
    pub(super) reader: &'a Reader,
    pub(super) session: SessionId,
    /// Which step each node is of.
    pub(super) steps: BTreeMap<NodeId, StepId>,
    pub(super) numbering: Numbering,
    pub(super) entries: Vec<StoryEntry>,
}

impl Teller<'_> {
    pub(super) fn take(&mut self, told: Told, telling: Telling) -> Result<(), Error> {
        let Told { seq, at, event } = told;
        let is_why = matches!(event, SessionEvent::WayChosen { .. } | SessionEvent::Decided { .. });
        if telling == Telling::Events && is_why {
            return Ok(());
        }
        if let Some(what) = self.happened(seq, event)? {
            self.entries.push(StoryEntry { seq, at, left_behind: false, what });
        }
        Ok(())
    }

    /// Who drives is not part of the story.
    fn happened(&mut self, seq: Seq, event: SessionEvent) -> Result<Option<Happened>, Error> {
        let reader = self.reader;
        Ok(Some(match event {
            SessionEvent::Opened { goal, .. } => Happened::Opened { goal: reader.words(&goal)? },
            SessionEvent::WorkflowPinned { id, version, hash, checkout, .. } => {
                Happened::Pinned { workflow: id, version, hash, checkout }
            }
            SessionEvent::DriverTaken { .. }
            | SessionEvent::DriverRenewed { .. }
            | SessionEvent::DriverExpired { .. }
            | SessionEvent::DriverReleased { .. } => return Ok(None),
            SessionEvent::StepHandedOut { node, step, prompt, .. } => self.handed_out(node, step, &prompt)?,
            SessionEvent::StepFinished { node, payload, .. } => self.finished(node, &payload)?,
            SessionEvent::AttemptRefused { node, payload, reasons, .. } => {
                self.refused(node, &payload, reasons)?
            }
            SessionEvent::VarsChanged { set, unset } => self.vars_changed(set, unset)?,
            SessionEvent::Checkpointed { node, notes } => noted(self.step(node), reader.value(&notes)?),
            SessionEvent::Reported { node, kind, report } => self.reported(node, kind, &report)?,
            SessionEvent::Agent { node, act } => self.agent(node, &act)?,
            SessionEvent::WorkBegan { work, step, .. } => Happened::WorkDue { step: self.learn(work, step) },
            SessionEvent::WorkStarted { work, what, .. } => self.work_started(work, &what)?,
            SessionEvent::WorkFinished { work, result, .. } => {
                Happened::WorkFinished { step: self.step(work), result: reader.value(&result)? }
            }
            SessionEvent::GateOpened { gate, step, kind, question, accepts, until, .. } => {
                let (step, question) = (self.learn(gate, step), reader.words(&question)?);
                let (gate, accepts, until) = (self.gate(gate), channel_word(accepts), rfc3339(until));
                Happened::GateOpened { gate, step, kind, question, accepts, until }
            }
            SessionEvent::GateAnswered { gate, verdict, by, channel, words } => {
                let (gate, words) = (self.gate(gate), reader.words(&words)?);
                Happened::GateAnswered { gate, verdict, by, channel: channel_word(channel), words }
            }
            SessionEvent::GateExpired { gate, .. } => Happened::GateExpired { gate: self.gate(gate) },
            SessionEvent::Parked { node, step, reasons, .. } => {
                Happened::Parked { step: self.learn(node, step), reasons }
            }
            SessionEvent::Unparked { step, by, .. } => Happened::Unparked { step, by },
            SessionEvent::StopRequested { by, urgency, reason } => stop_wanted(by, urgency, reason),
            SessionEvent::HandleReissued { node, .. } => Happened::HandleReissued { step: self.step(node) },
            SessionEvent::Rewound { to, reason, by, .. } => {
                Happened::Rewound { step: self.step(to), reason: reader.words(&reason)?, by }
            }
            SessionEvent::Forked { from, .. } => {
                Happened::Forked { step: self.step(from), left: self.branch(from.0, seq) }
            }
            SessionEvent::Continued { phase, text } => {
                Happened::Continued { phase, text: reader.words(&text)? }
            }
            SessionEvent::Closed { outcome } => Happened::Closed { outcome },
            SessionEvent::CheckoutMade { checkout } => checkout_made(checkout),
            SessionEvent::Snapshotted { snapshot, because, left_out, .. } => {
                Happened::Snapshotted { snapshot, because, left_out }
            }
            SessionEvent::CheckoutRemoved { name, by, because, .. } => {
                Happened::CheckoutRemoved { name, by, because }
            }
            SessionEvent::Delivery { work, fact, .. } => self.delivery(work, &fact)?,
            SessionEvent::WayChosen { considered, left_out } => Happened::WayChosen { considered, left_out },
            SessionEvent::Decided { step, policy, given, decision, because } => {
                let given = reader.value(&given)?;
                Happened::Decided(Ruled { step, policy, decision, because, given })
            }
            SessionEvent::LoopExhausted { step, iterations, because } => {
                Happened::LoopExhausted { step, iterations, because }
            }
        }))
    }

    fn work_started(&self, work: NodeId, what: &Content) -> Result<Happened, Error> {
        Ok(Happened::WorkStarted { step: self.step(work), doing: self.reader.value(what)? })
    }

    fn refused(&self, node: NodeId, payload: &Content, reasons: Vec<Reason>) -> Result<Happened, Error> {
        Ok(Happened::Refused { node, step: self.step(node), answer: self.reader.value(payload)?, reasons })
    }

    fn delivery(&self, work: NodeId, fact: &DeliveryFact) -> Result<Happened, Error> {
        let (step, act) = (self.step(work), fact.act().word());
        let (what, how) = match fact {
            DeliveryFact::Intended { what, .. } => (what, "begins"),
            DeliveryFact::Received { receipt, .. } => (receipt, "is done"),
        };
        Ok(Happened::Delivery { step, act, how, what: self.reader.value(what)? })
    }

    fn agent(&self, node: Option<NodeId>, act: &AgentAct) -> Result<Happened, Error> {
        let step = node.map(|node| self.step(node));
        Ok(Happened::Agent { step, act: AgentDid::tell(act, self.reader)? })
    }

    fn handed_out(&mut self, node: NodeId, step: StepId, prompt: &Content) -> Result<Happened, Error> {
        let prompt = self.reader.value(prompt)?;
        let title = prompt["title"].as_str().unwrap_or_default().to_owned();
        Ok(Happened::HandedOut { node, step: self.learn(node, step), title })
    }

    fn vars_changed(&self, set: BTreeMap<String, Content>, unset: Vec<String>) -> Result<Happened, Error> {
        let value = |(name, content)| Ok((name, self.reader.value(&content)?));
        Ok(Happened::VarsChanged { set: set.into_iter().map(value).collect::<Result<_, Error>>()?, unset })
    }

    fn reported(
        &mut self,
        node: Option<NodeId>,
        kind: ReportKind,
        report: &Content,
    ) -> Result<Happened, Error> {
        let (step, report) = (node.map(|node| self.step(node)), self.reader.value(report)?);
        if let (Some(node), ReportKind::Artifact) = (node, kind) {
            self.numbering.name(node, vec![report.clone()]);
        }
        Ok(Happened::Reported { step, kind, report })
    }

    /// Remembers which step a node is of.
    fn learn(&mut self, node: NodeId, step: StepId) -> StepId {
        self.steps.insert(node, step.clone());
        step
    }

    fn finished(&mut self, node: NodeId, payload: &Content) -> Result<Happened, Error> {
        let payload = self.reader.value(payload)?;
        let values = payload["artifacts"].as_array().cloned().unwrap_or_default();
        Ok(Happened::Finished {
            node,
            step: self.step(node),
            notes: payload["notes"].as_str().map(str::to_owned),
            vars: payload["vars"].as_object().map(|vars| vars.keys().cloned().collect()).unwrap_or_default(),
            artifacts: self.numbering.name(node, values).into_iter().map(|(id, _)| id).collect(),
        })
    }

    /// What happened between the point that a fork goes back to and the fork.
    fn branch(&self, after: Seq, before: Seq) -> Branch {
        let mut branch = Branch::default();
        for entry in self.entries.iter().filter(|entry| after < entry.seq && entry.seq < before) {
            branch.refusals += u64::from(matches!(entry.what, Happened::Refused { .. }));
            if let Happened::Finished { step, notes, .. } = &entry.what {
                branch.finished.push(step.clone());
                branch.last_notes = notes.clone().or(branch.last_notes);
            }
        }
        branch
    }

    fn step(&self, node: NodeId) -> StepId {
        self.steps.get(&node).cloned().unwrap_or_else(|| StepId(format!("node {node}")))
    }

    fn gate(&self, gate: NodeId) -> String {
        gate_id(self.session, gate)
    }
}

/// Notes alone are a text; with vars they are an object.
fn noted(step: StepId, kept: Value) -> Happened {
    match kept {
        Value::String(notes) => Happened::Noted { step, notes, vars: Map::new() },
        Value::Object(mut fields) if fields.contains_key("vars") => {
            let notes = fields.get("notes").and_then(Value::as_str).unwrap_or_default().to_owned();
            let vars = match fields.shift_remove("vars") {
                Some(Value::Object(vars)) => vars,
                Some(_) | None => Map::new(),
            };
            Happened::Noted { step, notes, vars }
        }
        other => Happened::Noted { step, notes: other.to_string(), vars: Map::new() },
    }
}

const fn stop_wanted(by: String, urgency: Urgency, reason: Option<String>) -> Happened {
    Happened::StopRequested { by, urgency, reason }
}

fn checkout_made(checkout: OwnCheckout) -> Happened {
    let OwnCheckout { name, path, branch, .. } = checkout;
    Happened::CheckoutMade { name, path, branch }
}
