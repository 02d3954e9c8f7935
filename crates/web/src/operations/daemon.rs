//! The daemon itself: how it is, and that it shall end.

use axum::http::StatusCode;
use longhaul_runtime::lifecycle::{Farewell, Serve as _};
use longhaul_runtime::types::TaskState;
use serde_json::json;

use super::{Call, Failed, Gives, Nothing, Operation, Verb, of};
use crate::openapi;
use crate::reply::Reply;
use crate::rows::{DoneRow, PauseRow, StatusRow, TroubleRow, health_words};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "status",
        verb: Verb::Get,
        path: "/v1/status",
        about: "How the daemon is, what is in its hands, and what a person has to put right",
        query: &[],
        takes: None,
        gives: Gives::One(of::<StatusRow>),
        run: status,
    },
    Operation {
        id: "health",
        verb: Verb::Get,
        path: "/v1/health",
        about: "Whether the daemon does its work: 200 if so, 503 if not",
        query: &[],
        takes: None,
        gives: Gives::One(of::<StatusRow>),
        run: health,
    },
    Operation {
        id: "drain",
        verb: Verb::Post,
        path: "/v1/daemon/drain",
        about: "Starts nothing new, and ends the daemon when what runs has ended",
        query: &[],
        takes: Some(of::<Nothing>),
        gives: Gives::One(of::<DoneRow>),
        run: drain,
    },
    Operation {
        id: "stop",
        verb: Verb::Post,
        path: "/v1/daemon/stop",
        about: "Ends the daemon. Its sessions rest at the next safe boundary, and whoever serves next goes on with them",
        query: &[],
        takes: Some(of::<Nothing>),
        gives: Gives::One(of::<DoneRow>),
        run: stop,
    },
    Operation {
        id: "reload",
        verb: Verb::Post,
        path: "/v1/daemon/reload",
        about: "Reads the files of triggers anew",
        query: &[],
        takes: Some(of::<Nothing>),
        gives: Gives::One(of::<DoneRow>),
        run: reload,
    },
    Operation {
        id: "metrics",
        verb: Verb::Get,
        path: "/metrics",
        about: "Figures in the format of Prometheus",
        query: &[],
        takes: None,
        gives: Gives::Metrics,
        run: metrics,
    },
    Operation {
        id: "description",
        verb: Verb::Get,
        path: "/openapi.json",
        about: "This description",
        query: &[],
        takes: None,
        gives: Gives::Description,
        run: description,
    },
];

fn seen(call: &Call<'_>) -> Result<StatusRow, Failed> {
    let control = call.control();
    let service = control.commands.service()?;
    let views = control.commands.reader().map(|reader| reader.tasks()).transpose()?.unwrap_or_default().0;
    let count = |fits: fn(&TaskState) -> bool| views.iter().filter(|view| fits(&view.state)).count();
    let (health, because) = health_words(call.inside.daemon.health().condition);
    let pause = |workspace, pause: &longhaul_runtime::types::Pause| PauseRow {
        workspace,
        by: pause.by.clone(),
        because: pause.because.clone(),
    };
    Ok(StatusRow {
        version: service.version.clone().unwrap_or_default(),
        process: std::process::id(),
        health,
        because,
        address: call.address.map(|address| address.to_string()),
        queued: count(|state| *state == TaskState::Queued),
        running: count(|state| matches!(state, TaskState::Open | TaskState::Ending)),
        waiting: count(|state| matches!(state, TaskState::Waits(_))),
        handed_over: count(|state| matches!(state, TaskState::HandedOver(_))),
        paused: service.paused.as_ref().map(|paused| pause(None, paused)),
        paused_workspaces: service
            .paused_in
            .iter()
            .map(|(workspace, paused)| pause(Some(workspace.to_string()), paused))
            .collect(),
        troubles: call.inside.intake.troubles().into_iter().map(TroubleRow::of).collect(),
    })
}

fn status(call: &Call<'_>) -> Result<Reply, Failed> {
    Ok(Reply::ok(&seen(call)?))
}

fn health(call: &Call<'_>) -> Result<Reply, Failed> {
    let status = seen(call)?;
    let code = if status.health == "unwell" { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    Ok(Reply::Json(code, json!(status)))
}

fn drain(call: &Call<'_>) -> Result<Reply, Failed> {
    end(call, Farewell::Drain)
}

fn stop(call: &Call<'_>) -> Result<Reply, Failed> {
    end(call, Farewell::Rest)
}

/// Whoever asks is answered before the door closes.
fn end(call: &Call<'_>, farewell: Farewell) -> Result<Reply, Failed> {
    call.caller.person()?;
    let Nothing {} = call.body()?;
    let daemon = &call.inside.daemon;
    if !daemon.system().ask_daemon_to_end(farewell)? {
        // Nobody keeps its process, so that it ends with its loop.
        match farewell {
            Farewell::Drain => daemon.drain(),
            Farewell::HandOver | Farewell::Rest | Farewell::Now => daemon.stop(),
        }
    }
    Ok(Reply::ok(&DoneRow::changed(true)))
}

fn reload(call: &Call<'_>) -> Result<Reply, Failed> {
    call.caller.person()?;
    let Nothing {} = call.body()?;
    call.inside.intake.reload()?;
    Ok(Reply::ok(&DoneRow::changed(true)))
}

#[expect(clippy::unnecessary_wraps, reason = "an operation of the table may fail")]
fn metrics(call: &Call<'_>) -> Result<Reply, Failed> {
    Ok(Reply::Metrics((call.inside.metrics)()))
}

#[expect(clippy::unnecessary_wraps, reason = "an operation of the table may fail")]
fn description(_: &Call<'_>) -> Result<Reply, Failed> {
    Ok(Reply::ok(&openapi::description()))
}
