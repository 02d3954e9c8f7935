//! A request that a provider has and did not answer yet. Whoever leaves before the answer comes has used it all the same.

use std::sync::Arc;

use super::usage::BYTES_PER_TOKEN;
use crate::meter::{Estimate, Meter, Usage, UsageSource};

/// Counted as what it may cost at most when it is dropped, unless an answer came.
pub(super) struct Unanswered {
    estimate: Option<Estimate>,
    meter: Arc<dyn Meter>,
}

impl Unanswered {
    pub(super) fn new(estimate: Estimate, meter: Arc<dyn Meter>) -> Self {
        Self { estimate: Some(estimate), meter }
    }

    /// The answer counts from here on.
    pub(super) fn answered(mut self) {
        self.estimate = None;
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        let Some(Estimate { request, provider, model, input_bytes, max_output_tokens }) =
            self.estimate.take()
        else {
            return;
        };
        // Nobody is left to be cut.
        let _ = self.meter.count(&Usage {
            request,
            provider,
            model,
            input_tokens: input_bytes.div_ceil(BYTES_PER_TOKEN),
            cache_read_tokens: 0,
            cache_write_tokens: 0,
            output_tokens: max_output_tokens.unwrap_or(0),
            source: UsageSource::Estimated,
        });
    }
}
