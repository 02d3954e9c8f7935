//! Every fact that Longhaul writes down, and the ids that facts name.
//!
//! This crate holds only what is stored. It must never decide anything, read a clock or touch the world:
//! a file written by any release has to be readable by every later one, so the less lives here the better.

mod agent;
mod base32;
mod checkout;
mod content;
mod daemon;
mod decode;
mod delivery;
mod ids;
mod session;
mod stream;
mod task;
mod time;
mod trigger;
mod walk;
mod workspace;

pub use agent::{
    Account, AgentAct, AgentCall, CallOrder, CallOutcome, Caps, Held, ModelUsage, Taint, TokenCount,
    TurnFault,
};
pub use base32::{decode_base32, encode_base32};
pub use checkout::{CheckoutKind, OwnCheckout};
pub use content::{BlobRef, Content, Digest, FreeText, Kept, Slot};
pub use daemon::DaemonEvent;
pub use decode::{DecodeError, StreamEvent, Upcaster, decode_batch, encode_batch};
pub use delivery::{DeliveryAct, DeliveryFact};
pub use ids::{
    DaemonId, Epoch, IdError, NodeId, Nonce, Position, Seq, SessionId, SessionKey, StepId, TaskId, TriggerId,
    WorkspaceId,
};
pub use session::{CloseOutcome, Driver, ReportKind, SessionEvent, Urgency, Waits};
pub use stream::{StreamId, StreamKind};
pub use task::{Orders, Place as QueuePlace, Priority, TaskChange, TaskEvent};
pub use time::Timestamp;
pub use trigger::{Intake, TriggerEvent};
pub use walk::{Checkout, Choice, Considered, Frame, GateKind, Place, Reason, Restored, Verdict};
pub use workspace::{Channel, FileKind, TrustedFile, WorkspaceEvent};

#[cfg(test)]
mod golden_tests;
