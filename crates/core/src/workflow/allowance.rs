//! How much one decision may spend on texts that others wrote.
//!
//! Each pattern and each template is bounded by itself, but a file may have tens of thousands of them. So all that are
//! judged and filled in for one decision share one allowance.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A plain search through the longest notes takes half of it, and all of it a fraction of a second.
const PATTERN_STEPS: u64 = 64_000_000;
/// More than any agent reads.
const FILLED_BYTES: u64 = 8_000_000;

/// What is left; clones share it.
#[derive(Debug, Clone)]
pub struct Allowance(Arc<Left>);

#[derive(Debug)]
struct Left {
    pattern_steps: AtomicU64,
    filled_bytes: AtomicU64,
}

impl Default for Allowance {
    fn default() -> Self {
        Self(Arc::new(Left {
            pattern_steps: AtomicU64::new(PATTERN_STEPS),
            filled_bytes: AtomicU64::new(FILLED_BYTES),
        }))
    }
}

impl Allowance {
    pub(super) fn pattern_steps(&self) -> u64 {
        self.0.pattern_steps.load(Ordering::Relaxed)
    }

    pub(super) fn spend_pattern_steps(&self, steps: u64) {
        let left = self.pattern_steps().saturating_sub(steps);
        self.0.pattern_steps.store(left, Ordering::Relaxed);
    }

    /// Whether there is room for so many bytes more; then they are spent.
    pub(super) fn takes(&self, bytes: usize) -> bool {
        let left = self.0.filled_bytes.load(Ordering::Relaxed).checked_sub(bytes as u64);
        left.inspect(|left| self.0.filled_bytes.store(*left, Ordering::Relaxed)).is_some()
    }
}
