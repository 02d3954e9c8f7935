//! `longhaul task show`: what a task is, how it is doing, and why it went as it did.

use std::process::ExitCode;

use longhaul_runtime::types::{Estimate, SessionRow, show_count, show_money};
use longhaul_runtime::{Decided, Delivered, Happened, TaskDecision, TaskView};
use serde::Serialize;

use super::{TaskLine, find};
use crate::commands::session::{SessionLine, told};
use crate::context::Context;
use crate::error::CliError;
use crate::moment;
use crate::output::{count, lines};

const INDENT: &str = "      ";

/// Show a task: its goal, its attempts, its sessions as a tree, what it cost.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task, the beginning of its id, or one of its sessions.
    #[arg(value_name = "TASK")]
    task: String,

    /// Also every decision that was made on the way, with its because, in order.
    #[arg(long)]
    why: bool,
}

#[derive(Debug, Serialize)]
struct Shown {
    task: TaskLine,
    /// All of it; the line has what a list shows.
    goal: String,
    attempts: Vec<String>,
    sessions: Vec<SessionLine>,
    /// What earlier runs say of what is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<Estimate>,
    /// Where the change is, if it was delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    delivered: Option<Delivered>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decisions: Option<Vec<DecisionLine>>,
}

#[derive(Debug, Serialize)]
struct DecisionLine {
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow: Option<String>,
    #[serde(flatten)]
    what: What,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum What {
    Task { r#type: &'static str, text: String },
    Session(Happened),
}

impl From<TaskDecision> for DecisionLine {
    fn from(decision: TaskDecision) -> Self {
        let TaskDecision { at, session, workflow, what } = decision;
        let what = match what {
            Decided::Task(text) => What::Task { r#type: "task", text },
            Decided::Session(happened) => What::Session(happened),
        };
        Self { at, session: session.map(|session| session.to_string()), workflow, what }
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let (reader, view) = find(&context.system()?, &args.task)?;
    let decisions = args.why.then(|| reader.decisions_of_task(&view)).transpose()?;
    let shown = Shown {
        task: TaskLine::of(&view),
        goal: reader.goal_of_task(&view)?,
        attempts: view.task.attempts.iter().map(ToString::to_string).collect(),
        sessions: tree(&view),
        left: view.root.as_ref().map(|root| reader.estimate(root.id)).transpose()?.flatten(),
        delivered: reader.delivered_of_task(&view)?,
        decisions: decisions.map(|decisions| decisions.into_iter().map(DecisionLine::from).collect()),
    };
    context.output.text(&words(&shown), &shown)?;
    Ok(ExitCode::SUCCESS)
}

/// The sessions, each below the one that led to it.
fn tree(view: &TaskView) -> Vec<SessionLine> {
    let mut waiting: Vec<(usize, &SessionRow)> =
        view.sessions.iter().filter(|row| view.task.attempts.contains(&row.id)).map(|row| (0, row)).collect();
    waiting.reverse();
    let mut placed: Vec<SessionLine> = Vec::new();
    while let Some((level, row)) = waiting.pop() {
        // An import may claim that sessions are below each other.
        if placed.len() >= view.sessions.len() {
            break;
        }
        placed.push(SessionLine::of(row.clone()).at_level(level));
        let below = view.sessions.iter().rev().filter(|other| other.parent == Some(row.id));
        waiting.extend(below.map(|other| (level + 1, other)));
    }
    placed
}

fn words(shown: &Shown) -> String {
    let task = &shown.task;
    let mut text = lines(&format!("Task {}: {}", task.id, task.doing()), "");
    text += &lines(&shown.goal, INDENT);
    let until = task.until.as_ref().map(|until| format!(" until `{until}`")).unwrap_or_default();
    let mut facts = vec![format!("follows `{}`{until}, from `{}`", task.pipeline, task.source)];
    let deadline = task.deadline.as_ref().map(|at| format!(", wanted by {}", moment::shown(at)));
    facts.push(format!("priority {}{}", task.priority.word(), deadline.unwrap_or_default()));
    let cap = task.budget_micros.map(|cap| format!(" of {}", show_money(cap))).unwrap_or_default();
    facts.push(format!(
        "used {}, {} tokens, {}{cap} in {} and {}",
        count(task.turns, "turn"),
        show_count(task.tokens),
        show_money(task.money_micros),
        count(task.sessions as u64, "session"),
        count(task.attempts as u64, "attempt"),
    ));
    facts.extend(shown.left.as_ref().map(moment::left));
    if task.rehearsal {
        facts.push("a rehearsal: a script was played, and nobody was asked".to_owned());
    }
    facts.extend(shown.delivered.as_ref().map(Delivered::in_words));
    text += &facts.iter().map(|fact| lines(fact, INDENT)).collect::<String>();
    for session in &shown.sessions {
        text += &lines(&session.in_tree(), "  ");
    }
    for decision in shown.decisions.iter().flatten() {
        text += &decision_words(decision);
    }
    text + &next(task)
}

fn decision_words(decision: &DecisionLine) -> String {
    let at = moment::shown(&decision.at);
    let (first, more) = match &decision.what {
        What::Task { text, .. } => (text.clone(), Vec::new()),
        What::Session(happened) => told(happened),
    };
    let who = match (&decision.workflow, &decision.session) {
        (Some(workflow), Some(session)) => format!("{workflow} ({session})"),
        (None, Some(session)) => session.clone(),
        (_, None) => "task".to_owned(),
    };
    let mut text = lines(&format!("{at}  {who}: {}", first.replace('\n', "\\n")), "  ");
    text += &more.iter().map(|more| lines(more, INDENT)).collect::<String>();
    text
}

/// What to type to go on.
fn next(task: &TaskLine) -> String {
    let id = &task.id;
    let session = task.waits_for.as_ref().or(task.session.as_ref());
    let mut commands = Vec::new();
    match (task.state, session) {
        ("waits", Some(session)) => {
            commands.push(format!("longhaul session show {session}  # what it waits for"));
        }
        ("open", Some(session)) => commands.push(format!("longhaul session tail {session}  # follows it")),
        ("failed" | "could not" | "cancelled", _) => {
            commands.push(format!("longhaul task retry {id}  # tries it again"));
            if task.state != "cancelled" {
                commands
                    .push(format!("longhaul task cancel {id}  # settles it, and no list names it any more"));
            }
        }
        ("ending", _) => commands.push(format!("longhaul task cancel {id}  # goes on ending it")),
        _ => {}
    }
    commands.iter().map(|command| lines(&format!("next: {command}"), "  ")).collect()
}
