//! ECMAScript patterns that always come to an end.
//!
//! Every step of the search is counted, and there is a limit. Why this is our own code:
//! `docs/decisions/0007-patterns.md`.

mod class;
mod escape;
mod node;
mod parse;
mod program;
mod run;
mod source;

use super::allowance::Allowance;
use program::Program;
use source::{Flags, Sticky};

/// Longer patterns are refused.
const LONGEST_PATTERN: usize = 10_000;
/// The steps that any search may take.
const LEAST_STEPS: u64 = 1_000_000;
/// And for each character of the text: a plain search must get through a long one.
const STEPS_PER_CHARACTER: u64 = 32;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    program: Program,
    sticky: Sticky,
}

/// The pattern backtracked for longer than it is allowed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the pattern took too many steps")]
pub struct TooManySteps;

impl Pattern {
    /// Flags are those of ECMAScript, such as `i` or `im`. The error says what is wrong and what to do.
    pub fn new(pattern: &str, flags: &str) -> Result<Self, String> {
        let flags = Flags::read(flags)?;
        let letters = pattern.chars().count();
        if letters > LONGEST_PATTERN {
            return Err(format!("it has {letters} characters; make it shorter than {LONGEST_PATTERN}"));
        }
        let parsed = parse::parse(pattern, flags)?;
        Ok(Self { program: Program::of(&parsed), sticky: flags.sticky })
    }

    /// Whether it matches somewhere in `text`.
    pub fn is_match(&self, text: &str) -> Result<bool, TooManySteps> {
        self.is_match_within(text, &Allowance::default())
    }

    /// The same, within what is left for all patterns of a decision.
    pub fn is_match_within(&self, text: &str, allowance: &Allowance) -> Result<bool, TooManySteps> {
        let text: Vec<char> = text.chars().collect();
        let most = LEAST_STEPS.saturating_add(STEPS_PER_CHARACTER.saturating_mul(text.len() as u64));
        let limit = most.min(allowance.pattern_steps());
        let searched = run::search(&self.program, &text, run::Search { limit, sticky: self.sticky });
        allowance.spend_pattern_steps(searched.steps);
        searched.outcome
    }
}

#[cfg(test)]
mod tests;
