//! From stored bytes to events and back, older shapes included.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::content::{BlobRef, FreeText, Slot};
use crate::daemon::DaemonEvent;
use crate::session::SessionEvent;
use crate::stream::StreamKind;
use crate::task::TaskEvent;
use crate::trigger::TriggerEvent;
use crate::workspace::WorkspaceEvent;

/// The `type` that an earlier release wrote, and how it is lifted to today's shape.
pub type Upcaster = (&'static str, fn(Value) -> Value);

/// An event enum that is stored in streams of one kind.
pub trait StreamEvent: Serialize + DeserializeOwned + Clone + PartialEq + std::fmt::Debug {
    const KIND: StreamKind;
    const UPCASTERS: &'static [Upcaster];

    fn blobs(&self) -> Vec<BlobRef>;
    fn contents(&mut self) -> Vec<Slot<'_>>;
    fn free_texts(&mut self) -> Vec<FreeText<'_>>;
    /// What other facts and the workflow know things by, so that it cannot be changed in one place alone.
    fn names(&self) -> Vec<&str>;
}

impl StreamEvent for SessionEvent {
    const KIND: StreamKind = StreamKind::Session;
    const UPCASTERS: &'static [Upcaster] = &[];

    fn blobs(&self) -> Vec<BlobRef> {
        Self::blobs(self)
    }

    fn contents(&mut self) -> Vec<Slot<'_>> {
        Self::contents(self)
    }

    fn free_texts(&mut self) -> Vec<FreeText<'_>> {
        Self::free_texts(self)
    }

    fn names(&self) -> Vec<&str> {
        Self::names(self)
    }
}

impl StreamEvent for TaskEvent {
    const KIND: StreamKind = StreamKind::Task;
    const UPCASTERS: &'static [Upcaster] = &[];

    fn blobs(&self) -> Vec<BlobRef> {
        Self::blobs(self)
    }

    fn contents(&mut self) -> Vec<Slot<'_>> {
        Self::contents(self)
    }

    fn free_texts(&mut self) -> Vec<FreeText<'_>> {
        Self::free_texts(self)
    }

    /// The workflow and its steps are looked up by these.
    fn names(&self) -> Vec<&str> {
        match self {
            Self::Opened { pipeline, until, .. } => {
                std::iter::once(pipeline.as_str()).chain(until.as_deref()).collect()
            }
            Self::Attempted { .. }
            | Self::Set { .. }
            | Self::Cancelled { .. }
            | Self::Queued { .. }
            | Self::Requeued { .. }
            | Self::HandedOver { .. }
            | Self::Told { .. }
            | Self::Replied { .. } => Vec::new(),
        }
    }
}

/// Events that carry words and nothing by digest.
macro_rules! words_only {
    ($event:ident, $kind:ident) => {
        impl StreamEvent for $event {
            const KIND: StreamKind = StreamKind::$kind;
            const UPCASTERS: &'static [Upcaster] = &[];

            fn blobs(&self) -> Vec<BlobRef> {
                Vec::new()
            }

            fn contents(&mut self) -> Vec<Slot<'_>> {
                Vec::new()
            }

            fn free_texts(&mut self) -> Vec<FreeText<'_>> {
                Self::free_texts(self)
            }

            fn names(&self) -> Vec<&str> {
                Vec::new()
            }
        }
    };
}

words_only!(WorkspaceEvent, Workspace);
words_only!(TriggerEvent, Trigger);
words_only!(DaemonEvent, Daemon);

/// Stored bytes that this release cannot read as events.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    #[error("not a list of events")]
    NotEvents(#[source] serde_json::Error),
    #[error("a `{kind}` event of type `{event_type}` that this release does not know: {source}")]
    Unknown { kind: &'static str, event_type: String, source: serde_json::Error },
}

/// Writes the events of one decision as they are stored.
pub fn encode_batch<E: StreamEvent>(events: &[E]) -> Vec<u8> {
    serde_json::to_vec(events).expect("events have string keys and no failing serializers")
}

/// Reads the events of one decision. An unknown event is an error, never skipped.
pub fn decode_batch<E: StreamEvent>(body: &[u8]) -> Result<Vec<E>, DecodeError> {
    match serde_json::from_slice(body) {
        Ok(events) => Ok(events),
        Err(_) => decode_each(body),
    }
}

/// The slow way: one by one, so that older shapes are lifted and the stranger can be named.
fn decode_each<E: StreamEvent>(body: &[u8]) -> Result<Vec<E>, DecodeError> {
    let values: Vec<Value> = serde_json::from_slice(body).map_err(DecodeError::NotEvents)?;
    values
        .into_iter()
        .map(|value| {
            let event_type = event_type(&value);
            let upcaster = E::UPCASTERS.iter().find(|(known, _)| *known == event_type);
            let value = upcaster.map_or(value.clone(), |(_, upcast)| upcast(value));
            serde_json::from_value(value).map_err(|source| DecodeError::Unknown {
                kind: E::KIND.name(),
                event_type,
                source,
            })
        })
        .collect()
}

fn event_type(value: &Value) -> String {
    value.get("type").and_then(Value::as_str).unwrap_or("?").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
    enum Sample {
        MovedV2 { to: String },
    }

    impl StreamEvent for Sample {
        const KIND: StreamKind = StreamKind::Workspace;
        const UPCASTERS: &'static [Upcaster] =
            &[("moved", |old| serde_json::json!({"type": "moved_v2", "to": old["destination"]}))];

        fn blobs(&self) -> Vec<BlobRef> {
            Vec::new()
        }

        fn contents(&mut self) -> Vec<Slot<'_>> {
            Vec::new()
        }

        fn free_texts(&mut self) -> Vec<FreeText<'_>> {
            Vec::new()
        }

        fn names(&self) -> Vec<&str> {
            Vec::new()
        }
    }

    #[test]
    fn an_older_shape_is_lifted() {
        let stored = br#"[{"type":"moved","destination":"/b"},{"type":"moved_v2","to":"/c"}]"#;
        let expected = vec![Sample::MovedV2 { to: "/b".into() }, Sample::MovedV2 { to: "/c".into() }];
        assert_eq!(decode_batch::<Sample>(stored).unwrap(), expected);
    }

    #[test]
    fn an_unknown_event_is_named_and_not_skipped() {
        let error = decode_batch::<SessionEvent>(br#"[{"type":"teleported"}]"#).unwrap_err();
        assert!(error.to_string().contains("`teleported`"), "{error}");
    }

    #[test]
    fn a_field_that_nobody_wrote_is_not_ignored() {
        let stored = br#"[{"type":"driver_released","epoch":1,"extra":true}]"#;
        assert!(decode_batch::<SessionEvent>(stored).is_err());
    }
}
