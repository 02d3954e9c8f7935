//! An answer on its way, counted piece by piece and cut when the count says so. Nothing of it is kept back.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::StatusCode;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::bill::Bill;
use super::usage::Count;
use crate::body::{Body, BoxError};
use crate::meter::{Limited, Verdict};

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
    /// Of a request that costs something.
    bill: Option<Bill>,
    head: Head,
    is_finished: bool,
}

impl Counted {
    pub(super) fn new(body: Body, count: Count, bill: Option<Bill>, head: Head) -> Self {
        Self { body, count, bill, head, is_finished: false }
    }

    pub(super) fn boxed_unsync(self) -> UnsyncBoxBody<Bytes, BoxError> {
        BodyExt::boxed_unsync(self)
    }

    fn so_far(&self) -> Verdict {
        self.bill.as_ref().map_or(Verdict::GoOn, |bill| bill.count(&self.count.usage()))
    }

    /// Also when nobody reads on: what was used was used.
    fn finish(&mut self) {
        if std::mem::replace(&mut self.is_finished, true) {
            return;
        }
        self.count.finish();
        let Some(bill) = &mut self.bill else { return };
        let status = self.head.status;
        if status.is_success() {
            return bill.settle(&self.count.total());
        }
        let is_limit = status == StatusCode::TOO_MANY_REQUESTS
            || status.as_u16() == OVERLOADED
            || (status == StatusCode::SERVICE_UNAVAILABLE && self.head.retry_after.is_some());
        if is_limit {
            let (kind, message) = self.count.error();
            bill.limited(&Limited {
                provider: self.count.estimate.provider.clone(),
                status: status.as_u16(),
                retry_after: self.head.retry_after.take(),
                kind,
                message,
            });
        }
        bill.settle(&self.count.reported().unwrap_or_else(|| bill.nothing()));
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
            && let Verdict::Cut(refused) = self.so_far()
        {
            self.is_finished = true;
            let usage = self.count.usage();
            self.bill.iter_mut().for_each(|bill| bill.settle(&usage));
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
