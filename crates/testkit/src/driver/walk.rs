//! Walking a whole workflow, gates and commands included. After each call: `at N SESSION WHERE`. Told to, it
//! kills itself at the N-th of these; started again with the session, it goes on where it was.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use longhaul_core::workflow::Workflow;
use longhaul_core::workflow::compile::{Source, Sources, Syntax, compile};
use longhaul_runtime::types::{Answer, Channel, Checkout, GateVerdict, SessionId, StepView};
use longhaul_runtime::{Advance, AnswerGate, Commands, Places, Settings, StartSession, System};
use serde_json::{Map, json};

use super::{Failure, say};
use crate::processes::dies_at_sync;

/// Loops of each kind, a jump, gates, a confirmation and commands: more than forty steps.
const WORKFLOW: &str = include_str!("walk.yml");

#[derive(Debug, clap::Args)]
pub(in crate::driver) struct Args {
    #[arg(long)]
    home: PathBuf,
    /// The checkout to walk in.
    #[arg(long)]
    checkout: PathBuf,
    /// The file to walk; else a long one of our own.
    #[arg(long)]
    workflow: Option<PathBuf>,
    /// Go on with this session; else one is started.
    #[arg(long)]
    session: Option<String>,
    /// Die at this boundary.
    #[arg(long, default_value_t = u64::MAX)]
    die_at: u64,
}

struct Walker {
    system: System,
    commands: Commands,
    boundary: u64,
    die_at: u64,
}

pub(in crate::driver) fn run(args: &Args) -> Result<(), Failure> {
    let system = system(&args.home, args.checkout.clone());
    let commands = system.commands()?;
    let mut walker = Walker { system, commands, boundary: 0, die_at: args.die_at };
    let mut view = match &args.session {
        Some(id) => walker.system.session_view(&walker.commands, id.parse()?)?,
        None => walker.start(args)?,
    };
    walker.tell(&view)?;
    while !view.is_complete {
        view = walker.next(&view)?;
        walker.tell(&view)?;
    }
    Ok(())
}

/// What the product's hidden verb does.
pub(in crate::driver) fn runner(session: &str) -> Result<(), Failure> {
    let home = std::env::var_os("LONGHAUL_HOME").ok_or("LONGHAUL_HOME is not set")?;
    if let Ok(commit) = std::env::var(DIES_AT)
        && File::create_new(Path::new(&home).join("a runner was killed")).is_ok()
    {
        return Err(dying_at(&commit, session).exec().into());
    }
    let system = system(Path::new(&home), std::env::current_dir()?);
    Ok(longhaul_runtime::run_work(&system, session.parse()?)?)
}

/// The first runner that finds this number in its environment is killed at that commit of its own.
pub const DIES_AT: &str = "LONGHAUL_DRIVER_RUNNER_DIES_AT";

fn dying_at(commit: &str, session: &str) -> Command {
    let mut dying = dies_at_sync(commit);
    dying
        .arg(std::env::current_exe().expect("a process knows its program"))
        .args(["runner", session])
        .envs(std::env::vars_os())
        .env_remove(DIES_AT);
    dying
}

fn system(home: &Path, directory: PathBuf) -> System {
    let places = Places::under(home);
    System::new(Settings { places, variables: BTreeMap::new(), directory, flags: Vec::new() })
}

fn workflow(file: Option<&Path>) -> Result<Workflow, Failure> {
    let text = file.map_or_else(|| Ok(WORKFLOW.to_owned()), std::fs::read_to_string)?;
    let source = Source { name: "walk.yml".to_owned(), text, syntax: Syntax::Yaml };
    let outcome = compile(&source, &Sources::default());
    outcome.value.ok_or_else(|| format!("{:?}", outcome.diagnostics).into())
}

impl Walker {
    fn start(&self, args: &Args) -> Result<StepView, Failure> {
        let workspace = self.commands.add_workspace(&args.checkout, None)?.workspace.id;
        let path = args.checkout.to_string_lossy().into_owned();
        let list = json!([{ "title": "a", "detail": "x" }, { "title": "b", "detail": "y" }, { "title": "c", "detail": "z" }]);
        Ok(self.system.start_session(
            &self.commands,
            &StartSession {
                workflow: Arc::new(workflow(args.workflow.as_deref())?),
                goal: "walk".to_owned(),
                vars: if args.workflow.is_none() {
                    Map::from_iter([("list".to_owned(), list)])
                } else {
                    Map::new()
                },
                workspace: Some(workspace),
                checkout: Some(Checkout { path, head: None, branch: None, folder: None, pinned: None }),
                parent: None,
                warnings: Vec::new(),
            },
        )?)
    }

    fn next(&self, view: &StepView) -> Result<StepView, Failure> {
        let id: SessionId = view.session_id.parse()?;
        if let Some(gate) = &view.gate {
            let (_, node) = gate.id.split_once('.').ok_or("a gate id has a node")?;
            let answer = AnswerGate {
                session: id,
                gate: node.parse()?,
                verdict: GateVerdict::Approved,
                by: "driver".to_owned(),
                channel: Channel::Terminal,
                words: "yes".to_owned(),
            };
            return Ok(self.system.answer_gate(&self.commands, &answer)?);
        }
        let Some(token) = &view.continue_token else {
            return Ok(self.system.session_view(&self.commands, id)?);
        };
        let advance = Advance { handle: token.parse()?, answer: answer(view), epoch: None };
        Ok(self.system.advance(&self.commands, &advance)?)
    }

    fn tell(&mut self, view: &StepView) -> Result<(), Failure> {
        self.boundary += 1;
        let place = view.step_id.as_deref().unwrap_or("end");
        say(&format!("at {} {} {place}", self.boundary, view.session_id))?;
        if self.boundary == self.die_at {
            let own = nix::unistd::Pid::this();
            nix::sys::signal::kill(own, nix::sys::signal::Signal::SIGKILL)?;
        }
        if let Some(blocked) = &view.blocked
            && view.continue_token.is_none()
        {
            return Err(format!("blocked: {:?}", blocked.reasons).into());
        }
        Ok(())
    }
}

/// The same for the same step, as a retry after a crash must be.
fn answer(view: &StepView) -> Answer {
    let step = view.step_id.clone().unwrap_or_default();
    let mut answer = Answer { notes: Some(format!("did {step}")), ..Answer::default() };
    if step == "count" {
        answer.vars.insert("counted".to_owned(), json!(true));
    }
    let wanted = view.requires.iter().flat_map(|requires| &requires.contracts);
    answer.artifacts.extend(wanted.map(|contract| contract.example.clone()));
    answer
}
