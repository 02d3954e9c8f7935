//! The doors of a daemon: requests that others sign, the control API, metrics.
//!
//! - `POST /hooks/WORKSPACE/TRIGGER` on the port takes what triggers wait for. Strangers may knock there: every request is bounded
//!   in size and time, and nothing of it is read before its signature is right.
//! - `/v1/…` is the control API, on a Unix socket for the user alone and on the port with a token. Whoever is an agent or behind
//!   walls may look and change nothing.
//!
//! Each operation is one function of `runtime::control`. Nothing here decides, stores, or holds a secret longer than a request.

mod caller;
mod client;
mod connections;
mod control;
mod doors;
mod guard;
mod hooks;
mod openapi;
mod operations;
mod reply;
pub mod rows;
mod server;
mod socket;
mod token;

pub use client::{Client, ClientError};
pub use doors::begin;
pub use openapi::description;
pub use server::{Inside, Limits, Web, WebError, WebOptions};
pub use token::Token;
