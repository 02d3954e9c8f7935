//! Throwaway.
use crate::context::Context;
use crate::error::CliError;
use longhaul_runtime::types::{Priority, Taint, TaskSource};
use longhaul_runtime::{Daemon, DaemonOptions, NewQueued, Script, script_value};
use std::process::ExitCode;
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(long)]
    cassette: Option<std::path::PathBuf>,
    #[arg(long, default_value_t = 0)]
    add: u32,
    #[arg(long, default_value_t = 0)]
    serve: u64,
    #[arg(long)]
    pipeline: Option<String>,
}
pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let commands = system.commands()?;
    let workspace = commands.add_workspace(system.directory(), None)?.workspace.id;
    for n in 0..args.add {
        let path = args.cassette.clone().unwrap_or_default();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let script = Script { path: path.display().to_string(), text };
        let orders = longhaul_runtime::types::Orders {
            agent: None,
            cassette: Some(longhaul_runtime::types::Content::Inline(script_value(&script))),
            taint: Taint::Clean,
            labels: vec![],
            max_attempts: 3,
            trigger: None,
            after: vec![],
            scope: vec![],
            base: None,
        };
        let id = commands.queue_task(NewQueued {
            goal: format!("goal {n}"),
            source: TaskSource::CLI,
            pipeline: args.pipeline.clone().unwrap_or_else(|| "lh.pipeline.quick".into()),
            until: None,
            workspace: Some(workspace),
            priority: Priority::Normal,
            deadline: None,
            budget: None,
            orders,
            by: "ada".into(),
        })?;
        context.output.say(&format!("queued {id}"));
    }
    if args.serve > 0 {
        let daemon = Daemon::start(context.system()?, DaemonOptions { version: "x" })?;
        let start = std::time::Instant::now();
        while start.elapsed().as_secs() < args.serve {
            std::thread::sleep(std::time::Duration::from_secs(1));
            context.output.say(&format!(
                "{:?} {:?}",
                daemon.health(),
                daemon.plan().map(|p| (p.start.len(), p.waiting.len(), p.hand_over.len()))
            ));
        }
        daemon.stop();
    }
    Ok(ExitCode::SUCCESS)
}
