//! What an agent is told when whoever drove it died: that it happened, and what became of its files.

use longhaul_core::conversation::Conversation;
use longhaul_events::AgentAct;

use super::agent::Hands;
use crate::commands::checkout::BegunCall;
use crate::error::Error;
use crate::worktrees::NOTHING_KEPT;

const INTERRUPTED: &str = "interrupted: outcome unknown. Whoever ran this call died while it ran, and it is not made again by \
     itself. See what it has done before you go on.";

const TAKEN_OVER: &str = "The process that drove this session died, and another one goes on from here. All that you said and \
     did before is on record. A call that had begun is answered as interrupted, and no call is made twice by itself. The \
     files are as they were left.";

/// What is said once after each death, to an agent that was in the middle of a step.
pub(super) fn news(acts: &[AgentAct], conversation: &Conversation) -> Option<AgentAct> {
    let turn = conversation.last_turn()? + 1;
    let is_said = matches!(acts.last(), Some(AgentAct::Nudged { words, .. }) if words == TAKEN_OVER);
    (!is_said).then(|| AgentAct::Nudged { turn, words: TAKEN_OVER.to_owned() })
}

impl Hands<'_> {
    /// The answer to a call that nobody knows the end of, with what is different in the files.
    pub(super) fn outcome_unknown(&self, begun: &BegunCall) -> String {
        let changed = self.changed_since(begun).unwrap_or_else(|error| {
            tracing::warn!(%error, session = %self.id, "could not compare the files with the last snapshot");
            format!("What changed in the files cannot be told: {error}.")
        });
        format!("{INTERRUPTED}\n\n{changed}")
    }

    fn changed_since(&self, begun: &BegunCall) -> Result<String, Error> {
        match self.commands.tree_before(self.id, begun)? {
            Some(tree) => self.system.changed_since(self.commands, self.id, &tree),
            None => Ok(NOTHING_KEPT.to_owned()),
        }
    }
}
