//! Who does a workflow, behind which walls, with what means: the flags of every command that has an agent of ours work.

use std::path::PathBuf;

use longhaul_runtime::types::{ModelTier, SandboxLevel, SandboxNetwork, Taint};
use longhaul_runtime::{Assignee, NewDrive, NewWalk, Script, TaskOrigin, WantedWalls, terminal};

use crate::error::CliError;
use crate::input;
use crate::words;

/// The agent that plays scripts.
pub(crate) const REHEARSAL: &str = "rehearsal";

#[derive(Debug, clap::Args)]
pub(crate) struct Hired {
    /// Vars to begin with, as a JSON object.
    #[arg(long, value_name = "JSON|@FILE")]
    vars: Option<String>,

    /// Who does it: a name of `longhaul agent list`, or `PROVIDER/MODEL`; `agents.default` unless given.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// Whoever `agents.tiers` names for this tier; with `--agent`, that agent with the model of the tier.
    #[arg(long, value_name = "TIER", value_parser = words::one_of(ModelTier::WORDS), conflicts_with = "cassette")]
    model: Option<ModelTier>,

    /// What the agent `rehearsal` plays.
    #[arg(long, value_name = "FILE")]
    cassette: Option<PathBuf>,

    /// The goal was written by people that nobody here knows: it gets no secrets and reaches only models and packages.
    #[arg(long)]
    from_outside: bool,

    /// How strong the walls are, instead of `sandbox.level`; `longhaul sandbox check` tells what works here.
    #[arg(long, value_parser = words::one_of(SandboxLevel::WORDS))]
    sandbox: Option<SandboxLevel>,

    /// What can be reached, instead of `sandbox.network`; `allow-list` lets the `sandbox.hosts` through.
    #[arg(long, value_parser = words::one_of(SandboxNetwork::WORDS))]
    network: Option<SandboxNetwork>,

    /// The branch to start from; the default branch unless given.
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,

    /// What it may use, in place of what the settings say; some of `tokens=50k,time=10m,money=2usd,turns=30`. Money is for
    /// the whole task, all else for each of its sessions.
    #[arg(long, value_name = "CAPS")]
    budget: Option<String>,
}

impl Hired {
    /// All that is started with these flags.
    pub(super) fn drive(&self, workflow: &str, goal: String, task: TaskOrigin) -> Result<NewDrive, CliError> {
        let vars = self.vars.as_deref().map(|vars| input::object("`--vars`", vars)).transpose()?;
        Ok(NewDrive {
            walk: NewWalk { workflow: workflow.to_owned(), goal, vars: vars.unwrap_or_default() },
            who: self.assignee()?,
            taint: if self.from_outside { Taint::Outside } else { Taint::Clean },
            walls: WantedWalls { level: self.sandbox, network: self.network },
            base: self.base.clone(),
            budget: self.budget.clone(),
            by: terminal::user_name(),
            task,
        })
    }

    /// Whoever has a cassette and names nobody means a rehearsal.
    fn assignee(&self) -> Result<Assignee, CliError> {
        let name = self.agent.clone();
        match (name.as_deref(), &self.cassette) {
            (None | Some(REHEARSAL), Some(path)) => {
                let path = path.display().to_string();
                let text = input::text("the cassette", &format!("@{path}"))?;
                Ok(Assignee::Rehearsal(Script { path, text }))
            }
            (Some(REHEARSAL), None) => Err(CliError::NoCassette),
            (Some(_), Some(_)) => Err(CliError::CassetteOfAnother),
            (None | Some(_), None) => Ok(Assignee::Agent { name, tier: self.model }),
        }
    }
}
