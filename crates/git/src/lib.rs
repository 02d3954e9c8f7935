//! Git: which repository a path belongs to, where its head is, and what a commit holds.
//!
//! The only crate that runs `git`. It must never let the environment or the configuration of a repository
//! redirect it or start a program: both may be somebody else's. Nothing here writes or uses the network.

mod command;
mod discover;
mod error;
mod folder;
mod head;
mod object_id;
mod version;

pub use discover::{Kind, Repository, discover};
pub use error::Error;
pub use folder::{FOLDER_LIMIT_BYTES, FolderEntry, Mode, read_folder};
pub use head::{Head, head, resolve};
pub use object_id::ObjectId;
pub use version::{Version, version};
