//! The story of a session in words.

use std::collections::BTreeMap;

use longhaul_runtime::types::{
    CallOutcome, Caps, Checkout, Choice, CloseOutcome, Considered, GateVerdict, Reason, ReportKind, StepId,
    Taint, Urgency, show_count, show_duration, show_money,
};
use longhaul_runtime::{AgentDid, Branch, Happened, Ruled, StoryEntry};
use serde_json::{Map, Value};

use super::row::SessionLine;
use crate::moment;
use crate::output::{count, lines};

const INDENT: &str = "      ";
/// How much of a value is shown; `--json` has all of it.
const MOST_LETTERS: usize = 400;

pub(super) fn words(session: &SessionLine, children: &[SessionLine], entries: &[StoryEntry]) -> String {
    let mut text = lines(&format!("Session {}: {}", session.id, session.in_words()), "");
    if let Some(task) = &session.task {
        text += &lines(&format!("of task {task}"), INDENT);
    }
    if let Some(parent) = &session.parent {
        text += &lines(&format!("below session {parent}"), INDENT);
    }
    for child in children {
        text += &lines(&format!("led to session {}: {}", child.id, child.in_words()), INDENT);
    }
    if let Some(usage) = &session.usage {
        text += &lines(&usage.in_words(), INDENT);
    }
    for entry in entries {
        let mark = if entry.left_behind { "  (left behind)" } else { "" };
        let (first, more) = told(&entry.what);
        // Names in it are of others: a line break must not begin a line that looks like ours.
        let first = first.replace('\n', "\\n");
        text +=
            &lines(&format!("{:>4}  {}  {first}{mark}", entry.seq.to_string(), moment::shown(&entry.at)), "");
        text += &more.iter().map(|more| lines(more, INDENT)).collect::<String>();
    }
    text
}

/// A line, and what stands below it.
pub(crate) fn told(what: &Happened) -> (String, Vec<String>) {
    let alone = |line: String| (line, Vec::new());
    match what {
        Happened::Opened { goal } => ("opened".to_owned(), vec![goal.clone()]),
        Happened::Pinned { workflow, version, checkout, .. } => {
            (format!("follows `{workflow}` {version}"), checkout.iter().map(place).collect())
        }
        Happened::HandedOut { step, title, .. } => alone(format!("handed out `{step}`: {title}")),
        Happened::Finished { step, notes, vars, artifacts, .. } => {
            (format!("`{step}` was answered"), finished(notes.as_deref(), vars, artifacts))
        }
        Happened::Refused { step, answer, reasons, .. } => {
            (format!("an answer to `{step}` was not accepted"), refused(answer, reasons))
        }
        Happened::VarsChanged { set, unset } => ("vars changed".to_owned(), changed(set, unset)),
        Happened::Noted { step, notes, vars } => {
            (format!("notes in the middle of `{step}`"), noted(notes, vars))
        }
        Happened::Reported { kind, report, .. } => {
            (reported(*kind).to_owned(), vec![report_words(*kind, report)])
        }
        Happened::Agent { act, .. } => agent(act),
        Happened::Closed { outcome } => alone(closed(outcome)),
        Happened::CheckoutMade { name, path, branch } => {
            (format!("works in worktree `{name}` on `{branch}`"), vec![path.clone()])
        }
        Happened::Snapshotted { snapshot, because, left_out } => {
            let short: String = snapshot.chars().take(12).collect();
            (format!("snapshot {short}: {because}"), left_out.clone())
        }
        Happened::CheckoutRemoved { name, by, because } => {
            (format!("worktree `{name}` was removed by {by}"), vec![because.clone()])
        }
        Happened::Delivery { step, act, how, what } => (delivery(step, act, how), vec![short(what)]),
        Happened::Continued { phase, text } => {
            (format!("asked for more (phase {phase})"), vec![text.clone()])
        }
        Happened::WayChosen { considered, left_out } => way(considered, *left_out),
        Happened::Decided(ruled) => decided(ruled),
        Happened::LoopExhausted { step, iterations, because } => bound(step, *iterations, because),
        Happened::WorkDue { step } => alone(format!("`{step}` is for the engine to do")),
        Happened::WorkStarted { step, doing } => (format!("a runner started `{step}`"), vec![short(doing)]),
        Happened::WorkFinished { step, result } => {
            let outcome = result["outcome"].as_str().unwrap_or("done");
            (format!("`{step}` ended: {outcome}"), vec![short(result)])
        }
        Happened::GateOpened { gate, step, question, accepts, until, .. } => (
            format!(
                "gate {gate} opened by `{step}`, for `{accepts}` or stronger, until {}",
                moment::shown(until)
            ),
            vec![question.clone()],
        ),
        Happened::GateAnswered { gate, verdict, by, channel, words } => {
            (format!("gate {gate} was {} by {by} ({channel})", answered(*verdict)), vec![words.clone()])
        }
        Happened::GateExpired { gate } => alone(format!("gate {gate}: nobody answered in time")),
        Happened::Unparked { step, by } => alone(format!("{by} had it go on with `{step}`")),
        Happened::Parked { step, reasons } => {
            (format!("parked at `{step}`: a person must look"), reasons.iter().map(reason).collect())
        }
        Happened::StopRequested { by, urgency, reason } => stop_wanted(by, *urgency, reason.as_ref()),
        Happened::HandleReissued { step } => alone(format!("a fresh handle was given out for `{step}`")),
        Happened::Rewound { step, reason, by } => {
            (format!("{by} went back to `{step}`"), vec![reason.clone()])
        }
        Happened::Forked { step, left } => (format!("goes on from `{step}` again"), branch(left)),
    }
}

fn stop_wanted(by: &str, urgency: Urgency, reason: Option<&String>) -> (String, Vec<String>) {
    let now = match urgency {
        Urgency::AfterGrace => "",
        Urgency::Now => ", at once",
    };
    (format!("{by} wants it stopped{now}"), reason.into_iter().cloned().collect())
}

fn finished(notes: Option<&str>, vars: &[String], artifacts: &[String]) -> Vec<String> {
    let vars = (!vars.is_empty()).then(|| format!("vars: {}", vars.join(", ")));
    let artifacts = artifacts.iter().map(|id| format!("artifact {id}"));
    notes.map(str::to_owned).into_iter().chain(vars).chain(artifacts).collect()
}

fn decided(ruled: &Ruled) -> (String, Vec<String>) {
    let Ruled { step, policy, decision, because, given } = ruled;
    let given = given["with"].as_object().into_iter().flatten();
    let given = given.map(|(name, value)| format!("given {name} = {}", short(value)));
    let line = format!("`{step}`: policy `{policy}` says {decision}");
    (line, std::iter::once(format!("because {because}")).chain(given).collect())
}

fn bound(step: &StepId, iterations: u64, because: &str) -> (String, Vec<String>) {
    let line = format!("loop `{step}` came to its bound after {}", count(iterations, "iteration"));
    (line, vec![because.to_owned()])
}

fn changed(set: &BTreeMap<String, Value>, unset: &[String]) -> Vec<String> {
    let set = set.iter().map(|(name, value)| format!("{name} = {}", short(value)));
    set.chain(unset.iter().map(|name| format!("{name} deleted"))).collect()
}

fn refused(answer: &Value, reasons: &[Reason]) -> Vec<String> {
    let told = reasons.iter().map(reason);
    std::iter::once(format!("it was: {}", short(answer))).chain(told).collect()
}

fn noted(notes: &str, vars: &Map<String, Value>) -> Vec<String> {
    let mut kept: Vec<String> = (!notes.is_empty()).then(|| notes.to_owned()).into_iter().collect();
    kept.extend(vars.iter().map(|(name, value)| format!("{name} = {value}")));
    kept
}

fn agent(act: &AgentDid) -> (String, Vec<String>) {
    match act {
        AgentDid::Assigned { agent, because, taint } => assigned(agent, because.as_deref(), *taint),
        AgentDid::MadeReady { outcomes } => ("the worktree was made ready".to_owned(), made_ready(outcomes)),
        AgentDid::Answered { turn, said, calls, usage, .. } => {
            let tokens = format!("turn {turn}: {} in, {} out", usage.input, usage.output);
            let calls = calls.iter().map(|call| format!("{} {}", call.tool, short(&call.arguments)));
            (tokens, [said.clone()].into_iter().filter(|said| !said.is_empty()).chain(calls).collect())
        }
        AgentDid::Failed { turn, message, .. } => {
            (format!("turn {turn} has no answer"), vec![message.clone()])
        }
        AgentDid::Requested { may_use, .. } => (
            format!("a model is asked; up to {} tokens are set aside", may_use.input + may_use.output),
            Vec::new(),
        ),
        AgentDid::Billed { model, usage, cost_micros, .. } => (
            format!(
                "`{model}` used {} and {} tokens, {}",
                show_count(usage.input),
                show_count(usage.output),
                show_money(*cost_micros)
            ),
            Vec::new(),
        ),
        AgentDid::Observed { tool, title, .. } => (format!("the agent did `{tool}`"), vec![title.clone()]),
        AgentDid::CallStarted { turn, call } => {
            (format!("call {} of turn {turn} started", call + 1), Vec::new())
        }
        AgentDid::CallFinished { turn, tool, outcome, exit, result, ms, .. } => {
            let exit = exit.map_or_else(String::new, |exit| format!(", exit {exit}"));
            (format!("turn {turn}: {tool} {}{exit}, {ms} ms", call_outcome(*outcome)), vec![cut(result)])
        }
        AgentDid::Nudged { words, .. } => ("the agent was told to go on".to_owned(), vec![words.clone()]),
        AgentDid::Steered { words, by } => (format!("{by} told the agent"), vec![words.clone()]),
        AgentDid::Budgeted { caps, by } => (format!("{by} set the budget"), vec![budget(caps)]),
        AgentDid::Compacted { turns_until: 0, results_until, .. } => {
            let turns = count(*results_until, "turn");
            (format!("the conversation grew long: results of the first {turns} are left out"), Vec::new())
        }
        AgentDid::Compacted { turns_until, recap, .. } => {
            let turns = count(*turns_until, "turn");
            let line = format!("the conversation grew long: a recap stands for the first {turns}");
            (line, recap.iter().cloned().collect())
        }
        AgentDid::Woken => ("what it waited for is due, and it goes on".to_owned(), Vec::new()),
    }
}

fn assigned(agent: &str, because: Option<&str>, taint: Taint) -> (String, Vec<String>) {
    let mut told: Vec<String> = because.map(str::to_owned).into_iter().collect();
    match taint {
        Taint::Clean => {}
        Taint::Outside => told.push("what it works on comes from outside, so it gets no secrets".to_owned()),
    }
    (format!("`{agent}` drives it"), told)
}

fn budget(caps: &Caps) -> String {
    format!(
        "{} tokens, {}, {}, {} turns; {} for the task, {} for the day",
        show_count(caps.tokens),
        show_duration(caps.time_ms),
        show_money(caps.money_micros),
        caps.turns,
        show_money(caps.task_money_micros),
        show_money(caps.day_money_micros)
    )
}

fn made_ready(outcomes: &Value) -> Vec<String> {
    let line = |one: &Value| {
        let run: Vec<&str> = one["run"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let outcome = one["outcome"].as_str().unwrap_or_default().replace('_', " ");
        format!("- `{}` {outcome}, {} ms: {}", run.join(" "), one["duration_ms"], short(&one["output"]))
    };
    outcomes.as_array().into_iter().flatten().map(line).collect()
}

pub(super) const fn call_outcome(outcome: CallOutcome) -> &'static str {
    match outcome {
        CallOutcome::Done => "done",
        CallOutcome::Refused => "refused",
        CallOutcome::Interrupted => "interrupted",
        CallOutcome::Stopped => "stopped",
    }
}

fn place(checkout: &Checkout) -> String {
    let branch = checkout.branch.as_deref().unwrap_or("no branch");
    let head = checkout.head.as_deref().unwrap_or("no commit");
    format!("in {} on {branch} at {head}", checkout.path)
}

const fn answered(verdict: GateVerdict) -> &'static str {
    match verdict {
        GateVerdict::Approved => "approved",
        GateVerdict::Rejected => "rejected",
    }
}

pub(super) fn reason(reason: &Reason) -> String {
    format!("- {} (fix: {})", reason.message, reason.fix)
}

fn closed(outcome: &CloseOutcome) -> String {
    match outcome {
        CloseOutcome::Completed => "completed".to_owned(),
        CloseOutcome::Cancelled { by, reason: None } => format!("cancelled by {by}"),
        CloseOutcome::Cancelled { by, reason: Some(reason) } => format!("cancelled by {by}: {reason}"),
        CloseOutcome::Failed { reason } => format!("failed: {reason}"),
    }
}

/// What the branch that is left behind came to.
fn branch(left: &Branch) -> Vec<String> {
    let steps: Vec<String> = left.finished.iter().map(|step| format!("`{step}`")).collect();
    let done = if steps.is_empty() { "nothing that was finished".to_owned() } else { steps.join(", ") };
    let refusals = match left.refusals {
        0 => String::new(),
        refusals => format!(", {}", count(refusals, "refused answer")),
    };
    let mut lines = vec![format!("left behind: {done}{refusals}")];
    lines.extend(left.last_notes.as_ref().map(|notes| format!("its last notes: {}", cut(notes))));
    lines
}

fn way(considered: &[Considered], left_out: u64) -> (String, Vec<String>) {
    let mut more: Vec<String> = considered
        .iter()
        .map(|one| {
            let link = if one.choice == Choice::Jumped { " " } else { " because " };
            let because =
                if one.because.is_empty() { String::new() } else { format!("{link}{}", one.because) };
            format!("- `{}` {}{because}", one.step, choice(one.choice))
        })
        .collect();
    if left_out > 0 {
        more.push(format!("- and {left_out} more"));
    }
    ("the way on was chosen:".to_owned(), more)
}

const fn choice(choice: Choice) -> &'static str {
    match choice {
        Choice::Taken => "taken",
        Choice::Skipped => "skipped",
        Choice::LoopEntered => "entered",
        Choice::LoopRepeated => "repeated",
        Choice::LoopLeft => "left",
        Choice::Jumped => "jumped",
        Choice::NotJumped => "did not jump",
        Choice::GateOpen => "opened a gate",
        Choice::NotAsked => "needed no confirmation",
    }
}

fn short(value: &Value) -> String {
    cut(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn cut(text: &str) -> String {
    let mut short: String = text.chars().take(MOST_LETTERS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// What was reported. The gateway says in words why a host was not let through.
fn report_words(kind: ReportKind, report: &Value) -> String {
    let because = report["because"].as_str().filter(|_| kind == ReportKind::HostRefused);
    because.map_or_else(|| short(report), str::to_owned)
}

const fn reported(kind: ReportKind) -> &'static str {
    match kind {
        ReportKind::Issue => "the agent reported an issue",
        ReportKind::WorkflowBug => "the agent reported a mistake in the workflow",
        ReportKind::Fact => "the agent noted a fact",
        ReportKind::Question => "the agent asked a question",
        ReportKind::HostRefused => "a host was not let through",
        ReportKind::Artifact => "the agent wrote an artifact",
    }
}

/// Something that others see.
fn delivery(step: &StepId, act: &str, happens: &str) -> String {
    format!("`{step}`: {} {happens}", act.replace('_', " "))
}
