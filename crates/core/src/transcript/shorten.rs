//! What is told no more when a conversation has no room left.
//!
//! First what older calls took and gave becomes a line each, because it can be had again. If that is not enough, the oldest
//! turns go as a whole, and a recap stands for them. It is done rarely and thoroughly: after each time all that stays
//! is told anew, and in between nothing but the end changes.

use longhaul_events::Content;

use super::messages::{LONGEST_LINE, is_long};
use super::{Call, End, Entry, Telling, Told, Transcript, Turn};
use crate::conversation::length;

/// What a message needs beside its words.
const FRAME: u64 = 80;
/// Even when there is hardly any room, so much of a result is told.
const SHORTEST_CLIP: u64 = 2_000;

/// How many bytes there are for a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// With more than this, something has to go.
    pub most: u64,
    /// So much may stay then.
    pub aim: u64,
}

/// What is told no more. Turns are counted over the whole session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortening {
    pub results_until: u64,
    pub turns_until: u64,
    pub longest_result: Option<u64>,
}

impl Room {
    /// How much of it a recap may take.
    pub const fn for_recap(self) -> u64 {
        self.aim / 3
    }
}

impl Shortening {
    /// Whether a recap is needed for what goes.
    pub fn needs_recap(&self, transcript: &Transcript) -> bool {
        self.turns_until > transcript.turns_until || transcript.is_bare
    }
}

impl Transcript {
    /// How long the conversation is, in bytes, near enough.
    pub fn bytes(&self) -> u64 {
        self.entries.iter().map(Entry::bytes).sum()
    }

    /// What has to go, if there is not enough room. Nothing if nothing more can.
    pub fn plan(&self, room: Room) -> Option<Shortening> {
        if self.bytes() <= room.most && !self.is_bare {
            return None;
        }
        let first_whole = self.first_whole(room.aim / 2);
        let results_until = self.last_ordinal_before(first_whole).max(self.results_until);
        let longest_result = self.clip(first_whole, room.aim / 2);
        let mut plan = Shortening { results_until, turns_until: self.turns_until, longest_result };
        if self.bytes_after(&plan) > room.aim || self.is_bare {
            let left = room.aim.saturating_sub(room.for_recap());
            plan.turns_until = self.first_kept(&plan, left).max(self.turns_until);
        }
        let is_progress = self.is_bare
            || plan.results_until > self.results_until
            || plan.turns_until > self.turns_until
            || self.bytes_after(&plan) < self.bytes();
        is_progress.then_some(plan)
    }

    /// The first of the newest parts that are told whole: as many as fit, and at least the last turn.
    fn first_whole(&self, room: u64) -> usize {
        let last = self.entries.iter().rposition(Entry::is_turn).unwrap_or(self.entries.len());
        let mut used: u64 = self.entries[last..].iter().map(Entry::bytes).sum();
        let mut first = last;
        for (place, entry) in self.entries[..last].iter().enumerate().rev() {
            used += entry.bytes();
            if used > room {
                break;
            }
            first = place;
        }
        first
    }

    fn last_ordinal_before(&self, place: usize) -> u64 {
        let mut turns = self.entries[..place].iter().rev().filter_map(Entry::turn);
        turns.next().map_or(0, |turn| turn.ordinal)
    }

    /// How long a result may be, if not even the newest turn fits with all that its calls gave.
    fn clip(&self, first_whole: usize, room: u64) -> Option<u64> {
        let whole: u64 = self.entries[first_whole..].iter().map(Entry::bytes).sum();
        let turns = self.entries[first_whole..].iter().filter_map(Entry::turn);
        let results = turns.map(|turn| turn.calls.len() as u64).sum::<u64>();
        (whole > room && results > 0).then(|| (room / results).max(SHORTEST_CLIP))
    }

    /// How long the conversation would be, without the recap.
    fn bytes_after(&self, plan: &Shortening) -> u64 {
        self.entries.iter().map(|entry| plan.bytes_of(entry)).sum()
    }

    /// The last turn that has to go, so that the rest fits. The newest stays, whatever it is.
    fn first_kept(&self, plan: &Shortening, room: u64) -> u64 {
        let mut used: u64 = 0;
        let mut oldest = None;
        for entry in self.entries.iter().rev() {
            used += plan.bytes_of(entry);
            if used > room && oldest.is_some() {
                break;
            }
            if let Some(turn) = entry.turn() {
                oldest = Some(turn.ordinal);
            }
        }
        oldest.map_or(self.turns, |oldest| oldest - 1)
    }

    /// Tells less from here on.
    pub(super) fn shorten(&mut self, plan: &Shortening) {
        let gone = |entry: &Entry| entry.turn().is_some_and(|turn| turn.ordinal <= plan.turns_until);
        if let Some(last) = self.entries.iter().rposition(gone) {
            let kept = self.entries.split_off(last + 1);
            let recap = std::mem::replace(&mut self.entries, kept).into_iter().find(Entry::is_recap);
            // Only if nothing comes in its place.
            self.entries.splice(0..0, recap);
        }
        for turn in self.entries.iter_mut().filter_map(Entry::turn_mut) {
            turn.telling = plan.telling(turn);
        }
        self.results_until = self.results_until.max(plan.results_until);
        self.turns_until = self.turns_until.max(plan.turns_until);
        self.is_overflowing = false;
        self.edition += 1;
    }
}

impl Shortening {
    fn telling(&self, turn: &Turn) -> Telling {
        if turn.ordinal <= self.results_until {
            return Telling::Trimmed;
        }
        match (turn.telling, self.longest_result) {
            (Telling::Trimmed, _) => Telling::Trimmed,
            (Telling::Clipped(before), Some(most)) => Telling::Clipped(before.min(most)),
            (Telling::Whole, Some(most)) => Telling::Clipped(most),
            (telling @ (Telling::Whole | Telling::Clipped(_)), None) => telling,
        }
    }

    fn bytes_of(&self, entry: &Entry) -> u64 {
        match entry {
            Entry::Told { .. } => entry.bytes(),
            Entry::Turn(turn) => turn.bytes(self.telling(turn)),
        }
    }
}

impl Entry {
    fn bytes(&self) -> u64 {
        match self {
            Self::Turn(turn) => turn.bytes(turn.telling),
            Self::Told { words, .. } => FRAME + words.bytes(),
        }
    }
}

impl Told {
    fn bytes(&self) -> u64 {
        match self {
            Self::Nudge(words) => words.len() as u64,
            Self::Step { prompt: content, .. }
            | Self::Person { words: content, .. }
            | Self::Gate { words: content, .. }
            | Self::Recap(content) => length(content),
        }
    }
}

impl Turn {
    fn bytes(&self, telling: Telling) -> u64 {
        let calls: u64 = self.calls.iter().map(|call| call.bytes(telling)).sum();
        let echo = match telling {
            Telling::Whole | Telling::Clipped(_) => self.echo.as_ref().map_or(0, length),
            Telling::Trimmed => 0,
        };
        FRAME + length(&self.said) + echo + calls
    }
}

impl Call {
    fn bytes(&self, telling: Telling) -> u64 {
        let arguments = &self.call.arguments;
        let (took, gave) = (length(arguments), self.gave());
        let line = LONGEST_LINE as u64;
        let (took, gave) = match telling {
            Telling::Whole => (took, gave),
            Telling::Clipped(most) => (took, gave.min(most)),
            Telling::Trimmed => (took.min(line * fields(arguments)), gave.min(line)),
        };
        2 * FRAME + took + gave
    }

    fn gave(&self) -> u64 {
        match &self.end {
            End::Open | End::HandedIn => 0,
            End::Came { result, .. } if is_long(result) => length(result),
            End::Came { .. } => LONGEST_LINE as u64,
        }
    }
}

/// How many arguments a call may have to be told of.
fn fields(arguments: &Content) -> u64 {
    match arguments {
        Content::Inline(value) => value.as_object().map_or(1, |fields| fields.len() as u64),
        Content::Blob(_) => 3,
    }
}
