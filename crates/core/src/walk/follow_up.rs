//! Follow-up phases: one more step after a session was completed, in the context of the same workflow.

use longhaul_events::{Content, Nonce, Place, StepId};
use serde_json::json;

use super::{FOLLOW_UP, Standing};
use crate::session::NewStep;
use crate::workflow::prompt::{Body, Notes, Prompt};
use crate::workflow::render::{self, Opening};
use crate::workflow::scope::{cut, plain};
use crate::workflow::{Step, StepKind};

/// How much of a value is shown; the log has all of it.
const MOST_LETTERS: usize = 400;

const ASKED: &str = "The session was complete, and now somebody asks for more:

{{follow_up.text}}

Its goal was: {{goal | default(not kept)}}

What is on record from the steps before:

{{follow_up.known | list}}

Do what is asked for, in the light of everything done so far.";

/// The step that asks for what was asked for in words.
pub fn ask(standing: &Standing<'_>, phase: u32, text: &str, nonce: Nonce) -> NewStep {
    let id = format!("{FOLLOW_UP}{phase}");
    let mut asked = step(&id);
    let mut scope = super::scope(standing);
    // As a value, because the text is a person's own and no template.
    scope.local.insert("follow_up".to_owned(), json!({ "text": text, "known": known(standing) }));
    let rendered = render::step(standing.workflow, &asked, &scope, Opening::Resume);
    asked.title = rendered.title;
    NewStep {
        step: StepId(id),
        prompt: Content::Inline(json!({ "title": asked.title, "text": rendered.prompt })),
        nonce,
        place: Place::default(),
    }
}

/// What the steps before left, each in a line.
fn known(standing: &Standing<'_>) -> Vec<String> {
    let left = standing.vars.iter().filter(|(name, _)| *name != "goal");
    left.map(|(name, value)| format!("{name}: {}", cut(&plain(value), MOST_LETTERS))).collect()
}

pub(super) fn step(id: &str) -> Step {
    let prompt = Prompt::plain(Body::Text(ASKED.to_owned()), Notes::Required);
    Step::plain(id.to_owned(), "Follow-up".to_owned(), StepKind::Prompt(Box::new(prompt)))
}

/// Whether a step belongs to a follow-up phase.
pub fn is_follow_up(id: &StepId) -> bool {
    id.0.starts_with(FOLLOW_UP)
}
