//! An answer on its way, counted piece by piece and cut when the count says so. Nothing of it is kept back.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::StatusCode;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::usage::Count;
use crate::body::{Body, BoxError};
use crate::meter::{Limited, Meter, Verdict};

/// What an overloaded provider answers that has no other number for it.
const OVERLOADED: u16 = 529;

/// What the head of the answer says.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: StatusCode,
    pub(super) retry_after: Option<String>,
}

pub(super) struct Counted {
    body: Body,
    count: Count,
    meter: Arc<dyn Meter>,
    head: Head,
    is_finished: bool,
}

impl Counted {
    pub(super) fn new(body: Body, count: Count, meter: Arc<dyn Meter>, head: Head) -> Self {
        Self { body, count, meter, head, is_finished: false }
    }

    pub(super) fn boxed_unsync(self) -> UnsyncBoxBody<Bytes, BoxError> {
        BodyExt::boxed_unsync(self)
    }

    /// Also when nobody reads on: what was used was used.
    fn finish(&mut self) {
        if std::mem::replace(&mut self.is_finished, true) {
            return;
        }
        self.count.finish();
        if self.head.status.is_success() {
            let _ = self.meter.count(&self.count.total());
            return;
        }
        let status = self.head.status;
        let is_limit = status == StatusCode::TOO_MANY_REQUESTS
            || status.as_u16() == OVERLOADED
            || (status == StatusCode::SERVICE_UNAVAILABLE && self.head.retry_after.is_some());
        if is_limit {
            let (kind, message) = self.count.error();
            self.meter.limited(&Limited {
                provider: self.count.estimate.provider.clone(),
                status: status.as_u16(),
                retry_after: self.head.retry_after.take(),
                kind,
                message,
            });
        }
    }
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        let Some(Ok(frame)) = frame else {
            self.finish();
            return Poll::Ready(frame);
        };
        if let Some(piece) = frame.data_ref()
            && self.count.take(piece)
            && let Verdict::Cut(refused) = self.meter.count(&self.count.usage())
        {
            self.is_finished = true;
            return Poll::Ready(Some(Err(format!("cut: cap `{}` is reached", refused.cap).into())));
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        // Else the end would not be asked for, and not be seen.
        self.is_finished && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.finish();
    }
}
