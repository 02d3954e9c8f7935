//! Every operation of the control API: one line in a table, from which both the routes and their description are made.
//!
//! Each is a function of `runtime::control`. A part that adds more adds a file and its lines here.

mod daemon;
mod queue;
mod tasks;
mod triggers;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use axum::http::StatusCode;
use longhaul_runtime::Error;
use longhaul_runtime::control::{Caller, Control};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::reply::Reply;
use crate::server::Inside;

/// One operation.
#[derive(Debug)]
pub(crate) struct Operation {
    /// As programs call it.
    pub(crate) id: &'static str,
    pub(crate) verb: Verb,
    /// With the names of its parts in braces.
    pub(crate) path: &'static str,
    pub(crate) about: &'static str,
    pub(crate) query: &'static [Parameter],
    pub(crate) takes: Option<fn(&mut SchemaGenerator) -> Schema>,
    pub(crate) gives: Gives,
    pub(crate) run: fn(&Call<'_>) -> Result<Reply, Failed>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// Changes nothing, and anybody who may call may ask.
    Get,
    /// A person's to do.
    Post,
}

/// Something behind the `?` of an address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Gives {
    One(fn(&mut SchemaGenerator) -> Schema),
    List(fn(&mut SchemaGenerator) -> Schema),
    Metrics,
    /// This very description.
    Description,
}

/// A call of an operation.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) inside: &'a Inside,
    pub(crate) caller: Caller,
    /// Where the port listens, if it does.
    pub(crate) address: Option<SocketAddr>,
    /// What stands in the place of the names in braces.
    pub(crate) parts: BTreeMap<String, String>,
    pub(crate) query: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// Why a call came to nothing.
#[derive(Debug)]
pub(crate) enum Failed {
    Runtime(Error),
    /// What was sent is not what the operation takes.
    Body(String),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Runtime(error)
    }
}

impl From<&Failed> for Reply {
    fn from(failed: &Failed) -> Self {
        match failed {
            Failed::Runtime(error) => Self::of(error),
            Failed::Body(problem) => {
                let message =
                    format!("the body does not fit: {problem}; `/openapi.json` says what belongs there");
                Self::error(StatusCode::BAD_REQUEST, None, &message)
            }
        }
    }
}

impl<'a> Call<'a> {
    pub(crate) fn control(&self) -> Control<'a> {
        let daemon = &self.inside.daemon;
        Control { system: daemon.system(), commands: daemon.commands(), caller: self.caller }
    }

    pub(crate) fn part(&self, name: &str) -> &str {
        self.parts.get(name).map(String::as_str).unwrap_or_default()
    }

    pub(crate) fn is_asked(&self, name: &str) -> bool {
        self.query.get(name).is_some_and(|value| value == "true" || value == "1" || value.is_empty())
    }

    /// An empty body is an empty object.
    pub(crate) fn body<T: DeserializeOwned>(&self) -> Result<T, Failed> {
        let bytes: &[u8] = if self.body.trim_ascii().is_empty() { b"{}" } else { &self.body };
        serde_json::from_slice(bytes).map_err(|error| Failed::Body(error.to_string()))
    }
}

/// The schema of a type, by name.
pub(crate) fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Why somebody does something.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    #[serde(default)]
    pub(crate) because: Option<String>,
}

/// Nothing that has to be said.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// All operations.
pub(crate) fn all() -> impl Iterator<Item = &'static Operation> {
    [daemon::OPERATIONS, tasks::OPERATIONS, queue::OPERATIONS, triggers::OPERATIONS].into_iter().flatten()
}
