//! The requests of one client that are being worked on: each id once, and never more of them than fit into memory.

use std::collections::HashMap;
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use tokio::time::Instant;

/// The most requests at once, and the most bytes that they may have come in.
pub const MOST_UNANSWERED: usize = 256;
const MOST_BYTES: usize = 32 << 20;

/// How long nothing is read while there are too many. Not for ever: they may wait for an answer of the client.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(5);

#[derive(Debug, Default)]
pub(super) struct Unanswered {
    /// With the bytes of each.
    requests: HashMap<RequestId, usize>,
    bytes: usize,
    full_since: Option<Instant>,
}

/// Whether a message is worked on.
pub(super) enum Taken {
    Yes,
    Refused(Box<ServerJsonRpcMessage>),
}

impl Unanswered {
    fn is_full(&self) -> bool {
        self.requests.len() >= MOST_UNANSWERED || self.bytes >= MOST_BYTES
    }

    /// Waits a while if there are too many. The SDK lets go of this whenever there is something to send, and comes back.
    pub(super) async fn fewer(&mut self) {
        while self.is_full() {
            let since = *self.full_since.get_or_insert_with(Instant::now);
            if since.elapsed() >= PATIENCE {
                return;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        self.full_since = None;
    }

    pub(super) fn take(&mut self, message: &ClientJsonRpcMessage, bytes: usize) -> Taken {
        match message {
            JsonRpcMessage::Request(request) => self.take_request(&request.id, bytes),
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.forget(id);
                }
                Taken::Yes
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => Taken::Yes,
        }
    }

    fn take_request(&mut self, id: &RequestId, bytes: usize) -> Taken {
        let refused = |message: String| {
            let error = ErrorData::new(ErrorCode::INVALID_REQUEST, message, None);
            Taken::Refused(Box::new(ServerJsonRpcMessage::error(error, Some(id.clone()))))
        };
        if self.requests.contains_key(id) {
            return refused(format!(
                "a request with the id `{id}` is not answered yet; this one was not read, send it with an id of its own"
            ));
        }
        if self.is_full() {
            return refused(format!(
                "{} requests are not answered yet; this one was not read, send it again after some of them",
                self.requests.len()
            ));
        }
        self.requests.insert(id.clone(), bytes);
        self.bytes += bytes;
        Taken::Yes
    }

    pub(super) fn answered(&mut self, message: &ServerJsonRpcMessage) {
        match message {
            JsonRpcMessage::Response(response) => self.forget(&response.id),
            JsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    self.forget(id);
                }
            }
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
        }
    }

    fn forget(&mut self, id: &RequestId) {
        if let Some(bytes) = self.requests.remove(id) {
            self.bytes -= bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(value: serde_json::Value) -> ClientJsonRpcMessage {
        serde_json::from_value(value).unwrap()
    }

    fn is_taken(unanswered: &mut Unanswered, id: usize, bytes: usize) -> bool {
        let request = message(json!({ "jsonrpc": "2.0", "id": id, "method": "no/such" }));
        matches!(unanswered.take(&request, bytes), Taken::Yes)
    }

    #[test]
    fn an_id_is_taken_once_until_it_is_answered_or_cancelled() {
        let mut unanswered = Unanswered::default();
        assert!(is_taken(&mut unanswered, 1, 10));
        assert!(!is_taken(&mut unanswered, 1, 10));
        let error = ErrorData::internal_error("x", None);
        unanswered.answered(&ServerJsonRpcMessage::error(error, Some(RequestId::Number(1))));
        assert!(is_taken(&mut unanswered, 1, 10));
        let cancelled =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
        assert!(matches!(unanswered.take(&message(cancelled), 10), Taken::Yes));
        assert!(is_taken(&mut unanswered, 1, 10));
        assert_eq!(unanswered.bytes, 10);
    }

    #[tokio::test]
    async fn when_there_are_too_many_nothing_is_read_for_a_while_and_then_more_are_refused() {
        let mut many = Unanswered::default();
        assert!((0..MOST_UNANSWERED).all(|id| is_taken(&mut many, id, 1)));
        let mut large = Unanswered::default();
        assert!(is_taken(&mut large, 0, MOST_BYTES));
        for mut unanswered in [many, large] {
            let before = Instant::now();
            unanswered.fewer().await;
            assert!(before.elapsed() >= PATIENCE);
            assert!(!is_taken(&mut unanswered, 1_000, 1));
            unanswered.forget(&RequestId::Number(0));
            unanswered.fewer().await;
            assert!(is_taken(&mut unanswered, 1_000, 1));
        }
    }
}
