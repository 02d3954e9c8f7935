//! What people say to an agent while it works, and how it hears of it.

use longhaul_core::conversation::Conversation;
use longhaul_events::AgentAct;

use super::agent::Hands;
use crate::commands::acting::{Ear, Heard, in_words};
use crate::error::Error;

impl Hands<'_> {
    /// Takes in what a person said meanwhile.
    pub(super) fn listen(&self, ear: &mut Ear, conversation: &mut Conversation) -> Result<(), Error> {
        if !self.commands.listen(self.id, ear)?.is_empty() {
            *conversation = self.so_far(ear)?;
        }
        Ok(())
    }

    /// Puts acts on record that the conversation knows already. With an answer goes what was said while it was made.
    pub(super) fn put_down(
        &self,
        ear: &mut Ear,
        conversation: &mut Conversation,
        acts: &[AgentAct],
    ) -> Result<(), Error> {
        if acts.is_empty() {
            return Ok(());
        }
        let heard = self.commands.act_and_listen(self.id, self.epoch, acts, ear);
        self.hold(None);
        match heard? {
            Heard::Nothing => {}
            Heard::Something => *conversation = self.so_far(ear)?,
        }
        Ok(())
    }

    /// What somebody told the agent since its last turn.
    pub(super) fn told(&self, conversation: &Conversation) -> Result<Vec<String>, Error> {
        conversation.told().iter().map(|words| Ok(in_words(&*self.commands.shared_value(words)?))).collect()
    }

    /// What was said and done at a step, as the log has it.
    fn so_far(&self, ear: &Ear) -> Result<Conversation, Error> {
        Ok(Conversation::fold(&self.commands.acts_at(self.id, ear.node)?))
    }
}
