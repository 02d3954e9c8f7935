//! The way out of a session's sandbox, and the only one: one socket for each session, served outside of its walls.
//!
//! Three things are behind it: a proxy for the hosts that a person listed, a model endpoint that adds the real key and
//! counts, and the tools of exactly this session, which the caller hands in. The gateway authenticates and routes. It
//! stores nothing, decides no budget, and never gives a key to whoever is inside.
//!
//! Beside it, [`post_json`] sends one value to a webhook of a person, with the same trust in certificates.

mod body;
mod headers;
mod look;
mod meter;
mod model;
mod post;
mod proxy;
mod resolve;
mod route;
mod seats;
mod server;
mod socket;
mod token;
mod upstream;

pub use body::{Answer, Body, BoxError, Handler, text};
pub use hyper::{Request, Response, StatusCode};
pub use look::Looked;
pub use meter::{Estimate, Limited, Meter, Refused, Unmetered, Usage, UsageSource, Verdict};
pub use post::{HookError, Post, PostError, Poster, Replied, Target, post_json};

pub use resolve::{Because, Wanted};
pub use server::{Gateway, Listen, Options, start};
pub use token::Token;
pub use upstream::{Credential, Protocol, Upstream, Upstreams};

/// Why a gateway could not be opened or told what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("could not {doing} `{}`: {source}; check its owner and permissions", .path.display())]
    Socket { doing: &'static str, path: std::path::PathBuf, source: std::io::Error },
    #[error("`{}` belongs to somebody else, and who may write there could answer in our place; set `XDG_RUNTIME_DIR` to a folder of your own", .path.display())]
    NotOurs { path: std::path::PathBuf },
    #[error("could not start the gateway: {0}; see whether threads and files have run out")]
    Start(#[source] std::io::Error),
    #[error("`{text}` is not an address that can be asked: {problem}; write it as `https://api.example.com`")]
    Address { text: String, problem: &'static str },
    #[error("the key of a provider has letters that cannot be sent; set it anew with `longhaul secret set`")]
    Key,
    // What stands there may be a key.
    #[error("a header has letters that cannot be sent; write it as `name=value`")]
    Header,
}
