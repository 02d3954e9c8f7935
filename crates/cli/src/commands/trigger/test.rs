//! `longhaul trigger test`: what a trigger would make of a request.

use std::process::ExitCode;

use longhaul_runtime::terminal;
use longhaul_runtime::triggers::{Line, Outcome, Trial};
use longhaul_runtime::types::{Delivery, rfc3339};
use serde::Serialize;

use crate::context::Context;
use crate::error::{CliError, REFUSED};
use crate::input;
use crate::output::lines;

/// Show what a trigger would make of a request, condition by condition, or when it is due. Nothing is begun.
///
/// It exits with 3 if no task would begin. The signature is looked at if its header is given; the secret is the one that
/// `longhaul secret set` keeps.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its id, as `longhaul trigger list` shows it.
    id: String,

    /// The body of the request; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    payload: Option<String>,

    /// A header of the request; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = header, requires = "payload")]
    header: Vec<(String, String)>,
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as `NAME=VALUE`")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

#[derive(Debug, Serialize)]
struct TrialView {
    trigger: String,
    state: &'static str,
    begins: bool,
    lines: Vec<LineView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<String>,
    next: Vec<String>,
}

#[derive(Debug, Serialize)]
struct LineView {
    depth: usize,
    what: String,
    value: Option<String>,
    verdict: &'static str,
}

impl TrialView {
    fn of(trial: &Trial) -> Self {
        let (mut goal, mut source, mut because) = (None, None, None);
        match &trial.outcome {
            Some(Outcome::Wanted { goal: wanted, source: from }) => {
                (goal, source) = (Some(wanted.clone()), Some(from.to_string()));
            }
            Some(Outcome::NotWanted { because: told }) => because = Some(told.clone()),
            Some(Outcome::Refused(problem)) => because = Some(problem.to_string()),
            None => {}
        }
        let line = |line: &Line| LineView {
            depth: line.depth,
            what: line.what.clone(),
            value: line.value.clone(),
            verdict: line.shown.word(),
        };
        Self {
            trigger: trial.name.clone(),
            state: trial.state.word(),
            begins: trial.begins(),
            lines: trial.lines.iter().map(line).collect(),
            goal,
            source,
            because,
            next: trial.next.iter().map(|next| rfc3339(next.at)).collect(),
        }
    }

    fn text(&self, trial: &Trial) -> String {
        let mut text = vec![format!("{} ({}, {})\n", self.trigger, trial.start, self.state)];
        text.extend(self.lines.iter().map(LineView::text));
        text.extend(trial.next.iter().map(|next| format!("  due {} ({})\n", next.local, next.wait)));
        text.push(match (&self.because, self.begins) {
            (Some(because), _) => format!("no task would begin: {}\n", terminal::visible(because)),
            (None, true) => "a task would begin\n".to_owned(),
            (None, false) => format!("no task would begin: the trigger is {}\n", self.state),
        });
        text.concat()
    }
}

impl LineView {
    fn text(&self) -> String {
        let indent = "  ".repeat(self.depth + 1);
        let head = format!("{indent}{:<4}{}", self.verdict, terminal::visible(&self.what));
        match self.value.as_deref() {
            None => format!("{head}\n"),
            // A text of several lines has its own below.
            Some(value) if value.contains('\n') => {
                format!("{head}:\n{}", lines(value, &format!("{indent}      ")))
            }
            Some(value) => format!("{head}: {}\n", terminal::visible(value)),
        }
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let request = match &args.payload {
        Some(path) => {
            let argument = if path == "-" { path.clone() } else { format!("@{path}") };
            let body = input::text("the payload", &argument)?.into_bytes();
            Some(Delivery { headers: args.header.clone(), body })
        }
        None => None,
    };
    let trial = system.try_trigger(&system.triggers()?, &args.id, request.as_ref())?;
    let view = TrialView::of(&trial);
    context.output.text(&view.text(&trial), &view)?;
    Ok(if view.begins { ExitCode::SUCCESS } else { ExitCode::from(REFUSED) })
}
