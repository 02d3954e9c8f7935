//! Who wants what: the proxy, a model, or the tools of the session.

use std::sync::Arc;

use hyper::header::HeaderValue;
use hyper::header::{HOST, PROXY_AUTHENTICATE, WWW_AUTHENTICATE};
use hyper::{Method, Request, Response, StatusCode};

use crate::body::{Body, Handler, text};
use crate::headers::has_two_lengths;
use crate::meter::Meter;
use crate::model::Models;
use crate::proxy;
use crate::resolve::Reach;
use crate::token::Token;
use crate::upstream::Upstreams;

const TOOLS: &str = "/mcp";
const MODELS: &str = "/model/";

pub(crate) struct Door {
    reach: Reach,
    token: Token,
    models: Models,
    leaf: Option<Handler>,
}

/// What a request is for.
#[derive(Debug, PartialEq, Eq)]
enum Purpose {
    Tunnel,
    Proxy,
    Tools,
    Model,
    Unknown,
}

impl Purpose {
    fn of(request: &Request<Body>) -> Self {
        let uri = request.uri();
        if request.method() == Method::CONNECT {
            return Self::Tunnel;
        }
        if uri.authority().is_some() || uri.scheme().is_some() {
            return Self::Proxy;
        }
        match uri.path() {
            TOOLS => Self::Tools,
            path if path.starts_with(MODELS) => Self::Model,
            _ => Self::Unknown,
        }
    }
}

impl Door {
    pub(crate) fn new(
        reach: Reach,
        token: Token,
        upstreams: Upstreams,
        meter: Arc<dyn Meter>,
        leaf: Option<Handler>,
    ) -> Self {
        Self { reach, models: Models::new(upstreams, meter, token.clone()), token, leaf }
    }

    pub(crate) async fn answer(&self, request: Request<Body>) -> Response<Body> {
        if has_two_lengths(request.headers()) {
            return text(StatusCode::BAD_REQUEST, "the request says twice how long it is; send one length\n");
        }
        if request.headers().get_all(HOST).iter().count() > 1 {
            return text(StatusCode::BAD_REQUEST, "the request names two hosts; send one `Host`\n");
        }
        let purpose = Purpose::of(&request);
        // Walls keep who is inside from other ways, and nobody outside from this one.
        if let Some(refusal) = self.refusal_of_a_stranger(&purpose, &request) {
            return refusal;
        }
        match purpose {
            Purpose::Tunnel => proxy::tunnel(&self.reach, request).await,
            Purpose::Proxy => proxy::forward(&self.reach, request).await,
            Purpose::Model => self.models.answer(request, MODELS.len()).await,
            Purpose::Tools => match &self.leaf {
                Some(leaf) => leaf(request).await,
                None => text(StatusCode::NOT_FOUND, "this session has no tools here\n"),
            },
            Purpose::Unknown => text(
                StatusCode::NOT_FOUND,
                "there is nothing here; there are `/mcp`, `/model/PROVIDER/…`, and a proxy\n",
            ),
        }
    }

    fn refusal_of_a_stranger(&self, purpose: &Purpose, request: &Request<Body>) -> Option<Response<Body>> {
        let words = "this gateway is for one session; show its token\n";
        match purpose {
            Purpose::Tunnel | Purpose::Proxy => {
                (!self.token.is_shown_to_proxy(request.headers())).then(|| {
                    let mut refusal = text(StatusCode::PROXY_AUTHENTICATION_REQUIRED, words);
                    let how = HeaderValue::from_static("Basic realm=\"longhaul\"");
                    refusal.headers_mut().insert(PROXY_AUTHENTICATE, how);
                    refusal
                })
            }
            Purpose::Tools | Purpose::Unknown => (!self.token.is_shown(request.headers())).then(|| {
                let mut refusal = text(StatusCode::UNAUTHORIZED, words);
                refusal.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
                refusal
            }),
            // It asks by itself, and answers as the provider would.
            Purpose::Model => None,
        }
    }
}
