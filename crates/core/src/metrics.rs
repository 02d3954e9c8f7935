//! Figures in the text that Prometheus reads.
//!
//! Numbers and names only: no goal, no prompt, no path, no error text. A name that somebody else chose (a workflow, a
//! trigger, a model) is the value of a label, escaped as the format wants it.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::stats::WorkflowStats;

/// The format, as a server names it.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// All that is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    pub version: String,
    /// The newest decision of the log.
    pub log_position: u64,
    /// By state, in the words of `longhaul task list`.
    pub tasks: BTreeMap<String, u64>,
    /// Open sessions by what they are doing, in the words of `longhaul session list`.
    pub sessions: BTreeMap<String, u64>,
    /// What was used, over all time.
    pub usage: BTreeMap<Consumer, Used>,
    /// Turns of all sessions.
    pub turns: u64,
    pub workflows: Vec<WorkflowStats>,
    /// Only where a daemon tells.
    pub daemon: Option<DaemonFigures>,
}

/// Who used something of what.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Consumer {
    pub agent: String,
    /// `PROVIDER/MODEL`; nothing for turns that say by themselves what they used.
    pub model: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    pub requests: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost_micros: u64,
}

/// What only a daemon knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DaemonFigures {
    pub uptime_ms: u64,
    /// Tasks that wait for their turn.
    pub queue_length: u64,
    /// Whether something new is started from the queue.
    pub queue: QueueState,
    pub intake: BTreeMap<IntakeKey, u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum QueueState {
    #[default]
    Running,
    Paused,
}

/// What became of what a trigger took in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IntakeKey {
    pub trigger: String,
    pub came_to: String,
}

/// What kind of figure it is, as the format calls it.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Counter,
    Gauge,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
        }
    }
}

/// The text. The same figures give the same bytes.
pub fn render(figures: &Figures) -> String {
    let mut text = Text(String::new());
    text.family("longhaul_build_info", Kind::Gauge, "The release that tells this. Always 1.");
    text.sample("longhaul_build_info", &[("version", &figures.version)], 1);
    text.family("longhaul_log_position", Kind::Gauge, "How many decisions the log holds.");
    text.sample("longhaul_log_position", &[], figures.log_position);
    text.family("longhaul_tasks", Kind::Gauge, "Tasks by state.");
    for (state, number) in &figures.tasks {
        text.sample("longhaul_tasks", &[("state", state)], *number);
    }
    text.family("longhaul_sessions", Kind::Gauge, "Open sessions by what they are doing.");
    for (doing, number) in &figures.sessions {
        text.sample("longhaul_sessions", &[("state", doing)], *number);
    }
    usage(&mut text, figures);
    workflows(&mut text, &figures.workflows);
    if let Some(daemon) = &figures.daemon {
        of_daemon(&mut text, daemon);
    }
    text.0
}

fn usage(text: &mut Text, figures: &Figures) {
    text.family("longhaul_turns_total", Kind::Counter, "Turns that agents have answered.");
    text.sample("longhaul_turns_total", &[], figures.turns);
    text.family("longhaul_requests_total", Kind::Counter, "Requests to models that have a bill.");
    for (Consumer { agent, model }, used) in &figures.usage {
        text.sample("longhaul_requests_total", &[("agent", agent), ("model", model)], used.requests);
    }
    text.family("longhaul_tokens_total", Kind::Counter, "Tokens that models have read and written.");
    for (Consumer { agent, model }, used) in &figures.usage {
        for (direction, number) in [("input", used.input_tokens), ("output", used.output_tokens)] {
            let labels = [("agent", agent.as_str()), ("model", model), ("direction", direction)];
            text.sample("longhaul_tokens_total", &labels, number);
        }
    }
    text.family("longhaul_cost_dollars_total", Kind::Counter, "What was paid for models.");
    for (Consumer { agent, model }, used) in &figures.usage {
        let labels = [("agent", agent.as_str()), ("model", model)];
        text.sample("longhaul_cost_dollars_total", &labels, Parts { value: used.cost_micros, of: 6 });
    }
}

fn workflows(text: &mut Text, rows: &[WorkflowStats]) {
    text.family("longhaul_runs", Kind::Gauge, "Runs of a workflow by how they came out.");
    for row in rows {
        for (end, number) in &row.outcomes {
            text.sample("longhaul_runs", &[("workflow", &row.workflow), ("outcome", end.word())], *number);
        }
    }
    let name = "longhaul_run_seconds";
    text.family(name, Kind::Gauge, "How long runs of a workflow were at work, those that came to their end.");
    for row in rows.iter().filter(|row| row.measured > 0) {
        for (quantile, ms) in [("0.5", row.duration_ms.p50), ("0.95", row.duration_ms.p95)] {
            let labels = [("workflow", row.workflow.as_str()), ("quantile", quantile)];
            text.sample(name, &labels, Parts { value: ms, of: 3 });
        }
    }
}

fn of_daemon(text: &mut Text, daemon: &DaemonFigures) {
    text.family("longhaul_daemon_uptime_seconds", Kind::Gauge, "How long the daemon has been up.");
    text.sample("longhaul_daemon_uptime_seconds", &[], Parts { value: daemon.uptime_ms, of: 3 });
    text.family("longhaul_queue_length", Kind::Gauge, "Tasks that wait for their turn.");
    text.sample("longhaul_queue_length", &[], daemon.queue_length);
    text.family("longhaul_queue_paused", Kind::Gauge, "1 while nothing new is started from the queue.");
    text.sample("longhaul_queue_paused", &[], u64::from(daemon.queue == QueueState::Paused));
    text.family("longhaul_intake_total", Kind::Counter, "What triggers took in, by what became of it.");
    for (IntakeKey { trigger, came_to }, number) in &daemon.intake {
        text.sample("longhaul_intake_total", &[("trigger", trigger), ("came_to", came_to)], *number);
    }
}

/// A decimal fraction without rounding: so many of its digits are behind the point.
struct Parts {
    value: u64,
    of: u32,
}

impl std::fmt::Display for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let one = 10_u64.pow(self.of);
        let digits = usize::try_from(self.of).unwrap_or(0);
        write!(f, "{}.{:0digits$}", self.value / one, self.value % one)
    }
}

struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        self.line(&format!("# HELP {name} {help}"));
        self.line(&format!("# TYPE {name} {}", kind.word()));
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels: Vec<String> =
            labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        self.line(&format!("{name}{labels} {value}"));
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.0, "{line}");
    }
}

/// As the value of a label wants it. Letters that only move a cursor are taken out: somebody may look at the page.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            other if other.is_control() => text.push(char::REPLACEMENT_CHARACTER),
            other => text.push(other),
        }
    }
    text
}
