//! The log: what was decided, in order, for ever. Beside it blobs, and views that can be thrown away.
//!
//! The only crate that knows SQL. It stores bytes that others made and checks that they are still the same;
//! it never interprets a command, and never answers from damaged data.

mod append;
#[cfg(feature = "baseline")]
pub mod baseline;
mod blob;
mod error;
mod log;
mod memory;
mod presence;
mod sqlite;
pub mod views;
pub mod watch;
mod witness;

pub use append::{Append, Appended, State, StreamAppend};
pub use blob::{INLINE_LIMIT, NewBlob};
pub use error::{AppendError, StoreError};
pub use log::{DamagedRow, Decision, Head, Log};
pub use memory::MemoryLog;
pub use sqlite::backup::Backup;
pub use sqlite::export::Exported;
pub use sqlite::import::{AnsweredGate, Claims, ImportError, Imported, Spooled};
pub use sqlite::inventory::Collected;
pub use sqlite::recover::{Recovered, is_whole, recover};
pub use sqlite::redact::{Names, Redacted};
pub use sqlite::restore::{Restored, restore};
pub use sqlite::verify::{Finding, StreamReport, Verdict};
pub use sqlite::{Access, Options, SCHEMA_VERSION, SqliteLog};
