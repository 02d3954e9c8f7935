//! What an agent did: turns, requests to models, calls of tools.

use longhaul_events::{Account, AgentAct, AgentCall, CallOutcome, Content, ModelUsage, Timestamp, TurnFault};

use super::super::stretch::{Begun, message, told};
use super::super::{
    ARGUMENTS, CACHE_READ, CACHE_WRITE, COST, ERROR, EXIT, INPUT_TOKENS, MODEL, OUTPUT, OUTPUT_TOKENS,
    PROVIDER, RESULT, Span, SpanKind, TOOL,
};
use super::{Tracer, named};

const CHAT: &str = "chat";
const EXECUTE_TOOL: &str = "execute_tool";

/// A call of a tool that has ended.
struct Called<'a> {
    begun: Begun,
    end: Timestamp,
    tool: &'a str,
    outcome: CallOutcome,
}

impl Tracer {
    pub(super) fn act(&mut self, begun: Begun, act: &AgentAct) -> Vec<Span> {
        match act {
            AgentAct::Assigned { agent, .. } => {
                self.agent = Some(agent.clone());
                Vec::new()
            }
            AgentAct::Requested { request, .. } => {
                if let Some(step) = &mut self.step {
                    step.requests.insert(*request, begun);
                }
                Vec::new()
            }
            AgentAct::Billed { request, provider, model, usage, cost_micros, .. } => {
                let chat = self.billed(begun, *request, (provider, model));
                self.bill(paid(chat, usage, *cost_micros), usage, *cost_micros)
            }
            AgentAct::Answered { said, calls, usage, ms, cost_micros, account, .. } => {
                self.want(calls);
                let output = told(self.telling, said).map(|said| message("assistant", &said));
                let usage = ModelUsage { input: usage.input, output: usage.output, ..ModelUsage::default() };
                match account {
                    Account::Turn => {
                        let chat = paid(self.turn(begun, *ms), &usage, *cost_micros);
                        let mut over = self.bill(chat.with_some(OUTPUT, output), &usage, *cost_micros);
                        over.extend(self.end_turn(None, None));
                        over
                    }
                    Account::Bills => self.end_turn(output, None),
                }
            }
            AgentAct::Failed { fault, ms, .. } => self.fail(begun, *fault, *ms),
            AgentAct::CallStarted { turn, call } => {
                if let Some(step) = &mut self.step {
                    step.calls.insert((*turn, *call), begun);
                }
                Vec::new()
            }
            AgentAct::CallFinished { turn, call, tool, outcome, exit, result, ms } => {
                let called = self.finished(begun, (*turn, *call), *ms);
                let (begun, end) = called;
                let wanted = |step: &super::Stretch| step.wanted.get(usize::try_from(*call).ok()?)?.clone();
                let arguments = self.step.as_ref().and_then(wanted);
                let span = self.tool(&Called { begun, end, tool, outcome: *outcome });
                let exit = exit.map(|exit| super::super::Attribute::Number(exit.into()));
                let result = told(self.telling, result);
                vec![span.with_some(EXIT, exit).with_some(ARGUMENTS, arguments).with_some(RESULT, result)]
            }
            AgentAct::Observed { tool, outcome, ms, .. } => {
                let (start, end) = (before(begun, *ms), begun.at);
                vec![self.tool(&Called { begun: start, end, tool, outcome: *outcome })]
            }
            AgentAct::MadeReady { .. }
            | AgentAct::Nudged { .. }
            | AgentAct::Steered { .. }
            | AgentAct::Budgeted { .. }
            | AgentAct::Compacted { .. }
            | AgentAct::Woken => Vec::new(),
        }
    }

    /// A request to a model, named by its bill.
    fn billed(&mut self, bill: Begun, request: u64, (provider, model): (&str, &str)) -> Span {
        let asked = self.step.as_mut().and_then(|step| step.requests.remove(&request));
        let begun = Begun { seq: bill.seq, at: asked.map_or(bill.at, |asked| asked.at) };
        let chat = self.chat(begun, bill.at, Some(model));
        chat.with(PROVIDER, provider).with(MODEL, model)
    }

    /// A turn that was asked without us seeing the request.
    fn turn(&self, answered: Begun, ms: u64) -> Span {
        self.chat(before(answered, ms), answered.at, None)
    }

    fn chat(&self, begun: Begun, end: Timestamp, model: Option<&str>) -> Span {
        let span = self.span(begun, end, named(CHAT, model), Some(CHAT));
        Span { parent: Some(self.within()), kind: SpanKind::Client, ..span }
    }

    /// Keeps the span of a request until its turn is over.
    fn bill(&mut self, chat: Span, usage: &ModelUsage, cost_micros: u64) -> Vec<Span> {
        let Some(step) = &mut self.step else { return vec![chat] };
        step.use_up(usage.input, usage.output, cost_micros);
        step.billed.push(chat);
        Vec::new()
    }

    fn end_turn(&mut self, output: Option<String>, error: Option<&str>) -> Vec<Span> {
        let mut over = self.step.as_mut().map(|step| std::mem::take(&mut step.billed)).unwrap_or_default();
        if let Some(last) = over.pop() {
            over.push(last.with_some(OUTPUT, output).with_some(ERROR, error));
        }
        over
    }

    /// How a turn went wrong is told with its last request, or by itself.
    fn fail(&mut self, begun: Begun, fault: TurnFault, ms: u64) -> Vec<Span> {
        let error = word(fault);
        let over = self.end_turn(None, Some(error));
        if over.is_empty() { vec![self.turn(begun, ms).with(ERROR, error)] } else { over }
    }

    fn want(&mut self, calls: &[AgentCall]) {
        let telling = self.telling;
        if let Some(step) = &mut self.step {
            let arguments = |content: &Content| told(telling, content);
            step.wanted = calls.iter().map(|call| arguments(&call.arguments)).collect();
        }
    }

    /// When a call began and when it was over. Several calls may be put on record together, and one that was cut off long
    /// after it; so what counts is how long it took.
    fn finished(&mut self, on_record: Begun, call: (u32, u32), ms: u64) -> (Begun, Timestamp) {
        let started = self.step.as_mut().and_then(|step| step.calls.remove(&call));
        let at = started.map_or_else(|| before(on_record, ms).at, |started| started.at);
        let end = at.plus_ms(ms).min(on_record.at.max(at));
        (Begun { seq: on_record.seq, at }, end)
    }

    fn tool(&self, called: &Called<'_>) -> Span {
        let Called { begun, end, tool, outcome } = *called;
        let error = match outcome {
            CallOutcome::Done => None,
            CallOutcome::Refused => Some("refused"),
            CallOutcome::Interrupted => Some("interrupted"),
            CallOutcome::Stopped => Some("stopped"),
        };
        let span = self.span(begun, end, named(EXECUTE_TOOL, Some(tool)), Some(EXECUTE_TOOL));
        Span { parent: Some(self.within()), ..span }.with(TOOL, tool).with_some(ERROR, error)
    }
}

fn paid(chat: Span, usage: &ModelUsage, cost_micros: u64) -> Span {
    let cached = |tokens: u64| (tokens > 0).then_some(tokens);
    chat.with(INPUT_TOKENS, usage.input)
        .with(OUTPUT_TOKENS, usage.output)
        .with_some(CACHE_READ, cached(usage.cache_read))
        .with_some(CACHE_WRITE, cached(usage.cache_write))
        .with(COST, cost_micros)
}

/// So long before something was put on record.
fn before(begun: Begun, ms: u64) -> Begun {
    let at = Timestamp(begun.at.0.saturating_sub_unsigned(ms));
    Begun { at, ..begun }
}

/// The word of the log for it.
const fn word(fault: TurnFault) -> &'static str {
    match fault {
        TurnFault::Stalled => "stalled",
        TurnFault::CutOff => "cut_off",
        TurnFault::RateLimit => "rate_limit",
        TurnFault::Overloaded => "overloaded",
        TurnFault::UsageLimit => "usage_limit",
        TurnFault::Auth => "auth",
        TurnFault::Garbage => "garbage",
        TurnFault::ContextOverflow => "context_overflow",
        TurnFault::BadRequest => "bad_request",
        TurnFault::Network => "network",
        TurnFault::OverCap => "over_cap",
        TurnFault::Unscripted => "unscripted",
    }
}
