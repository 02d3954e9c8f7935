//! What people say to an agent while it works, and how it hears of it.

use longhaul_core::conversation::Conversation;
use longhaul_core::session::Tip;
use longhaul_events::{AgentAct, Content};

use super::agent::Hands;
use crate::commands::acting::Ear;
use crate::error::Error;

impl Hands<'_> {
    /// Takes in what a person said meanwhile. What came while the agent was answering is told to it again, on record: a
    /// process that takes over would take it for heard.
    pub(super) fn listen(
        &self,
        tip: &Tip,
        ear: &mut Ear,
        conversation: &mut Conversation,
    ) -> Result<(), Error> {
        let heard = self.commands.listen(self.id, tip.node, ear)?;
        if heard.is_empty() {
            return Ok(());
        }
        *conversation = Conversation::fold(&self.commands.acts_at(self.id, tip.node)?);
        let turn = conversation.last_turn().unwrap_or(0) + 1;
        for late in heard.into_iter().filter(|heard| heard.too_late) {
            let words = self.words_of(&late.words)?;
            self.record(conversation, &[AgentAct::Nudged { turn, words }])?;
        }
        Ok(())
    }

    /// What somebody told the agent since its last turn.
    pub(super) fn told(&self, conversation: &Conversation) -> Result<Vec<String>, Error> {
        conversation.told().iter().map(|words| self.words_of(words)).collect()
    }

    fn words_of(&self, words: &Content) -> Result<String, Error> {
        let words = self.commands.shared_value(words)?;
        Ok(words.as_str().map_or_else(|| words.to_string(), str::to_owned))
    }
}
