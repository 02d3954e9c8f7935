//! What a request that was admitted comes to. The meter is told once, when it is over, whoever ends it and however.

use std::sync::Arc;
use std::time::Instant;

use super::usage::BYTES_PER_TOKEN;
use crate::meter::{Estimate, Limited, Meter, Usage, UsageSource, Verdict};

/// No model that is known writes faster, in tokens a second: what nobody waited for is not taken for all that was allowed.
const FASTEST: u64 = 4_000;

/// Told to the meter when it is dropped, at the latest.
pub(super) struct Bill {
    estimate: Estimate,
    meter: Arc<dyn Meter>,
    stage: Stage,
}

/// How far a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Admitted,
    /// The provider may be at work, whoever leaves in the meantime.
    Sent {
        at: Instant,
    },
    Settled,
}

impl Bill {
    pub(super) fn new(estimate: Estimate, meter: Arc<dyn Meter>) -> Self {
        Self { estimate, meter, stage: Stage::Admitted }
    }

    pub(super) fn is_sent(&mut self) {
        self.stage = Stage::Sent { at: Instant::now() };
    }

    /// What was used so far.
    pub(super) fn count(&self, usage: &Usage) -> Verdict {
        self.meter.count(usage)
    }

    pub(super) fn limited(&self, limited: &Limited) {
        self.meter.limited(limited);
    }

    /// What was used in all.
    pub(super) fn settle(&mut self, usage: &Usage) {
        if self.stage != Stage::Settled {
            self.stage = Stage::Settled;
            self.meter.settle(usage);
        }
    }

    /// The provider did not take it.
    pub(super) fn nothing(&self) -> Usage {
        self.usage(0, 0, UsageSource::Reported)
    }

    /// What may have been used where nobody says: agents begin requests that they call off at once.
    fn most(&self, sent_at: Instant) -> Usage {
        let input = self.estimate.input_bytes.div_ceil(BYTES_PER_TOKEN);
        let written = FASTEST.saturating_mul(sent_at.elapsed().as_secs() + 1);
        let output = self.estimate.max_output_tokens.unwrap_or(0).min(written);
        self.usage(input, output, UsageSource::Estimated)
    }

    fn usage(&self, input_tokens: u64, output_tokens: u64, source: UsageSource) -> Usage {
        let Estimate { request, provider, model, .. } = self.estimate.clone();
        let (cache_read_tokens, cache_write_tokens) = (0, 0);
        Usage {
            request,
            provider,
            model,
            input_tokens,
            cache_read_tokens,
            cache_write_tokens,
            output_tokens,
            source,
        }
    }
}

impl Drop for Bill {
    fn drop(&mut self) {
        match self.stage {
            Stage::Admitted => self.settle(&self.nothing()),
            Stage::Sent { at } => self.settle(&self.most(at)),
            Stage::Settled => {}
        }
    }
}
