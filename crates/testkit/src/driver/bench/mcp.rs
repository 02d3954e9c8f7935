//! The MCP server as a client meets it: how soon it answers, how fast it advances, how large it gets, how many it bears.

mod client;
mod http;

use std::fs;
use std::path::Path;
use std::time::Instant;

use longhaul_runtime::Places;
use serde_json::{Value, json};

use self::client::Client;
use super::{Args, Bar, Limit, median, micros, quantile};
use crate::driver::Failure;

pub(super) const NAMES: &[&str] = &[
    "mcp_cold_start_ms",
    "mcp_advance_10_p50_ms",
    "mcp_advance_10_p95_ms",
    "mcp_advance_10000_p50_ms",
    "mcp_advance_10000_p95_ms",
    "mcp_advance_late_vs_early",
    "mcp_rss_mb",
];
pub(super) const HTTP_NAMES: &[&str] = &["mcp_http_200_errors", "mcp_http_200_seconds"];

const STARTS: usize = 31;
const EARLY: usize = 10;
const LATE: usize = 10_000;
const SAMPLES: usize = 200;
const CLIENTS: usize = 200;

const WORKFLOW: &str = "longhaul: 1\nid: bench.walk\nname: Bench\nversion: 1.0.0\nvars:\n  goal: { type: string }\n  done: { type: boolean, default: false }\nsteps:\n  - id: rounds\n    loop: { while: { var: done, equals: false }, max: 20000 }\n    steps: [ { id: one, prompt: \"Go on with {{goal}}.\" } ]\n";

fn prepare(home: &Path) -> Result<(), Failure> {
    let workflows = Places::under(&home.join("home")).config.join("workflows");
    fs::create_dir_all(&workflows)?;
    Ok(fs::write(workflows.join("bench.walk.yml"), WORKFLOW)?)
}

/// What a start is called with, and what each step is answered with.
fn opening(home: &Path) -> Value {
    json!({ "workflowId": "bench.walk", "workspacePath": home.display().to_string(), "goal": "the bench" })
}

fn answer(token: &str) -> Value {
    json!({ "continueToken": token, "output": { "notesMarkdown": "x".repeat(300) } })
}

fn token_in(view: &Value) -> Result<String, Failure> {
    let token = view["continueToken"].as_str();
    Ok(token.ok_or_else(|| format!("no continueToken in {view}"))?.to_owned())
}

/// One walk that takes its time: it is measured where it begins and after ten thousand steps.
struct Walk {
    client: Client,
    token: String,
}

impl Walk {
    fn begin(longhaul: &Path, home: &Path) -> Result<Self, Failure> {
        let mut client = Client::start(longhaul, home)?;
        let token = token_in(&client.call("start_workflow", &opening(home))?)?;
        Ok(Self { client, token })
    }

    fn advance(&mut self) -> Result<f64, Failure> {
        let answer = answer(&self.token);
        let start = Instant::now();
        let view = self.client.call("continue_workflow", &answer)?;
        let took = micros(start.elapsed()) / 1000.0;
        self.token = token_in(&view)?;
        Ok(took)
    }

    fn advances(&mut self, count: usize) -> Result<Vec<f64>, Failure> {
        (0..count).map(|_| self.advance()).collect()
    }
}

pub(super) fn run(args: &Args) -> Result<Vec<Bar>, Failure> {
    let cold = cold_starts(&args.longhaul)?;
    let (early_home, late_home) = (tempfile::tempdir()?, tempfile::tempdir()?);
    prepare(early_home.path())?;
    prepare(late_home.path())?;
    let mut late = Walk::begin(&args.longhaul, late_home.path())?;
    late.advances(LATE)?;
    let mut early_samples = Vec::new();
    let mut late_samples = Vec::new();
    // In turns, so that a slow moment hits both; each early walk is new, so that it stays early.
    for _ in 0..SAMPLES / EARLY {
        let mut early = Walk::begin(&args.longhaul, early_home.path())?;
        early.advances(EARLY)?;
        early_samples.extend(early.advances(EARLY)?);
        late_samples.extend(late.advances(EARLY)?);
    }
    let (early_p50, late_p50) = (median(&early_samples), median(&late_samples));
    Ok(vec![
        Bar::new(NAMES[0], cold, "ms", Limit::AtMost(25.0)),
        Bar::new(NAMES[1], early_p50, "ms", Limit::AtMost(1.0)),
        Bar::new(NAMES[2], quantile(&early_samples, 0.95), "ms", Limit::AtMost(5.0)),
        Bar::new(NAMES[3], late_p50, "ms", Limit::AtMost(1.0)),
        Bar::new(NAMES[4], quantile(&late_samples, 0.95), "ms", Limit::AtMost(5.0)),
        Bar::new(NAMES[5], late_p50 / early_p50, "×", Limit::AtMost(1.3)),
        Bar::new(NAMES[6], late.client.rss_mb()?, "MB", Limit::AtMost(40.0)),
    ])
}

/// From starting the process to the answer to its first `tools/list`.
fn cold_starts(longhaul: &Path) -> Result<f64, Failure> {
    let home = tempfile::tempdir()?;
    let mut took = Vec::new();
    for _ in 0..STARTS {
        let start = Instant::now();
        let mut client = Client::start(longhaul, home.path())?;
        client.request("tools/list", json!({}))?;
        took.push(micros(start.elapsed()) / 1000.0);
    }
    Ok(median(&took))
}

/// Two hundred clients at once, each with a walk of its own.
pub(super) fn over_http(args: &Args) -> Result<Vec<Bar>, Failure> {
    let home = tempfile::tempdir()?;
    prepare(home.path())?;
    let port = http::Port::open(&args.longhaul, home.path())?;
    let start = Instant::now();
    let errors = std::thread::scope(|scope| {
        let walks: Vec<_> = (0..CLIENTS)
            .map(|_| scope.spawn(|| walk(&port, home.path()).map_err(|failure| failure.to_string())))
            .collect();
        let failed =
            walks.into_iter().map(|walk| walk.join().unwrap_or_else(|_| Err("a client panicked".to_owned())));
        failed.filter(Result::is_err).count()
    });
    #[expect(clippy::cast_precision_loss, reason = "at most as many errors as clients")]
    let errors = errors as f64;
    Ok(vec![
        Bar::new(HTTP_NAMES[0], errors, "errors", Limit::AtMost(0.0)),
        Bar::new(HTTP_NAMES[1], start.elapsed().as_secs_f64(), "s", Limit::Reported),
    ])
}

fn walk(port: &http::Port, home: &Path) -> Result<(), Failure> {
    let mut token = token_in(&port.call("start_workflow", &opening(home))?)?;
    for _ in 0..EARLY {
        token = token_in(&port.call("continue_workflow", &answer(&token))?)?;
    }
    Ok(())
}
