//! Answers: JSON, what went wrong as a code and words.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use longhaul_runtime::{Error, Kind, TaskError};
use serde::Serialize;
use serde_json::json;

use crate::guard::Refused;

/// An answer before it is bytes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    Json(StatusCode, serde_json::Value),
    /// In the format of Prometheus.
    Metrics(String),
}

impl Reply {
    pub(crate) fn ok(value: &impl Serialize) -> Self {
        Self::Json(StatusCode::OK, json!(value))
    }

    pub(crate) fn error(status: StatusCode, code: Option<&str>, message: &str) -> Self {
        Self::Json(status, json!({"error": {"code": code, "message": message}}))
    }

    pub(crate) fn of(error: &Error) -> Self {
        Self::error(status_of(error), error.code(), &error.to_string())
    }

    pub(crate) fn into_response(self) -> Response {
        let (status, kind, body) = match self {
            Self::Json(status, value) => (status, "application/json", value.to_string()),
            Self::Metrics(text) => (StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", text),
        };
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<Refused> for Reply {
    fn from(refused: Refused) -> Self {
        Self::error(refused.status, None, refused.words)
    }
}

fn status_of(error: &Error) -> StatusCode {
    match error {
        Error::UnderAgent => StatusCode::FORBIDDEN,
        Error::Task(TaskError::NoSuch(_)) | Error::UnknownWorkspace(_) => StatusCode::NOT_FOUND,
        error => match error.kind() {
            Kind::Usage => StatusCode::BAD_REQUEST,
            Kind::Refused | Kind::Conflict => StatusCode::CONFLICT,
            Kind::Environment => StatusCode::SERVICE_UNAVAILABLE,
            Kind::Bug => StatusCode::INTERNAL_SERVER_ERROR,
        },
    }
}
