//! The routes of the control API: each call is one operation of the table, done where it may take its time.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{RawPathParams, Request};
use axum::http::{Method, StatusCode, Uri};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use http_body_util::{BodyExt as _, Limited};
use longhaul_runtime::control::Caller;
use tokio::sync::Semaphore;

use crate::guard::check_kind;
use crate::operations::{self, Call, Operation, Verb};
use crate::reply::Reply;
use crate::server::{Inside, Limits};

/// How many calls are done at once; the others wait.
const MOST_AT_ONCE: usize = 16;

#[derive(Debug, Clone)]
pub(crate) struct Control {
    inside: Inside,
    limits: Limits,
    address: Option<SocketAddr>,
    seats: Arc<Semaphore>,
}

impl Control {
    pub(crate) fn new(inside: Inside, limits: Limits, address: Option<SocketAddr>) -> Self {
        Self { inside, limits, address, seats: Arc::new(Semaphore::new(MOST_AT_ONCE)) }
    }

    pub(crate) fn router(&self) -> Router {
        let mut router = Router::new();
        for operation in operations::all() {
            let control = self.clone();
            let filter = match operation.verb {
                Verb::Get => MethodFilter::GET,
                Verb::Post => MethodFilter::POST,
            };
            let handler = move |parts: RawPathParams, request: Request| {
                let control = control.clone();
                async move { control.call(operation, &parts, request).await.into_response() }
            };
            router = router.route(operation.path, on(filter, handler));
        }
        router.fallback(nowhere).method_not_allowed_fallback(not_so)
    }

    async fn call(self, operation: &'static Operation, parts: &RawPathParams, request: Request) -> Reply {
        if let Err(refused) = check_kind(request.method(), request.headers()) {
            return refused.into();
        }
        // Put there by whoever judged the connection; without it nobody may change anything.
        let caller = request.extensions().get::<Caller>().copied().unwrap_or(Caller::Agent);
        let parts = parts.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let query = query_of(request.uri());
        let body = match self.read(request.into_body()).await {
            Ok(body) => body,
            Err(reply) => return reply,
        };
        let Ok(_seat) = self.seats.acquire().await else {
            return Reply::error(StatusCode::SERVICE_UNAVAILABLE, None, "the daemon ends");
        };
        let (inside, address) = (self.inside.clone(), self.address);
        let done = tokio::task::spawn_blocking(move || {
            let call = Call { inside: &inside, caller, address, parts, query, body };
            (operation.run)(&call).unwrap_or_else(|failed| Reply::from(&failed))
        });
        done.await.unwrap_or_else(|_| {
            Reply::error(StatusCode::INTERNAL_SERVER_ERROR, None, "a bug; see the log of the daemon")
        })
    }

    async fn read(&self, body: Body) -> Result<Vec<u8>, Reply> {
        let refused = |status, words| Err(Reply::error(status, None, words));
        let limited = Limited::new(body, self.limits.most_body_bytes).collect();
        match tokio::time::timeout(self.limits.body_patience, limited).await {
            Ok(Ok(body)) => Ok(body.to_bytes().to_vec()),
            Ok(Err(_)) => {
                refused(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large, or did not come whole")
            }
            Err(_) => refused(StatusCode::REQUEST_TIMEOUT, "the body of the request took too long"),
        }
    }
}

async fn nowhere() -> Response {
    Reply::error(StatusCode::NOT_FOUND, None, "there is nothing here; `/openapi.json` lists what there is")
        .into_response()
}

async fn not_so(method: Method) -> Response {
    let message = format!("nothing here is asked with {method}; `/openapi.json` lists what there is");
    Reply::error(StatusCode::METHOD_NOT_ALLOWED, None, &message).into_response()
}

/// What stands behind the `?`. Names and values of ours hold nothing that has to be decoded.
fn query_of(uri: &Uri) -> BTreeMap<String, String> {
    let pairs = uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name.to_owned(), value.to_owned())
        })
        .collect()
}
