//! A server over Streamable HTTP: `POST /mcp`, with a guard before it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use rmcp::ServerHandler;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::connections::{self, Connection};
use super::guard::Guard;
use super::message::{self, Incoming, MOST_BYTES};
use super::seats::Seats;

/// Where the endpoint is.
const PATH: &str = "/mcp";

/// Where a client of an older revision names its session.
const SESSION_HEADER: &str = "mcp-session-id";

/// How long a client of an older revision may be silent. A step of a workflow takes its time, and many clients do not
/// know how to begin again when their session is gone.
const KEEP_ALIVE: Duration = Duration::from_hours(24);

/// How long the body of a request may take to arrive.
const BODY_PATIENCE: Duration = Duration::from_secs(30);

/// A port that is served.
#[derive(Debug)]
pub struct Http {
    pub listener: TcpListener,
    pub guard: Guard,
    /// Cancelled to end it.
    pub stop: CancellationToken,
}

/// Serves until it is stopped. Each client of an older revision gets a session of the protocol; newer ones need none.
pub async fn serve_http<H>(
    http: Http,
    handler: impl Fn() -> H + Clone + Send + Sync + 'static,
) -> io::Result<()>
where
    H: ServerHandler,
{
    let Http { listener, guard, stop } = http;
    let config = StreamableHttpServerConfig::default()
        // The guard knows our names; the SDK's own list is for loopback only.
        .disable_allowed_hosts()
        .with_max_request_body_bytes(MOST_BYTES)
        .with_cancellation_token(stop.clone());
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(KEEP_ALIVE);
    let sessions = Arc::new(sessions);
    let seats = Arc::new(Seats::new(sessions.clone()));
    let service = StreamableHttpService::new(move || Ok(handler()), sessions, config);
    let router = Router::new()
        .route_service(PATH, service)
        .layer(middleware::from_fn(read_first))
        .layer(middleware::from_fn_with_state(seats, seat))
        .layer(middleware::from_fn_with_state(Arc::new(guard), check));
    connections::serve(listener, router, stop).await;
    Ok(())
}

/// Answers requests one by one, and knows nothing of a client from one to the next: whoever serves may be replaced
/// between any two.
pub fn one_by_one<H>(handler: impl Fn() -> H + Clone + Send + Sync + 'static) -> Router
where
    H: ServerHandler,
{
    let config = StreamableHttpServerConfig::default()
        // Who may come is judged before.
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MOST_BYTES);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler()), sessions, config);
    Router::new()
        .route_service(PATH, service)
        .layer(middleware::from_fn(read_first))
        .layer(middleware::map_request(with_anything))
}

async fn with_anything(mut request: Request) -> Request {
    take_anything(request.headers_mut());
    request
}

/// What is no message is answered as it is over pipes, and before the SDK, which has other words for it.
async fn read_first(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    let body = match tokio::time::timeout(BODY_PATIENCE, axum::body::to_bytes(body, MOST_BYTES)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => return said(StatusCode::PAYLOAD_TOO_LARGE, &message::too_long()),
        Err(_) => return StatusCode::REQUEST_TIMEOUT.into_response(),
    };
    match message::read(&body) {
        Incoming::Bad(_) if message::asks_for_what_was_removed(&body) => {
            next.run(Request::from_parts(head, Body::from(body))).await
        }
        Incoming::Bad(answer) => said(StatusCode::BAD_REQUEST, &answer),
        Incoming::Nothing => said(StatusCode::BAD_REQUEST, &message::empty()),
        Incoming::Message(_) => next.run(Request::from_parts(head, Body::from(body))).await,
    }
}

fn said(status: StatusCode, answer: &ServerJsonRpcMessage) -> Response {
    let body = serde_json::to_vec(answer).expect("messages have string keys only");
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

/// Keeps book of who was last heard, so that there is a seat for whoever comes next.
async fn seat(State(seats): State<Arc<Seats>>, request: Request, next: Next) -> Response {
    let named = |headers: &HeaderMap| headers.get(SESSION_HEADER)?.to_str().ok().map(str::to_owned);
    match named(request.headers()) {
        Some(id) => seats.heard(&id),
        None => seats.make_room().await,
    }
    let response = next.run(request).await;
    if let Some(id) = named(response.headers()) {
        seats.heard(&id);
    }
    response
}

async fn check(State(guard): State<Arc<Guard>>, mut request: Request, next: Next) -> Response {
    match guard.check(request.uri(), request.headers()) {
        Ok(()) => {
            if let Some(connection) = request.extensions().get::<Arc<Connection>>() {
                connection.let_in();
            }
            take_anything(request.headers_mut());
            let ends_session = request.method() == Method::DELETE;
            let response = next.run(request).await;
            // The SDK says "accepted", and some clients complain about that to their people: it is done.
            if ends_session && response.status() == StatusCode::ACCEPTED {
                return StatusCode::NO_CONTENT.into_response();
            }
            response
        }
        Err(refused) => {
            let mut response = (refused.status, refused.words).into_response();
            if refused.status == StatusCode::UNAUTHORIZED {
                response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            response
        }
    }
}

/// The SDK looks for both types by name, and whoever takes anything takes both.
fn take_anything(headers: &mut HeaderMap) {
    let mut named = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let is_anything = |part: &str| part.split(';').next().is_some_and(|kind| kind.trim() == "*/*");
    if named.any(|value| value.split(',').any(is_anything)) {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
}
