//! The proxy: tunnels by `CONNECT`, and plain requests in absolute form, to hosts that are let through.

use std::sync::Arc;

use hyper::header::{CONNECTION, HOST, HeaderValue};
use hyper::upgrade::OnUpgrade;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use longhaul_core::hosts::Host;
use tokio::net::TcpStream;

use crate::body::{Body, text, whole};
use crate::headers::strip_hop;
use crate::resolve::{Reach, Unreached};
use crate::seats::Seat;

/// Joins the client to a host. What goes through is theirs.
pub(crate) async fn tunnel(reach: &Reach, request: Request<Body>) -> Response<Body> {
    let mut response = joined(reach, request).await;
    if !response.status().is_success() {
        // Whoever wanted a tunnel may have begun to speak into it.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

async fn joined(reach: &Reach, mut request: Request<Body>) -> Response<Body> {
    let target = request.uri().authority().and_then(|authority| Host::with_port(authority.as_str(), None));
    let Some((host, port)) = target else {
        return text(
            StatusCode::BAD_REQUEST,
            "`CONNECT` needs a host and a port, as in `docs.example.com:443`\n",
        );
    };
    let server = match reach.connect(&host, port).await {
        Ok(server) => server,
        Err(unreached) => return answer(&host, &unreached),
    };
    let client = hyper::upgrade::on(&mut request);
    // The connection is a tunnel from here on, and keeps its place.
    let seat = request.extensions_mut().remove::<Arc<Seat>>();
    tokio::spawn(async move {
        join(client, server).await;
        drop(seat);
    });
    Response::new(whole(""))
}

async fn join(client: OnUpgrade, mut server: TcpStream) {
    let client = match client.await {
        Ok(client) => client,
        Err(error) => return tracing::debug!(%error, "a tunnel was given up before it began"),
    };
    let mut client = TokioIo::new(client);
    if let Err(error) = tokio::io::copy_bidirectional(&mut client, &mut server).await {
        tracing::debug!(%error, "a tunnel ended early");
    }
}

/// Makes a plain request for the client. What names the host is the request's target, and never its `Host`.
pub(crate) async fn forward(reach: &Reach, request: Request<Body>) -> Response<Body> {
    let (mut head, body) = request.into_parts();
    let target = match target(&head.uri) {
        Ok(target) => target,
        Err(words) => return text(StatusCode::BAD_REQUEST, words),
    };
    let server = match reach.connect(&target.host, target.port).await {
        Ok(server) => server,
        Err(unreached) => return answer(&target.host, &unreached),
    };
    strip_hop(&mut head.headers);
    head.uri = target.rest;
    head.headers.insert(HOST, target.named);
    head.extensions.clear();
    match send(server, Request::from_parts(head, body)).await {
        Ok(mut response) => {
            strip_hop(response.headers_mut());
            response
        }
        Err(error) => text(StatusCode::BAD_GATEWAY, format!("`{}` did not answer: {error}\n", target.host)),
    }
}

struct Target {
    host: Host,
    port: u16,
    /// As it is named to the server.
    named: HeaderValue,
    /// Path and query.
    rest: Uri,
}

fn target(uri: &Uri) -> Result<Target, &'static str> {
    if uri.scheme_str() != Some("http") {
        return Err("only `http:` is asked for like this; use `CONNECT` for all else\n");
    }
    let authority = uri.authority().map(hyper::http::uri::Authority::as_str).unwrap_or_default();
    let (host, port) = Host::with_port(authority, Some(80))
        .ok_or("the address names no host that can be read in one way only; leave out user and password\n")?;
    let rest = uri.path_and_query().map_or("/", hyper::http::uri::PathAndQuery::as_str);
    let rest = rest.parse().map_err(|_| "the path cannot be read\n")?;
    let named = if port == 80 { host.to_string() } else { format!("{host}:{port}") };
    let named = named.parse().map_err(|_| "the host cannot be named in a header\n")?;
    Ok(Target { host, port, named, rest })
}

/// One request on a connection of its own, which ends with its answer.
pub(crate) async fn send<S>(stream: S, request: Request<Body>) -> Result<Response<Body>, hyper::Error>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a server ended a connection early");
        }
    });
    let mut response = sender.send_request(request).await?.map(crate::body::incoming);
    response.extensions_mut().clear();
    Ok(response)
}

fn answer(host: &Host, unreached: &Unreached) -> Response<Body> {
    match unreached {
        Unreached::Refused(wanted) => text(StatusCode::FORBIDDEN, format!("{wanted}\n")),
        Unreached::Failed(error) => {
            text(StatusCode::BAD_GATEWAY, format!("could not reach `{host}`: {error}\n"))
        }
    }
}
