//! Git: which repository a path belongs to, where its head is, and what a commit holds.
//!
//! The only crate that runs `git`. It must never let the environment or the configuration of a repository
//! redirect it or start a program: both may be somebody else's. Only [`fetch`] writes and uses the network, and it
//! writes to bare repositories of our own only.

mod command;
mod discover;
mod error;
mod fetch;
mod folder;
mod head;
mod object_id;
mod version;

pub use discover::{Kind, Repository, discover};
pub use error::Error;
pub use fetch::{Remote, fetch};
pub use folder::{FOLDER_LIMIT_BYTES, FolderEntry, Mode, has_path, read_folder};
pub use head::{Head, head, resolve};
pub use object_id::ObjectId;
pub use version::{Version, version};
