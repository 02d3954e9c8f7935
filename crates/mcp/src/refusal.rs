//! How a tool says no: in words that tell what to do, with a handle to go on from where there is one.

use longhaul_runtime::Error;

/// Why a call came to nothing.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    /// The page that explains it.
    pub(crate) code: Option<&'static str>,
    pub(crate) cause: Option<Error>,
}

impl Refusal {
    /// The arguments are not what the tool takes.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: None, cause: None }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self { message: error.to_string(), code: error.code(), cause: Some(error) }
    }
}
