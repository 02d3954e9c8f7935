//! The rehearsal agent: plays a cassette.

use longhaul_core::budget::Pricing;
use longhaul_core::cassette::{Act, Cassette, Failure, Fault as Scripted, Order, Tape, Usage};
use longhaul_core::conversation::COMPLETE_STEP;
use longhaul_events::{AgentCall, CallOutcome, Content};
use serde_json::Value;

use crate::turn::{Agent, Call, Fault, Foresight, Turn, TurnRequest};

/// Plays a script, turn by turn, and makes nothing up.
#[derive(Debug)]
pub struct Rehearsal {
    tape: Tape,
    last: Vec<Call>,
    /// The last calls come again this many times before the script goes on.
    repeats: u32,
}

impl Rehearsal {
    pub fn new(cassette: Cassette) -> Self {
        Self { tape: Tape::new(cassette), last: Vec::new(), repeats: 0 }
    }

    /// What another played of the same script need not be played here.
    pub fn also_played(&mut self, other: &Self) {
        self.tape.also_played(&other.tape);
    }

    fn repeat(&mut self) -> Turn {
        self.repeats -= 1;
        Turn::plain(String::new(), self.last.clone(), Order::OneByOne, Usage::default())
    }
}

impl Agent for Rehearsal {
    fn turn(&mut self, request: &TurnRequest<'_>) -> Result<Turn, Fault> {
        if self.repeats > 0 {
            return Ok(self.repeat());
        }
        if let Some(again) = interrupted(request) {
            return Ok(again);
        }
        let unscripted = |error: longhaul_core::cassette::Unscripted| Fault::Unscripted(error.to_string());
        let scripted = self.tape.next(request.asked).map_err(unscripted)?.clone();
        let (say, usage) = (scripted.say, scripted.usage);
        let (calls, order) = match scripted.act {
            Act::Tools { calls, order } => {
                let call = |call: longhaul_core::cassette::ScriptedCall| Call {
                    tool: call.tool,
                    arguments: call.arguments,
                    expect_exit: call.expect_exit,
                    id: None,
                };
                (calls.into_iter().map(call).collect(), order)
            }
            Act::Complete(arguments) => {
                let call = Call { tool: COMPLETE_STEP.to_owned(), arguments, expect_exit: None, id: None };
                (vec![call], Order::OneByOne)
            }
            Act::Nothing => (Vec::new(), Order::OneByOne),
            Act::Fault(Scripted::Repeat { times }) => {
                self.repeats = times;
                return Ok(self.repeat());
            }
            Act::Fault(Scripted::Stall { ms }) => {
                return Err(Fault::Stalled { ms: request.silence.pass(ms) });
            }
            Act::Fault(fault) => return Err(failed(&fault)),
        };
        self.last.clone_from(&calls);
        Ok(Turn::plain(say, calls, order, usage))
    }

    fn window(&self) -> u64 {
        self.tape.window()
    }

    fn pricing(&self) -> Pricing {
        self.tape.pricing()
    }

    fn foresee(&self, request: &TurnRequest<'_>) -> Foresight {
        if let Some(output) = self.tape.max_output() {
            return Foresight::AtMost { output };
        }
        let is_scripted = self.repeats == 0 && interrupted(request).is_none();
        let scripted = is_scripted.then(|| self.tape.peek(request.asked)).flatten();
        Foresight::Exactly(scripted.unwrap_or_default())
    }

    fn end(&mut self) -> Result<(), String> {
        self.tape.finish().map_err(|left| left.to_string())
    }
}

/// The calls that nobody knows the end of, once more. A script knows that its calls may be made twice.
fn interrupted(request: &TurnRequest<'_>) -> Option<Turn> {
    let unknown = request.answers.iter().filter(|answer| answer.outcome == CallOutcome::Interrupted);
    let calls: Vec<Call> = unknown.filter_map(|answer| call_again(answer.call)).collect();
    let say = "Trying again what was interrupted.".to_owned();
    (!calls.is_empty()).then(|| Turn::plain(say, calls, Order::OneByOne, Usage::default()))
}

fn call_again(call: &AgentCall) -> Option<Call> {
    let Content::Inline(Value::Object(arguments)) = &call.arguments else { return None };
    let (tool, arguments) = (call.tool.clone(), arguments.clone());
    Some(Call { tool, arguments, expect_exit: call.expect_exit, id: None })
}

fn failed(fault: &Scripted) -> Fault {
    let (message, retry_after_ms, resets_at) = (String::new(), None, None);
    match fault {
        Scripted::Stall { ms } => Fault::Stalled { ms: *ms },
        Scripted::CutStream => Fault::CutOff,
        Scripted::Garbage => Fault::Garbage { message },
        Scripted::Error(Failure::RateLimit) => Fault::RateLimit { message, retry_after_ms },
        Scripted::Error(Failure::Overloaded) => Fault::Overloaded { message, retry_after_ms },
        Scripted::Error(Failure::UsageLimit) => Fault::UsageLimit { message, resets_at },
        Scripted::Error(Failure::Auth) => Fault::Auth { message },
        Scripted::Repeat { times } => {
            Fault::Unscripted(format!("a repetition of {times} turns is no failure"))
        }
    }
}
