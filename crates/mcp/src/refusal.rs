//! How a tool says no: in words that tell what to call next, with a handle to go on from where there is one.

use longhaul_runtime::Error;
use longhaul_runtime::workflows::Problem;
use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::json;

use crate::desk::Desk;
use crate::name;
use crate::words::Audience;

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

    /// In the words of those who are told.
    pub(crate) fn told(error: Error, audience: Audience) -> Self {
        Self { message: message(&error, audience), code: error.code(), cause: Some(error) }
    }

    /// The same for requests that are not calls of tools. `code` is the protocol's.
    pub(crate) fn into_error(self, desk: &Desk, code: ErrorCode) -> ErrorData {
        if let Some(cause) = &self.cause {
            desk.forget_if_broken(cause);
        }
        let message = match self.code {
            Some(code) => format!("error[{code}]: {}", self.message),
            None => self.message,
        };
        ErrorData::new(code, message, self.code.map(|code| json!({ "code": code })))
    }
}

/// For agents that people drive.
impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::told(error, Audience::Outer)
    }
}

/// The words of the shell name commands; an agent has tools. What names neither is said as it is.
fn message(error: &Error, audience: Audience) -> String {
    let look = match audience {
        Audience::Outer => "`resume_session`",
        Audience::Leaf => "`complete_step` without arguments",
    };
    let cut = name::shown;
    match error {
        Error::UnknownSession(id) => {
            format!("there is no session `{id}`; {look} shows what is open")
        }
        Error::NoSuchSession(text) => {
            format!("no session has an id that begins with `{}`; {look} shows what is open", cut(text))
        }
        Error::NothingToResume(text) => format!(
            "no open session has anything of `{}`; `resume_session` without `query` shows them all",
            cut(text)
        ),
        Error::NoSuchArtifact(text) => {
            format!("there is no artifact `{}`; `read_artifact` without an id lists them", cut(text))
        }
        Error::MalformedHandle(malformed) => format!(
            "`{}` is not a token; copy the whole value, it looks like `s-….12.abcd1234.…` ({look} shows it)",
            cut(&malformed.text)
        ),
        Error::DifferentPayload { recorded, sent } => format!(
            "the token was used before with other content, and that was taken; go on with the token that is open now\n\
             first: {recorded}\nnow:   {sent}"
        ),
        Error::Superseded => {
            "the token is no longer open, because the session went on from another point; go on from \
                              the step that is open now"
                .to_owned()
        }
        Error::Workflow(Problem::Unknown { id, meant }) => {
            let meant = meant.as_ref().map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
            format!("there is no workflow `{}`; {meant}`list_workflows` shows what there is", cut(id))
        }
        ended if ended.is_ended() => {
            "the session has ended, and takes nothing more; start a new one if there is more to do".to_owned()
        }
        other => other.to_string(),
    }
}
