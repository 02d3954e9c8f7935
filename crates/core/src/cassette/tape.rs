//! Playing: which turn comes next, and what was left over.

use std::fmt;

use super::{Asked, Cassette, Scripted, Usage};
use crate::budget::Pricing;

/// A cassette in the machine.
#[derive(Debug, Clone)]
pub struct Tape {
    cassette: Cassette,
    played: Vec<bool>,
}

/// A request that no turn answers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the cassette has no turn left for step `{}` of `{}` (visit {}); add one, or see whether an earlier turn should have handed the step in",
    asked.step, asked.workflow, asked.visit
)]
pub struct Unscripted {
    pub asked: Asked,
}

/// Turns that had to be played and were not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} of the cassette {} not played: {}; mark what may be left `optional: true`", count(places.len()), if places.len() == 1 { "was" } else { "were" }, places.join(", "))]
pub struct Unplayed {
    pub places: Vec<String>,
}

impl Tape {
    pub fn new(cassette: Cassette) -> Self {
        let played = vec![false; cassette.turns.len()];
        Self { cassette, played }
    }

    pub fn window(&self) -> u64 {
        self.cassette.window
    }

    pub fn pricing(&self) -> Pricing {
        self.cassette.pricing
    }

    pub fn max_output(&self) -> Option<u64> {
        self.cassette.max_output
    }

    /// What the next turn for whoever stands there will use, without playing it.
    pub fn peek(&self, asked: &Asked) -> Option<Usage> {
        self.place(asked).map(|index| self.cassette.turns[index].usage)
    }

    fn place(&self, asked: &Asked) -> Option<usize> {
        let mut turns = self.cassette.turns.iter().zip(&self.played);
        turns.position(|(turn, played)| !*played && turn.when.fits(asked))
    }

    /// The next turn for whoever stands there. Fed again with what was asked before, it comes to the same place: that
    /// is how a session which died is taken up.
    pub fn next(&mut self, asked: &Asked) -> Result<&Scripted, Unscripted> {
        let Some(index) = self.place(asked) else { return Err(Unscripted { asked: asked.clone() }) };
        self.played[index] = true;
        Ok(&self.cassette.turns[index])
    }

    /// One script may be played by several, each a part of it.
    pub fn also_played(&mut self, other: &Self) {
        self.played.iter_mut().zip(&other.played).for_each(|(played, others)| *played |= *others);
    }

    /// Whether everything that had to be played was.
    pub fn finish(&self) -> Result<(), Unplayed> {
        let turns = self.cassette.turns.iter().zip(&self.played).enumerate();
        let left = turns.filter(|(_, (turn, played))| !**played && !turn.optional);
        let places: Vec<String> = left.map(|(index, (turn, _))| place(index, turn)).collect();
        if places.is_empty() { Ok(()) } else { Err(Unplayed { places }) }
    }
}

fn place(index: usize, turn: &Scripted) -> String {
    let step = turn.when.step.as_deref().unwrap_or("any step");
    format!("turn {} ({step})", index + 1)
}

fn count(turns: usize) -> impl fmt::Display {
    if turns == 1 { "1 turn".to_owned() } else { format!("{turns} turns") }
}
