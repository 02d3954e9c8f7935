//! Asks a model, through the gateway of a session: three wires, one face, typed failures.
//!
//! One request and what came of it. Nothing here tries again, knows a price or keeps a conversation: who asks decides
//! whether to ask once more. A request with the same beginning as an earlier one has the same bytes up to what is new,
//! so that the caches of providers hold.

mod ask;
mod draft;
mod events;
mod failure;
mod request;
mod silence;
mod transport;
mod wire;

pub use ask::{Piece, Watch, ask};
pub use draft::{End, Reply};
pub use failure::Failure;
pub use longhaul_events::ModelUsage;
pub use request::{CallResult, Door, Layer, Message, Request, ToolSpec, Unreadable, WantedCall};
pub use wire::{UnknownWire, Wire};
