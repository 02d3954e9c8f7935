//! A server over Streamable HTTP: `POST /mcp`, with a guard before it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::WWW_AUTHENTICATE;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::guard::Guard;
use super::message::MOST_BYTES;

/// Where the endpoint is.
const PATH: &str = "/mcp";

/// How long a client of an older revision may be silent. A step of a workflow takes its time, and many clients do not
/// know how to begin again when their session is gone.
const KEEP_ALIVE: Duration = Duration::from_hours(24);

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
    let service = StreamableHttpService::new(move || Ok(handler()), Arc::new(sessions), config);
    let router = Router::new()
        .route_service(PATH, service)
        .layer(middleware::from_fn_with_state(Arc::new(guard), check));
    axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await
}

async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match guard.check(request.headers()) {
        Ok(()) => {
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
