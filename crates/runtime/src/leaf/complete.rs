//! `complete_step`: hands in the finished step and gets the next one, or shows the step that is open.

use longhaul_core::handle::Handle;
use longhaul_core::workflow::answer::Answer;
use longhaul_events::{Epoch, Reason};
use serde_json::{Map, Value, json};

use super::{Effect, Leaf, Told, Tool, text};
use crate::commands::walking::Advance;
use crate::error::Error;
use longhaul_core::conversation::COMPLETE_STEP;

const TOKEN: &str = "continueToken";

pub(super) const TOOL: Tool = Tool {
    name: COMPLETE_STEP,
    title: "Complete the step",
    description: "Hand in the finished step and get the next one. The token says which step it is, so the same call \
                  again is safe. Without anything to hand in it shows the step that is open, with its token, and costs \
                  no attempt.",
    input,
    effect: Effect::RecordsOnce,
    run,
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "continueToken": { "type": "string", "description": "From the step, whole." },
            "notes": { "type": "string", "description": "What you did and found, and how you know." },
            "artifacts": { "type": "array", "items": { "description": "Any value." }, "description": "Values that fit the step's contracts." },
            "vars": { "type": "object", "description": "Variables that the step asks for." },
            "context": { "type": "object", "description": "Same as vars." }
        }
    })
}

fn run(leaf: &Leaf<'_>, arguments: &Map<String, Value>) -> Result<Told, Error> {
    let token = arguments.get(TOKEN).map(|_| text(arguments, TOKEN).trim().parse::<Handle>()).transpose()?;
    if token.is_some_and(|token| token.session != leaf.session) {
        return Err(Error::ForgedHandle(leaf.session));
    }
    let fields = arguments.iter().filter(|(name, _)| *name != TOKEN);
    let payload: Map<String, Value> = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
    if payload.is_empty() {
        return Ok(Told::Step(Box::new(leaf.system.resume_own(leaf.commands, leaf.session)?)));
    }
    let answer = Answer::from_payload(&Value::Object(payload)).map_err(Error::BadAnswer)?;
    let handle = token.ok_or_else(|| Error::BadAnswer(vec![without_token()]))?;
    if let Some(driver) = leaf.driver {
        return hand_in_to(driver, leaf, handle, answer);
    }
    let advance = Advance { handle, answer, epoch: None };
    Ok(Told::Step(Box::new(leaf.system.advance(leaf.commands, &advance)?)))
}

/// The driver has its own way of going on: the next step comes as a prompt, and nobody waits for it here. A driver that
/// was replaced cannot hand anything in.
fn hand_in_to(driver: Epoch, leaf: &Leaf<'_>, handle: Handle, answer: Answer) -> Result<Told, Error> {
    let view = leaf.commands.advance(&Advance { handle, answer, epoch: Some(driver) })?;
    if view.blocked.is_some() {
        return Ok(Told::Step(Box::new(view)));
    }
    let words = "The step is taken. End your turn now; the next step comes as the next prompt.";
    // Some clients give a model the object and not the words.
    Ok(Told::Said { words: words.to_owned(), value: json!({ "recorded": true, "next": words }) })
}

fn without_token() -> Reason {
    let message = "`continueToken` is missing, so it is not known which step this answers";
    Reason::new(
        "missing_argument",
        message,
        "give the token of the step; `complete_step` without arguments shows it",
    )
}
