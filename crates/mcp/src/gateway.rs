//! The tools of one session, for its gateway to serve.

use std::sync::Arc;

use axum::body::Body;
use http_body_util::BodyExt as _;
use longhaul_runtime::Settings;
use longhaul_runtime::gateway::{BoxError, Driven, Handler};
use tower_service::Service as _;

use crate::protocol;
use crate::server::{Longhaul, Profile};

/// Answers for exactly this session, as long as this driver has it. Opens nothing before somebody asks.
pub fn leaf_door(settings: Settings, driven: Driven) -> Handler {
    let server = Longhaul::new(settings, Profile::Driven(driven)).serving(leaf_door).on_port();
    let router = protocol::one_by_one(move || server.clone());
    Arc::new(move |request| {
        let mut router = router.clone();
        Box::pin(async move {
            let response = router.call(request.map(Body::new)).await.unwrap_or_else(|never| match never {});
            response.map(|body| body.map_err(BoxError::from).boxed_unsync())
        })
    })
}
