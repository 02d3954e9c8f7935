//! `longhaul demo`: the whole story, from a ticket to a merged change, on a machine that has nothing yet.

mod telling;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use longhaul_runtime::types::{Outcome, SandboxLevel, SessionId, proof};
use longhaul_runtime::{Commands, Demo, Error, System, outcome_of, terminal};
use serde::Serialize;

use crate::context::Context;
use crate::error::{CliError, REFUSED};
use crate::following::Following;
use crate::output::{Format, count, lines};
use telling::Telling;

/// See the whole story in under a minute: a ticket becomes a merged change with a proof.
///
/// It makes a small git repository with a failing test, a forge and a ticket in a folder of its own, and takes the ticket
/// through the pipeline: classify, discover, specify, declare, code, run the tests, review, fix, review again, prove, merge,
/// close. It needs no keys and no network, and touches nothing else. Two things stand in for others, the agent and the forge;
/// the rest is what real work is done with.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Kill the process that does the work, without warning, in the middle. It goes on.
    #[arg(long)]
    crash: bool,

    /// Leave the folder there, to look at everything afterwards.
    #[arg(long)]
    keep: bool,
}

/// A process that was killed on purpose.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Crash {
    process: u32,
    /// The step that the work had come to.
    at: String,
    /// How long nobody drove it.
    back_after_ms: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    seconds: f64,
    task: String,
    session_id: String,
    outcome: &'a Outcome,
    stand_ins: [&'static str; 2],
    sandbox: SandboxLevel,
    pull_requests: usize,
    merges: usize,
    comments: usize,
    ticket_closings: u64,
    merged_tree: Option<String>,
    proof: &'a serde_json::Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    crash: Option<Crash>,
    /// Where it all lies, if it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let failed = |source| Error::WriteFile { path: std::env::temp_dir(), source };
    let folder = tempfile::Builder::new().prefix("longhaul-demo-").tempdir().map_err(failed)?;
    let began = Instant::now();
    // What is under way is stopped, and the folder goes after it.
    terminal::catch_endings();
    let demo = Demo::make(&context.settings()?, folder.path())?;
    let ended = play(context, args, &demo, began)?;
    let kept = if args.keep { Some(folder.keep()) } else { None };
    show(context, &demo, &ended, kept)
}

/// How it went.
struct Ended {
    system: System,
    commands: Commands,
    session: SessionId,
    crash: Option<Crash>,
    /// Somebody was to be killed, and nobody was.
    missed: bool,
    took: Duration,
}

fn play(context: &Context, args: &Args, demo: &Demo, began: Instant) -> Result<Ended, CliError> {
    let output = &context.output;
    output.say(&format!("a small shop's till with a failing test lies in {}", demo.project().display()));
    output.say(
        "its ticket is taken to a merged change; a rehearsal stands in for the agent, a folder for the forge",
    );
    output.say(walls(demo.level()));
    let system = demo.system();
    let commands = system.commands()?;
    let drive = demo.start(&system, &commands)?;
    let mut telling = Telling::of(&commands, drive.session, began)?;
    let mut following = Following::new(context, &system, &commands, drive.session);
    let mut crashing = args.crash.then(|| Crashing::new(drive.session));
    system.follow(&commands, drive.session, &mut || {
        telling.tell(|line| output.say(line));
        following.heed();
        if let Some(crashing) = &mut crashing {
            crashing.look(demo, &commands, telling.at(), |line| output.say(line));
        }
        true
    })?;
    telling.tell(|line| output.say(line));
    let crash = crashing.and_then(|crashing| crashing.crash);
    if args.crash && crash.is_none() {
        output.say("--- nobody was killed: the review was over before anybody could be");
    }
    drop(following);
    let took = began.elapsed();
    demo.wait_for_end(drive.session)?;
    let missed = args.crash && crash.is_none();
    Ok(Ended { system, commands, session: drive.session, crash, missed, took })
}

/// Kills once, when the change is being reviewed, and notes when somebody drives again.
struct Crashing {
    session: SessionId,
    killed: Option<Instant>,
    crash: Option<Crash>,
}

/// The step whose sessions are at work when the process is killed.
const KILLED_AT: &str = "reviews";

impl Crashing {
    const fn new(session: SessionId) -> Self {
        Self { session, killed: None, crash: None }
    }

    fn look(&mut self, demo: &Demo, commands: &Commands, at: Option<&str>, mut say: impl FnMut(&str)) {
        match (self.killed, &mut self.crash) {
            (None, None) if at == Some(KILLED_AT) => {
                let Ok(Some(process)) = demo.crash(commands, self.session) else { return };
                say(&format!(
                    "--- kill -9 {process}: the process that did the work is gone, in the middle of the review"
                ));
                self.killed = Some(Instant::now());
                self.crash = Some(Crash { process, at: KILLED_AT.to_owned(), back_after_ms: 0 });
            }
            (Some(killed), Some(crash)) if crash.back_after_ms == 0 => {
                let is_back = |process| {
                    demo.driver(commands, self.session).is_ok_and(|now| now.is_some_and(|now| now != process))
                };
                if is_back(crash.process) {
                    crash.back_after_ms =
                        u64::try_from(killed.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
                    say(&format!("--- another one goes on, {} ms later", crash.back_after_ms));
                }
            }
            (None | Some(_), None | Some(_)) => {}
        }
    }
}

fn show(context: &Context, demo: &Demo, ended: &Ended, kept: Option<PathBuf>) -> Result<ExitCode, CliError> {
    let Ended { system, commands, session, crash, missed, took } = ended;
    let reader = commands.reader().ok_or_else(|| Error::UnknownSession(*session))?;
    let row = reader.find_session(&session.to_string())?;
    let task = reader.find_task(&session.to_string())?;
    // One that waits for a session below it has no outcome of its own.
    let outcome = outcome_of(&row).or_else(|| task.state.outcome().cloned());
    let outcome = outcome.ok_or_else(|| Error::UnknownSession(*session))?;
    let is_done = outcome == Outcome::Completed { reason: None } && system.unplayed(commands, &row).is_none();
    let exit = if is_done && !missed { ExitCode::SUCCESS } else { ExitCode::from(REFUSED) };
    let found = reader.proof_of_task(&task).ok();
    let (pulls, ticket) = (demo.pulls()?, demo.ticket()?);
    if context.output.format() == Format::Json {
        let shown = Shown {
            seconds: took.as_secs_f64(),
            task: task.id.to_string(),
            session_id: session.to_string(),
            outcome: &outcome,
            stand_ins: ["agent", "forge"],
            sandbox: demo.level(),
            pull_requests: pulls.len(),
            merges: pulls.iter().filter(|pull| pull.merged.is_some()).count(),
            comments: pulls.iter().map(|pull| pull.comments.len()).sum(),
            ticket_closings: ticket.closings,
            merged_tree: demo.merged_tree()?,
            proof: &found.as_ref().map(proof::Proof::json).unwrap_or_default(),
            crash: crash.clone(),
            folder: kept.map(|folder| folder.display().to_string()),
        };
        context.output.text("", &shown)?;
        return Ok(exit);
    }
    let mut text = String::new();
    if let Some(found) = &found {
        text.push_str("\nThe change:\n\n");
        text.push_str(&lines(&demo.merged_diff()?, "  "));
        text.push_str("\nThe proof:\n\n");
        text.push_str(&lines(&proof::text(found), "  "));
    }
    let merges = pulls.iter().filter(|pull| pull.merged.is_some()).count();
    let comments: usize = pulls.iter().map(|pull| pull.comments.len()).sum();
    let done = [(pulls.len() as u64, "pull request"), (merges as u64, "merge"), (comments as u64, "comment")];
    let done: Vec<String> = done.iter().map(|(number, what)| count(*number, what)).collect();
    let closings = count(ticket.closings, "time");
    text.push_str(&lines(&format!("\n{}; the ticket was closed {closings}", done.join(", ")), ""));
    text.push_str(&lines(&format!("{outcome}, {:.1} s", took.as_secs_f64()), ""));
    text.push_str(&next(demo, &task.id.to_string(), kept.is_some()));
    context.output.text(&text, &())?;
    Ok(exit)
}

/// What to try after it.
fn next(demo: &Demo, task: &str, is_kept: bool) -> String {
    let mut next = Vec::new();
    if is_kept {
        let (home, project) = (demo.home(), demo.project());
        let there = format!("cd {} && LONGHAUL_HOME={} longhaul", project.display(), home.display());
        next.push(format!("{there} task show {task} --why  # every decision, with its because"));
        next.push(format!("{there} forge pr list --all  # what reviewers see"));
    } else {
        next.push("longhaul demo --keep  # leaves everything there to look at".to_owned());
    }
    next.push("longhaul demo --crash  # the same, killed in the middle".to_owned());
    next.push("longhaul init  # in a repository of yours; then `longhaul run \"GOAL\"`".to_owned());
    next.iter().map(|next| lines(&format!("next: {next}"), "  ")).collect()
}

const fn walls(level: SandboxLevel) -> &'static str {
    match level {
        SandboxLevel::Full => "the agent works behind walls of level `full`",
        SandboxLevel::Reduced => {
            "only walls of level `reduced` work here, with the holes that `longhaul sandbox check --explain` lists"
        }
        SandboxLevel::None => {
            "no walls work here, so the agent works without any; `longhaul doctor` says why"
        }
    }
}
