//! Git: which repository a path belongs to, what a commit holds, checkouts for sessions and snapshots of them.
//!
//! The only crate that runs `git`. It must never let the environment or the configuration of a repository
//! redirect it or start a program: both may be somebody else's. To a person's repository it writes objects,
//! `refs/longhaul/…` and what a linked worktree needs, and nothing else.

mod base;
mod borrow;
mod checkout;
mod clean;
mod command;
mod create;
mod delivery;
mod discover;
mod error;
mod fetch;
mod folder;
mod forge;
mod head;
mod object_id;
mod snapshot;
mod version;
mod whereabouts;

pub use base::{
    Base, Freshness, LeftHere, base_may_be_there, base_ref, left_here, parting, secure_base, secure_commit,
};
pub use checkout::{Checkout, CheckoutKind, Lock, NewCheckout, discard};
pub use clean::{Fate, Stays};
pub use create::{NewRepository, create, diff_of_branch, tree_of_branch};
pub use delivery::{
    Author, Joined, NewCommit, Push, Signing, TakeLine, put_branch, remote_address, user_identity,
    wants_signature,
};
pub use discover::{Kind, Repository, discover};
pub use error::Error;
pub use fetch::{Remote, fetch};
pub use folder::{FOLDER_LIMIT_BYTES, FolderEntry, Mode, has_path, read_folder};
pub use forge::{Bare, MergeKind, Merging};
pub use head::{Head, head, resolve};
pub use object_id::ObjectId;
pub use snapshot::{
    Change, ChangeKind, ChangeSet, FileChange, FileStatus, Kept, LeftOut, MergeResult, Merged, News,
    Proposal, Restored, Since, Snapshot, Snapshots, TakeSnapshot, Target, Watched,
    can_be_taken as snapshots_can_be_taken,
};
pub use version::{Version, version};
pub use whereabouts::{Whereabouts, linked_worktrees, whereabouts};
