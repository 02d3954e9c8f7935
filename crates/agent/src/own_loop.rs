//! Our own loop: a model is told all that happened, and what it answers is a turn.
//!
//! It has no memory but the log. What it keeps is what it told the model last, so that only what is new has to be read.

mod measure;
mod reply;
#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use longhaul_core::budget::Pricing;
use longhaul_core::cassette::Usage;
use longhaul_core::transcript::{self, Layers, Room, Transcript};
use longhaul_model::{
    CallResult, Door, Failure, Layer, Message, Piece, Reply, Request, ToolSpec, WantedCall, Watch, Wire,
};

use crate::asker::Asker;
use crate::turn::{Agent, Compaction, Fault, Foresight, Turn, TurnRequest};
use measure::Measure;
pub use reply::unreadable;

/// Something that can be asked once.
pub trait Mind: fmt::Debug + Send {
    fn ask(&self, request: &Request<'_>, watch: &dyn Watch) -> Result<Reply, Failure>;
}

/// A model behind the gateway of the session.
#[derive(Debug, Clone)]
pub struct RemoteMind {
    pub door: Door,
    pub wire: Wire,
}

impl Mind for RemoteMind {
    fn ask(&self, request: &Request<'_>, watch: &dyn Watch) -> Result<Reply, Failure> {
        longhaul_model::ask(&self.door, self.wire, request, watch)
    }
}

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFacts {
    /// As the provider calls it.
    pub name: String,
    /// How many tokens it has room for, its answer included.
    pub window: u64,
    pub max_output: u64,
    pub pricing: Pricing,
}

/// What every request of a session has in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Telling {
    pub layers: Layers,
    pub tools: Vec<ToolSpec>,
}

/// Asks a model for turns.
#[derive(Debug)]
pub struct OwnLoop<M> {
    mind: M,
    model: ModelFacts,
    system: Vec<Layer>,
    tools: Vec<ToolSpec>,
    /// How long system prompt and tools are.
    fixed_bytes: u64,
    told: Told,
}

/// The conversation as the model was last told it.
#[derive(Debug, Default)]
struct Told {
    edition: u64,
    /// How many parts of the transcript these are.
    parts: usize,
    messages: Vec<Message>,
}

impl<M: Mind> OwnLoop<M> {
    pub fn new(mind: M, model: ModelFacts, telling: Telling) -> Self {
        let system: Vec<Layer> =
            telling.layers.texts.into_iter().map(|text| Layer { text, is_stable: true }).collect();
        let tools = telling.tools;
        let of_tool =
            |tool: &ToolSpec| tool.name.len() + tool.description.len() + tool.input.to_string().len();
        let bytes = system.iter().map(|layer| layer.text.len()).chain(tools.iter().map(of_tool));
        let fixed_bytes = bytes.sum::<usize>() as u64;
        Self { mind, model, system, tools, fixed_bytes, told: Told::default() }
    }

    /// What one can say beforehand, with the session as it is now.
    fn measure(&self, asker: &dyn Asker) -> Result<Measure, Fault> {
        let transcript = asker.transcript()?;
        Ok(Measure {
            bytes: transcript.bytes(),
            measured: transcript.measured(),
            fixed_bytes: self.fixed_bytes,
        })
    }

    fn max_output(&self, asker: &dyn Asker) -> Result<u64, Fault> {
        Ok(self.measure(asker)?.output(&self.model, asker.means()?))
    }

    /// Adds what came since the model was last told, or tells all of it anew if that is not how it was any more.
    fn catch_up(&mut self, asker: &dyn Asker) -> Result<(), Fault> {
        let transcript = asker.transcript()?;
        if self.told.edition != transcript.edition() || self.told.parts > transcript.len() {
            self.told = Told { edition: transcript.edition(), ..Told::default() };
        }
        let news = transcript.messages(self.told.parts, &|content| asker.read(content))?;
        self.told.parts = transcript.len();
        self.told.messages.extend(news.into_iter().map(message));
        Ok(())
    }

    /// How much room there is for the conversation, as far as one knows.
    fn room(&self, transcript: &Transcript, measure: &Measure) -> Room {
        match transcript.unanswered_overflows() {
            // There was none for this much, whatever was thought of it.
            Some(times) => Room { most: 0, aim: measure.bytes >> times.min(8) },
            None => measure.room(&self.model),
        }
    }
}

impl<M: Mind> Agent for OwnLoop<M> {
    fn turn(&mut self, request: &TurnRequest<'_>) -> Result<Turn, Fault> {
        self.catch_up(request.asker)?;
        let max_output = self.max_output(request.asker)?;
        let asked = Request {
            model: &self.model.name,
            system: &self.system,
            tools: &self.tools,
            messages: &self.told.messages,
            max_output,
        };
        let reply = self.mind.ask(&asked, &Waiting(request.asker)).map_err(reply::fault)?;
        Ok(reply::turn(reply, max_output))
    }

    fn window(&self) -> u64 {
        self.model.window
    }

    fn pricing(&self) -> Pricing {
        self.model.pricing
    }

    fn foresee(&self, request: &TurnRequest<'_>) -> Foresight {
        // What cannot be read now cannot be told either, and the turn says so.
        let foreseen = self.measure(request.asker).and_then(|measure| {
            let output = measure.output(&self.model, request.asker.means()?);
            Ok(Usage { input: measure.input(), output })
        });
        foreseen.map_or(Foresight::AtMost { output: self.model.max_output }, Foresight::Exactly)
    }

    fn compact(&mut self, request: &TurnRequest<'_>) -> Result<Option<Compaction>, Fault> {
        let measure = self.measure(request.asker)?;
        let transcript = request.asker.transcript()?;
        let room = self.room(&transcript, &measure);
        let Some(plan) = transcript.plan(room) else { return Ok(None) };
        let read = |content: &longhaul_events::Content| request.asker.read(content);
        let recap = plan
            .needs_recap(&transcript)
            .then(|| transcript.recap(&plan, room.for_recap(), &read))
            .transpose()?;
        Ok(Some(Compaction { plan, recap }))
    }

    fn end(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// Whoever asks, as the client sees them.
struct Waiting<'a>(&'a dyn Asker);

impl Watch for Waiting<'_> {
    fn heard(&self, piece: Piece<'_>) {
        match piece {
            Piece::Said(_) | Piece::Thought(_) | Piece::CallBegun { .. } | Piece::Arguments(_) => {
                self.0.heard();
            }
            Piece::Alive => {}
        }
    }

    fn is_wanted(&self) -> bool {
        self.0.is_wanted()
    }

    fn patience(&self) -> Duration {
        self.0.patience()
    }
}

fn message(message: transcript::Message) -> Message {
    match message {
        transcript::Message::User(text) => Message::User(text),
        transcript::Message::Assistant { text, calls, echo } => {
            let call = |call: transcript::MessageCall| WantedCall {
                id: call.id,
                tool: call.tool,
                arguments: call.arguments,
            };
            Message::Assistant { text, calls: calls.into_iter().map(call).collect(), echo }
        }
        transcript::Message::Results(results) => {
            let result = |result: transcript::MessageResult| CallResult {
                id: result.id,
                text: result.text,
                is_error: result.is_error,
            };
            Message::Results(results.into_iter().map(result).collect())
        }
    }
}
